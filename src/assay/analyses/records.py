"""Frozen records as plain data and back, by their types: for results that are made of many small records."""

from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import msgspec


def plain(value: Any) -> Any:
    """A record as dictionaries, lists and numbers, all the way down."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, msgspec.Struct):
        return plain(msgspec.structs.asdict(value))
    if is_dataclass(value):
        return plain_fields(value)
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return value


def plain_fields(record: Any) -> dict[str, Any]:
    """The fields of a record, whatever its own `to_dict` adds."""
    return {field.name: plain(getattr(record, field.name)) for field in fields(record)}


def restored(kind: Any, data: Any) -> Any:
    """What `plain` wrote, as the type it was."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        return None if data is None else restored(next(k for k in inner if k is not NoneType), data)
    if origin is tuple:
        kinds = [inner[0]] * len(data) if inner[1:] == (Ellipsis,) else inner
        return tuple(restored(k, one) for k, one in zip(kinds, data, strict=True))
    if origin is dict:
        return {key: restored(inner[1], one) for key, one in data.items()}
    if hasattr(kind, "from_dict"):
        return kind.from_dict(data)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return msgspec.convert(data, kind)
    return restored_fields(kind, data) if is_dataclass(kind) else data


def restored_fields(kind: Any, data: Any) -> Any:
    """A record from its fields, all of which `plain_fields` wrote; KeyError where one is missing."""
    hints, make = get_type_hints(kind), cast("type[Any]", kind)
    return make(**{field.name: restored(hints[field.name], data[field.name]) for field in fields(kind)})
