"""Write the same rows in every format, without any code of ours."""

import csv
import json
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.data import Panel, Table, read_table
from assay.errors import InputError

FORMATS = ("csv", "tsv", "jsonl", "parquet")
Rows = Mapping[str, Any]  # name → values
panel_of = partial(Panel.from_tables, missing="complete")  # of the units that all tables have


def write_rows(path: Path, rows: Rows) -> Path:
    """Write columns to a file in the format of its extension."""
    records = [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
    if path.suffix in (".csv", ".tsv"):
        _write_delimited(path, rows, records)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    else:
        _write_parquet(path, rows, records)
    return path


def _write_delimited(path: Path, rows: Rows, records: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows), delimiter="," if path.suffix == ".csv" else "\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)


def _write_parquet(path: Path, rows: Rows, records: list[dict[str, Any]]) -> None:
    types = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}
    columns = ", ".join(f'"{name}" {types[type(values[0])]}' for name, values in rows.items())
    connection = _duckdb()
    connection.execute(f"CREATE OR REPLACE TABLE t ({columns})")
    connection.executemany(
        f"INSERT INTO t VALUES ({', '.join('?' * len(rows))})",  # noqa: S608 - question marks
        [list(record.values()) for record in records],
    )
    target = str(path).replace("'", "''")
    connection.execute(f"COPY t TO '{target}' (FORMAT parquet)")


@cache
def _duckdb() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def assert_refused(source: Any, *parts: str, **options: Any) -> str:
    """The message of a refusal: one line that has all the parts, from an error with exit code 3."""
    with pytest.raises(InputError) as caught:
        read_table(source, **options)
    return checked_message(caught.value, *parts)


def checked_message(error: InputError, *parts: str) -> str:
    message = str(error)
    assert error.exit_code == 3
    assert "\n" not in message
    assert [part for part in parts if part not in message] == [], message
    return message


def losses(name: str = "the table", **columns: Any) -> Table:
    return read_table({"window": ["w1", "w2"], "tokens": [512, 256], "loss": [1.0, 2.0]} | columns, name=name)


def scores(name: str = "the table", **columns: Any) -> Table:
    return read_table({"item": ["q1", "q2"], "score": [1.0, 0.0]} | columns, name=name)
