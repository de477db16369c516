"""Differences that go with length, and units of a document that are alike."""

from itertools import pairwise, product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.stats.assumptions import (
    LARGE_T,
    alike_units,
    correlation,
    long_units,
    share_of_longest,
    t_of_correlation,
    t_with_length,
)
from assay.stats.units import Floats, Grid, Integers, Units, grouped, standard_error

seeds = st.integers(0, 2**32 - 1)


def documents(seed: int, n: int = 30, tie: float = 0.0) -> Units:
    rng = np.random.default_rng(seed)
    tokens = np.round(100 * rng.lognormal(0.0, 1.0, n)) + 1
    return Units((rng.normal(0.1, 1.0, n) + tie * tokens / 100) * tokens, tokens)


# ------------------------------------------------------------------------------------------------------------- length


@given(seeds, st.integers(3, 60), st.sampled_from([0.0, 0.5, -1.0]))
def test_the_correlation_and_its_t_against_scipy(seed: int, n: int, tie: float) -> None:
    units = documents(seed, n, tie)
    found = long_units(units)
    r, p = stats.pearsonr(units.numerators / units.denominators, units.denominators)
    assert found is not None
    assert found.correlation == pytest.approx(r, abs=1e-12)
    assert 2 * stats.t.sf(abs(found.t), n - 2) == pytest.approx(p, rel=1e-6, abs=1e-12)
    assert found.decide is (abs(found.t) > LARGE_T)


@given(seeds, st.floats(1e-150, 1e150), st.floats(1e-150, 1e150))
def test_no_unit_of_measurement_changes_it_and_swapping_turns_the_sign(seed: int, a: float, b: float) -> None:
    units = documents(seed)
    plain = long_units(units)
    scaled = long_units(Units(-units.numerators * a * b, units.denominators * b))
    assert plain is not None
    assert scaled is not None
    assert (scaled.correlation, scaled.t) == pytest.approx((-plain.correlation, -plain.t), rel=1e-6, abs=1e-9)
    assert scaled.share == pytest.approx(plain.share)


def test_nothing_is_said_where_all_are_as_long_differ_the_same_or_are_two() -> None:
    values, lengths = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 5.0])
    assert long_units(Units(values, np.full(3, 7.0))) is None
    assert long_units(Units(0.1 * lengths, lengths)) is None
    assert long_units(Units(values[:2], lengths[:2])) is None


def test_a_perfect_correlation_has_a_finite_t() -> None:
    lengths = np.arange(1.0, 41.0)
    found = long_units(Units(lengths * lengths, lengths))
    assert found is not None
    assert found.correlation == pytest.approx(1.0)
    assert 1e6 < found.t < np.inf


def test_the_share_of_the_longest_by_hand() -> None:
    assert share_of_longest(np.arange(1.0, 21.0)) == pytest.approx(sum(range(11, 21)) / 210)
    assert share_of_longest(np.array([3.0, 1.0])) == 1.0
    found = long_units(documents(1, 7))
    assert found is not None
    assert (found.longest, found.share) == (7, 1.0)


def test_the_t_of_a_correlation_by_hand() -> None:
    assert t_of_correlation(-0.6, 18) == pytest.approx(-0.6 * 4 / 0.8)


def test_designs_with_and_without_a_tie_are_told_apart_coverage() -> None:
    """|t| > 3 in at most 1% of 400 designs without a tie, in 80% and more of those with one."""
    flagged = {tie: [long_units(documents(seed, 100, tie)) for seed in range(400)] for tie in (0.0, 1.0)}
    shares = {tie: np.mean([one is not None and one.decide for one in found]) for tie, found in flagged.items()}
    assert shares[0.0] <= 0.01
    assert shares[1.0] >= 0.8


@given(seeds, st.booleans(), st.booleans())
def test_the_t_of_all_pairs_against_one_at_a_time(seed: int, clustered: bool, holes: bool) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0.0, 1.0, (40, 4))
    weights = np.round(rng.lognormal(0.0, 1.0, 40), 2) + 0.1
    if holes and not clustered:
        values[rng.random((40, 4)) < 0.2] = np.nan
    grid = Grid(values, weights, rng.permutation(np.arange(40) % 9) if clustered else None)
    found = t_with_length(grid)
    for i, j in product(range(4), repeat=2):
        if i != j:
            alone = long_units(grid.pair(i, j))
            assert alone is not None
            assert found[i, j] == pytest.approx(alone.t, rel=1e-6, abs=1e-9)


def test_pairs_that_do_not_differ_have_none() -> None:
    values = np.random.default_rng(2).normal(0.0, 1.0, (20, 3))
    values[:, 1] = values[:, 0]
    found = t_with_length(Grid(values, np.arange(1.0, 21.0)))
    assert np.isnan(found[0, 1])
    assert np.isfinite(found[0, 2])


