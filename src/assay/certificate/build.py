"""Compute every fact of a certificate from paired windows and a policy; `certify` and `verify` both run this."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypedDict

import numpy as np

from assay.analyses.assumptions import about_gate
from assay.analyses.compare import assumptions_of, compare_panel
from assay.analyses.compare.result import Comparison, PairedQuantity
from assay.analyses.contrast import binary_of, differences_of, drawn_by
from assay.certificate.fields import (
    Agreement,
    AnyRule,
    BitsOfBoth,
    BootstrapFacts,
    Coverage,
    Dataset,
    Decision,
    DriftOfSplits,
    ExactInterval,
    MetricKind,
    PairedDeltas,
    PairedWindows,
    PerplexityAgain,
    PerplexityStats,
    PrimaryMetric,
    PublishedInterval,
    Replaced,
    SplitCoverage,
    StatedPolicy,
    TierLimits,
    WindowStats,
    rounded,
    rounded_exp,
    rounded_exps,
)
from assay.certificate.record import FORMAT
from assay.certificate.rules import ALARM_LEVEL, VERDICT_VERSION, Covered, Windows, decide_by, drift
from assay.data import Panel
from assay.data.same_items import copies_note
from assay.design import DESIGN_EFFECT_LIMIT, Design, DrawnWhole, Policy
from assay.errors import InputError
from assay.stats.bootstrap.drawn import DRAWN_FROM
from assay.stats.paired_tests import RANDOM_FLIPS, STAND_IN_FLIPS
from assay.stats.records import Estimate, Fallback
from assay.stats.units import Units, design_effect, weighted_deviation

CLOSED_FORM = "closed form"  # where an interval needs no distribution

#: A method that gives other numbers than before gets a new number here, so that a certificate says what it was made by.
#: Intervals, 1: BCa for all that is not 0/1. 2: as `compare` takes them, t-hall for few units or few that differ.
#: 3: as 2, and the replicates of 100,000 units or more are drawn from the exact distribution of the estimate.
INTERVAL_VERSION, DRAWN_VERSION, TEST_VERSION, DRIFT_VERSION = 2, 3, 1, 1

_RATES: tuple[MetricKind, ...] = ("bits per byte", "bits per character")
_KINDS: dict[str, MetricKind] = {kind: kind for kind in _RATES}

#: The recipe of the documents that defined certificates.
PUBLISHED: dict[str, Any] = {"method": "bca-plain", "scheme": "tokens"}


@dataclass(frozen=True, slots=True)
class Versions:
    """Of the methods that have had several: those of today, or those that a certificate was made by."""

    interval: int = INTERVAL_VERSION  # of few units; of many it is one more, where they are drawn from a distribution
    drawn_whole: bool = True
    verdict: int = VERDICT_VERSION
    form: int = FORMAT  # of the certificate itself: what it states


TODAY = Versions()
#: By the version of the interval.
MADE_BY = {1: Versions(1, drawn_whole=False, verdict=1), 2: Versions(drawn_whole=False), DRAWN_VERSION: TODAY}


class Computed(TypedDict):
    """The parts of a certificate that follow from its evidence and its policy."""

    policy: StatedPolicy
    primary_metric: PrimaryMetric
    ppl: PerplexityAgain | None
    dataset: Dataset
    exact: ExactInterval
    published: PublishedInterval | None
    bits_per_byte: BitsOfBoth | None
    bits_per_character: BitsOfBoth | None
    drift: DriftOfSplits | None
    rules: tuple[AnyRule, ...]
    decision: Decision
    signature: str


@dataclass(frozen=True, slots=True)
class Compared:
    """Two comparisons of the final windows: by the tier's replicates, and over all resamples."""

    random: Comparison
    exact: Comparison
    windows: Windows

    @property
    def losses(self) -> bool:
        return self.random.kind == "losses"


