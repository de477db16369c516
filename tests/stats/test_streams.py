"""Counter-based streams, against SplitMix64 as it was published, and against what random bits should look like."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.stats.streams import signs, stream_key, words

KEYS = st.integers(0, 2**64 - 1)


def splitmix64(state: int, count: int) -> list[int]:
    """The generator of Steele, Lea and Flood (2014), one output after the other, as Vigna's reference code has it."""
    mask, out = 2**64 - 1, []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        out.append(z ^ (z >> 31))
    return out


def test_first_words_of_seed_zero_against_the_published_ones() -> None:
    """The test vector that ports of SplitMix64 are checked with."""
    assert [hex(w) for w in words(0, 0, 3).tolist()] == [
        "0xe220a8397b1dcdaf",
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
    ]


@given(KEYS, st.integers(1, 40))
def test_words_against_the_sequential_generator(key: int, count: int) -> None:
    assert words(key, 0, count).tolist() == splitmix64(key, count)


@given(KEYS, st.integers(0, 2**40), st.integers(1, 30), st.integers(0, 30))
def test_a_word_depends_on_its_place_only(key: int, first: int, count: int, cut: int) -> None:
    """Any batch gives the same bits."""
    whole = words(key, first, count + cut).tolist()
    assert whole == words(key, first, cut).tolist() + words(key, first + cut, count).tolist()


@pytest.mark.parametrize("key", [stream_key(0, "bootstrap"), stream_key(1, "bootstrap"), stream_key(0, "sign-flip")])
def test_words_are_uniform(key: int) -> None:
    """Kolmogorov and Smirnov on all 64 bits, χ² on every bit by itself."""
    found = words(key, 0, 200_000)
    assert scipy_stats.kstest(found / 2.0**64, "uniform").pvalue > 1e-3
    ones = ((found[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).sum(axis=0, dtype=np.int64)
    z = (ones - 100_000) / np.sqrt(50_000)
    assert scipy_stats.chi2.sf((z**2).sum(), 64) > 1e-3


def test_keys_differ_for_every_seed_and_purpose() -> None:
    pairs = [(seed, purpose) for seed in range(2000) for purpose in ("bootstrap", "sign-flip", "1/bootstrap")]
    assert len({stream_key(*pair) for pair in pairs}) == len(pairs)
    assert stream_key(1, "1/x") != stream_key(11, "/x")


@pytest.mark.parametrize(
    ("seed", "purpose"), [(1, "bootstrap"), (0, "sign-flip"), (2**63, "bootstrap"), (-1, "bootstrap")]
)
def test_streams_of_other_seeds_and_purposes_are_unrelated(seed: int, purpose: str) -> None:
    """Correlation, and agreement bit by bit, are those of independent words."""
    n = 100_000
    one, other = words(stream_key(0, "bootstrap"), 0, n), words(stream_key(seed, purpose), 0, n)
    assert abs(np.corrcoef(one / 2.0**64, other / 2.0**64)[0, 1]) * np.sqrt(n) < 4
    agree = int(np.bitwise_count(~(one ^ other)).sum())
    assert abs(agree - 32 * n) / np.sqrt(16 * n) < 4


# ---------------------------------------------------------------------------------------------------------------- signs


@given(KEYS, st.integers(0, 20), st.integers(1, 6), st.integers(1, 200))
def test_signs_are_the_bits_of_the_words(key: int, first: int, rows: int, n: int) -> None:
    """Replicate b takes the words from b·⌈n/64⌉ on, lowest bit first."""
    per_row = -(-n // 64)
    sequence = splitmix64(key, (first + rows) * per_row)
    found = signs(key, first, rows, n)
    assert found.shape == (rows, n)
    for b in range(rows):
        for i in range(n):
            word = sequence[(first + b) * per_row + i // 64]
            assert bool(found[b, i]) == bool(word >> (i % 64) & 1)


@given(KEYS, st.integers(1, 8), st.integers(0, 8), st.integers(1, 130))
def test_signs_do_not_depend_on_the_batch(key: int, rows: int, cut: int, n: int) -> None:
    whole = signs(key, 0, rows + cut, n)
    assert (whole[cut:] == signs(key, cut, rows, n)).all()


def test_signs_are_fair_and_independent() -> None:
    found = signs(stream_key(7, "sign-flip"), 0, 4000, 100)
    assert scipy_stats.chi2.sf((((found.sum(axis=0) - 2000) ** 2) / 1000).sum(), 100) > 1e-3
    centred = found - 0.5
    products = (centred[:, :-1] * centred[:, 1:]).sum(axis=0) / np.sqrt(4000 / 16)
    assert scipy_stats.chi2.sf((products**2).sum(), 99) > 1e-3
