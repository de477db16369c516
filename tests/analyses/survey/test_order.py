"""Pairs, weights of segments and repeated runs: what holds of the order of models."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pingouin as pg
import pytest
from scipy.stats import kendalltau

from assay.analyses.survey.evidence import Survey, means_by
from assay.analyses.survey.order import repeats, weighting
from assay.design import Design
from tests.analyses.survey.surveys import made, read_again

MODELS = {"a": 0.2, "b": 0.25, "c": 0.3, "d": 0.5}


def test_scores_and_tau_against_numpy_and_scipy() -> None:
    survey = made(models=MODELS)
    found = weighting(survey, Design())
    segments = means_by(survey.of_models, "segment")
    n = np.array([segment.n for segment in survey.truth.segments], dtype=float)
    weights = {"n": n, "sqrt": np.sqrt(n), "log": np.log(n), 50: (n >= 50) * 1.0, 100: (n >= 100) * 1.0}
    order = [survey.models.index(name) for name in found.models]
    base = segments.mean(axis=0)[order]
    assert found.scores[0] == pytest.approx(base)
    assert [other.min_n or other.weights for other in found.others] == list(weights)
    for other, scores, weight in zip(found.others, found.scores[1:], weights.values(), strict=True):
        assert scores == pytest.approx(np.average(segments, axis=0, weights=weight)[order])
        assert other.tau == pytest.approx(kendalltau(base, scores).statistic)
        assert other.units == int((weight > 0).sum())


def _turned() -> Survey:
    """b is much better in the largest segment and worse elsewhere: weights turn the order."""
    survey = made(1, models={"a": 0.3, "b": 0.3}, questions=40)
    rows = survey.predictions
    b, large = rows.model == rows.models.index("b"), survey.truth.segment[rows.cell] == 2
    shares = rows.shares.copy()
    shares[b & large] = survey.truth.shares[rows.cell[b & large]]
    shares[b & ~large] = 0.55 * shares[b & ~large] + 0.45 * np.array([0.0, 0.0, 1.0])
    return Survey(survey.truth, replace(rows, shares=shares))


def test_an_order_that_weights_turn_is_reported() -> None:
    found = weighting(_turned(), Design())
    assert found.models == ("a", "b")
    by_n = found.others[0]
    assert [(move.name, move.rank, move.to) for move in by_n.moves] == [("a", 1, 2), ("b", 2, 1)]
    assert (by_n.tau, by_n.reversed) == (-1.0, 1)
    said = found.statements
    assert [one.holds for one in said] == [True]  # that the order changes is a finding, not something withheld
    assert "pairs that are told apart change their order" in said[0].text


def test_a_clear_order_stays() -> None:
    found = weighting(made(2, models={"good": 0.1, "bad": 0.7}), Design())
    assert all(other.tau == 1.0 and not other.moves for other in found.others)
    assert found.statements[0].holds


def test_models_without_all_segments_are_left_out() -> None:
    survey = made(3, models=MODELS)
    rows = survey.predictions
    kept = ~((rows.model == 0) & (survey.truth.segment[rows.cell] == 0))
    names = ("model", "cell", "context", "run", "shares", "status", "reported")
    found = weighting(Survey(survey.truth, replace(rows, **{n: getattr(rows, n)[kept] for n in names})), Design())
    assert found.left_out == ("a",)
    assert set(found.models) == {"b", "c", "d"}


def test_one_model_has_no_ranking() -> None:
    found = weighting(made(models={"only": 0.2}), Design())
    assert found.others == ()
    assert [said.holds for said in found.statements] == [False]


def test_weights_come_back_from_json() -> None:
    found = weighting(_turned(), Design())
    assert read_again(found) == found
    assert all(len(row) == len(table.header) for table in found.tables for row in table.rows)


def test_runs_against_numpy_and_pingouin() -> None:
    survey = made(models={"a": 0.3, "b": 0.6}, runs=3)
    rows, found = survey.predictions, repeats(survey, Design()).found
    assert found is not None
    for m, model in enumerate(found.models):
        own = rows.model == survey.models.index(model.name)
        runs = [survey.row_scores[own & (rows.run == run)] for run in range(3)]
        cells = [rows.cell[own & (rows.run == run)] for run in range(3)]
        expected = [np.average(score, weights=survey.weights[cell]) for score, cell in zip(runs, cells, strict=True)]
        assert model.scores == pytest.approx(expected, rel=1e-12), m
        assert model.run_sd.value == pytest.approx(np.std(expected, ddof=1), rel=1e-9)
        frame = pd.DataFrame({"cell": rows.cell[own], "run": rows.run[own], "score": survey.row_scores[own]})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            icc = pg.intraclass_corr(frame, targets="cell", raters="run", ratings="score")
        single = icc["ICC"].to_numpy()[1]  # the second row is agreement of single raters
        assert model.icc["ICC(2,1)"].value == pytest.approx(single, abs=1e-6)


def test_clusters_are_questions() -> None:
    found = repeats(made(runs=2), Design()).found
    assert found is not None
    assert (found.n, found.n_clusters, found.cluster_by) == (100, 20, "question")


def test_answers_given_once() -> None:
    found = repeats(made(), Design())
    assert found.found is None
    assert [said.holds for said in found.statements] == [False]
    assert "given once" in found.statements[0].text
    assert found.tables == ()


def test_runs_come_back_from_json() -> None:
    for found in (repeats(made(runs=2), Design()), repeats(made(), Design())):
        assert read_again(found) == found
        assert all(len(row) == len(table.header) for table in found.tables for row in table.rows)
