"""Heat maps as they are drawn: a coloured cell for each number, written where there is room."""

from assay.report.charts import COLOURS, GRID
from assay.results.figures import Matrix
from tests.report.charts.drawn import channel, marks, texts

VALUES = ((0.71, 0.5), (0.4, None))
SHADES = ((0.1, -0.1), (0.0, None))


def figure(columns: tuple[str, ...] = ("law", "math"), repeat: int = 1) -> Matrix:
    values, shades = (tuple(row * repeat for row in rows) for rows in (VALUES, SHADES))
    return Matrix("tasks", "Models and tasks", ("Numbers: scores.",), ("x", "y"), columns, values, shades, "better")


def test_every_number_has_a_cell_and_is_written() -> None:
    drawn = marks(figure())
    cells = [(cell["row"], cell["column"], cell["value"], cell["shade"]) for cell in drawn["rect"][0]]
    assert cells == [("x", "law", 0.71, 0.1), ("x", "math", 0.5, -0.1), ("y", "law", 0.4, 0.0)]
    assert {"0.71", "0.50", "0.40", "law", "math", "x", "y", "better", "Models and tasks"} <= set(texts(figure()))


def test_colours_are_even_on_both_sides_of_the_middle() -> None:
    (colour,) = channel(figure(), "color")
    assert colour["scale"]["domain"] == [-0.1, 0, 0.1]
    assert colour["scale"]["range"] == [COLOURS[1], GRID, COLOURS[0]]


def test_rows_and_columns_keep_their_order() -> None:
    found = figure(("zeta", "alpha"))
    assert [channel(found, name)[0]["sort"] for name in ("x", "y")] == [["zeta", "alpha"], ["x", "y"]]


def test_many_columns_are_small_cells_without_numbers() -> None:
    many = figure(tuple(f"a task with a long name, {i}" for i in range(20)), repeat=10)
    drawn = marks(many)
    assert "text" not in drawn
    assert len(drawn["rect"][0]) == 30
    assert "0.71" not in texts(many)
    assert channel(many, "x")[0]["axis"]["labelAngle"] < 0


def test_numbers_that_are_all_the_same_are_drawn() -> None:
    flat = Matrix("tasks", "Same", (), ("x",), ("law",), ((0.5,),), ((0.0,),), "better")
    assert channel(flat, "color")[0]["scale"]["domain"] == [-1, 0, 1]
