"""Jensen-Shannon divergence against scipy, and its noise against enumeration and published values."""

from itertools import product
from math import factorial, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.special import rel_entr
from scipy.stats import binom, chi

from assay.stats.survey import (
    FLOOR,
    chi_noise,
    composition_count,
    compositions,
    concentration,
    divergence,
    listed_noise,
    sampling_moments,
    sampling_variance,
    score_of,
    similarity,
    smoothed,
    source_noise,
    support,
)
from assay.stats.units import Floats


def rows(seed: int, count: int = 40, k: int = 5) -> Floats:
    return np.random.default_rng(seed).dirichlet(np.full(k, 0.7), size=count)


def test_divergence_against_scipy() -> None:
    p, q = rows(1), rows(2)
    p[:8, 0] = 0.0
    q[4:12, 1] = 0.0
    p, q = (x / x.sum(axis=1, keepdims=True) for x in (p, q))
    expected = jensenshannon(p, q, base=2, axis=1)
    np.testing.assert_allclose(np.sqrt(divergence(p, q, floor=0.0)), expected, rtol=0, atol=1e-12)


def test_floored_scores_against_relative_entropies_of_scipy() -> None:
    p, q = rows(3), rows(4)
    p[:9, 2] = 0.0
    p /= p.sum(axis=1, keepdims=True)
    a, b, m = np.maximum(p, FLOOR), np.maximum(q, FLOOR), np.maximum((p + q) / 2, FLOOR)
    expected = 1 - np.sqrt((rel_entr(a, m) + rel_entr(b, m)).sum(axis=1) / 2 / log(2))
    np.testing.assert_allclose(similarity(p, q), expected, rtol=0, atol=1e-12)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=6).filter(sum), st.integers(0, 10_000))
def test_properties_of_a_metric(counts: list[int], seed: int) -> None:
    p = np.array(counts) / sum(counts)
    q = np.random.default_rng(seed).dirichlet(np.ones(len(p)))
    assert similarity(p, p) == 1
    assert 0 <= similarity(p, q) <= 1
    assert divergence(p, q) == pytest.approx(float(divergence(q, p)), abs=1e-15)
    padded = divergence(np.append(p, 0.0), np.append(q, 0.0))
    assert padded == pytest.approx(float(divergence(p, q)), abs=1e-15)


def test_scores_stay_between_0_and_1_whatever_rounding_does() -> None:
    assert score_of(np.array([-1e-17, 0.0, 1.0, 1 + 1e-15])).tolist() == [1, 1, 0, 0]


def test_noise_of_four_options_and_twenty_people_against_the_published_values() -> None:
    """C1: the source says 0.67, the χ formula 0.848, simulation 0.842."""
    n, k = np.array([20]), np.array([4])
    assert 1 - float(source_noise(n, k)[0]) == pytest.approx(0.67, abs=5e-3)
    assert 1 - float(chi_noise(n, k)[0]) == pytest.approx(0.848, abs=5e-4)
    assert 1 - listed_noise(np.full(4, 0.25), 20) == pytest.approx(0.842, abs=2e-3)


def test_chi_noise_against_the_mean_of_scipys_chi() -> None:
    k = np.arange(1, 9)
    expected = [0.0, *(chi(df).mean() for df in range(1, 8))]
    np.testing.assert_allclose(chi_noise(np.full(8, 50), k) * np.sqrt(8 * 50 * log(2)), expected, rtol=1e-12)


def literal(p: Floats, n: int) -> list[tuple[float, Floats]]:
    """Every sequence of n people, with its probability and its shares."""
    return [
        (float(np.prod(p[list(people)])), np.bincount(people, minlength=len(p)) / n)
        for people in product(range(len(p)), repeat=n)
    ]


@pytest.mark.parametrize("n", [1, 3, 6])
def test_listed_noise_against_every_sequence_of_people(n: int) -> None:
    p = np.array([0.5, 0.3, 0.2, 0.0])
    expected = sum(chance * jensenshannon(shares, p, base=2) for chance, shares in literal(p, n))
    assert listed_noise(p, n) == pytest.approx(expected, abs=1e-9)


def test_compositions_against_counting() -> None:
    rows_, orders = compositions(5, 3)
    every = [c for c in product(range(6), repeat=3) if sum(c) == 5]
    assert sorted(map(tuple, rows_.tolist())) == every
    ways = [factorial(5) / np.prod([factorial(i) for i in row]) for row in rows_.tolist()]
    np.testing.assert_allclose(np.exp(orders), ways, rtol=1e-12)
    assert composition_count(5, 3) == pytest.approx(len(every))


def test_expected_excess_against_every_sequence_of_people() -> None:
    p, q, n = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.5, 0.3]), 6
    measured = sum(chance * float(divergence(shares, q, floor=0.0)) for chance, shares in literal(p, n))
    expected = measured - float(divergence(p, q, floor=0.0))
    assert float(sampling_moments(p[None], q[None], np.array([n]))[0][0]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [40, 150, 700])
