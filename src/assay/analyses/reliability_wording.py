"""What repeated runs allow one to say, in one sentence."""

from collections.abc import Sequence

from assay.analyses.reliability_parts import Across, Detectable, ModelRuns
from assay.analyses.reliability_tables import neighbours, percent_of, quantity, whole_order
from assay.data import Panel
from assay.results import words
from assay.stats.power_plans import Goal
from assay.stats.records import Estimate


def sentence_of(
    panel: Panel,
    models: Sequence[ModelRuns],
    run_sd: Estimate,
    detectable: Detectable,
    across: Across | None,
    goal: Goal,
) -> str:
    """How much a score moves from run to run, and whether the order of the models repeats."""
    parts = [_noise(panel, models, run_sd)]
    if across is not None:
        parts.append(_order(across))
    elif detectable.one_run is not None:
        least = words.number(detectable.one_run, 2)
        parts.append(f"two single runs show a difference of {least} with {words.percent(goal.power)} power")
    return "; ".join(parts) + "."


def _noise(panel: Panel, models: Sequence[ModelRuns], run_sd: Estimate) -> str:
    what, who = quantity(panel.metric.kind), models[0].name if len(models) == 1 else "every model"
    counts = sorted({len(model.runs) for model in models})
    runs = f"{counts[0]} runs" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} runs"
    based = f"{runs} of {words.count(panel.n, panel.unit)}"
    if not run_sd.value and any(model.item_sd.value for model in models):
        return f"The {what} of {who} is the same in every run, although single answers change ({based})"
    if not run_sd.value:
        return f"No run-to-run noise: {who} has the same answers in every run ({based})"
    whose = f"the {what} of {who}" if len(models) == 1 else f"a {what}"
    return f"Run-to-run noise moves {whose} by ±{words.number(run_sd.value, 2)} (one standard deviation, {based})"


def _order(across: Across) -> str:
    pairs = [pair for pair in neighbours(across) if pair.repeats.value is not None]
    if not pairs:
        return f"two runs do not tell how often the order repeats: {whole_order(across.stability)}"
    least = min(pairs, key=lambda pair: (pair.repeats.value or 0.0, abs(pair.difference)))
    named = f"the order of {least.ahead} and {least.behind}"
    repeats = f"repeats in {percent_of(least.repeats.value or 0.0)} of pairs of runs"
    if len(across.order) == 2:
        return f"{named} {repeats}"
    whole = percent_of(across.stability.whole_order_repeats)
    return f"{named}, the least stable, {repeats}, that of all {len(across.order)} models in {whole}"
