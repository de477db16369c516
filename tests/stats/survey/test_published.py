"""The published recipe's tests of a gap: against enumeration, scipy's permutation test, scipy's normal, and draws."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, permutation_test

from assay.stats.survey import divergence
from assay.stats.survey.denoised import noise_of
from assay.stats.survey.published import analytical_gap, permuted_gap, resampled_interval, score_variance

NAN = float("nan")


def test_permutations_against_enumeration() -> None:
    scores = np.random.default_rng(1).normal(0.7, 0.1, (4, 3)) - [0, 0, 0.1]
    observed, reached = np.ptp(scores.mean(axis=0)), []
    for orders in product(permutations(range(3)), repeat=4):
        moved = np.array([row[list(order)] for row, order in zip(scores, orders, strict=True)])
        reached.append(np.ptp(moved.mean(axis=0)) >= observed - 1e-12)
    found = permuted_gap(scores, resamples=20_000)
    assert found.statistic == pytest.approx(observed)
    assert found.p_value == pytest.approx(np.mean(reached), abs=0.013)


def test_permutations_of_two_segments_against_scipys_exact_test() -> None:
    scores = np.random.default_rng(2).normal(0.7, 0.1, (9, 2)) + np.array([0.05, 0])

    def gap(
        a: "np.ndarray[tuple[int], np.dtype[np.float64]]", b: "np.ndarray[tuple[int], np.dtype[np.float64]]"
    ) -> float:
        return float(abs(a.mean() - b.mean()))

    exact = permutation_test(
        tuple(scores.T), gap, permutation_type="samples", n_resamples=100_000, alternative="greater"
    )
    assert permuted_gap(scores, resamples=20_000).p_value == pytest.approx(float(exact.pvalue), abs=0.013)


def test_only_segments_that_have_a_question_change_places_by_hand() -> None:
    """In the second question only one segment has a score, which stays: two of the four arrangements have the gap."""
    scores = np.array([[0.9, 0.5], [NAN, 0.7], [0.8, 0.6]])
    observed = abs(0.85 - 0.6)
    gaps = [
        abs((a + c) / 2 - (b + 0.7 + d) / 3) for a, b in ((0.9, 0.5), (0.5, 0.9)) for c, d in ((0.8, 0.6), (0.6, 0.8))
    ]
    expected = np.mean([gap >= observed - 1e-12 for gap in gaps])
    assert permuted_gap(scores, resamples=9_999).p_value == pytest.approx(expected, abs=0.02)


@given(st.integers(0, 1_000), st.permutations(range(4)))
@settings(max_examples=20, deadline=None)
def test_the_order_of_segments_changes_the_gap_not_at_all(seed: int, order: list[int]) -> None:
    scores = np.random.default_rng(seed).normal(size=(6, 4))
    assert permuted_gap(scores).statistic == pytest.approx(permuted_gap(scores[:, order]).statistic)


def test_one_segment_has_no_gap() -> None:
    assert permuted_gap(np.array([[0.5, NAN], [0.6, NAN]])).p_value is None
    assert analytical_gap([0.5, 0.4], [0.0, 0.0]).p_value is None


def test_analytical_against_scipys_normal() -> None:
    found = analytical_gap([0.8, 0.7, 0.75], [0.0009, 0.0016, 0.0001])
    assert found.statistic == pytest.approx(0.1 / 0.05)
    assert found.p_value == pytest.approx(2 * norm.sf(2.0))


def test_resampled_interval_against_numpy() -> None:
    gaps = np.random.default_rng(3).gamma(2, 0.02, 500)
    found = resampled_interval(gaps, 0.9)
    assert (found.low, found.high) == pytest.approx(np.quantile(gaps, [0.05, 0.95]))


def test_score_variance_against_draws() -> None:
    p, q, n = np.array([[0.5, 0.3, 0.2]]), np.array([[0.2, 0.3, 0.5]]), np.array([200])
    drawn = np.sqrt(divergence(np.random.default_rng(4).multinomial(200, p[0], 20_000) / 200, q[0]))
    noise, measured = noise_of(p, q, n), divergence(p, q)
    assert score_variance(measured, noise.variance, noise.excess)[0] == pytest.approx(drawn.var(), rel=0.05)
    perfect = noise_of(p, p, n)
    assert score_variance(np.zeros(1), perfect.variance, perfect.excess)[0] == perfect.excess[0]
