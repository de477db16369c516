"""What the numbers allow one to say, and the sentence that says it.

One rule for every verb: a difference is shown where p ≤ 1 − level and the interval leaves out 0. Where interval and
test are left to us they are made to agree (`agreed`), so that either says it; where one was asked for by name both are
shown as computed, and both are needed.
"""

from dataclasses import dataclass, replace
from math import isnan, nan

from assay.analyses.comparison import Shown, Verdict
from assay.data import Panel
from assay.data.metrics import SCORE
from assay.design import Design
from assay.results import words
from assay.stats.interval_and_test import agreeing, joint_p
from assay.stats.records import Estimate, Interval, Test

FEW = 10  # fewer units (or clusters) than this, and no interval can be relied on by itself


@dataclass(frozen=True, slots=True)
class Agreed:
    """A difference and its test that say the same of 0, and what had to be done for it."""

    difference: Estimate
    test: Test
    notes: tuple[str, ...] = ()


def agreed(difference: Estimate, test: Test, own_p: float | None) -> Agreed:
    """Raise p to the interval's own, and set a limit to 0 where that p does not reject.

    ``own_p`` is the smallest α at which the interval leaves out 0; ``None`` where the test alone decides (Tango's
    interval beside McNemar's test). A collapsed interval stays: it is no interval, and the test decides.
    """
    limits = difference.interval
    if limits is None or limits.method == "degenerate" or difference.value is None:
        return Agreed(difference, test)
    p = nan if test.p_value is None else float(joint_p(test.p_value, 0.0 if own_p is None else own_p))
    moved = replace(difference, interval=moved_limits(limits, p, difference.value))
    return Agreed(moved, test if isnan(p) else replace(test, p_value=p), _what_was_done(limits, test, own_p))


def moved_limits(limits: Interval, p: float | None, estimate: float) -> Interval:
    """The limits with 0 left out exactly where p ≤ 1 − level."""
    low, high = agreeing(limits.low, limits.high, nan if p is None else p, 1 - limits.level, estimate)
    return replace(limits, low=float(low), high=float(high))


def _what_was_done(limits: Interval, test: Test, own_p: float | None) -> tuple[str, ...]:
    """Where interval and test disagree at this level."""
    rejects = test.p_value is not None and test.p_value <= 1 - limits.level
    excludes = leaves_out_zero(limits)
    if excludes == rejects or test.p_value is None:
        return ()
    shown = words.p_value(test.p_value)
    if excludes:
        return (
            f"the interval alone leaves out 0, the {test.name} test does not reject ({shown}): a limit is set to 0",
        )
    if own_p is None:
        return (f"the {test.name} test rejects ({shown}), the interval alone has 0 in it: a limit is moved beside 0",)
    return (f"the {test.name} test alone rejects ({shown}), the interval has 0 in it: p is the interval's own",)


def leaves_out_zero(limits: Interval) -> bool:
    return not limits.low <= 0 <= limits.high


def disagreement(difference: Estimate, test: Test) -> tuple[str, ...]:
    """What to say where both are as computed and differ."""
    limits = difference.interval
    if limits is None or test.p_value is None or limits.method == "degenerate":
        return ()
    excludes, rejects = leaves_out_zero(limits), test.p_value <= 1 - limits.level
    if excludes == rejects:
        return ()
    zero, answer = "leaves out" if excludes else "contains", "rejects" if rejects else "does not reject"
    return (f"borderline: the interval {zero} 0, the {test.name} test {answer}; a verdict needs both",)


def verdict_of(difference: Estimate, test: Test, design: Design, *, lower_is_better: bool) -> Verdict:
    """A difference is shown where the interval leaves out 0 and the test rejects."""
    limits = difference.interval
    if limits is None:
        return "no difference shown"
    inside = design.margin is not None and -design.margin < limits.low and limits.high < design.margin
    if inside and difference.n >= FEW:
        return "equivalent"
    rejected = test.p_value is not None and test.p_value <= 1 - design.level
    if not (rejected and leaves_out_zero(limits)):
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
        "equivalent": f"{b} is equivalent to {a} within ±{words.number(design.margin or 0)} {_scale(panel)}",
        "no difference shown": f"No difference shown between {a} and {b}",
    }
    return f"{heads[verdict]}: {_finding(panel, value, ratio)} ({_evidence(panel, value, ratio, test)})."


def _scale(panel: Panel) -> str:
    return panel.metric.name if _named(panel) else panel.metric.measured_in


def _named(panel: Panel) -> bool:
    """Whether what is averaged has a name of its own, such as bits per byte."""
    return panel.kind == "scores" and panel.metric.name != SCORE.name


def _finding(panel: Panel, value: Shown, ratio: Estimate | None) -> str:
    if ratio is not None and ratio.value is not None:
        return f"perplexity × {words.placed(ratio.value, words.decimals(ratio.interval), null=1.0)}"
    shift = words.placed(value.difference.value or 0.0, words.decimals(value.difference.interval), sign=True)
    what = "mean loss" if ratio is not None else panel.metric.name if _named(panel) else "mean score"
    assert value.a is not None  # there are pairs
    assert value.b is not None
    a, b = words.apart(value.a, value.b)
    return f"{what} {a} → {b}, {shift}"


def _evidence(panel: Panel, value: Shown, ratio: Estimate | None, test: Test) -> str:
    shown = ratio if ratio is not None and ratio.value is not None else value.difference
    parts = []
    if shown.interval is not None and shown.interval.method == "degenerate":
        parts += ["all differences are equal"] if value.difference.n > 1 else []  # no interval that p could contradict
    elif shown.interval is not None:
        limits = words.interval(shown.interval, sign=shown is not ratio, null=1.0 if shown is ratio else None)
        parts.append(f"{words.percent(shown.interval.level)} interval {limits}")
    if test.p_value is not None:
        parts.append(words.p_value(test.p_value))
    groups = panel.n_clusters
    units = words.count(panel.n, panel.unit)
    parts.append(units if groups is None else f"{units} in {words.count(groups, 'cluster')}")
    if (groups or panel.n) < FEW:
        parts.append("too few to rely on")
    return ", ".join(parts)
