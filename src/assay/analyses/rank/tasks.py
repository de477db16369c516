"""Several tasks: a leaderboard of the means of tasks is that of the same panel with the tasks as strata.

A unit weighs what its task does, divided among the units of the task, so that a weighted mean of all units is the mean
of the tasks; and tasks are drawn apart, for they are these tasks and no sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from assay.analyses.rank.pairs import PairDecisions
from assay.analyses.rank.records import BoardTask, Move, RestsOn, Reweighting
from assay.analyses.rank.weights import place_of
from assay.analyses.suite.tasks import TASK, name_of, shares_of
from assay.data import Panel
from assay.data.task_groups import group_notes, task_tree
from assay.errors import InputError, UsageError
from assay.limits import TaskWeights
from assay.names import argument, listed, plural
from assay.stats.ranking import connected, fitted
from assay.stats.repeated_runs import rank_stability
from assay.stats.units import Floats, Grid, Truths

_OTHER_WEIGHTS: tuple[TaskWeights, ...] = ("macro", "items")


@dataclass(frozen=True, eq=False)
class BoardTasks:
    """The tasks of a panel of models, and what each weighs."""

    panel: Panel  # units with the weights that they have inside their task
    by: str
    weights: str  # "macro", "items", "groups" or "given"
    shares: Floats  # (T,)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, panel: Panel, by: str, weights: TaskWeights) -> "BoardTasks":
        kept, notes = _shared_tasks(panel, by)
        _check(kept, by)
        tree, panels = task_tree(kept, by), dict(kept.by(by))
        notes += group_notes(kept, by, tree)
        return cls(kept, by, name_of(weights), shares_of(panels, weights, tree), notes)

    @property
    def names(self) -> tuple[str, ...]:
        return self.panel.label(self.by).names

    @property
    def weighty(self) -> tuple[str, ...]:
        """Those that weigh anything."""
        return tuple(name for name, share in zip(self.names, self.shares, strict=True) if share > 0)

    @cached_property
    def board(self) -> Panel:
        """The panel to rank; tasks that weigh nothing are not in it."""
        return _weighed(self.panel, self.by, self.shares)

    @cached_property
    def grids(self) -> dict[str, Grid]:
        """The grid of every task, with the units' own weights."""
        return {name: part.grid for name, part in self.panel.by(self.by)}

    def goodness(self, weights: TaskWeights) -> Floats:
        """(k,) The estimates under other weights of the tasks, larger is better."""
        panels = dict(self.panel.by(self.by))
        found = fitted(_weighed(self.panel, self.by, shares_of(panels, weights)).grid).estimates
        return -found if self.panel.metric.lower_is_better else found


def _weighed(panel: Panel, by: str, shares: Floats) -> Panel:
    codes = panel.label(by).codes
    mass = np.bincount(codes, weights=panel.denominators)
    kept = shares[codes] > 0
    made = panel.weighted(lambda own: np.where(kept, own * (panel.n * shares / mass)[codes], 1.0))
    return replace(made if kept.all() else made.rows(kept), strata=by)


def _shared_tasks(panel: Panel, by: str) -> tuple[Panel, tuple[str, ...]]:
    """Without the tasks that only one model has: nothing can be compared on them."""
    panel = panel.rows(np.arange(panel.n))  # without names of tasks that no unit has
    codes, names = panel.label(by).codes, panel.label(by).names
    lonely = [code for code in range(len(names)) if panel.answered[codes == code].any(axis=0).sum() < 2]
    if not lonely:
        return panel, ()
    left = panel.rows(~np.isin(codes, lonely))
    if not left.n:
        raise InputError(f"no {by} has answers of two models; check what the {plural(by)} are called.")
    what = listed([names[code] for code in lonely], 3)
    return left, (f"left out, for only one model has answers: the {by}{'s' if len(lonely) > 1 else ''} {what}",)


