"""Targets and success criteria: met, not met or not measured, each with its number and interval.

A criterion is met if the whole interval meets it, or the value if there is no interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace as replaced
from typing import Literal

import msgspec
from msgspec.structs import replace

from assay.analyses.tune.arms import KANA, ArmSummary
from assay.analyses.tune.contrasts import NO_LANGUAGE_MODEL, Contrast
from assay.analyses.tune.curves import stops
from assay.analyses.tune.targets import Targets, grade_of
from assay.results import words
from assay.stats.records import Estimate

CriterionStatus = Literal["met", "not met", "not measured"]
CriterionGroup = Literal["target", "primary", "secondary"]
Convergence = Literal["achieved", "not achieved", "not shown", "not measured"]


class ExecutiveLine(msgspec.Struct, frozen=True):
    """An arm in a line of the executive summary."""

    arm: str
    final_perplexity: Estimate
    parameter_efficiency: float | None  # trainable / total
    memory_savings: Estimate  # 1 − memory / the baseline's
    convergence: Convergence
    why: str  # of the convergence


class Criterion(msgspec.Struct, frozen=True):
    """A target or success criterion, and whether it is met."""

    name: str
    group: CriterionGroup
    arm: str
    wanted: str
    status: CriterionStatus
    estimate: Estimate
    why: str


def executive_of(arms: Sequence[ArmSummary], contrasts: Sequence[Contrast]) -> tuple[ExecutiveLine, ...]:
    """Final perplexity, share of parameters, memory saved and convergence of every arm."""
    saved = {one.arm: reduction(one.ratios["memory"]) for one in contrasts}
    alone = Estimate(None, None, None, 0, "the baseline" if contrasts else "nothing to compare with")
    missing = Estimate(None, None, None, 0, "no validation loss in the log")
    other = Estimate(None, None, None, 0, NO_LANGUAGE_MODEL)
    return tuple(
        ExecutiveLine(
            arm.name,
            arm.quality.get("perplexity", missing if arm.language_model else other),
            arm.share,
            saved.get(arm.name, alone),
            *convergence_of(arm),
        )
        for arm in arms
    )


def convergence_of(arm: ArmSummary) -> tuple[Convergence, str]:
    """Achieved if the loss of every run is flat at its end."""
    ends = ["diverged" if run.diverged_at is not None else run.plateau.verdict for run in arm.runs]
    worst = next(
        (end for end in ("diverged", "rising", "still falling", "not measured", "not shown") if end in ends), "flat"
    )
    said = "neither flat nor shown to change" if worst == "not shown" else worst
    why = said if len(ends) == 1 else f"{ends.count(worst)} of {len(ends)} runs {said}"
    known: dict[str, Convergence] = {"flat": "achieved", "not measured": "not measured", "not shown": "not shown"}
    return known.get(worst, "not achieved"), why


def criteria_of(
    arms: Sequence[ArmSummary], contrasts: Sequence[Contrast], targets: Targets | None
) -> tuple[Criterion, ...]:
    """The targets that were asked of every arm, and of every arm against the baseline."""
    if targets is None:
        return ()
    japanese = is_japanese(arms)
    found = [criterion for arm in arms for criterion in _arm_targets(arm, targets, japanese=japanese)]
    by_name = {arm.name: arm for arm in arms}
    for contrast in contrasts:
        pair = (by_name[contrast.baseline], by_name[contrast.arm])
        fair = _fair(contrast, [end for arm in pair for end in stops(arm.name, arm.runs)])
        found += _success(fair, pair[1], targets, japanese=japanese)
    return tuple(found)


def is_japanese(arms: Sequence[ArmSummary]) -> bool:
    """Whether the validation text is Japanese, as far as the runs measured it."""
    return any(name in arm.quality for arm in arms for name in KANA)


def unasked(arms: Sequence[ArmSummary], targets: Targets | None) -> str | None:
    """A note on targets for Japanese text where there is none."""
    named = [name for name in _JAPANESE_ROWS if getattr(targets, name, None) is not None]
    if not named or not _for_japanese(targets) or is_japanese(arms):
        return None
    listed = ", ".join(name.replace("_", " ") for name in named)
    return f"no run has accuracies of Japanese characters by script, so these targets are not judged: {listed}"


_JAPANESE_ROWS = ("character_accuracy", "hiragana", "katakana", "kanji", "fluency_loss")


def _for_japanese(targets: Targets | None) -> bool:
    """Whether an accuracy of characters is meant for Japanese text: limits by script stand beside it."""
    return targets is not None and any(getattr(targets, name) is not None for name in ("hiragana", "katakana", "kanji"))


def _fair(contrast: Contrast, open_ends: Sequence[str]) -> Contrast:
    """Without the ratios of quality if a run did not finish: what it lacks is training, whatever the method."""
    if not open_ends:
        return contrast
    missing = Estimate(None, None, None, 0, "; ".join(open_ends))
    judged = [name for name in ("perplexity", "validation_loss", "accuracy") if name in contrast.ratios]
    return replace(contrast, ratios=contrast.ratios | dict.fromkeys([*judged, "character_accuracy"], missing))


def _arm_targets(arm: ArmSummary, targets: Targets, *, japanese: bool) -> list[Criterion]:
    missing = Estimate(None, None, None, 0, "not measured")
    other = Estimate(None, None, None, 0, NO_LANGUAGE_MODEL)
    found = []
    if targets.perplexity is not None:
        perplexity = arm.quality.get("perplexity", missing if arm.language_model else other)
        found.append(_graded(_below("perplexity", "target", arm.name, perplexity, targets.perplexity), targets.grades))
    for name in ("character_accuracy", "hiragana", "katakana", "kanji"):
        limit = getattr(targets, name)
        if limit is not None and (japanese or not _for_japanese(targets)):
            found.append(_above(name, "target", arm.name, arm.quality.get(name, missing), limit))
    return found


def _graded(criterion: Criterion, grades: Mapping[str, float] | None) -> Criterion:
    if not grades or criterion.estimate.value is None:
        return criterion
    why = (grade_of(criterion.estimate.value, grades), criterion.why)
    return replace(criterion, why="; ".join(part for part in why if part))


def _success(contrast: Contrast, arm: ArmSummary, targets: Targets, *, japanese: bool) -> list[Criterion]:
    ratios, name = contrast.ratios, contrast.arm
    share = Estimate(arm.share, None, None, len(arm.runs), None if arm.share is not None else "parameters not logged")
    found = []
    if targets.trainable_share is not None:
        found.append(_below("trainable_share", "target", name, share, targets.trainable_share))
    if targets.performance_loss is not None:
        found.append(_performance(contrast, targets.performance_loss))
    for criterion, ratio, group in _SAVINGS:
        if (limit := getattr(targets, criterion)) is not None:
            found.append(_above(criterion, group, name, reduction(ratios[ratio]), limit))
    if targets.stable_convergence:
        found.append(_convergence(arm))
    if targets.fluency_loss is not None and (japanese or not _for_japanese(targets)):
        fluency = reduction(ratios["character_accuracy"])
        found.append(_below("fluency_loss", "secondary", name, fluency, targets.fluency_loss))
    return found


_SAVINGS: tuple[tuple[str, str, CriterionGroup], ...] = (
    ("parameter_reduction", "parameters", "primary"),
    ("memory_reduction", "memory", "primary"),
    ("time_reduction", "time_per_step", "secondary"),
)


def _performance(contrast: Contrast, limit: float) -> Criterion:
    """By perplexity if the loss is a language model's, or else by a measured accuracy, or else by the loss itself."""
    ratios, measure = contrast.ratios, contrast.accuracy
    found, by = _increase(ratios["perplexity"]), ""
    if found.value is None and measure is not None and ratios["accuracy"].value is not None:
        found, by = reduction(ratios["accuracy"]), f"by {measure}"
    elif found.value is None and "validation_loss" in ratios:
        found, by = _increase(ratios["validation_loss"]), "by the validation loss"
    criterion = _below("performance_loss", "primary", contrast.arm, found, limit)
    if found.value is None or not by:
        return criterion
    return replace(criterion, why="; ".join(part for part in (by, criterion.why) if part))


