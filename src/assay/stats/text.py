"""Texts beside their references: edit distance and matched characters, BLEU and chrF.

An alignment of least edits (Levenshtein 1966: substitution, deletion and insertion cost 1 each) is not unique, and
neither is the number of characters it matches: for the reference "ab", "bc" is two substitutions, or a deletion, a
match and an insertion. Of the alignments of least edits one with the most matches is taken; the costs are therefore
pairs (edits, −matches), kept in one integer. Where that leaves a choice, the alignment is read from the end, and takes
a match or substitution before a deletion before an insertion. Many short texts are aligned at once, row by row of their
tables. The insertions of a row depend on each other, but as each costs the same, D[j] = min over k ≤ j of
E[k] + (j − k)·c is a running minimum of E[k] − k·c.

BLEU and chrF come from counts that add up: a sentence gives a row of counts, a corpus or a resample is a sum of rows.
BLEU (Papineni et al. 2002) is the geometric mean of the precisions of n-grams up to 4 times a penalty for brevity,
smoothed as mteval-v13a does it ("exp": the k-th precision without a match counts 1/2ᵏ matches). chrF (Popović 2015) is
the F₂ score of character n-grams up to 6, precision and recall each averaged over the orders. Both are those of
sacrebleu (Post 2018) with its defaults, which is their oracle; scores are from 0 to 100.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.stats.units import Floats

Codes = NDArray[np.int32]  # code points

MOST_CELLS = 1 << 28  # of one table: a byte each; texts of 16,000 characters
_BATCH = 1 << 23  # cells of tables that are filled together
_DIAGONAL, _DELETION, _INSERTION = 0, 1, 2


@dataclass(frozen=True, eq=False, slots=True)
class Alignment:
    """What it takes to turn the reference into the prediction."""

    matched: NDArray[np.bool_]  # (reference,) the characters that are found again
    edits: int


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


_Gram = TypeVar("_Gram")

BLEU_ORDER, CHRF_ORDER = 4, 6
_BETA = 2  # chrF: recall weighs as much as twice the precision


def bleu_counts(prediction: Sequence[str], reference: Sequence[str]) -> list[int]:
    """Lengths of the prediction and the reference, then matched n-grams by order, then all of the prediction.

    >>> bleu_counts("the cat sat".split(), "the cat is here".split())
    [3, 4, 2, 1, 0, 0, 3, 2, 1, 0]
    """
    matched = [_overlap(_grams(prediction, n), _grams(reference, n)) for n in range(1, BLEU_ORDER + 1)]
    total = [max(len(prediction) - n + 1, 0) for n in range(1, BLEU_ORDER + 1)]
    return [len(prediction), len(reference), *matched, *total]


def chrf_counts(prediction: str, reference: str) -> list[int]:
    """For every order the character n-grams of the prediction, of the reference, and in both; without white space."""
    written, wanted = ("".join(text.split()) for text in (prediction, reference))
    counts: list[int] = []
    for n in range(1, CHRF_ORDER + 1):
        sizes = [max(len(text) - n + 1, 0) for text in (written, wanted)]
        pair = (Counter(_pieces(text, n)) for text in (written, wanted))
        # sacrebleu counts nothing written of an order that the reference is too short for
        counts += [sizes[0] if sizes[1] else 0, sizes[1], _overlap(*pair)]
    return counts


def _pieces(text: str, n: int) -> list[str]:
    return [text[i : i + n] for i in range(len(text) - n + 1)]


def _grams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def _overlap(written: "Counter[_Gram]", wanted: "Counter[_Gram]") -> int:
    return sum(min(count, wanted[gram]) for gram, count in written.items() if gram in wanted)


def bleu_of(sums: Floats, *, effective_order: bool = False) -> Floats:
    """(…,) BLEU of summed counts (…, 10).

    ``effective_order`` leaves out orders that the prediction is too short for, as is usual for single sentences.
    """
    written, wanted = sums[..., 0], sums[..., 1]
    matched, total = sums[..., 2 : 2 + BLEU_ORDER], sums[..., 2 + BLEU_ORDER :]
    present, unmatched = total > 0, (matched == 0) & (total > 0)
    smoothed = np.where(unmatched, 0.5 ** np.cumsum(unmatched, axis=-1), matched)
    with np.errstate(divide="ignore"):  # the logarithm of an order that is not there
        logs = np.log(np.where(present, smoothed, 0.0 if not effective_order else 1.0) / np.where(present, total, 1.0))
    orders = present.sum(axis=-1) if effective_order else BLEU_ORDER
    brevity = np.exp(np.minimum(1 - wanted / np.maximum(written, 1), 0.0))
    mean = logs.sum(axis=-1) / np.maximum(orders, 1)
    return np.asarray(np.where(matched.sum(axis=-1) > 0, 100 * brevity * np.exp(mean), 0.0))


def chrf_of(sums: Floats) -> Floats:
    """(…,) chrF of summed counts (…, 18)."""
    by_order = sums.reshape(*sums.shape[:-1], CHRF_ORDER, 3)
    written, wanted, matched = (by_order[..., k] for k in range(3))
    present = (written > 0) & (wanted > 0)
    orders = np.maximum(present.sum(axis=-1), 1)
    precision, recall = (
        np.where(present, matched / np.where(present, size, 1.0), 0.0).sum(axis=-1) / orders
        for size in (written, wanted)
    )
    bottom = _BETA**2 * precision + recall
    return np.asarray(
        np.where(bottom > 0, 100 * (1 + _BETA**2) * precision * recall / np.where(bottom > 0, bottom, 1.0), 0.0)
    )
