"""A forest as it is drawn: what stands on the chart is what the figure holds."""

from assay.report.charts import COLOURS, draw
from assay.results.figures import INSIDE, Forest, Line, Mark, SecondMark
from tests.report.charts.drawn import channel, marks, texts

LINES = (
    Line("a & b", 0.7, 0.65, 0.75, "1", note="tier 1"),
    Line("c", 0.6, 0.55, 0.65, "1"),
    Line("d", 0.4, None, None, "2"),
)


def forest(*lines: Line, groups: tuple[str, ...] = ("1", "2"), legend: bool = False) -> Forest:
    return Forest("models", "Which models?", ("About.",), "score", lines or LINES, groups=groups, legend=legend)


def test_dots_are_the_values_and_lines_the_intervals() -> None:
    drawn = marks(forest())
    assert [(row["label"], row["value"]) for row in drawn["point"][0]] == [("a & b", 0.7), ("c", 0.6), ("d", 0.4)]
    assert [(row["low"], row["high"]) for row in drawn["rule"][0]] == [(0.65, 0.75), (0.55, 0.65)]


def test_groups_have_colours_and_shapes_and_a_legend_where_it_is_wanted() -> None:
    colour = channel(forest(), "color")[0]
    assert (colour["scale"]["domain"], colour["scale"]["range"]) == (["1", "2"], list(COLOURS[:2]))
    (shape,) = channel(forest(), "shape")
    assert shape["scale"]["range"] == ["circle", "square"]
    assert shape["legend"] is None
    assert channel(forest(legend=True), "shape")[0]["legend"] is not None
    assert channel(forest(LINES[0], groups=("1",), legend=True), "shape")[0]["legend"] is None


def test_names_and_notes_are_written_in_order() -> None:
    written = texts(forest())
    assert [text for text in written if text in ("a & b", "c", "d")] == ["a & b", "c", "d"]
    assert {"tier 1", "score", "Which models?", "About."} <= set(written)


def test_a_line_without_a_value_takes_no_room() -> None:
    with_none = forest(*LINES, Line("none", None, group="2"))
    assert marks(with_none) == marks(forest())
    assert draw(with_none)["height"] == draw(forest())["height"]
    assert "none" not in texts(with_none)


def test_a_second_interval_stands_below_the_first_and_a_second_mark_on_it() -> None:
    corrected = forest(Line("a", 0.7, 0.6, 0.8, others=(SecondMark(0.68, 0.55, 0.79),)), groups=())
    offsets = [layer["mark"].get("yOffset") for layer in draw(corrected)["layer"]]
    assert offsets == [None, None, 8, 8]
    single = forest(Line("a", 0.7, others=(SecondMark(0.68, 0.55, 0.79),)), groups=())
    assert [layer["mark"].get("yOffset") for layer in draw(single)["layer"]] == [None, 0, 0]
    published = forest(
        Line("a", 0.1, 0.0, 0.2, others=(SecondMark(0.15, shape="tick"), SecondMark(0.05, shape="triangle"))), groups=()
    )
    drawn = marks(published)
    assert [row["value"] for row in drawn["tick"][0]] == [0.15]
    assert [row["value"] for row in drawn["point"][1]] == [0.05]
    assert len(drawn["rule"]) == 1


def test_lines_of_one_label_stand_beside_each_other_with_their_values() -> None:
    lines = [Line(label, 50.0 + i, 40.0, 60.0, group) for i, label in enumerate("xy") for group in ("A", "B")]
    figure = Forest("f", "t", (), "per cent", tuple(lines), groups=("A", "B"), domain=(0, 100), written=".1f")
    assert {found["field"] for found in channel(figure, "yOffset")} == {"group"}
    assert {"50.0", "51.0", "A", "B", "x", "y"} <= set(texts(figure))
    assert [found["scale"]["domain"] for found in channel(figure, "x") if "scale" in found] == [[0, 100]]
    assert [row["end"] for row in marks(figure)["text"][0]] == [60.0] * 4


def test_lines_through_all_have_names_above_each_other() -> None:
    figure = Forest(
        "f",
        "t",
        (),
        "score",
        LINES,
        marks=(Mark(0.3, "uniform"), Mark(0.8, "ceiling", dashed=False)),
        groups=("1", "2"),
    )
    layers = [layer for layer in draw(figure)["layer"] if layer["mark"]["type"] == "rule"][:2]
    assert [layer["encoding"]["y"]["value"] for layer in layers] == [-24, -12]
    assert [layer["mark"]["strokeDash"] for layer in layers] == [[5, 3], [1, 0]]
    assert {"uniform", "ceiling"} <= set(texts(figure))


def test_an_axis_may_have_to_show_zero() -> None:
    (x,) = [found for found in channel(Forest("f", "t", (), "gap", LINES, zero=True), "x") if "scale" in found]
    assert x["scale"]["zero"] is True


def test_many_rows_are_lower() -> None:
    few, many = (forest(*(Line(f"m{i}", i / 100) for i in range(n)), groups=()) for n in (60, 61))
    assert draw(few)["height"] == 24 * 61
    assert draw(many)["height"] == 13 * 62


def test_values_without_intervals_have_no_empty_layer() -> None:
    drawn = marks(Forest("f", "F", (), "score", (Line("a", 1.0), Line("b", 2.0))))
    assert list(drawn) == ["point"]


def test_names_of_an_outline_begin_below_each_other() -> None:
    inside = forest(LINES[0], Line(f"{INSIDE}c", 0.6), Line(f"{INSIDE * 2}d", 0.4))
    for axis in (one["axis"] for one in channel(inside, "y") if "axis" in one):
        assert axis["labelAlign"] == "left"
        assert axis["labelPadding"] > 0
    assert all("labelAlign" not in one["axis"] for one in channel(forest(), "y") if "axis" in one)
    assert {"a & b", "· c", "· · d"} <= set(texts(inside))
