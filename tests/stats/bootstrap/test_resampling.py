"""Random resampling: the same bits for any batch, thread or backend; and the right distribution."""

from collections.abc import Iterator
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from assay.stats.bootstrap import kernels_resampling as kernels
from assay.stats.bootstrap import resampling
from assay.stats.bootstrap.resampling import (
    Replicates,
    alias_table,
    drawn_pairs,
    replicates,
    resampled_sums,
    studentized_replicates,
)
from assay.stats.streams import stream_key, words
from assay.stats.units import Units, mean_of_draws
from tests.stats.literal_draws import drawn_units, paired_draws
from tests.stats.reference import every_resample
from tests.strategies import lengths, sample

Floats = NDArray[np.float64]
SIZES = [2, 3, 4, 5, 6, 7, 8, 9, 10, 30, 181, 399, 400, 577]


def columns_of(n: int, width: int) -> Floats:
    """Values of very different sizes: another order of summation shows in the last bits."""
    return np.random.default_rng([n, width]).standard_cauchy(size=(n, width))


def probabilities_of(n: int) -> Floats:
    tokens = lengths(n, 1.0)
    return np.asarray(tokens / tokens.sum())


@pytest.fixture
def all_threads() -> Iterator[None]:
    """Whatever a test does to the number of threads is undone."""
    yield
    kernels.use_threads(None)


# ------------------------------------------------------------------------------------------------------------ same bits


@settings(max_examples=40)
@given(
    st.sampled_from(SIZES), st.integers(1, 3), st.integers(1, 9), st.integers(0, 9), st.integers(0, 50), st.booleans()
)
def test_batches_change_no_bit(n: int, width: int, rows: int, cut: int, first: int, weighted: bool) -> None:
    columns, p = columns_of(n, width), probabilities_of(n) if weighted else None
    whole = resampled_sums(columns, p, rows + cut, 5, first=first, backend="numpy")
    rest = resampled_sums(columns, p, rows, 5, first=first + cut, backend="numpy")
    assert whole[cut:].tobytes() == rest.tobytes()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("batch", [1, 64, 1000, 10_000])
def test_the_batch_size_of_the_numpy_backend_changes_no_bit(
    batch: int, width: int, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns, p = columns_of(61, width), probabilities_of(61) if weighted else None
    expected = resampled_sums(columns, p, 301, 1, backend="numpy")
    monkeypatch.setattr(resampling, "_BATCH", batch)
    assert resampled_sums(columns, p, 301, 1, backend="numpy").tobytes() == expected.tobytes()


@pytest.mark.untraced
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", [1, 2, 5])
@pytest.mark.parametrize("n", SIZES)
def test_compiled_and_numpy_give_the_same_bits(n: int, width: int, weighted: bool) -> None:
    columns, p = columns_of(n, width), probabilities_of(n) if weighted else None
    compiled = resampled_sums(columns, p, 57, 3, first=11, backend="compiled")
    assert compiled.tobytes() == resampled_sums(columns, p, 57, 3, first=11, backend="numpy").tobytes()


@pytest.mark.untraced
@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [97, 500])
def test_threads_change_no_bit(
    n: int, weighted: bool, width: int, monkeypatch: pytest.MonkeyPatch, all_threads: None
) -> None:
    columns, p = columns_of(n, width), probabilities_of(n) if weighted else None
    one = resampled_sums(columns, p, 1000, 9, backend="compiled")
    monkeypatch.setattr(resampling, "_ONE_THREAD_BELOW", 0)  # all the threads there are
    assert resampled_sums(columns, p, 1000, 9, backend="compiled").tobytes() == one.tobytes()
    assert one.tobytes() == resampled_sums(columns, p, 1000, 9, backend="numpy").tobytes()


@pytest.mark.parametrize("n", [2, 3, 180, 181, 399, 400, 801])
def test_a_column_has_the_same_bits_alone_and_among_others(n: int) -> None:
    columns = columns_of(n, 3)
    together = resampled_sums(columns, None, 40, 2, backend="compiled")
    for k in range(3):
        alone = resampled_sums(columns[:, [k]], None, 40, 2, backend="compiled")
        assert alone[:, 0].tobytes() == together[:, k].tobytes()


