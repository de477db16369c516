"""What a tuning report says: its sentence, its notes, and what to do next.

Every recommendation follows from a number that it names.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from assay.analyses.compare.result import Comparison
from assay.analyses.contrast import reserve_of
from assay.analyses.tune.arms import ArmSummary, Sensitivity
from assay.analyses.tune.contrasts import Contrast
from assay.analyses.tune.criteria import Criterion
from assay.analyses.tune.curves import RunSummary, stops
from assay.data.training import TrainingLog, note_of
from assay.results import words
from assay.stats.records import Estimate

Reason = Callable[[RunSummary], str | None]

ONE_SEED = "one seed: this compares two models, not two ways to train"
_NO_LOSS = "not every run has a validation loss"
_NO_INTERVAL = "the runs logged no per-example validation loss, and one loss per run has no interval"
_SEEDS = 3  # the fewest whose spread says anything


class Recommendation(msgspec.Struct, frozen=True):
    """What to do, and the numbers it follows from."""

    text: str
    because: str

    def __str__(self) -> str:
        return f"{self.text} Because {self.because}."


def sentence_of(arms: Sequence[ArmSummary], found: Sequence[str]) -> str:
    """What was found about each arm and the learning rates, and which runs diverged; for a single arm, how it went."""
    lost = [f"{said}." for arm in arms for said in divergences(arm)]
    if found or lost:
        return "\n".join([*found, *lost])
    arm = arms[0]
    run = arm.runs[0]
    said = (
        f"{arm.name}: final training loss {words.number(run.final_loss.value or 0.0)}, "
        f"{run.plateau.verdict} at the end, overfitting {run.overfitting.verdict}, gradients {run.gradients.verdict}"
    )
    return "; ".join([said, *stops(arm.name, arm.runs)]) + "."


def contrast_sentence(contrast: Contrast, arms: tuple[ArmSummary, ArmSummary]) -> str:
    """An arm against the baseline; ``arms`` are the baseline and the arm."""
    a, b, seeds, measure = contrast.baseline, contrast.arm, contrast.seeds, contrast.accuracy
    heads = {
        "better": f"{b} is better than {a} on the validation text",
        "worse": f"{b} is worse than {a} on the validation text",
        "no difference shown": f"No difference shown between {a} and {b} on the validation text",
        "undecided": f"Undecided between {a} and {b} on the validation text",
        "not measured": f"Cannot say whether {a} or {b} is better: {_NO_LOSS if seeds.value is None else _NO_INTERVAL}",
    }
    parts = list(_size(contrast))
    if measure is not None:
        means = [words.number(arm.quality[measure].value or 0.0) for arm in arms]
        parts.append(f"{measure} {' → '.join(means)}")
    if seeds.interval is not None:
        parts.append(f"{seeds.n} seeds")
    elif min(len(arm.runs) for arm in arms) == 1:
        parts.append(ONE_SEED)
    if contrast.windows is not None:
        parts.append(_on(contrast.windows))
    head = heads[contrast.verdict] + (f" ({'; '.join(parts)})" if parts else "")
    return "; ".join([head, *(end for arm in arms for end in stops(arm.name, arm.runs))]) + "."


def _on(windows: Comparison) -> str:
    """``360 windows``, and what keeps one from relying on them."""
    found, reliance = windows.substance, windows.reliance
    reserve = reserve_of(reliance, found) if reliance is not None and found is not None else ""
    clusters = "" if windows.n_clusters is None else f" in {words.count(windows.n_clusters, 'cluster')}"
    return f"{words.count(windows.n_pairs, 'window')}{clusters}" + (f", {reserve}" if reserve else "")


def _size(contrast: Contrast) -> Iterator[str]:
    """The ratio of perplexities, or the difference of losses that are not a language model's, with its interval."""
    ratio = "validation_loss" not in contrast.ratios
    found = _deciding_ratio(contrast) if ratio else contrast.seeds
    if found.value is None or found.interval is None:
        return
    sign, null, places = not ratio, 1.0 if ratio else 0.0, words.decimals(found.interval)
    limits = f"{words.percent(found.interval.level)} interval {words.interval(found.interval, sign=sign, null=null)}"
    value = words.placed(found.value, places, sign=sign, null=null)
    yield f"perplexity × {value}, {limits}" if ratio else f"validation loss {value}, {limits}"


