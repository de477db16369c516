"""Bits per byte of documents against sums by hand, and against scipy and numpy on random windows."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import compare
from assay.data import read_table
from assay.data.runs.rates import Size, bits_per
from assay.errors import InputError, UsageError

WORDS = {
    "window": ["d1:0", "d1:4", "d2:0"],
    "document": ["d1", "d1", "d2"],
    "tokens": [4, 2, 3],
    "loss": [1.0, 2.0, 3.0],
}
BYTES = {"window": ["d1:0", "d2:0"], "document": ["d1", "d2"], "tokens": [20, 12], "loss": [0.5, 0.75]}


def words(**more: object) -> dict[str, object]:
    return WORDS | {"bytes": [16, 8, 12], "chars": [8, 4, 6]} | more


def characters(**more: object) -> dict[str, object]:
    return BYTES | {"bytes": [24, 12], "chars": [12, 6]} | more


def test_rates_and_weights_against_sums_by_hand() -> None:
    first, second = bits_per("byte", [read_table(words()), read_table(characters(bytes=[20, 12]))])
    assert first.ids.tolist() == second.ids.tolist() == ["d1", "d2"]
    np.testing.assert_allclose(first.numbers["score"], [8 / 24 / log(2), 9 / 12 / log(2)], rtol=1e-15)
    np.testing.assert_allclose(second.numbers["score"], [10 / 20 / log(2), 9 / 12 / log(2)], rtol=1e-15)
    for table in (first, second):
        assert table.numbers["weight"].tolist() == [22.0, 12.0]
        assert table.notes == (
            "bytes that count differ with the tokenizer (the table 36, the table 32): documents weigh as their mean",
        )


def test_the_estimate_is_the_sum_of_bits_over_the_sum_of_bytes_where_both_count_the_same() -> None:
    found = compare(words(), characters(), per="byte")
    assert found.a == pytest.approx((4 + 4 + 9) / 36 / log(2), rel=1e-14)
    assert found.b == pytest.approx((10 + 9) / 36 / log(2), rel=1e-14)
    assert found.measure == "bits per byte"
    assert found.lower_is_better
    assert "bits per byte 0.6813 → 0.7614" in found.sentence
    assert found.from_dict(found.to_dict()) == found


def test_bits_per_character_is_per_character() -> None:
    found = compare(words(), characters(), per="character")
    assert found.a == pytest.approx((4 + 4 + 9) / 18 / log(2), rel=1e-14)


@given(st.lists(st.tuples(st.integers(1, 9), st.floats(0.01, 9), st.integers(1, 50)), min_size=4, max_size=20))
def test_the_same_table_per_byte_against_numpy(rows: list[tuple[int, float, int]]) -> None:
    """Where the tokens are the same, the difference per byte is zero and the rate is that of the whole table."""
    tokens, loss, size = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    table = {
        "window": list(range(len(rows))),
        "document": [f"d{i % 3}" for i in range(len(rows))],
        "tokens": tokens,
        "loss": loss,
        "bytes": size,
    }
    found = compare(table, table, per="byte")
    assert found.a == pytest.approx(float(np.sum(loss * tokens) / np.sum(size) / np.log(2)), rel=1e-12)
    assert found.difference.value == 0


def test_only_the_split_that_was_asked_for_counts() -> None:
    table = read_table(words(split=["preview", "final", "final"]))
    (found,) = bits_per("byte", [table], split="final")
    np.testing.assert_allclose(found.numbers["score"], [4 / 8 / log(2), 9 / 12 / log(2)], rtol=1e-15)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (WORDS, "no column 'bytes', so no bits per byte; add it, or score again"),
        ({k: v for k, v in words().items() if k != "document"}, "no column 'document', which is what pairs here"),
        ({"item": [1, 2], "score": [1, 0]}, "holds scores; only losses have bits per byte"),
    ],
)
def test_tables_without_what_it_takes_are_refused(table: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        compare(table, table, per="byte")


def test_runs_of_different_text_are_refused() -> None:
    one = replace(read_table(words()), about={"text": {"sha256": "aa"}})
    other = replace(read_table(characters()), about={"text": {"sha256": "bb"}})
    with pytest.raises(InputError, match="are runs of different text; score both on the same documents"):
        bits_per("byte", [one, other])


def test_a_split_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match="no row of the split 'final', only of preview"):
        bits_per("byte", [read_table(words(split=["preview"] * 3))], split="final")


def test_an_unknown_size_is_refused() -> None:
    size: Size = "word"  # type: ignore[assignment]
    with pytest.raises(UsageError, match="per must be one of byte, character, but got 'word'"):
        bits_per(size, [read_table(words())])
