"""One quantile of Student's t, quickly: every limit of an interval needs one, and arrays would take far longer.

Cornish and Fisher's series where it is settled; elsewhere Halley's steps from it. The tail is an incomplete beta
function, P(T > t) = ½·I(df/(df + t²); df/2, ½), by its continued fraction (DLMF 8.17.22), which needs some tens of
steps from t² = 3 on. Nearer to 0, and of whole arrays: `assay.stats.numerics`.
"""

from functools import lru_cache
from math import exp, lgamma, log, log1p, pi, sqrt

from assay.stats.numerics import normal_quantile, t_quantile

_SETTLED = 1e-9  # relative: the last term of a series, where what it leaves out is below 3e-11
_LAST_STEP = 1e-4  # of log t: the next one would be its cube
_STEPS = 5, 3.2  # of the continued fraction, for 15 digits at t² = 3, and so many more times √df
_STIRLING = 100.0  # from here on its series is exact, and logarithms of Γ lose digits


@lru_cache(maxsize=256)
def t_reach(level: float, df: float) -> float:
    """The t with P(|T| ≤ t) = level: how far an interval of that level reaches, in standard errors.

    >>> round(t_reach(0.95, 7.5), 9) == round(t_quantile(0.975, 7.5), 9)
    True
    """
    return t_beyond((1 - level) / 2, df)


def t_beyond(tail: float, df: float) -> float:
    """The t > 0 with P(T > t) = tail, which is below ½ and may be very small.

    >>> round(t_beyond(1e-20, 19.0), 6)  # scipy.stats.t.isf(1e-20, 19)
    43.147101
    """
    z = -normal_quantile(tail)
    t, last = _cornish_fisher(z, df)
    if last < _SETTLED * z:
        return t
    target = log(tail)
    for _ in range(60):
        if not t * t >= 3:  # where the fraction converges slowly
            return t_quantile(1 - tail, df)
        found, rise = _tail(t, df)
        slope = rise / found  # −d log tail / d log t
        gap = log(found) - target
        bend = slope + 1 - (df + 1) * t * t / (df + t * t)
        step = gap / slope / (1 + gap * bend / (2 * slope))
        t *= exp(step)
        if abs(step) < _LAST_STEP:
            break
    return t


def _tail(t: float, df: float) -> tuple[float, float]:
    """P(T > t), and t times the density at t."""
    a, square = df / 2, t * t
    x = df / (df + square)
    rise = exp(-a * log1p(square / df) - _log_beta(a)) * sqrt(square / (df + square))
    value = 1.0
    for m in range(int(_STEPS[0] + _STEPS[1] * sqrt(df)), 0, -1):
        k = a + 2 * m
        value = 1 - (a + m) * (a + 0.5 + m) * x / (k * (k + 1) * value)
        value = 1 + m * (0.5 - m) * x / ((k - 1) * k * value)
    return 0.5 * rise / (a * (1 - (a + 0.5) * x / ((a + 1) * value))), rise


def _log_beta(a: float) -> float:
    """Log B(a, ½)."""
    if a < _STIRLING:
        return lgamma(a) + lgamma(0.5) - lgamma(a + 0.5)
    x = 1 / a
    y = x * x
    return 0.5 * log(pi * x) - x * (-1 / 8 + y * (1 / 192 + y * (-1 / 640 + y * (17 / 14336 - y * 31 / 18432))))


def _cornish_fisher(z: float, df: float) -> tuple[float, float]:
    """Student's quantile as a series in 1/df, and how large its last term is.

    The term that would come next is about (1 + z²)/df of the last.
    """
    t, factor, last, before = z, z, z, z
    for term in _terms(z):
        factor /= df
        before, last = last, term * factor
        t += last
    return t, max(abs(last), abs(before) * (1 + z * z) / df)  # a term may be 0 by chance


@lru_cache(maxsize=64)
def _terms(z: float) -> tuple[float, ...]:
    """The coefficients of z/df, z/df², …: Abramowitz and Stegun (1964), 26.7.5, with three more.

    They solve t″(1 + t²/df) + z·t′(1 + t²/df) = (1 + 1/df)·t·t′², which says that t(z) has Student's distribution.
    """
    y = z * z
    polynomials = (
        (4, 1, 1),
        (96, 5, 16, 3),
        (384, 3, 19, 17, -15),
        (92160, 79, 776, 1482, -1920, -945),
        (122880, 9, 113, 310, -594, -255, 5985),
        (185794560, 1065, 15448, 48821, -82440, 616707, 6667920, 2463615),
        (743178240, 339, 6891, 41107, 113891, 1086849, 5639193, -18226215, -111486375),
    )
    return tuple(sum(c * y ** (len(cs) - 1 - i) for i, c in enumerate(cs)) / d for d, *cs in polynomials)
