"""What a page carries for its scripts: charts, and the results as files; compressed, in one element."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any
from zlib import compress

_DIGITS = 5  # of the range of a column, and of a number itself: less than a pixel
_HALF = re.compile("[\ud800-\udfff]")  # half a character: in no file


def packed(data: Mapping[str, Any]) -> str:
    """Data as text that cannot end the element it stands in; `page.js` reads it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return b64encode(compress(text.encode(), 9)).decode()


def file_text(data: Any) -> str:
    """A result as a file holds it. Scripts pass it on as text: what they read as numbers, they would round."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _HALF.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def drawable(specification: Mapping[str, Any]) -> dict[str, Any]:
    """A specification whose numbers have the digits that a drawing shows."""
    shown = {name: _shortened(rows) for name, rows in specification["datasets"].items()}
    return {**specification, "datasets": shown}


def _shortened(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    places = {key: _decimals(_range([row.get(key) for row in rows])) for key in (rows[0] if rows else ())}
    return [
        {key: _short(value, places.get(key, 0)) if isinstance(value, float) else value for key, value in row.items()}
        for row in rows
    ]


def _range(column: Sequence[Any]) -> float:
    numbers = [value for value in column if isinstance(value, float)]
    return max(numbers) - min(numbers) if numbers else 0.0


def _short(value: float, places: int) -> float:
    """Enough digits to tell a number from its neighbours, and small ones from zero."""
    return round(value, max(places, _decimals(abs(value))))


def _decimals(size: float) -> int:
    return _DIGITS - floor(log10(size)) if size else 0
