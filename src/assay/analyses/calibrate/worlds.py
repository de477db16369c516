"""Where simulated pairs come from: the user's own, taken as a population whose truth is known, or a built-in scenario.

**Own data.** Units, or whole clusters, are drawn with replacement, each with the answers of all systems and its weight:
lengths keep their differences, clusters their inside. The truth is the population's own ratio of sums.

**No difference** is imposed on the pairs that differ, which are shifted until the ratio is 0: pairs without a
difference keep it, and skewness stays. 0/1 scores are swapped instead, by a coin for each unit or cluster.

**0/1 scores are smoothed.** A sample without a discordant pair would make a population in which nothing ever differs.
Each drawn pair is therefore replaced, with the probability 1.5/(n + 1.5), by a made-up one: only A right, only B right,
or both alike, a third each. The shares of the three are then those of Jeffreys' prior, (count + ½)/(n + 1.5).
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from assay.analyses.calibrate.scenarios import CLUSTER, BuiltIn
from assay.data import Kind, Panel
from assay.data.tables import Labels
from assay.errors import InputError
from assay.stats.units import Floats, Integers, Truths

Generator = np.random.Generator

_PSEUDO = 1.5  # pairs: half of each of three kinds
_LOSS = 3.0  # of A, in built-in scenarios of losses; only differences matter


class PairWorld(Protocol):
    """Where pairs are drawn from, and the true difference B − A of what is drawn."""

    @property
    def truth(self) -> float: ...

    def draw(self, rng: Generator) -> Panel:
        """The two systems on as many units as the user has."""
        ...

    def without_difference(self) -> "PairWorld":
        """The same with a true difference of 0."""
        ...

    def with_difference(self, wanted: float) -> "PairWorld":
        """The same with this true difference, all units shifted alike."""
        ...


# ----------------------------------------------------------------------------------------------------- 0/1 answers


@dataclass(frozen=True, slots=True)
class Answers:
    """What happens to pairs of 0/1 answers after they have been drawn."""

    made_up: float = 0.0  # the chance that a pair is replaced
    swapped: bool = False  # a coin for each unit or cluster says which system is which
    lost: float = 0.0  # the chance that a right answer of B becomes wrong
    gained: float = 0.0  # and that a wrong one becomes right

    def given(self, panel: Panel, rng: Generator) -> Panel:
        """The panel with its answers changed."""
        weights = panel.denominators[:, None]
        right = panel.numerators > 0
        if self.made_up:
            right = _with_made_up(right, rng.random(panel.n) / self.made_up)
        if self.swapped:
            codes = np.arange(panel.n) if panel.clusters is None else panel.clusters
            turned = (rng.random(int(codes.max()) + 1) < 0.5)[codes]
            right = np.where(turned[:, None], right[:, ::-1], right)
        if self.lost or self.gained:
            chance = rng.random(panel.n)
            right[:, 1] = np.where(right[:, 1], chance >= self.lost, chance < self.gained)
        return panel.with_numerators(np.where(right, weights, 0.0))


def _with_made_up(right: Truths, place: Floats) -> Truths:
    """(n, 2) Pairs whose place is below 1 replaced: only A right, only B right, B as A."""
    found = right.copy()
    third = np.floor(3 * place)  # 0, 1, 2: made up
    found[third == 0] = True, False
    found[third == 1] = False, True
    found[third == 2, 1] = found[third == 2, 0]
    return found


def _moved(answers: Answers, mean: float, by: float) -> Answers:
    """Change the mean of B, which is ``mean``, by so much."""
    room = mean if by < 0 else 1 - mean
    if by and abs(by) > room:
        raise InputError(
            f"a difference as large as the limit cannot be imposed: {abs(by):.3g} of the items would have to change, "
            f"and only {room:.3g} of them can; choose a smaller limit."
        )
    return replace(answers, lost=-by / mean if by < 0 else 0.0, gained=by / room if by > 0 else 0.0)


# --------------------------------------------------------------------------------------------------------- own data


@dataclass(frozen=True, eq=False)
class OwnPairs:
    """Two systems on the user's units, each of which may be drawn any number of times."""

    panel: Panel
    answers: Answers | None = None  # of 0/1 scores
    members: tuple[Integers, ...] | None = field(default=None, repr=False)  # rows of each cluster

    @classmethod
    def of(cls, panel: Panel) -> "OwnPairs":
        """Check that there is anything to draw, and leave out what simulations do not need."""
        drawn = panel.n if panel.n_clusters is None else panel.n_clusters
        what = panel.unit if panel.n_clusters is None else "cluster"
        if drawn < 2:
            raise InputError(
                f"calibrate needs at least two {what}s to draw from, but there is one; give more results, or a "
                "built-in scenario: `scenario='normal-30'`."
            )
        bare = bare_panel(panel)
        if panel.binary:
            return cls(bare, Answers(_PSEUDO / (panel.n + _PSEUDO)), members_of(bare))
        difference = panel.numerators[:, 1] - panel.numerators[:, 0]
        if np.ptp(difference / panel.denominators) <= 1e-12 * np.abs(panel.values).max():
            raise InputError(
                f"all {panel.n:,} {panel.unit}s have the same difference, so there is no spread to simulate; give "
                "other results, or a built-in scenario: `scenario='normal-30'`."
            )
        return cls(bare, None, members_of(bare))

    @cached_property
    def truth(self) -> float:
        if self.answers is None:
            return _difference(self.panel)
        return 0.0 if self.answers.swapped else self._of_answers(self.answers)

    def _of_answers(self, answers: Answers) -> float:
        mean = self._mean_of_b
        kept = (1 - answers.made_up) * _difference(self.panel)
        return kept - answers.lost * mean + answers.gained * (1 - mean)

    @property
    def _mean_of_b(self) -> float:
        """The share of B's answers that are right, with those that are made up."""
        a, b = _mean(self.panel, 0), _mean(self.panel, 1)
        made_up = 0.0 if self.answers is None else self.answers.made_up
        return (1 - made_up) * b + made_up * (1 + a) / 3

    def draw(self, rng: Generator) -> Panel:
        found = drawn_again(self.panel, self.members, rng)
        return found if self.answers is None else self.answers.given(found, rng)

    def without_difference(self) -> "OwnPairs":
        if self.answers is not None:
            return replace(self, answers=replace(self.answers, swapped=True))
        differ = self.panel.numerators[:, 1] != self.panel.numerators[:, 0]
        return replace(self, panel=_shifted(self.panel, -_difference(self.panel), differ))

    def with_difference(self, wanted: float) -> "OwnPairs":
        if self.answers is not None:
            return replace(self, answers=_moved(self.answers, self._mean_of_b, wanted - self.truth))
        every = np.ones(self.panel.n, dtype=bool)
        return replace(self, panel=_shifted(self.panel, wanted - _difference(self.panel), every))


