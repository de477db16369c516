"""What every harness reader returns: a log for each task of each model, whose rows are read once it is chosen."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring_ascii
from math import inf, isfinite
from pathlib import Path
from sys import intern
from typing import Any

from assay.data.judgments import Games
from assay.data.metrics import Kind
from assay.data.readers import FILTER_WORDS, Groups, Selection
from assay.errors import InputError, UsageError
from assay.files.reading import DOCUMENT, LINES, cannot_open, megabytes, opened, parse_json
from assay.names import argument, listed, nearest, one_line, shown


@dataclass(frozen=True, slots=True)
class Measure:
    """What the scores of a log are."""

    format: str
    metric: str
    filter: str | None = None  # lm-evaluation-harness
    scorer: str | None = None  # inspect_ai
    paired_on: str = "id"
    compared: str = "contents"  # what two files must agree on for the same id, where they tell
    called: str | None = None  # what people call its mean: "win rate"; None: a score

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
    places: Sequence[str]  # where each row stands in its file, for messages
    lower_is_better: bool | None = None  # what the harness says of the metric
    notes: list[str] = field(default_factory=list)
    games: tuple[Games, ...] = ()  # the verdicts that scores come from, where a judge compared answers

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, slots=True)
class SampleText:
    """What a model was asked in one attempt at an item, what it answered, and what it should have answered."""

    item: str
    run: str  # "" where there is one attempt
    question: str
    references: tuple[str, ...]
    answers: tuple[str, ...]
    choices: tuple[str, ...] | None = None


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
    #: The path the model is named after where no file tells its name: without what the program appends to names.
    named_by: Path | None = None
    #: The benchmark that the task is a part of: its items count the same, unless the tasks are asked for.
    part_of: str = ""
    #: What two sides must have in common to be comparable, where the file says it: split, reference, judge.
    conditions: Mapping[str, str] = field(default_factory=dict)
    #: What people compare on purpose: shots, prompt, temperature. A difference is noted.
    settings: Mapping[str, str] = field(default_factory=dict)
    version: str = ""  # of the program that wrote it, where the file tells

    def tasks_of_groups(self) -> Mapping[str, tuple[str, ...]]:
        """All tasks of every group that it belongs to, as far as the harness tells them."""
        return dict.fromkeys(self.groups, (self.task,))

    def against(self, reference: str) -> "Log | None":
        """The same with the verdicts against one model only; ``None`` where there are none, or no opponents at all."""
        return self if self.conditions.get("reference") == reference else None

    def prepared(self, selection: Selection) -> "list[Log]":
        """The logs to read instead of this one, where only the selection says what they are."""
        if selection.tried is not None:
            raise UsageError(
                f"{self.label}: {argument('Selection', tried=selection.tried)} is for SWE-bench; leave it out."
            )
        return [self]

    @abstractmethod
    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        """The items, with the metric that was chosen."""

    def texts(self) -> "Iterator[SampleText]":
        """What was asked and answered, read again where somebody needs it; nothing where the files do not hold it."""
        return iter(())

    def measures(self, selection: Selection) -> list[Selection]:
        """A selection for each of the measures (metric, filter, scorer) among which ``selection`` does not choose."""
        return [selection]


def told(values: Mapping[str, object]) -> dict[str, str]:
    """Conditions or settings as texts, without those that a file does not tell.

    >>> told({"shots": 5, "prompt": None, "temperature": 0.0, "chat template": True})
    {'shots': '5', 'temperature': '0', 'chat template': 'yes'}
    """
    words = {True: "yes", False: "no"}
    return {
        name: words[value] if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in values.items()
        if isinstance(value, bool | int | float | str) and value != ""
    }


def below(groups: Groups, name: str) -> set[str]:
    """Everything in a group, the groups in it too."""
    found: set[str] = set()
    left = list(groups[name])
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += groups.get(one, ())
    return found


def all_tasks(groups: Groups) -> dict[str, tuple[str, ...]]:
    """Every group with all of its tasks, directly or through other groups; a group that holds nothing is a task.

    >>> all_tasks({"mmlu": ["stem", "law"], "stem": ["algebra", "physics"], "law": []})
    {'mmlu': ('algebra', 'law', 'physics'), 'stem': ('algebra', 'physics')}
    """
    found = {name: tuple(sorted(one for one in below(groups, name) if not groups.get(one))) for name in groups}
    return {name: tasks for name, tasks in found.items() if tasks}


class SeveralChoicesError(InputError):
    """Several metrics, filters or scorers, and none was chosen."""

    def __init__(self, message: str, what: str, word: str, names: tuple[str, ...]) -> None:
        super().__init__(message)
        self.what, self.word, self.names = what, word, names


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
    example = f", such as {argument('Selection', **{what: found[0]})}"
    message = f"{where}: {len(found)} {word}s ({listed(found, 40)}); choose one with {pick}{example}."
    raise SeveralChoicesError(message, what, word, tuple(found))


#: In a column of a metric, where a record has no such field.
ABSENT = object()

MetricValues = Mapping[str, Sequence[Any]]  # by metric: what each record has of it, or ABSENT


def metric_columns(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The metrics of records that need not all have the same."""
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name, ABSENT) for record in records] for name in names}


