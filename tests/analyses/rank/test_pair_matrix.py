"""The matrix of pairs: every difference twice, with opposite signs, in colour where the record tells a pair apart."""

import pytest

from assay.results.figures import Matrix
from tests.report.results import leaderboard


@pytest.mark.parametrize("k", [8, 12])
def test_cells_are_the_differences_of_the_record(k: int) -> None:
    board = leaderboard(k)
    (figure,) = (one for one in board.figures if one.name == "pairs")
    assert isinstance(figure, Matrix)
    names = [row.split("  ", 1)[1] for row in figure.rows]
    assert figure.columns == tuple(str(place) for place in range(1, k + 1))
    for row in board.pair_frame().to_dict("records"):  # type: ignore[attr-defined]
        i, j = names.index(row["a"]), names.index(row["b"])
        assert figure.values[i][j] == row["difference"]
        assert figure.values[j][i] == -row["difference"]
        shade = figure.shades[i][j]
        assert shade is not None
        assert (shade > 0) == (row["verdict"] == "better")
        assert (shade < 0) == (row["verdict"] == "worse")
        assert figure.shades[j][i] == -shade
    assert all(figure.values[i][i] is None for i in range(k))


def test_few_models_have_no_matrix() -> None:
    assert "pairs" not in [figure.name for figure in leaderboard(7).figures]
