"""Which windows a certificate is about: how many pair, overlap and drift, and which rules hold (P9–P11)."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from assay.certificate import sentences
from assay.certificate.canonical import rounded
from assay.certificate.fields import (
    AnyRule,
    EqualCountsRule,
    EqualWeightsRule,
    FinalMinimumRule,
    OverlapFrom,
    OverlapRule,
    PairingRule,
    PreviewMinimumRule,
)
from assay.data import Panel, Table
from assay.design import Policy
from assay.errors import InputError, NoPairsError
from assay.stats.numerics import t_cdf
from assay.stats.units import Units, effective_number, standard_error

ALARM_LEVEL = 0.01  # of drift
RULES_VERSION = 1  # of every rule below


@dataclass(frozen=True, eq=False, slots=True)
class Arms:
    """The two tables, what the systems are called, and how they are paired."""

    baseline: Table
    subject: Table
    cluster: str | None
    lower_is_better: bool | None

    def panel(self) -> Panel:
        """Every window of either system, with a hole where the other lacks it."""
        names = (self.baseline.name, self.subject.name)
        if names[0] == names[1]:
            names = (f"{names[0]} (baseline)", f"{names[1]} (subject)")
        return Panel.from_tables(
            (self.baseline, self.subject), names=names, cluster=self.cluster, lower_is_better=self.lower_is_better
        )

    def paired(self, windows: Panel, split: str) -> Panel:
        """The windows that both systems have, refused where there is none."""
        try:
            return windows.complete()
        except NoPairsError as error:
            examples = " and ".join(f"{table.label} has {table.ids[0]!r}" for table in (self.baseline, self.subject))
            what = f"{split} {windows.unit}" if split else windows.unit
            raise NoPairsError(f"no {what} is in both tables ({examples}); write the same ids.") from error


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

    def against(self, least: int) -> dict[str, Any]:
        """Its fields where it is judged by a minimum."""
        return {"used": self.used, "effective": self.effective, "required": least, "ok": self.enough(least)}


@dataclass(frozen=True, eq=False, slots=True)
class Windows:
    """The paired windows of each split, and what was found about all windows together."""

    preview: Panel | None
    final: Panel
    windows: int  # of either system, in either split
    paired: int
    overlapping: int
    overlap_from: OverlapFrom
    label: str  # of the subject's table, for messages

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
    """Pair the two tables; without splits every window is a final one."""
    baseline, subject = arms.baseline, arms.subject
    splits, union = _splits(baseline, subject), arms.panel()
    panels = {split: arms.paired(union.where(split=split) if split else union, split) for split in splits}
    spans = all({"start", "stop"} <= table.numbers.keys() for table in (baseline, subject))
    overlapping = _overlapping(baseline, subject) if spans else _repeated_ids(baseline)
    source: OverlapFrom = "token spans" if spans else "window ids"
    paired = sum(panel.n for panel in panels.values())
    return Windows(panels.get("preview"), panels[splits[-1]], union.n, paired, overlapping, source, subject.label)


def _splits(baseline: Table, subject: Table) -> tuple[str, ...]:
    have = [set(table.labels["split"].names) if "split" in table.labels else set() for table in (baseline, subject)]
    if not any(have):
        return ("",)
    for table, splits in zip((baseline, subject), have, strict=True):
        if "final" not in splits:
            raise InputError(f"{table.label}: no final windows; the ratio is about those, mark them split=final.")
    return ("preview", "final") if all("preview" in splits for splits in have) else ("final",)


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


# ----------------------------------------------------------------------------------------------------------- drift


@dataclass(frozen=True, slots=True)
class DriftFound:
    """How far the final windows are from the preview windows, in log-loss, and how likely that is by sampling alone."""

    log_ratio: float
    standard_error: float
    p_value: float

    @property
    def alarm(self) -> bool:
        return self.p_value < ALARM_LEVEL


def drift(preview: Panel, final: Panel, system: int) -> DriftFound | None:
    """Mean loss of a system on the final windows minus the preview windows; ``None`` where a split has no spread.

    Judged against its own sampling noise, not by a fixed band: without drift the two differ only because they are
    different windows of one text (Welch's test; whole clusters where there are clusters).
    """
    before, after = _units(preview, system), _units(final, system)
    errors = standard_error(before), standard_error(after)
    if errors[0] is None or errors[1] is None or errors[0] + errors[1] <= 0:
        return None
    parts = errors[0] ** 2, errors[1] ** 2
    error = sqrt(sum(parts))
    df = sum(parts) ** 2 / (parts[0] ** 2 / (before.n - 1) + parts[1] ** 2 / (after.n - 1))
    shift = after.estimate - before.estimate
    return DriftFound(shift, error, min(1.0, max(2 * t_cdf(-abs(shift) / error, df), 1e-300)))


def _units(panel: Panel, system: int) -> Units:
    sums = panel.cluster_sums()
    return Units(sums.numerators[:, system], sums.denominators)


# ----------------------------------------------------------------------------------------------------------- rules


def rules_of(windows: Windows, policy: Policy) -> tuple[AnyRule, ...]:
    """Pairing, overlap, equal counts or equal weights, and minima: `ci` and `release` insist on them, `dev` reports."""
    total, final, least = windows.windows, Covered.of(windows.final), policy.limits.windows
    rules: list[AnyRule] = [
        PairingRule(version=RULES_VERSION, ok=windows.paired == total, paired=windows.paired, windows=total),
        OverlapRule(
            version=RULES_VERSION,
            ok=windows.overlapping == 0,
            overlapping=windows.overlapping,
            windows=total,
            by=windows.overlap_from,
        ),
    ]
    if windows.final.metric.kind == "losses":
        preview = Covered.of(windows.preview)
        same = preview.used == final.used
        rules.append(EqualCountsRule(version=RULES_VERSION, ok=same, preview=preview.used, final=final.used))
        rules.append(PreviewMinimumRule(version=RULES_VERSION, **preview.against(least)))
    else:
        rules.append(_weights(windows, policy))
    return (*rules, FinalMinimumRule(version=RULES_VERSION, **final.against(least)))


def _weights(windows: Windows, policy: Policy) -> EqualWeightsRule:
    """Whoever chooses the weights chooses what counts, so that unequal ones need the policy's leave."""
    found, weights = Covered.of(windows.final), windows.final.denominators
    allowed = policy.weights or "equal"
    return EqualWeightsRule(
        version=RULES_VERSION,
        ok=allowed == "any" or not windows.weighted,
        items=found.used,
        effective=found.effective,
        lightest=rounded(float(weights.min())),
        heaviest=rounded(float(weights.max())),
        allowed=allowed,
    )


def enforce(rules: tuple[AnyRule, ...], policy: Policy, unit: str) -> None:
    """Abort in `ci` and `release`: a certificate that breaks a rule is not written."""
    broken = [rule for rule in rules if not rule.ok]
    if not broken or policy.profile == "dev":
        return
    tier = policy.tier or "balanced"
    told = "; ".join(f"{sentences.rule_name(rule)}: {sentences.rule_detail(rule, unit, tier)}" for rule in broken)
    advice = "score the missing windows"
    if isinstance(broken[0], EqualWeightsRule):
        advice = "take the column of weights out, allow them (`weights='any', note=TEXT`)"
    raise InputError(
        f"profile {policy.profile} refuses: {told}. Nothing was written; {advice}, or use `profile='dev'`, which "
        "reports instead."
    )
