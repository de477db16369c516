"""Power of paired tests: how many items, which difference, with which probability.

Mean differences: Student's paired t, whose power is noncentral t, exactly. 0/1 scores: McNemar's mid-p or exact test,
summed over the number of items that differ; in clusters his score test with the design effect. Equivalence: two
one-sided tests, by one integral over the estimated standard deviation. No normal approximation anywhere.
"""

from collections.abc import Callable
from functools import lru_cache
from math import ceil, exp, lgamma, log, sqrt

import numpy as np
from numpy.typing import NDArray

from assay.errors import UsageError
from assay.stats.detectable_shifts import detectable_shift, t_power
from assay.stats.numerics import increasing_root, normal_cdf, normal_quantile, t_quantile
from assay.stats.planning.plans import Goal, Means, Shares, StudyPlan
from assay.stats.proportions import binomial_cdf, binomial_mass, mcnemar_p
from assay.stats.units import Floats

MOST_ITEMS = 10**9
_STEPS = 30  # numbers of items looked at beyond the first that is enough: McNemar's power may fall back a little


def equivalence_power(shift: float, margin: float, df: float, level: float) -> float:
    """P(the interval lies inside ±margin), shift and margin in standard errors: two one-sided t tests together.

    Given the estimated standard deviation, s of the true one, the interval is inside if the mean is within margin − t·s
    of 0; s² is χ²/df.
    """
    critical = t_quantile(0.5 + level / 2, df)
    reach = 9 / sqrt(2 * df)
    low, high = max(0.0, 1 - reach), min(margin / critical, 1 + reach + 9 / df)
    if low >= high:
        return 0.0
    from scipy.integrate import quad  # late

    scale = log(2) + (df / 2) * log(df / 2) - lgamma(df / 2)

    def inside(s: float) -> float:
        room = margin - critical * s
        density = exp(scale + (df - 1) * log(s) - df * s * s / 2) if s > 0 else 0.0
        return (normal_cdf(room - shift) - normal_cdf(-room - shift)) * density

    found, _ = quad(inside, low, high, epsabs=1e-12, epsrel=1e-10, limit=200)
    return min(max(float(found), 0.0), 1.0)


def mcnemar_power(items: int, better: float, worse: float, level: float, *, exact: bool = False) -> float:
    """The power of McNemar's mid-p or exact test: B alone is right with probability ``better``, A alone with ``worse``.

    Summed over the number m of items that differ, which is binomial: among them the test is of p = ½. This is how often
    `compare` shows a difference: beside the mid-p its interval leaves out 0 exactly where the test rejects.
    """
    m, chance, critical = _outcomes(items, better + worse, 1 - level, exact)
    tails = [binomial_cdf(m, critical, p / (better + worse)) for p in (better, worse)]
    return min(float((chance * (tails[0] + tails[1])).sum()), 1.0)


@lru_cache(maxsize=4)
def _outcomes(items: int, share: float, alpha: float, exact: bool) -> tuple[Floats, Floats, Floats]:  # noqa: FBT001  # cached
    """The numbers m of items that differ and with which the test can reject, their probabilities, and the counts."""
    mean, reach = items * share, 9 * sqrt(max(items * share * (1 - share), 0.0)) + 40
    m = np.arange(max(0, int(mean - reach)), min(items, int(mean + reach)) + 1, dtype=np.float64)
    chance = binomial_mass(np.full(m.shape, float(items)), m, share) if share < 1 else (m == items).astype(np.float64)
    critical = critical_counts(m, alpha, exact=exact)
    some = critical >= 0
    return m[some], chance[some] / chance.sum(), critical[some]


