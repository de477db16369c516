"""Every arm against the untrained base that it started from, on the same text."""

import json
import shutil
from math import exp
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import assay
from assay.analyses.tune import tune
from tests.analyses.tune.shipped import FULL, LORA, mean_loss
from tests.analyses.tune.test_validation import trainer
from tests.training.runs import write_run


def started_from(folder: Path, run: Path, base: Path) -> Path:
    """A shipped run whose base is said to be another model, with other losses on the same windows."""
    shutil.copytree(run, folder)
    shutil.rmtree(folder / "windows-base", ignore_errors=True)
    shutil.copytree(base / "windows", folder / "windows-base")
    return folder


def test_over_seeds_it_is_student_of_the_differences_against_scipy(tmp_path: Path) -> None:
    runs = [started_from(tmp_path / run.name, run, LORA[0]) for run in FULL]
    (found,) = tune(*runs).adapted
    gaps = np.array([mean_loss(run) - mean_loss(LORA[0]) for run in FULL])
    wanted = stats.t.interval(0.95, 2, gaps.mean(), stats.sem(gaps))
    assert found.ratio.value == pytest.approx(exp(gaps.mean()))
    assert found.ratio.interval is not None
    assert (found.ratio.interval.low, found.ratio.interval.high) == pytest.approx(tuple(np.exp(wanted)))
    assert found.seeds_test.p_value == pytest.approx(stats.ttest_1samp(gaps, 0).pvalue)
    assert (found.base_loss, found.loss) == pytest.approx((mean_loss(LORA[0]), np.mean([mean_loss(r) for r in FULL])))
    assert found.verdict == "better"
    a, b = (f"{exp(loss):.4g}" for loss in (found.base_loss or 0, found.loss or 0))
    assert found.sentence.startswith(f"full is better than the untrained base: perplexity {a} → {b} (ratio 0.0")
    assert "; 3 seeds; 105 windows in 16 clusters" in found.sentence


def test_of_one_seed_it_is_the_comparison_of_the_windows(tmp_path: Path) -> None:
    """What `compare` says of the same two files, whose own oracles are in its tests; the value by hand."""
    run = started_from(tmp_path / "run", FULL[0], LORA[0])
    (found,) = tune(run).adapted
    compared = assay.compare(LORA[0] / "windows", FULL[0] / "windows", cluster="document")
    assert found.ratio.value == pytest.approx(exp(mean_loss(FULL[0]) - mean_loss(LORA[0])))
    assert compared.ratio is not None
    assert found.ratio.interval == compared.ratio.interval
    assert found.windows is not None
    assert found.windows.p_value == compared.p_value
    assert "one seed; 105 windows in 16 clusters" in found.sentence


def test_a_base_that_is_the_trained_model_shows_no_difference(tmp_path: Path) -> None:
    run = started_from(tmp_path / "run", FULL[0], FULL[0])
    (found,) = tune(run).adapted
    assert found.verdict == "no difference shown"
    assert found.ratio.value == 1
    assert found.sentence.startswith("No difference shown between the untrained base and full: perplexity ")


def test_the_loss_at_step_0_is_the_bases_where_no_windows_were_scored(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / f"{i}", [3.0, 2.0], seed=i, valid={0: 3.0, 2: 2.0 + i / 10}) for i in range(3)]
    (found,) = tune(*runs).adapted
    low, high = np.exp(stats.t.interval(0.95, 2, -0.9, stats.sem([-1.0, -0.9, -0.8])))
    assert found.ratio.interval is not None
    assert (found.ratio.interval.low, found.ratio.interval.high) == pytest.approx((low, high))
    (one,) = tune(runs[0]).adapted
    assert (one.verdict, one.ratio.interval) == ("not measured", None)
    assert one.ratio.value == pytest.approx(exp(-1))
    assert one.sentence == (
        "full since the untrained base: perplexity 20.09 → 7.389 "
        "(ratio 0.367879; no interval: one run, and no loss for each window of text)."
    )


def test_a_trainer_that_evaluates_at_the_start_is_compared_and_others_say_why_not(tmp_path: Path) -> None:
    path = trainer(tmp_path / "a" / "trainer_state.json", eval_loss=[2.0, 1.5, 1.2, 1.0])
    (missing,) = tune(path).adapted
    assert (missing.verdict, missing.sentence, missing.base_loss) == ("not measured", "", None)
    assert "a: not compared with the untrained base: the log has no validation loss before the first step" in (
        tune(path).notes
    )
    state = json.loads(path.read_text())
    state["log_history"].insert(0, {"step": 0, "eval_loss": 4.0})
    path.write_text(json.dumps(state))
    (found,) = tune(path).adapted
    assert (found.base_loss, found.loss, found.ratio.value) == (4.0, 1.0, None)  # not known to be a language model's
    assert "validation loss 4 → 1 (difference −3;" in found.sentence
    (known,) = tune(path, language_model=True).adapted
    assert known.ratio.value == pytest.approx(exp(-3))


def test_a_loss_at_step_0_alone_is_not_the_trained_models(tmp_path: Path) -> None:
    (found,) = tune(write_run(tmp_path / "a", [3.0, 2.0], valid={0: 3.0})).adapted
    assert (found.verdict, found.loss) == ("not measured", None)
    assert found.seeds.reason == "the log has no validation loss after the first step"


def test_a_run_that_diverged_is_not_compared(tmp_path: Path) -> None:
    (found,) = tune(write_run(tmp_path / "a", [3.0, "nan"], valid={0: 3.0, 2: 2.0})).adapted
    assert (found.verdict, found.sentence) == ("not measured", "")
