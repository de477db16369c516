"""Compute a gate's certificate again from its evidence, and judge it by the verifier's own policy."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from assay.certificate.fields import Seeds
from assay.certificate.gate.build import gate_facts
from assay.certificate.gate.plan import alpha_of, as_it_follows, order_digest
from assay.certificate.gate.record import GateCertificate
from assay.certificate.policy import PICKS, applied, policy_as_stated
from assay.certificate.rules import union_of
from assay.certificate.sentences import NOT_STATED
from assay.certificate.verification import FieldFault, Judged, differences, fault, profile_faults
from assay.data import Panel
from assay.data.reading import read_parquet
from assay.design import STRICTNESS, Policy
from assay.errors import InputError, UsageError
from assay.names import listed, shown


def gate_identity_faults(issued: GateCertificate) -> list[FieldFault]:
    """Contradictions between fields: what follows from the plan, the plan and the policy, the looks and the plan."""
    try:
        follows = as_it_follows(issued.plan)
    except (InputError, UsageError, ValueError, ArithmeticError, IndexError) as error:
        return [fault("plan", "a plan", str(error) or type(error).__name__)]
    found = differences("plan", _plain(issued.plan), _plain(follows))
    if issued.plan.limit != issued.policy.limits.max_ratio:
        found.append(fault("plan.limit", issued.plan.limit, issued.policy.limits.max_ratio))
    found += differences("plan.alpha", issued.plan.alpha, alpha_of(issued.policy.level))
    if not 1 <= len(issued.looks) <= len(issued.plan.looks):
        return [*found, fault("looks", len(issued.looks), f"1 to {len(issued.plan.looks)}")]
    for k, look in enumerate(issued.looks):
        planned, last = issued.plan.looks[k], k + 1 == len(issued.looks)
        if look.windows != planned.windows:
            found.append(fault(f"looks.{k}.windows", look.windows, planned.windows))
        if (look.outcome == "continue") is last:
            found.append(fault(f"looks.{k}.outcome", look.outcome, "the end" if last else "continue"))
    return found + _tokens_faults(issued)


def _tokens_faults(issued: GateCertificate) -> list[FieldFault]:
    """Tokens of windows that were not scored are not in the evidence: each has at least 1, and at most a context."""
    last, stated = issued.looks[-1], issued.found.tokens_planned
    left = issued.plan.windows - last.windows
    least, most = last.tokens + left, last.tokens + left * issued.plan.context
    return [] if least <= stated <= most else [fault("found.tokens_planned", stated, f"{least} to {most}")]


def _plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def gate_recomputed(
    document: dict[str, Any], issued: GateCertificate, proof: Path, own: Policy
) -> tuple[list[FieldFault], Judged | None]:
    """Recompute from the evidence: the faults, and the judgement under the verifier's own policy."""
    if gate_identity_faults(issued):
        return [], None  # which are reported already, and by a plan that contradicts itself nothing can be computed
    try:
        policy = policy_claimed(issued)
    except UsageError as error:
        return [fault("policy", "what was judged by", str(error))], None
    try:
        union, rows = _union(issued, proof)
        found = _facts(union, policy, issued)
    except (InputError, UsageError, OverflowError) as error:
        return [fault("evidence", "the rows of the certificate", str(error))], None
    faults = [*_information_faults(issued, union), *differences("", document, _as_issued(found, rows).to_dict())]
    faults += profile_faults(found)
    if faults:
        return faults, None
    if not own:
        return [], Judged(issued, f"The certificate is true. {issued.sentence}")
    judged = _facts(union, applied(own, policy), issued)
    stated = msgspec.structs.replace(judged.policy, note=issued.policy.note)  # which is about the issuer's numbers
    judged = msgspec.structs.replace(judged, policy=stated)
    return [], Judged(judged, f"The certificate is true. By your policy: {judged.sentence}", tuple(_unmet(own, issued)))


def _information_faults(issued: GateCertificate, union: Panel) -> list[FieldFault]:
    """The information of the looks that were taken, and the order of a plan that went to its end."""
    from assay.certificate.gate.build import Ordered, seen_in

    ordered, found = Ordered.of(union, issued.plan), []
    for k, look in enumerate(issued.plan.looks[: len(issued.looks)]):
        part = ordered.first(look.windows)
        units = part.n if part.n_clusters is None else part.n_clusters
        if units != look.units:
            found.append(fault(f"plan.looks.{k}.units", look.units, units))
        found += differences(f"plan.looks.{k}.effective", look.effective, seen_in(part, issued.plan).effective)
    if ordered.panel.n == issued.plan.windows:
        found += differences("plan.order", issued.plan.order, order_digest([str(name) for name in ordered.panel.ids]))
    return found


