"""Counts instead of draws: the rule against Poisson's probabilities to 60 digits, the counts against a literal loop and
against the multinomial distribution."""

from collections import Counter
from decimal import Decimal, localcontext
from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from assay.stats import streams as module
from assay.stats.bootstrap.exact import bootstrap_distribution
from assay.stats.bootstrap.resampling import replicates, resampled_sums
from assay.stats.streams import (
    CountRule,
    counted_sums,
    in_groups,
    poisson_counts,
    rule_of,
    stream_key,
    topping_up,
    words,
)
from assay.stats.units import Units
from tests.stats.literal_draws import cells, counted_draws, drawn_units, poisson
from tests.strategies import sample

Counts = NDArray[np.int64]
KEY = stream_key(7, "bootstrap")


def drawn_counts(n: int, first: int, rows: int, key: int = KEY) -> Counts:
    """(rows, n) How often each unit is drawn."""
    drawn = poisson_counts(n, words(key, first, rows))
    counts = drawn.units.transpose(1, 0, 2).reshape(rows, -1)[:, :n].astype(np.int64)
    index = topping_up(n, drawn)
    for b in range(rows):
        counts[b] += np.bincount(index[: drawn.missing[b], b], minlength=n)
    return counts


# ------------------------------------------------------------------------------------------------------------- the rule


@pytest.mark.parametrize("n", [5, 64, 400, 1000, 12_345, 100_000, 10**6, 10**9])
def test_the_rule_against_poisson_probabilities_to_60_digits(n: int) -> None:
    """What the cells and the words of left-over cells add up to."""
    rule = rule_of(n)
    starts = [0, *(int(start) + 32_768 for start in rule.cells)]
    left = 65_536 - starts[-1]
    edges = [0, *rule.rare.tolist(), 2**64]
    with localcontext(prec=60):
        for k in range(len(edges) - 1):
            own = Decimal(starts[k + 1] - starts[k] if k < 7 else 0)
            share = (own + left * Decimal(edges[k + 1] - edges[k]) / 2**64) / 65_536
            assert abs(share - poisson(n)[k]) < Decimal(2) ** -75


@pytest.mark.parametrize("n", [64, 1000, 10**6])
def test_the_mean_of_the_rule_against_scipy(n: int) -> None:
    pmf = scipy_stats.poisson(1 - 2 / sqrt(n)).pmf(np.arange(7))
    np.testing.assert_array_equal(np.diff(rule_of(n).cells.astype(int), prepend=-32_768), np.floor(pmf * 65_536))
    assert tuple(np.floor(pmf * 65_536).astype(int).tolist()) == cells(n)[0]


# --------------------------------------------------------------------------------------------------- the literal counts


@pytest.mark.parametrize(("n", "rows"), [(400, 60), (447, 20), (448, 20), (449, 20), (1000, 200), (3000, 12)])
def test_counts_against_a_literal_loop(n: int, rows: int) -> None:
    expected = [np.bincount(counted_draws(n, KEY, b)[0], minlength=n) for b in range(3, 3 + rows)]
    assert (drawn_counts(n, 3, rows) == np.array(expected)).all()


def test_some_of_those_replicates_start_again_and_some_cells_are_left_over() -> None:
    """Or the test above would say little."""
    assert max(counted_draws(1000, KEY, b)[1] for b in range(3, 203)) > 1
    spent = poisson_counts(1000, words(KEY, 3, 200)).spent
    assert (spent > 256).any()


