"""Training logs as tables: CSV, JSONL and Parquet with a row for each logged step."""

import re
from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from assay.data.columns import check_once
from assay.data.readers import RowSource
from assay.data.readers.registry import open_source
from assay.data.training import EMPTY, StepSeries, TrainingLog, deciding, predicts_tokens, set_name, training_losses
from assay.errors import InputError
from assay.names import shown

SUFFIXES = frozenset({".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq"})

#: Columns of a table and the names they go by, in lower case with _ for spaces, hyphens and slashes.
_COLUMNS = {
    "step": ("step", "global_step", "train_global_step"),
    "loss": ("loss", "train_loss", "training_loss"),
    "grad_norm": ("grad_norm", "gradient_norm", "train_grad_norm"),
    "learning_rate": ("learning_rate", "lr", "train_learning_rate"),
    "valid": ("eval_loss", "valid_loss", "validation_loss", "val_loss"),
    "step_seconds": ("step_seconds",),
}
_NO_LOSS = frozenset({"", "no log"})  # a row of something else, as the table of a notebook has it


def read_log_table(path: Path, name: str | None) -> TrainingLog:
    """The log in a table; without a name its arm is empty."""
    source = open_source(path)
    found = _layout(source)
    columns = source.read([(found["loss"], "text"), *((theirs, "number") for theirs in found.values())])
    texts, values = next(columns), dict(zip(found, columns, strict=True))
    steps = values.pop("step")
    sets = _named_sets(source, steps)
    if not np.isfinite(steps).all():
        row = int(np.argmin(np.isfinite(steps))) + 1
        cell = source.cell(found["step"], row)
        raise InputError(f"{source.label}, {source.places([row])[0]}: no step ({shown(cell)}); write its number.")
    loss = _losses(source, steps, values.pop("loss"), texts)
    series = {ours: _finite(steps, column) for ours, column in values.items()}
    valid, decides = deciding(series.get("valid", EMPTY), sets)
    return TrainingLog(
        label=source.label,
        arm=name or "",
        kind="table",
        loss=training_losses(source.label, loss),
        grad_norm=series.get("grad_norm", EMPTY),
        rate=series.get("learning_rate", EMPTY),
        valid=valid,
        valid_sets=sets,
        valid_name=decides,
        language_model=predicts_tokens(map(_plain, source.columns)),
        step_seconds=series.get("step_seconds", EMPTY).values,
        seconds=float(series["step_seconds"].values.sum()) if "step_seconds" in series else None,
        last_step=int(steps.max()),
        file=path,
    )


def _layout(source: RowSource) -> Mapping[str, str]:
    """Our names of the columns that are there, with the file's."""
    plain = {_plain(column): column for column in reversed(source.columns)}
    found = {ours: next((plain[name] for name in names if name in plain), None) for ours, names in _COLUMNS.items()}
    for ours in ("step", "loss"):
        if found[ours] is None:
            accepted = "; ".join(" or ".join(names) for names in _COLUMNS.values())
            raise InputError(
                f"{source.label}: no column {ours!r} among {', '.join(source.columns)}; a log needs step and loss. "
                f"Names that are read, in capitals or not, with spaces or _: {accepted}."
            )
    taken = {ours: theirs for ours, theirs in found.items() if theirs is not None}
    check_once(source.label, source.columns, taken.values())
    return taken


def _plain(column: str) -> str:
    return re.sub(r"[\s_/-]+", "_", column.strip()).casefold()


def _named_sets(source: RowSource, steps: Any) -> dict[str, StepSeries]:
    """The losses of validation sets that have names, in the order of the columns."""
    known = {name for names in _COLUMNS.values() for name in names}
    own = {c: name for c in source.columns if _plain(c) not in known and (name := set_name(_plain(c))) is not None}
    if not own:
        return {}
    columns = source.read([(column, "number") for column in own])
    found = {name: _finite(steps, values) for name, values in zip(own.values(), columns, strict=True)}
    return {name: series for name, series in found.items() if len(series)}


def _losses(source: RowSource, steps: Any, values: Any, texts: Any) -> list[tuple[float, float]]:
    """The rows with a loss: an empty cell is none, "nan" is a loss that diverged."""
    pairs = []
    for row, (step, value, text) in enumerate(zip(steps.tolist(), values.tolist(), texts.tolist(), strict=True), 1):
        word = text.strip().casefold()
        if isnan(value) and word in _NO_LOSS:
            continue
        if isnan(value) and word.lstrip("+-") != "nan":
            raise InputError(
                f"{source.label}, {source.places([row])[0]}: the loss is not a number ({shown(text)}); "
                "write a number, nan, or nothing where there is none."
            )
        pairs.append((step, value))
    return pairs


def _finite(steps: Any, values: Any) -> StepSeries:
    good = np.isfinite(values)
    return StepSeries.of(list(zip(steps[good].tolist(), values[good].tolist(), strict=True)))
