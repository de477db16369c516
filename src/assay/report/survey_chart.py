"""Charts of a survey report: scores between baselines and ceiling, shuffled nulls, gaps, and slopes."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from assay.analyses.survey.baselines import Baselines, Null
from assay.analyses.survey.context import Context, ContextSlope
from assay.analyses.survey.fairness import Fairness
from assay.analyses.survey.intervals import Intervals
from assay.analyses.survey.noise import Noise
from assay.analyses.survey.scores import Scores
from assay.analyses.survey.section import Section
from assay.report.charts import COLOURS, finished
from assay.results import words

if TYPE_CHECKING:
    import altair as alt

Sections = Mapping[str, Section]

_WIDTH = 460
_ROW, _LOW_ROW, _MANY = 24, 13, 40  # pixels for each line, of few and of many
_NO_SPREAD = 1e-9
_LABEL = 12  # pixels for the name of a line
_GREY, _DARK = "#777", "#333"
_MOST_NULLS = 12  # histograms
_BLUE, _ORANGE = COLOURS[0], COLOURS[1]
_DASHES = ([1, 0], [5, 3], [2, 2])


def _data(rows: list[dict[str, Any]], height: int) -> "alt.Chart":
    import altair as alt

    return alt.Chart(alt.InlineData(values=rows), width=_WIDTH, height=height)


def _row_height(count: int) -> int:
    return _ROW if count <= _MANY else _LOW_ROW


# ------------------------------------------------------------------------------------------ scores


def scores_chart(sections: Sections) -> "alt.TopLevelMixin | None":
    """Every model's score, with what predictors without knowledge and a perfect one would score as lines."""
    import altair as alt  # late: half a second

    scores = sections.get("scores")
    if not isinstance(scores, Scores) or not any(model.score is not None for model in scores.models):
        return None
    rows = _score_rows(scores, sections.get("intervals"))
    order = [row["model"] for row in rows]
    height = _row_height(len(rows)) * (len(rows) + 1)
    y = alt.Y("model:N", sort=order, title=None, axis=alt.Axis(labelLimit=260, grid=False, ticks=False, domain=False))
    x = alt.X("score:Q", title="score (1 − √JSD), higher is better", scale=alt.Scale(zero=False, padding=16))
    base = _data(rows, height)
    layers: list[Any] = [base.mark_point(filled=True, size=56, color="#000", opacity=1).encode(y=y, x=x)]
    corrected = any(row["corrected"] is not None for row in rows)  # withheld of models above the ceiling
    if corrected:
        diamonds = base.mark_point(filled=False, shape="diamond", size=56, color=_BLUE, opacity=1)
        layers.insert(0, diamonds.encode(y=y, x="corrected:Q"))
        layers.insert(0, base.mark_rule(strokeWidth=2, color=_BLUE).encode(y=y, x=alt.X("low:Q"), x2="high:Q"))
    lines = _lines(sections)
    layers += [layer for i, line in enumerate(lines) for layer in _marked(line, len(lines) - i, height)]
    about = ["Dots: scores as published."]
    about[0] += " Open diamonds: without the noise of the respondents, with its interval." if corrected else ""
    about += ["Lines: " + "; ".join(f"{line['name']} {line['score']:.3f}" for line in lines) + "."] if lines else []
    return finished(alt.layer(*layers), "Scores between baselines and ceiling", about)


def _marked(line: dict[str, Any], step: int, height: int) -> list[Any]:
    """A line through all models, its name above them, one step higher for each so that none covers another."""
    import altair as alt

    base, top = _data([line], height), -_LABEL * step
    rule = base.mark_rule(color=_GREY, strokeWidth=1.2, strokeDash=_DASHES[line["kind"]])
    return [
        rule.encode(x="score:Q", y=alt.value(top), y2=alt.value(height)),
        base.mark_text(align="left", dx=3, dy=4, fontSize=10, color=_DARK).encode(
            x="score:Q", y=alt.value(top), text="name:N"
        ),
    ]


def _score_rows(scores: Scores, intervals: Section | None) -> list[dict[str, Any]]:
    found = {one.model: one.corrected for one in intervals.models} if isinstance(intervals, Intervals) else {}
    rows = []
    for model in scores.models:
        if model.score is None:
            continue
        corrected = found.get(model.model)
        limits = None if corrected is None else corrected.interval
        rows.append(
            {
                "model": model.model,
                "score": model.score,
                "corrected": None if corrected is None else corrected.value,
                "low": None if limits is None else limits.low,
                "high": None if limits is None else limits.high,
            }
        )
    return rows


