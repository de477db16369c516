"""One way to write a certificate: the same content is the same bytes, and its digest covers every field."""

import hashlib
import json
from math import exp
from typing import Any

from assay.errors import InputError

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
        text = json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
        return (text + "\n").encode()
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
