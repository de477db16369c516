"""The few numerical functions the default path needs, without the 0.3 s that importing scipy costs.

- The normal distribution, from the standard library.
- Student's t for whole arrays, with full relative accuracy in the tail: P(T > t) = ∫ f(u) du from t on. With u = t·eʸ
  the integrand falls smoothly, and where it has fallen by e⁻⁴⁰ is known, so that one Gauss-Legendre rule does for every
  t and every number of degrees of freedom. Near 0 the integral from 0 to t is taken off ½. Infinitely many degrees of
  freedom are the normal distribution.
- The noncentral t, an integral over the χ distribution of the estimated standard deviation,
  ``P(T ≤ t) = ∫ Φ(t·s − δ) f(s) ds``.
- Gauss-Legendre quadrature, the root of an increasing function from a guess, and Bennett's bound on a sum.

scipy is the oracle of every function here.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import erfc, inf, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.stats.units import Floats

_NORMAL = NormalDist()
_NONCENTRAL_NODES = 96  # enough for 1e-12 at 1 degree of freedom and above
_STEEP = 40.0  # up to here the nodes resolve the rise of Φ(t·s − δ)
SMALLEST_P = 1e-300  # p is never 0, not even by underflow
_MANY = 1e300  # degrees of freedom that are as good as infinitely many
_FAR = 1e100  # a t whose square is still a number
_NODES = 48
_SHIFT = 12  # up to where Γ's argument is moved before its series is used
_BLOCK = 4096  # rows of (rows, nodes) arrays that fit the cache


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


def normal_quantiles(values: Iterable[float]) -> list[float]:
    """The same of each."""
    inverse = _NORMAL.inv_cdf
    return [inverse(p) if 0 < p < 1 else (-inf if p <= 0 else inf) for p in values]


def _chi_range(df: float) -> tuple[float, float]:
    """Where s = √(χ²_df / df) has all but 1e-15 of its mass; its right tail is the heavier one."""
    spread = 8.5 / sqrt(2 * df)
    return max(0.0, 1 - spread), 1 + spread + 9 / df


def _chi_masses(df: float, low: float, high: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes s between two limits and their weights f(s)ds, f the density of s."""
    nodes, weights = legendre_rule(_NONCENTRAL_NODES)
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

    Newton's method on the logarithms: log P(T > t) is concave in log t. Each stops by itself, so that no value depends
    on what else is asked for.
    """
    _, df = _flat(1.0, df)
    target = np.log((1 - level) / 2)
    x = np.full(df.shape, np.log(max(-NormalDist().inv_cdf((1 - level) / 2), 0.1)))
    going = np.ones(df.shape, dtype=bool)
    for _ in range(60):
        t = np.exp(x)
        tail = t_tail(t, df)
        step = (np.log(tail) - target) * tail / (t * _density(t, df))
        x = np.where(going, x + step, x)
        going &= np.abs(step) >= 1e-14
        if not going.any():
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


@lru_cache(maxsize=8)
def legendre_rule(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights of Gauss and Legendre on [−1, 1], by Newton's method: importing numpy's takes longer."""
    x = -np.cos(pi * (np.arange(n) + 0.75) / (n + 0.5))  # right to four digits, Newton doubles them
    for _ in range(4):
        value, before = x, np.ones(n)
        for k in range(2, n + 1):
            value, before = (2 - 1 / k) * x * value - (1 - 1 / k) * before, value
        slope = n * (before - x * value) / (1 - x * x)
        x = x - value / slope
    return x, 2 / ((1 - x * x) * slope * slope)


def increasing_root(f: Callable[[float], float], guess: float, step: float, tolerance: float = 1e-12) -> float:
    """The x with f(x) = 0 to within ``tolerance`` steps, by Chandrupatla's method inside an expanding bracket."""
    low, high, f_low, f_high = _bracket(f, guess, step)
    a, fa, b, fb = low, f_low, high, f_high  # b: the newest point
    c, fc, t = a, fa, 0.5
    for _ in range(200):
        if fb == 0 or abs(b - a) <= tolerance * step:
            break
        x = a + t * (b - a)
        fx = f(x)
        if (fx > 0) == (fa > 0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, fx
        t = _next_fraction(a, b, c, fa, fb, fc)
        limit = 0.25 * tolerance * step / max(abs(b - a), 1e-300)
        t = min(max(t, limit), 1 - limit)
        if fa == 0:
            return a
    return a if abs(fa) < abs(fb) else b


def _bracket(f: Callable[[float], float], guess: float, step: float) -> tuple[float, float, float, float]:
    low, high = guess - step, guess + step
    f_low, f_high = f(low), f(high)
    for _ in range(60):
        if f_low <= 0 <= f_high:
            break
        step *= 2
        if f_low > 0:
            low, high, f_high = low - step, low, f_low
            f_low = f(low)
        else:
            low, high, f_low = high, high + step, f_high
            f_high = f(high)
    return low, high, f_low, f_high


def _next_fraction(a: float, b: float, c: float, fa: float, fb: float, fc: float) -> float:
    """Inverse quadratic interpolation where it is safe, otherwise one half (Chandrupatla 1997)."""
    if fb in (fa, fc) or fa == fc or c == b:
        return 0.5
    xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi:
        return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return 0.5


def bennett_window(lowest: float, highest: float, mass: float) -> tuple[float, float]:
    """A window around 0 that holds all but ``mass`` of a sum with mean 0 and variance 1.

    ``lowest`` and ``highest`` bound the independent, centred terms, in standard deviations of the sum. Bennett (1962):
    P(S ≥ t) ≤ exp(−h(bt)/b²), h(x) = (1 + x)·log(1 + x) − x, for terms of at most b.
    """
    return -bennett_reach(-lowest, mass), bennett_reach(highest, mass)


def bennett_reach(b: float, mass: float) -> float:
    """How far such a sum reaches on the side on which terms are at most b, but for half of ``mass``.

    Newton's method from Bernstein's (larger) bound: h is convex, so every iterate is a valid bound.
    """
    needed = -log(mass / 2)
    t = needed * b / 3 + sqrt((needed * b / 3) ** 2 + 2 * needed)
    if b < 1e-3:  # here the two agree to three digits
        return t
    for _ in range(4):
        x = b * t
        t -= (((1 + x) * log1p(x) - x) / (b * b) - needed) * b / log1p(x)
    return t
