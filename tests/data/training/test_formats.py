"""Logs of training runs, whole and damaged."""

import json
import math
from pathlib import Path
from time import process_time

import pytest

from assay.data.training.formats import read_noted
from assay.errors import InputError
from tests.training.runs import read_logs, write_run


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


@pytest.mark.parametrize("huge", ["1e400", "1" + "0" * 400, "-1" + "0" * 400, "Infinity", '"inf"'])
def test_a_loss_too_large_for_a_float_is_infinite_and_a_divergence(tmp_path: Path, huge: str) -> None:
    path = tmp_path / "trainer_state.json"
    path.write_text(f'{{"log_history": [{{"step": 1, "loss": 2}}, {{"step": 2, "loss": {huge}}}]}}')
    (log,) = read_logs([path])
    assert (log.diverged_at, len(log.loss)) == (2, 2)
    (tmp_path / "x.csv").write_text(f"step,loss\n1,2.0\n2,{huge.strip(chr(34))}\n")
    (log,) = read_logs([tmp_path / "x.csv"])
    assert (log.diverged_at, len(log.loss)) == (2, 2)


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
        ("a.json", '{"log_history": [{"step": 1, "loss": 2}, {"step": 1e400, "loss": 1}]}', "entry 2 .* but got 'inf'"),
        ("a.json", f'{{"log_history": [{{"step": 1{"0" * 400}, "loss": 1}}]}}', "entry 1 .* but got '1000"),
        ("a.json", '{"log_history": [{"step": 1, "loss": 2}, {"loss": 1}]}', "entry 2 .* but there is none"),
        ("a.json", '{"log_history": [{"step": 1, "loss": [2]}]}', "entry 1 of the log: the loss is not a number"),
        (
            "a.json",
            '{"log_history": [{"step": 1, "loss": 2}, {"step": 1, "train_runtime": 1e400}]}',
            "'train_runtime' must be a finite number from 0 on, but got 'inf'",
        ),
        ("a.csv", "loss\n1\n", "no column 'step'"),
        ("a.csv", "step,x\n1,2\n", "no column 'loss'"),
        ("a.csv", "step,loss\n1,2\n,3\n", "line 3: no step"),
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


def write_state(path: Path, step: int, *, of: int = 120, end: bool = False) -> Path:
    history = [{"step": place, "loss": 3 - place / 100} for place in range(10, step + 1, 10)]
    last = [{"step": step, "train_runtime": 40.0}] if end else []
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"log_history": [*history, *last], "global_step": step, "max_steps": of}))
    return path


def test_states_of_different_folders_are_different_arms(tmp_path: Path) -> None:
    states = [write_state(tmp_path / out / "checkpoint-120" / "trainer_state.json", 120) for out in ("outA", "outB")]
    folders = [state.parent for state in states]
    for paths in (states, folders, [folder.parent for folder in folders]):
        assert [log.arm for log in read_logs(paths)] == ["outA", "outB"]
    assert [log.arm for log in read_logs([f"mine={path}" for path in states])] == ["mine", "mine"]


def test_the_same_log_twice_is_not_two_seeds(tmp_path: Path) -> None:
    state = write_state(tmp_path / "out" / "checkpoint-120" / "trainer_state.json", 120)
    for twice in ([state, state], [state, state.parent.parent], [f"x={state}", f"x={state}"]):
        with pytest.raises(InputError, match="the same log is named twice"):
            read_logs(twice)
    assert [log.arm for log in read_logs([f"x={state}", f"y={state}"])] == ["x", "y"]


def test_peft_results_of_one_experiment_are_seeds_only_if_they_state_a_seed(tmp_path: Path) -> None:
    info = {"metrics": [{"step": 1, "train loss": 2.0}], "status": "success"}
    for name, config in (("a", {"seed": 0}), ("b", {"seed": 1}), ("c", {}), ("d", {})):
        run = {"experiment_name": "lora/x", "train_config": config}
        (tmp_path / f"{name}.json").write_text(json.dumps({"train_info": info, "run_info": run}))
    logs = read_logs([tmp_path / f"{name}.json" for name in "abcd"])
    assert [log.arm for log in logs] == ["lora/x", "lora/x", "c", "d"]


def test_of_a_trainers_output_the_state_that_came_furthest_is_read(tmp_path: Path) -> None:
    for step in (20, 100, 90):  # as text, 90 is after 100
        write_state(tmp_path / "out" / f"checkpoint-{step}" / "trainer_state.json", step)
    (log,) = read_logs([tmp_path / "out"])
    assert (log.last_step, log.finished, log.arm) == (100, False, "out")
    assert log.notes[0] == "the newest of its folder's checkpoints (3 there)"
    write_state(tmp_path / "out" / "checkpoint-120" / "trainer_state.json", 120)
    (log,) = read_logs([tmp_path / "out"])
    assert (log.last_step, log.finished, log.seconds) == (120, True, None)  # it came to its last step
    write_state(tmp_path / "out" / "trainer_state.json", 120, end=True)
    (log,) = read_logs([tmp_path / "out"])
    assert (log.last_step, log.finished, log.seconds, log.notes) == (120, True, 40.0, ())


def test_runs_without_steps_in_a_folder_of_runs_are_left_out_and_noted(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "a", [2.0, 1.0])
    write_run(tmp_path / "runs" / "b", [], seed=1)
    (write_run(tmp_path / "runs" / "c", [], seed=2) / "events.jsonl").unlink()
    logs, notes = read_noted([tmp_path / "runs"])
    assert [log.seed for log in logs] == [0]
    assert notes == [f"{tmp_path / 'runs' / name}: left out, for it has no steps yet" for name in "bc"]
    with pytest.raises(InputError, match="the log has no steps"):
        read_logs([tmp_path / "runs" / "a", tmp_path / "runs" / "b"])
    write_run(tmp_path / "none" / "a", [])
    with pytest.raises(InputError, match="none of its runs has a step"):
        read_logs([tmp_path / "none"])


