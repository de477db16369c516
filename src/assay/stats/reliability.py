"""Agreement of repeated runs: intraclass correlations, variance components, standard deviations between runs.

A table of n targets × k raters is analysed as Shrout and Fleiss (1979) do; raters are runs here, and targets are the
items of one model or the overall scores of several. The F intervals are those of McGraw and Wong (1996). What is
undefined is ``None`` with a reason; a variance component may be estimated below 0, and is then shown as it is beside
the 0 that is used for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, inf, isfinite, prod, sqrt

import numpy as np

from assay.stats.numerics import SMALLEST_P, normal_quantile
from assay.stats.records import Estimate, Interval, Test
from assay.stats.units import Floats

ICC_NAMES = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")

_ROUNDING = 64 * float(np.finfo(np.float64).eps)

Factors = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MeanSquare:
    """A sum of squares over its degrees of freedom."""

    value: float
    df: int


def mean_squares(values: Floats) -> dict[Factors, MeanSquare]:
    """The mean square of every main effect and interaction of a full table, one value in a cell; keys are axes."""
    centred = values - values.mean()
    rounding = (_ROUNDING * float(np.abs(values).max())) ** 2 * values.size
    found = {}
    for size in range(1, values.ndim + 1):
        for axes in combinations(range(values.ndim), size):
            others = tuple(axis for axis in range(values.ndim) if axis not in axes)
            effect = centred.mean(axis=others, keepdims=True)
            for axis in axes:
                effect = effect - effect.mean(axis=axis, keepdims=True)
            total = float((effect * effect).sum()) * prod(values.shape[axis] for axis in others)
            df = prod(values.shape[axis] - 1 for axis in axes)
            found[axes] = MeanSquare(total / df if df and total > rounding else 0.0, df)
    return found


# ------------------------------------------------------------------------------------------ variance components


@dataclass(frozen=True, slots=True)
class Component:
    """The part of the variance of a single score that has one source."""

    source: str
    estimated: float  # by the mean squares; may be below 0
    variance: float  # what is used: 0 where the estimate is below
    share: float | None  # of the sum of all parts; None where nothing varies


def variance_components(values: Floats, factors: Sequence[str], *, repeats: str | None = None) -> tuple[Component, ...]:
    """Split the variance of a full table into its factors and their interactions, all random.

    With one value in a cell the highest interaction and the residual are one. With ``repeats``, the last axis holds
    repetitions of the same cell, so that the interaction is told apart from them; its name is that of the residual.
    """
    squares = mean_squares(values)
    crossed = tuple(range(len(factors)))
    noise = _pooled([square for axes, square in squares.items() if values.ndim - 1 in axes]) if repeats else 0.0
    found: dict[str, float] = {}
    for axes in (key for key in squares if set(key) <= set(crossed)):
        name = " × ".join(factors[axis] for axis in axes)
        above = [key for key in squares if set(axes) <= set(key) <= set(crossed)]
        total = sum((-1) ** (len(key) - len(axes)) * squares[key].value for key in above)
        if axes == crossed:
            total -= noise
            name = name if repeats else f"{name}, residual" if len(axes) == 2 else "residual"
        found[name] = total / prod(size for axis, size in enumerate(values.shape) if axis not in axes)
    if repeats:
        found[repeats] = noise
    return _shares(found)


def _pooled(squares: Sequence[MeanSquare]) -> float:
    return sum(square.value * square.df for square in squares) / sum(square.df for square in squares)


def _shares(estimated: Mapping[str, float]) -> tuple[Component, ...]:
    largest = max(map(abs, estimated.values()))
    found = {name: value if abs(value) > _ROUNDING * largest else 0.0 for name, value in estimated.items()}
    total = sum(max(value, 0.0) for value in found.values())
    return tuple(
        Component(name, value, max(value, 0.0), max(value, 0.0) / total if total > 0 else None)
        for name, value in found.items()
    )


# ------------------------------------------------------------------------------------------ intraclass correlation


@dataclass(frozen=True, slots=True)
class TwoWay:
    """The mean squares of n targets × k raters, under the names of Shrout and Fleiss."""

    n: int
    k: int
    between: float  # targets
    raters: float
    error: float  # targets × raters
    within: float  # raters and error together

    @classmethod
    def of(cls, values: Floats) -> "TwoWay":
        squares = mean_squares(values)
        within = _pooled([squares[1,], squares[0, 1]])
        n, k = values.shape
        return cls(n, k, squares[0,].value, squares[1,].value, squares[0, 1].value, within)


def intraclass(values: Floats, confidence_level: float = 0.95) -> dict[str, Estimate]:
    """The six intraclass correlations of (n, k) targets × raters, each with its F interval.

    ICC(1,·): every target has raters of its own. ICC(2,·): the raters are the same for all targets, and drawn at
    random; their shifts count as disagreement. ICC(3,·): likewise, and their shifts do not count. (·,1) is of a single
    rating, (·,k) of the mean of k.
    """
    n, k = values.shape
    if n < 2 or k < 2:
        reason = "one target: nothing to tell apart" if n < 2 else "one rater: nothing to agree with"
        return {name: Estimate(None, None, None, n, reason) for name in ICC_NAMES}
    table = TwoWay.of(values)
    if table.between == table.within == 0:
        return {name: Estimate(None, None, None, n, "all scores are equal") for name in ICC_NAMES}
    return dict(zip(ICC_NAMES, [*_single(table, confidence_level), *_average(table, confidence_level)], strict=True))


def _single(table: TwoWay, level: float) -> list[Estimate]:
    n, k = table.n, table.k
    two_way = table.between + (k - 1) * table.error
    return [
        _ratio(table, table.between - table.within, table.between + (k - 1) * table.within, _f_limits(table, 1, level)),
        _ratio(
            table,
            table.between - table.error,
            two_way + k * (table.raters - table.error) / n,
            _agreement_limits(table, level),
        ),
        _ratio(table, table.between - table.error, two_way, _f_limits(table, 3, level)),
    ]


def _average(table: TwoWay, level: float) -> list[Estimate]:
    n, between = table.n, table.between
    agreement = between + (table.raters - table.error) / n
    limits = [_f_limits(table, 1, level), _agreement_limits(table, level), _f_limits(table, 3, level)]
    stepped = [None if pair is None else _stepped_up(pair, table.k) for pair in limits]
    return [
        _ratio(table, between - table.within, between, stepped[0]),
        _ratio(table, between - table.error, agreement, stepped[1]),
        _ratio(table, between - table.error, between, stepped[2]),
    ]


def _ratio(table: TwoWay, top: float, bottom: float, limits: Interval | None) -> Estimate:
    if bottom <= 0:
        return Estimate(None, None, None, table.n, "targets differ less than the noise: the ratio has no meaning")
    if limits is None:
        why = "the runs agree to the last digit" if top == bottom else "targets differ too little for a finite limit"
        return Estimate(top / bottom, None, None, table.n, f"{why}, so there is no interval")
    return Estimate(top / bottom, limits, None, table.n)


def _f_limits(table: TwoWay, case: int, level: float) -> Interval | None:
    """Limits of ICC(1,1) or ICC(3,1); none where there is no noise."""
    n, k = table.n, table.k
    noise, df = (table.within, n * (k - 1)) if case == 1 else (table.error, (n - 1) * (k - 1))
    if noise == 0:
        return None
    upper, lower = _f_quantiles(n - 1, df, level)
    low = (table.between - upper * noise) / (table.between + (k - 1) * upper * noise)
    high = (lower * table.between - noise) / (lower * table.between + (k - 1) * noise)
    return _ordered(low, high, level)


def _agreement_limits(table: TwoWay, level: float) -> Interval | None:
    """Limits of ICC(2,1), with Satterthwaite's degrees of freedom (McGraw and Wong 1996, table 7)."""
    n, k, b, j, e = table.n, table.k, table.between, table.raters, table.error
    bottom = b + (k - 1) * e + k * (j - e) / n
    if (e == 0 and (b == 0 or j == 0)) or bottom <= 0:
        return None
    rho = (b - e) / bottom
    shift = k * rho * j
    rest = (n * (1 + (k - 1) * rho) - k * rho) * e
    spread = (n - 1) * shift**2 + rest**2
    if spread == 0:
        return None
    df = (n - 1) * (k - 1) * (shift + rest) ** 2 / spread
    upper, lower = _f_quantiles(n - 1, df, level) if df > 0 else (inf, inf)
    if not isfinite(upper + lower):  # next to no degrees of freedom
        return None
    mixed = k * j + (k * n - k - n) * e
    low = n * (b - upper * e) / (upper * mixed + n * b)
    high = n * (lower * b - e) / (mixed + n * lower * b)
    return _ordered(low, high, level)


