"""Columns of texts as bytes: what Python does with a list of the same texts is the oracle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.text_columns import TextColumn, concatenated
from assay.data.text_order import BLOCK, LONG

#: Few characters, so that texts repeat and share beginnings: NUL, spaces, one to four bytes, half of a pair.
_SOME = st.text(alphabet="ab01\0  é日😀\ud800", max_size=12)
_TEXTS = st.lists(st.one_of(_SOME, _SOME.map("prefix of some length/".__add__), _SOME.map(("L" * LONG).__add__)))


@given(_TEXTS)
def test_order_against_sorted(texts: list[str]) -> None:
    found = TextColumn.of(texts).sorted
    order = sorted(range(len(texts)), key=texts.__getitem__)
    assert found.order.tolist() == order
    assert found.repeats.tolist() == [i > 0 and texts[order[i]] == texts[order[i - 1]] for i in range(len(texts))]


@given(_TEXTS)
def test_codes_against_a_dictionary(texts: list[str]) -> None:
    names, codes = TextColumn.of(texts).coded()
    assert names == sorted(set(texts))
    assert [names[code] for code in codes] == texts
    assert TextColumn.of(texts).ranks.tolist() == codes.tolist()


@given(_TEXTS)
def test_texts_and_their_bytes_against_python(texts: list[str]) -> None:
    column = TextColumn.of(texts)
    assert (list(column), column.tolist(), column.texts.tolist()) == (texts, texts, texts)
    assert column.characters().tolist() == list(map(len, texts))
    turned = column[::-1]
    assert b"".join(part.tobytes() for part in turned.blocks()) == "".join(texts[::-1]).encode("utf-8", "surrogatepass")
    blank = next((row for row, text in enumerate(texts) if not text.strip()), None)
    assert column.first_blank() == blank
    if texts:
        assert column.behind(turned).tolist() == [b + a for a, b in zip(texts, texts[::-1], strict=True)]


@given(_TEXTS, _TEXTS)
def test_equality_against_lists(a: list[str], b: list[str]) -> None:
    one, other = TextColumn.of(a), TextColumn.of(b)
    assert one.same(other) == (a == b)
    assert one.same(TextColumn.of(a))
    assert one[::-1].same(TextColumn.of(a[::-1]))
    assert concatenated([one, other]).tolist() == a + b


@given(st.lists(st.one_of(st.integers(0, 10**18).map(str), st.sampled_from(["", "²", "٣", "1a", "9" * 18, "9" * 19]))))
def test_whole_numbers_against_int(texts: list[str]) -> None:
    wanted = [int(x) if x.isascii() and x.isdecimal() and len(x) < 19 else None for x in texts]
    found = TextColumn.of(texts).whole_numbers() if texts else np.empty(0)
    assert (None if found is None else found.tolist()) == (None if None in wanted else wanted)


@pytest.mark.parametrize("make", ["item-{:08d}".format, "{}".format, lambda i: f"{i * 7919 % 10_007:x}/{i % 7}"])
def test_order_of_many_blocks_against_sorted(make) -> None:  # type: ignore[no-untyped-def]
    texts = [make(i) for i in range(BLOCK + 500)]
    texts = [texts[i] for i in np.random.default_rng(1).permutation(len(texts))]
    column = TextColumn.of(texts)
    assert column[column.sorted.order].tolist() == sorted(texts)
    assert column.unique == (len(set(texts)) == len(texts))
    assert not column.same(TextColumn.of([*texts[:-1], "another"]))


def test_two_texts_of_one_hash_keep_their_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.data.text_order._mixed", lambda values: values * np.uint64(0))
    texts = ["b", "a", "b", "c"] * 3
    names, codes = TextColumn.of(texts).coded()
    assert (names, [names[code] for code in codes]) == (["a", "b", "c"], texts)


def test_a_long_text_among_many_takes_no_more_than_itself() -> None:
    texts = [str(i) for i in range(5_000)] + ["x" * 1_000_000, "x" * 1_000_000 + "y"]
    column = TextColumn.of(texts)
    assert column[column.sorted.order].tolist() == sorted(texts)
    assert column.coded()[0] == sorted(texts)
    assert column.behind(column).tolist()[-1] == texts[-1] * 2
