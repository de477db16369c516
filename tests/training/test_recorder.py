import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import read_table
from assay.data.training.run_folder import rows_file, rows_files
from assay.errors import InputError, UsageError
from assay.training.recorder import Recorder, RowLosses, Schedule
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


@given(st.lists(st.tuples(st.floats(0, 9), st.integers(0, 5)), max_size=70), st.sampled_from([2, 4, 8]))
def test_rows_that_are_joined_keep_their_sums(rows: list[tuple[float, int]], most: int) -> None:
    """Against the plain sums: of all rows, and of each run of as many neighbours as were joined."""
    kept = RowLosses(most)
    for low in range(0, len(rows), 3):
        some = rows[low : low + 3]
        kept.add(np.array([loss for loss, _ in some]), np.array([tokens for _, tokens in some]))
    columns = kept.columns()
    size = kept.joined
    blocks = [rows[i : i + size] for i in range(0, len(rows), size)]
    wanted = {f"row {i * size + 1:07d}": block for i, block in enumerate(blocks) if sum(n for _, n in block)}
    assert len(kept.sums) <= most
    if columns is None:
        assert not wanted
        return
    assert columns["window"].tolist() == list(wanted)
    assert columns["tokens"].tolist() == [sum(n for _, n in block) for block in wanted.values()]
    nats = (columns["loss"] * columns["tokens"]).tolist()
    assert nats == pytest.approx([sum(loss for loss, _ in block) for block in wanted.values()])


def test_rows_of_a_loss_that_is_no_number_are_not_kept(tmp_path: Path) -> None:
    kept = RowLosses()
    kept.add(np.array([1.0, np.nan]), np.array([2, 2]))
    assert kept.columns() is None
    with Recorder(tmp_path / "run", {"arm": "a"}) as recorder:
        recorder.keep_rows(0, kept)
    assert not list((tmp_path / "run").glob("*.parquet"))


def test_rows_of_the_first_and_the_last_validation_stay(tmp_path: Path) -> None:
    kept = RowLosses()
    kept.add(np.array([1.0, 3.0]), np.array([2, 2]))
    with Recorder(tmp_path / "run", {"arm": "a"}) as recorder:
        for step in (0, 100, 300, 200):  # 300: before a kill, and 200 after it
            recorder.keep_rows(step, kept)
            recorder.drop_rows(step)
    assert [file.name[-17:-8] for file in rows_files(tmp_path / "run")] == ["000000000", "000000200"]
    table = read_table(rows_file(tmp_path / "run", 200))
    assert (table.kind, table.numbers["loss"].tolist()) == ("losses", [0.5, 1.5])
