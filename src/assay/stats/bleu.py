"""BLEU and chrF from counts that add up: a sentence gives a row of counts, a corpus or a resample is a sum of rows.

BLEU (Papineni et al. 2002) is the geometric mean of the precisions of n-grams up to 4 times a penalty for brevity,
smoothed as mteval-v13a does it ("exp": the k-th precision without a match counts 1/2ᵏ matches). chrF (Popović 2015) is
the F₂ score of character n-grams up to 6, precision and recall each averaged over the orders. Both are those of
sacrebleu (Post 2018) with its defaults, which is their oracle; scores are from 0 to 100.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from assay.stats.units import Floats

_Gram = TypeVar("_Gram")

BLEU_ORDER, CHRF_ORDER = 4, 6
BLEU_COLUMNS, CHRF_COLUMNS = 2 + 2 * BLEU_ORDER, 3 * CHRF_ORDER
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
