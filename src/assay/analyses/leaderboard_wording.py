"""What a leaderboard allows one to say, in one sentence: who is at the top, and whom they are better than."""

from collections.abc import Sequence

from assay.analyses.leaderboard_parts import Pair, Standing
from assay.analyses.leaderboard_tables import wording_list
from assay.results import words

_MOST_NAMED = 4


def sentence_of(models: Sequence[Standing], pairs: Sequence[Pair]) -> str:
    """``x and y cannot be told apart (p = 0.3); both are better than z``: of the models level with the first."""
    first = models[0].name
    own = {pair.b: pair for pair in pairs if pair.a == first}
    level = [first, *(name for name, pair in own.items() if pair.verdict != "better")]
    rest = [name for name, pair in own.items() if pair.verdict == "better"]
    if len(level) == 1:
        largest = max(pair.p_adjusted or 0.0 for pair in own.values())
        evidence = words.p_value(largest) if len(rest) == 1 else f"largest {words.p_value(largest)}"
        return f"{first} is better than {_others(rest)} ({evidence}, adjusted)."
    found = f"{_level(level)} ({_evidence(level, own)})"
    if not rest:
        return f"{found}."
    return f"{found}; {_against(level, rest, pairs)}."


def _level(level: Sequence[str]) -> str:
    if len(level) <= 2:
        return f"{wording_list(level, _MOST_NAMED)} cannot be told apart"
    return f"{wording_list(level[1:], _MOST_NAMED)} cannot be told apart from {level[0]}"


def _evidence(level: Sequence[str], own: dict[str, Pair]) -> str:
    known = [p for name in level[1:] if (p := own[name].p_adjusted) is not None]
    if not known:
        return "no test"
    return f"{words.p_value(known[0]) if len(level) == 2 else 'smallest ' + words.p_value(min(known))}, adjusted"


def _against(level: Sequence[str], rest: Sequence[str], pairs: Sequence[Pair]) -> str:
    """How many of the level models are better than how many of the rest."""
    beaten = {name: sum(p.a == name and p.b in rest and p.verdict == "better" for p in pairs) for name in level}
    everyone = all(count == len(rest) for count in beaten.values())
    if everyone:
        who = "both are" if len(level) == 2 else f"all {len(level)} are"
        return f"{who} better than {_others(rest)}"
    if len(level) == 2:
        second = beaten[level[1]]
        than = f"{level[1]} than {second} of them" if second else f"{level[1]} is not"
        return f"{level[0]} is better than {_others(rest)}, {than}"
    least = min(beaten[name] for name in level[1:])
    if not least:
        return f"{level[0]} is better than {_others(rest)}, the {len(level) - 1} beside it are not all"
    return f"{level[0]} is better than {_others(rest)}, the {len(level) - 1} beside it than at least {least} of them"


def _others(rest: Sequence[str]) -> str:
    if len(rest) <= _MOST_NAMED:
        return wording_list(rest, _MOST_NAMED)
    return f"the other {len(rest)}"
