"""Columns under the names that other programs give them. Expected: lists of names and small tables, by hand."""

from pathlib import Path
from typing import Any

import pytest

from assay import compare, read_table, read_tables, summarize
from assay.data import Selection, Table
from assay.errors import InputError, UsageError
from tests.data.files import assert_refused

ITEMS = ("id", "question_id", "doc_id", "task_id", "sample_id", "qid", "idx", "instance_id", "prompt_id")
SCORES = (
    *("acc", "correct", "is_correct", "passed", "pass", "accuracy", "exact_match", "reward", "resolved", "label"),
)
OTHERS = {
    "model": ("model_name", "system"),
    "run": ("seed", "trial", "attempt", "epoch", "sample"),
    "task": ("subject", "category", "dataset", "benchmark"),
}


def upper(table: dict[str, Any]) -> dict[str, Any]:
    return {name.upper(): values for name, values in table.items()}


@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize("score", SCORES)
def test_ids_and_scores_go_by_their_usual_names(item: str, score: str) -> None:
    table = {item: ["x", "y"], score: [1, 0]}
    for given in (table, upper(table)):
        found = read_table(given)
        assert (found.ids.tolist(), found.numbers["score"].tolist()) == (["x", "y"], [1.0, 0.0])
        names = list(given)
        assert found.notes == (f"the table: read as item = {names[0]}, score = {names[1]}",)


@pytest.mark.parametrize(("ours", "theirs"), [(ours, theirs) for ours, names in OTHERS.items() for theirs in names])
def test_models_runs_and_tasks_go_by_their_usual_names(ours: str, theirs: str) -> None:
    more = {} if ours == "run" else {"run": [1, 2, 1]}
    found = read_table({"item": ["x", "x", "y"], "score": [1, 0, 1], theirs: ["a", "b", "a"], **more})
    assert found.labels[ours].names == ("a", "b")
    assert found.notes[0] == f"the table: read as {ours} = {theirs}"


def test_our_own_name_comes_first() -> None:
    found = read_table({"item": ["x"], "id": ["7"], "score": [1], "acc": [0]})
    assert (found.ids[0], found.numbers["score"][0], found.notes) == (
        *("x", 1.0),
        ("the table: columns not used: id, acc",),
    )


@pytest.mark.parametrize(
    ("table", "parts"),
    [
        (
            {"id": ["x"], "qid": ["y"], "score": [1]},
            ("item may be 'id', 'qid'", "`columns={'item': 'id'}` or `columns={'item': 'qid'}`"),
        ),
        (
            {"id": ["x"], "acc": [1], "correct": [0]},
            ("score may be 'acc', 'correct'", "`columns={'score': 'acc'}` or `columns={'score': 'correct'}`"),
        ),
        (
            {"id": ["x"], "acc": [1], "subject": ["s"], "category": ["c"]},
            ("task may be 'subject', 'category'", "or use none with `columns={'task': ''}`"),
        ),
        ({"id": ["x"], "acc": [1], "seed": ["1"], "epoch": ["1"]}, ("run may be 'seed', 'epoch'",)),
    ],
)
def test_two_candidates_are_refused_by_name(table: dict[str, Any], parts: tuple[str, ...]) -> None:
    assert_refused(table, "the table", *parts)


def test_saying_which_decides() -> None:
    table = {"id": ["x"], "acc": [1], "correct": [0], "subject": ["s"], "category": ["c"]}
    found = read_table(table, columns={"score": "correct", "task": ""})
    assert (found.numbers["score"][0], "task" in found.labels) == (0.0, False)


