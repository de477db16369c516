"""Every way to alter a document: one leaf, one key or one list at a time."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

Path = tuple[str | int, ...]

#: Relative, as documented: what is computed twice on different machines may differ in the last printed digits.
TOLERANCE = 1e-9

#: Texts that may only be one of a few: another one of them is a better forgery than a text that no reader accepts.
CHOICES: dict[str, tuple[str, ...]] = {
    "policy.tier": ("balanced", "conservative", "aggressive"),
    "policy.profile": ("dev", "ci", "release"),
    "policy.method": ("auto", "bca", "bca-plain", "percentile"),
    "policy.scheme": ("auto", "tokens", "windows"),
    "primary_metric.kind": ("perplexity", "score"),
    "decision.verdict": ("pass", "regression", "insufficient evidence"),
    "bootstrap.scheme": ("tokens", "windows"),
    "stats.overlap_from": ("token spans", "window ids"),
    "stats.cluster_by": ("document", "split", "window", "loss", "model", "cluster", "no such column"),
}


@dataclass(frozen=True)
class Alteration:
    """What was done where, and what came out."""

    field: str
    how: str
    before: Any
    after: Any
    document: dict[str, Any]

    @property
    def of_last_digits(self) -> bool:
        """Whether another machine may compute the number so."""
        before, after = self.before, self.after
        close = isinstance(before, float) and isinstance(after, float)
        return close and abs(before - after) <= TOLERANCE * max(abs(before), abs(after))

    @property
    def of_a_profile_that_is_met(self) -> bool:
        """Whether it is of the profile, and the evidence meets every rule: `ci` and `release` change no number."""
        return self.field == "policy.profile" and all(rule["ok"] for rule in self.document["rules"])

    def __str__(self) -> str:
        return f"{self.field} {self.how}: {self.before!r} → {self.after!r}"


_GONE = object()


def alterations(document: dict[str, Any]) -> Iterator[Alteration]:
    """Change, remove, add, retype and reorder everything in turn."""
    for path, value in _nodes(document):
        for how, after in _changes(path, value):
            if after is _GONE or type(after) is not type(value) or after != value:
                yield _altered(document, path, how, value, after)


def dotted(path: Path) -> str:
    return ".".join(map(str, path))


def last_place(number: float) -> float:
    """The number, one unit higher in the last place that is printed."""
    printed = Decimal(repr(number))
    exponent = printed.as_tuple().exponent
    assert isinstance(exponent, int)
    return float(printed + Decimal((0, (1,), exponent)))


def _nodes(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    yield path, value
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inside:
        yield from _nodes(part, (*path, name))


def _changes(path: Path, value: Any) -> Iterator[tuple[str, Any]]:
    if path:
        yield "removed", _GONE
        yield "null", None
    if isinstance(value, dict):
        yield "field added", {**value, "extra": 1}
        yield "emptied", {}
    elif isinstance(value, list):
        yield "item added", [*value, value[-1] if value else "extra"]
        yield "reversed", value[::-1]
        yield "emptied", []
    else:
        yield from _leaf_changes(path, value)


def _leaf_changes(path: Path, value: Any) -> Iterator[tuple[str, Any]]:
    if value is None:
        values: tuple[Any, ...] = ("text", 1, 1.5, False, {}, [0.5, 1.5])
        yield from (("a value", after) for after in values)
    elif isinstance(value, bool):
        yield from (("flipped", not value), ("retyped", int(value)), ("retyped", str(value).lower()))
    elif isinstance(value, int):
        yield from (("last place", value + 1), ("last place", value - 1), ("retyped", float(value)))
        yield from (("retyped", str(value)), ("another number", -value), ("another number", 10**400))
    elif isinstance(value, float):
        yield from (("last place", last_place(value)), ("another number", value * (1 + 1e-6) + 1e-7 * (value == 0)))
        yield from (("another number", -value), ("another number", 1e300), ("retyped", str(value)))
        yield from [("retyped", int(value))] if value.is_integer() else []
    else:
        yield from (("text", value + "x"), ("text", ""), ("text", value.upper()), ("retyped", 1), ("retyped", [value]))
        yield from (("text", value[:-1] + ("0" if value[-1:] != "0" else "1")),)
        yield from (("another choice", choice) for choice in CHOICES.get(dotted(path[-2:]), ()))
    yield from [("another choice", c) for c in CHOICES.get(dotted(path[-2:]), ()) if value is None]


def _altered(document: dict[str, Any], path: Path, how: str, before: Any, after: Any) -> Alteration:
    """A copy on the way to what is altered; all else is shared with the document."""
    if not path:
        return Alteration("the document", how, "", "", after)
    changed = copy(document)
    *parents, last = path
    place: Any = changed
    for name in parents:
        place[name] = copy(place[name])
        place = place[name]
    if after is _GONE:
        del place[last]
    else:
        place[last] = after
    return Alteration(dotted(path), how, before, None if after is _GONE else after, changed)
