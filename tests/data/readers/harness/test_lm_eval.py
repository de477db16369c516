"""lm-evaluation-harness: the oracle is what the harness itself says in its results."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.data.readers.harness.logs import (
    LARGE,
    LIGHTEVAL,
    LM_EVAL,
    SMALL,
    assert_refused,
    by_name,
    copy,
    edit_json,
    edit_lines,
    one,
    only,
    read_json,
    scores,
)


def said(model: str, task: str, metric: str) -> float:
    """A number in the harness's own results."""
    return float(read_json(only(LM_EVAL / model, "results_*.json"))["results"][task][metric])


@pytest.mark.parametrize("model", [SMALL, LARGE])
@pytest.mark.parametrize("task", ["tiny_animals", "tiny_sky"])
@pytest.mark.parametrize("metric", ["acc", "acc_norm"])
def test_the_mean_of_the_items_is_the_harness_s_own(model: str, task: str, metric: str) -> None:
    found = scores(one(LM_EVAL / model, task=task, metric=metric))
    assert len(found) == 8
    assert sum(found.values()) / 8 == pytest.approx(said(model, task, f"{metric},none"), abs=1e-15)


@pytest.mark.parametrize("model", [SMALL, LARGE])
def test_rolling_losses_give_the_harness_s_perplexities(model: str) -> None:
    table = one(LM_EVAL / model, task="tiny_stories")
    tokens, loss = table.numbers["tokens"], table.numbers["loss"]
    mean = float((tokens * loss).sum() / tokens.sum())
    assert table.kind == "losses"
    assert math.exp(mean) == pytest.approx(said(model, "tiny_stories", "byte_perplexity,none"), rel=1e-14)
    assert mean / math.log(2) == pytest.approx(said(model, "tiny_stories", "bits_per_byte,none"), rel=1e-14)
    assert table.numbers["bytes"].tolist() == tokens.tolist()


def test_rolling_losses_per_word_give_the_harness_s_word_perplexity() -> None:
    table = one(LM_EVAL / SMALL, task="tiny_stories", metric="word_perplexity")
    words, loss = table.numbers["tokens"], table.numbers["loss"]
    assert math.exp(float((words * loss).sum() / words.sum())) == pytest.approx(
        said(SMALL, "tiny_stories", "word_perplexity,none"), rel=1e-14
    )
    assert table.numbers["bytes"].sum() == one(LM_EVAL / SMALL, task="tiny_stories").numbers["bytes"].sum()


@pytest.mark.parametrize("kept", ["strict-match", "flexible-extract"])
def test_each_filter_gives_the_harness_s_mean_and_every_document_once(kept: str) -> None:
    path = min(LM_EVAL.glob("dummy/samples_*.jsonl"))
    results = read_json(path.with_name(path.name.replace("samples_tiny_words", "results")).with_suffix(".json"))
    found = scores(one(path, filter=kept))
    assert list(found) == ["0", "1", "2", "3", "4"]
    assert sum(found.values()) / 5 == pytest.approx(results["results"]["tiny_words"][f"exact_match,{kept}"], abs=1e-15)


def test_two_harnesses_agree_on_the_same_items_and_models() -> None:
    for model in (SMALL, LARGE):
        ours = by_name(LM_EVAL / model, task="tiny_choices", metric="acc")[model].numbers["score"].sum()
        assert by_name(LIGHTEVAL, metric="acc")[model].numbers["score"].sum() == ours


def test_a_file_a_folder_the_results_and_the_whole_output_hold_the_same() -> None:
    folder = LM_EVAL / SMALL
    samples, results = only(folder, "samples_tiny_sky*"), only(folder, "results_*")
    want = scores(one(samples, metric="acc"))
    assert scores(one(folder, task="tiny_sky", metric="acc")) == want
    assert scores(one(results, task="tiny_sky", metric="acc")) == want
    assert scores(by_name(LM_EVAL, task="tiny_sky", metric="acc")[SMALL]) == want


def test_the_model_is_named_by_the_results_of_the_same_date(tmp_path: Path) -> None:
    samples = only(LM_EVAL / SMALL, "samples_tiny_sky*")
    assert one(samples, metric="acc").name == SMALL
    alone = copy(samples, tmp_path)
    table = one(alone, metric="acc")
    assert table.name == tmp_path.name
    assert any("no results file of the same date" in note for note in table.notes)
    renamed = edit_json(copy(only(LM_EVAL / SMALL, "results_*"), tmp_path), lambda found: found.update(model_name="7b"))
    assert renamed.exists()
    assert one(alone, metric="acc").name == "7b"


def test_a_group_and_a_pattern_put_tasks_together_and_keep_their_ids_apart() -> None:
    group = scores(one(LM_EVAL / SMALL, task="tiny_choices", metric="acc"))
    assert group == scores(one(LM_EVAL / SMALL, task="tiny_[!sw]*", metric="acc")) | {
        f"tiny_sky/{item}": score for item, score in scores(one(LM_EVAL / SMALL, task="tiny_sky", metric="acc")).items()
    }
    assert len(group) == 16
    assert scores(one(LM_EVAL / SMALL, task="tiny_an*", metric="acc")).keys() == {f"tiny_animals/{i}" for i in range(8)}


