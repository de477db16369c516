"""A table of losses or scores, and checks that tables can be compared.

Comparable tables have the same kind, measure, tokenizer and cut, and splits and clusters in all of them or in none.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.data.metrics import UNITS, Kind
from assay.data.readers import FILTER_WORDS, row_places
from assay.data.readers.containers import plain_stem, unpacked_name
from assay.data.text_columns import TextColumn
from assay.errors import InputError, UsageError
from assay.names import argument, listed, names_of, nearest, short_names
from assay.stats.units import Floats, Integers, Texts, Truths

SPLITS = ("preview", "final")


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """A categorical column: its distinct texts, sorted, and a code per row."""

    names: tuple[str, ...]
    codes: Integers  # (rows,)

    @classmethod
    def of(cls, texts: Texts | TextColumn) -> "Labels":
        names, codes = TextColumn.of(texts).coded()
        return cls(tuple(names), codes)

    def where(self, rows: NDArray[Any] | slice) -> "Labels":
        """Labels of some rows; names that no row uses any more are dropped."""
        kept, codes = np.unique(self.codes[rows], return_inverse=True)
        return Labels(tuple(self.names[code] for code in kept.tolist()), codes.astype(np.int64, copy=False))

    @property
    def texts(self) -> Texts:
        """(rows,) The label of every row."""
        names = np.empty(len(self.names), dtype=object)
        names[:] = self.names
        return names[self.codes]

    @property
    def by_appearance(self) -> Integers:
        """(rows,) Codes 0, 1, … in order of first appearance."""
        _, first, codes = np.unique(self.codes, return_index=True, return_inverse=True)
        places = np.empty(len(first), dtype=np.int64)
        places[np.argsort(first)] = np.arange(len(first))
        return places[codes]


def numbered(labels: Iterable[Any], n: int) -> Integers:
    """Number n labels 0, 1, … in order of first appearance."""
    seen = list(labels)
    codes = {label: code for code, label in enumerate(dict.fromkeys(seen))}
    return np.fromiter(map(codes.__getitem__, seen), np.int64, n)


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of one file, in file order, under our column names."""

    label: str  # what messages call it: the path as it was given
    name: str  # what a result calls its system: the model, or the file without its extension
    kind: Kind
    ids: TextColumn  # (rows,) the window or item
    numbers: dict[str, Floats]  # (rows,) each, by our name
    labels: dict[str, Labels]  # model, task, split, run, document, doc_hash, cluster; a further cluster by its own name
    rows: NDArray[np.integer[Any]]  # (rows,) the row in the file, from 1
    columns: dict[str, str]  # our name → the name in the file
    cluster_by: str | None = None  # the labels to cluster by, unless others are asked for
    notes: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)  # the manifest of a run, the measure of a harness
    places: Callable[[Sequence[int]], list[str]] = row_places  # where rows of the file stand, by their numbers
    lost: Truths | None = None  # (rows,) no answer: an error, a null, an empty cell; the score is NaN, or 0 if asked
    errors: Labels | None = None  # (rows,) why answers were lost, where the file says it

    def __len__(self) -> int:
        return len(self.ids)

    def place(self, at: int) -> str:
        """Location of a row, for messages."""
        return f"{self.label}, {self.places([int(self.rows[at])])[0]}"

    @property
    def unit(self) -> str:
        return UNITS[self.kind]

    @property
    def models(self) -> tuple[str, ...]:
        """The models in the file, sorted; none where there is no model column."""
        return self.labels["model"].names if "model" in self.labels else ()

    def select(self, model: str) -> "Table":
        """The rows of one model."""
        if not self.models:
            raise InputError(
                f"{self.label}: no column 'model' to find {model!r} in; name it with `columns={{'model': 'NAME'}}`."
            )
        if model not in self.models:
            close = nearest(model, self.models)
            hint = f"did you mean {close!r}?" if close else "name one of them."
            raise InputError(f"{self.label}: no model {model!r} among its models {listed(self.models)}; {hint}")
        return self._of_model(model, self.labels["model"].codes == self.models.index(model))

    def _of_model(self, model: str, rows: NDArray[Any] | slice) -> "Table":
        label = self.label if len(self.models) == 1 else f"{self.label} (model {model!r})"
        return replace(self.where(rows), label=label, name=model)

    def by_model(self) -> list["Table"]:
        """One table per model; the table itself if it has one model or no model column."""
        if len(self.models) <= 1:
            return [self]
        codes = self.labels["model"].codes
        together = bool((codes[1:] >= codes[:-1]).all())  # as files usually are: nothing has to be copied
        order = None if together else np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(self.models))).tolist()
        parts = [slice(low, high) for low, high in zip([0, *ends[:-1]], ends, strict=True)]
        rows: list[NDArray[Any] | slice] = [part if order is None else order[part] for part in parts]
        return [self._of_model(model, some) for model, some in zip(self.models, rows, strict=True)]

    def where(self, chosen: NDArray[Any] | slice) -> "Table":
        """Select rows; they keep their row numbers in the file."""
        return replace(
            self,
            ids=self.ids[chosen],
            numbers={name: values[chosen] for name, values in self.numbers.items()},
            labels={name: labels.where(chosen) for name, labels in self.labels.items()},
            rows=self.rows[chosen],
            lost=None if self.lost is None else self.lost[chosen],
            errors=None if self.errors is None else self.errors.where(chosen),
        )

    def answered(self, *, zero: bool = False) -> "Table":
        """Only the rows with an answer; with ``zero`` the others count as 0."""
        if self.lost is None or self.kind == "losses":
            return self
        scores = self.numbers["score"]
        if zero:
            return replace(self, numbers={**self.numbers, "score": np.nan_to_num(scores, nan=0.0)})
        there = ~np.isnan(scores)
        return self if there.all() else self.where(there)


