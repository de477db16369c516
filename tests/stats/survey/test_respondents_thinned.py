from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import hypergeom

from assay.stats.survey import thinned_scores
from assay.stats.survey.respondents import counts_of, thinned


@given(st.lists(st.integers(0, 40), min_size=2, max_size=6).filter(lambda counts: sum(counts) > 0))
def test_counts_come_back_from_their_shares(counts: list[int]) -> None:
    n = sum(counts)
    shares = np.array([counts]) / n
    assert counts_of(shares, np.array([n]))[0].tolist() == counts


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6).filter(lambda shares: sum(shares) > 0.1), st.integers(1, 500))
def test_counts_sum_to_n_and_are_within_one_of_the_shares(values: list[float], n: int) -> None:
    shares = np.array([values]) / sum(values)
    found = counts_of(shares, np.array([n]))[0]
    assert found.sum() == n
    assert np.all(np.abs(found - shares[0] * n) < 1 + 1e-6)


@pytest.mark.parametrize("size", [3, 9, 20, 35])  # few stay, or few go
def test_one_option_against_the_hypergeometric_distribution(size: int) -> None:
    counts, draws = np.array([[12, 18, 10]]), 20_000
    parts = thinned(counts, np.array([size]), draws, 5)[0]
    assert np.all(parts.sum(axis=1) == size)
    assert np.all((parts >= 0) & (parts <= counts[0]))
    for option in range(3):
        truth = hypergeom(40, counts[0, option], size)
        seen = np.bincount(parts[:, option], minlength=41)[:41] / draws
        mass = truth.pmf(np.arange(41))
        assert np.all(np.abs(seen - mass) < 4.5 * np.sqrt(mass * (1 - mass) / draws) + 1e-12)


def test_all_or_none_of_the_respondents() -> None:
    counts = np.array([[2, 3], [4, 0], [1, 8]])
    parts = thinned(counts, np.array([5, 4, 0]), 7, 0)
    assert np.array_equal(parts[:2], np.repeat(counts[:2, None], 7, axis=1))
    assert not parts[2].any()


def test_cells_are_drawn_alike_beside_others_of_the_same_number_of_steps() -> None:
    counts, sizes = np.array([[9, 9], [30, 5]]), np.array([4, 4])
    parts = thinned(counts, sizes, 500, 3)
    assert abs(parts[0, :, 0].mean() - 2.0) < 0.15
    assert abs(parts[1, :, 0].mean() - 4 * 30 / 35) < 0.1
    assert abs(np.corrcoef(parts[0, :, 0], parts[1, :, 0])[0, 1]) < 0.15


def test_scores_of_parts_against_scipy() -> None:
    rng = np.random.default_rng(2)
    counts = rng.multinomial(40, [0.5, 0.3, 0.2, 0.0], 3)
    parts = thinned(counts, np.array([11, 20, 38]), 9, 1)
    cell = np.array([0, 1, 2, 2, 0])
    predicted = rng.dirichlet(np.ones(4), 5)
    predicted[1] = [0.5, 0.5, 0.0, 0.0]
    expected = [
        np.mean([1 - jensenshannon(part, q, base=2) for part in parts[c]]) for c, q in zip(cell, predicted, strict=True)
    ]
    assert thinned_scores(parts, cell, predicted) == pytest.approx(expected, abs=1e-7)


def test_the_mean_over_parts_against_all_subsets() -> None:
    people = np.array([0, 0, 0, 1, 1, 2, 2])
    predicted = np.array([[0.2, 0.5, 0.3]])
    every = [
        1 - jensenshannon(np.bincount(people[list(chosen)], minlength=3), predicted[0], base=2)
        for chosen in combinations(range(7), 4)
    ]
    parts = thinned(np.array([[3, 2, 2]]), np.array([4]), 20_000, 0)
    found = thinned_scores(parts, np.array([0]), predicted)[0]
    assert found == pytest.approx(np.mean(every), abs=4.5 * np.std(every) / np.sqrt(20_000))


def test_a_thinned_score_has_the_expectation_of_a_small_sample() -> None:
    """Simulation: samples of 200 thinned to 15 score as samples of 15 do, and not as samples of 200."""
    rng, p, q = np.random.default_rng(7), np.array([0.4, 0.35, 0.25]), np.array([[0.3, 0.4, 0.3]])
    large, small = rng.multinomial(200, p, 3_000), rng.multinomial(15, p, 3_000)
    found = thinned_scores(thinned(large, np.full(3_000, 15), 16, 1), np.arange(3_000), np.repeat(q, 3_000, axis=0))
    direct = thinned_scores(small[:, None, :].astype(np.int32), np.arange(3_000), np.repeat(q, 3_000, axis=0))
    whole = thinned_scores(large[:, None, :].astype(np.int32), np.arange(3_000), np.repeat(q, 3_000, axis=0))
    error = np.sqrt(found.var() / 3_000 + direct.var() / 3_000)
    assert abs(found.mean() - direct.mean()) < 4 * error
    assert whole.mean() - direct.mean() > 20 * error