def test_documents_give_clusters() -> None:
    topics = one(LM_EVAL / SMALL, task="tiny_choices", metric="acc", cluster="topic").labels["topic"]
    assert topics.names == ("animals", "sky")
    tasks = one(LM_EVAL / SMALL, task="tiny_choices", metric="acc", cluster="task").labels["task"]
    assert (tasks.names, tasks.codes.tolist()) == (("tiny_animals", "tiny_sky"), topics.codes.tolist())
    named = one(LM_EVAL / SMALL, task="tiny_choices", metric="acc", cluster="doc.topic")
    assert (named.cluster_by, named.labels["doc.topic"].names) == ("doc.topic", topics.names)
    assert_refused(
        LM_EVAL / SMALL, "line 1", "'subject'", "doc.topic", task="tiny_sky", metric="acc", cluster="subject"
    )


def test_the_direction_of_a_metric_is_the_harness_s(tmp_path: Path) -> None:
    folder = copy(LM_EVAL / SMALL, tmp_path)
    assert one(folder, task="tiny_sky", metric="acc").about["lower_is_better"] is False
    edit_json(only(folder, "results_*"), lambda found: found["higher_is_better"]["tiny_sky"].update(acc=False))
    assert one(folder, task="tiny_sky", metric="acc").about["lower_is_better"] is True


def test_rows_of_before_filters_and_lists_of_metrics_are_read(tmp_path: Path) -> None:
    path = copy(only(LM_EVAL / SMALL, "samples_tiny_sky*"), tmp_path)
    want = scores(one(path, metric="acc"))
    edit_lines(path, lambda _, row: {name: row[name] for name in row if name not in ("filter", "metrics", "doc_hash")})
    table = one(path, metric="acc")
    assert scores(table) == want
    assert "doc_hash" not in table.labels
    assert table.notes[0].endswith("paired on doc_id")


def test_rows_of_several_shapes_give_what_rows_of_one_shape_do(tmp_path: Path) -> None:
    path = copy(only(LM_EVAL / SMALL, "samples_tiny_sky*"), tmp_path)
    want = scores(one(path, metric="acc"))

    def varied(i: int, row: dict[str, Any]) -> dict[str, Any]:
        if i % 3 == 1:
            return dict(reversed(row.items()))
        return row if i % 3 else row | {"note": "x", "f1": 0.5, "metrics": ["acc", "acc_norm", "f1"]}

    edit_lines(path, varied)
    assert scores(one(path, metric="acc")) == want
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([lines[0].replace(b": ", b" :"), lines[1].replace(b", ", b","), *lines[2:]]))
    assert scores(one(path, metric="acc")) == want


def test_true_and_false_are_scores(tmp_path: Path) -> None:
    path = copy(only(LM_EVAL / SMALL, "samples_tiny_sky*"), tmp_path)
    want = scores(one(path, metric="acc"))
    edit_lines(path, lambda _, row: row | {"acc": bool(row["acc"])})
    assert scores(one(path, metric="acc")) == want


def test_a_byte_order_mark_and_blank_lines_make_no_difference(tmp_path: Path) -> None:
    path = copy(only(LM_EVAL / SMALL, "samples_tiny_sky*"), tmp_path)
    want = scores(one(path, metric="acc"))
    path.write_bytes(b"\xef\xbb\xbf\n" + path.read_bytes().replace(b"\n", b"\n\r\n"))
    assert scores(one(path, metric="acc")) == want


# ------------------------------------------------------------------------------------------------------------- refusals


def test_what_is_ambiguous_is_refused_with_the_choices_and_the_option() -> None:
    assert_refused(LM_EVAL / SMALL, "3 tasks", "tiny_animals, tiny_sky, tiny_stories", "`Selection(task=...)`")
    assert_refused(LM_EVAL / SMALL, "2 metrics (acc, acc_norm)", "`Selection(metric=...)`", task="tiny_sky")
    path = str(min(LM_EVAL.glob("dummy/samples_*.jsonl")))
    assert_refused(path, "2 filters (flexible-extract, strict-match)", "`Selection(filter=...)`")
    assert_refused(
        LM_EVAL,
        "2 runs of the task 'tiny_words' by the model 'dummy'",
        path,
        "`Selection(newest=True)`",
        task="tiny_words",
    )


def test_a_task_that_several_begin_with_is_refused_with_the_pattern() -> None:
    assert_refused(
        LM_EVAL / SMALL, "no task 'tiny'", "did you mean `Selection(task='tiny*')`?", task="tiny", metric="acc"
    )
    assert_refused(LM_EVAL / SMALL, "did you mean `Selection(task='*_s*')`?", task="_s", metric="acc")
    assert_refused(LM_EVAL / SMALL, "the groups tiny_choices", "task='tiny_choices'", task="tiny_choice", metric="acc")


