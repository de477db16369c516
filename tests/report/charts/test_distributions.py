"""Histograms as they are drawn: one with its limits, or several small ones beside each other."""

from typing import Any

from assay.report.charts import COLOURS, LINE, TEXT, draw
from assay.results.figures import Distribution, Histogram, Mark
from tests.report.charts.drawn import marks, texts

FOUND = Mark(0.5, "found", dashed=False)
ONE = Histogram("", (0.0, 1.0, 2.0), (0.25, 0.75), (0.0, 1.0), (FOUND, Mark(0.0, "no difference")))
SMALL = Histogram("first, p = 0.01", (0.0, 1.0, 2.0), (3.0, 1.0), marks=(FOUND,))
FLAT = Histogram("second", (0.4, 0.4), (4.0,), marks=(FOUND,))


def _figure(*histograms: Histogram) -> Distribution:
    return Distribution("shuffled", "Scores", ("Grey: shuffled.",), "score", histograms, "share")


def _rules(part: dict[str, Any]) -> list[tuple[str, float]]:
    found = [layer["mark"] for layer in part["layer"] if layer["mark"]["type"] == "rule"]
    return [(mark["color"], mark["strokeWidth"]) for mark in found]


def test_one_histogram_has_axes_limits_and_lines() -> None:
    drawn = marks(_figure(ONE))
    assert [row["part"] for row in drawn["bar"][0]] == ["inside", "outside"]
    assert [rows[0]["place"] for rows in drawn["rule"]] == [0.0, 1.0, 0.5, 0.0]
    assert _rules(dict(draw(_figure(ONE)))) == [(COLOURS[1], 2), (COLOURS[1], 2), (TEXT, 2), (TEXT, 1)]
    assert {"score", "share"} <= set(texts(_figure(ONE)))


def test_several_stand_beside_each_other_under_their_labels() -> None:
    figure = _figure(SMALL, FLAT, SMALL, SMALL)
    specification = draw(figure)
    assert (len(specification["concat"]), specification["columns"]) == (4, 3)
    assert {"first, p = 0.01", "second", "Scores"} <= set(texts(figure))
    first = specification["concat"][0]
    rows = specification["datasets"][first["layer"][0]["data"]["name"]]
    assert [(row["height"], row["part"]) for row in rows] == [(3.0, "outside"), (1.0, "outside")]
    assert _rules(first) == [(COLOURS[1], 2)]


def test_a_bin_without_width_is_a_thick_line() -> None:
    flat = draw(_figure(SMALL, FLAT))["concat"][1]
    assert _rules(flat) == [(LINE, 8), (COLOURS[1], 2)]
    assert flat["layer"][0]["encoding"]["x"]["field"] == "low"


def test_one_with_a_label_is_a_small_one() -> None:
    assert len(draw(_figure(SMALL))["concat"]) == 1
