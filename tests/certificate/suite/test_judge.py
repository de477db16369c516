"""The decision against a literal reading of the rule, for whatever rows Hypothesis invents."""

from math import ceil, exp, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.certificate.suite.fields import MeasuredRatio, SuiteRow
from assay.certificate.suite.judge import SuiteRows, decided, judged
from assay.certificate.suite.task_limits import Demands, LimitedGroup
from assay.limits import Limits

LEVEL = 0.95


def row(name: str, difference: float, half: float, **more: Any) -> SuiteRow:
    """A row whose interval is symmetric; the one for all tasks is half as wide again."""
    given: dict[str, Any] = {
        "name": name,
        "tasks": (name,),
        "n": 100,
        "clusters": None,
        "effective": 100.0,
        "weight": 0.5,
        "baseline": 0.5,
        "subject": 0.5 + difference,
        "difference": difference,
        "standard_error": half / 2,
        "method": "tango",
        "ci": (difference - half, difference + half),
        "p_value": 0.5,
        "adjusted_ci": (difference - 1.5 * half, difference + 1.5 * half),
        "adjusted_p": 0.5,
        "score_ci": None,
        "adjusted_score_ci": None,
        "costs": (),
        "noticed": None,
        "passes_if_equal": 0.5,
    }
    return SuiteRow(**(given | more))


def demands(total: float, each: dict[str, float], *, every: bool = False, group: float | None = None) -> Demands:
    groups = {} if group is None else {"g": LimitedGroup(tuple(each), Limits(max_drop=group))}
    tasks = {name: Limits(max_drop=limit) for name, limit in each.items()}
    return Demands(Limits(max_drop=total), groups, tasks, "macro", every)


def literal(rows: SuiteRows, asked: Demands) -> str:
    """Pass: the lower bound of the total (and groups) is not below minus the limit, and no task is shown to have
    dropped (Holm) with an estimate beyond its own limit. Fail: the total, a group or a task is shown beyond.
    """
    means = [(rows.total, asked.total.max_drop), *((g, asked.groups[g.name].limits.max_drop) for g in rows.groups)]
    bounds = [(one, limit) for one, limit in means if limit is not None]
    if asked.every:
        bounds += [(one, asked.tasks[one.name].max_drop or 0.0) for one in rows.tasks]
    for one, limit in bounds:
        assert one.ci is not None
        if one.ci[1] < -limit:
            return "fail"
    if not asked.every:
        for one in rows.tasks:
            dropped = one.adjusted_p is not None and one.adjusted_p <= 1 - LEVEL and one.difference < 0
            if dropped and -one.difference > (asked.tasks[one.name].max_drop or 0.0):
                return "fail"
    within = all(one.ci is not None and one.ci[0] >= -limit for one, limit in bounds)
    return "pass" if within else "undecided"


#: Round numbers, so that ties with a limit happen.
HUNDREDTHS = st.integers(-30, 30).map(lambda i: i / 100)
WIDTHS = st.integers(1, 20).map(lambda i: i / 100)


@given(
    st.lists(st.tuples(HUNDREDTHS, WIDTHS, st.sampled_from([0.001, 0.05, 0.2])), min_size=1, max_size=4),
    st.tuples(HUNDREDTHS, WIDTHS),
    st.tuples(HUNDREDTHS, WIDTHS),
    st.integers(0, 20).map(lambda i: i / 100),
    st.booleans(),
)
def test_the_verdict_against_a_literal_reading(
    tasks: list[tuple[float, float, float]],
    whole: tuple[float, float],
    group: tuple[float, float],
    limit: float,
    every: bool,
) -> None:
    rows = SuiteRows(
        tuple(row(f"t{i}", d, half, adjusted_p=p) for i, (d, half, p) in enumerate(tasks)),
        (row("g", *group, adjusted_p=None, adjusted_ci=None),),
        row("total", *whole, adjusted_p=None, adjusted_ci=None),
    )
    asked = demands(limit, {f"t{i}": limit + 0.03 for i in range(len(tasks))}, every=every, group=limit / 2)
    limits = judged(rows, asked, LEVEL, lower_is_better=False)
    found = decided(rows, limits, LEVEL, every=every)
    assert found.verdict == literal(rows, asked)
    assert found.not_met == sum(one.outcome == "not met" for one in limits)
    mirrored = SuiteRows(tuple(map(_turned, rows.tasks)), tuple(map(_turned, rows.groups)), _turned(rows.total))
    again = judged(mirrored, asked, LEVEL, lower_is_better=True)
    assert [one.outcome for one in again] == [one.outcome for one in limits]


def _turned(one: SuiteRow) -> SuiteRow:
    """The same row where less is better."""
    turned = {
        name: None if limits is None else (-limits[1], -limits[0])
        for name, limits in (("ci", one.ci), ("adjusted_ci", one.adjusted_ci))
    }
    return row(one.name, -one.difference, 0.1, **turned, adjusted_p=one.adjusted_p)


def judge_one(one: SuiteRow, limits: Limits, *, every: bool = False, lower: bool = False) -> dict[str, str]:
    """The outcome of each limit of a task."""
    rows = SuiteRows((one,), (), row("total", 0.0, 0.01, adjusted_p=None, adjusted_ci=None))
    asked = Demands(Limits(max_drop=0.5), {}, {one.name: limits}, "macro", every)
    found = judged(rows, asked, LEVEL, lower_is_better=lower)
    return {each.limit: each.outcome for each in found if each.of == "task"}


