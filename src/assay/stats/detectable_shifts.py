"""What a t test finds: its power, and the shift that it finds with a given one."""

from functools import lru_cache

from assay.stats.numerics import increasing_root, normal_quantile, t_cdf, t_quantile


def t_power(shift: float, df: float, level: float, stretch: float = 1.0) -> float:
    """P(|T| > t) where T is noncentral: a two-sided t test of a mean ``shift`` standard errors away from 0.

    ``stretch`` is by how much the test's own standard error, under no difference, is larger than the true one.
    """
    critical = stretch * t_quantile(0.5 + level / 2, df)
    return min(t_cdf(-critical, df, shift) + t_cdf(-critical, df, -shift), 1.0)


@lru_cache(maxsize=256)
def detectable_shift(df: float, level: float, power: float) -> float:
    """How many standard errors away from 0 a mean must be for a t test to find it with this power."""
    start = normal_quantile(0.5 + level / 2) + normal_quantile(power)
    return increasing_root(lambda shift: (t_power(shift, df, level) if shift > 0 else 1 - level) - power, start, 1.0)
