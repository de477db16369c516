"""An interval's own p-value, against the level at which the interval itself, computed anew, begins to leave out 0."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.errors import UsageError
from assay.stats.bootstrap import interval
from assay.stats.numerics import two_sided
from assay.stats.paired_tests import sign_flip
from assay.stats.records import IntervalName
from assay.stats.units import Units

Floats = NDArray[np.float64]
RNG = np.random.default_rng(11)
TOKENS = RNG.lognormal(0, 0.4, 30)

DATA: dict[str, Units] = {
    "normal": Units(RNG.normal(0.3, 1, 30), np.ones(30)),
    "negative": Units(RNG.normal(-0.25, 1, 30), np.ones(30)),
    "exponential": Units(RNG.exponential(1, 30) - 0.7, np.ones(30)),
    "ratio": Units(RNG.normal(0.2, 1, 30) * TOKENS, TOKENS),
    "lattice": Units(RNG.choice([-1.0, 0, 1], 40, p=[0.15, 0.5, 0.35]), np.ones(40)),
    "enumerated": Units(np.array([0.3, -0.2, 0.9, 0.4, 1.1, -0.3, 0.2]), np.ones(7)),
    "zeros": Units(np.where(RNG.random(60) < 0.2, RNG.lognormal(0, 1, 60), 0) - 0.05, np.ones(60)),
}


def by_bisection(units: Units, method: IntervalName, resamples: int | None) -> float:
    low, high = 1e-6, 1 - 1e-9
    for _ in range(34):
        alpha = (low * high) ** 0.5 if low < 1e-3 else (low + high) / 2
        found = interval(units, method=method, confidence_level=1 - alpha, resamples=resamples).interval
        if found.low <= 0 <= found.high:
            low = alpha
        else:
            high = alpha
    return high


@pytest.mark.parametrize("method", ["bca", "bca-plain", "percentile", "t"])
@pytest.mark.parametrize("name", DATA)
def test_exact_intervals_against_bisection_of_the_level(name: str, method: Any) -> None:
    own = interval(DATA[name], method=method, own_p=True).own_p
    assert own == pytest.approx(by_bisection(DATA[name], method, None), rel=2e-5)


@pytest.mark.parametrize("method", ["bca", "percentile", "studentized"])
@pytest.mark.parametrize("name", ["normal", "negative", "lattice", "ratio"])
def test_random_intervals_against_bisection_of_the_level(name: str, method: Any) -> None:
    own = interval(DATA[name], method=method, own_p=True, resamples=500).own_p
    assert own == pytest.approx(by_bisection(DATA[name], method, 500), rel=2e-3, abs=1e-5)


def test_t_is_students_test_against_its_closed_form() -> None:
    units = DATA["normal"]
    statistic = units.numerators.mean() / (units.numerators.std(ddof=1) / np.sqrt(30))
    assert interval(units, method="t").own_p == pytest.approx(float(two_sided(statistic, 29)[0]), rel=1e-12)


@pytest.mark.parametrize("shift", [0.45, 0.8, 1.5])
def test_beyond_what_the_distribution_resolves_it_stays_near_the_exact_test(shift: float) -> None:
    """180 normal differences, p from 1e-9 to 1e-50: of the same order as that of sign flips."""
    values = RNG.normal(size=180)
    values = (values - values.mean()) / values.std() + shift
    own = interval(Units(values, np.ones(180)), own_p=True).own_p
    flips = sign_flip(values)[0].p_value
    assert own is not None
    assert flips is not None
    assert np.log(own) == pytest.approx(np.log(flips), rel=0.3)


def test_the_saddlepoint_joins_the_distribution_without_a_step() -> None:
    values = RNG.normal(size=100)
    values = (values - values.mean()) / values.std(ddof=1)
    logs = [
        np.log(interval(Units(values + s, np.ones(100)), own_p=True).own_p or 0) for s in np.arange(0.5, 0.6, 0.002)
    ]
    steps = np.diff(logs)
    assert (steps < 0).all()
    assert np.abs(np.diff(steps)).max() < 0.05


@pytest.mark.parametrize("values", [[1.0, 2, 3, 4, 5, 6, 7, 8, 9, 10], [-1.0, -2, -3, -4, -5.5]])
def test_where_all_are_on_one_side_the_interval_never_reaches_0(values: list[float]) -> None:
    assert interval(Units(np.array(values), np.ones(len(values))), own_p=True).own_p == 0


def test_many_zeros_and_no_loss_reach_0_only_in_resamples_of_zeros() -> None:
    values = np.append(np.zeros(50), np.ones(50) + np.arange(50) / 97)
    own = interval(Units(values, np.ones(100)), own_p=True, method="percentile").own_p
    assert own == pytest.approx(2 * 0.5**100, rel=1e-6)
    far = np.append(np.zeros(10), np.ones(1990) + np.arange(1990) / 4001)  # 0.005 to the power of 2,000
    assert (interval(Units(far, np.ones(2000)), own_p=True).own_p or 0) < 1e-100  # through Student's t of 1,999


def test_an_estimate_of_0_has_p_1_and_a_collapsed_interval_none_to_raise() -> None:
    assert interval(Units(np.array([1.0, -1.0, 2.0, -2.0]), np.ones(4)), own_p=True).own_p == 1
    assert interval(Units(np.ones(4), np.ones(4)), own_p=True).own_p == 0
    assert interval(Units(np.zeros(4), np.ones(4)), own_p=True).own_p == 1


def test_tango_is_not_an_interval_of_any_units() -> None:
    with pytest.raises(UsageError, match="tango is an interval of 0/1 scores"):
        interval(DATA["normal"], method="tango")


@pytest.mark.parametrize(("seed", "centre"), [(5, 0.05), (61, 0.1), (106, 0.02)])
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_where_0_is_many_errors_away_the_own_p_is_that_of_an_interval_without_it(
    seed: int, centre: float, method: IntervalName
) -> None:
    """Mostly equal differences of unequal length: so far out the expansion in the tokens diverges (p was 1)."""
    rng = np.random.default_rng(seed)
    tokens = np.exp(0.3 * rng.standard_normal(180))
    differences = centre + 0.1 * np.where(rng.random(180) < 0.1, rng.standard_normal(180), 0.0)
    found = interval(Units(differences * tokens, tokens), method=method, confidence_level=0.999, own_p=True)
    assert found.interval.low > 0
    assert found.own_p is not None
    assert found.own_p < 0.001
