"""Read the folder of a training run of ours: a manifest, and events as JSON lines.

Events are only appended. A killed run may end in the middle of a line; a resumed run has an event "resume" with the
step it resumed from, and whatever was recorded after that step before the kill does not count.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from assay.data.training import LAST_STEP, StepSeries, TrainingLog
from assay.errors import InputError
from assay.files.reading import DOCUMENT, parse_json, read_bytes, read_json
from assay.names import one_line, shown

MANIFEST = "training.json"
EVENTS = "events.jsonl"
SCHEMA = "assay/training/1"
WINDOWS = "windows"  # the folder of the validation windows that the trained model scored, a run of `assay score`
AT_START = "windows-base"  # the same windows under the untrained base, before the first step
ROWS = "validation-rows"  # the losses of the rows of the validation set, at the first and the last validation
GENERATIONS = "generations.jsonl"  # what the trained model answered, a table of `assay generate`

#: Steps that one line may stand for, so that a line cannot ask for all memory.
_MOST_STEPS = 1_000_000
_MOST_OF_A_RUN = 100_000_000  # steps: each has its seconds in memory

ValueCheck = tuple[Callable[[Any], bool], str]


class NoStepsError(InputError):
    """A run without any training step."""


def number_of(value: Any) -> float | None:
    """A number in a log, including ``"nan"`` and ``"inf"``, which JSON lacks; overflow gives infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf  # type: ignore[operator]  # only integers overflow
    except ValueError:
        return None


def _is_count(value: Any, most: int = LAST_STEP) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _is_amount(value: Any) -> bool:
    found = number_of(value)
    return found is not None and isfinite(found) and found >= 0 and not isinstance(value, str)


