"""The sign-flip test. Oracles: every sign vector, big integers, scipy's binomial and permutation tests, Monte Carlo."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test

from assay.stats import paired_tests as permutation
from assay.stats.numerics import SMALLEST_P
from assay.stats.paired_tests import STAND_IN_FLIPS, by_random_flips, sign_flip
from assay.stats.records import Fallback
from assay.stats.units import Floats

Path = Callable[[Floats, float], float | None]

INTEGERS = st.lists(st.integers(-6, 6), min_size=1, max_size=9)  # zeros and ties are frequent
NUMBERS = st.lists(st.floats(-10, 10).map(lambda x: round(x, 6)), min_size=1, max_size=9)


def by_enumeration(differences: Sequence[float]) -> float:
    """The share of all 2ⁿ sign vectors that reach the observed sum, in exact arithmetic."""
    exact = [round(d * 10**6) for d in differences]
    observed, reached = abs(sum(exact)), 0
    for signs in product((1, -1), repeat=len(exact)):
        reached += abs(sum(s * d for s, d in zip(signs, exact, strict=True))) >= observed
    return float(Fraction(reached, 2 ** len(exact)))


def by_big_integers(differences: list[int]) -> Fraction:
    """The same for many integers: the subset sums are counted in one integer, as digits of n + 1 bits."""
    sizes = [abs(d) for d in differences if d]
    n, observed = len(sizes), abs(sum(differences))
    digits = 1
    for size in sizes:
        digits += digits << ((n + 1) * size)
    reached = digits >> ((n + 1) * ((sum(sizes) + observed) // 2))
    return Fraction(2 * (reached % ((1 << (n + 1)) - 1)), 2**n)  # the sum of the digits


def rounded_normal(n: int, shift: float, steps: int, seed: int) -> list[int]:
    values: list[int] = np.rint((np.random.default_rng(seed).normal(size=n) + shift) * steps).astype(int).tolist()
    return values


def p_of(differences: Sequence[float] | Floats) -> float:
    test, _ = sign_flip(np.asarray(differences, dtype=np.float64))
    assert test.p_value is not None
    return test.p_value


def standardised(differences: Sequence[float]) -> tuple[Floats, float]:
    """What the inner paths take: sorted sizes with Σ size² = 1, and the observed sum on the same scale."""
    values = np.asarray(differences, dtype=np.float64)
    scale = float(np.sqrt((values * values).sum()))
    return np.sort(np.abs(values[values != 0])) / scale, abs(float(values.sum())) / scale


# ------------------------------------------------------------------------------------------------ against enumeration


@given(INTEGERS)
def test_against_enumeration_with_zeros_and_ties(differences: list[int]) -> None:
    assert p_of(differences) == pytest.approx(by_enumeration(differences), rel=1e-12)


@given(NUMBERS)
def test_against_enumeration(differences: list[float]) -> None:
    assert p_of(differences) == pytest.approx(by_enumeration(differences), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_twelve_pairs_against_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ties: list[int] = rng.integers(-4, 6, 12).tolist()
    smooth: list[float] = np.round(rng.normal(0.4, 1, 12), 6).tolist()
    assert p_of(ties) == pytest.approx(by_enumeration(ties), rel=1e-12)
    assert p_of(smooth) == pytest.approx(by_enumeration(smooth), rel=1e-12)


PATHS: list[Path] = [permutation._by_counting, permutation._by_convolution, permutation._by_halves]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__)
@given(INTEGERS.filter(sum))
def test_each_path_against_enumeration(path: Path, differences: list[int]) -> None:
    size, observed = standardised(differences)
    found = path(size, observed)
    assert found is not None
    assert found == pytest.approx(by_enumeration(differences), rel=1e-12)


@pytest.mark.parametrize("path", [permutation._by_counting, permutation._by_halves], ids=lambda path: path.__name__)
@given(NUMBERS.filter(lambda values: abs(sum(values)) > 1e-6))
def test_paths_for_any_values_against_enumeration(path: Path, differences: list[float]) -> None:
    size, observed = standardised(differences)
    found = path(size, observed)
    assert found is not None
    assert found == pytest.approx(by_enumeration(differences), rel=1e-12)


@pytest.mark.parametrize("shift", [0.05, 0.3, 0.6])
def test_every_path_gives_what_big_integers_give(shift: float) -> None:
    """32 integers: few enough to halve, a lattice to convolve, smooth enough to invert."""
    differences = rounded_normal(32, shift, 200, seed=4)
    exact = float(by_big_integers(differences))
    size, observed = standardised(differences)
    assert permutation._by_convolution(size, observed) == pytest.approx(exact, rel=1e-12)
    assert permutation._by_halves(size, observed) == pytest.approx(exact, rel=1e-12)
    inverted = permutation._by_inversion(size, observed)
    assert inverted is not None
    assert inverted[0] == pytest.approx(exact, rel=1e-4)


def test_the_oracles_agree_with_each_other() -> None:
    for seed in range(5):
        differences = rounded_normal(9, 0.3, 3, seed)
        if sum(differences):
            assert float(by_big_integers(differences)) == by_enumeration(differences)


# ---------------------------------------------------------------------------------------------------- against binomial


@pytest.mark.parametrize(
    ("plus", "minus"), [(7, 3), (60, 40), (100, 15), (70, 0), (2000, 1600), (5200, 4800), (300, 299)]
)
def test_equal_sizes_against_scipy_binomtest(plus: int, minus: int) -> None:
    differences = np.concatenate([np.ones(plus), -np.ones(minus), np.zeros(11)])
    assert p_of(differences) == pytest.approx(binomtest(plus, plus + minus).pvalue, rel=1e-10)


@pytest.mark.parametrize(("plus", "minus"), [(100, 15), (400, 150), (2000, 1500)])
def test_a_p_value_far_below_rounding_against_exact_binomial(plus: int, minus: int) -> None:
    n = plus + minus
    exact = Fraction(2 * sum(comb(n, k) for k in range(minus + 1)), 2**n)
    assert float(exact) < 1e-14
    assert p_of(np.concatenate([np.full(plus, 0.1), np.full(minus, -0.1)])) == pytest.approx(float(exact), rel=1e-10)


# ------------------------------------------------------------------------------------------------- against big integers

# Pairs, mean, steps per standard deviation: p from 0.8 to 1e-33, on scores rounded to two or three decimals.
ROUNDED = [
    (40, 0.0, 100),
    (40, 0.6, 100),
    (60, 1.0, 100),
    (100, 0.6, 100),
    (200, 1.0, 100),
    (40, 0.6, 1000),
    (100, 1.0, 50),
]


@pytest.mark.parametrize(("n", "shift", "steps"), ROUNDED)
def test_rounded_scores_against_big_integers(n: int, shift: float, steps: int) -> None:
    differences = rounded_normal(n, shift, steps, seed=n)
    assert p_of(np.array(differences) / steps) == pytest.approx(float(by_big_integers(differences)), rel=1e-9)


def test_a_lattice_too_fine_to_convolve_is_inverted_half_a_step_lower_against_big_integers() -> None:
    differences = rounded_normal(60, 0.9, 1_000, seed=1)
    size, observed = standardised(differences)
    assert permutation._lattice(size) is not None
    assert permutation._by_convolution(size, observed) is None
    assert p_of(differences) == pytest.approx(float(by_big_integers(differences)), rel=1e-4)


FAR = [(60, 0.6, 1e-9, 1e-5), (80, 0.9, 1e-16, 1e-10), (110, 1.1, 1e-30, 1e-18)]  # pairs, mean, range of p


@pytest.mark.parametrize(("n", "shift", "low", "high"), FAR)
def test_the_inversion_in_the_far_tail_against_big_integers(n: int, shift: float, low: float, high: float) -> None:
    """Too fine to be taken for a lattice, so that the inversion is used; a sum's atom is 1e-4 of p."""
    differences = rounded_normal(n, shift, 7_500, seed=n)
    exact = float(by_big_integers(differences))
    assert low < exact < high
    size, observed = standardised(differences)
    assert permutation._lattice(size) is None
    inverted = permutation._by_inversion(size, observed)
    assert inverted is not None
    assert inverted[0] == pytest.approx(exact, rel=5e-4)
    assert p_of(differences) == pytest.approx(exact, rel=5e-4)


