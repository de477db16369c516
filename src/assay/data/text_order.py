"""The order and the codes of a column of texts: eight bytes at a time are compared as one number."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.stats.units import Integers, Truths

if TYPE_CHECKING:
    from assay.data.text_columns import TextColumn

EightByteWords = NDArray[np.uint64]

WORD = 8  # bytes
LONG = 512  # bytes; longer texts are few, and compared one by one
BLOCK = 1 << 16  # rows at a time: what they take beside the column stays small
_BITS = 64
_FEW = 1 << 10
_KEYED = 16  # words at the beginning in which texts may differ for a quick sort


@dataclass(frozen=True, eq=False)
class SortedTexts:
    """The order of a column, and which places in it repeat the text before them."""

    order: Integers  # (n,) rows, equal texts in the order of the file
    repeats: Truths  # (n,) the first is False
    digest: bytes | None = None  # of the sorted texts, where it costs nothing: equal ones have equal texts


def sorted_texts(column: "TextColumn") -> SortedTexts:
    """The order of the texts, as Python sorts them."""
    found, skip, whole = _by_first_bits(column)
    order, ties = found.order, found.repeats
    while ties.any() and not whole:
        places = np.flatnonzero(ties | np.append(ties[1:], False))
        rows, groups = order[places], np.cumsum(~ties[places])
        left = column[rows]
        if skip >= LONG:
            return _sorted_slowly(column)
        if skip >= left.longest:  # the bytes are equal; a text may still have zeros at its end that another lacks
            sizes = left.lengths
            by = np.lexsort((rows, sizes, groups))
            order[places] = rows[by]
            ties[places[1:]] &= sizes[by][1:] == sizes[by][:-1]
            break
        keys = left.words(skip)[:, 0]
        by = np.lexsort((keys, groups))
        order[places] = rows[by]
        ties[places[1:]] &= keys[by][1:] == keys[by][:-1]
        skip += WORD
    return found


def _by_first_bits(column: "TextColumn") -> tuple[SortedTexts, int, bool]:
    """The order by the first bits in which texts differ, and which places tie there.

    Also where these bits begin, and whether texts that tie are equal. The bits stand before the number of the row in
    one word each, so that words are sorted and not an index: that takes less than half the time.
    """
    n, count = len(column), min(column.word_count, _KEYED)
    rows, ties = max(n - 1, 0).bit_length(), np.zeros(n, dtype=bool)
    keys, varying = _keys(column, count, rows)
    if not (keys[1:] > keys[:-1]).all():  # else the file is in order
        keys.sort()
    order = (keys & np.uint64((1 << rows) - 1)).view(np.int64)
    keys >>= np.uint64(rows)
    np.equal(keys[1:], keys[:-1], out=ties[1:])
    skip = next((i for i, bits in enumerate(varying) if bits), count)
    fit = sum(bits.bit_count() for bits in varying) <= _BITS - rows
    whole = fit and column.longest <= count * WORD and not column.zeros
    return SortedTexts(order, ties, _digest(column, count, varying, keys) if whole else None), skip * WORD, whole


def _keys(column: "TextColumn", count: int, rows: int) -> tuple[EightByteWords, list[int]]:
    """(n,) The first varying bits of each text before the number of its row; and which bits vary.

    Which do is guessed from some of the texts, and seen on the way: where others vary too all is done once more.
    """
    n, first = len(column), column[:1].words(0, count)
    some = column[:: max(1, n // BLOCK)].words(0, count)
    guess: list[int] = np.bitwise_or.reduce(some ^ first, axis=0).tolist()
    keys = np.empty(n, dtype=np.uint64)
    while True:
        low, seen = 0, np.zeros(count, dtype=np.uint64)
        for part in column.row_blocks():
            words = part.words(0, count)
            seen |= np.bitwise_or.reduce(words ^ first, axis=0)
            taken = _squeezed(words, guess, _BITS - rows)
            keys[low : low + len(part)] = (taken << np.uint64(rows)) | np.arange(low, low + len(part), dtype=np.uint64)
            low += len(part)
        if guess == (varying := seen.tolist()):
            return keys, varying
        guess = varying


def _digest(column: "TextColumn", count: int, varying: Sequence[int], keys: EightByteWords) -> bytes:
    """sha256 of the sorted texts: of what they have in common, and of the sorted bits in which they differ."""
    common = column[:1].words(0, count) & ~np.array(varying, dtype=np.uint64)
    hashed = hashlib.sha256(np.array([len(column), count, *varying], dtype=np.uint64).tobytes())
    hashed.update(common.tobytes())
    hashed.update(keys.data)
    return hashed.digest()


def _squeezed(words: EightByteWords, varying: Sequence[int], room: int) -> EightByteWords:
    """(n,) The first bits of words among those that vary, as many as there is room for: they sort like the words."""
    found = np.zeros(len(words), dtype=np.uint64)
    for column, bits in zip(words.T, varying, strict=True):
        for top, ones in _runs_of_ones(bits):
            size = min(ones, room)
            if not size:
                return found
            part = (column >> np.uint64(top - size + 1)) & np.uint64((1 << size) - 1)
            found = (found << np.uint64(size)) | part if size < _BITS else part
            room -= size
    return found


def _runs_of_ones(bits: int) -> Iterator[tuple[int, int]]:
    """The highest place and the length of each run of ones, from the highest."""
    digits = f"{bits:064b}"
    yield from ((_BITS - 1 - run.start(), len(run.group())) for run in re.finditer("1+", digits))


def _sorted_slowly(column: "TextColumn") -> SortedTexts:
    """The order of texts that have much in common."""
    texts = column.tolist()
    order = _order_by(texts)
    repeats = [False, *(texts[a] == texts[b] for a, b in zip(order[1:], order, strict=False))]
    return SortedTexts(order, np.array(repeats))


# --------------------------------------------------------------------------------------------------------------- codes


def coded_texts(column: "TextColumn") -> tuple[list[str], Integers]:
    """The different texts, sorted, and (n,) which of them each row has."""
    changes = _changes(column)
    if len(changes) < len(column) // 2:  # neighbours are alike, as in a file in order of documents
        names, codes = coded_texts(column[changes])
        return names, np.repeat(codes, np.diff(np.append(changes, len(column))))
    firsts, codes = _first_of_each(_hashes(column))
    if not column.same(column[firsts[codes]]):  # two texts of one hash
        return _coded_slowly(column.tolist())
    order = _order_of(column[firsts])
    places = np.empty(len(firsts), dtype=np.int64)
    places[order] = np.arange(len(firsts))
    return column[firsts[order]].tolist(), places[codes]


def _order_of(column: "TextColumn") -> Integers:
    """The order of texts that are all different; of a few, Python finds it sooner."""
    if len(column) > _FEW:
        return sorted_texts(column).order
    return _order_by(column.tolist())


def _order_by(texts: Sequence[str]) -> Integers:
    return np.array(sorted(range(len(texts)), key=texts.__getitem__), dtype=np.int64)


def _first_of_each(values: EightByteWords) -> tuple[Integers, Integers]:
    """A row of each different value, and (n,) which of them each row has."""
    order = np.argsort(values)  # np.unique would import numpy.ma, a tenth of the time of a short command
    ranked = values[order]
    begins = np.ones(len(values), dtype=bool)
    np.not_equal(ranked[1:], ranked[:-1], out=begins[1:])
    codes = np.empty(len(values), dtype=np.int64)
    codes[order] = np.cumsum(begins) - 1
    return order[begins], codes


def _changes(column: "TextColumn") -> Integers:
    """The rows whose text is another than that of the row before."""
    differs = np.ones(len(column), dtype=bool)
    count, at = column.word_count, 1
    for part in (column[low : low + BLOCK + 1] for low in range(0, len(column) - 1, BLOCK)):
        words, sizes = part.words(0, count), part.stops - part.starts
        here = (words[1:] != words[:-1]).any(axis=1) | (sizes[1:] != sizes[:-1])
        differs[at : at + len(here)] = here
        at += len(here)
    for row, text in column.long_texts():
        before = column.bytes_between(int(column.starts[row - 1]), int(column.stops[row - 1]))
        differs[row] |= row > 0 and text != before
    return np.flatnonzero(differs)


def _hashes(column: "TextColumn") -> EightByteWords:
    """(n,) A number of each text; different texts seldom have the same."""
    found = column.lengths.astype(np.uint64)
    count, low = column.word_count, 0
    for part in column.row_blocks():
        here = found[low : low + len(part)]
        for words in part.words(0, count).T:
            here[:] = _mixed(here ^ words)
        low += len(part)
    for row, text in column.long_texts():
        found[row] ^= np.uint64(hash(text) & 0xFFFFFFFFFFFFFFFF)
    return found


def _mixed(values: EightByteWords) -> EightByteWords:
    """Every bit of the result depends on every bit before (the finalizer of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)), dtype=np.uint64)


def _coded_slowly(texts: list[str]) -> tuple[list[str], Integers]:
    names = sorted(set(texts))
    codes = dict(zip(names, range(len(names)), strict=True))
    return names, np.fromiter(map(codes.__getitem__, texts), np.int64, len(texts))