def _increase(ratio: Estimate, sign: float = 1.0) -> Estimate:
    """Ratio − 1."""
    if ratio.value is None:
        return ratio
    limits = None if ratio.interval is None else ratio.interval.scaled(sign)
    moved = None if limits is None else replaced(limits, low=limits.low - sign, high=limits.high - sign)
    return replaced(ratio, value=sign * ratio.value - sign, interval=moved)


def reduction(ratio: Estimate) -> Estimate:
    """1 − ratio."""
    return _increase(ratio, -1.0)


def _below(name: str, group: CriterionGroup, arm: str, found: Estimate, limit: float) -> Criterion:
    worst = found.value if found.interval is None else found.interval.high
    met = [value is not None and value < limit for value in (worst, found.value)]
    return _criterion(name, group, arm, f"< {limit:g}", found, met)


def _above(name: str, group: CriterionGroup, arm: str, found: Estimate, limit: float) -> Criterion:
    worst = found.value if found.interval is None else found.interval.low
    met = [value is not None and value > limit for value in (worst, found.value)]
    return _criterion(name, group, arm, f"> {limit:g}", found, met)


def _criterion(
    name: str, group: CriterionGroup, arm: str, wanted: str, found: Estimate, met: Sequence[bool]
) -> Criterion:
    """``met`` says whether the worse limit of the interval meets it, and whether the value does."""
    good, value_good = met
    status: CriterionStatus = "not measured" if found.value is None else "met" if good else "not met"
    why = ""
    if found.value is None:
        why = found.reason or "not measured"
    elif good != value_good:
        why = "the value meets it, the interval does not: not shown"
    elif found.interval is None:
        why = found.reason or "counted"
    return Criterion(name, group, arm, wanted, status, found, why)


def _convergence(arm: ArmSummary) -> Criterion:
    """Every run stays finite, its gradients are stable, and its loss does not rise at the end."""
    faults = []
    for run in arm.runs:
        if run.diverged_at is not None:
            faults.append(f"diverged at step {run.diverged_at:,}")
        elif run.gradients.verdict == "unstable":
            faults.append(f"gradients: {run.gradients.why}")
        elif run.plateau.verdict == "rising":
            faults.append("the loss rises at the end")
    measured = [run for run in arm.runs if run.gradients.verdict != "not measured" or run.diverged_at is not None]
    status: CriterionStatus = "not met" if faults else "met" if len(measured) == len(arm.runs) else "not measured"
    value = None if status == "not measured" else 1 - len(faults) / len(arm.runs)
    why = "; ".join(dict.fromkeys(faults)) or (
        "no gradient norms in the log" if status == "not measured" else words.count(len(arm.runs), "run")
    )
    estimate = Estimate(value, None, None, len(arm.runs), why)
    return Criterion("stable_convergence", "secondary", arm.name, "every run", status, estimate, why)
