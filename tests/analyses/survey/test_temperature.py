"""Run-to-run noise at two temperatures: against scipy's exact permutation test, numpy's variances; size simulated."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from assay import Design, survey
from assay.analyses.survey.evidence import Survey
from assay.analyses.survey.temperature import NONE, Temperatures, temperature, variance_ratio
from assay.data.survey.predictions import OK, Answer, predictions_of
from tests.analyses.survey.surveys import made, read_again


def at_temperatures(seed: int, names: dict[str, float], *, runs: int = 3, questions: int = 13) -> Survey:
    """Models whose answers are shaken from run to run, by so much each."""
    asked = made(seed, questions=questions)
    rng, answers = np.random.default_rng(seed), []
    for name, shake in names.items():
        for cell, shares in enumerate(asked.truth.shares):
            for _ in range(runs):
                guess = shares + 0.02 + shake * rng.dirichlet(np.ones(len(shares)))
                answers.append(Answer(name, cell, 0, (guess / guess.sum()).tolist(), OK))
    return replace(asked, predictions=predictions_of(answers, asked.truth.shares.shape[1]), _resampled={})


def test_p_against_scipys_exact_permutation_test() -> None:
    rng = np.random.default_rng(1)
    low, high = rng.chisquare(4, 12), 1.6 * rng.chisquare(4, 12)

    def difference(
        a: "np.ndarray[tuple[int], np.dtype[np.float64]]", b: "np.ndarray[tuple[int], np.dtype[np.float64]]"
    ) -> float:
        return float(a.sum() - b.sum())

    exact = permutation_test((low, high), difference, permutation_type="samples", n_resamples=100_000)
    ratio, _, test = variance_ratio(low, high, Design())
    assert test.p_value == pytest.approx(float(exact.pvalue))
    assert ratio.value == pytest.approx(low.sum() / high.sum())


def test_variances_against_numpy_item_by_item() -> None:
    asked = at_temperatures(2, {"m[temp:0.0]": 0.05, "m[temp:0.7]": 0.3})
    effect = temperature(asked, Design()).effects[0]
    variances = []
    for m in range(2):
        own = asked.predictions.model == m
        scores = asked.row_scores[own].reshape(-1, 3)  # sorted by cell, then run
        variances.append(scores.var(axis=1, ddof=1))
    assert effect.sd == pytest.approx([float(np.sqrt(v.mean())) for v in variances])
    assert effect.ratio.value == pytest.approx(variances[0].mean() / variances[1].mean())
    assert (effect.model, effect.temperatures, effect.runs) == ("m", (0.0, 0.7), (3, 3))
    assert (effect.items, effect.questions) == (65, 13)


def test_a_lower_temperature_that_steadies_scores_is_shown_and_said() -> None:
    found = temperature(at_temperatures(3, {"m[temp:0.0]": 0.03, "m[temp:0.9]": 0.3}), Design())
    said = found.statements[0]
    assert said.holds
    assert said.text.startswith("Scores of m vary less between runs at temperature 0 than at 0.9")
    assert [one.do for one in found.advice()] == ["Ask at temperature 0."]
    together = found.effects[0].together
    assert together is not None
    assert together.high < 1
    assert read_again(found) == found
    assert found.tables[0].records()[0]["lower_temperature"] == 0.0


def test_equal_noise_is_not_called_a_difference() -> None:
    found = temperature(at_temperatures(4, {"m[temp:0.0]": 0.2, "m[temp:0.9]": 0.2}), Design())
    assert not found.statements[0].holds
    assert "It is not shown that temperature 0 changes" in found.statements[0].text
    assert list(found.advice()) == []


def test_every_temperature_is_compared_with_the_lowest_and_adjusted_for_all() -> None:
    names = {
        "m[temp:0.2]": 0.05,
        "m[temp:0.5]": 0.2,
        "m[temp:1.0]": 0.3,
        "n[temp:0.0]": 0.1,
        "n[temp:1]": 0.1,
        "o": 0.1,
    }
    found = temperature(at_temperatures(5, names), Design()).effects
    assert [(one.model, one.temperatures) for one in found] == [("m", (0.2, 0.5)), ("m", (0.2, 1.0)), ("n", (0.0, 1.0))]
    for one in found:
        assert one.test.p_value is not None
        assert one.p_adjusted is not None
        assert one.p_adjusted == pytest.approx(min(1.0, 3 * one.test.p_value))
        assert one.together is not None
        assert (not one.together.low <= 1 <= one.together.high) == (one.p_adjusted <= 0.05)


@given(st.integers(0, 5_000), st.sampled_from([0.8, 0.95]), st.floats(0.3, 3.0))
@settings(max_examples=40, deadline=None)
def test_the_interval_leaves_out_one_exactly_where_the_test_rejects(seed: int, level: float, factor: float) -> None:
    rng, design = np.random.default_rng(seed), Design(level=level)
    low, high = rng.chisquare(3, 10), factor * rng.chisquare(3, 10)
    ratio, together, test = variance_ratio(low, high, design, 2)
    assert test.p_value is not None
    assert ratio.interval is not None
    assert together is not None
    assert (not ratio.interval.low <= 1 <= ratio.interval.high) == (test.p_value <= 1 - level)
    assert (not together.low <= 1 <= together.high) == (2 * test.p_value <= 1 - level)
    assert 0 <= ratio.interval.low <= (ratio.value or 0.0) <= ratio.interval.high


def test_swapping_the_temperatures_keeps_p() -> None:
    rng = np.random.default_rng(7)
    low, high = rng.chisquare(4, 20), rng.chisquare(4, 20)
    assert variance_ratio(low, high, Design())[2].p_value == pytest.approx(
        variance_ratio(high, low, Design())[2].p_value
    )


def test_answers_that_repeat_exactly() -> None:
    some, none = np.random.default_rng(8).chisquare(4, 12), np.zeros(12)
    ratio, together, test = variance_ratio(some, none, Design())
    assert (ratio.value, together) == (None, None)
    assert "repeat exactly" in str(ratio.reason)
    assert test.p_value is not None
    assert test.p_value < 0.001
    assert variance_ratio(none, none, Design())[2].p_value == 1.0
    ratio, together, test = variance_ratio(none, some, Design())
    assert ratio.value == 0.0
    assert together is not None
    assert together.high < 1


def test_few_questions_and_single_runs_say_nothing() -> None:
    few = temperature(at_temperatures(9, {"m[temp:0]": 0.1, "m[temp:1]": 0.1}, questions=4), Design())
    assert few.effects[0].p_adjusted is None
    assert "only 4 questions" in few.statements[0].text
    once = temperature(at_temperatures(9, {"m[temp:0]": 0.1, "m[temp:1]": 0.1}, runs=1), Design())
    assert (once.effects, once.remarks) == ((), (NONE,))
    assert temperature(made(1, runs=2), Design()).remarks == (NONE,)


def test_size_by_simulation() -> None:
    """Of 400 surveys without a difference, 5% are called one: 13 questions of unequal noise, 2 and 4 runs."""
    rejected = 0
    for seed in range(400):
        rng = np.random.default_rng([seed, 3])
        scale = np.exp(0.7 * rng.normal(size=(13, 1, 1)))
        sums = [(scale * rng.normal(size=(13, 6, runs))).var(axis=2, ddof=1).sum(axis=1) for runs in (2, 4)]
        p = variance_ratio(sums[0], sums[1], Design(method="t"))[2].p_value
        rejected += p is not None and p <= 0.05
    assert 8 <= rejected <= 34  # binomial(400, 0.05) ± 3 sd


def test_from_files_of_python() -> None:
    answers: dict[str, list[Any]] = {
        "question": [f"q{i}" for i in range(8) for _ in "ab"],
        "segment": ["a", "b"] * 8,
        "n": [80, 60] * 8,
    }
    answers |= {"yes": [30 + 2 * i for i in range(16)], "no": [70 - 2 * i for i in range(16)]}
    rows = [(t, r, i) for t in ("0.0", "0.7") for r in (1, 2) for i in range(16)]
    told = [answers["yes"][i] + (0 if t == "0.0" else (-1) ** r * (3 + i % 3)) for t, r, i in rows]
    guess = {
        "model": [f"m[temp:{t}]" for t, _, _ in rows],
        "run": [r for _, r, _ in rows],
        "question": [answers["question"][i] for _, _, i in rows],
        "segment": [answers["segment"][i] for _, _, i in rows],
        "yes": told,
        "no": [100 - yes for yes in told],
    }
    found = survey(answers, guess, only=["temperature"]).analyses["temperature"]
    assert isinstance(found, Temperatures)
    assert found.effects[0].sd[0] == 0.0
    assert found.effects[0].shown_at(0.95)
