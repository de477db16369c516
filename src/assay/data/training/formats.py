"""Training logs in any format: runs of ours, a Trainer's state, peft's method comparison, tables of steps."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, floor, isfinite, isnan
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from assay.data.columns import check_once
from assay.data.readers import RowSource
from assay.data.readers.registry import exists, named, open_source
from assay.data.training import (
    EMPTY,
    StepSeries,
    TrainingLog,
    check_logs,
    deciding,
    predicts_tokens,
    set_name,
    training_losses,
    with_names,
)
from assay.data.training.run_folder import NoStepsError, number_of, read_run, runs_in
from assay.errors import InputError
from assay.files.reading import check_link, read_json
from assay.names import one_line, shown

_STATE = "trainer_state.json"


def read_noted(paths: Sequence[str | PathLike[str]]) -> tuple[list[TrainingLog], list[str]]:
    """Read the runs at every path; also return notes on what was left out.

    A path is a run folder or a folder of them, a Trainer's state or output, a peft result or a table. ``NAME=PATH``
    says which arm the runs of a path belong to; paths with the same name are seeds of one arm. Logs that state no
    method each get a name of their own.
    """
    found = [_of_path(name, path) for name, path in map(named, paths)]
    logs = with_names([log for some, _ in found for log in some])
    check_logs(logs)
    return logs, [note for _, notes in found for note in notes]


def _of_path(name: str | None, path: Path) -> tuple[list[TrainingLog], list[str]]:
    if path.is_dir():
        return _of_folder(name, path)
    check_link(path)
    if not exists(path):
        raise InputError(f"{one_line(str(path))}: no such file or folder; name a run, a trainer_state.json or a table.")
    if path.suffix.lower() in SUFFIXES:
        return [read_log_table(path, name)], []
    return [_document(path, name)], []


def _of_folder(name: str | None, folder: Path) -> tuple[list[TrainingLog], list[str]]:
    runs = list(runs_in(folder))
    if runs:
        return _of_runs(name, folder, runs)
    states = _trainer_states(name, folder)
    if states:
        return [max(states, key=lambda log: log.last_step)], []
    raise InputError(
        f"{one_line(str(folder))}: no training run in it; name a folder that `assay tune run` or a Trainer wrote."
    )


def _of_runs(name: str | None, folder: Path, runs: Sequence[Path]) -> tuple[list[TrainingLog], list[str]]:
    """Read the runs in a folder; of several, those without steps are left out."""
    logs, notes = [], []
    for run in runs:
        try:
            logs.append(read_run(run, name))
        except NoStepsError:
            if run == folder:
                raise
            notes.append(f"{run}: left out, for it has no steps yet")
    if not logs:
        raise NoStepsError(f"{one_line(str(folder))}: none of its runs has a step; train for at least one.")
    return logs, notes


def _trainer_states(name: str | None, folder: Path) -> list[TrainingLog]:
    """Read a Trainer's output folder: its final state, and that of the newest checkpoint."""
    own = folder / _STATE
    found = [_document(own, name)] if own.is_file() else []
    checkpoints = sorted(folder.glob(f"checkpoint-*/{_STATE}"), key=_checkpoint_step)
    if checkpoints:
        log = _document(checkpoints[-1], name)
        note = f"the newest of its folder's checkpoints ({len(checkpoints)} there)"
        found.append(replace(log, notes=(note, *log.notes)))
    return found


def _checkpoint_step(state: Path) -> int:
    number = state.parent.name.removeprefix("checkpoint-")
    return int(number) if number.isdecimal() else -1


def _document(path: Path, name: str | None) -> TrainingLog:
    label = f"{one_line(str(path))}: cannot be read"
    data = read_json(path, label=label, advice="wait until it is written, or copy it again")
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


def _document_losses(path: Path, rows: Sequence[Mapping[str, Any]], column: str) -> StepSeries:
    """The training losses; steps and losses that are not numbers are refused."""
    for place, row in enumerate(rows, start=1):
        loss, step = row.get(column), number_of(row.get("step"))
        if loss is not None and number_of(loss) is None:
            raise InputError(
                f"{one_line(str(path))}, entry {place:,} of the log: the loss is not a number ({shown(str(loss))}); "
                "write a number, NaN, or nothing where there is none."
            )
        if loss is not None and (step is None or not isfinite(step)):
            found = f"but got {shown(str(row['step']))}" if "step" in row else "but there is none"
            raise InputError(
                f"{one_line(str(path))}, entry {place:,} of the log: the step must be a whole number, {found}."
            )
    return training_losses(str(path), _pairs_of(rows, column))


def _amount(path: Path, record: Mapping[str, Any], name: str) -> float | None:
    """An optional quantity of a log: time, memory, a rate."""
    found = number_of(record.get(name))
    if found is not None and not (isfinite(found) and found >= 0):
        raise InputError(
            f"{one_line(str(path))}: {name!r} must be a finite number from 0 on, but got {shown(str(record[name]))}."
        )
    return found


def _series(rows: Sequence[Mapping[str, Any]], column: str) -> StepSeries:
    return StepSeries.of(_pairs_of(rows, column))