def computed_facts(
    windows: Windows, policy: Policy, rules: tuple[AnyRule, ...], versions: Versions = TODAY
) -> Computed:
    """Everything that follows from the evidence and the policy, rounded as printed."""
    policy = policy.complete()
    try:
        if windows.final.metric.kind == "losses":
            rounded_exp(max(windows.final.estimate(0), windows.final.estimate(1)))  # too large for the statistics also
        return _facts(windows, policy, rules, versions)
    except OverflowError as error:
        raise InputError(
            f"{windows.final.systems[1]}: too large for a perplexity; a loss is a mean per token, in nats."
        ) from error


def assumed(windows: Windows, policy: Policy) -> tuple[str, ...]:
    """What is amiss with what the interval takes for granted: not stated, for the evidence shows it."""
    panel = windows.final
    drawn = panel.unit if panel.clusters is None else "cluster"
    copies = copies_note(panel.ids, panel.labels, panel.unit, panel.cluster)
    return (*copies, *about_gate(assumptions_of(panel, policy.complete().design(exact=True)), drawn, panel.kind))


def _facts(windows: Windows, policy: Policy, rules: tuple[AnyRule, ...], versions: Versions) -> Computed:
    designs = (_design(windows.final, policy, versions, exact=exact) for exact in (False, True))
    random, exact = (compare_panel(windows.final, design, agree=True) for design in designs)
    compared, stated = Compared(random, exact, windows), stated_policy(policy)
    metric, how, deltas = _primary_metric(compared), _how(compared, versions), _deltas(compared)
    stats = _window_stats(compared, policy, how, deltas, versions)
    return {
        "policy": stated,
        "primary_metric": metric,
        "ppl": _again(metric, how, deltas) if compared.losses else None,
        "dataset": Dataset(windows=PairedWindows(stats=stats)),
        "exact": _exact(metric, compared),
        "published": _published(metric, compared, policy, versions) if compared.losses and versions.form > 2 else None,
        "bits_per_byte": _bits(_rate(random, metric.kind, "bits per byte")),
        "bits_per_character": _bits(_rate(random, metric.kind, "bits per character")),
        "drift": _drift(windows, stated.level, versions) if compared.losses else None,
        "rules": rules,
        "decision": decide_by(metric, stats, stated.limits, versions.verdict),
        "signature": random.signature,
    }


def _design(panel: Panel, policy: Policy, versions: Versions, *, exact: bool) -> Design:
    """As `compare` takes it by default; before that BCa for all that is not 0/1."""
    asked = policy.design(exact=exact)
    if versions.drawn_whole:
        asked = DrawnWhole(**asdict(asked))
    if versions.interval > 1 or binary_of(panel, differences_of(panel)) is not None:
        return asked
    return replace(asked, method="bca")


def stated_policy(policy: Policy) -> StatedPolicy:
    """A complete policy as the certificate states it."""
    assert policy.tier is not None  # it is complete
    assert policy.profile is not None
    assert policy.weights is not None
    return StatedPolicy(
        tier=policy.tier,
        profile=policy.profile,
        level=policy.design().level,
        weights=policy.weights,
        method=policy.design().method,  # type: ignore[arg-type]  # a policy's are among them
        scheme=policy.design().scheme,
        limits=TierLimits(**asdict(policy.limits)),
        overrides=tuple(sorted(policy.overrides)),
        note=policy.note,
    )


def _limits(estimate: Estimate) -> tuple[float, float]:
    limits = estimate.interval
    assert limits is not None  # a panel has at least one unit, and a collapsed interval is an interval
    return rounded(limits.low), rounded(limits.high)


def _displayed(ci: tuple[float, float], *, losses: bool) -> tuple[float, float]:
    return (rounded_exp(ci[0]), rounded_exp(ci[1])) if losses else ci


def _primary_metric(compared: Compared) -> PrimaryMetric:
    found, preview, losses = compared.random, compared.windows.preview, compared.losses
    mean, ci, subject = rounded(found.difference.value or 0.0), _limits(found.difference), found.b
    assert subject is not None  # there are pairs
    return PrimaryMetric(
        kind="perplexity" if losses else _KINDS.get(compared.windows.final.metric.name, "score"),
        lower_is_better=found.lower_is_better,
        preview=None if preview is None else rounded_exp(preview.estimate(1)),
        final=rounded_exp(subject) if losses else rounded(subject),
        ratio_vs_baseline=rounded_exp(mean) if losses else None,
        difference_vs_baseline=mean,
        standard_error=_standard_error(found),
        ci=ci,
        display_ci=_displayed(ci, losses=losses),
        p_value=_optional(found.p_value),
        test=found.test.name,
        test_version=TEST_VERSION,
        test_p_value=_optional(found.computed.test_p),
        agreement=_agreement(found, compared.windows.final),
        rounded=found.computed.rounded,
    )


