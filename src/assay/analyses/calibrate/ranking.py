"""Calibrate `rank`: how often are equal models told apart, and does the interval of the best one hold?

Models are made equal by shifting each to the same mean; where answers are 0/1, or where two models often agree to the
last digit, the answers to a unit are dealt to the models at random instead (to all units of a cluster alike), so that
scores stay what they are and ties stay ties.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from assay.analyses.calibrate.result import Null, SimulatedWorld
from assay.analyses.calibrate.simulation import Draws, simulated
from assay.analyses.calibrate.studies import YOURS, Adjustment, Evidence, Setup, Studied, data_like, facts_of
from assay.analyses.calibrate.tallies import rate
from assay.analyses.calibrate.worlds import Generator, bare_panel, drawn_again, members_of
from assay.analyses.rank import check_board, check_design
from assay.analyses.rank.models import board_panel, pooled, without_rounding
from assay.analyses.rank.pairs import PairDecisions, check_adjust, decide
from assay.data import Panel
from assay.design import Design
from assay.stats.ranking import Fitted, fitted
from assay.stats.ranking.winner import winner
from assay.stats.units import Floats, Integers

_TIES = 0.05  # of the answers of two models: with more, shifting models would do away with them


@dataclass(frozen=True, eq=False)
class OwnModels:
    """The models on the user's units, each of which may be drawn any number of times."""

    panel: Panel
    dealt: bool = False  # answers go to models at random
    members: tuple[Integers, ...] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, panel: Panel) -> "OwnModels":
        bare = bare_panel(panel)
        return cls(bare, members=members_of(bare))

    @property
    def keeps_ties(self) -> bool:
        """Whether equal models must be made by dealing answers out."""
        values = self.panel.values
        i, j = np.triu_indices(self.panel.k, 1)
        return self.panel.binary or float((values[:, i] == values[:, j]).mean()) > _TIES

    def equal(self) -> "OwnModels":
        """The same with models that are all as good."""
        if self.keeps_ties:
            return replace(self, dealt=True)
        means = fitted(self.panel.grid).estimates
        shift = (means.mean() - means) * self.panel.denominators[:, None]
        return replace(self, panel=self.panel.with_numerators(self.panel.numerators + shift))

    @cached_property
    def truth(self) -> Floats:
        """(k,) The true mean of each model."""
        means = fitted(self.panel.grid).estimates
        return np.full(len(means), means.mean()) if self.dealt else means

    def draw(self, rng: Generator) -> Panel:
        found = drawn_again(self.panel, self.members, rng)
        if not self.dealt:
            return found
        codes = np.arange(found.n) if found.clusters is None else found.clusters
        order = np.argsort(rng.random((int(codes.max()) + 1, found.k)), axis=1)[codes]
        return found.with_numerators(np.take_along_axis(found.numerators, order, axis=1))


@dataclass(frozen=True, slots=True)
class RankTrial:
    """One simulated leaderboard of equal models, and one of the models as they are."""

    equal: OwnModels
    as_they_are: OwnModels
    design: Design
    adjust: Adjustment

    def once(self, draws: Draws) -> list[float]:
        """Equal models: is a pair told apart, do the intervals of all pairs hold, does the top's; then as they are."""
        panel, truth = self.equal.draw(draws.generator()), self.equal.truth
        decided, found = self._board(panel)
        row = [float(decided.better.any()), _all_hold(decided, truth), self._top(panel, found, truth)]
        panel, truth = self.as_they_are.draw(draws.generator()), self.as_they_are.truth
        decided, found = self._board(panel)
        return [*row, _all_hold(decided, truth), self._top(panel, found, truth)]

    def _board(self, panel: Panel) -> tuple[PairDecisions, Fitted]:
        lower, scores = panel.metric.lower_is_better, panel.metric.kind == "scores"
        grid = without_rounding(panel).grid
        found = fitted(grid)
        return decide(grid, found, self.design, self.adjust, lower_is_better=lower, scores=scores), found

    def _top(self, panel: Panel, found: Fitted, truth: Floats) -> float:
        """Whether the interval of the top score holds that model's true score."""
        sign = -1.0 if panel.metric.lower_is_better else 1.0
        first = int(np.argmax(sign * found.estimates))
        bounded = panel.metric.kind == "scores" and panel.grid.shares
        lower = panel.metric.lower_is_better
        top = winner(panel.grid, found, first, self.design.level, bounded=bounded, lower_is_better=lower)
        near = 1e-9 * (top.high - top.low)
        return float(top.low - near <= sign * truth[first] <= top.high + near)


def _all_hold(decided: PairDecisions, truth: Floats) -> float:
    """Whether the intervals of all pairs hold the true differences; NaN where they are not for all pairs at once."""
    if decided.family is None and len(decided.low) > 1:
        return float("nan")
    i, j = decided.pairs.index
    true, near = truth[i] - truth[j], 1e-9 * np.nan_to_num(decided.high - decided.low) + 1e-12
    known = ~np.isnan(decided.low)
    held = (decided.low - near <= true) & (true <= decided.high + near)
    return float(held[known].all())


def calibrated(evidence: Evidence, setup: Setup) -> Studied:
    """How often `rank` tells equal models apart."""
    check_design(setup.design)
    check_adjust(setup.adjust, setup.design)
    asked = evidence.asked
    panel = board_panel(
        evidence.sources,
        names=None,
        columns=asked.columns,
        selection=asked.selection,
        missing=asked.missing,
        cluster=asked.cluster,
        split=asked.split,
        lower_is_better=asked.lower_is_better,
    )
    panel = pooled(panel)
    check_board(panel)
    world = OwnModels.of(panel)
    equal = world.equal()
    trial = RankTrial(equal, world, setup.design, setup.adjust)
    rows = simulated(trial, setup.simulations, seed=setup.seed, purpose="rank", engine=setup.engine)
    alpha, level = 1 - setup.design.level, setup.design.level
    promised = ("at most", alpha) if setup.adjust in ("holm", "max-t") or panel.k == 2 else (None, None)
    rates = [
        rate("false_claims", "equal models told apart", rows[:, 0], *promised),
        rate("equal_pairs", "intervals of all pairs hold, equal models", rows[:, 1], "at least", level, told=False),
        rate("equal_top", "interval of the top score holds, equal models", rows[:, 2], "at least", level),
        rate("pairs", "intervals of all pairs hold, models as they are", rows[:, 3], "at least", level, told=False),
        rate("top", "interval of the top score holds, models as they are", rows[:, 4], "at least", level, told=False),
    ]
    null: Null = "permuted" if equal.dealt else "recentred"
    made = SimulatedWorld(
        name=YOURS,
        about=data_like(panel).replace("(", f"({panel.k} models, "),
        truth=None,
        null=null,
        rates=tuple(one for one in rates if one.found.value is not None),
        **(facts_of(panel) | {"equal": None}),
    )
    return Studied((made,), panel.systems, panel.notes, panel.digest)
