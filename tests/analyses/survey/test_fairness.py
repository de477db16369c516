from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import permutation_test
from statsmodels.stats.multitest import multipletests

from assay.analyses.survey.category_gaps import CategoryGap, Fairness
from assay.analyses.survey.evidence import Survey
from assay.analyses.survey.fairness import fairness
from assay.data.survey.predictions import SCORE_ONLY
from assay.data.survey.truth import Cell, truth_of
from assay.design import Design
from assay.stats.survey.respondents import DRAWS
from assay.stats.units import Floats, Integers
from tests.analyses.survey.surveys import made, read_again

QUICK = Design(resamples=999)


def _gap(found: Fairness, category: str, model: str) -> CategoryGap:
    gaps = next(one.gaps for one in found.categories if one.name == category)
    return next(gap for gap in gaps if gap.model == model)


def test_published_gaps_against_scipy_cell_by_cell() -> None:
    survey = made()
    found = fairness(survey, QUICK)
    truth, predictions = survey.truth, survey.predictions
    for m, model in enumerate(survey.models):
        means: dict[str, list[float]] = {}
        for row in np.flatnonzero(predictions.model == m).tolist():
            cell = predictions.cell[row]
            score = 1 - jensenshannon(truth.shares[cell], predictions.shares[row], base=2)
            means.setdefault(truth.segments[truth.segment[cell]].id, []).append(score)
        for category in found.categories:
            values = {name: float(np.mean(means[name])) for name in category.segments}
            gap = _gap(found, category.name, model)
            assert gap.gap == pytest.approx(max(values.values()) - min(values.values()), abs=1e-7)
            assert gap.best == max(values, key=lambda name: values[name])
            assert gap.worst == min(values, key=lambda name: values[name])


def test_gap_at_equal_n_against_numpy_hypergeometric_parts() -> None:
    """Slow twin: every answer thinned to 30 respondents by numpy's own generator, many times."""
    survey = made(questions=12)
    rng, truth, predictions = np.random.default_rng(3), survey.truth, survey.predictions
    m, means = survey.models.index("fair"), []
    for segment in (0, 1, 2):
        scores = []
        for cell in np.flatnonzero(truth.segment == segment).tolist():
            row = np.flatnonzero((predictions.cell == cell) & (predictions.model == m))[0]
            counts = np.round(truth.shares[cell] * truth.n[cell]).astype(int)
            parts = rng.multivariate_hypergeometric(counts, 30, size=400)
            scores.append(np.mean([1 - jensenshannon(part, predictions.shares[row], base=2) for part in parts]))
        means.append(np.mean(scores))
    gap = _gap(fairness(survey, QUICK), "age", "fair")
    noise = 0.06 * np.sqrt(2 / (12 * DRAWS))  # of the parts that were drawn, of two segments
    assert gap.equal_gap == pytest.approx(np.ptp(means), abs=4 * noise)


def test_a_perfect_model_shows_a_gap_that_is_not_taken_for_unfair() -> None:
    found = fairness(made(1, questions=30), QUICK)
    age = _gap(found, "age", "perfect")
    category = found.categories[0]
    assert age.gap is not None
    assert age.gap > 0.05  # 30 respondents against 600
    assert age.gap == pytest.approx(category.perfect_gap, abs=0.03)
    assert age.expected is not None
    assert age.expected.mean == pytest.approx(age.gap, abs=0.03)
    assert age.test.p_value is not None
    assert age.test.p_value > 0.05
    assert any("A perfect model would show a gap" in said.text for said in found.statements)


def test_a_segment_that_is_predicted_worse_is_found() -> None:
    survey = made(2, models={"unfair": 0.15}, questions=40, worse={2: 0.3})  # the largest segment of age
    found = fairness(survey, QUICK)
    gap = _gap(found, "age", "unfair")
    assert gap.p_adjusted is not None
    assert gap.p_adjusted <= 0.05
    assert gap.equal_worst == "age:s2"
    assert gap.excess.interval is not None
    assert gap.excess.interval.low > 0
    assert any(said.holds and "unfair predicts segments of age unequally" in said.text for said in found.statements)
    withheld = [said for said in found.statements if not said.holds]
    assert any("for unfair in place" in said.text for said in withheld)


