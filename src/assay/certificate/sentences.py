"""What a certificate says in words. None of it is stored; it is made from the facts when shown."""

from collections.abc import Sequence
from math import floor
from typing import Any

from assay.certificate.fields import (
    BootstrapFacts,
    BothSystems,
    Decision,
    DriftOfSplits,
    EqualCountsRule,
    EqualWeightsRule,
    Measured,
    MinimumRule,
    OverlapRule,
    PairingRule,
    PrimaryMetric,
    PublishedInterval,
    Replaced,
    RuleOutcome,
    StatedPolicy,
    WindowStats,
)
from assay.names import one_line
from assay.results import words
from assay.stats.records import Interval

NOT_STATED = "not stated"


def unit_of(metric: PrimaryMetric) -> str:
    return {"perplexity": "window", "score": "item"}.get(metric.kind, "document")


def names_of(systems: BothSystems) -> tuple[str, str]:
    """Names of baseline and subject, made distinct if they are equal."""
    baseline, subject = systems.baseline.name, systems.subject.name
    return (f"{baseline} (baseline)", f"{subject} (subject)") if baseline == subject else (baseline, subject)


def worth(used: int, effective: float, *, losses: bool = False) -> str:
    """The effective number of units, where it differs from their number; never rounded up."""
    kind = "length" if losses else "weight"
    return "" if effective == used else f", worth {floor(effective * 10) / 10:g} of equal {kind}"


def decided(
    systems: BothSystems,
    metric: PrimaryMetric,
    stats: WindowStats,
    policy: StatedPolicy,
    decision: Decision,
    rules: Sequence[RuleOutcome],
) -> str:
    """The verdict in a sentence, with the interval and the limit it rests on, and the rules that are not met."""
    baseline, subject = names_of(systems)
    heads = {
        "pass": f"{subject} may replace {baseline}",
        "regression": f"{subject} is a regression from {baseline}",
        "insufficient evidence": f"Insufficient evidence that {subject} may replace {baseline}",
    }
    unit = unit_of(metric)
    needed = None if metric.standard_error is None else decision.windows_needed  # one unit cannot tell
    more = "" if needed is None else f"; about {words.count(needed, unit)} would settle it"
    final = stats.coverage.final
    n = words.count(final.used, unit) + ("" if metric.kind == "perplexity" else worth(final.used, final.effective))
    found = _against_limit(metric, stats, policy.level, decision)
    return f"{heads[decision.verdict]}: {found} ({n}){more}{rules_not_met(rules, policy.profile)}."


def _against_limit(metric: PrimaryMetric, stats: WindowStats, level: float, decision: Decision) -> str:
    """What was found, with its interval, and where that is against the limit."""
    finding, shown, limit = _found(metric, level, decision.limit)
    if collapsed(metric, stats):
        return f"{finding} from a single {drawn_unit(metric, stats)}, which has no interval, for the limit of {limit}"
    where = {"pass": "within", "regression": "beyond", "insufficient evidence": "on both sides of"}[decision.verdict]
    few = decision.version > 1 and stats.reliance != "firm" and decision.verdict == "insufficient evidence"
    if few or metric.standard_error is None:
        where = f"too few to rely on ({_rests_on(stats, unit_of(metric))}), for"
    return f"{finding}, {words.percent(level)} CI {shown}, {where} the limit of {limit}"


def rules_not_met(rules: Sequence[RuleOutcome], profile: str) -> str:
    """The rules that are not met, as a sentence ends with them; empty: all are."""
    names = [rule_name(rule) for rule in rules if not rule.ok]
    if not names:
        return ""
    several = len(names) > 1
    told = f"; {'rules' if several else 'rule'} not met: {words.listed(names, len(names))}"
    return told + (f" (profile dev only reports {'them' if several else 'it'})" if profile == "dev" else "")


def drawn_unit(metric: PrimaryMetric, stats: WindowStats) -> str:
    return unit_of(metric) if stats.clusters is None else "cluster"


def collapsed(metric: PrimaryMetric, stats: WindowStats) -> bool:
    """Whether there is a single unit (or cluster) and no interval, only the estimate twice."""
    return metric.standard_error is None and stats.bootstrap.method == "degenerate"