def test_the_inversion_against_big_integers_to_seven_digits() -> None:
    """Half a step below the observed sum there is no atom, and the smooth inversion has nothing to guess."""
    differences = rounded_normal(80, 0.5, 12_000, seed=7)
    size, observed = standardised(differences)
    assert permutation._lattice(size) is None
    half_step = float(size[0]) / min(abs(d) for d in differences if d)
    inverted = permutation._by_inversion(size, observed - half_step)
    assert inverted is not None
    assert inverted[0] == pytest.approx(float(by_big_integers(differences)), rel=1e-7)
    assert inverted[1] == 0  # not smoothed


@pytest.mark.parametrize("seed", range(4))
def test_a_series_that_does_not_decay_is_smoothed_and_recorded(seed: int) -> None:
    """Few pairs far in the tail: the tilted signs of the large differences are all but certain."""
    differences = rounded_normal(48, 0.85, 9_000, seed)
    test, fallbacks = sign_flip(np.array(differences, dtype=np.float64))
    assert test.p_value == pytest.approx(float(by_big_integers(differences)), rel=2e-3)
    assert [(f.wanted, f.used) for f in fallbacks] in (
        [],
        [("exact sign flips", "exact sign flips, smoothed by 0.001 standard deviations")],
    )


@pytest.mark.parametrize("others", [1, 4, 9])
@pytest.mark.parametrize("net", [0, 10, 24])
def test_right_or_wrong_with_a_few_partial_credits_against_binomial_sums(others: int, net: int) -> None:
    """For every choice of the partial credits' signs, the rest is binomial."""
    partial: list[int] = np.random.default_rng(others).integers(1, 99_999, others).tolist()
    differences = partial + [100_000] * (30 + net // 2) + [-100_000] * (30 - net // 2)
    observed, reached = abs(sum(differences)), 0
    for signs in product((1, -1), repeat=others):
        rest = sum(s * d for s, d in zip(signs, partial, strict=True))
        reached += sum(comb(60, k) for k in range(61) if abs(rest + 100_000 * (2 * k - 60)) >= observed)
    test, fallbacks = sign_flip(np.array(differences) / 100_000)
    assert test.p_value == pytest.approx(reached / 2 ** (60 + others), rel=1e-10)
    assert fallbacks == ()


# ------------------------------------------------------------------------------------------------ against random flips


@pytest.mark.parametrize("name", ["normal", "t2", "log-normal", "exponential"])
def test_against_scipy_permutation_test(name: str) -> None:
    rng = np.random.default_rng(11)
    differences = {
        "normal": rng.normal(0.15, 1, 90),
        "t2": rng.standard_t(2, 90) + 0.2,
        "log-normal": rng.lognormal(0, 1, 90) * rng.choice([-1, 1], 90, p=[0.4, 0.6]),
        "exponential": rng.exponential(1, 90) - 0.9,
    }[name]
    resamples = 20_000
    theirs = permutation_test(
        (differences, np.zeros(90)),
        lambda x, y, axis: (x - y).sum(axis=axis),
        permutation_type="samples",
        n_resamples=resamples,
        vectorized=True,
        rng=np.random.default_rng(5),
    ).pvalue
    ours = p_of(differences)
    assert abs(ours - theirs) < 4 * np.sqrt(ours * (1 - ours) / resamples) + 2 / resamples


@pytest.mark.parametrize("seed", range(3))
def test_wild_outliers_against_monte_carlo(seed: int) -> None:
    """A few large differences make ψ decay and revive: a quiet stretch must not end the series."""
    rng = np.random.default_rng(seed)
    differences = rng.standard_cauchy(40)
    flips = 100_000
    sums = rng.choice([-1.0, 1.0], (flips, 40)) @ differences
    reached = float(np.mean(np.abs(sums) >= abs(differences.sum()) * (1 - 1e-9)))
    assert abs(p_of(differences) - reached) < 4 * np.sqrt(reached * (1 - reached) / flips)


def test_random_flips_are_one_plus_reached_over_one_plus_all() -> None:
    differences = np.random.default_rng(3).normal(0.3, 1, 10)
    size, observed = standardised(differences.tolist())
    flips = 5_000
    found = by_random_flips(size, observed, flips, seed=1)
    reached = found * (1 + flips) - 1
    assert reached == pytest.approx(round(reached), abs=1e-6)
    exact = p_of(differences)
    assert abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / flips) + 1 / flips


