"""What every calibrated verb shares: how it is asked, what it gives, and what simulated data are called."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assay.analyses.calibrate.result import SimulatedWorld
from assay.analyses.calibrate.scenarios import BUILT_IN, BuiltIn, built_in
from assay.analyses.compare.reading import Asked
from assay.data import Panel
from assay.data.sources import Source
from assay.design import Design, Policy
from assay.engines import LOCAL, Engine
from assay.errors import UsageError
from assay.results import words

YOURS = "your data"

Adjustment = Literal["holm", "bh", "max-t", "none"]


@dataclass(frozen=True, slots=True)
class Setup:
    """How to simulate."""

    design: Design
    simulations: int
    seed: int = 0
    engine: Engine = LOCAL
    scenario: str | None = None
    adjust: Adjustment = "holm"  # of rank
    policy: Policy = field(default_factory=Policy)  # of certify


@dataclass(frozen=True, slots=True)
class Studied:
    """What came of it."""

    worlds: tuple[SimulatedWorld, ...]
    systems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    data: str | None = None  # the digest of the data
    simulations: int | None = None  # where that is not what was asked for


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was given to simulate from."""

    sources: Sequence[Source | Panel]
    asked: Asked

    def two(self, verb: str) -> Panel | None:
        """The two systems on the units that both have; ``None`` where nothing was given."""
        if not self.sources:
            return None
        if len(self.sources) > 2:
            raise UsageError(
                f"calibrate takes two sources for {verb}, or one that holds both, but got {len(self.sources)}."
            )
        b = self.sources[1] if len(self.sources) == 2 else None
        if isinstance(b, Panel):
            raise UsageError("a panel holds both systems: give it alone.")
        panel, _ = self.asked.two(self.sources[0], b)
        return panel


def scenarios_of(setup: Setup) -> list[BuiltIn]:
    """The built-in scenarios that were asked for: one, or all."""
    return list(BUILT_IN.values()) if setup.scenario is None else [built_in(setup.scenario)]


def data_like(panel: Panel) -> str:
    """What is simulated from, in a few words."""
    found = words.count(panel.n, panel.unit)
    if panel.n_clusters is not None:
        found += f" in {words.count(panel.n_clusters, 'cluster')}"
    return f"data like these ({found})"


def facts_of(panel: Panel) -> dict[str, Any]:
    """The fields of a simulated world that a panel has."""
    substance = panel.substance()
    equal = None if substance.differing is None else 1 - substance.differing / panel.n
    return {
        "unit": panel.unit,
        "n": panel.n,
        "n_clusters": panel.n_clusters,
        "effective": substance.effective,
        "equal": equal,
    }


def facts_of_scenario(scenario: BuiltIn) -> dict[str, Any]:
    """The fields of a simulated world that a built-in scenario has."""
    return {
        "name": scenario.name,
        "about": scenario.label,
        "unit": "item" if scenario.binary else "window",
        "n": scenario.n,
        "n_clusters": scenario.clusters,
        "effective": None,
        "equal": scenario.equal,
        "truth": scenario.truth,
        "null": "swapped" if scenario.binary else "shifted",
    }
