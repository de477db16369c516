"""What every reader gives, and which reader is the right one for what a user brought."""

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol

from numpy.typing import NDArray

from assay.errors import UsageError

#: What messages call a table that came without a name.
UNNAMED = "the table"

#: How a column is read: a text is "" where there is none, a number NaN; a score may also be true or false.
Reading = Literal["text", "number", "score"]


class Source(Protocol):
    """Rows with named columns, numbered from 1 without the header."""

    @property
    def label(self) -> str:
        """What messages call it: the path as the user wrote it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, as they are in the file."""

    @property
    def about(self) -> Mapping[str, Any]:
        """What the source knows of its model: the manifest of a run; nothing in other files."""

    def read(self, wanted: Sequence[tuple[str, Reading]]) -> Iterator[NDArray[Any]]:
        """The columns asked for, one after the other to save memory, with the rows in the order of the file."""

    def cell(self, column: str, row: int) -> str:
        """The text of one cell, for a message; ``""`` where there is none."""


def open_source(source: object, *, name: str | None = None) -> Source:
    """The reader of a path, of a mapping from names to columns, or of a data frame."""
    # The file readers load duckdb, which those who bring arrays need not pay for.
    if isinstance(source, str | PathLike):
        from assay.data.readers.files import open_file

        return open_file(source)
    from assay.data.readers.memory import MemorySource

    if isinstance(source, Mapping) or (hasattr(source, "columns") and hasattr(source, "__getitem__")):
        return MemorySource(source, name or UNNAMED)
    raise UsageError(f"a table must be a path, a mapping of columns or a data frame, but got {type(source).__name__}.")


def one_line(text: str) -> str:
    """A name in a message, with what would break the line or hide escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shown(text: str) -> str:
    """A cell in a message: quoted, on one line, not too long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
