"""Groups of options: a verb takes one object, and has the options of all its fields on the command line."""

import inspect
from collections.abc import Callable, Collection, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any


def with_groups(verb: Callable[..., None], *, without: Collection[str] = ()) -> Callable[..., None]:
    """The verb with the options of a group's fields in place of each parameter that is a group, a dataclass.

    Fields that the verb does ``without`` are no options, and have their defaults.
    """
    own = inspect.signature(verb)
    groups = {name: kind for name, one in own.parameters.items() if (kind := _group(one)) is not None}

    @wraps(verb)
    def run(*args: Any, **given: Any) -> None:
        chosen = {
            name: {one.name: given.pop(one.name) for one in fields(kind) if one.name not in without}
            for name, kind in groups.items()
        }
        verb(*args, **given, **{name: kind(**chosen[name]) for name, kind in groups.items()})

    parameters = [part for one in own.parameters.values() for part in _parts(one) if part.name not in without]
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]  # what typer reads
    run.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": None}
    del run.__dict__["__wrapped__"]  # or typer would read the verb's own
    return run


def _group(parameter: inspect.Parameter) -> type[Any] | None:
    kind = parameter.annotation
    return kind if isinstance(kind, type) and is_dataclass(kind) else None


def _parts(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """A parameter for each field of a group; any other as it is."""
    kind = _group(parameter)
    if kind is None:
        yield parameter
        return
    for one in fields(kind):
        yield inspect.Parameter(one.name, parameter.kind, default=one.default, annotation=one.type)
