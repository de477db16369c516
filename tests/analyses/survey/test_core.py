"""Scores, baselines, noise, intervals and pairs of a survey: against scipy and slow literal twins."""

import json

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.special import rel_entr

from assay.analyses.rank import rank
from assay.analyses.survey import load, report_of, survey
from assay.analyses.survey.baseline_tests import nulls
from assay.analyses.survey.baselines import Baselines, baselines
from assay.analyses.survey.evidence import Survey, overall
from assay.analyses.survey.intervals import intervals
from assay.analyses.survey.noise import noise
from assay.analyses.survey.order import pairs
from assay.analyses.survey.result import SurveyReport
from assay.analyses.survey.scores import scores
from assay.data.survey.predictions import ERROR, OK, UNPARSEABLE, WRONG_LENGTH, Answer, predictions_of
from assay.data.survey.truth import Cell, Question, Segment, truth_of
from assay.design import Design
from assay.errors import UsageError
from assay.examples import SURVEY
from assay.stats.streams import stream_key, words
from assay.stats.units import Floats
from tests.analyses.survey.surveys import made as mixed

CORE = ("scores", "baselines", "noise", "intervals", "pairs")
MODELS = {"near": 0.1, "far": 0.6, "failing": 0.3}


def made(seed: int = 0, *, questions: int = 7, holes: bool = False, runs: int = 1) -> Survey:
    """Questions of 2 to 5 options, six segments, three models; one of them fails now and then."""
    rng = np.random.default_rng(seed)
    sizes = (12, 20, 35, 60, 150, 400)
    asked = [Question(f"q{i}", f"q{i}?", tuple("abcde"[: 2 + i % 4])) for i in range(questions)]
    segments = [Segment(f"c{i % 2}:s{i}", f"s{i}", f"c{i % 2}", n) for i, n in enumerate(sizes)]
    cells, answers = [], []
    for s, n in enumerate(sizes):
        for q, question in enumerate(asked):
            if holes and (s + q) % 5 == 0:
                continue
            logits = np.sin(np.arange(len(question.options)) * (q + 1)) + rng.normal(0, 0.5, len(question.options))
            p = np.exp(logits) / np.exp(logits).sum()
            cells.append(Cell(q, s, (rng.multinomial(n, p) / n).tolist(), n))
            for name, spread in MODELS.items():
                if holes and name == "far" and q == 1:
                    continue
                for _ in range(runs):
                    guess = np.exp(logits + spread * rng.normal(size=len(p)))
                    answers.append((name, (s, q), (guess / guess.sum()).tolist()))
    order = {place: i for i, place in enumerate(sorted((cell.segment, cell.question) for cell in cells))}
    given = [Answer(name, order[place], 0, shares, OK) for name, place, shares in answers]
    for i, status in enumerate((UNPARSEABLE, WRONG_LENGTH, ERROR)):
        at = [j for j, a in enumerate(given) if a.model == "failing"][3 * i]
        given[at] = Answer("failing", given[at].cell, 0, None, status)
    return Survey(truth_of("made", None, (asked, segments), cells), predictions_of(given, 5))


def floored(p: Floats, q: Floats) -> float:
    a, b, m = (np.maximum(x, 1e-10) for x in (p, q, (p + q) / 2))
    return 1 - float(np.sqrt((rel_entr(a, m) + rel_entr(b, m)).sum() / 2 / np.log(2)))


@pytest.mark.parametrize("holes", [False, True])
def test_baselines_against_scipy_cell_by_cell(holes: bool) -> None:
    found = made(holes=holes)
    truth, sizes = found.truth, np.array([s.n for s in found.truth.segments])
    for cell in range(len(truth)):
        k, same = int(truth.options[cell]), np.flatnonzero(truth.question == truth.question[cell])
        others = same[same != cell]
        category = truth.segments[truth.segment[cell]].category
        rest = [c for c in others.tolist() if truth.segments[truth.segment[c]].category == category]
        own = truth.shares[cell, :k]
        expected = {"uniform": np.full(k, 1 / k)}
        for name, chosen in (("marginal", same), ("marginal, pooled", others)):
            expected[name] = np.average(truth.shares[chosen, :k], axis=0, weights=sizes[truth.segment[chosen]])
        expected["marginal, left out"] = np.average(truth.shares[rest, :k], axis=0, weights=truth.n[rest])
        for name, shares in expected.items():
            np.testing.assert_allclose(found.baselines[name][cell, :k], shares, atol=1e-13)
            assert found.baseline_scores[name][cell] == pytest.approx(floored(own, shares), abs=1e-12)
            assert found.baseline_scores[name][cell] == pytest.approx(1 - jensenshannon(own, shares, base=2), abs=1e-7)


