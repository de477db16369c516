"""Every Eval Ever: records that its own program made of lm-eval's samples; the oracle is what lm-eval itself wrote."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay import Selection, compare, summarize
from tests.data.readers.harness.logs import (
    FOLDER,
    LARGE,
    LM_EVAL,
    SMALL,
    assert_refused,
    copy,
    edit_json,
    edit_lines,
    one,
    scores,
)

DATA = FOLDER / "every_eval_ever" / "data"
Record = dict[str, Any]


def record(task: str, model: str) -> Path:
    return next(path for path in (DATA / task / "example" / model).iterdir() if path.suffix == ".json")


def samples(path: Path) -> Path:
    return path.with_name(f"{path.stem}_samples.jsonl")


@pytest.fixture
def sky(tmp_path: Path) -> Path:
    """An aggregate with its samples beside it, to be changed."""
    path = record("tiny_sky", SMALL)
    copy(samples(path), tmp_path)
    return copy(path, tmp_path)


def mended(aggregate: Path) -> Path:
    """The aggregate says of its samples what is true of them."""
    data = samples(aggregate).read_bytes()
    told = {"checksum": hashlib.sha256(data).hexdigest(), "total_rows": data.count(b"\n")}
    return edit_json(aggregate, lambda found: found["detailed_evaluation_results"].update(told))


def changed(aggregate: Path, change: Callable[[int, Record], Record]) -> Path:
    """The samples changed, and the aggregate with them."""
    edit_lines(samples(aggregate), change)
    return mended(aggregate)


@pytest.mark.parametrize("metric", ["acc", "acc_norm"])
@pytest.mark.parametrize("model", [SMALL, LARGE])
@pytest.mark.parametrize("task", ["tiny_animals", "tiny_sky"])
def test_scores_are_those_of_the_harness(task: str, model: str, metric: str) -> None:
    found = one(DATA / task / "example" / model, metric=metric)
    assert scores(found) == scores(one(LM_EVAL / model, task=task, metric=metric))
    assert (found.name, found.about["measure"]["task"]) == (f"example/{model}", task)
    assert found.about["lower_is_better"] is False


def test_hashes_are_those_of_the_samples() -> None:
    path = record("tiny_sky", SMALL)
    rows = [json.loads(line) for line in samples(path).read_bytes().splitlines()]
    found = one(path, metric="acc")
    assert dict(zip(found.ids, found.labels["doc_hash"].texts, strict=True)) == {
        row["sample_id"]: row["sample_hash"] for row in rows
    }


def test_two_programs_give_the_same_data_and_so_the_same_answer() -> None:
    picked = Selection(task="tiny_*", metric="acc")
    ours = compare(DATA, models=(f"example/{SMALL}", f"example/{LARGE}"), selection=picked)
    theirs = compare(LM_EVAL / SMALL, LM_EVAL / LARGE, selection=Selection(task="tiny_choices", metric="acc"))
    assert ours.signature == theirs.signature
    assert ours.difference == theirs.difference


def test_aggregate_samples_and_folder_hold_the_same() -> None:
    path = record("tiny_sky", SMALL)
    want = scores(one(path, metric="acc"))
    assert scores(one(samples(path), metric="acc")) == want == scores(one(path.parent, metric="acc"))


def test_samples_are_found_where_the_aggregate_says(sky: Path) -> None:
    said = json.loads(sky.read_text())["detailed_evaluation_results"]["file_path"]
    elsewhere = sky.parent / "below" / "results" / sky.name
    elsewhere.parent.mkdir(parents=True)
    target = sky.parent / said
    target.parent.mkdir(parents=True)
    want = scores(one(sky, metric="acc"))
    samples(sky).rename(target)
    sky.rename(elsewhere)
    assert scores(one(elsewhere, metric="acc")) == want


def test_samples_without_their_aggregate_are_called_after_the_result(sky: Path) -> None:
    sky.unlink()
    found = summarize(samples(sky))
    assert list(found.metrics) == ["acc", "acc_norm"]


def test_a_row_with_an_error_is_missing_and_says_why(sky: Path) -> None:
    found = one(changed(sky, lambda i, row: row | {"error": "timeout"} if i in (2, 3) else row), metric="acc")
    assert found.lost is not None
    assert int(found.lost.sum()) == 1
    assert found.errors is not None
    assert set(found.errors.texts) == {"", "timeout"}


def test_an_error_of_one_metric_is_none_of_another(sky: Path) -> None:
    changed(sky, lambda i, row: row | {"error": "timeout"} if i == 2 else row)
    assert [one(sky, metric=name).lost is None for name in ("acc", "acc_norm")] == [False, True]


def test_an_unknown_level_is_missing(sky: Path) -> None:
    changed(sky, lambda i, row: row | {"evaluation": {"score": -1, "is_correct": False}} if i < 2 else row)
    assert one(sky, metric="acc").lost is None  # −1 is a score, unless the metric has such a level

    def levels(found: Record) -> None:
        for result in found["evaluation_results"]:
            result["metric_config"] |= {"score_type": "levels", "has_unknown_level": True, "level_names": ["a"]}

    edit_json(sky, levels)
    lost = one(sky, metric="acc").lost
    assert lost is not None
    assert int(lost.sum()) == 1


def test_costs_are_tokens_and_seconds_by_hand(sky: Path) -> None:
    told = {
        "token_usage": {"input_tokens": 12, "output_tokens": 5, "total_tokens": 17},
        "performance": {"latency_ms": 250},
    }
    found = one(changed(sky, lambda i, row: row | told if i < 4 else row), metric="acc").numbers
    assert found["tokens_in"][:2].tolist() == [12.0, 12.0]
    assert found["seconds"][:2].tolist() == [0.25, 0.25]
    assert found["tokens_total"].tolist()[:2] == [17.0, 17.0]


def test_epochs_are_runs_and_so_are_rows_of_one_sample(sky: Path) -> None:
    def doubled(path: Path, epoch: bool) -> None:
        rows = [json.loads(line) for line in samples(path).read_bytes().splitlines()]
        kept = [row for row in rows if row["evaluation_result_id"] == "acc"]
        for row in kept:
            row["metadata"] = {}
        again = [row | {"evaluation": {"score": 1.0 - row["evaluation"]["score"], "is_correct": True}} for row in kept]
        both = [
            row | ({"metadata": {"epoch": str(run)}} if epoch else {})
            for run, some in enumerate((kept, again), 1)
            for row in some
        ]
        samples(path).write_text("".join(json.dumps(row) + "\n" for row in both))
        mended(path)

    for epoch in (True, False):
        doubled(sky, epoch)
        found = one(sky)
        assert found.labels["run"].names == ("1", "2")
        assert summarize(sky).models[0].value.value == 0.5
        path = record("tiny_sky", SMALL)
        samples(sky).write_bytes(samples(path).read_bytes())


def test_what_the_aggregate_says_and_the_samples_do_not_is_noted(sky: Path) -> None:
    edit_json(sky, lambda found: found["evaluation_results"][0]["score_details"].update(score=0.9))
    notes = one(sky, metric="acc").notes
    assert any("the aggregate has 0.9 for acc of tiny_sky, the mean of its samples is 0.375" in note for note in notes)


def test_a_judge_and_a_split_are_conditions(sky: Path) -> None:
    def judged(found: Record) -> None:
        for result in found["evaluation_results"]:
            judge = {"model_info": {"id": "org/judge", "name": "judge"}}
            result["metric_config"]["llm_scoring"] = {"judges": [judge], "input_prompt": "?"}
            result["source_data"]["hf_split"] = "test"

    found = one(edit_json(sky, judged), metric="acc")
    assert found.about["conditions"] == {"tiny_sky": {"split": "test", "judge": "org/judge"}}


# ------------------------------------------------------------------------------------------------------------ refusals


def test_an_aggregate_alone_says_where_its_samples_are(sky: Path) -> None:
    samples(sky).unlink()
    said = json.loads(sky.read_text())["detailed_evaluation_results"]["file_path"]
    assert_refused(sky, "this is the aggregate (tiny_sky)", "the samples are in", said)
    edit_json(sky, lambda found: found.pop("detailed_evaluation_results"))
    assert_refused(sky, "this is the aggregate (tiny_sky)", "it names no samples")


def test_other_samples_than_those_of_the_aggregate_are_refused(sky: Path) -> None:
    data = samples(sky).read_bytes()
    samples(sky).write_bytes(data.replace(b'"score": 1.0', b'"score": 0.0', 1))
    assert_refused(sky, f"{samples(sky)}: another checksum", str(sky), metric="acc")
    samples(sky).write_bytes(b"\n".join(data.splitlines()[:-1]) + b"\n")
    assert_refused(sky, "15 rows", "says 16", metric="acc")


def test_one_id_with_two_hashes_is_refused(sky: Path) -> None:
    changed(sky, lambda i, row: row | {"sample_id": "0"} if i == 4 else row)
    assert_refused(sky, f"{samples(sky)}, line 5: the sample '0' of tiny_sky has another sample_hash than in line 1")


def test_an_epoch_that_is_there_twice_is_refused(sky: Path) -> None:
    changed(sky, lambda _, row: row | {"metadata": {"epoch": "1"}, "sample_id": "0", "sample_hash": None})
    assert_refused(sky, "line 3: sample '0' has an epoch 1 already")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"evaluation": {"score": "good"}}, "evaluation.score: must be a number or null, but got a text"),
        ({"evaluation": None}, "evaluation: must be an object, but got null"),
        ({"sample_id": 7}, "sample_id: must be a text, but got a whole number"),
    ],
)
def test_a_bad_row_is_refused_by_field(sky: Path, change: Record, said: str) -> None:
    changed(sky, lambda i, row: row | change if i == 3 else row)
    assert_refused(sky, f"{samples(sky)}, line 4, {said}", metric="acc")


def test_a_metric_that_is_not_there_is_refused_with_the_others() -> None:
    assert_refused(DATA / "tiny_sky" / "example" / SMALL, "no metric 'f1', only acc, acc_norm", metric="f1")


def test_a_file_that_is_cut_is_refused(sky: Path) -> None:
    samples(sky).write_bytes(samples(sky).read_bytes()[:-40])
    assert_refused(sky, f"{samples(sky)}, line 16", "not JSON")
