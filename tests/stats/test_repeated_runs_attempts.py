"""pass@k and pass^k of items, against enumeration of every subset of their attempts."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from assay.stats.repeated_runs import attempt_variance, pass_all, pass_any


def one(right: int, attempts: int) -> tuple[np.ndarray, np.ndarray]:
    return np.array([float(right)]), np.array([float(attempts)])


@pytest.mark.parametrize("attempts", range(1, 9))
def test_every_subset_against_enumeration(attempts: int) -> None:
    for right in range(attempts + 1):
        outcomes = [1] * right + [0] * (attempts - right)
        for k in range(1, attempts + 1):
            subsets = list(combinations(outcomes, k))
            assert pass_any(*one(right, attempts), k)[0] == pytest.approx(np.mean([any(s) for s in subsets]), abs=1e-14)
            assert pass_all(*one(right, attempts), k)[0] == pytest.approx(np.mean([all(s) for s in subsets]), abs=1e-14)


@pytest.mark.parametrize("p", [0.0, 0.2, 0.7, 1.0])
@pytest.mark.parametrize("k", [1, 2])
def test_estimates_and_their_variance_are_unbiased_against_enumeration(p: float, k: int) -> None:
    """Every outcome of five attempts with its probability."""
    n, mean, square, variance, hopeful = 5, 0.0, 0.0, 0.0, 0.0
    for outcome in product([0, 1], repeat=n):
        chance = p ** sum(outcome) * (1 - p) ** (n - sum(outcome))
        every = pass_all(*one(sum(outcome), n), k)[0]
        mean, square = mean + chance * every, square + chance * every**2
        variance += chance * attempt_variance(*one(sum(outcome), n), k)[0]
        hopeful += chance * pass_any(*one(sum(outcome), n), k)[0]
    assert mean == pytest.approx(p**k, abs=1e-12)
    assert hopeful == pytest.approx(1 - (1 - p) ** k, abs=1e-12)
    assert variance == pytest.approx(square - mean**2, abs=1e-12)


@pytest.mark.parametrize("p", [0.1, 0.6])
@pytest.mark.parametrize(("n", "k"), [(4, 1), (4, 2), (6, 3), (7, 3)])
def test_the_variance_with_twice_the_attempts_against_enumeration(p: float, n: int, k: int) -> None:
    """Its expectation over n attempts is the variance of pass^k over 2n, each summed over every count."""
    foreseen = sum(binom.pmf(c, n, p) * attempt_variance(*one(c, n), k, 2)[0] for c in range(n + 1))
    rates = np.array([pass_all(*one(c, 2 * n), k)[0] for c in range(2 * n + 1)])
    true = float((binom.pmf(np.arange(2 * n + 1), 2 * n, p) * (rates - p**k) ** 2).sum())
    assert foreseen == pytest.approx(true, rel=1e-9)


@given(st.integers(2, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n // 2))))
def test_the_variance_of_as_many_attempts_is_a_square_less_a_power(case: tuple[int, int, int]) -> None:
    right, n, k = case
    expected = pass_all(*one(right, n), k) ** 2 - pass_all(*one(right, n), 2 * k)
    np.testing.assert_allclose(attempt_variance(*one(right, n), k), expected, atol=1e-12)


def test_the_variance_of_a_mean_by_hand() -> None:
    """k = 1: s²/n of 0/1 attempts, c(n − c)/(n²(n − 1))."""
    assert attempt_variance(*one(3, 4), 1)[0] == pytest.approx(3 * 1 / (16 * 3))
    assert np.isnan(attempt_variance(*one(3, 4), 3)[0])


def test_large_numbers_against_the_published_product() -> None:
    """As Chen et al. (2021) print it: 1 − Π (1 − k/i) for i from n − c + 1 to n."""
    for n, c, k in [(200, 3, 100), (1000, 17, 40), (100_000, 2, 5000)]:
        published = 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1))
        assert pass_any(*one(c, n), k)[0] == pytest.approx(published, rel=1e-9)


COUNTS = st.lists(st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1)


@given(COUNTS)
def test_more_attempts_are_more_hopeful_and_harder_to_pass_all(counts: list[tuple[int, int]]) -> None:
    right, attempts = np.array(counts, dtype=float).T
    hopeful = np.array([pass_any(right, attempts, k) for k in range(1, 14)])
    strict = np.array([pass_all(right, attempts, k) for k in range(1, 14)])
    np.testing.assert_allclose(hopeful[0], right / attempts, atol=1e-15)
    np.testing.assert_allclose(strict[0], right / attempts, atol=1e-15)
    for j, n in enumerate(attempts.astype(int)):
        assert (np.diff(hopeful[:n, j]) >= -1e-12).all()
        assert (np.diff(strict[:n, j]) <= 1e-12).all()
        assert np.isnan(hopeful[n:, j]).all()
        assert np.isnan(strict[n:, j]).all()
