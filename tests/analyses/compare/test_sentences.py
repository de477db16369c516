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
