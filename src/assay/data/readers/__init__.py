"""What every reader returns: a source of rows. One file per family of formats; `registry` picks the reader."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

from assay.data.memory import bytes_of
from assay.data.readers.formats import check_format
from assay.design import Errors, PairBy
from assay.errors import UsageError
from assay.names import argument

#: What messages call a table that came without a name.
UNNAMED = "the table"

#: How a column is read: a text is "" where there is none, a number NaN; a score may also be true or false; a length is
#: that of a text in characters, NaN where there is none. What is packed are texts that may come as a `TextColumn`.
Reading = Literal["text", "packed", "number", "score", "length"]
#: What comes of it: an array, or a `TextColumn`.
Column = Any

#: Groups of tasks: the tasks of each, and the groups in it.
Groups = Mapping[str, Collection[str]]

#: What a harness calls that which ``filter`` picks, if it is no filter.
FILTER_WORDS: dict[str, str] = {"helm": "split", "mt-bench": "judge", "mt-bench-pair": "judge"}


class RowSource(Protocol):
    """Rows with named columns, numbered from 1 without the header."""

    @property
    def label(self) -> str:
        """Name in messages: the path as the user wrote it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, as in the file."""

    @property
    def name(self) -> str | None:
        """Model name given by the user (NAME=PATH) or the harness; ``None`` without one."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on how the rows were obtained, to show to the user."""

    @property
    def about(self) -> Mapping[str, Any]:
        """Metadata: the manifest of a run, or the measure of a harness; empty for other files."""

    def read(self, wanted: Sequence[tuple[str, Reading]]) -> Iterator[Column]:
        """Yield the requested columns, one at a time to save memory; rows are in file order."""

    def cell(self, column: str, row: int) -> str:
        """The text of one cell, for a message; ``""`` where there is none."""

    def places(self, rows: Sequence[int]) -> list[str]:
        """Locations of rows for messages: ``line 7`` as an editor counts, ``row 7`` where there are no lines."""


def row_places(rows: Sequence[int]) -> list[str]:
    """Locations of rows in files without lines: Parquet, and tables in memory."""
    return [f"row {row}" for row in rows]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which results to read, and how. ``None`` means the only one there is; if there are several, that is an error.

    ``task`` is a task, a group of tasks or a pattern such as ``mmlu_*``, or several of these with commas between them,
    whose tasks are pooled. ``metric``, ``filter`` and ``scorer`` are one name for all tasks, or tasks, groups and
    patterns with names of their own: ``acc,gsm8k=exact_match``. ``format`` overrides what the content of the files
    suggests; ``"table"`` means a table of ours, whatever its columns are called. ``newest`` takes the newest of several
    runs of a task. Answers that were lost (errors of the harness, nulls, empty cells) are missing, or with
    ``errors="wrong"`` count as 0. ``pair_by="row"`` pairs rows by their place in the file. ``every_task`` reads all
    tasks where none is chosen, with the label ``task``, instead of refusing several; ``every_metric`` reads each metric
    as a table of its own, where none is chosen. ``attempts`` takes rows of one item without a column ``run`` as
    attempts at it, in their order. ``reference`` takes only verdicts against this model, where a judge compared the
    answers of several. ``allow_different`` names conditions, such as ``judge``, that need not be the same in results
    that are compared. ``sum_by`` adds up rows of single tokens by a column, such as ``document``. ``memory``, a size
    such as ``"1GB"``, is what reading may take: a table that would take more is refused. ``tried`` is a file that says
    which instances were tried, where SWE-bench lists only what was resolved.
    """

    task: str | None = None
    metric: str | None = None
    filter: str | None = None
    scorer: str | None = None
    format: str | None = None
    newest: bool = False
    errors: Errors = "missing"
    pair_by: PairBy = "id"
    every_task: bool = False
    every_metric: bool = False
    allow_different: Sequence[str] = ()
    attempts: bool = False
    reference: str | None = None
    tried: str | None = None
    sum_by: str | None = None
    memory: str | int | None = None

    def __post_init__(self) -> None:
        check_format(self.format)
        if isinstance(self.allow_different, str):
            raise UsageError(f"allow_different must be a list of names, but got {self.allow_different!r}.")
        object.__setattr__(self, "memory", None if self.memory is None else bytes_of(self.memory))
        object.__setattr__(self, "allow_different", tuple(self.allow_different))  # frozen, and a key in mappings
        for name, value, known in (
            ("errors", self.errors, get_args(Errors)),
            ("pair_by", self.pair_by, get_args(PairBy)),
        ):
            if value not in known:
                raise UsageError(f"{name} must be one of {', '.join(known)}, but got {value!r}.")

    @property
    def most_bytes(self) -> int | None:
        """What reading may take."""
        return None if self.memory is None else bytes_of(self.memory)

    @property
    def picks(self) -> str:
        """The given options that apply to harness results only, as messages write them; "" for none."""
        named: dict[str, object] = {
            "task": self.task,
            "metric": self.metric,
            "filter": self.filter,
            "scorer": self.scorer,
        }
        named |= {"newest": self.newest or None, "reference": self.reference, "tried": self.tried}
        given = {name: value for name, value in named.items() if value is not None}
        return argument("Selection", **given) if given else ""
