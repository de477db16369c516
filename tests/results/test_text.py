"""A result on a terminal: what is said of a section stands under its title, folded."""

from typing import Literal

import pytest

from assay.results.record import Caution, Fact, Result, Section
from assay.results.text import WIDE


class Advice(Result, frozen=True, kw_only=True, tag="assay/advice/1"):
    """The smallest result that says something."""

    question = "What now?"
    kind_name = "advice"

    sentence: str
    texts: tuple[str, ...]
    kind: Literal["advice"] = "advice"
    signature: str = "assay:0.1|advice"

    @property
    def sections(self) -> tuple[Section, ...]:
        return (Section("advice", "What to do", said=self.texts),)

    @property
    def facts(self) -> tuple[Fact, ...]:
        return (Fact("items", 1319),)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        return (Caution("note", "a note"),)


def test_what_is_said_stands_under_the_title_of_its_section() -> None:
    found = str(Advice(sentence="Do it.", texts=("Now.", "Then.")))
    assert found == (
        "Do it.\n\nWhat to do\n- Now.\n- Then.\n\nitems      1,319\nnote       a note\nsignature  assay:0.1|advice"
    )


@pytest.mark.parametrize(("width", "longest"), [(None, WIDE), (40, 40)])
def test_long_sentences_are_folded_at_the_width_and_nothing_is_lost(width: int | None, longest: int) -> None:
    text = " ".join(f"word{i}" for i in range(60))
    said = Advice(sentence="Do it.", texts=(text,)).to_text(width).split("\n\n")[1]
    lines = said.splitlines()[1:]
    assert max(map(len, lines)) <= longest
    assert all(line.startswith("  word") for line in lines[1:])
    assert said.split()[4:] == text.split()


def test_without_anything_to_say_there_is_no_title() -> None:
    assert "What to do" not in str(Advice(sentence="Nothing.", texts=()))
