"""Targets and success criteria: met, not met or not measured, each with its number and interval.

A criterion is met if the whole interval meets it, or the value if there is no interval.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from dataclasses import replace as replaced
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from assay.analyses.tune.arms import ArmSummary
from assay.analyses.tune.contrasts import NO_LANGUAGE_MODEL, Contrast
from assay.analyses.tune.curves import stops
from assay.errors import InputError
from assay.files.reading import SETTINGS, read_bytes, read_json
from assay.names import nearest
from assay.results import words
from assay.stats.records import Estimate

CriterionStatus = Literal["met", "not met", "not measured"]
CriterionGroup = Literal["target", "primary", "secondary"]

#: Perplexity in words.
GRADES = ((10.0, "excellent"), (12.0, "good"), (15.0, "acceptable"))


class Criterion(msgspec.Struct, frozen=True):
    """A target or success criterion, and whether it is met."""

    name: str
    group: CriterionGroup
    arm: str
    wanted: str
    status: CriterionStatus
    estimate: Estimate
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What an adapted model has to reach. Shares and reductions are parts of 1."""

    perplexity: float = 15.0  # the last grade that is acceptable
    trainable_share: float = 0.01
    memory_reduction: float = 0.40
    time_reduction: float = 0.20
    character_accuracy: float = 0.85
    hiragana: float = 0.90
    katakana: float = 0.88
    kanji: float = 0.80
    performance_loss: float = 0.10  # perplexity of the arm over the baseline's, less 1
    parameter_reduction: float = 0.99
    fluency_loss: float = 0.10  # character accuracy lost, as a part of the baseline's


def read_targets(path: Path) -> Targets:
    """A JSON or TOML file with some of the names of `Targets`."""
    label, advice = f"{path}: the targets cannot be read", "write JSON or TOML"
    if path.suffix.lower() != ".toml":
        return targets_of(read_json(path, label=label, limit=SETTINGS, strict=True, advice=advice), str(path))
    try:
        data = tomllib.loads(read_bytes(path, SETTINGS, label=label).decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{label} ({str(error).partition(chr(10))[0]}); {advice}.") from error
    return targets_of(data, str(path))


def targets_of(data: Mapping[str, object], label: str) -> Targets:
    known = [field.name for field in fields(Targets)]
    if not isinstance(data, Mapping):
        raise InputError(f"{label}: targets must be names with numbers; the names are {', '.join(known)}.")
    numbers: dict[str, float] = {}
    for name, value in data.items():
        if name not in known:
            close = nearest(name, known)
            hint = f"did you mean {close!r}?" if close else f"the names are {', '.join(known)}."
            raise InputError(f"{label}: unknown target {name!r}; {hint}")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{label}: the target {name!r} must be a number, but got {value!r}.")
        numbers[name] = float(value)
    return Targets(**numbers)


def grade_of(perplexity: float) -> str:
    """Excellent, good, acceptable or poor."""
    return next((grade for limit, grade in GRADES if perplexity < limit), "poor")


def criteria_of(arms: Sequence[ArmSummary], contrasts: Sequence[Contrast], targets: Targets) -> tuple[Criterion, ...]:
    """The targets of every arm, and the success of every arm against the baseline."""
    found = [criterion for arm in arms for criterion in _arm_targets(arm, targets)]
    by_name = {arm.name: arm for arm in arms}
    for contrast in contrasts:
        pair = (by_name[contrast.baseline], by_name[contrast.arm])
        found += _success(_fair(contrast, [end for arm in pair for end in stops(arm.name, arm.runs)]), pair[1], targets)
    return tuple(found)


def _fair(contrast: Contrast, open_ends: Sequence[str]) -> Contrast:
    """Without the ratios of quality if a run did not finish: what it lacks is training, whatever the method."""
    if not open_ends:
        return contrast
    missing = Estimate(None, None, None, 0, "; ".join(open_ends))
    judged = [name for name in ("perplexity", "validation_loss", "accuracy") if name in contrast.ratios]
    return replace(contrast, ratios=contrast.ratios | dict.fromkeys([*judged, "character_accuracy"], missing))


def _arm_targets(arm: ArmSummary, targets: Targets) -> list[Criterion]:
    missing = Estimate(None, None, None, 0, "not measured")
    other = Estimate(None, None, None, 0, NO_LANGUAGE_MODEL)
    perplexity = arm.quality.get("perplexity", missing if arm.language_model else other)
    found = [_below("perplexity", "target", arm.name, perplexity, targets.perplexity)]
    for name in ("character_accuracy", "hiragana", "katakana", "kanji"):
        limit = getattr(targets, name)
        found.append(_above(name, "target", arm.name, arm.quality.get(name, missing), limit))
    return found


def _success(contrast: Contrast, arm: ArmSummary, targets: Targets) -> list[Criterion]:
    ratios, name = contrast.ratios, contrast.arm
    share = Estimate(arm.share, None, None, len(arm.runs), None if arm.share is not None else "parameters not logged")
    found = [_below("trainable_share", "target", name, share, targets.trainable_share)]
    wanted: tuple[tuple[str, str, CriterionGroup], ...] = (
        ("parameter_reduction", "parameters", "primary"),
        ("memory_reduction", "memory", "primary"),
        ("time_reduction", "time_per_step", "secondary"),
    )
    found.append(_performance(contrast, targets.performance_loss))
    for criterion, ratio, group in wanted:
        found.append(_above(criterion, group, name, _reduction(ratios[ratio]), getattr(targets, criterion)))
    found.append(_convergence(arm))
    fluency = _reduction(ratios["character_accuracy"])
    found.append(_below("fluency_loss", "secondary", name, fluency, targets.fluency_loss))
    return found


def _performance(contrast: Contrast, limit: float) -> Criterion:
    """By perplexity if the loss is a language model's, or else by a measured accuracy, or else by the loss itself."""
    ratios, measure = contrast.ratios, contrast.accuracy
    found, by = _increase(ratios["perplexity"]), ""
    if found.value is None and measure is not None and ratios["accuracy"].value is not None:
        found, by = _reduction(ratios["accuracy"]), f"by {measure}"
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


def _reduction(ratio: Estimate) -> Estimate:
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
    if name == "perplexity" and found.value is not None:
        why = "; ".join(part for part in (grade_of(found.value), why) if part)
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
