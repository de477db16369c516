"""What is said of the means of models: the sentence, and the notes beside the numbers."""

from assay.analyses.contrast import FEW
from assay.analyses.summarize.result import ModelSummary, PassRate, Summary
from assay.results import words
from assay.stats.bounded_mean import METHOD
from assay.stats.finite_set import CENSUS
from assay.stats.records import Estimate

MOST_SAID = 3  # models whose attempts are spoken of
ALIKE = 1.05  # errors that differ by less are said to be as good
FEW_BOUNDED = 10  # items whose scores are from 0 to 1


def sentence_of(found: Summary) -> str:
    """The value of one model with its interval; of several, those of the best and of the worst."""
    best, worst = found.models[0], found.models[-1]
    if best is worst:
        value, limits = _value(found.quoted(best), found.design.level)
        inside = ", ".join([*limits, _units(found)])
        return f"The {found.quantity} of {best.name} is {value} ({inside}){_of_tasks(found)}."
    plural = {"perplexity": "Perplexities", "loss": "Losses"}.get(found.quantity, found.quantity.capitalize() + "s")
    where = f"{plural} of {len(found.models)} models on {_units(found)}"
    return f"{where}: {_named(best, found)} at best, {_named(worst, found)} at worst."


def _of_tasks(found: Summary) -> str:
    """The mean of the tasks of the only model, where it has several."""
    mean = next(iter(found.macro.values()), None)
    if mean is None or found.kind == "losses":
        return ""
    value, limits = _value(mean, found.design.level)
    return f"; the mean of its {words.count(len(found.tasks), 'task')} is {value} ({', '.join(limits)})"


def sentence_of_metrics(found: Summary) -> str:
    """The value of one model by each of a few metrics; of several models, the best and the worst by each."""
    metrics, names = list(found.metrics), found.names
    said = [_by_metric(found, metric) for metric in metrics[:MOST_SAID]]
    more = f"; and by {len(metrics) - MOST_SAID} more" if len(metrics) > MOST_SAID else ""
    whose = names[0] if len(names) == 1 else f"{len(names)} models"
    return f"{len(metrics)} metrics of {whose} on {_units(found)}: {'; '.join(said)}{more}."


def _by_metric(found: Summary, metric: str) -> str:
    rows = [model for model in found.models if model.metric == metric]
    if len(found.names) > 1:
        best, worst = rows[0], rows[-1]
        low = "" if best is worst else f" to {_plain(found, worst)} for {worst.name}"
        return f"{metric} {_plain(found, best)} for {best.name}{low}"
    value, limits = _value(found.quoted(rows[0]), found.design.level)
    return f"{metric} {value} ({', '.join(limits)})"


def _plain(found: Summary, model: ModelSummary) -> str:
    return _value(found.quoted(model), found.design.level)[0]


def notes_of_metrics(found: Summary) -> list[str]:
    """Which way is better, and what is only of one metric."""
    lower = [metric for metric, way in found.metrics.items() if way]
    notes = [f"lower is better: {words.listed(lower, 6)}"] if lower else []
    if found.tasks:
        notes.append("the mean of the tasks is of one metric (`Selection(metric=...)` chooses one)")
    return notes


def _named(model: ModelSummary, found: Summary) -> str:
    value, limits = _value(found.quoted(model), found.design.level)
    return f"{value} for {model.name}" + "".join(f" ({part})" for part in limits)


def _value(found: Estimate, level: float) -> tuple[str, list[str]]:
    """The value, and its interval where it has one, to as many places."""
    places = words.shared_decimals([found.interval], digits=2)
    value = words.placed(found.value or 0.0, places)
    if found.interval is None:
        return value, ["no interval"]
    if found.interval.method == CENSUS:
        return value, ["nothing is left to chance"]
    return value, [f"{words.percent(level)} CI {words.limits_at(found.interval, places)}"]


def _units(found: Summary) -> str:
    few = any(_few(model) for model in found.models)
    return found.units + (", too few to rely on" if few else "")


def _few(model: ModelSummary) -> bool:
    """By Kish's number of what is drawn; single scores from 0 to 1 have an interval that covers from ten on."""
    limits = model.value.interval
    if limits is not None and limits.method == CENSUS:
        return False
    bounded = limits is not None and limits.method in (METHOD, "hypergeometric") and model.n_clusters is None
    return model.effective < (FEW_BOUNDED if bounded else FEW)


def notes_of(found: Summary) -> list[str]:
    """What a reader should know beside the numbers."""
    notes = []
    lacking = sorted((model for model in found.models if model.missing), key=lambda model: -model.missing)
    if lacking:
        most = f"{lacking[0].name} lacks {lacking[0].missing:,} of {words.count(found.n, found.unit)}"
        others = f", and {words.count(len(lacking) - 1, 'other model')} fewer or as many" if len(lacking) > 1 else ""
        notes.append(f"{most}{others}; a mean is over the {found.unit}s that its model answered")
    if len(found.models) > 1:
        notes.append("intervals of single models may overlap although the models differ: rank and compare test pairs")
    return notes


def noise_said(found: Summary) -> tuple[str, ...]:
    """Where the noise of pass@k comes from, and what would help more, for the least k of the best few models."""
    least: dict[str, PassRate] = {}
    for rate in found.passes:
        if rate.noise is not None:
            least.setdefault(rate.name, rate)
    order = [model.name for model in found.models if model.name in least][:MOST_SAID]
    return tuple(_noise(found, least[name]) for name in order)


def _noise(found: Summary, rate: PassRate) -> str:
    noise = rate.noise
    assert noise is not None  # as chosen above
    now, items, attempts = (words.number(value, 3) for value in (noise.error, noise.twice_items, noise.twice_attempts))
    return (
        f"{rate.name}: {words.share(noise.share)} of the variance of pass@{rate.k} is between attempts, the rest "
        f"between {found.unit}s. Its standard error of {now} would be {items} with twice the {found.unit}s and "
        f"{attempts} with twice the attempts: {_helps(noise.twice_items, noise.twice_attempts, found.unit)}."
    )


def _helps(items: float, attempts: float, unit: str) -> str:
    if max(items, attempts) <= ALIKE * min(items, attempts):
        return "either helps as much"
    return f"more {unit}s help more" if items < attempts else "more attempts help more"
