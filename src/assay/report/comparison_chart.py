"""Charts of a comparison: the interval against what it is judged by, the difference by unit, the distribution."""

from typing import TYPE_CHECKING, Any

from assay.analyses.comparison import Comparison
from assay.analyses.picture import Picture
from assay.report.charts import COLOURS, LINE, TEXT, finished
from assay.report.document import Gauge
from assay.results import words

if TYPE_CHECKING:
    import altair as alt

_WIDTH = 520
_BLUE, _ORANGE = COLOURS[0], COLOURS[1]
_FEW = 120  # units, of which each is a dot that can be seen


def interval_chart(gauge: Gauge) -> "alt.TopLevelMixin":
    """A dot with its interval, and a line for each thing it is judged by."""
    import altair as alt  # late: half a second

    row = {"what": gauge.label, "value": gauge.value, "low": gauge.low, "high": gauge.high}
    marks = [{"place": mark.place, "mark": mark.label} for mark in gauge.marks]
    x = alt.X("value:Q", title=gauge.label, scale=alt.Scale(zero=False, padding=40))
    base = _data([row], 90)
    lines = _data(marks, 90)
    words = lines.mark_text(baseline="top", dy=2, color=TEXT, fontSize=11)
    layers: list[Any] = [
        lines.mark_rule(color=TEXT, strokeDash=[4, 3], y=20).encode(x=alt.X("place:Q")),
        words.encode(x=alt.X("place:Q"), y=alt.value(2), text="mark:N"),
        base.mark_rule(strokeWidth=3, color=_BLUE).encode(x=alt.X("low:Q"), x2="high:Q", y=alt.value(55)),
        base.mark_point(filled=True, size=90, opacity=1, color=_BLUE).encode(x=x, y=alt.value(55)),
    ]
    about = [gauge.text] if gauge.better is None else [f"{gauge.text}. {gauge.better.capitalize()} is better."]
    return finished(alt.layer(*layers), gauge.label[:1].upper() + gauge.label[1:], about)


def difference_chart(found: Comparison, picture: Picture) -> "alt.TopLevelMixin":
    """B − A of each unit, or of neighbours together, with the overall difference and its interval as a band."""
    import altair as alt

    rows = [_neighbour_row(i, one) for i, one in enumerate(picture.neighbours)]
    several = any(one.count > 1 for one in picture.neighbours)
    what = f"{found.unit}s in the order of their ids" + (", some together" if several else "")
    x = alt.X("at:Q", title=what, axis=alt.Axis(grid=False), scale=alt.Scale(nice=False, padding=8))
    y = alt.Y("difference:Q", title=f"B − A, {_unit(found)}")
    dots = _data(rows, 240).mark_point(filled=True, size=44 if len(rows) <= _FEW else 18, opacity=0.65, color=_BLUE)
    layers = [
        *_band(found),
        _data([{"zero": 0}], 240).mark_rule(color=TEXT).encode(y="zero:Q"),
        dots.encode(x=x, y=y),
    ]
    together = "Some dots are neighbours taken together. " if several else ""
    about = [f"{together}Band: the overall difference with its interval."]
    return finished(alt.layer(*layers), f"The difference by {found.unit}", about)


def _neighbour_row(place: int, one: Any) -> dict[str, Any]:
    name = one.first if one.count == 1 else f"{one.first} … {one.last} ({one.count})"
    return {"at": place + 1, "id": name, "difference": one.difference, "weight": one.weight}


def _band(found: Comparison) -> list[Any]:
    limits, value = found.difference.interval, found.difference.value
    if limits is None or value is None:
        return []
    row = {"what": "overall", "value": value, "low": limits.low, "high": limits.high}
    base = _data([row], 240)
    return [
        base.mark_rect(color=_ORANGE, opacity=0.22).encode(y="low:Q", y2="high:Q"),
        base.mark_rule(color=_ORANGE, strokeWidth=2).encode(y="value:Q"),
    ]


def distribution_chart(found: Comparison, picture: Picture) -> "alt.TopLevelMixin":
    """The bootstrap distribution of the difference, with the limits that were read from it."""
    import altair as alt

    limits, value = found.difference.interval, found.difference.value
    assert limits is not None and value is not None  # noqa: PT018  # a picture has a distribution only with these
    bars = [
        {"low": low, "high": high, "share": share, "zero": 0, "part": _part(low, high, limits.low, limits.high)}
        for low, high, share in zip(picture.edges, picture.edges[1:], picture.shares, strict=False)
    ]
    scale = alt.Scale(domain=["inside", "outside"], range=[_BLUE, LINE])
    histogram = _data(bars, 220).mark_bar(binSpacing=0, opacity=0.85)
    x = alt.X("low:Q", title=f"B − A, {_unit(found)}", scale=alt.Scale(zero=False), axis=alt.Axis(grid=False))
    lines = [
        {"place": limits.low, "line": f"{words.percent(limits.level)} limit"},
        {"place": limits.high, "line": f"{words.percent(limits.level)} limit"},
        {"place": value, "line": "difference"},
    ]
    layers = [
        histogram.encode(
            x=x,
            x2="high:Q",
            y=alt.Y("share:Q", title="share of resamples", axis=alt.Axis(format=".1%")),
            y2="zero:Q",
            color=alt.Color("part:N", scale=scale, legend=None),
        ),
        _data(lines[:2], 220).mark_rule(color=_ORANGE, strokeWidth=2).encode(x="place:Q"),
        _data(lines[2:], 220).mark_rule(color=TEXT, strokeWidth=2).encode(x="place:Q"),
        _data([{"place": 0, "line": "no difference"}], 220)
        .mark_rule(color=TEXT, strokeDash=[4, 3])
        .encode(x="place:Q"),
    ]
    how = "all resamples" if found.computed.resamples is None else f"{found.computed.resamples:,} random resamples"
    about = [
        f"The bootstrap distribution ({how}). Orange: {words.percent(limits.level)} {limits.method} limits.",
        "Solid line: the difference that was found. Dashed: no difference.",
    ]
    return finished(alt.layer(*layers), "Where the difference would fall again", about)


def _part(low: float, high: float, first: float, last: float) -> str:
    return "inside" if first <= (low + high) / 2 <= last else "outside"


def _unit(found: Comparison) -> str:
    return "nats per token" if found.kind == "losses" else found.measure


def _data(rows: list[dict[str, Any]], height: int) -> "alt.Chart":
    import altair as alt

    return alt.Chart(alt.InlineData(values=rows), width=_WIDTH, height=height)
