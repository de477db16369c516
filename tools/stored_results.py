"""Numbers in the tables of benchmarks/results, by the words beside them."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
TableRow = dict[str, str]


@cache
def _lines(name: str) -> tuple[str, ...]:
    return tuple((RESULTS / f"{name}.md").read_text("utf-8").splitlines())


def tables_of(name: str) -> list[list[TableRow]]:
    """The tables of a results file, in its order; a heading that is there twice is called so the second time."""
    tables: list[list[TableRow]] = []
    header: list[str] = []
    for line in _lines(name):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            header = []
        elif not header:
            header = [cell + " (2)" * (cell in cells[:place]) for place, cell in enumerate(cells)]
            tables.append([])
        elif set("".join(cells)) != {"-"}:
            tables[-1].append(dict(zip(header, cells, strict=True)))
    return tables


def all_rows(name: str) -> Iterator[TableRow]:
    return (row for table in tables_of(name) for row in table)


def rows_of(name: str, first: str) -> Iterator[TableRow]:
    """The rows of all tables whose first column is called ``first``."""
    return (row for row in all_rows(name) if next(iter(row)) == first)


def cell(name: str, wanted: Mapping[str, str], column: str) -> str:
    """The cell in this column of the first row that has the wanted ones; its value without what follows ±."""
    for row in all_rows(name):
        if column in row and all(row.get(key) == value for key, value in wanted.items()):
            return row[column].partition(" ±")[0]
    raise LookupError(f"benchmarks/results/{name}.md has no row {dict(wanted)} with a column {column!r}")


def number(name: str, wanted: Mapping[str, str], column: str) -> float:
    return float(cell(name, wanted, column).replace(",", ""))
