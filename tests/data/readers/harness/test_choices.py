"""Tasks with metrics, filters and scorers of their own, and what is refused with a choice that works."""

import re
from pathlib import Path
from typing import Any

import pytest

from assay.data import Selection, pair, read_tables
from assay.data.readers.harness.choices import one_text
from assay.errors import InputError
from tests.data.readers.harness.logs import (
    LARGE,
    LM_EVAL,
    SMALL,
    assert_refused,
    copy,
    edit_json,
    edit_lines,
    one,
    only,
)

BOTH = "tiny_animals,tiny_sky"


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """tiny_animals has acc and acc_norm, tiny_sky only exact_match."""
    folder = copy(LM_EVAL / SMALL, tmp_path)
    only(folder, "samples_tiny_stories*").unlink()
    edit_lines(
        only(folder, "samples_tiny_sky*"),
        lambda _, row: {**row, "metrics": ["exact_match"], "exact_match": row["acc"]},
    )
    return folder


def measures(table: Any) -> dict[str, str]:
    return {task: own["metric"] for task, own in table.about["measure"]["by_task"].items()}


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("tiny_animals=acc", {"tiny_animals": "acc", "tiny_sky": "exact_match"}),
        ("tiny_a*=acc_norm", {"tiny_animals": "acc_norm", "tiny_sky": "exact_match"}),
        ("acc_norm, tiny_sky=exact_match", {"tiny_animals": "acc_norm", "tiny_sky": "exact_match"}),
    ],
)
def test_tasks_may_have_metrics_of_their_own(mixed: Path, metric: str, expected: dict[str, str]) -> None:
    table = one(mixed, task=BOTH, metric=metric)
    assert measures(table) == expected
    assert len(table) == 16
    assert re.search(
        r"2 tasks: metric \w+, filter none of tiny_\w+; metric \w+, filter none of tiny_\w+;", table.notes[0]
    )


def test_a_group_of_tasks_may_have_one_metric() -> None:
    table = one(LM_EVAL / SMALL, task=BOTH, metric="tiny_choices=acc_norm")
    assert set(measures(table).values()) == {"acc_norm"}
    assert table.about["measure"]["metric"] == "acc_norm"


def test_what_is_stated_of_all_tasks_selects_them_again(mixed: Path) -> None:
    """The metric in the record is a text that `Selection` takes."""
    table = one(mixed, task=BOTH, metric="tiny_animals=acc")
    stated = table.about["measure"]["metric"]
    assert stated == "acc,tiny_sky=exact_match"
    again = one(mixed, task=BOTH, metric=stated)
    assert measures(again) == measures(table)


def test_scores_are_those_of_each_task_alone(mixed: Path) -> None:
    whole = one(mixed, task=BOTH, metric="tiny_animals=acc_norm")
    alone = [one(mixed, task=task, metric=metric) for task, metric in measures(whole).items()]
    assert whole.numbers["score"].tolist() == [score for table in alone for score in table.numbers["score"].tolist()]


def test_several_metrics_are_refused_with_a_choice_that_works(mixed: Path) -> None:
    message = assert_refused(mixed, "2 metrics (acc, acc_norm) of tiny_animals", task=BOTH)
    picked = re.search(r"Selection\(metric='([^']*)'\)", message)
    assert picked is not None
    assert one(mixed, task=BOTH, metric=picked[1]).ids.size == 16


def test_metrics_and_filters_are_asked_for_together(mixed: Path) -> None:
    path = only(mixed, "samples_tiny_sky*")
    lines = path.read_text("utf-8").splitlines()
    other = [line.replace('"filter": "none"', '"filter": "strict"') for line in lines]
    path.write_text("\n".join([*lines, *other]) + "\n", encoding="utf-8")
    message = assert_refused(mixed, "2 metrics (acc, acc_norm) of tiny_animals", "2 filters (none, strict)", task=BOTH)
    picked = re.search(r"`Selection\(metric='([^']*)', filter='([^']*)'\)`", message)
    assert picked is not None
    assert measures(one(mixed, task=BOTH, metric=picked[1], filter=picked[2]))["tiny_sky"] == "exact_match"


def test_a_name_with_an_equals_sign_is_a_name(tmp_path: Path) -> None:
    folder = copy(LM_EVAL / SMALL, tmp_path)
    for path in folder.glob("samples_tiny_[as]*"):
        edit_lines(path, lambda _, row: {**row, "metrics": ["pass@k:k=1"], "pass@k:k=1": 1.0})
    table = one(folder, task=BOTH, metric="pass@k:k=1")
    assert set(measures(table).values()) == {"pass@k:k=1"}


def test_scores_of_which_lower_is_better_are_not_put_beside_others(tmp_path: Path) -> None:
    folder = copy(LM_EVAL / SMALL, tmp_path)
    only(folder, "samples_tiny_stories*").unlink()

    def turn(results: Any) -> None:
        results["higher_is_better"]["tiny_sky"]["acc"] = False

    edit_json(only(folder, "results_*"), turn)
    message = assert_refused(
        folder, "scores of which lower is better (tiny_sky)", "no total has both", task=BOTH, metric="acc"
    )
    assert "Selection(task='tiny_" in message


def test_two_models_must_have_the_metric_of_each_task_in_common() -> None:
    first = one(LM_EVAL / SMALL, task=BOTH, metric="tiny_animals=acc,tiny_sky=acc_norm")
    second = one(LM_EVAL / LARGE, task=BOTH, metric="tiny_animals=acc,tiny_sky=acc")
    with pytest.raises(InputError, match=r"metric acc_norm and .* the metric acc of the task tiny_sky; choose one"):
        pair(first, second)
    assert pair(first, one(LM_EVAL / LARGE, task=BOTH, metric="tiny_animals=acc,tiny_sky=acc_norm")).measures == {
        "tiny_animals": "acc",
        "tiny_sky": "acc_norm",
    }


def test_tasks_with_commas_between_them_must_all_be_there() -> None:
    assert len(one(LM_EVAL / SMALL, task="tiny_sky,tiny_animals", metric="acc")) == 16
    assert_refused(LM_EVAL / SMALL, "no task 'tiny_sky,tiny_bird'", task="tiny_sky,tiny_bird", metric="acc")


def test_the_usual_name_comes_first_in_one_text() -> None:
    assert one_text({"a": "acc"}) == "acc"
    assert one_text({"a": "f1", "b": "acc", "c": "acc"}) == "acc,a=f1"
    tables = read_tables([LM_EVAL / SMALL], selection=Selection(task=BOTH, metric="acc"))
    assert tables[0].about["measure"]["filter"] == "none"