def test_adjusted_p_values_against_statsmodels_over_models_and_categories() -> None:
    found = fairness(made(3, models={"a": 0.2, "b": 0.3, "c": 0.4}, worse={1: 0.1}), QUICK)
    gaps = [gap for category in found.categories for gap in category.gaps]
    p = [gap.test.p_value for gap in gaps]
    assert len(p) == 6
    for method, own in (("bonferroni", [g.p_adjusted for g in gaps]), ("fdr_bh", [g.benjamini_hochberg for g in gaps])):
        assert own == pytest.approx(multipletests(p, method=method)[1].tolist(), rel=1e-12)


def _with_defining(survey: Survey) -> Survey:
    """Question 0 is what the segments of place are made by."""
    truth = survey.truth
    cells = []
    for cell in range(len(truth)):
        q, s = int(truth.question[cell]), int(truth.segment[cell])
        own = [1.0, 0.0, 0.0] if s == 3 else [0.0, 1.0, 0.0]
        shares = own if q == 0 and s >= 3 else truth.shares[cell].tolist()
        cells.append(Cell(q, s, shares, int(truth.n[cell])))
    return Survey(truth_of("made", None, (truth.questions, truth.segments), cells), survey.predictions)


def test_a_question_that_defines_the_segments_is_left_out() -> None:
    plain = made(4)
    changed = fairness(_with_defining(plain), QUICK)
    age, place = changed.categories
    assert (age.questions, age.left_out) == (20, 0)
    assert (place.questions, place.left_out) == (19, 1)
    assert age == fairness(plain, QUICK).categories[0] or age.gaps[0].gap == pytest.approx(
        fairness(plain, QUICK).categories[0].gaps[0].gap
    )
    assert "without the 1 question used to define them" in changed.tables[1].about


def test_scores_without_distributions_are_not_tested() -> None:
    survey = made(5, models={"light": 0.2})
    rows = survey.predictions
    light = replace(
        rows,
        status=np.full(len(rows), SCORE_ONLY, dtype=np.int8),
        reported=np.full(len(rows), 0.8),
        shares=0 * rows.shares,
    )
    found = fairness(Survey(survey.truth, light), QUICK)
    gap = _gap(found, "age", "light")
    assert (gap.gap, gap.equal_gap, gap.expected, gap.p_adjusted) == (0.0, None, None, None)
    assert "scores without distributions" in str(gap.test.reason)
    assert any(not said.holds and "scores without distributions" in said.text for said in found.statements)


def test_a_model_without_answers_in_some_segments() -> None:
    survey = made(6)
    rows = survey.predictions
    first = rows.models.index("fair")
    kept = ~((rows.model == first) & (survey.truth.segment[rows.cell] == 4))
    parts = {
        name: getattr(rows, name)[kept] for name in ("model", "cell", "context", "run", "shares", "status", "reported")
    }
    found = fairness(Survey(survey.truth, replace(rows, **parts)), QUICK)
    gap = _gap(found, "place", "fair")
    assert (gap.gap, gap.best, gap.p_adjusted) == (None, None, None)
    assert gap.test.reason == "no two segments have 6 questions in common"
    assert _gap(found, "place", "perfect").p_adjusted is not None


def test_a_category_of_one_segment_is_noted() -> None:
    survey = made(7)
    segments = [replace(s, category="alone" if i == 4 else s.category) for i, s in enumerate(survey.truth.segments)]
    found = fairness(Survey(replace(survey.truth, segments=tuple(segments)), survey.predictions), QUICK)
    assert [category.name for category in found.categories] == ["age"]
    assert found.notes == (
        "category 'place' has one segment: nothing to compare",
        "category 'alone' has one segment: nothing to compare",
    )


