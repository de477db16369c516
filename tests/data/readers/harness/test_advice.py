"""What a refusal advises must work: each test follows the advice of a message and gets further."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.data import Selection, Table, read_tables
from assay.errors import InputError
from tests.data.files import panel_of
from tests.data.readers.harness.logs import (
    HELM,
    INSPECT,
    LARGE,
    LM_EVAL,
    SMALL,
    by_name,
    copy,
    edit_json,
    edit_lines,
    only,
    scores,
)


def refusal(paths: Sequence[Path | str], **picked: Any) -> str:
    with pytest.raises(InputError) as refused:
        read(paths, **picked)
    return str(refused.value)


def read(paths: Sequence[Path | str], **picked: Any) -> list[Table]:
    return read_tables(paths, selection=Selection(**picked))


def choices(message: str) -> list[str]:
    """The names in the first brackets of a message."""
    found = re.search(r"\(([^)]*)\)", message)
    assert found is not None, message
    return found[1].split(", ")


# ---------------------------------------------------------------------------------------------- renamed sample files


@pytest.fixture
def renamed(tmp_path: Path) -> list[Path]:
    """base.jsonl and quant.jsonl: samples of lm-eval under names of the user's own, without their results."""
    names = {"base": SMALL, "quant": LARGE}
    return [
        Path(shutil.copyfile(only(LM_EVAL / model, "samples_tiny_sky*"), tmp_path / f"{name}.jsonl"))
        for name, model in names.items()
    ]


def test_a_renamed_file_is_a_model_of_its_name(renamed: list[Path]) -> None:
    tables = by_name(*renamed, metric="acc")
    whole = by_name(LM_EVAL / SMALL, LM_EVAL / LARGE, task="tiny_sky", metric="acc")
    assert {name: scores(table) for name, table in tables.items()} == {
        "base": scores(whole[SMALL]),
        "quant": scores(whole[LARGE]),
    }
    assert f"{renamed[0]}: called after its file, which was renamed" in tables["base"].notes
    assert panel_of(list(tables.values())).n == 8
    assert list(by_name(renamed[0].parent, metric="acc")) == ["base", "quant"]
    assert list(by_name(f"a={renamed[0]}", f"b={renamed[1]}", metric="acc")) == ["a", "b"]


def test_renamed_files_of_one_name_are_called_after_their_folders(renamed: list[Path], tmp_path: Path) -> None:
    for path in renamed:
        (tmp_path / path.stem).mkdir()
        path.rename(tmp_path / path.stem / "out.jsonl")
    assert list(by_name(*(tmp_path / path.stem / "out.jsonl" for path in renamed), metric="acc")) == ["base", "quant"]


def test_a_renamed_file_is_compared_with_one_that_was_not(renamed: list[Path]) -> None:
    tables = by_name(renamed[0], LM_EVAL / LARGE, task="tiny_sky", metric="acc")
    assert set(tables) == {"base", LARGE}
    assert panel_of(list(tables.values())).n == 8
    assert set(by_name(renamed[0], only(LM_EVAL / LARGE, "samples_tiny_sky*"), metric="acc")) == {"base", LARGE}
    message = refusal([renamed[0], LM_EVAL / LARGE], task="tiny_*", metric="acc")
    assert "was renamed and does not say its task" in message
    assert "name a single task with `Selection(task=...)`" in message


def test_renamed_files_of_different_tasks_do_not_pair(renamed: list[Path]) -> None:
    shutil.copyfile(only(LM_EVAL / LARGE, "samples_tiny_animals*"), renamed[1])
    with pytest.raises(InputError, match="is not the same in both, its contents differ"):
        panel_of(read(renamed, metric="acc"))


# ------------------------------------------------------------------------------------------------- follow the advice


def test_tasks_that_are_offered_can_be_chosen() -> None:
    message = refusal([LM_EVAL / SMALL])
    assert "choose one with `Selection(task=...)`" in message
    for task in choices(message):
        assert "tasks" not in (refusal([LM_EVAL / SMALL], task=task) if task != "tiny_stories" else "")
    assert len(read([LM_EVAL / SMALL], task="tiny_stories")) == 1
    files = [only(LM_EVAL / SMALL, f"samples_{task}*") for task in ("tiny_sky", "tiny_animals")]
    assert "such as `Selection(task='*')`" in refusal(files, metric="acc")
    assert len(read(files, metric="acc", task="*")[0]) == 16


def test_metrics_and_filters_that_are_offered_can_be_chosen() -> None:
    for metric in choices(refusal([LM_EVAL / SMALL], task="tiny_sky")):
        assert len(read([LM_EVAL / SMALL], task="tiny_sky", metric=metric)) == 1
    path = min(LM_EVAL.glob("dummy/samples_*.jsonl"))
    for name in choices(refusal([path])):
        assert len(read([path], filter=name)) == 1


def test_runs_of_a_task_can_be_named_or_the_newest_taken() -> None:
    message = refusal([LM_EVAL / "dummy"], filter="strict-match")
    files = choices(message)
    assert len(files) == 2
    assert "`Selection(newest=True)`" in message
    assert len(read([LM_EVAL / "dummy"], filter="strict-match", newest=True)) == 1
    assert len(read(files[:1], filter="strict-match")) == 1
    assert list(by_name(*(f"{i}={file}" for i, file in enumerate(files)), filter="strict-match")) == ["0", "1"]
    [runs] = by_name(*(f"same={file}" for file in files), filter="strict-match").values()
    assert runs.labels["run"].names == ("1", "2")


