"""The shipped runs: five of each of three models, drawn with the probabilities that the script says."""

import csv
from collections import Counter
from math import log

import pytest

from assay import examples
from tools.make_examples import drawn, sampled


def rows() -> list[dict[str, str]]:
    with examples.path("runs-sampled.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_model_has_five_runs_of_the_same_hundred_items() -> None:
    items: dict[tuple[str, str], list[str]] = {}
    for row in rows():
        items.setdefault((row["model"], row["run"]), []).append(row["item"])
    assert set(items) == {(model, str(run)) for model in ("base", "int3", "trigram") for run in range(1, 6)}
    assert {tuple(names) for names in items.values()} == {tuple(items["base", "1"])}
    assert len(set(items["base", "1"])) == 100
    assert {row["score"] for row in rows()} == {"0", "1"}


def test_the_items_are_those_of_the_scores() -> None:
    with examples.path("scores-base.csv").open(encoding="utf-8", newline="") as file:
        scored = [row["item"] for row in csv.DictReader(file)]
    assert [row["item"] for row in rows() if row["model"] == "base" and row["run"] == "1"] == scored[::5]


def test_answers_are_drawn_as_often_as_they_are_probable() -> None:
    """Probabilities 0.5, 0.3, 0.2, less 0.9 of the mass in continuations that are not offered."""
    losses = [-log(p / 10) for p in (0.5, 0.3, 0.2)]
    picked = Counter(sampled(losses, drawn(f"model/1/{i}")) for i in range(4000))
    assert [picked[i] / 4000 for i in range(3)] == pytest.approx([0.5, 0.3, 0.2], abs=0.03)


def test_the_first_and_the_last_number_pick_an_answer() -> None:
    assert sampled([1.0, 1.0], 0.0) == 0
    assert sampled([1.0, 1.0], 1 - 2**-53) == 1
    assert drawn("a") == drawn("a") != drawn("b")
