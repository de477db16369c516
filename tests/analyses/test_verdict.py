"""The verdict, by a table of every case, and the sentence that a person pastes in a pull request."""

from typing import Any

import pytest

from assay import Design, compare
from assay.analyses.comparison import Systems, Verdict
from assay.analyses.verdict import verdict_of
from assay.stats.records import Estimate, Interval, Test
from tests.analyses.evidence import losses, noisy_losses, noisy_scores, scores

# low, high, margin, lower is better → verdict
TABLE: list[tuple[float, float, float | None, bool, Verdict]] = [
    (0.1, 0.3, None, False, "better"),
    (0.1, 0.3, None, True, "worse"),
    (-0.3, -0.1, None, False, "worse"),
    (-0.3, -0.1, None, True, "better"),
    (-0.1, 0.3, None, False, "no difference shown"),
    (-0.1, 0.3, None, True, "no difference shown"),
    (0.0, 0.3, None, False, "no difference shown"),  # 0 itself is a possible difference
    (-0.3, 0.0, None, True, "no difference shown"),
    (-0.1, 0.3, 0.4, False, "equivalent"),
    (-0.1, 0.3, 0.3, False, "no difference shown"),  # inside means inside
    (-0.1, 0.3, 0.2, False, "no difference shown"),
    (-0.5, 0.3, 0.4, False, "no difference shown"),
    (0.1, 0.3, 0.4, False, "equivalent"),  # a difference, but one that does not matter
    (0.1, 0.3, 0.4, True, "equivalent"),
    (0.1, 0.3, 0.2, False, "better"),
    (-0.3, -0.1, 0.2, False, "worse"),
]


@pytest.mark.parametrize(("low", "high", "margin", "lower", "verdict"), TABLE)
def test_the_table_of_verdicts(low: float, high: float, margin: float | None, lower: bool, verdict: Verdict) -> None:
    difference = Estimate((low + high) / 2, Interval(low, high, 0.95, "bca"), 0.05, 100)
    test, asked = Test("sign-flip", 1.0, 1e-6, 100), Design(margin=margin)
    assert verdict_of(difference, test, asked, lower_is_better=lower) == verdict
    needs_both = verdict_of(difference, Test("sign-flip", 1.0, 0.5, 100), asked, lower_is_better=lower)
    assert needs_both == ("equivalent" if verdict == "equivalent" else "no difference shown")


@pytest.mark.parametrize(
    ("p", "verdict"), [(0.03, "better"), (0.05, "better"), (0.06, "no difference shown"), (None, "no difference shown")]
)
def test_a_collapsed_interval_needs_the_test(p: float | None, verdict: Verdict) -> None:
    difference = Estimate(0.2, Interval(0.2, 0.2, 0.95, "degenerate"), 0.0, 7)
    test = Test("sign-flip", 1.0, p, 7)
    assert verdict_of(difference, test, Design(), lower_is_better=False) == verdict


@pytest.mark.parametrize(
    ("n", "p", "verdict"), [(9, 0.06, "no difference shown"), (9, 0.04, "better"), (500, 0.06, "no difference shown")]
)
def test_an_interval_of_however_many_units_needs_the_test(n: int, p: float, verdict: Verdict) -> None:
    difference = Estimate(0.2, Interval(0.1, 0.3, 0.95, "bca"), 0.05, n)
    test = Test("sign-flip", 1.0, p, n)
    assert verdict_of(difference, test, Design(), lower_is_better=False) == verdict


def test_two_items_show_nothing_whatever_their_interval() -> None:
    found = compare(
        {"item": [1, 2], "score": [0.0, 0.0]}, {"item": [1, 2], "score": [0.1, 0.2]}, design=Design(margin=1)
    )
    assert found.verdict == "no difference shown"
    assert "too few to rely on" in found.sentence


def test_without_an_interval_nothing_is_shown() -> None:
    difference = Estimate(None, None, None, 0, "no pairs")
    test = Test("sign-flip", None, None, 0, "no pairs")
    found = verdict_of(difference, test, Design(margin=1), lower_is_better=False)
    assert found == "no difference shown"


