"""What a verifier's own policy makes of a certificate over tasks: limits that apply, what is not met, what is open."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from assay.certificate import sentences as plain
from assay.certificate.fields import EqualWeightsRule, FinalMinimumRule
from assay.certificate.policy import choices_unmet
from assay.certificate.sentences import worth
from assay.certificate.suite.fields import SuitePolicy
from assay.certificate.suite.record import SuiteCertificate
from assay.certificate.suite.task_limits import FITTING, MissingTaskError, demands_of, matching, with_known_groups
from assay.data.metrics import Kind
from assay.data.task_groups import tree_of
from assay.design import STRICTNESS, Policy
from assay.limits import GroupLimits, Limits, TotalLimits, flat_groups
from assay.names import listed, shown
from assay.results import words


def applied(own: Policy, stated: Policy, issued: SuiteCertificate) -> Policy:
    """The issuer's policy with the verifier's limits; the verifier's level (default 0.95) is a lower bound.

    What the verifier says of every task goes before what the issuer says of a single one.
    """
    own = _known(own, issued)
    fixed = {name: own.fixed(name) for name in ("max_drop", "max_ratio", "min_windows", "tier")}
    return replace(
        stated,
        **{name: value for name, value in fixed.items() if value is not None},
        level=max(stated.design().level, own.design().level),
        weights=own.weights or "equal",
        total=_total(own, stated),
        each=_each(own).over(stated.task_limits),
        tasks=_tasks(own, stated, issued),
        groups=({**(stated.groups or {}), **(own.groups or {})}) or None,
        every=stated.every if own.every is None else own.every,
        note=stated.note or "the verifier's own limits",
    ).complete()


def _known(own: Policy, issued: SuiteCertificate) -> Policy:
    """With the tasks of groups that the policy only names, as the issuer has them."""
    names = [row.name for row in issued.tasks]
    known = {row.name.rpartition("/")[2]: row.tasks for row in issued.groups}
    return with_known_groups(own, tree_of(known, names))


def _total(own: Policy, stated: Policy) -> TotalLimits | None:
    asked, had = own.total or TotalLimits(), stated.total or TotalLimits()
    return TotalLimits(weights=asked.weights or had.weights, **dict(asked.over(had).given()))


def _each(own: Policy) -> Limits:
    """What the verifier says of every task: by itself, or by a tier."""
    if own.tier is not None:
        return own.task_limits
    return own.each or Limits()


def _tasks(own: Policy, stated: Policy, issued: SuiteCertificate) -> dict[str, Limits]:
    names, kind = [row.name for row in issued.tasks], kind_of(issued)
    lower = issued.comparison.lower_is_better
    theirs = demands_of(stated, names, kind, lower_is_better=lower).tasks
    mine = {pattern: matching(pattern, names) for pattern in own.tasks or {}}
    found = {}
    for name in names:
        fitting = [pattern for pattern, fits in mine.items() if name in fits]
        pattern = name if name in fitting else next(iter(fitting), None)
        asked = Limits() if pattern is None or own.tasks is None else own.tasks[pattern]
        found[name] = asked.over(_each(own).only(*FITTING[kind])).over(theirs[name])
    return found


def kind_of(issued: SuiteCertificate) -> Kind:
    return "losses" if issued.losses else "scores"


def missing_tasks(own: Policy, issued: SuiteCertificate) -> list[str]:
    """Demands on tasks that the evidence does not have."""
    names = [row.name for row in issued.tasks]
    groups = [task for one in flat_groups(own.groups or {}) for task in one.tasks]
    found = []
    for pattern in dict.fromkeys([*(own.tasks or {}), *groups]):
        try:
            matching(pattern, names)
        except MissingTaskError:
            found.append(f"no task {shown(pattern)} in the evidence, which is required")
    return found


# ------------------------------------------------------------------------------------------------------- what is unmet


def direction(own: Policy, issued: SuiteCertificate) -> bool:
    """Whether lower is better, for the verifier: losses always, scores only if the policy says so."""
    return issued.losses or bool(own.lower_is_better)


def unmet(own: Policy, issued: SuiteCertificate, judged: SuiteCertificate) -> list[str]:
    """The verifier's demands that the certificate or its evidence does not meet, except for the verdict."""
    return [*_choices_unmet(own, issued), *_evidence_unmet(own, issued, judged)]


