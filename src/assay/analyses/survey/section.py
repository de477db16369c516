"""What every analysis of a survey gives: rows for a person, statements for a paper, plain data for a file."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from assay.analyses.records import plain_fields, restored_fields
from assay.analyses.result import Row
from assay.analyses.sheet import Sheet, lines_of


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that a paper may print (``holds``), or may not: then it says what is missing for it.

    A ``warning`` is true as well, and says that a number must not be taken for what it seems to be.
    """

    text: str
    holds: bool
    warning: bool = False


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
        said = [{"text": said.text, "holds": said.holds, "warning": said.warning} for said in self.sentences()]
        return {"kind": self.name, **plain_fields(self), "statements": said}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The record that `to_dict` wrote."""
        found: Self = restored_fields(cls, data)
        return found
