"""JSON from files that may hold anything: the one way to read it, with bounds, and with what is wrong in one line.

Python's parser fails in many ways on hostile input (recursion, memory, integers of 4,300 digits, encodings) and takes
some things that readers disagree about (a key that is there twice, halves of a character). All of it ends here.
"""

import json
import re
from collections import Counter
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import InputError
from assay.files.reading import DOCUMENT, Limit, pointer_fault, read_bytes
from assay.names import one_line

#: Lists and objects within each other; logs of harnesses have about twenty levels.
DEEPEST = 100
#: No floating-point number is as large as an integer of this many digits.
_DIGITS = 309

_MARK = b"\xef\xbb\xbf"
_ENCODED = {
    b"\xff\xfe": "UTF-16 text, not UTF-8; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text, not UTF-8; save it as UTF-8",
    b"\x1f\x8b": "compressed with gzip; unpack it first",
    b"(\xb5/\xfd": "compressed with zstandard; unpack it first",
}
_AGAIN = "write or copy it again"

_BRACKETS = b'"[]{}'
_OTHERS = bytes(set(range(256)) - set(_BRACKETS))
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[[ord("["), ord("{")]], _STEPS[[ord("]"), ord("}")]] = 1, -1
_BLOCK = 1 << 22

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
#: A backslash with what it escapes; a pair of surrogates is one character.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def read_json(
    path: Path, *, label: str | None = None, limit: Limit = DOCUMENT, strict: bool = False, advice: str = _AGAIN
) -> Any:
    """The content of a JSON file, or an error that names the file, the line and what to do (``advice``)."""
    label = label or one_line(str(path))
    return parse_json(read_bytes(path, limit, label=label), label, strict=strict, advice=advice)


def parse_json(data: bytes, place: str, *, strict: bool = False, advice: str = _AGAIN) -> Any:
    """JSON text, or an error that says where it breaks and what to do next.

    Files of other programs may have ``NaN``, ``Infinity`` and numbers too large for a float, which their readers check
    where they matter; ``strict`` refuses them, for files of ours have none. Halves of a surrogate pair, which no file
    can hold as text, become U+FFFD. A key that is there twice in an object is refused: readers would disagree on it.

    >>> parse_json(b'{"item": 7}', "a.json")
    {'item': 7}
    """
    fault = _unreadable(data)
    if fault is not None:
        raise InputError(f"{place}: {fault}.")
    try:
        _check_depth(data)
        return _loaded(_whole_characters(data).decode("utf-8-sig"), strict=strict)
    except UnicodeDecodeError as error:
        raise InputError(f"{place}{_encoding_fault(error, data)}; save it as UTF-8.") from error
    except json.JSONDecodeError as error:
        raise InputError(f"{place}{_syntax_fault(error)}; {advice}.") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{place}: {_fault(error)}; {advice}.") from error


def _unreadable(data: bytes) -> str | None:
    if not data[:64].removeprefix(_MARK).strip() and not data.removeprefix(_MARK).strip():
        return "empty; check what should have written it"
    return next((what for start, what in _ENCODED.items() if data.startswith(start)), pointer_fault(data[:64]))


def _fault(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return f"nested too deeply: lists and objects more than {DEEPEST} levels deep"
    if isinstance(error, MemoryError):
        return "not enough memory for this JSON"
    return "a number has more than 4,300 digits" if "for integer string conversion" in str(error) else str(error)


def _syntax_fault(error: json.JSONDecodeError) -> str:
    msg = error.msg.removesuffix(" starting at")
    cut = error.pos >= len(error.doc.rstrip()) - 1 or msg.startswith("Unterminated string")
    line = f", line {error.lineno:,}" if "\n" in error.doc.strip() else ""
    return f"{line}: not JSON{': it ends too early' if cut else ''} ({msg} at column {error.colno:,})"


def _encoding_fault(error: UnicodeDecodeError, data: bytes) -> str:
    line = data.count(b"\n", 0, error.start) + 1
    where = f", line {line:,}" if b"\n" in data.strip() else ""
    return f"{where}: byte 0x{error.object[error.start]:02x} is not UTF-8"


def _loaded(text: str, *, strict: bool) -> Any:
    if not strict:
        return json.loads(text, object_pairs_hook=_once)
    return json.loads(text, object_pairs_hook=_once, parse_int=_integer, parse_float=_finite, parse_constant=_finite)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise ValueError(f"the key {counts.most_common(1)[0][0][:60]!r} is there twice")
    return found


def _integer(text: str) -> int:
    if len(text) >= _DIGITS and not isfinite(float(text)):
        raise ValueError(f"the number {text[:9]}… has {len(text.lstrip('-')):,} digits")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:20]} is not a finite number")
    return number


def _whole_characters(data: bytes) -> bytes:
    """The text with U+FFFD for the halves of surrogate pairs, which programs that cut texts leave behind."""
    if rb"\u" not in data or _SURROGATE.search(data) is None:
        return data
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], data)


def _check_depth(data: bytes) -> None:
    """Refuse what is nested too deeply before a parser recurses into it, in one pass over the brackets."""
    if data.count(b"[") + data.count(b"{") <= DEEPEST:
        return
    # Without escaped quotation marks, every mark that is left opens or closes a text.
    kept = data.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _OTHERS)
    inside, depth = False, 0
    for start in range(0, len(kept), _BLOCK):
        block = np.frombuffer(kept, dtype=np.uint8, count=min(_BLOCK, len(kept) - start), offset=start)
        within = np.logical_xor.accumulate(block == ord('"')) ^ inside
        depths = depth + np.cumsum(np.where(within, 0, _STEPS[block]), dtype=np.int64)
        if depths.max() > DEEPEST:
            raise RecursionError
        inside, depth = bool(within[-1]), int(depths[-1])
