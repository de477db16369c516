"""Accuracy by script as SVG or PNG: a dot and an interval for every system."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.analyses.japanese.parts import System
from assay.analyses.japanese.result import Japanese
from assay.report.charts import COLOURS, TEXT, finished, write_chart
from assay.results import words

if TYPE_CHECKING:
    import altair as alt

_HEIGHT = 300
_BAND = 96  # pixels for a script
_SHAPES = ("circle", "square", "triangle-up", "diamond")  # with the colours, so that print in black tells them apart


def write_japanese_chart(found: Japanese, path: Path) -> None:
    """Accuracy by script with its intervals, as a file in the format of its name."""
    write_chart(japanese_chart(found), path)


def japanese_chart(found: Japanese) -> "alt.TopLevelMixin":
    """Scripts side by side, all characters first; in each the systems next to each other."""
    import altair as alt  # late: half a second

    rows = [row for system in found.systems for row in _rows(system)]
    scripts, names = list(dict.fromkeys(row["script"] for row in rows)), [system.name for system in found.systems]
    axis = alt.Axis(labelAngle=0, ticks=False, domain=False, labelFontSize=12, labelLimit=_BAND)
    x = alt.X("script:N", sort=scripts, title=None, axis=axis, scale=alt.Scale(paddingInner=0.4, paddingOuter=0.2))
    beside = alt.XOffset("system:N", sort=names, scale=alt.Scale(paddingInner=1.0, paddingOuter=0.5))
    y = alt.Y("value:Q", title="accuracy (per cent of the characters)", scale=alt.Scale(domain=[0, 100]))
    colour, shape = _colour(names), _shape(names)
    base = alt.Chart(alt.InlineData(values=rows), width=_BAND * len(scripts), height=_HEIGHT)
    layers: list[Any] = [
        base.mark_rule(strokeWidth=2.5).encode(x=x, xOffset=beside, y=alt.Y("low:Q"), y2="high:Q", color=colour),
        base.mark_point(filled=True, size=70, opacity=1).encode(x=x, xOffset=beside, y=y, color=colour, shape=shape),
        base.mark_text(dy=-16, fontSize=10, color=TEXT).encode(
            x=x, xOffset=beside, y=alt.Y("high:Q"), text=alt.Text("value:Q", format=".1f")
        ),
    ]
    return finished(alt.layer(*layers), "Accuracy by script", _legend(found))


def _rows(system: System) -> list[dict[str, Any]]:
    """All characters and every script that there are characters of."""
    rows = []
    for value in system.values:
        key, _, script = value.quantity.key.partition("/")
        estimate = value.estimate
        if key != "accuracy" or estimate.value is None:
            continue
        limits = estimate.interval
        low, high = (estimate.value, estimate.value) if limits is None else (limits.low, limits.high)
        row = {"system": system.name, "script": script or "all"}
        rows.append(row | {"value": 100 * estimate.value, "low": 100 * low, "high": 100 * high})
    return rows


def _colour(names: list[str]) -> "alt.Color":
    import altair as alt

    chosen = [COLOURS[i % len(COLOURS)] for i in range(len(names))]
    return alt.Color("system:N", scale=alt.Scale(domain=names, range=chosen), legend=_key(names))


def _shape(names: list[str]) -> "alt.Shape":
    import altair as alt

    chosen = [_SHAPES[i % len(_SHAPES)] for i in range(len(names))]
    return alt.Shape("system:N", scale=alt.Scale(domain=names, range=chosen), legend=_key(names))


def _key(names: list[str]) -> "alt.Legend | None":
    import altair as alt

    return alt.Legend(title=None, orient="top", labelLimit=400, symbolOpacity=1) if len(names) > 1 else None


def _legend(found: Japanese) -> list[str]:
    """What the marks mean, in words."""
    level, units = words.percent(found.design.level), words.count(found.n_units, found.unit)
    what = {
        "characters": "Characters that the model would have written next, given the true text before them.",
        "generations": "Characters of the references that an alignment of least edits finds in the generated text.",
    }[found.kind]
    whose = "" if len(found.systems) > 1 else f"{found.systems[0].name}. "
    return [whose + what, f"Lines: {level} intervals of single scripts ({units})."]
