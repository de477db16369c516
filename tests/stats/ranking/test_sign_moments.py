"""Exact sign-flip tests from moments, against a numerical integral, random flips and the test of one pair."""

from math import pi

import numpy as np
import pytest
from scipy import integrate

from assay.stats.paired_tests import sign_flip
from assay.stats.ranking import pair_tests
from assay.stats.ranking.pair_tests import sign_flips
from assay.stats.ranking.pairs import pairs_of
from assay.stats.ranking.sign_moments import exact_p_values, moments_serve
from assay.stats.units import Floats, Grid


def board(n: int, k: int = 5, *, seed: int = 0, step: float = 0.05) -> Floats:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, k)) + step * np.arange(k)


def p_values(scores: Floats) -> Floats:
    pairs = pairs_of(Grid(scores, np.ones(len(scores))))
    return exact_p_values(pairs, np.arange(len(pairs.units)))


def by_integral(gaps: Floats) -> float:
    """Gil-Pelaez: P(|Σ ±d| ≥ t) = 1 − 2/π ∫ sin(ut)/u · Π cos(u·d) du."""
    size, t = gaps / np.sqrt((gaps**2).sum()), abs(float(gaps.sum())) / np.sqrt((gaps**2).sum())

    def density(u: float) -> float:
        return float(np.sinc(u * t / pi) * t * np.cos(u * size).prod())

    return 1 - 2 / pi * integrate.quad(density, 0, 9, epsabs=1e-13, epsrel=1e-12, limit=200)[0]


def test_against_a_numerical_integral() -> None:
    scores = board(1_200)
    found = p_values(scores)
    i, j = np.triu_indices(5, 1)
    for p, a, b in zip(found.tolist(), i.tolist(), j.tolist(), strict=True):
        assert p == pytest.approx(by_integral(scores[:, a] - scores[:, b]), abs=2e-12)
    assert found.min() < 1e-3
    assert found.max() > 0.1


@pytest.mark.parametrize("n", [2_000, 5_684, 30_000])
def test_far_tails_against_the_test_of_one_pair(n: int) -> None:
    """Down to p-values that no integral in double precision tells from 0."""
    scores = board(n, seed=1, step=3 / np.sqrt(n))
    found = p_values(scores)
    told = np.flatnonzero(~np.isnan(found))
    i, j = np.triu_indices(5, 1)
    assert len(told) >= 5
    for place in told.tolist():
        expected = sign_flip(scores[:, i[place]] - scores[:, j[place]])[0].p_value
        assert found[place] == pytest.approx(expected, rel=1e-7)
    assert np.nanmin(found) < 1e-9


def test_against_random_flips() -> None:
    scores = np.random.default_rng(2).exponential(size=(6_000, 4)) + 0.02 * np.arange(4)
    found = p_values(scores)
    drawn = sign_flips(pairs_of(Grid(scores, np.ones(6_000))), resamples=40_000)
    told = ~np.isnan(found)
    assert told.sum() >= 4
    error = np.sqrt(found[told] * (1 - found[told]) / 40_000)
    assert (np.abs(drawn.p_values[told] - found[told]) < 4.5 * error + 1e-4).all()


def test_weights_are_part_of_the_differences() -> None:
    scores, weights = board(6_000, 2), np.random.default_rng(3).uniform(0.5, 1.5, 6_000)
    pairs = pairs_of(Grid(scores, weights))
    expected = by_integral((scores[:, 0] - scores[:, 1]) * weights)
    assert exact_p_values(pairs, np.array([0]))[0] == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize(
    "scores",
    [
        np.round(board(2_000), 2),  # on a lattice: sums tie
        (board(2_000) > 0) + 1e-6 * board(2_000, seed=4),  # in clumps: nearly a lattice
        board(2_000) * np.where(np.arange(2_000) == 7, 400.0, 1.0)[:, None],  # one unit carries the spread
        np.random.default_rng(5).standard_t(2, size=(2_000, 5)),  # heavy tails
        np.where(np.arange(2_000)[:, None] < 40, board(2_000), 0.0),  # few units differ
        np.ones((2_000, 5)),  # none does
    ],
)
def test_what_the_series_cannot_tell_is_left_open(scores: Floats) -> None:
    assert np.isnan(p_values(scores)).all()


def test_few_units_clusters_and_holes_are_left_to_others() -> None:
    scores = board(600)
    assert moments_serve(Grid(scores, np.ones(600)))
    assert not moments_serve(Grid(scores[:400], np.ones(400)))
    assert not moments_serve(Grid(scores, np.ones(600), clusters=np.arange(600) // 2))
    with_hole = scores.copy()
    with_hole[3, 1] = np.nan
    assert not moments_serve(Grid(with_hole, np.ones(600)))


def test_other_systems_change_no_bit() -> None:
    scores = board(3_000, 9)
    few, many = p_values(scores[:, :3]), p_values(scores)
    i, j = np.triu_indices(9, 1)
    assert few.tolist() == many[(i < 3) & (j < 3)].tolist()


def test_units_in_another_order_and_swapped_systems() -> None:
    scores = board(1_500, 3)
    turned = p_values(scores[::-1, ::-1])
    assert turned[::-1] == pytest.approx(p_values(scores), rel=1e-11)


def test_many_pairs_are_exact_by_default() -> None:
    """1,225 pairs of many units: by themselves they would take four seconds, and random flips show no small p."""
    scores = board(3_000, 50, step=0.01)
    found = sign_flips(pairs_of(Grid(scores, np.ones(3_000))))
    assert (found.how, found.resamples, found.sampled) == ("exact", None, None)
    assert not np.isnan(found.p_values).any()
    far = found.p_values < 1e-30
    assert far.any()


def test_far_pairs_take_a_bound_that_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = board(3_000, 2, step=1.0)
    pairs = pairs_of(Grid(scores, np.ones(3_000)))
    exact = sign_flip(scores[:, 0] - scores[:, 1])[0].p_value
    assert exact is not None
    assert exact < 1e-100
    p = float(sign_flips(pairs).p_values[0])
    assert exact <= p * (1 + 1e-9) <= 7 * exact


def test_no_time_for_moments_leaves_random_flips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_tests, "EXACT_SECONDS", 0.0)
    found = sign_flips(pairs_of(Grid(board(1_200), np.ones(1_200))))
    assert found.how == "shared signs"
    assert found.sampled is not None
    assert found.sampled.all()
