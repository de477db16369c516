"""Values that cannot be right, each refused with its place; and what a table holds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay.data import read_table, values
from assay.data.tables import Labels
from assay.data.text_columns import TextColumn
from assay.errors import InputError, UsageError
from tests.data.files import FORMATS, assert_refused, checked_message, write_rows

Bad = tuple[str, str, tuple[str, ...]]  # column, cell of row 3, what the message says

LOSSES = "window,tokens,loss,document,split,bytes,chars,model"
SCORES = "item,score,cluster,weight,run,model"
BAD_LOSSES: list[Bad] = [
    ("loss", "abc", ("'abc' is not a number", "in nats")),
    ("loss", "1,5", ("'1,5' is not a number", "point")),
    ("loss", "", ("empty", "take the row out")),
    ("loss", "nan", ("loss must be finite", "'nan'")),
    ("loss", "NaN", ("loss must be finite", "'NaN'")),
    ("loss", "inf", ("loss must be finite", "'inf'")),
    ("loss", "-inf", ("loss must be finite", "'-inf'")),
    ("loss", "1e999", ("loss must be finite", "'1e999'")),
    ("loss", "-0.25", ("loss must not be negative", "'-0.25'", "-log p")),
    ("loss", "true", ("'true' is not a number",)),
    ("tokens", "0", ("tokens must be a whole number of at least 1", "'0'", "count")),
    ("tokens", "-3", ("tokens must be a whole number of at least 1", "'-3'")),
    ("tokens", "2.5", ("tokens must be a whole number of at least 1", "'2.5'")),
    ("tokens", "many", ("'many' is not a number",)),
    ("tokens", "", ("empty",)),
    ("bytes", "-1", ("bytes must be a whole number of at least 0", "'-1'")),
    ("chars", "0.5", ("chars must be a whole number of at least 0", "'0.5'")),
    ("chars", "x", ("'x' is not a number",)),
    ("split", "test", ("split must be preview or final", "'test'", "correct")),
    ("split", "Final", ("split must be preview or final", "'Final'")),
    ("split", "", ("empty",)),
    ("window", "", ("empty", "fill it in")),
    ("window", "  ", ("empty", "fill it in")),
    ("document", "", ("empty",)),
    ("model", "", ("empty",)),
    ("window", "w1", ("'w1' of model '1', split 'final' is in ", " already", "keep one")),
]
BAD_SCORES: list[Bad] = [
    ("score", "good", ("'good' is not a number", "true or false")),
    ("score", "-inf", ("score must be finite",)),
    ("weight", "0", ("weight must be positive", "'0'", "take the row out")),
    ("weight", "-1", ("weight must be positive", "'-1'")),
    ("weight", "inf", ("weight must be finite",)),
    ("cluster", "", ("empty",)),
    ("run", "", ("empty",)),
    ("item", "", ("empty",)),
    ("item", "q2", ("'q2' of model ", "run ", " is in ", " already", "keep one")),
]


def place(extension: str, row: int) -> str:
    """Where a row stands as an editor counts: after the header, and not at all in Parquet."""
    return {"parquet": f"row {row}", "jsonl": f"line {row}"}.get(extension, f"line {row + 1}")


def rows_of(header: str, bad: Bad) -> dict[str, list[str]]:
    good = {
        "window": [f"w{i}" for i in range(1, 6)],
        "item": [f"q{i}" for i in range(1, 6)],
        "tokens": ["512", "256", "512", "7", "1"],
        "loss": ["2.5", "0", "1e3", " 0.5 ", "1e-7"],
        "score": ["1", "0", "0.5", "-2", "true"],
        "split": ["final"] * 5,
    }
    rows = {name: list(good.get(name, ["1"] * 5)) for name in header.split(",")}
    rows[bad[0]][2] = bad[1]
    return rows


@pytest.mark.parametrize("bad", BAD_LOSSES, ids=lambda bad: f"{bad[0]}={bad[1]}")
@pytest.mark.parametrize("extension", FORMATS)
def test_a_bad_cell_of_losses_is_refused_with_its_place(tmp_path: Path, extension: str, bad: Bad) -> None:
    path = write_rows(tmp_path / f"a.{extension}", rows_of(LOSSES, bad))
    assert_refused(path, f"{path}, {place(extension, 3)}, column {bad[0]!r}: ", *bad[2])


@pytest.mark.parametrize("bad", BAD_SCORES, ids=lambda bad: f"{bad[0]}={bad[1]}")
@pytest.mark.parametrize("extension", FORMATS)
def test_a_bad_cell_of_scores_is_refused_with_its_place(tmp_path: Path, extension: str, bad: Bad) -> None:
    path = write_rows(tmp_path / f"a.{extension}", rows_of(SCORES, bad))
    assert_refused(path, f"{path}, {place(extension, 3)}, column {bad[0]!r}: ", *bad[2])


@pytest.mark.parametrize("bad", BAD_LOSSES, ids=lambda bad: f"{bad[0]}={bad[1]}")
def test_a_bad_cell_in_memory_is_refused_with_its_place(bad: Bad) -> None:
    assert_refused(rows_of(LOSSES, bad), f"the table, row 3, column {bad[0]!r}: ", *bad[2])
    assert_refused(pd.DataFrame(rows_of(LOSSES, bad)), f"the table, row 3, column {bad[0]!r}: ", *bad[2])


def test_a_message_names_the_column_as_the_file_does(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.csv", {"id": ["x", "y"], "acc": ["1", "?"]})
    assert_refused(path, "line 3, column 'acc': '?' is not a number", columns={"item": "id", "score": "acc"})


def test_a_long_cell_is_shortened(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.csv", {"item": ["x"], "score": ["long\n" * 1000]})
    assert len(assert_refused(path, "line 2", "...'")) < len(str(path)) + 200


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, ""])
def test_what_is_missing_in_memory_is_refused(missing: Any) -> None:
    assert_refused({"item": ["a", missing], "score": [1, 0]}, "row 2, column 'item'", "empty")
    assert_refused(
        {"window": ["a", "b"], "tokens": [1, 1], "loss": pd.Series([1, missing], dtype=object)},
        *("row 2, column 'loss'", "empty"),
    )


def test_null_is_refused_in_json_and_parquet(tmp_path: Path) -> None:
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"item": "a", "score": 1, "weight": 1}\n{"item": "b", "score": 0, "weight": null}\n')
    assert_refused(lines, "line 2, column 'weight'", "empty")
    lines.write_text('{"item": "a", "score": 1}\n{"score": 1}\n')
    assert_refused(lines, "line 2, column 'item'", "empty")
    rows: dict[str, list[Any]] = {"item": ["a", None], "score": [1.0, 2.0]}
    assert_refused(write_rows(tmp_path / "a.parquet", rows), "row 2, column 'item'", "empty")


def test_lines_are_those_of_an_editor_whatever_is_above_them(tmp_path: Path) -> None:
    """By hand: the lines of the text as it stands here, counted from 1."""
    path = tmp_path / "a.csv"
    above = '\n\n"item","score\n"\n"q\n\n1",1\n\n'  # 1-2 blank, 3-4 the header, 5-7 a cell with breaks, 8 blank
    path.write_text(above + "q2,1\nq3,?\n", encoding="utf-8")
    assert_refused(path, f"{path}, line 10, column")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert_refused(path, f"{path}, line 10, column")
    lines = tmp_path / "a.jsonl"
    lines.write_text('\n{"item": "a", "score": 1}\n \n\n{"item": "b", "score": "?"}\n', encoding="utf-8")
    assert_refused(lines, f"{lines}, line 5, column 'score'")


def test_several_ids_that_are_there_twice_are_named_with_their_model_and_lines(tmp_path: Path) -> None:
    rows = {"item": ["a", "b", "c", "d", "e"] * 2, "model": ["M"] * 10, "score": [1] * 10}
    assert_refused(
        write_rows(tmp_path / "a.csv", rows),
        "a.csv, line 7, column 'item': 'a' of model 'M' is in line 2 already; so are 'b' of model 'M' (line 8, first "
        "in line 3), 'c' of model 'M' (line 9, first in line 4), 2 more rows; keep one of each, tell them apart "
        "with a column 'run', or take them as attempts at one item with `at=1` (summarize, compare).",
    )
    two = {"item": ["a", "a", "b", "a"], "score": [1] * 4}
    assert_refused(two, "row 2, column 'item': 'a' is in row 1 already; so are 'a' (row 4, first in row 1); keep")


def test_not_a_number_of_a_float_column_is_refused(tmp_path: Path) -> None:
    rows = {"window": ["a", "b"], "tokens": [5, 5], "loss": [0.5, float("nan")]}
    for extension in ("jsonl", "parquet"):  # JSON as Python writes it: the literal NaN
        path = write_rows(tmp_path / f"a.{extension}", rows)
        assert_refused(path, f"{path}, {place(extension, 2)}, column 'loss'", "loss must be finite")


@pytest.mark.parametrize("extension", FORMATS)
def test_zero_and_huge_losses_are_allowed(tmp_path: Path, extension: str) -> None:
    rows = {"window": ["a", "b", "c"], "tokens": [1, 2, 3], "loss": [0.0, -0.0, 1e300]}
    loss = read_table(write_rows(tmp_path / f"a.{extension}", rows)).numbers["loss"]
    assert loss.tobytes() == np.array([0.0, 0.0, 1e300]).tobytes()


@pytest.mark.parametrize(
    "values", [[True, False], np.array([True, False]), ["TRUE", " false "], pd.Series([True, False])]
)
def test_true_and_false_are_scores_in_memory(values: Any) -> None:
    assert read_table({"item": ["a", "b"], "score": values}).numbers["score"].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("extension", FORMATS)
def test_true_and_false_are_scores(tmp_path: Path, extension: str) -> None:
    path = write_rows(tmp_path / f"a.{extension}", {"item": ["a", "b"], "score": [True, False]})
    assert read_table(path).numbers["score"].tolist() == [1.0, 0.0]


def test_an_id_may_repeat_in_another_model_split_or_run() -> None:
    for grouping, other in (("model", "split"), ("split", "model")):
        column = {"model": ["A", "B"], "split": ["preview", "final"]}[grouping]
        table = {"window": ["w", "w"], "tokens": [5, 5], "loss": [1, 2], grouping: column}
        assert len(read_table(table)) == 2
        assert_refused(table | {grouping: column[:1] * 2}, "row 2, column 'window'", "row 1", f"a column {other!r}")
    assert len(read_table({"item": ["q", "q"], "score": [1, 0], "run": [1, 2]})) == 2
    assert_refused({"item": ["q", "q"], "score": [1, 0]}, "'q' is in row 1 already", "a column 'model' or 'run'")


def test_the_first_duplicate_of_the_file_is_the_one_reported() -> None:
    assert_refused({"item": ["z", "a", "b", "b", "a", "z"], "score": [1] * 6}, "row 4", "'b' is in row 3 already")


@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_tables_in_memory_are_read(make: Callable[[dict[str, Any]], Any]) -> None:
    table = read_table(make({"item": [7, 8], "score": np.array([1, 0], dtype=np.int8), "weight": ["1.5", " 2 "]}))
    assert table.ids.tolist() == ["7", "8"]
    assert table.numbers["score"].tolist() == [1.0, 0.0]
    assert table.numbers["weight"].tolist() == [1.5, 2.0]


def test_columns_of_different_length_are_refused() -> None:
    assert_refused(
        {"item": ["a", "b"], "score": [1]}, "the table, column 'item': 2 values", "'score' has 1", "same length"
    )


def test_two_dimensions_are_refused() -> None:
    assert_refused({"item": ["a", "b"], "score": np.ones((2, 2))}, "column 'score'", "2 dimensions")


def test_an_empty_table_in_memory_is_refused() -> None:
    assert_refused({"item": [], "score": []}, "the table", "no rows")


def test_what_is_no_table_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="must be a path, a mapping of columns or a data frame, but got int"):
        read_table(7)


def models(tmp_path: Path) -> Path:
    rows = {"item": ["q1", "q1", "q2", "q2"], "score": [1, 0, 1, 1], "model": ["small", "large", "small", "large"]}
    return write_rows(tmp_path / "both.csv", rows)


def test_one_file_holds_several_models(tmp_path: Path) -> None:
    table = read_table(models(tmp_path))
    assert table.models == ("large", "small")
    large = table.select("large")
    assert (large.name, large.models, large.numbers["score"].tolist()) == ("large", ("large",), [0.0, 1.0])
    assert large.rows.tolist() == [2, 4]


def test_an_unknown_model_lists_those_there_are(tmp_path: Path) -> None:
    path = models(tmp_path)
    with pytest.raises(InputError) as caught:
        read_table(path).select("larg")
    checked_message(caught.value, str(path), "no model 'larg'", "large, small", "did you mean 'large'?")
    with pytest.raises(InputError) as caught:
        read_table(path).select("xyz")
    checked_message(caught.value, "no model 'xyz'", "large, small", "name one of them")


def test_selecting_a_model_needs_the_column() -> None:
    with pytest.raises(InputError, match=r"no column 'model'.*`columns={'model': 'NAME'}`"):
        read_table({"item": ["q"], "score": [1]}).select("A")


def test_a_table_is_named_after_its_model_or_its_file(tmp_path: Path) -> None:
    rows: dict[str, list[Any]] = {"item": ["q"], "score": [1]}
    assert read_table(write_rows(tmp_path / "run-7.csv", rows)).name == "run-7"
    assert read_table(write_rows(tmp_path / "run-7.csv", rows | {"model": ["M"]})).name == "M"
    assert read_table(write_rows(tmp_path / "run-7.csv", rows | {"model": ["M"]}), name="mine").name == "mine"


def test_rows_of_a_long_file_keep_their_numbers(tmp_path: Path) -> None:
    # Long enough for DuckDB to read in parallel pieces; the oracle is the place where the bad cell was written.
    path = tmp_path / "long.csv"
    lines = [f"q{i},{i % 7}\n" for i in range(300_000)]
    lines[234_566] = "q234566,oops\n"
    path.write_text("item,score\n" + "".join(lines))
    assert_refused(path, "line 234568, column 'score': 'oops'")


def _labels(codes: list[int]) -> Labels:
    return Labels(tuple(f"m{code}" for code in range(max(codes) + 1)), np.array(codes))


@pytest.mark.parametrize(
    ("items", "models", "repeated"),
    [
        ("abcabc", [0, 0, 0, 1, 1, 1], []),
        ("abcacb", [0, 0, 0, 1, 1, 1], []),
        ("abaaba", [0, 0, 0, 1, 1, 1], [(2, 0), (5, 3)]),  # the same ids in every block, one of them twice
        ("abcabc", [0, 0, 0, 0, 0, 0], [(3, 0), (4, 1), (5, 2)]),
        ("abab", [0, 0, 0, 1], [(2, 0)]),
        ("aaaa", [0, 1, 0, 1], [(2, 0), (3, 1)]),  # a model comes again
        ("ababab", [0, 0, 1, 1, 0, 0], [(4, 0), (5, 1)]),
    ],
)
def test_ids_in_blocks_are_told_apart_as_row_by_row(
    items: str, models: list[int], repeated: list[tuple[int, int]]
) -> None:
    ids, groups = TextColumn.of(items), {"model": _labels(models), "run": None}
    found = values.repeated_rows(ids, groups)
    assert sorted(map(tuple, found.tolist())) == repeated
    assert not values._same_in_blocks(ids, groups) or not repeated
    assert values._same_in_blocks(ids, groups) == ("".join(items) == "abcabc" and models == [0, 0, 0, 1, 1, 1])
