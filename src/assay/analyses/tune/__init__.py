"""LoRA or full fine-tuning? What training runs cost, how they converged, and whether one is really better."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from os import PathLike
from typing import Unpack

import numpy as np
from msgspec import structs

from assay.analyses.tune.advice import advice_of
from assay.analyses.tune.arms import (
    ACCURACIES,
    ArmSummary,
    Sensitivity,
    Trained,
    arm_of,
    baseline_of,
    by_rows,
    sensitivity_of,
)
from assay.analyses.tune.contrasts import Adaptation, Contrast, adaptation_of, contrast_of
from assay.analyses.tune.criteria import criteria_of, executive_of, is_japanese, unasked
from assay.analyses.tune.curves import DIVISORS
from assay.analyses.tune.language import language_of
from assay.analyses.tune.result import COMPACT_FROM, DetailedMetrics, StatisticalAnalysis, TuningReport
from assay.analyses.tune.sentences import (
    adaptation_sentence,
    contrast_sentence,
    many_arms_sentence,
    notes_of,
    rates_sentence,
    sentence_of,
)
from assay.analyses.tune.tables import JAPANESE_METRICS
from assay.analyses.tune.targets import Targets, targets_from
from assay.data.training import TrainingLog, judged_by, with_items
from assay.data.training.formats import read_noted
from assay.design import Design, DesignFields, as_given, signature
from assay.errors import InputError, UsageError
from assay.stats.records import Estimate


def tune(
    *runs: str | PathLike[str],
    baseline: str | None = None,
    targets: Targets | str | PathLike[str] | None = None,
    design: Design | None = None,
    validation: str | None = None,
    language_model: bool = False,
    items: int | None = None,
    full: bool = False,
    **settings: Unpack[DesignFields],
) -> TuningReport:
    """Report on training runs: folders of the callback, ``trainer_state.json``, peft results, tables of step and loss.

    Runs of the same arm are its seeds; ``NAME=PATH`` says which arm a path belongs to. The baseline, unless named, is
    the arm that trains every parameter; if no log says which, it is the one with "full" or "sft" in its name, or else
    the first, and a note says so. ``validation`` names the set that decides if logs have several. ``language_model``
    says that losses are a language model's if the logs do not: then they have perplexities. ``targets`` is
    ``"japanese"``, a JSON or TOML file, or `Targets`; without, nothing is judged. ``items`` is the number of items that
    accuracies are of, where the logs do not say. ``full`` shows every table of eight or more arms.

    >>> import assay
    >>> from assay.examples import RUNS
    >>> report = assay.tune(*(RUNS / f"{arm}-{seed}" for arm in ("full", "lora") for seed in range(3)))
    >>> report.baseline, report.contrasts[0].arm, report.contrasts[0].verdict
    ('full', 'lora r=16', 'worse')
    """
    design = as_given("tune", Design, design, settings)
    if not runs:
        raise UsageError("tune needs a training run; name a folder, a trainer_state.json or a table.")
    logs, notes = read_noted(runs)
    logs = judged_by(logs, validation)
    if language_model:
        logs = [replace(log, language_model=True) for log in logs]
    if items is not None:
        logs = [with_items(log, ACCURACIES, items) for log in logs]
    return tune_logs(logs, baseline=baseline, targets=targets_from(targets), design=design, notes=notes, full=full)


def tune_logs(
    logs: Sequence[TrainingLog],
    *,
    baseline: str | None = None,
    targets: Targets | None = None,
    design: Design | None = None,
    notes: Sequence[str] = (),
    full: bool = False,
) -> TuningReport:
    """The report on logs that have been read; ``notes`` are those of the readers."""
    design = design or Design()
    _check_same(logs)
    runs = by_rows([log for log in logs if not log.sweep])
    groups = _grouped([Trained(log) for log in runs])
    sweeps = _grouped([Trained(log) for log in by_rows([log for log in logs if log.sweep])])
    arms = tuple(arm_of(name, group, design.level) for name, group in groups.items())
    first, why = baseline_of(arms, baseline)
    adapted = tuple(_adapted(arm, groups[arm.name], design) for arm in arms)
    contrasts = tuple(_contrast(arms, first, name, groups, design) for name in groups if name != first)
    sensitivity = tuple(_rates(name, group) for name, group in sweeps.items())
    criteria = criteria_of(arms, contrasts, targets)
    language = language_of(groups, first, design)
    spoken = () if language is None else language.notes
    found = [why, *notes, *notes_of(arms, logs, adapted), _of_rows(runs), unasked(arms, targets), *spoken]
    return TuningReport(
        kind="tuning",
        sentence=_sentence(arms, adapted, contrasts, sensitivity, many=len(arms) >= COMPACT_FROM and not full),
        executive_summary=executive_of(arms, contrasts),
        detailed_metrics=DetailedMetrics(arms, sensitivity, dict(DIVISORS)),
        statistical_analysis=StatisticalAnalysis(first, adapted, contrasts),
        japanese_specific=_japanese(arms),
        recommendations=advice_of(arms, contrasts, criteria, sensitivity),
        criteria=criteria,
        notes=tuple(note for note in found if note is not None),
        targets=targets,
        design=design,
        signature=_signature(logs, design, contrasts),
        full=full,
        language=language,
    )


def _of_rows(runs: Sequence[TrainingLog]) -> str | None:
    """What the windows are, where runs are judged by the rows that they kept."""
    kept = bool(runs) and all(log.windows is not None and log.windows == log.rows for log in runs)
    return "windows are the rows of the validation set, as the callback kept them" if kept else None


def _sentence(
    arms: Sequence[ArmSummary],
    adapted: Sequence[Adaptation],
    contrasts: Sequence[Contrast],
    sensitivity: Sequence[Sensitivity],
    *,
    many: bool,
) -> str:
    rates = [found.sentence for found in sensitivity]
    if many:
        return "\n".join([*many_arms_sentence(arms, adapted, contrasts), *rates])
    since = [one.sentence for one in adapted if one.sentence]
    return sentence_of(arms, [*(found.sentence for found in contrasts), *since, *rates])


def _adapted(arm: ArmSummary, runs: Sequence[Trained], design: Design) -> Adaptation:
    """An arm against the untrained base, with its sentence."""
    found = adaptation_of(arm.name, runs, design)
    return structs.replace(found, sentence=adaptation_sentence(found, arm))


def _japanese(arms: Sequence[ArmSummary]) -> dict[str, dict[str, Estimate]]:
    """What is measured of Japanese text alone, by arm."""
    if not is_japanese(arms):
        return {}
    return {arm.name: {name: arm.quality[name] for name in JAPANESE_METRICS if name in arm.quality} for arm in arms}


def _contrast(
    arms: Sequence[ArmSummary], first: str | None, name: str, groups: Mapping[str, Sequence[Trained]], design: Design
) -> Contrast:
    """An arm against the baseline, with its sentence."""
    assert first is not None  # where there are two arms, one is the baseline
    found = contrast_of((first, name), (groups[first], groups[name]), design)
    by_name = {arm.name: arm for arm in arms}
    return structs.replace(found, sentence=contrast_sentence(found, (by_name[first], by_name[name])))


def _rates(name: str, group: Sequence[Trained]) -> Sensitivity:
    found = sensitivity_of(name, group)
    return structs.replace(found, sentence=rates_sentence(found))


def _grouped(runs: Sequence[Trained]) -> dict[str, list[Trained]]:
    groups: dict[str, list[Trained]] = {}
    for run in runs:
        groups.setdefault(run.log.arm, []).append(run)
    for name, group in groups.items():
        _check_seeds(name, group)
    return groups


def _check_seeds(name: str, group: Sequence[Trained]) -> None:
    """Refuse the same seed twice at one learning rate, and an arm whose runs differ in it."""
    seen: dict[tuple[int | None, float | None], str] = {}
    for run in group:
        key = (run.log.seed, run.log.learning_rate)
        if run.log.seed is not None and key in seen:
            raise InputError(
                f"{run.log.label}: seed {run.log.seed} of {name} was given already ({seen[key]}); "
                "name each run once, or say which arm it belongs to: NAME=RUN."
            )
        seen[key] = run.log.label
    rates = {run.log.learning_rate for run in group if not run.log.sweep}
    if len(rates) > 1:
        listed = ", ".join(f"{rate:g}" for rate in sorted(filter(None, rates)))
        raise InputError(
            f"{name}: its runs have different learning rates ({listed}); "
            "the runs of an arm may differ in their seeds only. Name them apart: A=RUN B=RUN."
        )


def _check_same(logs: Sequence[TrainingLog]) -> None:
    """Refuse losses on different text or tokens; sweeps of learning rates may have validation text of their own."""
    _check_one("tokenizer", "tokenizers, so losses per token cannot be compared", logs)
    for sweep in (False, True):
        _check_one(
            "validation", "validation sets, so losses cannot be compared", [log for log in logs if log.sweep == sweep]
        )


def _check_one(what: str, said: str, logs: Sequence[TrainingLog]) -> None:
    known = [log for log in logs if getattr(log, what) is not None]
    for log in known[1:]:
        if getattr(log, what) != getattr(known[0], what):
            raise InputError(f"{known[0].label} and {log.label} have different {said}; report on each on its own.")


def _signature(logs: Sequence[TrainingLog], design: Design, contrasts: Sequence[Contrast]) -> str:
    hashed = sha256(b"assay tuning 1")
    for log in logs:
        hashed.update(f"{log.arm}|{log.seed}|{log.learning_rate}|{log.validation}".encode())
        for series in (log.loss, log.grad_norm, log.valid):
            for values in (series.steps, series.values):
                hashed.update(np.ascontiguousarray(values).astype("<f8").tobytes())
    windows = [one.windows for one in contrasts if one.windows is not None]
    computed = [found.computed for found in windows]
    how = {"closed" if one.distribution == "closed form" else str(one.resamples or "exact") for one in computed}
    return signature(
        "tuning",
        runs=len(logs),
        arms=len({log.arm for log in logs}),
        method=design.ran(found.difference.interval for found in windows),
        resamples=design.resamples or "+".join(sorted(how)) or "exact",
        level=design.level,
        seed=design.seed if any(one.resamples for one in computed) else None,
        data=hashed.hexdigest()[:16],
    )
