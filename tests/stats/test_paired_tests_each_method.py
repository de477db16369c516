"""Each way to a p-value of sign flips on its own, at its edges. Oracles: enumeration, literal products."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import comb, cosh, exp, log, pi, sqrt, tanh

import numpy as np
import pytest
from scipy import optimize
from scipy.stats import norm

from assay.stats import paired_tests
from assay.stats.bootstrap.fourier import BLOCK, CHUNK, DECAYED, LONGEST, NORMAL_END, WORK, Complexes
from assay.stats.numerics import SMALLEST_P
from assay.stats.paired_tests import RANDOM_FLIPS, sign_flip
from assay.stats.records import Fallback, Test
from assay.stats.streams import signs, stream_key
from assay.stats.units import Floats

Way = Callable[[Floats, float], float | None]
WHY = "the characteristic function does not decay: few units carry the spread"


def tail(values: list[int], observed: float) -> float:
    """The share of the sign vectors whose sum is at least that far from 0 on one side, doubled."""
    sums = [sum(s * v for s, v in zip(flips, values, strict=True)) for flips in product((1, -1), repeat=len(values))]
    return 2 * sum(s >= observed for s in sums) / len(sums)


def unit(values: list[int], observed: float) -> tuple[Floats, float]:
    """Sorted, with a sum of squares of 1."""
    size = np.sort(np.array(values, dtype=np.float64))
    length = sqrt(float((size * size).sum()))
    return size / length, observed / length


def plain(values: list[int], observed: float) -> tuple[Floats, float]:
    return np.sort(np.array(values, dtype=np.float64)), float(observed)


# ------------------------------------------------------------------------------------------------- counting and halves

SORTED: list[Way] = [paired_tests._by_counting, paired_tests._by_halves]
VALUES = [[1, 2, 4, 8], [1, 1, 2, 3, 5, 7, 8], [3, 3, 3, 5, 5, 5, 5], [6], [2, 2], [1, 10, 10, 10, 100]]


@pytest.mark.parametrize("way", SORTED, ids=lambda way: way.__name__)
@pytest.mark.parametrize("values", VALUES, ids=str)
def test_every_sum_and_every_gap_against_enumeration(
    way: Way, values: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In whole numbers nothing is rounded: a sum that is reached counts, also without a tolerance."""
    for tie in (0.0, paired_tests._TIE):
        monkeypatch.setattr(paired_tests, "_TIE", tie)
        for doubled in range(1, 2 * sum(values) + 1):
            assert way(*plain(values, doubled / 2)) == pytest.approx(tail(values, doubled / 2), rel=1e-14)


@pytest.mark.parametrize("way", SORTED, ids=lambda way: way.__name__)
@pytest.mark.parametrize(("off", "reached"), [(-2.0, True), (0.9, True), (1.1, False), (2.0, False)])
def test_sums_within_a_billionth_of_all_differences_are_ties(way: Way, off: float, reached: bool) -> None:
    values = [1, 2, 4, 8]
    for observed in (1, 3, 9, 13):
        wanted = tail(values, observed if reached else observed + 1)
        assert way(*plain(values, observed + off * 1e-9 * 15)) == pytest.approx(wanted, rel=1e-14)


