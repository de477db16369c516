"""What a leaderboard allows one to say: who is at the top, whom they are better than, and what a reader should know."""

from collections.abc import Sequence

import numpy as np

from assay.analyses.assumptions import LongPairs, about_pairs
from assay.analyses.rank.pairs import PairDecisions
from assay.analyses.rank.records import Adjust, RankedPairs, RestsOn, Standing
from assay.data import Panel
from assay.results import words
from assay.stats.ranking.flips import MOST_ENUMERATED
from assay.stats.units import effective_number

_MOST_NAMED = 4
_MOST_RESTING = 3  # orders that rest on one task


def sentence_of(models: Sequence[Standing], pairs: RankedPairs, *, adjusted: bool = True) -> str:
    """``x and y cannot be told apart (p = 0.3); both are better than z``: of the models level with the first."""
    how = ", adjusted" if adjusted else ""
    first = models[0].name
    pairs_of_first = range(len(models) - 1)  # they come first
    own = [(pairs.b[at], pairs.verdict[at], pairs.p_adjusted[at]) for at in pairs_of_first]
    if ahead := [name for name, verdict, _ in own if verdict == "worse"]:
        return f"{_are(ahead, first=True)} better on what both answered than {first}, which has the best estimate."
    level = [first, *(name for name, verdict, _ in own if verdict != "better")]
    rest = [name for name, verdict, _ in own if verdict == "better"]
    p_values = {name: p for name, _, p in own}
    if len(level) == 1:
        largest = max(p or 0.0 for p in p_values.values())
        evidence = words.p_value(largest) if len(rest) == 1 else f"largest {words.p_value(largest)}"
        return f"{first} is better than {_others(rest)} ({evidence}{how})."
    found = f"{_level(level)} ({_evidence(level, p_values, how)})"
    if not rest:
        return f"{found}."
    return f"{found}; {_against(level, rest, pairs)}."


def _level(level: Sequence[str]) -> str:
    if len(level) <= 2:
        return f"{words.listed(level, _MOST_NAMED)} cannot be told apart"
    return f"{words.listed(level[1:], _MOST_NAMED)} cannot be told apart from {level[0]}"


def _evidence(level: Sequence[str], p_values: dict[str, float | None], how: str) -> str:
    known = [p for name in level[1:] if (p := p_values[name]) is not None]
    if not known:
        return "no test"
    return ("" if len(level) == 2 else "smallest ") + words.p_value(min(known)) + how


def _against(level: Sequence[str], rest: Sequence[str], pairs: RankedPairs) -> str:
    """Who of the level models is better than the rest: the first, all of them, or only some, than some."""
    beaten: dict[str, list[str]] = {name: [] for name in level}
    others = frozenset(rest)
    for a, b, verdict in zip(pairs.a, pairs.b, pairs.verdict, strict=True):
        if verdict == "better" and a in beaten and b in others:
            beaten[a].append(b)
    if all(len(names) == len(rest) for names in beaten.values()):
        who = "both are" if len(level) == 2 else f"all {len(level)} are"
        return f"{who} better than {_others(rest)}"
    also = [name for name in level[1:] if len(beaten[name]) == len(rest)]
    some = [name for name in level[1:] if 0 < len(beaten[name]) < len(rest)]
    none = [name for name in level[1:] if not beaten[name]]
    parts = [f"{level[0]} is better than {_others(rest)}"]
    parts += [f"so {_are(also)}"] if also else []
    parts += [_than_some(some, beaten)] if some else []
    parts += [f"{_are(none, first=True)} not shown to be{' better than any of them' * (len(rest) > 1)}"] if none else []
    return "; ".join(parts)


def _than_some(some: Sequence[str], beaten: dict[str, list[str]]) -> str:
    """``y is better only than v and w``; of several, which differ in whom they are better than, no more is said."""
    only = beaten[some[0]]
    if any(beaten[name] != only for name in some):
        return f"{_are(some, first=True)} better than some of them"
    whom = (
        f"only than {words.listed(only, _MOST_NAMED)}" if len(only) <= _MOST_NAMED else f"than only {len(only)} of them"
    )
    return f"{_are(some, first=True)} better {whom}"


def _are(names: Sequence[str], *, first: bool = False) -> str:
    """``is x``, ``are x and y``; with the names ``first``, ``x is``."""
    verb, listed = "is" if len(names) == 1 else "are", words.listed(names, _MOST_NAMED)
    return f"{listed} {verb}" if first else f"{verb} {listed}"


def _others(rest: Sequence[str]) -> str:
    if len(rest) <= _MOST_NAMED:
        return words.listed(rest, _MOST_NAMED)
    return f"the other {len(rest)} models"


def rests_text(turned: Sequence[RestsOn], least: RestsOn, by: str) -> str:
    """Which orders that are shown would turn around without a task; or which comes closest to it."""
    if not turned:
        left = f"{words.number(least.without, 3)} of {words.number(least.lead, 3)}"
        return (
            f"no single {by}: every order that is shown stays without any one of them; closest: "
            f"{least.a} > {least.b}, {left} left without {least.task}"
        )
    named = [f"{one.a} > {one.b} on {one.task}" for one in turned[:_MOST_RESTING]]
    more = f" and {len(turned) - len(named)} more" if len(turned) > len(named) else ""
    return f"{', '.join(named)}{more}: without this {by} the other would be level or ahead"


