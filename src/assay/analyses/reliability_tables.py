"""A reliability result as tables: for people, and for data frames."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from assay.analyses.reliability_parts import Across, ModelRuns, Pair
from assay.analyses.result import Row
from assay.analyses.sheet import Sheet
from assay.data import Kind
from assay.results import words
from assay.stats.power_plans import Goal
from assay.stats.rank_stability import RankStability
from assay.stats.records import Estimate, Interval
from assay.stats.reliability import ICC_NAMES, Component

_MEANINGS = ("own runs", "agreement", "consistency")


def quantity(kind: Kind) -> str:
    """What is measured, in one word."""
    return "loss" if kind == "losses" else "score"


def sheets(kind: Kind, models: Sequence[ModelRuns], across: Across | None, goal: Goal) -> list[Sheet]:
    """What a person reads, in the order of the questions."""
    level = words.percent(goal.level)
    found = [_runs_sheet(models, level, quantity(kind))]
    if across is None:
        found.append(_icc_sheet(("items repeat?", "targets: items, raters: runs"), models[0].icc, level))
        return [*found, _components_sheet(models[0].components)]
    found.append(_items_sheet(models, level))
    found.append(_icc_sheet(("models repeat?", "targets: models, raters: runs"), across.icc, level))
    return [*found, _components_sheet(across.components), _pairs_sheet(neighbours(across), level)]


def _runs_sheet(models: Sequence[ModelRuns], level: str, what: str) -> Sheet:
    header = ("model", "runs", what, f"sd between runs [{level}]", "expected", "item sd")
    cells = [
        (
            model.name,
            str(len(model.runs)),
            words.number(model.score),
            _shown(model.run_sd),
            _number(model.expected_run_sd),
            _number(model.item_sd.value),
        )
        for model in models
    ]
    return Sheet(("runs", f"the overall {what} of each model"), header, cells)


def _items_sheet(models: Sequence[ModelRuns], level: str) -> Sheet:
    header = ("model", f"ICC(2,1), one run [{level}]", f"ICC(2,k), mean of runs [{level}]")
    cells = [(model.name, _shown(model.icc["ICC(2,1)"]), _shown(model.icc["ICC(2,k)"])) for model in models]
    return Sheet(("items repeat?", "targets: items of one model, raters: runs"), header, cells)


def _icc_sheet(title: Row, icc: dict[str, Estimate], level: str) -> Sheet:
    header = ("", f"one run, ICC(·,1) [{level}]", f"mean of runs, ICC(·,k) [{level}]")
    cells = [
        (f"ICC({i}), {meaning}", _shown(icc[ICC_NAMES[i - 1]]), _shown(icc[ICC_NAMES[i + 2]]))
        for i, meaning in enumerate(_MEANINGS, start=1)
    ]
    return Sheet(title, header, cells)


def _components_sheet(components: Sequence[Component]) -> Sheet:
    header = ("source", "share", "sd", "variance, as estimated")
    estimated = [words.number(c.estimated, 3) for c in components]
    width = max(map(len, [*header, *estimated]))
    cells = [
        (c.source, _share(c), _number(c.variance**0.5), text.rjust(width))
        for c, text in zip(components, estimated, strict=True)
    ]
    return Sheet(("variance", "of a single score, split by its source"), header, cells)


def _share(component: Component) -> str:
    return "undefined" if component.share is None else f"{100 * component.share:.1f} %"


def _pairs_sheet(pairs: Sequence[Pair], level: str) -> Sheet:
    header = ("ahead, behind", "difference", f"order repeats [{level}]", "detectable, new items")
    cells = [
        (f"{p.ahead}, {p.behind}", words.number(p.difference, 3), _percent(p.repeats), _number(p.detectable))
        for p in pairs
    ]
    return Sheet(("order repeats?", "neighbours, the better one first"), header, cells)


def neighbours(across: Across) -> list[Pair]:
    """The pairs of models that stand next to each other, best first."""
    found = {(pair.ahead, pair.behind): pair for pair in across.pairs}
    return [found[pair] for pair in pairwise(across.order)]


def run_noise(run_sd: Estimate, rests_on: str, unit: str) -> str:
    if run_sd.value is None:
        return f"undefined: {run_sd.reason}"
    limits = "" if run_sd.interval is None else f"  [{words.interval(run_sd.interval)}]"
    source = f"{unit}s and runs pooled" if rests_on == "items and runs" else "from the runs' scores"
    return f"±{_number(run_sd.value)}{limits}, one sd, {source}" if run_sd.value else f"±0{limits}, one sd"


def with_limits(value: float, limits: Interval | None) -> str:
    """0.0788 [0.056 to 0.13]."""
    if limits is None:
        return words.number(value, 3)
    return f"{words.number(value, 3)} [{words.number(limits.low, 2)} to {words.number(limits.high, 2)}]"


def stability_rows(across: Across) -> list[Row]:
    found = across.stability
    tau = "undefined"
    if found.tau_mean is not None and found.tau_min is not None:
        tau = f"mean {found.tau_mean:.3f}, least {found.tau_min:.3f}"
    reason = "" if found.reason is None else f" ({found.reason})"
    pairs = words.count(found.pairs_of_runs, "pair")
    return [
        ("Kendall's τ", f"{tau}, over {pairs} of runs{reason}"),
        ("whole order", whole_order(found)),
    ]


def whole_order(found: RankStability) -> str:
    """How often all models come in the same order; of a single pair of runs, whether they do."""
    if found.pairs_of_runs > 1:
        return f"repeats in {percent_of(found.whole_order_repeats)} of the pairs of runs"
    if found.whole_order_repeats in (0, 1):
        return "it is the same in both" if found.whole_order_repeats else "it is not the same in both"
    return "models tie in one of them"


def percent_of(share: float) -> str:
    """93 %; 99.6 % where 100 would not be true."""
    text = f"{100 * share:.0f}"
    return f"{100 * share:.1f} %" if text in ("0", "100") and share not in (0, 1) else f"{text} %"


def _percent(estimate: Estimate) -> str:
    if estimate.value is None:
        return "undefined"
    limits = estimate.interval
    shown = "" if limits is None else f" [{percent_of(limits.low)} to {percent_of(limits.high)}]"
    return percent_of(estimate.value) + shown


def _number(value: float | None) -> str:
    return "undefined" if value is None else words.number(value, 3)


def _shown(estimate: Estimate) -> str:
    if estimate.value is None:
        return "undefined"
    if estimate.interval is None:
        return words.number(estimate.value, 3)
    places = words.decimals(estimate.interval)
    places = None if places is None else max(places - 1, 0)  # fewer than in a sentence, to fit into 80 columns
    low, high = (words.placed(limit, places) for limit in (estimate.interval.low, estimate.interval.high))
    return f"{words.placed(estimate.value, places)} [{low} to {high}]"


def frame_rows(models: Sequence[ModelRuns], across: Across | None) -> list[dict[str, Any]]:
    rows = [_frame_row(model) for model in models]
    if across is not None:
        rows.append({"model": "all models", "runs": across.n_runs, **_flat_icc(across.icc)})
    return rows


def _frame_row(model: ModelRuns) -> dict[str, Any]:
    return {
        "model": model.name,
        "runs": len(model.runs),
        "score": model.score,
        **_flat("run_sd", model.run_sd),
        "expected_run_sd": model.expected_run_sd,
        **_flat("item_sd", model.item_sd),
        **_flat_icc(model.icc),
    }


def _flat_icc(icc: dict[str, Estimate]) -> dict[str, float | None]:
    return {key: value for name, estimate in icc.items() for key, value in _flat(name, estimate).items()}


def _flat(name: str, estimate: Estimate) -> dict[str, float | None]:
    limits = estimate.interval
    return {
        name: estimate.value,
        f"{name} low": None if limits is None else limits.low,
        f"{name} high": None if limits is None else limits.high,
    }