def test_scores_as_the_benchmark_and_with_failures_apart() -> None:
    found = made()
    section = scores(found, Design())
    m = found.models.index("failing")
    rows = [i for i in range(len(found.predictions)) if found.predictions.model[i] == m]
    by_segment: dict[int, list[float]] = {}
    for i in rows:
        status, cell = found.predictions.status[i], found.predictions.cell[i]
        if status != ERROR:
            fixed = {UNPARSEABLE: 0.0, WRONG_LENGTH: 0.1}
            score = fixed[status] if status in fixed else floored(found.truth.shares[cell], found.predictions.shares[i])
            by_segment.setdefault(int(found.truth.segment[cell]), []).append(score)
    expected = np.mean([np.mean(values) for values in by_segment.values()])
    own = next(one for one in section.models if one.model == "failing")
    assert own.score == pytest.approx(expected, abs=1e-12)
    assert own.honest is not None
    assert own.score is not None
    assert own.honest > own.score
    assert (own.unparseable, own.wrong_length, own.no_answer) == (1, 1, 1)
    assert own.failed == pytest.approx(2 / 41)
    assert "could not be compared" in section.statements[0].text


@pytest.mark.parametrize("holes", [False, True])
def test_shuffled_nulls_against_a_literal_twin(holes: bool) -> None:
    found, permutations = made(holes=holes), 25
    truth, weights = found.truth, found.weights
    models = np.zeros((len(found.models), permutations))
    true, mass = np.zeros(permutations), np.zeros(len(found.models))
    for q, question in enumerate(truth.questions):
        cells = np.flatnonzero(truth.question == q)
        key = stream_key(3, f"segments within {question.id}")
        random = words(key, 0, permutations * len(cells)).reshape(permutations, len(cells))
        for b in range(permutations):
            for a, s in zip(np.argsort(random[b]), range(len(cells)), strict=True):
                true[b] += weights[cells[s]] * floored(truth.shares[cells[a]], truth.shares[cells[s]])
            for m in range(len(found.models)):
                has = [i for i, c in enumerate(cells) if not np.isnan(found.scores[c, m])]
                order = np.argsort(random[b, has])
                for a, s in zip(order, range(len(has)), strict=True):
                    models[m, b] += weights[cells[has[s]]] * _score(found, m, cells[has[a]], cells[has[s]])
                mass[m] += weights[cells[has]].sum() / permutations
    got = nulls(found, permutations, 3)
    np.testing.assert_allclose(got.truth, true / weights.sum(), atol=1e-12)
    np.testing.assert_allclose(got.models, models / mass[:, None], atol=1e-12)


def _score(found: Survey, m: int, given: int, scored: int) -> float:
    rows = np.flatnonzero((found.predictions.model == m) & (found.predictions.cell == given))
    values = [
        floored(found.truth.shares[scored], found.predictions.shares[i])
        if found.predictions.status[i] == OK
        else found.row_scores[i]
        for i in rows
    ]
    return float(np.mean(values))


def test_null_p_values_are_counts_and_never_0() -> None:
    found = made()
    section = baselines(found, Design(resamples=1_000))
    null = nulls(found, 1_000, 0)
    for m, one in enumerate(section.shuffled[1:]):
        reached = (null.models[m] >= null.observed[m] - 1e-12).sum()
        assert one.p_value == (1 + reached) / 1_001
    assert sum(section.shuffled[1].counts) == 1_000


def test_reachable_range_is_a_ratio_of_means() -> None:
    found = made()
    section = noise(found, Design())
    near = next(one for one in section.models if one.model == "near")
    marginal = float(overall(found.of_baseline("marginal, left out"))[0])
    ceiling = float(overall(found.panel_of(found.ceiling))[0])
    score = float(overall(found.of_models)[found.models.index("near")])
    assert near.fraction.value == pytest.approx((score - marginal) / (ceiling - marginal), rel=1e-9)
    assert section.overall.ceiling == pytest.approx(ceiling)
    assert section.overall.ceiling > section.overall.source_ceiling
    assert section.overall.above >= section.overall.source_above


def test_resampled_scores_do_not_depend_on_how_runs_are_held() -> None:
    """Two runs of a model are averaged: the mean of the two models that each have one of them."""
    found = made(runs=2)
    drawn = found.resampled(Design(resamples=100))
    assert drawn.by_segment.shape == (6, 3, 100)
    by_context = found.resampled(Design(resamples=100), by="context")
    assert by_context.columns == ((0, 0), (1, 0), (2, 0))
    np.testing.assert_allclose(by_context.overall, drawn.overall, atol=1e-12)


