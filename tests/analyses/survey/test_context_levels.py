import warnings
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.stats.multitest import multipletests

from assay.analyses.survey.context_levels import context
from assay.analyses.survey.evidence import Survey
from assay.design import Design
from tests.analyses.survey.surveys import made, read_again


def _survey(seed: int = 0) -> Survey:
    return made(seed, models={"helped": 0.5, "perfect": 0.0}, contexts=(0, 2, 10))


@pytest.mark.parametrize("category", [None, "age"])
def test_slopes_against_statsmodels_clustered_ols(category: str | None) -> None:
    survey = _survey()
    rows, truth = survey.predictions, survey.truth
    own = [category in (None, segment.category) for segment in truth.segments]
    chosen = (rows.model == survey.models.index("helped")) & np.array(own)[truth.segment[rows.cell]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = sm.OLS(survey.row_scores[chosen], sm.add_constant(rows.context[chosen].astype(float))).fit(
            cov_type="cluster", cov_kwds={"groups": truth.question[rows.cell[chosen]]}, use_t=True
        )
    slopes = context(survey, Design()).slopes
    found = next(one for one in slopes if (one.model, one.category) == ("helped", category)).slope
    assert found.estimate.interval is not None
    assert found.estimate.value == pytest.approx(oracle.params[1], rel=1e-9)
    assert found.test.p_value == pytest.approx(oracle.pvalues[1], rel=1e-7)
    assert [found.estimate.interval.low, found.estimate.interval.high] == pytest.approx(oracle.conf_int()[1], rel=1e-7)


def test_means_by_level_against_numpy_and_adjusted_p_against_statsmodels() -> None:
    survey = _survey(1)
    rows, found = survey.predictions, context(survey, Design())
    for m, model in enumerate(survey.models):
        one = next(s for s in found.slopes if (s.model, s.category) == (model, None))
        assert one.levels == (0, 2, 10)
        means = [survey.row_scores[(rows.model == m) & (rows.context == level)].mean() for level in one.levels]
        assert one.means == pytest.approx(means, rel=1e-12)
    for family in (True, False):
        own = [s for s in found.slopes if (s.category is None) == family and s.slope.test.p_value is not None]
        oracle = multipletests([s.slope.test.p_value for s in own], method="bonferroni")[1].tolist()
        assert [s.p_adjusted for s in own] == pytest.approx(oracle, rel=1e-9)


def test_a_model_that_context_helps_and_one_that_it_does_not() -> None:
    found = context(_survey(2), Design())
    helped = next(s for s in found.slopes if (s.model, s.category) == ("helped", None))
    perfect = next(s for s in found.slopes if (s.model, s.category) == ("perfect", None))
    assert (helped.slope.estimate.value or 0) > 0
    assert (helped.p_adjusted or 1) < 0.001
    assert perfect.slope.estimate.value == pytest.approx(0, abs=1e-12)
    said = [one for one in found.statements if "helped" in one.text]
    assert said[0].holds
    assert "improve with context" in said[0].text
    assert [one.holds for one in found.statements if "for perfect" in one.text] == [False]


def test_one_level_is_no_slope() -> None:
    found = context(made(contexts=(5,)), Design())
    assert found.slopes == ()
    assert "same number of context questions" in str(found.reason)
    assert [said.holds for said in found.statements] == [False]
    assert found.tables == () == found.figures({})
    assert str(found.reason) in found.statements[0].text


def test_a_model_at_one_level_beside_others() -> None:
    survey = _survey(3)
    rows = survey.predictions
    kept = (rows.model == rows.models.index("helped")) | (rows.context == 0)
    names = ("model", "cell", "context", "run", "shares", "status", "reported")
    found = context(Survey(survey.truth, replace(rows, **{n: getattr(rows, n)[kept] for n in names})), Design())
    lacking = next(s for s in found.slopes if (s.model, s.category) == ("perfect", None))
    assert (lacking.levels, lacking.slope.estimate.value, lacking.p_adjusted) == ((), None, None)
    assert any("The effect of context cannot be measured for perfect" in said.text for said in found.statements)


def test_answers_without_a_level_are_left_out() -> None:
    survey = _survey(4)
    rows = survey.predictions
    unknown = replace(rows, context=np.where(rows.context == 10, -1, rows.context))
    slopes = context(Survey(survey.truth, unknown), Design()).slopes
    assert slopes[0].levels == (0, 2)


def test_the_record_comes_back_from_json() -> None:
    for found in (context(_survey(5), Design()), context(made(), Design())):
        assert read_again(found) == found
