"""Points as they are drawn: many of one kind, or a few by group; and figures below each other in one file."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from assay.errors import UsageError
from assay.report.charts import COLOURS, write_figures
from assay.results.figures import Axes, Curve, Mark, Point, Points, Series
from tests.report.charts.drawn import channel, marks, texts

GROUPED = Points(
    "costs",
    "Quality against cost",
    ("Bars: intervals.",),
    ("memory", "perplexity"),
    (Point(1.0, 9.0, "a", 8.0, 10.0, "a"), Point(2.0, 12.0, "b", None, None, "b", strong=False)),
    groups=("a", "b", "c"),
)
ALIKE = Points(
    "differences",
    "By unit",
    ("Band: overall.",),
    ("unit", "B − A"),
    (Point(1.0, 0.5, "u1"), Point(2.0, -0.25, "u2")),
    band=(-0.1, 0.125, 0.3),
    marks=(Mark(0.0, "no difference"),),
)


def test_groups_have_their_colours_and_what_is_not_strong_another_shape() -> None:
    drawn = marks(GROUPED)
    assert [(row["group"], row["shape"]) for row in drawn["point"][0]] == [("a", "circle"), ("b", "cross")]
    assert [(row["low"], row["high"]) for row in drawn["rule"][0]] == [(8.0, 10.0)]  # b has no interval
    scale = channel(GROUPED, "color")[0]["scale"]
    assert (scale["domain"], scale["range"]) == (["a", "b", "c"], list(COLOURS[:3]))
    assert {"a", "b", "c", "memory", "perplexity"} <= set(texts(GROUPED))


def test_points_of_one_kind_have_a_band_for_what_they_add_up_to() -> None:
    drawn = marks(ALIKE)
    assert [(row["x"], row["y"]) for row in drawn["point"][0]] == [(1.0, 0.5), (2.0, -0.25)]
    assert (drawn["rect"][0][0]["low"], drawn["rect"][0][0]["high"]) == (-0.1, 0.3)
    assert [rows[0].get("at", rows[0].get("value")) for rows in drawn["rule"]] == [0.125, 0.0]


def test_several_figures_stand_below_each_other_under_their_titles(tmp_path: Path) -> None:
    lines = Axes("loss", (Series("a", (1.0, 2.0), (3.0, 2.0)), Series("\u202eb", (1.0, 2.0), (4.0, 3.0))))
    curve = Curve("losses", "Loss by step", ("Bars: intervals.",), "step", (lines,))
    write_figures([curve, GROUPED], tmp_path / "c.svg", "Training runs")
    root = ET.parse(tmp_path / "c.svg").getroot()  # noqa: S314  # our own
    found = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Training runs", "Loss by step", "Quality against cost"} <= set(found)
    assert found.count("Bars: intervals.") == 1  # said once of both
    assert not any("\u202e" in text for text in found)


def test_a_format_that_no_chart_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.svg, \.png or \.pdf"):
        write_figures([GROUPED], tmp_path / "c.gif", "x")
