"""Bits per byte of documents against sums by hand, and against scipy and numpy on random windows."""

from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import compare
from assay.data import Panel, read_table
from assay.data.runs.rates import Size, rates_of_panel, rates_of_tables
from assay.errors import InputError, NoPairsError, UsageError

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
    panel = rates_of_tables("byte", [read_table(words(), name="W"), read_table(characters(bytes=[20, 12]), name="C")])
    assert (panel.systems, panel.ids.tolist(), panel.unit) == (("W", "C"), ["d1", "d2"], "document")
    np.testing.assert_allclose(panel.values[:, 0], [8 / 24 / log(2), 9 / 12 / log(2)], rtol=1e-15)
    np.testing.assert_allclose(panel.values[:, 1], [10 / 20 / log(2), 9 / 12 / log(2)], rtol=1e-15)
    assert panel.denominators.tolist() == [22.0, 12.0]
    assert panel.notes == ("bytes that count differ with the tokenizer (W 36, C 32): documents weigh as their mean",)


def test_a_document_that_a_table_lacks_is_a_hole_and_weighs_as_the_others_count() -> None:
    lacking = {name: values[:1] for name, values in characters(bytes=[20, 12]).items() if isinstance(values, list)}
    panel = rates_of_tables("byte", [read_table(words(), name="W"), read_table(lacking, name="C")])
    assert panel.answered.tolist() == [[True, True], [True, False]]
    assert panel.denominators.tolist() == [22.0, 12.0]
    found = compare(words(), lacking, per="byte")
    assert (found.n_pairs, found.dropped.only_a, found.dropped.examples) == (1, 1, ("d2",))
    with pytest.raises(InputError, match="1 documents lack an answer of one of the systems, such as 'd2'"):
        compare(words(), lacking, per="byte", missing="refuse")


def test_documents_that_share_no_name_are_nothing_to_compare() -> None:
    found = compare(words(), characters(document=["x", "y"]), per="byte")
    reason = "no document has an answer of every system: A has 'd1', 'd2'; B has 'x', 'y'"
    assert (found.a, found.n_pairs, found.unit, found.measure) == (None, 0, "document", "bits per byte")
    assert str(found.difference.reason).startswith(reason)
    assert (found.dropped.only_a, found.dropped.only_b, found.dropped.examples) == (2, 2, ("d1", "x"))
    with pytest.raises(NoPairsError, match=reason):
        compare(words(), characters(document=["x", "y"]), per="byte", missing="refuse")


def test_a_panel_of_windows_per_byte_is_that_of_its_tables() -> None:
    after = words(loss=[1.5, 1.75, 2.5])
    panel = Panel.from_tables([read_table(words(), name="before"), read_table(after, name="after")])
    expected = rates_of_tables("byte", [read_table(words(), name="before"), read_table(after, name="after")])
    found = rates_of_panel("byte", panel)
    assert found.systems == expected.systems
    assert found.digest == expected.digest
    compared = compare(panel, per="byte")
    assert compared.a == pytest.approx((4 + 4 + 9) / 36 / log(2), rel=1e-14)
    assert compared.b == pytest.approx((6 + 3.5 + 7.5) / 36 / log(2), rel=1e-14)
    assert (compared.n_pairs, compared.unit, compared.measure) == (2, "document", "bits per byte")
    assert compare(panel, per="character", models=("after", "before")).b == pytest.approx(17 / 18 / log(2), rel=1e-14)


def test_a_window_that_a_system_lacks_is_no_part_of_its_document() -> None:
    sums = [[4.0, 6.0], [4.0, np.nan], [9.0, 7.5]]
    documents = {"document": ["d1", "d1", "d2"]}
    panel = Panel.from_arrays(
        sums, [4, 2, 3], kind="losses", sizes={"bytes": [16, 8, 12]}, labels=documents, holes=True
    )
    found = rates_of_panel("byte", panel)
    np.testing.assert_allclose(found.values[0], [8 / 24 / log(2), 6 / 16 / log(2)], rtol=1e-15)
    assert found.denominators.tolist() == [20.0, 12.0]


@pytest.mark.parametrize(
    ("panel", "said"),
    [
        (Panel.from_arrays(np.eye(2)), "the panel holds scores; only losses have bits per byte"),
        (Panel.from_arrays(np.eye(2), kind="losses"), "the panel has no bytes, so no bits per byte"),
        (
            Panel.from_arrays(np.eye(2), kind="losses", sizes={"bytes": [1, 1]}),
            "no label 'document' of the windows was read, none",
        ),
    ],
)
def test_a_panel_without_what_it_takes_is_refused(panel: Panel, said: str) -> None:
    with pytest.raises((InputError, UsageError), match=said):
        compare(panel, per="byte")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cluster": "domain"}, "per draws whole documents, and not 'domain'; leave cluster out"),
        ({"lower_is_better": False}, "lower_is_better must not be False for losses"),
    ],
)
def test_options_that_make_no_sense_per_byte_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        compare(words(), characters(), per="byte", **options)


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
    found = rates_of_tables("byte", [table], split="final")
    np.testing.assert_allclose(found.values[:, 0], [4 / 8 / log(2), 9 / 12 / log(2)], rtol=1e-15)


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
        rates_of_tables("byte", [one, other])


def test_a_split_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match="no row of the split 'final', only of preview"):
        rates_of_tables("byte", [read_table(words(split=["preview"] * 3))], split="final")


def test_an_unknown_size_is_refused() -> None:
    size: Size = "word"  # type: ignore[assignment]
    with pytest.raises(UsageError, match="per must be one of byte, character, but got 'word'"):
        rates_of_tables(size, [read_table(words())])
