"""Several logs, models, tasks and runs in one call, and what may be paired with what."""

from pathlib import Path
from typing import Any

import pytest

from assay.data import Selection, open_sources, pair, read_table, read_tables
from assay.data.readers.registry import named
from assay.errors import InputError, UsageError
from tests.data.files import checked_message, panel_of, write_rows
from tests.data.readers.harness.logs import (
    HELM,
    INSPECT,
    LARGE,
    LIGHTEVAL,
    LM_EVAL,
    RESPONSES,
    SMALL,
    assert_refused,
    by_name,
    copy,
    edit_json,
    edit_lines,
    one,
    only,
    scores,
)

SKY: dict[str, Any] = {"task": "tiny_sky", "metric": "acc"}


# ----------------------------------------------------------------------------------------------------------- NAME=PATH


def test_a_name_renames_the_model_of_a_log_a_table_and_a_run_of_items(tmp_path: Path) -> None:
    assert list(by_name(f"a={LM_EVAL / SMALL}", f"b={LM_EVAL / LARGE}", **SKY)) == ["a", "b"]
    table = write_rows(tmp_path / "t.csv", {"item": ["q"], "score": [1.0]})
    assert read_table(f"7b={table}").name == "7b"
    assert read_table(table).name == "t"


def test_a_name_for_several_models_is_refused() -> None:
    with pytest.raises(UsageError, match=r"x=… renames one model, but .* holds 2"):
        read_tables([f"x={LIGHTEVAL}"], selection=Selection(metric="acc"))


def test_an_existing_file_with_an_equals_sign_is_that_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(Path("lr=0.1.csv"), {"item": ["q"], "score": [1.0]})
    write_rows(Path("0.1.csv"), {"item": ["r"], "score": [0.0]})
    assert read_table("lr=0.1.csv").ids.tolist() == ["q"]
    assert read_table("x=lr=0.1.csv").name == "x"
    Path("lr=0.1.csv").unlink()
    assert read_table("lr=0.1.csv").name == "lr"


def test_what_names_no_path_is_a_path() -> None:
    for text in ("=a.csv", "a=", "a.csv", "no/where=else/a.csv"):
        assert named(text) == (None, Path(text))
    assert named(Path("a=b.csv")) == ("a", Path("b.csv"))
    assert_refused("nosuch=file.csv", "file.csv: no such file")


def test_a_list_is_a_source_for_each_model() -> None:
    sources = open_sources([LM_EVAL / SMALL, LM_EVAL / LARGE], Selection(**SKY))
    assert [source.name for source in sources] == [SMALL, LARGE]
    assert {"item", "score", "model", "doc_hash"} == set(sources[0].columns)


# ----------------------------------------------------------------------------------------------- tasks and models


def test_files_of_one_model_are_put_together_whatever_path_they_come_from() -> None:
    files = [
        only(LM_EVAL / model, f"samples_{task}*") for model in (SMALL, LARGE) for task in ("tiny_animals", "tiny_sky")
    ]
    tables = by_name(*files, task="tiny_*", metric="acc")
    assert {name: scores(table) for name, table in tables.items()} == {
        name: scores(one(LM_EVAL / name, task="tiny_choices", metric="acc")) for name in (SMALL, LARGE)
    }


def test_a_model_that_is_named_is_read_without_looking_at_the_others() -> None:
    [source] = open_sources(
        [LM_EVAL], Selection(task="tiny_words", filter="strict-match", newest=True), models=["dummy"]
    )
    assert source.name == "dummy"
    tables = open_sources([LM_EVAL], Selection(task="tiny_[aw]*", metric="acc"), models=[SMALL])
    assert [source.name for source in tables] == [SMALL]


