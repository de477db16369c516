"""Effect sizes of a paired difference: d_z, d_av and Hedges' g, each named, each with an interval (C5).

The t statistic of a standardised difference is noncentral t; the limits of its noncentrality, scaled by se/sd, are
the limits of the effect size (Cumming and Finch 2001; Algina and Keselman 2003 for d_av). With clusters or unequal
denominators the standard error is the linearised one and the degrees of freedom are those of the clusters.
"""

from dataclasses import dataclass
from math import exp, frexp, hypot, lgamma, log, sqrt

import numpy as np

from assay.stats.numerics import noncentrality
from assay.stats.records import Estimate, Interval
from assay.stats.units import Floats, Units, standard_error, weighted_deviation


@dataclass(frozen=True, slots=True)
class ArmValues:
    """The two arms unit by unit: values num/den and the weights den."""

    a: Floats  # (n,)
    b: Floats  # (n,)
    weights: Floats  # (n,)


def effect_sizes(arms: ArmValues, drawn: Units, confidence_level: float) -> dict[str, Estimate]:
    """d_z (difference over its own spread), Hedges' g (d_z without its bias), d_av (over the arms' mean spread)."""
    arms, drawn = _in_range(arms, drawn)
    n, difference = len(arms.a), drawn.estimate
    error = standard_error(drawn) if drawn.n > 1 else None
    spread = weighted_deviation(arms.b - arms.a, arms.weights) or 0.0
    average = hypot(*(weighted_deviation(arm, arms.weights) or 0.0 for arm in (arms.a, arms.b))) / sqrt(2)
    if error is None or error <= 0 or spread <= 0 or drawn.degenerate:
        reason = "one unit" if error is None else "all differences are equal"
        return {name: Estimate(None, None, None, n, reason) for name in ("d_z", "hedges_g", "d_av")}
    df = drawn.n - 1
    t, tail = difference / error, 0.5 - confidence_level / 2
    limits = (noncentrality(1 - tail, t, df), noncentrality(tail, t, df))

    def scaled(by: float) -> Estimate:
        low, high = (limit * error * by for limit in limits)
        return Estimate(difference * by, Interval(low, high, confidence_level, "noncentral t"), None, n)

    def missing(reason: str) -> Estimate:
        return Estimate(None, None, None, n, reason)

    unbiased = hedges_factor(df)
    return {
        "d_z": scaled(1 / spread),
        "hedges_g": missing("two units: d_z has no expectation to correct")
        if unbiased is None
        else scaled(unbiased / spread),
        "d_av": scaled(1 / average) if average > 0 else missing("neither arm varies"),
    }


def _in_range(arms: ArmValues, drawn: Units) -> tuple[ArmValues, Units]:
    """The same in a unit in which the largest value is about 1: an effect size has none, and 1/1e-320 is no number."""
    largest = max(float(np.abs(arm).max()) for arm in (arms.a, arms.b))
    power = 0 if largest == 0 else -frexp(largest)[1]
    if abs(power) < 900:
        return arms, drawn
    a, b, top = (np.ldexp(part, power) for part in (arms.a, arms.b, drawn.numerators))
    return ArmValues(a, b, arms.weights), Units(top, drawn.denominators, drawn.probabilities)


def hedges_factor(df: float) -> float | None:
    """Hedges' J: the exact factor that removes the bias of a standardised difference; none for 1 degree of freedom."""
    return exp(lgamma(df / 2) - lgamma((df - 1) / 2) - 0.5 * log(df / 2)) if df > 1 else None
