"""The part of JSON Schema (2020-12) that the schema of certificates uses, read from the specification."""

import re
from collections.abc import Callable, Iterator
from typing import Any

Schema = dict[str, Any]

_NOTES = {"title", "description", "$defs", "$schema", "discriminator"}
_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "integer": lambda v: not isinstance(v, bool) and (isinstance(v, int) or (isinstance(v, float) and v.is_integer())),
}


def violations(value: Any, schema: Schema, root: Schema, where: str = "$") -> Iterator[str]:
    """Every keyword that a value breaks; a keyword that is not known here is an error."""
    for keyword, rule in schema.items():
        if keyword in _NOTES:
            continue
        yield from _KEYWORDS[keyword](value, rule, schema, root, where)


def _ref(value: Any, rule: str, _: Schema, root: Schema, where: str) -> Iterator[str]:
    target = root
    for name in rule.removeprefix("#/").split("/"):
        target = target[name]
    yield from violations(value, target, root, where)


def _type(value: Any, rule: str, _: Schema, __: Schema, where: str) -> Iterator[str]:
    if not _TYPES[rule](value):
        yield f"{where}: {value!r} is no {rule}"


def _any_of(value: Any, rule: list[Schema], _: Schema, root: Schema, where: str) -> Iterator[str]:
    tried = [list(violations(value, option, root, where)) for option in rule]
    if all(tried):
        yield from tried[0]


def _constant(value: Any, rule: Any, _: Schema, __: Schema, where: str) -> Iterator[str]:
    if value != rule:
        yield f"{where}: {value!r} is not {rule!r}"


def _enum(value: Any, rule: list[Any], _: Schema, __: Schema, where: str) -> Iterator[str]:
    if value not in rule:
        yield f"{where}: {value!r} is none of {rule}"


def _pattern(value: Any, rule: str, _: Schema, __: Schema, where: str) -> Iterator[str]:
    if isinstance(value, str) and not re.search(rule, value):
        yield f"{where}: {value!r} does not match {rule}"


def _properties(value: Any, rule: dict[str, Schema], _: Schema, root: Schema, where: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name in value.keys() & rule.keys():
            yield from violations(value[name], rule[name], root, f"{where}.{name}")


def _required(value: Any, rule: list[str], _: Schema, __: Schema, where: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{where}: no {name}" for name in rule if name not in value)


def _closed(value: Any, rule: Schema | bool, schema: Schema, root: Schema, where: str) -> Iterator[str]:
    """Fields that are not named: none, or of this kind."""
    further = [name for name in value if name not in schema.get("properties", {})] if isinstance(value, dict) else []
    if isinstance(rule, bool):
        assert rule is False
        yield from (f"{where}: extra {name}" for name in further)
    else:
        for name in further:
            yield from violations(value[name], rule, root, f"{where}.{name}")


def _names(value: Any, rule: Schema, _: Schema, root: Schema, where: str) -> Iterator[str]:
    for name in value if isinstance(value, dict) else ():
        yield from violations(name, rule, root, f"{where}, the name {name!r}")


def _fields(value: Any, rule: int, _: Schema, __: Schema, where: str) -> Iterator[str]:
    if isinstance(value, dict) and len(value) < rule:
        yield f"{where}: fewer than {rule} fields"


def _items(value: Any, rule: Schema | bool, schema: Schema, root: Schema, where: str) -> Iterator[str]:
    """Of the items after those that have a rule of their own."""
    first = len(schema.get("prefixItems", []))
    if isinstance(rule, bool):
        assert rule is False
        if isinstance(value, list) and len(value) > first:
            yield f"{where}: more than {first} items"
    elif isinstance(value, list):
        for i, item in enumerate(value[first:], first):
            yield from violations(item, rule, root, f"{where}[{i}]")


def _prefix(value: Any, rule: list[Schema], _: Schema, root: Schema, where: str) -> Iterator[str]:
    if isinstance(value, list):
        for i, (item, part) in enumerate(zip(value, rule, strict=False)):
            yield from violations(item, part, root, f"{where}[{i}]")


def _least(value: Any, rule: int, _: Schema, __: Schema, where: str) -> Iterator[str]:
    if isinstance(value, list) and len(value) < rule:
        yield f"{where}: fewer than {rule} items"


def _most(value: Any, rule: int, _: Schema, __: Schema, where: str) -> Iterator[str]:
    if isinstance(value, list) and len(value) > rule:
        yield f"{where}: more than {rule} items"


def _bound(name: str, holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any, Schema, Schema, str], Iterator[str]]:
    def check(value: Any, rule: Any, _: Schema, __: Schema, where: str) -> Iterator[str]:
        measured = value if "Length" not in name else len(value) if isinstance(value, str) else None
        if isinstance(measured, int | float) and not isinstance(measured, bool) and not holds(measured, rule):
            yield f"{where}: {name} {rule}"

    return check


_KEYWORDS: dict[str, Callable[[Any, Any, Schema, Schema, str], Iterator[str]]] = {
    "$ref": _ref,
    "type": _type,
    "anyOf": _any_of,
    "const": _constant,
    "enum": _enum,
    "pattern": _pattern,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _closed,
    "propertyNames": _names,
    "minProperties": _fields,
    "items": _items,
    "prefixItems": _prefix,
    "minItems": _least,
    "maxItems": _most,
    "minimum": _bound("minimum", lambda value, rule: value >= rule),
    "maximum": _bound("maximum", lambda value, rule: value <= rule),
    "exclusiveMinimum": _bound("exclusiveMinimum", lambda value, rule: value > rule),
    "exclusiveMaximum": _bound("exclusiveMaximum", lambda value, rule: value < rule),
    "minLength": _bound("minLength", lambda value, rule: value >= rule),
    "maxLength": _bound("maxLength", lambda value, rule: value <= rule),
}
