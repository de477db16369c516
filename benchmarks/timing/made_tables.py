"""Tables of any size for benchmarks, made by DuckDB: the same on every machine."""

from pathlib import Path

import duckdb

_SCORES = "round((hash(i) % 1000 + hash(i, {arm}) % 1000) / 2000, 4)"


def scores(path: Path, rows: int, *, arm: int, shuffled: bool = False, models: int = 0, tasks: int = 0) -> str:
    """Items with scores, of one model or of several in one long table; as Parquet or CSV, by the name."""
    named = "printf('m%03d', m) AS model, " if models else ""
    task = f"printf('t%03d', i % {tasks}) AS task, " if tasks else ""
    score = _SCORES.format(arm=f"m + {arm}" if models else arm)
    cross = f", range({models}) AS models(m)" if models else ""
    order = f" ORDER BY hash(i, {arm}, 7)" if shuffled else ""
    return _written(
        path,
        f"SELECT {task}printf('item-%08d', i) AS item, {named}{score} AS score "  # noqa: S608  # numbers
        f"FROM range({rows}) AS items(i){cross}{order}",
    )


def losses(path: Path, rows: int, *, arm: int) -> str:
    """Windows of 512 tokens with losses."""
    loss = f"round(2 + hash(i) % 1000 / 500 + hash(i, {arm}) % 1000 / 5000, 5)"
    return _written(path, f"SELECT printf('w%08d', i) AS window, 512 AS tokens, {loss} AS loss FROM range({rows}) r(i)")  # noqa: S608


def tokens(path: Path, rows: int, *, arm: int, shuffled: bool = False) -> str:
    """Single tokens with their losses, 500 of each document in order, or five of each of many in no order."""
    place = f"hash(i) % {rows // 5}" if shuffled else "i // 500"
    loss = f"(2 + hash(i) % 1000 / 500 + hash(i, {arm}) % 1000 / 5000)::FLOAT"
    return _written(path, f"SELECT printf('doc-%08d', {place}) AS document, {loss} AS loss FROM range({rows}) r(i)")  # noqa: S608


def _written(path: Path, rows: str) -> str:
    kind = "csv" if path.suffix == ".csv" else "parquet"
    duckdb.sql(f"COPY ({rows}) TO '{path}' (FORMAT {kind})")
    return str(path)