_TEXT: ValueCheck = (lambda value: isinstance(value, str), "a text")
_COUNT: ValueCheck = (_is_count, "a whole number from 0 on")
_AMOUNT: ValueCheck = (_is_amount, "a finite number from 0 on")
_NUMBER: ValueCheck = (lambda value: number_of(value) is not None, "a number")
_SEED: ValueCheck = (lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number")
_STEPS: ValueCheck = (
    lambda value: _is_count(value, _MOST_STEPS) and value > 0,
    f"a whole number from 1 to {_MOST_STEPS:,}",
)
_OBJECT: ValueCheck = (lambda value: isinstance(value, dict), "an object")

_OF_MANIFEST: Mapping[str, ValueCheck] = {
    "arm": _TEXT,
    "device": _TEXT,
    "tokenizer": _TEXT,
    "validation": _TEXT,
    "max_steps": _COUNT,
    "seed": _SEED,
    "learning_rate": _AMOUNT,
    "parameters": _OBJECT,
    "settings": _OBJECT,
}
_OF_PARAMETERS: Mapping[str, ValueCheck] = {"total": _COUNT, "trainable": _COUNT}
_OF_EVENT: Mapping[str, Mapping[str, ValueCheck]] = {
    "step": {"loss": _NUMBER, "step_seconds": _AMOUNT, "steps": _STEPS, "tokens": _COUNT},
    "validation": {"loss": _NUMBER, "digest": _TEXT},
    "resume": {},
    "end": {"wall": _AMOUNT},
}
_WITH_STEP = frozenset({"step", "validation", "resume"})


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read and validate the manifest of a run folder."""
    path, again = folder / MANIFEST, "train again with `overwrite=True`"
    label = one_line(str(path))
    about = read_json(path, label=f"{label}: the manifest cannot be read", advice=again)
    if not isinstance(about, dict) or about.get("schema") != SCHEMA:
        raise InputError(f"{label}: not the manifest of a training run; name a folder that `assay tune run` wrote.")
    if about.get("arm") is None:
        raise InputError(f"{label}: no field 'arm', which says how the model was trained; {again}.")
    _check_fields(about, _OF_MANIFEST, label, again)
    _check_fields(about.get("parameters") or {}, _OF_PARAMETERS, f"{label}, parameters", again)
    return {name: value for name, value in about.items() if value is not None or name not in _OF_MANIFEST}


def read_events(path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Read the events that count, and notes on what was left out."""
    if not path.exists():
        raise NoStepsError(f"{one_line(str(path))}: cannot be read (no such file); the run has not begun.")
    kept: list[dict[str, Any]] = []
    notes: list[str] = []
    broken: int | None = None
    for number, line in enumerate(read_bytes(path, DOCUMENT).split(b"\n"), start=1):
        if not line.strip():
            continue
        event = _event(line, f"{one_line(str(path))}, line {number}")
        if broken is not None and (event is None or event["kind"] != "resume"):
            raise _damaged(path, broken)
        broken = number if event is None else None
        if event is None:
            continue
        if event["kind"] == "resume":
            kept = [old for old in kept if old["kind"] != "end" and old.get("step", 0) <= event["step"]]
            notes.append(f"resumed from step {event['step']:,}")
        kept.append(event)
    if broken is not None:
        notes.append(f"line {broken:,} is cut off: the run was killed there, or is still being written")
    return kept, notes


def _damaged(path: Path, number: int) -> InputError:
    return InputError(
        f"{one_line(str(path))}: line {number} is not an event, and the run goes on after it; the file is damaged."
    )


def _event(line: bytes, place: str) -> dict[str, Any] | None:
    """Parse the event on a line; ``None`` if the line is cut off. Fields of the wrong type are refused."""
    try:
        event = parse_json(line, place)
    except InputError:
        return None
    if not isinstance(event, dict) or not isinstance(event.get("kind"), str):
        return None
    kind = event["kind"]
    if kind in _WITH_STEP and "step" not in event:
        raise InputError(f"{place}: an event of the kind {kind} needs a step, but has none; the file is damaged.")
    _check_fields(event, {"step": _COUNT, **_OF_EVENT.get(kind, {})}, place, "the file is damaged")
    return event


def _check_fields(record: Mapping[str, Any], checks: Mapping[str, ValueCheck], place: str, advice: str) -> None:
    """Check the types of the fields present; null counts as missing, except for a step."""
    for name, (fits, words) in checks.items():
        value = record.get(name)
        if name in record and not fits(value) and (value is not None or name == "step"):
            raise InputError(f"{place}: {name!r} must be {words}, but got {shown(str(value))}; {advice}.")


def read_run(folder: Path, name: str | None) -> TrainingLog:
    """Read a run folder that the callback wrote."""
    about = read_manifest(folder)
    events, notes = read_events(folder / EVENTS)
    steps = [event for event in events if event["kind"] == "step"]
    if not steps:
        raise NoStepsError(f"{folder}: the log has no steps; train for at least one, or name another run.")
    valid = [event for event in events if event["kind"] == "validation"]
    memory = _memory([event for event in events if event["kind"] == "memory"])
    end = next((event for event in reversed(events) if event["kind"] == "end"), None)
    last = int(steps[-1]["step"])
    if end is None:
        notes.append(f"not finished: step {last:,} of {about.get('max_steps', '?')}")
    parameters = about.get("parameters") or {}
    timed = [event for event in steps if event.get("step_seconds") is not None]
    seconds = np.array([event["step_seconds"] for event in timed], dtype=np.float64)
    counted = np.array([event.get("steps") or 1 for event in timed], dtype=np.float64)  # a line may stand for several
    if counted.sum() > _MOST_OF_A_RUN:
        raise InputError(f"{folder}: its lines cover more than {_MOST_OF_A_RUN:,} steps; the log is damaged.")
    return TrainingLog(
        label=str(folder),
        arm=one_line(name or about["arm"]),
        kind="run",
        loss=_series(steps, "loss"),
        grad_norm=_series(steps, "grad_norm"),
        rate=_series(steps, "learning_rate"),
        valid=_series(valid, "loss"),
        language_model=True,
        source_loss=_series(valid, "source_loss").finite.last,
        step_seconds=np.repeat(seconds, counted.astype(int)),
        seconds=float((seconds * counted).sum()) if len(seconds) else None,
        wall=None if end is None or any(event["kind"] == "resume" for event in events) else end.get("wall"),
        tokens=steps[-1].get("tokens"),
        last_step=last,
        max_steps=about.get("max_steps"),
        memory=memory,
        memory_of=about.get("device"),
        total=parameters.get("total"),
        trainable=parameters.get("trainable"),
        seed=about.get("seed"),
        learning_rate=about.get("learning_rate"),
        validation=next((event["digest"] for event in valid if event.get("digest")), about.get("validation")),
        tokenizer=about.get("tokenizer"),
        windows=_scored(folder / WINDOWS),
        start_windows=_scored(folder / AT_START),
        rows=_rows(folder, max((event["step"] for event in valid if event["step"] > 0), default=None)),
        start_rows=_rows(folder, 0),
        generations=written if (written := folder / GENERATIONS).is_file() else None,
        scores=_scores(events),
        sweep=bool(about.get("sweep")),
        finished=end is not None,
        notes=tuple(notes),
    )


def rows_file(folder: Path, step: int) -> Path:
    """The losses of the validation rows at a step, a table of windows."""
    return folder / f"{ROWS}-{step:09d}.parquet"


def rows_files(folder: Path) -> list[Path]:
    return sorted(
        file for file in folder.glob(f"{ROWS}-*.parquet") if re.fullmatch(r"\d{9,}", file.stem[len(ROWS) + 1 :])
    )


def _rows(folder: Path, step: float | None) -> Path | None:
    file = None if step is None else rows_file(folder, int(step))
    return file if file is not None and file.is_file() else None


def _scored(windows: Path) -> Path | None:
    return windows if (windows / "run.json").is_file() else None


def _series(events: list[dict[str, Any]], name: str) -> StepSeries:
    found = ((event["step"], number_of(event.get(name))) for event in events)
    return StepSeries.of([(step, value) for step, value in found if value is not None])


def _memory(events: list[dict[str, Any]]) -> dict[str, float]:
    """The maximum of each part over the run."""
    found: dict[str, float] = {}
    for numbers in events:
        for name, value in numbers.items():
            size = number_of(value)
            if name not in {"kind", "step"} and size is not None and isfinite(size):
                found[name] = max(found.get(name, size), size)
    return found


def _scores(events: list[dict[str, Any]]) -> dict[str, float]:
    """The last measured scores, without perplexity, which the validation loss implies."""
    found: dict[str, float] = {}
    for event in events:
        if event["kind"] == "quality":
            numbers = ((name, number_of(value)) for name, value in event.items() if name not in {"kind", "step"})
            found |= {name: value for name, value in numbers if value is not None and isfinite(value)}
    return {name: value for name, value in found.items() if name != "perplexity"}


def runs_in(folder: Path) -> Iterator[Path]:
    """The run folders in a folder (or the folder itself), sorted."""
    if (folder / MANIFEST).is_file():
        yield folder
        return
    yield from sorted(found.parent for found in folder.rglob(MANIFEST))
