"""What every reader of tables gives: a source of rows. One file per family of formats; `registry` picks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

from numpy.typing import NDArray

from assay.errors import UsageError
from assay.names import argument

#: What messages call a table that came without a name.
UNNAMED = "the table"

#: How a column is read: a text is "" where there is none, a number NaN; a score may also be true or false.
Reading = Literal["text", "number", "score"]

Format = Literal["table", "lm-eval", "inspect", "lighteval", "helm", "responses"]
FORMATS: tuple[Format, ...] = get_args(Format)
#: What a harness calls that which ``filter`` picks, if it is no filter.
FILTER_WORDS: dict[str, str] = {"helm": "split"}


class RowSource(Protocol):
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


@dataclass(frozen=True, slots=True)
class Selection:
    """Which results are meant. ``None`` means the only one there is: where there are several, reading is an error.

    ``task`` is a task, a group of tasks or a pattern such as ``mmlu_*``, whose tasks are put together. ``format`` says
    what the files are instead of their content; ``"table"`` means a table of ours, whatever its columns are called.
    ``newest`` takes the newest of several runs of a task.
    """

    task: str | None = None
    metric: str | None = None
    filter: str | None = None
    scorer: str | None = None
    format: Format | None = None
    newest: bool = False

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise UsageError(f"format must be one of {', '.join(FORMATS)}, but got {self.format!r}.")

    @property
    def picks(self) -> str:
        """What only the results of a harness give something to pick from, as messages write it; "" for nothing."""
        named = {"task": self.task, "metric": self.metric, "filter": self.filter, "scorer": self.scorer}
        given = {name: value for name, value in (named | {"newest": self.newest or None}).items() if value is not None}
        return argument("Selection", **given) if given else ""
