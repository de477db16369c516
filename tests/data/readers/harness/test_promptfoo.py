"""promptfoo: the oracle is what the script that made the files says of the answers, and promptfoo's own counts."""

import json
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from assay.data import Selection
from assay.data.readers.harness.promptfoo import logs_of
from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, edit_json, read_json, scores

PROMPTFOO = FOLDER / "promptfoo"
PROVIDERS, PROMPTS = PROMPTFOO / "two_providers.json", PROMPTFOO / "two_prompts.json"
#: As in `tools/make_harness_fixtures/promptfoo_files.py`: x is a request that failed; the assertion of test 6 throws.
RIGHT = {"small": "1100101x", "large": "11101110"}
BROKEN = 6


def questions() -> list[str]:
    tests = read_json(PROVIDERS)["config"]["tests"]
    return [test["vars"]["question"] for test in tests]


def present(found: dict[str, float]) -> dict[str, float]:
    return {item: score for item, score in found.items() if not isnan(score)}


@pytest.mark.parametrize("model", RIGHT)
def test_passes_are_what_the_providers_were_told_to_answer(model: str) -> None:
    found = scores(by_name(PROVIDERS, metric="pass")[model])
    want = {
        question: float(right)
        for i, (question, right) in enumerate(zip(questions(), RIGHT[model], strict=True))
        if right != "x" and i != BROKEN
    }
    assert list(found) == questions()
    assert present(found) == want


def test_the_counts_are_promptfoo_s_own() -> None:
    """Of each provider it counts passes, failures and errors; a broken assertion is a failure to it."""
    for told in read_json(PROVIDERS)["results"]["prompts"]:
        found = present(scores(by_name(PROVIDERS, metric="pass")[told["provider"]]))
        counts = told["metrics"]
        assert sum(found.values()) == counts["testPassCount"]
        assert len(found) - sum(found.values()) == counts["testFailCount"] - 1
        assert len(questions()) - len(found) - 1 == counts["testErrorCount"]


def test_scores_and_named_scores_against_a_plain_script() -> None:
    records = read_json(PROVIDERS)["results"]["results"]
    for metric in ("score", "brief"):
        told = {
            one["vars"]["question"]: one["score"] if metric == "score" else one["namedScores"].get("brief")
            for one in records
            if one["provider"]["id"] == "large" and one["vars"]["question"] != questions()[BROKEN]
        }
        want = {question: float(value) for question, value in told.items() if value is not None}
        assert present(scores(by_name(PROVIDERS, metric=metric)["large"])) == want


def test_a_metric_is_only_for_the_tests_that_have_it() -> None:
    """The broken test has no assertion that is called so, and is left out; one whose request failed is lost."""
    assert set(scores(by_name(PROVIDERS, metric="brief")["small"])) == set(questions()) - {questions()[BROKEN]}
    assert isnan(scores(by_name(PROVIDERS, metric="brief")["small"])[questions()[7]])


def test_of_one_provider_each_prompt_is_a_system_and_repeats_are_runs() -> None:
    names = [log.model for log in logs_of([PROMPTS])]
    assert names == ["large, Finish this: {{question}}", "large, Please finish this for me: {{question}}"]
    for table in by_name(PROMPTS, metric="pass").values():
        assert len(table) == 8
        assert table.labels["run"].names == ("1", "2")
        assert set(table.ids) == set(questions()[:4])


def test_several_providers_under_several_prompts_have_a_task_for_each_prompt(tmp_path: Path) -> None:
    path = copy(PROMPTS, tmp_path)

    def change(found: Any) -> None:
        again = json.loads(json.dumps(found["results"]["results"]))
        for one in again:
            one["provider"]["id"] = "other"
        found["results"]["results"] += again

    edit_json(path, change)
    logs = logs_of([path])
    assert [(log.model, log.task) for log in logs] == [
        (model, prompt)
        for prompt in ("Finish this: {{question}}", "Please finish this for me: {{question}}")
        for model in ("large", "other")
    ]
    assert set(by_name(path, metric="pass", task="Finish*")) == {"large", "other"}


def test_one_prompt_is_a_setting_and_two_files_go_together(tmp_path: Path) -> None:
    path = copy(PROVIDERS, tmp_path)

    def change(found: Any) -> None:
        for one in found["results"]["results"]:
            one["provider"]["label"] = f"new {one['provider']['id']}"

    edit_json(path, change)
    assert set(by_name(PROVIDERS, path, metric="pass")) == {"small", "large", "new small", "new large"}
    assert all(log.settings == {"prompt": "Finish this: {{question}}"} for log in logs_of([path]))


def test_a_broken_assertion_is_a_warning_and_a_failure_only_where_another_one_failed(tmp_path: Path) -> None:
    table = by_name(PROVIDERS, metric="pass")["large"]
    [note] = [note for note in table.notes if "could not be evaluated" in note]
    assert note.startswith("warning: ")
    assert "in 2 of 16 records" in note
    assert isnan(scores(table)[questions()[BROKEN]])
    path = copy(PROVIDERS, tmp_path)

    def fail(found: Any) -> None:
        for one in found["results"]["results"]:
            for part in (one["gradingResult"] or {}).get("componentResults", [])[:1]:
                if part["reason"].startswith("Custom function threw"):
                    own = part | {"reason": "Expected output to contain", "pass": False}
                    one["gradingResult"]["componentResults"].insert(0, own)

    edit_json(path, fail)
    again = by_name(path, metric="pass")["large"]
    assert scores(again)[questions()[BROKEN]] == 0
    assert any("could not be evaluated in 2 of 16 records" in note for note in again.notes)


