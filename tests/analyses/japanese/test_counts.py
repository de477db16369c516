"""Counts of Japanese text: every row against counting by hand, and what is made of the sums."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analyses.japanese.counts import (
    TextCounts,
    characters,
    counts_of_characters,
    counts_of_generations,
    quotient,
    tokenizer_of,
)
from assay.data.generations import Generations
from assay.errors import InputError
from tests.analyses.japanese.texts import counts
from tests.stats.test_text_alignment import literal_programme

REFERENCES = ("猫がいる。", "カメラ", "abc")
TEXTS = st.lists(st.text(alphabet="猫犬がはカラa。", max_size=6), min_size=3, max_size=3)


def generations(
    predictions: Sequence[str], references: Sequence[str] = REFERENCES, clusters: tuple[str, ...] | None = None
) -> Generations:
    items = tuple(map(str, range(len(predictions))))
    return Generations("m.csv", "m", items, tuple(predictions), tuple(references), clusters)


def made(*systems: Generations) -> TextCounts:
    return counts_of_generations(systems, ranges="basic", normalize="none", bleu=["char"])


def score(found: TextCounts, key: str) -> float:
    """The quantity of the first system, from the sums of its columns."""
    (measure,) = [one for one in found.measures if one.quantity.key == key]
    return float(measure.score(found.columns[0].sum(axis=0)))


@given(TEXTS)
def test_edits_and_matches_against_the_literal_programme(predictions: list[str]) -> None:
    found = made(generations(predictions))
    aligned = [literal_programme(a, b) for a, b in zip(predictions, REFERENCES, strict=True)]
    assert score(found, "cer") == pytest.approx(sum(edits for edits, _ in aligned) / 11)
    assert score(found, "accuracy") == pytest.approx(sum(matches for _, matches in aligned) / 11)


@given(TEXTS)
def test_mean_and_deviation_of_sentences_against_numpy(predictions: list[str]) -> None:
    """A sentence alone is a corpus of one: BLEU with the orders that it is long enough for."""
    sacrebleu = pytest.importorskip("sacrebleu", reason="the extra ja is not installed")
    found = made(generations(predictions))
    single = [
        sacrebleu.sentence_bleu(a, [b], tokenize="char").score for a, b in zip(predictions, REFERENCES, strict=True)
    ]
    assert score(found, "sentence_bleu/char") == pytest.approx(np.mean(single), abs=1e-9)
    assert score(found, "sentence_bleu_std/char") == pytest.approx(np.std(single, ddof=1), abs=1e-6)


def test_scripts_add_up_to_all_characters() -> None:
    found = made(generations(["猫はいる。", "カラ", "abcd"]))
    below = {m.quantity.key: m.bottom for m in found.measures if m.quantity.name == "accuracy"}
    rows = found.columns[0]
    whole = rows[:, below["accuracy"]].sum(axis=1)
    assert whole.tolist() == [5, 3, 3]
    parts = [rows[:, place] for key, place in below.items() if key != "accuracy"]
    assert np.hstack(parts).sum(axis=1).tolist() == [5, 3, 3]


def test_clusters_are_sums_of_their_sentences() -> None:
    predictions = ["猫はいる。", "カラ", "abcd"]
    apart, together = made(generations(predictions)), made(generations(predictions, clusters=("x", "y", "x")))
    assert (together.unit, together.n) == ("cluster", 2)
    assert together.notes == ("3 sentences in 2 clusters, which are drawn whole",)
    rows = apart.columns[0]
    np.testing.assert_array_equal(together.columns[0], [rows[0] + rows[2], rows[1]])
    assert (apart.unit, apart.notes) == ("sentence", ())


def test_the_digest_is_of_every_text() -> None:
    base = generations(["a", "b", "c"])
    digests = {
        made(one).digest
        for one in (
            base,
            generations(["a", "b", "d"]),
            generations(["ab", "", "c"]),
            generations(["a", "b", "c"], ["猫がいる。", "カメラ", "abd"]),
            generations(["a", "b", "c"], clusters=("x", "x", "y")),
        )
    }
    assert len(digests) == 5
    assert made(base).digest in digests


def test_texts_too_long_to_align_are_refused() -> None:
    long = "あ" * 20_000
    with pytest.raises(InputError, match=r"m\.csv: item '0' has 20,000 characters against 20,000, too many to align"):
        made(generations([long], [long]))


def test_counts_of_characters_are_columns_of_right_bits_and_all() -> None:
    part = counts()
    found = counts_of_characters([part, counts("n", seed=2)])
    np.testing.assert_array_equal(found.columns[0], np.hstack([part.right, part.bits, part.characters]))
    assert (found.names, found.unit, found.headline) == (("m", "n"), "document", "accuracy")
    assert score(found, "bits/kanji") == pytest.approx(part.bits[:, 2].sum() / part.characters[:, 2].sum())
    assert {m.quantity.key for m in found.measures if m.quantity.lower_is_better} == {
        "bits", "bits/hiragana", "bits/katakana", "bits/kanji", "bits/other",
    }  # fmt: skip


def test_a_quotient_of_nothing_is_no_number() -> None:
    top, bottom = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[2.0, 4.0], [0.0, 0.0]])
    first, second = quotient(top, bottom)
    assert first == 0.5
    assert np.isnan(second)


@given(st.text())
def test_characters_are_those_that_are_not_space(text: str) -> None:
    assert "".join(characters(text)) == "".join(text.split())


def test_a_tokenizer_has_a_version_for_the_signature() -> None:
    cut, version = tokenizer_of("char")
    assert (cut("猫 だ"), version) == (["猫", "だ"], "char")
    pytest.importorskip("MeCab", reason="the extra ja is not installed")
    cut, version = tokenizer_of("ja-mecab")
    assert cut("猫がいる。") == ["猫", "が", "いる", "。"]
    assert version.startswith("ja-mecab-")
