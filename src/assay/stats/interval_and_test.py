"""One rule for every verdict: p ≤ α exactly where the interval leaves out 0.

An interval and a test that were made apart disagree about 0 now and then. Two rules make them one:

- `joint_p` is the larger of the test's p and the interval's own, the smallest α at which the interval leaves out 0. It
  does not depend on the level. Where the interval includes 0 it is above α: what the test alone shows is not shown.
- `agreeing` moves a limit to 0 where p is above α and the interval leaves 0 out, so that it covers more, never less.
  Where p is at most α and the interval has 0 in it (possible only where the test alone decides: McNemar's mid-p beside
  Tango's interval at levels beyond 0.99) the limit is moved to just beside 0.

Arrays in, arrays out; numbers are arrays of one.
"""

import numpy as np
from numpy.typing import ArrayLike

from assay.stats.units import Floats

BESIDE = 1e-9  # of the estimate: a limit this close to 0 leaves it out, and is printed as 0


def joint_p(test_p: ArrayLike, own_p: ArrayLike) -> Floats:
    """The p-value of a verdict that needs both the test and the interval; NaN where the test has none.

    >>> joint_p([0.03, 0.2], [0.04, 0.01])
    array([0.04, 0.2 ])
    """
    return np.maximum(np.asarray(test_p, dtype=np.float64), np.asarray(own_p, dtype=np.float64))


def agreeing(
    low: ArrayLike, high: ArrayLike, p: ArrayLike, alpha: ArrayLike, estimate: ArrayLike
) -> tuple[Floats, Floats]:
    """The limits, moved where they must be so that 0 is left out exactly where p ≤ alpha.

    ``p`` and ``alpha`` may be adjusted for a family, both alike; NaN (no test) rejects nothing. An estimate of 0 cannot
    be told from 0: its interval always has 0 in it.

    >>> low, high = agreeing([0.1, -0.1], [0.3, 0.3], [0.2, 0.01], 0.05, [0.2, 0.25])
    >>> low.tolist(), high.tolist()
    ([0.0, 2.5e-10], [0.3, 0.3])
    """
    low, high, p, alpha, estimate = np.broadcast_arrays(
        *(np.asarray(part, dtype=np.float64) for part in (low, high, p, alpha, estimate))
    )
    rejected = (p <= alpha) & (estimate != 0)  # a comparison with NaN is false
    beside = np.where(BESIDE * estimate == 0, estimate, BESIDE * estimate)  # the smallest numbers have none beside
    lowest = np.where((estimate > 0) & (low <= 0), beside, low)
    highest = np.where((estimate < 0) & (high >= 0), beside, high)
    return np.where(rejected, lowest, np.minimum(low, 0.0)), np.where(rejected, highest, np.maximum(high, 0.0))
