"""Several metrics: a row each, the same numbers as when one is chosen, and never an average of them."""

import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay import InputError, Selection, compare, rank, summarize
from assay.analyses.summarize.result import ModelSummary, Summary
from tests.data.readers.harness.logs import HELM, INSPECT, LARGE, LM_EVAL, SMALL, edit_json

BOTH = [LM_EVAL / SMALL, LM_EVAL / LARGE]


def alone(rows: tuple[ModelSummary, ...], metric: str) -> list[ModelSummary]:
    return [msgspec.structs.replace(row, metric=None) for row in rows if row.metric == metric]


def assert_each_is_as_if_chosen(found: Summary, sources: list[Path], picks: dict[str, dict[str, Any]]) -> None:
    assert list(found.metrics) == list(picks)
    for metric, pick in picks.items():
        one = summarize(*sources, selection=Selection(**pick))
        assert alone(found.models, metric) == list(one.models)
        for task, rows in one.tasks.items():
            assert alone(found.tasks[task], metric) == list(rows)


def test_metrics_of_lm_eval_are_as_if_each_were_chosen() -> None:
    found = summarize(*BOTH, selection=Selection(task="tiny_choices"))
    picks = {name: {"task": "tiny_choices", "metric": name} for name in ("acc", "acc_norm")}
    assert_each_is_as_if_chosen(found, BOTH, picks)
    assert found.macro == {}
    assert found.measure == "metric"


def test_filters_are_told_apart() -> None:
    path = min(LM_EVAL.glob("dummy/samples_*.jsonl"))
    names = ("flexible-extract", "strict-match")
    picks = {f"exact_match ({name})": {"filter": name, "metric": "exact_match"} for name in names}
    assert_each_is_as_if_chosen(summarize(path), [path], picks)


def test_scorers_and_parts_of_inspect_are_told_apart() -> None:
    path = INSPECT / "parts.eval"
    picks: dict[str, dict[str, Any]] = {
        "match": {"scorer": "match"},
        "includes": {"scorer": "includes"},
        "right (graded)": {"scorer": "graded", "metric": "right"},
        "length (graded)": {"scorer": "graded", "metric": "length"},
    }
    assert_each_is_as_if_chosen(summarize(path), [path], picks)


def test_a_log_without_any_metric_is_refused_and_not_left_out(tmp_path: Path) -> None:
    both = [tmp_path / "scored.json", tmp_path / "bare.json"]
    for path in both:
        shutil.copy(INSPECT / "small.json", path)

    def unscored(found: dict[str, Any]) -> None:
        found["eval"]["model"] = "other"
        for sample in found["samples"]:
            sample["scores"] = None

    edit_json(both[1], unscored)
    with pytest.raises(InputError, match="no sample has been scored"):
        summarize(*both)


def test_losses_stand_beside_scores() -> None:
    found = summarize(LM_EVAL / SMALL)
    assert list(found.metrics.items()) == [("acc", False), ("acc_norm", False), ("perplexity", True)]
    alone = summarize(LM_EVAL / SMALL, selection=Selection(task="tiny_stories")).models[0]
    assert found.models[-1].perplexity == alone.perplexity
    assert found.quoted(found.models[-1]) == alone.perplexity
    assert any("lower is better: perplexity" in note for note in found.notes)
    assert "perplexity" in str(found)


def test_one_metric_is_no_list_of_metrics() -> None:
    found = summarize(*HELM.glob("tiny_choices*"))
    assert found.metrics == {}
    assert all(model.metric is None for model in found.models)


LONG = {
    "model": ["a", "a", "a", "a", "b", "b", "b", "b"],
    "item": [1, 2, 1, 2, 1, 2, 1, 2],
    "metric": ["acc", "acc", "err", "err"] * 2,
    "score": [1, 0, 3, 4, 1, 1, 2, 1],
    "lower_is_better": [False, False, True, True] * 2,
}


def test_a_column_of_metrics_by_hand() -> None:
    found = summarize(LONG)
    assert [(row.metric, row.name, row.value.value) for row in found.models] == [
        ("acc", "b", 1.0),
        ("acc", "a", 0.5),
        ("err", "b", 1.5),
        ("err", "a", 3.5),
    ]
    assert found.metrics == {"acc": False, "err": True}


def test_compare_and_rank_ask_which_metric() -> None:
    for verb in (lambda **how: compare(LONG, models=("a", "b"), **how), lambda **how: rank(LONG, **how)):
        with pytest.raises(InputError, match=r"2 metrics \(acc, err\); choose one with `Selection\(metric=\.\.\.\)`"):
            verb()
        with pytest.raises(InputError, match="no metric 'f1', only acc, err"):
            verb(selection=Selection(metric="f1"))
        assert verb(selection=Selection(metric="err")).lower_is_better


def test_a_direction_that_changes_within_a_metric_is_refused() -> None:
    wrong = LONG | {"lower_is_better": [False, True, True, True] * 2}
    with pytest.raises(InputError, match="'lower_is_better': must be true or false, and the same for all rows"):
        summarize(wrong)


def test_names_are_given_to_models_and_not_to_metrics() -> None:
    found = summarize(LONG, names=("first", "second"))
    assert {row.name for row in found.models} == {"first", "second"}
    assert [row.value.value for row in found.models if row.name == "first"] == [0.5, 3.5]
