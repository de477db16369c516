"""Records of Every Eval Ever: valid against the published schema, with the numbers of `summarize`, read back alike."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from assay import Selection, UsageError, compare, convert, summarize
from assay.data.readers.harness.every_eval_ever import recognises
from assay.data.readers.harness.first_look import FirstLook
from tests.data.readers.harness.logs import FOLDER, HELM, INSPECT, LARGE, LIGHTEVAL, LM_EVAL, SMALL

SCHEMAS = Path(__file__).parents[1] / "data" / "every_eval_ever_schemas"
RECORDS = {
    "lm-eval": ([LM_EVAL / SMALL, LM_EVAL / LARGE], Selection()),
    "filters": ([max(LM_EVAL.glob("dummy/samples_*.jsonl"))], Selection()),
    "inspect": ([INSPECT / "small.eval", INSPECT / "large.eval"], Selection()),
    "parts": ([INSPECT / "parts.eval"], Selection()),
    "lighteval": ([LIGHTEVAL], Selection()),
    "helm": ([HELM], Selection(task="tiny_choices")),
    "evalplus": ([FOLDER / "evalplus"], Selection()),
    "every-eval-ever": ([FOLDER / "every_eval_ever"], Selection()),
}


def schema(name: str) -> Any:
    return jsonschema.Draft7Validator(json.loads((SCHEMAS / name).read_text(encoding="utf-8")))


def written(folder: Path) -> tuple[list[Path], list[Path]]:
    """The aggregates, and the samples."""
    every = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in every if path.suffix == ".json"], [path for path in every if path.suffix == ".jsonl"]


def load(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("case", RECORDS)
def test_records_are_valid_against_the_published_schema(tmp_path: Path, case: str) -> None:
    sources, picked = RECORDS[case]
    found = convert(*sources, output=tmp_path, to="every-eval-ever", selection=picked)
    aggregates, samples = written(tmp_path)
    assert sorted(found.files) == sorted([*aggregates, *samples])
    for path in aggregates:
        assert [error.message for error in schema("eval.schema.json").iter_errors(load(path))] == []
        assert recognises(FirstLook(path, path.read_bytes()))
    rows = schema("instance_level_eval.schema.json")
    lines = [json.loads(line) for path in samples for line in path.read_text(encoding="utf-8").splitlines()]
    assert [error.message for line in lines for error in rows.iter_errors(line)] == []
    assert len(lines) == found.rows
    assert bool(samples) == (case not in ("helm", "evalplus"))


@pytest.mark.parametrize("case", ["lm-eval", "filters", "inspect", "parts", "lighteval", "every-eval-ever"])
def test_aggregates_point_at_their_samples_by_hand(tmp_path: Path, case: str) -> None:
    sources, picked = RECORDS[case]
    convert(*sources, output=tmp_path, to="every-eval-ever", selection=picked)
    for path in written(tmp_path)[0]:
        details = load(path).get("detailed_evaluation_results")
        if details is not None:
            data = (tmp_path / details["file_path"]).read_bytes()
            assert details["checksum"] == hashlib.sha256(data).hexdigest()
            assert details["total_rows"] == data.count(b"\n")
            assert Path(details["file_path"]).name == f"{path.stem}_samples.jsonl"


@pytest.mark.parametrize("case", ["lm-eval", "inspect", "parts", "lighteval"])
def test_samples_read_back_give_the_numbers_of_the_logs(tmp_path: Path, case: str) -> None:
    sources, picked = RECORDS[case]
    picked = replace(picked, task="tiny_choices") if case == "lm-eval" else picked
    convert(*sources, output=tmp_path, to="every-eval-ever", selection=picked)
    before, after = summarize(*sources, selection=picked), summarize(tmp_path)
    keys = [[(row.metric, row.name, row.value, row.n, row.missing) for row in one.models] for one in (before, after)]
    assert sorted(map(str, keys[0])) == sorted(map(str, keys[1]))
    assert before.lost == after.lost


def test_uncertainty_is_that_of_summarize(tmp_path: Path) -> None:
    convert(LM_EVAL / SMALL, output=tmp_path, to="every-eval-ever", level=0.9)
    for path in written(tmp_path)[0]:
        record = load(path)
        for result in record["evaluation_results"]:
            task, metric = result["evaluation_name"], result["evaluation_result_id"]
            losses = metric == "perplexity"
            picked = Selection(task=task, metric=None if losses else metric)
            model = summarize(LM_EVAL / SMALL, selection=picked, level=0.9).models[0]
            want = model.perplexity if losses else model.value
            assert want is not None
            assert want.interval is not None
            details, said = result["score_details"], result["score_details"]["uncertainty"]
            assert (details["score"], said["num_samples"]) == (want.value, want.n)
            assert said["standard_error"]["value"] == want.standard_error
            assert said["confidence_interval"] == {
                "lower": want.interval.low,
                "upper": want.interval.high,
                "confidence_level": 0.9,
                "method": want.interval.method,
            }


def test_spread_score_and_error_by_numpy(tmp_path: Path) -> None:
    scores = [0.25, 1.0, 0.5, 0.75, 0.0]
    convert({"item": list("abcde"), "score": scores}, output=tmp_path, to="every-eval-ever")
    details = load(written(tmp_path)[0][0])["evaluation_results"][0]["score_details"]
    said = details["uncertainty"]
    assert details["score"] == pytest.approx(np.mean(scores))
    assert said["standard_deviation"] == pytest.approx(np.std(scores, ddof=1))
    assert said["standard_error"]["value"] == pytest.approx(np.std(scores, ddof=1) / np.sqrt(5))


def test_who_evaluated_is_said(tmp_path: Path) -> None:
    found = convert(
        f"org/base={INSPECT / 'small.eval'}",
        output=tmp_path,
        to="every-eval-ever",
        organization="Example",
        relationship="third_party",
    )
    record = load(written(tmp_path)[0][0])
    assert record["source_metadata"]["source_organization_name"] == "Example"
    assert record["source_metadata"]["evaluator_relationship"] == "third_party"
    assert record["model_info"] | {"additional_details": {}} == {
        "name": "org/base",
        "id": "org/base",
        "developer": "org",
        "additional_details": {},
    }
    assert record["eval_library"] == {"name": "inspect_ai", "version": "0.3.285"}
    assert not any("developer" in note or "organization" in note for note in found.notes)
    assert written(tmp_path)[0][0].relative_to(tmp_path).parts[:4] == ("data", "tiny_words", "org", "base")


def test_the_same_data_give_the_same_files(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        convert(INSPECT / "small.eval", output=tmp_path / folder, to="every-eval-ever")
    one, two = ([path.name for path in (tmp_path / name).rglob("*.json*")] for name in ("one", "two"))
    assert sorted(one) == sorted(two)


def test_a_lost_answer_has_an_error_and_is_lost_again(tmp_path: Path) -> None:
    convert(INSPECT / "parts.eval", output=tmp_path, to="every-eval-ever")
    lines = [json.loads(line) for line in written(tmp_path)[1][0].read_text(encoding="utf-8").splitlines()]
    lost = [line for line in lines if "error" in line]
    assert {line["evaluation"]["score"] for line in lost} == {0.0}
    assert not any(line["evaluation"]["is_correct"] for line in lost)
    assert summarize(tmp_path).lost == summarize(INSPECT / "parts.eval").lost


def test_two_models_compare_through_their_records(tmp_path: Path) -> None:
    picked = Selection(task="tiny_choices")
    convert(LM_EVAL / SMALL, LM_EVAL / LARGE, output=tmp_path, to="every-eval-ever", selection=picked)
    before = compare(LM_EVAL / SMALL, LM_EVAL / LARGE, selection=Selection(task="tiny_choices", metric="acc"))
    after = compare(tmp_path, models=(SMALL, LARGE), selection=Selection(task="*", metric="acc"))
    assert after.signature == before.signature


def test_without_texts_the_aggregate_alone_is_written_and_said(tmp_path: Path) -> None:
    found = convert(FOLDER / "evalplus", output=tmp_path, to="every-eval-ever")
    assert written(tmp_path)[1] == []
    assert any("the aggregate alone of HumanEval of large, HumanEval of small" in note for note in found.notes)
    assert found.rows == 0


def test_records_go_into_a_folder_and_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="records go into a folder, and this is a file"):
        convert({"item": ["a"], "score": [1]}, output=tmp_path / "file", to="every-eval-ever")
    with pytest.raises(UsageError, match="to must be one of table, every-eval-ever, but got 'excel'"):
        convert({"item": ["a"], "score": [1]}, output=tmp_path / "x.csv", to="excel")  # type: ignore[arg-type]
