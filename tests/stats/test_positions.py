"""Does the place of an answer decide? Oracles: statsmodels' least squares, closed forms, enumeration."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.stats.positions import both_orders, first_place
from assay.stats.units import Floats, Integers


def games(seed: int, n: int, k: int, prompts: int) -> tuple[Floats, Integers, Integers, Integers]:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, k, n)
    second = (first + rng.integers(1, k, n)) % k
    won = rng.choice([0.0, 0.5, 1.0], n)
    return won, first, second, rng.integers(0, prompts, n) if prompts < n else np.arange(n)


def swapped(winners: Sequence[tuple[float, float]]) -> tuple[Floats, Integers, Integers, Integers]:
    """Two models on prompts in both orders: what the first gets in each."""
    n = len(winners)
    first = np.tile([0, 1], n)
    return np.array(winners).ravel(), first, 1 - first, np.repeat(np.arange(n), 2)


@pytest.mark.parametrize(("seed", "k"), [(0, 2), (1, 3), (2, 6)])
def test_share_and_error_of_single_games_against_statsmodels_hc2(seed: int, k: int) -> None:
    won, first, second, prompts = games(seed, 90, k, 90)
    design = np.zeros((90, k))
    design[np.arange(90), first] += 1
    design[np.arange(90), second] -= 1
    fitted = sm.OLS(won, np.column_stack([np.ones(90), design[:, 1:]])).fit(cov_type="HC2")
    found = first_place(won, first, second, prompts)
    assert found is not None
    assert found.value == pytest.approx(fitted.params[0], rel=1e-10)
    assert found.standard_error == pytest.approx(fitted.bse[0], rel=1e-10)


def test_the_share_of_games_on_common_prompts_against_statsmodels() -> None:
    won, first, second, prompts = games(3, 400, 5, 80)
    design = np.zeros((400, 5))
    design[np.arange(400), first] += 1
    design[np.arange(400), second] -= 1
    how = {"groups": prompts, "use_correction": False}
    fitted = sm.OLS(won, np.column_stack([np.ones(400), design[:, 1:]])).fit(cov_type="cluster", cov_kwds=how)
    found = first_place(won, first, second, prompts)
    assert found is not None
    assert found.value == pytest.approx(fitted.params[0], rel=1e-10)
    assert found.standard_error == pytest.approx(fitted.bse[0], rel=0.02)  # but for the leverage


def test_one_order_each_is_the_mean_of_two_groups_and_welch_s_error_by_hand() -> None:
    won = np.array([1.0, 1.0, 0.0, 1.0, 0.5, 0.0, 1.0, 0.0])
    first = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    found = first_place(won, first, 1 - first, np.arange(8))
    groups = won[:5], won[5:]
    assert found is not None
    assert found.value == pytest.approx((groups[0].mean() + groups[1].mean()) / 2)
    assert found.standard_error == pytest.approx(
        sqrt(groups[0].var(ddof=1) / 5 + groups[1].var(ddof=1) / 3) / 2, rel=1e-12
    )


def test_both_orders_are_the_plain_share_whatever_the_strengths_by_hand() -> None:
    found = first_place(*swapped([(1, 0), (1, 0), (1, 1), (1, 0.5), (0, 0)]))
    assert found is not None
    assert found.value == pytest.approx((0.5 + 0.5 + 1 + 0.75 + 0) / 5)


@pytest.mark.parametrize(("first", "second", "same"), [(16, 2, 55), (3, 0, 60), (0, 0, 40)])
def test_the_interval_of_both_orders_without_ties_against_bonett_and_price(first: int, second: int, same: int) -> None:
    """(b − c)/(n + 2) ± t √(…), with one more prompt for each place; the variance of a sample, and Student's t."""
    found = first_place(*swapped([(1, 1)] * first + [(0, 0)] * second + [(1, 0)] * same))
    n = first + second + same
    difference, share = (first - second) / (n + 2), (first + second + 2) / (n + 2)
    error = sqrt((share - difference**2) / (n + 1)) / 2
    reach = scipy_stats.t.ppf(0.975, n - 1) * error
    assert found is not None
    assert found.interval is not None
    assert found.interval.low == pytest.approx(0.5 + difference / 2 - reach, rel=1e-9)
    assert found.interval.high == pytest.approx(0.5 + difference / 2 + reach, rel=1e-9)
    assert found.interval.method == "bonett-price"


