"""Losses of windows as bits per byte or per character of whole documents, for models whose tokens differ.

Tokens of two tokenizers do not pair, nor do their windows; documents do. A document's rate is Σ nats / (ln 2 · Σ bytes)
over the tokens that count. Where every token of a document is predicted, as by default, those are all its bytes, the
same for both models. Where first tokens are left out (no start token, or --cut fresh) their bytes depend on the
tokenizer; then each document weighs as much as the models count of it on average.
"""

from collections.abc import Sequence
from math import log
from typing import Literal

import numpy as np

from assay.data.comparable import check_cuts, of_split
from assay.data.tables import Table
from assay.errors import InputError, UsageError
from assay.stats.units import Floats, Integers

Size = Literal["byte", "character"]
COLUMNS: dict[Size, str] = {"byte": "bytes", "character": "chars"}


def bits_per(size: Size, tables: Sequence[Table], *, split: str | None = None) -> list[Table]:
    """Tables of scores, a row per document: bits per byte or character, weighted alike in all tables."""
    if size not in COLUMNS:
        raise UsageError(f"per must be one of {', '.join(COLUMNS)}, but got {size!r}.")
    _check_text(tables)
    for table in tables[1:]:
        check_cuts(tables[0], table)
    chosen = [of_split(_checked(table, size), split) for table in tables]
    sums = [_by_document(table, COLUMNS[size]) for table in chosen]
    names = sorted(set().union(*sums))
    weights = {name: float(np.mean([found[name][1] for found in sums if name in found])) for name in names}
    note = _counted(tables, sums, size)
    return [_table(table, found, weights, size, note) for table, found in zip(chosen, sums, strict=True)]


def _checked(table: Table, size: Size) -> Table:
    if table.kind != "losses":
        raise InputError(f"{table.label}: holds scores; only losses have bits per {size}.")
    if COLUMNS[size] not in table.numbers:
        raise InputError(f"{table.label}: no column {COLUMNS[size]!r}, so no bits per {size}; add it, or score again.")
    if "document" not in table.labels:
        raise InputError(f"{table.label}: no column 'document', which is what pairs here; add it, or score again.")
    return table


def _check_text(tables: Sequence[Table]) -> None:
    """Refuse runs of different text, whose documents may have the same names."""
    known = [(table, digest) for table in tables if (digest := table.about.get("text", {}).get("sha256"))]
    for table, digest in known[1:]:
        if digest != known[0][1]:
            raise InputError(
                f"{known[0][0].label} and {table.label} are runs of different text; score both on the same documents."
            )


def _by_document(table: Table, column: str) -> dict[str, tuple[float, float]]:
    """Bits and size of the tokens that count, by document."""
    documents = table.labels["document"]
    bits = _grouped(table.numbers["loss"] * table.numbers["tokens"] / log(2), documents.codes)
    sizes = _grouped(table.numbers[column], documents.codes)
    return {name: (float(b), float(s)) for name, b, s in zip(documents.names, bits, sizes, strict=True)}


def _grouped(values: Floats, codes: Integers) -> Floats:
    return np.bincount(codes, weights=values).astype(np.float64, copy=False)


def _counted(tables: Sequence[Table], sums: Sequence[dict[str, tuple[float, float]]], size: Size) -> str | None:
    """What the tables count of the text, where it is not the same."""
    totals = [sum(found[1] for found in one.values()) for one in sums]
    if len(set(totals)) == 1:
        return None
    each = ", ".join(f"{table.name} {total:,.0f}" for table, total in zip(tables, totals, strict=True))
    return f"{COLUMNS[size]} that count differ with the tokenizer ({each}): documents weigh as their mean"


def _table(
    table: Table, found: dict[str, tuple[float, float]], weights: dict[str, float], size: Size, note: str | None
) -> Table:
    ids = np.empty(len(found), dtype=object)
    ids[:] = list(found)
    return Table(
        table.label,
        table.name,
        "scores",
        ids,
        {
            "score": np.array([bits / counted for bits, counted in found.values()]),
            "weight": np.array([weights[name] for name in found]),
        },
        {},
        np.arange(1, len(found) + 1),
        {"weight": COLUMNS[size]},
        notes=() if note is None else (note,),
        about={"lower_is_better": True, "measure_name": f"bits per {size}", "unit": "document"},
    )
