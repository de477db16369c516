"""Token losses by amount of context: sums per document and bin of positions.

DuckDB adds up the shards; Python sees a row per document and bin, never the tokens. Sums are of integers, losses in
units of 2⁻⁴⁰ nats, so that neither the order of the tokens nor the number of threads changes a bit.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np
from numpy.typing import NDArray

from assay.data.arrays import columnwise
from assay.data.metrics import Metric
from assay.data.panel import Panel
from assay.data.readers.database import identifier, parquet_scan, private_database, refusals
from assay.data.runs import Run, open_run
from assay.data.tables import tokenization, tokens_notes
from assay.data.text_columns import TextColumn
from assay.errors import InputError, UsageError
from assay.files.reading import TABLE, check_file
from assay.files.stores.addresses import is_copy
from assay.names import one_line
from assay.stats.units import Floats, Integers, Texts

ClusterKind = Literal["document", "window"]

_UNIT = 1 << 40  # of the integer sums
_LARGEST_LOSS = 1e5  # nats per token; position and loss multiplied stay far inside 64 bits
_LINES = ("tokens", "loss", "x", "xx", "xy")


@dataclass(frozen=True, slots=True)
class Bin:
    """The positions low … high; a position is the number of tokens before a token in its window."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}–{self.high:,}"


@dataclass(frozen=True, slots=True)
class TokenRun:
    """A complete run with token-level losses."""

    run: Run
    label: str
    files: tuple[Path, ...]

    @property
    def name(self) -> str:
        """What a result calls the model."""
        return one_line(str(self.run.manifest.get("model", {}).get("name", self.run.folder.name)))

    @property
    def scan(self) -> str:
        return parquet_scan(*self.files)


@dataclass(frozen=True, eq=False, slots=True)
class PositionSums:
    """Sums over the tokens of each cluster (row) and bin (column); x is log₂ of the position, y the loss."""

    source: TokenRun
    cluster_by: ClusterKind
    clusters: Texts  # (n,) names, sorted
    tokens: Floats  # (n, K) whole numbers
    loss: Floats  # (n, K) Σy
    x: Floats  # (n, K) Σx; position 0 counts as 1
    xx: Floats  # (n, K) Σx²
    xy: Floats  # (n, K) Σxy
    prints: NDArray[np.uint64]  # (n, K) fingerprints of which tokens these are


@dataclass(frozen=True)
class LossInBin(Metric):
    """The mean loss of the tokens at the positions of a bin."""

    low: int = 0
    high: int = 0

    @classmethod
    def of_bin(cls, edge: Bin) -> "LossInBin":
        parts = f"loss/{edge}", f"tokens/{edge}"
        return cls(
            f"loss at {edge}",
            parts,
            ((parts[0],), (parts[1],)),
            scale="exp",
            lower_is_better=True,
            measured_in="nats per token",
            low=edge.low,
            high=edge.high,
        )


def positions_panel(edges: Sequence[Bin], sums: Sequence[PositionSums], names: Sequence[str]) -> Panel:
    """The sums of several runs as a panel: a metric per bin, and documents as units.

    Tokens and positions belong to the text and are shared by all runs; each run has its losses.
    """
    first = sums[0]
    parts: dict[str, Floats] = {}
    for k, edge in enumerate(edges):
        parts |= {f"{name}/{edge}": getattr(first, name)[:, [k]] for name in ("tokens", "x", "xx")}
        for name in ("loss", "xy"):
            parts[f"{name}/{edge}"] = columnwise(np.column_stack([getattr(one, name)[:, k] for one in sums]))
    starts = edges[0].low == 0 and first.source.run.manifest.get("layout", {}).get("bos")
    return Panel(
        tuple(names),
        TextColumn.of(first.clusters),
        parts,
        tuple(LossInBin.of_bin(edge) for edge in edges),
        first.cluster_by,
        notes=(
            *(["position 0 has the start token before it and nothing else"] if starts else ()),
            *tokens_notes([(one.source.label, one.source.run.manifest) for one in sums]),
        ),
    )


def open_tokens(folder: Path) -> TokenRun:
    """Open a run; refuse it if it is incomplete or has no token-level losses."""
    run, label = open_run(folder), one_line(str(folder))
    if not run.manifest.get("keep_tokens"):
        raise InputError(f"{label}: the run has no token-level losses; score again with `keep_tokens=True`.")
    if is_copy(folder):
        from assay.files.stores.copies import brought_too  # late: few runs are in a store

        brought_too(folder, "tokens-")
    files = run.files("tokens")
    lost = next((file for file in files if not file.exists()), None)
    if lost is not None:
        twin = lost.name.replace("tokens", "windows")
        raise InputError(f"{lost}: missing; delete {twin} beside it and run the same `assay score` again.")
    for file in files:
        check_file(file, TABLE)
    return TokenRun(run, label, tuple(files))


