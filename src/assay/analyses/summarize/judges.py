"""What is to be known of judges that compare two answers: does the place of an answer decide, or its length?"""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from assay.data import Table
from assay.data.judgments import Games, labels_of
from assay.results import words
from assay.results.parts import Column, ResultTable
from assay.stats.bounded_mean import bounded_interval
from assay.stats.positions import both_orders, first_place
from assay.stats.records import Estimate
from assay.stats.units import Floats, Integers, Units, grouped, standard_error

EVEN = 0.5
MOST_SAID = 3  # judges that are spoken of
MOST_LENGTHS = 4  # models whose answers are measured in a sentence


class JudgeSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One judge over the pairs of answers that it compared."""

    name: str
    prompts: int
    games: int  # looks at two answers that ended in a verdict
    first: Estimate | None  # the share that the place shown first gets between equals, ties half
    first_reason: str | None = None  # why that is not known
    agree: Estimate | None = None  # the share of pairs, judged in both orders, that have the same verdict in both
    both: int = 0  # pairs of models on a prompt that were judged in both orders
    balanced: bool = False  # every pair on every prompt was, equally often
    longer: Estimate | None = None  # the share of games that the longer answer wins, ties half
    lengths: dict[str, float] = msgspec.field(default_factory=dict)  # by model: mean characters of an answer


def judges_of(tables: Iterable[Table], level: float) -> tuple[JudgeSummary, ...]:
    """Every judge whose verdicts the scores of some tables come from."""
    games = dict.fromkeys(one for table in tables for one in table.about.get("games", ()) if len(one))
    judges: dict[str, list[Games]] = {}
    for one in games:
        judges.setdefault(one.judge, []).append(one)
    return tuple(_judge(own, level) for own in judges.values())


def _judge(parts: Sequence[Games], level: float) -> JudgeSummary:
    games = Games.joined(parts)
    found = JudgeSummary(
        name=games.judge,
        prompts=len(games.prompts.names),
        games=len(games),
        first=None,
        longer=_longer(games, level),
        lengths=_lengths(games),
    )
    if not games.ordered:
        return msgspec.structs.replace(found, first_reason="which answer was shown first is not recorded")
    first = first_place(games.won, games.first, games.second, games.prompts.codes, level)
    if first is None:
        reason = "the order of the answers tells the models apart: one was always shown first"
        return msgspec.structs.replace(found, first_reason=reason)
    agree = _agreement(parts, level)
    both, balanced = 0 if agree is None else agree.n, all(map(_balanced, parts))
    return msgspec.structs.replace(found, first=first, agree=agree, both=both, balanced=balanced)


def _agreement(parts: Sequence[Games], level: float) -> Estimate | None:
    """How often both orders of a pair have the same verdict, each part (a file, a turn) by itself."""
    every = [both_orders(one.won, one.first, one.second, one.prompts.codes) for one in parts]
    agree = np.concatenate([one.agree for one in every]).astype(np.float64)
    names = [part.prompts.names[code] for part, one in zip(parts, every, strict=True) for code in one.prompts.tolist()]
    return _share(agree, labels_of(names).codes, level) if len(agree) else None


def _balanced(games: Games) -> bool:
    """Whether every pair of models was shown in both orders equally often on every prompt."""
    k = len(games.models)
    low, high = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
    pairs = np.unique((games.prompts.codes * k + low) * k + high, return_inverse=True)[1]
    turned = np.where(games.first < games.second, 1.0, -1.0)
    return not np.bincount(pairs, turned).any()


def _share(values: Floats, prompts: Integers, level: float) -> Estimate:
    """The mean of values from 0 to 1, those on one prompt drawn together."""
    codes = np.unique(prompts, return_inverse=True)[1]
    ones = np.ones(len(values))
    drawn = Units(grouped(values, codes), grouped(ones, codes))
    right_or_wrong = bool(((values == 0) | (values == 1)).all())
    limits = bounded_interval(drawn, ones, level, right_or_wrong=right_or_wrong)
    return Estimate(drawn.estimate, limits, standard_error(drawn), len(values))


def _longer(games: Games, level: float) -> Estimate | None:
    """Of the games between answers that differ in length."""
    gap = games.lengths[:, 0] - games.lengths[:, 1]
    known = ~np.isnan(gap) & (gap != 0)
    if not known.any():
        return None
    won = np.where(gap > 0, games.won, 1 - games.won)[known]
    return _share(won, games.prompts.codes[known], level)


def _lengths(games: Games) -> dict[str, float]:
    """By model: the mean length of its answers, over the games in which that is known."""
    found = {}
    for code, name in enumerate(games.models):
        own = np.concatenate([games.lengths[games.first == code, 0], games.lengths[games.second == code, 1]])
        if len(own) and not np.isnan(own).all():
            found[name] = float(np.nanmean(own))
    return found


# --------------------------------------------------------------------------------------------------------------- shown


def judge_table(judges: Sequence[JudgeSummary], level: float) -> ResultTable | None:
    """A row for each judge; ``None`` where nothing is known of any."""
    if not any(one.first or one.longer for one in judges):
        return None
    shown = words.percent(level)

    def column(title: str, key: str) -> Column:
        values: list[Estimate | None] = [getattr(one, key) for one in judges]
        return Column(f"{title} [{shown}]", values, _or_nothing, key=key, hidden=not any(values))

    columns = (
        Column("judge", [one.name for one in judges], may_shorten=True),
        Column("prompts", [one.prompts for one in judges]),
        Column("games", [one.games for one in judges]),
        column("first place", "first"),
        column("same in both orders", "agree"),
        column("longer answer", "longer"),
    )
    return ResultTable("judges", "judges", columns, "shares of wins, ties half", explained="judges")


def _or_nothing(found: Estimate | None) -> str:
    return "–" if found is None else words.compact(found)


def judges_said(judges: Sequence[JudgeSummary], level: float) -> tuple[str, ...]:
    """What the verdicts say of the first judges: the place, both orders, the length."""
    return tuple(said for one in judges[:MOST_SAID] for said in (_place(one, level), _length(one, level)) if said)


def _place(one: JudgeSummary, level: float) -> str:
    if one.first is None:
        return f"{one.name}: {one.first_reason}, so whether that decides cannot be seen."
    limits = one.first.interval
    favours = f"{one.name}: no preference for either place is shown"
    if limits is not None and (limits.low > EVEN or limits.high < EVEN):
        favours = f"{one.name} favours the {'first' if limits.low > EVEN else 'second'} place"
    on = f"{words.count(one.games, 'game')} on {words.count(one.prompts, 'prompt')}"
    between = "" if one.balanced else " between equals"
    return (
        f"{favours}: the answer shown first gets {_percent(one.first, level, on)} of the wins{between}{_orders(one)}."
    )


def _orders(one: JudgeSummary) -> str:
    parts = []
    if one.agree is not None and one.agree.value is not None:
        parts.append(f"both orders agree on {words.share(one.agree.value)} of {words.count(one.both, 'pair')}")
    if one.balanced:
        parts.append("all pairs were judged in both, so that the place favours no model")
    else:
        parts.append("not all pairs were judged in both orders, and win rates are not corrected for the place")
    return "; " + "; ".join(parts)


def _length(one: JudgeSummary, level: float) -> str:
    if one.longer is None:
        return ""
    on = words.count(one.longer.n, "game")
    names = sorted(one.lengths.items(), key=lambda item: -item[1])
    told = ", ".join(f"{name} {mean:,.0f}" for name, mean in names) if len(names) <= MOST_LENGTHS else ""
    means = f" Characters of an answer, on average: {told}." if told else ""
    return f"{one.name}: the longer answer gets {_percent(one.longer, level, on)} of the wins.{means}"


def _percent(found: Estimate, level: float, on: str) -> str:
    """``58% (95% CI 52 to 64%, 146 games)``."""
    value, limits = 100 * (found.value or 0.0), found.interval
    if limits is None:
        return f"{value:.0f}% ({on}, no interval)"
    wide = limits.scaled(100)
    places = words.shared_decimals([wide], digits=2) or 0
    between = words.limits_at(wide, places)
    return f"{value:.{places}f}% ({words.percent(level)} CI {between}%, {on})"
