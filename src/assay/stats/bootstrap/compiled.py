"""The exact interval of a plain mean in a few compiled passes: for those who compute thousands of them in one process.

The numbers are those of the numpy path to about 1e-8 standard errors. What the compiled passes do not cover (weights,
unequal denominators, ties, clumps, slow decay) is left to that path, by returning ``None``.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.stats.bootstrap import kernels
from assay.stats.bootstrap.characteristic import DECAYED, FINEST, WRAPPED
from assay.stats.numerics import normal_quantile
from assay.stats.units import Floats, Shape, Units, shape_from

_MOST_TERMS = 256


@dataclass(frozen=True, slots=True)
class CompiledSeries:
    """The bootstrap distribution of a mean, with what the jackknife says of it."""

    psi: NDArray[np.complex128]
    terms: int
    estimate: float
    error: float
    start: float
    period: float
    skewness: float
    shape: Shape

    method: ClassVar[str] = "characteristic function"
    note: ClassVar[None] = None

    def cdf(self, x: float) -> float:
        tau = (x - self.estimate) / self.error
        return float(kernels.series_cdf(self.psi, self.terms, self.start, self.period, tau)[0])

    def quantiles(self, p: "tuple[float, ...] | list[float]") -> Floats:
        return np.array([self.estimate + self.error * self._standard_quantile(q) for q in p])

    def _standard_quantile(self, p: float) -> float:
        z = normal_quantile(p)
        guess = z + self.skewness * (z * z - 1) / 6
        return float(kernels.series_quantile(self.psi, self.terms, self.start, self.period, guess, p))


def compiled_series(units: Units) -> CompiledSeries | None:
    """The series of a plain mean of many units, or ``None``: take the numpy path."""
    if units.probabilities is not None or units.n < 16 or not units.equal_denominators:
        return None
    psi = np.empty(_MOST_TERMS, dtype=np.complex128)
    found = kernels.mean_series(units.numerators, WRAPPED, DECAYED, FINEST, psi)
    terms, mean, error, start, period, third, fourth, sixth = found
    if not terms:
        return None
    den, form = float(units.denominators[0]), shape_from(third, fourth, sixth, units.n)
    return CompiledSeries(psi, terms, mean / den, error / den, start, period, third, form)
