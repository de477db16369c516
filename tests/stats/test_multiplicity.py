"""Adjusted p-values against statsmodels; letters, tiers and ranks against what they promise, case by case."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from statsmodels.stats.multitest import multipletests

from assay.stats import multiplicity
from assay.stats.multiplicity import benjamini_hochberg, holm, letter_names, letters, rank_limits, tiers

Truths = NDArray[np.bool_]

P_VALUES = st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=30)


def relation(k: int, apart: list[tuple[int, int]]) -> Truths:
    found = np.zeros((k, k), dtype=bool)
    for i, j in apart:
        found[i, j] = found[j, i] = True
    return found


@st.composite
def relations(draw: st.DrawFn, most: int = 9) -> Truths:
    k = draw(st.integers(1, most))
    pairs = list(combinations(range(k), 2))
    chosen = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    return relation(k, [pair for pair, differs in zip(pairs, chosen, strict=True) if differs])


@pytest.mark.untraced
@given(P_VALUES)
def test_holm_against_statsmodels(p: list[float]) -> None:
    np.testing.assert_allclose(holm(np.array(p)), multipletests(p, method="holm")[1], rtol=1e-12)


@pytest.mark.untraced
@given(P_VALUES)
def test_benjamini_hochberg_against_statsmodels(p: list[float]) -> None:
    np.testing.assert_allclose(benjamini_hochberg(np.array(p)), multipletests(p, method="fdr_bh")[1], rtol=1e-12)


@given(P_VALUES)
def test_adjusted_values_are_monotone_and_no_smaller(p: list[float]) -> None:
    values = np.array(p)
    for adjust in (holm, benjamini_hochberg):
        adjusted = adjust(values)
        assert (adjusted >= values).all()
        assert (np.diff(adjusted[np.argsort(values, kind="stable")]) >= 0).all()  # C8: Holm is monotone


def test_one_test_and_none_need_no_adjustment() -> None:
    assert holm(np.array([0.03])).tolist() == benjamini_hochberg(np.array([0.03])).tolist() == [0.03]
    assert holm(np.array([])).tolist() == []


def test_adjusted_values_are_at_most_1() -> None:
    assert holm(np.array([0.6, 0.9])).tolist() == [1.0, 1.0]
    assert benjamini_hochberg(np.array([0.6, 1.0])).tolist() == [1.0, 1.0]


def check_letters(different: Truths) -> None:
    found = letters(different)
    k = len(different)
    assert all(found)
    for i, j in combinations(range(k), 2):
        assert bool(set(found[i]) & set(found[j])) != different[i, j]
    for unneeded in sorted({letter for own in found for letter in own}):  # without any letter, a pair would be lost
        left = [set(own) - {unneeded} for own in found]
        kept = all(left) and all(bool(left[i] & left[j]) != different[i, j] for i, j in combinations(range(k), 2))
        assert not kept


@settings(max_examples=300)
@given(relations())
def test_two_share_a_letter_exactly_if_they_do_not_differ(different: Truths) -> None:
    check_letters(different)


@settings(max_examples=200)
@given(relations())
def test_letters_found_greedily_promise_the_same(different: Truths) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multiplicity, "_MOST_SETS", 0)
        check_letters(different)


def test_letters_of_a_chain_follow_the_ranks() -> None:
    apart = [(i, j) for i, j in combinations(range(6), 2) if j - i > 1]
    assert letters(relation(6, apart)) == [("a",), ("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e",)]


def test_letters_of_all_and_of_none() -> None:
    assert letters(relation(3, [])) == [("a",)] * 3
    assert letters(relation(3, [(0, 1), (0, 2), (1, 2)])) == [("a",), ("b",), ("c",)]


def bits(different: Truths) -> list[int]:
    return [sum(1 << int(j) for j in np.flatnonzero(row)) for row in different]


def largest_sets(different: Truths) -> set[int]:
    """Every set of systems of which no two differ and to which none can be added, out of all 2ᵏ sets."""
    apart, k = bits(different), len(different)
    whole = [s for s in range(1, 1 << k) if not any(s >> i & 1 and s & apart[i] for i in range(k))]
    return {s for s in whole if not any(s != t and s & t == s for t in whole)}


@settings(max_examples=150)
@given(relations(most=7))
def test_insert_and_absorb_finds_the_largest_sets_once_each_against_enumeration(different: Truths) -> None:
    found = multiplicity._inserted(bits(different))
    assert found is not None
    assert sorted(found) == sorted(largest_sets(different))


def test_insert_and_absorb_gives_up_above_so_many_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three pairs that differ, six systems: 2³ largest sets."""
    different = bits(relation(6, [(0, 1), (2, 3), (4, 5)]))
    monkeypatch.setattr(multiplicity, "_MOST_SETS", 8)
    assert len(multiplicity._inserted(different) or ()) == 8
    monkeypatch.setattr(multiplicity, "_MOST_SETS", 7)
    assert multiplicity._inserted(different) is None


