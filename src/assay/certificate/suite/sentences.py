"""What a certificate over tasks says in words. None of it is stored; it is made from the facts when shown."""

from math import exp, inf
from typing import TYPE_CHECKING

from assay.certificate.sentences import names_of, rules_not_met
from assay.certificate.suite.fields import ComparedTasks, JudgedLimit, LimitOutcome, SuiteRow
from assay.limits import COST_LIMITS
from assay.names import plural
from assay.results import words
from assay.stats.records import Interval

if TYPE_CHECKING:
    from assay.certificate.suite.record import SuiteCertificate

MOST_NAMED = 3  # limits or tasks; of more, a count
ORDER: dict[LimitOutcome, int] = {"not met": 0, "open": 1, "met": 2}
_WEIGHING = {"macro": "mean of the {bys}", "items": "mean of all {unit}s", "given": "mean of the {bys} as weighted"}
_WHERE: dict[LimitOutcome, str] = {"not met": "beyond", "open": "on both sides of", "met": "within"}
_Pair = tuple[float, float]


def unit_of(comparison: ComparedTasks) -> str:
    return "window" if comparison.kind == "perplexity" else "item"


def weighing(found: "SuiteCertificate") -> str:
    """What the total is."""
    return _WEIGHING[found.policy.total_weights].format(bys=plural(found.comparison.by), unit=found.unit)


def sentence_of(found: "SuiteCertificate") -> str:
    """The verdict in a sentence or two: what it rests on, how sure it is, and what it does not show."""
    baseline, subject = names_of(found.systems)
    over = f"over {words.count(len(found.tasks), found.comparison.by)}"
    if found.verdict == "fail":
        return f"{subject} may not replace {baseline} {over}: {_listed(found, 'not met')}{_rules(found)}."
    if found.verdict == "undecided":
        needed = needed_words(found)
        more = "" if needed is None else f"; about {needed} would settle it"
        said = f"{_listed(found, 'open')}{more}{_rules(found)}.{_strict(found)}"
        return f"Undecided whether {subject} may replace {baseline} {over}: {said}"
    return f"{subject} may replace {baseline} {over}: {_passed(found)}"


# --------------------------------------------------------------------------------------------------------------- a pass


def _passed(found: "SuiteCertificate") -> str:
    by, sure = found.comparison.by, wrong_at_most(found.decision.error)
    whole = f"the {weighing(found)}, {_change(found, found.total, found.total.ci)},"
    if found.policy.every:
        return f"{whole} and every single {by} are within their limits (each {sure}){_rules(found)}.{_strict(found)}"
    groups = len(found.groups)
    are = "is" if groups == 1 else "are"
    also = f"{words.count(groups, 'group')} of {plural(by)} {are} within limits, " if groups else ""
    rest = f"{also}and no single {by} is shown to be beyond its limit"
    return f"{whole} {_not_by_more(found)} ({sure}), {rest}{_worse_within(found)}{_rules(found)}.{_may_hide(found)}"


def _rules(found: "SuiteCertificate") -> str:
    return rules_not_met(found.rules, found.policy.profile)


def _worse_within(found: "SuiteCertificate") -> str:
    """Tasks that are shown to have changed for the worse, and by less than their limit."""
    alpha, lower = 1 - found.policy.level, found.comparison.lower_is_better
    worse = [row for row in found.tasks if row.adjusted_p is not None and row.adjusted_p <= alpha]
    names = [row.name for row in worse if (row.difference > 0) == lower and row.reliance != "too few"]
    if not names:
        return ""
    verb, whose = ("is", "its limit") if len(names) == 1 else ("are", "their limits")
    return f" ({words.listed(names, MOST_NAMED)} {verb} shown to be worse, within {whose})"


def _strict(found: "SuiteCertificate") -> str:
    """How often the bounds of all tasks of an equal model would be within, where every one is demanded."""
    chance = found.decision.passes_if_equal
    if chance is None:
        return ""
    return f" An equal model would pass all {plural(found.comparison.by)} in {words.chance(chance)} of cases."