def _choices_unmet(own: Policy, issued: SuiteCertificate) -> Iterator[str]:
    """Choices of the issuer that differ from the policy."""
    here, there = ("max_ratio", "max_drop") if issued.losses else ("max_drop", "max_ratio")
    if own.fixed(here) is None and own.fixed(there) is not None:
        what, other = ("perplexity", "scores") if issued.losses else ("scores", "perplexity")
        yield f"about {what}, and the policy limits {other} only ({there}); {here} required"
    yield from choices_unmet(
        own,
        issued.policy.level,
        issued.measure,
        lower=issued.comparison.lower_is_better,
        lower_required=direction(own, issued),
        unequal=_unequal(issued),
        cluster=issued.comparison.cluster_by,
    )


def _evidence_unmet(own: Policy, issued: SuiteCertificate, judged: SuiteCertificate) -> Iterator[str]:
    least = own.fixed("min_windows")
    few = [rule for rule in judged.rules if isinstance(rule, FinalMinimumRule) and not rule.ok]
    if few and least is not None:
        counted = worth(few[0].used, few[0].effective) if few[0].used >= least else ""
        yield f"{few[0].used} paired {issued.unit}s{counted}, at least {least} required"
    if own.profile is None:
        return
    order, profile = STRICTNESS["profile"], issued.policy.profile
    if order.index(profile) < order.index(own.profile):
        yield f"issued under the profile {profile}, {own.profile} required"
    for rule in judged.rules:
        told = isinstance(rule, EqualWeightsRule) or (least is not None and isinstance(rule, FinalMinimumRule))
        if not rule.ok and not told:
            yield f"{plain.rule_name(rule)}: {judged.detail(rule)}"


def _unequal(issued: SuiteCertificate) -> str | None:
    """The items and their effective number if weights of scores are unequal, else ``None``."""
    for rule in issued.rules:
        if isinstance(rule, EqualWeightsRule) and worth(rule.items, rule.effective):
            return f"{rule.items} items{worth(rule.items, rule.effective)}"
    return None


# --------------------------------------------------------------------------------------------------- what is left open


def issuers_choice(own: Policy, issued: SuiteCertificate) -> dict[str, Any]:
    """Fields that the policy left to the issuer, with the issuer's choices; null means not stated."""
    stated, measure = issued.policy, issued.measure
    chosen: dict[str, Any] = {
        issued.change_limit.limit: issued.change_limit.at,
        "min_windows": stated.min_items,
        "profile": stated.profile,
        "cluster": issued.comparison.cluster_by,
        "task": measure.task,
        "metric": measure.metric,
        **{name: getattr(measure, name) for name in ("filter", "scorer") if getattr(measure, name) is not None},
    }
    if not own:  # then the defaults of a policy are not in force either
        chosen["level"] = stated.level
        chosen |= {} if issued.losses else {"lower_is_better": issued.comparison.lower_is_better}
    left = {name: value for name, value in chosen.items() if own.fixed(name) is None}
    return left | {name: value for name, value in _of_tasks(stated).items() if _open(own, name)}


def _open(own: Policy, name: str) -> bool:
    if name == "total":
        return own.total is None or own.total.weights is None
    return not _each(own) if name == "each" else getattr(own, name) is None


def _of_tasks(stated: SuitePolicy) -> dict[str, Any]:
    """What the issuer says of tasks, in words."""
    found: dict[str, Any] = {"total": f"weighed by {stated.total_weights}", "each": _words(stated.each)}
    if stated.tasks:
        found["tasks"] = listed(f"{one.task} {_words(one.limits)}" for one in stated.tasks)
    if stated.groups:
        found["groups"] = listed(f"{one.name} {_words(one.limits)}" for one in stated.groups)
    return found | {"every": stated.every}


def _words(limits: Any) -> str:
    return " and ".join(f"{one.limit} {words.number(one.at, 6)}" for one in limits) or "no limit"


def without_missing(own: Policy, issued: SuiteCertificate) -> Policy:
    """The policy without what it says of tasks that are not there."""
    names = [row.name for row in issued.tasks]
    tasks = {pattern: one for pattern, one in (own.tasks or {}).items() if _there(pattern, names)}
    groups = _kept(own.groups or {}, names)
    return replace(own, tasks=tasks or None, groups=groups or None)


def _there(pattern: str, names: list[str]) -> bool:
    try:
        return bool(matching(pattern, names))
    except MissingTaskError:
        return False


def _kept(groups: Mapping[str, GroupLimits], names: list[str]) -> dict[str, GroupLimits]:
    found = {}
    for name, group in groups.items():
        tasks, inside = tuple(one for one in group.tasks if _there(one, names)), _kept(group.groups, names)
        if tasks or inside or not (group.tasks or group.groups):
            found[name] = replace(group, tasks=tasks, groups=inside)
    return found
