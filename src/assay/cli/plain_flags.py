"""Commands whose help is shown plainly, and in which values that need no check cost none."""

from functools import partial
from inspect import cleandoc
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption


class _Plain:
    """Flags and arguments are shown by their names alone, those that typer adds (--help, completion) as well."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.help: str | None = reflowed(self.help or "") or None

    def get_params(self, ctx: Any) -> Any:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # of the command beside which this is a base
        for parameter in found:
            if isinstance(parameter, TyperOption) and parameter.is_flag and parameter.metavar is None:
                parameter.metavar = ""
            elif isinstance(parameter, TyperArgument):
                vars(parameter)["display_type_rich"] = _no_type
        return _taken_plainly(found)


class PlainFlags(_Plain, TyperCommand):
    """A verb."""


class PlainGroup(_Plain, TyperGroup):
    """Verbs, with options of their own."""


def _no_type(ctx: Any) -> None:
    """Nothing: an argument is a file or a name, as its help says."""


def reflowed(text: str) -> str:
    r"""Paragraphs on a line each, so that they are broken where the terminal ends, and not where the source did.

    >>> reflowed("What is it?\n\nOne thing,\nor another.\n\nExample: assay it")
    'What is it?\n\nOne thing, or another.\n\nExample: assay it'
    """
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in cleandoc(text).split("\n\n"))


def _taken_plainly(parameters: list[Any]) -> list[Any]:
    """Ask typer only for values that need it: it builds a validator of each with pydantic, whose import takes long."""
    for parameter in parameters:
        if "process_value" not in vars(parameter):
            vars(parameter)["process_value"] = partial(_value_of, parameter, parameter.process_value)
    return parameters


def _value_of(parameter: Any, process: Any, ctx: Any, value: Any) -> Any:
    """The value of an option or argument: none, a plain default or a path as it is; else what typer makes of it."""
    value = _from_stores(parameter, ctx, value)
    several = parameter.multiple or parameter.nargs != 1
    if parameter.required and value is None:
        return process(ctx, value)
    if value is None:
        found: Any = () if several else None
    elif not several and _is_plain(parameter, value):
        found = Path(value) if _kind_of(parameter) is Path else value
    else:
        return process(ctx, value)
    return found if parameter.callback is None else parameter.callback(ctx, parameter, found)


def _from_stores(parameter: Any, ctx: Any, value: Any) -> Any:
    """The value with local copies for addresses such as s3://bucket/a.csv, before a path would be made of them."""
    texts = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
    if not any(isinstance(text, str) and "://" in text for text in texts):
        return value
    from assay.files.stores.doors import role_of, with_copies  # late: few values are addresses

    return with_copies(value, "written" if "-o" in parameter.opts else role_of(str(ctx.info_name), str(parameter.name)))


def _kind_of(parameter: Any) -> Any:
    return getattr(getattr(parameter, "type_descriptor", None), "annotation", None)


def _is_plain(parameter: Any, value: Any) -> bool:
    """Whether nothing else could be made of a value: any path, or a default that is a number or one of the choices."""
    told = getattr(getattr(parameter, "type_descriptor", None), "parameter_info", None)
    asked = {} if told is None else vars(told)
    if any(asked.get(name) is not None for name in ("parser", "click_type", "path_type")):
        return False
    kind = _kind_of(parameter)
    if kind is Path:
        checked = any(asked.get(name) for name in ("exists", "writable", "resolve_path"))
        return isinstance(value, str) and not checked and all(asked.get(name) for name in ("file_okay", "dir_okay"))
    if value is not parameter.default:
        return False
    if isinstance(value, str):
        return get_origin(kind) is Literal and value in get_args(kind)
    return type(value) in (int, float, bool) and type(value) is kind
