"""The sentence of a comparison."""

from assay.analyses.compare.result import PairedQuantity
from assay.analyses.contrast import Verdict
from assay.analyses.runs_like_these import RunsLikeThese
from assay.data import Panel
from assay.data.metrics import SCORE
from assay.design import Design
from assay.results import words
from assay.stats.records import Estimate, Test


def sentence_of(
    verdict: Verdict,
    panel: Panel,
    value: PairedQuantity,
    ratio: Estimate | None,
    test: Test,
    design: Design,
    reserve: str,
    *,
    population: int | None = None,
) -> str:
    """One sentence that a person can paste in a pull request."""
    a, b = panel.systems
    heads = {
        "better": f"{b} is better than {a}",
        "worse": f"{b} is worse than {a}",
        "equivalent": f"{b} is equivalent to {a} within ±{words.number(design.margin or 0)} {_scale(panel)}",
        "no difference shown": f"No difference shown between {a} and {b}",
        "undecided": f"Undecided between {a} and {b}",
    }
    shown = ", ".join([*_evidence(panel, value, ratio, test, population), *([reserve] if reserve else [])])
    return f"{heads[verdict]}: {_finding(panel, value, ratio)} ({shown})."


def with_runs(sentence: str, verdict: Verdict, beyond: RunsLikeThese | None) -> str:
    """The same with a word on other runs, where what is shown for these is not shown for runs like these."""
    if beyond is None or verdict not in ("better", "worse") or not beyond.open:
        return sentence
    return f"{sentence[:-1]}; other runs may differ."


def nothing_to_compare(unit: str, a: str, b: str) -> str:
    """The same where nothing pairs."""
    return f"Nothing to compare: no {unit} is in both {a} and {b}."


def _scale(panel: Panel) -> str:
    return panel.metric.name if _named(panel) else panel.metric.measured_in


def _named(panel: Panel) -> bool:
    """Whether what is averaged has a name of its own, such as bits per byte."""
    return panel.kind == "scores" and panel.metric.name != SCORE.name


def _finding(panel: Panel, value: PairedQuantity, ratio: Estimate | None) -> str:
    if ratio is not None and ratio.value is not None:
        return f"perplexity × {words.placed(ratio.value, words.decimals(ratio.interval), null=1.0)}"
    shift = words.placed(value.difference.value or 0.0, words.decimals(value.difference.interval), sign=True)
    what = "mean loss" if ratio is not None else panel.metric.name if _named(panel) else "mean score"
    assert value.a is not None  # there are pairs
    assert value.b is not None
    a, b = words.apart(value.a, value.b)
    return f"{what} {a} → {b}, {shift}"


def _evidence(
    panel: Panel, value: PairedQuantity, ratio: Estimate | None, test: Test, population: int | None
) -> list[str]:
    if population is not None and panel.n == population:
        return [f"all {words.count(panel.n, panel.unit)}, so that nothing is left to chance"]
    shown = ratio if ratio is not None and ratio.value is not None else value.difference
    parts = []
    if shown.interval is not None and shown.interval.method == "degenerate":
        parts += ["all differences are equal"] if value.difference.n > 1 else []  # no interval that p could contradict
    elif shown.interval is not None:
        limits = words.interval(shown.interval, sign=shown is not ratio, null=1.0 if shown is ratio else None)
        parts.append(f"{words.percent(shown.interval.level)} CI {limits}")
    if test.p_value is not None:
        parts.append(words.p_value(test.p_value))
    groups = panel.n_clusters
    units = words.count(panel.n, panel.unit) if population is None else words.part_of(panel.n, population, panel.unit)
    parts.append(units if groups is None else f"{units} in {words.count(groups, 'cluster')}")
    return parts