def read_positions(runs: Sequence[TokenRun], bins: int | Literal["log"]) -> tuple[list[Bin], list[PositionSums]]:
    """Bins that cover all positions of the runs, and each run's sums in them."""
    with closing(private_database()) as database:
        counts: dict[int, int] = {}
        for run in runs:
            for position, count in _counted(database, run):
                counts[position] = counts.get(position, 0) + count
        edges = binned(counts, bins, ", ".join(run.label for run in runs))
        return edges, [_summed(database, run, edges) for run in runs]


def check_plans(a: TokenRun, b: TokenRun) -> None:
    """Refuse two runs whose tokens do not pair, according to their manifests."""
    both = f"{a.label} and {b.label}"
    alone = "their positions do not pair, run `assay context` on each alone"
    first, second = a.run.manifest, b.run.manifest
    if tokenization(first, second) == "different":
        raise InputError(f"{both} have different tokenizers: {alone}.")
    if _text(first) != _text(second):
        raise InputError(f"{both} were scored on different texts: {alone}, or score both on one text.")
    for part in ("layout", "draw"):
        changed = _changed(first.get(part) or {}, second.get(part) or {})
        if changed:
            raise InputError(f"{both} have different windows ({changed}): score both with the same options.")


def _text(manifest: dict[str, Any]) -> dict[str, Any]:
    """What a run was scored on, however it was tokenized."""
    return {name: value for name, value in (manifest.get("text") or {}).items() if name != "token_ids"}


def _changed(a: dict[str, Any], b: dict[str, Any]) -> str:
    names = [name for name in sorted(a.keys() | b.keys()) if a.get(name) != b.get(name)]
    return ", ".join(f"{name} {a.get(name)} and {b.get(name)}" for name in names)


def check_tokens(a: PositionSums, b: PositionSums) -> None:
    """Refuse two runs that do not hold the same tokens of the same documents at the same positions."""
    both, what = f"{a.source.label} and {b.source.label}", a.cluster_by
    if not np.array_equal(a.clusters, b.clusters):
        lone = sorted(set(a.clusters) ^ set(b.clusters))
        named = ", ".join(map(repr, lone[:3])) + (", …" if len(lone) > 3 else "")
        raise InputError(
            f"{both} hold different {what}s ({len(lone)} in one only: {named}); score both on the same text."
        )
    other = np.argwhere((a.tokens != b.tokens) | (a.prints != b.prints))
    if len(other):
        name = a.clusters[other[0][0]]
        raise InputError(f"{both} hold different tokens of {what} {name!r}; score both with the same options.")


def binned(counts: dict[int, int], bins: int | Literal["log"], label: str) -> list[Bin]:
    """Bins over the positions that occur: doubling (0, 1, 2, 3–4, 5–8, …), or N with about equally many tokens."""
    if len(counts) < 2:
        only = next(iter(counts))
        raise InputError(f"{label}: every token has the same position ({only}); score with a longer `context`.")
    if bins == "log":
        found = log_bins(min(counts), max(counts))
        return [edge for edge in found if any(edge.low <= position <= edge.high for position in counts)]
    if not 2 <= bins <= len(counts):
        raise UsageError(f"bins must be log or from 2 to {len(counts):,}, the positions there are, but got {bins}.")
    return equal_bins(counts, bins)


def log_bins(lowest: int, highest: int) -> list[Bin]:
    """Each bin ends at a power of two and is twice as long as the one before.

    >>> print(*log_bins(0, 11))
    0 1 2 3–4 5–8 9–11
    """
    found, low = [], lowest
    while low <= highest:
        high = 0 if low == 0 else 1 << (low - 1).bit_length()
        found.append(Bin(low, min(high, highest)))
        low = high + 1
    return found


def equal_bins(counts: dict[int, int], n: int) -> list[Bin]:
    """N bins of neighbouring positions, each taking an equal share of the tokens left by the bins before it.

    >>> print(*equal_bins({1: 10, 2: 10, 3: 10, 4: 10, 5: 5, 6: 5}, 3))
    1–2 3–4 5–6
    """
    positions = sorted(counts)
    found, start, left = [], 0, sum(counts.values())
    for rest in range(n, 0, -1):
        stop, held = start + 1, counts[positions[start]]
        while len(positions) - stop > rest - 1 and (rest == 1 or held + counts[positions[stop]] / 2 <= left / rest):
            held += counts[positions[stop]]
            stop += 1
        found.append(Bin(positions[start], positions[stop - 1]))
        start, left = stop, left - held
    return found


