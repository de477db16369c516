"""Reports on runs that are cut short, diverged from the start, or say little of themselves."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from assay.analyses.tune import tune
from assay.analyses.tune.result import TuningReport
from tests.training.runs import write_run

WHOLE = {"total": 1000, "trainable": 1000}
PART = {"total": 1010, "trainable": 10}


def write_table(path: Path, first: float | str = 3.0) -> Path:
    losses = [first if isinstance(first, str) else first - step / 100 for step in range(1, 21)]
    path.write_text("step,loss\n" + "".join(f"{step},{loss}\n" for step, loss in enumerate(losses, start=1)))
    return path


# ---------------------------------------------------------------------------------------------------------- divergence


def test_a_log_without_a_finite_loss_diverged_at_its_first_step(tmp_path: Path) -> None:
    report = tune(write_table(tmp_path / "x.csv", "nan"))
    (run,) = report.arm("x").runs
    assert (run.diverged_at, run.final_loss.value, report.arm("x").loss_curve.steps) == (1, None, ())
    assert report.sentence == f"x diverged at step 1 ({tmp_path / 'x.csv'})."
    assert TuningReport.from_dict(json.loads(json.dumps(report.to_dict(), allow_nan=False))) == report


def test_one_diverged_and_one_good_arm_and_the_good_one_is_the_baseline(tmp_path: Path) -> None:
    report = tune(write_table(tmp_path / "full.csv", "nan"), write_table(tmp_path / "lora.csv"))
    assert report.baseline == "lora"
    assert report.notes[0] == "lora is the baseline because full diverged; `baseline=NAME` changes it"
    assert "full diverged at step 1" in report.sentence
    assert report.recommendations[0].text.startswith("Do not decide between lora and full yet")
    assert tune(*tmp_path.iterdir(), baseline="full").baseline == "full"


def test_an_arm_with_one_diverged_seed_keeps_the_curve_of_the_others(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / "a", ["nan"] * 4), write_run(tmp_path / "b", [4.0, 3.0, 2.0, 1.0], seed=1)]
    assert tune(*runs).arm("full").loss_curve.steps == (1, 2, 3, 4)


# ------------------------------------------------------------------------------------------------------------ baseline


@pytest.mark.parametrize(
    ("names", "wanted", "why"),
    [
        (("lora", "Full_ft"), "Full_ft", "because of its name"),
        (("lora", "mySFT"), "mySFT", "because of its name"),
        (("lora-sft", "full"), "full", "because of its name"),
        (("b", "a"), "b", "because it comes first"),
    ],
)
def test_the_baseline_of_plain_logs_is_noted(tmp_path: Path, names: tuple[str, str], wanted: str, why: str) -> None:
    report = tune(*(write_table(tmp_path / f"{name}.csv") for name in names))
    assert report.baseline == wanted
    assert f"{wanted} is the baseline {why} (no log says which arm trains every parameter)" in report.notes[0]
    assert not any("baseline" in note for note in tune(*tmp_path.iterdir(), baseline=wanted).notes)


def test_parameters_decide_before_names_and_without_a_note(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", [2.0, 1.0], arm="full?", parameters=PART)
    b = write_run(tmp_path / "b", [2.0, 1.0], arm="b", parameters=WHOLE)
    report = tune(a, b)
    assert (report.baseline, [note for note in report.notes if "baseline" in note]) == ("b", [])
    c = write_run(tmp_path / "c", [2.0, 1.0], arm="c", parameters=WHOLE)
    both = tune(a, c, b)
    assert both.baseline == "c"
    assert "because it comes first (2 arms train every parameter)" in both.notes[0]


# ---------------------------------------------------------------------------------------------------------- unfinished


def test_a_run_that_was_killed_is_named_and_neither_timed_nor_recommended(tmp_path: Path) -> None:
    lora = write_run(tmp_path / "a", [3.0] * 150, arm="lora", valid={150: 2.0}, parameters=PART)
    full = write_run(tmp_path / "b", [3.0] * 44, valid={44: 1.0}, end=False, max_steps=150, parameters=WHOLE)
    report = tune(lora, full, targets="japanese")
    (contrast,) = report.contrasts
    assert contrast.sentence.endswith("; full stopped at step 44 of 150.")
    assert contrast.sentence in report.sentence
    time = contrast.ratios["time"]
    assert (time.value, time.reason) == (None, "full stopped at step 44 of 150")
    assert contrast.ratios["time_per_step"].value == pytest.approx(1)
    (quality,) = (one for one in report.criteria if one.name == "performance_loss")
    assert (quality.status, quality.why) == ("not measured", "full stopped at step 44 of 150")
    texts = [one.text for one in report.recommendations]
    assert texts[0] == "Do not decide between full and lora yet: not every run finished."
    assert "Finish full first." in texts
    assert not any(text.startswith(("Keep", "Use")) for text in texts)


def test_one_unfinished_seed_of_several_is_named_by_its_run(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / f"s{seed}", [3.0] * 9, seed=seed, end=seed > 0, max_steps=9) for seed in (0, 1)]
    assert tune(*runs).sentence.endswith(f"; full ({tmp_path / 's0'}) stopped at step 9 of 9.")


# --------------------------------------------------------------------------------------------------------------- words


def test_one_run_alone_has_no_note_on_a_difference(tmp_path: Path) -> None:
    a, b = (write_table(tmp_path / f"{name}.csv") for name in ("a", "b"))
    assert tune(a).notes == (
        "a: not compared with the untrained base: the log has no validation loss before the first step",
    )
    (said,) = (note for note in tune(a, b).notes if "one seed" in note)
    assert said.startswith("a and b have one seed each: another seed might give another result")
    assert said.endswith("a difference is between these models, not between the ways to train")


def test_several_seeds_without_a_validation_loss_are_not_called_one(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / f"{arm}{seed}", [2.0, 1.0], arm=arm, seed=seed) for arm in "ab" for seed in (0, 1)]
    (contrast,) = tune(*runs).contrasts
    assert contrast.sentence == "Cannot say whether a or b is better: not every run has a validation loss."


def test_a_run_that_was_left_out_is_a_note(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "a", [2.0, 1.0])
    write_run(tmp_path / "runs" / "b", [], seed=1)
    assert f"{tmp_path / 'runs' / 'b'}: left out, for it has no steps yet" in tune(tmp_path / "runs").notes


def test_advice_has_the_names_of_the_tables(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", [2.0, 1.0], valid={2: 1.0}, parameters=WHOLE)
    b = write_run(tmp_path / "b", [2.0, 1.0], arm="b", valid={2: 2.0}, parameters=PART)
    advice = tune(a, b, targets="japanese").recommendations[0]
    assert "performance loss" in advice.text
    assert "_" not in advice.text + advice.because


# ---------------------------------------------------------------------------------------------------- limits below zero


def test_limits_of_what_cannot_be_negative_end_at_zero(tmp_path: Path) -> None:
    found = [0.1, 1.0]
    runs = [write_run(tmp_path / f"s{i}", [2.0, 1.0], seed=i, valid={2: loss}) for i, loss in enumerate(found)]
    arm = tune(*runs).arm("full")
    limits, wanted = (
        arm.quality["validation_loss"].interval,
        stats.t.interval(0.95, 1, np.mean(found), stats.sem(found)),
    )
    assert limits is not None
    assert wanted[0] < 0
    assert (limits.low, limits.high) == pytest.approx((0.0, wanted[1]))
    assert limits.method == "t over seeds"
    perplexity = arm.quality["perplexity"].interval
    assert perplexity is not None
    assert perplexity.low == 1.0
    assert arm.valid_curve is not None
    assert min(arm.valid_curve.low) == 0


def test_a_difference_may_have_limits_below_zero(tmp_path: Path) -> None:
    losses = {"a": (0.1, 1.0), "b": (0.2, 0.3)}
    runs = [
        write_run(tmp_path / f"{arm}{seed}", [2.0, 1.0], arm=arm, seed=seed, valid={2: loss})
        for arm, values in losses.items()
        for seed, loss in enumerate(values)
    ]
    limits = tune(*runs).contrasts[0].seeds.interval
    wanted = stats.ttest_rel(losses["b"], losses["a"]).confidence_interval(0.95)
    assert limits is not None
    assert (limits.low, limits.high) == pytest.approx((wanted.low, wanted.high))
