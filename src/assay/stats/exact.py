"""The bootstrap with infinitely many resamples: no random numbers, no seed.

For draws with replacement, P(R ≤ x) = P(Σ Nᵢ(numᵢ − x·denᵢ) ≤ 0), and the characteristic function of that sum is a
power, ψ(u) = (Σ pᵢ exp(iu yᵢ))ⁿ. A short Fourier series of it is the distribution function (`assay.stats.fourier`).

Where that is not exact, this module knows it. A handful of units is enumerated; lattice values (0/1 scores) are
convolved; and where ψ does not decay within the budget (a dominating outlier, mostly equal values) the distribution
is smoothed by a normal kernel whose width is recorded or, if that would be wider than 1 % of a standard error,
refused: the caller then resamples at random.
"""

from collections.abc import Sequence
from typing import Protocol

from assay.stats.atoms import convolved, enumerated, find_lattice
from assay.stats.fourier import invert
from assay.stats.units import Floats, Units

ENUMERATE_UP_TO = 8  # 6,435 resamples; more units are smooth enough to invert


class Distribution(Protocol):
    """The bootstrap distribution of an estimate, however it was computed."""

    @property
    def method(self) -> str: ...

    @property
    def note(self) -> str | None: ...

    def cdf(self, x: float) -> float: ...

    def quantiles(self, p: Sequence[float]) -> Floats: ...


def bootstrap_distribution(units: Units) -> Distribution | None:
    """The distribution of the estimate over all resamples; ``None`` where 1 % of a standard error is out of reach."""
    if units.n <= ENUMERATE_UP_TO:
        return enumerated(units)
    if units.equal_denominators:
        lattice = find_lattice(units.numerators)
        distribution = None if lattice is None else convolved(units, lattice)
        if distribution is not None:
            return distribution
    return invert(units)