def test_a_label_in_words_is_no_score() -> None:
    found = read_table({"id": ["x", "y"], "label": ["A", "B"], "correct": [True, False]})
    assert (found.columns["score"], found.notes[-1]) == ("correct", "the table: columns not used: label")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("yes", "no"), ("Correct", "Incorrect"), ("PASS", "fail"), ("passed", "failed"), ("true", "false")],
)
def test_words_are_one_and_zero(tmp_path: Path, right: str, wrong: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"item,score\nq1,{right}\nq2,{wrong}\nq3, {right} \n")
    for source in (path, {"item": ["q1", "q2", "q3"], "score": [right, wrong, right]}):
        found = read_table(source)
        assert found.numbers["score"].tolist() == [1.0, 0.0, 1.0]
        said = f"{right.lower()} is read as 1, {wrong.lower()} as 0"
        assert [said in note for note in found.notes] == ([] if right == "true" else [True])


def test_ids_that_repeat_between_tasks_are_told_apart_by_them() -> None:
    table = {"id": [0, 1, 0, 1], "acc": [1, 0, 0, 1], "subject": ["math", "math", "law", "law"]}
    found = read_table(table)
    assert found.ids.tolist() == ["math/0", "math/1", "law/0", "law/1"]
    assert "ids repeat between tasks" in found.notes[1]
    assert set(summarize(table).tasks) == {"math", "law"}


def test_a_number_for_each_row_is_no_run() -> None:
    """As one program writes the number of the task into `trial`."""
    found = read_table({"task_id": [4, 5], "reward": [1, 0], "trial": [4, 5]})
    assert "run" not in found.labels
    assert found.notes[-1] == "the table: columns not used: trial"


def test_a_category_is_a_task_and_no_cluster() -> None:
    found = read_table({"id": ["x", "y"], "acc": [1, 0], "category": ["a", "b"]})
    assert (found.cluster_by, found.labels["task"].names) == (None, ("a", "b"))
    asked = read_table({"id": ["x", "y"], "acc": [1, 0], "category": ["a", "b"]}, cluster="category")
    assert (asked.cluster_by, "task" in asked.labels) == ("category", False)


# --------------------------------------------------------------------------------------------------- a column per model

WIDE = "id,topic,base,large\nq1,a,1,1\nq2,b,0,1\nq3,a,,0\nq4,b,1,1\n"


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    path = tmp_path / "wide.csv"
    path.write_text(WIDE)
    return path


def test_a_column_per_model_is_recognised_unasked(wide: Path) -> None:
    base, large = read_tables([wide])
    assert (base.name, large.name) == ("base", "large")
    assert base.lost is not None
    assert base.lost.tolist() == [False, False, True, False]
    assert large.numbers["score"].tolist() == [1.0, 1.0, 0.0, 1.0]
    label = str(wide)
    assert base.notes == (
        f"{label}: 2 columns of scores read as one model each: base, large",
        f"{label}: read as item = id",
        f"{label}: columns not used: topic",
    )


def test_an_empty_cell_is_a_missing_answer_by_hand(wide: Path) -> None:
    found = compare(wide, models=("base", "large"))
    assert found.n_pairs == 3
    assert found.difference.value == pytest.approx(1 / 3)
    assert "base 1 of 4, large 0 of 4" in " ".join(found.notes)


def test_text_columns_may_be_the_task_or_the_cluster(wide: Path) -> None:
    assert set(summarize(wide, columns={"task": "topic"}).tasks) == {"a", "b"}
    assert compare(wide, models=("base", "large"), cluster="topic").n_clusters == 2


def test_numbers_about_an_answer_are_no_models() -> None:
    table = {"id": ["x"], "latency_ms": [9.5], "prompt_tokens": [7], "base": [1], "large": [0]}
    assert [one.name for one in read_tables([table])] == ["base", "large"]


def test_hundreds_of_columns_are_not_taken_for_models() -> None:
    table = {"id": ["x", "y"], **{f"q{i}": [0, 1] for i in range(201)}}
    with pytest.raises(InputError, match=r"201 columns are too many .*`columns=\{'score': '\*'\}`"):
        read_tables([table])
    assert len(read_tables([table], columns={"score": "q*"})) == 201


