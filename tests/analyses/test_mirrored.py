"""One answer for a pair: `compare` with its arguments swapped is mirrored, and `rank` has the same interval."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Design, compare, rank
from assay.analyses.compare.result import Comparison
from assay.stats.records import Interval

METHODS = ("auto", "bca", "bca-plain", "percentile", "t", "studentized")
ADJUST = ("none", "bh")

scores = st.one_of(
    st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=2, max_size=30),
    st.lists(st.tuples(st.just(0.5), st.sampled_from([0.5, 0.5, 0.5, 0.9, 0.2])), min_size=2, max_size=30),
    st.lists(st.tuples(*[st.floats(-2, 2).map(lambda x: round(x, 9))] * 2), min_size=2, max_size=14),
)
weightings = st.sampled_from([None, (5.0, 1.0), (1.0, 1.02), (100.0, 1.0, 1.0, 3.0)])


def tables(pairs: list[tuple[float, float]], weights: tuple[float, ...] | None) -> list[dict[str, Any]]:
    items = [f"q{i}" for i in range(len(pairs))]
    own = {} if weights is None else {"weight": [weights[i % len(weights)] for i in range(len(pairs))]}
    return [{"item": items, "score": [pair[side] for pair in pairs], **own} for side in range(2)]


def limits(found: Comparison) -> Interval:
    assert found.difference.interval is not None
    return found.difference.interval


@given(scores, weightings, st.sampled_from(METHODS), st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999]))
def test_swapped_arguments_give_the_mirrored_interval(
    pairs: list[tuple[float, float]], weights: tuple[float, ...] | None, method: Any, level: float
) -> None:
    a, b = tables(pairs, weights)
    design = Design(method=method, level=level)
    there, back = compare(a, b, design=design), compare(b, a, design=design)
    mirrored = (-limits(there).high, -limits(there).low)
    assert (limits(back).low, limits(back).high) == pytest.approx(mirrored, rel=1e-12, abs=1e-15)
    assert there.p_value == pytest.approx(back.p_value, rel=1e-9)


@given(scores, weightings, st.sampled_from(METHODS), st.sampled_from([0.5, 0.9, 0.95, 0.99]), st.sampled_from(ADJUST))
def test_rank_has_the_interval_and_the_verdict_of_compare(
    pairs: list[tuple[float, float]], weights: tuple[float, ...] | None, method: Any, level: float, adjust: Any
) -> None:
    a, b = tables(pairs, weights)
    design = Design(method=method, level=level)
    pair = rank(a, b, names=["A", "B"], design=design, adjust=adjust).pairs[0]
    found = compare(b, a, design=design) if pair.a == "A" else compare(a, b, design=design)
    assert pair.difference.interval is not None
    assert (found.verdict in ("better", "worse")) == (pair.verdict != "not told apart")
    assert found.difference.value == pytest.approx(pair.difference.value, rel=1e-9, abs=1e-14)
    shown = (pair.difference.interval.low, pair.difference.interval.high)
    assert shown == pytest.approx((limits(found).low, limits(found).high), rel=1e-7, abs=1e-9)


@given(scores, weightings, st.sampled_from(METHODS), st.sampled_from([0.5, 0.95, 0.9999]))
def test_an_estimate_is_never_outside_its_interval(
    pairs: list[tuple[float, float]], weights: tuple[float, ...] | None, method: Any, level: float
) -> None:
    found = compare(*tables(pairs, weights), design=Design(method=method, level=level))
    assert found.difference.value is not None
    assert limits(found).low <= found.difference.value <= limits(found).high


def test_one_of_six_lost_is_inside_its_studentized_interval() -> None:
    """Rounding put it one digit outside."""
    pairs = [(1.0, 0.0), *[(1.0, 1.0)] * 5]
    design = Design(method="studentized", level=0.9999, test="mcnemar", resamples=10_000)
    found = compare(*tables(pairs, None), design=design)
    assert limits(found).low <= -1 / 6


@pytest.mark.parametrize("swapped", [False, True])
def test_one_unit_of_thirty_has_one_interval_at_a_high_level(swapped: bool) -> None:
    a, b = tables([(0.5, 0.9), *[(0.5, 0.5)] * 29], None)
    first, second = (b, a) if swapped else (a, b)
    found = limits(compare(first, second, design=Design(level=0.99)))
    pair = rank(first, second, names=["A", "B"], design=Design(level=0.99), adjust="none").pairs[0]
    assert pair.difference.interval is not None
    assert max(abs(found.low), abs(found.high)) == pytest.approx(pair.difference.interval.high, rel=1e-12)


def test_two_weighted_items_get_one_verdict() -> None:
    a, b = tables([(0.0, 1.0), (1.0, 1.0)], (5.0, 1.0))
    design = Design(method="bca-plain", level=0.5)
    pair = rank(a, b, names=["A", "B"], design=design, adjust="bh").pairs[0]
    assert (compare(a, b, design=design).verdict == "better") == (pair.verdict == "better")
