"""The evidence of a certificate: the rows of both systems, in a file beside it."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.certificate.fields import BothSystems
from assay.certificate.rules import union_of
from assay.certificate.signing import envelope_path
from assay.data import Panel, Table
from assay.data.costs import COSTS
from assay.data.metrics import UNITS, Kind
from assay.data.readers.database import copy_columns
from assay.data.reading import read_parquet
from assay.data.runs.rates import Size
from assay.data.tables import Labels
from assay.data.text_columns import TextColumn, concatenated
from assay.errors import InputError
from assay.files.writing import write_whole
from assay.names import listed


def written_files(certificate: Path) -> tuple[Path, ...]:
    """Everything that `certify` writes: the certificate, its evidence and, if it is signed, the envelope."""
    return certificate, evidence_path(certificate), envelope_path(certificate)


def evidence_path(certificate: Path) -> Path:
    """CERT.json → CERT.evidence.parquet."""
    return certificate.with_name(certificate.stem + ".evidence.parquet")


def file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def with_costs(table: Table, wanted: Collection[str]) -> Table:
    """The table with these costs only: what decides nothing is not kept, and cells of costs may be empty."""
    kept = {name: values for name, values in table.numbers.items() if name not in COSTS or name in wanted}
    return replace(table, numbers=kept)


def with_better(table: Table, *, lower_is_better: bool) -> Table:
    """The table with a column that says which scores are better, as nothing else in symmetric rows does."""
    if table.kind == "losses":
        return table  # lower is always better
    said = Labels((str(lower_is_better).lower(),), np.zeros(len(table), dtype=np.int64))
    return replace(table, labels={**table.labels, "lower_is_better": said})


def read_both(
    proof: Path,
    systems: BothSystems,
    kind: Kind,
    *,
    cluster: str | None,
    lower_is_better: bool,
    per: Size | None = None,
) -> tuple[Panel, int]:
    """The windows, or items, of both systems in the evidence, and how many rows it has.

    Which scores are better is as the evidence says, and as the certificate states only where that says nothing:
    evidence of earlier versions does not.
    """
    table = read_parquet(proof, kind=kind, cluster=cluster)
    if table.models != ("baseline", "subject"):
        raise InputError(f"{proof}: the models must be baseline and subject, but it has {listed(table.models)}.")
    baseline, subject = (
        replace(table.select(role), name=getattr(systems, role).name) for role in ("baseline", "subject")
    )
    lower = table.about.get("lower_is_better", lower_is_better)
    return union_of(baseline, subject, cluster=cluster, lower_is_better=lower, per=per), len(table)


def write_tables(path: Path, tables: Mapping[str, Table]) -> int:
    """Write tables of one kind as one sorted Parquet file with a ``model`` column: equal rows give equal bytes.

    `read_table` reads it back, exact to the last bit. Returns the number of rows.
    """
    columns = _columns(tables)
    write_whole(path, lambda part: copy_columns(columns, part))
    return len(columns["model"])


def _columns(tables: Mapping[str, Table]) -> dict[str, TextColumn | NDArray[np.float64]]:
    parts = [(name, table, _order(table)) for name, table in tables.items()]
    first = next(iter(tables.values()))
    numbers = [name for name in first.numbers if all(name in table.numbers for table in tables.values())]
    names = dict.fromkeys(name for table in tables.values() for name in table.labels if name != "model")
    labels = [n for n in names if n == "run" or all(n in table.labels for table in tables.values())]
    columns: dict[str, TextColumn | NDArray[np.float64]] = {
        "model": concatenated([_constant(name, len(table)) for name, table, _ in parts]),
        UNITS[first.kind]: concatenated([table.ids[order] for _, table, order in parts]),
    }
    for name in labels:
        columns[name] = concatenated([_texts(table, name)[order] for _, table, order in parts])
    for name in numbers:
        columns[name] = np.concatenate([table.numbers[name][order] for _, table, order in parts])
    return columns


def _texts(table: Table, name: str) -> TextColumn:
    if name not in table.labels:
        return _constant("1", len(table))  # a table without runs, beside one with several, has one
    return TextColumn.of(table.labels[name].names)[table.labels[name].codes]


def _constant(text: str, rows: int) -> TextColumn:
    return TextColumn.of([text])[np.zeros(rows, dtype=np.int64)]


def _order(table: Table) -> NDArray[np.int64]:
    """Row order by split, id and run."""
    keys = [table.labels[name].codes for name in ("run",) if name in table.labels]
    keys.append(table.ids.ranks)
    keys += [table.labels[name].codes for name in ("split",) if name in table.labels]
    return np.lexsort(keys)
