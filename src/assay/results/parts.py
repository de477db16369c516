"""The parts of an answer: facts, cautions, tables that hold numbers, and sections of tables and figures.

Terminal, Markdown, HTML, downloads and data frames all print the same ones.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from assay.results import words
from assay.results.figures import Figure
from assay.stats.records import Estimate, Fallback, Interval

if TYPE_CHECKING:
    import pandas as pd

#: Before a name in an outline, once for each group that it is in; browsers would drop plain spaces.
INDENT = "\N{NO-BREAK SPACE}" * 2

#: What a cell holds: a number, a number with its interval, limits alone, a text, or nothing.
Value = Estimate | Interval | float | int | str | None


class CheckedCase(Struct, frozen=True):
    """An answer as a test: what it is of, how it ended, the verdict, and what is said of it."""

    name: str
    outcome: Literal["passed", "failed", "skipped"]
    kind: str
    said: str


class Column(Struct, frozen=True, eq=False):
    """One column: its heading, what it holds, and how a value is written."""

    name: str
    values: Sequence[Value]
    show: Callable[[Any], str] = words.shown
    key: str | None = None  # in data frames and downloads; None: the heading
    right: bool | None = None  # on which side it lines up; None: numbers to the right
    may_shorten: bool = False  # names of models, where a terminal is too narrow
    written: Sequence[str] | None = None  # as people read them, where a value alone does not say it
    hidden: bool = False  # only in data frames and downloads

    @property
    def texts(self) -> list[str]:
        """The values as people read them."""
        return [self.show(value) for value in self.values] if self.written is None else list(self.written)

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers, or nothing where one is missing."""
        found = [value for value in self.values if value is not None]
        return bool(found) and not any(isinstance(value, str) for value in found)

    @property
    def to_the_right(self) -> bool:
        """Plain numbers line up by their last digit; numbers with intervals by their first."""
        if self.right is not None:
            return self.right
        return self.numeric and not any(isinstance(value, Estimate | Interval) for value in self.values)

    @property
    def numbers(self) -> tuple[float | None, ...] | None:
        """What its rows are sorted by, where it holds numbers."""
        return tuple(map(_number, self.values)) if self.numeric else None

    def records(self) -> list[dict[str, Any]]:
        """The numbers of each row by name; an interval is two columns more."""
        name = self.name if self.key is None else self.key
        bounded = any(_limits(value) is not None for value in self.values)
        alone = bounded and all(value is None or isinstance(value, Interval) for value in self.values)
        return [_record(name, value, bounded=bounded, alone=alone) for value in self.values]


def _limits(value: Value) -> Interval | None:
    return value.interval if isinstance(value, Estimate) else value if isinstance(value, Interval) else None


def _number(value: Value) -> float | None:
    if isinstance(value, Interval):
        return value.low
    return value.value if isinstance(value, Estimate) else None if value is None else float(value)


def _record(name: str, value: Value, *, bounded: bool, alone: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if not alone:
        found[name] = value.value if isinstance(value, Estimate) else None if isinstance(value, Interval) else value
    if bounded:
        limits = _limits(value)
        found |= {f"{name}_low": None if limits is None else limits.low}
        found |= {f"{name}_high": None if limits is None else limits.high}
    return found


class ResultTable(Struct, frozen=True, eq=False):
    """A table of a result.

    >>> table = ResultTable("models", "models", (Column("model", ["x", "y"]), Column("score", [0.71, 0.5])))
    >>> table.rows
    [('x', '0.71'), ('y', '0.5')]
    >>> table.records()
    [{'model': 'x', 'score': 0.71}, {'model': 'y', 'score': 0.5}]
    """

    key: str  # unique in its result
    title: str
    columns: tuple[Column, ...]
    about: str = ""  # beside the title: what the table is of
    explained: str | None = None  # the key of how its numbers are computed

    def __len__(self) -> int:
        return len(self.columns[0].values)

    @property
    def shown(self) -> tuple[Column, ...]:
        """The columns that people read."""
        return tuple(column for column in self.columns if not column.hidden)

    @property
    def header(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.shown)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells as people read them."""
        return list(zip(*(column.texts for column in self.shown), strict=True))

    @property
    def heading(self) -> str:
        """Title and what it is of, in one line."""
        joined = ": ".join(part for part in (self.title, self.about) if part).replace("?:", "?")
        return joined[:1].upper() + joined[1:]

    def with_row(self, **values: Value) -> "ResultTable":
        """The table with one row more; its values by key, and nothing where there is none."""
        columns = []
        for column in self.columns:
            value = values.get(column.key or column.name)
            text = None if column.written is None else [*column.written, column.show(value)]
            columns.append(replace(column, values=[*column.values, value], written=text))
        return replace(self, columns=tuple(columns))

    def records(self) -> list[dict[str, Any]]:
        """The numbers without rounding, a record for each row."""
        columns = [column.records() for column in self.columns]
        return [{key: value for part in row for key, value in part.items()} for row in zip(*columns, strict=True)]

    def to_frame(self) -> "pd.DataFrame":
        """The numbers as a pandas data frame (pandas must be installed)."""
        import pandas as pd  # late: half a second, and not a dependency

        return pd.DataFrame(self.records())


class Fact(Struct, frozen=True):
    """A number, or a word, with its label."""

    label: str
    value: Value
    key: str | None = None  # of its explanation: how it is computed
    written: str | None = None  # as people read it; None: as numbers usually are

    @property
    def text(self) -> str:
        return words.shown(self.value) if self.written is None else self.written


def facts_table(facts: Sequence[Fact]) -> ResultTable:
    """Facts as a table: a label, what is shown, and the number with its interval for downloads."""
    numbers = [fact.value if not isinstance(fact.value, str) else None for fact in facts]
    columns = (
        Column("quantity", [fact.label for fact in facts]),
        Column("value", [fact.text for fact in facts], key="shown"),
        Column("number", numbers, key="value", hidden=True),
    )
    return ResultTable("facts", "", columns)


class Caution(Struct, frozen=True):
    """What a reader must know beside the numbers: a note, what was left out, a method that could not be used."""

    kind: Literal["note", "dropped", "fallback"]
    text: str

    def __str__(self) -> str:
        return self.text if self.kind == "note" else f"{self.kind}: {self.text}"


def cautions_of(notes: Iterable[str], fallbacks: Iterable[Fallback] = ()) -> tuple[Caution, ...]:
    """Methods that could not be used, then notes.

    >>> [str(one) for one in cautions_of(["few items"], [Fallback("bca", "t", "no spread")])]
    ['fallback: bca → t: no spread', 'few items']
    """
    changed = [Caution("fallback", f"{one.wanted} → {one.used}: {one.why}") for one in fallbacks]
    return (*changed, *(Caution("note", note) for note in notes))


def looked_at(models: Sequence[str], n: int, units: str) -> tuple[Fact, ...]:
    """Which models were looked at, on how many units.

    >>> [(fact.label, fact.text) for fact in looked_at(["x", "y"], 3, "3 items")]
    [('models', 'x, y'), ('on', '3 items')]
    """
    return (Fact("model" if len(models) == 1 else "models", ", ".join(models)), Fact("on", n, written=units))


class Section(Struct, frozen=True):
    """Part of an answer: how to read it, figures, tables, and what follows from them."""

    key: str
    title: str
    about: str = ""
    figures: tuple[Figure, ...] = ()
    tables: tuple[ResultTable, ...] = ()
    said: tuple[str, ...] = ()
    page: str | None = None  # of the documentation, which says in full how its tables are computed
    plain: tuple[str, ...] = ()  # sentences to paste elsewhere, as they are