def test_a_column_of_token_counts_is_left_out_with_a_note() -> None:
    """``tokens`` is a column of losses, and none of scores."""
    found = summarize({"id": [1, 2, 3], "tokens": [5, 6, 7], "m1": [1, 0, 1], "m2": [0, 0, 1]})
    assert [round(model.value.value or 0, 3) for model in found.models] == [0.667, 0.333]
    assert "the table: columns not used: tokens" in found.notes


def test_one_column_of_numbers_is_not_guessed() -> None:
    assert_refused({"id": ["x"], "points": [1]}, "no column score", "`columns={'score': 'NAME'}`")


def test_one_file_of_two_models_needs_no_names_and_says_how_to_turn_them(wide: Path) -> None:
    found = compare(wide)
    assert (found.systems.a, found.systems.b) == ("base", "large")
    assert any("models=('large', 'base')" in note for note in found.notes)


def test_one_file_of_three_models_says_what_to_type() -> None:
    with pytest.raises(UsageError, match=r"among a, b, c \(`models=\('a', 'b'\)`\)"):
        compare({"item": [1, 2], "a": [1, 0], "b": [1, 1], "c": [0, 1]})


# ---------------------------------------------------------------------------------------------------- tasks as clusters


def clustered(groups: int, size: int) -> dict[str, list[Any]]:
    n = groups * size
    return {"item": list(range(n)), "score": [i % 2 for i in range(n)], "topic": [i % groups for i in range(n)]}


@pytest.mark.parametrize(("groups", "size", "warned"), [(14, 60, True), (14, 40, False), (77, 60, False)])
def test_few_large_clusters_are_warned_of(groups: int, size: int, warned: bool) -> None:
    notes = summarize(clustered(groups, size), cluster="topic").notes
    said = [note for note in notes if "look like tasks" in note]
    assert bool(said) == warned
    assert not warned or "14 clusters of about 60 items" in said[0]


# ------------------------------------------------------------------------------------------------------ pairing by row


def test_rows_pair_by_their_place_if_asked() -> None:
    a, b = {"acc": [1, 0, 1, 1]}, {"acc": [1, 1, 1, 0]}
    by_row = Selection(pair_by="row")
    with_ids = compare({"item": [1, 2, 3, 4], **a}, {"item": [1, 2, 3, 4], **b})
    found = compare(a, b, selection=by_row)
    assert (found.difference, found.n_pairs) == (with_ids.difference, 4)
    assert any("paired by their place" in note for note in found.notes)
    long = {"model": ["a"] * 4 + ["b"] * 4, "acc": a["acc"] + b["acc"]}
    assert compare(long, models=("a", "b"), selection=by_row).difference == with_ids.difference


def test_rows_of_tables_that_differ_in_length_do_not_pair() -> None:
    with pytest.raises(InputError, match="differ in length"):
        compare({"acc": [1, 0]}, {"acc": [1, 0, 1]}, selection=Selection(pair_by="row"))


def test_a_table_without_ids_names_the_option() -> None:
    assert_refused({"acc": [1, 0]}, "no column item", "`Selection(pair_by='row')`")


def test_a_wide_table_without_ids_may_be_paired_by_row() -> None:
    found = read_tables([{"base": [1, 0], "large": [1, 1]}], selection=Selection(pair_by="row"))
    assert [table.ids.tolist() for table in found] == [["1", "2"]] * 2


def scored(*values: float) -> Table:
    return read_table({"item": list(range(len(values))), "score": list(values)})


def test_scales_that_differ_are_refused() -> None:
    with pytest.raises(InputError, match=r"up to 1 and the table up to 100: scores must be on one scale"):
        compare(scored(0, 0.5, 1), scored(0, 50, 100))
    assert compare(scored(0, 1, 1), scored(5, 10, 8)).n_pairs == 3  # a judge's marks may be low
    assert compare(scored(0, 0.5, 1), scored(9, 50, 100), lower_is_better=True).n_pairs == 3  # seconds, say
