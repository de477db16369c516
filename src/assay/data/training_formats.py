"""Training logs of others: the Trainer's state, peft's method comparison, tables; and which reader is the right one."""

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from assay.data.readers.source import named, one_line, open_source
from assay.data.training_logs import EMPTY, Series, TrainingLog, number_of, read_run, runs_in
from assay.errors import InputError

_TABLES = {".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq"}
_STATE = "trainer_state.json"

#: Columns of a table, and the other names they go by.
_COLUMNS = {
    "loss": ("loss", "train_loss", "train loss"),
    "grad_norm": ("grad_norm", "gradient_norm"),
    "learning_rate": ("learning_rate", "lr"),
    "valid": ("valid_loss", "eval_loss", "validation_loss", "valid loss"),
    "step_seconds": ("step_seconds",),
}


def read_logs(paths: Sequence[str | PathLike[str]]) -> list[TrainingLog]:
    """The runs of every path: a run folder or a folder of them, a Trainer's state, a peft result, a table.

    ``NAME=PATH`` says which arm the runs of a path belong to; paths of one name are seeds of one arm.
    """
    logs = [log for name, path in map(named, paths) for log in _of_path(name, path)]
    for log in logs:
        _check_steps(log)
    return logs


def _check_steps(log: TrainingLog) -> None:
    steps = np.concatenate([series.steps for series in (log.loss, log.grad_norm, log.rate, log.valid)])
    wrong = steps[(steps < 0) | (steps != np.floor(steps))]
    if len(wrong):
        raise InputError(f"{one_line(log.label)}: a step must be a whole number from 0 on, but got {wrong[0]:g}.")


def _of_path(name: str | None, path: Path) -> list[TrainingLog]:
    if path.is_dir():
        return _of_folder(name, path)
    if not path.is_file():
        raise InputError(f"{one_line(str(path))}: no such file or folder; name a run, a trainer_state.json or a table.")
    if path.suffix.lower() in _TABLES:
        return [_table(path, name)]
    return [_document(path, name)]


def _of_folder(name: str | None, folder: Path) -> list[TrainingLog]:
    runs = list(runs_in(folder))
    if runs:
        return [read_run(run, name) for run in runs]
    if (folder / _STATE).is_file():
        return [_document(folder / _STATE, name or folder.name)]
    raise InputError(f"{one_line(str(folder))}: no training run in it; name a folder that `assay tune run` wrote.")


def _document(path: Path, name: str | None) -> TrainingLog:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))  # reads NaN, which the Trainer writes
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or f"not JSON, {error}"
        raise InputError(f"{one_line(str(path))}: cannot be read ({said}); is it still being written?") from error
    if isinstance(data, dict) and isinstance(data.get("log_history"), list):
        return _trainer(path, name, data)
    if isinstance(data, dict) and isinstance(data.get("train_info"), dict):
        return _peft(path, name, data)
    raise InputError(
        f"{one_line(str(path))}: neither a trainer_state.json (log_history) nor a peft method comparison (train_info)."
    )


def _pairs_of(rows: Sequence[Mapping[str, Any]], column: str) -> list[tuple[float, float]]:
    pairs = ((number_of(row.get("step")), number_of(row.get(column))) for row in rows)
    return [(step, value) for step, value in pairs if step is not None and value is not None]


def _series(rows: Sequence[Mapping[str, Any]], column: str) -> Series:
    return Series.of(_pairs_of(rows, column))


def _losses(path: Path, pairs: list[tuple[float, float]]) -> Series:
    """Training losses: at least one, and no two for a step that differ."""
    if not pairs:
        raise InputError(f"{one_line(str(path))}: the log has no steps with a training loss; log at least one.")
    known: dict[float, float] = {}
    for step, value in pairs:
        if str(known.setdefault(step, value)) != str(value):  # as text: NaN is NaN
            raise InputError(
                f"{one_line(str(path))}: step {step:g} has two training losses, {known[step]:g} and {value:g}; "
                "is it the log of several runs? Write each to a file of its own."
            )
    return Series.of(pairs)


