import warnings

import numpy as np
import pandas as pd
import pingouin as pg
import pytest

from assay.analyses.survey.repeats import repeats
from assay.design import Design
from tests.analyses.survey.surveys import made, read_again


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


def test_the_record_comes_back_from_json() -> None:
    for found in (repeats(made(runs=2), Design()), repeats(made(), Design())):
        assert read_again(found) == found
        assert all(len(row) == len(table.header) for table in found.tables for row in table.rows)
