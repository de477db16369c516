"""Intervals of single cells: against scipy's non-central χ², a literal twin of the recipe, by hand; their coverage."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import ncx2

from assay import Design, survey
from assay.analyses.survey.cells import CellNoise, CellScores, ModelCells, cell_limits, cells, percentiles
from assay.data.survey.predictions import ERROR, SCORE_ONLY, UNPARSEABLE
from assay.examples import SURVEY
from assay.report.files import table_csv
from assay.stats.survey import chi_noise, divergence, score_of, source_noise
from assay.stats.survey.denoised import noise_of, single_divergence
from benchmarks.simulation.surveys import World
from tests.analyses.survey.surveys import made, read_again


@pytest.mark.parametrize("chance", [0.025, 0.5, 0.975])
def test_single_divergence_against_scipys_non_central_chi_square(chance: float) -> None:
    p, q, n = np.array([[0.5, 0.3, 0.2]] * 3), np.array([[0.45, 0.35, 0.2]] * 3), np.array([20, 60, 900])
    noise, measured = noise_of(p, q, n), np.array([0.03, 0.0001, 0.02])
    found = single_divergence(measured, noise, chance)
    for r in range(3):
        value, freedom, scale = measured[r] / noise.scale[r], noise.freedom[r], noise.scale[r]

        def off(centre: float, value: float = value, freedom: float = freedom) -> float:
            return float(ncx2.cdf(value, freedom, centre)) - chance if centre else _chi(value, freedom) - chance

        expected = 0.0 if off(0.0) <= 0 else scale * float(brentq(off, 0.0, 1e4, xtol=1e-12))
        assert found[r] == pytest.approx(expected, rel=1e-6, abs=1e-12)


def _chi(value: float, freedom: float) -> float:
    from scipy.stats import chi2

    return float(chi2.cdf(value, freedom))


def test_limits_are_the_means_of_those_of_the_answers_by_hand() -> None:
    survey = made(3, contexts=(0, 10), runs=2)
    value, low, high = cell_limits(survey, 0, 0.95)
    answers, cell = survey.noisy[0], 7
    own = answers.cell == cell
    assert own.sum() == 4
    for found, chance in ((value, 0.5), (low, 0.025), (high, 0.975)):
        roots = np.sqrt(single_divergence(answers.measured, answers.noise, chance)[own])
        assert found[cell] == pytest.approx(float(np.mean(1 - roots)))
    assert np.all((low <= value) & (value <= high))


def test_failed_answers_keep_their_score_and_missing_ones_leave_no_interval() -> None:
    survey = made(4, models={"a": 0.3})
    status = survey.predictions.status.copy()
    status[0], status[1] = UNPARSEABLE, ERROR
    broken = replace(survey, predictions=replace(survey.predictions, status=status), _resampled={})
    found = cells(broken, Design(resamples=100)).models[0]
    assert (found.score[0], found.low[0], found.high[0]) == (0.0, None, None)  # nothing of it is noise
    assert (found.score[1], found.low[1], found.percentile_low[1]) == (None, None, None)
    assert found.percentile_low[0] == found.percentile_high[0] == 0.0
    assert found.low[2] is not None


def test_results_that_hold_scores_only_have_no_interval() -> None:
    survey = made(4, models={"a": 0.3})
    only = np.full(len(survey.predictions), SCORE_ONLY, dtype=np.int8)
    light = replace(survey.predictions, status=only, reported=np.full(len(only), 0.8))
    found = cells(replace(survey, predictions=light, _resampled={}), Design(resamples=100))
    assert found.models[0].score[0] == 0.8
    assert set(found.models[0].low) == set(found.models[0].percentile_low) == {None}
    assert found.models[0].reason is not None


def test_percentiles_against_a_literal_twin() -> None:
    survey, resamples = made(5, models={"a": 0.3}, questions=3), 4_000
    drawn, rng = percentiles(survey, Design(resamples=resamples)), np.random.default_rng(1)
    for c in range(len(survey.truth)):
        p, q, n = survey.truth.shares[c], survey.predictions.shares[c], int(survey.truth.n[c])
        scores = score_of(divergence(rng.multinomial(n, p, resamples) / n, q))
        low, high = drawn[0, :, c] + [1e-9, -1e-9]  # where the scores of few people have gaps, a limit is either end
        assert np.mean(scores < low) >= 0.018
        assert np.mean(scores < low - 2e-9) <= 0.033
        assert np.mean(scores > high) >= 0.018
        assert np.mean(scores > high + 2e-9) <= 0.033


def test_percentiles_do_not_depend_on_how_cells_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part draws anew, so quantiles of many draws agree."""
    survey = made(6, questions=4)
    many, design = survey.truth.n >= 120, Design(resamples=3_000)  # of few people, scores have gaps
    whole = percentiles(survey, design)
    monkeypatch.setattr("assay.analyses.survey.cells._ROOM", 3_000 * 2 * 7)
    np.testing.assert_allclose(percentiles(survey, design)[:, :, many], whole[:, :, many], atol=0.02)


