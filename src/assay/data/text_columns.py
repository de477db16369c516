"""Texts of many rows as one array of bytes, sorted, compared and coded without making a Python string of each.

Ten million ids of 20 characters take 0.3 GB here and 0.8 GB as Python strings; names are made only of what is shown.
UTF-8 sorts by bytes as Python sorts by characters, so eight bytes at a time are compared as one number.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from typing import Any, overload
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from assay.data.text_order import BLOCK, LONG, WORD, EightByteWords, SortedTexts, coded_texts, sorted_texts
from assay.stats.units import Integers, Texts

Bytes = NDArray[np.uint8]

SPARE = 520  # bytes after the last text, so that as many as are compared at once can be read from any place
LARGEST_NARROW = 1 << 31  # bytes of a column whose places are 32-bit numbers
_NINE, _MOST_DIGITS = 9, 18  # of numbers that 64 bits hold
#: First bytes of characters that Python strips: spaces and controls, and those outside ASCII that begin like these.
_MAY_BE_SPACE = np.zeros(256, dtype=bool)
_MAY_BE_SPACE[: ord(" ") + 1] = True
_MAY_BE_SPACE[[0xC2, 0xE1, 0xE2, 0xE3]] = True


@dataclass(frozen=True, eq=False)
class TextColumn:
    """A column of texts: each is a part of ``data``.

    >>> column = TextColumn.of(["b", "a", "c"])
    >>> column.sorted.order.tolist(), column[1], column[[2, 0]].tolist()
    ([1, 0, 2], 'a', ['c', 'b'])
    """

    data: Bytes  # UTF-8, and some bytes more
    starts: NDArray[Any]  # (n,) where each begins
    stops: NDArray[Any]  # (n,) and ends

    # ------------------------------------------------------------------------------------------------------ making

    @classmethod
    def of(cls, texts: "TextColumn | Iterable[str]") -> "TextColumn":
        """The column of some texts, in their order."""
        if isinstance(texts, TextColumn):
            return texts
        listed = texts.tolist() if isinstance(texts, np.ndarray) else list(texts)
        whole = "".join(listed)
        if whole.isascii():
            lengths = np.fromiter(map(len, listed), np.int64, len(listed))
            return cls.of_lengths(np.frombuffer(whole.encode(), np.uint8), lengths)
        encoded = [text.encode("utf-8", "surrogatepass") for text in listed]
        lengths = np.fromiter(map(len, encoded), np.int64, len(listed))
        return cls.of_lengths(np.frombuffer(b"".join(encoded), np.uint8), lengths)

    @classmethod
    def of_lengths(cls, data: Bytes, lengths: Integers) -> "TextColumn":
        """The column of texts that follow each other in ``data``, without anything between them."""
        stops = np.cumsum(lengths, dtype=np.int64)
        return cls.joined([data], stops.astype(_places_in(len(data)), copy=False))

    @classmethod
    def joined(cls, parts: Sequence[Bytes], stops: NDArray[Any]) -> "TextColumn":
        """The column of texts that follow each other in parts of the bytes, and end at ``stops``."""
        return cls.of_stops(np.concatenate([*parts, np.zeros(SPARE, np.uint8)]), stops)

    @classmethod
    def of_stops(cls, data: Bytes, stops: NDArray[Any]) -> "TextColumn":
        """The same of bytes in one array, with `SPARE` bytes after them."""
        places = np.concatenate([np.zeros(1, stops.dtype), stops])
        return cls(data, places[:-1], places[1:])

    # -------------------------------------------------------------------------------------------------- as a sequence

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def size(self) -> int:
        """How many texts, as numpy calls it."""
        return len(self)

    @overload
    def __getitem__(self, chosen: int | np.integer[Any]) -> str: ...

    @overload
    def __getitem__(self, chosen: slice | Sequence[int] | NDArray[Any]) -> "TextColumn": ...

    def __getitem__(self, chosen: Any) -> "str | TextColumn":
        if isinstance(chosen, int | np.integer):
            return self.text_between(int(self.starts[chosen]), int(self.stops[chosen]))
        return TextColumn(self.data, self.starts[chosen], self.stops[chosen])

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(part.together() for part in self.row_blocks())

    def together(self) -> list[str]:
        """The texts, made of all bytes at once: of a block of rows."""
        whole, stops = self.packed().tobytes(), np.cumsum(self.lengths).tolist()
        places = zip([0, *stops], stops, strict=False)
        if whole.isascii():
            text = whole.decode("ascii")
            return [text[start:stop] for start, stop in places]
        return [whole[start:stop].decode("utf-8", "surrogatepass") for start, stop in places]

    def text_between(self, start: int, stop: int) -> str:
        return self.bytes_between(start, stop).decode("utf-8", "surrogatepass")

    def bytes_between(self, start: int, stop: int) -> bytes:
        return self.data[start:stop].tobytes()

    def long_texts(self) -> list[tuple[int, bytes]]:
        """The rows of long texts, with their bytes."""
        if self.longest <= LONG:
            return []
        rows = np.flatnonzero(self.stops - self.starts > LONG).tolist()
        return [(row, self.bytes_between(int(self.starts[row]), int(self.stops[row]))) for row in rows]

    def tolist(self) -> list[str]:
        return list(self)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return self.texts if dtype is None else self.texts.astype(dtype)

    @property
    def texts(self) -> Texts:
        """(n,) Python strings."""
        found = np.empty(len(self), dtype=object)
        found[:] = self.tolist()
        return found

    # ----------------------------------------------------------------------------------------------------- by bytes

    @property
    def lengths(self) -> Integers:
        """(n,) In bytes."""
        return np.asarray(self.stops.astype(np.int64) - self.starts, dtype=np.int64)

    @cached_property
    def longest(self) -> int:
        """The longest text, in bytes."""
        return int((self.stops - self.starts).max(initial=0))

    def words(self, skip: int = 0, count: int = 1) -> EightByteWords:
        """(n, count) Numbers of eight bytes each that sort like the texts after ``skip`` bytes; 0 where a text ends."""
        width, pitch = count * WORD, self._pitch()
        # Every place in the data begins a row of so many bytes, aligned or not.
        every = np.ndarray((len(self.data) - width + 1,), f"V{width}", self.data, strides=(1,))
        if pitch is not None and skip < pitch:  # rows of one length, side by side, are copied and not looked up
            first = int(self.starts[0]) + skip
            rows = every[first : first + (len(self) - 1) * pitch + 1 : pitch]
            found = rows.copy().view(np.uint64).reshape(-1, count)
            if pitch - skip < width:
                found &= _bytes_kept(width)[pitch - skip]
            return found.byteswap(inplace=True)
        starts = self.starts.astype(np.int64) + skip
        left = np.clip(self.stops - starts, 0, width)
        found = every[np.minimum(starts, len(every) - 1)].view(np.uint64).reshape(-1, count)
        if len(self) and int(left.min()) < width:
            found &= _bytes_kept(width)[left]
        return found.byteswap(inplace=True)

    def _pitch(self) -> int | None:
        """How many bytes each text has, where all have as many and each begins where the one before it ends."""
        if len(self) < 2:
            return None
        pitch = int(self.stops[0]) - int(self.starts[0])
        alike = pitch > 0 and np.array_equal(self.starts[1:], self.stops[:-1])
        return pitch if alike and (self.stops - self.starts == pitch).all() else None

    def row_blocks(self) -> Iterator["TextColumn"]:
        return (self[low : low + BLOCK] for low in range(0, len(self), BLOCK))

    @property
    def word_count(self) -> int:
        """How many words the longest text has, of those that are compared at once."""
        return max(1, -(-min(self.longest, LONG) // WORD))

    def same(self, other: "TextColumn") -> bool:
        """Whether the other column has the same texts in the same order."""
        if self is other or len(self) != len(other):
            return self is other
        if not len(self) or (self.data is other.data and np.array_equal(self.starts, other.starts)):
            return not len(self) or np.array_equal(self.stops, other.stops)
        if self.in_file_order and other.in_file_order:
            ends = np.array_equal(self.stops - self.starts[0], other.stops - other.starts[0])
            return ends and np.array_equal(self.between, other.between)
        few = slice(0, 64)
        if len(self) > BLOCK and self[few].tolist() != other[few].tolist():
            return False
        return all(one.same_bytes(their) for one, their in zip(self.row_blocks(), other.row_blocks(), strict=True))

    def same_bytes(self, other: "TextColumn") -> bool:
        if not np.array_equal(self.stops - self.starts, other.stops - other.starts):
            return False
        count = self.word_count
        return np.array_equal(self.words(0, count), other.words(0, count)) and self.long_texts() == other.long_texts()

    def all_are(self, text: str) -> bool:
        """Whether every text is this one."""
        one = TextColumn.of([text])
        if not np.all(self.stops - self.starts == one.longest):
            return False
        count = one.word_count
        return all(bool((part.words(0, count) == one.words(0, count)).all()) for part in self.row_blocks())

    @cached_property
    def in_file_order(self) -> bool:
        """Whether each text begins where the one before it ends."""
        return bool(np.array_equal(self.starts[1:], self.stops[:-1]))

    @property
    def between(self) -> Bytes:
        return self.data[int(self.starts[0]) : int(self.stops[-1])]

    def blocks(self) -> Iterator[Bytes]:
        """The bytes of the texts, one after the other, in blocks of rows."""
        if len(self) and self.in_file_order:
            yield self.between
            return
        for part in self.row_blocks():
            yield part.packed()

    def packed(self) -> Bytes:
        """The bytes of all texts, one after the other."""
        return self.between if len(self) and self.in_file_order else self.padded()[0]

    def padded(self, before: "TextColumn | None" = None) -> tuple[Bytes, Integers]:
        """The bytes of all texts, one after the other, each behind its text ``before``; and the lengths of both."""
        parts = [self] if before is None else [before, self]
        if max(part.longest for part in parts) > LONG:
            texts = [
                "".join(row)
                for row in zip(
                    *(map(part.text_between, part.starts.tolist(), part.stops.tolist()) for part in parts), strict=True
                )
            ]
            plain = TextColumn.of(texts)
            return plain.data[:-SPARE], plain.lengths
        bytes_of, kept = [], []
        for part in parts:
            rows = part.words(0, part.word_count).byteswap().view(np.uint8)
            bytes_of.append(rows)
            kept.append(np.arange(rows.shape[1]) < (part.stops - part.starts)[:, None])
        lengths = np.sum([part.lengths for part in parts], axis=0)
        return np.hstack(bytes_of)[np.hstack(kept)], np.asarray(lengths, dtype=np.int64)

    def one_by_one(self) -> list[str]:
        """The texts, made one by one: long ones need not be side by side."""
        return list(map(self.text_between, self.starts.tolist(), self.stops.tolist()))

    def behind(self, before: "TextColumn") -> "TextColumn":
        """Every text behind the one that ``before`` has in its row."""
        blocks = [slice(low, low + BLOCK) for low in range(0, len(self), BLOCK)]
        parts = [self[rows].padded(before[rows]) for rows in blocks]
        return TextColumn.of_lengths(
            np.concatenate([data for data, _ in parts]), np.concatenate([lengths for _, lengths in parts])
        )

    def without_first(self, count: Integers) -> "TextColumn":
        """Every text without some bytes at its beginning."""
        return TextColumn(self.data, (self.starts + count).astype(self.starts.dtype), self.stops)

    def first(self, count: int) -> "TextColumn":
        """The first bytes of every text."""
        return TextColumn(self.data, self.starts, np.minimum(self.stops, self.starts + count).astype(self.stops.dtype))

    def characters(self) -> Integers:
        """(n,) The length of each text in characters."""
        if not len(self) or self.ascii:
            return self.lengths
        counted = np.cumsum((self.data & 0xC0) != 0x80, dtype=np.int64)  # all bytes but those that continue one
        before = np.concatenate(([0], counted))
        return np.asarray(before[self.stops] - before[self.starts], dtype=np.int64)

    @cached_property
    def zeros(self) -> bool:
        """Whether any text may have the character NUL."""
        return bool(len(self.data) > SPARE and self.data[:-SPARE].min() == 0)

    @cached_property
    def ascii(self) -> bool:
        """Whether no text has a character outside ASCII."""
        return bool(self.data.max(initial=0) < 0x80)

    def whole_numbers(self) -> Integers | None:
        """(n,) The numbers that the texts are, where all are digits, fewer than 19; else ``None``."""
        if not all(text.isdecimal() for text in self[:8]):
            return None
        found = [part.numbers_if_digits() for part in self.row_blocks()]
        return None if any(one is None for one in found) else np.concatenate([one for one in found if one is not None])

    def numbers_if_digits(self) -> Integers | None:
        sizes = self.lengths
        if not 1 <= int(sizes.min()) <= int(sizes.max()) <= _MOST_DIGITS:
            return None
        digits = self.words(0, self.word_count).byteswap().view(np.uint8) - np.uint8(ord("0"))
        found = np.zeros(len(self), dtype=np.int64)
        for place, column in enumerate(digits.T[: self.longest]):
            there = place < sizes
            if (column[there] > _NINE).any():
                return None
            np.copyto(found, found * 10 + column, where=there)
        return found

    def first_blank(self) -> int | None:
        """The first row whose text is empty, or nothing but space."""
        doubtful = (self.stops == self.starts) | _MAY_BE_SPACE[self.data[self.starts]]
        return next((row for row in np.flatnonzero(doubtful).tolist() if not self[row].strip()), None)

    # ------------------------------------------------------------------------------------------------- order and codes

    @cached_property
    def sorted(self) -> SortedTexts:
        """The order of the texts, as Python sorts them."""
        return sorted_texts(self)

    def kept_once(self) -> "TextColumn":
        """A column in use that has the same texts in the same order; else this one.

        Files of one benchmark list the same ids, which are then kept and sorted once.
        """
        if len(self) < BLOCK:
            return self
        key = (len(self), int(self.stops[-1]) - int(self.starts[0]))
        known = _IN_USE.get(key)
        if known is not None and known.same(self):
            return known
        _IN_USE[key] = self
        return self

    @cached_property
    def unique(self) -> bool:
        """Whether no text occurs twice."""
        return not self.sorted.repeats.any()

    @property
    def ranks(self) -> Integers:
        """(n,) The place of each text among the different ones, from 0."""
        found = np.empty(len(self), dtype=np.int64)
        found[self.sorted.order] = np.cumsum(~self.sorted.repeats) - 1
        return found

    def coded(self) -> tuple[list[str], Integers]:
        """The different texts, sorted, and (n,) which of them each row has."""
        return coded_texts(self)


#: Long columns, by their numbers of texts and bytes.
_IN_USE: WeakValueDictionary[tuple[int, int], TextColumn] = WeakValueDictionary()


@cache
def _bytes_kept(width: int) -> EightByteWords:
    """(width + 1, words) Ones in the first 0, 1, … bytes."""
    kept = np.tril(np.full((width + 1, width), 0xFF, dtype=np.uint8), -1)
    return np.ascontiguousarray(kept).view(np.uint64)


def _places_in(size: int) -> type[np.uint32] | type[np.int64]:
    """The smallest type for places in this many bytes."""
    return np.uint32 if size < LARGEST_NARROW else np.int64


def concatenated(columns: Sequence[TextColumn]) -> TextColumn:
    """Columns one after the other."""
    datas = list({id(column.data): column.data for column in columns}.values())
    offsets = dict(zip(map(id, datas), np.cumsum([0, *map(len, datas)]).tolist(), strict=False))
    kind = _places_in(sum(map(len, datas)))
    data = datas[0] if len(datas) == 1 else np.concatenate(datas)

    def moved(places: Iterable[tuple[NDArray[Any], TextColumn]]) -> NDArray[Any]:
        return np.concatenate([(one + np.int64(offsets[id(own.data)])).astype(kind) for one, own in places])

    starts = moved((column.starts, column) for column in columns)
    return TextColumn(data, starts, moved((column.stops, column) for column in columns))