def _whole(value: Any) -> int | None:
    found = number_of(value)
    return int(found) if found is not None and isfinite(found) else None


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _trainer(path: Path, name: str | None, data: dict[str, Any]) -> TrainingLog:
    rows = [row for row in data["log_history"] if isinstance(row, dict)]
    end = next((row for row in reversed(rows) if "train_runtime" in row), {})
    valid = _series(rows, "eval_loss")
    loss, tokens = _losses(path, _pairs_of(rows, "loss")), number_of(data.get("num_input_tokens_seen"))
    arm = name or path.name.removesuffix(f".{_STATE}").removesuffix(".json")
    notes = [] if end else ["no line with the run's time: stopped early, or still being written"]
    if len(valid):
        notes.append("its validation loss weights rows, not tokens (the Trainer's eval_loss)")
    return TrainingLog(
        label=str(path),
        arm=arm,
        kind="trainer",
        loss=loss,
        grad_norm=_series(rows, "grad_norm"),
        rate=_series(rows, "learning_rate"),
        valid=valid,
        row_weighted=bool(len(valid)),
        seconds=number_of(end.get("train_runtime")),
        wall=number_of(end.get("train_runtime")),
        tokens=_whole(tokens) or None,
        last_step=_whole(data.get("global_step")) or int(loss.steps[-1]),
        max_steps=_whole(data.get("max_steps")) or None,
        finished=bool(end),
        notes=tuple(notes),
    )


def _peft(path: Path, name: str | None, data: dict[str, Any]) -> TrainingLog:
    info, run = data["train_info"], _dict(data.get("run_info"))
    metrics = info.get("metrics")
    rows = [row for row in metrics if isinstance(row, dict)] if isinstance(metrics, list) else []
    config = _dict(run.get("train_config"))
    peak = number_of(info.get("accelerator_memory_max") or info.get("cuda_memory_max"))
    experiment = str(run.get("experiment_name") or path.stem)
    scores = {
        name: found[-1]
        for name in ("test accuracy", "valid accuracy", "forgetting")
        if (found := _series(rows, name).values.tolist())
    }
    last = _losses(path, _pairs_of(rows, "train loss"))
    tokens = _series(rows, "train total tokens").last
    return TrainingLog(
        label=str(path),
        arm=name or experiment,
        kind="peft",
        loss=last,
        seconds=number_of(info.get("train_time")),
        wall=number_of(run.get("total_time")),
        tokens=_whole(tokens),
        last_step=int(last.steps[-1]),
        max_steps=_whole(config.get("max_steps")),
        memory={} if peak is None else {"peak": peak},
        memory_of="cuda",
        total=_whole(info.get("num_total_params")),
        trainable=_whole(info.get("num_trainable_params")),
        seed=_whole(config.get("seed")),
        learning_rate=number_of(_dict(config.get("optimizer_kwargs")).get("lr")),
        scores=scores,
        finished=info.get("status") == "success",
        notes=() if info.get("status") == "success" else (f"its status is {info.get('status')!r}",),
    )


def _table(path: Path, name: str | None) -> TrainingLog:
    source = open_source(path)
    if "step" not in source.columns:
        raise InputError(
            f"{source.label}: no column 'step' among {', '.join(source.columns)}; a log needs step and loss."
        )
    found = {ours: next((n for n in names if n in source.columns), None) for ours, names in _COLUMNS.items()}
    if found["loss"] is None:
        raise InputError(
            f"{source.label}: no column 'loss' among {', '.join(source.columns)}; a log needs step and loss."
        )
    wanted = [column for column in found.values() if column is not None]
    steps, *values = source.read([("step", "number"), *((column, "number") for column in wanted)])
    columns = dict(zip([ours for ours, column in found.items() if column is not None], values, strict=True))
    if not np.isfinite(steps).all():
        row = int(np.argmin(np.isfinite(steps))) + 1
        raise InputError(f"{source.label}: row {row} has no step ({source.cell('step', row)!r}); write its number.")
    texts = {ours: [source.cell(found[ours] or "", row) for row in range(1, len(steps) + 1)] for ours in ("loss",)}
    loss = [
        (step, value)
        for step, value, text in zip(steps.tolist(), columns["loss"].tolist(), texts["loss"], strict=True)
        if text.strip()  # an empty cell is a row of something else, "nan" is a loss that diverged
    ]
    series = {ours: _pairs(steps, values) for ours, values in columns.items() if ours != "loss"}
    return TrainingLog(
        label=source.label,
        arm=name or path.stem,
        kind="table",
        loss=_losses(path, loss),
        grad_norm=series.get("grad_norm", EMPTY),
        rate=series.get("learning_rate", EMPTY),
        valid=series.get("valid", EMPTY),
        step_seconds=series.get("step_seconds", EMPTY).values,
        seconds=float(series["step_seconds"].values.sum()) if "step_seconds" in series else None,
        last_step=int(steps.max()),
    )


def _pairs(steps: Any, values: Any) -> Series:
    return Series.of([(s, v) for s, v in zip(steps.tolist(), values.tolist(), strict=True) if np.isfinite(v)])
