"""One mean of scores from 0 to 1, or one share: Agresti and Coull's interval, Clopper and Pearson's, Jeffreys' prior.

Agresti and Coull's interval has an effective number of items:

    ñ = n_e + q²,   p̃ = (p·n_e + q²/2) / ñ,   limits p̃ ± q·√(p̃(1 − p̃)/ñ), cut at 0 and 1

- Right or wrong, independent, of equal weight: n_e is n, and q the normal quantile.
- Partial credit, weights, clusters: n_e = p(1 − p)/v with v the linearised variance of the mean, and q is Student's
  with Satterthwaite's degrees of freedom.
- Right and wrong answers never count as more than Kish's number of items, n where weights are equal: where the few
  wrong ones are light, v alone would show next to nothing. Without clusters that number is known, so q is normal.
- Without spread v says nothing: n_e is Kish's number of items, or the number of clusters.

So 20 right of 20 is 0.81 to 1, not 1 to 1. Coverage beside other intervals: `benchmarks/calibration_summarize.py`.

References: Agresti and Coull (1998), *Approximate is better than "exact" for interval estimation of binomial
proportions*; Korn and Graubard (1998) for the effective number of items and its degrees of freedom.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from assay.stats.numerics import critical_values, normal_quantile
from assay.stats.proportions import FEWEST_DF
from assay.stats.records import Interval
from assay.stats.units import Floats, Units, effective_number, shape, standard_error

METHOD = "agresti-coull"
FEW_BETWEEN = 5  # scores that are not at the end where all others are
_INVERTED_UP_TO = 1e7  # a + b: beyond, scipy's inverse of the beta distribution strays, and ends in NaN
_RARE = 1e4  # of so many items, a share whose count is below this is as good as Poisson's
_SPREAD = 1e-9  # scores that differ by less do not differ


def agresti_coull(share: float, n: float, reach: float) -> tuple[float, float]:
    """The limits of a share of n items, which need not be a whole number; ``reach`` is the critical value.

    >>> low, high = agresti_coull(1.0, 20, 1.96)
    >>> round(low, 3), high
    (0.81, 1.0)
    """
    centre, error = _shrunk(share, n, reach)
    return max(centre - reach * error, 0.0), min(centre + reach * error, 1.0)


def _shrunk(share: float, n: float, reach: float) -> tuple[float, float]:
    """The centre of the interval, and the standard error that it has, which is never 0."""
    more = n + reach * reach
    centre = (share * n + reach * reach / 2) / more
    return centre, sqrt(centre * (1 - centre) / more)


@dataclass(frozen=True, slots=True)
class EffectiveItems:
    """As how many independent right or wrong answers these scores count, and how well that is known."""

    n: float
    df: float  # infinite: known


def effective_items(drawn: Units, weights: Floats, *, right_or_wrong: bool) -> EffectiveItems:
    """Of units (items, or clusters with the sums of theirs); ``weights`` are those of the single items."""
    kish, clustered = effective_number(weights), drawn.n < len(weights)
    if right_or_wrong and not clustered and drawn.equal_denominators:
        return EffectiveItems(float(drawn.n), inf)
    form, error = shape(drawn), standard_error(drawn)
    df = max(drawn.n - 1 if form is None else form.degrees_of_freedom, FEWEST_DF)
    known = inf if right_or_wrong and not clustered else df
    most = drawn.estimate * (1 - drawn.estimate)  # variance that one answer can have
    if not error or drawn.extremes[1] - drawn.extremes[0] <= _SPREAD or most <= 0:
        return EffectiveItems(float(drawn.n) if clustered else kish, known)
    found = most / error**2
    return EffectiveItems(kish, known) if right_or_wrong and found > kish else EffectiveItems(found, df)


def bounded_interval(
    drawn: Units, weights: Floats, level: float, *, right_or_wrong: bool, variance: float = 1.0
) -> Interval:
    """The interval of the mean of scores from 0 to 1; for the arguments see `effective_items`.

    ``variance`` is what that of the mean is multiplied by where the units are a part of a fixed set.

    >>> import numpy as np
    >>> found = bounded_interval(Units(np.ones(20), np.ones(20)), np.ones(20), 0.95, right_or_wrong=True)
    >>> round(found.low, 3), found.high
    (0.81, 1.0)
    """
    share, n, reach = _as_share(drawn, weights, level, right_or_wrong=right_or_wrong)
    return Interval(*agresti_coull(share, n / variance, reach), level, METHOD).around(share)


def mean_of_shares(
    shares: Sequence[float], items: Sequence[EffectiveItems], level: float, weights: Sequence[float] | None = None
) -> Interval:
    """The interval of the mean of several shares, such as those of tasks: MOVER (Zou and Donner 2008).

    ``weights`` sum to 1; without them it is the plain mean.

    Each share's own limits, not cut at 0 and 1, are as far from it as its part of the mean may be off; those distances
    are added as squares. Coverage: `benchmarks/calibration_suites.py`.

    >>> found = mean_of_shares([1.0, 0.5], [EffectiveItems(20, inf), EffectiveItems(100, inf)], 0.95)
    >>> round(found.low, 3), round(found.high, 3)
    (0.644, 0.8)
    """
    below, above, value = 0.0, 0.0, 0.0
    for weight, share, one in zip(weights or [1 / len(shares)] * len(shares), shares, items, strict=True):
        reach = float(critical_values(level, one.df)[0])
        centre, error = _shrunk(share, one.n, reach)
        below += (weight * (share - centre + reach * error)) ** 2
        above += (weight * (centre + reach * error - share)) ** 2
        value += weight * share
    low, high = max(value - sqrt(below), 0.0), min(value + sqrt(above), 1.0)
    return Interval(low, high, level, "mover")


def bounded_error(drawn: Units, weights: Floats, level: float, *, right_or_wrong: bool, variance: float = 1.0) -> float:
    """The standard error that this interval has: not 0 where all are right, because that is not certain."""
    share, n, reach = _as_share(drawn, weights, level, right_or_wrong=right_or_wrong)
    return _shrunk(share, n / variance, reach)[1]


def _as_share(drawn: Units, weights: Floats, level: float, *, right_or_wrong: bool) -> tuple[float, float, float]:
    """The share, of how many items it is, and the critical value."""
    items = effective_items(drawn, weights, right_or_wrong=right_or_wrong)
    share = min(max(drawn.estimate, 0.0), 1.0)  # a sum in floating point may be a digit outside
    return share, items.n, float(critical_values(level, items.df)[0])


def nearly_binary(scores: Floats) -> bool:
    """Whether all but a few scores are 0, or all but a few are 1.

    Then the spread of those few says too little of the others, and they count as right or wrong answers do. So it is
    with pass@k where it is near 1 or 0 (`benchmarks/calibration_attempts.py`).
    """
    return len(scores) - max(int((scores == 0).sum()), int((scores == 1).sum())) < FEW_BETWEEN


def fitted_interval(
    value: float, error: float, answers: float, drawn: int, level: float, *, right_or_wrong: bool
) -> Interval:
    """The same of a mean that is fitted because answers are missing, from its standard error.

    ``answers`` is Kish's number of those that are there, ``drawn`` the number of units or clusters.

    >>> found = fitted_interval(0.9, 0.05, 40, 50, 0.95, right_or_wrong=True)
    >>> round(found.low, 3), round(found.high, 3)
    (0.749, 0.97)
    """
    share = min(max(value, 0.0), 1.0)
    most = share * (1 - share)
    n = most / error**2 if most > 0 and error > _SPREAD else min(answers, drawn)
    n = min(n, answers) if right_or_wrong else n
    reach = float(critical_values(level, drawn - 1.0)[0])
    return Interval(*agresti_coull(share, n, reach), level, METHOD).around(value)


def clopper_pearson(count: int, n: int, confidence_level: float = 0.95) -> tuple[float, float]:
    """The probabilities at which a count as low, or as high, is just not too rare (Clopper and Pearson 1934)."""
    tail = 0.5 - confidence_level / 2
    return share_limits(count, n, tail, tail)


def share_limits(count: float, n: float, below: float, above: float) -> tuple[float, float]:
    """Clopper and Pearson's limits with unequal tails, also of an effective count that is no whole number.

    >>> low, high = share_limits(9.0, 10.0, 0.025, 0.025)
    >>> round(low, 4), round(high, 4)
    (0.555, 0.9975)
    """
    low = beta_quantile(count, n - count + 1, below) if count > 0 else 0.0
    high = beta_quantile(count + 1, n - count, 1 - above) if count < n else 1.0
    return low, high


def jeffreys_quantile(count: float, n: float, p: float) -> float:
    """The p-quantile of the share after ``count`` of ``n`` under Jeffreys' prior: beta(count + ½, n − count + ½)."""
    return beta_quantile(count + 0.5, max(n - count, 0.0) + 0.5, p)


def beta_quantile(a: float, b: float, p: float) -> float:
    """The p-quantile of beta(a, b), however large a and b are.

    Beyond ten million in all it is the quantile of a gamma where one of them is small, and Cornish and Fisher's
    expansion where neither is: both are within 0.2 % of a standard deviation there.

    >>> round(beta_quantile(9.0, 2.0, 0.025), 4)
    0.555
    """
    from scipy.special import betaincinv, gammaincinv  # late: 0.3 s

    if a + b <= _INVERTED_UP_TO:
        return float(betaincinv(a, b, p))
    if min(a, b) < _RARE:
        rare = float(gammaincinv(min(a, b), p if a < b else 1 - p)) / (a + b)
        return rare if a < b else 1 - rare
    mean, z = a / (a + b), normal_quantile(p)
    deviation = sqrt(mean * (b / (a + b)) / (a + b + 1))
    skewness = 2 * (b - a) / (a + b + 2) * sqrt((a + b + 1) / a / b)
    return min(max(mean + deviation * (z + (z * z - 1) * skewness / 6), 0.0), 1.0)