def test_random_flips_that_none_reach_are_not_zero() -> None:
    assert by_random_flips(np.full(200, 200**-0.5), 200**0.5, 999, seed=0) == 1 / 1000


def test_random_flips_that_all_reach_are_one() -> None:
    assert by_random_flips(np.array([1.0]), 1.0, 999, seed=0) == 1.0


def test_random_flips_do_not_depend_on_the_batch() -> None:
    """2²² signs are drawn at once: 700 units make batches of 5,991 flips."""
    size, observed = standardised(np.random.default_rng(8).normal(0.05, 1, 700).tolist())
    both = by_random_flips(size, observed, 8_000, seed=9) * 8_001 - 1
    first = by_random_flips(size, observed, 5_991, seed=9) * 5_992 - 1
    assert 0 <= both - first <= 8_000 - 5_991
    assert by_random_flips(size, observed, 8_000, seed=9) == (1 + round(both)) / 8_001
    assert by_random_flips(size, observed, 8_000, seed=10) != by_random_flips(size, observed, 8_000, seed=9)


def test_a_dominating_outlier_falls_back_to_random_flips_and_says_so() -> None:
    """The outlier's sign decides, so that p is about half of what it is for the others alone with both signs."""
    small = np.random.default_rng(0).normal(size=99)
    test, fallbacks = sign_flip(np.append(small, 1e6))
    assert fallbacks == (
        Fallback(
            "exact sign flips",
            f"{STAND_IN_FLIPS:,} random sign flips",
            "the characteristic function does not decay: few units carry the spread",
        ),
    )
    others = np.random.default_rng(1).choice([-1, 1], (40_000, 99)) @ small
    assert test.p_value == pytest.approx(float(np.mean(others >= small.sum())), abs=0.015)
    assert sign_flip(np.append(small, 1e6), seed=1)[0].p_value != test.p_value


