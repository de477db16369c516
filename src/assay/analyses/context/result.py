"""The record that `context` returns."""

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from assay.data.panel_views import Substance
from assay.data.runs.positions import Bin
from assay.design import DEFAULT_RESAMPLES, Design
from assay.results import words
from assay.results.figures import Axes, Curve, Mark, Series
from assay.results.parts import Caution, Column, Fact, ResultTable, Section, cautions_of, looked_at
from assay.results.record import Result
from assay.stats.records import Estimate, Fallback, Test

if TYPE_CHECKING:
    import pandas as pd

_BEFORE_ONE = 0.5  # where position 0 is drawn on a logarithmic axis
_TOO_FEW = 0.02  # of the tokens: first positions with fewer would flatten all others
_FEWEST_SHOWN = 3  # bins
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
        return (Section("positions", "By position", figures=(self._curve(),), tables=tuple(tables)),)

    def to_frame(self) -> "pd.DataFrame":
        """A row per model and bin, and per difference and bin (pandas must be installed)."""
        import pandas as pd  # late: half a second, and not a dependency

        rows = [row for model in self.models for row in _loss_records(model)]
        return pd.DataFrame([*rows, *(row for pair in self.differences for row in _difference_records(pair))])

    def _curve(self) -> Curve:
        """Loss by position, a line and a band per model; below, B − A with the intervals that hold for all bins."""
        axis = _PositionAxis(self)
        losses = Axes(
            "loss (nats per token)" if self.shown == "loss" else "perplexity",
            tuple(axis.losses(model, self.shown) for model in self.models),
        )
        gaps = Axes(
            "difference (nats), bands for all bins",
            tuple(map(axis.gaps, self.differences)),
            f"Difference from {self.names[0]}; below 0 is better",
            (Mark(0.0, "", dashed=False),),
            zero=True,
            tall=False,
        )
        return Curve(
            "context",
            f"{self.shown.capitalize()} by length of context",
            self._legend(axis),
            "tokens of context before the predicted one",
            (losses, gaps) if self.differences else (losses,),
            2 if axis.log else None,
            axis.ticks,
        )

    def _legend(self, axis: "_PositionAxis") -> tuple[str, ...]:
        bands = f"Bands: {words.percent(self.design.level)} CIs of single bins ({self._clusters})"
        below = "; of differences, of all bins at once." if self.differences else "."
        left_out = f"Not drawn: positions below {axis.bins[0].low:,}, {100 * axis.left_out:.1f}% of the tokens."
        lines = (f"{bands}{below}", "Solid line: context still helps. Dashed: no further improvement is shown.")
        return (*lines, left_out) if axis.first else lines


class _PositionAxis:
    """Which bins of a curve are drawn, and where."""

    def __init__(self, curve: ContextCurve) -> None:
        points = curve.models[0].points
        self.log = (curve.axis or ("log" if curve.bins == "log" else "linear")) == "log"
        held = list(accumulate(point.tokens for point in points))
        self.first = sum(part <= _TOO_FEW * held[-1] for part in held[:-_FEWEST_SHOWN])
        self.bins = [point.bin for point in points[self.first :]]
        self.left_out = held[self.first - 1] / held[-1] if self.first else 0.0

    def place(self, low: int, high: int) -> float:
        """Where a bin is drawn: at its middle."""
        if self.log:
            return sqrt(low * high) if low > 0 else _BEFORE_ONE
        return (low + high) / 2

    @property
    def ticks(self) -> dict[float, str]:
        """Powers of 2, for bins that double."""
        low, high = self.bins[0].low, self.bins[-1].high
        doubled = {float(2**k): f"{2**k:,}" for k in range(high.bit_length()) if 2**k >= low}
        return {} if not self.log else {_BEFORE_ONE: "0"} | doubled if low == 0 else doubled

    def losses(self, model: ModelCurve, shown: CurveQuantity) -> Series:
        """A line, dashed where context no longer helps."""
        helps = model.points[0].high if model.helps_until is None else model.helps_until
        last = next(point for point in model.points if point.high >= helps)
        from_there = None if model.still_helps else self.place(last.low, last.high)
        return self._series(model.name, model.points, [getattr(point, shown) for point in model.points], from_there)

    def gaps(self, pair: PairCurve) -> Series:
        return self._series(pair.b, pair.gaps, [gap.adjusted for gap in pair.gaps], None)

    def _series(
        self,
        name: str,
        bins: Sequence[BinLoss | BinDifference],
        estimates: Sequence[Estimate],
        dashed_from: float | None,
    ) -> Series:
        drawn = estimates[self.first :]
        limits = [(e.value, e.value) if e.interval is None else (e.interval.low, e.interval.high) for e in drawn]
        return Series(
            name,
            tuple(self.place(one.low, one.high) for one in bins[self.first :]),
            tuple(one.value for one in drawn),
            tuple(low for low, _ in limits),
            tuple(high for _, high in limits),
            dashed_from,
        )


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
