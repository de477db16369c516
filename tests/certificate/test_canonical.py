"""Canonical JSON against its definition: sorted keys, two spaces, UTF-8, one newline; no key twice, no NaN."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.certificate.signing import canonical_bytes, digest_of, parsed
from assay.errors import InputError

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
documents = st.dictionaries(texts, values, max_size=4).map(lambda found: {**found, "schema": "s"})


@given(documents)
def test_reading_gives_back_what_was_written_to_the_last_bit(document: dict[str, Any]) -> None:
    again = parsed(canonical_bytes(document), "a file")
    assert json.dumps(again, sort_keys=True) == json.dumps(document, sort_keys=True)


@given(documents)
def test_the_order_of_keys_changes_no_byte(document: dict[str, Any]) -> None:
    backwards = dict(reversed(document.items()))
    assert canonical_bytes(backwards) == canonical_bytes(document)
    assert canonical_bytes(document).endswith(b"\n}\n")


@settings(max_examples=200)
@given(documents)
def test_the_layout_is_that_of_json_with_two_spaces(document: dict[str, Any]) -> None:
    text = json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    assert canonical_bytes(document) == (text + "\n").encode()


@given(documents, texts)
def test_the_digest_leaves_out_itself_and_nothing_else(document: dict[str, Any], text: str) -> None:
    assert digest_of({**document, "digest": text}) == digest_of({n: v for n, v in document.items() if n != "digest"})
    assert digest_of({**document, "more": text}) != digest_of({**document, "more": text + "x"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "not a certificate"),
        (b"\xef\xbb\xbf{}", "BOM"),
        (b"\xff\xfe{}", "decode"),
        (b"[1]", "no field 'schema'"),
        (b'"schema"', "no field 'schema'"),
        (b"{}", "no field 'schema'"),
        (b'{"schema": NaN}', "NaN is not a number"),
        (b'{"schema": -Infinity}', "-Infinity is not a number"),
        (b'{"schema": 1, "schema": 1}', "the field 'schema' stands twice"),
        (b'{"schema": {"a": {"b": 1, "b": 2}}}', "the field 'b' stands twice"),
        (b'{"schema": ' + b"9" * 5000 + b"}", "not a certificate"),
        (b'{"schema": ' + b"[" * 100_000, "not a certificate"),
    ],
)
def test_what_is_no_certificate_is_refused_in_one_line(text: bytes, message: str) -> None:
    with pytest.raises(InputError) as refused:
        parsed(text, "cert.json")
    assert str(refused.value).startswith("cert.json: not a certificate")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="a certificate cannot hold this"):
        canonical_bytes({"schema": value})
