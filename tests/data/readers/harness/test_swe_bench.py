"""SWE-bench: the oracle is what the harness counted in its reports, and the grades that the instances were given."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.analyses.suite import compare_or_suite
from assay.analyses.suite.result import SuiteComparison
from assay.data import Selection
from assay.design import Design
from assay.errors import InputError, UsageError
from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, edit_json, one, read_json, scores
from tools.make_harness_fixtures.swe_bench_files import GRADES, INSTANCES, NOT_TRIED, OTHER

SWE_BENCH = FOLDER / "swe_bench"
BASE, TUNED = SWE_BENCH / "base.r1.json", SWE_BENCH / "tuned.r1.json"
LIST, TRIED, PREDICTIONS = SWE_BENCH / "lists/other-resolved.json", SWE_BENCH / "lists/tried.txt", "predictions.jsonl"
TREE = SWE_BENCH / "logs"


@pytest.mark.parametrize("model", GRADES)
def test_the_report_counts_what_was_submitted_as_the_harness_counts_it(model: str) -> None:
    report = read_json(SWE_BENCH / f"{model}.r1.json")
    assert report["total_instances"] == len(INSTANCES) + len(NOT_TRIED)  # the data set, not what was tried
    [found] = assay.summarize(SWE_BENCH / f"{model}.r1.json", selection=Selection(errors="wrong")).models
    assert (found.name, found.n) == (model, report["submitted_instances"])
    assert found.value.value == pytest.approx(report["resolved_instances"] / report["submitted_instances"])


def test_an_empty_patch_has_failed_and_an_error_is_lost() -> None:
    table = one(BASE, task="*")
    want = dict(zip(INSTANCES, GRADES["base"], strict=True))
    assert table.lost is not None
    lost = {instance for instance, gone in zip(table.ids, table.lost, strict=True) if gone}
    assert lost == {instance for instance, grade in want.items() if grade in "xm"}
    kept = {name: score for name, score in scores(table).items() if name not in lost}
    assert kept == {name: float(grade == "p") for name, grade in want.items() if grade not in "xm"}


def test_the_repository_is_the_task() -> None:
    found = assay.summarize(TUNED)
    by_hand: dict[str, list[bool]] = {}
    for instance, grade in zip(INSTANCES, GRADES["tuned"], strict=True):
        by_hand.setdefault(instance.partition("__")[0], []).append(grade == "p")
    assert {task: row.value.value for task, [row] in found.tasks.items()} == pytest.approx(
        {task: sum(right) / len(right) for task, right in by_hand.items()}
    )
    assert set(one(TUNED, task="django").ids) == {name for name in INSTANCES if name.startswith("django__")}


def test_instances_count_the_same_unless_tasks_are_asked_for(tmp_path: Path) -> None:
    """The leaderboard's number is a mean of instances, however many of them a repository has."""
    runs = []
    for name, right in (("a", 30), ("b", 20)):
        ids = [f"{owner}__x-{i}" for owner in ("one", "two") for i in range(20)]
        report = {"submitted_instances": 40, "resolved_instances": right, "submitted_ids": ids, "error_ids": []}
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({**report, "resolved_ids": ids[:right], "unresolved_ids": ids[right:]}))
        runs.append(path)
    found = compare_or_suite(*runs, design=Design())
    assert not isinstance(found, SuiteComparison)
    assert (found.a, found.b) == (0.75, 0.5)
    assert any("taken together, as SWE-bench does" in note for note in found.notes)
    assert isinstance(compare_or_suite(*runs, by="task", design=Design()), SuiteComparison)


def test_the_reports_of_instances_hold_the_same(tmp_path: Path) -> None:
    want = {name: float(grade == "p") for name, grade in zip(INSTANCES, GRADES["tuned"], strict=True) if grade != "e"}
    assert scores(one(TREE, task="*")) == want
    assert one(TREE, task="*").name == "tuned"
    tree = copy(TREE, tmp_path)
    folder = tree / "run_evaluation/r1/tuned"
    (folder / INSTANCES[2] / "report.json").unlink()  # the harness did not get as far as a report
    table = one(tree, task="*")
    assert table.lost is not None
    assert [name for name, gone in zip(table.ids, table.lost, strict=True) if gone] == [INSTANCES[2]]


def test_a_report_beside_its_tree_is_read_once(tmp_path: Path) -> None:
    copy(TREE, tmp_path)
    copy(TUNED, tmp_path)
    assert len(one(tmp_path, task="*")) == len(INSTANCES)


@pytest.mark.parametrize("how", ["text", "predictions", "report", "JSON list", "predictions by instance"])
def test_a_list_of_what_was_resolved_needs_what_was_tried(tmp_path: Path, how: str) -> None:
    assert_refused(LIST, "does not say what was tried", "`Selection(tried='FILE')`")
    files = {"text": TRIED, "predictions": SWE_BENCH / PREDICTIONS, "report": BASE}
    path = tmp_path / "tried.json"
    if how == "JSON list":
        path.write_text(json.dumps([*INSTANCES]))
    if how == "predictions by instance":
        path.write_text(json.dumps({name: {"model_patch": ""} for name in INSTANCES}))
    table = one(LIST, tried=str(files.get(how, path)))
    assert table.name == "other"
    assert scores(table) == {name: float(grade == "p") for name, grade in zip(INSTANCES, OTHER, strict=True)}
    assert any(f"{len(NOT_TRIED)} more that are listed as resolved are left out" in note for note in table.notes)


