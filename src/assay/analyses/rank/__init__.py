"""Which models can be told apart? k models on the same items: every pair tested, tiers, ranks, and who may be best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Unpack

import numpy as np

from assay.analyses.rank.board import Board, TaskBoard
from assay.analyses.rank.models import board_panel, pooled, without_rounding
from assay.analyses.rank.pairs import check_adjust, decide
from assay.analyses.rank.previous import (
    carried_from,
    check_settings,
    check_tasks,
    previous_board,
    weights_of,
    with_changes,
)
from assay.analyses.rank.records import Adjust
from assay.analyses.rank.result import Leaderboard
from assay.analyses.rank.tasks import BoardTasks
from assay.analyses.rank.weights import WeightScheme, check_weights, reweighted, reweightings
from assay.analyses.suite.tasks import TASK, several_tasks, weights_told
from assay.data import Panel, Selection
from assay.data.arrays import check_differences, check_largest
from assay.data.readers import Groups
from assay.data.sources import Source
from assay.design import Design, DesignFields, Missing, as_given
from assay.errors import InputError, UsageError
from assay.limits import TaskWeights
from assay.stats.ranking import connected, fitted


def rank(
    *sources: Source | Panel,
    design: Design | None = None,
    adjust: Adjust | None = None,
    by: str | None = None,
    total: TaskWeights | str | PathLike[str] | None = None,
    groups: Groups | str | PathLike[str] | None = None,
    previous: Leaderboard | str | PathLike[str] | None = None,
    weights: WeightScheme | None = None,
    min_n: int | None = None,
    missing: Missing = "drop",
    names: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    split: str | None = None,
    lower_is_better: bool | None = None,
    selection: Selection | None = None,
    **settings: Unpack[DesignFields],
) -> Leaderboard:
    """Rank models on the items they share, and say which of them can be told apart.

    ``sources`` are files, logs of a harness, mappings of columns, data frames or tables, each of one model or, with a
    column ``model``, of several; or the scores themselves, as for `compare`: an array for each model, one array or
    frame with a column for each. ``selection`` says which results of a harness are meant. Every pair is tested on the
    items that both have answered (``missing="complete"``: on those that all have; ``"zero"``: answers that are not
    there count as 0; ``"refuse"``: there must be none), and the p-values are adjusted for the number of pairs.

    Items of several tasks (a column or label ``task``, or ``by`` of another name; the tasks of a harness) are ranked by
    the mean of the tasks: ``total`` says what a task weighs, as for `compare_suite`, and ``groups`` which belong
    together. Tasks with fewer than ten items on average are taken together unless ``by`` or ``total`` asks for them.
    ``adjust`` is Holm's way by default, and max-T for several tasks.

    ``previous`` is a board, or the file that one was saved in, which new models join: the sources hold the results of
    all models, old and new, and `Leaderboard.changes` says what changed. The board keeps its items, and no estimate,
    interval or p-value of an old pair by itself moves; adjusted ones do, for there are more pairs.

    ``weights`` turns a column ``weight`` of counts n into weights n, √n or log n, ``min_n`` leaves out items with
    fewer, and the result says what that changes. The source may be one `Panel`. The fields of a design (``level``,
    ``method``, ``test``, …) may be given as keywords instead of a ``design``.

    >>> items = [f"q{i}" for i in range(40)]
    >>> right = {"good": [1] * 36 + [0] * 4, "fair": [1] * 34 + [0] * 6, "poor": [1] * 12 + [0] * 28}
    >>> board = rank(*({"item": items, "score": scores} for scores in right.values()), names=list(right))
    >>> board.tiers
    (('good', 'fair'), ('poor',))
    >>> board.sentence
    'good and fair cannot be told apart (p = 0.25, adjusted); both are better than poor.'

    Holm (1979) controls the probability of any false claim at 1 − level. If it holds, all true ranks are within
    [1 + #better, k − #worse] (Mogstad, Romano, Shaikh and Wilhelm 2024).
    """
    before = None if previous is None else previous_board(previous)
    design = before.design if before is not None and design is None and not settings else design
    design = as_given("rank", Design, design, settings)
    check_design(design)
    check_weights(weights, min_n)
    asked = _Asked(by, total, groups)
    asked.check(design, {"weights": weights, "min_n": min_n, "split": split})
    how: dict[str, Any] = {"cluster": cluster, "split": split, "lower_is_better": lower_is_better, "missing": missing}
    if before is not None:
        check_settings(before, design)
        check_tasks(before, by, total)
        asked, adjust = replace(asked, by=by or before.by, total=total or weights_of(before)), adjust or before.adjust
    apart = asked.any or asked.may_be_apart(design, weights, min_n, split)
    told: dict[str, Any] = {"by": asked.by or TASK, "groups": groups} if apart else {}
    panel = board_panel(sources, names=names, columns=columns, selection=selection, previous=before, **how, **told)
    if asked.any or (apart and before is None and several_tasks(panel)):
        found = rank_tasks(asked.tasks(panel), design, adjust or "max-t", previous=before)
    else:
        found = rank_panel(pooled(panel), design, adjust or "holm", weights=weights, min_n=min_n, previous=before)
    return found if before is None else with_changes(found, before)


@dataclass(frozen=True)
class _Asked:
    """What is asked of tasks."""

    by: str | None
    total: TaskWeights | str | PathLike[str] | None
    groups: Groups | str | PathLike[str] | None

    @property
    def any(self) -> bool:
        """Whether tasks are to be told apart, however few items they have."""
        return not (self.by is None and self.total is None and self.groups is None)

    def check(self, design: Design, single: Mapping[str, object]) -> None:
        """Refuse what is only for items taken together."""
        given = [name for name, value in single.items() if value is not None]
        if self.any and given:
            raise UsageError(f"`{given[0]}` is not for several tasks; leave it out, or choose one task.")
        if self.any and not _left_to_us(design):
            raise UsageError(
                "several tasks choose intervals and tests themselves; leave out `method` and `test`, or choose one "
                "task."
            )

    def may_be_apart(self, design: Design, *single: object) -> bool:
        """Whether tasks that nobody asked for may be told apart."""
        return _left_to_us(design) and all(value is None for value in single)

    def tasks(self, panel: Panel) -> BoardTasks:
        return BoardTasks.of(panel, self.by or TASK, weights_told("macro" if self.total is None else self.total))


def _left_to_us(design: Design) -> bool:
    return (design.method, design.test) == (Design().method, Design().test)


def check_design(design: Design) -> None:
    """Refuse the parts of a design that a leaderboard has no use for."""
    used = Design(
        method=design.method, level=design.level, resamples=design.resamples, seed=design.seed, test=design.test
    )
    if used != design:
        raise UsageError("rank takes the method, level, resamples, seed and test of a design; leave out the rest.")


def rank_panel(
    panel: Panel,
    design: Design,
    adjust: Adjust = "holm",
    *,
    weights: WeightScheme | None = None,
    min_n: int | None = None,
    previous: Leaderboard | None = None,
) -> Leaderboard:
    """The leaderboard of a panel of models, sorted by name; ``previous`` is a board that it continues."""
    check_adjust(adjust, design)
    panel = without_rounding(panel)
    chosen = reweighted(panel, weights, min_n)
    check_board(chosen)
    found = fitted(chosen.grid)
    decided = decide(
        chosen.grid,
        found,
        design,
        adjust,
        lower_is_better=chosen.metric.lower_is_better,
        scores=chosen.metric.kind == "scores",
        carried=None if previous is None else carried_from(previous, chosen.systems),
    )
    others = reweightings(panel, weights, min_n, decided.better)
    return Board(chosen, found, decided, design, adjust).record(others, weights=weights, min_n=min_n)


def rank_tasks(
    tasks: BoardTasks, design: Design, adjust: Adjust = "max-t", *, previous: Leaderboard | None = None
) -> Leaderboard:
    """The leaderboard of the means of several tasks; ``previous`` is a board that it continues."""
    check_adjust(adjust, design)
    tasks = replace(tasks, panel=without_rounding(tasks.panel))
    panel = tasks.board
    check_board(panel)
    found, metric = fitted(panel.grid), panel.metric
    lower, scores = metric.lower_is_better, metric.kind == "scores"
    carried = None if previous is None else carried_from(previous, panel.systems)
    decided = decide(panel.grid, found, design, adjust, lower_is_better=lower, scores=scores, carried=carried)
    return TaskBoard(panel, found, decided, design, adjust, tasks).with_tasks()


def check_board(panel: Panel) -> None:
    """Refuse what no leaderboard can be made of."""
    grid = panel.grid
    for name, values in zip(panel.systems, grid.values.T, strict=True):
        check_largest(f"the {panel.metric.kind} of {name!r}", values)
    check_largest("weights", grid.weights)
    check_differences([repr(name) for name in panel.systems], grid.products / grid.weights.max())
    if grid.groups < 2:
        unit = panel.unit if grid.clusters is None else "cluster"
        raise InputError(f"rank needs at least two {unit}s, but there is one; nothing can be said from it.")
    reached = connected(grid)
    if not reached.all():
        lone = panel.systems[int(np.argmin(reached))]
        where = "" if grid.strata is None else f" of some {panel.strata}"
        raise InputError(
            f"no {panel.unit}{where} connects {lone!r} with {panel.systems[0]!r}, neither directly nor through "
            "other models; check the ids, or rank the two groups apart."
        )
