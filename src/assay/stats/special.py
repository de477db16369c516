"""The few special functions the default path needs, without the 0.3 s that importing scipy costs.

The normal distribution comes from the standard library. Student's t, central or not, is one integral over the
χ distribution of the estimated standard deviation, ``P(T ≤ t) = ∫ Φ(t·s − δ) f(s) ds``, done by Gauss-Legendre
quadrature. scipy is the oracle of every function here.
"""

from functools import lru_cache
from math import erfc, inf, lgamma, log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from assay.stats.roots import increasing_root

_NORMAL = NormalDist()
_NODES = 96  # enough for 1e-12 at 1 degree of freedom and above


def normal_cdf(z: float) -> float:
    """Φ(z), with full relative accuracy in the lower tail."""
    return 0.5 * erfc(-z / sqrt(2))


def normal_quantile(p: float) -> float:
    """Φ⁻¹(p), infinite at 0 and 1."""
    if p <= 0:
        return -inf
    if p >= 1:
        return inf
    return _NORMAL.inv_cdf(p)


@lru_cache(maxsize=8)
def _legendre(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.polynomial.legendre.leggauss(n)


@lru_cache(maxsize=256)
def _chi_rule(df: float) -> tuple[tuple[float, float], ...]:
    """Nodes s and weights f(s)ds of s = √(χ²_df / df), over all but 1e-15 of its mass."""
    spread = 8.5 / sqrt(2 * df)
    low, high = max(0.0, 1 - spread), 1 + spread + 9 / df  # the right tail of χ is the heavier one
    nodes, weights = _legendre(_NODES)
    root = 0.5 * (sqrt(high) - sqrt(low)) * nodes + 0.5 * (sqrt(high) + sqrt(low))
    s = root * root  # in √s the nodes are dense near 0, where few degrees of freedom have their extreme t
    log_density = log(2) + (df / 2) * log(df / 2) - lgamma(df / 2) + (df - 1) * np.log(s) - df * s * s / 2
    mass = weights * root * np.exp(log_density)
    return tuple(zip(s.tolist(), (mass / mass.sum()).tolist(), strict=True))


def t_cdf(t: float, df: float, noncentrality: float = 0.0) -> float:
    """P(T ≤ t) for Student's t with ``df`` degrees of freedom, shifted by ``noncentrality``."""
    return sum(mass * normal_cdf(t * s - noncentrality) for s, mass in _chi_rule(df))


@lru_cache(maxsize=256)
def t_quantile(p: float, df: float) -> float:
    """The t with P(T ≤ t) = p; the normal quantile when ``df`` is infinite."""
    if df == inf:
        return normal_quantile(p)
    return increasing_root(lambda t: t_cdf(t, df) - p, normal_quantile(p), 0.5)


def noncentrality(p: float, t: float, df: float) -> float:
    """The shift δ at which P(T ≤ t) = p: the limits of an effect size come from it."""
    return increasing_root(lambda shift: p - t_cdf(t, df, shift), t, 2.0)