def told_apart(tables: Sequence[Table]) -> list[Table]:
    """The tables, those of one name that are called after their files by what differs in the paths; no name is long."""
    names = [table.name for table in tables]
    twice = [i for i, table in enumerate(tables) if names.count(table.name) > 1 and _after_its_file(table)]
    if len({tables[i].label for i in twice}) == len(twice) > 1:
        taken = {name for i, name in enumerate(names) if i not in twice}
        for i, name in zip(twice, names_of([unpacked_name(tables[i].label) for i in twice], taken), strict=True):
            names[i] = name
    shorter = short_names(names)
    return [replace(table, name=name) for table, name in zip(tables, shorter, strict=True)]


def _after_its_file(table: Table) -> bool:
    return not table.models and "model" not in table.about and table.name == plain_stem(table.label)


# ------------------------------------------------------------------------------------------ which compare


def check_tables(tables: Sequence[Table], split: str | None) -> None:
    if not tables:
        raise UsageError("a panel must have at least one table, but got none.")
    if split is not None and split not in SPLITS:
        raise UsageError(f"split must be preview or final, but got {split!r}.")
    for table in tables:
        if len(table.models) > 1:
            found = listed(table.models)
            raise InputError(
                f"{table.label}: {len(table.models)} models ({found}); say which one is meant with `models`."
            )
        _check_alike(tables[0], table)


def _check_alike(a: Table, b: Table) -> None:
    if a.kind != b.kind:
        raise InputError(
            f"{a.label} holds {a.kind} and {b.label} holds {b.kind}; compare like with like, or say with `columns` "
            "what the columns are."
        )
    _check_measures(a, b)
    check_cuts(a, b)
    _check_starts(a, b)
    if tokenization(a.about, b.about) == "different":
        raise InputError(
            f"{a.label} and {b.label} were tokenized differently, so their perplexities do not compare; compare bits "
            "per byte of the same documents with `per='byte'`."
        )
    if ("split" in a.labels) != ("split" in b.labels):
        has, lacks = (a, b) if "split" in a.labels else (b, a)
        raise InputError(
            f"{has.label} has a column 'split' and {lacks.label} has none; add it, or drop it with "
            "`columns={'split': ''}`."
        )


def check_cuts(a: Table, b: Table) -> None:
    """Refuse runs whose windows were cut by different rules: they predict different tokens."""
    first, second = (table.about.get("layout", {}) for table in (a, b))
    if not first or not second:
        return
    if first.get("cut") != second.get("cut"):
        raise InputError(
            f"{a.label} was scored with {argument(cut=first.get('cut'))} and {b.label} with "
            f"{argument(cut=second.get('cut'))}, so their windows predict different tokens; score one of them again."
        )


def _check_starts(a: Table, b: Table) -> None:
    starts = [table.about.get("layout", {}).get("bos") for table in (a, b)]
    if None not in starts and starts[0] != starts[1] and tokenization(a.about, b.about) != "different":
        has, lacks = (a, b) if starts[0] else (b, a)
        raise InputError(
            f"{has.label} has a start token before its documents and {lacks.label} has none, so their windows predict "
            "different tokens; score both with the same `prefix`."
        )


