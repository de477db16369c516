"""Logs of training runs, whole and damaged."""

import json
import math
from pathlib import Path

import pytest

from assay.data.training_formats import read_logs
from assay.errors import InputError
from tests.training.runs import write_run


def test_a_run_folder_gives_what_was_written(tmp_path: Path) -> None:
    write_run(tmp_path / "a", [3.0, 2.0, 1.5], norms=[1, 2, 3], valid={2: 2.5}, parameters={"total": 9, "trainable": 3})
    (log,) = read_logs([tmp_path / "a"])
    assert (log.loss.values.tolist(), log.grad_norm.values.tolist()) == ([3.0, 2.0, 1.5], [1.0, 2.0, 3.0])
    assert (log.seconds, log.tokens, log.last_step, log.total, log.trainable) == (1.5, 300, 3, 9, 3)
    assert (log.valid.last, log.finished, log.diverged_at, log.notes) == (2.5, True, None, ())


def test_a_folder_of_runs_and_names_of_arms(tmp_path: Path) -> None:
    for seed in (0, 1):
        write_run(tmp_path / "runs" / f"s{seed}", [2.0, 1.0], seed=seed)
    logs = read_logs([f"mine={tmp_path / 'runs'}"])
    assert [(log.arm, log.seed) for log in logs] == [("mine", 0), ("mine", 1)]


def test_a_line_that_is_cut_off_at_the_end_is_noted(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "a", [3.0, 2.0], end=False)
    events = folder / "events.jsonl"
    events.write_bytes(events.read_bytes() + b'{"kind": "step", "step": 3, "lo')
    (log,) = read_logs([folder])
    assert (len(log.loss), log.finished) == (2, False)
    assert log.notes == (
        "line 3 is cut off: the run was killed there, or is still being written",
        "not finished: step 2 of 2",
    )


def test_a_line_that_is_damaged_in_the_middle_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "a", [3.0, 2.0, 1.0])
    events = folder / "events.jsonl"
    lines = events.read_bytes().split(b"\n")
    events.write_bytes(b"\n".join([lines[0], lines[1][:20], *lines[2:]]))
    with pytest.raises(InputError, match="line 2 is not an event"):
        read_logs([folder])


def test_what_came_after_the_step_that_a_run_went_on_from_does_not_count(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "a", [3.0, 2.0, 9.0], end=False)
    events = folder / "events.jsonl"
    more = [{"kind": "resume", "step": 2}, {"kind": "step", "step": 3, "loss": 1.0}, {"kind": "end", "step": 3}]
    text = '{"kind": "st\n' + "".join(json.dumps(event) + "\n" for event in more)
    events.write_text(events.read_text() + text)
    (log,) = read_logs([folder])
    assert (log.loss.values.tolist(), log.finished, log.notes) == ([3.0, 2.0, 1.0], True, ("resumed from step 2",))


def test_a_loss_that_is_no_number_is_a_divergence(tmp_path: Path) -> None:
    (log,) = read_logs([write_run(tmp_path / "a", [3.0, "nan", 2.0])])
    assert log.diverged_at == 2
    state = {"log_history": [{"step": 5, "loss": 2.0}, {"step": 10, "loss": math.nan}], "global_step": 10}
    (tmp_path / "trainer_state.json").write_text(json.dumps(state))
    assert read_logs([tmp_path / "trainer_state.json"])[0].diverged_at == 10
    (tmp_path / "x.csv").write_text("step,loss,eval_loss\n1,2.0,\n2,,1.5\n3,nan,\n")
    (log,) = read_logs([tmp_path / "x.csv"])
    assert (log.diverged_at, len(log.loss), log.valid.last) == (3, 2, 1.5)


def test_a_trainers_state(tmp_path: Path) -> None:
    history = [
        {"epoch": 0.1, "step": 10, "loss": 2.0, "learning_rate": 1e-4, "grad_norm": 0.5},
        {"epoch": 0.1, "step": 10, "eval_loss": 2.2, "eval_runtime": 1.0},
        {"epoch": 0.2, "step": 20, "loss": 1.0, "learning_rate": 0.0, "grad_norm": 0.4},
        {"epoch": 0.2, "step": 20, "train_runtime": 40.0, "train_loss": 1.5},
    ]
    (tmp_path / "x.trainer_state.json").write_text(
        json.dumps({"log_history": history, "global_step": 20, "max_steps": 20})
    )
    (log,) = read_logs([tmp_path / "x.trainer_state.json"])
    assert (log.arm, log.seconds, log.last_step, log.valid.last) == ("x", 40.0, 20, 2.2)
    assert log.row_weighted
    assert log.notes == ("its validation loss weights rows, not tokens (the Trainer's eval_loss)",)


def test_a_peft_method_comparison(tmp_path: Path) -> None:
    info = {
        "accelerator_memory_max": 100,
        "train_time": 9.0,
        "num_trainable_params": 5,
        "num_total_params": 50,
        "status": "success",
        "metrics": [
            {"step": 250, "train loss": 1.0, "valid accuracy": 0.3},
            {"step": 500, "train loss": 0.5, "valid accuracy": 0.3},
            {"step": 500, "train loss": 0.5, "test accuracy": 0.4, "train total tokens": 1000},  # as peft writes it
        ],
    }
    run = {"experiment_name": "lora/x", "train_config": {"seed": 0, "max_steps": 500, "optimizer_kwargs": {"lr": 1e-4}}}
    (tmp_path / "x.json").write_text(json.dumps({"train_info": info, "run_info": run, "meta_info": {}}))
    (log,) = read_logs([tmp_path / "x.json"])
    assert (log.arm, log.total, log.trainable, log.memory, log.tokens) == ("lora/x", 50, 5, {"peak": 100.0}, 1000)
    assert log.scores == {"valid accuracy": 0.3, "test accuracy": 0.4}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", '{"log_history": []}', "the log has no steps"),
        ("a.json", '{"log_history": [{"step": 1, "lo', "not JSON"),
        ("a.json", "{}", "neither a trainer_state.json"),
        ("a.csv", "loss\n1\n", "no column 'step'"),
        ("a.csv", "step,x\n1,2\n", "no column 'loss'"),
        ("a.csv", "step,loss\n1,2\n,3\n", "row 2 has no step"),
    ],
)
def test_what_is_not_a_log_is_refused_in_one_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said) as refused:
        read_logs([tmp_path / name])
    assert "\n" not in str(refused.value)


def test_a_run_without_steps_and_folders_without_runs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the log has no steps"):
        read_logs([write_run(tmp_path / "a", [])])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no training run in it"):
        read_logs([tmp_path / "empty"])
    with pytest.raises(InputError, match="no such file or folder"):
        read_logs([tmp_path / "nowhere"])