def _agreement(found: Comparison, panel: Panel) -> Agreement | None:
    """How interval and test were reconciled; the comparison has one note more than panel and rounding explain."""
    if len(found.notes) == len(panel.notes) + bool(found.computed.rounded):
        return None
    alone, limits = found.computed.test_p, found.difference.interval
    assert alone is not None  # they cannot disagree without a test
    assert limits is not None
    if alone > 1 - found.design.level:
        return "limit set to 0"
    return "limit moved beside 0" if limits.method == "tango" else "p of the interval"


def _standard_error(found: Comparison) -> float | None:
    error = found.difference.standard_error
    return error if error is None else 0.0 if found.degenerate else rounded(error)  # not the noise of rounding


def _optional(value: float | None) -> float | None:
    return None if value is None else rounded(value)


def _how(compared: Compared, versions: Versions) -> BootstrapFacts:
    found, panel = compared.random, compared.windows.final
    limits = found.difference.interval
    assert limits is not None
    drawn = found.computed.distribution != CLOSED_FORM
    return BootstrapFacts(
        replicates=found.design.resamples if drawn else None,
        seed=found.design.seed,
        method=limits.method,
        version=DRAWN_VERSION if drawn and _drawn_whole(compared, versions) else versions.interval,
        scheme=("tokens" if found.computed.scheme == "tokens" else "windows") if drawn else None,
        spread_of_weights=rounded(design_effect(panel.cluster_sums().denominators)),
        spread_limit=DESIGN_EFFECT_LIMIT,
        design_effect=None if drawn else _optional(found.computed.design_effect),
        degrees_of_freedom=None if drawn else _optional(found.computed.degrees_of_freedom),
        fallbacks=tuple(_replaced(fallback) for fallback in found.fallbacks),
    )


def _drawn_whole(compared: Compared, versions: Versions) -> bool:
    """Whether replicates are drawn from a distribution, where that is known."""
    found = compared.random.substance
    return versions.drawn_whole and found is not None and found.units >= DRAWN_FROM


def _replaced(found: Fallback) -> Replaced:
    """The fallback by name; the reason follows from the method and is added when it is shown."""
    if found.wanted == "exact sign flips":
        if found.used == RANDOM_FLIPS:
            return Replaced(wanted=found.wanted, used="random sign flips", draws=STAND_IN_FLIPS)
        return Replaced(wanted=found.wanted, used="smoothed sign flips", draws=None)
    used = found.used
    assert used in ("percentile", "collapsed interval")  # by replicates, nothing else can happen to BCa
    return Replaced(
        wanted=found.wanted, used="percentile" if used == "percentile" else "collapsed interval", draws=None
    )


def _deltas(compared: Compared) -> PairedDeltas:
    panel = compared.windows.final
    deltas = (panel.numerators[:, 1] - panel.numerators[:, 0]) / panel.denominators
    std = weighted_deviation(deltas, panel.denominators)
    equal = (
        panel.clusters is None or Units(deltas, np.ones(panel.n)).degenerate
    )  # equal clusters may have spread within
    if std is not None and compared.random.degenerate and equal:
        std = 0.0  # not the noise of rounding, which another machine would not find again
    return PairedDeltas(
        mean=rounded(compared.random.difference.value or 0.0), std=_optional(std), degenerate=compared.random.degenerate
    )


def _again(metric: PrimaryMetric, how: BootstrapFacts, deltas: PairedDeltas) -> PerplexityAgain:
    return PerplexityAgain(
        preview_final_ratio=rounded_exp(deltas.mean),
        logloss_delta_ci=metric.ci,
        ratio_ci=_displayed(metric.ci, losses=True),
        stats=PerplexityStats(bootstrap=how, paired_delta_summary=deltas),
    )


