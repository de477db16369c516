"""`reliability`: what the record says of runs. Oracles: pingouin and scipy on the same table, variances by hand, the
difference of two models by a crossed random-effects formula, and simulated runs of known noise."""

import json
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from assay import examples
from assay.analyses.reliability import reliability, reliability_of
from assay.analyses.reliability_result import Reliability
from assay.data import Panel, read_table
from assay.data.repeats import Repeats
from assay.errors import InputError, UsageError
from assay.results.explanations import EXPLANATIONS
from assay.stats.power_plans import Goal
from assay.stats.records import Estimate
from assay.stats.reliability import intraclass, variance_components
from assay.stats.units import Floats


def columns(values: Floats, models: str | list[str] = "A", **more: Any) -> dict[str, Any]:
    """(m, n, k) scores as a table."""
    names = list(models)
    m, n, k = values.shape
    at = [(i, j, r) for i in range(m) for j in range(n) for r in range(k)]
    rows = {
        "model": [names[i] for i, _, _ in at],
        "item": [f"q{j}" for _, j, _ in at],
        "run": [r + 1 for _, _, r in at],
        "score": [values[point] for point in at],
    }
    return rows | {name: [column[j] for _, j, _ in at] for name, column in more.items()}


def simulated(m: int = 3, n: int = 40, k: int = 5, seed: int = 1) -> Floats:
    rng = np.random.default_rng([m, n, k, seed])
    return np.asarray(
        0.1 * rng.normal(size=(m, 1, 1))
        + rng.normal(size=(1, n, 1))
        + 0.3 * rng.normal(size=(m, n, 1))
        + 0.5 * rng.normal(size=(m, n, k))
    )


@pytest.fixture(scope="module")
def three() -> Reliability:
    return reliability(columns(simulated(), "ABC"))


def limits(found: Estimate) -> tuple[float, float]:
    assert found.interval is not None
    return found.interval.low, found.interval.high


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


def by_hand(values: Floats) -> tuple[float, float, float, float]:
    """Variances of a run's score over all models of (m, n, k): from the scores, from the items, and their df."""
    m, n, k = values.shape
    runs = values.mean(axis=1).var(axis=1, ddof=1).mean()
    residuals = [variance_components(model, ("items", "runs"))[2].estimated for model in values]
    rest = values - values.mean(axis=2, keepdims=True) - values.mean(axis=1, keepdims=True)
    rest += values.mean(axis=(1, 2), keepdims=True)
    own = (rest**2).sum(axis=2) / (k - 1)  # (m, n): the noise of each item
    df = np.minimum((n - 1) * (k - 1), 2 * n * own.mean(axis=1) ** 2 / own.var(axis=1))
    return runs, float((residuals * df).sum() / df.sum() / n), m * (k - 1), float(df.sum())


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
    """Two runs differ by √2 standard deviations; the noncentral t of scipy rejects 80 % of the time."""
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
    assert any("of a cluster for independent" in note for note in found.notes)


def test_weights_count_in_overall_scores_only() -> None:
    values = simulated(1, 20, 3)
    weights = np.arange(1.0, 21.0)
    found = reliability(columns(values, "A", weight=weights.tolist()))
    assert found.models[0].scores == pytest.approx((values[0] * weights[:, None]).sum(axis=0) / weights.sum())
    plain = reliability(columns(values, "A")).models[0].icc["ICC(2,1)"].value
    assert found.models[0].icc["ICC(2,1)"].value == pytest.approx(plain)
    assert any("counts weights" in note for note in found.notes)


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


# ------------------------------------------------------------------------------------------ words


