"""Calibrate `compare`: on two systems of the user, or on built-in scenarios."""

from dataclasses import replace

from assay.analyses.calibrate.comparing import MOST_STUDENTIZED, ComparisonTrial, alternatives
from assay.analyses.calibrate.result import MethodCoverage, Null, SimulatedWorld
from assay.analyses.calibrate.scenarios import BuiltIn
from assay.analyses.calibrate.simulation import simulated
from assay.analyses.calibrate.studies import (
    YOURS,
    Evidence,
    Setup,
    Studied,
    data_like,
    facts_of,
    facts_of_scenario,
    scenarios_of,
)
from assay.analyses.calibrate.tallies import coverages
from assay.analyses.calibrate.worlds import BuiltInPairs, OwnPairs, PairWorld
from assay.analyses.compare.reading import pooled
from assay.analyses.contrast import check_test

TOO_SLOW = f"the studentized interval is left out: with more than {MOST_STUDENTIZED:,} units it takes too long"


def calibrated(evidence: Evidence, setup: Setup) -> Studied:
    """How often `compare` holds the true difference, and claims one that is not there."""
    panel = evidence.two("compare")
    if panel is None:
        return Studied(tuple(_built_in(one, setup) for one in scenarios_of(setup)))
    panel = pooled(panel)
    plain = panel.binary and panel.clusters is None and panel.equal_denominators
    check_test(setup.design, plain=plain)
    world = OwnPairs.of(panel)
    found = _simulated(world, setup, drawn=panel.n_clusters or panel.n, purpose="compare")
    made = SimulatedWorld(
        name=YOURS,
        about=data_like(panel),
        truth=world.truth,
        null=_null(binary=panel.binary),
        methods=found,
        **facts_of(panel),
    )
    slow = (TOO_SLOW,) if (panel.n_clusters or panel.n) > MOST_STUDENTIZED else ()
    return Studied((made,), panel.systems, (*panel.notes, *slow), panel.digest)


def _built_in(scenario: BuiltIn, setup: Setup) -> SimulatedWorld:
    check_test(setup.design, plain=scenario.binary)
    world = BuiltInPairs.of(scenario)
    drawn = scenario.clusters or scenario.n
    found = _simulated(world, setup, drawn=drawn, purpose=f"compare {scenario.name}")
    return SimulatedWorld(**facts_of_scenario(scenario), methods=found)


def _null(*, binary: bool) -> Null:
    return "swapped" if binary else "shifted"


def _simulated(world: PairWorld, setup: Setup, *, drawn: int, purpose: str) -> tuple[MethodCoverage, ...]:
    design = setup.design
    names = (design.method, *alternatives(design, drawn))
    designs = tuple(replace(design, method=name) for name in names)
    trial = ComparisonTrial(world, world.without_difference(), designs)
    rows = simulated(trial, setup.simulations, seed=setup.seed, purpose=purpose, engine=setup.engine)
    return coverages(rows, names)