def _deciding_ratio(contrast: Contrast) -> Estimate:
    """The ratio of perplexities to show: if no difference is shown, one whose interval says so."""
    ratio, other = contrast.ratios["perplexity"], None if contrast.windows is None else contrast.windows.ratio
    if contrast.verdict != "no difference shown" or other is None or other.interval is None or ratio.interval is None:
        return ratio
    return other if other.interval.low <= 1 <= other.interval.high else ratio


def rates_sentence(found: Sensitivity) -> str:
    """How much the learning rate matters."""
    points = found.points
    lost = [f"{point.rate:g}" for point in points if point.diverged]
    tail = f"; diverged at {', '.join(lost)}" if lost else ""
    if found.variation is None or found.best is None:
        return f"{found.arm}: fewer than two learning rates have a held-out loss{tail}."
    return (
        f"{found.arm}: across {len(points)} learning rates from {points[0].rate:g} to {points[-1].rate:g}, the "
        f"held-out loss varies by {words.number(100 * found.variation, 3)} % (standard deviation over mean); "
        f"{found.best:g} is best{tail}."
    )


# --------------------------------------------------------------------------------------------------------------- notes


def notes_of(arms: Sequence[ArmSummary], logs: Sequence[TrainingLog]) -> tuple[str, ...]:
    """What a reader must know about the logs."""
    notes = [f"{log.label}: {note}" for log in logs for note in (*log.notes, note_of(log)) if note]
    alone = [arm.name for arm in arms if len(arm.runs) == 1]
    if alone and len(arms) > 1:  # one arm has no difference to explain
        have = "has one seed" if len(alone) == 1 else "have one seed each"
        notes.append(
            f"{words.listed(alone, len(alone))} {have}: another seed might give another result, "
            "so a difference is between these models, not between the ways to train"
        )
    notes += [f"{arm.name}: {arm.quality_reason}" for arm in arms if arm.quality_reason]
    return (*notes, *_conditions(logs))


def _conditions(logs: Sequence[TrainingLog]) -> Iterator[str]:
    """Doubts about comparing the runs: unknown validation text, rates chosen on it, several kinds of device."""
    if len(logs) > 1 and any(log.validation is None and len(log.valid) for log in logs):
        yield "the logs do not say whether all runs have the same validation text; losses are compared as they are"
    judged = {log.validation for log in logs if not log.sweep and log.validation is not None}
    if any(log.validation in judged for log in logs if log.sweep):
        yield "the learning rates were tried on the validation text itself, which flatters the best one"
    if len({log.memory_of for log in logs if log.memory}) > 1:
        yield "memory was measured on different devices, so its ratios say little"


def divergences(arm: ArmSummary) -> list[str]:
    """Which runs of an arm diverged."""
    found = [run for run in arm.runs if run.diverged_at is not None]
    return [f"{arm.name} diverged at step {run.diverged_at:,} ({run.label})" for run in found]


# ----------------------------------------------------------------------------------------------------------- what to do


def advice_of(
    arms: Sequence[ArmSummary],
    contrasts: Sequence[Contrast],
    criteria: Sequence[Criterion],
    sensitivity: Sequence[Sensitivity],
) -> tuple[Recommendation, ...]:
    """What to do about the choice between arms, about each arm, and about the learning rates."""
    faults = {arm.name: [*stops(arm.name, arm.runs), *divergences(arm)] for arm in arms}
    found = [piece for one in contrasts for piece in _choice(one, criteria, faults[one.baseline] + faults[one.arm])]
    found += [piece for arm in arms for piece in _of_arm(arm)]
    found += [piece for one in sensitivity for piece in _of_rates(one)]
    return tuple(found)


def _choice(contrast: Contrast, criteria: Sequence[Criterion], faults: Sequence[str]) -> Iterator[Recommendation]:
    """Which of the two to use; ``faults`` say why neither can be chosen yet."""
    mine = [c for c in criteria if c.arm == contrast.arm and c.group == "primary"]
    numbers = "; ".join(f"{_name(c)} {in_line(c.estimate)} ({_judged(c)}wanted {c.wanted}: {c.status})" for c in mine)
    if faults:
        text = f"Do not decide between {contrast.baseline} and {contrast.arm} yet: not every run finished."
        yield Recommendation(text, "; ".join(faults))
        return
    yield Recommendation(_advised(contrast, mine), numbers)


