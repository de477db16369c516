"""The record that `context` returns."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from assay.analyses.context.figure import curve_figure
from assay.data.panel_views import Substance
from assay.data.runs.positions import Bin
from assay.design import DEFAULT_RESAMPLES, Design
from assay.results import words
from assay.results.parts import Caution, Column, Fact, ResultTable, Section, cautions_of, looked_at
from assay.results.record import Result
from assay.stats.records import Estimate, Fallback, Test

if TYPE_CHECKING:
    import pandas as pd

_SIGNED, _SIGNED_LIMITS = partial(words.compact, sign=True), partial(words.compact_limits, sign=True)


AxisKind = Literal["log", "linear"]
CurveQuantity = Literal["loss", "perplexity"]


class BinLoss(msgspec.Struct, frozen=True):
    """One model at the positions of one bin, ``low`` to ``high``."""

    low: int
    high: int
    tokens: int
    loss: Estimate  # nats per token; the interval holds for this bin alone
    perplexity: Estimate
    gain: Estimate | None  # loss here − loss at all later positions, within documents; None in the last bin
    test: Test | None  # of no gain, adjusted for the number of bins
    within: float | None = None  # nats per token, were all documents as long; None: not known

    @property
    def bin(self) -> Bin:
        return Bin(self.low, self.high)


class ModelCurve(msgspec.Struct, frozen=True, kw_only=True):
    """One model along its context, and how far context helps it."""

    name: str
    sentence: str
    helps_until: int | None  # end of the last bin with a shown improvement; None: none is shown at all
    still_helps: bool  # whether improvement is shown up to the longest context measured
    slope: Estimate  # nats per doubling of the position, from slope_from on
    slope_from: int
    points: tuple[BinLoss, ...] = msgspec.field(name="bins")


class BinDifference(msgspec.Struct, frozen=True):
    """B − A at the positions of one bin, in nats per token."""

    low: int
    high: int
    difference: Estimate  # the interval holds for this bin alone
    adjusted: Estimate  # the interval holds for all bins at once
    test: Test  # adjusted for the number of bins

    @property
    def bin(self) -> Bin:
        return Bin(self.low, self.high)


class PairCurve(msgspec.Struct, frozen=True, kw_only=True):
    """The difference between two models along their context."""

    a: str
    b: str
    sentence: str
    gaps: tuple[BinDifference, ...] = msgspec.field(name="bins")


class ContextCurve(Result, frozen=True, kw_only=True, tag="assay/context/1"):
    """Loss along the context: a curve per model, and each model's difference from the first."""

    question = "Does longer context still help?"
    kind_name = "context curve"

    sentence: str
    models: tuple[ModelCurve, ...]
    differences: tuple[PairCurve, ...]
    bins: str  # "log", or how many
    axis: AxisKind | None = None  # of the positions in the figure; None: as the bins are
    shown: CurveQuantity = "loss"  # in the figure
    n_clusters: int
    cluster_by: str  # "document", or "window" where there is one document
    substance: Substance | None = None  # how much evidence there is, by all tokens of what is drawn
    fallbacks: tuple[Fallback, ...]
    notes: tuple[str, ...]
    design: Design
    signature: str

    @property
    def names(self) -> list[str]:
        return [model.name for model in self.models]

    @property
    def subject(self) -> str:
        return ", ".join(self.names)

    @property
    def compared(self) -> tuple[Fact, ...]:
        return looked_at(self.names, self.n_clusters, self._clusters)

    @property
    def _clusters(self) -> str:
        return words.count(self.n_clusters, self.cluster_by)

    @property
    def facts(self) -> tuple[Fact, ...]:
        level, drawn = words.percent(self.design.level), self.design.resamples or DEFAULT_RESAMPLES
        at_once = f"max-T, right for all bins at once; {drawn:,} resamples, seed {self.design.seed}"
        made = (point.loss.interval for model in self.models for point in model.points)
        return (
            Fact("clusters", self.n_clusters, "clusters", self._clusters),
            Fact("one bin", f"{level} {words.methods(made)} interval, right for each bin alone", "one bin"),
            Fact("all bins", at_once, "all bins"),
        )

    @property
    def cautions(self) -> tuple[Caution, ...]:
        return cautions_of(self.notes, self.fallbacks)

    @property
    def sections(self) -> tuple[Section, ...]:
        level = words.percent(self.design.level)
        tables = [table for model in self.models for table in (_losses(model, level), _gains(model, level))]
        tables += [_differences(pair, level) for pair in self.differences]
        return (Section("positions", "By position", figures=(curve_figure(self),), tables=tuple(tables)),)

    def to_frame(self) -> "pd.DataFrame":
        """A row per model and bin, and per difference and bin (pandas must be installed)."""
        import pandas as pd  # late: half a second, and not a dependency

        rows = [row for model in self.models for row in _loss_records(model)]
        return pd.DataFrame([*rows, *(row for pair in self.differences for row in _difference_records(pair))])


