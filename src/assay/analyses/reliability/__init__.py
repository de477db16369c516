"""Do the results repeat? How far repeated runs of models agree, and which differences their noise hides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, pairwise
from math import inf, sqrt
from typing import Unpack

import msgspec
import numpy as np

from assay.analyses.contrast import check_clusters
from assay.analyses.reliability.result import AcrossModels, Detectable, ModelPair, ModelRuns, Reliability
from assay.analyses.reliability.sentences import notes_of, sentence_of
from assay.data import Panel, Selection, read_tables
from assay.data.arrays import check_differences, check_largest
from assay.data.in_memory import holds_runs, run_columns
from assay.data.reading import check_used, read_models
from assay.data.sources import Source, panel_as_asked
from assay.data.units_and_runs import check_repeated, left_out, runs_of
from assay.design import Missing, as_given, signature
from assay.errors import InputError, UsageError
from assay.names import listed
from assay.results import words
from assay.stats.bootstrap import interval
from assay.stats.bounded_mean import METHOD as AGRESTI_COULL
from assay.stats.bounded_mean import bounded_interval
from assay.stats.detectable_shifts import detectable_shift
from assay.stats.planning.plans import Goal, GoalFields
from assay.stats.records import Estimate, Interval
from assay.stats.reliability import Component, TwoWay, deviation, intraclass, run_effect, variance_components
from assay.stats.repeated_runs import RunNoise, RunVariance, item_spread, order_repeats, rank_stability, run_noise
from assay.stats.rounding import snapped
from assay.stats.units import Floats, Integers, Units, grouped, standard_error
from assay.stats.which_interval import UnitFacts, interval_for

MOST_ALL_PAIRS = 50  # models; beyond that, only neighbours in the order of scores are compared
FEWEST_ORDERED = 3  # runs: two make one pair of runs, which agrees or does not


def reliability(
    *sources: Source | Panel,
    goal: Goal | None = None,
    names: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    files_are_runs: bool = False,
    missing: Missing = "drop",
    selection: Selection | None = None,
    **settings: Unpack[GoalFields],
) -> Reliability:
    """Measure how far the runs of one or several models agree, from tables with a ``run`` column or logs with epochs.

    For each model the targets are its items and the raters its runs. For several models, the models are also targets
    of their overall scores, rated by the runs that all of them have. ``goal`` sets the level of intervals and the
    level and power of the detectable differences. ``files_are_runs`` takes each source as one run; ``selection`` says
    which results of a harness are meant. The source may be one `Panel` whose columns are runs, or arrays: one of items
    × runs for each of the models (``names``), or one for each run of a model. Items that some run lacks are left out;
    ``missing`` may count them as 0 (``"zero"``) or refuse them (``"refuse"``). The fields of a goal (``level``,
    ``power``) may be given as keywords instead of a ``goal``.

    >>> reliability([[1, 1, 0], [0, 0, 0], [1, 0, 1], [1, 1, 1]], level=0.9).models[0].runs
    ('1', '2', '3')

    >>> runs = {"item": [1, 2, 3, 4] * 2, "run": [1] * 4 + [2] * 4, "score": [1, 0, 1, 1, 1, 0, 0, 1]}
    >>> round(reliability(runs).models[0].icc["ICC(1,1)"].value, 3)
    0.571

    Intraclass correlations are those of Shrout and Fleiss (1979) with the F intervals of McGraw and Wong (1996).
    """
    goal = as_given("reliability", Goal, goal, settings)
    if goal.margin is not None or goal.comparisons != 1:
        raise UsageError("reliability takes the level and the power of a goal; leave out the rest.")
    if not sources:
        raise UsageError("reliability needs a table of results with a column 'run'.")
    if isinstance(sources[0], Panel):
        if len(sources) > 1:
            raise UsageError("reliability takes one panel, or files and tables, but not both.")
        asked = panel_as_asked(
            sources[0], cluster=cluster, columns=columns, selection=selection, files_are_runs=files_are_runs or None
        )
        return _checked(repeated(asked.without(missing)), cluster, goal)
    if all(map(holds_runs, sources)):
        found = run_columns(sources, names, of_one=True, errors=(selection or Selection()).errors)
        return reliability_of(repeated(found.without(missing)), goal)
    if names is not None:
        raise UsageError("names are of arrays; models of tables have a column 'model', files are named NAME=PATH.")
    selection = replace(selection or Selection(), attempts=not files_are_runs)
    read = partial(read_models, columns=columns, cluster=cluster, selection=selection)
    if files_are_runs:  # one by one: the logs of a model would otherwise be put together
        tables = [table for source in sources for table in read(source)]
        check_used(selection, tables)
    else:
        tables = read_tables(sources, columns=columns, cluster=cluster, selection=selection)
    runs = runs_of(tables, files_are_runs=files_are_runs)
    check_repeated(runs)
    panel = Panel.from_runs(runs, cluster=cluster, missing="complete" if missing == "drop" else missing)
    noted = replace(panel, notes=(*panel.notes, *left_out(runs, panel.dropped, panel.unit)))
    return _checked(noted, cluster, goal)


def _checked(runs: Panel, cluster: str | None, goal: Goal) -> Reliability:
    check_clusters(runs, cluster)
    return reliability_of(runs, goal)


@dataclass(frozen=True, eq=False)
class RunColumns:
    """A panel without holes whose columns are runs of models."""

    panel: Panel

    @cached_property
    def scores(self) -> Floats:
        """(k,) The overall score of every run."""
        return np.array([self.panel.estimate(system) for system in range(self.panel.k)])

    @cached_property
    def widest(self) -> float:
        """The largest difference that there can be: 1 for scores from 0 to 1."""
        values = self.panel.numerators / self.panel.denominators[:, None]
        return 1.0 if self.panel.kind == "scores" and bool(((values >= 0) & (values <= 1)).all()) else inf

    def columns(self, model: int) -> Integers:
        """Where the runs of a model are among the systems of the panel."""
        return np.array(self.panel.models[model].columns)

    def values(self, model: int) -> Floats:
        """(n, k) Scores of a model, item by item and run by run."""
        return np.ascontiguousarray(self.panel.numerators[:, self.columns(model)]) / self.panel.denominators[:, None]

    def values_of(self, systems: Integers) -> Floats:
        """(n, k) The same for any systems of the panel, run after run in memory."""
        return np.asfortranarray(self.panel.numerators[:, systems]) / self.panel.denominators[:, None]

    @cached_property
    def shared_runs(self) -> list[str]:
        """The names of runs that all models have, if there are at least two."""
        first, *others = (one.names for one in self.panel.models)
        shared = [run for run in first if all(run in names for names in others)]
        return shared if len(shared) > 1 else []

    def crossed(self) -> tuple[Integers, str | None]:
        """(m, k) Systems by model and run: the runs that all models have, and a note if that is not all of them.

        Runs of the same name may share what the name stands for, a seed or a prompt, so they stay together. Where the
        names differ, runs are independent, and any run of one model may be paired with any of another.
        """
        shared, models = self.shared_runs, self.panel.models
        if not shared:
            count = min(len(one.columns) for one in models)
            note = f"the models share no names of runs: they are paired in their order, {count} of each model"
            return np.array([one.columns[:count] for one in models]), note
        places = [[one.columns[one.names.index(run)] for run in shared] for one in models]
        whole = len(shared) * len(models) == self.panel.k
        note = f"models are compared in the {len(shared)} runs that all of them have ({listed(shared)})"
        return np.array(places), None if whole else note


def repeated(panel: Panel) -> Panel:
    """The items that all runs have; refused if a model has one run only."""
    if not panel.models:
        raise UsageError("the panel does not say which of its columns are runs of one model; make it with models=[…].")
    for runs in panel.models:
        if len(runs.columns) < 2:
            raise InputError(f"model {runs.model!r} has one run, but two are needed to see how far runs agree.")
    found = panel.complete()
    if found.n == panel.n:
        return found
    lacking = panel.n - found.n
    note = f"{found.n:,} of {panel.n:,} {panel.unit}s: {lacking:,} lack{'s' * (lacking == 1)} a run"
    return replace(found, notes=(*found.notes, note))


def computable(panel: Panel) -> Panel:
    """The runs, with answers that differ by rounding made equal; refused if a variance cannot be computed."""
    if panel.n < 2:
        raise InputError(f"only one {panel.unit} is in every run, but two are needed to see how far runs agree.")
    repeats = RunColumns(panel)
    for model, runs in enumerate(panel.models):
        check_largest(f"the {panel.metric.kind} of {runs.model!r}", repeats.values(model))
    check_largest("tokens" if panel.metric.kind == "losses" else "weights", panel.denominators)
    numerators, changed = snapped(panel.numerators)
    check_differences(panel.systems, numerators / panel.denominators.max())
    if not changed:
        return panel
    return replace(panel.with_numerators(numerators), notes=(*panel.notes, words.rounded_off(changed)))


def reliability_of(runs: Panel, goal: Goal) -> Reliability:
    """The result for a panel without holes whose columns are runs."""
    panel = computable(runs)
    repeats = RunColumns(panel)
    models = tuple(_model(repeats, model, goal.level) for model in range(len(panel.models)))
    between = [RunVariance((model.run_sd.value or 0.0) ** 2, len(model.runs) - 1) for model in models]
    noise = run_noise(between, [_item_noise(repeats, model) for model in range(len(models))], goal.level)
    across, note = _across(repeats, models, goal) if len(models) > 1 else (None, None)
    found = Reliability(
        kind=panel.metric.kind,
        unit=panel.unit,
        sentence="",
        n=panel.n,
        n_clusters=panel.n_clusters,
        cluster_by=panel.cluster_by,
        substance=panel.substance(),
        run_sd=noise.estimate,
        run_sd_df=float(noise.df),
        run_sd_from="items and runs" if noise.pooled else "runs",
        detectable=_detectable(noise, models, goal, repeats.widest),
        models=models,
        across=across,
        dropped=panel.dropped,
        lost=panel.lost_answers,
        notes=(*panel.notes, *([note] if note else [])),
        goal=goal,
        signature=_signature(runs, goal),
    )
    notes = (*found.notes, *notes_of(found, equal_weights=panel.equal_denominators))
    return msgspec.structs.replace(found, sentence=sentence_of(found), notes=notes)


def _model(repeats: RunColumns, model: int, level: float) -> ModelRuns:
    panel, values, scores = repeats.panel, repeats.values(model), repeats.scores[repeats.columns(model)]
    spread = float(np.var(scores, ddof=1))
    if np.ptp(values, axis=1).max() == 0:  # rounding of the sums must not look like noise
        spread = 0.0
    return ModelRuns(
        name=panel.models[model].model,
        runs=panel.models[model].names,
        scores=tuple(scores.tolist()),
        score=float(scores.mean()),
        run_sd=deviation(spread, len(scores) - 1, level),
        expected_run_sd=sqrt(_item_noise(repeats, model).variance),
        run_effect=run_effect(values),
        item_sd=_item_sd(values, panel, level),
        icc=intraclass(values, level),
        components=variance_components(values, (panel.unit + "s", "runs")),
    )


def _item_sd(values: Floats, panel: Panel, level: float) -> Estimate:
    """The root of the mean variance between the runs of an item. Items are drawn, because their noise differs."""
    variances = np.var(values, axis=1, ddof=1)
    units = _drawn(panel, variances, np.ones(panel.n))
    value, shares = sqrt(units.estimate), panel.kind == "scores" and bool(((values >= 0) & (values <= 1)).all())
    bounded = interval_for("auto", UnitFacts("shares" if shares else "other")) == AGRESTI_COULL
    if units.n < 2 or (units.degenerate and not bounded):
        return Estimate(value, None, None, panel.n, "the noise of all items is equal, so there is no interval")
    if bounded:
        return Estimate(value, _bounded_sd(variances, values.shape[1], panel, level).around(value), None, panel.n)
    found = interval(units, method="auto", confidence_level=level).interval
    low, high = (sqrt(max(limit, 0.0)) for limit in (found.low, found.high))
    return Estimate(value, Interval(low, high, level, found.method), None, panel.n)


def _bounded_sd(variances: Floats, runs: int, panel: Panel, level: float) -> Interval:
    """Of scores from 0 to 1: a mean of variances between 0 and the largest that so many runs can have."""
    most = (runs // 2) * (runs - runs // 2) / (runs * (runs - 1))
    shares = np.round(variances / most, 12)  # 1, and not a digit beside it
    found = bounded_interval(
        _drawn(panel, shares, np.ones(panel.n)),
        np.ones(panel.n),
        level,
        right_or_wrong=bool(np.isin(shares, (0.0, 1.0)).all()),
    )
    return Interval(sqrt(most * found.low), sqrt(most * found.high), level, found.method)


def _drawn(panel: Panel, numerators: Floats, denominators: Floats) -> Units:
    """The items, or sums over their clusters: what is drawn."""
    if panel.clusters is None:
        return Units(numerators, denominators)
    return Units(grouped(numerators, panel.clusters), grouped(denominators, panel.clusters))


def _item_noise(repeats: RunColumns, model: int) -> RunVariance:
    """The variance that the noise of single items, or of whole clusters, gives the score of a run."""
    sums = repeats.panel.cluster_sums()
    return item_spread(np.ascontiguousarray(sums.numerators[:, repeats.columns(model)]), sums.denominators)


def _detectable(noise: RunNoise, models: Sequence[ModelRuns], goal: Goal, widest: float) -> Detectable:
    """The difference of two runs has √2 times their standard deviation; a t test needs so many of these.

    What is beyond the ``widest`` difference that there can be is not detectable.
    """
    runs = min(len(model.runs) for model in models)
    sd, limits = noise.estimate.value, noise.estimate.interval
    if not sd:
        return Detectable(None, None, runs, "the scores of all runs are equal, so they show no noise")
    factor = sqrt(2) * detectable_shift(round(noise.df, 6), goal.level, goal.power)
    one, several = (_within(widest, factor / sqrt(k), sd, limits) for k in (1, runs))
    hidden = None if several[0] is not None else "so much noise hides every difference that scores from 0 to 1 can have"
    return Detectable(one[0], several[0], runs, hidden, one[1], several[1])


def _within(widest: float, factor: float, sd: float, limits: Interval | None) -> tuple[float | None, Interval | None]:
    """A difference of so many standard deviations and its limits; nothing where it is wider than can be."""
    if factor * sd > widest:
        return None, None
    scaled = None if limits is None else limits.scaled(factor)
    return factor * sd, scaled if scaled is None else replace(scaled, high=min(scaled.high, widest))


def _across(repeats: RunColumns, models: Sequence[ModelRuns], goal: Goal) -> tuple[AcrossModels, str | None]:
    systems, note = repeats.crossed()  # (m, k)
    scores = repeats.scores[systems]
    sign = 1 if repeats.panel.metric.lower_is_better else -1
    order = np.argsort(sign * np.array([model.score for model in models]), kind="stable").tolist()
    chosen = list(combinations(order, 2)) if len(order) <= MOST_ALL_PAIRS else list(pairwise(order))
    across = AcrossModels(
        n_runs=scores.shape[1],
        order=tuple(models[i].name for i in order),
        icc=intraclass(scores, goal.level),
        components=_components(repeats, systems),
        stability=rank_stability(scores),
        pairs=tuple(_pair(repeats, (models[i], models[j]), systems[[i, j]], goal) for i, j in chosen),
    )
    return across, note


def _components(repeats: RunColumns, systems: Integers) -> tuple[Component, ...]:
    """Those of models × items × runs; runs with different names are repetitions of a cell, not a factor."""
    unit = repeats.panel.unit + "s"
    values = np.stack([repeats.values_of(columns) for columns in systems])  # (m, n, k)
    if repeats.shared_runs:
        return variance_components(values, ("models", unit, "runs"))
    return variance_components(values, ("models", unit), repeats="runs, residual")


def _pair(repeats: RunColumns, models: tuple[ModelRuns, ModelRuns], systems: Integers, goal: Goal) -> ModelPair:
    ahead, behind = models
    scores = repeats.scores[systems]  # (2, k)
    error, df = _difference_error(repeats, systems)
    least = error * detectable_shift(df, goal.level, goal.power) if error and df >= 1 else None
    return ModelPair(
        ahead=ahead.name,
        behind=behind.name,
        difference=ahead.score - behind.score,
        repeats=_order_repeats(scores, goal.level),
        error=error,
        detectable=None if least is None or least > repeats.widest else least,
    )


def _order_repeats(scores: Floats, level: float) -> Estimate:
    """The probability that two runs agree on the order of two models, from their scores (2, k).

    It is p² + (1 − p)² and so at least ½, which the share of pairs of runs that agree need not be. Two runs make one
    pair, which cannot tell how often they would agree.
    """
    found = order_repeats(scores[0], scores[1], level)
    if found.value is None or found.n < FEWEST_ORDERED:
        reason = found.reason if found.value is None else "two runs make one pair of runs; at least three are needed"
        return Estimate(None, None, None, found.n, reason)
    least = 0.5 if found.interval is None else found.interval.low
    return replace(found, value=max(found.value, least))


def _difference_error(repeats: RunColumns, systems: Integers) -> tuple[float | None, float]:
    """The standard error of a mean difference over new items and new runs, and its degrees of freedom.

    The error over items, or their clusters, already includes the noise of single items; the shift that a run gives all
    items is added if the runs differ by more than that noise.
    """
    panel = repeats.panel
    gaps = repeats.values_of(systems[0]) - repeats.values_of(systems[1])  # (n, k)
    n, k = gaps.shape
    means = gaps.mean(axis=1) * panel.denominators
    units = _drawn(panel, means, panel.denominators)
    items = standard_error(units)
    if items is None:
        return None, 0
    table = TwoWay.of(gaps)
    shift = max(table.raters - table.error, 0.0) / (n * k)
    total = items**2 + shift
    if shift == 0:
        return items, units.n - 1
    parts = [(items**2, units.n - 1), (table.raters / (n * k), k - 1), (table.error / (n * k), (n - 1) * (k - 1))]
    return sqrt(total), total**2 / sum(part**2 / df for part, df in parts)


def _signature(panel: Panel, goal: Goal) -> str:
    return signature(
        "reliability",
        units=panel.unit + "s",
        n=panel.n,
        clusters=None if panel.n_clusters is None else f"{panel.n_clusters} {panel.cluster_by}",
        models=len(panel.models),
        runs="+".join(str(len(runs.columns)) for runs in panel.models),
        level=goal.level,
        power=goal.power,
        data=panel.digest[:16],
    )
