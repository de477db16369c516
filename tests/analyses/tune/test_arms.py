"""Arms: means over seeds in closed form, the baseline, and learning rates."""

import json
from math import exp
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from assay.analyses.tune import tune
from assay.analyses.tune.arms import baseline_of, lost
from assay.analyses.tune.result import TuningReport
from assay.errors import InputError, UsageError
from assay.examples import RUNS
from tests.analyses.tune.shipped import FULL, last_validation, losses, mean_loss
from tests.training.runs import write_run


def test_the_perplexity_of_an_arm_is_token_weighted_over_windows_and_a_mean_over_seeds(shipped: TuningReport) -> None:
    means = [float((loss * tokens).sum() / tokens.sum()) for loss, tokens in map(losses, FULL)]
    assert shipped.arm("full").quality["validation_loss"].value == pytest.approx(np.mean(means))
    assert shipped.arm("full").quality["perplexity"].value == pytest.approx(exp(np.mean(means)))


def test_sensitivity_is_standard_deviation_over_mean(shipped: TuningReport) -> None:
    found = shipped.sensitivity[0]
    runs = sorted((RUNS / "lora-rates").iterdir(), key=lambda run: float(run.name.removeprefix("lr-")))
    means = [last_validation(run)["loss"] for run in runs]
    assert [point.loss for point in found.points] == pytest.approx(means)
    assert found.variation == pytest.approx(np.std(means, ddof=1) / np.mean(means))
    assert found.best == found.points[int(np.argmin(means))].rate


def test_the_parameters_of_the_shipped_arms_in_closed_form(every_arm: TuningReport) -> None:
    width, keys, hidden, layers, tokens, rank = 128, 64, 320, 4, 2048, 16  # of the recipe in assay.models
    added = layers * rank * (2 * (width + width) + 2 * (width + keys) + 3 * (width + hidden))
    base, table = 952_960, tokens * width
    assert [(arm.total, arm.trainable) for arm in every_arm.arms] == [
        (base + added, added),
        (base + added + table, added + table),
        (base, base),
    ]


def test_the_perplexity_by_batch_length_is_shown_where_it_differs(shipped: TuningReport) -> None:
    means = [last_validation(run)["source_loss"] for run in FULL]
    found = shipped.arm("full").quality
    assert found["perplexity_by_batch_length"].value == pytest.approx(exp(np.mean(means)))
    assert found["perplexity_by_batch_length"].value != found["perplexity"].value


def test_time_and_parameters_in_closed_form(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", [3.0] * 20, parameters={"total": 1000, "trainable": 1000})
    b = write_run(tmp_path / "b", [3.0] * 20, arm="lora", parameters={"total": 1010, "trainable": 10})
    report = tune(a, b)
    assert report.baseline == "full"
    time = report.arm("lora").time
    assert (time["seconds_per_step"].value, time["steps_per_hour"].value) == (0.5, 7200)
    assert time["tokens_per_second"].value == pytest.approx(200)
    assert report.arm("lora").share == pytest.approx(10 / 1010)
    assert report.contrasts[0].ratios["parameters"].value == pytest.approx(0.01)
    assert report.contrasts[0].verdict == "not measured"


def test_means_over_seeds_have_students_interval_against_scipy(shipped: TuningReport) -> None:
    values = [mean_loss(run) for run in FULL]
    found = shipped.arm("full").quality["validation_loss"]
    low, high = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))
    assert (found.n, found.interval.method) == (3, "t over seeds")


def test_memory_of_training_is_the_sum_of_its_parts_else_the_peak(shipped: TuningReport, tmp_path: Path) -> None:
    memory = shipped.arm("full").memory
    parts = ("parameters", "gradients", "optimizer", "activations")
    assert memory["training"].value == pytest.approx(sum(memory[part].value or 0 for part in parts))
    bare = tune(write_run(tmp_path / "a", [3.0, 2.0]))
    assert bare.arms[0].memory == {}


def test_scores_that_are_shares_end_at_one(every_arm: TuningReport) -> None:
    for arm in every_arm.arms:
        for name in ("character_accuracy", "hiragana", "katakana", "kanji", "other"):
            limits = arm.quality[name].interval
            assert limits is not None
            assert 0 <= limits.low <= limits.high <= 1


def test_runs_of_one_arm_train_the_same_model(tmp_path: Path) -> None:
    for seed, total in enumerate((1000, 1001)):
        write_run(tmp_path / f"a{seed}", [3.0, 2.0], seed=seed, parameters={"total": total, "trainable": 10})
    with pytest.raises(InputError, match=r"different numbers of parameters \(total: 1000, 1001\)"):
        tune(tmp_path / "a0", tmp_path / "a1")


def test_runs_of_one_arm_share_steps(tmp_path: Path) -> None:
    for name, steps in (("a", (1, 2)), ("b", (3, 4))):
        rows = "".join(f"{step},{3 - step / 10}\n" for step in steps)
        (tmp_path / f"{name}.csv").write_text(f"step,loss\n{rows}")
    with pytest.raises(InputError, match="share no step with a finite loss"):
        tune(f"x={tmp_path / 'a.csv'}", f"x={tmp_path / 'b.csv'}")


def test_the_baseline_that_is_asked_for_is_taken_without_a_note(every_arm: TuningReport) -> None:
    assert baseline_of(every_arm.arms, None) == ("full", None)
    assert baseline_of(every_arm.arms, "lora r=16") == ("lora r=16", None)
    assert baseline_of((), None) == (None, None)
    with pytest.raises(UsageError, match="no arm 'x'; the arms are lora r=16, lora r=16"):
        baseline_of(every_arm.arms, "x")
    assert not any(lost(arm) for arm in every_arm.arms)


def test_rates_that_diverged_are_neither_best_nor_in_the_variation(tmp_path: Path) -> None:
    for rate, loss in ((0.01, 2.0), (0.1, 1.0), (1.0, None)):
        steps: list[float | str] = [3.0, 2.5] if loss is not None else [3.0, "nan"]
        valid = {} if loss is None else {2: loss}
        write_run(tmp_path / f"lr-{rate}", steps, sweep=True, learning_rate=rate, valid=valid)
    (found,) = tune(*sorted(tmp_path.iterdir())).sensitivity
    assert found.variation == pytest.approx(np.std([2.0, 1.0], ddof=1) / 1.5)
    assert (found.best, found.at_edge) == (0.1, False)
    assert found.sentence.endswith("0.1 is best; diverged at 1.")
    assert [point.diverged for point in found.points] == [0, 0, 1]


def test_what_only_a_gpu_knows_is_undefined_on_a_cpu_with_a_reason(shipped: TuningReport, tmp_path: Path) -> None:
    memory = shipped.arm("full").memory
    for name in ("allocated", "reserved", "peak_reserved"):
        assert (memory[name].value, memory[name].reason) == (
            None, "trained on a CPU: the resident set is measured instead",
        )  # fmt: skip
    assert "allocated" not in str(shipped)
    run = write_run(tmp_path / "gpu", [2.0, 1.0], device="cuda")
    sizes = {"allocated": 170, "reserved": 340, "peak": 190, "peak_reserved": 380, "inference": 130}
    with (run / "events.jsonl").open("a") as file:
        file.write(json.dumps({"kind": "memory", "step": 1, **sizes}) + "\n")
    report = tune(run)
    assert {name: report.arms[0].memory[name].value for name in sizes} == sizes
    assert all(f"{name.replace('_', ' ')} " in report.to_text(verbose=True) for name in sizes)
