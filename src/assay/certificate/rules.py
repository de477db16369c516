"""The windows of a certificate, the rules they must meet (P9–P11), their drift, and the decision."""

from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.certificate import sentences
from assay.certificate.fields import (
    AnyRule,
    Decision,
    EqualCountsRule,
    EqualWeightsRule,
    FinalMinimumRule,
    GateVerdict,
    OverlapFrom,
    OverlapRule,
    PairingRule,
    PreviewMinimumRule,
    PrimaryMetric,
    TierLimits,
    WindowStats,
    rounded,
)
from assay.data import Panel, Table
from assay.data.panel_views import without_splits
from assay.data.runs.rates import RATES, Size, rates_of_tables
from assay.design import Policy
from assay.errors import InputError, NoPairsError
from assay.stats.numerics import t_cdf
from assay.stats.student import t_reach
from assay.stats.units import Floats, Units, effective_number, standard_error

ALARM_LEVEL = 0.01  # of drift
RULES_VERSION = 1  # of every rule below
VERDICT_VERSION = 2  # 1: whatever the number of windows
MOST_NEEDED = 1e9  # more windows than this is "never"


def union_of(
    baseline: Table,
    subject: Table,
    *,
    cluster: str | None,
    lower_is_better: bool | None,
    per: Size | None = None,
) -> Panel:
    """The panel of all windows of either system, with holes; both must agree on a window's tokens.

    ``per`` byte or character it is one of whole documents, of their final windows where there are splits.
    """
    names = (baseline.name, subject.name)
    if names[0] == names[1]:
        names = (f"{names[0]} (baseline)", f"{names[1]} (subject)")
    if per is not None:
        split = "final" if any("split" in table.labels for table in (baseline, subject)) else None
        return rates_of_tables(per, (baseline, subject), names=names, split=split, whole=True)
    found = Panel.from_tables((baseline, subject), names=names, cluster=cluster, lower_is_better=lower_is_better)
    if all({"start", "stop"} <= table.numbers.keys() for table in (baseline, subject)):
        _check_spans(baseline, subject)
    return found


def _check_spans(baseline: Table, subject: Table) -> None:
    first, second = _spans(baseline), _spans(subject)
    for key in first.keys() & second.keys():
        if first[key] != second[key]:
            texts = " and ".join(f"{a:.0f} to {b:.0f}" for a, b in (first[key], second[key]))
            raise InputError(
                f"{baseline.label}, and {subject.label}: window {key[1]!r} has the tokens {texts}; "
                "the same window must have the same tokens in both."
            )


def _spans(table: Table) -> dict[tuple[str, str], tuple[float, float]]:
    """Start and stop by split and id."""
    start, stop = table.numbers["start"], table.numbers["stop"]
    if not bool((start < stop).all()):
        at = int(np.argmin(start < stop))
        raise InputError(f"{table.place(at)}: the window stops before it starts; correct start or stop.")
    split = table.labels.get("split")
    names = [""] * len(table) if split is None else split.texts.tolist()
    spans = zip(start.tolist(), stop.tolist(), strict=True)
    return dict(zip(zip(names, table.ids.tolist(), strict=True), spans, strict=True))


def weighs_by_length(panel: Panel) -> bool:
    """Whether units weigh what they hold (windows tokens, documents bytes), which is nobody's choice."""
    return panel.metric.kind == "losses" or panel.metric.name in RATES


@dataclass(frozen=True, slots=True)
class Covered:
    """The number of windows or items, and their effective number (Kish)."""

    used: int
    effective: float
    long: bool  # they weigh what they hold, in tokens or bytes

    @classmethod
    def of(cls, panel: Panel | None) -> "Covered":
        if panel is None:
            return cls(0, 0.0, long=True)  # only losses have splits that may be missing
        return cls(panel.n, rounded(effective_number(panel.denominators)), weighs_by_length(panel))

    def enough(self, least: int) -> bool:
        """Whether there are at least so many. Texts differ in length by nature: effectively, half as many suffice."""
        return self.used >= least and self.effective >= (least / 2 if self.long else least)

    def against(self, least: int) -> dict[str, Any]:
        """The fields of a rule about a minimum."""
        return {"used": self.used, "effective": self.effective, "required": least, "ok": self.enough(least)}


