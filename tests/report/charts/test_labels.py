"""Names beside dots: what is written covers neither another name nor a dot, at any width."""

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from assay.report.charts import draw, picture_of
from assay.report.charts.labels import Dot, _around, _box, sides
from assay.results.figures import Point, Points

DOTS = st.lists(
    st.builds(
        lambda x, y, label, bar: Dot(x, y, label, y - bar if bar else None, y + bar if bar else None),
        st.floats(0, 500),
        st.floats(0, 280),
        st.text("abc日", min_size=1, max_size=12),
        st.sampled_from([0, 20, 60]),
    ),
    max_size=15,
)


def _apart(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


@given(DOTS)
def test_names_cover_neither_each_other_nor_dots(dots: list[Dot]) -> None:
    found = sides(dots, (520, 280))
    boxes = {place: _box(dot, side) for place, (dot, side) in enumerate(zip(dots, found, strict=True)) if side}
    for place, box in boxes.items():
        assert all(_apart(box, other) for i, other in boxes.items() if i != place)
        assert all(_apart(box, other) for i, dot in enumerate(dots) if i != place for other in _around(dot))
        assert box[0] >= 0
        assert box[2] <= 520


def test_a_dot_alone_has_its_name_on_the_right_and_at_the_edge_on_the_left_by_hand() -> None:
    assert sides([Dot(100, 100, "model")], (520, 280)) == ["right"]
    assert sides([Dot(515, 100, "model")], (520, 280)) == ["left"]
    assert sides([Dot(100, 100, "a"), Dot(100, 100, "b")], (520, 280)) == ["right", "left"]  # in one place
    assert sides([Dot(100, 100, "model")] * 5, (520, 280)) == ["right", "left", "above", "below", None]


def test_names_that_only_a_wide_screen_has_room_for_are_in_layers_of_their_own() -> None:
    points = tuple(Point(100.0 + 10 * i, 0.5, f"model-{i}") for i in range(8))
    specification = draw(Points("c", "Score against price", (), ("price", "score"), points, named=True))
    written = {row["label"]: part.get("name", "") for part in specification["layer"] if part["mark"]["type"] == "text"
               for row in specification["datasets"][part["data"]["name"]]}  # fmt: skip
    assert any(name.startswith("wide") for name in written.values())
    assert "" in written.values()
    root = ET.fromstring(picture_of(specification, ".svg"))  # noqa: S314  # our own
    drawn = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert set(written) <= drawn


def test_costs_that_differ_by_far_are_on_an_axis_of_logarithms() -> None:
    points = (Point(0.1, 0.5, "small"), Point(10.0, 0.9, "large"))
    figure = Points("c", "Score against price", (), ("price", "score"), points, named=True)
    assert draw(figure)["layer"][0]["encoding"]["x"]["scale"]["type"] == "log"
