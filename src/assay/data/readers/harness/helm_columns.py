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

from assay.data.readers.harness.shorter_lists import Alike, opening_braces
from assay.stats.units import Integers


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
    metrics: dict[str, tuple[list[float], list[float]]]


class _Start(msgspec.Struct, gc=False):
    """What an entry has before its statistics."""

    instance_id: str
    stats: list[Any]
    train_trial_index: int = 0
    perturbation: Any = None


class _Numbers(msgspec.Struct, gc=False):
    count: float
    sum: float


_COUNT, _SUM = b'"count":', b'"sum":'
_END = re.compile(rb"\}\s*\]\s*\}\s*,\s*\Z")  # of the last statistic, the list and the entry
_decode_starts = msgspec.json.Decoder(list[_Start]).decode
_decode_numbers = msgspec.json.Decoder(list[_Numbers]).decode
_decode_stat = msgspec.json.Decoder(HelmStat).decode
_REFUSED = (msgspec.MsgspecError, UnicodeError, RecursionError)


@dataclass(frozen=True, eq=False, slots=True)
class _Written:
    """How entries are written: an entry opens one brace, and each of its statistics two."""

    split: str
    period: int  # braces of an entry
    kept: dict[str, tuple[int, int]]  # the brace of each kept metric, and how long after it its numbers begin
    heads: tuple[Alike, ...]
    end: bytes  # from the last statistic of an entry to the next entry

    def numbers_of(self, name: str, part: bytes, grid: Integers, ends: list[int]) -> list[_Numbers] | None:
        """The numbers of a metric; ``None`` where one is there twice."""
        brace, skipped = self.kept[name]
        last = brace + 2 == self.period
        after = ends if last else grid[:, brace + 2].tolist()
        texts = [part[a:b] for a, b in zip((grid[:, brace] + skipped).tolist(), after, strict=True)]
        text = (b',{"count":' if last else b'{"count":').join(texts)
        found = _decode_numbers(b'[{"count":' + text.rstrip().removesuffix(b",") + b"]")
        return found if text.count(_SUM) == len(found) == len(texts) else None


class EqualEntries:
    """Reads parts of a list of entries, once it has learned from a part that was decoded how they are written."""

    def __init__(self, keeps: Callable[[str], bool]) -> None:
        self._keeps = keeps
        self._written: _Written | None = None

    def learn(self, part: bytes, entries: Sequence[HelmEntry]) -> None:
        self._written = _written(part, entries[0], self._keeps) if len(entries) > 1 else None

    def __call__(self, part: bytes) -> HelmColumns | None:
        """The columns of a part; ``None`` where it is not written as what was learned from."""
        written = self._written
        if written is None or not part.endswith(written.end.rstrip()[:-1] + b"]"):
            return None
        braces = opening_braces(part)
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
    starts = [part[a:b] for a, b in zip(grid[:, 0].tolist(), grid[:, 1].tolist(), strict=True)]
    entries = _decode_starts(b"[" + b"]},".join(starts) + b"]}]")
    if len(entries) != len(grid) or any(entry.perturbation or entry.stats for entry in entries):
        return None
    following = grid[1:, 0].tolist()
    if any(not part.startswith(written.end, at - len(written.end)) for at in following):
        return None
    ends = [at - len(written.end) + 1 for at in following] + [len(part) - len(written.end.rstrip()) + 1]
    metrics = {}
    for name in written.kept:
        numbers = written.numbers_of(name, part, grid, ends)
        if numbers is None:
            return None
        metrics[name] = [one.count for one in numbers], [one.sum for one in numbers]
    return HelmColumns(
        [entry.instance_id for entry in entries],
        [entry.train_trial_index for entry in entries],
        written.split,
        metrics,
    )


def _written(part: bytes, entry: HelmEntry, keeps: Callable[[str], bool]) -> _Written | None:
    """How entries are written, from the first of a part; ``None`` where there is more in it than is expected."""
    names, splits = [stat.name.name for stat in entry.stats], {stat.name.split for stat in entry.stats}
    period = 1 + 2 * len(names)
    braces = opening_braces(part)[: period + 1].tolist()
    if entry.perturbation or len(splits) != 1 or len(set(names)) < len(names) or len(braces) <= period:
        return None
    end = _END.search(part, braces[-2], braces[-1])
    left_out, kept = dict[int, bytes](), dict[int, bytes]()
    for at, stat in enumerate(entry.stats):
        brace, name = 1 + 2 * at, stat.name.name
        if keeps(name):
            kept[brace] = _head(part, braces[brace], braces[brace + 1], _COUNT)
            if not _is_head(kept[brace], stat):
                return None
        else:
            left_out[brace] = _head(part, braces[brace], braces[brace + 1], msgspec.json.encode(name))
    if end is None or not kept or not all(left_out.values()):
        return None
    heads = tuple(Alike.of(heads) for heads in (kept, left_out) if heads)
    begins = {names[brace // 2]: (brace, len(head)) for brace, head in kept.items()}
    return _Written(splits.pop(), period, begins, heads, end.group())


def _head(part: bytes, start: int, inner: int, end: bytes) -> bytes:
    """What is written from a brace on until after some bytes that follow the next one."""
    found = part.find(end, inner)
    return part[start : found + len(end)] if found >= 0 else b""


def _is_head(head: bytes, stat: HelmStat) -> bool:
    """Whether a statistic begins so, up to its count, and not with its sum."""
    try:
        found = _decode_stat(head + b'0, "sum": 0}')
    except _REFUSED:
        return False
    return found == HelmStat(stat.name, 0, 0) and _SUM not in head