def test_expected_excess_of_many_people_against_scipys_binomial(n: int) -> None:
    """Every option's part is a sum over all its counts; rare and frequent options, and one that nobody chooses."""
    p = np.array([[0.4, 0.35, 0.2, 0.04, 0.01, 0.0], [0.9, 0.05, 0.03, 0.02, 0.0, 0.0]])
    q = np.array([[0.3, 0.3, 0.2, 0.1, 0.05, 0.05], [0.88, 0.04, 0.04, 0.04, 0.0, 0.0]])
    counts = np.arange(n + 1) / n

    def part(a: Floats, b: float) -> Floats:
        m = (a + b) / 2
        return np.asarray((rel_entr(a, m) + rel_entr(b, m)) / (2 * log(2)))

    for row in range(2):
        expected = sum(
            float(binom(n, a).pmf(np.arange(n + 1)) @ part(counts, b) - part(np.array(a), b))
            for a, b in zip(p[row].tolist(), q[row].tolist(), strict=True)
            if a > 0
        )
        found = float(sampling_moments(p[row : row + 1], q[row : row + 1], np.array([n]))[0][0])
        assert found == pytest.approx(expected, rel=4e-4)


def test_expected_excess_of_very_many_people_against_the_closed_form() -> None:
    p = np.array([[0.4, 0.35, 0.25]])
    found = float(sampling_moments(p, p, np.array([1_000_000]))[0][0])
    assert found == pytest.approx(2 / (8 * 1_000_000 * log(2)), rel=1e-5)


def test_variance_of_a_perfect_prediction_against_chi_square() -> None:
    p = np.array([[0.1, 0.2, 0.3, 0.4, 0.0]])
    n = np.array([50.0])
    assert float(sampling_variance(p, p, n)[0]) == pytest.approx(2 * 3 / (8 * 50 * log(2)) ** 2, rel=1e-12)


def test_moments_against_simulation() -> None:
    p, q, n = np.array([[0.5, 0.3, 0.2]]), np.array([[0.3, 0.3, 0.4]]), 200
    drawn = np.random.default_rng(5).multinomial(n, p[0], size=40_000) / n
    jsd = divergence(drawn, q)
    variance = sampling_variance(p, q, np.array([float(n)]))
    assert float(variance[0]) == pytest.approx(float(jsd.var()), rel=0.05)
    mean = divergence(p, q) + sampling_moments(p, q, np.array([n]))[0]
    assert float(mean[0]) == pytest.approx(float(jsd.mean()), rel=5e-3)


def test_concentration_against_the_distribution_that_was_drawn() -> None:
    rng = np.random.default_rng(6)
    pooled = np.tile([0.5, 0.3, 0.2], (4_000, 1))
    n = np.full(4_000, 60)
    question = np.repeat(np.arange(4), 1_000)
    strength = np.array([3.0, 20.0, 80.0])
    shares = np.concatenate([rng.dirichlet(a * pooled[0], size=1_000) for a in (3.0, 20.0, 80.0)] + [pooled[:1_000]])
    counts = np.array([rng.multinomial(60, p / p.sum()) for p in shares]) / 60
    found = concentration(counts, n, pooled, question)
    np.testing.assert_allclose(found[[0, 1_000, 2_000]], strength, rtol=0.2)
    assert found[3_000] > 500  # nothing but sampling noise
    assert concentration(counts[:1], n[:1], pooled[:1], question[:1])[0] == 1


def test_smoothing_keeps_what_is_impossible_and_allows_what_is_not() -> None:
    pooled = np.array([[0.6, 0.3, 0.1, 0.0]])
    found = smoothed(np.array([[1.0, 0.0, 0.0, 0.0]]), np.array([9]), pooled, np.array([1.0]))
    np.testing.assert_allclose(found, [[0.96, 0.03, 0.01, 0.0]], rtol=1e-12)
    assert support(found).tolist() == [3]


@pytest.mark.parametrize("n", [20, 50])
def test_moments_of_rare_options_against_simulation(n: int) -> None:
    """Where options are rare two derivatives are not enough."""
    p = np.array([[0.55, 0.3, 0.1, 0.03, 0.02]])
    q = np.array([[0.5, 0.3, 0.12, 0.05, 0.03]])
    jsd = divergence(np.random.default_rng(1).multinomial(n, p[0], size=200_000) / n, q, floor=0.0)
    excess, variance = sampling_moments(p, q, np.array([n]))
    assert float(excess[0]) == pytest.approx(float(jsd.mean() - divergence(p, q)[0]), rel=0.01)
    assert float(variance[0]) == pytest.approx(float(jsd.var()), rel=0.05)
    rough = float(sampling_variance(p, q, np.array([float(n)]))[0])
    assert abs(float(variance[0]) - float(jsd.var())) < abs(rough - float(jsd.var())) / 2