def _facts(union: Panel, policy: Policy, issued: GateCertificate) -> GateCertificate:
    """The certificate with every fact recomputed from the evidence under this policy."""
    return msgspec.structs.replace(issued, **gate_facts(union, issued.plan, policy, issued.found.tokens_planned))


def _as_issued(found: GateCertificate, rows: int) -> GateCertificate:
    """The recomputed facts, with what only the issuer knows (version, file names) as stated."""
    version = ".".join(found.meta.assay.split(".")[:2])
    return msgspec.structs.replace(
        found,
        meta=msgspec.structs.replace(found.meta, seeds=Seeds(bootstrap=found.plan.seed)),
        evidence=msgspec.structs.replace(found.evidence, rows=rows),
        signature=f"assay:{version}|{found.signature.partition('|')[2]}",
    )


def policy_claimed(issued: GateCertificate) -> Policy:
    """The policy that the certificate claims to be judged by."""
    return policy_as_stated(issued.policy, seed=issued.plan.seed, cluster=issued.plan.cluster_by)


def _union(issued: GateCertificate, proof: Path) -> tuple[Panel, int]:
    """The windows of both systems in the evidence, and how many rows it has."""
    cluster = issued.plan.cluster_by
    table = read_parquet(proof, kind="losses", cluster=cluster)
    if table.models != ("baseline", "subject"):
        raise InputError(f"{proof}: the models must be baseline and subject, but it has {listed(table.models)}.")
    baseline, subject = (
        replace(table.select(role), name=getattr(issued.systems, role).name) for role in ("baseline", "subject")
    )
    return union_of(baseline, subject, cluster=cluster, lower_is_better=None), len(table)


# ------------------------------------------------------------------------------------------- the verifier's own policy


def _unmet(own: Policy, issued: GateCertificate) -> list[str]:
    """The verifier's demands that the certificate does not meet, except for the verdict."""
    stated, plan = issued.policy, issued.plan
    found = [f"of one text, and the policy has limits of several ({', '.join(own.of_tasks)})"] if own.of_tasks else []
    if own.fixed("max_ratio") is None and own.fixed("max_drop") is not None:
        found.append("about perplexity, and the policy limits scores only (max_drop); max_ratio required")
    floor = own.design().level
    if stated.level < floor:
        found.append(f"intervals at the level {stated.level}, at least {floor} required")
    least = own.fixed("min_windows")
    if least is not None and plan.windows < least:
        found.append(f"{plan.windows} planned windows, at least {least} required")
    if own.cluster is not None and plan.cluster_by != own.cluster:
        had = "without clusters" if plan.cluster_by is None else f"with the clusters {shown(plan.cluster_by)}"
        found.append(f"issued {had}, {shown(own.cluster)} required")
    if own.profile is not None:
        order = STRICTNESS["profile"]
        if order.index(stated.profile) < order.index(own.profile):
            found.append(f"issued under the profile {stated.profile}, {own.profile} required")
        found += [f"{name}: {detail}" for name, detail in issued.broken.items()]
    for name in PICKS:
        wanted, said = getattr(own, name), getattr(issued.measure, name)
        if wanted is not None and wanted != said:
            found.append(f"{name} {NOT_STATED if said is None else shown(said)}, {shown(wanted)} required")
    return found


def gate_choices(own: Policy, issued: GateCertificate) -> dict[str, Any]:
    """Fields that the policy left to the issuer, with the issuer's choices."""
    chosen: dict[str, Any] = {
        "max_ratio": issued.decision.limit,
        "min_windows": issued.policy.limits.windows,
        "seed": issued.plan.seed,
        "profile": issued.policy.profile,
        "cluster": issued.plan.cluster_by,
    }
    if not own:
        chosen["level"] = issued.policy.level
    left = {name: value for name, value in chosen.items() if own.fixed(name) is None}
    lengths = "ignored" if issued.plan.lengths is msgspec.UNSET else issued.plan.lengths
    return left | {"looks": len(issued.plan.looks), "spending": issued.plan.spending, "lengths": lengths}
