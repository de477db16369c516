"""An arm against the baseline: in pairs on the same validation windows, over seeds, and what it saves (T10)."""

from collections.abc import Callable, Sequence
from math import log, sqrt
from typing import Literal

import msgspec
import numpy as np

from assay.analyses.compare import compare_panel
from assay.analyses.compare.result import Comparison
from assay.analyses.contrast import verdict_of
from assay.analyses.tune.arms import ACCURACIES, Trained
from assay.analyses.tune.curves import stops
from assay.data import Panel
from assay.data.units_and_runs import RunTable
from assay.design import Design
from assay.errors import InputError
from assay.stats.numerics import SMALLEST_P, normal_quantile, t_cdf
from assay.stats.records import Estimate, Test
from assay.stats.repeated_runs import seed_difference
from assay.stats.rounding import difference

ContrastVerdict = Literal["better", "worse", "no difference shown", "undecided", "not measured"]

NO_LANGUAGE_MODEL = "no log says that the loss is a language model's"
BASE = "the untrained base"
_NO_START = "the log has no validation loss before the first step"
_ONLY_START = "the log has no validation loss after the first step"


class Recipe(msgspec.Struct, frozen=True):
    """Significance by a widespread recipe, shown beside ours; its interval is for one value less another."""

    t: float | None
    p_value: float | None
    cohens_d: float | None  # d_av: over the root mean square of the two standard deviations, which divide by n
    low: float | None
    high: float | None


class Adaptation(msgspec.Struct, frozen=True):
    """An arm against the untrained base that it started from, on the same text."""

    arm: str
    verdict: ContrastVerdict
    sentence: str
    base_loss: float | None  # nats per token, or whatever the loss is
    loss: float | None
    ratio: Estimate  # perplexity of the arm over the base's
    windows: Comparison | None  # nats: would other text change it?
    seeds: Estimate  # nats: would other seeds change it?
    seeds_test: Test
    language_model: bool = True


class Contrast(msgspec.Struct, frozen=True):
    """An arm against the baseline: significance and gains (T10)."""

    baseline: str
    arm: str
    verdict: ContrastVerdict
    sentence: str
    windows: Comparison | None  # nats: would other text change it?
    seeds: Estimate  # nats: would other seeds change it?
    seeds_test: Test
    paired_seeds: bool
    recipe: Recipe | None
    ratios: dict[str, Estimate]  # perplexity, parameters, memory, time_per_step, time, …: arm over baseline
    accuracy: str | None = None  # the measure that ratios["accuracy"] is of


def contrast_of(names: tuple[str, str], arms: tuple[Sequence[Trained], Sequence[Trained]], design: Design) -> Contrast:
    """B against the baseline A."""
    a, b = arms
    windows = _windows(names, a, b, design)
    paired = paired_seeds(a, b)
    seeds, test = _over_seeds(a, b, lambda run: run.validation_loss, design.level, paired=paired)
    ratios = _ratios(a, b, design.level, windows, seeds)
    open_ends = [end for name, arm in zip(names, arms, strict=True) for end in stops(name, [run.log for run in arm])]
    if open_ends:
        ratios["time"] = Estimate(None, None, None, 0, "; ".join(open_ends))
    return Contrast(
        baseline=names[0],
        arm=names[1],
        verdict=_verdict(windows, seeds, test),
        sentence="",
        windows=windows,
        seeds=seeds,
        seeds_test=test,
        paired_seeds=paired,
        recipe=_recipe(names, a, b, design.level),
        ratios=ratios,
        accuracy=accuracy_of(a, b),
    )


def adaptation_of(name: str, runs: Sequence[Trained], design: Design) -> Adaptation:
    """The runs of an arm against the base that they started from."""
    starts = [run.start for run in runs if run.start is not None]
    if len(starts) < len(runs) or not all(run.validated for run in runs):
        why = _NO_START if len(starts) < len(runs) else _ONLY_START
        missing, test = Estimate(None, None, None, 0, why), Test("t over seeds", None, None, 0, why)
        return Adaptation(name, "not measured", "", None, None, missing, None, missing, test)
    windows = _windows((BASE, name), starts, runs, design)
    seeds, test = _over_seeds(starts, runs, lambda run: run.validation_loss, design.level, paired=True)
    language_model = is_language_model(runs, ())
    other = Estimate(None, None, None, 0, NO_LANGUAGE_MODEL)
    return Adaptation(
        arm=name,
        verdict=_verdict(windows, seeds, test),
        sentence="",
        base_loss=_mean_loss(starts),
        loss=_mean_loss(runs),
        ratio=perplexity_ratio(windows, seeds) if language_model else other,
        windows=windows,
        seeds=seeds,
        seeds_test=test,
        language_model=language_model,
    )


def _mean_loss(runs: Sequence[Trained]) -> float | None:
    losses = [run.validation_loss for run in runs]
    return None if None in losses else float(np.mean(np.array(losses)))


def accuracy_of(a: Sequence[Trained], b: Sequence[Trained]) -> str | None:
    """The accuracy that every run of both arms has; one on a test set is preferred."""
    return next((name for name in ACCURACIES if all(name in run.log.scores for run in (*a, *b))), None)


def is_language_model(a: Sequence[Trained], b: Sequence[Trained]) -> bool:
    return all(run.log.language_model for run in (*a, *b))


def paired_seeds(a: Sequence[Trained], b: Sequence[Trained]) -> bool:
    """Whether both arms were trained with the same seeds, each once."""
    first, second = (sorted(str(run.log.seed) for run in arm) for arm in (a, b))
    return first == second and "None" not in first and len(set(first)) == len(first)


