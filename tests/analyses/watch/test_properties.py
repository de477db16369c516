"""What must hold of `watch` whatever the scores are; numpy and `compare`'s fixed-n interval are the oracles."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.analyses.compare import compare
from assay.analyses.watch import watch
from assay.analyses.watch.result import Watch

SCORES = st.integers(25, 120).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(0, 4), min_size=n, max_size=n) for _ in range(2)))
)


def table(scores: Any) -> dict[str, Any]:
    return {"item": [f"q{i}" for i in range(len(scores))], "score": [one / 4 for one in scores]}


def limits(found: Watch) -> tuple[float, float]:
    interval = found.difference.interval
    assert interval is not None
    return interval.low, interval.high


def differing(a: list[int], b: list[int]) -> bool:
    return len({y - x for x, y in zip(a, b, strict=True)}) > 1


@given(SCORES)
def test_the_estimate_is_the_mean_difference_by_numpy(scores: tuple[list[int], list[int]]) -> None:
    a, b = scores
    found = watch(table(a), table(b))
    assert found.difference.value == pytest.approx((np.mean(b) - np.mean(a)) / 4, abs=1e-12)
    assert found.n == len(a)
    assert found.differing == sum(x != y for x, y in zip(a, b, strict=True))


@given(SCORES)
def test_an_interval_for_all_times_holds_the_estimate_and_is_wider_than_one_for_now(
    scores: tuple[list[int], list[int]],
) -> None:
    assume(differing(*scores))
    a, b = map(table, scores)
    low, high = limits(watch(a, b))
    fixed = compare(a, b, method="t").difference
    assert fixed.interval is not None
    assert fixed.value is not None
    assert low < fixed.interval.low
    assert fixed.interval.high < high
    assert low < fixed.value < high


@given(SCORES, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(scores: tuple[list[int], list[int]], random: Any) -> None:
    a, b = map(table, scores)
    order = list(range(len(a["item"])))
    random.shuffle(order)
    mixed = {name: [b[name][i] for i in order] for name in b}
    assert watch(a, mixed) == watch(a, b)


@given(SCORES)
def test_swapping_the_systems_mirrors_the_interval_and_turns_the_verdict(scores: tuple[list[int], list[int]]) -> None:
    assume(differing(*scores))
    a, b = map(table, scores)
    there, back = watch(a, b), watch(b, a)
    assert limits(back) == pytest.approx((-limits(there)[1], -limits(there)[0]), rel=1e-9, abs=1e-12)
    turned = {"better": "worse", "worse": "better"}
    assert back.verdict == turned.get(there.verdict, there.verdict)
    assert (back.advice, back.more) == (there.advice, there.more)


@given(SCORES, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_verdict_advice_and_interval_never_contradict(scores: tuple[list[int], list[int]], level: float) -> None:
    a, b = map(table, scores)
    found = watch(a, b, level=level)
    interval = found.difference.interval
    shown = interval is not None and not interval.low <= 0 <= interval.high
    assert (found.advice == "stop") == shown
    assert (found.verdict in ("better", "worse")) == shown
    assert found.status == {"better": "good", "worse": "bad", "open": "unsure"}[found.verdict]
    if found.verdict == "better":
        assert found.difference.value is not None
        assert found.difference.value > 0
    assert found.sentence.startswith("Stop" if shown else "Continue")


@given(SCORES)
def test_a_higher_level_is_never_narrower(scores: tuple[list[int], list[int]]) -> None:
    assume(differing(*scores))
    a, b = map(table, scores)
    (low, high), (wider_low, wider_high) = limits(watch(a, b, level=0.9)), limits(watch(a, b, level=0.99))
    assert wider_low <= low <= high <= wider_high
