"""Japanese writing systems by Unicode range, and text normalization."""

import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from assay.errors import UsageError
from assay.stats.text import Codes

Ranges = Literal["basic", "wide"]
Normalization = Literal["none", "nfkc"]


_Spans = tuple[tuple[int, int], ...]

#: The usual ranges: whatever is in none is "other".
_BASIC: dict[str, _Spans] = {
    "hiragana": ((0x3040, 0x309F),),
    "katakana": ((0x30A0, 0x30FF),),
    "kanji": ((0x4E00, 0x9FAF),),
}

_WIDE: dict[str, _Spans] = {
    "hiragana": (
        (0x3031, 0x3035),  # repeat marks of vertical kana
        (0x3040, 0x309F),
        (0x1B001, 0x1B11F),  # hentaigana
        (0x1B132, 0x1B132),
        (0x1B150, 0x1B152),
    ),
    "katakana": (
        (0x30A0, 0x30FF),
        (0x31F0, 0x31FF),  # phonetic extensions
        (0xFF66, 0xFF9F),  # half-width
        (0x1B000, 0x1B000),
        (0x1B120, 0x1B122),
        (0x1B155, 0x1B155),
        (0x1B164, 0x1B167),
    ),
    "kanji": (
        (0x3005, 0x3007),  # the iteration mark, the closing mark and zero
        (0x303B, 0x303B),  # the vertical iteration mark
        (0x3400, 0x4DBF),  # extension A
        (0x4E00, 0x9FFF),
        (0xF900, 0xFAFF),  # compatibility ideographs
        (0x20000, 0x2A6DF),  # extension B
        (0x2A700, 0x2EE5D),  # C, D, E, F and I
        (0x2F800, 0x2FA1F),  # compatibility ideographs
        (0x30000, 0x323AF),  # G and H
    ),
    "full-width": ((0xFF10, 0xFF19), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A)),  # digits and Latin letters
}

_RANGES: dict[Ranges, dict[str, _Spans]] = {"basic": _BASIC, "wide": _WIDE}

JAPANESE = ("hiragana", "katakana", "kanji")
_KANA = 0.05  # of the characters, at least: Chinese has none, and a name or two in other text are fewer


def check_ranges(ranges: str) -> None:
    if ranges not in get_args(Ranges):
        raise UsageError(f"scripts must be one of {', '.join(get_args(Ranges))}, but got {ranges!r}.")


def check_normalization(normalize: str) -> None:
    if normalize not in get_args(Normalization):
        raise UsageError(f"normalize must be one of {', '.join(get_args(Normalization))}, but got {normalize!r}.")


def script_names(ranges: Ranges) -> tuple[str, ...]:
    """Names of the scripts; the last is "other".

    >>> script_names("basic")
    ('hiragana', 'katakana', 'kanji', 'other')
    """
    return (*_RANGES[ranges], "other")


def is_japanese(characters: Mapping[str, float]) -> bool:
    """Whether a text with so many characters of each script is Japanese: kana are at least one in twenty.

    >>> is_japanese({"hiragana": 40, "katakana": 5, "kanji": 30, "other": 9}), is_japanese({"kanji": 90, "other": 9})
    (True, False)
    """
    kana = characters.get("hiragana", 0) + characters.get("katakana", 0)
    return kana > 0 and kana >= _KANA * sum(characters.values())


def normalized(text: str, normalize: Normalization) -> str:
    """Normalize a text for comparison.

    >>> normalized("ｶﾞﾗｽ１", "nfkc")
    'ガラス1'
    """
    return unicodedata.normalize("NFKC", text) if normalize == "nfkc" else text


def codes_of(text: str) -> Codes:
    """(characters,) The code points of a text."""
    return np.frombuffer(text.encode("utf-32-le"), dtype="<i4").astype(np.int32, copy=False)


def scripts_of(codes: Codes, ranges: Ranges) -> NDArray[np.int64]:
    """(characters,) Index into `script_names` for each character.

    >>> scripts_of(codes_of("かなカナ漢字ab"), "basic").tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    starts, scripts = _table(ranges)
    found: NDArray[np.int64] = scripts[np.searchsorted(starts, codes, side="right") - 1]
    return found


@cache
def _table(ranges: Ranges) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Code points where the script changes, and the script from there on."""
    other = len(_RANGES[ranges])
    spans = sorted((low, high, script) for script, part in enumerate(_RANGES[ranges].values()) for low, high in part)
    starts, scripts = [0], [other]
    for low, high, script in spans:
        starts += [low, high + 1]
        scripts += [script, other]
    return np.array(starts), np.array(scripts)