def test_the_same_task_twice_is_refused_or_the_newest_or_runs_of_one_name() -> None:
    first, second = sorted(LM_EVAL.glob("dummy/samples_*.jsonl"))
    picked: dict[str, Any] = {"filter": "strict-match"}
    assert_refused(LM_EVAL / "dummy", "2 runs of the task 'tiny_words'", str(first), str(second), **picked)
    assert_refused(f"x={LM_EVAL / 'dummy'}", "2 runs of the task 'tiny_words'", **picked)
    assert one(LM_EVAL / "dummy", newest=True, **picked).about["files"] == (second,)
    [table] = read_tables([f"x={first}", f"x={second}"], selection=Selection(**picked))
    assert table.labels["run"].names == ("1", "2")
    assert len(table) == 10
    assert list(by_name(f"x={first}", f"y={second}", **picked)) == ["x", "y"]


def test_runs_and_epochs_are_numbered_together() -> None:
    logs = [f"m={INSPECT / name}" for name in ("small.eval", "large.eval")]
    [table] = read_tables(logs)
    assert table.labels["run"].names == ("1.1", "1.2", "2.1", "2.2")


def test_losses_have_no_runs() -> None:
    with pytest.raises(InputError, match="losses have no runs"):
        read_tables([f"m={RESPONSES / name}" for name in ("base-echo.jsonl", "int4-echo.jsonl")])