def test_pass_is_taken_unasked_where_every_score_is_that(tmp_path: Path) -> None:
    path = copy(PROVIDERS, tmp_path)
    assert_refused(path, "3 metrics (brief, pass, score)", "`Selection(metric=...)`")

    def change(found: Any) -> None:
        for one in found["results"]["results"]:
            one["namedScores"], one["score"] = {}, int(one["success"])

    edit_json(path, change)
    assert by_name(path)["large"].about["measure"]["metric"] == "pass"
    assert set(by_name(path, metric="score")) == {"small", "large"}
    assert [one.metric for log in logs_of([path]) for one in log.measures(Selection())] == ["pass", "pass"]


def test_costs_are_the_response_s() -> None:
    [small, _] = logs_of([PROVIDERS])
    costs = small.answers.costs  # type: ignore[attr-defined]
    assert costs["tokens_in"][:3] == [4, 4, 4]
    assert costs["price"][0] == pytest.approx(0.003)  # "it is milk"
    assert isnan(costs["tokens_out"][7])


def records(kind: str) -> list[dict[str, Any]]:
    """Four tests in an early shape: no provider, no indices."""
    return [
        {"prompt": {"raw": f"Say {i}", kind: "Say {{n}}"}, "vars": {"n": i}, "success": i != 2, "score": int(i != 2)}
        for i in range(4)
    ]


EARLY: dict[str, Any] = {
    "version 1": {"version": 1, "results": [{**one, "score": None} for one in records("display")], "stats": {}},
    "version 2": {
        "results": {"version": 2, "results": records("display"), "stats": {}, "table": {}},
        "config": {"providers": ["openai:gpt-4"]},
    },
    "export": {
        "createdAt": 1727905040496,
        "config": {"providers": ["openai:gpt-4"]},
        "results": [
            {**one, "vars": None, "testCase": {"vars": one["vars"]}, "promptIdx": 0, "testIdx": i, "error": None}
            | {"provider": {"id": "openai:gpt-4", "label": ""}, "gradingResult": {"pass": True}}
            for i, one in enumerate(records("label"))
        ],
        "prompts": [],
    },
}


@pytest.mark.parametrize("shape", EARLY)
def test_early_versions_and_the_database_have_the_same_tests(shape: str, tmp_path: Path) -> None:
    path = tmp_path / "output.json"
    path.write_text(json.dumps(EARLY[shape]), encoding="utf-8")
    [(name, table)] = by_name(path).items()
    assert name == (tmp_path.name if shape == "version 1" else "openai:gpt-4")
    assert scores(table) == {"0": 1.0, "1": 1.0, "2": 0.0, "3": 1.0}


def test_an_early_version_with_several_providers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "output.json"
    path.write_text(json.dumps(EARLY["version 2"] | {"config": {"providers": ["a", {"id": "b"}]}}), encoding="utf-8")
    assert_refused(path, "which of the 2 providers", "evaluate each alone")


def test_without_a_reason_of_failure_an_error_without_an_answer_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "output.json"
    whole = json.loads(json.dumps(EARLY["version 2"]))
    whole["results"]["results"][2] |= {"error": "wrong", "response": {"output": "7"}}
    whole["results"]["results"][3] |= {"error": "API error: 500", "success": False, "score": 0}
    path.write_text(json.dumps(whole), encoding="utf-8")
    [table] = by_name(path).values()
    assert present(scores(table)) == {"0": 1.0, "1": 1.0, "2": 0.0}


def test_lines_of_records_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "output.jsonl"
    lines = read_json(PROVIDERS)["results"]["results"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for name, table in by_name(path, metric="pass").items():
        assert str(scores(table)) == str(scores(by_name(PROVIDERS, metric="pass")[name]))


def test_tests_with_equal_variables_are_told_apart_by_their_assertions(tmp_path: Path) -> None:
    path = tmp_path / "output.json"
    whole = json.loads(json.dumps(EARLY["export"]))
    for i, one in enumerate(whole["results"]):
        one["testCase"] = {"vars": {"q": "same " * 40}, "assert": [{"type": "equals", "value": i % 2}]}
    path.write_text(json.dumps(whole), encoding="utf-8")
    [table] = by_name(path).values()
    assert len(set(table.ids)) == 2
    assert sorted(table.labels["run"].names) == ["1", "2"]
    assert all(len(item) < 110 for item in table.ids)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda found: found["results"].update(results=[]), ["no records"]),
        (lambda found: found["results"]["results"][3].pop("success"), ["results.results[3]", "no field 'success'"]),
        (lambda found: found["results"]["results"][3].update(score="x"), ["results.results[3].score", "a number"]),
        (lambda found: found["results"].pop("results"), ["results"]),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, change: Any, parts: list[str]) -> None:
    assert_refused(edit_json(copy(PROVIDERS, tmp_path), change), *parts, format="promptfoo", metric="pass")


def test_a_file_that_is_cut_is_refused(tmp_path: Path) -> None:
    path = copy(PROVIDERS, tmp_path)
    path.write_bytes(path.read_bytes()[:9000])
    assert_refused(path, "ends too early")


def test_the_table_of_answers_is_the_script_s() -> None:
    """So that a change of the script is a change here."""
    script = Path(__file__).parents[4] / "tools" / "make_harness_fixtures" / "promptfoo_files.py"
    assert f"RIGHT = {json.dumps(RIGHT)}" in script.read_text("utf-8")
