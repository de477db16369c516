"""Everything that is computed of a panel of models on the way to the record of a leaderboard."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

import msgspec
import numpy as np

from assay.analyses.assumptions import long_pairs
from assay.analyses.rank.models import digests_of
from assay.analyses.rank.pair_columns import ranked_pairs
from assay.analyses.rank.pairs import PairDecisions
from assay.analyses.rank.records import Adjust, RankedPairs, RankMethods, Reweighting, Standing, TopScore
from assay.analyses.rank.result import Leaderboard
from assay.analyses.rank.sentences import notes_of, sentence_of
from assay.analyses.rank.tasks import BoardTasks, rests_on, reweightings, task_records
from assay.analyses.rank.weights import place_of
from assay.data import Panel
from assay.design import DEFAULT_RESAMPLES, Design, Method, signature
from assay.results import words
from assay.stats.bounded_mean import METHOD as AGRESTI_COULL
from assay.stats.bounded_mean import bounded_interval, effective_items, fitted_interval, mean_of_shares
from assay.stats.multiplicity import letters, rank_limits, tiers
from assay.stats.numerics import t_quantile
from assay.stats.ranking import Fitted, deviations, probability_best, rank_quantiles
from assay.stats.ranking.pairs import answers_only
from assay.stats.ranking.winner import winner
from assay.stats.records import Estimate, Fallback, Interval
from assay.stats.suites import TaskDifferences
from assay.stats.suites.total import total
from assay.stats.units import Floats, Grid, effective_number
from assay.stats.which_interval import UnitFacts, interval_for

_TOO_LARGE = "the perplexity is too large for a number"


class Board:
    """A panel, what its pairs decided, and the record of both."""

    def __init__(self, panel: Panel, found: Fitted, decided: PairDecisions, design: Design, adjust: Adjust) -> None:
        self.panel, self.found, self.decided, self.design, self.adjust = panel, found, decided, design, adjust
        self.resamples = design.resamples or DEFAULT_RESAMPLES
        self.sign = -1.0 if panel.metric.lower_is_better else 1.0
        self.goodness: Floats = self.sign * found.estimates
        self.draws: Floats = self.sign * deviations(found, self.resamples, design.seed, answers=_answers(panel.grid))
        self.ranks = place_of(self.goodness)
        self.order = sorted(range(panel.grid.k), key=lambda i: (self.ranks[i], panel.systems[i]))
        self.digest, self.digests = panel.digest, digests_of(panel)
        self.by_length = long_pairs(panel) if panel.strata is None else None
        self.fallbacks: list[Fallback] = []
        self.method: Method = "auto" if design.method == "tango" else design.method  # of single models
        shares = panel.metric.kind == "scores" and panel.grid.shares
        self.bounded = interval_for(self.method, UnitFacts("shares" if shares else "other")) == AGRESTI_COULL

    def record(self, others: Sequence[Reweighting], **weighing: str | int | None) -> Leaderboard:
        """The leaderboard; ``weighing`` is what its signature says of the weights."""
        panel, grid = self.panel, self.panel.grid
        models = self._standings()
        pairs = ranked_pairs(self.decided, panel.systems, self.order)
        tests = self.decided.tests
        return Leaderboard(
            kind="leaderboard",
            metric=panel.metric.kind,
            unit=panel.unit,
            lower_is_better=panel.metric.lower_is_better,
            sentence=self._sentence(models, pairs),
            models=models,
            tiers=tuple(tuple(m.name for m in group) for _, group in groupby(models, attrgetter("tier"))),
            confidence_set=tuple(model.name for model in models if model.in_confidence_set),
            top=self._top(),
            adjust=self.adjust,
            pairs=pairs,
            reweightings=tuple(others),
            n_units=grid.n,
            n_complete=int(grid.present.all(axis=1).sum()),
            n_clusters=panel.n_clusters,
            cluster_by=panel.cluster_by,
            substance=panel.substance(),
            long_units=self.by_length,
            lost=panel.lost_answers,
            fallbacks=tuple(dict.fromkeys([*self.fallbacks, *self.decided.evidence.fallbacks])),
            notes=notes_of(panel, self.decided, self.adjust, self.order, self.by_length),
            design=self.design,
            computed=RankMethods(
                tests.how,
                tests.resamples,
                replace(self.design, method=self.method).ran(model.estimate.interval for model in models),
                self.decided.intervals,
                self.resamples,
                simultaneous=self.decided.family is not None,
            ),
            signature=self._signature(weighing),
        )

    def _sentence(self, models: Sequence[Standing], pairs: RankedPairs) -> str:
        return sentence_of(models, pairs, adjusted=self.adjust != "none")

    def _standings(self) -> tuple[Standing, ...]:
        grid, order = self.panel.grid, np.array(self.order)
        different, better = self.decided.different[np.ix_(order, order)], self.decided.better[np.ix_(order, order)]
        best = probability_best(self.goodness, self.draws)
        p_set = self.decided.p_of_best(lower_is_better=self.panel.metric.lower_is_better)
        spread = rank_quantiles(self.goodness, self.draws, self.design.level)
        places = zip(self.order, tiers(different), letters(different), rank_limits(better), strict=True)
        standings = []
        for i, tier, shared, limits in places:
            estimate = self._estimate(i)
            standings.append(
                Standing(
                    self.panel.systems[i],
                    self.ranks[i],
                    estimate,
                    estimate.exp(_TOO_LARGE) if self.panel.metric.kind == "losses" else None,
                    grid.system(i).estimate,
                    int(grid.present[:, i].sum()),
                    tier,
                    shared,
                    limits,
                    spread[i],
                    float(best[i]),
                    float(p_set[i]),
                    limits[0] == 1,
                    self.digests[i],
                )
            )
        return tuple(standings)

    def _estimate(self, i: int) -> Estimate:
        """The interval of the design, or with holes that of the fit."""
        grid, asked = self.panel.grid, self.design
        value, error, n = float(self.found.estimates[i]), float(self.found.errors[i]), int(grid.present[:, i].sum())
        if grid.whole and self.bounded:
            drawn, right = grid.system(i), bool(np.isin(grid.values[:, i], (0.0, 1.0)).all())
            limits = bounded_interval(drawn, grid.weights, asked.level, right_or_wrong=right)
            return Estimate(value, limits.around(value), error, n)
        if grid.whole:
            found = replace(asked, method=self.method).interval(grid.system(i))
            self.fallbacks += found.fallbacks
            return Estimate(value, found.interval, error, n)
        return self._fitted(i, value, error, n)

    def _fitted(self, i: int, value: float, error: float, n: int) -> Estimate:
        """From the standard error of the fit."""
        grid, asked = self.panel.grid, self.design
        if self.bounded and grid.groups > 1:
            there = grid.present[:, i]
            right = bool(np.isin(grid.values[there, i], (0.0, 1.0)).all())
            answers = effective_number(grid.weights[there])
            limits = fitted_interval(value, error, answers, grid.groups, asked.level, right_or_wrong=right)
            return Estimate(value, limits, error, n)
        if self.method != "t" and not grid.whole:
            why = "answers are missing, so that estimates are fitted with an effect of each unit"
            self.fallbacks.append(Fallback(self.method, "t", why))
        reach = t_quantile(0.5 + asked.level / 2, grid.groups - 1) * error
        return Estimate(value, Interval(value - reach, value + reach, asked.level, "t"), error, n)

    def _top(self) -> TopScore:
        i = self.order[0]  # the first by name where several tie
        metric, value = self.panel.metric, float(self.found.estimates[i])
        found = winner(
            self.panel.grid,
            self.found,
            i,
            self.design.level,
            bounded=metric.kind == "scores" and self.panel.grid.shares,
            lower_is_better=metric.lower_is_better,
        )
        low, high = sorted((self.sign * found.low, self.sign * found.high))
        limits = Interval(low, high, self.design.level, found.method)
        corrected = Estimate(self.sign * found.value, limits, float(self.found.errors[i]), self.panel.grid.n)
        return TopScore(self.panel.systems[i], value, value - self.sign * found.value, corrected, found.rivals)

    def _signature(self, weighing: Mapping[str, str | int | None]) -> str:
        panel, grid, tests = self.panel, self.panel.grid, self.decided.tests
        return signature(
            "rank",
            units=panel.unit + "s",
            models=grid.k,
            n=grid.n,
            clusters=None if grid.clusters is None else f"{panel.n_clusters} {panel.cluster_by}",
            **weighing,
            test=tests.name,
            flips=tests.resamples,
            adjust=self.adjust,
            method=self.decided.method,
            resamples=self.resamples,
            level=self.design.level,
            seed=self.design.seed,
            data=self.digest[:16],
        )


def _answers(grid: Grid) -> Floats | None:
    """The values, if all are right and wrong answers of equal weight, and none is missing."""
    plain = grid.whole and grid.clusters is None and grid.strata is None and bool((grid.weights == 1).all())
    return grid.values if plain and bool(answers_only(grid.values).all()) else None


class TaskBoard(Board):
    """The same of the means of several tasks."""

    def __init__(
        self,
        panel: Panel,
        found: Fitted,
        decided: PairDecisions,
        design: Design,
        adjust: Adjust,
        tasks: BoardTasks,
    ) -> None:
        super().__init__(panel, found, decided, design, adjust)
        self.tasks, self.digest, self.digests = tasks, tasks.panel.digest, digests_of(tasks.panel)

    def with_tasks(self) -> Leaderboard:
        tasks = self.tasks
        others = reweightings(tasks, self.goodness, self.decided.better)
        made = self.record(others, tasks=f"{len(tasks.names)} {tasks.by}", total=tasks.weights)
        return msgspec.structs.replace(
            made,
            by=tasks.by,
            total=tasks.weights,
            tasks=task_records(tasks, self.order),
            rests=rests_on(tasks, self.decided, self.order),
            notes=(*made.notes, *tasks.notes),
        )

    def _sentence(self, models: Sequence[Standing], pairs: RankedPairs) -> str:
        return f"Over {words.count(len(self.tasks.names), self.tasks.by)}: {super()._sentence(models, pairs)}"

    def _estimate(self, i: int) -> Estimate:
        """The mean of the tasks, with the interval of `summarize`; with holes, clusters or copies that of the fit."""
        grid, level, tasks = self.panel.grid, self.design.level, self.tasks
        value, error, n = float(self.found.estimates[i]), float(self.found.errors[i]), int(grid.present[:, i].sum())
        if not grid.whole or grid.together is not None:
            return self._fitted(i, value, error, n)
        parts, shares = [tasks.grids[name] for name in tasks.weighty], tasks.shares[tasks.shares > 0]
        drawn = [part.system(i) for part in parts]
        if not self.bounded:
            found = total([TaskDifferences(one) for one in drawn], shares, level=level)
            limits = Interval(found.low, found.high, level, found.method)
            return Estimate(value, limits.around(value), error, n)
        items = [
            effective_items(one, part.weights, right_or_wrong=bool(np.isin(part.values[:, i], (0.0, 1.0)).all()))
            for one, part in zip(drawn, parts, strict=True)
        ]
        limits = mean_of_shares([one.estimate for one in drawn], items, level, shares.tolist())
        return Estimate(value, limits.around(value), error, n)
