"""What a leaderboard allows one to say, in one sentence: who is at the top, and whom they are better than."""

from collections.abc import Sequence

from assay.analyses.rank.parts import Pair, Standing
from assay.analyses.rank.tables import wording_list
from assay.results import words

_MOST_NAMED = 4


def sentence_of(models: Sequence[Standing], pairs: Sequence[Pair], *, adjusted: bool = True) -> str:
    """``x and y cannot be told apart (p = 0.3); both are better than z``: of the models level with the first."""
    how = ", adjusted" if adjusted else ""
    first = models[0].name
    own = {pair.b: pair for pair in pairs if pair.a == first}
    level = [first, *(name for name, pair in own.items() if pair.verdict != "better")]
    rest = [name for name, pair in own.items() if pair.verdict == "better"]
    if len(level) == 1:
        largest = max(pair.p_adjusted or 0.0 for pair in own.values())
        evidence = words.p_value(largest) if len(rest) == 1 else f"largest {words.p_value(largest)}"
        return f"{first} is better than {_others(rest)} ({evidence}{how})."
    found = f"{_level(level)} ({_evidence(level, own, how)})"
    if not rest:
        return f"{found}."
    return f"{found}; {_against(level, rest, pairs)}."


def _level(level: Sequence[str]) -> str:
    if len(level) <= 2:
        return f"{wording_list(level, _MOST_NAMED)} cannot be told apart"
    return f"{wording_list(level[1:], _MOST_NAMED)} cannot be told apart from {level[0]}"


def _evidence(level: Sequence[str], own: dict[str, Pair], how: str) -> str:
    known = [p for name in level[1:] if (p := own[name].p_adjusted) is not None]
    if not known:
        return "no test"
    return ("" if len(level) == 2 else "smallest ") + words.p_value(min(known)) + how


def _against(level: Sequence[str], rest: Sequence[str], pairs: Sequence[Pair]) -> str:
    """Who of the level models is better than the rest: the first, all of them, or only some, than some."""
    beaten = {name: [p.b for p in pairs if p.a == name and p.b in rest and p.verdict == "better"] for name in level}
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
        f"only than {wording_list(only, _MOST_NAMED)}" if len(only) <= _MOST_NAMED else f"than only {len(only)} of them"
    )
    return f"{_are(some, first=True)} better {whom}"


def _are(names: Sequence[str], *, first: bool = False) -> str:
    """``is x``, ``are x and y``; with the names ``first``, ``x is``."""
    verb, listed = "is" if len(names) == 1 else "are", wording_list(names, _MOST_NAMED)
    return f"{listed} {verb}" if first else f"{verb} {listed}"


def _others(rest: Sequence[str]) -> str:
    if len(rest) <= _MOST_NAMED:
        return wording_list(rest, _MOST_NAMED)
    return f"the other {len(rest)} models"