def _not_by_more(found: "SuiteCertificate") -> str:
    """What a pass says of the total's change."""
    limit, lower = found.change_limit, found.comparison.lower_is_better
    at = words.number(limit.at, 6)
    if limit.limit == "max_ratio":
        return f"has not risen beyond × {at}"
    return f"has not {'risen' if lower else 'dropped'} by more than {at}"


def wrong_at_most(error: float) -> str:
    """``wrong at most 1 time in 40``."""
    return f"wrong at most 1 time in {round(1 / error):,}"


def _may_hide(found: "SuiteCertificate") -> str:
    """What a pass does not show of single tasks: the task in which a drop must be largest to be noticed."""
    if len(found.tasks) < 2:
        return ""
    worst = max(found.tasks, key=lambda row: inf if row.noticed is None else row.noticed)
    place = f"in {worst.name} ({words.count(worst.n, found.unit)})"
    said = f"{_drop(found.comparison, worst.noticed)} {place} would have been noticed 4 times in 5"
    if worst.noticed is None:
        said = f"hardly any drop {place} would have been noticed"
    return f" This does not show that no single one is: {said}."


def _drop(comparison: ComparedTasks, change: float | None) -> str:
    """A change for the worse, in words."""
    if comparison.kind == "perplexity":
        return f"a perplexity × {words.number(exp(change or 0.0), 3)}"
    return f"a {'rise' if comparison.lower_is_better else 'drop'} of about {words.number(change or 0.0, 2)}"


# ---------------------------------------------------------------------------------------------------- what was found


def _change(found: "SuiteCertificate", row: SuiteRow, limits: _Pair | None, *more: str) -> str:
    """``0.594 → 0.623, +0.029 (95% CI +0.014 to +0.044)``; of losses as perplexities."""
    losses, level = found.losses, found.policy.level
    before, after = (exp(row.baseline), exp(row.subject)) if losses else (row.baseline, row.subject)
    value = exp(row.difference) if losses else row.difference
    low, high = (None, None) if limits is None else (exp(limits[0]), exp(limits[1])) if losses else limits
    made = None if low is None or high is None else Interval(low, high, level, "")
    shift = words.placed(value, words.decimals(made), sign=not losses, null=1.0 if losses else 0.0)
    known = [] if made is None else [f"{words.percent(level)} CI {_limits(made, losses=losses)}"]
    shown = f" ({', '.join([*known, *more])})" if known or more else ""
    return f"{' → '.join(words.apart(before, after))}, {'× ' if losses else ''}{shift}{shown}"


def _limits(made: Interval, *, losses: bool) -> str:
    return words.interval(made, null=1.0) if losses else words.interval(made, sign=True)


def worst_first(found: "SuiteCertificate") -> list[JudgedLimit]:
    """The limits of the total and of groups, then of tasks: those not met first, the worst changes first."""
    sign = -1.0 if found.comparison.lower_is_better else 1.0
    single = [one for one in found.limits if one.of == "task"]
    single.sort(key=lambda one: (ORDER[one.outcome], sign * found.row_of(one).difference, one.name))
    return [*(one for one in found.limits if one.of != "task"), *single]


def _listed(found: "SuiteCertificate", outcome: LimitOutcome) -> str:
    """The limits that decided: the total, groups and tasks, at most three, then a count."""
    named = [one for one in worst_first(found) if one.outcome == outcome]
    more = len(named) - MOST_NAMED
    said = [_said(found, one) for one in named[:MOST_NAMED]]
    return "; ".join([*said, *([f"and {words.count(more, 'limit')} more"] if more > 0 else [])])


