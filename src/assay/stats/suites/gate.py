"""What a gate over tasks would notice, and how often it would let an equal system pass.

- A task is *named* where it is shown to have dropped and has dropped by more than its limit. Of 0/1 scores both are
  counts: of the m items that differ, at most k may go the other way, so that the chance is a sum over m of binomial
  ones. Of other scores, the estimate has to pass the larger of two thresholds.
- A *bound* is within its limit where Tango's score test rejects that the drop is as large as the limit: the same sum,
  with half of the items that differ going either way. Of other scores it is noncentral t.

Items differ by chance as often as they did, but for those that only a difference explains (`by_chance`), half of them
either way; those of a drop are beside them.
"""

from functools import lru_cache
from math import ceil, sqrt

import numpy as np

from assay.stats.detectable_shifts import detectable_shift
from assay.stats.numerics import increasing_root, normal_cdf, normal_quantile, t_cdf, t_quantile
from assay.stats.planning import critical_counts
from assay.stats.proportions import Effective, tango_statistic
from assay.stats.suites import TaskDifferences, task_limits
from assay.stats.suites.total import Total
from assay.stats.units import Floats

POWER = 0.8
_SLACK = 1e-9  # a drop of exactly the limit is not beyond it


def noticed(task: TaskDifferences, limit: float, level: float, power: float = POWER) -> float | None:
    """The true drop that would be named with this power; ``None`` where none would be.

    ``level`` is that of the test: 1 − α/T at the first step of Holm's.
    """
    if task.plain and task.counts is not None:
        return _noticed_share(int(task.counts.n), by_chance(task.counts), limit, level, power)
    error = sqrt(task.variance)
    if not error or task.units.n < 2:
        return None
    df = task.units.n - 1.0 if task.counts is None else task.counts.df
    found = max(error * detectable_shift(df, level, power), limit + normal_quantile(power) * error)
    return None if task.counts is not None and found > 1 else found


def by_chance(counts: Effective) -> float:
    """The share of items that differ by chance: all that do, unless more of them go one way than chance would have.

    >>> by_chance(Effective(5, 5, 100, 1, 99)), by_chance(Effective(2, 23, 100, 1, 99))
    (0.1, 0.09)
    """
    differing = counts.b + counts.c
    return min(differing, 2 * min(counts.b, counts.c) + sqrt(differing)) / counts.n  # one standard deviation of b − c


@lru_cache(maxsize=1024)
def _noticed_share(n: int, differing: float, limit: float, level: float, power: float) -> float | None:
    def excess(drop: float) -> float:
        inside = min(max(drop, 0.0), 1.0)
        either = min(differing, 1 - inside) / 2
        return named_chance(n, either, either + inside, limit, level) - power if either + inside else -power

    if excess(1.0) < 0:
        return None
    spread = sqrt(max(differing, 1 / n) / n)
    guess = max(normal_quantile(0.5 + level / 2) * spread, limit) + normal_quantile(power) * spread
    return min(increasing_root(excess, guess, guess / 4, tolerance=1e-4), 1.0)


def named_chance(n: int, better: float, worse: float, limit: float, level: float) -> float:
    """P(McNemar's mid-p ≤ 1 − level, and more than limit·n items were lost), by the shares won and lost.

    >>> round(named_chance(100, 0.0, 0.2, 0.05, 0.95), 3)  # 20 lost of 100: shown from 6 on, which is beyond 5
    1.0
    """
    from scipy.special import betainc  # late

    m, chance = _numbers_that_differ(n, better + worse)
    most = np.minimum(critical_counts(m, 1 - level), np.ceil((m - limit * n) / 2 - _SLACK) - 1)
    some = most >= 0
    m, most = m[some], most[some]
    tail = betainc(m - most, most + 1, 1 - better / (better + worse))  # at most so many are won
    return min(float((chance[some] * tail).sum()), 1.0)


def _numbers_that_differ(n: int, share: float) -> tuple[Floats, Floats]:
    """How many of n items may differ, and the chance of each number; what is all but impossible is left out."""
    from scipy.special import gammaln, xlogy  # late

    mean, reach = n * share, 9 * sqrt(max(n * share * (1 - share), 0.0)) + 40
    m = np.arange(max(0, int(mean - reach)), min(n, ceil(mean + reach)) + 1, dtype=np.float64)
    ways = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
    chance = np.exp(ways + xlogy(m, share) + xlogy(n - m, max(1 - share, 0.0)))
    return m, chance / chance.sum()


# ------------------------------------------------------------------------------------------------------ an equal system


def within_if_equal(task: TaskDifferences, limit: float, level: float) -> float:
    """How often the bound of an equal system is within the limit; as many items differ as did."""
    if task.plain and task.counts is not None:
        return share_within(int(task.counts.n), by_chance(task.counts), limit, level)
    if task.units.n < 2:
        return 0.0
    if task.counts is None:
        error, df = (0.0, 1.0) if task.moments is None else (task.moments.error, task.moments.df)
    else:
        error, df = sqrt(task.counts.deff * (task.counts.b + task.counts.c)) / task.counts.n, task.counts.df
    if error > 0:
        return 1 - t_cdf(t_quantile(0.5 + level / 2, df), df, limit / error)
    low, _ = task_limits([task], level)
    return float(task.value - low[0] <= limit)


@lru_cache(maxsize=1024)
def share_within(n: int, differing: float, limit: float, level: float) -> float:
    """P(Tango's lower limit ≥ −limit) where ``differing`` of the items differ, half of them either way.

    >>> round(share_within(400, 0.1, 0.05, 0.95), 2), round(share_within(100, 0.1, 0.05, 0.95), 2)
    (0.86, 0.29)
    """
    from scipy.special import betainc  # late

    if limit >= 1:  # no drop of a share is larger
        return 1.0
    m, chance = _numbers_that_differ(n, differing)
    least = _fewest_won(m, n, limit, normal_quantile(0.5 + level / 2))
    above = np.where(least > 0, betainc(np.maximum(least, 1), m - least + 1, 0.5), 1.0)
    return min(float((chance * np.where(least > m, 0.0, above)).sum()), 1.0)


def _fewest_won(m: Floats, n: int, limit: float, reach: float) -> Floats:
    """(M,) Of m that differ, the fewest that must be won for the bound to be within; m + 1 where not even all are."""
    low, high = np.zeros_like(m), m + 1
    size, delta = np.full(len(m), float(n)), np.full(len(m), -limit)
    while bool((low < high).any()):
        middle = np.floor((low + high) / 2)
        enough = (middle <= m) & (tango_statistic(middle, m - middle, size, delta) >= reach)
        low, high = np.where(enough | (low >= high), low, middle + 1), np.where(enough, middle, high)
    return low


def total_within_if_equal(found: Total, limit: float, level: float) -> float:
    """The same of a total, whose standard error is taken for known."""
    if not found.error > 0:
        return float(found.value - found.low <= limit)
    return normal_cdf(limit / found.error - normal_quantile(0.5 + level / 2))
