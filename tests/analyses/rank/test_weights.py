"""Does the ranking change under other weights (S7)? Against weighted means by hand and scipy's Kendall."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from assay.analyses.rank import rank
from assay.analyses.rank.weights import place_of
from assay.design import Design
from assay.errors import InputError, UsageError

QUICK = Design(resamples=200)
N = [1, 4, 9, 100, 400, 900, 2_500, 25, 36, 49] * 3


def parts(values: Any, n: list[int]) -> list[dict[str, Any]]:
    items = [f"q{i:02d}" for i in range(len(n))]
    return [{"item": items, "score": column.tolist(), "weight": n} for column in np.asarray(values, dtype=float).T]


def varied(k: int = 5) -> Any:
    """Models that do better on items with many respondents, each more than the last, or less."""
    rng = np.random.default_rng(3)
    slope = np.linspace(-0.04, 0.04, k)
    return rng.normal(size=(len(N), k)) * 0.3 + slope * np.log(N)[:, None] + np.linspace(0.3, 0, k)


NAMES = [f"m{i}" for i in range(5)]
FUNCTIONS: dict[str, Callable[[Any], Any]] = {"equal": np.ones_like, "n": np.array, "sqrt": np.sqrt, "log": np.log}


@pytest.mark.parametrize("how", ["n", "sqrt", "equal"])
@pytest.mark.parametrize("min_n", [None, 25])
def test_estimates_against_weighted_means_by_hand(how: Any, min_n: int | None) -> None:
    values, n = varied(), np.array(N, dtype=float)
    board = rank(*parts(values, N), names=NAMES, design=QUICK, weights=how, min_n=min_n)
    kept = n >= (min_n or 0)
    expected = np.average(values[kept], axis=0, weights=FUNCTIONS[how](n)[kept])
    assert board.n_units == kept.sum()
    for model in board.models:
        assert model.estimate.value == pytest.approx(expected[NAMES.index(model.name)])


def test_every_weighting_against_scipys_kendall() -> None:
    values, n = varied(), np.array(N, dtype=float)
    board = rank(*parts(values, N), names=NAMES, design=QUICK, weights="sqrt", min_n=4)
    kept = n >= 4
    base = values.mean(axis=0)
    assert [(other.weights, other.min_n) for other in board.reweightings] == [
        ("equal", 4),
        ("n", 4),
        ("sqrt", 4),
        ("log", 4),
    ]
    for other in board.reweightings:
        mean = np.average(values[kept], axis=0, weights=FUNCTIONS[other.weights](n)[kept])
        assert other.tau == pytest.approx(float(scipy_stats.kendalltau(base, mean).statistic))
        before, after = scipy_stats.rankdata(-base), scipy_stats.rankdata(-mean)
        moved = {name: (int(a), int(b)) for name, a, b in zip(NAMES, before, after, strict=True) if a != b}
        assert {move.name: (move.rank, move.to) for move in other.moves} == moved
        assert other.units == kept.sum()
    assert any(other.moves for other in board.reweightings)


def test_told_apart_pairs_that_change_order_are_counted() -> None:
    """A is better on items of many respondents, B on those of few, both beyond doubt."""
    rng = np.random.default_rng(0)
    n = [1_000] * 20 + [2] * 60
    gap = np.where(np.array(n) > 2, 1.0, -1.0)
    values = np.column_stack([gap, np.zeros(80)]) + rng.normal(size=(80, 2)) * 0.05
    equal = rank(*parts(values, n), names=["A", "B"], design=QUICK, weights="equal", min_n=1)
    weighted = next(other for other in equal.reweightings if other.weights == "n")
    assert [model.name for model in equal.models] == ["B", "A"]
    assert (weighted.tau, weighted.reversed) == (-1.0, 1)
    assert "1 pair told apart changes order" in str(equal)


def test_nothing_is_said_of_weights_unless_asked() -> None:
    assert rank(*parts(varied(), N), names=NAMES, design=QUICK).reweightings == ()


def test_the_logarithm_of_one_is_no_weight() -> None:
    board = rank(*parts(varied(), N), names=NAMES, design=QUICK, weights="n")
    assert [other.weights for other in board.reweightings] == ["n", "sqrt"]
    with pytest.raises(InputError, match="leave such items out with `min_n=2`"):
        rank(*parts(varied(), N), names=NAMES, design=QUICK, weights="log")


def test_what_cannot_be_weighted_is_refused() -> None:
    bare = [{name: cells for name, cells in part.items() if name != "weight"} for part in parts(varied(), N)]
    with pytest.raises(InputError, match="need the number behind each item in a column 'weight'"):
        rank(*bare, names=NAMES, weights="n")
    with pytest.raises(InputError, match="no item has a weight of at least 9999"):
        rank(*parts(varied(), N), names=NAMES, min_n=9_999)
    with pytest.raises(UsageError, match="weights must be one of equal, n, sqrt, log"):
        rank(*bare, names=NAMES, weights="squared")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="min_n must be at least 1, but got 0"):
        rank(*bare, names=NAMES, min_n=0)


def test_places_are_shared_where_estimates_tie() -> None:
    assert place_of(np.array([0.1 + 0.2, 0.3, 0.5, 0.1])) == [2, 2, 1, 4]