def test_large_work_is_compiled_and_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = columns_of(20, 1)
    by_numpy = resampled_sums(columns, None, 50, 0)
    monkeypatch.setattr(resampling, "_COMPILE_ABOVE", 999)
    monkeypatch.setattr(resampling, "_numpy_sums", None)  # it would fail
    assert resampled_sums(columns, None, 50, 0).tobytes() == by_numpy.tobytes()


@pytest.mark.parametrize("n", [2, 5, 6, 7, 8])
def test_kernels_as_plain_python_against_numpy(n: int) -> None:
    """The compiled source itself, run by the interpreter."""
    key, first, rows = stream_key(4, "bootstrap"), 3, 4
    columns, p = columns_of(n, 2), probabilities_of(n)
    out, one, weighted = np.empty((rows, 2)), np.empty(rows), np.empty((rows, 2))
    with np.errstate(over="ignore"):  # arithmetic modulo 2⁶⁴
        kernels.paired_sums.py_func(columns, np.uint64(key), first, out)
        table = np.add.outer(columns[:, 0], columns[:, 0]).ravel()
        kernels.paired_sums_of_one.py_func(columns[:, 0], table, np.uint64(key), first, one)
        kernels.weighted_sums.py_func(columns, *alias_table(p), np.uint64(key), first, weighted)
    expected = resampled_sums(columns, None, rows, 4, first=first, backend="numpy")
    assert out.tobytes() == expected.tobytes()
    assert one.tobytes() == expected[:, 0].tobytes()
    assert weighted.tobytes() == resampled_sums(columns, p, rows, 4, first=first, backend="numpy").tobytes()


def test_seeds_and_purposes_give_other_replicates() -> None:
    columns = columns_of(30, 1)
    base = resampled_sums(columns, None, 100, 0)
    assert base.tobytes() == resampled_sums(columns, None, 100, 0).tobytes()
    assert not (base == resampled_sums(columns, None, 100, 1)).any()
    assert not (base == resampled_sums(columns, None, 100, 0, purpose="calibration")).any()


# --------------------------------------------------------------------------------------------------- right distribution