@pytest.mark.parametrize("n", [400, 512, 701])
def test_sums_against_the_literal_draws(n: int) -> None:
    columns = np.random.default_rng(n).normal(size=(n, 3))
    index = drawn_units(n, None, KEY, 5, 8)
    expected = columns[index].sum(axis=0)
    np.testing.assert_allclose(counted_sums(columns, KEY, 5, 8), expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(resampled_sums(columns, None, 8, 7, first=5, backend="compiled"), expected, atol=1e-11)


@given(st.integers(400, 700), st.integers(1, 5), st.integers(0, 5), st.integers(0, 1000))
def test_batches_change_no_bit(n: int, rows: int, cut: int, first: int) -> None:
    columns = np.random.default_rng(n).standard_cauchy(size=(n, 2))
    whole = counted_sums(columns, KEY, first, rows + cut)
    assert whole[cut:].tobytes() == counted_sums(columns, KEY, first + cut, rows).tobytes()


@pytest.fixture
def many_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule by which every fourth cell is left over."""
    cells = np.array([-9000, 6000, 12_000, 14_000, 15_000, 16_000, 16_384], dtype=np.int16)
    rule = CountRule(cells, np.array([2**63, 2**63 + 2**62], dtype=np.uint64))
    for owner in ("assay.stats.streams", "assay.stats.bootstrap.resampling"):
        monkeypatch.setattr(f"{owner}.rule_of", lambda _: rule)


@pytest.mark.parametrize("n", [400, 1025, 5000])
def test_many_left_over_cells_change_no_bit(n: int, many_left_over: None) -> None:
    columns = np.random.default_rng(n).standard_cauchy(size=(n, 2))
    by_numpy = resampled_sums(columns, None, 20, 1, first=2, backend="numpy")
    assert by_numpy.tobytes() == resampled_sums(columns, None, 20, 1, first=2, backend="compiled").tobytes()


def test_zeros_have_no_sign() -> None:
    columns = np.full((400, 1), -0.0)
    for backend in ("numpy", "compiled"):
        assert not np.signbit(resampled_sums(columns, None, 5, 0, backend=backend)).any()


def test_columns_are_filled_up_with_zeros() -> None:
    columns = np.arange(130.0).reshape(65, 2)
    grouped = in_groups(columns)
    assert grouped.shape == (2, 128)
    assert (grouped[:, :65] == columns.T).all()
    assert not grouped[:, 65:].any()


# ----------------------------------------------------------------------------------------------- the right distribution


@pytest.mark.parametrize("n", [5, 6])
def test_counts_of_few_units_against_every_resample(n: int) -> None:
    """nⁿ resamples, each as likely: χ² of all the ways to share n draws among n units."""
    rows = 150_000
    expected = Counter(tuple(np.bincount(draw, minlength=n)) for draw in product(range(n), repeat=n))
    found = Counter(map(tuple, drawn_counts(n, 0, rows).tolist()))
    assert set(found) <= set(expected)
    wanted = np.array(list(expected.values())) * (rows / n**n)
    seen = np.array([found[share] for share in expected])
    assert scipy_stats.chisquare(seen, wanted).pvalue > 1e-3


@pytest.mark.parametrize("n", [64, 400, 1000])
def test_each_count_against_the_binomial_distribution(n: int) -> None:
    counts = drawn_counts(n, 0, 400_000 // n)
    assert (counts.sum(axis=1) == n).all()
    seen = np.bincount(counts.ravel(), minlength=12)[:12]
    wanted = scipy_stats.binom(n, 1 / n).pmf(np.arange(12)) * counts.size
    seen, wanted = np.append(seen[:6], seen[6:].sum()), np.append(wanted[:6], counts.size - wanted[:6].sum())
    assert scipy_stats.chisquare(seen, wanted).pvalue > 1e-3


def test_two_counts_against_the_multinomial_distribution() -> None:
    """Neighbours, whose bits are in one word."""
    n, rows = 400, 30_000
    counts = np.minimum(drawn_counts(n, 0, rows)[:, 17:19], 4)
    seen = np.histogram2d(counts[:, 0], counts[:, 1], bins=np.arange(6))[0].ravel()
    one = scipy_stats.binom(n, 1 / n).pmf(np.arange(n + 1))
    wanted = np.zeros((5, 5))
    for i in range(12):
        rest = scipy_stats.binom(n - i, 1 / (n - 1)).pmf(np.arange(12))
        for j in range(12):
            wanted[min(i, 4), min(j, 4)] += one[i] * rest[j]
    assert scipy_stats.chisquare(seen, wanted.ravel() / wanted.sum() * rows).pvalue > 1e-3


def test_variance_and_covariance_of_counts_in_closed_form() -> None:
    """Var = 1 − 1/n and Cov = −1/n; the mean product of centred counts has a known error."""
    n, rows = 400, 10_000
    centred = drawn_counts(n, 50_000, rows) - 1.0
    assert (centred**2).mean() == pytest.approx(1 - 1 / n, abs=4 * sqrt(2 / (n * rows)) * 1.3)
    products = (centred[:, :-1] * centred[:, 1:]).mean()
    assert products == pytest.approx(-1 / n, abs=4 / sqrt(n * rows))
    assert np.abs(centred.mean(axis=0)).max() < 5 / sqrt(rows)


def test_replicates_are_independent() -> None:
    """The counts of one unit in neighbouring replicates."""
    counts = np.minimum(drawn_counts(400, 0, 20_001)[:, 5], 3)
    table = np.histogram2d(counts[:-1], counts[1:], bins=np.arange(5))[0]
    assert scipy_stats.chi2_contingency(table).pvalue > 1e-3


@pytest.mark.parametrize("kind", ["normal", "log-normal"])
def test_replicates_against_the_exact_distribution(kind: str) -> None:
    """Kolmogorov and Smirnov on 20,000 replicates of the mean of 500 units."""
    units = Units(sample(kind, 500), np.ones(500))
    exact = bootstrap_distribution(units)
    assert exact is not None
    ranks = [exact.cdf(x) for x in replicates(units, 20_000, 3, "compiled").values[::10].tolist()]
    assert np.abs(np.array(ranks) - (np.arange(2000) + 0.05) / 2000).max() < 1.95 / sqrt(20_000)


def test_a_long_batch_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = np.random.default_rng(0).normal(size=(450, 1))
    expected = counted_sums(columns, KEY, 0, 31)
    monkeypatch.setattr(module, "_BATCH", 1)
    assert counted_sums(columns, KEY, 0, 31).tobytes() == expected.tobytes()
