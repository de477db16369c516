"""`reliability`: what the record says of runs. Oracles: pingouin and scipy on the same table, variances by hand, the
difference of two models by a crossed random-effects formula, and simulated runs of known noise."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportion_confint

from assay.analyses.reliability import reliability
from assay.analyses.reliability.result import Reliability
from assay.stats.reliability import intraclass, variance_components
from tests.analyses.reliability.repeated import by_hand, columns, limits, simulated


def test_a_model_is_its_items_by_its_runs(three: Reliability) -> None:
    for model, values in zip(three.models, simulated(), strict=True):
        scores = values.mean(axis=0)
        assert model.scores == pytest.approx(scores.tolist())
        assert model.score == pytest.approx(values.mean())
        assert model.icc == intraclass(np.array(values[np.argsort([f"q{j}" for j in range(40)])]))
        assert model.run_sd.value == pytest.approx(scores.std(ddof=1))
        assert model.item_sd.value == pytest.approx(sqrt(values.var(axis=1, ddof=1).mean()))
        low, high = limits(model.item_sd)
        assert low < (model.item_sd.value or 0) < high
        residual = variance_components(values, ("items", "runs"))[2].variance
        assert model.expected_run_sd == pytest.approx(sqrt(residual / 40))


def test_models_are_overall_scores_by_runs(three: Reliability) -> None:
    scores = simulated().mean(axis=1)  # (3, 5)
    assert three.across is not None
    found = {name: estimate.value for name, estimate in three.across.icc.items()}
    assert found == pytest.approx({name: e.value for name, e in intraclass(scores).items()})
    expected = variance_components(simulated(), ("models", "items", "runs"))
    assert [c.estimated for c in three.across.components] == pytest.approx([c.estimated for c in expected])
    taus = [scipy_stats.kendalltau(scores[:, r], scores[:, s]).statistic for r in range(5) for s in range(r)]
    assert three.across.stability.tau_mean == pytest.approx(np.mean(taus))
    order = np.argsort(-scores.mean(axis=1))
    assert three.across.order == tuple("ABC"[i] for i in order)
    assert (three.across.pairs[0].ahead, three.across.pairs[0].behind) == three.across.order[:2]
    assert len(three.across.pairs) == 3


def test_noise_is_pooled_over_models_runs_and_items_by_hand(three: Reliability) -> None:
    runs, items, few, many = by_hand(simulated())
    assert three.run_sd_from == "items and runs"
    assert three.run_sd_df == pytest.approx(few + many)
    assert three.run_sd.value == pytest.approx(sqrt((few * runs + many * items) / (few + many)))
    low = sqrt(many * items / float(scipy_stats.chi2.ppf(0.975, many)))  # the noise of items is the least there can be
    high = sqrt(few * runs / float(scipy_stats.chi2.ppf(0.025, few)))  # the scores hold what runs may share
    assert limits(three.run_sd) == pytest.approx((low, high))


def test_runs_that_shift_all_items_are_not_pooled_with_their_noise() -> None:
    values = simulated(1, 50, 4)
    values += np.array([0.0, 0.4, -0.5, 0.8])
    found = reliability(columns(values))
    assert (found.run_sd_from, found.run_sd_df) == ("runs", 3)
    assert found.run_sd.value == found.models[0].run_sd.value == pytest.approx(values.mean(axis=(0, 1)).std(ddof=1))
    assert "from the runs' scores" in str(found)


def test_runs_that_agree_by_chance_do_not_hide_the_noise_of_items() -> None:
    """4 runs of 50 items whose means happen to be alike: 3 degrees of freedom said ±0.016 where 150 say ±0.05."""
    rng = np.random.default_rng(8)
    values = rng.normal(size=(1, 50, 4)) * 0.37
    values += 0.3 * (values.mean() - values.mean(axis=1, keepdims=True))
    values -= 0.7 * (values.mean(axis=1, keepdims=True) - values.mean())
    found = reliability(columns(values))
    model = found.models[0]
    assert (model.run_sd.value or 0) < 0.3 * (model.expected_run_sd or 0)
    assert found.run_sd.value == pytest.approx(model.expected_run_sd, rel=0.05)  # headline and table agree
    assert found.run_sd_df > 100
    power = scipy_stats.norm.sf(1.96 - (found.detectable.one_run or 0) / (sqrt(2) * 0.37 / sqrt(50)))
    assert power == pytest.approx(0.8, abs=0.1)


def test_the_detectable_difference_has_the_power(three: Reliability) -> None:
    """Two runs differ by √2 standard deviations; the noncentral t of scipy rejects 80% of the time."""
    found = three.detectable
    low, high = limits(three.run_sd)
    df = three.run_sd_df
    critical = scipy_stats.t.ppf(0.975, df)
    for value, limit, runs in (
        (found.one_run, found.one_run_limits, 1),
        (found.all_runs, found.all_runs_limits, 5),
    ):
        assert value is not None
        assert limit is not None
        for sd, difference in ((three.run_sd.value, value), (low, limit.low), (high, limit.high)):
            shift = difference / ((sd or 0.0) * sqrt(2 / runs))
            power = scipy_stats.nct.sf(critical, df, shift) + scipy_stats.nct.cdf(-critical, df, shift)
            assert power == pytest.approx(0.8, abs=1e-6)


def test_the_error_of_a_pair_is_that_of_crossed_random_effects() -> None:
    """Var = (MS items + MS runs − MS residual) / (n·k), the runs being real here."""
    rng = np.random.default_rng(3)
    values = simulated(2, 60, 4)
    values[1] += 0.4 * rng.normal(size=4)
    found = reliability(columns(values, "AB")).across
    assert found is not None
    gaps = values[0] - values[1]
    n, k = gaps.shape
    items = k * gaps.mean(axis=1).var(ddof=1)
    runs = n * gaps.mean(axis=0).var(ddof=1)
    rest = gaps - gaps.mean(axis=1, keepdims=True) - gaps.mean(axis=0) + gaps.mean()
    residual = (rest**2).sum() / ((n - 1) * (k - 1))
    assert found.pairs[0].error == pytest.approx(sqrt((items + runs - residual) / (n * k)), rel=1e-9)


def test_the_error_of_a_pair_without_run_effects_is_that_of_items() -> None:
    values = simulated(2, 60, 4, seed=5)
    values -= values.mean(axis=1, keepdims=True)  # no run shifts anything
    found = reliability(columns(values, "AB")).across
    assert found is not None
    gaps = (values[0] - values[1]).mean(axis=1)
    assert found.pairs[0].error == pytest.approx(gaps.std(ddof=1) / sqrt(60))


def test_items_of_a_cluster_count_together() -> None:
    """Every item three times over: the error is that of the items, not of three times as many."""
    values = simulated(2, 30, 3)
    values -= values.mean(axis=1, keepdims=True)
    copied = np.repeat(values, 3, axis=1)
    alone = reliability(columns(values, "AB"))
    found = reliability(columns(copied, "AB", cluster=[str(j // 3) for j in range(90)]))
    assert found.n_clusters == 30
    assert found.across is not None
    assert alone.across is not None
    assert found.across.pairs[0].error == pytest.approx(alone.across.pairs[0].error)
    assert limits(found.models[0].item_sd) == pytest.approx(limits(alone.models[0].item_sd), rel=1e-6)
    assert any("of a cluster as independent" in note for note in found.notes)


def test_weights_count_in_overall_scores_only() -> None:
    values = simulated(1, 20, 3)
    weights = np.arange(1.0, 21.0)
    found = reliability(columns(values, "A", weight=weights.tolist()))
    assert found.models[0].scores == pytest.approx((values[0] * weights[:, None]).sum(axis=0) / weights.sum())
    plain = reliability(columns(values, "A")).models[0].icc["ICC(2,1)"].value
    assert found.models[0].icc["ICC(2,1)"].value == pytest.approx(plain)
    assert any("is weighted as the table says" in note for note in found.notes)


def test_runs_of_other_names_are_repetitions_of_a_cell() -> None:
    rows = columns(simulated(2, 10, 3), "AB")
    rows["run"] = [f"{model}{run}" for model, run in zip(rows["model"], rows["run"], strict=True)]
    found = reliability(rows)
    assert found.across is not None
    assert [c.source for c in found.across.components] == ["models", "items", "models × items", "runs, residual"]
    assert any("share no names of runs" in note for note in found.notes)


def test_the_noise_that_was_put_in_comes_out() -> None:
    """1,000 items, 0/1 answers of uniform chances: noise of an item √(1/6), of a run's mean √(1/6000)."""
    rng = np.random.default_rng(2)
    values = (rng.random((1, 1000, 40)) < rng.random((1, 1000, 1))).astype(float)
    model = reliability(columns(values)).models[0]
    assert model.item_sd.value == pytest.approx(sqrt(1 / 6), abs=0.01)
    assert model.expected_run_sd == pytest.approx(sqrt(1 / 6000), abs=3e-4)
    low, high = limits(model.run_sd)
    assert low < sqrt(1 / 6000) < high
    assert model.icc["ICC(1,1)"].value == pytest.approx(1 / 3, abs=0.03)


@pytest.mark.parametrize("runs", [2, 3])
def test_the_noise_of_right_and_wrong_answers_against_statsmodels(runs: int) -> None:
    """Of two or three runs an item varies or does not: a share of items, times the only variance there can be."""
    values = (np.random.default_rng(5).random((1, 60, runs)) < 0.9).astype(np.float64)
    only = 1 / 2 if runs == 2 else 1 / 3
    varied = int((values.var(axis=2) > 0).sum())
    expected = np.sqrt(only * np.array(proportion_confint(varied, 60, method="agresti_coull")))
    found = reliability(columns(values)).models[0].item_sd
    assert limits(found) == pytest.approx(expected.tolist(), abs=1e-9)
    assert found.interval is not None
    assert found.interval.method == "agresti-coull"


def test_where_no_answer_ever_changed_the_noise_may_still_be_above_0() -> None:
    """Rule of three, nearly: of 60 items that did not vary, at most some 6% would."""
    found = reliability(columns(np.ones((1, 60, 2)))).models[0].item_sd
    assert found.value == 0
    expected = proportion_confint(0, 60, method="agresti_coull")[1]
    assert limits(found) == pytest.approx((0.0, sqrt(expected / 2)))