def bare_panel(panel: Panel) -> Panel:
    """Without labels but the clusters, without numbers and costs: what is drawn again and again."""
    labels = {} if panel.cluster is None else {panel.cluster: panel.labels[panel.cluster]}
    return replace(panel, labels=labels, numbers={}, costs={}, strata=None, models=(), notes=())


def members_of(panel: Panel) -> tuple[Integers, ...] | None:
    """The rows of each cluster; ``None`` where units are drawn alone."""
    if panel.clusters is None:
        return None
    order = np.argsort(panel.clusters, kind="stable")
    return tuple(np.split(order, np.cumsum(np.bincount(panel.clusters))[:-1]))


def drawn_again(panel: Panel, members: tuple[Integers, ...] | None, rng: Generator) -> Panel:
    """As many units, or clusters, drawn with replacement; a cluster that is drawn twice is two."""
    if members is None:
        return panel.rows(rng.integers(0, panel.n, panel.n))
    chosen = [members[place] for place in rng.integers(0, len(members), len(members)).tolist()]
    assert panel.cluster is not None  # it has members
    codes = np.repeat(np.arange(len(members)), [len(rows) for rows in chosen])
    label = Labels(tuple(map(str, range(len(members)))), codes)
    alone = replace(panel, labels={}, cluster=None).rows(np.concatenate(chosen))
    return replace(alone, labels={panel.cluster: label}, cluster=panel.cluster)


def _mean(panel: Panel, system: int) -> float:
    return float(panel.numerators[:, system].sum() / panel.denominators.sum())


def _difference(panel: Panel) -> float:
    return _mean(panel, 1) - _mean(panel, 0)


def _shifted(panel: Panel, by: float, rows: Truths) -> Panel:
    """With B − A changed by so much, on these rows."""
    weights = np.where(rows, panel.denominators, 0.0)
    change = by * float(panel.denominators.sum()) / float(weights.sum()) * weights
    return panel.with_numerators(np.column_stack([panel.numerators[:, 0], panel.numerators[:, 1] + change]))


# --------------------------------------------------------------------------------------------------------- built in


@dataclass(frozen=True, eq=False)
class BuiltInPairs:
    """Two systems on windows or items of a built-in scenario."""

    scenario: BuiltIn
    shift: float = 0.0
    only_differing: bool = False  # what is shifted
    answers: Answers | None = None

    @classmethod
    def of(cls, scenario: BuiltIn) -> "BuiltInPairs":
        return cls(scenario, answers=Answers() if scenario.binary else None)

    @property
    def truth(self) -> float:
        if self.answers is None:
            return self.scenario.truth + self.shift * (1 - self.scenario.equal if self.only_differing else 1.0)
        moved = -self.answers.lost * self._mean_of_b + self.answers.gained * (1 - self._mean_of_b)
        return 0.0 if self.answers.swapped else self.scenario.truth + moved

    @property
    def _mean_of_b(self) -> float:
        """Where both are alike they are right; so B is right on all but those that A alone has."""
        return 1 - (1 - self.scenario.equal - self.scenario.truth) / 2

    @cached_property
    def _template(self) -> Panel:
        n = self.scenario.n
        kind: Kind = "scores" if self.scenario.binary else "losses"
        clusters = None if self.scenario.clusters is None else np.arange(n) // CLUSTER
        ids = [f"{row:06}" for row in range(n)]
        return Panel.from_arrays(np.ones((n, 2)), np.ones(n), ids=ids, systems=("A", "B"), kind=kind, clusters=clusters)

    def draw(self, rng: Generator) -> Panel:
        tokens, differences = self.scenario.draw(rng, self.scenario.n)
        if self.answers is not None:
            both = np.column_stack([differences <= 0, differences >= 0]).astype(np.float64)
            return self.answers.given(self._template.with_numerators(both), rng)
        differences = differences + self.shift * (differences != 0 if self.only_differing else 1.0)
        losses = np.column_stack([_LOSS * tokens, (_LOSS + differences) * tokens])
        template, metric = self._template, self._template.metric
        return replace(template, parts={metric.parts[0]: losses, metric.parts[1]: tokens[:, None]})

    def without_difference(self) -> "BuiltInPairs":
        if self.answers is not None:
            return replace(self, answers=replace(self.answers, swapped=True))
        shift = -self.scenario.truth / (1 - self.scenario.equal)
        return replace(self, shift=shift, only_differing=True)

    def with_difference(self, wanted: float) -> "BuiltInPairs":
        if self.answers is not None:
            return replace(self, answers=_moved(self.answers, self._mean_of_b, wanted - self.truth))
        return replace(self, shift=wanted - self.scenario.truth)
