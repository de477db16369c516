"""A table of losses or scores: read by column name, every value checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data.checks import check_number, check_split, check_texts, check_unique
from assay.data.columns import GROUPS, Layout, layout_of, listed, nearest
from assay.data.panel import UNITS, Floats, Integers, Kind, Texts
from assay.data.readers import Reading, Source, open_source
from assay.errors import InputError, UsageError

_NUMBERS = frozenset({"tokens", "loss", "bytes", "chars", "start", "stop", "score", "weight"})
_NOT_CLUSTERS = _NUMBERS | {"model"}  # as labels they would no longer be read as what they are


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """A column of repeated texts: each once, sorted, and which one every row has."""

    names: tuple[str, ...]
    codes: Integers  # (rows,)

    @classmethod
    def of(cls, texts: Texts) -> "Labels":
        names = sorted(set(texts))
        codes = {name: code for code, name in enumerate(names)}
        return cls(tuple(names), np.fromiter(map(codes.__getitem__, texts), np.int64, len(texts)))

    def where(self, rows: NDArray[Any]) -> "Labels":
        """The labels of some of the rows, without those that no row has any more."""
        kept, codes = np.unique(self.codes[rows], return_inverse=True)
        return Labels(tuple(self.names[code] for code in kept.tolist()), codes.astype(np.int64, copy=False))


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of one file, in its order, with our names for the columns."""

    label: str  # what messages call it: the path as it was given
    name: str  # what a result calls its system: the model, or the file without its extension
    kind: Kind
    ids: Texts  # (rows,) the window or item
    numbers: dict[str, Floats]  # (rows,) each, by our name
    labels: dict[str, Labels]  # model, split, run, document, cluster, by our name; a further cluster column by its own
    rows: Integers  # (rows,) the row in the file, from 1
    columns: dict[str, str]  # our name → the name in the file
    cluster_by: str | None = None  # the labels to cluster by, unless others are asked for
    notes: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)  # the manifest of a run

    def __len__(self) -> int:
        return len(self.ids)

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
                f"{self.label}: no column 'model' to find {model!r} in; name it with --columns model=NAME."
            )
        if model not in self.models:
            close = nearest(model, self.models)
            hint = f"did you mean {close!r}?" if close else "name one of them."
            raise InputError(f"{self.label}: no model {model!r} among its models {listed(self.models)}; {hint}")
        chosen = self.where(self.labels["model"].codes == self.models.index(model))
        label = self.label if len(self.models) == 1 else f"{self.label} (model {model!r})"
        return replace(chosen, label=label, name=model)

    def where(self, chosen: NDArray[np.bool_]) -> "Table":
        """Some of the rows; they keep the numbers they have in the file."""
        return replace(
            self,
            ids=self.ids[chosen],
            numbers={name: values[chosen] for name, values in self.numbers.items()},
            labels={name: labels.where(chosen) for name, labels in self.labels.items()},
            rows=self.rows[chosen],
        )


def read_table(
    source: str | PathLike[str] | Mapping[str, Any] | Any,
    *,
    columns: Mapping[str, str] | None = None,
    kind: Kind | None = None,
    cluster: str | None = None,
    name: str | None = None,
) -> Table:
    """Read losses (``window, tokens, loss``) or scores (``item, score``) from a file, a mapping or a data frame.

    Files are CSV, TSV, JSONL or Parquet. ``columns`` maps our names to the file's, ``cluster`` names the column that
    holds the clusters, ``name`` is what results call the system. A value that cannot be right is an error.

    >>> read_table({"item": ["q1", "q2"], "acc": [1, 0]}, columns={"score": "acc"}).numbers["score"]
    array([1., 0.])
    """
    if kind is not None and kind not in UNITS:
        raise UsageError(f"kind must be one of {', '.join(UNITS)}, but got {kind!r}.")
    opened = open_source(source, name=name)
    layout = layout_of(opened.label, opened.columns, columns or {}, kind, cluster)
    if cluster in layout.columns and cluster in _NOT_CLUSTERS:
        raise UsageError(f"cluster must be a column of labels such as document, but {cluster!r} has another use.")
    ids, numbers, labels = _checked(opened, layout, cluster)
    return Table(
        opened.label,
        name or _name(opened, labels),
        layout.kind,
        ids,
        numbers,
        labels,
        np.arange(1, len(ids) + 1),
        layout.columns,
        cluster_by=cluster or ("cluster" if "cluster" in labels else None),
        notes=_notes(opened.label, layout),
        about=opened.about,
    )


def _wanted(layout: Layout, cluster: str | None) -> dict[str, tuple[str, Reading]]:
    """What to read, by our name; a cluster column that is not one of ours goes by its own name.

    Labels come first: their texts are gone before those of the ids, which stay, take their place in memory.
    """
    readings: dict[str, Reading] = {ours: "number" if ours in _NUMBERS else "text" for ours in layout.columns}
    readings.update({"score": "score"} if "score" in layout.columns else {})
    wanted = {ours: (theirs, readings[ours]) for ours, theirs in layout.columns.items()}
    if cluster is not None and layout.cluster is not None:
        wanted[cluster] = (layout.cluster, "text")
    unit = UNITS[layout.kind]
    return dict(sorted(wanted.items(), key=lambda item: (item[0] == unit, item[1][1] != "text")))


def _checked(source: Source, layout: Layout, cluster: str | None) -> tuple[Texts, dict[str, Floats], dict[str, Labels]]:
    """Read and check every column: the ids, the numbers, the labels."""
    wanted = _wanted(layout, cluster)
    numbers: dict[str, Floats] = {}
    labels: dict[str, Labels] = {}
    for (ours, (theirs, how)), values in zip(wanted.items(), source.read(list(wanted.values())), strict=True):
        if not len(values):
            raise InputError(f"{source.label}: a header but no rows; check what should have written them.")
        if how != "text":
            numbers[ours] = _numbers(source, ours, theirs, values)
            continue
        check_texts(source, theirs, values)
        if ours != UNITS[layout.kind]:
            labels[ours] = _labels(source, ours, theirs, values)
        else:
            ids = values
    groups = {name: labels[name].codes if name in labels else None for name in GROUPS[layout.kind]}
    check_unique(source, layout.columns[UNITS[layout.kind]], ids, groups)
    return ids, numbers, labels


def _numbers(source: Source, ours: str, theirs: str, values: Floats) -> Floats:
    check_number(source, ours, theirs, values)
    return values + 0.0  # -0.0 becomes 0.0, so that equal values have equal bits


def _labels(source: Source, ours: str, theirs: str, values: Texts) -> Labels:
    labels = Labels.of(values)
    if ours == "split":
        check_split(source, theirs, labels.names, labels.codes)
    return labels


def _name(source: Source, labels: Mapping[str, Labels]) -> str:
    if "model" in labels and len(labels["model"].names) == 1:
        return labels["model"].names[0]
    if source.about:
        return str(source.about["model"]["name"])
    return PurePath(source.label).stem


def _notes(label: str, layout: Layout) -> tuple[str, ...]:
    if not layout.unused:
        return ()
    return (f"{label}: columns not used: {listed(layout.unused)}",)
