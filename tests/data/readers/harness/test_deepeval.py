"""DeepEval: the oracle is its own list of scores by metric, and what the script says of the answers."""

import json
import shutil
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from assay.data.readers.harness.deepeval import logs_of
from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, edit_json, one, read_json, scores

DEEPEVAL = FOLDER / "deepeval"
RUN, CACHE = ".latest_test_run.json", ".deepeval-cache.json"
#: As in `tools/make_harness_fixtures/deepeval_files.py`: x is an answer that the judge fails on.
RIGHT = {"small": "11001010", "large": "1110111x"}
METRICS = ("Correctness", "Brevity")


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("model", RIGHT)
def test_scores_are_those_of_deepeval_s_own_list(model: str, metric: str) -> None:
    told = read_json(DEEPEVAL / model / RUN)["testRunData"]["metricsScores"]
    [want] = [entry for entry in told if entry["metric"] == metric]
    found = scores(by_name(DEEPEVAL, metric=metric)[model])
    assert [score for score in found.values() if not isnan(score)] == want["scores"]
    assert sum(map(isnan, found.values())) == want["errors"]


@pytest.mark.parametrize("model", RIGHT)
def test_correctness_is_what_the_script_says(model: str) -> None:
    found = list(scores(by_name(DEEPEVAL, metric="Correctness")[model]).values())
    assert "".join("x" if isnan(score) else str(int(score)) for score in found) == RIGHT[model]
    script = Path(__file__).parents[4] / "tools" / "make_harness_fixtures" / "deepeval_files.py"
    assert f"RIGHT = {json.dumps(RIGHT)}" in script.read_text("utf-8")


@pytest.mark.parametrize("metric", METRICS)
def test_the_cache_has_the_same_scores_but_for_those_that_failed(metric: str) -> None:
    cached = scores(one(DEEPEVAL / "large" / CACHE, metric=metric))
    run = scores(one(DEEPEVAL / "large" / RUN, metric=metric))
    assert cached == {item: score for item, score in run.items() if not isnan(score)}


def test_a_folder_with_both_is_read_once_and_the_cache_alone_is_called_after_its_folder(tmp_path: Path) -> None:
    table = one(DEEPEVAL / "small", metric="Brevity")
    assert table.name == "small"
    assert [path.name for path in table.about["files"]] == [RUN]
    folder = tmp_path / "mine" / ".deepeval"
    folder.mkdir(parents=True)
    shutil.copyfile(DEEPEVAL / "small" / CACHE, folder / CACHE)
    assert one(tmp_path, metric="Brevity").name == "mine"


def test_a_run_without_its_wrapper_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(read_json(DEEPEVAL / "small" / RUN)["testRunData"]), encoding="utf-8")
    assert scores(one(path, metric="Brevity")) == scores(one(DEEPEVAL / "small", metric="Brevity"))


def test_the_threshold_is_a_note_and_no_score() -> None:
    """`success` of a metric is its score against a threshold, which differs between projects."""
    cases = read_json(DEEPEVAL / "small" / RUN)["testRunData"]["testCases"]
    missed = sum(
        not metric["success"] for case in cases for metric in case["metricsData"] if metric["name"] == "Brevity"
    )
    [note] = [note for note in one(DEEPEVAL / "small", metric="Brevity").notes if "threshold" in note]
    assert f"Brevity misses the threshold of 0.5 in {missed} of 8 cases" in note
    assert missed == 8


def test_a_metric_is_only_for_the_cases_that_have_it_and_a_null_is_lost(tmp_path: Path) -> None:
    path = copy(DEEPEVAL / "small" / RUN, tmp_path)

    def change(found: Any) -> None:
        cases = found["testRunData"]["testCases"]
        cases[0]["metricsData"].pop()
        cases[1]["metricsData"][1]["score"] = None
        cases[2]["metricsData"] = None

    edit_json(path, change)
    found = scores(one(path, metric="Brevity"))
    assert len(found) == 6
    assert [isnan(score) for score in found.values()] == [True] + [False] * 5


