"""Shares: limits of a probability that a count was drawn with, and quantiles of what it may be."""

from math import sqrt

from assay.stats.special import normal_quantile

_INVERTED_UP_TO = 1e7  # a + b: beyond, scipy's inverse of the beta distribution strays, and ends in NaN
_RARE = 1e4  # of so many items, a share whose count is below this is as good as Poisson's


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
