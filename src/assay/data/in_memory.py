"""Scores that are in memory without a table around them: arrays, lists, Series, and frames with a column per model.

They become tables, so that every verb goes on with them as with files. What was assumed is said in a note.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from assay.data.arrays import numbers, unit_ids
from assay.data.columns import ColumnsAsked, found_in
from assay.data.model_columns import columns_by_model
from assay.data.panel import Panel
from assay.data.readers import UNNAMED, Selection
from assay.data.readers.memory import MemorySource
from assay.data.reading import read_models, read_wide
from assay.data.tables import Table
from assay.data.values import answers_in
from assay.data.verdict_tables import columns_of_verdicts
from assay.design import Errors
from assay.errors import InputError, UsageError
from assay.names import argument, listed
from assay.stats.units import Floats

_BY_ROW = f"no column item: rows are items, by their position (or name it with {argument(columns={'item': 'NAME'})})"
_BY_INDEX = "paired by the index of the Series"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Frame(Protocol):
    """A data frame of any library: columns by name."""

    @property
    def columns(self) -> Any: ...

    def __getitem__(self, name: Any, /) -> Any: ...


class HasArray(Protocol):
    """What numpy can read: arrays, Series, tensors on the CPU."""

    def __array__(self) -> NDArray[Any]: ...


Array = Sequence[Any] | NDArray[Any] | HasArray


def prepared(
    sources: Sequence[Any],
    *,
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    selection: Selection | None = None,
) -> list[Any]:
    """The sources with arrays, and frames without ids, read as tables, one per model; other sources as they are.

    >>> [table.name for table in prepared([[1, 0, 1], [1, 1, 1]])]
    ['A', 'B']
    """
    arrays = [source for source in sources if is_array(source)]
    if not arrays:
        found = [one for source in sources for one in _of_frame(source, columns or {}, cluster, selection)]
        rows = [len(one) for one in found if isinstance(one, Table) and one.notes[-1:] == (_BY_ROW,)]
        if len(set(rows)) > 1 and len(sources) > 1:
            raise _unequal(rows)
        return found
    if len(arrays) < len(sources):
        raise UsageError("arrays have no ids to pair them with tables or files by; give arrays only, or tables only.")
    if columns or cluster is not None:
        told = "columns" if columns else "cluster"
        raise UsageError(f"{told} is about tables, and arrays have no columns; make a panel with Panel.from_arrays.")
    return _paired([column for source in arrays for column in _columns(source)], (selection or Selection()).errors)


def is_array(source: Any) -> bool:
    """Whether this is an array, a list or a Series, and not a path, a table or a frame."""
    if isinstance(source, str | PathLike | Mapping | Table | Panel) or hasattr(source, "columns"):
        return False
    return isinstance(source, Sequence) or hasattr(source, "__array__")


def run_columns(
    sources: Sequence[Any], names: Sequence[str] | None = None, *, of_one: bool = False, errors: Errors = "missing"
) -> Panel:
    """A panel of runs: every array (items, runs) is a model; with ``of_one`` arrays (items,) are the runs of one.

    Of a frame the columns that hold numbers are runs. NaN is no answer, or with ``errors="wrong"`` 0.
    """
    arrays = [numbers("scores", _runs(source), holes=True) for source in sources]
    single = of_one and all(one.shape[1] == 1 for one in arrays)
    models = _letters(1 if single else len(arrays)) if names is None else list(names)
    if len(models) != (1 if single else len(arrays)):
        raise UsageError(f"names must be {1 if single else len(arrays)}, one for each model, but got {listed(models)}.")
    of_arrays = models * len(arrays) if single else models
    holes = dict.fromkeys(models, 0)
    for model, one in zip(of_arrays, arrays, strict=True):
        holes[model] += int(np.isnan(one).sum())
    if errors == "wrong":
        arrays = [np.where(np.isnan(one), 0.0, one) for one in arrays]
    values, ids, notes = _side_by_side(sources, arrays)
    of_columns = np.repeat(of_arrays, [one.shape[1] for one in arrays]).tolist()
    panel = Panel.from_arrays(values, ids=ids, models=of_columns, holes=True)
    read = _read_as_runs(sources, of_arrays)
    return replace(panel, lost=holes if any(holes.values()) else {}, notes=(*read, *notes))


def _side_by_side(sources: Sequence[Any], arrays: Sequence[Floats]) -> tuple[Floats, list[str] | None, tuple[str, ...]]:
    """(items, runs) of all, the labels of items where there are any, and how they were paired."""
    if len(arrays) == 1:
        return arrays[0], None, ()
    columns = [_Column(None, one, _items(source)) for source, one in zip(sources, arrays, strict=True)]
    if not _by_index(columns, _letters(len(columns))):
        ignored = any(not column.by_place for column in columns)
        unused = "; the index of a Series beside arrays is not used" if ignored else ""
        return np.hstack(arrays), None, (f"paired by position: row i of every array is the same item{unused}",)
    ids = sorted({label for column in columns for label in column.index or ()})
    rows = {label: row for row, label in enumerate(ids)}
    aligned = [np.full((len(ids), one.shape[1]), np.nan) for one in arrays]
    for column, made in zip(columns, aligned, strict=True):
        made[[rows[label] for label in _different(column.index or [])]] = column.values
    frames = not any(map(is_array, sources))
    return np.hstack(aligned), ids, ("paired by the column item or the index of the frames" if frames else _BY_INDEX,)


def _items(source: Any) -> list[str] | None:
    """The items of the rows: the column of a frame that names them, or the index."""
    item = found_in(_opened(source), ColumnsAsked({})).get("item") if _is_frame(source) else None
    return _labels(source) if item is None else [str(label) for label in source[item]]


def _read_as_runs(sources: Sequence[Any], models: Sequence[str]) -> list[str]:
    """What the columns of frames were taken for, unasked."""
    whose = ["one model"] if len(models) == 1 else models
    frames = [(_score_columns(one, {}, None), of) for one, of in zip(sources, whose, strict=True) if not is_array(one)]
    return [f"{len(columns)} columns read as runs of {of}: {listed(columns)}" for columns, of in frames]


def holds_runs(source: Any) -> bool:
    """Whether this is an array, or a frame without a column of scores but with several of numbers."""
    return is_array(source) or (_is_frame(source) and bool(_score_columns(source, {}, None)))


def _runs(source: Any) -> NDArray[Any]:
    """(items, runs)."""
    if not is_array(source):
        opened, names = _opened(source), _score_columns(source, {}, None)
        read = zip(names, opened.read([(name, "score") for name in names]), strict=True)
        answers = [answers_in(opened, name, values) for name, values in read]
        return np.column_stack([np.where(one.lost, np.nan, one.values) for one in answers])
    array = _numbers(source)
    if array.ndim > 2 or 0 in array.shape:
        raise InputError(f"an array must have the shape (items,) or (items, runs), but got {array.shape}.")
    return array[:, None] if array.ndim == 1 else array


# -------------------------------------------------------------------------------------------------------------- arrays


@dataclass(frozen=True, eq=False)
class _Column:
    """The scores of one model."""

    name: str | None
    values: Any  # (n,), or (n, runs)
    index: list[str] | None  # the labels of a Series; None: it has none

    def __len__(self) -> int:
        return len(self.values)

    @property
    def by_place(self) -> bool:
        """Whether the labels are none, or 0, 1, 2, … as every Series has that was given none."""
        return self.index is None or self.index == [str(i) for i in range(len(self))]


def _columns(source: Any) -> Iterator[_Column]:
    """The columns of an array: one, or of (items, models) as many as there are models."""
    labels = _labels(source)
    if labels is not None:
        name = getattr(source, "name", None)
        yield _Column(None if name is None else str(name), source, _different(labels))
        return
    array = _numbers(source)
    if array.ndim == 1:
        name = getattr(source, "name", None)  # a Series without an index has one
        yield _Column(name if isinstance(name, str) and name else None, array, None)
        return
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"an array must have the shape (items,) or (items, models), but got {array.shape}.")
    yield from (_Column(None, column, None) for column in array.T)


def _labels(source: Any) -> list[str] | None:
    """The index of a Series or a frame, as texts; None where it has none."""
    index = getattr(source, "index", None)
    return None if index is None or callable(index) else [str(label) for label in index]


def _different(labels: list[str]) -> list[str]:
    if len(set(labels)) < len(labels):
        seen: set[str] = set()
        twice = next(label for label in labels if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise InputError(
            f"the index of a Series has {twice!r} twice; give each item its own label, or pass .to_numpy() to pair by "
            "position."
        )
    return labels


def _numbers(source: Any) -> NDArray[Any]:
    """As an array; what is not a number in it is found, and named, when it is read as a table."""
    if isinstance(source, Sequence) and len(source) and all(isinstance(one, str | PathLike) for one in source):
        raise UsageError("a list must hold scores, but got texts; give paths one by one: summarize(*paths).")
    try:
        array = np.asarray(source)
    except (TypeError, ValueError) as error:
        raise InputError(f"an array must have rows of equal length ({error}).") from error
    if array.ndim == 0:
        raise UsageError(f"an array must have a score for each item, but got {type(source).__name__}.")
    return array


def _paired(columns: Sequence[_Column], errors: Errors) -> list[Table]:
    """Tables of the columns, by the labels of Series or by position."""
    names = _names(columns)
    by_index = _by_index(columns, names)
    place = unit_ids(None, len(columns[0]))
    tables = [
        read_wide({"item": column.index if by_index else place, name: column.values}, [name], errors=errors)[0]
        for name, column in zip(names, columns, strict=True)
    ]
    return [replace(table, notes=_how_paired(columns, by_index=by_index)) for table in tables]


def _by_index(columns: Sequence[_Column], names: Sequence[str]) -> bool:
    """Whether the columns are paired by their labels; refused if they cannot be paired."""
    by_index = all(column.index is not None for column in columns) and not all(c.by_place for c in columns)
    if not by_index and len({len(column) for column in columns}) > 1:
        raise _unequal([len(column) for column in columns])
    if by_index and len(columns) > 1 and not set.intersection(*(set(column.index or ()) for column in columns)):
        shown = "; ".join(f"{name} has {listed((c.index or [])[:3])}" for name, c in zip(names, columns, strict=True))
        raise InputError(
            f"no label is in the index of every Series: {shown}; set the index to the item, or pass .to_numpy() to "
            "pair by position."
        )
    return by_index


def _names(columns: Sequence[_Column]) -> list[str]:
    told = [column.name for column in columns]
    if None not in told and len(set(told)) == len(told):
        return [str(name) for name in told]
    return _letters(len(columns))


def _letters(count: int) -> list[str]:
    """What models are called that have no names: A, B, …"""
    if count == 1:
        return ["the model"]
    return [_LETTERS[i] if count <= len(_LETTERS) else f"model {i + 1}" for i in range(count)]


def _how_paired(columns: Sequence[_Column], *, by_index: bool) -> tuple[str, ...]:
    if len(columns) == 1:
        return ()
    if by_index:
        return (_BY_INDEX,)
    ignored = any(not column.by_place for column in columns)
    return ("paired by position" + (", the index of a Series beside arrays is not used" if ignored else ""),)


def _unequal(lengths: Sequence[int]) -> InputError:
    return InputError(
        f"arrays are paired by position and must be equally long, but have {listed(map(str, lengths))} scores; give "
        "them ids (a Series with an index, or a table with a column item), or write NaN where an answer is missing."
    )


# -------------------------------------------------------------------------------------------------------------- frames


def _of_frame(source: Any, columns: Mapping[str, str], cluster: str | None, selection: Selection | None) -> list[Any]:
    """A frame of scores without a column of ids as tables, by its index or by its rows; anything else as it is."""
    if not _is_frame(source) or not _keys(source) or (selection is not None and selection.pair_by == "row"):
        return [source]
    asked = ColumnsAsked(columns, cluster=cluster)
    if columns_of_verdicts(_opened(source), asked) is not None:
        return [source]
    found = found_in(_opened(source), asked)
    if found.keys() & {"item", "window", "model", "loss"}:
        return [source]
    if "score" not in found and not _score_columns(source, columns, cluster):
        return [source]  # refused with what is missing
    frame, note = _with_ids(source)
    tables = read_models(frame, columns=columns, cluster=cluster, selection=selection)
    return [replace(table, notes=(*table.notes, note)) for table in tables]


def _is_frame(source: Any) -> bool:
    if isinstance(source, str | PathLike | Table | Panel):
        return False
    return isinstance(source, Mapping) or (hasattr(source, "columns") and hasattr(source, "__getitem__"))


def _keys(frame: Any) -> list[Any]:
    return list(getattr(frame, "columns", frame))


def _opened(frame: Any) -> MemorySource:
    return MemorySource({str(key): frame[key] for key in _keys(frame)}, UNNAMED)


def _score_columns(frame: Any, columns: Mapping[str, str], cluster: str | None) -> list[str]:
    """The columns of scores, one per model or run, of a frame that has none called so; none where there is one."""
    return list(columns_by_model(_opened(frame), ColumnsAsked(columns, cluster=cluster, by_row=True)) or ())


def _with_ids(frame: Any) -> tuple[dict[str, Any], str]:
    """The frame with its index, or the numbers of its rows, as the column ``item``; and what to say of it."""
    named = {str(key): frame[key] for key in _keys(frame)}
    labels = _labels(frame)
    count = len(next(iter(named.values())))
    if labels is None or labels == [str(i) for i in range(count)]:
        return {"item": unit_ids(None, count), **named}, _BY_ROW
    return {"item": labels, **named}, "no column item: the index of the frame names the items"