def _lines(sections: Sections) -> list[dict[str, Any]]:
    """Baselines and the ceiling, from left to right."""
    baselines, noise = sections.get("baselines"), sections.get("noise")
    found: list[tuple[str, float]] = []
    if isinstance(baselines, Baselines):
        whole = [one for one in baselines.baselines if not one.beside]  # others are over fewer cells than the dots
        found += [(one.name, one.score) for one in whole if one.score is not None]
        truth = baselines.shuffled[0]
        found += [("true answers, shuffled", truth.mean)] if truth.mean is not None else []
    if isinstance(noise, Noise):
        found.append(("ceiling", noise.overall.ceiling))
    ordered = sorted(found, key=lambda one: one[1])
    return [{"name": name, "score": score, "kind": int(name != "ceiling")} for name, score in ordered]


# ------------------------------------------------------------------------------------------ shuffled


def null_chart(sections: Sections) -> "alt.TopLevelMixin | None":
    """For each model the histogram of scores with its predictions shuffled, and the score itself."""
    import altair as alt

    baselines = sections.get("baselines")
    if not isinstance(baselines, Baselines):
        return None
    known = [null for null in baselines.shuffled[1:] if null.counts and null.observed is not None]
    shown = sorted(known, key=lambda null: -(null.observed or 0.0))[:_MOST_NULLS]
    if not shown:
        return None
    about = [
        f"Grey: {baselines.permutations:,} permutations of a model's own predictions among the segments of a question.",
        "Orange line: its score. A model that does not know which segment is which lies within the grey.",
    ]
    if len(shown) < len(known):
        about.append(f"The {len(shown)} best of {len(known)} models.")
    return finished(alt.concat(*map(_histogram, shown), columns=3), "Scores with segments shuffled", about)


def _histogram(null: Null) -> Any:
    import altair as alt

    bars = [
        {"low": low, "high": high, "count": count, "zero": 0}
        for low, high, count in zip(null.edges[:-1], null.edges[1:], null.counts, strict=True)
        if count
    ]
    spread = null.standard_deviation is not None and null.standard_deviation > _NO_SPREAD
    x = alt.X("low:Q", title=None, scale=alt.Scale(zero=False, nice=False, padding=8), axis=alt.Axis(tickCount=4))
    y = alt.Y("count:Q", title=None, axis=None)
    p = "" if null.p_adjusted is None else f", {words.p_value(null.p_adjusted)} adjusted"
    title = alt.TitleParams(f"{null.model}{p}", fontSize=10, fontWeight="normal", anchor="start", limit=180)
    histogram = alt.Chart(alt.InlineData(values=bars), width=180, height=80, title=title)
    score = alt.Chart(alt.InlineData(values=[{"low": null.observed}]), width=180, height=80)
    return alt.layer(
        histogram.mark_rect(color="#999").encode(x=x, x2="high:Q", y=y, y2="zero:Q")
        if spread
        else score.mark_rule(color="#999", strokeWidth=8).encode(x="low:Q"),  # the same predictions for all segments
        score.mark_rule(color=_ORANGE, strokeWidth=2).encode(x="low:Q"),
    )


# ------------------------------------------------------------------------------------------ gaps


