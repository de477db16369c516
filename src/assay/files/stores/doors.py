"""The doors: what comes in as an address goes on as the path of its copy, whether from Python or a command line."""

import inspect
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeVar, cast

from assay.errors import AssayError
from assay.files.stores.addresses import Address, address_of, copies_in_use, remove_copies
from assay.names import with_addresses

#: Parameters of verbs, here and on the command line, that say where something is written.
_OUTPUTS = frozenset({"output", "page", "save", "markdown", "junit", "recipe", "chart", "table", "cache"})
#: Folders of runs: what is there is looked at when a run is made, one by one. For other verbs, runs are read.
_RUNS = frozenset({("gate", "runs")})
#: Texts that mean no place, whatever they say.
_WORDS = frozenset({"note", "title", "organization", "address", "columns"})

_LOST_SLASH = re.compile(r"([a-z][a-z0-9+.-]+):/([^/].*)", re.DOTALL)
Role = Literal["read", "written", "runs", "words"]
Verb = TypeVar("Verb", bound=Callable[..., Any])


class _Inside:
    """How many verbs are at work with copies."""

    lock = Lock()
    count = 0


@contextmanager
def stores_open(*, for_good: bool = False) -> Iterator[None]:
    """Keep copies until the end, then remove them and give back all rights to write; ``for_good``: the folder, too."""
    with _Inside.lock:
        _Inside.count += 1
    try:
        yield
    finally:
        with _Inside.lock:
            _Inside.count -= 1
            if not _Inside.count and copies_in_use() is not None:
                _closed(for_good=for_good)


def _closed(*, for_good: bool) -> None:
    from assay.files.stores.commits import begun_runs
    from assay.files.stores.copies import forget_copies
    from assay.files.stores.leases import release_leases

    try:
        release_leases()
    finally:
        begun_runs.clear()
        forget_copies()
        remove_copies(for_good=for_good)


def at_the_door(verb: Verb) -> Verb:
    """The verb, for addresses in stores as for paths."""

    @wraps(verb)
    def entered(*args: Any, **named: Any) -> Any:
        if not any(_has_address(value) for value in (*args, *named.values())):
            return verb(*args, **named)
        given = inspect.signature(verb).bind(*args, **named)
        with stores_open():
            try:
                for name, value in given.arguments.items():
                    given.arguments[name] = with_copies(value, role_of(verb.__name__, name))
                return verb(*given.args, **given.kwargs)
            except AssayError as error:
                error.args = tuple(with_addresses(one) if isinstance(one, str) else one for one in error.args)
                raise

    return cast(Verb, entered)


def _has_address(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_has_address(one) for one in value)
    return isinstance(value, str | PathLike) and _split(_text(value))[1] is not None


def role_of(verb: str, name: str) -> Role:
    """What the parameter of a verb means."""
    if name in _WORDS:
        return "words"
    if (verb, name) in _RUNS:
        return "runs"
    return "written" if name in _OUTPUTS or verb == "keygen" else "read"


def with_copies(value: Any, role: Role) -> Any:
    """The value of a parameter, with the paths of copies for addresses."""
    if role == "words":
        return value
    if isinstance(value, list | tuple) and any(_has_address(one) for one in value):
        return type(value)(with_copies(one, role) for one in value)
    if not isinstance(value, str | PathLike):
        return value
    start, address = _split(_text(value))
    return value if address is None else f"{start}{_place(role, address)}"


def _text(value: str | PathLike[str]) -> str:
    """A path as text; a `pathlib.Path` of an address has lost a slash."""
    text = os.fspath(value)
    lost = None if isinstance(value, str) else _LOST_SLASH.fullmatch(text)
    return text if lost is None or Path(text).exists() else f"{lost[1]}://{lost[2]}"


def _split(text: str) -> tuple[str, Address | None]:
    """An address and what stands before it, as in NAME=s3://bucket/a.csv."""
    if "://" not in text and copies_in_use() is None:
        return "", None
    whole = address_of(text)
    if whole is not None:
        return "", whole
    name, equals, rest = text.partition("=")
    return (f"{name}=", address_of(rest)) if equals and "/" not in name else ("", None)


def _place(role: Role, address: Address) -> Path:
    from assay.files.stores.copies import brought, prepared  # late: most paths are on a disk

    if role == "runs":
        return address.copy
    return prepared(address) if role == "written" else brought(address)