def test_an_input_that_comes_again_is_an_attempt_and_in_a_cache_a_warning(tmp_path: Path) -> None:
    path = copy(DEEPEVAL / "small" / CACHE, tmp_path)

    def change(found: Any) -> None:
        cases = found["test_cases_lookup_map"]
        first, case = next(iter(cases.items()))
        again = json.loads(json.dumps(case))
        again["cached_metrics_data"][0]["metric_data"]["evaluationModel"] = "another"
        cases[json.dumps(json.loads(first) | {"actual_output": "other"})] = again

    edit_json(path, change)
    table = one(path, metric="Correctness")
    assert table.labels["run"].names == ("1", "2")
    assert len(table) == 9
    assert any(note.startswith("warning: ") and "1 of 9 cases" in note for note in table.notes)
    assert any("scores by 2 judges: another, rule" in note for note in table.notes)


def test_the_judge_is_a_condition_and_the_time_a_cost() -> None:
    [log] = logs_of([DEEPEVAL / "small" / RUN])
    assert log.conditions == {"judge": "rule"}
    assert log.answers.costs == {"seconds": [0.5] * 8}  # type: ignore[attr-defined]


def test_conversations_go_by_their_scenario(tmp_path: Path) -> None:
    path = copy(DEEPEVAL / "small" / RUN, tmp_path)

    def change(found: Any) -> None:
        run = found["testRunData"]
        first = run["testCases"].pop(0)
        first.pop("input")
        run["conversationalTestCases"] = [first | {"scenario": "a visit"}]

    edit_json(path, change)
    assert list(scores(one(path, metric="Brevity")))[-1] == "a visit"


@pytest.mark.parametrize(
    ("name", "change", "parts"),
    [
        (RUN, lambda found: found["testRunData"].update(testCases=[]), ["no test cases"]),
        (RUN, lambda found: found["testRunData"].pop("testCases"), ["testRunData", "no field 'testCases'"]),
        (
            RUN,
            lambda found: found["testRunData"]["testCases"][2]["metricsData"][0].update(score="high"),
            ["testRunData.testCases[2].metricsData[0].score", "a number or null, but got a text"],
        ),
        (
            RUN,
            lambda found: found["testRunData"]["testCases"][2]["metricsData"].append({"name": "Brevity", "score": 1}),
            ["case 3", "several scores by the metric Brevity"],
        ),
        (RUN, lambda found: [case.pop("metricsData") for case in found["testRunData"]["testCases"]], ["no case has"]),
        (CACHE, lambda found: found["test_cases_lookup_map"].update({"x": {}}), ["case 9", "not JSON"]),
        (CACHE, lambda found: found["test_cases_lookup_map"].update({"{}": {}}), ["case 9", "no field 'input'"]),
        (CACHE, lambda found: found.update(test_cases_lookup_map=[]), ["test_cases_lookup_map", "must be an object"]),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, name: str, change: Any, parts: list[str]) -> None:
    assert_refused(edit_json(copy(DEEPEVAL / "small" / name, tmp_path), change), *parts, metric="Brevity")


def test_another_metric_than_there_are_is_refused_with_those(tmp_path: Path) -> None:
    assert_refused(DEEPEVAL / "small", "no metric 'x', only Brevity, Correctness", metric="x")
    path = copy(DEEPEVAL / "small" / RUN, tmp_path)
    path.write_bytes(path.read_bytes()[:700])
    assert_refused(path, "ends too early", metric="Brevity")


def test_a_case_that_is_in_the_cache_twice_is_refused(tmp_path: Path) -> None:
    path = copy(DEEPEVAL / "small" / CACHE, tmp_path)
    text = path.read_text("utf-8")
    first = text.index('"{')
    case = text[first : text.index('"{', first + 1)]
    path.write_text(text.replace(case, case + case), encoding="utf-8")
    assert_refused(path, "appears twice", metric="Brevity")
