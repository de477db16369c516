"""What a verifier's own policy makes of a certificate: the numbers that apply, what is not met, what is left open."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from assay.certificate import sentences
from assay.certificate.fields import EqualWeightsRule, FinalMinimumRule, Measured, PrimaryMetric, StatedPolicy
from assay.certificate.record import Certificate
from assay.certificate.sentences import NOT_STATED, worth
from assay.design import OF_THE_TIER, STRICTNESS, Policy, looser
from assay.names import shown

PICKS = ("task", "metric", "filter", "scorer")
_KINDS = {"max_ratio": "perplexity", "max_drop": "scores"}


def applied(own: Policy, stated: Policy) -> Policy:
    """The issuer's policy with the verifier's numbers; the verifier's level (default 0.95) is a lower bound."""
    fixed = {name: own.fixed(name) for name in (*OF_THE_TIER, "tier", "seed")}
    fixed["replicates"] = max(stated.limits.replicates, fixed["replicates"] or 0)
    return replace(
        stated,
        **{name: value for name, value in fixed.items() if value is not None},
        level=max(stated.design().level, own.design().level),
        weights=own.weights or "equal",
        method=_stricter_of("method", own, stated),
        scheme=_stricter_of("scheme", own, stated),
        note=stated.note or "the verifier's own limits",
    ).complete()


def _stricter_of(name: str, own: Policy, stated: Policy) -> Any:
    """The verifier's choice (default: auto), or the issuer's where it is stricter."""
    wanted, had = getattr(own, name) or "auto", getattr(stated, name)
    return had if looser(name, wanted, had) else wanted


def direction(own: Policy, metric: PrimaryMetric) -> bool:
    """Whether lower is better, for the verifier: losses always, scores only if the policy says so."""
    return metric.kind != "score" or bool(own.lower_is_better)


def unmet(own: Policy, issued: Certificate, judged: Certificate) -> list[str]:
    """The verifier's demands that the certificate or its evidence does not meet, except for the verdict."""
    several = [f"of one task, and the policy has limits of several ({', '.join(own.of_tasks)})"] if own.of_tasks else []
    return [*several, *_choices_unmet(own, issued), *_evidence_unmet(own, issued, judged)]


def choices_unmet(
    own: Policy,
    level: float,
    measure: Measured,
    *,
    lower: bool,
    lower_required: bool,
    unequal: str | None,
    cluster: str | None,
) -> Iterator[str]:
    """Choices of the issuer, of one task or of several, that differ from the policy."""
    floor = own.design().level
    if level < floor:
        yield f"intervals at the level {level}, at least {floor} required"
    if lower is not lower_required:
        better = {True: "lower scores as better", False: "higher scores as better"}
        yield f"issued with {better[lower]}, {better[lower_required]} required"
    if unequal and own.weights != "any":
        yield f"unequal weights ({unequal}), equal ones required; 'weights' in a policy can allow any"
    if own.cluster is not None and cluster != own.cluster:
        had = "without clusters" if cluster is None else f"with the clusters {shown(cluster)}"
        yield f"issued {had}, {shown(own.cluster)} required"
    for name in PICKS:
        wanted, found = getattr(own, name), getattr(measure, name)
        if wanted is not None and wanted != found:
            yield f"{name} {NOT_STATED if found is None else shown(found)}, {shown(wanted)} required"


def _choices_unmet(own: Policy, issued: Certificate) -> Iterator[str]:
    """Choices of the issuer that differ from the policy."""
    metric, stated = issued.primary_metric, issued.policy
    here, there = ("max_drop", "max_ratio") if issued.scores else ("max_ratio", "max_drop")
    if own.fixed(here) is None and own.fixed(there) is not None:
        about = _KINDS[here] if metric.kind == "score" else metric.kind
        yield f"about {about}, and the policy limits {_KINDS[there]} only ({there}); {here} required"
    yield from choices_unmet(
        own,
        stated.level,
        issued.measure,
        lower=metric.lower_is_better,
        lower_required=direction(own, metric),
        unequal=_unequal(issued),
        cluster=issued.stats.cluster_by,
    )
    for name in ("method", "scheme"):
        wanted, found = getattr(own, name) or "auto", getattr(stated, name)
        if looser(name, found, wanted):
            yield f"issued with the {name} {found}, {wanted} required; {name!r} in a policy can allow it"


def _evidence_unmet(own: Policy, issued: Certificate, judged: Certificate) -> Iterator[str]:
    final, least = judged.stats.coverage.final, own.fixed("min_windows")
    few = least is not None and not final.ok
    if few:
        counted = (
            worth(final.used, final.effective, losses=issued.primary_metric.kind != "score")
            if final.used >= least
            else ""
        )
        yield f"{final.used} paired windows{counted}, at least {least} required"
    if own.profile is not None:
        order, profile = STRICTNESS["profile"], issued.policy.profile
        if order.index(profile) < order.index(own.profile):
            yield f"issued under the profile {profile}, {own.profile} required"
        for rule in judged.rules:
            told = isinstance(rule, EqualWeightsRule) or (few and isinstance(rule, FinalMinimumRule))
            if not rule.ok and not told:
                yield f"{sentences.rule_name(rule)}: {judged.detail(rule)}"


def issuers_choice(own: Policy, issued: Certificate) -> dict[str, Any]:
    """Fields that the policy left to the issuer, with the issuer's choices; null means not stated."""
    scores, stated, stats, measure = issued.scores, issued.policy, issued.stats, issued.measure
    chosen = {
        "max_drop" if scores else "max_ratio": issued.decision.limit,
        "min_windows": stated.limits.windows,
        "replicates": stats.bootstrap.replicates,
        "seed": stats.bootstrap.seed,
        "profile": stated.profile,
        "cluster": stats.cluster_by,
        "task": measure.task,
        "metric": measure.metric,
        **{name: getattr(measure, name) for name in ("filter", "scorer") if getattr(measure, name) is not None},
    }
    if not own:  # then the defaults of a policy are not in force either
        chosen["level"] = stated.level
        chosen |= {name: kind for name in ("method", "scheme") if (kind := getattr(stated, name)) != "auto"}
        of_scores = issued.primary_metric.kind == "score"
        chosen |= {"lower_is_better": issued.primary_metric.lower_is_better} if of_scores else {}
    if stats.bootstrap.replicates is None:  # nothing is drawn, so there is nothing to choose
        del chosen["replicates"], chosen["seed"]
    left = {name: value for name, value in chosen.items() if own.fixed(name) is None}
    unequal = _unequal(issued)
    return left | ({"weights": f"unequal ({unequal})"} if unequal and (not own or own.weights == "any") else {})


def _unequal(issued: Certificate) -> str | None:
    """The items and their effective number if weights of scores are unequal, else ``None``."""
    final = issued.stats.coverage.final
    counted = worth(final.used, final.effective)
    return f"{final.used} items{counted}" if issued.primary_metric.kind == "score" and counted else None


def policy_as_stated(stated: StatedPolicy, *, seed: int, cluster: str | None = None) -> Policy:
    """The policy that a certificate claims to be judged by."""
    changed = {name: getattr(stated.limits, name, None) for name in stated.overrides}
    return Policy(
        tier=stated.tier,
        profile=stated.profile,
        level=stated.level,
        weights=stated.weights,
        method=stated.method,
        scheme=stated.scheme,
        note=stated.note,
        cluster=cluster,
        seed=seed,
        max_ratio=changed.get("max_ratio"),
        max_drop=changed.get("max_drop"),
        min_windows=changed.get("windows"),
        replicates=changed.get("replicates"),
    ).complete()