def _ordered(low: float, high: float, level: float) -> Interval:
    """Where targets do not differ at all both limits are the same number, which rounding may turn around."""
    return Interval(min(low, high), max(low, high), level, "F")


def _f_quantiles(first: float, second: float, level: float) -> tuple[float, float]:
    """The upper quantile of F with these degrees of freedom, and that of F with them swapped."""
    from scipy.special import fdtri  # late: 0.3 s

    upper = 0.5 + level / 2
    return float(fdtri(first, second, upper)), float(fdtri(second, first, upper))


def _stepped_up(limits: Interval, k: int) -> Interval | None:
    """Spearman and Brown: from the reliability of one rating to that of the mean of k."""
    if 1 + (k - 1) * limits.low <= 0:
        return None
    low, high = (k * limit / (1 + (k - 1) * limit) for limit in (limits.low, limits.high))
    return Interval(low, high, limits.level, limits.method)


def run_effect(values: Floats) -> Test:
    """Test whether the means of the k raters differ by more than the error explains: F = raters / error."""
    table, name = TwoWay.of(values), "F"
    if table.error == 0:
        reason = "the runs are equal" if table.raters == 0 else "the runs differ by a constant only"
        return Test(name, None, None, table.n, reason)
    from scipy.special import fdtrc  # late

    statistic = table.raters / table.error
    p = float(fdtrc(table.k - 1, (table.n - 1) * (table.k - 1), statistic))
    return Test(name, statistic, max(p, SMALLEST_P), table.n)


