"""The sentence of a comparison, which a person pastes in a pull request."""

from typing import Any

import pytest

from assay import Design, compare
from assay.analyses.compare.result import Systems
from tests.analyses.evidence import losses, noisy_losses, noisy_scores, scores


def named(table: dict[str, Any], model: str) -> dict[str, Any]:
    return table | {"model": [model] * len(next(iter(table.values())))}


def test_the_sentence_of_losses_names_both_the_ratio_its_interval_p_and_the_windows() -> None:
    a, b = noisy_losses(60, 0.2)
    found = compare(named(a, "fp16"), named(b, "int4"))
    assert found.ratio is not None
    assert found.ratio.interval is not None
    assert found.sentence.startswith("int4 is worse than fp16: perplexity × 1.2")
    assert "(95% CI 1." in found.sentence
    assert ", p = " in found.sentence
    assert found.sentence.endswith(", 60 windows).")


def test_the_sentence_of_scores_names_both_means_and_the_shift() -> None:
    found = compare(named(scores([1] * 30 + [0] * 10), "old"), named(scores([1] * 20 + [0] * 20), "new"))
    assert found.sentence.startswith("new is worse than old: mean score 0.75 → 0.50, −0.250 (95% CI −0.")
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
    clusters = [f"passage {i % 20}" for i in range(60)]
    a, b = noisy_scores(60, 0.1, cluster=clusters)
    found = compare(a, b, design=Design(level=0.99))
    assert "(99% CI " in found.sentence
    assert found.sentence.endswith(", 60 items in 20 clusters).")


def test_the_sentence_leaves_out_a_p_value_that_is_undefined() -> None:
    found = compare(scores([1, 0, 1]), scores([1, 0, 1]), design=Design(test="t"))
    assert found.p_value is None
    assert "p =" not in found.sentence
    assert found.test.reason == "all differences are equal: the standard error is 0"


@pytest.mark.parametrize(("clusters", "few"), [(15, True), (20, False)])
def test_fewer_than_twenty_clusters_are_too_few(clusters: int, few: bool) -> None:
    a, b = noisy_scores(60, 0.1, cluster=[f"c{i % clusters}" for i in range(60)])
    found = compare(a, b)
    assert found.sentence.endswith("too few to rely on unless the differences are roughly symmetric).") == few
    assert found.reliance == ("if symmetric" if few else "firm")


def test_windows_worth_fewer_than_twenty_decide_nothing() -> None:
    """One window has as many tokens as the other 59: Kish's number is (118)² / (59² + 59) = 3.9."""
    a, b = noisy_losses(60, 0.5, tokens=[59] + [1] * 59)
    found = compare(named(a, "old"), named(b, "new"))
    assert (found.verdict, found.reliance) == ("undecided", "too few")
    assert found.substance is not None
    assert found.substance.effective == pytest.approx(118**2 / (59**2 + 59))
    assert found.sentence.startswith("Undecided between old and new: perplexity × ")
    assert found.sentence.endswith(", 60 windows, worth 3.9 of equal weight, too few to rely on).")
    assert "60 windows; worth 3.93 of equal weight, the largest 50% of all" in str(found)


def test_tables_in_memory_are_called_a_and_b() -> None:
    scores = {"item": list(range(30)), "score": [0.0] * 30}
    assert compare(scores, scores).systems == Systems("A", "B")