def _window_stats(
    compared: Compared, policy: Policy, how: BootstrapFacts, deltas: PairedDeltas, versions: Versions
) -> WindowStats:
    windows, required = compared.windows, policy.limits.windows
    found = compared.random.substance if versions.form > 2 else None
    preview = None if windows.preview is None else SplitCoverage(**Covered.of(windows.preview).against(required))
    return WindowStats(
        window_match_fraction=rounded(windows.match_fraction),
        window_overlap_fraction=rounded(windows.overlap_fraction),
        overlap_from=windows.overlap_from,
        paired_windows=windows.final.n,
        differing=None if found is None else found.differing,
        largest=None if found is None else rounded(found.largest),
        paired_delta_summary=deltas,
        bootstrap=how,
        coverage=Coverage(preview=preview, final=SplitCoverage(**Covered.of(windows.final).against(required))),
        clusters=windows.final.n_clusters,
        cluster_by=windows.final.cluster_by,
        tokens=int(windows.final.denominators.sum()) if compared.losses else None,
    )


def _exact(metric: PrimaryMetric, compared: Compared) -> ExactInterval:
    ci, error = _limits(compared.exact.difference), metric.standard_error
    gap = max(abs(a - b) for a, b in zip(ci, metric.ci, strict=True))
    return ExactInterval(
        ci=ci,
        display_ci=_displayed(ci, losses=compared.losses),
        distance=float(f"{gap / error:.3g}") if error else None,
        source=compared.exact.computed.distribution,
    )


def _published(
    metric: PrimaryMetric, compared: Compared, policy: Policy, versions: Versions
) -> PublishedInterval | None:
    """As published, whatever the policy says; ``None`` where that is ours, or where there is no spread."""
    panel = replace(compared.windows.final, cluster=None)
    design, whole = replace(policy.design(), **PUBLISHED), differences_of(panel).drawn
    if versions.drawn_whole:
        design = DrawnWhole(**asdict(design))
    found = design.interval(drawn_by(whole, design, panel).units)
    limits = found.interval.around(whole.estimate)
    ci = rounded(limits.low), rounded(limits.high)
    if found.degenerate or ci == metric.ci:
        return None
    return PublishedInterval(
        method=limits.method,
        scheme="tokens",
        replicates=policy.limits.replicates,
        ci=ci,
        display_ci=_displayed(ci, losses=True),
    )


def _rate(
    found: Comparison, kind: MetricKind, name: Literal["bits per byte", "bits per character"]
) -> PairedQuantity | None:
    """A rate of both systems: what the certificate is about, or what stands beside it."""
    if kind == name:
        return PairedQuantity(found.a, found.b, found.difference)
    return found.bits_per_byte if name == "bits per byte" else found.bits_per_character


def _bits(shown: PairedQuantity | None) -> BitsOfBoth | None:
    if shown is None:
        return None
    assert shown.a is not None  # there are pairs
    assert shown.b is not None
    return BitsOfBoth(
        baseline=rounded(shown.a),
        subject=rounded(shown.b),
        difference=rounded(shown.difference.value or 0.0),
        ci=_limits(shown.difference),
    )


def _drift(windows: Windows, level: float, versions: Versions) -> DriftOfSplits | None:
    found = None if windows.preview is None else drift(windows.preview, windows.final, 1)
    if found is None:
        return None
    log_ratio, ci = rounded(found.log_ratio), None
    if versions.form > 2:
        low, high = found.limits(level)
        ci = rounded(low), rounded(high)
    return DriftOfSplits(
        ratio=rounded_exp(log_ratio),
        log_ratio=log_ratio,
        standard_error=rounded(found.standard_error),
        degrees_of_freedom=None if ci is None else rounded(found.df),
        ci=ci,
        display_ci=None if ci is None else rounded_exps(ci),
        test="welch",
        version=DRIFT_VERSION,
        p_value=rounded(found.p_value),
        alarm_level=ALARM_LEVEL,
        alarm=found.alarm,
    )
