"""OpenCompass: ``predictions/<model>/<dataset>.json`` and ``results/<model>/<dataset>.json``.

Results hold a verdict on each item only where details were dumped. Predictions hold none: the rule that makes one of a
prediction and its reference is the data set's, and is in no file, so that their equality counts only when asked for.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from assay.data.readers import Selection
from assay.data.readers.harness import Log, Rows
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.decoding import decoded, decoded_file
from assay.data.readers.harness.first_look import FirstLook
from assay.errors import InputError
from assay.names import listed, one_line

EQUALITY = "equality"
_FOLDERS = ("predictions", "results")
_DATE = re.compile(r"\d{8}_\d{6}")
_PART = re.compile(r"(?P<name>.+)_(?P<number>\d+)")
_TEXTS = frozenset(
    {"prompt", "origin_prediction", "predictions", "references", "type", "pred", "answer", "example_abbr"}
)
_DUMP = "evaluate with dump_eval_details"


class _Prediction(msgspec.Struct):
    """An item of the predictions; LawBench calls its reference ``refr``."""

    prediction: Any
    gold: Any = None
    refr: Any = None

    @property
    def reference(self) -> Any:
        return self.gold if self.gold is not None else self.refr

    @property
    def equal(self) -> float:
        """Whether prediction and reference are the same text; several references are alternatives."""
        if self.prediction is None:
            return nan
        wanted = self.reference if isinstance(self.reference, list) else [self.reference]
        return float(str(self.prediction).strip() in [str(one).strip() for one in wanted])


def recognises(look: FirstLook) -> bool:
    """Whether it is predictions by position, results with details, or a total beside a folder of predictions."""
    found = look.record
    details = found.get("details")
    items = details if isinstance(details, list) else list(details.values()) if isinstance(details, dict) else []
    if any(isinstance(one, dict) and one.keys() & {"correct", "predictions", "origin_prediction"} for one in items[:3]):
        return True
    first = next(iter(found.values()), None)
    if all(key.isdigit() for key in found) and isinstance(first, dict):
        return "prediction" in first
    return _is_total(look.path, found)


def _is_total(path: Path, found: Mapping[str, Any]) -> bool:
    """Whether these are only numbers, where the program keeps its results."""
    numbers = bool(found) and all(isinstance(value, int | float) for value in found.values())
    above = path.absolute().parents
    return numbers and len(above) > 2 and above[1].name == "results" and (above[2] / "predictions").is_dir()


@dataclass(slots=True)
class _Files:
    """What there is of a data set and a model."""

    results: Path | None = None
    predictions: dict[int, Path] = field(default_factory=dict)  # by the number of the part
    total: Path | None = None

    @property
    def first(self) -> Path:
        return self.results or self.predictions[min(self.predictions)]


def logs_of(files: Sequence[Path]) -> list[Log]:
    """A log for each data set of each model: of its results where they have details, else of its predictions."""
    found: dict[tuple[tuple[str, ...], str], _Files] = {}
    names = {path.absolute() for path in files}
    for path in files:
        keys = decoded_file(path, dict[str, msgspec.Raw]).keys()
        name, number = _part(path.absolute(), names) if keys and all(key.isdigit() for key in keys) else (path.stem, 0)
        own = found.setdefault((_folder(path), name), _Files())
        if "details" in keys:
            own.results = path
        elif keys and all(key.isdigit() for key in keys):
            own.predictions[number] = path
        else:
            own.total = path
    whole = {key: own for key, own in found.items() if own.results is not None or own.predictions}
    if not whole:
        raise _only_totals([own.total for own in found.values() if own.total is not None])
    return [_log(task, own) for (_, task), own in whole.items()]


def _folder(path: Path) -> tuple[str, ...]:
    """The folders of a file without the one that says whether it holds predictions or results."""
    folders = list(path.absolute().parent.parts)
    at = max((place for place, name in enumerate(folders) if name in _FOLDERS), default=None)
    return tuple(folders if at is None else folders[:at] + folders[at + 1 :])


def _part(path: Path, names: set[Path]) -> tuple[str, int]:
    """The data set of predictions, and which part of it a file holds: large ones are split, each counted from 0."""
    found = _PART.fullmatch(path.stem)
    if found is None or path.with_stem(found["name"]) in names or path.with_stem(f"{found['name']}_0") not in names:
        return path.stem, 0
    return found["name"], int(found["number"])


def _log(task: str, own: _Files) -> "OpenCompassLog":
    path = own.first
    dates = [name for name in path.absolute().parts if _DATE.fullmatch(name)]
    files = (path,) if own.results else tuple(own.predictions[number] for number in sorted(own.predictions))
    kind = OpenCompassLog if own.results else PredictionsLog
    return kind(one_line(str(path)), files, path.absolute().parent.name, task, dates[-1] if dates else "")


def _only_totals(paths: Sequence[Path]) -> InputError:
    labels = listed([one_line(str(path)) for path in paths], 3)
    if not paths:
        return InputError(f"{labels}: neither predictions nor results; name another file.")
    where = paths[0].absolute().parents[2] / "predictions" if len(paths[0].absolute().parents) > 2 else "predictions"
    return InputError(f"{labels}: the total alone; the items are in {one_line(str(where))}: name that, or {_DUMP}.")


@dataclass(frozen=True)
class OpenCompassLog(AnswersLog):
    """The results of a data set with a verdict on each item."""

    format: ClassVar[str] = "opencompass"
    paired_on: ClassVar[str] = "key"

    def read(self) -> Answers:
        details = decoded_file(self.files[0], _Results, whole=_whole).details
        items = dict(enumerate(details)) if isinstance(details, list) else details
        kept = {str(key): value for key, value in items.items() if isinstance(value, dict)}
        places = [f"{self.label}, details[{key}]" for key in kept]
        names = dict.fromkeys(
            name for entry in kept.values() for name, value in entry.items() if name not in _TEXTS and _is_score(value)
        )
        if not names:
            raise InputError(
                f"{self.label}: details without a verdict on each item ('correct'): its evaluator gives none; name the "
                "predictions instead."
            )
        return _by_attempt(list(kept), places, {name: [entry.get(name) for entry in kept.values()] for name in names})


class _Results(msgspec.Struct):
    details: dict[str, Any] | list[Any]


def _whole(found: _Results, data: bytes) -> bool:
    """Whether every verdict of a file is there: of a key that is there twice the decoder takes the last."""
    entries = found.details if isinstance(found.details, list) else list(found.details.values())
    return data.count(b'"correct":') == sum(isinstance(entry, dict) and "correct" in entry for entry in entries)


def _once(found: dict[str, msgspec.Raw], data: bytes) -> bool:
    return data.count(b'"prediction":') == len(found)


def _is_score(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (
        isinstance(value, list) and bool(value) and all(isinstance(one, bool | int | float) for one in value)
    )


def _by_attempt(items: list[str], places: list[str], found: Mapping[str, list[Any]]) -> Answers:
    """A row for each item, or for each attempt at it where verdicts are lists."""
    sizes = [
        max(len(values[row]) if isinstance(values[row], list) else 1 for values in found.values())
        for row in range(len(items))
    ]
    rows = [(row, attempt) for row, size in enumerate(sizes) for attempt in range(size)]
    return Answers(
        items=[items[row] for row, _ in rows],
        places=[places[row] for row, _ in rows],
        metrics={name: [_attempt(values[row], attempt) for row, attempt in rows] for name, values in found.items()},
        runs=[str(attempt + 1) for _, attempt in rows] if max(sizes, default=1) > 1 else None,
    )


def _attempt(value: Any, attempt: int) -> float:
    chosen = (value[attempt] if attempt < len(value) else None) if isinstance(value, list) else value
    return float(chosen) if isinstance(chosen, bool | int | float) and isfinite(chosen) else nan


@dataclass(frozen=True)
class PredictionsLog(OpenCompassLog):
    """Predictions without a verdict."""

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        if selection.metric != EQUALITY:
            raise InputError(
                f"{self.label}: predictions without a verdict on each, and the rule of the data set is in no file; "
                f"{_DUMP} and name the results, or compare texts with `Selection(metric='{EQUALITY}')`."
            )
        return super().rows(selection, cluster)

    def measures(self, selection: Selection) -> list[Selection]:
        return [selection]  # none unasked

    def read(self) -> Answers:
        found = [one for part in self.files for one in self._part(part)]
        keys = (
            [str(position) for position in range(len(found))] if len(self.files) > 1 else [key for key, _, _ in found]
        )
        scores = [one.equal for _, _, one in found]
        none = f"warning: {self.label}: no prediction equals its reference: the data set has another rule"
        return Answers(
            items=keys,
            places=[place for _, place, _ in found],
            metrics={EQUALITY: scores},
            notes=[] if any(score == 1 for score in scores) else [none],
        )

    def _part(self, path: Path) -> list[tuple[str, str, _Prediction]]:
        label = one_line(str(path))
        found = []
        for key, raw in decoded_file(path, dict[str, msgspec.Raw], whole=_once).items():
            place = f"{label}, {key}"
            one = decoded(bytes(raw), _Prediction, place)
            if one.reference is None:
                raise InputError(f"{place}: no reference ('gold' or 'refr'); evaluate it, and name the results.")
            found.append((key, place, one))
        return sorted(found, key=lambda one: int(one[0]) if one[0].isdigit() else -1)
