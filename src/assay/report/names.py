"""Names come from files, and some hold characters that are not seen: they may not turn a page or a terminal around."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_SIGN = "\N{REPLACEMENT CHARACTER}"
_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # they would reorder what follows, numbers included
_CONTROL = (*(i for i in range(0x20) if chr(i) not in "\t\n\r"), *range(0x7F, 0xA0))  # a terminal obeys some of them
_HALVES = range(0xD800, 0xE000)  # of file names that are no Unicode; no file can hold them
_BREAKS = (0x2028, 0x2029)  # they end a line of what a chart's sorting is compiled to
_NOTHING_HIDDEN = dict.fromkeys((*_BIDI, *_CONTROL, *_BREAKS, *_HALVES, 0xFFFE, 0xFFFF), _SIGN)


def visible(text: str) -> str:
    """The text with a sign for every character that steers instead of being read."""
    return text.translate(_NOTHING_HIDDEN)


def visible_data(data: Any) -> Any:
    """The same for all texts in a chart's specification."""
    if isinstance(data, str):
        return visible(data)
    if isinstance(data, Mapping):
        return {key: visible_data(value) for key, value in data.items()}
    if isinstance(data, Sequence):
        return [visible_data(value) for value in data]
    return data


def file_name(text: str) -> str:
    """A name from a file, as part of a file's name."""
    return re.sub(r"[^\w.-]+", "-", text, flags=re.ASCII).strip("-.").lower()[:60] or "result"
