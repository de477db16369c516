"""Sentences, intervals and p-values of a survey say the same, at every level; and what is equal, or too good."""

import json

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from assay.analyses.survey import report_of
from assay.analyses.survey.baseline_tests import Against, against, placed
from assay.analyses.survey.baselines import baselines
from assay.analyses.survey.context_levels import context
from assay.analyses.survey.evidence import Survey
from assay.analyses.survey.fairness import fairness
from assay.analyses.survey.intervals import KNOWS_THE_SAMPLE, beyond_ceiling, intervals
from assay.analyses.survey.noise import noise
from assay.analyses.survey.order import pairs
from assay.data.survey.predictions import OK, Answer, predictions_of
from assay.design import Design
from assay.stats.records import Interval
from assay.stats.units import Floats
from benchmarks.simulation.surveys import World
from tests.analyses.survey.surveys import K, as_json, made, read_again

LEVELS = (0.9, 0.95, 0.99, 0.999)


def _leaves_out_0(limits: Interval | None) -> bool:
    assert limits is not None
    return limits.low > 0 or limits.high < 0


def _predicting(survey: Survey, models: dict[str, Floats]) -> Survey:
    """The same survey with these predictions (C, K)."""
    answers = [Answer(name, c, 0, row.tolist(), OK) for name, rows in models.items() for c, row in enumerate(rows)]
    return Survey(survey.truth, predictions_of(answers, K))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(4))
def test_p_and_interval_agree_everywhere(level: float, seed: int) -> None:
    """Models near the marginal, a little context, small gaps: many results are close to the edge."""
    survey = made(seed, models={"a": 0.25, "b": 0.4, "c": 0.6}, questions=9, contexts=(0, 3), worse={1: 0.12})
    design, alpha = Design(level=level, resamples=1_000), 1 - level
    for one in baselines(survey, design).against:
        assert one.test.p_value is not None
        assert one.p_adjusted is not None
        assert (one.test.p_value <= alpha) == _leaves_out_0(one.difference.interval)
        assert (one.p_adjusted <= alpha) == _leaves_out_0(one.together)
        assert (one.position in ("above", "below")) <= (one.p_adjusted <= alpha)
    places = {one.model: one.position for one in baselines(survey, design).against if one.baseline == survey.reference}
    for reach in noise(survey, design).models:
        assert reach.fraction.value is not None
        assert _leaves_out_0(reach.fraction.interval) == (places[reach.model] in ("above", "below"))
    for gap in (gap for category in fairness(survey, design).categories for gap in category.gaps):
        assert gap.test.p_value is not None
        assert gap.p_adjusted is not None
        assert (gap.test.p_value <= alpha) == _leaves_out_0(gap.excess.interval)
        assert (gap.p_adjusted <= alpha) == _leaves_out_0(gap.together)
    for found in context(survey, design).slopes:
        assert found.slope.test.p_value is not None
        assert found.p_adjusted is not None
        assert (found.slope.test.p_value <= alpha) == _leaves_out_0(found.slope.estimate.interval)
        assert (found.p_adjusted <= alpha) == _leaves_out_0(found.together)


def test_the_adjusted_p_is_bonferronis_by_hand() -> None:
    survey = made(1, models={"a": 0.3, "b": 0.5}, questions=9)
    found = against(survey, survey.baseline_scores, Design())
    assert len(found) == 8
    for one in found:
        assert one.test.p_value is not None
        assert one.p_adjusted == pytest.approx(min(1.0, 8 * one.test.p_value))
        assert one.together is not None
        assert one.difference.interval is not None
        assert one.together.low <= one.difference.interval.low
        assert one.together.high >= one.difference.interval.high


def test_permutations_are_as_many_as_the_level_needs_or_it_is_said() -> None:
    survey = made(3, models={"a": 0.9, "b": 0.95}, questions=6)
    assert baselines(survey, Design(level=0.999)).permutations == 4_000
    few = baselines(survey, Design(level=0.999, resamples=1_000))
    assert few.permutations == 1_000
    assert any("with so few, the smallest possible adjusted p is 0.002" in s.text for s in few.statements)