# ----------------------------------------------------------------------------------------------------------- properties

ANY = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60)


@given(ANY)
def test_p_is_above_zero_and_at_most_one(differences: list[float]) -> None:
    assert 0 < p_of(differences) <= 1


@given(ANY)
def test_swapping_the_systems_changes_only_the_sign_of_the_statistic(differences: list[float]) -> None:
    values = np.array(differences)
    (ab, _), (ba, _) = sign_flip(values), sign_flip(-values)
    assert ab.p_value == ba.p_value
    assert ab.statistic is not None
    assert ba.statistic == -ab.statistic


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([20, 50, 150]), st.sampled_from([0.0, 0.4, 1.0]))
def test_the_order_of_pairs_and_their_unit_do_not_matter(seed: int, n: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    differences = rng.normal(shift, 1, n)
    expected = pytest.approx(p_of(differences), rel=1e-6)
    assert p_of(rng.permutation(differences)) == expected
    assert p_of(differences * 2.0**200) == expected
    assert p_of(differences * 2.0**-200) == expected


@pytest.mark.parametrize("differences", [[], [0.0], [0.0] * 50, [1.0], [-2.0], [1.0, -1.0], [0.1, 0.2, -0.3]])
def test_nothing_that_speaks_against_no_difference_is_one(differences: list[float]) -> None:
    assert p_of(differences) == 1.0


def test_the_smallest_possible_p_of_a_few_pairs() -> None:
    assert [p_of([1.0] * n) for n in (1, 2, 5, 10)] == [1.0, 0.5, 2**-4, 2**-9]


def test_p_is_never_zero_even_where_it_underflows() -> None:
    test, fallbacks = sign_flip(np.concatenate([np.ones(3000), -np.ones(500)]))
    assert (test.p_value, test.reason, fallbacks) == (SMALLEST_P, "p is below 1e-300", ())
    exact = Fraction(2 * sum(comb(3500, k) for k in range(501)), 2**3500)
    assert 0 < exact < Fraction(1, 10**300)


def test_p_is_never_zero_for_many_pairs_of_one_sign() -> None:
    for differences in (
        np.ones(5_000),
        np.random.default_rng(0).uniform(1, 2, 5_000),
        np.append(np.ones(60_000), -1.0),
    ):
        test, _ = sign_flip(differences)
        assert (test.p_value, test.reason) == (SMALLEST_P, "p is below 1e-300")


def test_sums_that_differ_by_rounding_only_are_ties() -> None:
    """0.1 + 0.2 − 0.3 is 5.6e-17 in floats and 0 in truth."""
    differences = [0.1, 0.2, 0.3]
    assert p_of(differences) == by_enumeration([1, 2, 3])
    assert p_of([0.1, 0.2, -0.3] * 3) == 1.0


def test_statistic_is_the_standardised_sum() -> None:
    differences = np.array([3.0, -1.0, 4.0, 1.0, 0.0])
    test, _ = sign_flip(differences)
    assert test.statistic == pytest.approx(7 / np.sqrt(27))
    assert (test.name, test.n) == ("sign-flip", 5)


def test_many_pairs_take_no_time_and_little_memory() -> None:
    """The normal approximation is the oracle: with 200,000 pairs it holds to four digits."""
    from scipy.stats import norm

    differences = np.random.default_rng(2).normal(0.006, 1, 200_000)
    z = differences.sum() / np.sqrt((differences**2).sum())
    assert p_of(differences) == pytest.approx(2 * norm.sf(abs(z)), rel=1e-4)
