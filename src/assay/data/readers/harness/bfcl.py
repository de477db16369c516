"""Berkeley Function-Calling Leaderboard: ``result/<model>/…_result.json`` and ``score/<model>/…_score.json``.

A score file begins with how many items were right, of how many; the other lines are the items that failed. Everything
that was run is in the result file, by id. Both are JSON lines.
"""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isnan, nan
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from assay.data.readers.harness import Log
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.decoding import decoded, decoded_lines
from assay.data.readers.harness.first_look import FirstLook
from assay.errors import InputError
from assay.names import listed, shown

SUMMARY = frozenset({"accuracy", "correct_count", "total_count"})
_NAME = re.compile(r"(?:BFCL_v\d+_)?(?P<category>.+)_(?:score|result)\.json")
_NUMBERED = re.compile(r"(?P<prefix>.+)_(?P<number>\d+)")
_ID = re.compile(r".+_\d+(?:-.+)?")
_FOLDERS = ("score", "result")
_LOST = b'"Error during inference'  # what stands for the answer where there was none
_MOST = 10_000_000  # items that are counted without a result file
_NULL = msgspec.Raw(b"null")
_AGAIN = "score it again with bfcl evaluate"


def recognises(look: FirstLook) -> bool:
    """Whether it is a score file, or lines of ids and results under the name that result files have."""
    if look.keys >= SUMMARY:
        return True
    named = look.path.name.endswith("_result.json")
    return named and look.keys >= {"id", "result"} and bool(_ID.fullmatch(str(look.record.get("id", ""))))


def logs_of(files: Sequence[Path]) -> list[Log]:
    """A log for each score file, with the result file of the same model and category."""
    scores = [path for path in files if _is_score(path)]
    if not scores:
        raise InputError(
            f"{listed(map(str, files), 3)}: results without a score; name the folder that holds both result and score, "
            f"or {_AGAIN}."
        )
    results = {(_model(path), _category(path)): path for path in files if path not in scores}
    return [_log(path, results.get((_model(path), _category(path)))) for path in scores]


def _is_score(path: Path) -> bool:
    first = next(decoded_lines(path, dict[str, Any]))[1]
    return first.keys() >= SUMMARY


def _log(path: Path, result: Path | None) -> "BfclLog":
    result = result or _beside(path)
    files = (path,) if result is None else (path, result)
    return BfclLog(str(path), files, _model(path) or _told(path) or path.absolute().parent.name, _category(path), "")


def _model(path: Path) -> str:
    """The folder below ``score`` or ``result``; "" for a file that was taken out of it."""
    folders = path.absolute().parent.parts
    below = [model for folder, model in pairwise(folders) if folder in _FOLDERS]
    return below[-1] if below else ""


def _told(path: Path) -> str:
    """The model as the first of the failed items has it; "" where none failed."""
    lines = decoded_lines(path, dict[str, Any])
    return next((str(line["model_name"]) for _, line in lines if line.get("model_name")), "")


def _category(path: Path) -> str:
    named = _NAME.fullmatch(path.name)
    return named["category"] if named else path.stem


def _beside(path: Path) -> Path | None:
    """The result file of a score file that was named alone, where the program puts it."""
    whole = path.absolute().parts
    if "score" not in whole[:-1] or not path.name.endswith("_score.json"):
        return None
    at = len(whole) - 2 - whole[:-1][::-1].index("score")
    name = path.name.removesuffix("_score.json") + "_result.json"
    found = Path(*whole[:at], "result", *whole[at + 1 : -1], name)
    return found if found.is_file() else None


class _Summary(msgspec.Struct):
    correct_count: int
    total_count: int


class _Prompt(msgspec.Struct):
    id: str | int | None = None


class _Line(msgspec.Struct):
    """An item that failed; ``id`` was its number from 1 until 2025. The first line has none: it is the summary."""

    id: str | int | None = None
    prompt: msgspec.Raw = _NULL
    model_result: msgspec.Raw = _NULL
    model_result_raw: msgspec.Raw = _NULL


@dataclass(frozen=True, slots=True)
class _Failed:
    """What is kept of such a line."""

    place: str
    id: str | int
    name: str | None  # the id of the item in the result file, where the line tells it
    lost: str

    @classmethod
    def of(cls, place: str, own: str | int, line: _Line) -> "_Failed":
        asked = bytes(line.prompt)
        told = decoded(asked, _Prompt, place).id if isinstance(own, int) and asked.startswith(b"{") else None
        name = own if isinstance(own, str) else None if told is None else str(told)
        return cls(place, own, name, _lost(line.model_result) or _lost(line.model_result_raw))


class _Answer(msgspec.Struct):
    """A line of a result file."""

    id: str | int
    result: msgspec.Raw
    latency: Any = None
    input_token_count: Any = None
    output_token_count: Any = None


@dataclass(slots=True)
class _Ran:
    """What a result file says of everything that was run."""

    places: dict[str, str] = field(default_factory=dict)  # by id
    lost: list[str] = field(default_factory=list)
    costs: dict[str, list[float]] = field(
        default_factory=lambda: {name: [] for name in ("seconds", "tokens_in", "tokens_out")}
    )

    def add(self, place: str, answer: _Answer) -> None:
        before = self.places.setdefault(str(answer.id), place)
        if before is not place:
            raise InputError(f"{place}: {answer.id!r} is there already ({before}); run it again, or keep one.")
        self.lost.append(_lost(answer.result))
        told = (answer.latency, answer.input_token_count, answer.output_token_count)
        for values, value in zip(self.costs.values(), told, strict=True):
            values.append(_total(value))