def test_the_newest_is_offered_only_where_the_dates_tell_it(tmp_path: Path) -> None:
    run = next(HELM.glob(f"tiny_choices*{SMALL}"))  # HELM writes no dates
    folders = [shutil.copytree(run, tmp_path / name / run.name) for name in ("first", "second")]
    message = refusal([tmp_path], metric="exact_match")
    assert "2 runs of the task 'tiny_choices' by the model 'huggingface/stories260K-hf'" in message
    assert "`Selection(newest=True)`" not in message
    assert choices(message) == [str(folder) for folder in folders]
    assert len(by_name(*(f"{i}={folder}" for i, folder in enumerate(folders)), metric="exact_match")) == 2
    assert len(by_name(folders[0], metric="exact_match")) == 1


def test_a_log_that_is_named_twice_is_said_to_be(renamed: list[Path]) -> None:
    assert "the same log is named twice; name it once" in refusal([renamed[0], renamed[0]], metric="acc")


# ----------------------------------------------------------------------------------------------------- HELM's splits


@pytest.fixture
def two_splits(tmp_path: Path) -> Path:
    """A run in which the second instance is of another split, and has an entry in both."""
    folder = copy(next(HELM.glob(f"tiny_choices*{SMALL}")), tmp_path)

    def change(entries: list[dict[str, Any]]) -> None:
        second = next(entry["instance_id"] for entry in entries if entry["instance_id"] != entries[0]["instance_id"])
        own = [entry for entry in entries if entry["instance_id"] == second and not entry.get("perturbation")]
        for entry in own:
            other = {
                **entry,
                "stats": [{**stat, "name": {**stat["name"], "split": "valid"}} for stat in entry["stats"]],
            }
            entries.append(other)

    return edit_json(folder / "per_instance_stats.json", change).parent


def test_splits_are_never_merged_and_each_can_be_chosen(two_splits: Path) -> None:
    message = refusal([two_splits], metric="exact_match")
    assert (
        "2 splits (test, valid); choose one with `Selection(filter=...)`, such as `Selection(filter='test')`" in message
    )
    found = {split: read([two_splits], metric="exact_match", filter=split)[0] for split in choices(message)}
    assert {split: len(table) for split, table in found.items()} == {"test": 2, "valid": 1}
    [whole] = read([next(HELM.glob(f"tiny_choices*{SMALL}"))], metric="exact_match")
    assert scores(found["test"]) == scores(whole)
    assert "split valid" in found["valid"].notes[0]
    with pytest.raises(InputError, match=r"has the split test and .* the split valid; choose one that both have"):
        panel_of(list(found.values()))


# ------------------------------------------------------------------------------------------------- inspect's headers


@pytest.mark.parametrize("lacking", ["samples", "version"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_header_of_inspect_is_said_to_be_one(tmp_path: Path, lacking: str, indent: int | None) -> None:
    log = json.loads((INSPECT / "small.json").read_text("utf-8"))
    header = {name: value for name, value in log.items() if name not in ("samples", lacking)}
    path = tmp_path / "header.json"
    path.write_text(json.dumps(header, indent=indent), encoding="utf-8")
    assert "the header of an inspect log, without its samples; name the log itself" in refusal([path])
    assert len(read([INSPECT / "small.json"])) == 1


# -------------------------------------------------------------------------------------------------- Git LFS pointers


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.parquet", "a.eval", "a.tsv"])
def test_a_pointer_is_named_as_such_in_every_format(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(POINTER)
    expected = f"{tmp_path / name}: a Git LFS pointer, not the file itself; fetch the content with `git lfs pull`."
    assert refusal([tmp_path / name]) == expected
    if name.endswith(("json", "jsonl", "parquet", "eval")):
        assert refusal([tmp_path]) == expected


def test_a_damaged_log_in_a_folder_is_not_passed_over(tmp_path: Path) -> None:
    folder = copy(LM_EVAL / SMALL, tmp_path)
    path = only(folder, "samples_tiny_animals*")
    path.write_text("[[[\n")
    message = refusal([folder], task="tiny_*", metric="acc")
    assert f"{path}: named like samples of lm-eval, but its content is not; copy it again" in message
    path.unlink()
    assert len(read([folder], task="tiny_s*y", metric="acc")) == 1


@pytest.mark.parametrize("content", ["", "{}", " \n"])
@pytest.mark.parametrize(
    ("folder", "file", "what"),
    [
        ("swe_bench/logs", "report.json", "the report of an instance of SWE-bench"),
        ("livecodebench", "Scenario.*_eval_all.json", "results of LiveCodeBench"),
        ("bfcl", "BFCL_v*_score.json", "a file of BFCL"),
        ("deepeval", ".latest_test_run.json", "results of DeepEval"),
    ],
)
def test_an_empty_file_among_logs_is_not_passed_over(
    tmp_path: Path, folder: str, file: str, what: str, content: str
) -> None:
    logs = copy(LM_EVAL.parent / folder, tmp_path)
    path = min(logs.rglob(file))
    path.write_text(content)
    assert f"{path}: named like {what}, but its content is not" in refusal([logs])


def test_a_pointer_to_something_else_in_a_folder_of_logs_does_not_matter(tmp_path: Path) -> None:
    folder = copy(LM_EVAL / SMALL, tmp_path)
    (folder / "plot.png").write_text(POINTER)
    assert len(read([folder], task="tiny_sky", metric="acc")) == 1
    edit_lines(only(folder, "samples_tiny_sky*"), lambda _, row: row)
    only(folder, "samples_tiny_animals*").write_text(POINTER)
    assert "Git LFS pointer" in refusal([folder], task="tiny_sky", metric="acc")
