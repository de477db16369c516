"""Z over several looks by scipy: normal, with mean θ√I_k and cov(Z_j, Z_k) = √(I_j/I_k)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import multivariate_normal

from assay.stats.units import Floats


def within(low: ArrayLike, high: ArrayLike, information: Sequence[float] | Floats, drift: float = 0.0) -> float:
    """P(low < Z < high at every look)."""
    levels = np.asarray(information)
    cov = np.sqrt(np.minimum.outer(levels, levels) / np.maximum.outer(levels, levels))
    mean, rng = drift * np.sqrt(levels), np.random.default_rng(1)
    return float(
        multivariate_normal.cdf(
            np.minimum(high, 30.0),
            mean,
            cov,
            lower_limit=np.maximum(low, -30.0),
            maxpts=200_000,
            abseps=1e-8,
            releps=1e-8,
            rng=rng,
        )
    )
