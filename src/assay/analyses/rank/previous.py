"""A board that is continued: a model joins, and no number of the pairs that were there moves.

A saved board holds no answers, for those of a benchmark are often not to be published with it; so the results of its
models are given again, beside the new ones. The board keeps its items: what only new models have answered is left out,
so that the old pairs are compared on what they were. Choices that depend on the number of pairs (exact tests or random
flips, which interval there is time for) are those of the board before. What must change is adjusted p-values and
intervals, ranks and tiers, for there are more pairs.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import combinations
from os import PathLike
from pathlib import Path

import msgspec
import numpy as np

from assay.analyses.rank.changes import BoardChanges, ClaimChange, PlaceChange, TierMembers
from assay.analyses.rank.pair_tests import Carried
from assay.analyses.rank.records import PairVerdict
from assay.analyses.rank.result import Leaderboard
from assay.data import Panel
from assay.design import Design, Missing
from assay.errors import InputError, UsageError
from assay.files.reading import read_json
from assay.limits import TaskWeights
from assay.names import argument, listed
from assay.results import words
from assay.stats.ranking.pair_tests import FixedWays

_CLOSED = ("tango", "mover", "degenerate", None)  # methods of intervals that always have time
_OPPOSITE: dict[PairVerdict, PairVerdict] = {"better": "worse", "worse": "better", "not told apart": "not told apart"}


def previous_board(source: Leaderboard | str | PathLike[str]) -> Leaderboard:
    """A leaderboard, or the one that was saved in a file."""
    if isinstance(source, Leaderboard):
        return source
    path = Path(source)
    data = read_json(path, strict=True, advice="give a leaderboard that rank saved")
    schema = data.get("schema") if isinstance(data, dict) else type(data).__name__
    if schema != Leaderboard.__struct_config__.tag:
        raise InputError(f"{path}: not a leaderboard (schema {schema!r}); give one that rank saved.")
    try:
        return Leaderboard.from_dict(data)
    except (msgspec.ValidationError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{path}: a damaged leaderboard, or one of another version ({error}); rank again.") from error


def weights_of(board: Leaderboard) -> TaskWeights | None:
    """What tasks weigh in a board, as they were given; ``None`` where it has no tasks."""
    if board.by is None:
        return None
    known: dict[str | None, TaskWeights] = {"macro": "macro", "items": "items"}
    return known.get(board.total, {task.task: task.weight for task in board.tasks})


def check_settings(board: Leaderboard, design: Design) -> None:
    """Refuse another design than that of the board: every number would move."""
    for field in fields(Design):
        before, now = getattr(board.design, field.name), getattr(design, field.name)
        if before != now:
            same = argument(**{field.name: before}) if before is not None else f"no `{field.name}`"
            raise UsageError(f"the previous board was made with {same}, and now it is {now!r}; give the same.")


def check_tasks(board: Leaderboard, by: str | None, total: object) -> None:
    """Refuse tasks that the board does not have, or told apart by another label."""
    if board.by is None and not (by is None and total is None):
        raise UsageError("the previous board takes all items together; leave out `by`, `total` and `groups`.")
    if by is not None and by != board.by:
        raise UsageError(f"the previous board is {argument(by=board.by)}, but got {by!r}; give the same.")


def of_board(panel: Panel, board: Leaderboard, missing: Missing) -> Panel:
    """The panel of old and new models, with the items of the board."""
    old = [model.name for model in board.models]
    lacking = [name for name in old if name not in panel.systems]
    if lacking:
        raise InputError(
            f"the previous board ranks {listed(old)}, but the results are of {listed(panel.systems)}; give those of "
            f"{listed(lacking)} too (NAME=PATH renames a model): pairs are compared item by item, and a saved board "
            "holds no answers."
        )
    there = panel.answered[:, [panel.systems.index(name) for name in old]]
    kept = np.asarray(there.all(axis=1) if missing == "complete" else there.any(axis=1))
    if board.by is not None and board.by in panel.labels:
        kept &= np.isin(panel.label(board.by).texts, [task.task for task in board.tasks])
    if kept.all():
        return panel
    if not kept.any():
        raise InputError("no item of the previous board is among the results; check the ids.")
    note = f"{words.count(int((~kept).sum()), panel.unit)} left out that the previous board does not have"
    return replace(panel.rows(kept), notes=(*panel.notes, note))


def carried_from(board: Leaderboard, systems: Sequence[str]) -> Carried:
    """What the board chose for its pairs, among all pairs of the models, sorted by name."""
    places = {frozenset((a, b)): r for r, (a, b) in enumerate(zip(board.pairs.a, board.pairs.b, strict=True))}
    known = [places.get(frozenset(both)) for both in combinations(systems, 2)]
    fixed = np.array([place is not None for place in known])
    sampled = np.array([place is not None and board.pairs.test.is_sampled(place) for place in known])
    found = board.pairs.difference if board.pairs.alone is None else board.pairs.alone
    kinds = {method for method in found.method if method not in _CLOSED}
    taken = None if not kinds or board.design.method == "t" else "t" not in kinds
    return Carried(FixedWays(fixed, sampled), taken)


# -------------------------------------------------------------------------------------------------------------- changes


def with_changes(board: Leaderboard, before: Leaderboard) -> Leaderboard:
    """The board, saying what changed."""
    return msgspec.structs.replace(board, changes=changes_of(board, before))


def changes_of(board: Leaderboard, before: Leaderboard) -> BoardChanges:
    """A board against the one before it."""
    was, now = ({model.name: model for model in one.models} for one in (before, board))
    old = [name for name in now if name in was]
    split, merged = _apart(before.tiers, board.tiers), _apart(board.tiers, before.tiers)
    return BoardChanges(
        previous=before.signature,
        added=tuple(name for name in now if name not in was),
        places=tuple(_place(before, board, name) for name in now),
        reordered=sorted(old, key=lambda name: was[name].rank) != sorted(old, key=lambda name: now[name].rank),
        split=split,
        merged=merged,
        claims=tuple(_claims(board, before, old)),
        pairs=len(before.pairs),
        pairs_now=len(board.pairs),
        moved=tuple(both for both in combinations(old, 2) if _numbers(board, *both) != _numbers(before, *both)),
        changed=tuple(name for name in old if was[name].data and was[name].data != now[name].data),
    )


def _place(before: Leaderboard, board: Leaderboard, name: str) -> PlaceChange:
    model = next(one for one in board.models if one.name == name)
    found = PlaceChange(name=name, rank=model.rank, ranks=model.ranks, tier=model.tier)
    was = next((one for one in before.models if one.name == name), None)
    if was is None:
        return found
    return msgspec.structs.replace(found, rank_before=was.rank, ranks_before=was.ranks, tier_before=was.tier)


def _apart(tiers: Sequence[TierMembers], others: Sequence[TierMembers]) -> tuple[tuple[TierMembers, ...], ...]:
    """The tiers whose models are in several of the others, by these."""
    known = {name for tier in others for name in tier}
    found = []
    for tier in tiers:
        parts = [tuple(name for name in other if name in tier) for other in others]
        parts = [part for part in parts if part]
        if len(parts) > 1 and known & set(tier):
            found.append(tuple(parts))
    return tuple(found)


def _claims(board: Leaderboard, before: Leaderboard, old: Sequence[str]) -> list[ClaimChange]:
    found = []
    for a, b in combinations(old, 2):
        was, now = before.pair(a, b), board.pair(a, b)
        verdict = was.verdict if was.a == now.a else _OPPOSITE[was.verdict]
        if verdict != now.verdict:
            p = {"p_before": was.p_adjusted, "p_now": now.p_adjusted}
            found.append(ClaimChange(a=now.a, b=now.b, before=verdict, now=now.verdict, **p))
    return found


def _numbers(board: Leaderboard, a: str, b: str) -> tuple[float | None, ...]:
    """Of a less b, for the pair by itself: difference, error, limits, p."""
    pair = board.pair(a, b)
    limits, sign = pair.alone, 1.0 if pair.a == a else -1.0
    value = None if pair.difference.value is None else sign * pair.difference.value
    ends = (None, None) if limits is None else sorted((sign * limits.low, sign * limits.high))
    return value, pair.difference.standard_error, *ends, pair.test.p_value