@dataclass(frozen=True)
class BfclLog(AnswersLog):
    """A category of a model."""

    format: ClassVar[str] = "bfcl"
    paired_on: ClassVar[str] = "id"

    def read(self) -> Answers:
        total, failed = self._failed()
        return self._joined(total, failed) if len(self.files) > 1 else self._counted(total, failed)

    def _failed(self) -> tuple[int, list[_Failed]]:
        """How many items there are, and those that failed, each once."""
        place, first = next(decoded_lines(self.files[0], _Summary))
        failed: dict[str | int, _Failed] = {}
        for where, line in decoded_lines(self.files[0], _Line):
            if where == place:
                continue
            if line.id is None:
                raise InputError(f"{where}: no field 'id'; write the file again.")
            failed.setdefault(line.id, _Failed.of(where, line.id, line))  # errors of inference are written twice
        wrong = first.total_count - first.correct_count
        if not 0 <= first.correct_count <= first.total_count or len(failed) != wrong:
            raise InputError(
                f"{place}: {first.correct_count:,} of {first.total_count:,} right leaves {wrong:,} that failed, but "
                f"{len(failed):,} are listed; {_AGAIN}."
            )
        return first.total_count, list(failed.values())

    def _joined(self, total: int, failed: list[_Failed]) -> Answers:
        """The items of the result file; those that are not among the failed are right."""
        ran = _Ran()
        for place, answer in decoded_lines(self.files[1], _Answer):
            if "_prereq_" not in str(answer.id):  # which fills the memory of items that follow, and is not scored
                ran.add(place, answer)
        if len(ran.places) != total:
            raise InputError(
                f"{self.label}: it counts {total:,} items, and {self.files[1]} holds {len(ran.places):,}; {_AGAIN}."
            )
        items = list(ran.places)
        wrong = self._names(failed, items)
        return Answers(
            items=items,
            places=list(ran.places.values()),
            metrics={"accuracy": _scores(items, wrong, ran.lost)},
            errors=ran.lost,
            costs={name: values for name, values in ran.costs.items() if not all(map(isnan, values))},
        )

    def _names(self, failed: list[_Failed], items: Sequence[str]) -> set[str]:
        """The ids of the failed items as the result file has them."""
        known, found = set(items), set[str]()
        for one in failed:
            name = one.name
            if name is None and isinstance(one.id, int) and 0 < one.id <= len(items):
                name = items[one.id - 1]
            if name not in known:
                raise InputError(f"{one.place}: {shown(str(name or one.id))} is not in {self.files[1]}; {_AGAIN}.")
            found.add(str(name))
        return found

    def _counted(self, total: int, failed: list[_Failed]) -> Answers:
        """The items without the result file: as many as were counted, called as the ids of those that failed tell."""
        if total > _MOST:
            raise InputError(f"{self.label}: {total:,} items are too many to count without a result file; {_AGAIN}.")
        items = self._items(total, failed)
        wrong = {items[_number(one, total)]: one for one in failed}
        errors = [wrong[item].lost if item in wrong else "" for item in items]
        note = f"{self.label}: no result file, so items are counted: {total:,}, of which {len(wrong):,} failed"
        places = [f"{self.label}, item {number}" for number in range(1, total + 1)]
        return Answers(items, places, {"accuracy": _scores(items, wrong, errors)}, errors=errors, notes=[note])

    def _items(self, total: int, failed: list[_Failed]) -> list[str]:
        numbered = [_NUMBERED.fullmatch(one.name or "") for one in failed]
        prefixes = {found["prefix"] if found else None for found in numbered}
        if not failed and not self.task.startswith("live"):
            prefixes = {self.task}
        prefix = prefixes.pop() if len(prefixes) == 1 else None
        return [f"{prefix}_{number}" if prefix else str(number + 1) for number in range(total)]


def _number(one: _Failed, total: int) -> int:
    """The position of an item, from 0."""
    if isinstance(one.id, int):
        number: int | None = one.id - 1
    else:
        found = _NUMBERED.fullmatch(one.id)
        number = int(found["number"]) if found else None
    if number is None or not 0 <= number < total:
        raise InputError(
            f"{one.place}: {shown(str(one.id))} does not tell its number among the {total:,} items; name the folder "
            "that holds both result and score."
        )
    return number


def _scores(items: Sequence[str], wrong: Container[str], lost: Sequence[str]) -> list[float]:
    return [nan if why else float(item not in wrong) for item, why in zip(items, lost, strict=True)]


def _lost(result: msgspec.Raw) -> str:
    """Why there is no answer; "" where there is one."""
    text = bytes(result)
    return decoded(text, str, "result").splitlines()[0] if text.startswith(_LOST) else ""


def _total(found: Any) -> float:
    """A number, or the sum of those of each turn and step."""
    if isinstance(found, list):
        return sum(map(_total, found)) if found else nan
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else nan