# ------------------------------------------------------------------------------------------------------------ likeness


def chained(seed: int, groups: int, per: int, rho: float) -> tuple[Floats, Integers]:
    rng = np.random.default_rng(seed)
    noise = rng.normal(0.0, 1.0, (groups, per))
    for place in range(1, per):
        noise[:, place] = rho * noise[:, place - 1] + sqrt(1 - rho * rho) * noise[:, place]
    return noise.ravel(), np.repeat(np.arange(groups), per)


@given(seeds, st.integers(2, 9), st.integers(2, 6))
def test_likeness_against_loops_over_pairs(seed: int, groups: int, per: int) -> None:
    rng = np.random.default_rng(seed)
    codes, tokens = np.repeat(np.arange(groups), per), rng.integers(1, 9, groups * per).astype(np.float64)
    units = Units(rng.normal(0.0, 1.0, len(codes)) * tokens, tokens)
    order = rng.permutation(len(codes)).astype(np.float64)
    found = alike_units(units, codes, order)
    rest = units.numerators - units.estimate * units.denominators
    places = [sorted(np.flatnonzero(codes == g), key=lambda i: order[i]) for g in range(groups)]
    near = [(i, j) for group in places for i, j in pairwise(group)]
    every = [(i, j) for group in places for i in group for j in group if i < j]
    assert found is not None
    assert (found.documents, found.neighbours) == (groups, len(near))
    top = sum(rest[i] * rest[j] for i, j in near)
    assert found.lag_one == pytest.approx(
        top / sqrt(sum(rest[i] ** 2 for i, _ in near) * sum(rest[j] ** 2 for _, j in near)), abs=1e-9
    )
    assert found.lag_one_z == pytest.approx(top / sqrt(sum((rest[i] * rest[j]) ** 2 for i, j in near)), abs=1e-9)
    total = sum(rest[i] * rest[j] for i, j in every)
    assert found.within_z == pytest.approx(total / sqrt(sum((rest[i] * rest[j]) ** 2 for i, j in every)), abs=1e-9)


@given(seeds, st.integers(2, 9))
def test_the_design_effect_is_the_ratio_of_the_two_variances(seed: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    codes, tokens = np.repeat(np.arange(groups), 4), rng.integers(1, 9, 4 * groups).astype(np.float64)
    units = Units(rng.normal(0.0, 1.0, len(codes)) * tokens, tokens)
    found = alike_units(units, codes, None)
    whole = Units(grouped(units.numerators, codes), grouped(tokens, codes))
    errors = [standard_error(one) for one in (whole, units)]
    assert found is not None
    assert found.lag_one is None
    assert errors[0] is not None
    assert errors[1] is not None
    assert found.design_effect == pytest.approx((errors[0] / errors[1]) ** 2, rel=1e-9, abs=1e-12)


def test_one_document_by_hand() -> None:
    values = np.array([1.0, 2.0, 4.0, 3.0, 0.0, -1.0])
    found = alike_units(Units(values, np.ones(6)), np.zeros(6, dtype=np.int64), np.arange(6.0))
    rest = values - values.mean()
    r = (rest[1:] * rest[:-1]).sum() / sqrt((rest[1:] ** 2).sum() * (rest[:-1] ** 2).sum())
    assert found is not None
    assert found.within_z is None
    assert found.lag_one == pytest.approx(r)
    assert found.design_effect == pytest.approx((1 + r) / (1 - r))


def test_nothing_is_said_without_order_or_company_or_spread() -> None:
    values, one, each = np.array([1.0, 2.0, 4.0]), np.zeros(3, dtype=np.int64), np.arange(3)
    assert alike_units(Units(values, np.ones(3)), one, None) is None
    assert alike_units(Units(values, np.ones(3)), each, np.arange(3.0)) is None
    assert alike_units(Units(np.ones(3), np.ones(3)), np.array([0, 0, 1]), np.arange(3.0)) is None


@pytest.mark.parametrize(("rho", "least", "most"), [(0.0, 0.0, 0.08), (0.4, 0.9, 1.0)])
def test_windows_that_are_alike_are_told_from_those_that_are_not_coverage(
    rho: float, least: float, most: float
) -> None:
    found = []
    for seed in range(200):
        values, codes = chained(seed, 20, 9, rho)
        found.append(alike_units(Units(values, np.ones(180)), codes, np.arange(180.0)))
    assert least <= np.mean([one is not None and one.alike for one in found]) <= most


def test_correlation_of_huge_and_tiny_values_against_scipy() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.0, 1.0, 20), rng.normal(0.0, 1.0, 20)
    assert correlation(1e-200 * a, 1e200 * b) == pytest.approx(stats.pearsonr(a, b)[0])