def single_metrics(columns: MetricValues) -> list[str]:
    """The metrics that score single items.

    Corpus-level metrics store a list or a text for each item, which is not a score of that item.
    """
    return [name for name, values in columns.items() if not any(isinstance(one, _WHOLE) for one in values)]


_WHOLE = (list, dict, str)


def scored(where: str, columns: MetricValues, places: Sequence[str], asked: str | None) -> tuple[str, list[float]]:
    """Choose a metric, and return it with its value for each item."""
    single = single_metrics(columns)
    if asked is not None and asked in columns and asked not in single:
        example = next(value for value in columns[asked] if isinstance(value, _WHOLE))
        others = f" among {listed(single, 40)}" if single else ""
        raise InputError(
            f"{where}: {asked} is made from all items at once (an item has {shown_value(example)}); choose another "
            f"`Selection(metric=...)`{others}."
        )
    if asked is None and not single:
        raise InputError(
            f"{where}: no metric with a number for each item, only {listed(columns) or 'none'}; name another file."
        )
    metric = chosen(where, "metric", single if asked in single or asked is None else columns, asked)
    return metric, [_score(columns, metric, at, places) for at in range(len(places))]


def _score(columns: MetricValues, metric: str, at: int, places: Sequence[str]) -> float:
    value = columns[metric][at]
    if type(value) is float and isfinite(value):
        return value
    if value is ABSENT:
        have = {name: values[at] for name, values in columns.items() if values[at] is not ABSENT}
        field_of(have, metric, places[at])  # refused
    return number(value, places[at], metric)


def number(value: object, place: str, name: str) -> float:
    """A score: a finite number, or true or false."""
    if isinstance(value, bool | int | float):
        try:
            score = float(value)
        except OverflowError:
            score = inf
        if isfinite(score):
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
        raise InputError(
            f"{place}: no field {name!r}, only {listed(map(str, record)) or 'none'}; write the file again."
        )
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
    if len(parts) == 1 and isinstance(parts[0], str):
        text = f"[{encode_basestring_ascii(parts[0])}]"  # the same as below, in a third of the time
    else:
        text = json.dumps(parts, sort_keys=True, ensure_ascii=True, default=str)
    return intern(hashlib.sha256(text.encode()).hexdigest()[:16])


def digests(texts: Sequence[str]) -> list[str]:
    """The `digest` of each of many texts, in two thirds of the time."""
    hashed = map(hashlib.sha256, [f"[{written}]".encode() for written in map(encode_basestring_ascii, texts)])
    return [intern(found.hexdigest()[:16]) for found in hashed]


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a JSONL file with their locations; blank lines are skipped."""
    empty, label = True, one_line(str(path))
    with opened(path, LINES) as file:
        try:
            for number, line in enumerate(iter(lambda: file.readline(DOCUMENT.bytes + 1), b""), start=1):
                if line.removeprefix(b"\xef\xbb\xbf").strip():
                    empty = False
                    yield f"{label}, line {number}", record_in(line, f"{label}, line {number}")
        except OSError as error:
            raise cannot_open(path, error) from error
    if empty:
        raise InputError(f"{label}: the file is empty; check what should have written it.")


def record_in(line: bytes, place: str) -> dict[str, Any]:
    """The object of a line."""
    if len(line) > DOCUMENT.bytes:
        raise InputError(f"{place}: a line may have at most {megabytes(DOCUMENT.bytes)}; write one object per line.")
    found = parse_json(line, place)
    if not isinstance(found, dict):
        raise InputError(f"{place}: JSON, but not an object: {shown(line.decode().strip())}; write it again.")
    return found
