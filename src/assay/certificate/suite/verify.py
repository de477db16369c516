"""Compute a certificate over tasks again from its evidence, and judge it by the verifier's own policy."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from assay.analyses.suite.tasks import TASK
from assay.certificate.evidence import read_both
from assay.certificate.rules import rules_of, windows_of
from assay.certificate.suite import policy as by_policy
from assay.certificate.suite.build import SuiteEvidence, suite_facts
from assay.certificate.suite.costs import check_costs
from assay.certificate.suite.issue import assumed, check_tasks
from assay.certificate.suite.judge import SuiteRows, decided, judged
from assay.certificate.suite.record import SuiteCertificate
from assay.certificate.suite.stated_policy import policy_claimed, stated_policy
from assay.certificate.suite.task_limits import costs_of, demands_of
from assay.certificate.verification import FieldFault, Judged, as_issued, differences, fault, profile_faults
from assay.data import Panel
from assay.design import Policy
from assay.errors import InputError, UsageError


def suite_identity_faults(issued: SuiteCertificate) -> list[FieldFault]:
    """Contradictions between fields: the limits of each row, whether they are met, and the decision."""
    names, level = [row.name for row in issued.tasks], issued.policy.level
    lower = issued.comparison.lower_is_better
    try:
        policy = policy_claimed(issued.policy)
        demands = demands_of(policy, names, by_policy.kind_of(issued), lower_is_better=lower)
        rows = SuiteRows(issued.tasks, issued.groups, issued.total)
        limits = judged(rows, demands, level, lower_is_better=lower)
        stated = {
            "policy": stated_policy(policy, demands, by_policy.kind_of(issued)),
            "limits": limits,
            "decision": decided(rows, limits, level, every=demands.every),
        }
    except (InputError, UsageError, OverflowError, LookupError, StopIteration) as error:
        return [fault("policy", "limits of these tasks", str(error) or type(error).__name__)]
    whole = sum(row.n for row in issued.tasks)
    found = [
        one
        for name, follows in stated.items()
        for one in differences(name, _plain(getattr(issued, name)), _plain(follows))
    ]
    found += [] if issued.total.n == whole else [fault("total.n", issued.total.n, whole)]
    found += [] if list(issued.total.tasks) == names else [fault("total.tasks", list(issued.total.tasks), names)]
    turned = issued.losses and not lower
    return [*found, *([fault("comparison.lower_is_better", lower, not lower)] if turned else [])]


def _plain(value: Any) -> Any:
    found = msgspec.to_builtins(value)
    return list(found) if isinstance(found, tuple) else found


def suite_recomputed(
    document: dict[str, Any], issued: SuiteCertificate, proof: Path, own: Policy
) -> tuple[list[FieldFault], Judged | None]:
    """Recompute from the evidence: the faults, and the judgement under the verifier's own policy."""
    try:
        policy = policy_claimed(issued.policy)
    except UsageError as error:
        return [fault("policy", "what was judged by", str(error))], None
    try:
        union, rows = _union(issued, proof)
        found = _facts(union, policy, issued)
    except (InputError, UsageError) as error:
        return [fault("evidence", "the rows of the certificate", str(error))], None
    # Nothing is drawn, so that the seed is 0.
    faults = [*differences("", document, as_issued(found, 0, rows).to_dict()), *profile_faults(found)]
    if faults:
        return faults, None
    notes = assumed(windows_of(union).final)
    if not own:
        return [], Judged(issued.beside(notes), f"The certificate is true. {issued.sentence}")
    judged = _judged_by(own, policy, issued, union)
    return [], replace(judged, certificate=judged.certificate.beside(notes))


def _judged_by(own: Policy, policy: Policy, issued: SuiteCertificate, union: Panel) -> Judged:
    """The evidence under the verifier's policy; what cannot be judged by it is not met."""
    reasons = by_policy.missing_tasks(own, issued)
    better = replace(union.metric, lower_is_better=by_policy.direction(own, issued))
    turned = replace(union, metrics=(better, *union.metrics[1:]))
    try:
        found = _facts(turned, by_policy.applied(by_policy.without_missing(own, issued), policy, issued), issued)
    except (InputError, UsageError) as error:
        reasons.append(f"the policy cannot be applied: {str(error).rstrip('.')}")
        found = issued
    stated = msgspec.structs.replace(found.policy, note=issued.policy.note)  # which is about the issuer's limits
    found = msgspec.structs.replace(found, policy=stated)
    reasons += by_policy.unmet(own, issued, found)
    return Judged(found, f"The certificate is true. By your policy: {found.sentence}", tuple(dict.fromkeys(reasons)))


def _facts(union: Panel, policy: Policy, issued: SuiteCertificate) -> SuiteCertificate:
    """The certificate with every fact recomputed from the evidence under this policy."""
    windows = windows_of(union)
    check_tasks(union, windows.final)
    check_costs(windows.final, costs_of(policy))
    evidence = SuiteEvidence(windows, issued.comparison.by)
    return msgspec.structs.replace(issued, **suite_facts(evidence, policy, rules_of(windows, policy)))


def _union(issued: SuiteCertificate, proof: Path) -> tuple[Panel, int]:
    """The items of both systems in the evidence, and how many rows it has."""
    compared = issued.comparison
    union, rows = read_both(
        proof,
        issued.systems,
        by_policy.kind_of(issued),
        cluster=compared.cluster_by,
        lower_is_better=compared.lower_is_better,
    )
    if TASK not in union.labels:
        raise InputError(f"{proof}: no task of every row that both models agree on.")
    return union, rows
