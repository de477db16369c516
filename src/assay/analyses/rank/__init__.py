"""Which models can be told apart? k models on the same items: every pair tested, tiers, ranks, and who may be best."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any, Unpack

import numpy as np

from assay.analyses.assumptions import long_pairs
from assay.analyses.rank.models import models_of, models_of_panel, only_complete, without_rounding
from assay.analyses.rank.pair_columns import ranked_pairs
from assay.analyses.rank.pairs import PairDecisions, check_adjust, decide
from assay.analyses.rank.records import Adjust, RankMethods, Reweighting, Standing, TopScore
from assay.analyses.rank.result import Leaderboard
from assay.analyses.rank.sentences import notes_of, sentence_of
from assay.analyses.rank.weights import WeightScheme, check_weights, place_of, reweighted, reweightings
from assay.data import Panel, Selection
from assay.data.arrays import check_differences, check_largest
from assay.data.sources import Source, panel_as_asked, read_sources
from assay.design import DEFAULT_RESAMPLES, Design, DesignFields, Method, Missing, as_given, signature
from assay.errors import InputError, UsageError
from assay.stats.bounded_mean import METHOD as AGRESTI_COULL
from assay.stats.bounded_mean import bounded_interval, fitted_interval
from assay.stats.multiplicity import letters, rank_limits, tiers
from assay.stats.numerics import t_quantile
from assay.stats.ranking import Fitted, connected, deviations, fitted, probability_best, rank_quantiles
from assay.stats.ranking.shared_signs import Flips
from assay.stats.ranking.winner import confidence_set, winner
from assay.stats.records import Estimate, Fallback, Interval
from assay.stats.units import Floats, effective_number
from assay.stats.which_interval import UnitFacts, interval_for

_TOO_LARGE = "the perplexity is too large for a number"


def rank(
    *sources: Source | Panel,
    design: Design | None = None,
    adjust: Adjust = "holm",
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
    design = as_given("rank", Design, design, settings)
    _check_design(design)
    check_adjust(adjust, design)
    check_weights(weights, min_n)
    how: dict[str, Any] = {"cluster": cluster, "split": split, "lower_is_better": lower_is_better}
    if sources and isinstance(sources[0], Panel):
        if len(sources) > 1:
            raise UsageError("rank takes one panel, or files and tables, but not both.")
        panel = models_of_panel(panel_as_asked(sources[0], columns=columns, selection=selection, **how), names)
    else:
        tables = read_sources(sources, columns=columns, cluster=cluster, selection=selection)
        panel = models_of(tables, names=names, missing="drop" if missing == "complete" else missing, **how)
    panel = only_complete(panel) if missing == "complete" else panel.without(missing)
    return rank_panel(panel, design, adjust, weights=weights, min_n=min_n)


def _check_design(design: Design) -> None:
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
) -> Leaderboard:
    """The leaderboard of a panel of models, sorted by name."""
    panel = without_rounding(panel)
    chosen = reweighted(panel, weights, min_n)
    _check_panel(chosen)
    found = fitted(chosen.grid)
    decided = decide(
        chosen.grid,
        found,
        design,
        adjust,
        lower_is_better=chosen.metric.lower_is_better,
        scores=chosen.metric.kind == "scores",
    )
    others = reweightings(panel, weights, min_n, decided.better)
    return _Board(chosen, found, decided, design, adjust).record(others, weights, min_n)


def _check_panel(panel: Panel) -> None:
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
        raise InputError(
            f"no {panel.unit} connects {lone!r} with {panel.systems[0]!r}, neither directly nor through "
            "other models; check the ids, or rank the two groups apart."
        )


class _Board:
    """Everything that is computed of a panel, on the way to the record."""

    def __init__(self, panel: Panel, found: Fitted, decided: PairDecisions, design: Design, adjust: Adjust) -> None:
        self.panel, self.found, self.decided, self.design, self.adjust = panel, found, decided, design, adjust
        self.resamples = design.resamples or DEFAULT_RESAMPLES
        self.sign = -1.0 if panel.metric.lower_is_better else 1.0
        self.goodness: Floats = self.sign * found.estimates
        self.draws: Floats = self.sign * deviations(found, self.resamples, design.seed)
        self.ranks = place_of(self.goodness)
        self.order = sorted(range(panel.grid.k), key=lambda i: (self.ranks[i], panel.systems[i]))
        self.by_length = long_pairs(panel)
        self.fallbacks: list[Fallback] = []
        self.method: Method = "auto" if design.method == "tango" else design.method  # of single models
        shares = panel.metric.kind == "scores" and panel.grid.shares
        self.bounded = interval_for(self.method, UnitFacts("shares" if shares else "other")) == AGRESTI_COULL

    def record(self, others: Sequence[Reweighting], weights: WeightScheme | None, min_n: int | None) -> Leaderboard:
        panel, grid = self.panel, self.panel.grid
        models = self._standings()
        pairs = ranked_pairs(self.decided, panel.systems, self.order)
        tests = self.decided.tests
        return Leaderboard(
            kind="leaderboard",
            metric=panel.metric.kind,
            unit=panel.unit,
            lower_is_better=panel.metric.lower_is_better,
            sentence=sentence_of(models, pairs, adjusted=self.adjust != "none"),
            models=models,
            tiers=tuple(tuple(m.name for m in group) for _, group in groupby(models, attrgetter("tier"))),
            confidence_set=tuple(model.name for model in models if model.in_confidence_set),
            top=self._top(),
            adjust=self.adjust,
            pairs=pairs,
            reweightings=tuple(others),
            n_units=grid.n,
            n_complete=int(grid.present.all(axis=1).sum()),
            n_clusters=None if grid.clusters is None else grid.groups,
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
            signature=self._signature(weights, min_n),
        )

    def _standings(self) -> tuple[Standing, ...]:
        grid, order = self.panel.grid, np.array(self.order)
        different, better = self.decided.different[np.ix_(order, order)], self.decided.better[np.ix_(order, order)]
        best = probability_best(self.goodness, self.draws)
        flips = Flips.of(grid, seed=self.design.seed)
        p_set = confidence_set(
            self.decided.pairs, flips, self.resamples, lower_is_better=self.panel.metric.lower_is_better
        )
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
                    bool(p_set[i] > 1 - self.design.level),
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
        if self.bounded and grid.groups > 1:
            there = grid.present[:, i]
            right = bool(np.isin(grid.values[there, i], (0.0, 1.0)).all())
            answers = effective_number(grid.weights[there])
            limits = fitted_interval(value, error, answers, grid.groups, asked.level, right_or_wrong=right)
            return Estimate(value, limits, error, n)
        if self.method != "t":
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

    def _signature(self, weights: WeightScheme | None, min_n: int | None) -> str:
        panel, grid, tests = self.panel, self.panel.grid, self.decided.tests
        return signature(
            "rank",
            units=panel.unit + "s",
            models=grid.k,
            n=grid.n,
            clusters=None if grid.clusters is None else f"{grid.groups} {panel.cluster_by}",
            weights=weights,
            min_n=min_n,
            test=tests.name,
            flips=tests.resamples,
            adjust=self.adjust,
            method=self.decided.method,
            resamples=self.resamples,
            level=self.design.level,
            seed=self.design.seed,
            data=panel.digest[:16],
        )
