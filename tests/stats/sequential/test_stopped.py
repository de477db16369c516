"""What holds after stopping: against scipy's multivariate normal distribution and simulation."""

from math import sqrt

import numpy as np
import pytest

from assay.stats.bootstrap.t_hall import Moments
from assay.stats.sequential.boundaries import Bounds, bounds
from assay.stats.sequential.looks import Seen, look_at
from assay.stats.sequential.stopped import after_stopping
from assay.stats.units import Units
from tests.stats.normal_paths import within

FRACTIONS = [0.3, 0.6, 1.0]


def normal_look(estimate: float, error: float) -> Seen:
    """A look whose standard error is known: Student's t with as good as endless degrees of freedom, no skewness."""
    return Seen(estimate, Moments(estimate, error, 0.0, 1e12, 1e12), 1000.0, 1000)


def path_to(found: Bounds, look: int, last: Seen) -> list[Seen]:
    """Looks on the way to the last one, with the same variance; only their errors matter."""
    assert last.moments is not None
    errors = last.moments.error * np.sqrt(found.fractions[look] / found.fractions)
    return [*(normal_look(0.1, float(errors[k])) for k in range(look)), last]


def literal_p(found: Bounds, look: int, z: float, drift: float) -> float:
    """P(as high an outcome), term by term: left above at an earlier look, or here with a larger Z."""
    total = 0.0
    for k in range(look + 1):
        least = found.upper[k] if k < look else z
        low, high = np.append(-found.upper[:k], least), np.append(found.upper[:k], 40.0)
        total += within(low, high, found.fractions[: k + 1], drift)
    return total


@pytest.mark.parametrize(("look", "z"), [(0, 5.5), (1, 2.9), (2, 1.0), (2, 2.6), (2, -2.2)])
def test_p_interval_and_estimate_against_scipy(look: int, z: float) -> None:
    found, error, limit = bounds(FRACTIONS), 0.04, 0.1
    seen = normal_look(limit + z * error, error)
    stopped = after_stopping(found, path_to(found, look, seen), limit)
    scale = error * sqrt(FRACTIONS[look])

    def p(value: float) -> float:
        return literal_p(found, look, z, (value - limit) / scale)

    assert stopped.p_above == pytest.approx(p(limit), abs=5e-6)
    assert stopped.p_below == pytest.approx(1 - p(limit), abs=5e-6)
    found_at = [p(value) for value in (stopped.low, stopped.estimate, stopped.high)]
    assert found_at == pytest.approx([0.025, 0.5, 0.975], abs=5e-6)


def test_first_look_keeps_its_own_interval() -> None:
    rng = np.random.default_rng(3)
    seen = look_at(Units(rng.exponential(0.01, 25), np.ones(25)))
    stopped = after_stopping(bounds(FRACTIONS), [seen], 0.1)
    assert (stopped.low, stopped.high) == pytest.approx(seen.limits(0.025), abs=1e-9)


@pytest.mark.parametrize("look", [0, 1, 2])
def test_interval_leaves_out_the_limit_exactly_where_a_bound_is_reached(look: int) -> None:
    found = bounds(FRACTIONS)
    for beyond in (1e-4, -1e-4):
        if beyond < 0 and look < 2:
            continue  # it would not have been the last look
        z = float(found.upper[look]) + beyond
        up = after_stopping(found, path_to(found, look, normal_look(0.1 + z * 0.04, 0.04)), 0.1)
        down = after_stopping(found, path_to(found, look, normal_look(0.1 - z * 0.04, 0.04)), 0.1)
        assert (up.low > 0.1) is (beyond > 0)
        assert (down.high < 0.1) is (beyond > 0)
        assert up.low - 0.1 == pytest.approx(0.1 - down.high, abs=1e-9)  # mirrored
        assert up.estimate - 0.1 == pytest.approx(0.1 - down.estimate, abs=1e-9)


def test_coverage_and_median_after_stopping_by_simulation() -> None:
    """Normal data with a known error: the interval covers in 95 %, the estimate is too large in 50 %."""
    found, rng, truth, runs = bounds(FRACTIONS), np.random.default_rng(8), 0.06, 200
    errors = 0.03 / np.sqrt(FRACTIONS)
    steps = np.diff(FRACTIONS, prepend=0.0)
    covered = above = 0
    for _ in range(runs):
        path = np.cumsum(rng.normal(truth * steps, 0.03 * np.sqrt(steps))) / FRACTIONS
        z = path / errors
        look = int(np.argmax(np.abs(z) >= found.upper)) if (np.abs(z) >= found.upper).any() else 2
        looks = [normal_look(float(path[k]), float(errors[k])) for k in range(look + 1)]
        stopped = after_stopping(found, looks, 0.0)
        covered += stopped.low <= truth <= stopped.high
        above += stopped.estimate > truth
    assert covered / runs == pytest.approx(0.95, abs=4 * sqrt(0.95 * 0.05 / runs))
    assert above / runs == pytest.approx(0.5, abs=4 * sqrt(0.25 / runs))


def test_units_that_all_agree_have_one_value() -> None:
    seen = look_at(Units(np.zeros(25), np.ones(25)))
    stopped = after_stopping(bounds(FRACTIONS), [seen], 0.1)
    assert (stopped.estimate, stopped.low, stopped.high, stopped.p_below) == (0, 0, 0, 0)
