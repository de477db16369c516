"""Discrete distributions and lattices, against exact fractions and convolution."""

from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from assay.stats.bootstrap.exact import Atoms, Lattice, convolved, enumerated, find_lattice
from assay.stats.units import Units, mean_of_draws

DIE = Atoms(np.arange(1.0, 7.0), np.full(6, 1 / 6), "enumeration")


# ---------------------------------------------------------------------------------------------------------- conventions


@pytest.mark.parametrize(("x", "expected"), [(0, 0), (1, 1 / 12), (3, 5 / 12), (3.5, 1 / 2), (6, 11 / 12), (7, 1)])
def test_distribution_function_of_a_die_counts_ties_half(x: float, expected: float) -> None:
    assert DIE.cdf(x) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("p", "expected"), [(0.01, 1), (0.17, 2), (0.4, 3), (0.5, 3.5), (2 / 3, 4.5), (0.99, 6), (1, 6)]
)
def test_quantile_of_a_die_is_halfway_on_a_step(p: float, expected: float) -> None:
    """P(X ≤ 3) is ½ exactly, so every point of [3, 4] is a median; rounding must not choose."""
    assert DIE.quantile(p) == expected
    assert DIE.quantiles([p]).tolist() == [expected]


@given(st.floats(0, 1))
def test_quantile_against_scipy(p: float) -> None:
    edges = np.abs(p - np.arange(7) / 6)
    if edges.min() > 1e-9:
        assert DIE.quantile(p) == scipy_stats.randint(1, 7).ppf(p)


@given(
    st.lists(st.sampled_from([0.0, 1e-18, 0.125, 0.25, 0.3]), min_size=2, max_size=8).filter(lambda m: sum(m) > 0.1),
    st.sampled_from([1e-14, 1e-12, 1e-9, 0.1, 0.25, 0.5, 0.75, 0.9, 1 - 1e-9, 1 - 1e-12]),
)
def test_quantiles_of_the_negated_distribution_are_negated(masses: list[float], p: float) -> None:
    """Also beside points that cannot occur, and where the tail is too thin to tell."""
    mass = np.array(masses) / sum(masses)
    here = Atoms(np.arange(-2.0, len(mass) - 2.0), mass, "lattice")
    there = Atoms(-here.points[::-1], mass[::-1], "lattice")
    assert there.quantile(1 - p) == -here.quantile(p)


def test_half_way_is_to_the_next_point_that_occurs_by_hand() -> None:
    assert Atoms(np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.0, 0.5]), "lattice").quantile(0.5) == 1


# ---------------------------------------------------------------------------------------------------------- enumeration


def exact_distribution(
    numerators: list[int], denominators: list[int], shares: list[Fraction]
) -> list[tuple[Fraction, Fraction]]:
    """Every ordered resample in exact arithmetic: sorted outcomes and their probabilities."""
    total: defaultdict[Fraction, Fraction] = defaultdict(Fraction)
    for draw in product(range(len(numerators)), repeat=len(numerators)):
        probability = Fraction(1)
        for i in draw:
            probability *= shares[i]
        total[Fraction(sum(numerators[i] for i in draw), sum(denominators[i] for i in draw))] += probability
    return sorted(total.items())


@pytest.mark.parametrize(
    ("numerators", "denominators", "weights"),
    [
        ([1, 2, 4, 8], [1, 1, 1, 1], None),
        ([0, 0, 1, 3, 3], [1, 1, 1, 1, 1], None),
        ([2, 4, 6, 9], [1, 2, 3, 5], None),  # three units with the same ratio: many ties
        ([3, -1, 4, 10**6], [2, 7, 1, 3], None),
        ([1, 2, 5, 7], [1, 1, 1, 1], [1, 2, 3, 4]),
        ([0, 1, 1, 0, 1], [1, 1, 1, 1, 1], [5, 1, 1, 2, 1]),
    ],
)
def test_enumeration_against_exact_fractions(
    numerators: list[int], denominators: list[int], weights: list[int] | None
) -> None:
    n = len(numerators)
    shares = [Fraction(w, sum(weights)) for w in weights] if weights else [Fraction(1, n)] * n
    truth = exact_distribution(numerators, denominators, shares)
    p = None if weights is None else np.array([float(s) for s in shares])
    found = enumerated(Units(np.array(numerators, dtype=float), np.array(denominators, dtype=float), p))
    np.testing.assert_allclose(found.points, [float(x) for x, _ in truth], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.masses, [float(m) for _, m in truth], rtol=1e-10)
    for x, mass in truth:
        below = sum(m for y, m in truth if y < x)
        assert found.cdf(float(x)) == pytest.approx(float(below + mass / 2), abs=1e-12)


