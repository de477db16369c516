"""Convergence, overfitting and gradients on series whose answer is known in closed form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analyses.tune.curves import curve_of, gradients_of, overfitting_of, plateau_of, spikes_of, summary_of
from assay.data.training import StepSeries, TrainingLog

NOISE = np.random.default_rng(1).normal(size=400)


def series(values: object) -> StepSeries:
    found = np.asarray(values, dtype=np.float64)
    return StepSeries(np.arange(1.0, len(found) + 1), found)


def log_of(values: object, **more: object) -> TrainingLog:
    return TrainingLog(label="x", arm="x", kind="run", loss=series(values), **more)  # type: ignore[arg-type]


def test_an_exponential_fall_reaches_95_percent_at_three_time_constants() -> None:
    tau = 100.0
    found = summary_of(log_of(2 + np.exp(-np.arange(1500) / tau)), None, 0.95)
    assert found.steps_to_95 is not None
    # the smoothed loss lags behind by half a window
    assert 3 * tau - 5 < found.steps_to_95 < 3 * tau + found.window
    assert found.final_loss.value == pytest.approx(2, abs=1e-4)
    assert found.stability == pytest.approx(1, abs=1e-6)
    assert found.plateau.verdict == "flat"


def test_stability_is_the_sources_formula() -> None:
    values = 2 + NOISE[:300]
    assert summary_of(log_of(values), None, 0.95).stability == pytest.approx(1 / (1 + np.var(values[-50:])))


@pytest.mark.parametrize(("slope", "verdict"), [(-0.01, "still falling"), (0.01, "rising")])
def test_a_line_with_little_noise_moves(slope: float, verdict: str) -> None:
    found = plateau_of(series(5 + slope * np.arange(200) + 0.01 * NOISE[:200]), 40, 0.95)
    assert found.verdict == verdict
    assert found.change.value == pytest.approx(slope * 49, rel=0.05)


def test_noise_around_a_level_shows_no_movement_in_19_of_20_cases() -> None:
    rng = np.random.default_rng(5)
    moved = [
        plateau_of(series(3 + rng.normal(size=200)), 40, 0.95).verdict in {"rising", "still falling"}
        for _ in range(300)
    ]
    assert np.mean(moved) < 0.08


def test_overfitting_is_validation_up_and_training_down() -> None:
    loss = series(4 - 0.01 * np.arange(200) + 0.01 * NOISE[:200])
    steps = np.arange(20.0, 201, 20)
    up = StepSeries(steps, 3 + 0.00005 * (steps - 80) ** 2)
    found = overfitting_of(loss, up, 0.95)
    assert (found.verdict, found.best_step, found.first_step) == ("shown", 80, 120)
    assert found.rise == pytest.approx(0.00005 * 120**2)
    down = StepSeries(steps, 3 - 0.001 * steps)
    assert overfitting_of(loss, down, 0.95).verdict == "not shown"
    rising = series(4 + 0.01 * np.arange(200))
    assert overfitting_of(rising, up, 0.95).verdict == "not shown"  # both rise: something else is wrong
    assert overfitting_of(loss, StepSeries(steps[:2], steps[:2]), 0.95).verdict == "not measured"


@pytest.mark.parametrize("points", [3, 4, 5, 6, 7, 10, 20])
@pytest.mark.parametrize("shape", ["line", "saturating", "convex"])
def test_overfitting_that_starts_at_the_first_evaluation_is_shown(points: int, shape: str) -> None:
    """The validation loss goes from .321 to .420 and was never lower than at first; training falls all the time."""
    t = np.linspace(0, 1, points)
    risen = {"line": t, "saturating": (1 - np.exp(-3 * t)) / (1 - np.exp(-3)), "convex": t**2}[shape]
    steps = np.linspace(20, 200, points).round()
    loss = series(1.5 - 0.004 * np.arange(200) + 0.01 * NOISE[:200])
    found = overfitting_of(loss, StepSeries(steps, 0.321 + 0.099 * risen), 0.95)
    tested = found.valid_change.interval is not None
    assert (found.verdict, found.best_step) == ("shown" if tested else "seen but not tested", 20)
    assert tested or points < 7  # seven show it by an interval, whatever the curve
    assert found.rise == pytest.approx(0.099)
    assert found.valid_change.interval is None or found.valid_change.interval.low > 0
    assert found.train_change.interval is not None
    assert found.train_change.interval.high < 0


@pytest.mark.parametrize("points", [4, 8, 20])
def test_noise_of_the_validation_is_not_overfitting_coverage(points: int) -> None:
    """A level validation loss with noise of 1%, training falls: shown in at most 5%, and 2.6 errors more."""
    rng, count = np.random.default_rng(points), 300
    loss = series(1.5 - 0.004 * np.arange(200) + 0.01 * NOISE[:200])
    steps = np.linspace(20, 200, points).round()
    shown = [
        overfitting_of(loss, StepSeries(steps, 0.4 + rng.normal(0, 0.004, points)), 0.95).verdict == "shown"
        for _ in range(count)
    ]
    assert np.mean(shown) <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / count)


def test_three_rising_points_of_noise_are_described_and_not_called_shown() -> None:
    """Three values in rising order are one of six orders: no test has p below 1/6, so nothing is shown."""
    rng = np.random.default_rng(8)
    loss = series(1.5 - 0.004 * np.arange(200) + 0.01 * NOISE[:200])
    verdicts = []
    for _ in range(400):
        values = 0.4 * np.exp(rng.normal(0, 0.2, 3))
        found = overfitting_of(loss, StepSeries(np.array([60.0, 120.0, 180.0]), values), 0.95)
        rose = (np.diff(values) > 0).all() and values[2] > 1.05 * values[0]
        assert (found.verdict == "seen but not tested") == (rose and found.verdict != "shown")
        verdicts.append(found.verdict)
    assert verdicts.count("shown") <= 0.05 * 400 + 2.6 * np.sqrt(400 * 0.05 * 0.95)
    assert verdicts.count("seen but not tested") > 400 / 6 - 4 * np.sqrt(400 / 6 * 5 / 6)


# ------------------------------------------------------------------------------------------------------------ rounding

LEVELS = st.one_of(st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.0, 2.0]), st.floats(1e-6, 1e6))


@given(LEVELS, st.integers(15, 300), st.integers(0, 4), st.integers(0, 2**32 - 1))
def test_a_constant_with_noise_of_ulps_has_come_to_rest(level: float, n: int, ulps: int, seed: int) -> None:
    noise = np.random.default_rng(seed).integers(-ulps, ulps, size=n, endpoint=True)
    found = summary_of(log_of(level + noise * np.spacing(level)), None, 0.95)
    assert found.plateau.verdict == "flat"
    assert (found.plateau.change.value, found.plateau.tolerance) == (0.0, 0.0)
    assert found.steps_to_95 is None
    assert found.convergence_step == 1
    assert found.final_loss.value == pytest.approx(level, rel=1e-15 * (ulps + 1))
    assert found.final_loss.standard_error == 0


@given(LEVELS, st.integers(3, 60), st.integers(0, 4), st.booleans(), st.integers(0, 2**32 - 1))
def test_a_constant_validation_with_noise_of_ulps_is_not_overfitting(
    level: float, n: int, ulps: int, drifts: bool, seed: int
) -> None:
    """Also where every ulp goes the same way."""
    noise = np.arange(n) if drifts else np.random.default_rng(seed).integers(-ulps, ulps, size=n, endpoint=True)
    loss = series(4 - 0.01 * np.arange(200) + 0.01 * NOISE[:200])
    steps = np.linspace(3, 200, n).round()
    found = overfitting_of(loss, StepSeries(steps, level + noise * np.spacing(level)), 0.95)
    assert found.verdict == "not shown"
    assert (found.rise, found.best_step, found.valid_change.value) == (0.0, 3, 0.0)


def test_a_loss_that_falls_and_then_differs_by_rounding_is_flat() -> None:
    values = np.concatenate([np.linspace(2, 0.3, 100), 0.3 + np.arange(100) * np.spacing(0.3)])
    assert summary_of(log_of(values), None, 0.95).plateau.verdict == "flat"
    loss = series(4 - 0.01 * np.arange(200) + 0.01 * NOISE[:200])
    found = overfitting_of(loss, StepSeries(np.arange(1.0, 201.0), values), 0.95)
    assert (found.verdict, found.rise) == ("not shown", 0.0)


def test_the_band_of_a_constant_loss_has_no_width() -> None:
    found = curve_of([series(np.full(100, 0.7))], 0.95, smooth=True)
    assert found is not None
    assert found.low == found.values == found.high == (0.7,) * len(found.values)


# -------------------------------------------------------------------------------------------------------------- spikes


def test_spikes_are_found_where_they_were_put() -> None:
    norms = 1 + 0.05 * NOISE[:300]
    norms[[60, 200]] = 5.0
    assert spikes_of(series(norms)) == [61, 201]


def test_gradients_against_numpy() -> None:
    norms = 1 + 0.05 * NOISE[:300]
    found = gradients_of(series(norms))
    assert found.verdict == "stable"
    assert (found.mean, found.variance) == pytest.approx((norms.mean(), norms.var()))
    norms[100] = np.nan
    assert gradients_of(series(norms)).why.startswith("the norm at step 101 is not finite")
    assert gradients_of(series(norms[:5])).verdict == "not measured"


def test_a_loss_that_is_no_number_is_a_divergence_at_its_step() -> None:
    found = summary_of(log_of([3.0, 2.5, 2.4, float("nan"), 2.0]), None, 0.95)
    assert found.diverged_at == 4
    assert found.final_loss.reason == "diverged at step 4"
    assert found.plateau.verdict == "not measured"


def test_curves_of_seeds_have_students_band() -> None:
    runs = [series(np.full(40, value)) for value in (1.0, 2.0, 3.0)]
    found = curve_of(runs, 0.95, smooth=True)
    assert found is not None
    assert (found.values[0], found.high[0]) == pytest.approx((2.0, 2 + 4.302653 / np.sqrt(3)), abs=1e-5)
    assert curve_of([series([])], 0.95, smooth=True) is None


def test_spikes_against_a_slow_twin() -> None:
    """Place by place, as the page says it."""
    norms = np.exp(np.random.default_rng(3).standard_t(2, size=400))
    wanted = []
    for place in range(8, 400):
        past = norms[max(0, place - 50) : place]
        middle = np.median(past)
        spread = 1.4826 * np.median(np.abs(past - middle))
        if norms[place] > middle + 6 * spread and norms[place] > 2 * middle:
            wanted.append(place + 1)
    assert spikes_of(series(norms)) == wanted
    assert len(wanted) > 3
    assert spikes_of(series(norms[:8])) == []