def test_corrected_intervals_hold_where_percentiles_do_not() -> None:
    """C3: for a prediction that is the truth, resampling says it is not."""
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(4), size=60)
    asked = [Question(f"q{i}", f"q{i}", tuple("abcd")) for i in range(60)]
    cells = [Cell(i, 0, (rng.multinomial(50, p[i]) / 50).tolist(), 50) for i in range(60)]
    segments = [Segment("s", "s", "c", 50)]
    truth = truth_of("x", None, (asked, segments), cells)
    exact = predictions_of([Answer("true", i, 0, p[i].tolist(), OK) for i in range(60)], 4)
    one = intervals(Survey(truth, exact), Design()).models[0]
    assert one.percentile is not None
    assert one.percentile.high < 0.9
    assert one.corrected.interval is not None
    assert one.corrected.interval.low <= 1 <= one.corrected.interval.high + 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_no_score_of_a_survey_leaves_0_to_1(seed: int) -> None:
    """A perfect, a mediocre and a hopeless model, overall and by segment and question: who was asked, and what."""
    made_up = mixed(seed, models={"perfect": 0.0, "fair": 0.3, "hopeless": 1.0}, questions=6)
    found = intervals(made_up, Design(resamples=200))
    board = pairs(made_up, Design()).leaderboard
    assert board is not None
    corrected = [one.corrected.interval for one in found.models]
    corrected += [one.corrected.interval for one in (*found.segments, *found.questions)]
    over_questions = [model.estimate.interval for model in board.models]
    assert {limits.method for limits in over_questions if limits is not None} == {"agresti-coull"}
    for limits in (*corrected, *over_questions, *(one.divergence.interval for one in found.models)):
        assert limits is None or 0 <= limits.low <= limits.high <= 1


def test_pairs_are_those_of_rank_with_questions_as_clusters() -> None:
    found = made()
    board = pairs(found, Design()).leaderboard
    assert board is not None
    names = [
        f"q{q} × {found.truth.segments[s].id}" for q, s in zip(found.truth.question, found.truth.segment, strict=True)
    ]
    table = [
        {"item": name, "score": float(found.scores[c, m]), "model": model, "cluster": f"q{found.truth.question[c]}"}
        for m, model in enumerate(found.models)
        for c, name in enumerate(names)
        if not np.isnan(found.scores[c, m])
    ]
    other = rank({key: [row[key] for row in table] for key in table[0]}, cluster="cluster")
    assert [m.name for m in other.models] == [m.name for m in board.models]
    for one, two in zip(board.pairs, other.pairs, strict=True):
        assert one.test.p_value == pytest.approx(two.test.p_value, rel=1e-9)
    assert board.n_clusters == 7


def test_one_model_has_no_pair() -> None:
    found = made()
    only = predictions_of([Answer("m", 0, 0, [0.5, 0.5], OK)], 5)
    assert pairs(Survey(found.truth, only), Design()).reason == "there is only one model"


def test_a_report_survives_json_exactly() -> None:
    report = report_of(made(holes=True), Design(resamples=1_000), CORE)
    text = json.dumps(report.to_dict(), allow_nan=False)
    assert SurveyReport.from_dict(json.loads(text)) == report
    assert isinstance(report.analyses["baselines"], Baselines)
    assert "signature" in report.to_text(verbose=True)


def test_the_shipped_survey_shows_what_was_put_in() -> None:
    """Marginal knows nothing of segments; all others do, and a perfect prediction is above them all."""
    found = load(SURVEY / "survey.json", [SURVEY / "predictions.csv"], prior=SURVEY / "prior.json")
    values = dict(zip(found.models, overall(found.of_models).tolist(), strict=True))
    assert max(values.values()) < float(overall(found.panel_of(found.ceiling))[0])
    assert values["smoothed"] > values["marginal"]
    assert values["smoothed"] > values["raw"]
    section = baselines(found, Design())
    p = {null.model: null.p_adjusted for null in section.shuffled[1:]}
    assert p["marginal"] is not None
    assert p["marginal"] > 0.05
    assert all(p[name] == pytest.approx(4 / 2_001, abs=2e-3) for name in ("raw", "smoothed", "logit"))
    assert {b.name for b in section.baselines} == {
        "uniform",
        "marginal",
        "marginal, left out",
        "marginal, pooled",
        "prior round",
    }


@pytest.mark.parametrize(
    "options", [{"only": ["nothing"]}, {"min_n": 0}, {"threshold": 1.0}, {"design": Design(test="mcnemar")}]
)
def test_options_without_sense_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        survey(SURVEY / "survey.json", SURVEY / "predictions.csv", **options)  # type: ignore[arg-type]


def test_the_sources_marginal_adds_percentages_as_they_are_written() -> None:
    """Percentages rounded one by one sum to 99.8 or 100.2; the oracle is the source's own order of operations."""
    asked, segments = (
        [Question("q", "q", tuple("abc"))],
        [Segment(f"s{i}", "s", "c", n) for i, n in enumerate((11, 300, 70))],
    )
    percent = np.array([[33.3, 33.3, 33.2], [20.1, 30.1, 50.0], [10.0, 40.0, 50.0]])
    cells = [Cell(0, i, row.tolist(), segments[i].n) for i, row in enumerate(percent)]
    found = Survey(truth_of("x", None, (asked, segments), cells), predictions_of([Answer("m", 0, 0, None, ERROR)], 3))
    marginal = np.average(percent, axis=0, weights=[11, 300, 70])
    np.testing.assert_allclose(found.marginal, np.tile(marginal / marginal.sum(), (3, 1)), rtol=1e-13)