def test_the_sentence_of_two_models() -> None:
    values = np.zeros((2, 4, 3))
    values[0, :, :] = [[1, 1, 1], [1, 1, 0], [1, 0, 1], [0, 0, 0]]
    values[1, :, :] = [[1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    runs, items, few, many = by_hand(values)
    assert runs == pytest.approx(1 / 48)  # scores ¾, ½, ½ and ¼, 0, ¼
    pooled = sqrt((few * runs + many * items) / (few + many))
    assert reliability(columns(values, "AB")).sentence == (
        f"Run-to-run noise moves a score by ±{pooled:.2g} (one standard deviation, 3 runs of 4 items); "
        "the order of A and B repeats in 100 % of pairs of runs."
    )


def test_the_sentence_of_the_shipped_runs_names_the_least_stable_pair() -> None:
    found = reliability(examples.path("runs-sampled.csv"))
    assert "the order of base and int3, the least stable, repeats in 60 % of pairs of runs" in found.sentence
    assert found.sentence.endswith("that of all 3 models in 45 %.")


@pytest.mark.parametrize("swapped", [False, True])
def test_two_runs_do_not_say_how_often_an_order_repeats(swapped: bool) -> None:
    """One pair of runs agrees or it does not: 0 or 100 % would be no estimate of a probability that is at least ½."""
    values = np.zeros((2, 4, 2))
    values[0, :3, 0] = values[1, 0, :] = 1
    values[0, : 0 if swapped else 2, 1] = 1
    found = reliability(columns(values, "AB"))
    assert found.across is not None
    repeats = found.across.pairs[0].repeats
    assert (repeats.value, repeats.interval, repeats.n) == (None, None, 2)
    assert "three or more are needed" in str(repeats.reason)
    said = "not the same in both" if swapped else "the same in both"
    assert f"two runs do not tell how often the order repeats: it is {said}." in found.sentence
    assert f"it is {said}" in str(found)
    assert "0 %" not in str(found).partition("order repeats?")[2].partition("detectable")[0]


def test_two_runs_with_a_tie() -> None:
    values = np.zeros((2, 4, 2))
    values[0, :2, :] = values[1, :2, 0] = values[1, 0, 1] = 1
    assert "models tie in one of them" in reliability(columns(values, "AB")).sentence


@pytest.mark.parametrize("runs", range(3, 9))
def test_the_estimate_of_repetition_is_within_its_interval(runs: int) -> None:
    """The oracle is p² + (1 − p)² ≥ ½ for every p."""
    for ahead in range(runs + 1):
        values = np.random.default_rng(runs).uniform(0, 0.1, (2, 2, runs))
        values[0, :, :ahead] += 1
        values[1, :, ahead:] += 1
        found = reliability(columns(values, "AB"))
        assert found.across is not None
        repeats = found.across.pairs[0].repeats
        assert repeats.value is not None
        assert repeats.interval is not None
        assert 0.5 <= repeats.interval.low <= repeats.value <= repeats.interval.high


def test_one_model_is_told_what_its_runs_can_show() -> None:
    found = reliability(columns(simulated(1)))
    assert found.across is None
    assert found.sentence.startswith("Run-to-run noise moves the score of A by ±")
    assert "two single runs show a difference of " in found.sentence


def test_runs_that_are_all_equal_are_no_noise() -> None:
    values = np.repeat(simulated(1, 5, 1), 4, axis=2)
    found = reliability(columns(values))
    assert found.sentence == "No run-to-run noise: A has the same answers in every run (4 runs of 5 items)."
    assert (found.run_sd.value, found.detectable.one_run) == (0, None)
    assert "they show no noise" in str(found.detectable.reason)
    assert found.models[0].item_sd.interval is None
    assert "detectable" in str(found)
    constant = reliability(columns(np.ones((2, 5, 3)), "AB"))
    assert constant.across is not None
    assert constant.across.pairs[0].detectable is None
    assert constant.models[0].icc["ICC(1,1)"].reason == "all scores are equal"


def test_scores_that_are_equal_although_answers_are_not() -> None:
    """Equal scores of runs whose answers differ are chance: one residual of ½ in four cells, 2 degrees of freedom."""
    found = reliability(columns(np.array([[[1.0, 0.0], [0.0, 1.0]]])))
    assert found.sentence.startswith(
        "Run-to-run noise moves the score of A by ±0.5 (one standard deviation, 2 runs of 2"
    )
    assert any("are equal by chance" in note for note in found.notes)


def test_different_numbers_of_runs_are_said() -> None:
    rows = columns(simulated(2, 6, 4), "AB")
    kept = [i for i in range(len(rows["item"])) if not (rows["model"][i] == "B" and rows["run"][i] == 4)]
    found = reliability({name: [column[i] for i in kept] for name, column in rows.items()})
    assert "3 to 4 runs of 6 items" in found.sentence
    assert found.across is not None
    assert found.across.n_runs == 3


def test_few_runs_and_runs_that_differ_are_noted() -> None:
    values = simulated(1, 50, 3)
    values += np.array([0.0, 1.0, 2.0])
    found = reliability(columns(values))
    assert any("2 degrees of freedom" in note for note in found.notes)
    assert any("differ by more than noise of single items gives (F test, p = " in note for note in found.notes)


def test_losses_are_called_losses() -> None:
    rows = {"window": ["a", "b", "c"], "tokens": [1, 2, 3]}
    tables = [read_table(rows | {"loss": [1.0, 2.0, last]}, name=f"run {last}") for last in (3.0, 3.5)]
    result = reliability(*tables, files_are_runs=True)
    assert result.sentence.startswith("Run-to-run noise moves the loss of the model by ±0.")
    assert any("an overall loss counts tokens" in note for note in result.notes)


def test_many_models_are_compared_with_their_neighbours() -> None:
    values = np.random.default_rng(1).normal(size=(3, 52 * 2))
    panel = Panel.from_arrays(values, systems=[str(i) for i in range(104)])
    repeats = Repeats(panel, tuple(f"m{i}" for i in range(52)), (("1", "2"),) * 52)
    found = reliability_of(repeats, Goal())
    assert found.across is not None
    assert len(found.across.pairs) == 51


# ------------------------------------------------------------------------------------------ the record


@pytest.mark.parametrize("models", ["A", "AB", "ABC"])
def test_the_record_survives_json(models: str) -> None:
    found = reliability(columns(simulated(len(models)), models))
    text = json.dumps(found.to_dict(), allow_nan=False)
    again = Reliability.from_dict(json.loads(text))
    assert again == found
    assert (str(again), json.dumps(again.to_dict())) == (str(found), json.dumps(found.to_dict()))
    with pytest.raises(InputError, match="schema must be"):
        Reliability.from_dict({"schema": "assay/comparison/1"})


def test_rows_fit_into_80_columns_and_html_is_escaped(three: Reliability) -> None:
    lines = str(three).splitlines()
    assert max(len(line) for line in lines[2:] if not line.startswith(("signature", "note"))) <= 80
    named = reliability(columns(simulated(2), ["<A>", "B"]))
    assert "&lt;A&gt;" in named._repr_html_()
    assert "<A>" not in named._repr_html_()


def test_the_frame_has_a_row_per_model_and_one_for_all(three: Reliability) -> None:
    frame = three.to_frame()
    assert frame["model"].tolist() == ["A", "B", "C", "all models"]
    assert frame["runs"].tolist() == [5, 5, 5, 5]
    assert frame["ICC(2,1)"].tolist()[0] == three.models[0].icc["ICC(2,1)"].value
    assert (frame["run_sd_low"][0], frame["run_sd_high"][0]) == limits(three.models[0].run_sd)
    assert frame["score"].isna().tolist() == [False, False, False, True]
    assert len(reliability(columns(simulated(1))).to_frame()) == 1


def test_facts_hold_numbers_and_know_how_they_are_computed(three: Reliability) -> None:
    facts = {fact.label: fact for fact in three.facts}
    assert list(facts) == [
        "noise of a score",
        "detectable, 1 run",
        "detectable, 5 runs",
        "Kendall's τ",
        "whole order",
        "items",
    ]
    assert facts["noise of a score"].value == three.run_sd
    one = facts["detectable, 1 run"].value
    assert isinstance(one, Estimate)
    assert (one.value, one.interval) == (three.detectable.one_run, three.detectable.one_run_limits)
    assert facts["items"].value == 40
    assert all(fact.key in EXPLANATIONS for fact in three.facts)
    assert all(fact.text in str(three) for fact in three.facts)


def test_what_is_not_detectable_says_why() -> None:
    still = reliability(columns(np.repeat(simulated(1, 5, 1), 4, axis=2)))
    facts = {fact.label: fact.text for fact in still.facts}
    assert facts["detectable"] == "undefined: the scores of all runs are equal, so that they show no noise"
    assert facts["noise of a score"].startswith("±0")


def test_tables_hold_numbers(three: Reliability) -> None:
    assert three.across is not None
    tables = {table.key: table.records() for table in three.tables}
    assert list(tables) == ["runs", "items", "models icc", "variance", "pairs"]
    assert [row["score"] for row in tables["runs"]] == [model.score for model in three.models]
    assert [row["run_sd"] for row in tables["runs"]] == [model.run_sd.value for model in three.models]
    assert [row["one_run"] for row in tables["models icc"]] == [
        three.across.icc[f"ICC({i},1)"].value for i in (1, 2, 3)
    ]
    assert [row["mean_of_runs"] for row in tables["models icc"]] == [
        three.across.icc[f"ICC({i},k)"].value for i in (1, 2, 3)
    ]
    assert sum(row["share"] for row in tables["variance"]) == pytest.approx(1)
    assert [(row["ahead"], row["behind"]) for row in tables["pairs"]] == list(pairwise(three.across.order))
    assert tables["pairs"][0]["order_repeats"] == three.across.neighbours[0].repeats.value
    assert all(table.explained is None or table.explained in EXPLANATIONS for table in three.tables)


def test_one_model_has_the_correlations_of_its_items() -> None:
    found = reliability(columns(simulated(1)))
    assert [table.key for table in found.tables] == ["runs", "items icc", "variance"]
    assert found.tables[1].header[0] == ""
    assert found.subject == "A"
    assert [(fact.label, fact.text) for fact in found.compared] == [("model", "A"), ("on", "40 items in every run")]


def test_notes_are_cautions_in_text_and_record(three: Reliability) -> None:
    found = reliability(columns(simulated(2, 10, 2), "AB"))
    assert [str(caution) for caution in found.cautions] == list(found.notes)
    assert "the upper limit of the noise rests on 2 degrees of freedom between runs" in str(found)
    assert (three.status, three.gauge, three.figures) == ("plain", None, ())


def test_the_signature_names_data_and_settings(three: Reliability) -> None:
    assert three.signature.startswith("assay:")
    assert "|reliability|units:items|n:40|models:3|runs:5+5+5|level:0.95|power:0.8|data:" in three.signature
    assert reliability(columns(simulated(seed=2), "ABC")).signature != three.signature


def test_misuse_is_refused() -> None:
    with pytest.raises(UsageError, match="needs a table"):
        reliability()
    with pytest.raises(UsageError, match="leave out the rest"):
        reliability(columns(simulated(1)), goal=Goal(margin=0.1))
    with pytest.raises(InputError, match="only one item is in every run"):
        reliability(columns(simulated(1, 1)))
