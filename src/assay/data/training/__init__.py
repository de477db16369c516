"""What a training run left behind: losses, gradients, rates, validation, time, memory and parameters, step by step.

A run of ours is a folder with a manifest (``training.json``) and events, one JSON object a line (``events.jsonl``),
which are only ever appended. A run that was killed ends in the middle of a line; one that went on after that has an
event "resume", which says from which step: what was recorded after that step before the kill does not count.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np

from assay.data.training.events import EVENTS, MANIFEST, NoStepsError, number_of, read_events, read_manifest
from assay.errors import InputError, UsageError
from assay.names import one_line
from assay.stats.units import Floats

WINDOWS = "windows"  # the folder of the validation windows that the trained model scored, a run of `assay score`

LogKind = Literal["run", "trainer", "peft", "table"]

_MOST_STEPS = 100_000_000  # of a whole run: each has its seconds in memory

#: The parts of the memory that training needs; the last is the rest of the peak.
PARTS = ("parameters", "gradients", "optimizer", "activations")
#: What trainers log only of models that predict tokens: then a loss is per token, and its exponential a perplexity.
_OF_TOKENS = frozenset(("mean_token_accuracy", "eval_mean_token_accuracy", "perplexity", "eval_perplexity"))
_NAMED = re.compile(r"(?:eval|valid|validation|val)_(.+)_loss")


@dataclass(frozen=True, eq=False)
class StepSeries:
    """A quantity at some steps."""

    steps: Floats  # (n,)
    values: Floats  # (n,)

    def __len__(self) -> int:
        return len(self.steps)

    @classmethod
    def of(cls, pairs: list[tuple[float, float]]) -> "StepSeries":
        """In the order of the steps; a step that is there twice counts as it was last."""
        last = dict(sorted(dict(pairs).items()))
        return cls(np.array(list(last), dtype=np.float64), np.array(list(last.values()), dtype=np.float64))

    @property
    def last(self) -> float | None:
        return float(self.values[-1]) if len(self) else None

    @property
    def finite(self) -> "StepSeries":
        good = np.isfinite(self.values)
        return StepSeries(self.steps[good], self.values[good])


EMPTY = StepSeries(np.empty(0), np.empty(0))


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingLog:
    """One training run; what its log does not say is ``None`` or empty."""

    label: str  # what messages call it: the path
    arm: str  # runs of an arm differ in their seed only; empty until a log that does not state it has a name
    kind: LogKind
    loss: StepSeries
    grad_norm: StepSeries = EMPTY
    rate: StepSeries = EMPTY
    valid: StepSeries = EMPTY
    valid_sets: Mapping[str, StepSeries] = field(default_factory=dict)  # named validation sets, if the log has several
    valid_name: str | None = None  # of the one that ``valid`` is
    language_model: bool | None = None  # whether the loss is a language model's, per token; None: not said
    source_loss: float | None = None  # the last validation loss, with batches weighted by their length
    row_weighted: bool = False  # the validation loss weights rows, not tokens
    step_seconds: Floats = field(default_factory=lambda: np.empty(0))
    seconds: float | None = None  # of training, without validation where that is known
    wall: float | None = None
    tokens: int | None = None
    last_step: int = 0
    max_steps: int | None = None
    memory: Mapping[str, float] = field(default_factory=dict)  # bytes: PARTS, peak, allocated, reserved, resident
    memory_of: str | None = None  # "cuda", "cpu"
    total: int | None = None  # parameters
    trainable: int | None = None
    seed: int | None = None
    learning_rate: float | None = None
    validation: str | None = None  # digest
    tokenizer: str | None = None  # digest
    windows: Path | None = None
    scores: Mapping[str, float] = field(default_factory=dict)  # at the end: character accuracy, test accuracy, …
    sweep: bool = False  # a run of the learning-rate sensitivity
    finished: bool = True
    notes: tuple[str, ...] = ()
    file: Path | None = None  # the log of another program; a run of ours is a folder

    @property
    def diverged_at(self) -> int | None:
        """The first step whose loss is not a finite number."""
        bad = ~np.isfinite(self.loss.values)
        return int(self.loss.steps[int(np.argmax(bad))]) if bad.any() else None


def read_run(folder: Path, name: str | None) -> TrainingLog:
    """A run folder that the callback wrote."""
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
    scored = folder / WINDOWS
    parameters = about.get("parameters") or {}
    timed = [event for event in steps if event.get("step_seconds") is not None]
    seconds = np.array([event["step_seconds"] for event in timed], dtype=np.float64)
    counted = np.array([event.get("steps") or 1 for event in timed], dtype=np.float64)  # a line may stand for several
    if counted.sum() > _MOST_STEPS:
        raise InputError(f"{folder}: its lines stand for more than {_MOST_STEPS:,} steps; the log is damaged.")
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
        windows=scored if (scored / "run.json").is_file() else None,
        scores=_scores(events),
        sweep=bool(about.get("sweep")),
        finished=end is not None,
        notes=tuple(notes),
    )


def training_losses(label: str, pairs: list[tuple[float, float]]) -> StepSeries:
    """Training losses: at least one, and no two for a step that differ."""
    if not pairs:
        raise InputError(f"{one_line(label)}: the log has no steps with a training loss; log at least one.")
    known: dict[float, float] = {}
    for step, value in pairs:
        if str(known.setdefault(step, value)) != str(value):  # as text: NaN is NaN
            raise InputError(
                f"{one_line(label)}: step {step:g} has two training losses, {known[step]:g} and {value:g}; "
                "is it the log of several runs? Write each to a file of its own."
            )
    return StepSeries.of(pairs)


def _series(events: list[dict[str, Any]], name: str) -> StepSeries:
    found = ((event["step"], number_of(event.get(name))) for event in events)
    return StepSeries.of([(step, value) for step, value in found if value is not None])


def _memory(events: list[dict[str, Any]]) -> dict[str, float]:
    """The largest of each part over the run; activations are the rest of the largest peak."""
    found: dict[str, float] = {}
    for numbers in events:
        for name, value in numbers.items():
            size = number_of(value)
            if name not in {"kind", "step"} and size is not None and isfinite(size):
                found[name] = max(found.get(name, size), size)
    return found


def _scores(events: list[dict[str, Any]]) -> dict[str, float]:
    """The last quality that was measured, without what the validation loss says already."""
    found: dict[str, float] = {}
    for event in events:
        if event["kind"] == "quality":
            numbers = ((name, number_of(value)) for name, value in event.items() if name not in {"kind", "step"})
            found |= {name: value for name, value in numbers if value is not None and isfinite(value)}
    return {name: value for name, value in found.items() if name != "perplexity"}


def runs_in(folder: Path) -> Iterator[Path]:
    """The run folders in a folder, or itself, sorted."""
    if (folder / MANIFEST).is_file():
        yield folder
        return
    yield from sorted(found.parent for found in folder.rglob(MANIFEST))


def set_name(column: str) -> str | None:
    """The name of the validation set whose loss this is: NAME of eval_NAME_loss."""
    found = _NAMED.fullmatch(column)
    return None if found is None else found[1]


def predicts_tokens(columns: Iterable[str]) -> bool | None:
    """Whether the columns say so; ``None`` where they do not."""
    return True if any(column in _OF_TOKENS for column in columns) else None


def deciding(plain: StepSeries, sets: Mapping[str, StepSeries]) -> tuple[StepSeries, str | None]:
    """The loss that a run is judged by, and its name: the one without a name, else the first."""
    first = next(iter(sets), None)
    return (plain, None) if len(plain) or first is None else (sets[first], first)


def judged_by(logs: Sequence[TrainingLog], name: str | None) -> list[TrainingLog]:
    """The logs with the validation set that was asked for; without one, all must be judged by the same."""
    if name is not None:
        return [_chosen(log, name) for log in logs]
    found = {log.valid_name: log for log in logs if len(log.valid)}
    if len(found) > 1:
        (one, a), (two, b) = list(found.items())[:2]
        raise InputError(
            f"{a.label} and {b.label} have different validation losses ({_column(one)} and {_column(two)}), which do "
            "not compare; name one that all have: `validation=NAME`."
        )
    return list(logs)


def _chosen(log: TrainingLog, name: str) -> TrainingLog:
    if not log.valid_sets and not len(log.valid):
        return log  # it has none at all: not measured
    if name not in log.valid_sets:
        known = ", ".join(log.valid_sets) or "none with a name"
        raise UsageError(f"{log.label}: no validation set {name!r}; it has {known}.")
    return replace(log, valid=log.valid_sets[name], valid_name=name)


def _column(name: str | None) -> str:
    return "eval_loss" if name is None else f"eval_{name}_loss"


def note_of(log: TrainingLog) -> str | None:
    """Which of several validation sets decides."""
    if not log.valid_sets:
        return None
    names, own = ", ".join(log.valid_sets), _column(log.valid_name)
    many = "1 named validation set" if len(log.valid_sets) == 1 else f"{len(log.valid_sets)} named validation sets"
    return f"{many} ({names}): all are shown, and {own} decides; `validation=NAME` changes it"
