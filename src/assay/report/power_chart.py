"""The curve of `assay power` as SVG or PNG: power, or the detectable difference, by the number of items."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.analyses.power_result import Power, scale
from assay.report.charts import COLOURS, TEXT, finished, write_chart
from assay.results import words

if TYPE_CHECKING:
    import altair as alt

_WIDTH, _HEIGHT = 560, 300
_GREY = "#777"


def write_power_chart(found: Power, path: Path) -> None:
    """The curve with the pilot's band and the answer on it, as a file in the format of its name."""
    write_chart(power_chart(found), path)


def power_chart(found: Power) -> "alt.TopLevelMixin":
    """A line, a band where a pilot leaves room, and the answer as a point with dashed lines to both axes."""
    import altair as alt  # late: half a second

    rows = [
        {"items": point.items, "value": point.value, "low": point.low, "high": point.high}
        for point in found.curve
        if point.value is not None
    ]
    layers: list[Any] = []
    x, y = _axis_x(found), _axis_y(found)
    if found.pilot is not None:
        band = [row for row in rows if row["low"] is not None]
        layers.append(_chart(band).mark_area(opacity=0.18, color=COLOURS[0]).encode(x=x, y=alt.Y("low:Q"), y2="high:Q"))
    layers.append(_chart(rows).mark_line(strokeWidth=2.5, color=COLOURS[0]).encode(x=x, y=y))
    layers += _answer(found, x, y)
    return finished(alt.layer(*layers), _title(found), _legend(found))


def _chart(rows: list[dict[str, Any]]) -> "alt.Chart":
    import altair as alt

    return alt.Chart(alt.InlineData(values=rows), width=_WIDTH, height=_HEIGHT)


def _answer(found: Power, x: "alt.X", y: "alt.Y") -> list[Any]:
    """Where on the curve the answer is."""
    value = found.difference if found.question == "difference" else found.power
    if value is None:
        return []
    falls = found.question == "difference"
    label = words.number(value, 3) if falls else f"{found.items:,} {found.unit}s"
    chart = _chart([{"items": found.items, "value": value, "text": label}])
    return [
        chart.mark_rule(strokeDash=[4, 4], color=_GREY).encode(x=x),
        chart.mark_rule(strokeDash=[4, 4], color=_GREY).encode(y=y),
        chart.mark_point(filled=True, size=70, opacity=1, color=COLOURS[1]).encode(x=x, y=y),
        chart.mark_text(align="left", dx=8, dy=-12 if falls else 12, fontSize=12, color=TEXT).encode(
            x=x, y=y, text="text:N"
        ),
    ]


def _axis_x(found: Power) -> "alt.X":
    """Items, in doublings from the answer."""
    import altair as alt

    counts = [point.items for point in found.curve]
    ticks = [found.items * 2**k for k in (1, 2)] + [found.items / 2**k for k in (0, 1, 2)]
    shown = sorted(round(tick) for tick in ticks if counts[0] <= round(tick) <= counts[-1])
    return alt.X(
        "items:Q",
        title=f"{found.unit}s",
        scale=alt.Scale(type="log", base=2, domain=[counts[0], counts[-1]], nice=False),
        axis=alt.Axis(values=shown, format=",", grid=False),
    )


def _axis_y(found: Power) -> "alt.Y":
    import altair as alt

    if found.question == "difference":
        return alt.Y("value:Q", title=f"detectable difference{scale(found)}", scale=alt.Scale(zero=True))
    axis = alt.Axis(format=".0%", values=[i / 5 for i in range(6)])
    return alt.Y("value:Q", title="power", scale=alt.Scale(domain=[0, 1]), axis=axis)


def _title(found: Power) -> str:
    if found.question == "difference":
        return f"Difference that is detected with {words.percent(found.goal.power)} power"
    if found.goal.margin is not None:
        return f"Power to show equivalence within ±{words.number(found.goal.margin)}{scale(found)}"
    return f"Power to detect a difference of {words.number(found.difference or 0.0)}{scale(found)}"


_TESTS = {
    "t": "paired t test",
    "mcnemar-midp": "McNemar's mid-p test",
    "mcnemar": "McNemar's exact test",
    "mcnemar-score": "McNemar's score test with the design effect",
    "equivalence": "two one-sided t tests",
}


def _legend(found: Power) -> list[str]:
    """What the marks mean, in words."""
    test = _TESTS[found.test]
    level = f"{100 * (1 - found.goal.adjusted_level):.3g} %"
    lines = [f"{test[0].upper()}{test[1:]}, two-sided at {level}."]
    if found.pilot is not None:
        pilot = words.count(found.pilot.n, found.unit)
        interval = words.percent(found.pilot.limits.level)
        lines.append(f"Band: what the pilot of {pilot} leaves possible ({interval} interval of the spread).")
    return lines
