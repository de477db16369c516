"""Lines read quickly: the oracle is ``json``, and the strict parser where a line is not plain."""

import json
from array import array
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.readers.harness.lines import (
    Layouts,
    SharedValues,
    fields_in,
    numbered_lines,
    plain_text,
    slow_record,
    values_of,
)
from assay.data.readers.harness.places import ManyPlaces, NumberedPlaces
from assay.errors import InputError

NAMES = st.text(st.characters(codec="ascii", exclude_categories=["Cc"], exclude_characters='"\\'), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(NAMES, VALUES, min_size=1, max_size=8)


def decoded(layouts: Layouts, line: bytes) -> dict[str, Any] | None:
    found, value = layouts(line), SharedValues()
    return None if found is None else {name: value(found[1][at]) for name, at in found[0].places.items()}


@given(st.lists(OBJECTS, min_size=1, max_size=4), st.sampled_from([(", ", ": "), (",", ":")]))
def test_plain_objects_are_what_json_reads(objects: list[dict[str, Any]], separators: tuple[str, str]) -> None:
    layouts = Layouts()
    for one in (*objects, *objects):
        line = json.dumps(one, separators=separators).encode()
        if b"Infinity" not in line:
            assert decoded(layouts, line) == json.loads(line)


@given(OBJECTS, VALUES, st.sampled_from([(", ", ": "), (",", ":")]))
def test_a_key_that_is_there_twice_is_never_read_quickly(
    one: dict[str, Any], value: Any, separators: tuple[str, str]
) -> None:
    layouts, name = Layouts(), next(iter(one))
    line = json.dumps(one, separators=separators).encode()
    assert layouts(line) is not None or b"Infinity" in line
    again = json.dumps({name: value}, separators=separators)[1:]
    twice = line[:-1] + f"{separators[0]}{again}".encode()
    assert layouts(twice) is None
    with pytest.raises(InputError, match=r"appears twice|not JSON"):
        slow_record(Path("a.jsonl"), 3, twice)


@pytest.mark.parametrize(
    "line",
    [
        b'{"a": NaN}',
        b'{"a" : 1}',
        b"{}",
        b"[1]",
        b"7",
        b'{"a": 1',
        b'{"a": 1} {"b": 2}',
        b'{"\\u0061": 1}',
        b"{'a': 1}",
    ],
)
def test_what_is_not_plain_is_left_to_the_slow_way(line: bytes) -> None:
    assert fields_in(line) is None
    assert Layouts()(line) is None


def test_layouts_that_take_turns_are_told_apart_by_hand() -> None:
    layouts = Layouts()
    rows: list[dict[str, Any]] = [{"a": 1, "b": "x"}, {"b": "x", "a": 1, "c": None}, {"a": [1, {"a": 2}]}] * 3
    assert [decoded(layouts, json.dumps(row).encode()) for row in rows] == rows


@given(st.text(max_size=8) | st.integers(0, 10**20))
def test_a_plain_text_is_what_json_reads(value: str | int) -> None:
    raw = fields_in(json.dumps({"a": value}, ensure_ascii=False).encode())
    assert raw is not None
    found = plain_text(raw["a"])
    assert found is None or found == str(value)
    if isinstance(value, int) or (value.isprintable() and "\\" not in value and '"' not in value):
        assert found == str(value)


@given(st.lists(st.sampled_from([b"", b" ", b"{}", b'{"a": 1}', b"\r"]), max_size=6), st.booleans())
def test_lines_and_their_numbers_are_those_of_python(tmp_path_factory: Any, lines: list[bytes], mark: bool) -> None:
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    data = (b"\xef\xbb\xbf" if mark else b"") + b"\n".join(lines)
    path.write_bytes(data)
    want = [(i, line) for i, line in enumerate((line.strip() for line in data[3 * mark :].split(b"\n")), 1) if line]
    if want:
        assert list(numbered_lines(path)) == want
    else:
        with pytest.raises(InputError, match="the file is empty"):
            list(numbered_lines(path))


def test_lines_longer_than_what_is_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.data.readers.harness.lines._BLOCK", 4)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": "0123456789"}\n\n{"b": 1}')
    assert list(numbered_lines(path)) == [(1, b'{"a": "0123456789"}'), (3, b'{"b": 1}')]


@given(OBJECTS, st.lists(VALUES, min_size=1, max_size=6), st.sampled_from([(", ", ": "), (",", ":")]))
def test_lines_of_one_layout_are_read_together_as_json_reads_them(
    one: dict[str, Any], values: list[Any], separators: tuple[str, str]
) -> None:
    name = next(iter(one))
    rows = [{**one, name: value} for value in values]
    block = b"".join(json.dumps(row, separators=separators).encode() + b"\n" for row in rows)
    found = Layouts().together(block)
    try:
        json.dumps(rows, allow_nan=False)
    except ValueError:  # an infinite number, which is not JSON
        assert found is None
        return
    assert found is not None
    layout, columns = found
    assert {key: values_of(columns[at]) for key, at in layout.places.items()} == {
        key: [row[key] for row in rows] for key in one
    }


@given(OBJECTS, st.integers(0, 3))
def test_a_key_that_is_there_twice_is_found_in_lines_read_together(one: dict[str, Any], at: int) -> None:
    name, plain = next(iter(one)), json.dumps(one).encode()
    lines = [plain] * 4
    lines[at] = plain[:-1] + b", " + json.dumps({name: 0}).encode()[1:]
    assert Layouts().together(b"\n".join(lines) + b"\n") is None


@pytest.mark.parametrize("odd", [b"", b'{"a": 1,  "b": 2}', b'{"a": 1}', b'{"a": NaN, "b": 2}', b"{"])
def test_lines_that_are_not_alike_are_read_one_by_one(odd: bytes) -> None:
    assert Layouts().together(b'{"a": 1, "b": 2}\n' + odd + b"\n") is None


def test_places_are_written_when_they_are_asked_for() -> None:
    first, second = NumberedPlaces("a.jsonl", array("q", [1, 4])), ["b.json, entry 1"]
    both = ManyPlaces([first, second])
    assert list(both) == ["a.jsonl, line 1", "a.jsonl, line 4", "b.json, entry 1"]
    assert (both[-1], both[1:], len(both)) == ("b.json, entry 1", ["a.jsonl, line 4", "b.json, entry 1"], 3)
    assert list(first[1:]) == ["a.jsonl, line 4"]
    with pytest.raises(IndexError):
        both[3]
