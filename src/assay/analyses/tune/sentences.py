"""What a tuning report says: its sentence and its notes."""

from collections.abc import Iterator, Sequence
from math import exp

from assay.analyses.compare.result import Comparison
from assay.analyses.contrast import reserve_of
from assay.analyses.tune.arms import ArmSummary, Sensitivity
from assay.analyses.tune.contrasts import BASE, Adaptation, Contrast, ContrastVerdict
from assay.analyses.tune.curves import stops
from assay.data.training import TrainingLog, note_of
from assay.results import words
from assay.stats.records import Estimate

ONE_SEED = "one seed: this compares two models, not two ways to train"
_NO_LOSS = "not every run has a validation loss"
_LARGEST = 700.0  # nats: beyond, the perplexity is no number
_THOUSANDS, _MILLIARDS = 1e4, 1e9  # perplexities between them are written out
_NO_INTERVAL = "the runs logged no per-example validation loss, and one loss per run has no interval"
_FEW = 3  # names that a line about many arms has
_MANY = 8  # runs or arms with the same note


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


def many_arms_sentence(
    arms: Sequence[ArmSummary], adapted: Sequence[Adaptation], contrasts: Sequence[Contrast]
) -> list[str]:
    """How many of many arms are better than the baseline, and than the base; a line each, and one for what diverged."""
    lines: list[tuple[str, Sequence[Adaptation | Contrast]]] = []
    lines += [(f"Against {one.baseline}", contrasts) for one in contrasts[:1]]
    lines += [(f"Against {BASE}", adapted)] if any(one.verdict != "not measured" for one in adapted) else []
    said = [f"{head}, of {words.count(len(found), 'arm')}: {_counted(found)}." for head, found in lines]
    lost = [arm.name for arm in arms if any(run.diverged_at is not None for run in arm.runs)]
    return said + ([f"Runs of {words.count(len(lost), 'arm')} diverged: {words.listed(lost, _FEW)}."] if lost else [])


def _counted(found: Sequence[Adaptation | Contrast]) -> str:
    groups: dict[ContrastVerdict, list[str]] = {}
    for one in found:
        groups.setdefault(one.verdict, []).append(one.arm)
    return "; ".join(f"{len(names)} {verdict} ({words.listed(names, _FEW)})" for verdict, names in groups.items())


def adaptation_sentence(found: Adaptation, arm: ArmSummary) -> str:
    """An arm against the untrained base; empty if it was not measured."""
    if found.base_loss is None or found.loss is None:
        return ""
    heads = {
        "better": f"{arm.name} is better than {BASE}",
        "worse": f"{arm.name} is worse than {BASE}",
        "no difference shown": f"No difference shown between {BASE} and {arm.name}",
        "undecided": f"Undecided between {BASE} and {arm.name}",
        "not measured": f"{arm.name} since {BASE}",
    }
    ratio = _deciding(found.verdict, found.ratio, found.windows) if found.language_model else found.seeds
    parts = [part for part in (_ratio_words(ratio, language_model=found.language_model), *_of_what(found)) if part]
    return f"{heads[found.verdict]}: {change_of(found)} ({'; '.join(parts)})."


def change_of(found: Adaptation) -> str:
    """``perplexity 18.2 → 7.3``; the loss if it is not a language model's, or its exponential too large."""
    if found.base_loss is None or found.loss is None:
        return "–"
    small = found.language_model and max(found.base_loss, found.loss) < _LARGEST
    first, last = (exp(loss) if small else loss for loss in (found.base_loss, found.loss))
    texts = zip((first, last), words.apart(first, last), strict=True)
    shown = [f"{end:,.0f}" if _THOUSANDS <= end < _MILLIARDS else text for end, text in texts]
    return f"{'perplexity' if small else 'validation loss'} {' → '.join(shown)}"


def _ratio_words(found: Estimate, *, language_model: bool) -> str:
    if found.value is None:
        return ""
    sign, null = not language_model, 1.0 if language_model else 0.0
    value = words.placed(found.value, words.decimals(found.interval), sign=sign, null=null)
    head = f"{'ratio' if language_model else 'difference'} {value}"
    if found.interval is None:
        return f"{head}; no interval: one run, and no loss for each window of text"
    limits = words.interval(found.interval, sign=sign, null=null)
    return f"{head}, {words.percent(found.interval.level)} CI {limits}"


