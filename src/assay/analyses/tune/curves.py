"""One training run: does it converge, overfit, spike? And the curves that a chart draws (T5)."""

from collections.abc import Sequence
from math import inf
from typing import Literal, get_args

import msgspec
import numpy as np

from assay.data.training import StepSeries, TrainingLog
from assay.stats.numerics import t_quantile
from assay.stats.records import Estimate
from assay.stats.regression import change_of, mean_of, smoothed, window_of
from assay.stats.repeated_runs import from_zero_on
from assay.stats.rounding import difference, levelled
from assay.stats.units import Floats

PlateauVerdict = Literal["flat", "still falling", "rising", "not shown", "not measured"]
OverfittingVerdict = Literal["shown", "seen but not tested", "not shown", "not measured"]

_WITHIN = 0.01  # of the last value: converged; of the whole improvement: flat
_SPIKE = 6.0  # robust standard deviations above the median of the norms before it
_TWICE = 2.0  # and at least so many times that median, for norms that hardly vary
_MANY_SPIKES = 0.01  # of the steps
_WILD = 1.0  # standard deviation over mean
_DRAWN = 120  # points of a curve
_FEWEST_RISES, _NOTABLE_RISE = 3, 0.05  # validation points, and by how much of the first they rise
_TO_SIGMA = 1.4826  # the median absolute deviation of normal values, as a standard deviation


#: What the variances and standard deviations of a report divide by. n is that of np.var and np.std.
DIVISORS = {
    "learning-rate sensitivity (variation)": "n − 1",
    "learning-rate sensitivity (variation_n)": "n",
    "stability": "n",
    "gradient variance and variation": "n",
    "effect size d_z, intervals over seeds and windows": "n − 1",
    "the published recipe: cohens_d, low, high": "n",
}


class Plateau(msgspec.Struct, frozen=True):
    """Whether the training loss has levelled off over the last part of the run."""

    verdict: PlateauVerdict
    change: Estimate  # nats, over the steps below
    first_step: int
    tolerance: float | None  # nats: 1% of the whole improvement; a smaller change is flat


class Overfitting(msgspec.Struct, frozen=True):
    """Validation rises while training falls, over the second half of the validation points or over all of them.

    "Seen but not tested": validation rose at every evaluation, but they are too few for an interval to show it.
    """

    verdict: OverfittingVerdict
    valid_change: Estimate  # nats
    train_change: Estimate
    first_step: int | None
    best_step: int | None
    best_loss: float | None
    rise: float | None  # the last validation loss less the best


class Gradients(msgspec.Struct, frozen=True):
    """The norms of the gradient."""

    verdict: Literal["stable", "unstable", "not measured"]
    why: str
    points: int
    mean: float | None
    variance: float | None  # divides by n
    variation: float | None  # standard deviation (divisor n) over mean, in the last half
    spikes: tuple[int, ...]  # steps


class RunSummary(msgspec.Struct, frozen=True):
    """One training run: convergence and gradients."""

    label: str
    kind: str
    seed: int | None
    learning_rate: float | None
    points: int  # logged losses
    last_step: int
    max_steps: int | None
    finished: bool
    diverged_at: int | None
    window: int  # logged points in a smoothed loss
    final_loss: Estimate  # training loss, mean of the last window
    stability: float | None  # 1 / (1 + variance of the last window), which divides by n
    steps_to_95: int | None  # the first step with 95% of the final improvement
    convergence_step: int | None  # from here on the smoothed loss stays within 1% of its last value
    plateau: Plateau
    overfitting: Overfitting
    gradients: Gradients
    validation_loss: float | None
    notes: tuple[str, ...]


class StepCurve(msgspec.Struct, frozen=True):
    """A line with a band, thinned out for a chart."""

    steps: tuple[int, ...]
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def summary_of(log: TrainingLog, validation_loss: float | None, level: float) -> RunSummary:
    """The summary of one log."""
    diverged = log.diverged_at
    loss = log.loss.finite if diverged is None else before(log.loss, diverged)
    window = window_of(len(loss))
    calm = smoothed(loss.values, window)
    tail = loss.values[-window:]
    return RunSummary(
        label=log.label,
        kind=log.kind,
        seed=log.seed,
        learning_rate=log.learning_rate,
        points=len(log.loss),
        last_step=log.last_step,
        max_steps=log.max_steps,
        finished=log.finished,
        diverged_at=diverged,
        window=window,
        final_loss=_final(tail, diverged, level),
        stability=float(1 / (1 + tail.var())) if len(tail) and diverged is None else None,
        steps_to_95=None if diverged is not None else _steps_to(loss.steps, calm, 0.95),
        convergence_step=None if diverged is not None else _settled(loss.steps, calm),
        plateau=plateau_of(loss, window, level, diverged),
        overfitting=overfitting_of(loss, log.valid.finite, level),
        gradients=gradients_of(log.grad_norm),
        validation_loss=validation_loss,
        notes=log.notes,
    )


