import json
from pathlib import Path

import pytest

from assay.errors import InputError, UsageError
from assay.training.recorder import Recorder, Schedule
from tests.training.runs import read_logs

ABOUT = {"arm": "full", "seed": 0, "max_steps": 3}


def test_the_periods_of_t12() -> None:
    schedule = Schedule()
    assert [name for name in ("step", "validation", "memory", "quality") if schedule.due(name, 100)] == [
        "step",
        "validation",
        "memory",
    ]
    assert schedule.due("quality", 500)
    assert not Schedule(validation=0).due("validation", 100)
    with pytest.raises(UsageError, match="period of step"):
        Schedule(step=0)


def test_a_kill_in_the_middle_of_a_line_and_a_resume(tmp_path: Path) -> None:
    with Recorder(tmp_path / "a", ABOUT) as recorder:
        assert not recorder.resumed
        for step, loss in ((1, 3.0), (2, float("nan"))):
            recorder.write("step", step, {"loss": loss})
    events = tmp_path / "a" / "events.jsonl"
    events.write_bytes(events.read_bytes()[:-9])  # killed while it wrote the second line
    with Recorder(tmp_path / "a", ABOUT) as recorder:
        assert recorder.resumed
        recorder.write("resume", 1, {})
        recorder.write("step", 2, {"loss": 2.0})
        recorder.write("end", 2, {"wall": 1.0})
    (log,) = read_logs([tmp_path / "a"])
    assert (log.loss.values.tolist(), log.finished, log.diverged_at) == ([3.0, 2.0], True, None)


def test_what_is_not_finite_is_written_by_name(tmp_path: Path) -> None:
    with Recorder(tmp_path / "a", ABOUT) as recorder:
        recorder.write("step", 1, {"loss": float("inf")})
    assert json.loads((tmp_path / "a" / "events.jsonl").read_text())["loss"] == "inf"


def test_another_run_in_the_folder_is_refused(tmp_path: Path) -> None:
    Recorder(tmp_path / "a", ABOUT).close()
    with pytest.raises(InputError, match="holds another training run \\(seed differ"):
        Recorder(tmp_path / "a", ABOUT | {"seed": 1})
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        Recorder(tmp_path / "file", ABOUT)
