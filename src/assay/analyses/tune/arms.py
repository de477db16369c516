"""Arms: the runs of one way to train, and the means over their seeds."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import numpy as np

from assay.analyses.tune.curves import RunSummary, StepCurve, curve_of, summary_of
from assay.data import Panel, Table, read_table
from assay.data.training import EMPTY, PARTS, StepSeries, TrainingLog
from assay.errors import InputError, UsageError
from assay.stats.bounded_mean import METHOD as AGRESTI_COULL
from assay.stats.bounded_mean import agresti_coull
from assay.stats.numerics import normal_quantile
from assay.stats.records import Estimate, Interval
from assay.stats.repeated_runs import from_zero_on, over_seeds
from assay.stats.units import Floats

ACCURACIES = ("test accuracy", "accuracy", "eval accuracy", "valid accuracy")
_WHOLE = re.compile("full|sft", re.IGNORECASE)  # in the name of an arm that trains every weight
_PART = re.compile("lora|peft|adapter", re.IGNORECASE)  # in the name of one that does not, whatever else is in it
_OF_GPU = ("allocated", "reserved", "peak_reserved")  # memory
KANA = ("hiragana", "katakana")
SCRIPTS = (*KANA, "kanji", "other")
_SAME = 1e-6  # of a loss: a difference that rounding explains


class ArmSummary(msgspec.Struct, frozen=True):
    """The runs of one way to train: estimates are means over its seeds."""

    name: str
    runs: tuple[RunSummary, ...]
    total: int | None  # parameters
    trainable: int | None
    share: float | None  # trainable / total
    memory: dict[str, Estimate]  # bytes
    memory_of: str | None
    time: dict[str, Estimate]  # T3
    quality: dict[str, Estimate]  # validation_loss, perplexity, character_accuracy, …
    quality_reason: str | None
    loss_curve: StepCurve
    valid_curve: StepCurve | None
    gradient_curve: StepCurve | None
    language_model: bool = True  # its losses are nats per token, and their exponentials perplexities


class RatePoint(msgspec.Struct, frozen=True):
    rate: float
    loss: float | None  # validation, mean over seeds
    n: int
    diverged: int


class Sensitivity(msgspec.Struct, frozen=True):
    """The held-out loss over learning rates, each trained from the same start on the same data."""

    arm: str
    points: tuple[RatePoint, ...]
    variation: float | None  # standard deviation over mean; the deviation divides by n − 1
    variation_n: float | None  # the same with the divisor n, as np.std has it
    best: float | None
    at_edge: bool
    sentence: str = ""


def by_rows(logs: Sequence[TrainingLog]) -> list[TrainingLog]:
    """Judge runs by the rows of their validation set, if all kept those and not all scored windows of text."""
    if all(log.windows is not None for log in logs) or not all(log.rows is not None for log in logs):
        return list(logs)
    return [replace(log, windows=log.rows, start_windows=log.start_rows) for log in logs]


@dataclass(frozen=True, eq=False)
class Trained:
    """A log, with the validation windows that its model scored if it has them."""

    log: TrainingLog

    @cached_property
    def windows(self) -> Table | None:
        return None if self.log.windows is None else read_table(self.log.windows)

    @cached_property
    def validation_loss(self) -> float | None:
        """Token-weighted over the scored windows, or else the last in the log."""
        if self.log.diverged_at is not None:
            return None
        if self.windows is None:
            return self.log.valid.finite.last
        return Panel.from_tables([self.windows]).estimate(0)

    @cached_property
    def start(self) -> "Trained | None":
        """The untrained base on the same text: its scored windows, or else the validation loss at step 0."""
        valid = self.log.valid.finite
        first = StepSeries(valid.steps[valid.steps == 0], valid.values[valid.steps == 0])
        if self.log.start_windows is None and not len(first):
            return None
        return Trained(replace(self.log, loss=EMPTY, valid=first, windows=self.log.start_windows))

    @property
    def validated(self) -> bool:
        """Whether the trained model was: a loss at step 0 is the base's."""
        return self.log.windows is not None or bool((self.log.valid.finite.steps > 0).any())

    @property
    def seconds_per_step(self) -> float | None:
        log = self.log
        if len(log.step_seconds):
            return float(log.step_seconds.mean())
        return None if log.seconds is None or not log.last_step else log.seconds / log.last_step

    @property
    def memory(self) -> dict[str, float]:
        """Bytes by part, and their sum as ``training``: the peak without the interpreter and its libraries."""
        found = dict(self.log.memory)
        if all(part in found for part in PARTS):
            found["training"] = sum(found[part] for part in PARTS)
        elif "peak" in found:
            found["training"] = found["peak"]
        return found


