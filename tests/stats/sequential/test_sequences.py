"""Confidence sequences, against the package ville, the paper's formula and simulation."""

from math import log, sqrt

import numpy as np
import pytest
from ville import AsymptoticCS
from ville._boundaries import best_rho, normal_mixture

from assay.errors import UsageError
from assay.stats.sequential.looks import look_at
from assay.stats.sequential.sequences import ConfidenceSequence
from assay.stats.units import Units


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("units", [20, 300, 50_000])
def test_reach_against_ville(level: float, units: int) -> None:
    sequence = ConfidenceSequence(level, narrowest=400)
    assert sequence.mixture == pytest.approx(best_rho(400, 1 - level), rel=1e-3)
    boundary = float(normal_mixture(units, 1 - level, best_rho(400, 1 - level)))
    assert sequence.reach(units) == pytest.approx(boundary / sqrt(units), rel=1e-6)


def test_reach_against_the_papers_formula() -> None:
    """Theorem 2.2: σ̂√(2(tρ² + 1)/(t²ρ²)·log(√(tρ² + 1)/α)), with ρ² = 1/r."""
    sequence = ConfidenceSequence()
    t, rho2 = 137.0, 1 / sequence.mixture
    radius = sqrt(2 * (t * rho2 + 1) / (t * t * rho2) * log(sqrt(t * rho2 + 1) / 0.05))
    assert sequence.reach(t) / sqrt(t) == pytest.approx(radius, rel=1e-12)


def test_interval_of_many_units_against_ville() -> None:
    values = np.random.default_rng(2).normal(0.3, 1.0, 20_000)
    theirs = AsymptoticCS(alpha=0.05, t_opt=500)
    theirs.update(values)
    low, high = ConfidenceSequence().limits(look_at(Units(values, np.ones(len(values)))))  # type: ignore[misc]
    assert low == pytest.approx(float(np.ravel(theirs.lower_)[-1]), abs=2e-4)
    assert high == pytest.approx(float(np.ravel(theirs.upper_)[-1]), abs=2e-4)


def test_coverage_at_all_times_by_simulation() -> None:
    """Skewed values, looked at 16 times from 20 units on: the truth is left out at any of them in at most 5 %."""
    rng, sequence, runs, missed = np.random.default_rng(4), ConfidenceSequence(), 100, 0
    places = np.unique(np.geomspace(20, 2000, 16).astype(int))
    for _ in range(runs):
        values = rng.exponential(1.0, 2000)
        for n in places:
            limits = sequence.limits(look_at(Units(values[:n], np.ones(n))))
            assert limits is not None
            if not limits[0] <= 1 <= limits[1]:
                missed += 1
                break
    assert missed / runs <= 0.05 + 3 * sqrt(0.05 * 0.95 / runs)


def test_no_interval_before_there_are_enough_units() -> None:
    values = np.arange(19.0)
    assert ConfidenceSequence().limits(look_at(Units(values, np.ones(19)))) is None
    assert ConfidenceSequence().limits(look_at(Units(np.zeros(500), np.ones(500)))) is None  # nothing differs


def test_units_until_the_interval_is_that_narrow() -> None:
    rng = np.random.default_rng(6)
    values = rng.normal(0.1, 1.0, 200)
    seen, sequence = look_at(Units(values, np.ones(200))), ConfidenceSequence()
    wanted = sequence.units_until(seen, 0.1)
    assert wanted is not None
    assert seen.moments is not None
    spread = seen.moments.error * sqrt(200)
    assert sequence.reach(wanted) * spread / sqrt(wanted) == pytest.approx(0.1, rel=1e-9)
    assert sequence.units_until(seen, 0.0) is None
    assert sequence.units_until(seen, 100.0) == 200  # it is that narrow already


def test_a_part_of_a_fixed_set_is_done_when_all_is_there() -> None:
    values = np.random.default_rng(7).normal(0.0, 1.0, 400)
    every = look_at(Units(values, np.ones(400)))
    assert ConfidenceSequence(population=400).limits(every) == (every.estimate, every.estimate)
    part = look_at(Units(values[:300], np.ones(300)))
    narrow, wide = ConfidenceSequence(population=400).limits(part), ConfidenceSequence().limits(part)
    assert narrow is not None
    assert wide is not None
    assert narrow[1] - narrow[0] < 0.75 * (wide[1] - wide[0])
    assert ConfidenceSequence(population=400).units_until(part, 1e-6) == pytest.approx(400, rel=1e-3)


def test_coverage_in_a_fixed_set_by_simulation() -> None:
    """The truth is the mean of the 300 values themselves, drawn in random order."""
    rng, sequence, runs, missed = np.random.default_rng(9), ConfidenceSequence(population=300), 150, 0
    values = rng.exponential(1.0, 300)
    for _ in range(runs):
        order = rng.permutation(values)
        for n in (20, 40, 80, 120, 160, 200, 240, 280, 299):
            limits = sequence.limits(look_at(Units(order[:n], np.ones(n))))
            assert limits is not None
            if not limits[0] <= values.mean() <= limits[1]:
                missed += 1
                break
    assert missed / runs <= 0.05 + 3 * sqrt(0.05 * 0.95 / runs)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(UsageError, match="level"):
        ConfidenceSequence(1.0)
    with pytest.raises(UsageError, match="narrowest"):
        ConfidenceSequence(narrowest=0)