def _rests_on(stats: WindowStats, unit: str) -> str:
    """``12 clusters``, ``60 windows worth 3.9 of equal weight``."""
    drawn = words.count(stats.drawn, unit if stats.clusters is None else "cluster")
    alike = stats.reliance == "if symmetric" or stats.drawn == 1
    return drawn if alike else f"{drawn} worth {stats.effective:.2g} of equal weight"


def _found(metric: PrimaryMetric, level: float, limit: float) -> tuple[str, str, str]:
    """What was found, its interval and the limit."""
    limits = Interval(*metric.display_ci, level, "")
    if metric.ratio_vs_baseline is not None:
        ratio = words.placed(metric.ratio_vs_baseline, words.decimals(limits), null=1.0)
        return f"perplexity × {ratio}", words.interval(limits, null=limit), f"× {words.number(limit, 6)}"
    shift = words.placed(metric.difference_vs_baseline, words.decimals(limits), sign=True)
    worse, null = ("rise", limit) if metric.lower_is_better else ("fall", -limit)
    shown = words.interval(limits, sign=True, null=null)
    what = "mean score" if metric.kind == "score" else metric.kind
    return f"{what} {shift}", shown, f"a {worse} of {words.number(limit, 6)}"


# ------------------------------------------------------------------------------------------- how it was computed


#: What windows, items and documents weigh.
_WEIGHTS = {
    "perplexity": "tokens",
    "score": "weights",
    "bits per byte": "bytes",
    "bits per character": "characters",
}


def interval_method(how: BootstrapFacts, level: float) -> str:
    if how.replicates is not None:
        drawn = f"{how.replicates:,} replicates, seed {how.seed}"
    else:
        drawn = "nothing drawn" if how.method == "degenerate" else "closed form"
    return f"{words.percent(level)} {how.method}, {drawn}"


def scheme(metric: PrimaryMetric, stats: WindowStats, policy: StatedPolicy) -> str:
    """What was resampled and why, or why nothing was."""
    how = stats.bootstrap
    if collapsed(metric, stats):
        return f"nothing is drawn: there is one {drawn_unit(metric, stats)}"
    if how.scheme is None:
        return _not_drawn(how, by_tokens=policy.scheme == "tokens")
    what = _WEIGHTS[metric.kind]
    spread = f"design effect {how.spread_of_weights:.3f}"
    if policy.scheme != "auto":
        short = how.scheme == "tokens" and how.spread_of_weights > how.spread_limit
        why = f" > {how.spread_limit:g}: {what} vary, and the interval may be too short" if short else ""
        return f"{how.scheme}: as asked ({spread}{why})"
    if how.scheme == "tokens":
        return f"tokens: {what} are nearly equal: {spread} ≤ {how.spread_limit:g}"
    unit = "cluster" if stats.clusters is not None else unit_of(metric)
    return f"windows: {unit}s drawn uniformly because {what} vary: {spread} > {how.spread_limit:g}"


def _not_drawn(how: BootstrapFacts, *, by_tokens: bool) -> str:
    if how.method == "degenerate":
        return "nothing is drawn: the differences do not vary"
    if how.method != "tango":
        of = " of draws by tokens, as asked" if by_tokens else ""
        return f"nothing is drawn: {how.method} is a closed form{of} (design effect {how.spread_of_weights:.3f})"
    closed = "nothing is drawn: the interval of 0/1 scores is a closed form"
    if how.design_effect is None:
        return closed
    df = how.degrees_of_freedom
    return (
        f"{closed}, its counts divided by the design effect {how.design_effect:.3f}, with {df:.1f} degrees of freedom"
    )


def published(found: PublishedInterval, metric: PrimaryMetric, level: float) -> str:
    """The published recipe's interval, and how wide it is beside ours."""
    limits = Interval(*found.display_ci, level, "")
    ours, theirs = (high - low for low, high in (metric.ci, found.ci))
    width = f", {100 * theirs / ours:.0f}% as wide as ours" if ours > 0 else ""
    return f"[{words.interval(limits, null=1.0)}]{width} ({found.method}, windows drawn by tokens)"


def drift(found: DriftOfSplits, level: float) -> str:
    """The drift with its interval; an alarm is not the only thing that the interval can show."""
    limits = None if found.display_ci is None else Interval(*found.display_ci, level, "")
    ratio = words.number(found.ratio, 4) if limits is None else words.estimate(found.ratio, limits, null=1.0)
    if found.alarm:
        judged = "more than sampling noise"
    elif limits is not None and not limits.low <= 1 <= limits.high:
        judged = f"hardly sampling noise, but no alarm (p ≥ {found.alarm_level:g})"
    else:
        judged = "within sampling noise"
    return f"× {ratio}, {words.p_value(found.p_value)}: {judged}"


