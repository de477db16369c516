"""YAML as YAML 1.2 reads it, and what is refused: whatever could mean something else than it says."""

from typing import Any

import pytest

from assay.certificate.yaml_text import parse_yaml
from assay.errors import InputError


def parsed(text: str) -> Any:
    return parse_yaml(text.encode(), "p.yaml", number=lambda text, kind: kind(text), advice="write it plainly")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1", {"a": 1}),
        ("a: 1e-3", {"a": 0.001}),
        ("a: .5", {"a": 0.5}),
        ("a: +2.", {"a": 2.0}),
        ("a: 010", {"a": 10}),
        ("a: no\nb: on\nc: yes", {"a": "no", "b": "on", "c": "yes"}),
        ("a: true\nb: False\nc: TRUE", {"a": True, "b": False, "c": "TRUE"}),
        ("a: null\nb: ~\nc:", {"a": None, "b": None, "c": None}),
        ("a: 2026-01-01\nb: 1:30\nc: 1_000\nd: 0x1f", {"a": "2026-01-01", "b": "1:30", "c": "1_000", "d": "0x1f"}),
        ("a: '1'\nb: \"true\"", {"a": "1", "b": "true"}),
        ("a: [x, 'y*', 3]\nb: {c: {d: e}}", {"a": ["x", "y*", 3], "b": {"c": {"d": "e"}}}),
        ("# nothing\na: |\n  two\n  lines\n", {"a": "two\nlines\n"}),
        ("\ufeffa: 日本", {"a": "日本"}),
        ("", None),
        ("- 1\n- 2", [1, 2]),
    ],
)
def test_plain_data_by_the_core_schema(text: str, value: Any) -> None:
    assert parsed(text) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\na: 2", "line 2: not YAML (the key 'a' appears twice)"),
        ("a: 1\n'a': 2", "the key 'a' appears twice"),
        ("a: &x 1\nb: *x", "line 1: not YAML (anchors and aliases are not read; write the values out)"),
        ("a: {<<: {b: 1}, <<: {c: 2}}", "the key '<<' appears twice"),
        ("a: !!python/object/apply:os.system [ls]", "the tag 'tag:yaml.org,2002:python/object/apply:os.system'"),
        ("a: !!binary aGk=", "the tag 'tag:yaml.org,2002:binary' is not read"),
        ("a: !own 1", "the tag '!own' is not read"),
        ("1: a", "a key must be a text, but got 1; quote it"),
        ("true: a", "a key must be a text, but got true; quote it"),
        ("? [a]\n: 1", "a key must be a text"),
        ("a: [1", "line 1: not YAML"),
        ("a: b: c", "not YAML"),
        ("\ta: 1", "not YAML"),
        ("a: 1\n---\nb: 2", "not YAML"),
        ("[" * 2_000 + "]" * 2_000, "nested too deeply"),
        ("a: \x00", "not YAML"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        parsed(text)
    message = str(refused.value)
    assert message.startswith("p.yaml")
    assert said in message
    assert "\n" not in message
    assert len(message) < 400


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(InputError, match=r"p\.yaml: byte 0xff is not UTF-8; save it as UTF-8"):
        parse_yaml(b"a: \xff", "p.yaml", number=lambda text, _: text, advice="")
