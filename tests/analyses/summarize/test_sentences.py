"""What is said of the means of models."""

from collections.abc import Sequence

import numpy as np

from assay import Design, Panel, summarize


def scores(*columns: Sequence[float], names: str = "ABCDEFG") -> Panel:
    return Panel.from_arrays(np.array(columns, dtype=float).T, systems=list(names[: len(columns)]), holes=True)


def test_the_sentence_of_one_model() -> None:
    """9 of 12 right: ñ = 15.84, p̃ = 0.6893, ± 1.96·0.1163."""
    found = summarize(scores([1] * 9 + [0] * 3))
    assert found.sentence == "The score of A is 0.75 (95% CI 0.46 to 0.92, 12 items)."
    assert summarize(scores([1] * 9 + [0] * 3), design=Design(level=0.9)).sentence.count("90% CI") == 1
    assert found.notes == ()


def test_the_sentence_of_several_models_names_the_best_and_the_worst() -> None:
    found = summarize(scores([1] * 9 + [0] * 3, [1] * 6 + [0] * 6, [1] * 3 + [0] * 9))
    assert found.sentence == (
        "Scores of 3 models on 12 items: 0.75 for A (95% CI 0.46 to 0.92) at best, 0.25 for C (95% CI "
        "0.08 to 0.54) at worst."
    )
    assert found.notes == (
        "intervals of single models may overlap although the models differ: rank and compare test pairs",
    )


def test_few_items_are_said_to_be_few() -> None:
    assert summarize(scores([1, 0, 1])).sentence.endswith("3 items, too few to rely on).")
    clusters = Panel.from_arrays([1.0, 0.0] * 20, clusters=["a", "b"] * 20)
    assert "40 items in 2 clusters, too few to rely on" in summarize(clusters).sentence


def test_models_that_lack_answers_are_named() -> None:
    nan = float("nan")
    found = summarize(scores([1, 0, 1, nan], [nan, nan, 1, 1]))
    assert found.notes[0] == (
        "B lacks 2 of 4 items, and 1 other model fewer or as many; a mean is over the items that its model answered"
    )


def test_losses_are_quoted_as_perplexity() -> None:
    panel = Panel.from_arrays(np.array([1.0, 2.0, 3.0, 2.0] * 5), np.ones(20), kind="losses", systems=["m"])
    assert summarize(panel).sentence.startswith("The perplexity of m is 7.4 (95% CI ")
    assert summarize(panel).sentence.endswith(", 20 windows).")