@pytest.mark.parametrize("name", ["p_adjusted", "together"])
def test_records_that_lack_a_field_are_not_read(name: str) -> None:
    survey = made(1, contexts=(0, 3), questions=8)
    made_by = (fairness(survey, Design(resamples=999)), context(survey, Design(resamples=200)))
    for found in (*made_by, baselines(survey, Design(resamples=1_000))):
        assert read_again(found) == found
        text = as_json(found).replace(f'"{name}"', '"other"')
        with pytest.raises(msgspec.ValidationError, match=name):
            msgspec.convert(json.loads(text), type(found))


def test_too_few_questions_to_show_anything_are_said() -> None:
    """Six questions have 64 orders of signs, of which two are the most extreme: 2/64 · 6 comparisons."""
    survey = made(3, models={"a": 0.9, "b": 0.95}, questions=6)
    said = [one.text for one in baselines(survey, Design()).statements if "Not told apart" in one.text]
    assert said
    assert all(text.endswith("with 6 questions the smallest possible adjusted p is 0.19.") for text in said)
    many = baselines(made(3, models={"a": 0.9, "b": 0.95}, questions=20), Design())
    assert not any("smallest possible adjusted p" in one.text for one in many.statements)


# ---------------------------------------------------------------------------------------------------------- equal


@pytest.mark.parametrize("decimals", [0, 1, 2, 4])
def test_a_rounded_baseline_is_equal_to_it(decimals: int) -> None:
    """A marginal that somebody wrote down as percentages is that marginal, whatever a test says."""
    survey = made(2, questions=30)
    baseline = survey.baselines["marginal, left out"]
    percent = np.round(100 * baseline, decimals)
    written = _predicting(survey, {"written": percent / percent.sum(axis=1, keepdims=True)})
    found = against(written, ["marginal, left out"], Design())
    assert found[0].difference.value is not None
    assert abs(found[0].difference.value) < 1e-3
    assert found[0].position == "equal"
    section = baselines(written, Design())
    said = [one.text for one in section.statements if one.holds]
    assert any(text.startswith("Equal to the baseline “marginal, left out” (within ±0.001") for text in said)


@pytest.mark.parametrize("name", ["uniform", "marginal", "marginal, left out"])
@pytest.mark.parametrize("seed", range(3))
def test_a_baseline_up_to_rounding_has_no_difference_to_it(name: str, seed: int) -> None:
    """Shares that are off by ulps, all questions the same way: equal, with p = 1 and no width."""
    survey = made(seed, questions=30)
    shares = survey.baselines[name]
    off = shares * (1 + np.random.default_rng(seed).integers(0, 9, shares.shape) * np.finfo(float).eps)
    written = _predicting(survey, {"off": off, "again": shares})
    for one in against(written, [name], Design()):
        assert one.position == "equal"
        assert (one.difference.value, one.test.p_value, one.p_adjusted) == (0, 1, 1)
        assert one.together is not None
        assert (one.together.low, one.together.high) == (0, 0)
    board = pairs(written, Design()).leaderboard
    assert board is not None
    assert [(pair.difference.value, pair.test.p_value) for pair in board.pairs] == [(0, 1)]


def test_the_true_answers_up_to_rounding_score_the_same() -> None:
    """Near a score of 1 the root makes 1e-8 of what rounding leaves of the divergence."""
    survey = made(2, questions=30)
    off = survey.truth.shares * (1 + np.random.default_rng(2).integers(-9, 9, survey.truth.shares.shape) * 1e-16)
    rows = _predicting(survey, {"off": off / off.sum(axis=1, keepdims=True)}).predictions
    written = Survey(survey.truth, rows, prior=survey.truth)
    np.testing.assert_array_equal(written.baseline_scores["prior round"], 1.0)
    found = against(written, ["prior round"], Design())[0]
    assert (found.difference.value, found.p_adjusted, found.position) == (0, 1, "equal")


