"""The few special functions the default path needs, without the 0.3 s that importing scipy costs.

The normal distribution comes from the standard library and Student's t from the integral of its density
(`assay.stats.student`). The noncentral t is an integral over the χ distribution of the estimated standard deviation,
``P(T ≤ t) = ∫ Φ(t·s − δ) f(s) ds``, done by Gauss-Legendre quadrature. scipy is the oracle of every function here.
"""

from functools import lru_cache
from math import erfc, inf, lgamma, log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from assay.stats.quadrature import legendre_rule
from assay.stats.roots import increasing_root
from assay.stats.student import t_tail

_NORMAL = NormalDist()
_NODES = 96  # enough for 1e-12 at 1 degree of freedom and above
_STEEP = 40.0  # up to here the nodes resolve the rise of Φ(t·s − δ)


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


def _chi_range(df: float) -> tuple[float, float]:
    """Where s = √(χ²_df / df) has all but 1e-15 of its mass; its right tail is the heavier one."""
    spread = 8.5 / sqrt(2 * df)
    return max(0.0, 1 - spread), 1 + spread + 9 / df


def _chi_masses(df: float, low: float, high: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes s between two limits and their weights f(s)ds, f the density of s."""
    nodes, weights = legendre_rule(_NODES)
    half = 0.5 * (sqrt(high) - sqrt(low))
    root = half * nodes + 0.5 * (sqrt(high) + sqrt(low))
    s = root * root  # in √s the nodes are dense near 0, where few degrees of freedom have their extreme t
    log_density = log(2) + (df / 2) * log(df / 2) - lgamma(df / 2) + (df - 1) * np.log(s) - df * s * s / 2
    return s, 2 * half * weights * root * np.exp(log_density)


@lru_cache(maxsize=256)
def _chi_rule(df: float) -> tuple[tuple[float, float], ...]:
    s, mass = _chi_masses(df, *_chi_range(df))
    return tuple(zip(s.tolist(), (mass / mass.sum()).tolist(), strict=True))


def t_cdf(t: float, df: float, noncentrality: float = 0.0) -> float:
    """P(T ≤ t) for Student's t with ``df`` degrees of freedom, shifted by ``noncentrality``.

    Without a shift the far tail has full relative accuracy: 5e-53 is not 2e-57, and nothing is 0 before 1e-300.
    """
    if noncentrality == 0:
        tail = float(t_tail(np.array([abs(t)]), df)[0])
        return tail if t < 0 else 1 - tail
    low, high = _chi_range(df)
    if abs(t) * (high - low) < _STEEP:
        return sum(mass * normal_cdf(t * s - noncentrality) for s, mass in _chi_rule(df))
    # Φ(t·s − δ) rises from 0 to 1 within a few nodes: they are put where it does, and beyond it is 0 or 1
    left, right = (min(max((noncentrality + z) / t, low), high) for z in ((-9, 9) if t > 0 else (9, -9)))
    from_one = (right, high) if t > 0 else (low, left)
    full = float(_chi_masses(df, *from_one)[1].sum()) if from_one[0] < from_one[1] else 0.0
    if not left < right:
        return full
    s, mass = _chi_masses(df, left, right)
    rise = sum(m * normal_cdf(t * x - noncentrality) for x, m in zip(s.tolist(), mass.tolist(), strict=True))
    return full + float(rise)


@lru_cache(maxsize=256)
def t_quantile(p: float, df: float) -> float:
    """The t with P(T ≤ t) = p; the normal quantile when ``df`` is infinite."""
    if df == inf:
        return normal_quantile(p)
    return increasing_root(lambda t: t_cdf(t, df) - p, normal_quantile(p), 0.5)


def noncentrality(p: float, t: float, df: float) -> float:
    """The shift δ at which P(T ≤ t) = p: the limits of an effect size come from it."""
    return increasing_root(lambda shift: p - t_cdf(t, df, shift), t, 2.0)
