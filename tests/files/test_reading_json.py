"""JSON that may hold anything. Oracles: Python's own parser for what is good, depth counted by hand, and the clock."""

import json
import math
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.files import reading
from assay.files.reading import DEEPEST, Limit, parse_json, read_json

JSON: Any = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
BRACKETS = st.text(alphabet='[]{}"\\ab,:', max_size=40)


@given(found=JSON, plain=st.booleans(), indent=st.sampled_from([None, 2]), mark=st.sampled_from(["", "\ufeff"]))
def test_what_json_writes_is_read_against_the_parser(found: Any, plain: bool, indent: int | None, mark: str) -> None:
    text = json.dumps(found, ensure_ascii=plain, indent=indent)
    assert parse_json((mark + text).encode(), "x") == json.loads(text)


def depth_by_hand(text: str) -> int:
    """How deep brackets stand outside texts, one character after the other."""
    depth = deepest = 0
    inside = escaped = False
    for c in text:
        if inside and not escaped and c == '"':
            inside = False
        elif not inside and c == '"':
            inside, escaped = True, False
            continue
        elif not inside:
            depth += (c in "[{") - (c in "]}")
            deepest = max(deepest, depth)
        escaped = inside and c == "\\" and not escaped
    return deepest


@given(texts=st.lists(BRACKETS, max_size=6), levels=st.integers(1, 8))
def test_depth_by_hand(texts: list[str], levels: int) -> None:
    # Backslashes stand in texts only, as in all JSON: elsewhere the parser refuses them anyway.
    text = "[" * levels + ",".join(json.dumps(part) for part in texts) + "]" * levels + "[" * len(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "DEEPEST", 4)
        patch.setattr(reading, "_BLOCK", 7)  # texts go on in the next block
        try:
            reading._check_depth(text.encode())
            refused = False
        except RecursionError:
            refused = True
    assert refused == (depth_by_hand(text) > 4)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "x: empty; check"),
        (b"\xef\xbb\xbf \n", "x: empty; check"),
        (b"\xff\xfe[\0]\0", "x: UTF-16 text"),
        (b"\x1f\x8b\x08\0", "x: compressed with gzip; unpack it first"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "x: a Git LFS pointer"),
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), f"x: nested too deeply: lists and objects more than {DEEPEST}"),
        (b'{"a": 1, "b": {"c": 2, "c": 3}}', "x: the key 'c' appears twice; mend it"),
        (b'{"a":\n 1 "b": 2}', r"x, line 2: not JSON (Expecting ',' delimiter at column 4); mend it"),
        (b'{"a": ', "x: not JSON: it ends too early"),
        (b'{"a": "b', "x: not JSON: it ends too early"),
        (b'{\n"a": "\xff"}', "x, line 2: byte 0xff is not UTF-8; save it as UTF-8"),
        (b'{"a":\n"\xe4\xb8', "x, line 2: not JSON: it ends too early (in the middle of a character); mend it"),
        (b"[" + b"7" * 5000 + b"]", "digits"),
    ],
)
def test_what_is_wrong_is_said_with_where_and_what_next(data: bytes, part: str, strict: bool) -> None:
    with pytest.raises(InputError) as refused:
        parse_json(data, "x", strict=strict, advice="mend it")
    assert part in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["NaN", "[-Infinity]", '{"a": 1e999}', "1" + "0" * 309])
def test_numbers_that_are_not_finite_are_read_from_others_and_refused_in_our_own(text: str) -> None:
    parse_json(text.encode(), "x")
    with pytest.raises(InputError, match=r"is not a finite number|has 310 digits"):
        parse_json(text.encode(), "x", strict=True)


def test_the_largest_integer_that_is_a_float_is_read() -> None:
    largest = int(math.ldexp(1 - 2**-53, 1024))
    assert parse_json(str(largest).encode(), "x", strict=True) == largest
    assert len(str(largest)) == 309


def test_half_a_character_becomes_its_replacement_and_nothing_else_does() -> None:
    text = rb'["\ud83d", "\ude00x", "\ud83d\ude00", "\\ud83d", "\uD83D\\ude00"]'
    assert parse_json(text, "x") == ["\ufffd", "\ufffdx", "\U0001f600", "\\ud83d", "\ufffd\\ude00"]


@pytest.mark.parametrize(
    "data",
    [b"[" * 10_000_000, b'{"a":' * 2_000_000, b'{"a":[' * 1_600_000, b"7" * 10_000_000, b'"' + b"[" * 10_000_000],
    ids=["lists", "objects", "both", "digits", "text"],
)
def test_ten_megabytes_of_nonsense_are_refused_in_under_a_second(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_bytes(data)
    began = process_time()
    with pytest.raises(InputError):
        read_json(path)
    assert process_time() - began < 1


def test_many_keys_of_which_one_is_twice_take_no_time() -> None:
    text = json.dumps({f"k{i}": i for i in range(100_000)})[:-1] + ', "k99999": 0}'
    began = process_time()
    with pytest.raises(InputError, match="'k99999' appears twice"):
        parse_json(text.encode(), "x")
    assert process_time() - began < 2


def test_a_file_has_a_largest_size(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"[1, 2, 3]")
    assert read_json(path, limit=Limit(9, "a list", "cut it")) == [1, 2, 3]
    with pytest.raises(InputError, match=r"a.json: 0.000009 MB, and a list may have at most 0.000008 MB; cut it\."):
        read_json(path, limit=Limit(8, "a list", "cut it"))
