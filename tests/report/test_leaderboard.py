"""The chart and the Markdown of a leaderboard: what they show is what the record holds."""

import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from assay.analyses.rank import rank
from assay.analyses.rank.result import Leaderboard
from assay.design import Design
from assay.errors import InputError, UsageError
from assay.report.charts import COLOURS, draw, write_figure
from assay.report.files import result_markdown, write_markdown
from assay.report.saved import part_of
from assay.results import words

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["a & co", "<b>", "c|d", "e"]


def board_of(k: int, *, constant: bool = False) -> Leaderboard:
    rng = np.random.default_rng(k)
    values = rng.normal(size=(50, 1)) + rng.normal(size=(50, k)) - 0.4 * np.arange(k)
    if constant:
        values[:, 0] = 9.0
    parts = [{"item": list(range(50)), "score": column.tolist()} for column in values.T]
    return rank(*parts, names=NAMES if k == 4 else [f"m{i:02d}" for i in range(k)], design=Design(resamples=300))


@pytest.fixture(scope="module")
def board() -> Leaderboard:
    return board_of(4)


def layers(board: Leaderboard) -> list[dict[str, Any]]:
    """The layers, with their rows in place of the names of these."""
    specification = draw(board.figures[0])
    return [layer | {"data": specification["datasets"][layer["data"]["name"]]} for layer in specification["layer"]]


def rows(layer: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = layer["data"]
    return found


def test_lines_and_dots_are_the_estimates_of_the_record(board: Leaderboard) -> None:
    lines, dots, *_ = layers(board)
    assert rows(lines) == rows(dots)
    limits = [model.estimate.interval for model in board.models]
    assert [(row["low"], row["high"]) for row in rows(lines)] == [(i.low, i.high) for i in limits if i]
    assert [(row["label"], row["value"], row["group"]) for row in rows(dots)] == [
        (model.name, model.estimate.value, f"tier {model.tier}") for model in board.models
    ]
    assert lines["encoding"]["y"]["sort"] == [model.name for model in board.models]


def test_tiers_have_colours_and_shapes_that_everybody_can_tell_apart(board: Leaderboard) -> None:
    _, dots, *_ = layers(board)
    count = len(board.tiers)
    assert count > 1
    assert dots["encoding"]["color"]["scale"]["range"] == list(COLOURS[:count])
    assert len(set(dots["encoding"]["shape"]["scale"]["range"])) == min(count, 4)


def test_the_corrected_top_score_is_drawn_as_it_is_recorded(board: Leaderboard) -> None:
    _, _, rule, diamond, _ = layers(board)
    corrected = board.top.corrected
    assert corrected.interval is not None
    expected = {"label": board.top.name, "group": "tier 1", "value": corrected.value, "low": corrected.interval.low}
    assert rows(rule) == rows(diamond) == [expected | {"high": corrected.interval.high}]


def test_every_row_ends_with_tier_ranks_and_chance(board: Leaderboard) -> None:
    *_, notes = layers(board)
    assert [row["note"] for row in rows(notes)] == [
        f"tier {m.tier_text} · rank {m.ranks_text} · best {words.chance(m.probability_best)}" for m in board.models
    ]


def test_svg_is_well_formed_and_names_the_models(board: Leaderboard, tmp_path: Path) -> None:
    write_figure(board.figures[0], tmp_path / "c.svg")
    text = (tmp_path / "c.svg").read_text(encoding="utf-8")
    root = ET.fromstring(text)  # noqa: S314 - our own file
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert {"Which models can be told apart?", *NAMES} <= set(words)
    assert "http" not in text.replace("http://www.w3.org/", "")  # nothing is loaded from outside


def test_png_grows_with_the_number_of_models(tmp_path: Path) -> None:
    heights = []
    for k in (4, 30):
        write_figure(board_of(k).figures[0], tmp_path / "c.png")
        data = (tmp_path / "c.png").read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        heights.append(struct.unpack(">II", data[16:24])[1])
    assert heights[1] - heights[0] == 2 * 26 * 24  # two pixels a point, 24 points a model


def test_a_model_without_spread_is_a_dot(tmp_path: Path) -> None:
    lines, *_ = layers(board_of(4, constant=True))
    first = rows(lines)[0]
    assert first["low"] == first["value"] == first["high"]


def test_less_is_better_is_said_at_the_axis() -> None:
    parts = [{"item": list(range(9)), "score": [float(i + j) for i in range(9)]} for j in range(2)]
    board = rank(*parts, names=["a", "b"], design=Design(resamples=300), lower_is_better=True)
    assert layers(board)[1]["encoding"]["x"]["title"] == "score, lower is better"


def test_what_cannot_be_written_is_refused(board: Leaderboard, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.svg, \.png or \.pdf"):
        write_figure(board.figures[0], tmp_path / "c.gif")
    with pytest.raises(InputError, match="cannot be written"):
        write_figure(board.figures[0], tmp_path / "missing" / "c.svg")
    with pytest.raises(InputError, match="cannot be written"):
        write_markdown(board, tmp_path / "missing" / "c.md")


def test_markdown_has_a_row_for_each_model_and_no_markup_of_theirs(board: Leaderboard) -> None:
    text = result_markdown(board)
    blocks = text.strip().split("\n\n")
    models, pairs = (blocks[blocks.index(f"### {name}") + 2] for name in ("Models", "Pairs"))
    assert len(models.splitlines()) == 2 + 4
    assert len(pairs.splitlines()) == 2 + 6
    assert "a &amp; co" in text
    assert "&lt;b&gt;" in text
    assert "c\\|d" in text
    assert all(line.count("|") - line.count("\\|") == models.splitlines()[0].count("|") for line in models.splitlines())
    assert blocks[1].endswith(".")
    assert blocks[-1] == f"`{board.signature}`"


def test_the_page_has_the_numbers_of_all_pairs_and_models(board: Leaderboard) -> None:
    models, pairs = (group.tables[0] for group in part_of(board).groups)
    assert (models.title, pairs.title) == ("Models", "Pairs")
    assert models.data is not None
    assert pairs.data is not None
    assert [row["estimate"] for row in models.data] == [m.estimate.value for m in board.models]
    assert [row["mean"] for row in models.data] == [m.mean for m in board.models]
    assert [row["d_z"] for row in pairs.data] == [pair.effect_sizes["d_z"].value for pair in board.pairs]
    assert models.sorted_by is not None
    assert models.sorted_by[models.header.index("tier")] == tuple(float(m.tier) for m in board.models)
    assert {models.method is None, pairs.method is None} == {False}


def test_the_page_leaves_out_more_pairs_than_a_reader_can_use() -> None:
    assert [group.title for group in part_of(board_of(64)).groups] == ["Models"]