def before(series: StepSeries, step: int) -> StepSeries:
    kept = series.steps < step
    return StepSeries(series.steps[kept], series.values[kept]).finite


def _final(tail: Floats, diverged: int | None, level: float) -> Estimate:
    if diverged is not None:
        return Estimate(None, None, None, 0, f"diverged at step {diverged:,}")
    found = mean_of(tail, level)
    return from_zero_on(found) if (tail >= 0).all() else found


def _steps_to(steps: Floats, calm: Floats, part: float) -> int | None:
    """The first step at which this part of the final improvement is reached."""
    gain = float(difference(calm[-1], calm[0])) if len(calm) else 0.0
    if gain <= 0:
        return None
    return int(steps[int(np.argmax(calm <= calm[0] - part * gain))])


def _settled(steps: Floats, calm: Floats) -> int | None:
    """The step from which the smoothed loss stays near its last value."""
    if not len(calm):
        return None
    far = np.abs(calm - calm[-1]) > _WITHIN * abs(calm[-1])
    last = int(np.flatnonzero(far)[-1]) + 1 if far.any() else 0
    return int(steps[last]) if last < len(steps) - 1 else None


def plateau_of(loss: StepSeries, window: int, level: float, diverged: int | None = None) -> Plateau:
    """The change of the loss over the last quarter (at least a window), against 1% of the whole improvement."""
    n = len(loss)
    size = max(window, n // 4)
    if n < 8 or diverged is not None:
        why = "fewer than eight points" if diverged is None else f"diverged at step {diverged:,}"
        return Plateau("not measured", Estimate(None, None, None, n, why), 0, None)
    tail = StepSeries(loss.steps[-size:], loss.values[-size:])
    change, calm = change_of(tail.steps, tail.values, level), smoothed(loss.values, window)
    tolerance = _WITHIN * abs(float(difference(calm[-1], calm[0])))
    return Plateau(_resting(change, tolerance), change, int(tail.steps[0]), tolerance)


def _resting(change: Estimate, tolerance: float) -> PlateauVerdict:
    limits = change.interval
    if limits is None:
        return "not measured"
    if -tolerance <= limits.low and limits.high <= tolerance:  # both are 0 where the loss never changed
        return "flat"
    if limits.high < 0:
        return "still falling"
    return "rising" if limits.low > 0 else "not shown"


def overfitting_of(loss: StepSeries, valid: StepSeries, level: float) -> Overfitting:
    """Validation up and training down, over the second half of the validation points or over all of them.

    Neither stretch is chosen by looking at the losses; each gets half of the error. Validation that rises at every
    point from the first, by more than 5% in all, is reported even if no interval shows it, as few points on a curve
    cannot. That is a description, not a test: three points of pure noise are in rising order in one log of six.
    """
    each = 1 - (1 - level) / 2
    half = StepSeries(valid.steps[len(valid) // 2 :], valid.values[len(valid) // 2 :])
    stretches = [_stretch(loss, part, change_of(part.steps, part.values, each), each) for part in (half, valid)]
    if _rises(valid):
        rise = Estimate(float(valid.values[-1] - valid.values[0]), None, None, len(valid), "it rose every time")
        stretches.append(_stretch(loss, valid, rise, each))
    return _with_best(min(stretches, key=lambda found: get_args(OverfittingVerdict).index(found.verdict)), valid)


def _rises(valid: StepSeries) -> bool:
    """Whether every point is above the one before it, and the last well above the first."""
    values = valid.values
    return len(values) >= _FEWEST_RISES and bool(
        (difference(values[:-1], values[1:]) > 0).all() and values[-1] - values[0] > _NOTABLE_RISE * abs(values[0])
    )


def _stretch(loss: StepSeries, part: StepSeries, rising: Estimate, level: float) -> Overfitting:
    first = int(part.steps[0]) if len(part) else None
    inside = (loss.steps >= (first or 0)) & (loss.steps <= (part.steps[-1] if len(part) else inf))
    falling = change_of(loss.steps[inside], loss.values[inside], level)
    return Overfitting(_overfits(rising, falling), rising, falling, first, None, None, None)


def _with_best(found: Overfitting, valid: StepSeries) -> Overfitting:
    if not len(valid):
        return found
    low = valid.values.min()
    above = difference(np.full(len(valid), low), valid.values)
    best = int(np.argmin(above))  # the first of those that are equal
    return msgspec.structs.replace(found, best_step=int(valid.steps[best]), best_loss=float(low), rise=float(above[-1]))


def _overfits(rising: Estimate, falling: Estimate) -> OverfittingVerdict:
    if rising.value is None or falling.interval is None:
        return "not measured"
    if not falling.interval.high < 0:
        return "not shown"
    if rising.interval is None:
        return "seen but not tested"
    return "shown" if rising.interval.low > 0 else "not shown"


def gradients_of(norms: StepSeries) -> Gradients:
    """Gradients are stable if every norm is finite, few are spikes, and the last half varies by less than its mean."""
    n = len(norms)
    if n < 8:
        return Gradients("not measured", "fewer than eight gradient norms in the log", n, None, None, None, ())
    bad = ~np.isfinite(norms.values)
    values = norms.values[~bad]
    spikes = spikes_of(norms.finite)
    half = values[len(values) // 2 :]
    variation = float(half.std() / half.mean()) if len(half) and half.mean() > 0 else None
    faults = []
    if bad.any():
        faults.append(f"the norm at step {int(norms.steps[int(np.argmax(bad))]):,} is not finite")
    if len(spikes) > _MANY_SPIKES * n:
        faults.append(f"{len(spikes)} spikes in {n:,} steps, more than {100 * _MANY_SPIKES:g}%")
    if variation is not None and variation > _WILD:
        faults.append(f"the standard deviation is {variation:.2g} times the mean")
    why = "; ".join(faults) or f"{len(spikes)} spikes in {n:,} steps, variation {variation or 0:.2g}"
    mean, variance = (float(values.mean()), float(values.var())) if len(values) else (None, None)
    return Gradients("unstable" if faults else "stable", why, n, mean, variance, variation, tuple(spikes))


def spikes_of(norms: StepSeries, window: int = 50) -> list[int]:
    """Steps whose norm is far above the median of the norms before it (at least eight, at most ``window``)."""
    if len(norms) <= 8:
        return []
    # Windows that are not full yet are padded with NaN, which nanmedian ignores.
    padded = np.concatenate([np.full(window, np.nan), norms.values])
    past = np.lib.stride_tricks.sliding_window_view(padded, window)[8 : len(norms)]
    middle = np.nanmedian(past, axis=1)
    spread = _TO_SIGMA * np.nanmedian(np.abs(past - middle[:, None]), axis=1)
    high = norms.values[8:] > np.maximum(middle + _SPIKE * spread, _TWICE * middle)
    return [int(step) for step in norms.steps[8:][high]]


def curve_of(series: Sequence[StepSeries], level: float, *, smooth: bool) -> StepCurve | None:
    """The mean of runs at the steps they share, with Student's interval over seeds, or over the window of one run."""
    runs = [part.finite for part in series if len(part.finite)]
    if not runs:
        return None
    shared = runs[0].steps
    for run in runs[1:]:
        shared = np.intersect1d(shared, run.steps)
    if not len(shared):
        return None
    lines = [smoothed(run.values, window_of(len(run))) if smooth else run.values for run in runs]
    rows = np.stack([line[np.searchsorted(run.steps, shared)] for run, line in zip(runs, lines, strict=True)])
    reach = _band(runs, rows, level, smooth=smooth)[: len(shared)]
    chosen = np.unique(np.linspace(0, len(shared) - 1, _DRAWN).round().astype(int))
    middle = rows.mean(axis=0)
    low, high = middle - reach, middle + reach
    if rows.min() >= 0:  # neither losses nor norms are negative
        low = np.maximum(low, 0)
    return StepCurve(
        tuple(shared[chosen].astype(int).tolist()), *(tuple(part[chosen].tolist()) for part in (middle, low, high))
    )


def _band(runs: Sequence[StepSeries], rows: Floats, level: float, *, smooth: bool) -> Floats:
    if len(runs) > 1:
        return np.asarray(t_quantile(0.5 + level / 2, len(runs) - 1) * rows.std(axis=0, ddof=1) / np.sqrt(len(runs)))
    if not smooth:
        return np.zeros(rows.shape[1])
    window, values = window_of(len(runs[0])), levelled(runs[0].values)
    values = values - values.mean()  # so that squares, and their rounding, are small
    squares = smoothed(values**2, window) - smoothed(values, window) ** 2
    count = np.minimum(np.arange(1, rows.shape[1] + 1), window)
    reach = np.sqrt(np.maximum(squares, 0) / np.maximum(count - 1, 1))
    return np.asarray(t_quantile(0.5 + level / 2, max(window - 1, 1)) * reach)


def stops(name: str, runs: Sequence[RunSummary | TrainingLog]) -> list[str]:
    """Which runs of an arm did not finish, without a full stop; diverged runs are not among them."""
    found = [run for run in runs if not run.finished and run.diverged_at is None]
    who = [name if len(runs) == 1 else f"{name} ({run.label})" for run in found]
    ends = ["" if run.max_steps is None else f" of {run.max_steps:,}" for run in found]
    return [f"{a} stopped at step {run.last_step:,}{end}" for a, run, end in zip(who, found, ends, strict=True)]