def test_counting_ends_above_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 1 + 2 + 4 + 8 as subsets up to 7: eight, whatever else is there; fewer where there are many units."""
    size, observed = plain([1, 2, 4, 8], 1)
    for most, tiny, found in ((8, 4, True), (7, 4, False), (8, 3, False), (3, 8, False)):
        monkeypatch.setattr(paired_tests, "_MOST_COUNTED", most)
        monkeypatch.setattr(paired_tests, "_ALL_TINY", tiny)
        assert paired_tests._by_counting(size, observed) == (pytest.approx(1.0) if found else None)
    monkeypatch.setattr(paired_tests, "_ALL_TINY", 3)
    assert paired_tests._by_counting(*plain([1, 2, 4, 8], 8)) is None  # four subsets, up to 3
    assert paired_tests._by_counting(*plain([1, 2, 4, 8], 10)) == tail([1, 2, 4, 8], 10)


@pytest.mark.parametrize(("values", "needed"), [([1, 2, 2, 2], 2), ([1, 1, 1, 2], 2), ([1, 2, 3, 3, 3], 3), ([5], 1)])
def test_halves_end_above_so_many_sums(values: list[int], needed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value c times has c + 1 sums; every second value is in one half, and the larger half decides."""
    monkeypatch.setattr(paired_tests, "_MOST_HALVED", needed)
    assert paired_tests._by_halves(*plain(values, 3)) == pytest.approx(tail(values, 3))
    monkeypatch.setattr(paired_tests, "_MOST_HALVED", needed - 0.01)
    assert paired_tests._by_halves(*plain(values, 3)) is None


def test_differences_that_are_equal_up_to_rounding_go_together() -> None:
    """Forty of them have 41 sums, not 2⁴⁰; those further apart have."""
    assert paired_tests._by_halves(0.1 + 1e-14 * np.arange(40.0), 1.2) == pytest.approx(
        float(Fraction(2 * sum(comb(40, k) for k in range(26, 41)), 2**40)), rel=1e-12
    )
    assert paired_tests._by_halves(0.1 + 2e-12 * np.arange(40.0), 1.2) is None


def test_all_sums_and_their_probabilities_by_hand() -> None:
    sums, mass = paired_tests._all_sums(np.array([1.0, 10.0]), np.array([2, 1]))
    assert sums.tolist() == [-12.0, 8.0, -10.0, 10.0, -8.0, 12.0]
    assert mass.tolist() == pytest.approx([0.125, 0.125, 0.25, 0.25, 0.125, 0.125], rel=1e-15)
    alone, certain = paired_tests._all_sums(np.empty(0), np.empty(0, dtype=np.int64))
    assert (alone.tolist(), certain.tolist()) == ([0.0], [1.0])


# ---------------------------------------------------------------------------------------------------------- convolution


@pytest.mark.parametrize("values", VALUES, ids=str)
def test_convolution_of_every_sum_against_enumeration(values: list[int]) -> None:
    for observed in range(sum(values), 0, -2):
        found = paired_tests._by_convolution(*unit(values, observed))
        assert found == pytest.approx(tail(values, observed), rel=1e-12)


