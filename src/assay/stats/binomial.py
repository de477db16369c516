"""Shares: limits of a probability that a count was drawn with, and quantiles of what it may be."""


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
    from scipy.special import betaincinv  # late: 0.3 s

    low = float(betaincinv(count, n - count + 1, below)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, n - count, 1 - above)) if count < n else 1.0
    return low, high


def jeffreys_quantile(count: float, n: float, p: float) -> float:
    """The p-quantile of the share after ``count`` of ``n`` under Jeffreys' prior: beta(count + ½, n − count + ½)."""
    from scipy.special import betaincinv  # late

    return float(betaincinv(count + 0.5, max(n - count, 0.0) + 0.5, p))
