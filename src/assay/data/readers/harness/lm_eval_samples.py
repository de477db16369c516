"""The samples of lm-evaluation-harness, column by column: of each row its ids, its metrics and nothing of its texts."""

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from math import inf
from pathlib import Path
from sys import intern
from typing import Any

from assay.data.readers.harness import ABSENT, SampleText, field_of, label_of, read_lines
from assay.data.readers.harness.lines import (
    FieldColumns,
    FieldLayout,
    Layouts,
    Raw,
    Row,
    SharedValues,
    empty_file,
    lines_of,
    place_of_line,
    plain_text,
    slow_record,
    values_of,
    whole_lines,
)
from assay.data.readers.harness.places import NumberedPlaces
from assay.errors import InputError
from assay.names import one_line

NOT_METRICS = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash task_name".split()  # noqa: SIM905 - a list of words
)


@dataclass(frozen=True, slots=True)
class Sample:
    """What is kept of a row."""

    doc: str
    digest: str
    filter: str
    metrics: Mapping[str, Any]
    cluster: str


@dataclass(eq=False, slots=True)
class Samples:
    """What is kept of a file: a value for each row in every list."""

    label: str
    docs: list[str] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    filters: list[str] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    metrics: dict[str, list[Any]] = field(default_factory=dict)  # ABSENT where a row has none
    lines: "array[int]" = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        return len(self.docs)

    @property
    def places(self) -> NumberedPlaces:
        return NumberedPlaces(self.label, self.lines)

    def add(self, sample: Sample, line: int) -> None:
        for name in sample.metrics:
            if name not in self.metrics:
                self.metrics[name] = [ABSENT] * len(self)
        for name, column in self.metrics.items():
            column.append(sample.metrics.get(name, ABSENT))
        self.docs.append(sample.doc)
        self.digests.append(sample.digest)
        self.filters.append(sample.filter)
        self.clusters.append(sample.cluster)
        self.lines.append(line)

    def of_filter(self, kept: str) -> "Samples":
        """The rows of a filter; the metrics that none of them has are left out."""
        rows = [at for at, name in enumerate(self.filters) if name == kept]
        if len(rows) == len(self):
            return self
        docs, digests, filters, clusters = (
            [column[at] for at in rows] for column in (self.docs, self.digests, self.filters, self.clusters)
        )
        metrics = {name: [column[at] for at in rows] for name, column in self.metrics.items()}
        there = {name: column for name, column in metrics.items() if any(value is not ABSENT for value in column)}
        lines = array("q", [self.lines[at] for at in rows])
        return Samples(self.label, docs, digests, filters, clusters, there, lines)


def read_samples(path: Path, cluster: str | None, task: str) -> Samples:
    """Read a file of samples."""
    found, layouts = Samples(one_line(str(path))), Layouts()
    # Other clusters than the task are read from the documents, which the slow way decodes.
    quick = _Quick(found, "" if cluster is None else task) if cluster is None or (cluster == "task" and task) else None
    first = 1
    for block in whole_lines(path):
        together = None if quick is None else layouts.together(block)
        if quick is not None and together is not None and quick.add_all(*together, first):
            first += len(together[1][0])
            continue
        for number, line in lines_of(block, first):
            known = None if quick is None else layouts(line)
            if quick is None or known is None or not quick.add(*known, number):
                place = place_of_line(path, number)
                found.add(_sample(place, slow_record(path, number, line), cluster, task), number)
        first += block.count(b"\n")
    if not len(found):
        raise empty_file(path)
    return found


@dataclass(frozen=True, slots=True)
class _Recipe:
    """Where the fields are that are kept of a row; -1 where there is none."""

    doc: int
    digest: int
    filter: int
    metrics: list[tuple[Callable[[Iterable[Any]], None], int]]  # what extends the column of a metric, and where it is
    lacking: list[Callable[[Iterable[Any]], None]]  # what extends those that the row does not have


