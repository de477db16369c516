"""How good is it, and how sure are we? The mean of one model or of fifty, each with its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from os import PathLike
from typing import Any, Unpack

import msgspec
import numpy as np

from assay.analyses.attempts import (
    attempt_noise,
    attempts_left,
    attempts_of,
    check_at,
    counts_of,
    few_attempts,
    numbers_of,
    passed,
)
from assay.analyses.contrast import check_clusters
from assay.analyses.summarize.judges import EVEN, judges_of, judges_said
from assay.analyses.summarize.metrics import by_metric, joined
from assay.analyses.summarize.result import ModelSummary, PassRate, Summary
from assay.analyses.summarize.sentences import noise_said, notes_of, sentence_of
from assay.analyses.summarize.tasks import TASK, TaskMeans
from assay.data import Panel, Selection, Table
from assay.data.conditions import EVERYTHING
from assay.data.in_memory import is_array, run_columns
from assay.data.judgments import WIN_RATE
from assay.data.metrics import BITS_PER_BYTE, BITS_PER_CHARACTER
from assay.data.readers import Groups
from assay.data.sources import Source, panel_as_asked, read_groups, read_sources, renamed
from assay.data.task_groups import with_groups
from assay.design import Design, DesignFields, Missing, as_given, signature
from assay.errors import UsageError
from assay.names import listed, said_once
from assay.stats.bounded_mean import METHOD as AGRESTI_COULL
from assay.stats.bounded_mean import bounded_error, bounded_interval, nearly_binary
from assay.stats.detectable_shifts import detectable_shift
from assay.stats.finite_set import CENSUS, PartOfSet, check_population, hypergeometric_limits
from assay.stats.planning.plans import Goal
from assay.stats.records import Estimate, Fallback, Interval
from assay.stats.units import Floats, Units, grouped, standard_error
from assay.stats.which_interval import UnitFacts, interval_for

_TOO_LARGE = "the perplexity is too large for a number; is the loss a mean per token, in nats?"


def summarize(
    *sources: Source | Panel,
    design: Design | None = None,
    groups: Groups | str | PathLike[str] | None = None,
    at: int | Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    split: str | None = None,
    lower_is_better: bool | None = None,
    missing: Missing = "drop",
    selection: Selection | None = None,
    population: int | None = None,
    **settings: Unpack[DesignFields],
) -> Summary:
    """Summarize one model or several: the mean score or the loss of each, with its interval.

    ``sources`` are files, logs of a harness, mappings of columns, data frames or tables, each of one model or, with a
    column ``model``, of several; or the scores themselves, as for `compare`: an array for each model, one array or
    frame with a column for each. ``selection`` says which results of a harness are meant. Runs of a model are averaged
    item by item. The source may be one `Panel`.

    Where units have the label ``task``, every task is summarized too, with the mean of all tasks and of each group of
    them: of a harness, of a column ``group``, or as ``groups`` tells, a mapping of group → tasks and groups in it or a
    file with the columns task and group.

    Every model is summarized on the items it has answered; ``missing`` may take those that all have (``"complete"``),
    count answers that are not there as 0 (``"zero"``), or refuse them (``"refuse"``). The fields of a design
    (``level``, ``method``, …) may be given as keywords instead of a ``design``.

    Where items have several attempts that are right or wrong (a column ``run``), pass@k and pass^k stand beside the
    mean: the chance that one of k attempts is right, and that all k are. ``at`` says for which k (by default 1 and the
    most that every item has); an item with fewer attempts is left out of that k, with a note. With ``at`` an array is
    of items × attempts, one for each model.

    ``population`` is the number of items in all, where these are a random part of a fixed set and the question is about
    that set: the interval is then exact for right and wrong answers (hypergeometric), for others √(1 − n/N) as wide.

    >>> summarize([1] * 20, population=25).sentence
    'The score of the model is 1.000 (95% CI 0.920 to 1.000, 20 of 25 items).'

    >>> summarize([1] * 20).sentence
    'The score of the model is 1.00 (95% CI 0.81 to 1.00, 20 items).'

    >>> found = summarize([[1, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1], [0, 1, 1, 0]], at=2)
    >>> round(found.passes[0].one.value, 4), round(found.passes[0].every.value, 4)
    (0.8333, 0.4167)

    Scores from 0 to 1 have the interval of Agresti and Coull (1998) with an effective number of items, which is not
    [1, 1] where all are right; other scores and losses have the design's (t-hall for few units by default, else BCa).
    """
    design = as_given("summarize", Design, design, settings)
    _check_design(design)
    if not sources:
        raise UsageError("summarize needs at least one table of results.")
    how: dict[str, Any] = {"cluster": cluster, "split": split, "lower_is_better": lower_is_better}
    if isinstance(sources[0], Panel) or (at is not None and all(map(is_array, sources))):
        panel, runs = _in_memory(sources, at, columns, selection, missing, how)
        return _summary(_grouped(panel, groups), runs, design, at, names, cluster, population)
    asked = selection or Selection()
    every = replace(asked, every_task=True, every_metric=True, attempts=at is not None, allow_different=(EVERYTHING,))
    tables = read_sources(sources, columns=columns, cluster=cluster, selection=every)
    parts = by_metric(tables)
    if len(parts) < 2:
        panel, runs = _of_tables(tables, at, missing, how)
        single = _summary(_grouped(panel, groups), runs, design, at, names, cluster, population)
        return _judged(single, tables)
    if groups is not None:
        raise UsageError(
            f"groups of tasks have a mean of one metric, and there are {len(parts)} ({listed(parts)}); choose with "
            "`Selection(metric=...)`."
        )
    own = {metric: _of_tables(some, at, missing, how) for metric, some in parts.items()}
    called = {metric: _names_in(parts, some, names) for metric, some in parts.items()}
    found = {
        metric: _summary(*panels, design, at, called[metric], cluster, population) for metric, panels in own.items()
    }
    return joined(found, [panel.digest for panel, _ in own.values()], design)


def _grouped(panel: Panel, groups: Groups | str | PathLike[str] | None) -> Panel:
    return panel if groups is None else with_groups(panel, TASK, read_groups(groups))


def _judged(found: Summary, tables: Sequence[Table]) -> Summary:
    """With what is to be known of the judges, where scores are verdicts on two answers."""
    judges = judges_of(tables, found.design.level)
    said = judges_said(judges, found.design.level)
    return msgspec.structs.replace(found, judges=judges, judges_said=said) if judges else found


def _names_in(
    parts: Mapping[str, Sequence[Table]], tables: Sequence[Table], names: Sequence[str] | None
) -> Sequence[str] | None:
    """What the models of one metric are to be called, where all models have been given names."""
    if names is None:
        return None
    every = list(dict.fromkeys(table.name for some in parts.values() for table in some))
    if len(every) != len(names):
        raise UsageError(f"names must be {len(every)} different ones, one for each model, but got {listed(names)}.")
    return [names[every.index(table.name)] for table in tables]


def _summary(
    panel: Panel,
    runs: Panel | None,
    design: Design,
    at: int | Sequence[int] | None,
    names: Sequence[str] | None,
    cluster: str | None,
    population: int | None,
) -> Summary:
    check_clusters(panel, cluster)
    named = renamed(panel, names)
    if runs is not None and names is not None:
        own = dict(zip(panel.systems, names, strict=True))
        runs = replace(runs, models=tuple(replace(one, model=own[one.model]) for one in runs.by_model))
    return summarize_panel(named, design, runs, at, population)


def _in_memory(
    sources: Sequence[Source | Panel],
    at: int | Sequence[int] | None,
    columns: Mapping[str, str] | None,
    selection: Selection | None,
    missing: Missing,
    how: dict[str, Any],
) -> tuple[Panel, Panel | None]:
    """The panel with a column for each model, and the one with a column for each run of it, where there are runs."""
    if len(sources) > 1 and any(isinstance(source, Panel) for source in sources):
        raise UsageError("summarize takes one panel, or files and tables, but not both.")
    first = sources[0] if isinstance(sources[0], Panel) else run_columns(sources)
    panel = panel_as_asked(first, columns=columns, selection=selection, **how)
    averaged = panel.averaged().without(missing)
    return averaged, attempts_left(panel, missing) if panel.models or at is not None else None


def _of_tables(
    tables: Sequence[Table], at: int | Sequence[int] | None, missing: Missing, how: dict[str, Any]
) -> tuple[Panel, Panel | None]:
    """The same of tables."""
    panel = Panel.from_tables(tables, missing=missing, **how)
    if at is None and (panel.kind != "scores" or not any("run" in table.labels for table in tables)):
        return panel, None
    return panel, attempts_of(tables, panel.systems, how["cluster"], missing)


def _check_design(design: Design) -> None:
    if design.method == "tango":
        raise UsageError("tango is an interval of a difference, and summarize has none; leave the method out.")
    used = Design(method=design.method, level=design.level, resamples=design.resamples, seed=design.seed)
    if used != design:
        raise UsageError("summarize takes the method, level, resamples and seed of a design; leave out the rest.")


def _check_part(panel: Panel, design: Design, runs: Panel | None, population: int) -> None:
    """Refuse a fixed set that these units cannot be a part of, and what has no correction for one."""
    check_population(population, panel.n, panel.unit)
    if runs is not None:
        raise UsageError(
            f"`population` is about {panel.unit}s that were answered once, and there are several runs, which are drawn "
            "too; leave it out, or summarize single runs."
        )
    if TASK in panel.labels and len(panel.label(TASK).names) > 1:
        raise UsageError("`population` is of one task, and there are several; choose one with `Selection(task=...)`.")
    if design.method not in ("auto", "agresti-coull", "t-hall", "t"):
        raise UsageError(f"`population` corrects closed forms: choose t-hall or t instead of {design.method}.")


def summarize_panel(
    panel: Panel,
    design: Design,
    runs: Panel | None = None,
    at: int | Sequence[int] | None = None,
    population: int | None = None,
) -> Summary:
    """The summary of every model of a panel; ``runs`` has a column for each run of the same models."""
    panel = panel.averaged()
    if population is not None:
        _check_part(panel, design, runs, population)
    rule = _Rule(panel, design, runs, population)
    by_task = TASK in panel.labels and panel.cluster != TASK and population is None
    means = TaskMeans(panel, design.level, bounded=rule.bounded) if by_task else None
    every = _at(runs, at)
    found = Summary(
        kind=panel.kind,
        measure=panel.metric.name,
        unit=panel.unit,
        lower_is_better=panel.metric.lower_is_better,
        sentence="",
        models=rule.models(panel),
        tasks={task: rule.models(part) for task, part in panel.by(TASK)} if by_task else {},
        macro={} if means is None else means.of(list(means.parts)),
        groups=() if means is None else means.groups(),
        measures=dict(panel.measures) if by_task else {},
        passes=() if runs is None else tuple(one for k in every for one in rule.passes(runs, k)),
        n=panel.n,
        population=population,
        n_clusters=panel.n_clusters,
        cluster_by=panel.cluster_by,
        substance=panel.substance(),
        lost=panel.lost_answers,
        fallbacks=tuple(dict.fromkeys(rule.fallbacks)),
        notes=(*said_once(panel.notes), *(() if means is None else means.notes)),
        design=design,
        signature=rule.signature(panel, every),
    )
    few = [] if runs is None else [note for k in every if (note := few_attempts(runs, k))]
    found = msgspec.structs.replace(found, attempts_said=noise_said(found))
    return msgspec.structs.replace(found, sentence=sentence_of(found), notes=(*found.notes, *few, *notes_of(found)))


def _at(runs: Panel | None, asked: int | Sequence[int] | None) -> list[int]:
    """For which k: as asked, or 1 and the most that every item of every model has."""
    if runs is None:
        return []
    if asked is not None:
        every = list(asked) if isinstance(asked, Sequence) else [asked]
        if not every:
            raise UsageError("at must be one number or several, but got none.")
        for k in every:
            check_at(runs, k)
        return sorted(set(every))
    least = min((int(n) for model in range(len(runs.by_model)) for n in numbers_of(runs, model)), default=1)
    return [1, least] if least > 1 and runs.binary and not runs.metric.lower_is_better else []


def _counted(runs: Panel, model: int) -> dict[str, int]:
    """How many runs of a model every unit has."""
    return dict(zip(runs.ids.tolist(), counts_of(runs, model)[1].astype(int).tolist(), strict=True))


def _record(one: Panel) -> tuple[int, int, int]:
    """On how many units the only system did better than even, even, and worse."""
    values = one.values[:, 0]
    return int((values > EVEN).sum()), int((values == EVEN).sum()), int((values < EVEN).sum())


class _Rule:
    """How the interval of a model is computed, the same for all models of a panel; and what could not be done so."""

    def __init__(self, panel: Panel, design: Design, runs: Panel | None = None, population: int | None = None) -> None:
        models = () if runs is None else runs.by_model
        self.repeats = {one.model: i for i, one in enumerate(models)}
        self.counts = {one.model: _counted(runs, i) for i, one in enumerate(models) if runs is not None}
        values = panel.values[panel.answered]
        bounded = panel.kind == "scores" and bool(((values >= 0) & (values <= 1)).all())
        self.design, self.population = design, population
        self.bounded = interval_for(design.method, UnitFacts("shares" if bounded else "other")) == AGRESTI_COULL
        self.sign = 1 if panel.metric.lower_is_better else -1
        self.fallbacks: list[Fallback] = []
        self.made: list[Interval | None] = []
        self.resamples: int | str = "closed"  # how many were drawn: "exact" is all there are, "closed" needs none

    def models(self, panel: Panel) -> tuple[ModelSummary, ...]:
        """Every model that has answered any of the units, the best first."""
        there = [name for name, column in zip(panel.systems, panel.answered.T, strict=True) if column.any()]
        found = [self.model(panel.of_models([name])) for name in there]
        return tuple(sorted(found, key=lambda model: self.sign * (model.value.value or 0.0)))

    def model(self, whole: Panel) -> ModelSummary:
        """The summary of the only system of a panel, over the units that it answered."""
        one = whole.complete()
        value = self.estimate(one, one.metric.name)
        drawn = one.units(one.metric.name, 0)
        return ModelSummary(
            name=one.systems[0],
            value=value,
            perplexity=value.exp(_TOO_LARGE) if one.kind == "losses" else None,
            bits_per_byte=self.further(one, BITS_PER_BYTE.name),
            bits_per_character=self.further(one, BITS_PER_CHARACTER.name),
            n=one.n,
            n_clusters=one.n_clusters,
            effective=one.substance().effective,
            missing=whole.n - one.n,
            runs=self.numbers(one),
            detectable=self.detectable(one, drawn),
            record=_record(one) if one.metric.name == WIN_RATE else None,
            costs={name: mean for name, cost in one.costs.items() if (mean := self.cost(one, cost[:, 0])) is not None},
        )

    def cost(self, one: Panel, values: Floats) -> Estimate | None:
        """The mean of a cost over the units of which it is known; by t-hall, which skewed costs need."""
        known = ~np.isnan(values)
        if not known.any():
            return None
        tops, below = values[known], np.ones(int(known.sum()))
        if one.clusters is not None:
            codes = np.unique(one.clusters[known], return_inverse=True)[1]
            tops, below = grouped(tops, codes), grouped(below, codes)
        drawn = Units(tops, below)
        found = Design(method="t-hall", level=self.design.level).interval(drawn)
        value, error, n = drawn.estimate, standard_error(drawn), int(known.sum())
        if found.degenerate:
            return Estimate(value, None, error, n, found.fallbacks[0].why)
        limits = found.interval.around(value)
        part = self.part(n)
        if part is not None:
            limits, error = part.closer(limits, value), None if error is None else error * part.factor
        return Estimate(value, replace(limits, low=max(limits.low, 0.0)), error, n)

    def part(self, n: int) -> PartOfSet | None:
        """What so many units are of the fixed set, where there is one."""
        return None if self.population is None else PartOfSet(n, self.population)

    def numbers(self, one: Panel) -> tuple[int, int] | None:
        """The fewest and the most runs of an item, where runs are known."""
        counts = self.counts.get(one.systems[0])
        if counts is None:
            return None
        found = [counts[name] for name in one.ids]
        return min(found), max(found)

    def detectable(self, one: Panel, drawn: Units) -> float | None:
        """The difference to a model as good as this one, and unrelated to it, that so many items show with 80% power.

        √2 standard errors are those of the difference; Student's t test needs so many of them.
        """
        error = self.error(one, drawn)
        if not error or drawn.n < 2:
            return None
        found = sqrt(2) * error * detectable_shift(drawn.n - 1, self.design.level, Goal().power)
        return None if self.bounded and found > 1 else found

    def error(self, one: Panel, drawn: Units) -> float | None:
        part = self.part(one.n)
        if not self.bounded or (part is not None and part.whole):
            error = standard_error(drawn)
            return error if error is None or part is None else error * part.factor
        variance = 1.0 if part is None else part.factor**2
        return bounded_error(drawn, one.denominators, self.design.level, right_or_wrong=one.binary, variance=variance)

    def passes(self, runs: Panel, k: int) -> list[PassRate]:
        """pass@k and pass^k of every model, in the order of the columns."""
        one, every = (passed(runs, k, every=every) for every in (False, True))
        return [self.rate(runs, one.of_models([name]), every.of_models([name]), k) for name in one.systems]

    def rate(self, runs: Panel, one: Panel, every: Panel, k: int) -> PassRate:
        one, every = one.complete(), every.complete()
        name = one.systems[0]
        found, both = (self.share(panel) for panel in (one, every))
        noise = attempt_noise(runs, self.repeats[name], k, found.standard_error)
        left = int((numbers_of(runs, self.repeats[name]) < k).sum())
        return PassRate(name=name, k=k, one=found, every=both, n=one.n, left_out=left, noise=noise)

    def further(self, one: Panel, metric: str) -> Estimate | None:
        """By a metric beside the one that decides, where the panel has it."""
        return self.estimate(one, metric) if metric in [known.name for known in one.metrics[1:]] else None

    def share(self, one: Panel) -> Estimate:
        """pass@k or pass^k: where all but a few items are settled, they count as right or wrong."""
        return self.estimate(one, one.metric.name, right_or_wrong=nearly_binary(one.values[:, 0]))

    def estimate(self, one: Panel, metric: str, *, right_or_wrong: bool = False) -> Estimate:
        drawn = one.units(metric, 0)
        value = one.estimate(0) if metric == one.metric.name else drawn.estimate
        error = standard_error(drawn)
        part = self.part(one.n)
        if part is not None:
            return self.of_set(one, drawn, value, part)
        if self.bounded:
            binary = right_or_wrong or one.binary
            limits = bounded_interval(drawn, one.denominators, self.design.level, right_or_wrong=binary)
            self.made.append(limits)
            return Estimate(value, limits.around(value), error, one.n)
        found = self.design.interval(drawn)
        self.fallbacks += found.fallbacks
        self.made.append(found.interval)
        if found.source != "closed form":
            self.resamples = found.resamples or "exact"
        if found.degenerate:
            return Estimate(value, None, error, one.n, found.fallbacks[0].why)
        return Estimate(value, found.interval.around(value), error, one.n)

    def of_set(self, one: Panel, drawn: Units, value: float, part: PartOfSet) -> Estimate:
        """The mean over the fixed set: exact for right and wrong answers, corrected for others."""
        level, error, plain = (
            self.design.level,
            standard_error(drawn),
            one.clusters is None and drawn.equal_denominators,
        )
        error = None if error is None else error * part.factor
        if part.whole:
            limits = Interval(value, value, level, CENSUS)
        elif self.bounded and one.binary and plain:
            right = round(float(one.values[:, 0].sum()))
            limits = Interval(*hypergeometric_limits(right, one.n, part.population, level), level, "hypergeometric")
        elif self.bounded:
            variance = part.factor**2
            weights = one.denominators
            limits = bounded_interval(drawn, weights, level, right_or_wrong=one.binary, variance=variance)
        elif drawn.n < 2 or drawn.degenerate:
            return Estimate(value, None, error, one.n, "without spread there is no interval")
        else:
            limits = part.interval(drawn, level, "t" if self.design.method == "t" else "t-hall").interval
        self.made.append(limits)
        return Estimate(value, limits.around(value), error, one.n)

    def signature(self, panel: Panel, at: Sequence[int]) -> str:
        return signature(
            "summary",
            units=panel.unit + "s",
            models=panel.k,
            n=panel.n,
            population=self.population,
            clusters=None if panel.n_clusters is None else f"{panel.n_clusters} {panel.cluster_by}",
            at="+".join(map(str, at)) or None,
            method=self.design.ran(self.made),
            resamples=self.resamples,
            level=self.design.level,
            seed=self.design.seed if isinstance(self.resamples, int) else None,
            data=panel.digest[:16],
        )
