"""How often a test rejects where there is no difference."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

from assay.stats.paired_tests import sign_flip, t_test, wilcoxon
from assay.stats.proportions import mcnemar_p
from assay.stats.units import Units
from benchmarks.simulation.scenarios import Scenario

NOMINAL = 0.05

PValue = Callable[[Units], float | None]

TESTS: dict[str, PValue] = {
    "sign-flip": lambda units: sign_flip(units.numerators)[0].p_value,
    "mcnemar": lambda units: float(
        mcnemar_p((units.numerators > 0).sum(), (units.numerators < 0).sum(), exact=True)[0]
    ),
    "t": lambda units: t_test(units).p_value,
    "wilcoxon": lambda units: wilcoxon(units.numerators / units.denominators).p_value,
}


@dataclass(frozen=True, slots=True)
class Size:
    """The share of simulations under the null hypothesis in which p ≤ 0.05."""

    simulations: int
    rejected: float

    @property
    def standard_error(self) -> float:
        """Binomial."""
        return sqrt(self.rejected * (1 - self.rejected) / self.simulations)


def size(scenario: Scenario, simulations: int) -> dict[str, Size]:
    """Size of every test that applies to the scenario's data: McNemar's is for 0/1 scores."""
    tests = {name: test for name, test in TESTS.items() if name != "mcnemar" or name in scenario.null_holds}
    rejections = dict.fromkeys(tests, 0)
    for simulation in range(simulations):
        units = scenario.null_sample(simulation)
        for name, test in tests.items():
            p = test(units)
            rejections[name] += p is not None and p <= NOMINAL
    return {name: Size(simulations, count / simulations) for name, count in rejections.items()}