def _one(low: float, high: float, p: float, margin: float = 0.001) -> Against:
    survey = made(0, models={"a": 0.3}, questions=6)
    found = against(survey, ["uniform"], Design())[0]
    return replace(found, together=Interval(low, high, 0.95, "x"), p_adjusted=p, margin=margin)


def test_places_by_hand() -> None:
    assert _one(0.0001, 0.0009, 0.0044).position == "equal"  # significant, and nobody cares
    assert _one(0.0001, 0.0011, 0.0044).position == "above"
    assert _one(-0.02, -0.01, 0.001).position == "below"
    assert _one(-0.02, 0.01, 0.4).position == "not told apart"
    assert _one(-0.02, 0.01, 0.4, margin=0.03).position == "equal"
    assert replace(_one(-0.002, 0.0005, 0.1), same=True).position == "equal"  # whole percentages
    assert replace(_one(0.002, 0.004, 0.01), same=True).position == "above"


def test_every_model_is_in_one_place() -> None:
    survey = made(3, models={"a": 0.2, "b": 0.5, "c": 0.9})
    found = against(survey, survey.baseline_scores, Design())
    for name in survey.baseline_scores:
        assert sorted(model for own in placed(found, name).values() for model in own) == ["a", "b", "c"]


# ------------------------------------------------------------------------------------------------------- too good


def _with_a_cheat() -> Survey:
    survey = made(4, models={"fair": 0.3}, questions=20)
    return _predicting(survey, {"cheat": survey.truth.shares, "fair": survey.predictions.shares})


def test_a_model_that_knows_the_sample_is_warned_of_and_not_corrected() -> None:
    survey = _with_a_cheat()
    assert beyond_ceiling(survey, 0.95) == (True, False)
    warned = [said for said in noise(survey, Design()).statements if said.warning]
    assert [said.holds for said in warned] == [True]
    assert "cheat scores 1.0000, more than the" in warned[0].text
    found = fairness(survey, Design(resamples=999))
    for category in found.categories:
        cheat, fair = category.gaps
        assert cheat.gap == pytest.approx(0.0, abs=1e-9)
        assert (cheat.equal_gap, cheat.expected, cheat.p_adjusted, cheat.together) == (None, None, None, None)
        assert cheat.excess.reason == cheat.test.reason == KNOWS_THE_SAMPLE
        assert cheat.sampling is not None
        assert (cheat.sampling.value, cheat.sampling.reason) == (None, KNOWS_THE_SAMPLE)
        assert fair.p_adjusted is not None
        assert fair.test.p_value is not None
        assert fair.p_adjusted == pytest.approx(min(1.0, 2 * fair.test.p_value))  # of two gaps: the cheat's are none
    assert any(f"for cheat: {KNOWS_THE_SAMPLE}" in said.text for said in found.statements if not said.holds)
    one = next(m for m in intervals(survey, Design(resamples=200)).models if m.model == "cheat")
    assert (one.corrected.value, one.corrected.reason) == (None, KNOWS_THE_SAMPLE)
    assert one.divergence.value is None


def test_warnings_have_their_own_list() -> None:
    report = report_of(_with_a_cheat(), Design(resamples=1_000), ["scores", "noise", "fairness"])
    assert report.sentence.endswith("cheat must have seen the sample: see the warnings.")
    _, warnings, *rest = report.for_a_paper
    assert warnings.title == "Warnings"
    assert "more than the" in warnings.said[0]
    assert not any("more than the" in text for section in rest for text in section.said)
    assert [said for said in report.to_dict()["sections"]["noise"]["statements"] if said["warning"]]


def test_a_perfect_prediction_is_not_too_good_coverage() -> None:
    """The truth itself, against many samples: warned of in at most 5% of the surveys, and 2.6 errors more."""
    count, warned = 60, 0
    world = World(20, (40, 80, 160, 400), 5)
    for seed in range(count):
        warned += any(beyond_ceiling(world.asked(np.random.default_rng(seed)), 0.95))
    assert warned <= 0.05 * count + 2.6 * np.sqrt(0.05 * 0.95 * count)
