"""The model confidence set: the systems that hold the best one with a given probability.

As long as several are left, the largest |Σd| / √Σd² among their pairs is tested against the largest under shared sign
flips, and the worse of the two leaves (Hansen, Lunde and Nason 2011, T_R, with sign flips for their bootstrap). If all
that are left are equally good, the sign of every unit's differences is a fair coin; flips leave √Σd² as it is, so that
the statistic is studentized without an error of its own to estimate.

Reference: Hansen, Lunde and Nason (2011), *The model confidence set*.
"""

from math import inf

import numpy as np

from assay.stats.ranking.pairs import Pairs
from assay.stats.ranking.shared_signs import Flips, ordered_maxima, share_reached
from assay.stats.units import Floats


def confidence_set(pairs: Pairs, flips: Flips, n_resamples: int, *, lower_is_better: bool = False) -> Floats:
    """(k,) P-values: the systems whose p-value is above α hold the best one with probability 1 − α.

    A p-value is the largest of the tests so far. Which system leaves when depends on the observed statistics only, so
    the null maxima can be built up from the last two systems on, one system at a time.
    """
    k = pairs.grid.k
    i, j = pairs.index
    ahead = np.sign(pairs.total) * pairs.evidence * (-1 if lower_is_better else 1)
    behind = np.zeros((k, k))  # [i, j]: by how much i is worse than j
    behind[j, i], behind[i, j] = ahead, -ahead
    leaving, statistics = _elimination(behind)
    added = np.array(leaving[::-1])
    later, earlier = np.tril_indices(k, -1)  # every system with those that leave after it, the last two first
    places = np.zeros((k, k), dtype=np.int64)
    places[i, j] = places[j, i] = np.arange(len(i))
    order = places[added[later], added[earlier]]
    last = np.cumsum(np.arange(1, k)) - 1  # the pair that completes a system
    observed = np.full(len(order), inf)
    observed[last] = statistics[::-1]
    found = ordered_maxima(flips, order, pairs.norm, observed, n_resamples)
    own = share_reached(found.stepped[last][::-1], len(found.largest), exact=found.exact)
    p = np.ones(k)
    p[leaving[:-1]] = np.maximum.accumulate(own)
    return p


def _elimination(behind: Floats) -> tuple[list[int], list[float]]:
    """The order in which systems leave, the last one included, and the statistic by which each of the others did."""
    left, leaving, found = list(range(len(behind))), [], []
    while len(left) > 1:
        among = behind[np.ix_(left, left)]
        worst = int(np.argmax(among.max(axis=1)))
        found.append(float(among.max()))
        leaving.append(left.pop(worst))
    return leaving + left, found
