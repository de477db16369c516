"""How good is it, and how sure are we? The mean of one model or of fifty, each with its interval."""

from collections.abc import Mapping

import msgspec

from assay.analyses.summarize.result import ModelSummary, Summary
from assay.analyses.summarize.sentences import notes_of, sentence_of
from assay.data import Panel, Selection, read_tables
from assay.data.metrics import BITS_PER_BYTE, BITS_PER_CHARACTER
from assay.data.sources import Source, panel_as_asked
from assay.design import Design, signature
from assay.errors import UsageError
from assay.names import said_once
from assay.stats.bounded_mean import METHOD as AGRESTI_COULL
from assay.stats.bounded_mean import bounded_interval
from assay.stats.records import Estimate, Fallback, Interval
from assay.stats.units import standard_error
from assay.stats.which_interval import Facts, interval_for

TASK = "task"  # the label of units by which models are summarized apart as well
_TOO_LARGE = "the perplexity is too large for a number; is the loss a mean per token, in nats?"


def summarize(
    *sources: Source | Panel,
    design: Design | None = None,
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    split: str | None = None,
    lower_is_better: bool | None = None,
    selection: Selection | None = None,
) -> Summary:
    """Summarize one model or several: the mean score or the loss of each, with its interval.

    ``sources`` are files, logs of a harness, mappings of columns, data frames or tables, each of one model or, with a
    column ``model``, of several; ``selection`` says which results of a harness are meant. Runs of a model are averaged
    item by item. The source may be one `Panel`; where its units have the label ``task``, every task is summarized too.

    >>> found = summarize({"item": range(20), "score": [1] * 20})
    >>> found.sentence
    'The score of the table is 1.00 (95 % interval 0.81 to 1.00, 20 items).'

    Scores from 0 to 1 have the interval of Agresti and Coull (1998) with an effective number of items, which is not
    [1, 1] where all are right; other scores and losses have the design's (t-hall for few units by default, else BCa).
    """
    design = design or Design()
    _check_design(design)
    if not sources:
        raise UsageError("summarize needs at least one table of results.")
    if isinstance(sources[0], Panel):
        if len(sources) > 1:
            raise UsageError("summarize takes one panel, or files and tables, but not both.")
        panel = panel_as_asked(
            sources[0],
            cluster=cluster,
            split=split,
            lower_is_better=lower_is_better,
            columns=columns,
            selection=selection,
        )
    else:
        tables = read_tables(sources, columns=columns, cluster=cluster, selection=selection)
        panel = Panel.from_tables(tables, cluster=cluster, split=split, lower_is_better=lower_is_better)
    return summarize_panel(panel, design)


def _check_design(design: Design) -> None:
    if design.method == "tango":
        raise UsageError("tango is an interval of a difference, and summarize has none; leave the method out.")
    used = Design(method=design.method, level=design.level, resamples=design.resamples, seed=design.seed)
    if used != design:
        raise UsageError("summarize takes the method, level, resamples and seed of a design; leave out the rest.")


def summarize_panel(panel: Panel, design: Design) -> Summary:
    """The summary of every model of a panel."""
    panel = panel.averaged()
    rule = _Rule(panel, design)
    models = rule.models(panel)
    by_task = TASK in panel.labels and panel.cluster != TASK
    found = Summary(
        kind=panel.kind,
        measure=panel.metric.name,
        unit=panel.unit,
        lower_is_better=panel.metric.lower_is_better,
        sentence="",
        models=models,
        tasks={task: rule.models(part) for task, part in panel.by(TASK)} if by_task else {},
        n=panel.n,
        n_clusters=panel.n_clusters,
        cluster_by=panel.cluster_by,
        substance=panel.substance(),
        fallbacks=tuple(dict.fromkeys(rule.fallbacks)),
        notes=said_once(panel.notes),
        design=design,
        signature=rule.signature(panel),
    )
    return msgspec.structs.replace(found, sentence=sentence_of(found), notes=(*found.notes, *notes_of(found)))


class _Rule:
    """How the interval of a model is computed, the same for all models of a panel; and what could not be done so."""

    def __init__(self, panel: Panel, design: Design) -> None:
        values = panel.values[panel.answered]
        bounded = panel.kind == "scores" and bool(((values >= 0) & (values <= 1)).all())
        self.design = design
        self.bounded = interval_for(design.method, Facts("shares" if bounded else "other")) == AGRESTI_COULL
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
        )

    def further(self, one: Panel, metric: str) -> Estimate | None:
        """By a metric beside the one that decides, where the panel has it."""
        return self.estimate(one, metric) if metric in [known.name for known in one.metrics[1:]] else None

    def estimate(self, one: Panel, metric: str) -> Estimate:
        drawn = one.units(metric, 0)
        value = one.estimate(0) if metric == one.metric.name else drawn.estimate
        error = standard_error(drawn)
        if self.bounded:
            limits = bounded_interval(drawn, one.denominators, self.design.level, right_or_wrong=one.binary)
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

    def signature(self, panel: Panel) -> str:
        return signature(
            "summary",
            units=panel.unit + "s",
            models=panel.k,
            n=panel.n,
            clusters=None if panel.n_clusters is None else f"{panel.n_clusters} {panel.cluster_by}",
            method=self.design.ran(self.made),
            resamples=self.resamples,
            level=self.design.level,
            seed=self.design.seed if isinstance(self.resamples, int) else None,
            data=panel.digest[:16],
        )
