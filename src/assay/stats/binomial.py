"""Shares: exact limits of a probability that a count was drawn with."""


def clopper_pearson(count: int, n: int, confidence_level: float = 0.95) -> tuple[float, float]:
    """The probabilities at which a count as low, or as high, is just not too rare (Clopper and Pearson 1934)."""
    from scipy.special import betaincinv  # late: 0.3 s

    tail = 0.5 - confidence_level / 2
    low = float(betaincinv(count, n - count + 1, tail)) if count else 0.0
    high = float(betaincinv(count + 1, n - count, 1 - tail)) if count < n else 1.0
    return low, high