def test_convolution_needs_a_lattice_and_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """1, 2, 4, 8 sum to 15 steps: 31 sums from −15 to 15 fit into 32 points, and there are four sizes."""
    size, observed = unit([1, 2, 4, 8], 9)
    wanted = pytest.approx(tail([1, 2, 4, 8], 9), rel=1e-12)
    assert paired_tests._by_convolution(np.array([0.1, sqrt(0.5), sqrt(0.49)]), 0.8) is None  # no lattice
    for name, room in (("_MOST_LATTICE", 32), ("_MOST_FACTORS", 128)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(paired_tests, name, room)
            assert paired_tests._by_convolution(size, observed) == wanted
            patch.setattr(paired_tests, name, room - 1)
            assert paired_tests._by_convolution(size, observed) is None


def test_a_lattice_of_so_many_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three sizes, one of them twice, and 0."""
    size, _ = unit([1, 2, 2, 5], 0)
    for most, found in ((4, True), (3, False), (2, False)):
        monkeypatch.setattr(paired_tests, "_MOST_DISTINCT", most)
        assert (paired_tests._lattice(size) is not None) == found
    monkeypatch.undo()
    lattice = paired_tests._lattice(size)
    assert lattice is not None
    assert lattice.steps.tolist() == [0, 1, 2, 2, 5]
    assert lattice.span == pytest.approx(1 / sqrt(34), rel=1e-14)


def test_a_lattice_is_not_looked_for_among_too_many_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three sizes are, one of them often; four are not."""
    asked: list[int] = []
    monkeypatch.setattr(paired_tests, "_MOST_DISTINCT", 3)
    monkeypatch.setattr(paired_tests, "find_lattice", lambda values, **_: asked.append(len(values)))
    for values in ([1, 2, 3], [1, 2, 2, 2, 2, 2], [1, 1, 1, 1, 1, 2], [1, 2, 3, 4]):
        assert paired_tests._lattice(np.array(values, dtype=np.float64)) is None
    assert asked == [4, 7, 7]


# ------------------------------------------------------------------------------------------------------------ inversion


@pytest.mark.parametrize("observed", [0.001, 0.3, 1.0, 1.6, 1.99])
def test_the_tilt_puts_the_mean_on_the_observed_sum(observed: float) -> None:
    """Its definition, and E exp(s(T − t)) = Π cosh(s·d)·exp(−st)."""
    size = np.array([0.1, 0.5, 0.5, 0.7])
    size, observed = size / sqrt(float((size**2).sum())), observed * 0.9
    s, log_scale = paired_tests._tilt(size, observed)
    assert sum(d * np.tanh(s * d) for d in size.tolist()) == pytest.approx(observed, rel=1e-10)
    direct = np.prod([cosh(s * d) for d in size.tolist()]) * exp(-s * observed)
    assert exp(log_scale) == pytest.approx(float(direct), rel=1e-10)


def literal_product(size: Floats, tilt: Floats, first: float, count: int, begun: int = 0) -> Complexes:
    """Π (cos ud + i·tanh(sd)·sin ud), one frequency and all units at a time."""
    found = [
        np.prod(np.cos(k * first * size) + 1j * tilt * np.sin(k * first * size))
        for k in range(1 + begun, 1 + begun + count)
    ]
    return np.array(found, dtype=np.complex128)


@pytest.mark.parametrize("n", [3, CHUNK, CHUNK + 5])
@pytest.mark.parametrize(("begun", "blocks"), [(0, 1), (1, 1), (3, 2)])
def test_the_product_against_one_frequency_at_a_time(n: int, begun: int, blocks: int) -> None:
    rng = np.random.default_rng(n)
    size = np.sort(rng.exponential(size=n)) / sqrt(2 * n)
    tilt = np.tanh(size)
    found = paired_tests._product(size, tilt, 0.01, begun, blocks)
    literal = literal_product(size, tilt, 0.01, BLOCK * blocks, BLOCK * begun)
    assert found.shape == (blocks, BLOCK)
    np.testing.assert_allclose(found.ravel(), literal, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("ends_at", [17, 80, 110])
def test_the_characteristic_function_is_followed_until_it_has_decayed(ends_at: int) -> None:
    """Sizes without a gap. It ends in the first block, or in one of two that are looked at together."""
    size = np.linspace(0.001, 1.0, 300)
    size /= sqrt(float((size * size).sum()))
    tilt, first = np.tanh(0.3 * size), NORMAL_END / ends_at
    psi, decayed = paired_tests._characteristic(size, tilt, first)
    assert decayed
    literal = literal_product(size, tilt, first, 400)
    ends = [k for k in range(BLOCK, 401, BLOCK) if (np.abs(literal[k - 4 : k]) < DECAYED).all()]
    assert len(psi) == ends[0] == BLOCK * -(-ends_at // BLOCK)
    np.testing.assert_allclose(psi, literal[: len(psi)], atol=1e-12)
    assert (np.abs(literal[len(psi) :]) < DECAYED).all()


def test_sizes_with_gaps_end_where_the_second_half_is_quiet() -> None:
    rng = np.random.default_rng(1)
    size = np.sort(rng.exponential(size=300)) / sqrt(600)
    tilt, first = np.tanh(0.3 * size), pi / 7.7
    assert paired_tests._last_revival(size, tilt) > 0
    psi, decayed = paired_tests._characteristic(size, tilt, first)
    literal = literal_product(size, tilt, first, 4 * len(psi))
    ends = [k for k in range(BLOCK, len(literal) + 1, BLOCK) if (np.abs(literal[k // 2 : k]) < DECAYED).all()]
    assert (len(psi), decayed) == (ends[0], True)


def test_the_characteristic_function_that_does_not_decay_is_followed_to_the_end_of_the_budget() -> None:
    """One unit: |cos u + i·0·sin u| comes back to 1; three: nearly so."""
    for size in (np.array([1.0]), np.sqrt(np.array([0.2, 0.3, 0.5]))):
        tilt = np.zeros(len(size))
        psi, decayed = paired_tests._characteristic(size, tilt, pi / 7.7)
        assert (len(psi), decayed) == (LONGEST, False)
        np.testing.assert_allclose(psi, literal_product(size, tilt, pi / 7.7, LONGEST), atol=1e-9)


def test_many_units_have_a_smaller_budget_of_whole_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    size = np.sqrt(np.array([0.2, 0.3, 0.5]))
    for work, frequencies in ((3 * 100.0, 128), (3 * 96.0, 96), (1.0, BLOCK), (WORK, LONGEST)):
        monkeypatch.setattr(paired_tests, "WORK", work)
        psi, decayed = paired_tests._characteristic(size, np.zeros(3), 0.01)
        assert (len(psi), decayed) == (frequencies, False)


def test_a_quiet_stretch_near_a_lattice_does_not_end_the_series() -> None:
    """Sizes of nearly 1: ψ is cos^n, gone at π/2 and back at π (in units of the size), weaker each time."""
    rng = np.random.default_rng(3)
    size = np.sort(1 + 0.03 * rng.normal(size=400))
    size /= sqrt(float((size * size).sum()))
    tilt, first = np.zeros(400), pi / 7.7
    psi, decayed = paired_tests._characteristic(size, tilt, first)
    literal = literal_product(size, tilt, first, 2 * len(psi))
    assert decayed
    quiet = np.flatnonzero(np.abs(literal) < DECAYED)
    loud = np.flatnonzero(np.abs(literal) > 1e-3)
    assert quiet[0] < loud[-1] < len(psi)
    assert (np.abs(literal[len(psi) // 2 :]) < DECAYED).all()
    np.testing.assert_allclose(psi, literal[: len(psi)], atol=1e-9)


def test_the_last_revival_against_the_spread_within_clumps() -> None:
    """Two clumps at ±1/√8 with weights (1 − tanh²)/2: the variance within them alone ends ψ."""
    size = np.sort(1 + 0.02 * np.arange(-4, 4)) / sqrt(8)
    tilt = np.linspace(0.1, 0.4, 8)
    weight = [(1 - t * t) / 2 for t in tilt.tolist()]
    centre = sum(w * d for w, d in zip(weight, size.tolist(), strict=True)) / sum(weight)
    within = 2 * sum(w * (d - centre) ** 2 for w, d in zip(weight, size.tolist(), strict=True))
    assert paired_tests._last_revival(size, tilt) == pytest.approx(NORMAL_END / sqrt(within), rel=1e-6)
    assert paired_tests._last_revival(np.arange(1.0, 200.0) * 0.005, np.zeros(199)) == 0  # no gap, also around 0


WIDTH = sqrt(-2 * log(1e-10)) / (LONGEST * pi / 7.7)  # of the kernel where all 16,384 frequencies are needed


def smoothed_tail(size: list[float], observed: float) -> float:
    """Both tails of the sum under a tilt s, with normal noise of this width: sums of closed forms over all 2ⁿ sums.

    ∫₀^∞ e^{−sz} φ_w(z − y) dz = exp(−sy + s²w²/2)·Φ((y − sw²)/w) for a sum that is y above the observed one.
    """
    s = optimize.brentq(lambda x: sum(d * tanh(x * d) for d in size) - observed, 0, 1e3, xtol=1e-15)
    total = 0.0
    for flips in product((1, -1), repeat=len(size)):
        y = sum(sign * d for sign, d in zip(flips, size, strict=True)) - observed
        share = exp(s * y) * 0.5 ** len(size)  # of the tilted sum, times E exp(s(T − t))
        total += share * exp(-s * y + (s * WIDTH) ** 2 / 2) * norm.cdf((y - s * WIDTH**2) / WIDTH)
    return 2 * float(total) + 0.5 ** len(size)


@pytest.mark.parametrize("flipped", [1, 2, 3, 5])
def test_where_the_series_is_cut_off_it_is_smoothed_by_a_normal_kernel(flipped: int) -> None:
    """Nine sizes that are on no lattice, all plus but a few of the smallest: the kernel reaches the sum itself."""
    size = np.sqrt(np.array([2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0]) / 100)
    observed = float(size.sum() - 2 * size[:flipped].sum())
    found = paired_tests._by_inversion(size, observed)
    assert found is not None
    assert found[1] == pytest.approx(WIDTH, rel=1e-9)
    assert found[0] == pytest.approx(smoothed_tail(size.tolist(), observed), rel=1e-7)


def test_too_much_smoothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bias of p is that of s·width: at the limit it is taken, below it is not."""
    size = np.sqrt(np.array([2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0]) / 100)
    observed = float(size.sum() - 2 * size[:3].sum())
    s = optimize.brentq(lambda x: sum(d * tanh(x * d) for d in size.tolist()) - observed, 0, 1e3, xtol=1e-15)
    for most, found in ((s * WIDTH * 1.001, True), (s * WIDTH * 0.999, False)):
        monkeypatch.setattr(paired_tests, "_MOST_SMOOTHED", most)
        assert (paired_tests._by_inversion(size, observed) is not None) == found


@pytest.mark.parametrize("values", [[1, 2, 4, 8], [3, 3, 5, 7, 9, 10], [2, 3, 3, 4, 5, 6, 6]], ids=str)
def test_the_inversion_of_every_sum_on_a_lattice_against_enumeration(values: list[int]) -> None:
    """Half-way to the sum below there is no atom; one step above 0 that is 0 itself, and there is no tilt."""
    for observed in range(sum(values), 0, -2):
        found = paired_tests._by_inversion(*unit(values, observed))
        if observed < 0.9 * sum(values):  # beyond, the tilt is so large that the kernel would be felt
            assert found is not None
        if found is not None:
            assert found[0] == pytest.approx(tail(values, observed), rel=1e-4)


# --------------------------------------------------------------------------------------------------------- random flips


@pytest.mark.parametrize("observed", [3.0, 9.0, 15.0])
def test_random_flips_against_the_drawn_signs(observed: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted one row after the other from the same signs; a sum that is just reached counts, on both sides."""
    size = np.array([1.0, 2.0, 4.0, 8.0])
    drawn = signs(stream_key(7, "sign-flip"), 0, 500, 4).tolist()
    sums = [sum(d if plus else -d for plus, d in zip(row, size.tolist(), strict=True)) for row in drawn]
    for off, shift in ((0.0, 0), (0.9e-9 * 15, 0), (1.1e-9 * 15, 1)):
        wanted = (1 + sum(abs(s) >= observed + shift for s in sums)) / 501
        assert paired_tests.by_random_flips(size, observed + off, 500, 7) == wanted
    monkeypatch.setattr(paired_tests, "_TIE", 0.0)
    assert paired_tests.by_random_flips(size, observed, 500, 7) == (1 + sum(abs(s) >= observed for s in sums)) / 501


def test_random_flips_in_batches_are_counted_once_each() -> None:
    """2²² signs at once: of 2²⁰ units four flips, and the last batch has two."""
    n = 1 << 20
    sums = [2 * int(row.sum()) - n for row in signs(stream_key(1, "sign-flip"), 0, 6, n)]
    for observed in sorted({abs(total) for total in sums}):
        wanted = (1 + sum(abs(total) >= observed for total in sums)) / 7
        assert paired_tests.by_random_flips(np.ones(n), observed - 0.5, 6, 1) == wanted


# ------------------------------------------------------------------------------------------------------ which, and what


def forced(monkeypatch: pytest.MonkeyPatch, **found: object) -> None:
    for name, value in found.items():
        monkeypatch.setattr(paired_tests, name, lambda *_, value=value: value)


@pytest.mark.parametrize(
    ("p", "kept", "reason"),
    [
        (1 + 1e-12, 1.0, None),
        (0.25, 0.25, None),
        (SMALLEST_P, SMALLEST_P, None),
        (SMALLEST_P / 2, SMALLEST_P, "p is below 1e-300"),
        (0.0, SMALLEST_P, "p is below 1e-300"),
    ],
)
def test_p_is_kept_between_its_bounds(
    p: float, kept: float, reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = Fallback("exact sign flips", "something", "a reason")
    forced(monkeypatch, _p_value=(p, (used,)))
    found, fallbacks = sign_flip(np.array([3.0, -1.0, 0.0, 4.0]), name="by name")
    assert (found.name, found.p_value, found.n, found.reason) == ("by name", kept, 4, reason)
    assert found.statistic == pytest.approx(6 / sqrt(26), rel=1e-15)
    assert fallbacks == (used,)


def test_many_differences_are_asked_of_their_moments_first(monkeypatch: pytest.MonkeyPatch) -> None:
    four = np.array([1.0, 2.0, 4.0, 8.0])
    monkeypatch.setattr(paired_tests, "MANY", 4)
    forced(monkeypatch, many_flips=(1.5, 0.375))
    assert sign_flip(four, name="x") == (Test("x", 1.5, 0.375, 4), ())
    assert sign_flip(four[:3])[0].p_value == 0.25
    forced(monkeypatch, many_flips=None)
    assert sign_flip(four)[0].p_value == 0.125


def test_no_difference_and_no_pairs_by_hand() -> None:
    assert sign_flip(np.zeros(3)) == (Test("sign-flip", 0.0, 1.0, 3, None), ())
    assert sign_flip(np.empty(0), name="x") == (Test("x", 0.0, 1.0, 0, "no pairs"), ())


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300, 2.0**1020])
def test_the_scale_of_the_differences_is_no_part_of_the_result(scale: float) -> None:
    """Their squares would be 0 or infinite."""
    found, _ = sign_flip(np.array([3.0, -1.0, 4.0, 1.0]) * scale)
    assert found.statistic == pytest.approx(7 / sqrt(27), rel=1e-12)
    assert found.p_value == tail([3, 1, 4, 1], 7)


def test_integers_are_not_cut_off() -> None:
    found, _ = sign_flip(np.array([3, -1, 4, 1]))
    assert found.statistic == pytest.approx(7 / sqrt(27), rel=1e-14)
    assert found.p_value == tail([3, 1, 4, 1], 7)


def test_the_ways_are_tried_in_their_order_and_a_stand_in_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    size, observed = unit([1, 2, 4, 8], 9)
    forced(monkeypatch, _by_counting=None, _by_convolution=None, _by_halves=0.75)
    assert paired_tests._p_value(size, observed, 0) == (0.75, ())
    forced(monkeypatch, _by_halves=None, _by_inversion=(0.5, 0.0))
    assert paired_tests._p_value(size, observed, 0) == (0.5, ())
    forced(monkeypatch, _by_inversion=(0.5, 0.0123))
    smoothed = Fallback("exact sign flips", "exact sign flips, smoothed by 0.01 standard deviations", WHY)
    assert paired_tests._p_value(size, observed, 0) == (0.5, (smoothed,))
    forced(monkeypatch, _by_inversion=None)
    p, fallbacks = paired_tests._p_value(size, observed, 3)
    assert fallbacks == (Fallback("exact sign flips", RANDOM_FLIPS, WHY),)
    assert p == paired_tests.by_random_flips(size, observed, 20_000, 3)
    assert p == pytest.approx(tail([1, 2, 4, 8], 9), abs=4 * sqrt(0.25 / 20_000))
    assert paired_tests._p_value(size, 1e-10, 3) == (1.0, ())