@pytest.mark.parametrize(
    ("shift", "margin", "verdict"),
    [
        (0.2, None, "worse"),
        (-0.2, None, "better"),
        (0.0, None, "no difference shown"),
        (0.0, 0.1, "equivalent"),
        (0.2, 0.1, "worse"),
    ],
)
def test_verdicts_of_losses(shift: float, margin: float | None, verdict: str) -> None:
    assert compare(*noisy_losses(60, shift), design=Design(margin=margin)).verdict == verdict


@pytest.mark.parametrize(
    ("shift", "lower", "verdict"),
    [(0.3, False, "better"), (-0.3, False, "worse"), (0.3, True, "worse"), (-0.3, True, "better")],
)
def test_verdicts_of_scores(shift: float, lower: bool, verdict: str) -> None:
    assert compare(*noisy_scores(60, shift), lower_is_better=lower).verdict == verdict


# ------------------------------------------------------------------------------------------------------------ sentences


def named(table: dict[str, Any], model: str) -> dict[str, Any]:
    return table | {"model": [model] * len(next(iter(table.values())))}


def test_the_sentence_of_losses_names_both_the_ratio_its_interval_p_and_the_windows() -> None:
    a, b = noisy_losses(60, 0.2)
    found = compare(named(a, "fp16"), named(b, "int4"))
    assert found.ratio is not None
    assert found.ratio.interval is not None
    assert found.sentence.startswith("int4 is worse than fp16: perplexity × 1.2")
    assert "(95 % interval 1." in found.sentence
    assert ", p = " in found.sentence
    assert found.sentence.endswith(", 60 windows).")


def test_the_sentence_of_scores_names_both_means_and_the_shift() -> None:
    found = compare(named(scores([1] * 30 + [0] * 10), "old"), named(scores([1] * 20 + [0] * 20), "new"))
    assert found.sentence.startswith("new is worse than old: mean score 0.75 → 0.5, -0.250 (95 % interval -0.")
    assert found.sentence.endswith(", p = 0.00098, 40 items).")  # 2⁻¹⁰: ten lost, none won


def test_the_sentence_of_no_difference_does_not_say_that_there_is_none() -> None:
    found = compare(named(losses([1.0, 2, 3]), "old"), named(losses([1.1, 1.9, 3.05]), "new"))
    assert found.sentence.startswith("No difference shown between old and new: ")
    assert "too few to rely on" in found.sentence


def test_the_sentence_of_equivalence_names_the_margin_and_its_unit() -> None:
    a, b = noisy_losses(60, 0.0)
    found = compare(named(a, "old"), named(b, "new"), design=Design(margin=0.1))
    assert found.sentence.startswith("new is equivalent to old within ±0.1 nats per token: perplexity × ")
    a, b = noisy_scores(200, 0.0)
    found = compare(named(a, "old"), named(b, "new"), design=Design(margin=0.1))
    assert found.sentence.startswith("new is equivalent to old within ±0.1 points of score: mean score ")


def test_the_sentence_names_the_level_and_the_clusters() -> None:
    clusters = [f"passage {i % 12}" for i in range(60)]
    a, b = noisy_scores(60, 0.1, cluster=clusters)
    found = compare(a, b, design=Design(level=0.99))
    assert "(99 % interval " in found.sentence
    assert found.sentence.endswith(", 60 items in 12 clusters).")


def test_the_sentence_leaves_out_a_p_value_that_is_undefined() -> None:
    found = compare(scores([1, 0, 1]), scores([1, 0, 1]), design=Design(test="t"))
    assert found.p_value is None
    assert "p =" not in found.sentence
    assert found.test.reason == "all differences are equal: the standard error is 0"


@pytest.mark.parametrize(("clusters", "few"), [(9, True), (10, False)])
def test_fewer_than_ten_clusters_are_too_few(clusters: int, few: bool) -> None:
    a, b = noisy_scores(60, 0.1, cluster=[f"c{i % clusters}" for i in range(60)])
    assert ("too few to rely on" in compare(a, b).sentence) == few


def test_tables_in_memory_are_called_a_and_b() -> None:
    scores = {"item": list(range(30)), "score": [0.0] * 30}
    assert compare(scores, scores).systems == Systems("A", "B")
