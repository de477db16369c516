"""Columns of pairs, each the way round of the ranks, against single comparisons; undefined parts have a reason."""

from typing import Any

import numpy as np
import pytest

from assay.analyses.compare import compare
from assay.analyses.rank import pair_columns, rank
from assay.analyses.rank.result import Leaderboard
from assay.design import Design

VALUES = np.random.default_rng(5).normal(size=(24, 4)) + np.array([0.0, 0.6, 0.3, 0.9])  # ranked 3, 1, 2, 0


def part(scores: Any, start: int = 0) -> dict[str, Any]:
    return {"item": list(range(start, start + len(scores))), "score": list(map(float, scores))}


def board_of(**options: Any) -> Leaderboard:
    parts = [part(column) for column in VALUES.T]
    return rank(*parts, names=list("abcd"), adjust="none", **options)


@pytest.mark.parametrize("test", ["sign-flip", "t", "wilcoxon"])
def test_pairs_are_turned_as_the_ranks_are_against_comparisons(test: Any) -> None:
    board = board_of(design=Design(test=test))
    assert [model.name for model in board.models] != sorted("abcd")  # or nothing would be turned
    columns = dict(zip("abcd", VALUES.T, strict=True))
    for pair in board.pairs:
        alone = compare(part(columns[pair.b]), part(columns[pair.a]), design=Design(test=test))
        assert pair.difference.value == pytest.approx(alone.difference.value)
        assert pair.test.statistic == pytest.approx(alone.test.statistic)
        assert pair.effect_sizes["d_av"].value == pytest.approx(alone.effect_sizes["d_av"].value)
        limits, expected = pair.difference.interval, alone.difference.interval
        assert limits is not None
        assert expected is not None
        assert (limits.low, limits.high) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_many_pairs_have_the_effect_sizes_of_few_without_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    few = board_of().pairs.effect_sizes
    monkeypatch.setattr(pair_columns, "MOST_WITH_EFFECT_INTERVALS", 5)
    many = board_of().pairs.effect_sizes
    assert set(many) == {"d_z", "hedges_g"}
    for name, sizes in many.items():
        assert sizes.value == pytest.approx(few[name].value)
        assert set(sizes.low) == set(sizes.high) == set(sizes.standard_error) == {None}
        assert set(sizes.reason) == {"no intervals of effect sizes beyond 5 pairs"}


@pytest.mark.parametrize("most", [0, 300])
def test_pairs_without_a_common_unit_are_undefined_with_a_reason(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(pair_columns, "MOST_WITH_EFFECT_INTERVALS", most)
    rng = np.random.default_rng(1)
    apart = rank(part(rng.random(8)), part(rng.random(8), 8), part(rng.random(16)), names=["x", "y", "both"])
    pair = apart.pair("x", "y")
    assert (pair.verdict, pair.p_adjusted) == ("not told apart", None)
    assert (pair.difference.value, pair.difference.interval, pair.difference.standard_error) == (None, None, None)
    assert pair.difference.reason == pair.test.reason == "no unit in common"
    assert {size.value for size in pair.effect_sizes.values()} == {None}
    assert all(size.reason for size in pair.effect_sizes.values())


def test_differences_without_spread_collapse_to_their_value() -> None:
    scores = np.random.default_rng(2).random(12)
    pair = rank(part(scores), part(scores + 0.25), names=["low", "high"]).pairs[0]
    limits = pair.difference.interval
    assert limits is not None
    assert (pair.a, limits.method, pair.difference.reason) == ("high", "degenerate", "no spread")
    assert limits.low == limits.high == pair.difference.value == pytest.approx(0.25)
