"""Bits per byte or per character of whole documents, to compare models with different tokenizers.

Tokens and windows of two tokenizers do not pair; documents do. A document's rate is Σ nats / (ln 2 · Σ bytes) over the
predicted tokens. If every token of a document is predicted, as by default, these are all its bytes, the same for all
models. If first tokens are left out (no start token, or the cut "fresh"), their bytes depend on the tokenizer, and a
document is weighted by the average size that the models count.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Literal

import numpy as np

from assay.data.metrics import SCORE
from assay.data.pairing import system_names
from assay.data.panel import Panel
from assay.data.tables import Labels, Table, check_cuts, of_split
from assay.data.text_columns import TextColumn
from assay.errors import InputError, UsageError
from assay.stats.units import Floats, grouped

Size = Literal["byte", "character"]
COLUMNS: dict[Size, str] = {"byte": "bytes", "character": "chars"}
RATES: dict[str, Size] = {f"bits per {size}": size for size in COLUMNS}  # by the name of the metric
_Sums = dict[str, tuple[float, float]]  # bits and size of the tokens that count, by document


def check_per(size: Size | None, *, cluster: str | None, lower_is_better: bool | None) -> None:
    """Refuse what contradicts bits of whole documents."""
    if size is None:
        return
    _check_size(size)
    if cluster not in (None, "document"):
        raise UsageError(f"per draws whole documents, and not {cluster!r}; leave cluster out.")
    if lower_is_better is False:
        raise UsageError("lower_is_better must not be False for losses: a lower log-loss is always the better one.")


def rates_of_tables(
    size: Size,
    tables: Sequence[Table],
    *,
    names: Sequence[str] | None = None,
    split: str | None = None,
    whole: bool = False,
) -> Panel:
    """A panel of documents: bits per byte or character, with common weights, and holes.

    ``whole``: refuse tables that do not count the same text of a document.
    """
    _check_size(size)
    _check_text(tables)
    for table in tables[1:]:
        check_cuts(tables[0], table)
    chosen = [of_split(_checked(table, size), split) for table in tables]
    sums = [
        _by_document(one.labels["document"], one.numbers["loss"] * one.numbers["tokens"], one.numbers[COLUMNS[size]])
        for one in chosen
    ]
    if whole:
        _check_whole(size, tables, sums)
    return _filled(size, system_names(chosen, names), sums, _counted(tables, sums, size))


def rates_of_panel(size: Size, panel: Panel) -> Panel:
    """The same from a panel of windows, whose systems share their tokens."""
    _check_size(size)
    if panel.kind != "losses":
        raise InputError(f"the panel holds scores; only losses have bits per {size}.")
    if COLUMNS[size] not in panel.parts:
        raise InputError(f"the panel has no {COLUMNS[size]}, so no bits per {size}; make it with sizes of its windows.")
    documents = panel.label("document")
    sums = []
    for system in range(panel.k):
        there = panel.answered[:, system]
        sizes = panel.column(COLUMNS[size], system)[there]
        sums.append(_by_document(documents.where(there), panel.numerators[there, system], sizes))
    return _filled(size, panel.systems, sums, panel.notes)


def _check_size(size: Size) -> None:
    if size not in COLUMNS:
        raise UsageError(f"per must be one of {', '.join(COLUMNS)}, but got {size!r}.")


def _checked(table: Table, size: Size) -> Table:
    if table.kind != "losses":
        raise InputError(f"{table.label}: holds scores; only losses have bits per {size}.")
    if COLUMNS[size] not in table.numbers:
        raise InputError(f"{table.label}: no column {COLUMNS[size]!r}, so no bits per {size}; add it, or score again.")
    if "document" not in table.labels:
        raise InputError(f"{table.label}: no column 'document', which is what pairs here; add it, or score again.")
    return table


def _check_text(tables: Sequence[Table]) -> None:
    """Refuse runs on different texts, even if their documents have the same names."""
    known = [(table, digest) for table in tables if (digest := table.about.get("text", {}).get("sha256"))]
    for table, digest in known[1:]:
        if digest != known[0][1]:
            raise InputError(
                f"{known[0][0].label} and {table.label} are runs of different text; score both on the same documents."
            )


def _by_document(documents: Labels, nats: Floats, sizes: Floats) -> _Sums:
    both = zip(grouped(nats / log(2), documents.codes), grouped(sizes, documents.codes), strict=True)
    named = zip(documents.names, both, strict=True)
    return {name: (float(bits), float(size)) for name, (bits, size) in named if size > 0}  # else: no text of it counts


def _check_whole(size: Size, tables: Sequence[Table], sums: Sequence[_Sums]) -> None:
    """Refuse a document of which one table counts more than another: what was left out may be what is hard."""
    for table, found in zip(tables[1:], sums[1:], strict=True):
        for name in sorted(found.keys() & sums[0].keys()):
            if (both := (sums[0][name][1], found[name][1]))[0] != both[1]:
                raise InputError(
                    f"{tables[0].label} and {table.label} count {both[0]:,.0f} and {both[1]:,.0f} {COLUMNS[size]} of "
                    f"the document {name!r}; score all of it with both, with `prefix='auto'` and `cut='rolling'`."
                )


def _counted(tables: Sequence[Table], sums: Sequence[_Sums], size: Size) -> tuple[str, ...]:
    """A note on how much of the text each table counts, where that differs."""
    totals = [sum(found[1] for found in one.values()) for one in sums]
    if len(set(totals)) == 1:
        return ()
    each = ", ".join(f"{table.name} {total:,.0f}" for table, total in zip(tables, totals, strict=True))
    return (f"{COLUMNS[size]} that count differ with the tokenizer ({each}): documents weigh as their mean",)


def _filled(size: Size, systems: Sequence[str], sums: Sequence[_Sums], notes: tuple[str, ...]) -> Panel:
    """Rate × weight of every document; its weight is the mean size that the systems count."""
    documents = sorted(set().union(*sums))
    weights = np.array([float(np.mean([found[name][1] for found in sums if name in found])) for name in documents])
    rates = np.full((len(documents), len(sums)), np.nan, order="F")
    for system, found in enumerate(sums):
        for place, name in enumerate(documents):
            if name in found:
                bits, counted = found[name]
                rates[place, system] = bits / counted
    metric = replace(SCORE, name=f"bits per {size}", lower_is_better=True)
    parts = {"score": np.asfortranarray(rates * weights[:, None]), "weight": weights[:, None]}
    return Panel(tuple(systems), TextColumn.of(documents), parts, (metric,), "document", notes=notes)