def _check(panel: Panel, by: str) -> None:
    if panel.cluster == by:
        raise UsageError(f"{by!r} tells tasks apart, and cannot be the cluster too; leave one of them out.")
    codes, names = panel.label(by).codes, panel.label(by).names
    if len(names) < 2:
        raise InputError(f"all {panel.unit}s have the same {by}: there is nothing to tell apart; leave out `by`.")
    for system, there in zip(panel.systems, panel.answered.T, strict=True):
        lacking = [name for name, has in zip(names, np.bincount(codes, weights=there) > 0, strict=True) if not has]
        if lacking:
            together = argument(columns={TASK: ""})
            raise InputError(
                f"{system!r} has no answer to the {by} {lacking[0]!r}"
                f"{f' and {len(lacking) - 1} more' if len(lacking) > 1 else ''}: a mean of {plural(by)} needs all "
                f"of them; choose {plural(by)} that all models have (`Selection(task='NAME')`), leave the model out, "
                f"count what is missing as 0 (`missing='zero'`), or take all {panel.unit}s together ({together})."
            )


def task_records(tasks: BoardTasks, order: Sequence[int]) -> tuple[BoardTask, ...]:
    """A row for each task, with the models in the order of the ranks."""
    return tuple(
        _record(name, float(share), tasks.grids[name], order)
        for name, share in zip(tasks.names, tasks.shares, strict=True)
    )


def _record(name: str, share: float, grid: Grid, order: Sequence[int]) -> BoardTask:
    if not connected(grid).all():  # of a task that weighs nothing
        nothing = tuple(None for _ in order)
        return BoardTask(task=name, n=grid.n, weight=share, scores=nothing, standard_errors=nothing)
    found = fitted(grid)
    errors = found.errors if found.groups > 1 else np.full(grid.k, np.nan)
    return BoardTask(
        task=name,
        n=grid.n,
        weight=share,
        scores=tuple(float(found.estimates[i]) for i in order),
        standard_errors=tuple(None if np.isnan(errors[i]) else float(errors[i]) for i in order),
    )


# ---------------------------------------------------------------------------------------------------------- sensitivity


def reweightings(tasks: BoardTasks, goodness: Floats, better: Truths) -> list[Reweighting]:
    """The ranking under other weights of the tasks, where any order is shown at all."""
    if not better.any():
        return []
    panels = dict(tasks.panel.by(tasks.by))
    others = [how for how in _OTHER_WEIGHTS if not np.allclose(shares_of(panels, how), tasks.shares)]
    return [_against(tasks, goodness, how, better) for how in others]


def _against(tasks: BoardTasks, base: Floats, weights: TaskWeights, better: Truths) -> Reweighting:
    other = tasks.goodness(weights)
    places = zip(tasks.panel.systems, place_of(base), place_of(other), strict=True)
    moves = tuple(sorted((Move(*move) for move in places if move[1] != move[2]), key=lambda move: move.rank))
    swapped = int((better & (other[:, None] < other[None, :])).sum())
    tau = rank_stability(np.column_stack([base, other])).tau_mean
    return Reweighting(name_of(weights), None, tasks.panel.n, tau, moves, swapped)


def rests_on(tasks: BoardTasks, decided: PairDecisions, order: Sequence[int]) -> tuple[RestsOn, ...]:
    """Of pairs that are told apart, which task adds most to the lead, and what is left of it without the task.

    Neighbours in the ranking, and all pairs whose order would turn around.
    """
    totals, systems = decided.evidence.totals, tasks.panel.systems
    assert totals is not None
    sign = -1.0 if tasks.panel.metric.lower_is_better else 1.0
    names, shares = tasks.weighty, tasks.shares[tasks.shares > 0]
    places = {model: place for place, model in enumerate(order)}
    found = []
    for r, (i, j) in enumerate(decided.pairs.index.T.tolist()):
        if not decided.different[i, j]:
            continue
        a, b = (i, j) if decided.better[i, j] else (j, i)
        parts = shares * totals.by_task[:, r] * (sign if a == i else -sign)
        most, lead = int(np.argmax(parts)), float(parts.sum())
        left = (lead - float(parts[most])) / (1 - float(shares[most])) if shares[most] < 1 else 0.0
        if abs(places[a] - places[b]) == 1 or left <= 0:
            made = RestsOn(systems[a], systems[b], lead, names[most], float(parts[most]), left)
            found.append((places[a], places[b], made))
    return tuple(one for *_, one in sorted(found, key=lambda entry: entry[:2]))
