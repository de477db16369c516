"""How much of the error rate may be spent by when (Lan and DeMets 1983, *Discrete sequential boundaries*)."""

from collections.abc import Sequence
from math import e, log, sqrt
from typing import Literal, get_args

import numpy as np

from assay.errors import UsageError
from assay.stats.numerics import normal_cdf, normal_quantile
from assay.stats.units import Floats

#: *obrien-fleming* spends nearly everything at the end, *pocock* about the same at every look.
Spending = Literal["obrien-fleming", "pocock"]


def spent(fraction: float, alpha: float, spending: Spending = "obrien-fleming") -> float:
    """The one-sided error spent when this fraction of the planned information is there.

    O'Brien and Fleming's shape is α(t) = 2 − 2Φ(z₁₋α/₂/√t), Pocock's α·log(1 + (e − 1)t).

    >>> [round(spent(t, 0.025), 6) for t in (0.2, 0.6, 1.0)]
    [1e-06, 0.003808, 0.025]
    >>> round(spent(0.5, 0.025, "pocock"), 6)
    0.015503
    """
    if spending not in get_args(Spending):
        raise UsageError(f"spending must be one of {', '.join(get_args(Spending))}, but got {spending!r}.")
    if fraction <= 0:
        return 0.0
    t = min(fraction, 1.0)
    if spending == "pocock":
        return alpha * log(1 + (e - 1) * t)
    return alpha if t == 1 else 2 * normal_cdf(normal_quantile(alpha / 2) / sqrt(t))


def increments(fractions: Sequence[float], alpha: float, spending: Spending) -> Floats:
    """(K,) What each look may spend."""
    return np.diff([spent(t, alpha, spending) for t in fractions], prepend=0.0)