def _losses(model: ModelCurve, level: str) -> ResultTable:
    points = model.points
    columns = (
        _positions(points),
        Column("tokens", [point.tokens for point in points]),
        Column(f"loss, nats [{level}]", [point.loss for point in points], words.compact, "loss"),
        Column(f"perplexity [{level}]", [point.perplexity for point in points], words.compact, "perplexity"),
    )
    return ResultTable(f"{model.name}/losses", "loss and perplexity", columns, model.name, "loss")


def _gains(model: ModelCurve, level: str) -> ResultTable:
    points = [point for point in model.points if point.gain is not None and point.test is not None]
    columns = (
        _positions(points),
        Column(f"loss here − loss later [{level}, all bins]", [p.gain for p in points], _SIGNED, "gain"),
        _p_values([point.test for point in points]),
    )
    return ResultTable(f"{model.name}/gains", "does more context help?", columns, model.name, "all bins")


def _differences(pair: PairCurve, level: str) -> ResultTable:
    columns = (
        _positions(pair.gaps),
        Column(f"B − A, nats [{level}, one bin]", [gap.difference for gap in pair.gaps], _SIGNED, "difference"),
        Column("[all bins]", [gap.adjusted.interval for gap in pair.gaps], _SIGNED_LIMITS, "adjusted"),
        _p_values([gap.test for gap in pair.gaps]),
    )
    return ResultTable(f"{pair.b}/differences", "difference", columns, f"A is {pair.a}, B is {pair.b}", "difference")


def _positions(bins: Sequence[BinLoss | BinDifference]) -> Column:
    return Column("position", [str(one.bin) for one in bins])


def _p_values(tests: Sequence[Test | None]) -> Column:
    values = [None if test is None else test.p_value for test in tests]
    return Column("p, adjusted", values, words.p_alone, "p_adjusted")


def _loss_records(model: ModelCurve) -> list[dict[str, Any]]:
    points = model.points
    columns = (
        Column("tokens", [point.tokens for point in points]),
        Column("loss", [point.loss for point in points]),
        Column("perplexity", [point.perplexity for point in points]),
        Column("gain", [point.gain for point in points]),
        Column("gain_p", [None if point.test is None else point.test.p_value for point in points]),
    )
    return _records(model.name, None, points, columns)


def _difference_records(pair: PairCurve) -> list[dict[str, Any]]:
    columns = (
        Column("difference", [gap.difference for gap in pair.gaps]),
        Column("adjusted", [gap.adjusted for gap in pair.gaps]),
        Column("difference_p", [gap.test.p_value for gap in pair.gaps]),
    )
    return _records(pair.b, pair.a, pair.gaps, columns)


def _records(
    model: str, baseline: str | None, bins: Sequence[BinLoss | BinDifference], columns: tuple[Column, ...]
) -> list[dict[str, Any]]:
    """Every number of a curve, a row per bin."""
    named = (
        Column("model", [model] * len(bins)),
        Column("baseline", [baseline] * len(bins)),
        Column("low", [one.low for one in bins]),
        Column("high", [one.high for one in bins]),
    )
    return ResultTable(model, "", (*named, *columns)).records()
