"""What the numbers allow one to say, and the sentence that says it."""

from assay.analyses import wording
from assay.analyses.comparison import Shown, Verdict
from assay.data import Panel
from assay.design import Design
from assay.stats.records import Estimate, Test

FEW = 10  # fewer units (or clusters) than this, and no interval can be relied on by itself


def verdict_of(difference: Estimate, test: Test, design: Design, *, lower_is_better: bool, degenerate: bool) -> Verdict:
    """The interval decides. One that is collapsed, or of few units, does not by itself: the test must also reject."""
    limits, few = difference.interval, difference.n < FEW
    if limits is None:
        return "no difference shown"
    inside = design.margin is not None and -design.margin < limits.low and limits.high < design.margin
    if inside and not few:
        return "equivalent"
    rejected = test.p_value is not None and test.p_value <= 1 - design.level
    if limits.low <= 0 <= limits.high or ((degenerate or few) and not rejected):
        return "no difference shown"
    return "better" if (limits.low > 0) != lower_is_better else "worse"


def sentence_of(
    verdict: Verdict, panel: Panel, value: Shown, ratio: Estimate | None, test: Test, design: Design
) -> str:
    """One sentence that a person can paste in a pull request."""
    a, b = panel.systems
    heads = {
        "better": f"{b} is better than {a}",
        "worse": f"{b} is worse than {a}",
        "equivalent": f"{b} is equivalent to {a} within ±{wording.number(design.margin or 0)} {_scale(panel)}",
        "no difference shown": f"No difference shown between {a} and {b}",
    }
    return f"{heads[verdict]}: {_finding(panel, value, ratio)} ({_evidence(panel, value, ratio, test)})."


def _scale(panel: Panel) -> str:
    if panel.metric.name != "score":
        return panel.metric.name
    return "nats per token" if panel.metric.kind == "losses" else "points of score"


def _finding(panel: Panel, value: Shown, ratio: Estimate | None) -> str:
    if ratio is not None and ratio.value is not None:
        return f"perplexity × {wording.placed(ratio.value, wording.decimals(ratio.interval))}"
    shift = wording.placed(value.difference.value or 0.0, wording.decimals(value.difference.interval), sign=True)
    what = f"mean {panel.metric.name}" if ratio is None else "mean loss"
    what = what if panel.metric.name == "score" else panel.metric.name
    return f"{what} {wording.number(value.a)} → {wording.number(value.b)}, {shift}"


def _evidence(panel: Panel, value: Shown, ratio: Estimate | None, test: Test) -> str:
    shown = ratio if ratio is not None and ratio.value is not None else value.difference
    parts = []
    if shown.interval is not None:
        limits = wording.interval(shown.interval, sign=shown is not ratio)
        parts.append(f"{wording.percent(shown.interval.level)} interval {limits}")
    if test.p_value is not None:
        parts.append(wording.p_value(test.p_value))
    groups = panel.n_clusters
    units = wording.count(panel.n, panel.metric.unit)
    parts.append(units if groups is None else f"{units} in {wording.count(groups, 'cluster')}")
    if (groups or panel.n) < FEW:
        parts.append("too few to rely on")
    return ", ".join(parts)