def all_pairs(n: int, seed: int, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return drawn_pairs(n, words(stream_key(seed, "bootstrap"), 0, count) >> np.uint64(32))


@pytest.mark.parametrize("n", [2, 7, 100, 399])
def test_pairs_of_draws_against_chi_square(n: int) -> None:
    """Each by itself, and for few units both at once."""
    i, j = all_pairs(n, 0, 200_000)
    for draws in (i, j):
        assert scipy_stats.chisquare(np.bincount(draws, minlength=n)).pvalue > 1e-3
    if n < 100:
        assert scipy_stats.chisquare(np.bincount(i * n + j, minlength=n * n)).pvalue > 1e-3


def test_pairs_are_as_likely_as_the_words_allow() -> None:
    """All 2³² half-words fall on n² pairs evenly: where each pair begins, by integers."""
    n = 399
    starts = [-(-(pair << 32) // n**2) for pair in range(n * n + 1)]
    shares = np.diff(starts) * (n * n / 2**32)
    assert np.abs(shares - 1).max() <= n * n / 2**32
    i, j = drawn_pairs(n, np.array(starts[:-1], dtype=np.uint64))
    assert (i * n + j == np.arange(n * n)).all()


@pytest.mark.parametrize("n", [2, 3, 5, 8, 181])
def test_sums_against_the_literal_draws(n: int) -> None:
    columns = columns_of(n, 2)
    for p in (None, probabilities_of(n)):
        index = drawn_units(n, None if p is None else alias_table(p), stream_key(3, "bootstrap"), 2, 6)
        expected = columns[index].sum(axis=0)
        np.testing.assert_allclose(resampled_sums(columns, p, 6, 3, first=2), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [2, 7, 100, 1001])
def test_weighted_draws_against_chi_square(n: int) -> None:
    p = probabilities_of(n)
    index = resampling.drawn_units(alias_table(p), stream_key(1, "bootstrap"), 0, 400_000 // n)
    assert index.shape == (n, 400_000 // n)
    counts = np.bincount(index.ravel(), minlength=n)
    expected = p * index.size
    common = expected > 5  # χ² is not one where few are expected
    observed = np.append(counts[common], counts[~common].sum())
    wanted = np.append(expected[common], expected[~common].sum())
    keep = wanted > 0
    assert scipy_stats.chisquare(observed[keep], wanted[keep], sum_check=False).pvalue > 1e-3


def test_draws_at_different_places_are_independent() -> None:
    """Neighbours within a replicate (they share a half-word, or a word) and across replicates: χ² of the pairs."""
    index = np.array([paired_draws(8, stream_key(2, "bootstrap"), b) for b in range(20_000)]).T
    for one, other in ((index[0], index[1]), (index[1], index[2]), (index[3], index[4]), (index[0, :-1], index[0, 1:])):
        assert scipy_stats.chi2_contingency(np.histogram2d(one, other, bins=8)[0]).pvalue > 1e-3


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=60))
def test_alias_table_gives_back_its_probabilities(weights: list[float]) -> None:
    """Each slot is drawn 1/n of the time; what it does not keep goes to another."""
    p = np.array(weights) / np.sum(weights)
    n = len(p)
    keep, other = alias_table(np.array(weights))
    share = keep / 2.0**32
    back = np.bincount(np.arange(n), share, minlength=n) + np.bincount(other, 1 - share, minlength=n)
    np.testing.assert_allclose(back / n, p, atol=2.0**-31)


@pytest.mark.parametrize("scheme", ["mean", "ratio", "tokens"])
def test_replicates_against_enumeration(scheme: str) -> None:
    """Five units have 3,125 resamples: their distribution function is met everywhere, to Monte-Carlo error."""
    found, tokens = sample("log-normal", 5), lengths(5, 1.0)
    units = Units(found, np.ones(5)) if scheme == "mean" else Units(found * tokens, tokens)
    if scheme == "tokens":
        units = mean_of_draws(units)
    truth, got = every_resample(units), replicates(units, 100_000, 0)
    for p in (0.01, 0.1, 0.3, 0.5, 0.8, 0.99):
        x = truth.quantile(p)
        assert got.cdf(x) == pytest.approx(truth.cdf(x), abs=4 * sqrt(0.25 / 100_000))
    assert got.method == "resampling"
    assert (np.diff(got.values) >= 0).all()


def test_replicates_of_equal_denominators_are_those_of_the_mean() -> None:
    found = sample("normal", 40)
    plain, scaled = (
        replicates(Units(found, np.ones(40)), 500, 8),
        replicates(Units(7 * found, np.full(40, 7.0)), 500, 8),
    )
    np.testing.assert_allclose(plain.values, scaled.values, rtol=1e-12, atol=1e-15)


def test_ties_of_replicates_count_half() -> None:
    got = Replicates(np.array([1.0, 2.0, 2.0, 2.0, 5.0]))
    assert [got.cdf(x) for x in (0.0, 1.0, 2.0, 2.0 + 1e-15, 3.0, 5.0, 9.0)] == [0, 0.1, 0.5, 0.5, 0.8, 0.9, 1]
    assert got.quantiles([0.0, 0.25, 1.0]).tolist() == np.quantile(got.values, [0.0, 0.25, 1.0]).tolist()


# ---------------------------------------------------------------------------------------------------------- studentized


def literal_studentized(units: Units, count: int, seed: int) -> list[float]:
    """One replicate after the other: its ratio, and the robust standard error of its own resample."""
    table = None if units.probabilities is None else alias_table(units.probabilities)
    index = drawn_units(units.n, table, stream_key(seed, "bootstrap"), 0, count)
    out = []
    for b in range(count):
        num, den = units.numerators[index[:, b]], units.denominators[index[:, b]]
        if len(set(index[:, b].tolist())) == 1:
            continue
        ratio = num.sum() / den.sum()
        squares = ((num - ratio * den) ** 2).sum() * units.n / (units.n - 1)
        out.append((ratio - units.estimate) / (sqrt(squares) / den.sum()))
    return sorted(out)


@pytest.mark.parametrize("scheme", ["mean", "ratio", "tokens"])
@pytest.mark.parametrize("n", [3, 4, 12, 90])
def test_studentized_replicates_against_a_literal_loop(n: int, scheme: str) -> None:
    """With the identical draws. Resamples that repeat one unit have no error of their own and are left out."""
    found, tokens = sample("normal", n), lengths(n, 0.5)
    units = Units(found, np.ones(n)) if scheme == "mean" else Units(found * tokens, tokens)
    if scheme == "tokens":
        units = mean_of_draws(units)
    np.testing.assert_allclose(
        studentized_replicates(units, 3000, 4), literal_studentized(units, 3000, 4), rtol=1e-6, atol=1e-9
    )