def test_intervals_of_single_cells_coverage() -> None:
    """7,680 intervals at n = 12 to 300, in a world with known shares; the plain percentile covers far less."""
    world = World(20, (12, 30, 80, 300), seed=11)
    true, held, total = world.true[:, :, 0], np.zeros(4), 24
    for simulation in range(total):
        asked = world.asked(np.random.default_rng([simulation, 6]))
        for m in range(4):
            _, low, high = cell_limits(asked, m, 0.95)
            held[m] += np.mean((low - 1e-9 <= true[:, m]) & (true[:, m] <= high + 1e-9)) / total
    assert held[0] >= 0.95  # a perfect prediction is missed on one side only
    assert np.all((held[1:] > 0.93) & (held[1:] < 0.97))
    drawn = percentiles(asked, Design(resamples=200))
    assert np.mean((drawn[0, 0] <= true[:, 0]) & (true[:, 0] <= drawn[0, 1] + 1e-9)) < 0.2


def test_flags_and_ceilings_by_hand() -> None:
    survey = replace(made(7), threshold=0.93)
    found = cells(survey, Design(resamples=100))
    large = next(cell for cell in found.cells if cell.segment == "age:s2")
    n, k = np.array([600]), np.array([3])
    assert large.ceiling == pytest.approx(1 - float(chi_noise(n, k)[0]), abs=0.002)
    assert large.benchmark_ceiling == pytest.approx(1 - float(source_noise(n, k)[0]))
    assert (large.flagged, large.benchmark_flagged) == (False, False)
    small = next(cell for cell in found.cells if cell.segment == "age:s0")
    assert small.flagged
    said = [one.text for one in found.statements]
    flagged = sum(cell.flagged for cell in found.cells)
    assert any(f"In {flagged} of {len(found.cells)}" in text and f"and {flagged - 5} more" in text for text in said)
    assert len(found.tables[1]) == 10


def test_table_as_csv_and_json(tmp_path: Path) -> None:
    found = cells(made(8), Design(resamples=100))
    rows = found.table.records()
    assert len(rows) == len(found.cells) * len(found.models)
    assert list(rows[0])[:4] == ["question", "segment", "category", "n"]
    lines = table_csv(found.table).splitlines()
    assert len(lines) == len(rows) + 1
    assert lines[0].split(",") == list(rows[0])
    assert float(lines[1].split(",")[list(rows[0]).index("corrected_low")]) == rows[0]["corrected_low"]
    assert read_again(found) == found
    frame = pytest.importorskip("pandas").read_csv(_written(tmp_path, table_csv(found.table)))
    np.testing.assert_allclose(frame["score"], found.table.to_frame()["score"].astype(float))


def _written(folder: Path, text: str) -> Path:
    path = folder / "cells.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_on_the_shipped_survey_every_published_score_of_a_cell_is_there() -> None:
    paths = SURVEY / "survey.json", SURVEY / "predictions.csv"
    found = survey(*paths, only=["cells"], design=Design(resamples=100)).analyses["cells"]
    assert isinstance(found, CellScores)
    answers = json.loads(paths[0].read_text(encoding="utf-8"))
    asked = {(a["questionId"], s["id"]) for s in answers["segments"] for a in s["responses"]}
    assert {(cell.question, cell.segment) for cell in found.cells} <= asked
    assert all(low <= value <= high for m in found.models for low, value, high in _known(m))


def _known(model: ModelCells) -> list[tuple[float, float, float]]:
    rows = zip(model.low, model.corrected, model.high, strict=True)
    return [(low, value, high) for low, value, high in rows if None not in (low, value, high)]  # type: ignore[misc]


def test_a_cell_is_named_with_its_respondents() -> None:
    assert CellNoise("q1", "age:old", "age", 1_200, 3, 0.9, 0.8, False, False).name == "q1 × age:old (n = 1,200)"