@dataclass(frozen=True, eq=False, slots=True)
class Windows:
    """The paired windows of each split, and counts over all windows."""

    preview: Panel | None
    final: Panel
    windows: int  # of either system, in either split
    paired: int
    overlapping: int
    overlap_from: OverlapFrom

    @property
    def weighted(self) -> bool:
        """Whether scores have unequal weights. Token counts are not weights: perplexity is a mean over tokens."""
        return not weighs_by_length(self.final) and Covered.of(self.final).effective < self.final.n

    @property
    def match_fraction(self) -> float:
        return self.paired / self.windows

    @property
    def overlap_fraction(self) -> float:
        return self.overlapping / self.windows


def windows_of(union: Panel) -> Windows:
    """Pair the windows of two systems; without splits every window is a final one."""
    splits = _splits(union)
    panels = {split: _paired(union.where(split=split) if split else union, split) for split in splits}
    source: OverlapFrom = "token spans" if {"start", "stop"} <= union.numbers.keys() else "window ids"
    overlapping = _repeated_ids(union) if source == "window ids" else max(_overlapping(union, j) for j in (0, 1))
    paired = sum(panel.n for panel in panels.values())
    return Windows(panels.get("preview"), panels[splits[-1]], union.n, paired, overlapping, source)


def _splits(union: Panel) -> tuple[str, ...]:
    if "split" not in union.labels:
        return ("",)
    have = [set(union.labels["split"].where(union.answered[:, system]).names) for system in (0, 1)]
    for name, splits in zip(union.systems, have, strict=True):
        if "final" not in splits:
            raise InputError(f"{name}: no final windows; the ratio is about those, mark them split=final.")
    return ("preview", "final") if all("preview" in splits for splits in have) else ("final",)


def _paired(windows: Panel, split: str) -> Panel:
    """The windows that both systems have; an error if there are none."""
    try:
        return windows.complete()
    except NoPairsError as error:
        both = zip(windows.systems, windows.answered.T, strict=True)
        examples = " and ".join(f"{name} has {windows.ids[there][0]!r}" for name, there in both)
        what = f"{split} {windows.unit}" if split else windows.unit
        raise NoPairsError(f"no {what} is in both tables ({examples}); write the same ids.") from error


def _overlapping(union: Panel, system: int) -> int:
    """Windows of a system that share a token with another; within documents, if both systems name them."""
    there = union.answered[:, system]
    documents = union.labels["document"].codes[there] if "document" in union.labels else np.zeros(int(there.sum()))
    return overlapping_spans(union.numbers["start"][there], union.numbers["stop"][there], documents)


def overlapping_spans(start: Floats, stop: Floats, document: NDArray[Any]) -> int:
    """Windows that share a token with another window of the same document."""
    order = np.lexsort((start, document))
    start, stop, document = start[order], stop[order], document[order]
    shares = np.zeros(len(start), dtype=bool)
    for code in np.unique(document):
        rows = np.flatnonzero(document == code)
        reach = np.maximum.accumulate(stop[rows])
        after = np.concatenate([[False], start[rows][1:] < reach[:-1]])
        before = np.concatenate([stop[rows][:-1] > start[rows][1:], [False]])
        shares[rows] = after | before
    return int(shares.sum())


def _repeated_ids(union: Panel) -> int:
    """Windows of the baseline whose id is in both splits."""
    if "split" not in union.labels:
        return 0
    ids = without_splits(union.ids, union.labels["split"])[union.answered[:, 0]]
    if ids.unique:
        return 0
    counts = np.bincount(ids.ranks)
    return int(counts[counts > 1].sum())


