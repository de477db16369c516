"""What `verify` returns, and what a verifier's policy makes of a certificate: unmet demands, choices left open."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from assay.certificate import sentences
from assay.certificate.canonical import FieldFault
from assay.certificate.fields import Decision, EqualWeightsRule, FinalMinimumRule, GateVerdict, PrimaryMetric
from assay.certificate.issue import PICKS
from assay.certificate.record import Certificate
from assay.certificate.sentences import NOT_STATED, worth
from assay.design import OF_THE_TIER, STRICTNESS, Policy
from assay.names import one_line, shown
from assay.results import words
from assay.results.figures import Gauge
from assay.results.parts import Column, ResultTable
from assay.results.record import Caution, Fact, Result, Section, Status

RECOMPUTED = "evidence digest, and every field recomputed from the evidence"
_KINDS = {"max_ratio": "perplexity", "max_drop": "scores"}


class JudgedInterval(msgspec.Struct, frozen=True):
    low: float
    high: float
    level: float


class Verification(Result, frozen=True, kw_only=True, tag="assay/verification/1"):
    """What checking a certificate found."""

    kind_name = "certificate"

    certificate: str  # the file
    true: bool
    passed: bool
    verdict: GateVerdict | Literal["not true"]
    sentence: str
    checks: tuple[str, ...]  # what was checked, in words
    faults: tuple[FieldFault, ...]
    reasons: tuple[str, ...]  # why a true certificate does not meet the verifier's policy
    policy: dict[str, Any]  # the verifier's own: what it fixes
    issuers_choice: dict[str, Any]  # what the policy left to the issuer
    # Absent where the certificate is not true:
    interval: JudgedInterval | None = None
    limit: float | None = None
    limit_of_issuer: float | None = None
    decision: Decision | None = None
    judged: Certificate | None = None  # as the verifier's policy judges its evidence; as issued without one

    @property
    def path(self) -> Path:
        return Path(self.certificate)

    @property
    def question(self) -> str:  # type: ignore[override]  # what is not true answers another one
        return "Is this certificate true?" if self.judged is None else self.judged.question

    @property
    def recomputed(self) -> bool:
        """Were its numbers computed again from the evidence?"""
        return RECOMPUTED in self.checks

    @property
    def exit_code(self) -> int:
        """0 true and passing, 1 true but not passing, 4 not true."""
        return 4 if self.faults else 0 if self.passed else 1

    @property
    def signature(self) -> str:
        return "" if self.judged is None else self.judged.signature

    @property
    def subject(self) -> str:
        return self.path.name if self.judged is None else self.judged.subject

    @property
    def status(self) -> Status:
        if self.judged is None or self.reasons:
            return "bad"
        return self.judged.status if self.recomputed else "unsure"

    @property
    def compared(self) -> tuple[Fact, ...]:
        return (Fact("file", self.path.name),) if self.judged is None else self.judged.compared

    @property
    def gauge(self) -> Gauge | None:
        return None if self.judged is None else self.judged.gauge

    @property
    def whose_limit(self) -> str:
        """Said of the limit: whether it is the verifier's."""
        if self.judged is None:
            return ""
        if Policy(**self.policy).fixed("max_drop" if self.judged.scores else "max_ratio") is None:
            return self.judged.terms
        issuers = self.limit_of_issuer
        if issuers is None or issuers == self.limit:
            return "yours and the issuer's"
        return f"yours; the issuer's is {words.number(issuers, 6)}"

    @property
    def facts(self) -> tuple[Fact, ...]:
        found = [Fact("checked", check) for check in self.checks]
        found += [Fact("not met", reason) for reason in self.reasons]
        if self.judged is not None:
            found += self.judged.facts_by(self.whose_limit)
        if self.issuers_choice:
            found.append(Fact("issuer's choice", sentences.choices(self.issuers_choice)))
        return tuple(found)

    @property
    def sections(self) -> tuple[Section, ...]:
        if self.judged is not None:
            return self.judged.sections
        columns = (
            Column("field", [one_line(fault.field) for fault in self.faults]),
            Column("stated", [fault.shown_stated for fault in self.faults]),
            Column("found", [fault.shown_found for fault in self.faults]),
        )
        return (Section("faults", "Faults", tables=(ResultTable("faults", "Not true", columns),)),)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        return () if self.judged is None else self.judged.cautions


