"""Many tests at once: adjusted p-values, and what may be said of k systems whose pairs have been decided.

References: Holm (1979), *A simple sequentially rejective multiple test procedure*; Benjamini and Hochberg (1995),
*Controlling the false discovery rate*; Piepho (2004), *An algorithm for a letter-based representation of all-pairwise
comparisons*, for the letters.
"""

from collections.abc import Iterable, Sequence
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from assay.stats.units import Floats, Truths

_MOST_SETS = 256  # while letters are sought: there can be exponentially many, and then pairs are covered greedily


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values: at most α where the step-down test rejects at the family-wise error rate α.

    >>> import numpy as np
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p)  # of equal ones in any order: they are adjusted alike
    steps = np.arange(len(p), 0, -1) * p[order]
    return _placed(np.minimum(np.maximum.accumulate(steps), 1.0), order)


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg's adjusted p-values: at most q where the step-up test rejects at the rate q."""
    order = np.argsort(p)  # of equal ones in any order: they are adjusted alike
    steps = len(p) / np.arange(1, len(p) + 1) * p[order]
    return _placed(np.minimum.accumulate(steps[::-1])[::-1], order)  # the last step is the largest p


def _placed(values: Floats, order: NDArray[np.int64]) -> Floats:
    out = np.empty_like(values)
    out[order] = values
    return out


def tiers(different: Truths) -> list[int]:
    """Tier numbers of systems in the order of their rank: a tier ends where one differs from the tier's first.

    >>> import numpy as np
    >>> tiers(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool))
    [1, 1, 2]
    """
    numbers, first, tier = [], 0, 1
    for i in range(len(different)):
        if different[first, i]:
            first, tier = i, tier + 1
        numbers.append(tier)
    return numbers


def rank_limits(better: Truths) -> list[tuple[int, int]]:
    """The ranks that the decisions leave open: 1 + #(shown better) to k − #(shown worse).

    ``better[i, j]`` says that i was shown to be better than j. If all decisions are right with probability 1 − α, all
    true ranks are within these limits with that probability (Mogstad, Romano, Shaikh, Wilhelm 2024).
    """
    k = len(better)
    above, below = better.sum(axis=0).tolist(), better.sum(axis=1).tolist()
    return [(1 + a, k - b) for a, b in zip(above, below, strict=True)]


def letters(different: Truths) -> list[tuple[str, ...]]:
    """A compact letter display: two systems share a letter exactly if they are not shown to differ.

    >>> import numpy as np
    >>> letters(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool))
    [('a',), ('a', 'b'), ('b',)]
    """
    k = len(different)
    apart = _as_bits(different)
    columns = _swept(sorted(_inserted(apart) or _covered(apart), key=_members), k)
    names = letter_names(len(columns))
    return [tuple(n for n, column in zip(names, columns, strict=True) if column >> i & 1) for i in range(k)]


def letter_names(count: int) -> list[str]:
    """a, b, … z, aa, ab, …"""
    names: list[str] = []
    prefixes = [""]
    while len(names) < count:
        prefixes = [prefix + letter for prefix in prefixes for letter in ascii_lowercase]
        names += prefixes
    return names[:count]


def _as_bits(rows: Truths) -> list[int]:
    """Each row as a number, whose bit j is the row's place j."""
    return [int.from_bytes(row.tobytes(), "little") for row in np.packbits(rows, axis=1, bitorder="little")]


def _members(column: int) -> list[int]:
    return [i for i in range(column.bit_length()) if column >> i & 1]


def _inserted(apart: Sequence[int]) -> list[int] | None:
    """Insert and absorb: sets of systems as bits; ``None`` if there are too many."""
    columns = [(1 << len(apart)) - 1]
    for i, others in enumerate(apart):
        earlier = others & ((1 << i) - 1)  # each pair once; up to here i is in every set
        split = [c for c in columns if c & earlier]
        if not split:
            continue
        kept = [c for c in columns if not c & earlier]
        columns = _absorbed(kept, [c & ~(1 << i) for c in split] + [c & ~earlier for c in split])
        if len(columns) > _MOST_SETS:
            return None
    return columns


def _absorbed(kept: list[int], new: Iterable[int]) -> list[int]:
    """Add the new sets that are not part of another."""
    found = list(kept)
    for column in sorted(set(new), reverse=True):  # a part of another is the smaller number
        for other in found:  # a plain loop: there may be a million steps
            if column & other == column:
                break
        else:
            found.append(column)
    return found


def _swept(columns: Sequence[int], k: int) -> list[int]:
    """Drop sets whose pairs all occur in other sets, from the last on."""
    belongs = np.zeros((len(columns), k), dtype=np.float32)
    for row, column in enumerate(columns):
        belongs[row, _members(column)] = 1
    times = (belongs.T @ belongs).astype(np.int64)  # in how many sets two systems are together
    once, kept = _as_bits(times == 1), list(columns)
    for row in reversed(range(len(columns))):
        column, own = columns[row], np.flatnonzero(belongs[row])
        if not any(once[i] & column for i in own.tolist()):
            times[np.ix_(own, own)] -= 1
            kept.remove(column)
            for i, bits in zip(own.tolist(), _as_bits(times[own] == 1), strict=True):
                once[i] = bits
    return kept


def _covered(apart: Sequence[int]) -> list[int]:
    """Sets that cover every pair that is not apart, found greedily: enough, but not the fewest."""
    k = len(apart)
    everyone = (1 << k) - 1
    together = [everyone & ~others & ~(1 << i) for i, others in enumerate(apart)]
    left = list(together)
    columns: list[int] = []
    for i in range(k):
        while left[i] or not any(c >> i & 1 for c in columns):
            column, open_to = 1 << i, together[i]
            while open_to:
                wanted = (open_to & left[i]) or open_to
                j = (wanted & -wanted).bit_length() - 1
                column |= 1 << j
                open_to &= together[j]
            columns.append(column)
            for j in _members(column):
                left[j] &= ~column
    return columns