def _over_seeds(
    a: Sequence[Trained],
    b: Sequence[Trained],
    what: Callable[[Trained], float | None],
    level: float,
    *,
    paired: bool,
) -> tuple[Estimate, Test]:
    found = [[what(run) for run in sorted(arm, key=lambda run: str(run.log.seed))] for arm in (a, b)]
    if any(value is None for values in found for value in values):
        why = "not measured in every run"
        return Estimate(None, None, None, 0, why), Test("t over seeds", None, None, 0, why)
    first, second = (np.array(values, dtype=np.float64) for values in found)
    return seed_difference(first, second, level, paired=paired)


# ------------------------------------------------------------------------------------------------------------- windows


def _windows(names: tuple[str, str], a: Sequence[Trained], b: Sequence[Trained], design: Design) -> Comparison | None:
    """The comparison of the arms' mean losses window by window; ``None`` if a run has no windows."""
    panel = windows_panel(names, (a, b))
    if panel is None:
        return None
    found = compare_panel(panel.averaged(), design)
    return msgspec.structs.replace(found, notes=(*found.notes, "the loss of a window is the mean over seeds"))


def windows_panel(names: Sequence[str], arms: Sequence[Sequence[Trained]]) -> Panel | None:
    """The validation windows of arms, a column per run; ``None`` if a run has none."""
    runs = [
        RunTable(name, str(number), run.windows)
        for name, arm in zip(names, arms, strict=True)
        for number, run in enumerate(arm, start=1)
        if run.windows is not None
    ]
    if len(runs) < sum(map(len, arms)):
        return None
    documents = runs[0].table.labels.get("document")
    several = documents is not None and len(documents.names) > 1
    panel = Panel.from_runs(runs, cluster="document" if several else None)
    if not panel.whole:
        lacking = runs[int(np.argmin(panel.answered.all(axis=0)))].table.label
        other = next(run.table.label for run in runs if run.table.label != lacking)
        raise InputError(
            f"{lacking}: its validation windows are not those of {other}; "
            "runs that are compared need the same validation text, tokenizer and context."
        )
    return panel


def _recipe(names: tuple[str, str], a: Sequence[Trained], b: Sequence[Trained], level: float) -> Recipe | None:
    """The published recipe on the windows of the first runs: a paired t-test, d over the arms' spread, and an interval.

    The interval is for one value less another: √n too wide for a mean, and it ignores the pairs. Variances divide by n.
    """
    panel = windows_panel(names, (a[:1], b[:1]))
    if panel is None:
        return None
    first, second = panel.values.T
    gaps = difference(first, second)
    n, mean = len(gaps), float(gaps.mean())
    both = float(first.var() + second.var())
    error = float(gaps.std(ddof=1)) / sqrt(n) if n > 1 else 0.0
    if error <= 0 or both <= 0:
        return None
    t = mean / error
    p = max(2 * t_cdf(-abs(t), n - 1), SMALLEST_P)
    reach = normal_quantile(0.5 + level / 2) * sqrt(both)
    return Recipe(t, p, mean / sqrt(both / 2), mean - reach, mean + reach)


# -------------------------------------------------------------------------------------------------------------- ratios


def _ratios(
    a: Sequence[Trained], b: Sequence[Trained], level: float, windows: Comparison | None, seeds: Estimate
) -> dict[str, Estimate]:
    """The arm over the baseline: the exponential of a difference of logarithms."""
    paired = paired_seeds(a, b)
    wanted: dict[str, Callable[[Trained], float | None]] = {
        "parameters": lambda run: _log(run.log.trainable),
        "memory": lambda run: _log(run.memory.get("training")),
        "time_per_step": lambda run: _log(run.seconds_per_step),
        "time": lambda run: _log(run.log.seconds),
        "character_accuracy": lambda run: _log(run.log.scores.get("character_accuracy")),
    }
    found = {name: _over_seeds(a, b, what, level, paired=paired)[0].exp() for name, what in wanted.items()}
    measure = accuracy_of(a, b)
    if measure is not None:
        accuracy, _ = _over_seeds(a, b, lambda run: _log(run.log.scores.get(measure)), level, paired=paired)
        found["accuracy"] = accuracy.exp()
    counted = found["parameters"]
    if counted.value is not None:  # no seed changes it
        found["parameters"] = Estimate(counted.value, None, None, counted.n, "counted")
    if is_language_model(a, b):
        return {"perplexity": perplexity_ratio(windows, seeds)} | found
    loss, _ = _over_seeds(a, b, lambda run: _log(run.validation_loss), level, paired=paired)
    return {
        "perplexity": Estimate(None, None, None, 0, NO_LANGUAGE_MODEL),
        "validation_loss": loss.exp(),
    } | found


def _log(value: float | None) -> float | None:
    return None if value is None or value <= 0 else log(value)


def perplexity_ratio(windows: Comparison | None, seeds: Estimate) -> Estimate:
    """Over seeds if there are several, or else over windows: the wider question that can be answered."""
    over = seeds.exp()
    if over.interval is None and windows is not None and windows.ratio is not None:
        return windows.ratio
    return over


# ------------------------------------------------------------------------------------------------------------- verdict


def _verdict(windows: Comparison | None, seeds: Estimate, test: Test) -> ContrastVerdict:
    """A difference is shown if neither other text nor (with several seeds) other seeds would undo it."""
    if windows is None and seeds.interval is None:
        return "not measured"
    shown = [] if windows is None else [windows.verdict]
    if seeds.interval is not None and (test.p_value is not None or not shown):  # seeds that do not differ say nothing
        design = Design(level=seeds.interval.level)
        shown.append(verdict_of(seeds, test, design, lower_is_better=True))
    if "undecided" in shown:  # too few windows to rely on, whatever the seeds say
        return "undecided"
    if len(set(shown)) > 1 or shown[0] == "equivalent":
        return "no difference shown"
    return shown[0]