def _check_measures(a: Table, b: Table) -> None:
    """Refuse harness results with different metrics, filters, scorers or tasks."""
    first, second = (table.about.get("measure") for table in (a, b))
    if first is None or second is None or first["format"] != second["format"]:
        return
    for of, own, other in _by_task(first, second):
        for name in ("metric", "filter", "scorer"):
            if own[name] != other[name]:
                word = FILTER_WORDS.get(first["format"], name) if name == "filter" else name
                raise InputError(
                    f"{a.label} has the {word} {own[name]} and {b.label} the {word} {other[name]}{of}; choose one "
                    f"that both have with `Selection({name}=...)`."
                )
    if first["task"] and second["task"] and ("task" in a.labels) != ("task" in b.labels):
        one, many = (b, a) if "task" in a.labels else (a, b)
        task = one.about["measure"]["task"]
        raise InputError(
            f"{one.label} holds the task {task} and {many.label} {len(many.labels['task'].names)} tasks; choose one "
            f"with {argument('Selection', task=task)}."
        )
    told = first["task"] and second["task"]  # a renamed file does not say its task
    apart = told and first["task"] != second["task"] and "task" not in a.about.get("allow_different", ())
    if apart and not ("doc_hash" in a.labels and "doc_hash" in b.labels):
        raise InputError(
            f"{a.label} holds the task {first['task']} and {b.label} {second['task']}; choose one that both have with "
            "`Selection(task=...)`, or compare them all the same with `Selection(allow_different=['task'])`."
        )


def _by_task(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """What two harness results measure, task by task where they have any in common."""
    own, other = first["by_task"], second["by_task"]
    common = [task for task in own if task in other]
    if not common:
        yield "", first, second
    several = len({*own, *other}) > 1
    yield from ((f" of the task {task}" if several else "", own[task], other[task]) for task in common)


def measures_of(tables: Sequence[Table]) -> dict[str, str]:
    """What each task of harness results measures, where tasks differ in that: ``exact_match, strict-match``."""
    own = {task: one for table in tables for task, one in table.about.get("measure", {}).get("by_task", {}).items()}
    found = {task: ", ".join(name for name in one.values() if name not in (None, "none")) for task, one in own.items()}
    return found if len(set(found.values())) > 1 else {}


def tokenization(first: Mapping[str, Any], second: Mapping[str, Any]) -> Literal["same", "alike", "different"]:
    """How the tokens of two runs relate, by their manifests; alike: the ids agree, the tokenizers' definitions do not.

    The ids of the same text decide where both runs tell them, then the definitions, then the files, which is all that
    older runs tell. What nobody tells is taken to be the same.
    """
    texts = [run.get("text") or {} for run in (first, second)]
    digests = [(run.get("model") or {}).get("digests") or {} for run in (first, second)]
    told = [_agree(digests, name) for name in ("tokenizer_definition", "tokenizer")]
    same = True in told or False not in told
    if _agree(texts, "sha256") and (ids := _agree(texts, "token_ids")) is not None:
        return ("same" if same else "alike") if ids else "different"
    return "same" if same else "different"


def _agree(runs: Sequence[Mapping[str, Any]], name: str) -> bool | None:
    """Whether two runs tell the same; ``None`` where one of them does not tell."""
    found = [run.get(name) for run in runs]
    return None if None in found else found[0] == found[1]


def tokens_notes(runs: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """What is to be said of runs (name and manifest) whose tokenizers differ and gave the same tokens."""
    first, about = runs[0]
    others = [name for name, other in runs[1:] if tokenization(about, other) == "alike"]
    every = listed([first, *others])
    said = f"the tokenizers of {every} are defined differently, but give this text the same tokens"
    return [said] if others else []


def direction_of(tables: Sequence[Table], *, asked: bool | None) -> bool | None:
    """Whether lower is better: as requested, or as the harness says of its metric."""
    told = {table.about.get("lower_is_better") for table in tables} - {None}
    if asked is not None or tables[0].kind == "losses" or not told:
        return asked
    if len(told) > 1:
        raise InputError("the files do not agree whether a lower score is better; say so with `lower_is_better`.")
    return bool(told.pop())


def clustered_by(tables: Sequence[Table]) -> str | None:
    for table in tables:
        if table.cluster_by != tables[0].cluster_by:
            has, lacks = (table, tables[0]) if table.cluster_by else (tables[0], table)
            raise InputError(
                f"{has.label} has clusters ({has.cluster_by}) and {lacks.label} has {lacks.cluster_by or 'none'}; "
                "add the column, or leave it out with `columns={'cluster': ''}`."
            )
    return tables[0].cluster_by


def of_split(table: Table, split: str | None) -> Table:
    if split is None:
        return table
    if "split" not in table.labels:
        raise InputError(
            f"{table.label}: no column 'split' to take {split!r} from; name it with `columns={{'split': 'NAME'}}`."
        )
    names = table.labels["split"].names
    if split not in names:
        raise InputError(f"{table.label}: no row of the split {split!r}, only of {listed(names)}; ask for that one.")
    return table.where(table.labels["split"].codes == names.index(split))
