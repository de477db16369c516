"""What every harness reader returns: a log for each task of each model, whose rows are read once it is chosen."""

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from typing import Any

from assay.data.metrics import Kind
from assay.data.readers import FILTER_WORDS, Format, Selection
from assay.errors import InputError
from assay.files.reading import DOCUMENT, LINES, cannot_open, megabytes, opened, parse_json
from assay.names import argument, listed, nearest, one_line, shown


@dataclass(frozen=True, slots=True)
class Measure:
    """What the scores of a log are."""

    format: Format
    metric: str
    filter: str | None = None  # lm-evaluation-harness
    scorer: str | None = None  # inspect_ai
    paired_on: str = "id"
    compared: str = "contents"  # what two files must agree on for the same id, where they tell

    def __str__(self) -> str:
        parts = (
            f"metric {self.metric}",
            self.filter and f"{FILTER_WORDS.get(self.format, 'filter')} {self.filter}",
            self.scorer and f"scorer {self.scorer}",
        )
        return ", ".join(part for part in parts if part)


@dataclass(slots=True)
class Rows:
    """The items of a log: our columns, each with a value per row."""

    kind: Kind
    measure: Measure
    columns: dict[str, list[Any]]
    places: list[str]  # where each row stands in its file, for messages
    lower_is_better: bool | None = None  # what the harness says of the metric
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True)
class Log(ABC):
    """One task of one model, in one run of a harness."""

    label: str  # what messages call it: the path
    files: tuple[Path, ...]  # what a certificate names
    model: str
    task: str  # "" where nothing says so, as in a file that was renamed
    written: str  # when, in a form that sorts; "" where nothing says so
    groups: frozenset[str] = frozenset()  # the groups of tasks it belongs to
    guessed: str = ""  # how the model came by its name, where no file tells it

    @abstractmethod
    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        """The items, with the metric that was chosen."""


def chosen(where: str, what: str, names: Iterable[str], asked: str | None, *, word: str = "") -> str:
    """The requested choice, or the only one; otherwise an error that lists the choices and the option.

    ``word`` is the harness's term for it, where that differs from the name of the option.
    """
    found, word, pick = sorted(set(names)), word or what, f"`Selection({what}=...)`"
    if asked is not None:
        if asked in found:
            return asked
        close = nearest(asked, found)
        hint = f"did you mean {argument('Selection', **{what: close})}?" if close else f"choose one with {pick}."
        raise InputError(f"{where}: no {word} {asked!r}, only {listed(found, 40)}; {hint}")
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(f"{where}: no {word} at all; check what should have written the file.")
    example = f", such as {argument('Selection', **{what: found[0]})}" if word != what else ""
    raise InputError(f"{where}: {len(found)} {word}s ({listed(found, 40)}); choose one with {pick}{example}.")


def scored(
    where: str, records: Sequence[Mapping[str, Any]], places: Sequence[str], asked: str | None
) -> tuple[str, list[float]]:
    """Choose a metric, and return it with its value for each item.

    Corpus-level metrics store a list or a text for each item, which is not a score of that item.
    """
    names = dict.fromkeys(name for record in records for name in record)
    whole = {name for record in records for name, value in record.items() if isinstance(value, list | dict | str)}
    single = [name for name in names if name not in whole]
    if asked in whole:
        example = next(record[asked] for record in records if isinstance(record.get(asked), list | dict | str))
        others = f" among {listed(single, 40)}" if single else ""
        raise InputError(
            f"{where}: {asked} is made from all items at once (an item has {shown_value(example)}); choose another "
            f"`Selection(metric=...)`{others}."
        )
    if asked is None and not single:
        raise InputError(
            f"{where}: no metric with a number for each item, only {listed(names) or 'none'}; name another file."
        )
    metric = chosen(where, "metric", single if asked in single or asked is None else names, asked)
    pairs = zip(records, places, strict=True)
    return metric, [number(field_of(record, metric, place), place, metric) for record, place in pairs]


def number(value: object, place: str, name: str) -> float:
    """A score: a finite number, or true or false."""
    if isinstance(value, bool | int | float):
        try:
            score = float(value)
        except OverflowError:
            score = math.inf
        if math.isfinite(score):
            return score
    raise InputError(f"{place}: {name} must be a finite number, but got {shown_value(value)}; {_REPAIR}.")


_REPAIR = "score the item again, or take it out"


def shown_value(value: object) -> str:
    """A value in a message."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return shown(text)


def field_of(record: object, name: str, place: str, *kinds: type) -> Any:
    """A required field of one of these types."""
    if not isinstance(record, Mapping):
        raise InputError(f"{place}: must be an object with a field {name!r}, but got {shown_value(record)}.")
    if name not in record:
        raise InputError(f"{place}: no field {name!r}, only {listed(map(str, record))}; write the file again.")
    value = record[name]
    if kinds and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)):
        wanted = " or ".join(_WORDS[kind] for kind in kinds)
        raise InputError(f"{place}: {name!r} must be {wanted}, but got {shown_value(value)}; write the file again.")
    return value


_WORDS = {dict: "an object", list: "a list", str: "a text", int: "a whole number", float: "a number", bool: "a truth"}


def label_of(records: Iterable[tuple[str, object]], name: str, place: str) -> str:
    """The cluster of an item: a text or whole number in one of the records, named ``name`` or ``record.name``."""
    have: list[str] = []
    for prefix, record in records:
        if not isinstance(record, Mapping):
            continue
        for key, value in record.items():
            if name in (key, f"{prefix}.{key}") and isinstance(value, str | int) and str(value).strip():
                return intern(str(value))
            if isinstance(value, str | int):
                have.append(f"{prefix}.{key}")
    raise InputError(f"{place}: no text or number {name!r} to cluster by, only {listed(have) or 'none'}; choose one.")


def digest(*parts: object) -> str:
    """A fingerprint of an item's content, to check that two files hold the same item."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, default=str)
    return intern(hashlib.sha256(text.encode()).hexdigest()[:16])


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a JSONL file with their locations; blank lines are skipped."""
    empty, label = True, one_line(str(path))
    with opened(path, LINES) as file:
        try:
            for number, line in enumerate(iter(lambda: file.readline(DOCUMENT.bytes + 1), b""), start=1):
                if line.removeprefix(b"\xef\xbb\xbf").strip():
                    empty = False
                    yield f"{label}, line {number}", _record(line, f"{label}, line {number}")
        except OSError as error:
            raise cannot_open(path, error) from error
    if empty:
        raise InputError(f"{label}: the file is empty; check what should have written it.")


def _record(line: bytes, place: str) -> dict[str, Any]:
    if len(line) > DOCUMENT.bytes:
        raise InputError(f"{place}: a line may have at most {megabytes(DOCUMENT.bytes)}; write one object per line.")
    found = parse_json(line, place)
    if not isinstance(found, dict):
        raise InputError(f"{place}: JSON, but not an object: {shown(line.decode().strip())}; write it again.")
    return found
