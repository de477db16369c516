"""The mean of √JSD without sampling noise, by inverting its expectation with noise.

Let J be the true divergence of a prediction, Ĵ that of a sample of n. Near J = 0 as far from it, Ĵ is close to
s·χ²_ν(J/s), a scaled non-central χ² whose scale s and degrees of freedom ν are those that give Ĵ its mean J + e and its
variance (`assay.stats.survey`): e = s·ν and Var Ĵ = 2·s·e + 4·s·J. For a prediction that is nearly right
these are s = 1/(8 n ln 2) and ν = k − 1. With λ = J/s,

    E √(Ĵ/s) = √2 Γ((ν + 1)/2)/Γ(ν/2) · ₁F₁(−½; ν/2; −λ/2).

The J of many questions differ. They are taken to be gamma distributed with mean μ and shape a, so that their mean root
is c(a)·√μ with c = Γ(a + ½)/(Γ(a)·√a). Then the mean of the measured roots has a known expectation R(μ), rising in μ,
and a known standard error σ(μ). The estimate of μ is where R(μ) is the measured mean; the limits are where it lies
z·σ(μ) above or below R(μ): the values of μ that a test would not refuse. That needs no linearisation, so it holds for
a prediction without error too, where the estimate of μ is 0 half of the time.

The shape is estimated from the variance of Ĵ that noise does not explain, around 1 where nothing is known. A gamma
distribution with a few large divergences has many near 0. That need not be so: a predictor that knows nothing of
segments is far off for a few, and a little off for all. A log-normal distribution of the same variance has none near 0,
so limits are those of either family, whichever reaches further.

References: Johnson, Kotz and Balakrishnan (1995), *Continuous univariate distributions* 2, chapter 29, for the root of
a non-central χ²; Efron (2016), *Empirical Bayes deconvolution estimates*.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import exp, lgamma, log, sqrt
from typing import Literal

import numpy as np

from assay.stats.survey import divergence, sampling_moments
from assay.stats.units import Floats, Integers

SpreadFamily = Literal["gamma", "log-normal"]

_NODES = 40  # of the quadrature over the gamma distribution
_LARGE = 400.0  # λ from which on the root is a series


def mean_root_ratio(shape: float) -> float:
    """c(a): the mean of the root over the root of the mean, of a gamma distribution.

    >>> round(mean_root_ratio(0.5) ** 2, 6) == round(2 / 3.141592653589793, 6)
    True
    """
    return exp(lgamma(shape + 0.5) - lgamma(shape)) / sqrt(shape)


def chi_root(freedom: Floats, centre: Floats) -> Floats:
    """E √X of a non-central χ² with these degrees of freedom and this λ."""
    from scipy.special import gammaln, hyp1f1  # late

    freedom, centre = np.broadcast_arrays(freedom, centre)
    large = centre > _LARGE * np.maximum(freedom, 1.0)
    some = np.where(large, 1.0, centre)
    front = np.sqrt(2.0) * np.exp(gammaln((freedom + 1) / 2) - gammaln(freedom / 2))
    exact = front * hyp1f1(-0.5, freedom / 2, -some / 2)
    many = np.where(large, centre, 1.0)
    series = np.sqrt(many) * (1 + (freedom - 1) / (2 * many) * (1 + (3 - freedom) / (4 * many)))
    return np.asarray(np.where(large, series, exact))


@dataclass(frozen=True, eq=False)
class SamplingNoise:
    """What sampling does to the divergences of R answers."""

    excess: Floats  # (R,) E Ĵ − J
    variance: Floats  # (R,) Var Ĵ
    scale: Floats  # (R,) s
    freedom: Floats  # (R,) ν
    doubt: Floats  # (R,) by what part the variance may be wrong: the terms of higher order in 1/n


def noise_of(p: Floats, q: Floats, n: Integers) -> SamplingNoise:
    """The sampling noise of predictions q (R, K) of shares p (R, K) measured with n people."""
    excess, variance = sampling_moments(p, q, n)
    scale = variance / np.maximum(2 * excess + 4 * divergence(p, q, floor=0.0), _TINY)
    scale = np.maximum(scale, _TINY)
    freedom = np.clip(excess / scale, _FREEDOMS[0], _FREEDOMS[-1])
    return SamplingNoise(excess, variance, scale, freedom, np.minimum(0.25, 6.0 / n))


_TINY = 1e-9


def single_divergence(measured: Floats, noise: SamplingNoise, chance: float) -> Floats:
    """(R,) The true divergence J of each answer for which P(Ĵ ≤ measured) is ``chance``; 0 where none is so small.

    Ĵ/s is non-central χ² with ν degrees of freedom and λ = J/s. At ½ this is the median-unbiased estimate of a single
    J; at (1 ± level)/2 it gives the limits of the J that a two-sided test does not refuse. Nothing is assumed about
    the other answers.
    """
    from scipy.special import chndtr, chndtrinc  # late

    value = np.maximum(measured, 0.0) / noise.scale
    found = np.zeros(len(value))
    some = np.flatnonzero(chndtr(value, noise.freedom, 0.0) > chance)
    found[some] = chndtrinc(value[some], noise.freedom[some], chance)
    return np.asarray(np.minimum(found * noise.scale, 1.0))


# ------------------------------------------------------------------------------------- how divergences are spread


@dataclass(frozen=True, eq=False)
class TrueSpread:
    """The gamma distribution of the true divergences of a model: J of answer r has mean μ·relative[r]."""

    shape: float
    log_error: float  # standard error of log(shape)
    relative: Floats  # (R,)


_USUAL, _USUAL_ERROR = log(1.2), 0.6  # log(a) of errors in two to five options, and how far models may be from it
_SHAPES = np.log(np.geomspace(0.3, 6.0, 61))
_KURTOSIS = 10.0  # Var x² / (Var x)² of a few degrees of freedom
_UNLIKE = 0.1  # of 1/a: no distribution is just a gamma one
_BINS, _PER_BIN = 8, 30
_LEAST_RELATIVE = 0.02


def spread_of(jsd: Floats, noise: SamplingNoise, n: Integers, weights: Floats) -> TrueSpread:
    """The spread of true divergences, from measured ones (R,) less their excess; weights (R,) sum to 1.

    Where the excess is large (many options, rare ones) true divergences are usually larger as well, which would look
    like less noise: the mean of J may depend on the excess, in up to eight steps.
    """
    mean = float(weights @ jsd)
    if not mean > 0:
        return TrueSpread(exp(_USUAL), _USUAL_ERROR, np.ones(len(jsd)))
    relative = _relative(jsd, noise, noise.excess * n, weights, mean)
    square = mean**2 * float(weights @ relative**2)
    at_mean = 2 * noise.scale * noise.excess + 4 * noise.scale * mean * relative
    own = 2 * noise.scale * noise.excess + 4 * noise.scale * jsd
    share = float(weights @ ((jsd - mean * relative) ** 2 - own)) / square  # 1/a
    error = _KURTOSIS * float((weights * at_mean) @ (weights * at_mean)) + float(weights @ (noise.doubt * at_mean)) ** 2
    fit = (share - np.exp(-_SHAPES)) ** 2 / (error / square**2 + _UNLIKE**2) + ((_SHAPES - _USUAL) / _USUAL_ERROR) ** 2
    chance = np.exp(-(fit - fit.min()) / 2)
    chance /= chance.sum()
    centre = float(chance @ _SHAPES)
    return TrueSpread(exp(centre), sqrt(float(chance @ (_SHAPES - centre) ** 2)), relative)


def _relative(jsd: Floats, noise: SamplingNoise, size: Floats, weights: Floats, mean: float) -> Floats:
    """(R,) Mean divergence of answers whose excess is of like size, drawn towards 1 as far as noise explains it."""
    place = np.argsort(np.argsort(size, kind="stable"), kind="stable")
    bins = int(np.clip(len(size) // _PER_BIN, 1, _BINS))
    codes = place * bins // len(size)
    share, sums, errors = (np.bincount(codes, v, bins) for v in (weights, weights * jsd, weights**2 * noise.variance))
    there = np.maximum(share, 1e-300)
    error = errors / there**2
    off = sums / there - mean
    between = max(float(share @ (off**2 - error)), 0.0)
    kept = np.divide(between, between + error, out=np.zeros(bins), where=between + error > 0)
    relative = np.maximum(1 + kept * off / mean, _LEAST_RELATIVE)[codes]
    return np.asarray(relative / float(weights @ relative))


# ------------------------------------------------------------------------------------------- what roots to expect


@dataclass(frozen=True, eq=False)
class RootTable:
    """Mean and variance of √X, X non-central χ² whose λ is gamma distributed; the variance is that within a λ."""

    ratio: float  # mean of √λ over the root of the mean of λ
    means: Floats  # (freedoms · centres,) over √(ν + λ)
    variances: Floats

    def at(self, freedom: Floats, centre: Floats) -> tuple[Floats, Floats]:
        """Mean and variance at these degrees of freedom and mean λ (·, R)."""
        row, across = _place(np.log(freedom), _LOG_FREEDOMS)
        column, along = _place(np.log(np.clip(centre, _BELOW, _CENTRES[-1])), _LOG_CENTRES)
        flat = row * len(_CENTRES) + column
        mean, variance = (_mixed(part, flat, across, along) for part in (self.means, self.variances))
        return mean * np.sqrt(freedom + centre), variance


_FREEDOMS = np.geomspace(0.25, 64.0, 41)
_CENTRES = np.concatenate([[0.0], np.geomspace(0.02, 1e5, 87)])
_BELOW = _CENTRES[1] / 8  # what is less counts as 0
_LOG_FREEDOMS = np.log(_FREEDOMS)
_LOG_CENTRES = np.concatenate([[log(_BELOW)], np.log(_CENTRES[1:])])


def _place(values: Floats, grid: Floats) -> tuple[Integers, Floats]:
    """The grid interval that a value is in, and how far into it; grids are even but for their first step."""
    step = grid[2] - grid[1]
    low = np.clip((1 + (values - grid[1]) / step).astype(np.int64), 0, len(grid) - 2)
    low[values < grid[1]] = 0
    return low, np.asarray((values - grid[low]) / (grid[low + 1] - grid[low]))


def _mixed(table: Floats, flat: Integers, across: Floats, along: Floats) -> Floats:
    first = table[flat] + along * (table[flat + 1] - table[flat])
    below = flat + len(_CENTRES)
    second = table[below] + along * (table[below + 1] - table[below])
    return np.asarray(first + across * (second - first))


_STEPS = 2  # tables for every doubling of the shape


def root_table(shape: float, family: SpreadFamily = "gamma") -> RootTable:
    """The table of a shape, between those of two others; a log-normal distribution has the variance of that shape."""
    at = log(shape) / log(2) * _STEPS
    low = int(np.floor(at))
    one, two = _root_table(low, family), _root_table(low + 1, family)
    share = at - low
    return RootTable(
        one.ratio + share * (two.ratio - one.ratio),
        one.means + share * (two.means - one.means),
        one.variances + share * (two.variances - one.variances),
    )


@lru_cache(maxsize=32)
def _root_table(step: int, family: SpreadFamily) -> RootTable:
    from scipy.special import gammaincinv, ndtr, ndtri  # late

    shape = 2.0 ** (step / _STEPS)
    # the nodes are the middles of parts that are cut finer at both ends
    edges = (1 - np.cos(np.pi * np.arange(_NODES + 1) / _NODES)) / 2
    weights = np.diff(edges)
    middles = (edges[1:] + edges[:-1]) / 2
    if family == "gamma":
        nodes = gammaincinv(shape, middles) / shape
    else:  # the mean of each part, for the last one is wide
        nodes = np.diff(ndtr(ndtri(edges) - sqrt(log(1 + 1 / shape)))) / weights
    nodes = nodes / (weights @ nodes)
    roots = chi_root(_FREEDOMS[:, None, None], _CENTRES[None, :, None] * nodes)
    mean = (roots @ weights) / np.sqrt(_FREEDOMS[:, None] + _CENTRES)
    within = np.maximum(_FREEDOMS[:, None] + _CENTRES - (roots**2) @ weights, 0.0)
    return RootTable(float(weights @ np.sqrt(nodes)), mean.ravel(), within.ravel())


# --------------------------------------------------------------------------------------------------- the inversion

#: Roots of the mean divergence μ that are tried; what is between them is interpolated.
GRID = np.concatenate([[0.0], np.geomspace(0.003, 1.2, 45)])


@dataclass(frozen=True, eq=False)
class ExpectedRoots:
    """The mean measured root of some answers that a root of μ would give, and its standard error."""

    expected: Floats  # (grid,)
    error: Floats  # (grid,)
    slope: float  # the true mean root for √μ = 1

    def root_of(self, root: float, reach: float = 0.0) -> float:
        """√μ for which the measured mean root is what is expected less ``reach`` standard errors."""
        return float(np.interp(root, np.maximum.accumulate(self.expected + reach * self.error), GRID))

    def solved(self, root: float, reach: float = 0.0) -> float:
        """The true mean root for that √μ."""
        return self.slope * self.root_of(root, reach)

    def error_at(self, root: float) -> float:
        """The standard error of the measured mean root."""
        return float(np.interp(self.root_of(root), GRID, self.error))

    def amplified(self, root: float) -> float:
        """By how much a change of the measured mean root changes the true one: over two standard errors both ways."""
        step = 2 * max(self.error_at(root), _TINY)
        return (self.solved(root + step) - self.solved(root - step)) / (2 * step)
