"""Intraclass correlations and variance components. Oracles: pingouin, the table of Shrout and Fleiss (1979) with the
limits that R's psych prints for it, statsmodels' analysis of variance, scipy's χ², literal formulas, simulation."""

import warnings
from itertools import product
from math import sqrt

import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats as scipy_stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from assay.stats.records import Estimate
from assay.stats.reliability import (
    ICC_NAMES,
    TwoWay,
    deviation,
    intraclass,
    mean_squares,
    run_effect,
    variance_components,
    variance_limits,
)
from assay.stats.units import Floats
from benchmarks.simulation.repeated import RUNS, Runs

#: Six subjects, four judges (Shrout and Fleiss 1979, table 2).
JUDGES = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=np.float64
)


def runs(n: int, k: int, seed: int, *, shift: float = 0.0) -> Floats:
    rng = np.random.default_rng([n, k, seed])
    return np.asarray(rng.normal(size=(n, 1)) + shift * rng.normal(size=k) + rng.normal(size=(n, k)))


def limits(found: Estimate) -> tuple[float, float]:
    assert found.interval is not None
    return found.interval.low, found.interval.high


def pingouins(values: Floats, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Its table, unrounded; ICC(A,·) there is ICC(2,·) here, and ICC(C,·) is ICC(3,·)."""
    monkeypatch.setitem(pingouin.options, "round.column.CI95", None)
    rows = [(i, j, values[i, j]) for i, j in product(*map(range, values.shape))]
    frame = pd.DataFrame(rows, columns=["target", "rater", "score"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it uses what its pandas calls deprecated
        return pingouin.intraclass_corr(frame, targets="target", raters="rater", ratings="score")


@pytest.mark.parametrize(
    ("n", "k", "shift"), [(5, 2, 0.0), (6, 4, 0.5), (20, 3, 0.0), (30, 5, 2.0), (12, 9, 0.1), (3, 6, 0.0)]
)
def test_intraclass_against_pingouin(n: int, k: int, shift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(3):
        values = runs(n, k, seed, shift=shift)
        theirs = pingouins(values, monkeypatch)
        ours = intraclass(values)
        assert [ours[name].value for name in ICC_NAMES] == pytest.approx(theirs["ICC"].tolist(), rel=1e-10, abs=1e-10)
        low_and_high = [limits(ours[name]) for name in ICC_NAMES if ours[name].interval]
        expected = [tuple(pair) for pair, name in zip(theirs["CI95"], ICC_NAMES, strict=True) if ours[name].interval]
        np.testing.assert_allclose(low_and_high, expected, rtol=1e-9, atol=1e-10)


def test_intraclass_against_shrout_and_fleiss() -> None:
    found = intraclass(JUDGES)
    published = {
        "ICC(1,1)": 0.17,
        "ICC(2,1)": 0.29,
        "ICC(3,1)": 0.71,
        "ICC(1,k)": 0.44,
        "ICC(2,k)": 0.62,
        "ICC(3,k)": 0.91,
    }
    assert {name: round(estimate.value or 0, 2) for name, estimate in found.items()} == published


def test_limits_against_the_manual_of_psych() -> None:
    printed = [(-0.133, 0.72), (0.019, 0.76), (0.342, 0.95), (-0.884, 0.91), (0.071, 0.93), (0.676, 0.99)]
    found = intraclass(JUDGES)
    for name, (low, high) in zip(ICC_NAMES, printed, strict=True):
        assert limits(found[name])[0] == pytest.approx(low, abs=6e-4)
        assert limits(found[name])[1] == pytest.approx(high, abs=6e-3)
        assert found[name].n == 6


@given(
    st.integers(2, 8),
    st.integers(2, 5),
    st.integers(0, 99),
    st.floats(-1e3, 1e3),
    st.floats(0.01, 100) | st.floats(-100, -0.01),
)
def test_intraclass_does_not_see_shift_and_scale(n: int, k: int, seed: int, shift: float, scale: float) -> None:
    values = runs(n, k, seed)
    before, after = intraclass(values), intraclass(shift + scale * values)
    for name in ICC_NAMES:
        assert (before[name].interval is None) == (after[name].interval is None)
        if before[name].value is not None:
            assert after[name].value == pytest.approx(before[name].value, rel=1e-5, abs=1e-7)


@given(st.integers(2, 8), st.integers(2, 5), st.integers(0, 99))
def test_intraclass_does_not_see_the_order_of_items_and_runs(n: int, k: int, seed: int) -> None:
    values, rng = runs(n, k, seed), np.random.default_rng(seed)
    rows, columns = rng.permutation(n), rng.permutation(k)
    before, after = intraclass(values), intraclass(values[rows][:, columns])
    for name in ICC_NAMES:
        assert (after[name].value is None) == (before[name].value is None)
        assert after[name].value is None or after[name].value == pytest.approx(before[name].value, rel=1e-9, abs=1e-12)


def test_equal_scores_have_no_correlation() -> None:
    for value in (0.0, 0.1, 1e6 + 0.1):
        found = intraclass(np.full((4, 3), value))
        assert {estimate.value for estimate in found.values()} == {None}
        assert {estimate.reason for estimate in found.values()} == {"all scores are equal"}


def test_runs_that_agree_entirely_have_1_and_no_interval() -> None:
    found = intraclass(np.repeat([[0.1], [0.2], [0.7]], 4, axis=1))
    for estimate in found.values():
        assert (estimate.value, estimate.interval) == (1.0, None)
        assert "agree to the last digit" in str(estimate.reason)


def test_runs_that_differ_by_a_constant_are_consistent_but_do_not_agree() -> None:
    values = np.array([[0.0], [1.0], [2.0]]) + np.array([0.0, 4.0])
    found = intraclass(values)
    assert found["ICC(3,1)"].value == found["ICC(3,k)"].value == 1
    # items 1, runs 8, no residual: 1 / (1 + 8), and limits with k − 1 degrees of freedom
    assert found["ICC(2,1)"].value == pytest.approx(1 / 9)
    low, high = limits(found["ICC(2,1)"])
    assert 0 < low < 1 / 9 < high < 1


def test_items_that_do_not_differ() -> None:
    found = intraclass(np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]))
    assert found["ICC(2,1)"].value == 0
    assert found["ICC(2,1)"].interval is None
    assert found["ICC(3,1)"].value is None
    assert "differ less than the noise" in str(found["ICC(3,1)"].reason)
    opposed = intraclass(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert opposed["ICC(1,1)"].value == -1
    assert opposed["ICC(1,k)"].value is None


def test_a_lower_limit_beyond_the_pole_is_no_limit() -> None:
    """Of the mean of k runs: k·low / (1 + (k − 1)·low) has no meaning where low is below −1/(k − 1)."""
    found = intraclass(np.array([[0.0, 1.0, 2.0], [2.1, 1.2, 0.1], [1.0, 1.1, 0.9]]))
    assert found["ICC(2,1)"].interval is not None
    assert found["ICC(2,1)"].interval.low < -0.5
    assert found["ICC(2,k)"].interval is None


@pytest.mark.parametrize(("shape", "reason"), [((1, 3), "one target"), ((3, 1), "one rater")])
def test_too_little_data_has_a_reason(shape: tuple[int, int], reason: str) -> None:
    for estimate in intraclass(np.zeros(shape)).values():
        assert estimate.value is None
        assert reason in str(estimate.reason)


# ------------------------------------------------------------------------------------------ variance components


def frame_of(values: Floats, names: list[str]) -> pd.DataFrame:
    rows = [(*map(str, at), values[at]) for at in product(*map(range, values.shape))]
    return pd.DataFrame(rows, columns=[*names, "y"])


def test_mean_squares_against_statsmodels() -> None:
    values = np.random.default_rng(4).normal(size=(3, 5, 4))
    table = anova_lm(ols("y ~ (a + b + c)**2", data=frame_of(values, ["a", "b", "c"])).fit())
    ours = mean_squares(values)
    keys = {"a": (0,), "b": (1,), "c": (2,), "a:b": (0, 1), "a:c": (0, 2), "b:c": (1, 2), "Residual": (0, 1, 2)}
    for name, key in keys.items():
        assert ours[key].df == table.loc[name, "df"]
        assert ours[key].value == pytest.approx(table.loc[name, "sum_sq"] / table.loc[name, "df"], rel=1e-9)


def test_components_of_judges_by_hand() -> None:
    """Mean squares 11.24, 32.49 and 1.02 (Shrout and Fleiss, table 3): (11.24 − 1.02)/4, (32.49 − 1.02)/6, 1.02."""
    found = {c.source: c.variance for c in variance_components(JUDGES, ("items", "runs"))}
    expected = {"items": (11.24 - 1.02) / 4, "runs": (32.49 - 1.02) / 6, "items × runs, residual": 1.02}
    assert found == pytest.approx(expected, abs=2e-3)


def test_components_with_repeats_against_statsmodels() -> None:
    values = np.random.default_rng(5).normal(size=(4, 6, 3)) + np.arange(4.0)[:, None, None]
    table = anova_lm(ols("y ~ a * b", data=frame_of(values, ["a", "b", "repeat"])).fit())
    squares = (table["sum_sq"] / table["df"]).to_dict()
    found = {c.source: c.estimated for c in variance_components(values, ("models", "items"), repeats="runs")}
    expected = {
        "models": (squares["a"] - squares["a:b"]) / (6 * 3),
        "items": (squares["b"] - squares["a:b"]) / (4 * 3),
        "models × items": (squares["a:b"] - squares["Residual"]) / 3,
        "runs": squares["Residual"],
    }
    assert found == pytest.approx(expected, rel=1e-9)


def test_components_of_three_factors_by_simulation() -> None:
    """Each is unbiased: the mean over simulations is what was put in."""
    truth = {
        "models": 0.5,
        "items": 2.0,
        "runs": 0.1,
        "models × items": 0.3,
        "models × runs": 0.05,
        "items × runs": 0.2,
    }
    shapes = [(5, 1, 1), (1, 8, 1), (1, 1, 4), (5, 8, 1), (5, 1, 4), (1, 8, 4)]
    found = []
    rng = np.random.default_rng(6)
    for _ in range(600):
        values = sum(sqrt(v) * rng.normal(size=s) for v, s in zip(truth.values(), shapes, strict=True))
        values = values + rng.normal(size=(5, 8, 4))
        found.append([c.estimated for c in variance_components(values, ("models", "items", "runs"))])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / sqrt(len(found))
    assert np.all(np.abs(mean - [*truth.values(), 1.0]) < 4 * error)


def test_a_component_below_0_is_shown_and_counts_as_0() -> None:
    found = variance_components(np.array([[0.0, 1.0], [1.0, 0.0]]), ("items", "runs"))
    assert [c.estimated < 0 for c in found] == [True, True, False]
    assert [(c.variance, c.share) for c in found[:2]] == [(0, 0), (0, 0)]
    assert found[2].share == 1


def test_shares_sum_to_1_and_are_undefined_where_nothing_varies() -> None:
    assert sum(c.share or 0 for c in variance_components(JUDGES, ("items", "runs"))) == pytest.approx(1)
    assert {c.share for c in variance_components(np.ones((3, 3)), ("items", "runs"))} == {None}


def test_shares_of_the_variance_are_the_agreement() -> None:
    """ICC(2,1) is the share of items, where no component is below 0."""
    share = variance_components(JUDGES, ("items", "runs"))[0].share
    assert share == pytest.approx(intraclass(JUDGES)["ICC(2,1)"].value)


# ------------------------------------------------------------------------------------------ tests and deviations


def test_run_effect_against_statsmodels() -> None:
    values = runs(15, 4, 1, shift=0.5)
    table = anova_lm(ols("y ~ a + b", data=frame_of(values, ["a", "b"])).fit())
    found = run_effect(values)
    assert (found.statistic, found.p_value) == pytest.approx((table.loc["b", "F"], table.loc["b", "PR(>F)"]), rel=1e-9)


def test_run_effect_without_noise_has_a_reason() -> None:
    assert run_effect(np.repeat([[1.0], [2.0]], 3, axis=1)).reason == "the runs are equal"
    assert run_effect(np.array([[1.0, 3.0], [2.0, 4.0]])).reason == "the runs differ by a constant only"
    huge = run_effect(np.array([[1.0, 3.0, 1.0], [2.0, 4.0, 2.0]]) + 1e-9 * np.eye(2, 3))
    assert huge.p_value is not None
    assert huge.p_value > 0


def test_deviation_against_scipy() -> None:
    found = deviation(4.0, 7, 0.9)
    low, high = (sqrt(7 * 4 / float(scipy_stats.chi2.ppf(p, 7))) for p in (0.95, 0.05))
    assert found.value == 2
    assert limits(found) == pytest.approx((low, high), rel=1e-12)
    assert found.interval is not None
    assert found.interval.level == 0.9


def test_a_deviation_that_is_not_there() -> None:
    assert deviation(1.0, 0).value is None
    assert (deviation(0.0, 3).value, deviation(0.0, 3).interval) == (0.0, None)


def test_variance_limits_against_bonetts_formula() -> None:
    values = np.random.default_rng(8).exponential(size=40)
    n, z = 40, scipy_stats.norm.ppf(0.975)
    centre = scipy_stats.trim_mean(values, 1 / (2 * sqrt(n - 4)))
    kurtosis = n * ((values - centre) ** 4).sum() / ((values - values.mean()) ** 2).sum() ** 2
    c = n / (n - z)
    error = c * sqrt((kurtosis - (n - 3) / n) / (n - 1))
    centre_of_log = np.log(c * values.var(ddof=1))
    found = variance_limits(values)
    expected = (np.exp(centre_of_log - z * error), np.exp(centre_of_log + z * error))
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)


def test_variance_limits_of_few_values_are_those_of_chi_square() -> None:
    values = np.array([1.0, 2.0, 4.0, 4.5])
    found = variance_limits(values, 0.8)
    expected = 3 * values.var(ddof=1) / scipy_stats.chi2.ppf([0.9, 0.1], 3)
    assert [found.low, found.high] == pytest.approx(expected.tolist())


def test_the_two_way_table_pools_raters_and_error() -> None:
    table = TwoWay.of(JUDGES)
    within = ((JUDGES - JUDGES.mean(axis=1, keepdims=True)) ** 2).sum() / (6 * 3)
    assert table.within == pytest.approx(within)


@pytest.mark.parametrize("data", [RUNS[0], RUNS[3], RUNS[5]], ids=lambda data: data.name)
def test_coverage_of_the_intervals(data: Runs) -> None:
    held = np.mean([data.held(simulation) for simulation in range(300)], axis=0)
    noise = 4 * sqrt(0.95 * 0.05 / 300)
    chosen = held[1:] if data.runs else held  # ICC(1,1) supposes that no run shifts all items
    assert np.all(np.abs(chosen - 0.95) < noise)


@pytest.mark.parametrize(
    "values",
    [
        [
            [0.0, 1, 0, 0, 1, 1],
            [1, 0, 0, 0, 0, 2],
        ],  # equal means: both limits are −1/(k − 1), where stepping up divides by 0
        [[0.0, 2], [2, 0]],
        [[1.0, 1], [2, 0]],  # no degrees of freedom are left for ICC(2,1)
        [[1.0, 1, 0], [1, 1, 0]],
    ],
)
def test_targets_without_any_difference_have_limits_in_order_or_none(values: list[list[float]]) -> None:
    for estimate in intraclass(np.array(values)).values():
        limits = estimate.interval
        assert limits is None or limits.low <= limits.high
        assert estimate.value is not None or estimate.reason


@given(arrays(np.float64, st.tuples(st.integers(2, 5), st.integers(2, 6)), elements=st.integers(0, 2).map(float)))
def test_no_table_of_small_whole_numbers_breaks_it(values: Floats) -> None:
    for estimate in intraclass(values).values():
        limits = estimate.interval
        assert limits is None or limits.low <= limits.high
