"""The table of limits and the chart of tasks of a certificate."""

from math import exp
from typing import TYPE_CHECKING

from assay.certificate.suite import sentences
from assay.certificate.suite.fields import JudgedLimit, SuiteRow
from assay.limits import COST_LIMITS
from assay.names import plural
from assay.results import words
from assay.results.figures import Forest, Line, Mark
from assay.results.parts import CheckedCase, Column, ResultTable
from assay.stats.records import Estimate, Interval

if TYPE_CHECKING:
    from assay.certificate.suite.record import SuiteCertificate

_MEANS = "groups and all"


def limits_table(found: "SuiteCertificate") -> ResultTable:
    """A line for every limit."""
    lines = sentences.worst_first(found)
    rows = [found.row_of(one) for one in lines]
    level = words.percent(found.policy.level)
    noticed = [_noticed(found, one, row) for one, row in zip(lines, rows, strict=True)]
    columns = (
        Column(found.comparison.by, [_name(found, one) for one in lines], may_shorten=True, key="name"),
        Column("n", [row.n for row in rows]),
        Column("baseline", [_levels(found, one, row)[0] for one, row in zip(lines, rows, strict=True)], words.fixed(3)),
        Column("subject", [_levels(found, one, row)[1] for one, row in zip(lines, rows, strict=True)], words.fixed(3)),
        Column(f"found [{level}]", [_found(found, one) for one in lines], key="found"),
        Column("limit", [sentences.limit_short(found.comparison, one) for one in lines]),
        Column("outcome", [_outcome(one) for one in lines]),
        Column("noticed from", noticed, right=True, hidden=not any(noticed)),
        Column("of", [one.of for one in lines], hidden=True),
        Column("limit_name", [one.limit for one in lines], hidden=True),
        Column("at", [one.at for one in lines], hidden=True),
        Column("value", [one.value for one in lines], hidden=True),
        Column("p_adjusted", [row.adjusted_p for row in rows], hidden=True),
    )
    shown = f"means must be shown to be within, no single {found.comparison.by} may be shown to be beyond"
    about = "every bound must be within" if found.policy.every else shown
    return ResultTable("limits", "limits", columns, about, explained="suite gate")


def cases(found: "SuiteCertificate") -> tuple[CheckedCase, ...]:
    """Groups and tasks as tests: one fails where a limit of it is not met, or not shown where it must be."""
    rows: dict[str, list[JudgedLimit]] = {}
    for one in found.limits:
        if one.of != "total":
            rows.setdefault(_name(found, one), []).append(one)
    return tuple(_case(found, name, limits) for name, limits in rows.items())


def _case(found: "SuiteCertificate", name: str, limits: list[JudgedLimit]) -> CheckedCase:
    outcome = min((one.outcome for one in limits), key=sentences.ORDER.__getitem__)
    said = (
        f"{words.shown(_found(found, one))}, limit {sentences.limit_short(found.comparison, one)}: {one.outcome}"
        for one in limits
    )
    return CheckedCase(name, "passed" if outcome == "met" else "failed", outcome, "\n".join(said))


def _name(found: "SuiteCertificate", one: JudgedLimit) -> str:
    return {"total": sentences.weighing(found), "group": f"group {one.name}", "task": one.name}[one.of]


def _levels(found: "SuiteCertificate", one: JudgedLimit, row: SuiteRow) -> tuple[float, float]:
    """The score, perplexity or cost of both."""
    cost = next((each for each in row.costs if each.cost == COST_LIMITS.get(one.limit)), None)
    if cost is not None:
        return cost.baseline, cost.subject
    return (exp(row.baseline), exp(row.subject)) if found.losses else (row.baseline, row.subject)


def _found(found: "SuiteCertificate", one: JudgedLimit) -> str:
    """A difference with its sign, a score, or a ratio, each with its interval."""
    value, limits, drop = one.value, one.ci, one.limit == "max_drop"
    if drop and not found.comparison.lower_is_better:
        value, limits = -value, None if limits is None else (-limits[1], -limits[0])
    made = None if limits is None else Interval(*limits, found.policy.level, "")
    text = words.compact(Estimate(value, made, None, 0), sign=drop)
    return text if one.limit in ("max_drop", "min_score") else f"× {text}"


def _outcome(one: JudgedLimit) -> str:
    if one.outcome == "open" and one.items_needed is not None:
        return f"open (n ≈ {one.items_needed:,})"
    return one.outcome


def _noticed(found: "SuiteCertificate", one: JudgedLimit, row: SuiteRow) -> str:
    """From which drop on it would be found, 4 times in 5; only of what is judged so."""
    if one.rule != "shown" or one.limit not in ("max_drop", "max_ratio"):
        return ""
    if row.noticed is None:
        return "–"
    return f"× {words.number(exp(row.noticed), 3)}" if found.losses else words.number(row.noticed, 2)


def forest(found: "SuiteCertificate") -> Forest:
    """Every task with its interval, groups and the total below."""
    by, level = found.comparison.by, words.percent(found.policy.level)
    tasks = [_line(row.name, row, f"each {by}", adjusted=not found.policy.every) for row in found.tasks]
    means = [_line(f"group {row.name}", row, _MEANS) for row in found.groups]
    means.append(_line(sentences.weighing(found), found.total, _MEANS))
    limit = None if found.losses or found.gauge is None else found.gauge.marks[1]
    how = "each by itself" if found.policy.every else f"for all {plural(by)} at once"
    about = [f"Lines: {level} intervals, {how}; those of means hold by themselves."]
    about += [] if limit is None else ["The dashed line is the limit of the total; others have limits of their own."]
    return Forest(
        "tasks",
        f"The change by {by}",
        tuple(about),
        f"subject − baseline, {'nats per token' if found.losses else 'score'}",
        (*tasks, *means),
        (Mark(0.0, "no change", dashed=False), *(() if limit is None else (limit,))),
        groups=(f"each {by}", _MEANS),
    )


def _line(label: str, row: SuiteRow, group: str, *, adjusted: bool = False) -> Line:
    limits = row.adjusted_ci if adjusted else row.ci
    low, high = (None, None) if limits is None else limits
    return Line(label, row.difference, low, high, group)