def arm_of(name: str, runs: Sequence[Trained], level: float) -> ArmSummary:
    """The summary of every run, and what the runs have in common."""
    logs = [run.log for run in runs]
    total, trainable = (_same(name, logs, what) for what in ("total", "trainable"))
    losses = _values(runs, lambda run: run.validation_loss)
    return ArmSummary(
        name=name,
        runs=tuple(summary_of(run.log, run.validation_loss, level) for run in runs),
        total=total,
        trainable=trainable,
        share=None if not total or trainable is None else trainable / total,
        memory=_memory(runs, level),
        memory_of=next((log.memory_of for log in logs if log.memory), None),
        time=_time(runs, level),
        quality=_quality(losses, logs, level) | _accuracies(logs, level),
        quality_reason=_quality_reason(runs),
        language_model=all(log.language_model for log in logs),
        loss_curve=_loss_curve(name, logs, level),
        valid_curve=curve_of([log.valid for log in logs], level, smooth=False),
        gradient_curve=curve_of([log.grad_norm for log in logs], level, smooth=True),
    )


def _loss_curve(name: str, logs: Sequence[TrainingLog], level: float) -> StepCurve:
    """The curve, without points if every run diverged at its first step."""
    found = curve_of([log.loss for log in logs], level, smooth=True)
    if found is None and any(len(log.loss.finite) for log in logs):
        raise InputError(f"{name}: its runs share no step with a finite loss; name runs of the same schedule.")
    return found or StepCurve((), (), (), ())


def _same(name: str, logs: Sequence[TrainingLog], what: str) -> int | None:
    found: set[int | None] = {getattr(log, what) for log in logs}
    if len(found) > 1:
        listed = ", ".join(sorted(map(str, found)))
        raise InputError(
            f"{name}: its runs have different numbers of parameters ({what}: {listed});"
            " the runs of an arm must train the same model. Name them apart: A=RUN B=RUN."
        )
    return next(iter(found))


def _values(runs: Sequence[Trained], what: Callable[[Trained], float | None]) -> Floats:
    found = (what(run) for run in runs)
    return np.array([value for value in found if value is not None], dtype=np.float64)


def _means(found: Sequence[Mapping[str, float]], level: float) -> dict[str, Estimate]:
    names = dict.fromkeys(name for one in found for name in one)
    values = {name: np.array([one[name] for one in found if name in one]) for name in names}
    return {name: _mean(of_name, level) for name, of_name in values.items()}


def _mean(values: Floats, level: float) -> Estimate:
    """The mean over seeds; if no value is negative, neither is a limit."""
    found = over_seeds(values, level)
    return from_zero_on(found) if (values >= 0).all() else found


def _time(runs: Sequence[Trained], level: float) -> dict[str, Estimate]:
    wanted: dict[str, Callable[[Trained], float | None]] = {
        "seconds": lambda run: run.log.seconds,
        "wall": lambda run: run.log.wall,
        "seconds_per_step": lambda run: run.seconds_per_step,
        "steps_per_hour": lambda run: None if not run.seconds_per_step else 3600 / run.seconds_per_step,
        "tokens_per_second": lambda run: (
            None if run.log.tokens is None or not run.log.seconds else run.log.tokens / run.log.seconds
        ),
    }
    found = {name: _values(runs, what) for name, what in wanted.items()}
    return {name: _mean(values, level) for name, values in found.items() if len(values)}


def _quality(losses: Floats, logs: Sequence[TrainingLog], level: float) -> dict[str, Estimate]:
    found: dict[str, Estimate] = {}
    if len(losses):
        found["validation_loss"] = _mean(losses, level)
    if len(losses) and all(log.language_model for log in logs):
        found["perplexity"] = found["validation_loss"].exp()
        found |= _batch_perplexity(logs, level)
    last = [{name: series.finite.last for name, series in log.valid_sets.items()} for log in logs]
    known = [{f"validation_loss, {name}": loss for name, loss in one.items() if loss is not None} for one in last]
    found |= _means(known, level)
    return found | {name: _bounded(one) for name, one in _means([_scores(log) for log in logs], level).items()}


def _scores(log: TrainingLog) -> dict[str, float]:
    """Without those by script where the text is not Japanese, which has kana."""
    kana = any(name in log.scores for name in KANA)
    return {name: value for name, value in log.scores.items() if kana or name not in SCRIPTS}


def _accuracies(logs: Sequence[TrainingLog], level: float) -> dict[str, Estimate]:
    """The accuracies of a single run on a known number of items: with several, the interval is over seeds."""
    if len(logs) > 1:
        return {}
    shares = {name: (logs[0].scores[name], n) for name, n in logs[0].items.items() if name in logs[0].scores}
    reach = normal_quantile(0.5 + level / 2)
    limits = {name: agresti_coull(share, n, reach) for name, (share, n) in shares.items()}
    return {
        name: Estimate(share, Interval(*limits[name], level, AGRESTI_COULL), None, n)
        for name, (share, n) in shares.items()
    }


