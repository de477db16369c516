"""What every analysis of a survey gives: rows for a person, statements for a paper, plain data for a file."""

from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, ClassVar, Self, cast, get_args, get_origin, get_type_hints

from assay.analyses.context_tables import Sheet, lines_of
from assay.analyses.result import Row


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that a paper may print (``holds``), or may not: then it says what is missing for it."""

    text: str
    holds: bool


class Section:
    """The result of one analysis; its subclasses are frozen records whose fields are records, tuples and numbers."""

    __slots__ = ()
    name: ClassVar[str]

    def sheets(self) -> list[Sheet]:
        """Its tables."""
        raise TypeError(f"{type(self).__name__} must list its tables")

    def sentences(self) -> list[Statement]:
        """What follows from it."""
        raise TypeError(f"{type(self).__name__} must say what follows from it")

    def rows(self) -> list[Row]:
        """Its tables, line by line."""
        rows: list[Row] = []
        for sheet in self.sheets():
            rows += [sheet.title, *lines_of(sheet), ("", "")]
        return rows[:-1]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact: `from_dict` gives the same record back."""
        said = [{"text": said.text, "holds": said.holds} for said in self.sentences()]
        return {"kind": self.name, **plain_fields(self), "statements": said}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The record that `to_dict` wrote."""
        found: Self = restored(cls, data)
        return found


def plain_fields(record: Any) -> dict[str, Any]:
    return {field.name: plain(getattr(record, field.name)) for field in fields(record)}


def plain(value: Any) -> Any:
    """A record as dictionaries, lists and numbers."""
    if hasattr(value, "to_dict") and not isinstance(value, Section):
        return value.to_dict()
    if is_dataclass(value):
        return plain_fields(value)
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return value


def restored(kind: Any, data: Any) -> Any:
    """What `plain` wrote, as the type it was."""
    if get_origin(kind) is UnionType or NoneType in get_args(kind):
        return None if data is None else restored(next(k for k in get_args(kind) if k is not NoneType), data)
    if get_origin(kind) is tuple:
        inner = get_args(kind)
        kinds = [inner[0]] * len(data) if inner[1:] == (Ellipsis,) else inner
        return tuple(restored(k, one) for k, one in zip(kinds, data, strict=True))
    if get_origin(kind) is dict:
        return {key: restored(get_args(kind)[1], one) for key, one in data.items()}
    if hasattr(kind, "from_dict") and not issubclass(kind, Section):
        return kind.from_dict(data)
    if is_dataclass(kind):
        hints, make = get_type_hints(kind), cast("type[Any]", kind)
        # a field with a default may be younger than the file
        known = [field for field in fields(kind) if field.name in data or field.default is MISSING]
        return make(**{field.name: restored(hints[field.name], data[field.name]) for field in known})
    return data
