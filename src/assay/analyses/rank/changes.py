"""What a leaderboard says of the one before it: who is new, who moved, which tiers and claims changed."""

from collections.abc import Iterator, Sequence

import msgspec

from assay.analyses.rank.records import PairVerdict, Ranks, ranks_text
from assay.results import words
from assay.results.parts import Column, ResultTable, Section

TierMembers = tuple[str, ...]

_MOST_NAMED = 4
_MOST_LISTED = 3  # claims, tiers


class PlaceChange(msgspec.Struct, frozen=True, kw_only=True):
    """Where a model is, and where it was; nothing was known of a new one."""

    name: str
    rank: int
    ranks: Ranks
    tier: int
    rank_before: int | None = None
    ranks_before: Ranks | None = None
    tier_before: int | None = None


class ClaimChange(msgspec.Struct, frozen=True, kw_only=True):
    """A pair of models that were there, of which another thing is shown than before."""

    a: str
    b: str
    before: PairVerdict  # what A was shown to be
    now: PairVerdict
    p_before: float | None  # adjusted
    p_now: float | None


class BoardChanges(msgspec.Struct, frozen=True, kw_only=True):
    """A leaderboard against the one before it."""

    previous: str  # the signature of that one
    added: tuple[str, ...]  # the models that are new
    places: tuple[PlaceChange, ...]  # of all models, in the order of the ranks
    reordered: bool  # whether models that were there changed places among themselves
    split: tuple[tuple[TierMembers, ...], ...]  # tiers that fell apart: the parts of each
    merged: tuple[tuple[TierMembers, ...], ...]  # tiers that became one: the parts of each
    claims: tuple[ClaimChange, ...]
    pairs: int  # of models that were there
    pairs_now: int  # of all models
    moved: tuple[tuple[str, str], ...]  # old pairs whose estimate, unadjusted interval or p is not what it was
    changed: tuple[str, ...]  # models whose answers are not those of the board before


def changes_section(found: BoardChanges) -> Section:
    return Section("changes", "What changed", tables=(change_table(found),), said=said_of(found))


def change_table(found: BoardChanges) -> ResultTable:
    """Every model with its place before and now."""
    places = found.places
    columns = (
        Column("model", [one.name for one in places], key="name", may_shorten=True),
        _column("rank", [(one.rank_before, one.rank) for one in places]),
        _column("ranks", [(_ranks(one.ranks_before), ranks_text(one.ranks)) for one in places]),
        _column("tier", [(one.tier_before, one.tier) for one in places]),
        Column("rank_before", [one.rank_before for one in places], hidden=True),
        Column("ranks_before", [_ranks(one.ranks_before) for one in places], hidden=True),
        Column("tier_before", [one.tier_before for one in places], hidden=True),
    )
    return ResultTable("changes", "places", columns, "before → now", explained="board changes")


def _column(name: str, both: Sequence[tuple[int | str | None, int | str]]) -> Column:
    written = [str(now) if was == now else f"{'new' if was is None else was} → {now}" for was, now in both]
    return Column(name, [now for _, now in both], right=False, written=written)


def _ranks(ranks: Ranks | None) -> str | None:
    return None if ranks is None else ranks_text(ranks)


def said_of(found: BoardChanges) -> tuple[str, ...]:
    """What changed, in sentences."""
    return tuple(text for part in (_new, _order, _tiers, _claims, _old_pairs) for text in part(found))


def _new(found: BoardChanges) -> Iterator[str]:
    count = len(found.places)
    for one in [place for place in found.places if place.name in found.added][:_MOST_LISTED]:
        open_to = "" if one.ranks == (one.rank, one.rank) else f" (the tests leave {ranks_text(one.ranks)} open)"
        yield f"New: {one.name}, rank {one.rank} of {count}{open_to}, tier {one.tier}."
    if len(found.added) > _MOST_LISTED:
        yield f"Further new models: {len(found.added) - _MOST_LISTED}."
    if not found.added:
        yield "No model is new."


def _order(found: BoardChanges) -> Iterator[str]:
    old = [one for one in found.places if one.rank_before is not None]
    moves = [f"{one.name} {one.rank_before} → {one.rank}" for one in old if one.rank_before != one.rank]
    if found.reordered:
        yield f"Old models changed places: {words.listed(moves, _MOST_NAMED)}."
    elif moves:
        yield f"The old models keep their order; moved down: {words.listed(moves, _MOST_NAMED)}."
    else:
        yield "The old models keep their ranks."


def _tiers(found: BoardChanges) -> Iterator[str]:
    for parts in found.split[:_MOST_LISTED]:
        yield f"A tier split: {' | '.join(map(_named, parts))}."
    for parts in found.merged[:_MOST_LISTED]:
        yield f"Tiers merged: {' with '.join(map(_named, parts))}."
    if not found.split and not found.merged:
        yield "No tier of the old models split, and none merged."


def _named(names: Sequence[str]) -> str:
    return words.listed(names, _MOST_NAMED)


def _claims(found: BoardChanges) -> Iterator[str]:
    lost = [one for one in found.claims if one.now == "not told apart"]
    won = [one for one in found.claims if one.now != "not told apart"]
    for head, claims in (("No longer shown", lost), ("Now shown", won)):
        if claims:
            more = f" and {len(claims) - _MOST_LISTED} more" if len(claims) > _MOST_LISTED else ""
            yield f"{head}: {'; '.join(map(_claim, claims[:_MOST_LISTED]))}{more}."


def _claim(one: ClaimChange) -> str:
    shown = one.before if one.now == "not told apart" else one.now
    p = [words.p_alone(value) if value is not None else "–" for value in (one.p_before, one.p_now)]
    return f"{one.a} {'>' if shown == 'better' else '<'} {one.b} (adjusted p {p[0]} → {p[1]})"


def _old_pairs(found: BoardChanges) -> Iterator[str]:
    pairs = "old pair" if found.pairs == 1 else f"{found.pairs:,} old pairs"
    adjusted = f"adjusted ones are now for {found.pairs_now:,} pairs instead of {found.pairs:,}"
    if not found.moved:
        yield f"No estimate, unadjusted interval or p of the {pairs} moved; {adjusted}."
        return
    named = "; ".join(f"{a} and {b}" for a, b in found.moved[:_MOST_LISTED])
    more = f" and {len(found.moved) - _MOST_LISTED} more" if len(found.moved) > _MOST_LISTED else ""
    yield f"{len(found.moved):,} of the {pairs} moved by themselves ({named}{more}): {_why(found)}; {adjusted}."


def _why(found: BoardChanges) -> str:
    if found.changed:
        return f"the answers of {_named(found.changed)} are not those of the board before"
    return "with the same answers, so that options, columns of the files or the version of Assay must have been others"
