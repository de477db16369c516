"""A leaderboard as a forest plot: every model with its interval, coloured by tier."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.analyses.rank.result import Leaderboard
from assay.analyses.rank.tables import chance, letters_text, ranks_text
from assay.report.charts import COLOURS, finished, write_chart
from assay.results import words

if TYPE_CHECKING:
    import altair as alt

_WIDTH = 460
_ROW, _LOW_ROW = 24, 13  # pixels for each model, of few and of many
_MANY = 60  # models
_SHAPES = ("circle", "square", "triangle-up", "diamond")  # with the colours, so that print in black tells them apart
_GREY, _DARK = "#777", "#333"


def write_rank_chart(board: Leaderboard, path: Path) -> None:
    """The models with their intervals, as a file in the format of its name."""
    write_chart(rank_chart(board), path)


def rank_chart(board: Leaderboard) -> "alt.TopLevelMixin":
    """Dots and lines for the models, the best on top; the corrected top score as an open mark below the first."""
    import altair as alt  # late: half a second

    rows = _rows(board)
    row_height = _ROW if len(rows) <= _MANY else _LOW_ROW
    what = "loss (nats per token)" if board.metric == "losses" else "score"
    what += ", lower is better" if board.lower_is_better else ""
    order = [row["model"] for row in rows]
    axis = alt.Axis(
        labelLimit=260, grid=False, ticks=False, domain=False, labelFontSize=11 if row_height == _ROW else 9
    )
    y = alt.Y("model:N", sort=order, title=None, axis=axis, scale=alt.Scale(paddingOuter=0.6))
    x = alt.X("value:Q", title=what, scale=alt.Scale(zero=False, padding=16))
    tiers = sorted({row["tier"] for row in rows})
    colour = alt.Color(
        "tier:N",
        scale=alt.Scale(domain=tiers, range=[COLOURS[i % len(COLOURS)] for i in range(len(tiers))]),
        legend=None,
    )
    shape = alt.Shape(
        "tier:N",
        scale=alt.Scale(domain=tiers, range=[_SHAPES[i % len(_SHAPES)] for i in range(len(tiers))]),
        legend=None,
    )
    base = alt.Chart(alt.InlineData(values=rows), width=_WIDTH, height=row_height * (len(rows) + 1))
    layers: list[Any] = [
        base.mark_rule(strokeWidth=2).encode(y=y, x=alt.X("low:Q"), x2="high:Q", color=colour),
        base.mark_point(filled=True, size=64, opacity=1).encode(y=y, x=x, color=colour, shape=shape),
        base.mark_text(align="left", fontSize=10, color=_DARK).encode(y=y, x=alt.value(_WIDTH + 10), text="label:N"),
        *_corrected(board, row_height, len(rows), order),
    ]
    return finished(alt.layer(*layers), "Which models can be told apart?", _legend(board))


def _rows(board: Leaderboard) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for model in board.models:
        limits, value = model.estimate.interval, model.estimate.value
        low, high = (value, value) if limits is None else (limits.low, limits.high)
        tier = f"tier {model.tier} {letters_text(model)}"
        label = f"{tier} · rank {ranks_text(model.ranks)} · best {chance(model.probability_best)}"
        found.append(
            {"model": model.name, "value": value, "low": low, "high": high, "tier": model.tier, "label": label}
        )
    return found


def _corrected(board: Leaderboard, row_height: int, count: int, order: list[str]) -> list[Any]:
    """The top score without the winner's curse."""
    import altair as alt

    top = board.top
    limits = top.corrected.interval
    if limits is None or top.corrected.value is None:
        return []
    data = alt.InlineData(
        values=[{"model": top.name, "value": top.corrected.value, "low": limits.low, "high": limits.high}]
    )
    base = alt.Chart(data, width=_WIDTH, height=row_height * (count + 1))
    y = alt.Y("model:N", sort=order)
    below = row_height / 3
    return [
        base.mark_rule(strokeWidth=1, strokeDash=[3, 2], color=_GREY, yOffset=below).encode(
            y=y, x=alt.X("low:Q"), x2="high:Q"
        ),
        base.mark_point(filled=False, size=40, color=_GREY, shape="diamond", opacity=1, yOffset=below).encode(
            y=y, x=alt.X("value:Q")
        ),
    ]


def _legend(board: Leaderboard) -> list[str]:
    """What the marks mean, in words."""
    level = words.percent(board.design.level)
    groups = "" if board.n_clusters is None else f" in {words.count(board.n_clusters, 'cluster')}"
    return [
        f"Lines: {level} intervals of single models ({words.count(board.n_units, board.unit)}{groups}).",
        "Colour and shape: tiers. Models that share a letter are not told apart.",
        f"Open diamond: the top score corrected for being the best of {len(board.models)}.",
    ]