def _of_what(found: Adaptation) -> Iterator[str]:
    if found.seeds.interval is not None:
        yield f"{found.seeds.n} seeds"
    elif found.windows is not None:
        yield "one seed"
    if found.windows is not None:
        yield _on(found.windows)


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
    parts = list(size_of(contrast))
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


def size_of(contrast: Contrast) -> Iterator[str]:
    """The ratio of perplexities, or the difference of losses that are not a language model's, with its interval."""
    ratio = "validation_loss" not in contrast.ratios
    found = _deciding_ratio(contrast) if ratio else contrast.seeds
    if found.value is None or found.interval is None:
        return
    sign, null, places = not ratio, 1.0 if ratio else 0.0, words.decimals(found.interval)
    limits = f"{words.percent(found.interval.level)} CI {words.interval(found.interval, sign=sign, null=null)}"
    value = words.placed(found.value, places, sign=sign, null=null)
    yield f"perplexity × {value}, {limits}" if ratio else f"validation loss {value}, {limits}"


def _deciding_ratio(contrast: Contrast) -> Estimate:
    """The ratio of perplexities to show: if no difference is shown, one whose interval says so."""
    return _deciding(contrast.verdict, contrast.ratios["perplexity"], contrast.windows)


def _deciding(verdict: ContrastVerdict, ratio: Estimate, windows: Comparison | None) -> Estimate:
    other = None if windows is None else windows.ratio
    if verdict != "no difference shown" or other is None or other.interval is None or ratio.interval is None:
        return ratio
    return other if other.interval.low <= 1 <= other.interval.high else ratio


def rates_sentence(found: Sensitivity) -> str:
    """How much the learning rate matters."""
    points = found.points
    lost = [f"{point.rate:g}" for point in points if point.diverged]
    tail = f"; diverged at {', '.join(lost)}" if lost else ""
    if found.variation is None or found.best is None:
        return f"{found.arm}: fewer than two learning rates have a held-out loss{tail}."
    ours, by_n = (words.number(100 * (part or 0.0), 3) for part in (found.variation, found.variation_n))
    return (
        f"{found.arm}: across {len(points)} learning rates from {points[0].rate:g} to {points[-1].rate:g}, the "
        f"held-out loss varies by {ours}% (standard deviation over mean, with the divisor n − 1; {by_n}% with n, as "
        f"np.std); {found.best:g} is best{tail}."
    )


# --------------------------------------------------------------------------------------------------------------- notes


def notes_of(arms: Sequence[ArmSummary], logs: Sequence[TrainingLog], adapted: Sequence[Adaptation]) -> tuple[str, ...]:
    """What a reader must know about the logs."""
    notes = [
        *_shared([(log.label, note) for log in logs for note in (*log.notes, note_of(log)) if note], _MANY, "runs")
    ]
    alone = [arm.name for arm in arms if len(arm.runs) == 1]
    if alone and len(arms) > 1:  # one arm has no difference to explain
        have = "has one seed" if len(alone) == 1 else "have one seed each"
        notes.append(
            f"{words.listed(alone, _MANY)} {have}: another seed might give another result, "
            "so a difference is between these models, not between the ways to train"
        )
    notes += _shared([(arm.name, arm.quality_reason) for arm in arms if arm.quality_reason], 2, "arms")
    missing = {one.arm: one.seeds.reason or "" for one in adapted if one.seeds.value is None}
    notes += _shared([(name, f"not compared with {BASE}: {why}") for name, why in missing.items()], 2, "arms")
    return (*notes, *_conditions(logs))


def _shared(said: Sequence[tuple[str, str]], once_from: int, what: str) -> Iterator[str]:
    """A note that so many have is said once."""
    by_note: dict[str, list[str]] = {}
    for who, note in said:
        by_note.setdefault(note, []).append(who)
    for note, names in by_note.items():
        if len(names) < once_from:
            yield from (f"{name}: {note}" for name in names)
        elif len(names) < _MANY:
            yield f"{words.listed(names, _MANY)}: {note}"
        else:
            yield f"{len(names)} {what} ({words.listed(names, _FEW)}): {note}"


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


def in_line(estimate: Estimate) -> str:
    """A value with its interval, on one line."""
    if estimate.value is None:
        return "not measured"
    if estimate.interval is None:
        return words.number(estimate.value)
    return words.estimate(estimate.value, estimate.interval, null=0.0).replace("  ", " ")