class _Quick:
    """Adds rows whose fields are what they should be."""

    def __init__(self, found: Samples, cluster: str) -> None:
        self.found, self.cluster, self.value = found, cluster, SharedValues()
        self.recipes: dict[tuple[FieldLayout, bytes, int], _Recipe | None] = {}

    def add(self, layout: FieldLayout, row: Row, number: int) -> bool:
        """Add a row, unless the slow way must read it, or say what is wrong."""
        recipe = self._recipe(layout, row)
        if recipe is None:
            return False
        doc, digest = plain_text(row[recipe.doc]), "" if recipe.digest < 0 else plain_text(row[recipe.digest])
        if doc is None or digest is None:
            return False
        value, found = self.value, self.found
        for extend, place in recipe.metrics:
            extend((value(row[place]),))
        for extend in recipe.lacking:
            extend((ABSENT,))
        found.docs.append(doc)
        found.digests.append(digest)
        found.filters.append("none" if recipe.filter < 0 else str(value(row[recipe.filter])))
        found.clusters.append(self.cluster)
        found.lines.append(number)
        return True

    def add_all(self, layout: FieldLayout, columns: FieldColumns, first: int) -> bool:
        """Add the rows of a block whose first line has this number, unless they must be added one by one."""
        listed = layout.places.get("metrics", -1)
        if listed >= 0 and len(set(map(bytes, columns[listed]))) > 1:
            return False  # rows of several metrics
        recipe = self._recipe(layout, tuple(column[0] for column in columns))
        if recipe is None:
            return False
        size = len(columns[0])
        docs, digests, filters = (
            _texts(columns[recipe.doc]),
            [""] * size if recipe.digest < 0 else _texts(columns[recipe.digest]),
            ["none"] * size if recipe.filter < 0 else values_of(columns[recipe.filter], str),
        )
        metrics = [values_of(columns[place]) for _, place in recipe.metrics]
        if docs is None or digests is None or filters is None or any(values is None for values in metrics):
            return False
        found = self.found
        for (extend, _), values in zip(recipe.metrics, metrics, strict=True):
            extend(values or ())
        for extend in recipe.lacking:
            extend(repeat(ABSENT, size))
        found.docs += docs
        found.digests += digests
        found.filters += map(intern, filters)
        found.clusters += repeat(self.cluster, size)
        found.lines.extend(range(first, first + size))
        return True

    def _recipe(self, layout: FieldLayout, row: Row) -> _Recipe | None:
        """What to keep of rows of this layout with these metrics; ``None`` where they lack something."""
        listed = layout.places.get("metrics", -1)
        key = layout, b"" if listed < 0 else bytes(row[listed]), len(self.found.metrics)
        if key not in self.recipes:
            self.recipes[key] = self._made(layout, None if listed < 0 else self.value(row[listed]))
        return self.recipes[key]

    def _made(self, layout: FieldLayout, listed: object) -> _Recipe | None:
        places, columns = layout.places, self.found.metrics
        named = listed if isinstance(listed, list) else [name for name in places if name not in NOT_METRICS]
        names = [intern(str(name)) for name in named]
        if "doc_id" not in places or any(name not in places for name in names):
            return None
        for name in names:
            columns.setdefault(name, [ABSENT] * len(self.found))
        digest, kept = (places.get(name, -1) for name in ("doc_hash", "filter"))
        there = [(columns[name].extend, places[name]) for name in dict.fromkeys(names)]
        lacking = [column.extend for name, column in columns.items() if name not in names]
        return _Recipe(places["doc_id"], digest, kept, there, lacking)


def _texts(column: Sequence[Raw]) -> list[str] | None:
    """Texts, or whole numbers as they are written; ``None`` where one is neither."""
    found = values_of(column, str)
    if found is None and values_of(column, int) is not None:
        found = [bytes(value).decode() for value in column]
    return found


def _sample(place: str, record: dict[str, Any], cluster: str | None, task: str) -> Sample:
    doc = str(field_of(record, "doc_id", place, int, str))
    listed_names = record.get("metrics")
    names = listed_names if isinstance(listed_names, list) else [name for name in record if name not in NOT_METRICS]
    metrics = {intern(str(name)): field_of(record, str(name), place) for name in names}
    group = "" if cluster is None else _cluster(record, cluster, place, task)
    return Sample(
        intern(doc), intern(str(record.get("doc_hash", ""))), intern(str(record.get("filter", "none"))), metrics, group
    )


def _cluster(record: dict[str, Any], name: str, place: str, task: str) -> str:
    if name == "task" and not task:
        raise InputError(f"{place}: the file was renamed and does not say its task; cluster by something else.")
    return task if name == "task" else label_of([("doc", record.get("doc"))], name, place)


# --------------------------------------------------------------------------------------------------------------- texts


def sample_texts(path: Path) -> Iterator[SampleText]:
    """What each document asked, and the raw responses: the same for every filter, so of one row for each document."""
    seen: set[str] = set()
    for _, record in read_lines(path):
        doc = str(record.get("doc_id"))
        if doc not in seen:
            seen.add(doc)
            yield _text(doc, record)


def _text(doc: str, record: dict[str, Any]) -> SampleText:
    asked = _arguments(record.get("arguments"))
    choices = tuple(second.strip() for _, second in asked) if len(asked) > 1 else None
    question = asked[0][0] if asked else json.dumps(record.get("doc"), ensure_ascii=False)
    target = record.get("target")
    references = tuple(map(str, target)) if isinstance(target, list) else (str(target),)
    return SampleText(doc, "", question, references, _answers(record.get("resps"), choices), choices)


def _arguments(found: object) -> list[tuple[str, str]]:
    """The prompt of each request, and what was to follow it."""
    rows = list(found.values()) if isinstance(found, dict) else found if isinstance(found, list) else []
    pairs = [list(row.values()) if isinstance(row, dict) else row for row in rows]
    return [(str(pair[0]), str(pair[1]) if len(pair) > 1 else "") for pair in pairs if isinstance(pair, list) and pair]


def _answers(found: object, choices: tuple[str, ...] | None) -> tuple[str, ...]:
    """The texts that a model wrote; of choices the likeliest."""
    responses = found if isinstance(found, list) else []
    flat = [one for row in responses for one in (row if isinstance(row, list) else [row])]
    if choices is None:
        return tuple(str(one) for one in flat)
    chances = [_chance(one) for one in flat[: len(choices)]]
    return (choices[chances.index(max(chances))],) if chances else ()


def _chance(response: object) -> float:
    first = response[0] if isinstance(response, list) and response else response
    try:
        return float(str(first))
    except ValueError:
        return -inf
