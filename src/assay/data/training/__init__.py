"""A training log: losses, gradients, rates, validation, time, memory and parameters, step by step."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from assay.errors import InputError, UsageError
from assay.names import names_of, one_line
from assay.stats.units import Floats

#: A step beyond this is no step: floating-point numbers no longer count by one.
LAST_STEP = 2**53

LogKind = Literal["run", "trainer", "peft", "table"]


#: The parts of the memory that training needs; the last is the rest of the peak.
PARTS = ("parameters", "gradients", "optimizer", "activations")
#: What trainers log only of models that predict tokens: then a loss is per token, and its exponential a perplexity.
_OF_TOKENS = frozenset(("mean_token_accuracy", "eval_mean_token_accuracy", "perplexity", "eval_perplexity"))
_ROUNDED = 6e-5  # half a unit of the fourth place, to which accuracies are rounded at most
_NAMED = re.compile(r"(?:eval|valid|validation|val)_(.+)_loss")


@dataclass(frozen=True, eq=False)
class StepSeries:
    """Values of a quantity at some steps."""

    steps: Floats  # (n,)
    values: Floats  # (n,)

    def __len__(self) -> int:
        return len(self.steps)

    @classmethod
    def of(cls, pairs: list[tuple[float, float]]) -> "StepSeries":
        """Sort by step; the last value of a repeated step counts."""
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
    """One training run; what its log does not state is ``None`` or empty."""

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
    memory: Mapping[str, float] = field(default_factory=dict)  # bytes: PARTS, peak, inference, allocated, reserved, …
    memory_of: str | None = None  # "cuda", "cpu"
    total: int | None = None  # parameters
    trainable: int | None = None
    seed: int | None = None
    learning_rate: float | None = None
    validation: str | None = None  # digest
    tokenizer: str | None = None  # digest
    windows: Path | None = None  # the validation windows, scored by the trained model
    start_windows: Path | None = None  # the same, scored by the untrained base
    rows: Path | None = None  # the losses of the rows of its validation set at the last validation
    start_rows: Path | None = None  # the same before the first step
    generations: Path | None = None  # what the trained model answered to prompts
    scores: Mapping[str, float] = field(default_factory=dict)  # at the end: character accuracy, test accuracy, …
    items: Mapping[str, int] = field(default_factory=dict)  # on how many items a score is, where that is known
    sweep: bool = False  # a run of the learning-rate sensitivity
    finished: bool = True
    notes: tuple[str, ...] = ()
    file: Path | None = None  # the log of another program; a run of ours is a folder

    @property
    def diverged_at(self) -> int | None:
        """The first step whose loss is not a finite number."""
        bad = ~np.isfinite(self.loss.values)
        return int(self.loss.steps[int(np.argmax(bad))]) if bad.any() else None


def training_losses(label: str, pairs: list[tuple[float, float]]) -> StepSeries:
    """Validate training losses: at least one, and no conflicting values for a step."""
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


def with_items(log: TrainingLog, names: Sequence[str], n: int) -> TrainingLog:
    """Say on how many items the first of these accuracies that the log has is."""
    name = next((name for name in names if name in log.scores), None)
    if name is None:
        return log
    share = log.scores[name]
    right = round(share * n) if n > 0 else 0
    if n < 1 or abs(right / n - share) > _ROUNDED:
        raise UsageError(
            f"{log.label}: {name} is {share:g}, which is no whole number of right answers among `items={n}`; "
            "give the number of items that it is of."
        )
    return replace(log, items={**log.items, name: n})


def set_name(column: str) -> str | None:
    """The validation set of a loss column: NAME in eval_NAME_loss."""
    found = _NAMED.fullmatch(column)
    return None if found is None else found[1]


def predicts_tokens(columns: Iterable[str]) -> bool | None:
    """Whether the columns imply a language model; ``None`` if they do not tell."""
    return True if any(column in _OF_TOKENS for column in columns) else None


def deciding(plain: StepSeries, sets: Mapping[str, StepSeries]) -> tuple[StepSeries, str | None]:
    """The validation loss a run is judged by, and its name: the unnamed one, else the first."""
    first = next(iter(sets), None)
    return (plain, None) if len(plain) or first is None else (sets[first], first)


def judged_by(logs: Sequence[TrainingLog], name: str | None) -> list[TrainingLog]:
    """Select the requested validation set; without one, all logs must be judged by the same set."""
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
    """A note on which of several validation sets decides."""
    if not log.valid_sets:
        return None
    names, own = ", ".join(log.valid_sets), _column(log.valid_name)
    many = "1 named validation set" if len(log.valid_sets) == 1 else f"{len(log.valid_sets)} named validation sets"
    return f"{many} ({names}): all are shown, and {own} decides; `validation=NAME` changes it"


def with_names(logs: Sequence[TrainingLog]) -> list[TrainingLog]:
    """Name unnamed logs of other programs after their paths: with equal names they would be seeds of one arm."""
    files = list({log.file.resolve(): log.file for log in logs if not log.arm and log.file is not None}.values())
    names = dict(zip(files, names_of(files, {log.arm for log in logs if log.arm}), strict=True))
    by_place = {file.resolve(): name for file, name in names.items()}
    return [log if log.arm or log.file is None else replace(log, arm=by_place[log.file.resolve()]) for log in logs]


def check_logs(logs: Sequence[TrainingLog]) -> None:
    """Refuse steps that are not whole numbers, and a file named twice: it is not two seeds."""
    seen: set[tuple[str, Path]] = set()
    for log in logs:
        steps = np.concatenate([series.steps for series in (log.loss, log.grad_norm, log.rate, log.valid)])
        wrong = steps[(steps < 0) | (steps != np.floor(steps)) | (steps > LAST_STEP)]
        if len(wrong):
            raise InputError(f"{one_line(log.label)}: a step must be a whole number from 0 on, but got {wrong[0]:g}.")
        if log.file is not None and (key := (log.arm, log.file.resolve())) in seen:
            raise InputError(f"{one_line(log.label)}: the same log is named twice; name each run once.")
        if log.file is not None:
            seen.add(key)