def _whole(value: Any) -> int | None:
    found = number_of(value)
    return int(found) if found is not None and isfinite(found) else None


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _trainer(path: Path, name: str | None, data: dict[str, Any]) -> TrainingLog:
    rows = [row for row in data["log_history"] if isinstance(row, dict)]
    end = next((row for row in reversed(rows) if "train_runtime" in row), {})
    sets = _document_sets(rows)
    valid, decides = deciding(_series(rows, "eval_loss"), sets)
    loss, tokens = _document_losses(path, rows, "loss"), _amount(path, data, "num_input_tokens_seen")
    last_step = _whole(data.get("global_step")) or int(loss.steps[-1])
    max_steps = max(_whole(data.get("max_steps")) or 0, 0) or None
    reached = max_steps is not None and last_step >= max_steps  # the state of a checkpoint never has a last line
    why = "" if reached else ": stopped early, or still being written"
    notes = [] if end else [f"no line with the run's time{why}"]
    if len(valid):
        notes.append("its validation loss weights rows, not tokens (the Trainer's eval_loss)")
    return TrainingLog(
        label=str(path),
        arm=name or "",
        kind="trainer",
        loss=loss,
        grad_norm=_series(rows, "grad_norm"),
        rate=_series(rows, "learning_rate"),
        valid=valid,
        valid_sets=sets,
        valid_name=decides,
        language_model=predicts_tokens(key for row in rows for key in row),
        row_weighted=bool(len(valid)),
        seconds=_amount(path, end, "train_runtime"),
        wall=_amount(path, end, "train_runtime"),
        tokens=_whole(tokens) or None,
        last_step=last_step,
        max_steps=max_steps,
        scores=_last_of(rows, {"eval_accuracy": "eval accuracy"}),
        items=_evaluated(rows),
        finished=bool(end) or reached,
        notes=tuple(notes),
        file=path,
    )


def _last_of(rows: Sequence[Mapping[str, Any]], wanted: Mapping[str, str]) -> dict[str, float]:
    """The last finite value of some columns, under our names."""
    found = {ours: _series(rows, theirs).finite.last for theirs, ours in wanted.items()}
    return {name: value for name, value in found.items() if value is not None}


def _evaluated(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many rows the last evaluation had: its seconds times rows per second, where they leave one whole number."""
    known = [row for row in rows if number_of(row.get("eval_accuracy")) is not None]
    row = known[-1] if known else {}
    seconds, rate = (number_of(row.get(f"eval_{name}")) for name in ("runtime", "samples_per_second"))
    if not (seconds and rate and isfinite(seconds) and isfinite(rate) and min(seconds, rate) > 0):
        return {}
    low, high = (seconds - 5e-5) * (rate - 5e-4), (seconds + 5e-5) * (rate + 5e-4)  # both are rounded
    return {"eval accuracy": floor(high)} if ceil(low) == floor(high) > 0 else {}


def _document_sets(rows: Sequence[Mapping[str, Any]]) -> dict[str, StepSeries]:
    """The losses of named validation sets, in the order of the log."""
    keys = dict.fromkeys(key for row in rows for key in row if set_name(key) is not None)
    found = {set_name(key) or "": _series(rows, key) for key in keys}
    return {name: series for name, series in found.items() if len(series)}


def _peft(path: Path, name: str | None, data: dict[str, Any]) -> TrainingLog:
    info, run = data["train_info"], _dict(data.get("run_info"))
    metrics = info.get("metrics")
    rows = [row for row in metrics if isinstance(row, dict)] if isinstance(metrics, list) else []
    config = _dict(run.get("train_config"))
    peak = _amount(path, info, "accelerator_memory_max") or _amount(path, info, "cuda_memory_max")
    seed = _whole(config.get("seed"))
    stated = "" if seed is None else str(run.get("experiment_name") or "")  # without a seed, alike is not a seed more
    scores = _last_of(rows, {name: name for name in ("test accuracy", "valid accuracy", "forgetting")})
    last = _document_losses(path, rows, "train loss")
    tokens = _series(rows, "train total tokens").last
    return TrainingLog(
        label=str(path),
        arm=name or stated,
        kind="peft",
        loss=last,
        language_model=_dict(run.get("peft_config")).get("task_type") == "CAUSAL_LM" or None,
        seconds=_amount(path, info, "train_time"),
        wall=_amount(path, run, "total_time"),
        tokens=_whole(tokens),
        last_step=int(last.steps[-1]),
        max_steps=_whole(config.get("max_steps")),
        memory={} if peak is None else {"peak": peak},
        memory_of="cuda",
        total=_whole(info.get("num_total_params")),
        trainable=_whole(info.get("num_trainable_params")),
        seed=seed,
        learning_rate=_amount(path, _dict(config.get("optimizer_kwargs")), "lr"),
        scores=scores,
        finished=info.get("status") == "success",
        notes=() if info.get("status") == "success" else (f"its status is {info.get('status')!r}",),
        file=path,
    )


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
    """Read a log from a table; without a name its arm is empty."""
    source = open_source(path)
    found = _layout(source)
    columns = source.read([(found["loss"], "text"), *((theirs, "number") for theirs in found.values())])
    texts, values = next(columns), dict(zip(found, columns, strict=True))
    steps = values.pop("step")
    sets = _table_sets(source, steps)
    if not np.isfinite(steps).all():
        row = int(np.argmin(np.isfinite(steps))) + 1
        cell = source.cell(found["step"], row)
        raise InputError(f"{source.label}, {source.places([row])[0]}: no step ({shown(cell)}); write its number.")
    loss = _table_losses(source, steps, values.pop("loss"), texts)
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
    """Our name → the file's, for the columns that exist."""
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


def _table_sets(source: RowSource, steps: Any) -> dict[str, StepSeries]:
    """The losses of named validation sets, in the order of the columns."""
    known = {name for names in _COLUMNS.values() for name in names}
    own = {c: name for c in source.columns if _plain(c) not in known and (name := set_name(_plain(c))) is not None}
    if not own:
        return {}
    columns = source.read([(column, "number") for column in own])
    found = {name: _finite(steps, values) for name, values in zip(own.values(), columns, strict=True)}
    return {name: series for name, series in found.items() if len(series)}


def _table_losses(source: RowSource, steps: Any, values: Any, texts: Any) -> list[tuple[float, float]]:
    """The rows with a loss: an empty cell has none, "nan" means that training diverged."""
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
