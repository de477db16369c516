"""Fields that are not true, and how two documents are compared for them."""

import json
from dataclasses import dataclass
from typing import Any

from assay.names import one_line

TOLERANCE = 1e-9  # relative: recomputed on another machine the last printed digits may differ
_LONGEST = 160  # characters of a value in a message


@dataclass(frozen=True, slots=True)
class Fault:
    """A field that is not true: what the certificate states and what was found."""

    field: str
    stated: Any
    found: Any

    def __str__(self) -> str:
        return f"{one_line(self.field)}: stated {_shown(self.stated)}, found {_shown(self.found)}"

    def to_dict(self) -> dict[str, Any]:
        return {"field": self.field, "stated": _plain(self.stated), "found": _plain(self.found)}


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


def differences(name: str, stated: Any, found: Any) -> list[Fault]:
    """Leaf by leaf; numbers may differ in their last printed digits."""
    if isinstance(stated, dict) and isinstance(found, dict):
        keys = sorted(stated.keys() | found.keys())
        return [f for key in keys for f in differences(f"{name}.{key}", stated.get(key), found.get(key))]
    if isinstance(stated, list) and isinstance(found, list) and len(stated) == len(found):
        return [f for i, (a, b) in enumerate(zip(stated, found, strict=True)) for f in differences(f"{name}.{i}", a, b)]
    return [] if _same(stated, found) else [Fault(name, stated, found)]


def _same(stated: Any, found: Any) -> bool:
    if isinstance(stated, float) and isinstance(found, float):
        return abs(stated - found) <= TOLERANCE * max(abs(stated), abs(found))
    return bool(type(stated) is type(found) and stated == found)
