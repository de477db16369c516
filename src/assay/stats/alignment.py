"""Edit-distance alignment of texts: how many edits, and which characters of the reference are found again.

An alignment of least edits (Levenshtein 1966: substitution, deletion and insertion cost 1 each) is not unique, and
neither is the number of characters it matches: for the reference "ab", "bc" is two substitutions, or a deletion, a
match and an insertion. Of the alignments of least edits one with the most matches is taken; the costs are therefore
pairs (edits, −matches), kept in one integer. Where that leaves a choice, the alignment is read from the end, and takes
a match or substitution before a deletion before an insertion.

Many short texts are aligned at once, row by row of their tables. The insertions of a row depend on each other, but as
each costs the same, D[j] = min over k ≤ j of E[k] + (j − k)·c is a running minimum of E[k] − k·c.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]

MOST_CELLS = 1 << 28  # of one table: a byte each; texts of 16,000 characters
_BATCH = 1 << 23  # cells of tables that are filled together
_DIAGONAL, _DELETION, _INSERTION = 0, 1, 2


@dataclass(frozen=True, eq=False, slots=True)
class Alignment:
    """What it takes to turn the reference into the prediction."""

    matched: NDArray[np.bool_]  # (reference,) the characters that are found again
    edits: int

    @property
    def matches(self) -> int:
        return int(self.matched.sum())


def align(predictions: Sequence[Codes], references: Sequence[Codes]) -> list[Alignment]:
    """Align every prediction with its reference.

    >>> import numpy as np
    >>> word = lambda text: np.array([ord(c) for c in text], dtype=np.int32)
    >>> found = align([word("sitting"), word("bc")], [word("kitten"), word("ab")])
    >>> [(alignment.edits, alignment.matched.tolist()) for alignment in found]
    [(3, [False, True, True, True, False, True]), (2, [False, True])]
    """
    sizes = np.array([(len(r), len(p)) for p, r in zip(predictions, references, strict=True)]).reshape(-1, 2)
    order = np.lexsort((sizes[:, 1], sizes[:, 0])).tolist()
    found: dict[int, Alignment] = {}
    for batch in _batches(order, sizes):
        some = _aligned([predictions[i] for i in batch], [references[i] for i in batch])
        found.update(zip(batch, some, strict=True))
    return [found[i] for i in range(len(sizes))]


def _batches(order: Sequence[int], sizes: NDArray[np.int64]) -> list[list[int]]:
    """Texts of about the same length together, as many as the tables have room for."""
    batches: list[list[int]] = []
    longest = np.zeros(2, dtype=np.int64)
    for index in order:
        grown = np.maximum(longest, sizes[index] + 1)
        if batches and (len(batches[-1]) + 1) * int(grown.prod()) <= _BATCH:
            batches[-1].append(index)
            longest = grown
        else:
            batches.append([index])
            longest = sizes[index] + 1
    return batches


def _padded(texts: Sequence[Codes], fill: int) -> NDArray[np.int64]:
    table = np.full((len(texts), max(map(len, texts), default=0)), fill, dtype=np.int64)
    for row, text in zip(table, texts, strict=True):
        row[: len(text)] = text
    return table


def _aligned(predictions: Sequence[Codes], references: Sequence[Codes]) -> list[Alignment]:
    """Fill the tables of several pairs together; padding stands after what any pair looks at."""
    written, wanted = _padded(predictions, -1), _padded(references, -2)  # (b, m), (b, n)
    edit = min(written.shape[1], wanted.shape[1]) + 1  # more than any number of matches
    insertions = edit * np.arange(written.shape[1] + 1)
    row = np.tile(insertions, (len(written), 1))  # (b, m + 1) costs against no reference at all
    ways = np.full((wanted.shape[1] + 1, *row.shape), _INSERTION, dtype=np.uint8)  # (n + 1, b, m + 1)
    last = np.array([len(text) for text in references])
    costs = row.copy()
    for i, character in enumerate(wanted.T, start=1):
        diagonal = row[:, :-1] + np.where(written == character[:, None], -1, edit)
        upper = row + edit
        best = upper.copy()
        np.minimum(best[:, 1:], diagonal, out=best[:, 1:])
        row = np.minimum.accumulate(best - insertions, axis=1) + insertions
        ways[i][row == upper] = _DELETION
        ways[i][:, 1:][row[:, 1:] == diagonal] = _DIAGONAL
        costs[last == i] = row[last == i]
    at = np.array([len(text) for text in predictions])
    total = costs[np.arange(len(at)), at]
    edits = -(-total // edit)  # total = edits · edit − matches, with fewer matches than edit
    matched = _read_back(ways, written, wanted, last.copy(), at)
    return [
        Alignment(found[:length], int(count))
        for found, length, count in zip(matched, last.tolist(), edits.tolist(), strict=True)
    ]


def _read_back(
    ways: NDArray[np.uint8],
    written: NDArray[np.int64],
    wanted: NDArray[np.int64],
    i: NDArray[np.int64],
    j: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """(b, n) Which characters of the references are matched: all tables walked from their ends at once."""
    matched = np.zeros(wanted.shape, dtype=bool)
    pair = np.arange(len(i))
    while len(pair):
        way = ways[i, pair, j]
        across = pair[way == _DIAGONAL]
        x, y = i[way == _DIAGONAL] - 1, j[way == _DIAGONAL] - 1
        matched[across, x] = wanted[across, x] == written[across, y]
        i, j = i - (way != _INSERTION), j - (way != _DELETION)
        going = i > 0  # what is left of the prediction is inserted
        pair, i, j = pair[going], i[going], j[going]
    return matched
