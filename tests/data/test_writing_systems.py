"""Scripts against the source's own ranges and the names of Unicode."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.writing_systems import (
    Ranges,
    check_normalization,
    check_ranges,
    codes_of,
    normalized,
    script_names,
    scripts_of,
)
from assay.errors import UsageError


def classified(text: str, ranges: Ranges) -> list[str]:
    return [script_names(ranges)[code] for code in scripts_of(codes_of(text), ranges).tolist()]


def source_class(char: str) -> str:
    """The source's function, as it is written there."""
    if "\u3040" <= char <= "\u309f":
        return "hiragana"
    if "\u30a0" <= char <= "\u30ff":
        return "katakana"
    if "\u4e00" <= char <= "\u9faf":
        return "kanji"
    return "other"


def test_every_character_against_the_source() -> None:
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x11000), *range(0x20000, 0x20100)]))
    assert classified(every, "basic") == list(map(source_class, every))


#: How Unicode's names of letters begin, and the script that `wide` puts them in.
NAMED = {
    "HIRAGANA LETTER": "hiragana",
    "HENTAIGANA LETTER": "hiragana",
    "KATAKANA LETTER": "katakana",
    "HALFWIDTH KATAKANA": "katakana",
    "CJK UNIFIED IDEOGRAPH": "kanji",
    "CJK COMPATIBILITY IDEOGRAPH": "kanji",
    "FULLWIDTH DIGIT": "full-width",
    "FULLWIDTH LATIN": "full-width",
}


def test_wide_ranges_against_the_names_of_unicode() -> None:
    spans = [(0x3000, 0xD800), (0xF900, 0x10000), (0x1B000, 0x1B170), (0x20000, 0x32400)]
    every = "".join(chr(code) for low, high in spans for code in range(low, high))
    names = [unicodedata.name(character, "") for character in every]
    checked = 0
    for found, name in zip(classified(every, "wide"), names, strict=True):
        wanted = next((script for start, script in NAMED.items() if name.startswith(start)), None)
        if wanted is not None and name != "HALFWIDTH KATAKANA MIDDLE DOT":
            assert found == wanted, name
            checked += 1
    assert checked > 90_000


def test_marks_of_iteration_are_of_the_script_they_repeat() -> None:
    assert classified("々〻ゝゞヽヾ〱", "wide") == ["kanji", "kanji", *["hiragana"] * 2, *["katakana"] * 2, "hiragana"]
    assert classified("々〇", "basic") == ["other", "other"]


@given(st.text())
def test_what_is_japanese_to_the_source_stays_what_it_is_in_wide(text: str) -> None:
    for narrow, wide in zip(classified(text, "basic"), classified(text, "wide"), strict=True):
        assert narrow in (wide, "other")


def test_nfkc_is_that_of_unicode_and_none_is_nothing() -> None:
    text = "ｶﾞｷﾞ Ａ１ か\u3099"
    assert normalized(text, "nfkc") == unicodedata.normalize("NFKC", text) == "ガギ A1 が"
    assert normalized(text, "none") == text


def test_unknown_ranges_and_forms_are_refused() -> None:
    with pytest.raises(UsageError, match=r"scripts must be one of basic, wide, but got 'all'"):
        check_ranges("all")
    with pytest.raises(UsageError, match=r"normalize must be one of none, nfkc, but got 'nfd'"):
        check_normalization("nfd")
