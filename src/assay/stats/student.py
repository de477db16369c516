"""Student's t for whole arrays: tail, two-sided p-value and critical value, with full relative accuracy in the tail.

P(T > t) = ∫ f(u) du from t on. With u = t·eʸ the integrand falls smoothly, and where it has
fallen by e⁻⁴⁰ is known, so that one Gauss-Legendre rule does for every t and every number of degrees of freedom. Near
0 the integral from 0 to t is taken off ½. Infinitely many degrees of freedom are the normal distribution.
"""

from math import pi
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from assay.stats.quadrature import legendre_rule
from assay.stats.units import Floats

SMALLEST_P = 1e-300  # p is never 0, not even by underflow
_MANY = 1e300  # degrees of freedom that are as good as infinitely many
_FAR = 1e100  # a t whose square is still a number
_NODES = 48
_SHIFT = 12  # up to where Γ's argument is moved before its series is used
_BLOCK = 4096  # rows of (rows, nodes) arrays that fit the cache


def t_tail(t: ArrayLike, df: ArrayLike) -> Floats:
    """P(T > t) for t ≥ 0 and each its degrees of freedom.

    >>> import numpy as np
    >>> float(t_tail(np.array([30.0]), 104.0)[0])  # scipy.stats.t.sf(30, 104)
    2.5716...e-53
    """
    t, df = _flat(t, df)
    out = np.empty(t.shape)
    for low in range(0, len(t), _BLOCK):
        rows = slice(low, low + _BLOCK)
        out[rows] = _tail(t[rows], df[rows])
    return out


def two_sided(statistic: ArrayLike, df: ArrayLike) -> Floats:
    """P(|T| ≥ |statistic|), never 0."""
    return np.clip(2 * t_tail(np.abs(statistic), df), SMALLEST_P, 1.0)


def critical_values(level: float, df: ArrayLike) -> Floats:
    """The t with P(|T| ≤ t) = level: how far an interval of that level reaches, in standard errors.

    Newton's method on the logarithms: log P(T > t) is concave in log t.
    """
    _, df = _flat(1.0, df)
    target = np.log((1 - level) / 2)
    x = np.full(df.shape, np.log(max(-NormalDist().inv_cdf((1 - level) / 2), 0.1)))
    for _ in range(60):
        t = np.exp(x)
        tail = t_tail(t, df)
        step = (np.log(tail) - target) * tail / (t * _density(t, df))
        x = x + step
        if float(np.abs(step).max(initial=0.0)) < 1e-14:
            break
    return np.asarray(np.exp(x))


def _flat(t: ArrayLike, df: ArrayLike) -> tuple[Floats, Floats]:
    value, freedom = np.broadcast_arrays(np.atleast_1d(np.asarray(t, dtype=np.float64)), np.asarray(df))
    return np.minimum(value, _FAR), np.minimum(freedom.astype(np.float64), _MANY)


def _tail(t: Floats, df: Floats) -> Floats:
    nodes, weights = legendre_rule(_NODES)
    near = t * t < 3
    place = 0.5 * (nodes + 1)
    reach = np.where(near, 1.0, _reach(t, df))
    u = t[:, None] * np.where(near[:, None], place, np.exp(reach[:, None] * place))
    density = _density(u, df)
    near_zero = 0.5 - 0.5 * t * (density * weights).sum(axis=1)
    with np.errstate(under="ignore"):
        beyond = 0.5 * reach * (np.where(near[:, None], 0.0, density * u) * weights).sum(axis=1)
    return np.asarray(np.where(near, near_zero, beyond))


def _reach(t: Floats, df: Floats) -> Floats:
    """The y at which the integrand has fallen by e⁻⁴⁰: (df + 1)/2 · log(1 + q(e²ʸ − 1)) − y, q = t²/(df + t²)."""
    ratio = np.maximum(t, 1.0) / np.sqrt(df)
    share = ratio * ratio / (1 + ratio * ratio)
    return np.asarray(0.5 * np.log1p(np.expm1(80 / df) / share))


def _density(u: Floats, df: Floats) -> Floats:
    """f(u); ``u`` is (rows,) or (rows, nodes), ``df`` (rows,)."""
    constant = _gamma_ratio(df / 2) / np.sqrt(df * pi)
    across = (slice(None), *(None for _ in range(u.ndim - 1)))
    ratio = u / np.sqrt(df)[across]
    with np.errstate(under="ignore"):
        kernel = np.exp(-0.5 * (df + 1)[across] * np.log1p(ratio * ratio))
    return np.asarray(kernel * constant[across])


def _gamma_ratio(a: Floats) -> Floats:
    """Γ(a + ½) / Γ(a): Stirling's series of its logarithm beyond 12, and the recurrence down from there."""
    small = a < _SHIFT
    j = np.arange(_SHIFT)
    down = ((a[:, None] + j) / (a[:, None] + j + 0.5)).prod(axis=1)
    b = np.where(small, a + _SHIFT, a)
    x = 1 / b
    y = x * x
    log_ratio = x * (-1 / 8 + y * (1 / 192 + y * (-1 / 640 + y * (17 / 14336 - y * 31 / 18432))))
    return np.asarray(np.where(small, down, 1.0) * np.sqrt(b) * np.exp(log_ratio))
