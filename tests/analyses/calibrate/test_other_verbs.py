"""Simulated leaderboards, certificates, summaries and surveys: the worlds by numpy, the rates by exact laws."""

from math import log
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from assay import examples
from assay.analyses.calibrate import calibrate
from assay.analyses.calibrate.ranking import OwnModels
from assay.analyses.calibrate.surveying import PERFECT, OwnSurvey
from assay.analyses.survey import load, on_shared_cells
from assay.analyses.survey.evidence import Survey
from assay.certificate.calibrated import limit_of
from assay.data import Panel
from assay.design import Policy
from assay.stats.survey import divergence, score_of
from tests.analyses.calibrate.samples import losses, scores

FOLDER = Path(examples.__file__).parent / "survey"


def assert_share(found: float | None, expected: float, n: int) -> None:
    assert found is not None
    assert abs(found - expected) <= 4 * np.sqrt(max(expected * (1 - expected), 1e-9) / n) + 1e-12


# ---------------------------------------------------------------------------------------------------------- summarize


def test_agresti_and_coull_of_0_1_scores_against_enumeration_with_statsmodels() -> None:
    """All counts of a binomial with the smoothed share."""
    n, right = 12, 10
    share = (right + 0.5) / (n + 1)
    limits = [proportion_confint(count, n, method="agresti_coull") for count in range(n + 1)]
    chances = stats.binom.pmf(np.arange(n + 1), n, share)
    expected = sum(p for p, (low, high) in zip(chances, limits, strict=True) if low <= share <= high)
    panel = Panel.from_arrays((np.arange(n) < right).astype(np.float64))
    found = calibrate(panel, verb="summarize", simulations=300).worlds[0].methods[0]
    assert_share(found.covered.value, float(expected), 300)


# --------------------------------------------------------------------------------------------------------------- rank


def test_equal_models_are_recentred_or_dealt() -> None:
    values = np.random.default_rng(1).normal([0, 1, 2], size=(30, 3))
    equal = OwnModels.of(Panel.from_arrays(values)).equal()
    assert not equal.dealt
    assert np.ptp(equal.panel.values.mean(axis=0)) < 1e-12
    assert equal.truth == pytest.approx(np.full(3, values.mean()))
    right = (values > 1).astype(np.float64)
    dealt = OwnModels.of(Panel.from_arrays(right)).equal()
    assert dealt.dealt
    assert dealt.truth == pytest.approx(np.full(3, right.mean()))
    sums = [dealt.draw(np.random.default_rng([2, i])).numerators.sum(axis=0) for i in range(400)]
    means, errors = np.mean(sums, axis=0) / 30, np.std(sums, axis=0) / 30 / 20
    assert np.all(np.abs(means - right.mean()) < 4 * errors)