_WHY = {
    "percentile": "the acceleration is undefined: the jackknife variance is zero or too skewed",
    "random sign flips": "the characteristic function does not decay: few units carry the spread",
    "smoothed sign flips": "the characteristic function does not decay: few units carry the spread",
}


def fallback(found: Replaced, metric: PrimaryMetric) -> str:
    """A fallback in words: what was wanted, what was used, and why."""
    flat = "one unit" if metric.standard_error is None else "all units have the same value"
    why = _WHY.get(found.used, f"{flat}: there is no spread to resample")
    used = found.used if found.draws is None else f"{found.draws:,} {found.used}"
    return f"{found.wanted} → {used}: {why}"


def notes(metric: PrimaryMetric) -> list[str]:
    """Notes on how interval and test were reconciled, and on differences that are only rounding."""
    found = [words.rounded_off(metric.rounded)] if metric.rounded else []
    if metric.agreement is not None and metric.test_p_value is not None:
        test, p = f"the {metric.test} test", words.p_value(metric.test_p_value)
        said = {
            "limit set to 0": f"the interval alone leaves out 0, {test} does not reject ({p}): a limit is set to 0",
            "limit moved beside 0": f"{test} rejects ({p}), the interval alone has 0 in it: a limit is moved beside 0",
            "p of the interval": f"{test} alone rejects ({p}), the interval has 0 in it: p is the interval's own",
        }
        found.append(said[metric.agreement])
    return found


# ---------------------------------------------------------------------------------------------------------- rules


def rule_name(rule: RuleOutcome) -> str:
    return str(rule.__struct_config__.tag)


def rule_detail(rule: RuleOutcome, unit: str, tier: str) -> str:
    """The outcome of a rule, and by how much it is missed."""
    match rule:
        case PairingRule():
            lost = rule.windows - rule.paired
            return f"{rule.paired} of {rule.windows} {unit}s pair, {lost} {'does' if lost == 1 else 'do'} not"
        case OverlapRule():
            return f"{rule.overlapping} of {rule.windows} {unit}s overlap (by {rule.by})"
        case EqualCountsRule():
            return f"{rule.preview} preview and {rule.final} final {unit}s"
        case EqualWeightsRule():
            return _weights(rule, unit)
        case MinimumRule():
            return f"{rule.used} {unit}s of at least {rule.required} in the tier {tier}{_short(rule, unit)}"
    raise TypeError(type(rule).__name__)


def _weights(rule: EqualWeightsRule, unit: str) -> str:
    if rule.effective >= rule.items:
        return f"all {rule.items} {unit}s weigh the same"
    counted = f"{rule.items} {unit}s{worth(rule.items, rule.effective)}"
    allowed = "; the policy allows any" if rule.allowed == "any" else ""
    return f"weights from {rule.lightest:.3g} to {rule.heaviest:.3g}, {counted}{allowed}"


def _short(rule: MinimumRule, unit: str) -> str:
    if rule.used < rule.required:
        return f", {rule.required - rule.used} too few"
    long = {"window": "tokens", "document": "text"}.get(unit)
    counted = worth(rule.used, rule.effective, losses=long is not None)
    return "" if rule.ok else f"{counted}: a few have most of the {long or 'weight'}"


# --------------------------------------------------------------------------------------------------------- others


def measured(measure: Measured) -> str | None:
    """Task and metric, if they add to the other facts."""
    if measure.task is None and measure.metric in (None, "perplexity"):
        return None
    told = {name: getattr(measure, name) for name in ("metric", "task", "filter", "scorer")}
    told |= {one.name: one.value for one in measure.conditions if one.name != "split"}
    several = f" ({words.count(len(measure.tasks), 'task')})" if len(measure.tasks) > 1 else ""
    return ", ".join(f"{name} {value}" for name, value in told.items() if value is not None) + several


def choices(found: dict[str, Any]) -> str:
    """The choices left to the issuer, on one line."""
    return ", ".join(f"{name} {_choice(name, value)}" for name, value in found.items())


def _choice(name: str, value: Any) -> str:
    if value is None:
        return "none" if name == "cluster" else NOT_STATED
    return str(value).lower() if isinstance(value, bool) else one_line(str(value))