# ------------------------------------------------------------------------------------ by the policy of the verifier


def applied(own: Policy, stated: Policy) -> Policy:
    """The issuer's policy with the verifier's numbers in place; the level is a floor, 0.95 unless the verifier says."""
    fixed = {name: own.fixed(name) for name in (*OF_THE_TIER, "tier", "seed")}
    fixed["replicates"] = max(stated.limits.replicates, fixed["replicates"] or 0)
    return replace(
        stated,
        **{name: value for name, value in fixed.items() if value is not None},
        level=max(stated.design().level, own.design().level),
        weights=own.weights or "equal",
        note=stated.note or "the verifier's own limits",
    ).complete()


def direction(own: Policy, metric: PrimaryMetric) -> bool:
    """Whether lower is better, for the verifier: losses always, scores only if the policy says so."""
    return metric.kind == "perplexity" or bool(own.lower_is_better)


def unmet(own: Policy, issued: Certificate, judged: Certificate) -> list[str]:
    """What the certificate, or its evidence as judged by the policy, does not meet; the verdict itself is apart."""
    return [*_choices_unmet(own, issued), *_evidence_unmet(own, issued, judged)]


def _choices_unmet(own: Policy, issued: Certificate) -> Iterator[str]:
    """What the issuer chose otherwise."""
    metric, stated = issued.primary_metric, issued.policy
    here, there = ("max_drop", "max_ratio") if metric.kind == "score" else ("max_ratio", "max_drop")
    if own.fixed(here) is None and own.fixed(there) is not None:
        yield f"about {_KINDS[here]}, and the policy limits {_KINDS[there]} only ({there}); {here} required"
    floor = own.design().level
    if stated.level < floor:
        yield f"intervals at the level {stated.level}, at least {floor} required"
    if metric.lower_is_better is not direction(own, metric):
        better = {True: "lower scores as better", False: "higher scores as better"}
        yield f"issued with {better[metric.lower_is_better]}, {better[direction(own, metric)]} required"
    unequal = _unequal(issued)
    if unequal and own.weights != "any":
        yield f"unequal weights ({unequal}), equal ones required; 'weights' in a policy can allow any"
    cluster = issued.stats.cluster_by
    if own.cluster is not None and cluster != own.cluster:
        had = "without clusters" if cluster is None else f"with the clusters {shown(cluster)}"
        yield f"issued {had}, {shown(own.cluster)} required"
    for name in PICKS:
        wanted, found = getattr(own, name), getattr(issued.measure, name)
        if wanted is not None and wanted != found:
            yield f"{name} {NOT_STATED if found is None else shown(found)}, {shown(wanted)} required"


def _evidence_unmet(own: Policy, issued: Certificate, judged: Certificate) -> Iterator[str]:
    final, least = judged.stats.coverage.final, own.fixed("min_windows")
    few = least is not None and not final.ok
    if few:
        counted = worth(final.used, final.effective, losses=not issued.scores) if final.used >= least else ""
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
    """What the policy left open, so that the issuer decided it: each field and what was chosen, null for not stated."""
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
        chosen |= {"lower_is_better": issued.primary_metric.lower_is_better} if scores else {}
    if stats.bootstrap.replicates is None:  # nothing is drawn, so there is nothing to choose
        del chosen["replicates"], chosen["seed"]
    left = {name: value for name, value in chosen.items() if own.fixed(name) is None}
    unequal = _unequal(issued)
    return left | ({"weights": f"unequal ({unequal})"} if unequal and (not own or own.weights == "any") else {})


def _unequal(issued: Certificate) -> str | None:
    """What unequal weights of scores make of the items; ``None`` where all weigh the same."""
    final = issued.stats.coverage.final
    counted = worth(final.used, final.effective)
    return f"{final.used} items{counted}" if issued.scores and counted else None
