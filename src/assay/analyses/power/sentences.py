"""What a plan says: a sentence to paste into it, and notes."""

from math import exp

from assay.analyses.power.result import Pilot, Power
from assay.results import words
from assay.stats.planning.plans import Shares, StudyPlan


def sentence_of(found: Power) -> str:
    """One sentence to paste into a study plan."""
    items = words.count(found.items, found.unit)
    if found.clusters is not None:
        items += f" in {words.count(round(found.clusters), 'cluster')}"
    power = words.share(found.power if found.power is not None else found.goal.power)
    if found.solved_for == "items":
        power = words.percent(found.goal.power)
    if found.difference is None:
        return f"{items} cannot detect any possible difference with {power} power{_beside(found)}."
    if found.goal.margin is not None:
        inside = f"±{words.number(found.goal.margin)}{found.scale}"
        true = f"if the true difference is {words.number(found.difference)}"
        return f"{items} show equivalence within {inside} with {power} power {true}{_beside(found)}."
    difference = _difference(found, found.difference)
    return f"{items} detect a difference of {difference} with {power} power{_beside(found)}."


def _difference(found: Power, difference: float) -> str:
    shown = words.number(difference, 4 if found.solved_for != "difference" else 3)
    ratio = f" (perplexity × {exp(difference):.6g})" if found.scale else ""
    return shown + found.scale + ratio


def _beside(found: Power) -> str:
    """The pilot's uncertainty, and the number of comparisons."""
    parts = []
    limits = found.answer.interval
    if limits is not None and found.pilot is not None:
        low, high = (_answer(found, limit) for limit in (limits.low, limits.high))
        pilot = words.count(found.pilot.n, found.unit)
        parts.append(f"by a pilot of {pilot}: {low} to {high}, {words.percent(limits.level)} CI")
    if found.goal.comparisons > 1:
        parts.append(f"each of {found.goal.comparisons:,} comparisons at {found.error_of_each}")
    return f" ({'; '.join(parts)})" if parts else ""


def _answer(found: Power, value: float) -> str:
    """A value of the answer: items, a difference or a power."""
    if found.solved_for == "items":
        return f"{value:,.0f}"
    return words.number(value, 3) if found.solved_for == "difference" else words.share(value)


def notes_of(plan: StudyPlan, pilot: Pilot | None) -> tuple[str, ...]:
    """What was changed in the pilot's numbers to make a plan possible."""
    if pilot is None or pilot.discordant is None or not isinstance(plan, Shares) or plan.discordant is None:
        return ()
    if plan.discordant == pilot.discordant:
        return ()
    seen, least = f"{100 * pilot.discordant:.3g}%", f"{100 * plan.discordant:.3g}%"
    return (f"{seen} of the pilot's items differ, fewer than the difference needs; the plan assumes {least}",)
