"""Calibrate `summarize`: does the interval of one system's mean hold the true mean?

The system's units are the population. 0/1 scores are smoothed as pairs are (`worlds`): an answer is replaced by a coin
with the probability 1/(n + 1), so that the true share is (right + ½)/(n + 1) and never 0 or 1.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from assay.analyses.calibrate.comparing import METHODS, MOST_STUDENTIZED, alternatives, side
from assay.analyses.calibrate.pairs import TOO_SLOW
from assay.analyses.calibrate.result import SimulatedWorld
from assay.analyses.calibrate.simulation import Draws, simulated
from assay.analyses.calibrate.studies import YOURS, Evidence, Setup, Studied, data_like, facts_of
from assay.analyses.calibrate.tallies import coverages
from assay.analyses.calibrate.worlds import Generator, bare_panel, drawn_again, members_of
from assay.analyses.contrast import check_clusters
from assay.analyses.summarize import summarize_panel
from assay.data import Panel
from assay.data.sources import panel_as_asked, read_sources
from assay.design import Design
from assay.errors import InputError, UsageError
from assay.names import listed
from assay.stats.records import Interval
from assay.stats.units import Integers


@dataclass(frozen=True, eq=False)
class OwnScores:
    """The units of one system, each of which may be drawn any number of times."""

    panel: Panel
    coins: float  # the chance that a 0/1 answer is replaced by a coin
    members: tuple[Integers, ...] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, panel: Panel) -> "OwnScores":
        drawn = panel.n if panel.n_clusters is None else panel.n_clusters
        if drawn < 2 or (not panel.binary and np.ptp(panel.values) <= 1e-12 * np.abs(panel.values).max()):
            what = "one unit" if drawn < 2 else "the same value everywhere"
            raise InputError(f"calibrate needs units that vary, but there is {what}; give more results.")
        bare = bare_panel(panel)
        return cls(bare, 1 / (panel.n + 1) if panel.binary else 0.0, members_of(bare))

    @cached_property
    def truth(self) -> float:
        mean = float(self.panel.numerators[:, 0].sum() / self.panel.denominators.sum())
        return (1 - self.coins) * mean + self.coins / 2

    def draw(self, rng: Generator) -> Panel:
        found = drawn_again(self.panel, self.members, rng)
        if not self.coins:
            return found
        place = rng.random(found.n) / self.coins
        right = np.where(place < 0.5, 1.0, np.where(place < 1, 0.0, found.values[:, 0]))
        return found.with_numerators((right * found.denominators)[:, None])


@dataclass(frozen=True, slots=True)
class SummaryTrial:
    """One simulated summary by every design."""

    world: OwnScores
    designs: tuple[Design, ...]

    def once(self, draws: Draws) -> list[float]:
        """As of comparisons, without verdicts; where there is no spread and no interval, the truth is missed."""
        panel, row = self.world.draw(draws.generator()), list[float]()
        for design in self.designs:
            found = summarize_panel(panel, design).models[0].value
            assert found.value is not None  # there are units
            limits = found.interval or Interval(found.value, found.value, design.level, "degenerate")
            row += [side(limits, self.world.truth), limits.high - limits.low, 0.0, 0.0, METHODS.index(limits.method)]
        return row


def calibrated(evidence: Evidence, setup: Setup) -> Studied:
    """How often `summarize` holds the true mean of a system."""
    used = Design(method=setup.design.method, level=setup.design.level, seed=setup.design.seed)
    if used != replace(setup.design, resamples=None):
        raise UsageError("summarize takes the method, level, resamples and seed of a design; leave out the rest.")
    panel = _one(evidence)
    world = OwnScores.of(panel)
    drawn = panel.n_clusters or panel.n
    names = (setup.design.method, *alternatives(setup.design, drawn))
    trial = SummaryTrial(world, tuple(replace(setup.design, method=name) for name in names))
    rows = simulated(trial, setup.simulations, seed=setup.seed, purpose="summarize", engine=setup.engine)
    methods = coverages(rows, names, verdicts=False)
    about = data_like(panel)
    made = SimulatedWorld(name=YOURS, about=about, truth=world.truth, null=None, methods=methods, **facts_of(panel))
    slow = (TOO_SLOW,) if drawn > MOST_STUDENTIZED else ()
    return Studied((made,), panel.systems, (*panel.notes, *slow), panel.digest)


def _one(evidence: Evidence) -> Panel:
    """The only system, on the units that it answered."""
    asked, sources = evidence.asked, evidence.sources
    how: dict[str, Any] = {"cluster": asked.cluster, "split": asked.split, "lower_is_better": asked.lower_is_better}
    if isinstance(sources[0], Panel):
        panel = panel_as_asked(sources[0], columns=asked.columns, selection=asked.selection, **how)
    else:
        tables = read_sources(sources, columns=asked.columns, cluster=asked.cluster, selection=asked.selection)
        panel = Panel.from_tables(tables, **how)
    panel = panel.averaged()
    chosen = asked.models[0]
    if chosen is not None and chosen not in panel.systems:
        raise InputError(f"no model is called {chosen!r}, only {listed(panel.systems)}.")
    if chosen is None and panel.k > 1:
        raise UsageError(f"summarize one model, but got {listed(panel.systems)}; choose with `models=('NAME', None)`.")
    panel = panel.of_systems([0 if chosen is None else panel.systems.index(chosen)]).complete()
    check_clusters(panel, asked.cluster)
    return panel
