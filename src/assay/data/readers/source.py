"""What every reader gives, and which reader is the right one for what a user brought."""

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike, fspath, sep
from pathlib import Path
from typing import Any, Literal, Protocol

from numpy.typing import NDArray

from assay.data.readers.selection import Selection
from assay.errors import UsageError
from assay.names import one_line, shown

__all__ = ["UNNAMED", "Reading", "Source", "exists", "named", "one_line", "open_source", "open_sources", "shown"]

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
    def name(self) -> str | None:
        """What the user calls its model (NAME=PATH), or the harness; ``None`` where neither does."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of how the rows came about."""

    @property
    def about(self) -> Mapping[str, Any]:
        """What it knows of its model: the manifest of a run, the measure of a harness; nothing in other files."""

    def read(self, wanted: Sequence[tuple[str, Reading]]) -> Iterator[NDArray[Any]]:
        """The columns asked for, one after the other to save memory, with the rows in the order of the file."""

    def cell(self, column: str, row: int) -> str:
        """The text of one cell, for a message; ``""`` where there is none."""

    def places(self, rows: Sequence[int]) -> list[str]:
        """Where rows stand in the file, for a message: ``line 7`` as an editor counts, ``row 7`` without lines."""


def row_places(rows: Sequence[int]) -> list[str]:
    """The places of rows where there are no lines: in Parquet, and in memory."""
    return [f"row {row}" for row in rows]


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


def open_sources(
    paths: Sequence[str | PathLike[str]],
    selection: Selection | None = None,
    *,
    cluster: str | None = None,
    models: Sequence[str] = (),
) -> list[Source]:
    """The readers of files and folders: one for each table, and one for each model of a harness's output.

    A path may be NAME=PATH, which says what the model is called. ``cluster`` names what the items of a harness shall be
    clustered by, a field of their documents or ``task``; it becomes a column of that name. Where there are logs of some
    of the ``models``, those of others are not looked at.
    """
    from assay.data.readers.choose import open_paths

    return open_paths(paths, selection or Selection(), cluster, models)


def named(path: str | PathLike[str]) -> tuple[str | None, Path]:
    """NAME=PATH taken apart; a file that is called so is that file.

    >>> named("7b=runs/a.csv") == ("7b", Path("runs/a.csv"))
    True
    """
    text = fspath(path)
    name, equals, rest = text.partition("=")
    if not equals or not name.strip() or not rest or exists(Path(text)):
        return None, Path(text)
    if sep in name and not exists(Path(rest)):
        return None, Path(text)  # more likely a folder with = in its name that is not there
    return one_line(name.strip()), Path(rest)


def exists(path: Path) -> bool:
    """Whether there is such a file; a name that no system allows is none."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
