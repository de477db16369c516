"""What a perfect prediction scores: against enumeration, scipy's distance and χ, and the recipe's own table."""

import json
from itertools import product
from math import factorial, sqrt

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import chi

import assay
from assay import SurveyPlan, UsageError
from assay.analyses.power import power
from assay.analyses.power.survey_noise import SurveyNoise, survey_noise
from assay.results.figures import Curve
from assay.stats.survey.respondents import drawn_moments

#: Appendix A of the published analysis: options, respondents, E[JSD], E[JS distance], E[similarity].
PUBLISHED = """
3 20 0.072 0.269 0.731
3 50 0.029 0.170 0.830
3 100 0.014 0.120 0.880
3 500 0.003 0.054 0.946
4 20 0.108 0.329 0.671
4 50 0.043 0.208 0.792
4 100 0.022 0.147 0.853
4 500 0.004 0.066 0.934
5 20 0.144 0.380 0.620
5 50 0.058 0.240 0.760
5 100 0.029 0.170 0.830
5 500 0.006 0.076 0.924
6 20 0.180 0.425 0.575
6 50 0.072 0.269 0.731
6 100 0.036 0.190 0.810
6 500 0.007 0.085 0.915
"""


def test_the_grid_is_the_published_one_and_its_numbers_stand_beside_ours() -> None:
    found = power(SurveyPlan())
    rows = [line.split() for line in PUBLISHED.split("\n") if line]
    assert [(cell.options, cell.respondents) for cell in found.cells] == [(int(r[0]), int(r[1])) for r in rows]
    for cell, row in zip(found.cells, rows, strict=True):
        recipe = cell.recipe_jsd, cell.recipe_distance, cell.recipe_ceiling
        assert recipe == pytest.approx([float(text) for text in row[2:]], abs=0.0011)
        assert cell.ceiling > cell.recipe_ceiling


@pytest.mark.parametrize(("shares", "n"), [((0.5, 0.5), 5), ((0.2, 0.3, 0.5), 6), ((0.05, 0.15, 0.3, 0.5), 5)])
def test_listed_against_enumeration(shares: tuple[float, ...], n: int) -> None:
    cell = power(SurveyPlan(shares=shares, respondents=[n])).cells[0]
    jsd = root = 0.0
    for counts in product(range(n + 1), repeat=len(shares)):
        if sum(counts) == n:
            ways = factorial(n) / np.prod([factorial(c) for c in counts])
            chance = ways * np.prod([p**c for p, c in zip(shares, counts, strict=True)])
            distance = float(jensenshannon(np.array(counts) / n, shares, base=2))
            jsd, root = jsd + chance * distance**2, root + chance * distance
    assert cell.how == "listed"
    assert (cell.jsd, cell.distance) == pytest.approx((jsd, root))


@pytest.mark.parametrize(("k", "n", "how"), [(4, 20, "listed"), (6, 50, "drawn"), (5, 100, "formula")])
def test_every_way_against_scipys_distance_of_drawn_samples(k: int, n: int, how: str) -> None:
    cell = power(SurveyPlan(options=[k], respondents=[n])).cells[0]
    drawn = np.random.default_rng(0).multinomial(n, np.full(k, 1 / k), 40_000) / n
    distances = jensenshannon(drawn, np.full(drawn.shape, 1 / k), base=2, axis=1)
    error = float(distances.std() / 200)
    assert cell.how == how
    within = 4 * error + (0.02 * cell.distance if how == "formula" else 4 * (cell.error or 0.0))
    assert cell.distance == pytest.approx(float(distances.mean()), abs=within)
    assert cell.jsd == pytest.approx(float((distances**2).mean()), rel=0.04)


def test_the_formula_against_scipys_chi_distribution() -> None:
    for k, n in ((2, 7), (4, 20), (9, 300)):
        cell = power(SurveyPlan(options=[k], respondents=[n])).cells[0]
        assert 1 - cell.formula_ceiling == pytest.approx(float(chi(k - 1).mean()) / sqrt(8 * n * np.log(2)))


def test_four_options_and_twenty_people_as_simulated_elsewhere() -> None:
    """The value that a simulation of 400,000 samples gave: 0.842; the formula 0.848, the published recipe 0.67."""
    cell = power(SurveyPlan(options=[4], respondents=[20])).cells[0]
    assert (round(cell.ceiling, 3), round(cell.formula_ceiling, 3), round(cell.recipe_ceiling, 2)) == (
        0.842,
        0.848,
        0.67,
    )


def test_drawn_moments_are_the_same_compiled_and_not(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = np.array([0.9, 0.07, 0.03])
    plain = drawn_moments(shares, 40, 500)
    monkeypatch.setattr("assay.stats.survey.respondents._COMPILE_ABOVE", 0.0)
    assert drawn_moments(shares, 40, 500) == plain


def test_record_text_and_frame() -> None:
    found = assay.power(SurveyPlan(options=[3, 4], respondents=[20, 50]))
    assert SurveyNoise.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert found.sentence.startswith(
        "With 3 to 4 options and 20 to 50 respondents a perfect prediction scores 0.842 to"
    )
    assert len(found.to_frame()) == 4
    figure = found.figures[0]
    assert isinstance(figure, Curve)
    assert [series.label for series in figure.axes[0].series] == ["3 options", "4 options"]
    one = power(SurveyPlan(shares=[60, 40], respondents=[30]))
    assert one.figures == ()
    assert one.shares == (0.6, 0.4)


def test_more_respondents_and_fewer_options_raise_the_ceiling() -> None:
    found = {(c.options, c.respondents): c.ceiling for c in survey_noise(SurveyPlan(respondents=(10, 40, 160))).cells}
    assert all(found[k, n] < found[k, 4 * n] for k in (3, 4, 5, 6) for n in (10, 40))
    assert all(found[k, n] > found[k + 1, n] for k in (3, 4, 5) for n in (10, 40, 160))


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"options": [1]}, "`options` must be whole numbers from 2 to 100, but got 1"),
        ({"options": []}, "`options` must be one number or more"),
        ({"respondents": [0]}, "`respondents` must be whole numbers from 1"),
        ({"shares": [0.5, 0.4]}, "sum to 0.9"),
        ({"shares": [1.0]}, "two numbers or more"),
        ({"shares": [0.9996, 0.0004]}, "0.1% or more each"),
        ({"options": range(2, 60), "respondents": range(1, 60)}, "more than 1,000 rows"),
    ],
)
def test_bad_plans_are_refused(plan: dict[str, list[int]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SurveyPlan(**plan)


def test_nothing_is_taken_beside_a_plan_of_a_survey() -> None:
    with pytest.raises(UsageError, match="takes nothing beside it"):
        power(SurveyPlan(), items=3)  # type: ignore[call-overload]