def test_predictions_beside_a_list_say_what_was_tried(tmp_path: Path) -> None:
    path = copy(LIST, tmp_path)
    copy(SWE_BENCH / PREDICTIONS, tmp_path)
    assert len(one(path)) == len(INSTANCES)
    (tmp_path / "20260101_agent" / "results").mkdir(parents=True)
    found = {"no_generation": [], "no_logs": [], "resolved": [INSTANCES[0]]}  # as in SWE-bench's experiments
    (tmp_path / "20260101_agent/results/results.json").write_text(json.dumps(found))
    shutil.copyfile(SWE_BENCH / PREDICTIONS, tmp_path / "20260101_agent/all_preds.jsonl")
    table = one(tmp_path / "20260101_agent")
    assert (table.name, table.numbers["score"].sum(), len(table)) == ("20260101_agent", 1, len(INSTANCES))


def test_a_report_and_a_list_compare_on_what_was_tried() -> None:
    pairs = list(zip(GRADES["tuned"], OTHER, strict=True))
    found = assay.compare(TUNED, LIST, selection=Selection(tried=str(TRIED)))
    assert found.n_pairs == len(INSTANCES)
    assert found.a == sum(a == "p" for a, _ in pairs) / len(pairs)
    assert found.b == sum(b == "p" for _, b in pairs) / len(pairs)
    assert found.substance is not None
    assert found.substance.differing == sum((a == "p") != (b == "p") for a, b in pairs)


def test_what_was_tried_narrows_a_report_down(tmp_path: Path) -> None:
    path = tmp_path / "few.txt"
    path.write_text("\n".join(INSTANCES[:3]) + "\n")
    assert one(TUNED, tried=str(path)).ids.tolist() == [*INSTANCES[:3]]
    path.write_text("mwaskom__seaborn-1\n")
    assert_refused(TUNED, "none of its instances is in", tried=str(path))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["empty"]),
        ("\n\n", ["no instance ids"]),
        ("django__django-1\nnot an id\n", ["line 2", "no instance id", "one per line"]),
        ('{"a": 1}', ["no instance ids"]),
        ('["django__django-1", 7]', ["entry 2", "no instance id"]),
        ('{"submitted_ids": [1]}', ["submitted_ids, entry 1"]),
    ],
)
def test_a_file_that_does_not_say_what_was_tried_is_refused(tmp_path: Path, text: str, parts: list[str]) -> None:
    path = tmp_path / "tried.txt"
    path.write_text(text)
    if text.strip():
        assert_refused(LIST, str(path), *parts, tried=str(path))
    else:
        assert_refused(LIST, str(path), tried=str(path))


def test_other_formats_know_nothing_of_what_was_tried() -> None:
    with pytest.raises(UsageError, match=r"is for SWE-bench; leave it out"):
        one(FOLDER / "human_eval" / "small.jsonl_results.jsonl", tried=str(TRIED))


def test_older_reports_hold_lists_only(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    made = {"generated": [*INSTANCES[:5]], "no_generation": [INSTANCES[5]], "applied": [*INSTANCES[:4]]}
    made |= {"resolved": [*INSTANCES[:2]], "install_fail": [INSTANCES[4]], "test_errored": [INSTANCES[3]]}
    path.write_text(json.dumps(made))
    table = one(path)
    assert table.name == "old"
    assert table.lost is not None
    assert table.lost.tolist() == [False] * 4 + [True, False]
    assert table.numbers["score"][~table.lost].tolist() == [1, 1, 0, 0, 0]


def test_models_are_named_after_the_file(tmp_path: Path) -> None:
    for name, model in (("gpt-4.1.json", "gpt-4.1"), ("org__gpt-4.1.verified-1.json", "org__gpt-4.1")):
        path = copy(BASE, tmp_path).rename(tmp_path / name)
        assert one(path).name == model


def test_predictions_alone_have_no_scores() -> None:
    assert_refused(SWE_BENCH / PREDICTIONS, "predictions, which have no scores")


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda found: found.pop("resolved_ids"), ["without the ids of what was resolved"]),
        (lambda found: found.update(resolved_ids="all"), ["'resolved_ids' must be a list of instance ids"]),
        (lambda found: found.update(error_ids=[1]), ["'error_ids' must be a list of instance ids"]),
        (lambda found: found.update({name: [] for name in found if name.endswith("_ids")}), ["no instance at all"]),
    ],
)
def test_a_bad_report_is_refused(tmp_path: Path, change: Any, parts: list[str]) -> None:
    path = edit_json(copy(BASE, tmp_path), change)
    assert_refused(path, str(path), *parts, format="swe-bench")


def test_a_bad_report_of_an_instance_is_named(tmp_path: Path) -> None:
    tree = copy(TREE, tmp_path)
    path = tree / "run_evaluation/r1/tuned" / INSTANCES[0] / "report.json"
    edit_json(path, lambda found: found[INSTANCES[0]].update(resolved="yes"))
    assert_refused(tree, str(path), INSTANCES[0], "'resolved' must be a truth")
    path.write_text('{"django__django-1": {"patch_exists": true, "resol')
    assert_refused(tree, str(path), "ends too early")


def test_two_reports_of_a_model_are_two_runs(tmp_path: Path) -> None:
    copy(BASE, tmp_path)
    copy(BASE, tmp_path).rename(tmp_path / "base.r2.json")
    copy(BASE, tmp_path)
    assert_refused(tmp_path, "2 runs of the task 'astropy'", "NAME=PATH")
    both = by_name(f"base={tmp_path / 'base.r1.json'}", f"base={tmp_path / 'base.r2.json'}")
    assert both["base"].labels["run"].names == ("1", "2")


def test_a_file_of_lists_that_is_no_report_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "words.json").write_text('["one", "two"]')
    with pytest.raises(InputError):
        one(tmp_path / "words.json")