# --------------------------------------------------------------------------------------------------------------- notes


def notes_of(
    panel: Panel, decided: PairDecisions, adjust: Adjust, order: Sequence[int], by_length: LongPairs | None = None
) -> tuple[str, ...]:
    """The notes of the data and of what was decided; ``order`` is that of the ranks."""
    grid, unit = panel.grid, panel.unit
    notes = list(panel.notes)
    if not grid.whole:
        notes.append(_about_holes(panel))
    contradicted = np.tril(decided.better[np.ix_(order, order)], -1).sum()
    if contradicted:
        pairs = words.count(int(contradicted), "pair")
        notes.append(f"{pairs} told apart the other way round than the ranks, on the {unit}s that both answered")
    notes += _too_few(panel, decided)
    notes += _attainable(panel, decided, adjust)
    notes += _undecided(decided)
    notes += about_pairs(by_length, panel.unit if grid.clusters is None else "cluster", panel.metric.kind)
    if adjust in ("bh", "none"):
        sure = "tiers, ranks and who may be best are only as sure as single decisions"
        notes.append(f"{sure}: this adjustment allows some to be false")
    return tuple(notes)


def _too_few(panel: Panel, decided: PairDecisions) -> list[str]:
    """Pairs on which no verdict may rest, and such as need differences that are roughly symmetric."""
    few, symmetric = (int((decided.reliance == kind).sum()) for kind in ("too few", "if symmetric"))
    pairs = words.count(len(decided.reliance), "pair")
    notes = []
    if few:
        worth = effective_number(panel.grid.mass)
        equal = "" if worth > 0.95 * panel.grid.groups else f" worth {worth:.2g} of equal weight"
        of = pairs if few == len(decided.reliance) else f"{few:,} of {pairs}"
        notes.append(f"{_groups(panel)}{equal}, too few to rely on: {of} not told apart, whatever the p-value")
    if symmetric:
        notes.append(f"{_groups(panel)}, too few to rely on unless the differences are roughly symmetric")
    return notes


def _groups(panel: Panel) -> str:
    grid = panel.grid
    return words.count(grid.groups, panel.unit if grid.clusters is None else "cluster")


def _about_holes(panel: Panel) -> str:
    grid, unit = panel.grid, panel.unit
    answered = grid.present.sum(axis=0)
    all_have = int(grid.present.all(axis=1).sum())
    lacking, fewest = int((answered < grid.n).sum()), int(np.argmin(answered))
    return (
        f"answers are missing ({lacking} of {grid.k} models; most: {panel.systems[fewest]}, "
        f"{grid.n - int(answered[fewest]):,} of {grid.n:,}): pairs are tested on the {unit}s both have, estimates "
        f"allow for the difficulty of the {unit}s; `missing='complete'` takes the {all_have:,} that all have"
    )


def _attainable(panel: Panel, decided: PairDecisions, adjust: Adjust) -> list[str]:
    """What so few units could show at all: of n signs there are 2ⁿ, and no p-value is below 2 of them."""
    groups, alpha, tests = panel.grid.groups, 1 - decided.design.level, decided.tests
    names = {tests.name} if tests.names is None else set(tests.names)
    if groups > MOST_ENUMERATED or not names <= {"sign-flip", "mcnemar", "mcnemar-midp"}:
        return []
    mid = "mcnemar-midp" in names  # which counts half of the observed counts
    least, pairs = 2.0 ** (-groups if mid else 1 - groups), int((~np.isnan(decided.adjusted)).sum())
    have = "" if mid else f" have {2**groups:,} sign flips"
    found = f"{_groups(panel)}{have}: no p-value can be below {words.number(least, 2)}"
    smallest = min(least * pairs, 1.0) if adjust == "holm" else least
    if smallest <= alpha:
        return [found]
    if least > alpha:
        return [f"{found}, so that no pair can be told apart at {words.number(alpha)}"]
    adjusted = f"nor below {words.number(smallest, 2)} when adjusted for {words.count(pairs, 'pair')}"
    advice = "`adjust='max-t'` depends less on the number of pairs"
    return [f"{found}, {adjusted}, so that no pair can be told apart at {words.number(alpha)}; {advice}"]


def _undecided(decided: PairDecisions) -> list[str]:
    """Pairs that the test alone, or the interval alone, would tell apart."""
    told = decided.different[tuple(decided.pairs.index)]
    lone = ~told & (decided.adjusted_test <= 1 - decided.design.level)
    notes = []
    if lone.any():
        pairs = words.count(int(lone.sum()), "pair")
        have = "has" if lone.sum() == 1 else "have"
        notes.append(f"{pairs} that the {decided.tests.name} test alone would tell apart {have} 0 in the interval")
    return notes
