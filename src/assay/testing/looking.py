"""Assertions that score items themselves, in a random order, and stop when the answer is clear.

At look k the interval of the items scored so far has the level 1 − 2·(the p-value that stops there), by the bounds of
`assay.stats.sequential`: over all looks, a candidate at the limit passes at most as often as with a single one. What is
compared at a look is what `assay.compare` compares, so that 0/1 scores have their own interval.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.analyses.compare.result import Comparison
from assay.design import DEFAULT_LEVEL
from assay.errors import InputError, UsageError
from assay.results import words
from assay.stats.sequential.boundaries import MOST_LOOKS, bounds
from assay.stats.sequential.looks import schedule
from assay.stats.sequential.spending import Spending
from assay.testing.judging import AssertionOutcome, compared, judged

Scored = Callable[[Any], Any]  # of an item: its score, or its mean loss and number of tokens


@dataclass(frozen=True, slots=True)
class Looks:
    """How often to look at the most, how the error is spent, and the seed of the order."""

    looks: int = 1
    spending: Spending = "obrien-fleming"
    seed: int = 0

    def __post_init__(self) -> None:
        _check_whole("looks", self.looks, 1, MOST_LOOKS)
        _check_whole("seed", self.seed, 0, 2**64 - 1)


def _check_whole(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UsageError(f"{name} must be a whole number from {low} to {high:,}, but got {value!r}.")


@dataclass(frozen=True, slots=True)
class _Look:
    items: int  # that are scored by then
    level: float  # of its interval


def looks_at(n: int, how: Looks, level: float) -> list[_Look]:
    """Where looks fall among so many items, and at which level each decides; too few have one look at the end."""
    found = schedule(np.ones(n), how.looks) if how.looks > 1 else None
    if found is None:
        return [_Look(n, level)]
    stops = bounds(found.fractions.tolist(), (1 - level) / 2, how.spending).nominal
    return [_Look(int(place), 1 - 2 * float(p)) for place, p in zip(found.places, stops, strict=True) if p > 1e-15]


def compared_in_looks(
    functions: tuple[Scored, Scored],
    items: Sequence[Any],
    limit: float,
    looks: Looks,
    how: dict[str, Any],
    *,
    ratio: bool,
) -> tuple[Comparison, AssertionOutcome]:
    """Score items with both functions until a look decides; what it compared, and the verdict."""
    given = list(items)
    if not given:
        raise InputError("items has no items; give what both functions score.")
    how = dict(how)
    level = how.pop("level", DEFAULT_LEVEL)
    planned, columns = looks_at(len(given), looks, level), _Columns(ratio=ratio)
    order = np.random.default_rng(looks.seed).permutation(len(given)).tolist()
    for look in planned:
        for place in order[columns.scored : look.items]:
            columns.add(place, *(function(given[place]) for function in functions))
        found = compared(*columns.tables(), {**how, "level": look.level})
        verdict = judged(found, limit, ratio=ratio)
        if verdict.decided:
            break
    place = f"look {planned.index(look) + 1} of {len(planned)}"
    seen = f"{columns.scored:,} of {words.count(len(given), 'item')} scored, {place}"
    sentence = f"{verdict.sentence[:-1]}; {seen}."
    message = verdict.message.replace(verdict.sentence, sentence, 1)
    return found, replace(verdict, sentence=sentence, message=message)


class _Columns:
    """What was scored so far, as columns of two tables."""

    def __init__(self, *, ratio: bool) -> None:
        self.names = ("loss", "tokens") if ratio else ("score",)
        self.places: list[int] = []
        self.rows: tuple[list[tuple[float, ...]], list[tuple[float, ...]]] = ([], [])

    @property
    def scored(self) -> int:
        return len(self.places)

    def add(self, place: int, *values: Any) -> None:
        self.places.append(place)
        for rows, value in zip(self.rows, values, strict=True):
            rows.append(self._row(value, place))

    def _row(self, value: Any, place: int) -> tuple[float, ...]:
        try:
            row = tuple(map(float, value)) if len(self.names) > 1 else (float(value),)
        except (TypeError, ValueError):
            row = ()
        if len(row) != len(self.names):
            wanted = "a mean loss and a number of tokens" if len(self.names) > 1 else "a score"
            raise InputError(f"a function must give {wanted} for an item, but for item {place} it gave {value!r}.")
        return row

    def tables(self) -> tuple[dict[str, Any], dict[str, Any]]:
        unit = "window" if len(self.names) > 1 else "item"
        made = [
            {unit: self.places, **dict(zip(self.names, zip(*rows, strict=True), strict=True))} for rows in self.rows
        ]
        return made[0], made[1]