def test_what_is_not_there_is_refused_with_a_guess() -> None:
    assert_refused(
        LM_EVAL / SMALL, "no task 'tiny_skye'", "did you mean `Selection(task='tiny_sky')`?", task="tiny_skye"
    )
    assert_refused(
        LM_EVAL / SMALL, "no metric 'ac'", "did you mean `Selection(metric='acc')`?", task="tiny_sky", metric="ac"
    )
    assert_refused(LM_EVAL / SMALL, "no filter 'strict'", "only none", task="tiny_sky", filter="strict")
    assert_refused(LM_EVAL / SMALL, "no metric 'acc'", "bits_per_byte", task="tiny_stories", metric="acc")


#: What is done to the fourth row, and what the message must name besides the row.
SPOILED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "NaN": ({"acc": math.nan}, ["acc must be a finite number", "NaN"]),
    "infinity": ({"acc": -math.inf}, ["acc must be a finite number", "-Infinity"]),
    "too large": ({"acc": 10**400}, ["acc must be a finite number"]),
    "null": ({"acc": None}, ["acc must be a finite number", "null"]),
    "missing metric": ({"metrics": ["acc_norm"]}, ["no field 'acc'", "acc_norm"]),
    "metric without value": ({"metrics": ["acc", "f1"]}, ["no field 'f1'"]),
    "missing id": ({"doc_id": None}, ["'doc_id' must be a whole number or a text", "null"]),
    "id that is true": ({"doc_id": True}, ["'doc_id' must be a whole number or a text", "true"]),
    "the same id": ({"doc_id": 2}, ["item '2' of the model ", "line 3"]),
}


@pytest.mark.parametrize("case", SPOILED)
def test_a_bad_row_is_refused_by_name(tmp_path: Path, case: str) -> None:
    change, parts = SPOILED[case]
    path = copy(only(LM_EVAL / SMALL, "samples_tiny_sky*"), tmp_path)
    edit_lines(path, lambda i, row: row | change if i == 3 else row)
    assert_refused(path, f"{path}, line 4", *parts, metric="acc")


@pytest.mark.parametrize("value", ["0.5", [1, "a"], {"em": 1, "f1": 0}])
def test_a_metric_of_the_whole_corpus_is_refused_and_not_offered(tmp_path: Path, value: object) -> None:
    path = copy(only(LM_EVAL / SMALL, "samples_tiny_sky*"), tmp_path)
    edit_lines(path, lambda _, row: row | {"acc": value})
    assert_refused(
        path,
        "acc is made from all items at once",
        "choose another `Selection(metric=...)` among acc_norm",
        metric="acc",
    )
    assert one(path).about["measure"]["metric"] == "acc_norm"  # the only one left that an item has
    edit_lines(path, lambda _, row: row | {"acc_norm": value})
    assert_refused(path, "no metric with a number for each item", "acc, acc_norm")


@pytest.mark.parametrize("pair", [[-3.5], [-3.5, 0], [1.0, 5], ["-3.5", 5], [-3.5, 2.5], [math.nan, 5], 7, None])
def test_a_bad_rolling_pair_is_refused(tmp_path: Path, pair: object) -> None:
    path = copy(only(LM_EVAL / SMALL, "samples_tiny_stories*"), tmp_path)
    edit_lines(path, lambda i, row: row | {"bits_per_byte": pair} if i == 1 else row)
    assert_refused(path, f"{path}, line 2", "bits_per_byte")


@pytest.mark.parametrize("kept", [0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(tmp_path: Path, kept: float) -> None:
    path = copy(only(LM_EVAL / SMALL, "samples_tiny_sky*"), tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    assert_refused(path, f"{path}, line ", "not JSON", "write or copy it again", metric="acc")


def test_results_without_samples_are_refused(tmp_path: Path) -> None:
    path = copy(only(LM_EVAL / SMALL, "results_*"), tmp_path)
    assert_refused(path, str(path), "--log_samples")
    assert_refused(tmp_path, str(path), "--log_samples")


def test_damaged_results_are_refused_rather_than_the_model_guessed(tmp_path: Path) -> None:
    folder = copy(LM_EVAL / SMALL, tmp_path)
    results = only(folder, "results_*")
    results.write_bytes(results.read_bytes()[:400])
    assert_refused(only(folder, "samples_tiny_sky*"), str(results), "not JSON", metric="acc")


def test_a_key_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = copy(only(LM_EVAL / SMALL, "samples_tiny_sky*"), tmp_path)
    lines = path.read_bytes().splitlines()
    lines[2] = lines[2][:-1] + b', "acc": 0.0}'
    path.write_bytes(b"\n".join(lines))
    assert_refused(path, f"{path}, line 3", "'acc' appears twice", metric="acc")


def test_a_line_that_is_no_object_is_refused(tmp_path: Path) -> None:
    path = copy(only(LM_EVAL / SMALL, "samples_tiny_sky*"), tmp_path)
    path.write_bytes(path.read_bytes() + json.dumps([1, 2]).encode() + b"\n")
    assert_refused(path, "line 9", "not an object", metric="acc")
