"""py-irt: the oracle is the file itself, read by the parser of the standard library."""

import json
from math import isnan
from pathlib import Path

import pytest

from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, edit_lines, one, scores

PATH = FOLDER / "py_irt" / "responses.jsonlines"


def test_every_line_is_a_model_and_its_responses_are_the_scores() -> None:
    want = {line["subject_id"]: line["responses"] for line in map(json.loads, PATH.read_text("utf-8").splitlines())}
    assert {name: scores(table) for name, table in by_name(PATH).items()} == want


def test_a_line_of_one_model_is_enough_and_nulls_are_lost(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text('{"responses": {"a": true, "b": null, "c": 0.5}, "subject_id": 7}', encoding="utf-8")
    table = one(path)
    found = scores(table)
    assert table.name == "7"
    assert isnan(found.pop("b"))
    assert found == {"a": 1.0, "c": 0.5}


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ({"subject_id": "small", "responses": {"a": 1}}, ["line 3", "'small' is there already", "line 1"]),
        ({"subject_id": "x", "responses": {"a": "yes"}}, ["line 3, responses[...]", "a number"]),
        ({"subject_id": "x", "responses": [1]}, ["line 3, responses", "must be an object, but got a list"]),
        ({"subject_id": "x"}, ["line 3", "no field 'responses'"]),
    ],
)
def test_a_bad_line_is_refused(tmp_path: Path, line: dict[str, object], parts: list[str]) -> None:
    assert_refused(edit_lines(copy(PATH, tmp_path), lambda i, own: line if i == 2 else own), *parts)
