"""Runs like these: variance components against statsmodels and by hand, and what never contradicts."""

from math import sqrt

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.stats.records import Interval
from assay.stats.runs_like_these import RunSpread, run_spread, runs_like_these
from assay.stats.units import Floats

SPREADS = st.builds(RunSpread, st.floats(1e-9, 1e-2), st.floats(1e-9, 1e-2), st.integers(2, 10))


def runs_of(items: int, runs: int, run_sd: float, seed: int = 1) -> Floats:
    """(items, runs): items and runs have effects of their own, and every cell has noise."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(items, 1)) + run_sd * rng.normal(size=runs) + 0.5 * rng.normal(size=(items, runs))


def test_variance_between_runs_against_the_mixed_model_of_statsmodels() -> None:
    """Crossed random effects of items and runs, by REML, which is the analysis of variance where all cells are full."""
    values = runs_of(40, 5, 0.4)
    frame = pd.DataFrame(
        {
            "y": values.ravel(),
            "item": np.repeat(np.arange(40), 5),
            "run": np.tile(np.arange(5), 40),
            "all": 1,
        }
    )
    crossed = {"item": "0 + C(item)", "run": "0 + C(run)"}
    fitted = smf.mixedlm("y ~ 1", frame, groups="all", vc_formula=crossed).fit(reml=True, method="lbfgs")
    component = dict(zip(fitted.model.exog_vc.names, fitted.vcomp, strict=True))["run"]
    found = run_spread([(values, np.ones(40))], [1.0])
    assert 5 * (found.variance - found.noise) == pytest.approx(component, rel=2e-3)
    assert 40 * 5 * found.noise == pytest.approx(fitted.scale, rel=2e-3)


def test_total_and_noise_of_several_tasks_by_hand() -> None:
    """Totals are weighted means of the tasks; residuals of a two-way table have (n − 1)(S − 1) degrees of freedom."""
    tasks, weights = [runs_of(30, 4, 0.2, seed=2), runs_of(50, 4, 0.2, seed=3)], [0.3, 0.7]
    totals = sum(w * x.mean(axis=0) for w, x in zip(weights, tasks, strict=True))
    noise = 0.0
    for w, x in zip(weights, tasks, strict=True):
        residual = x - x.mean(axis=0) - x.mean(axis=1, keepdims=True) + x.mean()
        noise += w**2 * (residual**2).sum() / ((len(x) - 1) * 3) / len(x)
    found = run_spread([(x, np.ones(len(x))) for x in tasks], weights)
    assert found.variance == pytest.approx(np.var(totals, ddof=1) / 4)
    assert found.noise == pytest.approx(noise / 4)
    assert found.runs == 4


def test_interval_and_p_by_hand() -> None:
    a, b = RunSpread(4e-4, 1e-4, 3), RunSpread(2e-4, 1.5e-4, 5)
    found = runs_like_these(0.1, (9e-4, 199.0), [a, b], Interval(0.09, 0.11, 0.9, "bca"), 1e-9)
    variance = 9e-4 + 6e-4 - 2.5e-4
    df = variance**2 / (9e-4**2 / 199 + 4e-4**2 / 2 + 2e-4**2 / 4)
    reach = scipy_stats.t.ppf(0.95, df) * sqrt(variance)
    assert (found.df, found.error) == pytest.approx((df, sqrt(variance)))
    assert (found.low, found.high) == pytest.approx((0.1 - reach, 0.1 + reach))
    assert found.p == pytest.approx(2 * scipy_stats.t.sf(0.1 / sqrt(variance), df))


def test_runs_that_are_copies_add_nothing() -> None:
    """As greedy decoding gives: for runs like these it is what it is for these."""
    values = np.repeat(runs_of(60, 1, 0.0), 4, axis=1)
    one = run_spread([(values, np.ones(60))], [1.0])
    assert one.variance == pytest.approx(0, abs=1e-30)
    these = Interval(-0.1, 0.3, 0.95, "bca")
    found = runs_like_these(0.1, (0.01, 59.0), [one, one], these, 0.4)
    assert found.error == pytest.approx(0.1)
    assert found.df == pytest.approx(59)


def test_without_any_spread_it_is_as_for_these() -> None:
    still = RunSpread(0.0, 0.0, 3)
    found = runs_like_these(0.0, (0.0, 9.0), [still, still], Interval(0.0, 0.0, 0.95, "degenerate"), 1.0)
    assert (found.low, found.high, found.p) == (0.0, 0.0, 1.0)


@given(st.floats(-0.2, 0.2), st.floats(1e-8, 1e-2), SPREADS, SPREADS, st.floats(0.001, 0.2))
def test_never_narrower_and_never_contradicting(
    value: float, items: float, a: RunSpread, b: RunSpread, reach: float
) -> None:
    these = Interval(value - reach, value + reach, 0.95, "bca")
    p = 0.01 if these.low > 0 or these.high < 0 else 0.3
    found = runs_like_these(value, (items, 50.0), [a, b], these, p)
    assert found.low <= these.low
    assert these.high <= found.high
    assert found.p >= p
    assert (found.low > 0 or found.high < 0) == (found.p <= 0.05)
