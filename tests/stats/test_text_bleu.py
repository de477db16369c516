"""BLEU and chrF against sacrebleu, sentence by sentence and for corpora, and published examples."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sacrebleu", reason="the extra ja is not installed")

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from assay.stats.text import bleu_counts, bleu_of, chrf_counts, chrf_of

SENTENCES = st.lists(st.sampled_from(["猫", "犬", "が", "いる", "。", "x"]), max_size=9).map(" ".join)
CORPORA = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6)


def counted(pairs: Sequence[tuple[str, str]]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array([bleu_counts(a.split(), b.split()) for a, b in pairs], dtype=np.float64)


@given(CORPORA)
def test_bleu_against_sacrebleu(pairs: list[tuple[str, str]]) -> None:
    written, wanted = ([pair[side] for pair in pairs] for side in (0, 1))
    counts = counted(pairs)
    corpus = BLEU(tokenize="none", force=True).corpus_score(written, [wanted])
    assert bleu_of(counts.sum(axis=0)) == pytest.approx(corpus.score, abs=1e-9)
    assert counts.sum(axis=0).tolist() == [corpus.sys_len, corpus.ref_len, *corpus.counts, *corpus.totals]
    single = BLEU(tokenize="none", force=True, effective_order=True)
    expected = [single.sentence_score(a, [b]).score for a, b in pairs]
    np.testing.assert_allclose(bleu_of(counts, effective_order=True), expected, atol=1e-9)


@given(CORPORA)
def test_chrf_against_sacrebleu(pairs: list[tuple[str, str]]) -> None:
    written, wanted = ([pair[side] for pair in pairs] for side in (0, 1))
    counts = np.array([chrf_counts(a, b) for a, b in pairs], dtype=np.float64)
    assert chrf_of(counts.sum(axis=0)) == pytest.approx(CHRF().corpus_score(written, [wanted]).score, abs=1e-9)
    expected = [CHRF().sentence_score(a, [b]).score for a, b in pairs]
    np.testing.assert_allclose(chrf_of(counts), expected, atol=1e-9)


def test_clipped_counts_of_the_paper() -> None:
    """Papineni et al. (2002), example 2: "the" seven times has a modified unigram precision of 2/7."""
    found = bleu_counts(["the"] * 7, ["the", "cat", "is", "on", "the", "mat"])
    assert (found[2], found[6]) == (2, 7)


def test_the_same_text_scores_100_and_another_0() -> None:
    words = ["吾輩", "は", "猫", "で", "ある"]
    assert bleu_of(np.array(bleu_counts(words, words), dtype=float)) == pytest.approx(100)
    assert chrf_of(np.array(chrf_counts("吾輩は猫である", "吾輩は猫である"), dtype=float)) == pytest.approx(100)
    assert bleu_of(np.array(bleu_counts(["x"] * 5, words), dtype=float)) == 0
    assert chrf_of(np.array(chrf_counts("xxxx", "吾輩は猫"), dtype=float)) == 0
    assert bleu_of(np.zeros(10)) == chrf_of(np.zeros(18)) == 0
