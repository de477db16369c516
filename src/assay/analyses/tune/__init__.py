"""LoRA or full fine-tuning? What training runs cost, how they converged, and whether one is really better."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from os import PathLike

import numpy as np
from msgspec import structs

from assay.analyses.tune.arms import ArmSummary, Sensitivity, Trained, arm_of, baseline_of, sensitivity_of
from assay.analyses.tune.contrasts import Contrast, contrast_of
from assay.analyses.tune.criteria import Targets, criteria_of
from assay.analyses.tune.language import language_of
from assay.analyses.tune.result import TuningReport
from assay.analyses.tune.sentences import advice_of, contrast_sentence, notes_of, rates_sentence, sentence_of
from assay.data.training import TrainingLog, judged_by
from assay.data.training.formats import read_noted
from assay.design import Design, signature
from assay.errors import InputError, UsageError


def tune(
    *runs: str | PathLike[str],
    baseline: str | None = None,
    targets: Targets | None = None,
    design: Design | None = None,
    validation: str | None = None,
    language_model: bool = False,
) -> TuningReport:
    """Report on training runs: folders of the callback, ``trainer_state.json``, peft results, tables of step and loss.

    Runs of the same arm are its seeds; ``NAME=PATH`` says which arm a path belongs to. The baseline, unless named, is
    the arm that trains every parameter; if no log says which, it is the one with "full" or "sft" in its name, or else
    the first, and a note says so. ``validation`` names the set that decides if logs have several. ``language_model``
    says that losses are a language model's if the logs do not: then they have perplexities.

    >>> import assay
    >>> from assay.examples import RUNS
    >>> report = assay.tune(*(RUNS / f"{arm}-{seed}" for arm in ("full", "lora") for seed in range(3)))
    >>> report.baseline, report.contrasts[0].arm, report.contrasts[0].verdict
    ('full', 'lora r=16', 'worse')
    """
    if not runs:
        raise UsageError("tune needs a training run; name a folder, a trainer_state.json or a table.")
    logs, notes = read_noted(runs)
    logs = judged_by(logs, validation)
    if language_model:
        logs = [replace(log, language_model=True) for log in logs]
    return tune_logs(logs, baseline=baseline, targets=targets, design=design, notes=notes)


def tune_logs(
    logs: Sequence[TrainingLog],
    *,
    baseline: str | None = None,
    targets: Targets | None = None,
    design: Design | None = None,
    notes: Sequence[str] = (),
) -> TuningReport:
    """The report on logs that have been read; ``notes`` are those of the readers."""
    design, targets = design or Design(), targets or Targets()
    _check_same(logs)
    trained = [Trained(log) for log in logs]
    groups = _grouped([run for run in trained if not run.log.sweep])
    sweeps = _grouped([run for run in trained if run.log.sweep])
    arms = tuple(arm_of(name, group, design.level) for name, group in groups.items())
    first, why = baseline_of(arms, baseline)
    contrasts = tuple(_contrast(arms, first, name, groups, design) for name in groups if name != first)
    sensitivity = tuple(_rates(name, group) for name, group in sweeps.items())
    criteria = criteria_of(arms, contrasts, targets)
    language = language_of(groups, first, design)
    return TuningReport(
        kind="tuning",
        sentence=sentence_of(arms, [*(c.sentence for c in contrasts), *(s.sentence for s in sensitivity)]),
        arms=arms,
        baseline=first,
        contrasts=contrasts,
        sensitivity=sensitivity,
        criteria=criteria,
        recommendations=advice_of(arms, contrasts, criteria, sensitivity),
        notes=(
            *([] if why is None else [why]),
            *notes,
            *notes_of(arms, logs),
            *(() if language is None else language.notes),
        ),
        targets=targets,
        design=design,
        signature=_signature(logs, design, contrasts),
        language=language,
    )


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
    how = {"closed" if found.computed.distribution == "closed form" else "exact" for found in windows}
    return signature(
        "tuning",
        runs=len(logs),
        arms=len({log.arm for log in logs}),
        method=design.ran(found.difference.interval for found in windows),
        resamples=design.resamples or "+".join(sorted(how)) or "exact",
        level=design.level,
        data=hashed.hexdigest()[:16],
    )
