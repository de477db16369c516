"""An interval's own p-value: the smallest α at which it leaves out 0.

A BCa limit is read from the bootstrap distribution at Φ(z0 + (z0 ± z)/(1 − a(z0 ± z))). It touches 0 where that is
F(0), which is solved for z in closed form, and z for α. The same for the other intervals. F(0) = P(Σ Nᵢ·numᵢ ≤ 0) does
not depend on the denominators; where it is too small for the distribution to tell, it comes from the saddlepoint
approximation r* = w + log(u/w)/w (Barndorff-Nielsen 1991), whose relative error is about 1/n.
"""

from math import inf, log, sqrt

import numpy as np

from assay.stats.bootstrap.exact import BootstrapDistribution
from assay.stats.bootstrap.resampling import Replicates
from assay.stats.numerics import increasing_root, normal_cdf, normal_quantile, two_sided
from assay.stats.units import Floats, Shape, Units, standard_error

_RESOLVED = 1e-7  # of probability: what a Fourier series or a convolution can tell from 0
_BESIDE = 1e-11  # of the range of the values: beyond rounding, nearer than any atom


def bca_own_p(units: Units, form: Shape | None, method: str, distribution: BootstrapDistribution) -> float:
    """Of ``bca``, ``bca-plain`` and ``percentile`` intervals that are read from this distribution."""
    estimate = units.estimate
    if estimate == 0:
        return 1.0
    side = 1 if estimate > 0 else -1
    return own_p_at(
        side, _z_of_zero(units, distribution, side), units.n, form, method, normal_quantile(distribution.cdf(estimate))
    )


def own_p_at(side: int, z_of_zero: float, n: int, form: Shape | None, method: str, bias: float) -> float:
    """The same, from Φ⁻¹(F(0)) and Φ⁻¹(F(estimate)); ``side`` is the sign of the estimate."""
    percentile = min(1.0, 2 * normal_cdf(side * z_of_zero))
    if method == "percentile" or form is None or not abs(bias) < inf:
        return percentile
    trust = form.trust if method == "bca" else 1.0
    bias, acceleration = trust * bias, trust * form.acceleration
    gap = z_of_zero - bias
    if not abs(gap) < inf:
        return 0.0
    divisor = 1 + acceleration * gap
    if divisor <= 0:  # no z is large enough
        return 0.0
    z = side * (bias - gap / divisor)
    if z <= 0:
        return 1.0
    if method == "bca-plain":
        return float(two_sided(z, inf)[0])
    return float(two_sided(z / sqrt(n / (n - 1)), form.degrees_of_freedom)[0])


def t_own_p(units: Units) -> float:
    """Of R̂ ± t·se: Student's test."""
    error = standard_error(units)
    assert error is not None  # there are two units
    return float(two_sided(units.estimate / error, units.n - 1)[0])


def studentized_own_p(statistic: float, values: Floats) -> float:
    """Of R̂ − q·se: the share of the sorted studentized replicates (R* − R̂)/se* beyond R̂/se, twice."""
    share = float(np.interp(abs(statistic), np.sort(np.sign(statistic) * values), np.linspace(0, 1, len(values))))
    return min(1.0, 2 * (1 - share))


def _z_of_zero(units: Units, distribution: BootstrapDistribution, side: int) -> float:
    """Φ⁻¹ of the probability that a resample is on the other side of 0, or at 0."""
    least, most = units.extremes
    if side * (least if side > 0 else most) > 0:  # all units are on one side, and so is every resample
        return -side * inf
    beside = side * _BESIDE * (most - least)
    if isinstance(distribution, Replicates):  # whose limits are interpolated
        return normal_quantile(distribution.place_of(beside))
    below = distribution.cdf(beside)
    tail = below if side > 0 else 1 - below
    if tail > _RESOLVED or distribution.method == "enumeration":
        return normal_quantile(below)
    return -side * _far_from_zero(side * units.numerators, units.probabilities)


def _far_from_zero(values: Floats, probabilities: Floats | None) -> float:
    """The r with Φ(−r) = P(Σ of n draws ≤ 0), for values with a positive mean and a smallest one of 0 or less."""
    n, y = len(values), values / np.abs(values).max()
    share = np.full(n, 1 / n) if probabilities is None else probabilities
    if y.min() == 0:  # only draws of nothing but zeros are not above 0
        return _z_of_power(float(share[y == 0].sum()), n)

    def tilted(s: float) -> Floats:
        weight = share * np.exp(s * y - (s * y).max())
        return np.asarray(weight / weight.sum())

    s = increasing_root(lambda x: float((tilted(x) * y).sum()), -1.0, 1.0)
    weight = tilted(s)
    top = float((s * y).max())
    cumulant = top + log(float((share * np.exp(s * y - top)).sum()))  # of one draw, below 0
    mean = float((weight * y).sum())
    w = sqrt(-2 * n * cumulant)
    u = -s * sqrt(n * float((weight * (y - mean) ** 2).sum()))
    return w + log(u / w) / w


def _z_of_power(share: float, n: int) -> float:
    """The r with Φ(−r) = shareⁿ; where that underflows, by the tail's own approximation φ(r)/r."""
    log_p = n * log(share)
    if log_p > -700:
        return -normal_quantile(share**n)
    r = sqrt(-2 * log_p)
    for _ in range(4):
        r = sqrt(-2 * (log_p + log(r) + 0.5 * log(2 * np.pi)))
    return r