def test_runs_without_dates_have_no_newest(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        copy(next(HELM.glob("tiny_choices*")), tmp_path / name)
    assert_refused(tmp_path, "their dates do not say which is the newest", metric="exact_match", newest=True)


def test_tasks_with_other_kinds_are_not_put_together(tmp_path: Path) -> None:
    folder = copy(LM_EVAL / SMALL, tmp_path)
    assert_refused(folder, "no metric 'acc'", "bits_per_byte", task="tiny_*", metric="acc")
    edit_lines(only(folder, "samples_tiny_sky*"), lambda _, row: row | {"metrics": ["acc"]})
    only(folder, "samples_tiny_animals*").unlink()
    assert_refused(folder, "losses (tiny_stories) beside scores (tiny_sky)", "no total has both", task="tiny_s*")


def test_several_models_for_one_table_are_refused() -> None:
    with pytest.raises(InputError, match=rf"2 models .*{SMALL}"):
        read_table(LIGHTEVAL, selection=Selection(metric="acc"))


def test_tables_of_ours_and_logs_in_one_call(tmp_path: Path) -> None:
    table = write_rows(tmp_path / "t.csv", {"item": ["a", "a", "b", "b"], "score": [1, 0, 1, 1], "model": list("xyxy")})
    memory = {"item": ["a", "b"], "score": [1, 0]}
    names = [found.name for found in read_tables([table, memory, INSPECT / "small.eval", read_table(memory, name="m")])]
    assert sorted(names) == ["m", "mockllm/small", "the table", "x", "y"]


# ------------------------------------------------------------------------------------------------------ what may pair


def test_two_models_pair_by_id_and_content() -> None:
    panel = panel_of(list(by_name(LM_EVAL / SMALL, LM_EVAL / LARGE, task="tiny_choices", metric="acc").values()))
    assert (panel.systems, panel.n) == ((SMALL, LARGE), 16)
    assert any("paired on task and doc_id, doc_hash compared" in note for note in panel.notes)


def test_an_item_that_is_another_one_in_the_other_file_is_refused(tmp_path: Path) -> None:
    path = copy(only(LM_EVAL / LARGE, "samples_tiny_sky*"), tmp_path)
    edit_lines(path, lambda i, row: row | {"doc_hash": "other"} if i == 5 else row)
    with pytest.raises(InputError) as caught:
        pair(one(LM_EVAL / SMALL, **SKY), one(path, metric="acc"))
    checked_message(caught.value, "item '5' is not the same in both", "same version of the data", str(path))
    with pytest.raises(InputError, match="is not the same in both"):
        pair(one(LM_EVAL / SMALL, **SKY), one(LM_EVAL / LARGE, task="tiny_animals", metric="acc"))


def test_epochs_that_ask_something_else_are_refused(tmp_path: Path) -> None:
    path = edit_json(copy(INSPECT / "small.json", tmp_path), lambda log: log["samples"][1].update(input="Another?"))
    with pytest.raises(InputError, match=r"sample 2, column .doc_hash.: not the doc_hash of sample 1,"):
        panel_of([one(path)])


def test_other_metrics_filters_and_scorers_do_not_pair() -> None:
    acc, norm = (
        one(LM_EVAL / model, task="tiny_sky", metric=metric) for model, metric in ((SMALL, "acc"), (LARGE, "acc_norm"))
    )
    with pytest.raises(
        InputError, match=r"metric acc and .* metric acc_norm; choose one that both have with `Selection\(metric=...\)`"
    ):
        pair(acc, norm)
    first, second = sorted(LM_EVAL.glob("dummy/samples_*.jsonl"))
    with pytest.raises(InputError, match=r"`Selection\(filter=...\)`"):
        pair(one(first, filter="strict-match"), one(second, filter="flexible-extract"))
    parts = INSPECT / "parts.eval"
    with pytest.raises(InputError, match=r"`Selection\(scorer=...\)`"):
        pair(one(parts, scorer="match"), one(parts, scorer="includes"))


def test_other_tasks_pair_only_if_their_contents_are_known_to_agree(tmp_path: Path) -> None:
    path = copy(only(LM_EVAL / SMALL, "samples_tiny_sky*"), tmp_path)
    renamed = path.rename(tmp_path / path.name.replace("tiny_sky", "tiny_sky_cot"))
    assert pair(one(LM_EVAL / SMALL, **SKY), one(renamed, metric="acc")).n == 8
    edit_lines(renamed, lambda _, row: row | {"doc_hash": ""})
    with pytest.raises(InputError, match=r"holds the task tiny_sky and .* tiny_sky_cot; .* `Selection\(task=...\)`"):
        pair(one(LM_EVAL / SMALL, **SKY), one(renamed, metric="acc"))


def test_another_scenario_of_helm_does_not_pair(tmp_path: Path) -> None:
    folder = copy(next(HELM.glob(f"tiny_choices*{SMALL}")), tmp_path)
    edit_json(folder / "run_spec.json", lambda spec: spec["scenario_spec"].update(args={"subject": "anatomy"}))
    with pytest.raises(InputError, match="is not the same in both"):
        panel_of([one(path, metric="exact_match") for path in (next(HELM.glob(f"tiny_choices*{LARGE}")), folder)])


def test_the_harness_says_which_direction_is_good_and_the_user_may_overrule(tmp_path: Path) -> None:
    folders = [copy(LM_EVAL / model, tmp_path) for model in (SMALL, LARGE)]
    for folder in folders:
        edit_json(only(folder, "results_*"), lambda found: found["higher_is_better"]["tiny_sky"].update(acc=False))
    lower = [one(folder, **SKY) for folder in folders]
    assert pair(*lower).metric.lower_is_better
    assert not pair(*lower, lower_is_better=False).metric.lower_is_better
    with pytest.raises(InputError, match="do not agree whether a lower score is better"):
        pair(lower[0], one(LM_EVAL / LARGE, **SKY))


# -------------------------------------------------------------------------------------------------------- misplaced


def test_picking_from_a_table_and_naming_columns_of_a_log_are_refused(tmp_path: Path) -> None:
    table = write_rows(tmp_path / "t.csv", {"item": ["q"], "score": [1.0]})
    with pytest.raises(
        UsageError, match=r"`Selection\(task='x'\)` picks among the results of a harness, but .*t.csv is a table"
    ):
        read_tables([table], selection=Selection(task="x"))
    with pytest.raises(UsageError, match=r"`Selection\(newest=True\)`"):
        read_tables([table], selection=Selection(newest=True))
    with pytest.raises(
        UsageError, match=r"`columns` names the columns of a table, but .* lm-eval; .* `Selection\(format='table'\)`"
    ):
        read_tables([LM_EVAL / SMALL], columns={"score": "acc"}, selection=Selection(**SKY))
    with pytest.raises(UsageError, match="format must be one of table, lm-eval"):
        Selection(format="csv")