def gap_chart(sections: Sections) -> "alt.TopLevelMixin | None":
    """A forest of gaps: the true gap with its interval, beside the published one and what equality would show."""
    import altair as alt

    fairness = sections.get("fairness")
    if not isinstance(fairness, Fairness):
        return None
    rows = _gap_rows(fairness)
    if not rows:
        return None
    order = [row["line"] for row in rows]
    base = _data(rows, _row_height(len(rows)) * (len(rows) + 1))
    y = alt.Y("line:N", sort=order, title=None, axis=alt.Axis(labelLimit=320, grid=False, ticks=False, domain=False))
    kinds = ["shown", "not shown"]
    colour = alt.Color("verdict:N", scale=alt.Scale(domain=kinds, range=[_ORANGE, _BLUE]), legend=None)
    shape = alt.Shape("verdict:N", scale=alt.Scale(domain=kinds, range=["square", "circle"]), legend=None)
    x = alt.X("value:Q", title="gap between the best and the worst segment", scale=alt.Scale(zero=True))
    chart = alt.layer(
        base.mark_rule(strokeWidth=2).encode(y=y, x=alt.X("low:Q"), x2="high:Q", color=colour),
        base.mark_point(filled=True, size=50, opacity=1).encode(y=y, x=x, color=colour, shape=shape),
        base.mark_tick(color="#000", thickness=2, size=10).encode(y=y, x="published:Q"),
        base.mark_point(shape="triangle-up", filled=False, size=36, color=_GREY, opacity=1).encode(y=y, x="expected:Q"),
    )
    level = words.percent(fairness.level)
    about = [
        f"Points and lines: the true gap at equal numbers of respondents, with its {level} interval for all at once.",
        "Orange squares: unequal accuracy is shown (adjusted for all); blue circles: it is not.",
        "Black ticks: gaps as published. Open triangles: what equal accuracy would show at these sample sizes.",
    ]
    return finished(chart, "Fairness gaps, and what sample size makes of them", about)


def _gap_rows(fairness: Fairness) -> list[dict[str, Any]]:
    rows = []
    for category in fairness.categories:
        for gap in category.gaps:
            limits = gap.together or gap.excess.interval
            if limits is None:
                continue
            rows.append(
                {
                    "line": f"{category.name} · {gap.model}",
                    "value": gap.excess.value,
                    "low": limits.low,
                    "high": limits.high,
                    "published": gap.gap,
                    "expected": None if gap.expected is None else gap.expected.mean,
                    "verdict": "shown"
                    if gap.p_adjusted is not None and gap.p_adjusted <= 1 - fairness.level
                    else "not shown",
                }
            )
    return rows


# ------------------------------------------------------------------------------------------ context


def slope_chart(sections: Sections) -> "alt.TopLevelMixin | None":
    """Mean scores by the number of context questions, a line per model, with its slope in words."""
    import altair as alt

    context = sections.get("context")
    if not isinstance(context, Context):
        return None
    slopes = [one for one in context.slopes if one.category is None and len(one.levels) > 1]
    if not slopes:
        return None
    slopes.sort(key=lambda one: -one.means[-1])  # the legend in the order of the lines
    rows = [
        {"model": _slope_label(one), "level": level, "score": mean}
        for one in slopes
        for level, mean in zip(one.levels, one.means, strict=True)
    ]
    names = [_slope_label(one) for one in slopes]
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(names))]
    dashes = [_DASHES[i // len(COLOURS) % len(_DASHES)] for i in range(len(names))]
    legend = alt.Legend(title=None, orient="right", labelLimit=420, symbolType="stroke")
    base = _data(rows, 300)
    x = alt.X("level:Q", title="context questions", axis=alt.Axis(grid=False, tickMinStep=1))
    y = alt.Y("score:Q", title="score (1 − √JSD)", scale=alt.Scale(zero=False))
    colour = alt.Color("model:N", scale=alt.Scale(domain=names, range=colours), legend=legend)
    dash = alt.StrokeDash("model:N", scale=alt.Scale(domain=names, range=dashes), legend=legend)
    chart = alt.layer(
        base.mark_line().encode(x=x, y=y, color=colour, strokeDash=dash),
        base.mark_point(filled=True, size=36, opacity=1).encode(x=x, y=y, color=alt.Color("model:N")),
    )
    about = ["Mean scores of questions × segments asked at several levels; slope per context question, p adjusted."]
    return finished(chart, "Does context help?", about)


def _slope_label(one: ContextSlope) -> str:
    value = one.slope.estimate.value
    if value is None or one.p_adjusted is None:
        return f"{one.model}: no slope"
    return f"{one.model}: {value:+.4f}, {words.p_value(one.p_adjusted)}"


Draw = Callable[[Sections], "alt.TopLevelMixin | None"]

#: Section → file and chart.
CHARTS: dict[str, tuple[str, Draw]] = {
    "scores": ("scores.svg", scores_chart),
    "baselines": ("shuffled.svg", null_chart),
    "fairness": ("gaps.svg", gap_chart),
    "context": ("context.svg", slope_chart),
}
