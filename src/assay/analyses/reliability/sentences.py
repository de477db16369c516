"""What a result about repeated runs says: its sentence, and the notes beside the numbers."""

from assay.analyses.reliability.result import AcrossModels, Reliability
from assay.results import words

FEW_RUNS = 4  # degrees of freedom; with fewer, the limits of the noise between runs are a factor of six and more apart


def sentence_of(found: Reliability) -> str:
    """How much a score moves from run to run, and whether the order of the models repeats."""
    parts = [_noise(found)]
    if found.across is not None:
        parts.append(_order(found.across))
    elif said := _shown_by_single_runs(found):
        parts.append(said)
    return "; ".join(parts) + "."


def _shown_by_single_runs(found: Reliability) -> str | None:
    least, power = found.detectable, f"with {words.percent(found.goal.power)} power"
    if least.one_run is not None:
        return f"two single runs show a difference of {words.number(least.one_run, 2)} {power}"
    if least.all_runs is not None:
        return f"no difference from 0 to 1 shows in two single runs {power}"
    return least.reason if found.run_sd.value else None


def _noise(found: Reliability) -> str:
    what, models, sd = found.quantity, found.models, found.run_sd.value
    who = models[0].name if len(models) == 1 else "every model"
    counts = sorted({len(model.runs) for model in models})
    runs = f"{counts[0]} runs" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} runs"
    based = f"{runs} of {words.count(found.n, found.unit)}"
    if not sd and any(model.item_sd.value for model in models):
        return f"The {what} of {who} is the same in every run, although single answers change ({based})"
    if not sd:
        return f"No run-to-run noise: {who} has the same answers in every run ({based})"
    whose = f"the {what} of {who}" if len(models) == 1 else f"a {what}"
    return f"Run-to-run noise moves {whose} by ±{words.number(sd, 2)} (one standard deviation, {based})"


def _order(across: AcrossModels) -> str:
    pairs = [pair for pair in across.neighbours if pair.repeats.value is not None]
    if not pairs:
        return f"two runs cannot tell how often the order repeats: {across.whole_order}"
    least = min(pairs, key=lambda pair: (pair.repeats.value or 0.0, abs(pair.difference)))
    named = f"the order of {least.ahead} and {least.behind}"
    repeats = f"repeats in {words.share(least.repeats.value or 0.0)} of pairs of runs"
    if len(across.order) == 2:
        return f"{named} {repeats}"
    whole = words.share(across.stability.whole_order_repeats)
    return f"{named}, the least stable, {repeats}, that of all {len(across.order)} models in {whole}"


def notes_of(found: Reliability, *, equal_weights: bool) -> list[str]:
    """What a reader should know beside the numbers."""
    notes = [*_component_notes(found), *_noise_notes(found)]
    if not equal_weights:
        weighted = "by tokens" if found.kind == "losses" else "as the table says"
        once = f"correlations and components count every {found.unit} once"
        notes.append(f"an overall {found.quantity} is weighted {weighted}; {once}")
    if found.n_clusters is not None:
        notes.append(
            f"intervals of ICC(1) to ICC(3) over {found.unit}s treat the {found.unit}s of a cluster as independent"
        )
    return [*notes, *_run_effect_notes(found)]


def _component_notes(found: Reliability) -> list[str]:
    components = found.models[0].components if found.across is None else found.across.components
    below = any(component.estimated < 0 for component in components)
    return ["a variance that is estimated below 0 counts as 0 in the shares"] if below else []


def _noise_notes(found: Reliability) -> list[str]:
    notes = []
    pooled = found.run_sd_from == "items and runs"
    df = sum(len(model.runs) - 1 for model in found.models)
    if df < FEW_RUNS:
        rests = f"rests on {df} degree{'s' * (df > 1)} of freedom between runs; more runs narrow its interval"
        notes.append(f"the {'upper limit of the noise' if pooled else 'noise between runs'} {rests}")
    if pooled and any(model.run_sd.value == 0 for model in found.models):
        notes.append("scores that are equal in every run although single answers change are equal by chance")
    return notes


def _run_effect_notes(found: Reliability) -> list[str]:
    differ = [(model.name, p) for model in found.models if (p := model.run_effect.p_value) is not None and p <= 0.01]
    return [
        f"runs of {name} differ by more than the noise of single {found.unit}s explains (F test, p = {p:.2g})"
        for name, p in differ
    ]
