"""Results that look wrong before anything is compared: by hand."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from assay import Selection, compare, rank, summarize
from tests.data.readers.harness.logs import LM_EVAL, SMALL, only


def write(path: Path, scores: Sequence[float]) -> Path:
    path.write_text("item,score\n" + "".join(f"q{i},{score}\n" for i, score in enumerate(scores)))
    return path


def test_equal_files_of_other_names_are_named_as_such(tmp_path: Path) -> None:
    a = write(tmp_path / "a.csv", [1, 0, 1])
    b = Path(shutil.copy(a, tmp_path / "b.csv"))
    c = write(tmp_path / "c.csv", [0, 0, 1])
    said = "warning: a, b were read from files that are equal byte for byte: these are the same results"
    assert said in compare(a, b).notes
    assert said in rank(a, b, c).notes
    assert not any("byte for byte" in note for note in compare(a, c).notes)
    assert not any("byte for byte" in note for note in compare(a, a).notes)  # who names a file twice knows


def test_equal_files_are_not_named_a_second_time_as_equal_scores(tmp_path: Path) -> None:
    a = write(tmp_path / "a.csv", [1, 0] * 15)
    b = Path(shutil.copy(a, tmp_path / "b.csv"))
    c = tmp_path / "c.csv"
    c.write_text(a.read_text().replace("item,score", "item,acc"))
    warned = [note for note in rank(a, b, c).notes if note.startswith("warning: ")]
    assert warned[0].startswith("warning: a, b were read from files that are equal")
    assert warned[1].startswith("warning: a, c are equal in all 30 items")
    assert len(warned) == 2


def test_equal_logs_of_a_harness_are_named_as_such(tmp_path: Path) -> None:
    path = only(LM_EVAL / SMALL, "samples_tiny_sky*")
    copies = [Path(shutil.copy(path, tmp_path / f"{name}.jsonl")) for name in ("one", "two")]
    notes = compare(*copies, selection=Selection(metric="acc")).notes
    assert any("one, two were read from files that are equal byte for byte" in note for note in notes)


@pytest.mark.parametrize(("count", "warned"), [(19, False), (20, True)])
def test_scores_that_are_all_0_are_doubted(tmp_path: Path, count: int, warned: bool) -> None:
    a, b = write(tmp_path / "a.csv", [0] * count), write(tmp_path / "b.csv", [1, 0] * (count // 2) + [1] * (count % 2))
    said = f"warning: every score of a ({count} items) is 0: did the scorer work?"
    assert (said in compare(a, b).notes) == warned
    assert (said in summarize(a, b).notes) == warned
    assert not any("did the scorer work" in note for note in summarize(a, lower_is_better=True).notes)
