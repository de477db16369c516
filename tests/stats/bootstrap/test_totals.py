"""Intervals and paired tests of corpus scores against sacrebleu's, the bootstrap of ratios, and enumeration."""

import csv
from itertools import product
from typing import Any

import numpy as np
import pytest

from assay import examples
from assay.stats.bootstrap import interval
from assay.stats.bootstrap.resampling import resampled_sums
from assay.stats.bootstrap.totals import paired_bootstrap, randomization, replicated_sums, score_interval
from assay.stats.text import bleu_counts, bleu_of
from assay.stats.units import Floats, Units, standard_error

RNG = np.random.default_rng(7)


def shipped() -> dict[str, tuple[list[str], list[str]]]:
    """The predictions and references of both systems of the example file."""
    with examples.path("generations.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        name: tuple([row[key] for row in rows if row["model"] == name] for key in ("prediction", "reference"))  # type: ignore[misc]
        for name in ("base", "int3")
    }


def by_characters(pair: tuple[list[str], list[str]]) -> Floats:
    texts = zip(*pair, strict=True)
    return np.array([bleu_counts("".join(a.split()), "".join(b.split())) for a, b in texts], dtype=np.float64)


def by_sacrebleu(named: list[tuple[str, list[str]]], wanted: list[str], kind: str, trials: int) -> Any:
    """What its paired test finds of the second system."""
    pytest.importorskip("sacrebleu", reason="the extra ja is not installed")
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    paired: Any = PairedTest
    return paired(named, {"b": BLEU(tokenize="char")}, [wanted], test_type=kind, n_samples=trials)()[1]["BLEU"][1]


def of_ratio(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])


@pytest.fixture(scope="module")
def counts() -> tuple[Floats, Floats]:
    systems = shipped()
    return by_characters(systems["base"]), by_characters(systems["int3"])


def test_paired_tests_against_sacrebleu(counts: tuple[Floats, Floats]) -> None:
    """Its own resamples, drawn again from its seed: the same scores, mean, half-width and p."""
    systems, trials = shipped(), 500
    wanted = systems["base"][1]
    named = [(name, pair[0]) for name, pair in systems.items()]
    theirs = by_sacrebleu(named, wanted, "bs", trials)
    drawn = np.random.default_rng(12345).choice(len(wanted), size=(trials, len(wanted)), replace=True)
    a, b = (bleu_of(part[drawn].sum(axis=1)) for part in counts)
    assert bleu_of(counts[1].sum(axis=0)) == pytest.approx(theirs.score, abs=1e-9)
    assert b.mean() == pytest.approx(theirs.mean, abs=1e-4)  # its sums are single precision
    stray = np.abs(b - a) - np.abs(b - a).mean()
    observed = abs(float(bleu_of(counts[1].sum(axis=0)) - bleu_of(counts[0].sum(axis=0))))
    assert (1 + (stray > observed).sum()) / (1 + trials) == pytest.approx(theirs.p_value)


def test_replicates_against_those_of_sacrebleu(counts: tuple[Floats, Floats]) -> None:
    """Other random numbers, the same distribution: 20,000 of each differ by what is left of the noise."""
    ours = bleu_of(replicated_sums(counts, 20_000, seed=3)[1])
    drawn = np.random.default_rng(12345).choice(len(counts[1]), size=(20_000, len(counts[1])))
    theirs = bleu_of(counts[1][drawn].sum(axis=1))
    assert ours.mean() == pytest.approx(theirs.mean(), abs=5 * theirs.std() / 100)
    assert ours.std() == pytest.approx(theirs.std(), rel=0.03)


def test_randomization_against_sacrebleu() -> None:
    """Of two systems that take turns to be the better one, so that p is neither small nor large."""
    systems = shipped()
    (base, wanted), (worse, _) = systems["base"], systems["int3"]
    turns = [(a, b) if i % 3 else (b, a) for i, (a, b) in enumerate(zip(base, worse, strict=True))]
    first, mixed = ([turn[side] for turn in turns] for side in (0, 1))
    named = [("first", first), ("mixed", mixed)]
    p = by_sacrebleu(named, wanted, "ar", 4000).p_value
    a, b = by_characters((first, wanted)), by_characters((mixed, wanted))
    test = randomization(a, b, [bleu_of], resamples=20_000)[0]
    assert test.p_value == pytest.approx(p, abs=5 * (p * (1 - p) / 4000) ** 0.5)
    assert 0.01 < p < 0.9
    assert test.statistic == pytest.approx(float(bleu_of(b.sum(axis=0)) - bleu_of(a.sum(axis=0))))


@pytest.mark.parametrize("method", ["bca", "bca-plain", "percentile"])
def test_intervals_of_a_ratio_against_the_bootstrap_of_ratios(method: str) -> None:
    columns = np.column_stack([RNG.normal(3, 1, 40), RNG.integers(2, 9, 40)]).astype(np.float64)
    units = Units(columns[:, 0], columns[:, 1])
    expected = interval(units, method=method, resamples=2000, seed=5).interval  # type: ignore[arg-type]
    drawn = of_ratio(resampled_sums(columns, None, 2000, 5))
    found = score_interval([columns], of_ratio, drawn, method=method).estimate  # type: ignore[arg-type]
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert found.interval.method == method


def test_t_interval_of_a_mean_against_the_closed_form() -> None:
    columns = np.column_stack([RNG.exponential(size=30), np.ones(30)])
    units = Units(columns[:, 0], columns[:, 1])
    expected = interval(units, method="t").interval
    found = score_interval([columns], of_ratio, np.zeros(10), method="t").estimate
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert found.standard_error == pytest.approx(standard_error(units), rel=1e-9)


