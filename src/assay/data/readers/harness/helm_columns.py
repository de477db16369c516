"""Entries of HELM's statistics that are written alike, read column by column.

The entries of a run have the same metrics in the same order, in most of a file. Where the braces of a part show that,
and what stands between them is the same up to the numbers, byte by byte, only the ids and the numbers of the metrics
that are kept are decoded. Any other part is left to be decoded entry by entry.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from assay.data.readers.harness.bytes_alike import Alike, BytePlaces
from assay.data.readers.harness.helm_numbers import CountsAndSums, around_sum
from assay.stats.units import Floats, Integers


class HelmName(msgspec.Struct, gc=False):
    name: str
    split: str = ""


class HelmStat(msgspec.Struct, gc=False):
    name: HelmName
    count: float
    sum: float


class HelmEntry(msgspec.Struct, gc=False):
    instance_id: str
    stats: list[HelmStat]
    train_trial_index: int = 0
    perturbation: Any = None


@dataclass(frozen=True, eq=False, slots=True)
class HelmColumns:
    """Unperturbed entries of one split: of each kept metric how many values each of them has, and their sums."""

    instances: list[str]
    trials: list[int]
    split: str
    metrics: dict[str, tuple[Floats, Floats]]


class _Start(msgspec.Struct, gc=False):
    """What an entry has before its statistics; one that is perturbed is refused."""

    instance_id: str
    stats: tuple[()]
    train_trial_index: int = 0
    perturbation: None = None


_COUNT = re.compile(rb'"count":[ \t]*')
_SUM = b'"sum":'
_END = re.compile(rb"\}\s*\]\s*\}\s*,\s*\Z")  # of the last statistic, the list and the entry
_decode_starts = msgspec.json.Decoder(list[_Start]).decode
_decode_stat = msgspec.json.Decoder(HelmStat).decode
_REFUSED = (msgspec.MsgspecError, UnicodeError, RecursionError)


@dataclass(frozen=True, eq=False, slots=True)
class _Written:
    """How entries are written: an entry opens one brace, and each of its statistics two."""

    split: str
    period: int  # braces of an entry
    kept: dict[str, tuple[int, int]]  # the brace of each kept metric, and how long after it its numbers begin
    heads: tuple[Alike, ...]
    numbers: CountsAndSums
    end: bytes  # from the last statistic of an entry to the next entry
    ends: Alike

    def numbers_in(self, part: bytes, grid: Integers) -> Floats | None:
        """(entries, kept metrics, 2) How many values, and their sums; ``None`` where they are written otherwise."""
        braces, skipped = np.array(list(self.kept.values())).T
        following = np.append(grid.ravel()[2:], [len(part)] * 2).reshape(grid.shape)  # the next statistic or entry
        found = self.numbers(part, (grid[:, braces] + skipped).ravel(), following[:, braces].ravel())
        return None if found is None else found.reshape(len(grid), -1, 2)


class EqualEntries:
    """Reads parts of a list of entries, once it has learned from a part that was decoded how they are written."""

    def __init__(self, keeps: Callable[[str], bool]) -> None:
        self._keeps, self._braces = keeps, BytePlaces(ord("{"))
        self._written: _Written | None = None

    def learn(self, part: bytes, entries: Sequence[HelmEntry]) -> None:
        some = len(entries) > 1
        self._written = _written(part, self._braces(part).tolist(), entries[0], self._keeps) if some else None

    def __call__(self, part: bytes) -> HelmColumns | None:
        """The columns of a part; ``None`` where it is not written as what was learned from."""
        written = self._written
        if written is None or not part.endswith(written.end.rstrip()[:-1] + b"]"):
            return None
        braces = self._braces(part)
        if not len(braces) or len(braces) % written.period:
            return None
        grid = braces.reshape(-1, written.period)
        if not all(head.are_in(part, grid) for head in written.heads):
            return None
        try:
            return _columns(written, part, grid)
        except _REFUSED:
            return None


def _columns(written: _Written, part: bytes, grid: Integers) -> HelmColumns | None:
    if not written.ends.are_in(part, grid[1:, :1] - len(written.end)):
        return None
    starts = [part[a:b] for a, b in zip(grid[:, 0].tolist(), grid[:, 1].tolist(), strict=True)]
    entries = _decode_starts(b"[" + b"]},".join(starts) + b"]}]")
    numbers = written.numbers_in(part, grid)
    if numbers is None or len(entries) != len(grid):
        return None
    return HelmColumns(
        [entry.instance_id for entry in entries],
        [entry.train_trial_index for entry in entries],
        written.split,
        {name: (numbers[:, at, 0], numbers[:, at, 1]) for at, name in enumerate(written.kept)},
    )


def _written(
    part: bytes, every_brace: Sequence[int], entry: HelmEntry, keeps: Callable[[str], bool]
) -> _Written | None:
    """How entries are written, from the first of a part; ``None`` where there is more in it than is expected."""
    names, splits = [stat.name.name for stat in entry.stats], {stat.name.split for stat in entry.stats}
    period = 1 + 2 * len(names)
    braces = every_brace[: period + 1]
    if entry.perturbation or len(splits) != 1 or len(set(names)) < len(names) or len(braces) <= period:
        return None
    heads = {brace: _head(part, braces[brace : brace + 2], names[brace // 2], keeps) for brace in range(1, period, 2)}
    kept = {brace: head for brace, head in heads.items() if keeps(names[brace // 2])}
    left_out = {brace: head for brace, head in heads.items() if brace not in kept}
    alike = (_is_head(head, entry.stats[brace // 2]) for brace, head in kept.items())
    around = {around_sum(part, braces[brace] + len(head)) for brace, head in kept.items()}
    end = _END.search(part, braces[-2], braces[-1])
    if end is None or not all(heads.values()) or not all(alike):
        return None
    if len(around) != 1 or (before_and_behind := around.pop()) is None:
        return None
    return _Written(
        splits.pop(),
        period,
        {names[brace // 2]: (brace, len(head)) for brace, head in kept.items()},
        tuple(Alike.of(some) for some in (kept, left_out) if some),
        CountsAndSums(*before_and_behind),
        end.group(),
        Alike.of({0: end.group()}),
    )


def _head(part: bytes, braces: Sequence[int], name: str, keeps: Callable[[str], bool]) -> bytes:
    """How a statistic begins: with its name, and one that is kept up to its count."""
    start, inner = braces
    found = (_COUNT if keeps(name) else re.compile(re.escape(msgspec.json.encode(name)))).search(part, inner)
    return b"" if found is None else part[start : found.end()]


def _is_head(head: bytes, stat: HelmStat) -> bool:
    """Whether a statistic begins so, up to its count, and not with its sum."""
    try:
        found = _decode_stat(head + b'0, "sum": 0}')
    except _REFUSED:
        return False
    return found == HelmStat(stat.name, 0, 0) and _SUM not in head
