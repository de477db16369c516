"""Which windows a certificate is about: preview and final, how many pair, and how many overlap (P9)."""

from dataclasses import dataclass
from math import floor
from typing import Literal

import numpy as np

from assay.certificate.canonical import rounded
from assay.data import Panel, Table, pair
from assay.errors import InputError
from assay.stats.units import effective_number


@dataclass(frozen=True, eq=False, slots=True)
class Arms:
    """The two tables, what the systems are called, and how they are paired."""

    baseline: Table
    subject: Table
    cluster: str | None
    lower_is_better: bool | None

    def panel(self, split: str | None) -> Panel:
        names = (self.baseline.name, self.subject.name)
        if names[0] == names[1]:
            names = (f"{names[0]} (baseline)", f"{names[1]} (subject)")
        return pair(
            self.baseline,
            self.subject,
            names=names,
            cluster=self.cluster,
            lower_is_better=self.lower_is_better,
            split=split,
        )


@dataclass(frozen=True, slots=True)
class Covered:
    """How many windows or items there are, and as how many of equal weight they count (Kish)."""

    used: int
    effective: float
    losses: bool

    @classmethod
    def of(cls, panel: Panel | None) -> "Covered":
        if panel is None:
            return cls(0, 0.0, losses=True)  # only losses have splits that may be missing
        return cls(panel.n, rounded(effective_number(panel.denominators)), panel.metric.kind == "losses")

    def enough(self, least: int) -> bool:
        """At least so many. Windows differ in length by nature, so that they may count as half of that, but no less."""
        return self.used >= least and self.effective >= (least / 2 if self.losses else least)


def worth(used: int, effective: float, *, losses: bool = False) -> str:
    """As how many equal units they count, where that is not their number; never rounded up."""
    kind = "length" if losses else "weight"
    return "" if effective == used else f", worth {floor(effective * 10) / 10:g} of equal {kind}"


@dataclass(frozen=True, eq=False, slots=True)
class Windows:
    """The paired windows of each split, and what was found about all windows together."""

    preview: Panel | None
    final: Panel
    windows: int  # of either system, in either split
    paired: int
    overlapping: int
    overlap_from: Literal["token spans", "window ids"]

    @property
    def weighted(self) -> bool:
        """Whether scores have unequal weights. Tokens are no weights: they are what a perplexity is a mean over."""
        return self.final.metric.kind == "scores" and Covered.of(self.final).effective < self.final.n

    @property
    def match_fraction(self) -> float:
        return self.paired / self.windows

    @property
    def overlap_fraction(self) -> float:
        return self.overlapping / self.windows


def windows_of(arms: Arms) -> Windows:
    """Pair the two tables split by split; without splits every window is a final one."""
    baseline, subject = arms.baseline, arms.subject
    splits = _splits(baseline, subject)
    panels = {split: arms.panel(split) for split in splits}
    final = panels["final" if splits != (None,) else None]
    total = sum(panel.n + panel.dropped.only_a + panel.dropped.only_b for panel in panels.values())
    total += 0 if "preview" in splits else _previews(baseline) + _previews(subject)
    spans = all({"start", "stop"} <= table.numbers.keys() for table in (baseline, subject))
    overlapping = _overlapping(baseline, subject) if spans else _repeated_ids(baseline)
    paired = sum(panel.n for panel in panels.values())
    source: Literal["token spans", "window ids"] = "token spans" if spans else "window ids"
    return Windows(panels.get("preview"), final, total, paired, overlapping, source)


def _splits(baseline: Table, subject: Table) -> tuple[str | None, ...]:
    have = [set(table.labels["split"].names) if "split" in table.labels else set() for table in (baseline, subject)]
    if not any(have):
        return (None,)
    for table, splits in zip((baseline, subject), have, strict=True):
        if "final" not in splits:
            raise InputError(f"{table.label}: no final windows; the ratio is about those, mark them split=final.")
    return ("preview", "final") if all("preview" in splits for splits in have) else ("final",)


def _previews(table: Table) -> int:
    """Preview windows of a table; without their like in the other table, none of them pairs."""
    split = table.labels.get("split")
    return (
        0 if split is None or "preview" not in split.names else int((split.codes == split.names.index("preview")).sum())
    )


def _overlapping(baseline: Table, subject: Table) -> int:
    """By the token spans, which are those of the pair; documents count where both tables have them."""
    documents = all("document" in table.labels for table in (baseline, subject))
    first, second = _spans(baseline), _spans(subject)
    for key in first.keys() & second.keys():
        if first[key] != second[key]:
            texts = " and ".join(f"{a:.0f} to {b:.0f}" for a, b in (first[key], second[key]))
            raise InputError(
                f"{baseline.label}, and {subject.label}: window {key[1]!r} has the tokens {texts}; "
                "the same window must have the same tokens in both."
            )
    return max(overlapping_spans(table, documents=documents) for table in (baseline, subject))


def _spans(table: Table) -> dict[tuple[str, str], tuple[float, float]]:
    """First and last token by split and id."""
    start, stop = table.numbers["start"], table.numbers["stop"]
    if not bool((start < stop).all()):
        at = int(np.argmin(start < stop))
        raise InputError(f"{table.place(int(at))}: the window stops before it starts; correct start or stop.")
    split = table.labels.get("split")
    names = [""] * len(table) if split is None else [split.names[code] for code in split.codes.tolist()]
    return dict(
        zip(zip(names, table.ids.tolist(), strict=True), zip(start.tolist(), stop.tolist(), strict=True), strict=True)
    )


def overlapping_spans(table: Table, *, documents: bool) -> int:
    """Windows that share a token with another window of the same document."""
    start, stop = table.numbers["start"], table.numbers["stop"]
    document = table.labels["document"].codes if documents else np.zeros(len(table), dtype=np.int64)
    order = np.lexsort((start, document))
    start, stop, document = start[order], stop[order], document[order]
    shares = np.zeros(len(table), dtype=bool)
    for code in np.unique(document):
        rows = np.flatnonzero(document == code)
        reach = np.maximum.accumulate(stop[rows])
        after = np.concatenate([[False], start[rows][1:] < reach[:-1]])
        before = np.concatenate([stop[rows][:-1] > start[rows][1:], [False]])
        shares[rows] = after | before
    return int(shares.sum())


def _repeated_ids(table: Table) -> int:
    """Windows whose id is in both splits."""
    if "split" not in table.labels:
        return 0
    _, counts = np.unique(table.ids.astype(str), return_counts=True)
    return int(counts[counts > 1].sum())