def _counted(database: duckdb.DuckDBPyConnection, run: TokenRun) -> list[tuple[int, int]]:
    """Count the tokens at each position, and refuse losses that are not finite numbers."""
    bad = f"loss IS NULL OR NOT isfinite(loss) OR abs(loss) > {_LARGEST_LOSS}"
    query = f"SELECT position, count(*), count_if({bad}) FROM {run.scan} GROUP BY position ORDER BY position"
    rows = _run(database, run, query)
    if not rows:
        raise InputError(f"{run.label}: the run has no tokens; score longer texts.")
    if any(row[2] for row in rows):
        where = _run(database, run, f"SELECT document, token, loss FROM {run.scan} WHERE {bad} LIMIT 1")[0]
        loss = "missing" if where[2] is None else f"{where[2]:g}" if isfinite(where[2]) else str(where[2])
        raise InputError(f"{run.label}: document {where[0]!r}, token {where[1]}: loss is {loss}; score it again.")
    if rows[0][0] is None or rows[0][0] < 0:
        raise InputError(f"{run.label}: position must be 0 or more, but got {rows[0][0]}; score it again.")
    return [(int(position), int(count)) for position, count, _ in rows]


def _summed(database: duckdb.DuckDBPyConnection, run: TokenRun, edges: Sequence[Bin]) -> PositionSums:
    cluster = _cluster(database, run)
    places = np.concatenate([np.full(edge.high - edge.low + 1, i) for i, edge in enumerate(edges)])
    positions = np.concatenate([np.arange(edge.low, edge.high + 1) for edge in edges])
    database.register("places", {"position": positions, "bin": places})
    sums = ", ".join(f"sum(CAST(round({what} * {_UNIT}) AS BIGINT)) AS {name}" for name, what in _PRODUCTS.items())
    rows = f"SELECT *, log2(greatest(position, 1)) AS p FROM {run.scan} JOIN places USING (position)"
    which = "bit_xor(hash(document, token, position)) AS print"
    select = f"{identifier(cluster)} AS unit, bin, count(*) AS tokens, {sums}, {which}"
    _run(database, run, f"CREATE OR REPLACE TEMP TABLE sums AS SELECT {select} FROM ({rows}) GROUP BY unit, bin")
    _run(database, run, "CREATE OR REPLACE TEMP TABLE units AS SELECT DISTINCT unit FROM sums ORDER BY unit")
    names = [str(name) for (name,) in _run(database, run, "SELECT unit FROM units ORDER BY unit")]
    if len(names) < 2:
        raise InputError(f"{run.label}: one document in one window; an interval needs more of them: score more text.")
    return PositionSums(run, cluster, np.array(names, dtype=object), **_tables(database, len(names), len(edges)))


_PRODUCTS = {"loss": "loss", "x": "p", "xx": "p * p", "xy": "p * loss"}


def _cluster(database: duckdb.DuckDBPyConnection, run: TokenRun) -> ClusterKind:
    ((first, last),) = _run(database, run, f"SELECT min(document), max(document) FROM {run.scan}")
    return "window" if first == last else "document"


def _tables(database: duckdb.DuckDBPyConnection, n: int, bins: int) -> dict[str, NDArray[Any]]:
    """(n, K) each: DuckDB's sums, 0 where a cluster has no token in a bin."""
    numbers = ", ".join(f"CAST({name} AS DOUBLE) / {1 if name == 'tokens' else _UNIT} AS {name}" for name in _LINES)
    coded = "SELECT unit, row_number() OVER (ORDER BY unit) - 1 AS code FROM units"
    query = f"SELECT code, bin, {numbers}, print FROM sums JOIN ({coded}) USING (unit)"
    found = database.execute(query).fetchnumpy()
    row: Integers = found["code"].astype(np.int64)
    column: Integers = found["bin"].astype(np.int64)
    tables: dict[str, NDArray[Any]] = {name: np.zeros((n, bins)) for name in _LINES}
    tables["prints"] = np.zeros((n, bins), dtype=np.uint64)
    for name, values in tables.items():
        values[row, column] = found["print" if name == "prints" else name]
    return tables


def _run(database: duckdb.DuckDBPyConnection, run: TokenRun, query: str) -> list[Any]:
    try:
        return database.execute(query).fetchall()
    except refusals() as error:
        said = str(error).partition("\n")[0].strip().rstrip(".")
        raise InputError(
            f"{run.label}: a shard of the run cannot be read ({said}); score again with `overwrite=True`."
        ) from error