# ----------------------------------------------------------------------------------------------------------- drift


@dataclass(frozen=True, slots=True)
class DriftFound:
    """The shift from preview to final windows, in log-loss, and its p-value under sampling alone."""

    log_ratio: float
    standard_error: float
    df: float
    p_value: float

    def limits(self, level: float) -> tuple[float, float]:
        """Welch's interval: it leaves out 0 exactly where p < 1 − level."""
        reach = t_reach(level, self.df) * self.standard_error
        return self.log_ratio - reach, self.log_ratio + reach

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
    return DriftFound(shift, error, df, min(1.0, max(2 * t_cdf(-abs(shift) / error, df), 1e-300)))


def _units(panel: Panel, system: int) -> Units:
    sums = panel.cluster_sums()
    return Units(sums.numerators[:, system], sums.denominators)


# ----------------------------------------------------------------------------------------------------------- rules


def rules_of(windows: Windows, policy: Policy) -> tuple[AnyRule, ...]:
    """Check pairing, overlap, equal counts or weights, and minima: `ci` and `release` insist on them, `dev` reports."""
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
    elif not weighs_by_length(windows.final):
        rules.append(_weights(windows, policy))
    return (*rules, FinalMinimumRule(version=RULES_VERSION, **final.against(least)))


def _weights(windows: Windows, policy: Policy) -> EqualWeightsRule:
    """Unequal weights need the policy's permission: whoever chooses them chooses what counts."""
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
    """Refuse broken rules in `ci` and `release`, before anything is written."""
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


# -------------------------------------------------------------------------------- the bound decides, not the point


@dataclass(frozen=True, slots=True)
class Decided:
    """A verdict, the limit, the deciding bound, and how many units would settle an open case."""

    verdict: GateVerdict
    limit: float
    bound: float
    needed: int | None


def decide(estimate: float, low: float, high: float, limit: float, n: int) -> Decided:
    """Is a quantity that should stay at or below ``limit`` (a ratio, the fall of a score) shown to be there?

    >>> decide(1.09, 0.94, 1.30, 1.10, 180).verdict  # the point is below the limit, the interval is not
    'insufficient evidence'
    """
    if high <= limit:
        return Decided("pass", limit, high, None)
    if low > limit:
        return Decided("regression", limit, low, None)
    reach, gap = (high - estimate, limit - estimate) if estimate <= limit else (estimate - low, estimate - limit)
    shrink = reach / gap if gap > 0 else float("inf")  # an interval shrinks as 1/√n
    needed = n * shrink * shrink
    return Decided("insufficient evidence", limit, high, max(n + 1, ceil(needed)) if needed < MOST_NEEDED else None)


def decide_by(
    metric: PrimaryMetric, stats: WindowStats, limits: TierLimits, version: int = VERDICT_VERSION
) -> Decision:
    """Decide on the printed numbers of a certificate, so that its readers reach the same decision."""
    low, high = metric.display_ci
    mean, drop, n = metric.difference_vs_baseline, limits.max_drop, stats.paired_windows
    if metric.ratio_vs_baseline is not None:
        found = decide(metric.ratio_vs_baseline, low, high, limits.max_ratio, n)
    elif metric.lower_is_better:
        found = decide(mean, low, high, drop, n)
    else:
        found = decide(-mean, -high, -low, drop, n)
    if metric.standard_error is None:  # the collapsed interval of one unit (one cluster) shows nothing
        found = replace(found, verdict="insufficient evidence")
    elif version > 1 and (stats.reliance == "too few" or (stats.reliance != "firm" and found.verdict == "pass")):
        found = replace(found, verdict="insufficient evidence", needed=None)
    return Decision(
        rule="bound",
        version=min(max(version, 1), VERDICT_VERSION),
        verdict=found.verdict,
        limit=found.limit,
        bound=rounded(found.bound),
        windows_needed=found.needed,
    )