def critical_counts(m: Floats, alpha: float, *, exact: bool = False) -> Floats:
    """(M,) The largest count c of the rarer side at which McNemar's p is at most alpha, for every m; −1: none."""
    found = np.maximum(np.floor(m / 2 + normal_quantile(alpha / 2) * np.sqrt(m) / 2 - 0.5), -1)
    whole = m.astype(np.int64)

    def rejects(c: Floats) -> NDArray[np.bool_]:
        least = np.clip(c, 0, m // 2).astype(np.int64)
        p = mcnemar_p(least, whole - least, exact=exact)
        return np.asarray((c < 0) | ((p <= alpha) & (2 * c < m)))

    while True:
        step = rejects(found + 1).astype(np.float64) - (~rejects(found)).astype(np.float64)
        if not step.any():
            return found
        found = found + step


def chosen_test(plan: StudyPlan, goal: Goal) -> str:
    """Which test the power is of."""
    if goal.margin is not None:
        return "equivalence"
    if not isinstance(plan, Shares) or plan.structure.repeats > 1:
        return "t"
    if not plan.structure.plain:
        return "mcnemar-score"
    return "mcnemar" if goal.test == "mcnemar" else "mcnemar-midp"


def power_of(plan: StudyPlan, items: int, difference: float, goal: Goal) -> float:
    """The probability that so many items show this difference; with a margin, that they show equivalence."""
    level, test = goal.adjusted_level, chosen_test(plan, goal)
    if test in ("mcnemar", "mcnemar-midp") and isinstance(plan, Shares):
        return mcnemar_power(items, *plan.discordance(difference), level, exact=test == "mcnemar")
    means = plan.means(difference) if isinstance(plan, Shares) else plan
    df, error = means.df(items), means.error(items)
    if df <= 0:
        raise UsageError(f"items must be more than those of one cluster ({means.cluster_size:g}), but got {items}.")
    if error == 0:
        return float(difference != 0 if goal.margin is None else abs(difference) < goal.margin)
    if goal.margin is not None:
        return equivalence_power(difference / error, goal.margin / error, df, level)
    stretch = 1.0
    if test == "mcnemar-score" and isinstance(plan, Shares):  # whose variance is that of no difference
        discordant = sum(plan.discordance(difference))
        stretch = sqrt(discordant / (discordant - difference**2))
    return t_power(difference / error, df, level, stretch)


def items_for(plan: StudyPlan, difference: float, goal: Goal) -> int:
    """The fewest items, in whole clusters, from which on the power is reached."""
    if goal.margin is None and difference == 0:
        raise UsageError("difference must not be 0: no number of items shows a difference that is not there.")
    if goal.margin is not None and abs(difference) >= goal.margin:
        raise UsageError(
            f"difference must be inside the margin of {goal.margin:g}, but got {difference:g}: systems that differ so "
            "much are not equivalent, however many items there are."
        )
    size = plan.structure.cluster_size if isinstance(plan, Shares) else plan.cluster_size
    fewest = 2 if size == 1 else ceil(2 * size)
    found = _first(lambda items: power_of(plan, items, difference, goal) >= goal.power, fewest)
    return ceil(ceil(found / size - 1e-9) * size - 1e-9)


def _first(enough: Callable[[int], bool], fewest: int) -> int:
    """The first number that is enough, and after which the next ones are as well."""
    high = fewest
    while not enough(high):
        high *= 2
        if high > MOST_ITEMS:
            raise UsageError(
                f"more than {MOST_ITEMS:,} items would be needed; plan for a larger difference, or for less power."
            )
    low = max(high // 2, fewest - 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    while misses := [n for n in range(high + 1, high + _STEPS) if not enough(n)]:
        high = misses[-1] + 1
    return high


def difference_for(plan: StudyPlan, items: int, goal: Goal) -> float | None:
    """The difference that so many items detect with the power asked for; ``None`` where not even the largest is."""
    if goal.margin is not None:
        raise UsageError("with a margin, ask for the items or for the power: equivalence detects no difference.")
    if isinstance(plan, Means):
        if plan.df(items) <= 0:
            raise UsageError(f"items must be more than those of one cluster ({plan.cluster_size:g}), but got {items}.")
        return plan.error(items) * detectable_shift(plan.df(items), goal.adjusted_level, goal.power)
    low, high = plan.possible()
    if power_of(plan, items, high, goal) < goal.power:
        return None

    def excess(difference: float) -> float:
        return power_of(plan, items, min(max(difference, low), high), goal) - goal.power

    return low if excess(low) > 0 else min(increasing_root(excess, (low + high) / 2, (high - low) / 2), high)
