"""How often an interval holds the truth."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from assay.design import DESIGN_EFFECT_LIMIT
from assay.stats.bootstrap import interval
from assay.stats.records import IntervalName
from assay.stats.units import Units, design_effect, mean_of_draws
from assay.stats.which_interval import UnitFacts, interval_for
from benchmarks.simulation.scenarios import Scenario

NOMINAL = 0.95
STUDENTIZED_RESAMPLES = 999  # (999 + 1)·2.5 % is a whole number

WINDOWS: tuple[IntervalName, ...] = ("bca", "bca-plain", "percentile", "t", "studentized")
DEFAULT = "default (auto)"
TOKENS = "bca-plain, tokens"
METHODS: tuple[str, ...] = (DEFAULT, *WINDOWS, TOKENS)

Limits = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares of simulations in which the truth lay below, inside and above the interval."""

    simulations: int
    below: float
    above: float

    @property
    def inside(self) -> float:
        return 1 - self.below - self.above

    @property
    def standard_error(self) -> float:
        """Binomial."""
        return sqrt(self.inside * (1 - self.inside) / self.simulations)


def coverage(scenario: Scenario, simulations: int) -> dict[str, Coverage]:
    """Coverage of every method on one scenario."""
    misses = np.zeros((len(METHODS), 2), dtype=np.int64)  # truth below, truth above
    for simulation in range(simulations):
        found = all_limits(scenario.sample(simulation), simulation)
        for row, method in enumerate(METHODS):
            low, high = found[method]
            misses[row] += scenario.truth < low, scenario.truth > high
    shares = (misses / simulations).tolist()
    return {method: Coverage(simulations, *shares[row]) for row, method in enumerate(METHODS)}


def all_limits(units: Units, simulation: int) -> dict[str, Limits]:
    """The limits of every method on the same data; the default takes the scheme that the token counts ask for."""
    windows: dict[str, Limits] = {method: _limits(units, method, simulation) for method in WINDOWS}
    tokens, own = mean_of_draws(units), interval_for("auto", UnitFacts.of(units))
    nearly_equal = design_effect(units.denominators) <= DESIGN_EFFECT_LIMIT
    default = _limits(tokens if own == "bca" and nearly_equal else units, own, simulation)
    return {DEFAULT: default, **windows, TOKENS: _limits(tokens, "bca-plain", simulation)}


def _limits(units: Units, method: IntervalName, simulation: int) -> Limits:
    count = STUDENTIZED_RESAMPLES if method == "studentized" else None
    found = interval(units, method=method, confidence_level=NOMINAL, resamples=count, seed=simulation).interval
    return found.low, found.high