def _memory(runs: Sequence[Trained], level: float) -> dict[str, Estimate]:
    """Means over seeds; what only a GPU's allocator knows is undefined on a CPU."""
    found = _means([run.memory for run in runs], level)
    if not found or any(run.log.memory_of != "cpu" for run in runs):
        return found
    missing = Estimate(None, None, None, 0, "trained on a CPU: the resident set is measured instead")
    return found | dict.fromkeys(_OF_GPU, missing)


def _batch_perplexity(logs: Sequence[TrainingLog], level: float) -> dict[str, Estimate]:
    """With batches weighted by their length, which is wrong; given if every run logged it and it differs from ours."""
    found = [log.source_loss for log in logs if log.source_loss is not None]
    differs = any(abs((log.source_loss or 0) / (log.valid.finite.last or 1) - 1) > _SAME for log in logs)
    if len(found) < len(logs) or not differs:
        return {}
    return {"perplexity_by_batch_length": _mean(np.array(found), level).exp()}


def _bounded(share: Estimate) -> Estimate:
    """A score that is a share has no limit above 1 either."""
    limits = share.interval
    if limits is None or share.value is None or not 0 <= share.value <= 1:
        return share
    return replace(share, interval=replace(limits, high=min(limits.high, 1.0)))


def _quality_reason(runs: Sequence[Trained]) -> str | None:
    said, log = [], runs[0].log
    measure = next((name for name in ACCURACIES if name in log.scores), None)
    if measure is not None and measure not in log.items and len(runs) == 1:
        said.append(f"{measure} has no interval, for the log does not say on how many items it is; `items=N` does")
    if any(run.log.row_weighted and run.windows is None for run in runs):
        said.append("the validation loss is the Trainer's, which weights rows instead of tokens")
    if any(len(run.log.valid) and not run.log.language_model for run in runs):
        said.append(
            "the logs do not say that the loss is a language model's, so there is no perplexity and no grade; "
            "`language_model=True` says so"
        )
    return "; ".join(said) or None


def sensitivity_of(arm: str, runs: Sequence[Trained]) -> Sensitivity:
    """Standard deviation over mean of the held-out loss, over the rates that did not diverge."""
    rates = sorted({run.log.learning_rate for run in runs if run.log.learning_rate is not None})
    points = []
    for rate in rates:
        own = [run for run in runs if run.log.learning_rate == rate]
        known = _values(own, lambda run: run.validation_loss)
        diverged = sum(run.log.diverged_at is not None for run in own)
        points.append(RatePoint(rate, float(known.mean()) if len(known) else None, len(own), diverged))
    good = [(point.loss, point.rate) for point in points if point.loss is not None and not point.diverged]
    losses = np.array([loss for loss, _ in good])
    by_fewer, by_n = (float(losses.std(ddof=d) / losses.mean()) if len(losses) > 1 else None for d in (1, 0))
    best = min(good)[1] if good else None
    edge = best is not None and best in {rates[0], rates[-1]}
    return Sensitivity(arm, tuple(points), by_fewer, by_n, best, edge)


def baseline_of(arms: Sequence[ArmSummary], asked: str | None) -> tuple[str | None, str | None]:
    """The name of the baseline, and a note if neither the user nor the numbers of parameters chose it."""
    names = [arm.name for arm in arms]
    if asked is not None and asked not in names:
        raise UsageError(f"no arm {asked!r}; the arms are {', '.join(names)}.")
    if asked is not None or len(arms) < 2:
        return asked or next(iter(names), None), None
    good = [arm for arm in arms if not lost(arm)] or list(arms)
    chosen, why = _chosen(good)
    preferred, _ = _chosen(arms)
    if preferred is not chosen:
        why = f"because {preferred.name} diverged"
    if why is None:
        return chosen.name, None
    return chosen.name, f"{chosen.name} is the baseline {why}; `baseline=NAME` changes it"


def _chosen(arms: Sequence[ArmSummary]) -> tuple[ArmSummary, str | None]:
    """The arm that trains everything, by its parameters or else its name; or else the first. And why."""
    whole = [arm for arm in arms if arm.share == 1]
    if len(whole) == 1:
        return whole[0], None
    known = f"{len(whole)} arms train every parameter" if whole else "no log says which arm trains every parameter"
    named = [arm for arm in whole or arms if _WHOLE.search(arm.name) and not _PART.search(arm.name)]
    if named:
        return named[0], f"because of its name ({known})"
    return (whole or arms)[0], f"because it comes first ({known})"


def lost(arm: ArmSummary) -> bool:
    """Whether every run diverged."""
    return all(run.diverged_at is not None for run in arm.runs)