# ------------------------------------------------------------------------------------------ standard deviations


def deviation(variance: float, df: float, confidence_level: float = 0.95) -> Estimate:
    """A standard deviation from a variance with so many degrees of freedom, with its χ² interval."""
    n = round(df) + 1
    if df < 1:
        return Estimate(None, None, None, n, "one value has no spread")
    if variance == 0:
        return Estimate(0.0, None, None, n, "all values are equal, so there is no interval")
    from scipy.special import chdtri  # late

    tail = 0.5 - confidence_level / 2
    low, high = (sqrt(df * variance / float(chdtri(df, p))) for p in (tail, 1 - tail))
    return Estimate(sqrt(variance), Interval(low, high, confidence_level, "chi-square"), None, n)


def variance_limits(values: Floats, confidence_level: float = 0.95) -> Interval:
    """Limits of the variance that values were drawn with, whatever their distribution (Bonett 2006).

    exp(log(c·s²) ± z·c·√((kurtosis − (n − 3)/n)/(n − 1))), c = n/(n − z), the kurtosis around a trimmed mean; for five
    values and fewer, χ².
    """
    n, variance = len(values), float(np.var(values, ddof=1))
    if n <= 5:
        found = deviation(variance, n - 1, confidence_level).interval
        assert found is not None
        return Interval(found.low**2, found.high**2, confidence_level, found.method)
    cut = int(n / (2 * sqrt(n - 4)))
    trimmed = float(np.sort(values)[cut : n - cut].mean())
    fourth = float(((values - trimmed) ** 4).sum()) * n / (variance * (n - 1)) ** 2
    z = normal_quantile(0.5 + confidence_level / 2)
    widen = n / (n - z)
    error = widen * sqrt(max(fourth - (n - 3) / n, 0.0) / (n - 1))
    low, high = (widen * variance * exp(sign * z * error) for sign in (-1, 1))
    return Interval(low, high, confidence_level, "Bonett")
