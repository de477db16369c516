"""The chart of a context curve: the loss within documents, and differences between models below it."""

from collections.abc import Sequence
from itertools import accumulate
from math import sqrt
from typing import TYPE_CHECKING

from assay.results import words
from assay.results.figures import Axes, Curve, Mark, Series
from assay.stats.records import Estimate, Interval

if TYPE_CHECKING:
    from assay.analyses.context.result import BinDifference, BinLoss, ContextCurve, CurveQuantity, ModelCurve, PairCurve

_BEFORE_ONE = 0.5  # where position 0 is drawn on a logarithmic axis
_TOO_FEW = 0.02  # of the tokens: first positions with fewer would flatten all others
_FEWEST_SHOWN = 3  # bins


def curve_figure(found: "ContextCurve") -> Curve:
    """Loss by position, a line and a band per model; below, B − A with the intervals that hold for all bins."""
    axis = _PositionAxis(found)
    losses = Axes(
        "loss (nats per token)" if found.shown == "loss" else "perplexity",
        tuple(axis.losses(model, found.shown) for model in found.models),
    )
    gaps = Axes(
        "difference (nats), bands for all bins",
        tuple(map(axis.gaps, found.differences)),
        f"Difference from {found.names[0]}; below 0 is better",
        (Mark(0.0, "", dashed=False),),
        zero=True,
        tall=False,
    )
    return Curve(
        "context",
        f"{found.shown.capitalize()} by length of context",
        _legend(found, axis),
        "tokens of context before the predicted one",
        (losses, gaps) if found.differences else (losses,),
        2 if axis.log else None,
        axis.ticks,
    )


def _legend(found: "ContextCurve", axis: "_PositionAxis") -> tuple[str, ...]:
    level, documents = words.percent(found.design.level), words.count(found.n_clusters, found.cluster_by)
    lines = [f"Lines: within the same {found.cluster_by}s, so that those that end early cannot bend them."]
    lines.append(f"Bands: {level} CIs of each bin against all later ones, for all bins at once ({documents}).")
    lines.append("Solid: context still helps. Dashed: no further improvement is shown.")
    if axis.first:
        lines.append(f"Not drawn: positions below {axis.bins[0].low:,}, {100 * axis.left_out:.1f}% of the tokens.")
    return tuple(lines)


def levels(points: Sequence["BinLoss"]) -> list[Estimate]:
    """The loss of each bin within documents, with the interval of its gain around it.

    A result of an older version has no such losses: then those of whatever documents a bin has, with their intervals.
    """
    return [point.loss if point.within is None else _with_gain(point, point.within) for point in points]


def _with_gain(point: "BinLoss", level: float) -> Estimate:
    gain = point.gain
    if gain is None or gain.interval is None or gain.value is None:
        return Estimate(level, None, None, point.loss.n)
    low, high = (level + limit - gain.value for limit in (gain.interval.low, gain.interval.high))
    limits = Interval(low, high, gain.interval.level, gain.interval.method)
    return Estimate(level, limits, None, point.loss.n)


class _PositionAxis:
    """Which bins of a curve are drawn, and where."""

    def __init__(self, curve: "ContextCurve") -> None:
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

    def losses(self, model: "ModelCurve", shown: "CurveQuantity") -> Series:
        """A line, dashed where context no longer helps."""
        helps = model.points[0].high if model.helps_until is None else model.helps_until
        last = next(point for point in model.points if point.high >= helps)
        from_there = None if model.still_helps else self.place(last.low, last.high)
        losses = levels(model.points)
        drawn = losses if shown == "loss" else [one.exp("the perplexity is too large for a number") for one in losses]
        return self._series(model.name, model.points, drawn, from_there)

    def gaps(self, pair: "PairCurve") -> Series:
        return self._series(pair.b, pair.gaps, [gap.adjusted for gap in pair.gaps], None)

    def _series(
        self,
        name: str,
        bins: Sequence["BinLoss | BinDifference"],
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
