"""Tables in memory: a mapping of names to columns, or a data frame of any library."""

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data.readers import Reading, row_places
from assay.errors import InputError
from assay.stats.units import Truths

_TRUTHS = {"true": 1.0, "false": 0.0}
_MISSING = frozenset({"NoneType", "NAType", "NaTType"})  # by name, so that pandas need not be imported


class MemorySource:
    """Columns by name, converted to arrays when read."""

    name: str | None = None
    notes: tuple[str, ...] = ()
    about: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, table: Any, label: str) -> None:
        self.label = label
        self.columns = tuple(str(name) for name in getattr(table, "columns", table))
        self._keys = dict(zip(self.columns, getattr(table, "columns", table), strict=True))
        self._table = table

    def read(self, wanted: Sequence[tuple[str, Reading]]) -> Iterator[NDArray[Any]]:
        columns = [self._column(name) for name, _ in wanted]
        for (name, _), column in zip(wanted, columns, strict=True):
            if len(column) != len(columns[0]):
                raise InputError(
                    f"{self.label}, column {name!r}: {len(column)} values, but {wanted[0][0]!r} has {len(columns[0])}; "
                    "give all columns the same length."
                )
        return (_converted(column, how) for (_, how), column in zip(wanted, columns, strict=True))

    def filled(self, column: str) -> tuple["MemorySource", Truths]:
        """A copy with 0 in the empty cells of a column, and a mask of the cells that are not empty."""
        values = self._column(column).tolist()
        there = np.array([bool(_text(value).strip()) for value in values], dtype=bool)
        if there.all():
            return self, there
        plain = [value if kept else 0 for value, kept in zip(values, there.tolist(), strict=True)]
        others = {name: self._table[key] for name, key in self._keys.items() if name != column}
        return MemorySource({**others, column: plain}, self.label), there

    def cell(self, column: str, row: int) -> str:
        return _text(self._column(column)[row - 1])

    def places(self, rows: Sequence[int]) -> list[str]:
        return row_places(rows)

    def _column(self, name: str) -> NDArray[Any]:
        values = self._table[self._keys[name]]
        array = values if isinstance(values, np.ndarray) else _as_array(values)
        if array.ndim != 1:
            raise InputError(f"{self.label}, column {name!r}: {array.ndim} dimensions; give one value per row.")
        return array


def _as_array(values: Any) -> NDArray[Any]:
    if hasattr(values, "__array__"):
        return np.asarray(values)
    # A list stays a list of objects: numpy would turn ["7", 7] into text and ["a", None] into who knows what.
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def _converted(column: NDArray[Any], how: Reading) -> NDArray[Any]:
    if how in ("text", "packed"):
        values = column.tolist()
        return _objects(values if set(map(type, values)) == {str} else [_text(value) for value in values])
    if how == "length":
        return np.array([len(_text(value)) or math.nan for value in column.tolist()], dtype=np.float64)
    if column.dtype.kind in "iuf":
        return column.astype(np.float64)
    return np.array([_number(value, how) for value in column.tolist()], dtype=np.float64)


def _objects(values: list[str]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _text(value: Any) -> str:
    if type(value).__name__ in _MISSING or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value)


def _number(value: Any, how: Reading) -> float:
    text = _text(value).strip()
    if how == "score" and text.lower() in _TRUTHS:
        return _TRUTHS[text.lower()]
    try:
        return float(text)
    except ValueError:
        return math.nan
