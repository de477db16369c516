"""What to do next. Every recommendation follows from a number that it names, and none contradicts another."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from assay.analyses.tune.arms import ArmSummary, Sensitivity
from assay.analyses.tune.contrasts import Contrast
from assay.analyses.tune.criteria import Criterion, CriterionStatus
from assay.analyses.tune.curves import RunSummary, stops
from assay.analyses.tune.sentences import divergences, in_line, size_of
from assay.results import words
from assay.stats.records import Estimate

Reason = Callable[[RunSummary], str | None]

_SEEDS = 3  # the fewest whose spread says anything
_COSTS = ("parameters", "memory", "time_per_step")


class Recommendation(msgspec.Struct, frozen=True):
    """What to do, and the numbers it follows from."""

    text: str
    because: str
    arm: str | None = None  # whom it is about

    def __str__(self) -> str:
        return f"{self.text} Because {self.because}."


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
    too_high = {arm.name for arm in arms if any(_divergence(run) or _gradients(run) for run in arm.runs)}
    found += [piece for one in sensitivity for piece in _of_rates(one, lower=one.arm in too_high)]
    return tuple(found)


# --------------------------------------------------------------------------------------------------- between two arms


def _choice(contrast: Contrast, criteria: Sequence[Criterion], faults: Sequence[str]) -> Iterator[Recommendation]:
    """Which of the two to use; ``faults`` say why neither can be chosen yet."""
    if faults:
        text = f"Do not decide between {contrast.baseline} and {contrast.arm} yet: not every run finished."
        yield Recommendation(text, "; ".join(faults), contrast.arm)
        return
    mine = [c for c in criteria if c.arm == contrast.arm and c.group == "primary"]
    if not mine:
        yield Recommendation(_by_verdict(contrast), "; ".join(_measured(contrast)), contrast.arm)
        return
    numbers = "; ".join(f"{_name(c)} {in_line(c.estimate)} ({_judged(c)}wanted {c.wanted}: {c.status})" for c in mine)
    yield Recommendation(_by_criteria(contrast, mine), numbers, contrast.arm)


def _by_verdict(contrast: Contrast) -> str:
    """Where no target was asked, quality alone decides; what cannot be told apart is not recommended."""
    arm, baseline = contrast.arm, contrast.baseline
    if contrast.verdict == "better":
        return f"Use {arm} instead of {baseline}."
    if contrast.verdict == "worse":
        return f"Keep {baseline} over {arm}, or change {arm}."
    if contrast.verdict == "undecided":
        return f"Do not decide between {baseline} and {arm} yet: there are too few windows to rely on."
    if contrast.verdict == "not measured":
        return f"Do not decide between {baseline} and {arm} yet: no validation loss with an interval tells them apart."
    if any(_differs(contrast.ratios[name]) for name in _COSTS):
        return (
            f"No difference in quality is shown between {baseline} and {arm}: choose by what they cost, "
            "or train more seeds to tell them apart."
        )
    return f"Nothing that was measured is shown to differ between {baseline} and {arm}: neither is to be preferred."


def _differs(ratio: Estimate) -> bool:
    """Whether a ratio is shown not to be 1; a number of parameters is counted."""
    if ratio.value is None:
        return False
    if ratio.interval is None:
        return ratio.reason == "counted" and ratio.value != 1
    return not ratio.interval.low <= 1 <= ratio.interval.high


def _measured(contrast: Contrast) -> Iterator[str]:
    """The numbers behind a choice by quality: its size, and the costs."""
    yield from size_of(contrast)
    if contrast.verdict == "not measured":
        yield (
            "not every run has a validation loss"
            if contrast.seeds.value is None
            else "one loss per run has no interval"
        )
    known = {name: contrast.ratios[name] for name in _COSTS if contrast.ratios[name].value is not None}
    yield from (f"{name.replace('_', ' ')} × {in_line(ratio)}" for name, ratio in known.items())


def _by_criteria(contrast: Contrast, mine: Sequence[Criterion]) -> str:
    """Performance is asked first: an arm that performs as well but saves less than wanted still saves."""
    failed = [_name(c) for c in mine if c.status == "not met"]
    missing = [_name(c) for c in mine if c.status == "not measured"]
    asked = next((c.status for c in mine if c.name == "performance_loss"), None)
    performance = asked or _performs(contrast)
    wait = f"Do not decide between {contrast.baseline} and {contrast.arm} yet"
    if performance == "not measured":
        also = f"; {', '.join(failed)} not met" if failed else ""
        return f"{wait}: {', '.join(missing) or 'performance'} not measured{also}."
    if failed:
        saves = any(c.name != "performance_loss" and (c.estimate.value or 0.0) > 0 for c in mine)
        return _despite(contrast, f"{', '.join(failed)} not met", performs=performance == "met", saves=saves)
    if missing:
        return f"{wait}: {', '.join(missing)} not measured."
    if performance == "not met":
        return f"{contrast.arm} is worse than {contrast.baseline}: use it only if what it saves is worth that."
    if asked is None and contrast.verdict == "no difference shown":
        alike = f"No difference in quality is shown between {contrast.baseline} and {contrast.arm}"
        return f"{alike}, and {contrast.arm} meets every primary criterion that was asked."
    return f"Use {contrast.arm} instead of {contrast.baseline}: every primary criterion is met."


def _despite(contrast: Contrast, failed: str, *, performs: bool, saves: bool) -> str:
    """What to do although not every criterion is met: the baseline is kept only if the arm is shown to be worse."""
    arm, baseline, verdict = contrast.arm, contrast.baseline, contrast.verdict
    if performs and saves:
        return f"Use {arm} instead of {baseline} if what it saves is enough: {failed}."
    if verdict == "worse":
        return f"Keep {baseline} over {arm}, or change {arm}: {failed}."
    if verdict == "better":
        return f"Use {arm} instead of {baseline} if its quality is worth its cost: {failed}."
    if verdict == "not measured":
        return f"Do not decide between {baseline} and {arm} yet: {failed}, but no interval shows a difference."
    if performs:
        return f"No difference is shown between {baseline} and {arm}, and {arm} does not save what is wanted: {failed}."
    return (
        f"No difference is shown between {baseline} and {arm}, and neither is that they perform alike: {failed}. "
        "More seeds or more text would tell."
    )


def _performs(contrast: Contrast) -> CriterionStatus:
    """Whether an arm performs well enough where no limit was asked: it is not shown to be worse."""
    if contrast.verdict in ("undecided", "not measured"):
        return "not measured"
    return "not met" if contrast.verdict == "worse" else "met"


def _name(criterion: Criterion) -> str:
    """The name as the tables have it."""
    return criterion.name.replace("_", " ")


def _judged(criterion: Criterion) -> str:
    """What performance was judged by, unless it is perplexity."""
    by = criterion.why.partition(";")[0]
    return f"{by}; " if by.startswith("by ") and criterion.status != "not measured" else ""


# ------------------------------------------------------------------------------------------------------------- one arm


def _of_arm(arm: ArmSummary) -> Iterator[Recommendation]:
    """An arm that overfits is neither to be finished nor trained longer; one that diverged is not trained longer."""
    overfits = any(_overfitting(run) for run in arm.runs)
    open_ends = stops(arm.name, arm.runs)
    if open_ends and not overfits:
        yield Recommendation(f"Finish {arm.name} first.", "; ".join(open_ends), arm.name)
    if len(arm.runs) < _SEEDS:
        yield Recommendation(
            f"Train {arm.name} with at least {_SEEDS} seeds.",
            f"it has {words.count(len(arm.runs), 'run')}, too few to say how much seeds differ",
            arm.name,
        )
    yield from _runs(arm, "Lower the learning rate of {} or warm it up.", _divergence)
    if not overfits and not divergences(arm):
        yield from _runs(arm, "Train {} longer.", _falling)
    yield from _runs(arm, "Stop {} earlier, or give it more text.", _overfitting)
    yield from _runs(arm, "Clip the gradients of {}, or lower its learning rate.", _gradients)


def _runs(arm: ArmSummary, text: str, reason: Reason) -> Iterator[Recommendation]:
    """One recommendation for all runs of an arm that share a reason."""
    found = [(run, why) for run in arm.runs if (why := reason(run))]
    if found:
        yield Recommendation(text.format(arm.name), _share(len(found), len(arm.runs)) + found[0][1], arm.name)


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


def _of_rates(found: Sensitivity, *, lower: bool) -> Iterator[Recommendation]:
    """Where the best rate is at an edge; ``lower`` says that the arm's own runs ask for a smaller one."""
    if found.best is None or not found.at_edge or len(found.points) < 2:
        return
    first, last = found.points[0].rate, found.points[-1].rate
    if found.best == last and lower:
        return
    yield Recommendation(
        f"Try learning rates {'above' if found.best == last else 'below'} {found.best:g} for {found.arm}.",
        f"{found.best:g}, the best, is at the edge of those tried ({first:g} to {last:g})",
        found.arm,
    )
