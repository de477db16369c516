"""Quality against cost: points are the numbers of the record, and the front is what nothing beats."""

from hypothesis import given
from hypothesis import strategies as st

from assay.analyses.summarize import summarize
from assay.results.figures import Point, Points, unbeaten

NUMBERS = st.integers(0, 5).map(float)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=8), st.booleans())
def test_the_front_against_enumeration(places: list[tuple[float, float]], lower: bool) -> None:
    points = [Point(x, y, "m") for x, y in places]
    sign = 1 if lower else -1
    for point in unbeaten(points, lower_is_better=lower):
        others = [(x, y) for x, y in places if (x, y) != (point.x, point.y)]
        assert point.strong == (not any(x <= point.x and sign * y <= sign * point.y for x, y in others))


def _table(name: str, right: float, price: float) -> dict[str, list[object]]:
    n = 40
    score = [float(i < right * n) for i in range(n)]
    return {"item": list(map(str, range(n))), "score": score, "price": [price] * n, "model": [name] * n}  # type: ignore[dict-item]


def test_points_are_the_means_of_the_record() -> None:
    found = summarize(_table("small", 0.5, 1.0), _table("large", 0.75, 8.0), _table("poor", 0.25, 9.0))
    (figure,) = (one for one in found.main_figures if isinstance(one, Points))
    assert {(point.label, point.x, point.y, point.strong) for point in figure.points} == {
        ("small", 1.0, 0.5, True), ("large", 8.0, 0.75, True), ("poor", 9.0, 0.25, False)
    }  # fmt: skip
    limits = {model.name: model.value.interval for model in found.models}
    for point in figure.points:
        limit = limits[point.label]
        assert limit is not None
        assert (point.low, point.high) == (limit.low, limit.high)


def test_one_price_for_all_is_no_chart() -> None:
    found = summarize(_table("small", 0.5, 1.0), _table("large", 0.75, 1.0))
    assert [figure.name for figure in found.figures] == ["models"]
