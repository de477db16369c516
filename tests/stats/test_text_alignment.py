"""Alignments against the literal dynamic programme, against all alignments of short words, and known examples."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats import text as alignment
from assay.stats.text import Alignment, Codes, align

WORDS = st.text("abc日", max_size=9)


def codes(text: str) -> Codes:
    return np.array([ord(c) for c in text], dtype=np.int32)


def aligned(prediction: str, reference: str) -> Alignment:
    return align([codes(prediction)], [codes(reference)])[0]


def literal_programme(prediction: str, reference: str) -> tuple[int, int]:
    """Least edits, and of these alignments the most matches: the recursion as textbooks have it."""

    @cache
    def best(i: int, j: int) -> tuple[int, int]:
        if not i or not j:
            return i + j, 0
        edits, lost = best(i - 1, j - 1)
        same = reference[i - 1] == prediction[j - 1]
        ways = [(edits, lost - 1) if same else (edits + 1, lost)]
        ways += [(edits + 1, lost) for edits, lost in (best(i - 1, j), best(i, j - 1))]
        return min(ways)

    edits, lost = best(len(reference), len(prediction))
    return edits, -lost


def every_alignment(prediction: str, reference: str, at: int = 0) -> Iterator[tuple[int, frozenset[int]]]:
    """Edits and matched places of every alignment there is."""
    if not reference:
        yield len(prediction), frozenset()
        return
    for edits, matched in every_alignment(prediction, reference[1:], at + 1):
        yield edits + 1, matched
    for place, character in enumerate(prediction):
        for edits, matched in every_alignment(prediction[place + 1 :], reference[1:], at + 1):
            same = character == reference[0]
            yield place + edits + (not same), matched | ({at} if same else frozenset())


@pytest.mark.parametrize(
    ("prediction", "reference", "edits"),
    [
        ("sitting", "kitten", 3),
        ("saturday", "sunday", 3),
        ("", "", 0),
        ("", "猫がいる", 4),
        ("猫がいる", "", 4),
        ("吾輩は猫である", "吾輩は犬である", 1),
        ("そう、吾輩は猫である", "吾輩は猫である", 3),
    ],
)
def test_known_distances(prediction: str, reference: str, edits: int) -> None:
    assert aligned(prediction, reference).edits == edits


def test_one_insertion_leaves_all_else_right() -> None:
    """C7: zipping would find nothing after it."""
    found = aligned("えっ、吾輩は猫である", "吾輩は猫である")
    assert (found.edits, found.matched.sum()) == (3, 7)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8))
def test_edits_and_matches_against_the_literal_programme(pairs: list[tuple[str, str]]) -> None:
    found = align([codes(a) for a, _ in pairs], [codes(b) for _, b in pairs])
    for one, (prediction, reference) in zip(found, pairs, strict=True):
        assert (one.edits, one.matched.sum()) == literal_programme(prediction, reference)
        assert one.matched.shape == (len(reference),)


@given(st.text("ab日", max_size=5), st.text("ab日", max_size=5))
def test_matched_places_are_of_a_best_alignment_by_enumeration(prediction: str, reference: str) -> None:
    found = aligned(prediction, reference)
    every = set(every_alignment(prediction, reference))
    least = min(edits for edits, _ in every)
    most = max(len(matched) for edits, matched in every if edits == least)
    assert (found.edits, found.matched.sum()) == (least, most)
    assert (found.edits, frozenset(np.flatnonzero(found.matched).tolist())) in every


def test_the_batch_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    texts = [rng.integers(0, 5, size=rng.integers(0, 30)).astype(np.int32) for _ in range(60)]
    together = align(texts[:30], texts[30:])
    monkeypatch.setattr(alignment, "_BATCH", 1)
    alone = align(texts[:30], texts[30:])
    for a, b in zip(together, alone, strict=True):
        assert a.edits == b.edits
        np.testing.assert_array_equal(a.matched, b.matched)


def test_nothing_is_aligned_with_nothing() -> None:
    assert align([], []) == []
