"""Lists decoded in parts: the oracle is ``json``."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.readers.harness.long_lists import NotPlainError, parts_of_list, records_of_list

BETWEEN = re.compile(rb'\}(\s*,\s*)\{\s*"a"\s*:')
VALUES = st.recursive(
    st.integers(-9, 9) | st.text('a{}[],:" \\\n', max_size=12), lambda inner: st.lists(inner, max_size=3), max_leaves=4
)


class Record(msgspec.Struct):
    a: Any
    b: Any = None


def in_blocks(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@given(
    st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=9),
    st.integers(1, 200),
    st.sampled_from([None, 2]),
    st.booleans(),
)
def test_parts_hold_the_records_of_the_whole(
    rows: list[tuple[Any, Any]], size: int, indent: int | None, mark: bool
) -> None:
    data = json.dumps([{"a": a, "b": b} for a, b in rows], indent=indent).encode()
    parts = parts_of_list(in_blocks((b"\xef\xbb\xbf" if mark else b"") + data, size), BETWEEN)
    assert [(one.a, one.b) for some in records_of_list(parts, Record) for one in some] == rows


@given(st.integers(1, 60), st.integers(1, 70))
def test_a_list_that_is_cut_is_not_plain(end: int, size: int) -> None:
    data = json.dumps([{"a": 1, "b": [{"c": 1}, {"a": 2}]}, {"a": 3, "b": "}, {"}, {"a": 4}]).encode()
    with pytest.raises(NotPlainError):
        list(records_of_list(parts_of_list(in_blocks(data[: min(end, len(data) - 1)], size), BETWEEN), Record))


def test_records_within_records_are_not_taken_for_records() -> None:
    """Where they begin alike, the list is left to the parser of the whole."""
    data = json.dumps([{"a": 1, "b": [{"a": 2}, {"a": 3}]}, {"a": 4, "b": [{"a": 5}, {"a": 6}]}]).encode()
    with pytest.raises(NotPlainError):
        list(records_of_list(parts_of_list(in_blocks(data, 30), BETWEEN), Record))
    assert [one.a for some in records_of_list(parts_of_list([data], re.compile(rb"(?!)")), Record) for one in some] == [
        1,
        4,
    ]
