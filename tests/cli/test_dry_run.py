"""What a job will take, said before it starts; and a refusal where memory will not do."""

import sys
from pathlib import Path

import pytest

from assay.cli import dry_run
from assay.cli.dry_run import BeforeStart, JobSize, files_in, rank_size, score_size, tune_size
from assay.errors import InputError
from assay.files.counting import lines_by_size
from tests.cli.command import Shell


def board(folder: Path, models: int = 3, items: int = 20) -> Path:
    path = folder / "board.csv"
    rows = [f"m{m},q{i},{(i * m) % 7 / 7}" for m in range(models) for i in range(items)]
    path.write_text("model,item,score\n" + "\n".join(rows) + "\n")
    return path


def test_rank_says_its_size_and_writes_nothing(shell: Shell) -> None:
    board(shell.folder)
    ran = shell("rank", "board.csv", "--markdown", "board.md", "--dry-run")
    assert (ran.exit_code, ran.err) == (0, "")
    assert "3 pairs of 3 models on 20 items (60 rows)" in ran.out
    assert "An estimate" in ran.out
    assert [path.name for path in shell.folder.iterdir()] == ["board.csv"]


def test_score_and_sweeps_say_their_tokens_and_load_nothing(shell: Shell) -> None:
    shell.write("text.txt", "x" * 4_000)
    ran = shell("score", "no-such-model", "text.txt", "-o", "run", "--dry-run")
    assert (ran.exit_code, ran.err) == (0, "")
    assert "tokens   about 1,000" in ran.out
    sizes = ("--lrs", "1e-4,2e-4", "--steps", "10", "--rows", "2", "--context", "64", "--dry-run")
    ran = shell("tune", "run", "--base", "m", "--train", "text.txt", "--valid", "text.txt", "-o", "run", *sizes)
    assert (ran.exit_code, ran.err) == (0, "")
    assert "2 runs of 10 steps of 2 rows of 64 tokens" in ran.out
    assert not (shell.folder / "run").exists()


def test_survey_says_its_cells(shell: Shell) -> None:
    rows = [f"q{q},s{s},100,{0.25 * s},{1 - 0.25 * s}" for q in range(4) for s in range(3)]
    shell.write("survey.csv", "question,segment,n,yes,no\n" + "\n".join(rows) + "\n")
    shell.write("results.json", "{}")
    ran = shell("survey", "survey.csv", "results.json", "-o", "report", "--dry-run")
    assert (ran.exit_code, ran.err) == (0, "")
    assert "12 cells × 1 result file" in ran.out
    assert not (shell.folder / "report").exists()


def test_what_does_not_fit_is_refused_by_the_command(shell: Shell) -> None:
    board(shell.folder)
    shell.monkeypatch.setattr(dry_run, "_LARGE", -1.0)
    shell.monkeypatch.setattr(dry_run, "memory_free", lambda: 1e6)
    parts = ["3 pairs of 3 models", "1 MB are free", "assay rank board.csv --resamples 1000", "--any-size"]
    shell.assert_refused("rank", "board.csv", parts=parts)
    assert shell("rank", "board.csv", "--any-size").exit_code == 0


def test_rows_and_models_are_counted(tmp_path: Path) -> None:
    path = board(tmp_path, models=12, items=50)
    assert "66 pairs of 12 models on 50 items (600 rows)" in rank_size([path], None).work
    other = tmp_path / "other.txt"
    other.write_text("a\nb\nc\n")
    assert rank_size([other, other], None).work.startswith("1 pair of 2 models on 3 items")


def test_memory_grows_with_rows_and_flips(tmp_path: Path) -> None:
    path = board(tmp_path)
    assert rank_size([path], 20_000).memory - rank_size([path], 10_000).memory == pytest.approx(3 * 10_000 * 40)


def test_tokens_of_a_sweep_by_hand() -> None:
    assert tune_size("nowhere", 3, 100, 8, 512).tokens == 3 * 100 * 8 * 512


def test_texts_are_counted_in_folders_and_by_name(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("x" * 4_000)
    assert score_size(["m"], [tmp_path / "texts"], None).tokens == 1_000
    assert files_in([Path(f"name={tmp_path / 'texts'}")]) == [tmp_path / "texts" / "a.txt"]
    assert files_in([tmp_path / "nothing"]) == []


def test_a_job_that_does_not_fit_is_refused_with_a_smaller_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_run, "_LARGE", -1.0)
    monkeypatch.setattr(dry_run, "memory_free", lambda: 1e9)
    monkeypatch.setattr(sys, "argv", ["assay", "rank", "board.parquet"])
    large = JobSize("a board", 2e9, 1.0, f"take fewer flips: {dry_run.command_with('--resamples', '1000')}")
    with pytest.raises(InputError, match=r"2\.0 GB of memory, and 1\.0 GB are free; .*assay rank .* --resamples 1000"):
        BeforeStart().goes_on(lambda: large, [])
    assert BeforeStart(any_size=True).goes_on(lambda: large, [])
    assert BeforeStart().goes_on(lambda: JobSize("a board", 5e8, 1.0, ""), [])


def test_small_inputs_are_not_counted_first(tmp_path: Path) -> None:
    def never() -> JobSize:
        raise AssertionError

    assert BeforeStart().goes_on(never, [board(tmp_path)])


def test_free_memory_is_known_here() -> None:
    free = dry_run.memory_free()
    assert free is None or free > 1e6


def test_rows_of_a_large_file_are_not_counted_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("item,score\n" + "".join(f"q{i:05},1\n" for i in range(10_000)))
    monkeypatch.setattr("assay.cli.dry_run._COUNTED", 1_000)
    monkeypatch.setattr("assay.files.counting._BLOCK", 5_000)
    assert rank_size([tmp_path / "a.csv"], None).work.endswith(" rows)")
    assert lines_by_size(tmp_path / "a.csv") == pytest.approx(10_001, rel=0.01)
    (tmp_path / "zeros.csv").write_bytes(bytes(10_000))
    assert lines_by_size(tmp_path / "zeros.csv") == 1