# ------------------------------------------------------------------------------------------------------------- lattices


@given(
    st.lists(st.integers(0, 300), min_size=2, max_size=40),
    st.floats(-1e3, 1e3),
    st.sampled_from([1.0, 0.5, 0.25, 1 / 3, 0.1, 1e-3, 7.5, 1e6]),
)
def test_values_on_a_lattice_are_found_on_it(steps: list[int], base: float, span: float) -> None:
    wanted = np.array(steps)
    if np.ptp(wanted) == 0:
        wanted[0] += 1
    shifted = wanted - wanted.min()
    values = base + span * wanted
    found = find_lattice(values, thorough=True)
    if abs(base) > 1e4 * span:  # the base has swallowed digits of the span
        return
    assert found is not None
    assert found.span == pytest.approx(span * int(np.gcd.reduce(shifted)), rel=1e-6)
    np.testing.assert_allclose(found.base + found.span * found.steps, values, rtol=1e-9, atol=1e-6 * span)


def test_the_coarsest_lattice_is_taken() -> None:
    found = find_lattice(np.array([-1.0, 1.0, 3.0, 3.0, -1.0, 9.0, 9.0, 9.0, 9.0]))
    assert found is not None
    assert (found.base, found.span) == (-1.0, 2.0)
    assert found.steps.tolist() == [0, 1, 2, 2, 0, 5, 5, 5, 5]


@pytest.mark.parametrize(
    "values",
    [
        np.full(20, 3.25),  # no step
        np.repeat([0.0, 1.0, np.sqrt(2)], 10),  # no common measure
        np.repeat([0.0, 1.0, 1e-5], 10),  # one, but 100,000 steps wide
        np.random.default_rng(0).normal(size=200),  # all different
        np.repeat(np.arange(300.0), 5),  # more than 256 different ones
    ],
)
def test_values_without_a_useful_lattice(values: NDArray[np.float64]) -> None:
    assert find_lattice(values) is None
    assert find_lattice(values, thorough=True) is None


def test_mostly_different_values_are_not_sorted_unless_asked() -> None:
    values = np.arange(40.0)
    assert find_lattice(values) is None
    found = find_lattice(values, thorough=True)
    assert found is not None
    assert found.span == 1


@settings(max_examples=50)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=25), st.floats(0.1, 10), st.integers(1, 50))
def test_convolution_against_numpy(steps: list[int], span: float, den: int) -> None:
    wanted = np.array(steps)
    if np.ptp(wanted) == 0:
        wanted[0] += 1
    wanted = wanted - wanted.min()
    n = len(wanted)
    mass = np.ones(1)
    for _ in range(n):
        mass = np.convolve(mass, np.bincount(wanted) / n)
    found = convolved(Units(span * wanted, np.full(n, float(den))), Lattice(0.0, span, wanted))
    assert found is not None
    first = round(float(found.points[0]) * n * den / span)
    np.testing.assert_allclose(found.masses, mass[first : first + len(found.masses)], atol=1e-12)
    assert found.masses.sum() == pytest.approx(1, abs=1e-12)


def test_convolution_of_token_draws_against_numpy() -> None:
    """Unequal drawing probabilities."""
    scores, tokens = np.array([0.0, 2.0, 1.0, 0.0, 1.0]), np.array([5.0, 1.0, 3.0, 2.0, 9.0])
    drawn = mean_of_draws(Units(scores * tokens, tokens))
    mass = np.ones(1)
    for _ in range(5):
        mass = np.convolve(mass, np.bincount(scores.astype(int), tokens) / tokens.sum())
    lattice = find_lattice(scores)
    assert lattice is not None
    found = convolved(drawn, lattice)
    assert found is not None
    np.testing.assert_allclose(found.masses, mass, atol=1e-13)
    np.testing.assert_allclose(found.points, np.arange(11) / 5, atol=1e-13)


def test_a_lattice_too_fine_for_memory_is_refused() -> None:
    rng = np.random.default_rng(1)
    values = rng.choice([0.0, 1.0, 20_000.0], size=100_000)
    lattice = find_lattice(values)
    assert lattice is not None
    assert convolved(Units(values, np.ones(len(values))), lattice) is None