def _said(found: "SuiteCertificate", one: JudgedLimit) -> str:
    """What was found of a limit that is not met, or open."""
    row, where = found.row_of(one), _WHERE[one.outcome]
    names = {"total": f"the {weighing(found)}", "group": f"the mean of the group {one.name}", "task": one.name}
    if one.outcome == "open" and row.reliance != "firm":
        where = "too few to rely on, for"
    limit = f"the limit of {limit_words(found.comparison, one)}"
    if one.limit in ("max_drop", "max_ratio"):
        shown = one.rule == "shown" and row.adjusted_p is not None
        holm = [f"{words.p_value(row.adjusted_p or 1.0)} by Holm"] if shown else []
        limits = row.adjusted_ci if one.rule == "shown" else row.ci
        return f"{names[one.of]}, {_change(found, row, limits, *holm)}, is {where} {limit}"
    made = None if one.ci is None else Interval(*one.ci, found.policy.level, "")
    known = "" if made is None else f" ({words.percent(found.policy.level)} CI {words.interval(made)})"
    value = words.placed(one.value, words.decimals(made))
    if one.limit == "min_score":
        return f"the score of {names[one.of]}, {value}{known}, is {where} {limit}"
    return f"{COST_LIMITS[one.limit]} of {names[one.of]}, × {value}{known}, is {where} {limit}"


def limit_words(comparison: ComparedTasks, one: JudgedLimit) -> str:
    """``a drop of 0.05``, ``0.4``, ``× 1.1``."""
    at = words.number(one.at, 6)
    if one.limit == "max_drop":
        return f"a {'rise' if comparison.lower_is_better else 'drop'} of {at}"
    return at if one.limit == "min_score" else f"× {at}"


def limit_short(comparison: ComparedTasks, one: JudgedLimit) -> str:
    """A limit in a table."""
    at = words.number(one.at, 6)
    if one.limit == "max_drop":
        return f"{'rise' if comparison.lower_is_better else 'drop'} ≤ {at}"
    if one.limit == "min_score":
        return f"score ≥ {at}"
    return f"{COST_LIMITS.get(one.limit, 'perplexity')} ≤ × {at}"


def needed_words(found: "SuiteCertificate") -> str | None:
    """How many items would settle it: of the only row that is open, or of all."""
    needed, rows = found.decision.items_needed, {(one.of, one.name) for one in found.limits if one.outcome == "open"}
    if needed is None:
        return None
    if len(rows) > 1 or ("total", found.total.name) in rows:
        return f"{words.count(needed, found.unit)} in these proportions"
    most = max(one.items_needed or 0 for one in found.limits if one.outcome == "open")
    return f"{words.count(most, found.unit)} of {next(iter(rows))[1]}"


# ------------------------------------------------------------------------------------------------- what the rule shows


def errors_said(found: "SuiteCertificate") -> tuple[str, ...]:
    """How often the rule is wrong, what it would have noticed, and how often an equal model passes."""
    by, sure, several = found.comparison.by, wrong_at_most(found.decision.error), len(found.tasks) > 1
    said = [f"The bound of the {weighing(found)} decides: what passes is within its limit, {sure}.", *_equal(found)]
    if found.policy.every:
        said.append(f"The bound of every single {by} must be within its limit too, each {sure}.")
        said += [_strict(found).strip()] if _strict(found) else []
    elif several:
        said.append(
            f"A single {by} is beyond its limit where it is shown to have changed for the worse (Holm over "
            f"{words.count(len(found.tasks), by)}) and is found beyond it. In an equal model one is found "
            f"{sure.removeprefix('wrong ')}; what is found has changed for the worse, not necessarily by as much."
        )
        said += _noticing(found)
    return tuple(said)


def _equal(found: "SuiteCertificate") -> list[str]:
    chance = found.total.passes_if_equal
    return [] if chance is None else [f"An equal model would pass this in {words.chance(chance)} of cases."]


def _noticing(found: "SuiteCertificate") -> list[str]:
    """From the task that shows most to the one that shows least."""
    known = sorted((row for row in found.tasks if row.noticed is not None), key=lambda row: row.noticed or 0.0)
    blind = [row.name for row in found.tasks if row.noticed is None]
    said = []
    if known:
        ends = [f"{row.name} ({words.count(row.n, found.unit)})" for row in known]
        shown = [f"{_drop(found.comparison, row.noticed)} in {end}" for row, end in zip(known, ends, strict=True)]
        both = shown[0] if len(known) == 1 else f"{shown[0]}, and {shown[-1]},"
        said.append(f"{both[:1].upper()}{both[1:]} would have been noticed 4 times in 5; smaller ones may pass.")
    if blind:
        said.append(f"Hardly any drop would have been noticed in {words.listed(blind, MOST_NAMED)}.")
    return said