@pytest.mark.parametrize(
    ("own", "adjusted", "default", "strict"),
    [
        ((0.42, 0.5), (0.41, 0.51), "met", "met"),  # surely above
        ((0.38, 0.5), (0.35, 0.53), "met", "open"),
        ((0.3, 0.39), (0.28, 0.41), "met", "not met"),  # below by itself, not for all tasks
        ((0.3, 0.38), (0.28, 0.39), "not met", "not met"),
    ],
)
def test_a_smallest_score_by_hand(
    own: tuple[float, float], adjusted: tuple[float, float], default: str, strict: str
) -> None:
    one = row("t", 0.0, 0.1, subject=sum(own) / 2, score_ci=own, adjusted_score_ci=adjusted)
    assert judge_one(one, Limits(min_score=0.4))["min_score"] == default
    assert judge_one(one, Limits(min_score=0.4), every=True)["min_score"] == strict


@pytest.mark.parametrize(
    ("ratio", "own", "adjusted", "default", "strict"),
    [
        (1.3, (1.25, 1.35), (1.2, 1.4), "not met", "not met"),  # dearer, and beyond the limit
        (1.3, (1.15, 1.45), (0.99, 1.6), "met", "open"),  # not shown to be dearer, for all tasks
        (1.15, (1.1, 1.19), (1.05, 1.3), "met", "met"),  # dearer, within the limit
    ],
)
def test_a_cost_by_hand(
    ratio: float, own: tuple[float, float], adjusted: tuple[float, float], default: str, strict: str
) -> None:
    cost = MeasuredRatio(
        cost="price", baseline=1.0, subject=ratio, ratio=ratio, method="bca", ci=own, adjusted_ci=adjusted
    )
    one = row("t", 0.0, 0.1, costs=(cost,))
    assert judge_one(one, Limits(max_price_ratio=1.2))["max_price_ratio"] == default
    assert judge_one(one, Limits(max_price_ratio=1.2), every=True)["max_price_ratio"] == strict


def test_perplexities_are_ratios_by_hand() -> None:
    one = row("t", log(1.3), 0.01, method="t-hall", adjusted_p=0.001)
    assert judge_one(one, Limits(max_ratio=1.2), lower=True) == {"max_ratio": "not met"}
    rows = SuiteRows((one,), (), row("total", log(1.05), 0.01, adjusted_p=None, adjusted_ci=None, method="t-hall"))
    asked = Demands(Limits(max_ratio=1.1), {}, {"t": Limits(max_ratio=1.4)}, "macro", every=False)
    found = judged(rows, asked, LEVEL, lower_is_better=True)
    assert [one.outcome for one in found] == ["met", "met"]
    assert found[0].value == pytest.approx(1.05)
    assert found[0].ci == pytest.approx((1.05 * exp(-0.01), 1.05 * exp(0.01)))


def test_too_few_items_decide_nothing() -> None:
    few = {"n": 3, "effective": 3.0, "adjusted_p": 0.001}
    assert judge_one(row("t", -0.9, 0.05, **few), Limits(max_drop=0.1)) == {"max_drop": "met"}  # nothing is shown
    assert judge_one(row("t", -0.9, 0.05, **few), Limits(max_drop=0.1), every=True) == {"max_drop": "open"}
    single = row("t", -0.9, 0.05, ci=None, adjusted_ci=None, standard_error=None, n=1, effective=1.0)
    assert judge_one(single, Limits(max_drop=0.1), every=True) == {"max_drop": "open"}


def test_the_items_that_would_settle_it_by_hand() -> None:
    """An interval shrinks as 1/√n: to reach the limit at 0.04 from 0.01 it must be a third as wide, or 0.03/0.05."""
    rows = SuiteRows(
        (row("t", 0.0, 0.01, n=300), row("u", 0.0, 0.01, n=100)),
        (row("g", -0.01, 0.06, n=100, adjusted_p=None, adjusted_ci=None),),
        row("total", -0.01, 0.05, n=400, adjusted_p=None, adjusted_ci=None),
    )
    asked = demands(0.04, {"t": 0.5, "u": 0.5}, group=0.04)
    limits = judged(rows, asked, LEVEL, lower_is_better=False)
    assert [one.items_needed for one in limits] == [ceil(400 * (5 / 3) ** 2), 400, None, None]
    found = decided(rows, limits, LEVEL, every=False)
    assert (found.verdict, found.items_needed) == ("undecided", 1600)  # the group needs four times as many
    never = judged(rows, demands(0.01, {"t": 0.5, "u": 0.5}, group=0.5), LEVEL, lower_is_better=False)
    assert never[0].items_needed is None  # the estimate is at the limit
    assert decided(rows, never, LEVEL, every=False).items_needed is None


def test_error_and_power_are_stated() -> None:
    rows = SuiteRows((row("t", 0.0, 0.01), row("u", 0.0, 0.01, passes_if_equal=0.4)), (), row("total", 0.0, 0.01))
    for every, power in ((False, None), (True, 0.2)):
        asked = demands(0.5, {"t": 0.5, "u": 0.5}, every=every)
        found = decided(rows, judged(rows, asked, 0.9, lower_is_better=False), 0.9, every=every)
        assert found.error == pytest.approx(0.05)
        assert (found.passes_if_equal, found.verdict) == (power, "pass")
