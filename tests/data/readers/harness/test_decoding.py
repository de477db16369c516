"""Decoding only some fields: the oracle is the parser of the standard library, and what a person wrote in the file."""

import json
from math import inf, isnan
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.readers.harness.decoding import decoded, decoded_file, decoded_lines
from assay.errors import InputError
from tests.data.files import checked_message


class One(msgspec.Struct):
    score: float
    label: str | None = None


class Whole(msgspec.Struct):
    results: list[One]


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**50), 2**50) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.floats(allow_nan=False, allow_infinity=False), st.dictionaries(st.text(), _values, max_size=4))
def test_fields_are_as_json_reads_them_whatever_stands_beside_them(score: float, more: Any) -> None:
    more.pop("label", None)
    data = json.dumps({**more, "score": score}).encode()
    assert decoded(data, One, "a.json").score == json.loads(data)["score"]


def test_nan_infinity_and_half_a_character_are_read_as_elsewhere() -> None:
    assert isnan(decoded(b'{"score": NaN}', One, "a.json").score)
    assert decoded(b'{"score": -Infinity, "label": "a\\ud800"}', One, "a.json") == One(
        -inf, "a\N{REPLACEMENT CHARACTER}"
    )


def test_what_is_decoded_later_survives_nan_and_half_a_character() -> None:
    class Later(msgspec.Struct):
        data: msgspec.Raw

    found = decoded(b'{"data": {"a": NaN, "b": "\\ud800", "c": [1.5]}}', Later, "a.json")
    assert msgspec.json.decode(bytes(found.data)) == {"a": None, "b": "\N{REPLACEMENT CHARACTER}", "c": [1.5]}


def test_a_mark_of_byte_order_is_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"score": 1}\n\n{"score": 2}')
    assert [(place, one.score) for place, one in decoded_lines(path, One)] == [
        (f"{path}, line 1", 1.0),
        (f"{path}, line 3", 2.0),
    ]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('{"results": [{"score": 1}, {"label": "x"}]}', ["results[1]", "no field 'score'"]),
        ('{"results": [{"score": "high"}]}', ["results[0].score", "must be a number, but got a text"]),
        ('{"results": [{"score": 1, "label": 7}]}', ["results[0].label", "must be a text or null"]),
        ('{"results": {}}', ["results", "must be a list, but got an object"]),
        ("[]", ["must be an object, but got a list"]),
        ('{"results": [{"score": 1', ["ends too early"]),
        ("", ["empty"]),
        ("[" * 200, ["nested too deeply"]),
        ('{"results": [], "x": ' + "[" * 5000 + "]" * 5000 + "}", ["nested too deeply"]),
        ('{"results": [{"score": 1, "label": "a\x00"}]}', ["not JSON"]),
    ],
)
def test_what_is_wrong_is_said_of_its_record_and_field(tmp_path: Path, text: str, parts: list[str]) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        decoded_file(path, Whole)
    checked_message(caught.value, str(path), *parts)


def test_a_bad_line_is_named_and_a_file_without_lines_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"score": 1}\n{"score": null}\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(decoded_lines(path, One))
    checked_message(caught.value, "line 2, score", "must be a number, but got null")
    path.write_text("\n \n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(decoded_lines(path, One))
    checked_message(caught.value, "empty")
