"""No name that comes from a file steers a terminal or a page."""

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from assay.names import listed, nearest, one_line, said_once, shown, visible, visible_json

BIDI = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}  # Unicode's own classes, without L and R


@given(st.text())
def test_nothing_that_unicode_calls_control_or_bidi_is_left(text: str) -> None:
    for char in visible(text):
        assert char in "\t\n" or unicodedata.category(char) not in {"Cc", "Cs"}
        assert unicodedata.bidirectional(char) not in BIDI


@given(st.text())
def test_json_keeps_every_character_and_hides_none(text: str) -> None:
    safe = visible_json(json.dumps({"name": text}, ensure_ascii=False))
    assert json.loads(safe) == {"name": text}
    assert visible(safe) == safe


@given(st.text())
def test_a_message_stays_one_line_of_printable_text(text: str) -> None:
    assert one_line(text).isprintable()
    assert shown(text).isprintable()


def test_line_ends_of_windows_are_line_ends() -> None:
    assert visible("a\r\nb\tc") == "a\nb\tc"
    assert visible("a\rb\x1b[2J\x9b1m") == "a�b�[2J�1m"


def test_a_list_of_names_is_cut_and_stays_one_line_by_hand() -> None:
    assert listed(["a", "b\nc", ""]) == r"a, b\nc, (no name)"
    assert listed("abcd", limit=2) == "a, b and 2 more"
    assert listed(["x" * 200]) == "x" * 150 + "…"


def test_the_nearest_name_whatever_the_case_by_hand() -> None:
    assert nearest("scroe", ["item", "Score"]) == "Score"
    assert nearest("weight", ["item", "Score"]) is None


def test_long_paths_in_notes_are_cut_and_merging_again_changes_nothing() -> None:
    files = [f"/{'folder/' * 12}results-of-model-{i}.json" for i in range(5)]
    once = said_once([f"{file}: columns not used: x" for file in files])
    every = ", ".join(f"…/results-of-model-{i}.json" for i in range(3))
    assert once == (f"{every} and 2 more: columns not used: x",)
    assert said_once(once) == once


def test_long_paths_whose_files_have_one_name_stay_whole() -> None:
    files = [f"/{'folder/' * 12}{i}/results.json" for i in range(2)]
    assert said_once([f"{file}: one note" for file in files]) == (f"{files[0]}, {files[1]}: one note",)


@given(st.lists(st.text("ab c:", min_size=1, max_size=90), max_size=4, unique=True))
def test_notes_that_are_no_paths_are_said_as_they_are(words: list[str]) -> None:
    sentences = [f"interval and/or test {word}: see {i}" for i, word in enumerate(words)]
    assert said_once(sentences) == tuple(sentences)
