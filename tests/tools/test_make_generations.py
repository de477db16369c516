"""The shipped generations: their items are those that the stories give, and stories are cut where sentences end."""

import csv

import pytest

from assay import examples, models
from tools.make_generations import END, LONGEST, PROMPT, divided, first_sentences, items_of


def test_the_shipped_references_are_those_of_the_stories() -> None:
    items = items_of(models.path("ja.txt").read_text(encoding="utf-8"))
    with examples.path("generations.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    wanted = [(item.name, item.reference) for item in items]
    for model in ("base", "int3"):
        assert [(row["item"], row["reference"]) for row in rows if row["model"] == model] == wanted
    assert all(row["prediction"] for row in rows)
    assert examples.path("generations.csv").stat().st_size < 60_000


def test_a_prompt_ends_with_a_sentence_and_the_reference_follows() -> None:
    text = models.path("ja.txt").read_text(encoding="utf-8")
    stories = text.split("\n\n")
    for item in items_of(text):
        story = stories[int(item.name.removeprefix("story-"))]
        assert story.startswith(item.prompt + item.reference)
        assert item.prompt.endswith(END)
        assert len(item.prompt) > PROMPT
        assert item.reference.count(END) == 2
        assert len(item.reference) <= LONGEST


@pytest.mark.parametrize(
    ("text", "wanted"), [("一。二。三。", "一。二。"), ("一。二。", "一。二。"), ("一。二", None), ("", None)]
)
def test_first_sentences(text: str, wanted: str | None) -> None:
    assert first_sentences(text) == wanted


def test_a_story_that_cannot_be_cut_is_passed_over() -> None:
    assert divided("短い。") is None
    assert divided("あ" * PROMPT + "。一。\n二。") is None
    assert divided("あ" * PROMPT + "。一。二。三。") == ("あ" * PROMPT + "。", "一。二。")