@settings(max_examples=150)
@given(relations(most=7))
def test_each_set_of_the_greedy_cover_is_largest_and_adds_something(different: Truths) -> None:
    largest, seen = largest_sets(different), set[tuple[int, int]]()
    for column in multiplicity._covered(bits(different)):
        assert column in largest
        members = [i for i in range(len(different)) if column >> i & 1]
        pairs = {(i, j) for i in members for j in members}  # with itself: a system that differs from all
        assert not pairs <= seen
        seen |= pairs
    assert seen == {(int(i), int(j)) for i, j in np.argwhere(~different)}


def test_the_greedy_cover_takes_the_best_first_by_hand() -> None:
    """Four systems of which 1 and 2 differ: 0 is put with 1 and 3, and then with 2 and 3."""
    assert multiplicity._covered(bits(relation(4, [(1, 2)]))) == [0b1011, 0b1101]


def test_sets_are_swept_from_the_last_on_by_hand() -> None:
    """{0, 1}, {1, 2}, {0, 1, 2}, {0, 2}: the third covers the others' pairs, but the last goes first."""
    assert multiplicity._swept([0b011, 0b110, 0b111, 0b101], 3) == [0b111]
    assert multiplicity._swept([0b011, 0b110, 0b101, 0b101], 3) == [0b011, 0b110, 0b101]
    assert multiplicity._swept([0b0011, 0b1000], 4) == [0b0011, 0b1000]


def test_letters_are_given_in_the_order_of_the_best_that_has_them() -> None:
    """Largest sets {0, 1}, {0, 3}, {1, 2}, {2, 3}; as lists of systems they are in this order, as numbers not."""
    found = letters(relation(4, [(0, 2), (1, 3)]))
    assert found == [("a", "b"), ("a", "c"), ("c", "d"), ("b", "d")]


def test_many_systems_take_a_moment_only() -> None:
    """Unequal errors make exponentially many maximal sets: the greedy cover takes over."""
    rng = np.random.default_rng(0)
    k = 150
    errors = np.exp(0.2 * rng.normal(size=(k, k)))
    scores = np.sort(rng.normal(size=k) - 0.05 * np.arange(k))[::-1]
    different = np.abs(scores[:, None] - scores) / (errors + errors.T) > 1.5
    assert multiplicity._inserted([sum(1 << int(j) for j in np.flatnonzero(row)) for row in different]) is None
    found = [set(own) for own in letters(different)]
    assert all(bool(found[i] & found[j]) != different[i, j] for i, j in combinations(range(k), 2))


def test_letter_names_go_on_after_z() -> None:
    names = letter_names(26 + 26**2 + 1)
    assert names[:2] + names[25:28] + names[-1:] == ["a", "b", "z", "aa", "ab", "aaa"]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("apart", "expected"),
    [
        ([], [1, 1, 1, 1]),
        ([(0, 3)], [1, 1, 1, 2]),
        ([(0, 2), (0, 3)], [1, 1, 2, 2]),
        ([(0, 1), (0, 2), (0, 3), (1, 3)], [1, 2, 2, 3]),
        ([(0, 1)], [1, 2, 2, 2]),  # a later one that does not differ from the first stays where it is
    ],
)
def test_tiers_end_where_one_differs_from_the_first(apart: list[tuple[int, int]], expected: list[int]) -> None:
    assert tiers(relation(4, apart)) == expected


@given(relations())
def test_tiers_are_contiguous(different: Truths) -> None:
    numbers = tiers(different)
    assert numbers[0] == 1
    assert all(b - a in (0, 1) for a, b in pairwise(numbers))


def test_rank_limits_count_those_shown_better_and_worse() -> None:
    better = np.zeros((4, 4), dtype=bool)
    better[0, 2] = better[0, 3] = better[1, 3] = True
    assert rank_limits(better) == [(1, 2), (1, 3), (2, 4), (3, 4)]


@given(st.permutations(range(6)), st.integers(0, 2**15 - 1))
def test_ranks_hold_whenever_no_decision_is_wrong(order: list[int], shown: int) -> None:
    """The definition: any true order that agrees with the decisions puts every system within its limits."""
    better = np.zeros((6, 6), dtype=bool)
    for bit, (i, j) in enumerate(combinations(range(6), 2)):
        if shown >> bit & 1:
            better[order[i], order[j]] = True
    for place, system in enumerate(order, start=1):
        low, high = rank_limits(better)[system]
        assert low <= place <= high