def test_randomization_against_enumeration() -> None:
    a, b = (RNG.integers(0, 9, (7, 2)).astype(np.float64) + np.array([0.0, 5.0]) for _ in range(2))

    def shift(swapped: tuple[int, ...]) -> float:
        mask = np.array(swapped, dtype=bool)[:, None]
        first, second = np.where(mask, b, a), np.where(mask, a, b)
        return float(of_ratio(second.sum(axis=0)) - of_ratio(first.sum(axis=0)))

    shifts = [abs(shift(swapped)) for swapped in product((0, 1), repeat=7)]
    expected = np.mean([value >= shifts[0] - 1e-12 for value in shifts])
    assert randomization(a, b, [of_ratio])[0].p_value == pytest.approx(expected)


def test_swaps_that_tie_with_the_observed_difference_count() -> None:
    """Two sentences that differ have four swaps, of which none and both reach the difference: p = 1/2."""
    a = np.array([[1.0, 9.0]] * 6)
    b = a.copy()
    b[:2, 0] += 1
    assert randomization(a, b, [of_ratio])[0].p_value == 0.5


def test_random_swaps_approach_the_enumeration() -> None:
    a, b = (RNG.integers(0, 9, (10, 2)).astype(np.float64) + np.array([0.0, 5.0]) for _ in range(2))
    exact = randomization(a, b, [of_ratio], resamples=1024)[0].p_value
    drawn = randomization(a, b, [of_ratio], resamples=1023, seed=4)[0].p_value
    assert exact is not None
    assert drawn == pytest.approx(exact, abs=5 * (exact * (1 - exact) / 1023) ** 0.5 + 1e-3)


def test_p_is_never_0_and_1_for_the_same_system() -> None:
    a = RNG.integers(1, 9, (30, 2)).astype(np.float64)
    far = a * [[10.0, 1.0]]
    assert randomization(a, a, [of_ratio], resamples=200)[0].p_value == 1
    assert paired_bootstrap(0.0, np.zeros(99), 30).p_value == 1
    assert randomization(a, far, [of_ratio], resamples=200)[0].p_value == pytest.approx(1 / 201)
    assert paired_bootstrap(5.0, np.full(99, 5.0), 30).p_value == pytest.approx(1 / 100)


def test_bootstrap_p_against_the_normal_distribution() -> None:
    """The mean of many normal differences: p is that of the z test."""
    from scipy.stats import norm

    values = RNG.normal(0.1, 1, 2000)
    columns = np.column_stack([values, np.ones(2000)])
    drawn = of_ratio(resampled_sums(columns, None, 10_000, 1))
    p = paired_bootstrap(float(values.mean()), drawn, 2000).p_value
    z = abs(values.mean()) / (values.std() / 2000**0.5)
    assert p == pytest.approx(2 * norm.sf(z), abs=0.004)


def test_what_has_no_score_has_no_interval_and_no_p() -> None:
    def none(sums: Floats) -> Floats:
        return np.full(sums.shape[:-1], np.nan)

    columns = np.ones((5, 2))
    assert score_interval([columns], none, np.full(9, np.nan)).estimate.value is None
    assert paired_bootstrap(np.nan, np.zeros(3), 5).p_value is None
    assert randomization(columns, columns, [none])[0].p_value is None
    few = score_interval([columns[:2]], of_ratio, np.ones(9)).estimate
    assert (few.value, few.interval) == (1.0, None)
    flat = score_interval([columns], of_ratio, np.ones(9))
    assert flat.estimate.interval is not None
    assert (flat.estimate.interval.method, flat.fallbacks[0].used) == ("degenerate", "collapsed interval")


def test_resamples_without_a_score_leave_no_interval() -> None:
    columns = np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])

    def defined(sums: Floats) -> Floats:
        return np.where(sums[..., 1] > 0, 1.0, np.nan)

    found = score_interval([columns], defined, defined(resampled_sums(columns, None, 500, 0)))
    assert found.estimate.interval is None
    assert "too few sentences" in (found.estimate.reason or "")


def test_what_cannot_be_studentized_or_accelerated_falls_back_and_says_so() -> None:
    columns = np.column_stack([RNG.normal(3, 1, 40), np.ones(40)])
    drawn = of_ratio(resampled_sums(columns, None, 999, 0))
    found = score_interval([columns], of_ratio, drawn, method="studentized")
    assert [(f.wanted, f.used) for f in found.fallbacks] == [("studentized", "bca")]
    outside = score_interval([columns], of_ratio, drawn + 100)  # the estimate is below all replicates
    assert [(f.wanted, f.used) for f in outside.fallbacks] == [("bca", "percentile")]
    assert outside.estimate.interval is not None
    assert outside.estimate.interval.low == pytest.approx(np.quantile(drawn + 100, 0.025))


def test_t_hall_of_a_mean_is_that_of_its_units() -> None:
    """The jackknife of a mean is linear, so the totals must give what the units themselves do."""
    columns = np.column_stack([np.random.default_rng(4).exponential(size=30), np.ones(30)])
    found = score_interval([columns], of_ratio, of_ratio(resampled_sums(columns, None, 200, 0)), method="t-hall")
    alone = interval(Units(columns[:, 0], columns[:, 1]), method="t-hall", own_p=True)
    assert found.estimate.interval is not None
    assert found.estimate.interval.method == "t-hall"
    limits = found.estimate.interval.low, found.estimate.interval.high
    assert limits == pytest.approx((alone.interval.low, alone.interval.high))
    assert found.own_p == pytest.approx(alone.own_p)