def _advised(contrast: Contrast, mine: Sequence[Criterion]) -> str:
    """Performance is asked first: an arm that performs as well but saves less than wanted still saves."""
    arm, baseline = contrast.arm, contrast.baseline
    failed = [_name(c) for c in mine if c.status == "not met"]
    missing = [_name(c) for c in mine if c.status == "not measured"]
    performance = next((c.status for c in mine if c.name == "performance_loss"), "not measured")
    saves = [c for c in mine if c.name != "performance_loss" and (c.estimate.value or 0.0) > 0]
    if performance == "not measured":
        also = f"; {', '.join(failed)} not met" if failed else ""
        return f"Do not decide between {baseline} and {arm} yet: {', '.join(missing)} not measured{also}."
    if performance == "not met" or (failed and not saves):
        return f"Keep {baseline} over {arm}, or change {arm}: {', '.join(failed)} not met."
    if failed:
        return f"Use {arm} instead of {baseline} if what it saves is enough: {', '.join(failed)} not met."
    if missing:
        return f"Do not decide between {baseline} and {arm} yet: {', '.join(missing)} not measured."
    return f"Use {arm} instead of {baseline}: every primary criterion is met."


def _name(criterion: Criterion) -> str:
    """The name as the tables have it."""
    return criterion.name.replace("_", " ")


def _judged(criterion: Criterion) -> str:
    """What performance was judged by, unless it is perplexity."""
    by = criterion.why.partition(";")[0]
    return f"{by}; " if by.startswith("by ") and criterion.status != "not measured" else ""


def _of_arm(arm: ArmSummary) -> Iterator[Recommendation]:
    open_ends = stops(arm.name, arm.runs)
    if open_ends:
        yield Recommendation(f"Finish {arm.name} first.", "; ".join(open_ends))
    if len(arm.runs) < _SEEDS:
        yield Recommendation(
            f"Train {arm.name} with at least {_SEEDS} seeds.",
            f"it has {words.count(len(arm.runs), 'run')}, too few to say how much seeds differ",
        )
    yield from _runs(arm, "Lower the learning rate of {} or warm it up.", _divergence)
    yield from _runs(arm, "Train {} longer.", _falling)
    yield from _runs(arm, "Stop {} earlier, or give it more text.", _overfitting)
    yield from _runs(arm, "Clip the gradients of {}, or lower its learning rate.", _gradients)


def _runs(arm: ArmSummary, text: str, reason: Reason) -> Iterator[Recommendation]:
    """One recommendation for all runs of an arm that share a reason."""
    found = [(run, why) for run in arm.runs if (why := reason(run))]
    if found:
        yield Recommendation(text.format(arm.name), _share(len(found), len(arm.runs)) + found[0][1])


def _share(found: int, runs: int) -> str:
    """How many runs share a reason; its numbers are those of the first."""
    if runs == 1:
        return ""
    return f"{found} of {runs} runs {'shows it: ' if found == 1 else 'show it: in the first, '}"


def _divergence(run: RunSummary) -> str | None:
    return None if run.diverged_at is None else f"its loss is not finite at step {run.diverged_at:,}"


def _falling(run: RunSummary) -> str | None:
    if run.plateau.verdict != "still falling" or not run.finished:
        return None
    return f"its loss still changed by {in_line(run.plateau.change)} nats from step {run.plateau.first_step:,} on"


def _overfitting(run: RunSummary) -> str | None:
    found = run.overfitting
    validation, training = in_line(found.valid_change), in_line(found.train_change)
    best = f"the best validation loss was at step {found.best_step or 0:,}"
    if found.verdict == "shown":
        return (
            f"from step {found.first_step:,} on validation changed by {validation} and training by {training} nats; "
            f"{best}"
        )
    if found.verdict == "seen but not tested":
        return (
            f"validation rose at each of its {found.valid_change.n} evaluations, by {validation} nats in all, while "
            f"training changed by {training}: a description, not a test; {best}"
        )
    return None


def _gradients(run: RunSummary) -> str | None:
    return run.gradients.why if run.gradients.verdict == "unstable" else None


def _of_rates(found: Sensitivity) -> Iterator[Recommendation]:
    if found.best is not None and found.at_edge and len(found.points) > 1:
        rates = f"{found.points[0].rate:g} to {found.points[-1].rate:g}"
        yield Recommendation(
            f"Try learning rates beyond {found.best:g} for {found.arm}.",
            f"{found.best:g}, the best, is at the edge of those tried ({rates})",
        )


def in_line(estimate: Estimate) -> str:
    """A value with its interval, on one line."""
    if estimate.value is None:
        return "not measured"
    if estimate.interval is None:
        return words.number(estimate.value)
    return words.estimate(estimate.value, estimate.interval, null=0.0).replace("  ", " ")
