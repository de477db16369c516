"""Rows of single tokens, added up by document (or another column) in the database before they reach Python.

Of 200 million tokens a comparison needs their documents only: how many tokens each has, and the sum of their losses.
The sums do not depend on the order of the rows or on the number of threads, which sums of floating numbers would: each
loss is rounded once, to a whole number of 2⁻⁴⁰ nats, and whole numbers are added. So a loss is off by 5e-13 nats at
most, and a float32 of at least 2⁻¹⁶ not at all. What does not fit into memory is put into a temporary folder, which is
removed.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.data.memory import left, shown_size
from assay.data.readers import Column, Reading
from assay.data.readers.arrow_streams import columns_of
from assay.data.readers.database import DuckSource, private_database, refusals
from assay.data.text_columns import TextColumn
from assay.errors import InputError, UsageError
from assay.names import argument, listed, nearest, shown

#: Whole numbers of this part of a nat are added.
STEP = 2.0**-40
_MOST = 2.0**22  # nats of a row: 2⁶² steps
_SIZES = ("bytes", "chars")
_TO_COME = 26  # bytes for each unit that pairing and the statistics take beside the table (docs/sizing.md)
_OURS = ("loss", "tokens", *_SIZES)


class AddedRows:
    """A table of losses with a row for each value of a column: tokens counted, losses averaged."""

    def __init__(self, rows: DuckSource, by: str, mapping: Mapping[str, str]) -> None:
        self._rows, self._by = rows, by
        self._names = _names_in(rows, by, mapping)
        self.label, self.name = rows.label, rows.name
        self.columns: tuple[str, ...] = ("window", "tokens", "loss", *(name for name in _SIZES if name in self._names))
        self.notes: tuple[str, ...] = (
            *rows.notes,
            f"{rows.label}: rows are added up by {by!r}, which is what is drawn",
        )
        self.about: Mapping[str, Any] = {**rows.about, **({"unit": by} if by.isidentifier() else {})}
        self._ids = TextColumn.of([])

    def read(self, wanted: Sequence[tuple[str, Reading]]) -> Iterator[Column]:
        found = dict(zip(("window", "tokens", "loss", "lost", *self.columns[3:]), self._columns(), strict=True))
        self._check(found)
        self._check_room(len(found["window"]))
        self._ids = found["window"]
        for name, _ in wanted:
            yield found.pop(name)

    def cell(self, column: str, row: int) -> str:
        return self._ids[row - 1] if column == "window" else f"the {column} of {self._ids[row - 1]!r}"

    def places(self, rows: Sequence[int]) -> list[str]:
        return [f"{self._by} {self._ids[row - 1]!r}" for row in rows]

    # ------------------------------------------------------------------------------------------------------- adding up

    def _columns(self) -> list[Any]:
        """Ids, tokens, mean losses, rows that are no good, and sizes."""
        query = self._query()
        texts = [True, *(False for _ in range(3 + len(self.columns[3:])))]
        try:
            import tempfile

            with tempfile.TemporaryDirectory(prefix="assay-") as folder, private_database(spill=folder) as database:
                return [*columns_of(database.sql(query), texts)]
        except refusals() as error:
            if type(error).__name__ == "OutOfMemoryException":
                raise _too_little(self.label) from error
            raise self._rows.refusal(error, self._rows.fault()) from error

    def _query(self) -> str:
        rows, sizes = self._rows, self.columns[3:]
        size_of = {name: f"CAST({self._number(name)} AS BIGINT)" for name in sizes}
        inner = "".join(f", {sql} AS {name}" for name, sql in size_of.items())
        added = "".join(f", coalesce(sum({name}), 0)::DOUBLE AS {name}" for name in sizes)
        outer = "".join(f", {name}" for name in sizes)
        weight = self._tokens()
        tokens = "count(steps)" if weight is None else "coalesce(sum(tokens), 0)"
        inner += "" if weight is None else f", CASE WHEN {self._good()} THEN CAST({weight} AS BIGINT) END AS tokens"
        return (
            f"SELECT coalesce(unit, ''), tokens, coalesce(steps * {STEP!r} / nullif(tokens, 0), 0), lost{outer} FROM ("
            f"SELECT unit, {tokens}::DOUBLE AS tokens, sum(steps)::DOUBLE AS steps, "
            f"(count(*) - count(steps))::DOUBLE AS lost{added} FROM ("
            f"SELECT {rows.text(self._by)} AS unit, {self._steps()} AS steps{inner} "
            f"FROM {rows.scan([self._by, *self._names.values()])}) GROUP BY unit)"
        )

    def _number(self, ours: str) -> str:
        """The SQL of a column as a number, NaN where it is none."""
        column = self._names[ours]
        # Plainly cast, DuckDB would have its reader of CSV do it, which refuses the file for a cell that is no number.
        return f"coalesce({self._rows.number(column)}, 'nan'::DOUBLE)"

    def _tokens(self) -> str | None:
        """The SQL of how many tokens a row has; ``None``: one each."""
        return self._number("tokens") if "tokens" in self._names else None

    def _nats(self) -> str:
        loss, weight = self._number("loss"), self._tokens()
        return loss if weight is None else f"({loss} * {weight})"

    def _good(self) -> str:
        """The SQL of whether a row can be added."""
        nats, weight = self._nats(), self._tokens()
        whole = "" if weight is None else f" AND {weight} >= 1 AND {weight} = floor({weight})"
        return f"{nats} >= 0 AND {nats} < {_MOST!r}{whole}"

    def _steps(self) -> str:
        return f"CASE WHEN {self._good()} THEN CAST({self._nats()} * {1 / STEP!r} AS BIGINT) END"

    # --------------------------------------------------------------------------------------------------------- checks

    def _check(self, found: Mapping[str, Any]) -> None:
        """Refuse rows without a number of nats, and rows of no document."""
        if found["lost"].any():
            raise self._first_bad()
        ids: TextColumn = found["window"]
        blank = ids.first_blank()
        if blank is not None:
            count = int(found["tokens"][blank])
            raise InputError(
                f"{self.label}, column {self._by!r}: {count:,} tokens have an empty cell there; fill it in, or take "
                "these rows out."
            )

    def _check_room(self, units: int) -> None:
        """Refuse more units than the comparison after this has room for: only now it is known how many there are."""
        rest, need = left(), units * _TO_COME
        if rest is not None and need > rest:
            raise InputError(
                f"{self.label}: to compare {units:,} values of {self._by!r} takes about {shown_size(need)} more, and "
                f"{shown_size(max(rest, 0))} are left of `memory`; give more, or add up by a column with fewer values."
            )

    def _first_bad(self) -> InputError:
        """The error for the first row that cannot be added."""
        names = [self._names["loss"], *([self._names["tokens"]] if "tokens" in self._names else [])]
        cells = ", ".join(f"coalesce({self._rows.text(name)}, '') AS c{i}" for i, name in enumerate(names))
        numbered = (
            f"SELECT row_number() OVER () AS place, {cells}, coalesce({self._good()}, false) AS good "
            f"FROM {self._rows.scan([self._by, *self._names.values()])}"
        )
        with private_database() as database:
            row = database.execute(f"SELECT * FROM ({numbered}) WHERE NOT good LIMIT 1").fetchone()
        assert row is not None  # some are not good
        told = " and ".join(f"{name!r} {shown(str(cell))}" for name, cell in zip(names, row[1:-1], strict=True))
        place = self._rows.places([int(row[0])])[0]
        tokens = "" if len(names) == 1 else ", and tokens a whole number of at least 1"
        return InputError(
            f"{self.label}, {place}: a loss must be a number from 0 to {_MOST:,.0f}{tokens}, but got {told}; give "
            "-log p of the token, in nats, or take the row out."
        )


def added_up(opened: Any, by: str, mapping: Mapping[str, str]) -> AddedRows:
    """A table whose rows are added up by a column; only files of tables can be."""
    if not isinstance(opened, DuckSource) or "measure" in opened.about:
        raise UsageError(
            f"{argument('Selection', sum_by=by)} adds up the rows of a CSV, TSV, JSONL or Parquet file, and "
            f"{opened.label} is none; leave it out."
        )
    return AddedRows(opened, by, mapping)


def _names_in(rows: DuckSource, by: str, mapping: Mapping[str, str]) -> dict[str, str]:
    """What the file calls our columns, where it has them."""
    named = {ours: mapping.get(ours, ours) for ours in _OURS}
    for what, name in (("to add up by", by), ("loss", named["loss"])):
        if name not in rows.columns:
            close = nearest(name, rows.columns)
            hint = f"did you mean {close!r}?" if close else "name one of them."
            raise InputError(
                f"{rows.label}: no column {name!r} ({what}) among its columns {listed(rows.columns)}; {hint}"
            )
    if "model" in rows.columns and "model" not in mapping:
        raise InputError(
            f"{rows.label}: rows of several models cannot be added up together, and it has a column 'model'; write a "
            "file for each, or leave the column out with `columns={'model': ''}`."
        )
    return {ours: name for ours, name in named.items() if name in rows.columns}


def _too_little(label: str) -> InputError:
    rest = left()
    room = "" if rest is None else f" (about {shown_size(max(rest, 0))} are left of it)"
    return InputError(f"{label}: its rows cannot be added up in so little memory{room}; give more with `memory`.")