@pytest.mark.parametrize(
    "header",
    [
        "Epoch,Step,Training Loss,Validation Loss",
        "epoch,global_step,TRAIN_LOSS,eval loss",
        "e,train/global_step,train/loss,eval/loss",
    ],
)
def test_columns_by_the_names_of_notebooks_and_trackers(tmp_path: Path, header: str) -> None:
    (tmp_path / "x.csv").write_text(f"{header}\n1,10,No log,2.5\n2,20,2.0,2.4\n3,30,1.5,2.3\n")
    (log,) = read_logs([tmp_path / "x.csv"])
    assert (log.loss.steps.tolist(), log.loss.values.tolist()) == ([20, 30], [2.0, 1.5])
    assert (log.valid.steps.tolist(), log.valid.values.tolist()) == ([10, 20, 30], [2.5, 2.4, 2.3])


def test_columns_that_are_not_known_are_refused_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("Epoch,Training Loss\n1,2\n")
    with pytest.raises(
        InputError, match=r"no column 'step' among Epoch, Training Loss; .*global_step.*validation_loss"
    ):
        read_logs([tmp_path / "x.csv"])


def test_a_loss_that_is_a_word_is_refused_and_nan_is_none(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("step,loss\n1,2.0\n2,-NaN\n3,inf\n")
    assert read_logs([tmp_path / "x.csv"])[0].diverged_at == 2
    (tmp_path / "x.csv").write_text("step,loss\n1,2.0\n2,high\n")
    with pytest.raises(InputError, match=r"line 3: the loss is not a number \('high'\)"):
        read_logs([tmp_path / "x.csv"])


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_a_long_table_is_read_in_one_query(tmp_path: Path, name: str) -> None:
    """20,000 rows; a query for each would take a minute, and more than this on any machine."""
    rows = [(step, 2 + 1 / step) for step in range(1, 20_001)]
    lines = [f"{s},{v!r}" if name == "x.csv" else json.dumps({"step": s, "loss": v}) for s, v in rows]
    (tmp_path / name).write_text("\n".join(["step,loss", *lines] if name == "x.csv" else lines) + "\n")
    began = process_time()
    (log,) = read_logs([tmp_path / name])
    assert process_time() - began < 3
    assert list(zip(log.loss.steps.tolist(), log.loss.values.tolist(), strict=True)) == rows


# ------------------------------------------------------------------------------------- fields of a wrong type, or none

WRONG: dict[str, tuple[dict[str, object], list[str]]] = {
    "no step": ({"step": ...}, ["line 2", "needs a step, but has none"]),
    "a step that is a list": ({"step": []}, ["line 2", "'step' must be a whole number from 0 on", "'[]'"]),
    "a step that is null": ({"step": None}, ["line 2", "'step'"]),
    "a step that is true": ({"step": True}, ["line 2", "'step'"]),
    "a step beyond counting": ({"step": 10**300}, ["line 2", "'step'"]),
    "seconds that are a list": ({"step_seconds": [1]}, ["line 2", "'step_seconds' must be a finite number"]),
    "seconds that are negative": ({"step_seconds": -1}, ["line 2", "'step_seconds'"]),
    "too many steps": ({"steps": 10**9}, ["line 2", "'steps' must be a whole number from 1 to 1,000,000"]),
    "a loss that is a word": ({"loss": "low"}, ["line 2", "'loss' must be a number"]),
    "tokens that are a text": ({"tokens": "many"}, ["line 2", "'tokens'"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_event_with_a_field_of_a_wrong_type_is_refused_by_line_and_field(tmp_path: Path, case: str) -> None:
    change, parts = WRONG[case]
    folder = write_run(tmp_path / "a", [3.0, 2.0, 1.0])
    events = folder / "events.jsonl"
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    lines[1] = {name: value for name, value in (lines[1] | change).items() if value is not ...}
    events.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError) as refused:
        read_logs([folder])
    assert [part for part in [str(events), *parts] if part not in str(refused.value)] == [], refused.value


@pytest.mark.parametrize(
    ("about", "part"),
    [
        ({"arm": ["lora"]}, "'arm' must be a text"),
        ({"arm": None}, "'arm'"),
        ({"seed": {}}, "'seed' must be a whole number"),
        ({"max_steps": "ten"}, "'max_steps' must be a whole number"),
        ({"parameters": [1]}, "'parameters' must be an object"),
        ({"parameters": {"total": "many"}}, "parameters: 'total' must be a whole number"),
        ({"learning_rate": []}, "'learning_rate' must be a finite number"),
        ({"validation": ["sha256:1"]}, "'validation' must be a text"),
    ],
)
def test_a_manifest_with_a_field_of_a_wrong_type_is_refused_by_name(
    tmp_path: Path, about: dict[str, object], part: str
) -> None:
    folder = write_run(tmp_path / "a", [3.0, 2.0])
    path = folder / "training.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | about))
    with pytest.raises(InputError, match=r"training\.json.*; train again with `overwrite=True`\.") as refused:
        read_logs([folder])
    assert part in str(refused.value)


@pytest.mark.parametrize(
    "text", ["[" * 5000, '{"log_history": ' + "[" * 5000, '{"log_history": [{"step": ' + "9" * 5000]
)
def test_a_log_that_no_parser_survives_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=r"a\.json"):
        read_logs([tmp_path / "a.json"])