def test_a_cluster_is_dealt_alike() -> None:
    right = np.tile([1.0, 0.0, 0.0], (12, 1))
    world = OwnModels.of(Panel.from_arrays(right, clusters=np.arange(12) // 4)).equal()
    again = world.draw(np.random.default_rng(3))
    assert again.clusters is not None
    for code in range(3):
        assert np.ptp(again.numerators[again.clusters == code], axis=0).tolist() == [0, 0, 0]


def test_family_wise_error_of_two_normal_models_is_that_of_the_t_test_coverage() -> None:
    """Two models are one pair: with Student's test and interval on a large normal sample, the rate is close to 5%."""
    rng = np.random.default_rng(2)
    panel = Panel.from_arrays(rng.normal(size=(150, 2)))
    found = calibrate(panel, verb="rank", method="t", test="t", simulations=200).worlds[0].rates
    rates = {one.key: one for one in found}
    assert_share(rates["false_claims"].found.value, 0.05, 200)
    assert_share(rates["equal_pairs"].found.value, 0.95, 200)
    assert rates["false_claims"].nominal == pytest.approx(0.05)


def test_nothing_is_promised_of_false_discoveries() -> None:
    panel = Panel.from_arrays(np.random.default_rng(2).normal(size=(25, 3)))
    rates = {one.key: one for one in calibrate(panel, verb="rank", adjust="bh", simulations=20).worlds[0].rates}
    assert rates["false_claims"].nominal is None
    assert "equal_pairs" not in rates


# ------------------------------------------------------------------------------------------------------------ certify


def test_limits_by_hand() -> None:
    assert limit_of(Policy(max_ratio=1.05), losses()) == pytest.approx(log(1.05))
    assert limit_of(Policy(max_drop=0.03), scores(1, 1, 9)) == -0.03
    worse = Panel.from_arrays(scores(1, 1, 9).numerators, lower_is_better=True)
    assert limit_of(Policy(max_drop=0.03), worse) == 0.03


@pytest.mark.slow
def test_normal_losses_at_the_limit_pass_as_often_as_they_should_coverage() -> None:
    """The upper limit of a 95% interval is below the truth in 2.5% of samples."""
    rng = np.random.default_rng(5)
    panel = Panel.from_arrays(3 + rng.normal(size=(200, 2)), kind="losses")
    found = {one.key: one for one in calibrate(panel, verb="certify", simulations=200).worlds[0].rates}
    assert_share(found["false_passes"].found.value, 0.025, 200)
    assert found["false_passes"].nominal == pytest.approx(0.025)


def test_a_model_without_a_difference_passes_a_wide_limit() -> None:
    panel = Panel.from_arrays(3 + 0.01 * np.random.default_rng(5).normal(size=(60, 2)), kind="losses")
    found = {one.key: one.found.value for one in calibrate(panel, verb="certify", simulations=20).worlds[0].rates}
    assert found["passes"] == 1.0


# ------------------------------------------------------------------------------------------------------------- survey


@pytest.fixture(scope="module")
def survey() -> Survey:
    return on_shared_cells(load(FOLDER / "survey.json", [FOLDER / "predictions.csv"]))


def test_true_shares_are_smoothed_and_the_perfect_model_tells_them(survey: Survey) -> None:
    world = OwnSurvey.of(survey).with_perfect()
    options = survey.truth.options
    counts = survey.truth.shares * survey.truth.n[:, None]
    expected = (counts + 0.5) / (survey.truth.n + 0.5 * options)[:, None]
    there = survey.truth.mask
    assert world.truth.shares[there] == pytest.approx(expected[there])
    assert not world.truth.shares[~there].any()
    assert world.predictions.models[-1] == PERFECT
    assert world.scores[-1] == pytest.approx(1.0)
    order = np.lexsort(
        (world.predictions.run, world.predictions.context, world.predictions.model, world.predictions.cell)
    )
    assert order.tolist() == list(range(len(order)))


def test_shuffled_predictions_are_those_of_other_segments_of_the_same_question(survey: Survey) -> None:
    world = OwnSurvey.of(survey)
    moved = world.shuffled(np.random.default_rng(1))
    question = survey.truth.question
    for q in range(len(survey.truth.questions)):
        before = survey.predictions.shares[question[survey.predictions.cell] == q]
        after = moved.shares[question[moved.cell] == q]
        assert sorted(map(tuple, before.tolist())) == sorted(map(tuple, after.tolist()))
    assert (moved.shares != survey.predictions.shares).any()


def test_segments_that_are_alike_have_the_same_true_score(survey: Survey) -> None:
    alike = OwnSurvey.of(survey).alike()
    told = alike.predictions
    found = score_of(divergence(alike.truth.shares[told.cell], told.shares))
    place = told.model * len(survey.truth.questions) + survey.truth.question[told.cell]
    for code in np.unique(place):
        assert np.ptp(found[place == code]) < 1e-12


@pytest.mark.slow
def test_a_survey_is_simulated() -> None:
    found = calibrate(FOLDER / "survey.json", FOLDER / "predictions.csv", verb="survey", simulations=20)
    keys = [one.key for one in found.worlds[0].rates]
    assert keys[:3] == ["shuffled", "gaps", "beyond"]
    assert found.command is None  # which only the command line names
