"""A context curve as tables: for people, line by line or in HTML, and for data frames."""

from dataclasses import asdict
from typing import Any

from assay.analyses.context_points import Gap, ModelCurve, PairCurve, Point
from assay.analyses.sheet import Sheet
from assay.results import words
from assay.stats.records import Estimate, Interval, Test


def loss_sheet(model: ModelCurve, level: str) -> Sheet:
    header = ("position", "tokens", f"loss, nats [{level}]", f"perplexity [{level}]")
    cells = [(str(p.bin), f"{p.tokens:,}", _shown(p.loss), _shown(p.perplexity)) for p in model.points]
    return Sheet(("model", model.name), header, cells)


def gain_sheet(model: ModelCurve, level: str) -> Sheet:
    header = ("position", f"loss here − loss later [{level}, all bins]", "p, adjusted")
    cells = [
        (str(p.bin), _shown(p.gain, sign=True), _p_text(p.test))
        for p in model.points
        if p.gain is not None and p.test is not None
    ]
    return Sheet(("more helps?", model.name), header, cells)


def gap_sheet(pair: PairCurve, level: str) -> Sheet:
    header = ("position", f"B − A, nats [{level}, one bin]", "[all bins]", "p, adjusted")
    cells = [
        (str(gap.bin), _shown(gap.difference, sign=True), _limits(gap.adjusted.interval, sign=True), _p_text(gap.test))
        for gap in pair.gaps
    ]
    return Sheet(("difference", f"A: {pair.a}, B: {pair.b}"), header, cells)


def _shown(estimate: Estimate | None, *, sign: bool = False) -> str:
    if estimate is None or estimate.value is None:
        return "undefined"
    value = words.placed(estimate.value, _places(estimate.interval), sign=sign)
    return value if estimate.interval is None else f"{value} {_limits(estimate.interval, sign=sign)}"


def _limits(limits: Interval | None, *, sign: bool) -> str:
    if limits is None:
        return "undefined"
    return f"[{words.limits_at(limits, _places(limits), sign=sign)}]"


def _places(limits: Interval | None) -> int | None:
    """One decimal place fewer than a sentence has, so that a line fits into 80 columns."""
    places = words.decimals(limits)
    return None if places is None else max(places - 1, 0)


def _p_text(test: Test) -> str:
    return "undefined" if test.p_value is None else f"{test.p_value:.2g}"


def point_row(name: str, point: Point) -> dict[str, Any]:
    row: dict[str, Any] = {"model": name, "baseline": None, **asdict(point.bin), "tokens": point.tokens}
    row |= _flat("loss", point.loss) | _flat("perplexity", point.perplexity) | _flat("gain", point.gain)
    return row | {"gain_p": None if point.test is None else point.test.p_value}


def gap_row(pair: PairCurve, gap: Gap) -> dict[str, Any]:
    row: dict[str, Any] = {"model": pair.b, "baseline": pair.a, **asdict(gap.bin)}
    row |= _flat("difference", gap.difference) | _flat("adjusted", gap.adjusted)
    return row | {"difference_p": gap.test.p_value}


def _flat(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    limits = None if estimate is None else estimate.interval
    return {
        name: None if estimate is None else estimate.value,
        f"{name}_low": None if limits is None else limits.low,
        f"{name}_high": None if limits is None else limits.high,
    }