def test_the_record_comes_back_from_json() -> None:
    found = fairness(made(8), QUICK)
    assert read_again(found) == found
    assert all(len(row) == len(table.header) for table in found.tables for row in table.rows)


def test_too_few_resamples_for_so_many_gaps_are_noted() -> None:
    """Of m gaps no adjusted p is below m/(B + 1), and m/0.01 resamples would do."""
    survey = made(8)
    few, enough = (fairness(survey, Design(level=level, resamples=199)).notes for level in (0.99, 0.95))
    gaps = sum(gap.test.p_value is not None for one in fairness(survey, QUICK).categories for gap in one.gaps)
    assert len(few) == 1
    assert f"with 199 resamples, no p-value adjusted for {gaps} gaps can be below {gaps / 200:g}," in few[0]
    assert f"shown at 0.01; take at least {100 * gaps} (`resamples`)" in few[0]
    assert enough == ()


def test_the_published_tests_of_a_gap_against_scipy_and_literal_twins() -> None:
    survey = made(2, questions=9)
    found, truth, rng = fairness(survey, QUICK), survey.truth, np.random.default_rng(0)
    gap, m = _gap(found, "place", "fair"), survey.models.index("fair")
    assert gap.recipe is not None
    own = [np.flatnonzero(truth.segment == s) for s in (3, 4)]
    scores = [survey.scores[cells, m] for cells in own]

    def largest(a: Floats, b: Floats) -> float:
        return float(abs(a.mean() - b.mean()))

    exact = permutation_test((scores[0], scores[1]), largest, permutation_type="samples", n_resamples=100_000)
    one_sided = float(np.mean(exact.null_distribution >= exact.statistic - 1e-12))
    assert gap.recipe.permutation.p_value == pytest.approx(one_sided, abs=0.06)
    drawn = [_drawn_scores(survey, cells, m, rng) for cells in own]  # (B, Q) of each segment
    gaps = np.abs(drawn[0].mean(axis=1) - drawn[1].mean(axis=1))
    interval = gap.recipe.resampling
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(np.quantile(gaps, [0.025, 0.975]), abs=0.006)
    error = np.sqrt(sum(part.var(axis=0).sum() for part in drawn)) / 9
    assert gap.recipe.analytical.statistic == pytest.approx(gap.gap / error, rel=0.15)


def _drawn_scores(survey: Survey, cells: Integers, model: int, rng: np.random.Generator) -> Floats:
    columns = []
    for cell in cells.tolist():
        row = np.flatnonzero((survey.predictions.cell == cell) & (survey.predictions.model == model))[0]
        n = int(survey.truth.n[cell])
        drawn = rng.multinomial(n, survey.truth.shares[cell], 2_000) / n
        told = np.broadcast_to(survey.predictions.shares[row], drawn.shape)
        columns.append(1 - jensenshannon(drawn, told, base=2, axis=1))
    return np.column_stack(columns)


def test_the_published_resampling_calls_the_gap_of_a_perfect_model_significant() -> None:
    found = fairness(made(), QUICK)
    gap = _gap(found, "age", "perfect")
    assert gap.recipe is not None
    assert gap.recipe.shown_at(0.95)[0]
    assert not gap.shown_at(0.95)
    table = found.tables[-1]
    assert table.key == "fairness recipe"
    assert len(table) == 4
    assert any("the published recipe calls 4 (resampling)" in remark for remark in found.remarks)


@pytest.mark.parametrize("worse", [0.0, 0.2, 0.4])
def test_a_gap_above_the_reach_is_shown_and_the_reach_is_wide_enough(worse: float) -> None:
    found = fairness(made(5, worse={1: worse}), QUICK)
    for category in found.categories:
        for gap in category.gaps:
            if gap.reach is not None and gap.equal_gap is not None and gap.equal_gap > gap.reach:
                assert gap.shown_at(0.95)
            if gap.together is not None and gap.together.low == 0:
                assert gap.reach is not None
                assert gap.equal_gap is not None
                assert gap.equal_gap <= gap.reach