def test_a_judge_that_is_never_moved_is_not_certain_to_be() -> None:
    found = first_place(*swapped([(1, 0)] * 100))
    assert found is not None
    assert found.interval is not None
    assert found.interval.low < found.value == 0.5 < found.interval.high  # type: ignore[operator]
    assert found.interval.high - 0.5 < 3 / 100  # the rule of three: so many changed verdicts may have been missed


@pytest.mark.parametrize(
    ("first", "second"),
    [([0, 0, 0], [1, 1, 1]), ([0, 0, 1], [1, 2, 2]), ([0, 2, 0], [1, 1, 1])],
)
def test_where_the_order_tells_the_models_apart_nothing_is_known(first: list[int], second: list[int]) -> None:
    """A constant that the strengths can give as well: 1 = s(first) − s(second) has a solution, but for the second."""
    found = first_place(np.array([1.0, 0.0, 1.0]), np.array(first), np.array(second), np.arange(3))
    solvable = np.linalg.matrix_rank(np.column_stack([_signs(first, second), np.ones(3)])) == np.linalg.matrix_rank(
        _signs(first, second)
    )
    assert (found is None) == bool(solvable)


def _signs(first: list[int], second: list[int]) -> Floats:
    signs = np.zeros((len(first), 3))
    signs[np.arange(len(first)), first] += 1
    signs[np.arange(len(first)), second] -= 1
    return signs


def test_a_single_prompt_has_no_interval() -> None:
    found = first_place(*swapped([(1, 0.5)]))
    assert found is not None
    assert (found.value, found.interval, found.reason) == (0.75, None, "a single prompt")


_GAMES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(1, 3), st.sampled_from([0.0, 0.5, 1.0])),
    min_size=2,
    max_size=25,
)


@given(_GAMES, st.permutations(range(25)))
def test_the_order_of_games_and_the_names_of_models_change_nothing(
    rows: list[tuple[int, int, int, float]], order: list[int]
) -> None:
    prompts, first, step, won = (np.array(part) for part in zip(*rows, strict=True))
    second = (first + step) % 4
    chosen = [i for i in order if i < len(rows)]
    names = np.array([2, 0, 3, 1])
    found = first_place(won, first, second, prompts)
    moved = first_place(won[chosen], names[first[chosen]], names[second[chosen]], prompts[chosen] + 7)
    assert (found is None) == (moved is None)
    if found is not None and moved is not None:
        assert moved.value == pytest.approx(found.value, abs=1e-9)
        assert moved.standard_error == pytest.approx(found.standard_error, abs=1e-7)


@given(_GAMES)
def test_the_second_place_gets_the_rest(rows: list[tuple[int, int, int, float]]) -> None:
    prompts, first, step, won = (np.array(part) for part in zip(*rows, strict=True))
    second = (first + step) % 4
    found, turned = first_place(won, first, second, prompts), first_place(1 - won, first, second, prompts)
    if found is not None and turned is not None:
        assert found.value is not None
        assert turned.value == pytest.approx(1 - found.value, abs=1e-9)
        if found.interval is not None and turned.interval is not None:
            assert turned.interval.low == pytest.approx(1 - found.interval.high, abs=1e-7)


# --------------------------------------------------------------------------------------------------------- both orders


@given(_GAMES)
def test_agreement_of_both_orders_against_a_slow_twin(rows: list[tuple[int, int, int, float]]) -> None:
    prompts, first, step, won = (np.array(part) for part in zip(*rows, strict=True))
    second = (first + step) % 4
    found = both_orders(won, first, second, prompts)
    want: list[tuple[int, bool]] = []
    for prompt in range(6):
        for one in range(4):
            for other in range(one + 1, 4):
                means = [
                    [y for p, (a, b), y in _plain(prompts, first, second, won) if p == prompt and (a, b) == pair]
                    for pair in ((one, other), (other, one))
                ]
                if all(means):
                    ahead = np.mean(means[0]) - 0.5, 0.5 - np.mean(means[1])
                    want.append((prompt, bool(np.sign(ahead[0]) == np.sign(ahead[1]))))
    assert sorted(zip(found.prompts.tolist(), found.agree.tolist(), strict=True)) == sorted(want)


def _plain(
    prompts: Integers, first: Integers, second: Integers, won: Floats
) -> list[tuple[int, tuple[int, int], float]]:
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    return list(zip(prompts.tolist(), pairs, won.tolist(), strict=True))
