"""One way to write a certificate: the same content is the same bytes, and its digest covers every field."""

import hashlib
import json
from math import exp
from typing import Any

import msgspec

from assay.errors import InputError
from assay.names import one_line

TOLERANCE = 1e-9  # relative: recomputed on another machine the last printed digits may differ
_LONGEST = 160  # characters of a value in a message
DIGITS = 12  # significant; what is computed twice on different machines agrees to these


def rounded(value: float) -> float:
    """A number as the certificate prints it: at most 12 significant digits."""
    return float(f"{value:.{DIGITS}g}") + 0.0  # no minus zero


def rounded_exp(value: float) -> float:
    """The exponential of a printed number, as it is printed: identities hold in what a reader sees."""
    return rounded(exp(value))


def canonical_bytes(document: dict[str, Any]) -> bytes:
    """Sorted keys, two spaces, UTF-8, one newline at the end."""
    try:
        text = json.dumps(document, sort_keys=True, ensure_ascii=False, allow_nan=False)
        return msgspec.json.format(text.encode(), indent=2) + b"\n"  # with an indent, json would write it in Python
    except ValueError as error:  # a number that is none, or a name that is not UTF-8
        raise InputError(
            f"a certificate cannot hold this ({error}); check the names and the size of the values."
        ) from error


def digest_of(document: dict[str, Any]) -> str:
    """The sha256 of everything but the digest itself."""
    content = {name: value for name, value in document.items() if name != "digest"}
    return "sha256:" + hashlib.sha256(canonical_bytes(content)).hexdigest()


def parsed(data: bytes, label: str) -> dict[str, Any]:
    """The document of a file; a key that stands twice is refused, for readers would see different certificates."""
    try:
        document = json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{label}: not a certificate, {error}; give a file that `assay certify` wrote.") from error
    if not isinstance(document, dict) or "schema" not in document:
        raise InputError(f"{label}: not a certificate, no field 'schema'; give a file that `assay certify` wrote.")
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice!r} stands twice")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


# ----------------------------------------------------------------------------------------------- what is not true


class FieldFault(msgspec.Struct, frozen=True):
    """A field that is not true: what the certificate states and what was found, as JSON can hold it."""

    field: str
    stated: Any
    found: Any

    def __str__(self) -> str:
        return f"{one_line(self.field)}: stated {self.shown_stated}, found {self.shown_found}"

    @property
    def shown_stated(self) -> str:
        return _shown(self.stated)

    @property
    def shown_found(self) -> str:
        return _shown(self.found)


def fault(field: str, stated: Any, found: Any) -> FieldFault:
    return FieldFault(field, _plain(stated), _plain(found))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _plain(value: Any) -> Any:
    """The value, or its text where JSON has no such value: a forged field may hold an infinity."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return _shown(value)
    return value


def differences(name: str, stated: Any, found: Any) -> list[FieldFault]:
    """Leaf by leaf; numbers may differ in their last printed digits."""
    if isinstance(stated, dict) and isinstance(found, dict):
        keys = sorted(stated.keys() | found.keys())
        return [f for key in keys for f in differences(_inside(name, key), stated.get(key), found.get(key))]
    if isinstance(stated, list) and isinstance(found, list) and len(stated) == len(found):
        return [
            f for i, (a, b) in enumerate(zip(stated, found, strict=True)) for f in differences(_inside(name, i), a, b)
        ]
    return [] if _same(stated, found) else [fault(name, stated, found)]


def _inside(name: str, key: str | int) -> str:
    return f"{name}.{key}" if name else str(key)


def _same(stated: Any, found: Any) -> bool:
    if isinstance(stated, float) and isinstance(found, float):
        return abs(stated - found) <= TOLERANCE * max(abs(stated), abs(found))
    return bool(type(stated) is type(found) and stated == found)
