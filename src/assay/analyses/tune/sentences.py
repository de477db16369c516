"""What to do next: every recommendation follows from a number that it names."""

from collections.abc import Callable, Iterator, Sequence

from assay.analyses.tune.records import Arm, Contrast, Criterion, Recommendation, RunSummary, Sensitivity
from assay.data.training import TrainingLog
from assay.results import words
from assay.stats.records import Estimate

Reason = Callable[[RunSummary], str | None]

_SEEDS = 3  # the fewest whose spread says anything


def advice_of(
    arms: Sequence[Arm],
    contrasts: Sequence[Contrast],
    criteria: Sequence[Criterion],
    sensitivity: Sequence[Sensitivity],
) -> tuple[Recommendation, ...]:
    faults = {arm.name: [*stops(arm.name, arm.runs), *divergences(arm)] for arm in arms}
    found = [piece for one in contrasts for piece in _choice(one, criteria, faults[one.baseline] + faults[one.arm])]
    found += [piece for arm in arms for piece in _of_arm(arm)]
    found += [piece for one in sensitivity for piece in _of_rates(one)]
    return tuple(found)


def _choice(contrast: Contrast, criteria: Sequence[Criterion], faults: Sequence[str]) -> Iterator[Recommendation]:
    """Which of the two; ``faults`` say why neither can be chosen yet."""
    mine = [c for c in criteria if c.arm == contrast.arm and c.group == "primary"]
    numbers = "; ".join(f"{_name(c)} {in_line(c.estimate)} ({_judged(c)}wanted {c.wanted}: {c.status})" for c in mine)
    if faults:
        text = f"Do not decide between {contrast.baseline} and {contrast.arm} yet: not every run came to its end."
        yield Recommendation(text, "; ".join(faults))
        return
    yield Recommendation(_advised(contrast, mine), numbers)


def _advised(contrast: Contrast, mine: Sequence[Criterion]) -> str:
    """What an arm is worth is asked first: one that performs as well and saves less than wanted still saves."""
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
    """As the tables have it."""
    return criterion.name.replace("_", " ")


def _judged(criterion: Criterion) -> str:
    """By what performance was judged, where it is not perplexity."""
    by = criterion.why.partition(";")[0]
    return f"{by}; " if by.startswith("by ") and criterion.status != "not measured" else ""


def _of_arm(arm: Arm) -> Iterator[Recommendation]:
    open_ends = stops(arm.name, arm.runs)
    if open_ends:
        yield Recommendation(f"Finish {arm.name} first.", "; ".join(open_ends))
    if len(arm.runs) < _SEEDS:
        yield Recommendation(
            f"Train {arm.name} with at least {_SEEDS} seeds.",
            f"it has {words.count(len(arm.runs), 'run')}: what another seed would give is not known",
        )
    yield from _runs(arm, "Lower the learning rate of {} or warm it up.", _divergence)
    yield from _runs(arm, "Train {} longer.", _falling)
    yield from _runs(arm, "Stop {} earlier, or give it more text.", _overfitting)
    yield from _runs(arm, "Clip the gradients of {}, or lower its learning rate.", _gradients)


def _runs(arm: Arm, text: str, reason: Reason) -> Iterator[Recommendation]:
    """One recommendation for all runs of an arm that share a reason."""
    found = [(run, why) for run in arm.runs if (why := reason(run))]
    if found:
        share = f"{len(found)} of {words.count(len(arm.runs), 'run')}; " if len(arm.runs) > 1 else ""
        yield Recommendation(text.format(arm.name), share + found[0][1])


def _divergence(run: RunSummary) -> str | None:
    return None if run.diverged_at is None else f"its loss is not a number at step {run.diverged_at:,}"


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


def stops(name: str, runs: Sequence[RunSummary | TrainingLog]) -> list[str]:
    """Which runs of an arm are not finished, in words without a full stop; a divergence is another matter."""
    found = [run for run in runs if not run.finished and run.diverged_at is None]
    one = len(runs) == 1
    return [f"{name}{'' if one else f' ({run.label})'} {_stopped(run)}" for run in found]


def _stopped(run: RunSummary | TrainingLog) -> str:
    return f"stopped at step {run.last_step:,}" + ("" if run.max_steps is None else f" of {run.max_steps:,}")


def divergences(arm: Arm) -> list[str]:
    """Which runs of an arm diverged."""
    found = [run for run in arm.runs if run.diverged_at is not None]
    return [f"{arm.name} diverged at step {run.diverged_at:,} ({run.label})" for run in found]
