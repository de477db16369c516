"""Looking several times: against the error of a single look, and against what was asked of the functions."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from assay.errors import InputError, UsageError
from assay.testing import assert_not_worse, assert_ratio_below
from assay.testing.looking import Looks, looks_at


def one(_item: object) -> int:
    return 1


def broken(_item: object) -> float:
    raise ZeroDivisionError


def passes(a: Any, b: Any, limit: float, looks: Looks) -> bool:
    try:
        assert_not_worse(lambda i: a[i], lambda i: b[i], limit, items=range(len(a)), looks=looks)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("spending", ["obrien-fleming", "pocock"])
def test_the_levels_of_published_bounds(spending: Any) -> None:
    """O'Brien and Fleming's five looks (Lan–DeMets): 4.8769 … 2.0310; the first is at a fifth of the items or later."""
    found = looks_at(4_000, Looks(5, spending), 0.95)
    assert found[-1].items == 4_000
    assert [look.items for look in found] == sorted(look.items for look in found)
    z = np.array([norm.isf((1 - look.level) / 2) for look in found])
    if spending == "obrien-fleming":
        assert 4.8 < z[0] < 6.5
        assert z[-1] == pytest.approx(2.03, abs=0.02)
    assert (np.diff(z) < 0.2).all()


def test_few_items_have_one_look_at_the_usual_level() -> None:
    (one,) = looks_at(12, Looks(5), 0.9)
    assert (one.items, one.level) == (12, 0.9)


def simulated(times: int) -> int:
    """How often a candidate that loses exactly the limit passes: 0/1 scores, a tenth more of which are wrong."""
    rng, n, passed = np.random.default_rng(5), 300, 0
    for run in range(times):
        a = rng.random(n) < 0.9
        b = a & (rng.random(n) >= 1 / 9)  # a fall of 0.9/9 = 0.1
        passed += passes(a, b, 0.1, Looks(4, seed=run))
    return passed


@pytest.mark.slow
def test_at_the_limit_it_passes_no_more_often_than_with_one_look() -> None:
    times = 120
    assert simulated(times) <= binom.isf(0.001, times, 0.025)


@pytest.mark.nightly
def test_at_the_limit_it_passes_no_more_often_than_with_one_look_at_full_size() -> None:
    times = 2_000
    assert simulated(times) <= binom.isf(0.001, times, 0.025)


def test_what_is_clear_stops_early_and_both_functions_are_asked_for_the_same_items() -> None:
    asked: tuple[list[int], list[int]] = ([], [])

    def first(i: int) -> float:
        asked[0].append(i)
        return 0.5 + i % 3 / 10

    def other(i: int) -> float:
        asked[1].append(i)
        return 0.6 + i % 4 / 10

    found = assert_not_worse(first, other, items=range(1_000), looks=5)
    assert asked[0] == asked[1]
    assert len(set(asked[0])) == found.n_pairs < 500
    assert asked[0] != sorted(asked[0])  # a random part, not the first ones


def test_the_order_is_that_of_the_seed() -> None:
    orders: list[list[int]] = []

    def better(i: int) -> int:
        orders[-1].append(i)
        return i % 3 + 1

    for seed in (1, 1, 2):
        orders.append([])
        assert_not_worse(lambda i: i % 3, better, items=range(99), looks=Looks(3, seed=seed))
    assert orders[0] == orders[1] != orders[2]


def test_perplexities_by_functions() -> None:
    found = assert_ratio_below(
        lambda i: (2 + i % 7 / 10, 100),
        lambda i: (2 + i % 7 / 10 + i % 3 / 1000, 100),
        1.02,
        items=range(2_000),
        looks=4,
    )
    assert found.ratio is not None
    assert found.n_pairs < 2_000


@pytest.mark.parametrize("bad", [0, -1, 101, True, 2.5, "5", None])
def test_looks_that_are_no_number_of_looks_are_refused(bad: Any) -> None:
    with pytest.raises(UsageError, match="looks must be a whole number from 1 to 100"):
        assert_not_worse(one, one, items=range(50), looks=bad)


def test_looks_are_not_for_results_that_are_there() -> None:
    with pytest.raises(UsageError, match="looked at once"):
        assert_not_worse([1, 0], [1, 0], looks=5)
    with pytest.raises(UsageError, match="looked at once"):
        assert_not_worse([1, 0], [1, 0], items=[1, 2])
    with pytest.raises(UsageError, match="looked at once"):
        assert_not_worse(one, one)


@pytest.mark.parametrize("answer", [None, "right", (1, 2)])
def test_an_answer_that_is_no_score_is_refused(answer: Any) -> None:
    with pytest.raises(InputError, match="must give a score for an item"):
        assert_not_worse(one, lambda _: answer, items=range(50))


def test_no_items_are_refused() -> None:
    with pytest.raises(InputError, match="has no items"):
        assert_not_worse(one, one, items=[])


def test_an_error_of_a_function_is_its_own() -> None:
    with pytest.raises(ZeroDivisionError):
        assert_not_worse(one, broken, items=range(30), looks=2)


@given(st.integers(20, 400), st.integers(2, 12), st.floats(0.8, 0.99))
def test_levels_are_never_below_the_one_that_was_asked_for(n: int, looks: int, level: float) -> None:
    found = looks_at(n, Looks(looks), level)
    assert all(look.level >= level - 1e-9 for look in found)
    assert found[-1].items == n
