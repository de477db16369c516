"""Curves as they are drawn: what stands on the chart is what the figure holds."""

import pytest
from msgspec.structs import replace

from assay.report.charts import COLOURS, LINE, draw
from assay.results.figures import Axes, Curve, Mark, Place, Series
from tests.report.charts.drawn import channel, marks, texts

X = (4.0, 8.0, 16.0)
BASE = Series("base", X, (3.0, 2.5, 2.0), (2.9, 2.4, 1.9), (3.1, 2.6, 2.1), dashed_from=8.0)
OTHER = Series("<other>", X, (3.5, None, 2.2), (3.4, None, None), (3.6, None, None))


def curve(*axes: Axes, log: int | None = None, ticks: dict[float, str] | None = None) -> Curve:
    return Curve("losses", "Loss by position", ("About.",), "tokens", axes, log, ticks or {})


ONE = curve(Axes("loss", (BASE, OTHER)))
TWO = curve(
    Axes("loss", (BASE, OTHER)),
    Axes("difference", (replace(OTHER, style="points"),), "Difference from base", (Mark(0.0, "none"),), tall=False),
)


def test_bands_are_the_intervals_and_dots_the_values() -> None:
    drawn = marks(ONE)
    assert [(row["group"], row["low"]) for row in drawn["area"][0]] == [
        ("base", 2.9), ("base", 2.4), ("base", 1.9), ("<other>", 3.4),
    ]  # fmt: skip
    assert [row["value"] for row in drawn["point"][0]] == [3.0, 2.5, 2.0, 3.5, 2.2]


def test_a_line_is_dashed_from_its_place_on_and_the_place_is_on_both_parts() -> None:
    solid, dashed = marks(ONE)["line"]
    assert [(row["group"], row["x"]) for row in solid] == [("base", 4), ("base", 8), ("<other>", 4), ("<other>", 16)]
    assert [(row["group"], row["x"]) for row in dashed] == [("base", 8), ("base", 16)]


def test_axes_share_x_and_colours_and_only_the_last_names_x() -> None:
    assert draw(TWO)["resolve"] == {"scale": {"color": "shared", "x": "shared"}}
    domains = [channel(TWO, "color", panel)[0]["scale"] for panel in (0, 1)]
    assert domains[0] == domains[1] == {"domain": ["base", "<other>"], "range": list(COLOURS[:2])}
    titles = [found["title"] for panel in (0, 1) for found in channel(TWO, "x", panel) if "title" in found]
    assert set(titles[:4]) == {None}
    assert set(titles[4:]) == {"tokens"}
    assert [panel["height"] for panel in draw(TWO)["vconcat"]] == [230, 140]
    assert {"base", "<other>", "Difference from base", "none", "tokens"} <= set(texts(TWO))


def test_axes_without_a_point_are_left_out() -> None:
    empty = Axes("nothing", (Series("base", (1.0,), (None,)),))
    assert "vconcat" not in draw(curve(Axes("loss", (BASE,)), empty))


def test_points_alone_have_bars_and_stand_beside_each_other() -> None:
    points = (replace(BASE, style="points", dashed_from=None), replace(BASE, label="c", style="points"))
    even, doubled = curve(Axes("loss", points)), curve(Axes("loss", points), log=2)
    for figure, step in ((even, 0.008 * 12), (doubled, 4 * (4**0.004 - 4**-0.004))):
        drawn = marks(figure)
        assert "area" not in drawn
        assert "line" not in drawn
        assert len(drawn["rule"][0]) == 6
        first, second = (row["x"] for row in drawn["point"][0] if row["value"] == 3.0)
        assert second - first == pytest.approx(step)


def test_points_on_lines_stand_where_they_are() -> None:
    checks = replace(BASE, style="points", dashed_from=None)
    drawn = marks(curve(Axes("loss", (replace(BASE, style="line", dashed_from=None), checks))))
    assert [row["x"] for row in drawn["point"][0]] == list(X)
    assert (len(drawn["area"][0]), len(drawn["rule"][0])) == (3, 3)


def test_an_axis_of_logarithms_has_its_own_labels() -> None:
    figure = curve(Axes("loss", (BASE,)), log=2, ticks={4.0: "four", 16.0: "it's 16"})
    found = channel(figure, "x")[0]
    assert (found["scale"]["type"], found["scale"]["base"]) == ("log", 2)
    low, high = found["scale"]["domain"]
    assert low < 4
    assert high > 16
    assert {"four", "it's 16"} <= set(texts(figure))


def test_a_place_has_lines_to_both_axes_and_its_label_on_the_free_side() -> None:
    for y, side in (((3.0, 2.5, 2.0), -12), ((2.0, 2.5, 3.0), 12)):
        figure = curve(Axes("power", (Series("", X, y, style="line"),), places=(Place(8.0, 2.5, "8 items"),)))
        layers = draw(figure)["layer"]
        assert [layer["mark"]["type"] for layer in layers] == ["line", "rule", "rule", "point", "text"]
        assert layers[-1]["mark"]["dy"] == side
        assert "8 items" in texts(figure)


def test_one_series_without_a_name_has_no_legend() -> None:
    assert channel(curve(Axes("power", (Series("", X, (1, 2, 3)),))), "color")[0]["legend"] is None
    assert channel(curve(Axes("power", (Series("m", X, (1, 2, 3)),))), "color")[0]["legend"]["orient"] == "top"


def test_more_lines_than_colours_differ_by_dashes_with_the_legend_beside() -> None:
    many = tuple(Series(f"model {i}", X, (i, i, i)) for i in range(9))
    (dash,) = channel(curve(Axes("score", many)), "strokeDash")
    assert dash["scale"]["range"] == [[1, 0]] * 7 + [[5, 3]] * 2
    assert dash["legend"]["orient"] == "right"


def test_a_y_axis_may_have_a_domain_a_format_and_a_long_title() -> None:
    axes = Axes("a title that takes more than one line of it", (BASE,), domain=(0, 1), written=".0%", tall=False)
    y = next(one for one in channel(curve(axes), "y") if "scale" in one)
    assert (y["scale"]["domain"], y["axis"]["format"]) == ([0, 1], ".0%")
    assert len(y["title"]) == 2
    assert " ".join(y["title"]) == axes.axis


def test_of_many_lines_the_first_have_colours_and_the_others_are_grey() -> None:
    many = tuple(Series(f"model {i}", X, (i, i, i), (i - 1,) * 3, (i + 1,) * 3) for i in range(20))
    figure = curve(Axes("score", many))
    drawn = marks(figure)
    grey, coloured = drawn["line"]
    assert len({row["label"] for row in grey}) == 14
    assert {row["group"] for row in grey} == {"14 others"}
    assert {row["group"] for row in coloured} == {f"model {i}" for i in range(6)}
    assert {row["group"] for row in drawn["area"][0]} == {f"model {i}" for i in range(6)}
    colour = channel(figure, "color")[0]
    assert (colour["scale"]["domain"][-1], colour["scale"]["range"][-1]) == ("14 others", LINE)
    assert "14 others" in texts(figure)
