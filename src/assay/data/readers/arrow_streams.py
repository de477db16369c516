"""Columns of a DuckDB query as arrays and text columns, chunk by chunk, without a Python object for each cell."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.data.text_columns import LARGEST_NARROW, SPARE, Bytes, TextColumn
from assay.stats.units import Floats

if TYPE_CHECKING:
    import duckdb

_MORE = 1.02  # bytes to reserve for the texts of a column, beside what its first chunk says


def columns_of(query: "duckdb.DuckDBPyRelation", texts: Sequence[bool], rows: int = 0) -> list[Floats | TextColumn]:
    """The columns of a query: texts, or numbers (DOUBLE, without nulls); ``rows`` is how many to expect."""
    from nanoarrow import c_array_stream  # late, like DuckDB: those who bring arrays need none

    columns: list[_Texts | _Numbers] = [_Texts(rows) if text else _Numbers(rows) for text in texts]
    for chunk in c_array_stream(query):
        for place, column in enumerate(columns):
            column.add(chunk.child(place))
    found: list[Floats | TextColumn] = []
    while columns:  # one after the other: finishing a column moves it, and then both take memory
        found.append(columns.pop(0).done())
    return found


def stream_of(columns: Mapping[str, NDArray[Any] | TextColumn]) -> Any:
    """Columns of texts and float64 as a stream that DuckDB reads; NaN is null, as it is in arrays."""
    import nanoarrow as na  # late, likewise

    kinds = {name: na.large_string() if isinstance(one, TextColumn) else na.float64() for name, one in columns.items()}
    rows = len(next(iter(columns.values())))
    children = [na.c_array_from_buffers(kinds[name], rows, _buffers(one)) for name, one in columns.items()]
    return na.ArrayStream(na.c_array_from_buffers(na.struct(kinds), rows, [None], children=children))


def _buffers(column: NDArray[Any] | TextColumn) -> list[NDArray[Any] | None]:
    """Which values there are, where texts begin and end, and the values."""
    if isinstance(column, TextColumn):
        stops = np.concatenate([[0], np.cumsum(column.lengths)])
        return [None, stops, np.concatenate([*column.blocks(), _NOTHING])]
    known = ~np.isnan(column)
    return [None if known.all() else np.packbits(known, bitorder="little"), np.ascontiguousarray(column)]


class _Grown:
    """An array that grows at its end. What is reserved and not used takes no memory."""

    def __init__(self, kind: type[np.generic], reserved: int = 0) -> None:
        self.kind, self._array = kind, np.empty(reserved, dtype=kind)
        self.size = 0

    def add(self, more: NDArray[Any]) -> None:
        size = self.size + len(more)
        if size > len(self._array):
            larger = np.empty(max(size, 2 * len(self._array)), dtype=self.kind)
            larger[: self.size] = self._array[: self.size]
            self._array = larger
        self._array[self.size : size] = more
        self.size = size

    def done(self, spare: int = 0) -> NDArray[Any]:
        """The array, with some zeros after its end."""
        if spare:
            self.add(np.zeros(spare, dtype=self.kind))
        return self._array[: self.size]


class _Numbers:
    def __init__(self, rows: int) -> None:
        self._values = _Grown(np.float64, rows)

    def add(self, part: Any) -> None:
        values = np.frombuffer(part.view().buffer(1), np.float64)
        self._values.add(values[part.offset : part.offset + part.length])

    def done(self) -> Floats:
        return self._values.done()


class _Texts:
    """Texts of 64-bit offsets, which `arrow_large_buffer_size` asks for."""

    def __init__(self, rows: int) -> None:
        self._rows, self._data, self._stops = rows, _Grown(np.uint8), _Grown(np.uint32, rows)

    def add(self, part: Any) -> None:
        if not part.length:
            return
        view = part.view()
        offsets = np.frombuffer(view.buffer(1), np.int64)[part.offset : part.offset + part.length + 1]
        first, last = int(offsets[0]), int(offsets[-1])
        if not self._stops.size:
            each = (last - first) / part.length
            self._data = _Grown(np.uint8, SPARE + int(_MORE * each * max(self._rows, part.length)))
        stops = offsets[1:] + (self._data.size - first)
        if self._stops.kind == np.uint32 and self._data.size + last - first >= LARGEST_NARROW:
            self._stops = _widened(self._stops)
        self._stops.add(stops)
        self._data.add(np.frombuffer(view.buffer(2), np.uint8)[first:last] if last > first else _NOTHING)

    def done(self) -> TextColumn:
        return TextColumn.of_stops(self._data.done(SPARE), self._stops.done())


def _widened(narrow: _Grown) -> _Grown:
    wide = _Grown(np.int64)
    wide.add(narrow.done())
    return wide


_NOTHING: Bytes = np.empty(0, dtype=np.uint8)
