"""`verify`: is this certificate true? Everything that follows from the evidence is computed again."""

import re
from collections.abc import Iterator
from dataclasses import replace
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from assay.certificate.build import MADE_BY, TODAY, Versions, assumed, computed_facts
from assay.certificate.evidence import evidence_path, file_digest, read_both
from assay.certificate.gate.record import SCHEMA as GATE
from assay.certificate.gate.record import GateCertificate
from assay.certificate.gate.verify import gate_choices, gate_identity_faults, gate_recomputed
from assay.certificate.policy import applied, direction, issuers_choice, policy_as_stated, unmet
from assay.certificate.policy_file import policy_content, policy_of
from assay.certificate.record import FORMATS, SCHEMA, Certificate, as_today
from assay.certificate.rules import rules_of, windows_of
from assay.certificate.signing import (
    canonical_bytes,
    digest_of,
    envelope_path,
    load_public_key,
    parsed,
    signature_fault,
    signed_payload,
)
from assay.certificate.suite.policy import issuers_choice as choices_over_tasks
from assay.certificate.suite.record import SCHEMA as OVER_TASKS
from assay.certificate.suite.record import SuiteCertificate
from assay.certificate.suite.verify import suite_identity_faults, suite_recomputed
from assay.certificate.verification import (
    RECOMPUTED,
    FieldFault,
    Judged,
    JudgedInterval,
    Verification,
    as_issued,
    differences,
    fault,
    identity_faults,
    profile_faults,
)
from assay.data import Panel
from assay.data.runs.rates import RATES
from assay.design import Policy
from assay.errors import InputError, UsageError
from assay.files.reading import SETTINGS, TABLE, cannot_open, check_file, read_bytes
from assay.names import shown

EitherCertificate = Certificate | SuiteCertificate | GateCertificate

_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)
_FIELD = re.compile(r"^Object (missing required|contains unknown) field `(.*)`$", re.DOTALL)


def verify(
    certificate: str | PathLike[str],
    *,
    evidence: str | PathLike[str] | None = None,
    policy: Policy | str | PathLike[str] | None = None,
    public_key: str | PathLike[str] | None = None,
) -> Verification:
    """Check a certificate: schema, digest, signature, identities, evidence, and every recomputable field.

    Without evidence only the identities are checked, and the result says so. ``policy`` is the verifier's own, a
    `Policy` or a file of one: the evidence is judged by it, and what it leaves open is listed as the issuer's choice.

    >>> import assay, tempfile
    >>> before = {"item": list(range(400)), "score": [i % 5 > 0 for i in range(400)]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = assay.certify(before, before, f"{folder}/gate.json")
    ...     found = verify(f"{folder}/gate.json", policy=Policy(max_drop=0.005))
    >>> found.true, found.verdict, found.limit_of_issuer
    (True, 'insufficient evidence', 0.02)
    """
    path, own = Path(certificate), policy_of(policy)
    data = read_bytes(path, SETTINGS)
    document = parsed(data, str(path))
    check_version(path, document["schema"])
    issued = _typed(document)
    if isinstance(issued, FieldFault):
        return _untrue(path, own, ["schema"], [issued])
    checks = ["schema", "digest", "identities"]
    faults = [*_canonical_faults(data, document), *_contradictions(issued)]
    signature, found = _signature(path, data, public_key)
    checks += signature
    faults += found
    proof = Path(evidence) if evidence is not None else evidence_path(path)
    judged: Judged | None = None
    if evidence is not None or proof.exists():
        more, judged = _recomputed(document, issued, proof, own)
        checks.append(RECOMPUTED)
        faults += more
    elif own:
        raise InputError(f"{proof}: the evidence is missing, and a policy needs it; give it with `evidence=FILE`.")
    else:
        checks.append("nothing recomputed: there is no evidence beside the certificate (`evidence=FILE`)")
    if faults:
        return _untrue(path, own, checks, faults)
    return _true(path, own, checks, issued, judged or _unproved(issued))


def _contradictions(issued: EitherCertificate) -> list[FieldFault]:
    if isinstance(issued, GateCertificate):
        return gate_identity_faults(issued)
    return identity_faults(issued) if isinstance(issued, Certificate) else suite_identity_faults(issued)


def check_version(path: Path, found: object) -> None:
    """Refuse what is not a certificate of a format that is read."""
    if str(found) not in (*FORMATS, OVER_TASKS, GATE):
        what = f"not a certificate that this version of Assay reads: schema {shown(str(found))}"
        raise InputError(f"{path}: {what}, expected {SCHEMA!r}; issue it again with `assay certify`.")


def _unproved(issued: EitherCertificate) -> Judged:
    why = "The certificate agrees with itself, but nothing was recomputed: there is no evidence beside it."
    return Judged(issued, f"{why} It says: {issued.sentence}")


def _untrue(path: Path, own: Policy, checks: list[str], faults: list[FieldFault]) -> Verification:
    faults = sorted(faults, key=lambda one: one.field == "digest")  # last: that something changed says less than what
    more = "" if len(faults) == 1 else f" (and {len(faults) - 1} more)"
    return Verification(
        certificate=str(path),
        true=False,
        passed=False,
        verdict="not true",
        sentence=f"The certificate is not true: {faults[0]}{more}.",
        checks=tuple(checks),
        faults=tuple(faults),
        reasons=(),
        policy=policy_content(own),
        issuers_choice={},
    )


def _true(path: Path, own: Policy, checks: list[str], issued: EitherCertificate, found: Judged) -> Verification:
    judged, sentence = found.certificate, found.sentence
    limits, limit = judged.deciding
    if found.reasons:
        sentence = (
            f"The certificate is true but does not meet your policy: {'; '.join(found.reasons)}. "
            f"Its evidence, judged by your policy: {judged.sentence}"
        )
    return Verification(
        certificate=str(path),
        true=True,
        passed=judged.passed and not found.reasons,
        verdict=judged.verdict,
        sentence=sentence,
        checks=tuple(checks),
        faults=(),
        reasons=found.reasons,
        policy=policy_content(own),
        issuers_choice=_left_open(own, issued),
        interval=None if limits is None else JudgedInterval(*limits, judged.policy.level),
        limit=limit,
        limit_of_issuer=issued.deciding[1],
        decision=judged.decision if isinstance(judged, Certificate) else None,
        judged=judged,
    )


def _left_open(own: Policy, issued: EitherCertificate) -> dict[str, Any]:
    if isinstance(issued, GateCertificate):
        return gate_choices(own, issued)
    return issuers_choice(own, issued) if isinstance(issued, Certificate) else choices_over_tasks(own, issued)


# ---------------------------------------------------------------------------------------- is it a certificate at all


def _typed(document: dict[str, Any]) -> EitherCertificate | FieldFault:
    """The record, or the first violation of the schema. Nothing is converted."""
    try:
        found = next(_not_finite(document, ""), None)
        if found is not None:
            return found
        if document["schema"] == OVER_TASKS:
            return msgspec.convert(document, SuiteCertificate)
        if document["schema"] == GATE:
            return msgspec.convert(document, GateCertificate)
        return msgspec.convert(as_today(document), Certificate)
    except msgspec.ValidationError as error:
        return _schema_fault(str(error))
    except UnicodeEncodeError as error:
        return fault("schema", None, f"a text that is not UTF-8 ({error.reason})")


def _schema_fault(message: str) -> FieldFault:
    """A fault with the field that msgspec's message names."""
    found = _PLACE.match(message)
    what, place = (message, "") if found is None else (found["what"], found["path"] or "")
    field = _FIELD.match(what)
    if field is not None:
        place, what = (
            f"{place}.{field[2]}",
            "no such field" if field[1] == "contains unknown" else "the field is missing",
        )
    return fault(re.sub(r"\[(\d+)\]", r".\1", place).lstrip(".") or "schema", None, what)


def _not_finite(value: Any, place: str) -> Iterator[FieldFault]:
    """Find numbers that overflow (1e999 is valid JSON) and texts that cannot be encoded."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inside:
        yield from _not_finite(part, f"{place}.{name}".lstrip("."))
    if isinstance(value, float) and not isfinite(value):
        yield fault(place, value, "not a finite number")
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        yield fault(place, value, "not a text")


def _canonical_faults(data: bytes, document: dict[str, Any]) -> list[FieldFault]:
    faults = []
    if data != canonical_bytes(document):
        faults.append(fault("the file", "canonical JSON", "other bytes for the same content"))
    found = digest_of(document)
    if document["digest"] != found:
        faults.append(fault("digest", document["digest"], found))
    return faults


def _signature(path: Path, data: bytes, key: str | PathLike[str] | None) -> tuple[list[str], list[FieldFault]]:
    """What was checked of the signature, and its faults. Without a key, an envelope is only mentioned."""
    envelope = envelope_path(path)
    content = read_bytes(envelope, SETTINGS) if envelope.exists() else None
    if key is not None:
        wrong = signature_fault(data, content, load_public_key(Path(key)))
        return ["signature"], [] if wrong is None else [fault("signature", "valid", wrong)]
    if content is None:
        return [], []
    if signed_payload(content) != data:
        return [f"not signed: {envelope.name} beside it is not a signature of this certificate"], []
    return [f"signature not checked: {envelope.name} is beside it; give the public key with `public_key=PUB`"], []


# ------------------------------------------------------------------------------------------------ from the evidence


def _recomputed(
    document: dict[str, Any], issued: EitherCertificate, proof: Path, own: Policy
) -> tuple[list[FieldFault], Judged | None]:
    """Recompute from the evidence: the faults, and the judgement under the verifier's own policy."""
    digest = _digest(proof)
    changed = digest != issued.evidence.sha256
    faults = [fault("evidence.sha256", issued.evidence.sha256, digest)] if changed else []
    if isinstance(issued, SuiteCertificate):
        more, judged = suite_recomputed(document, issued, proof, own)
    elif isinstance(issued, GateCertificate):
        more, judged = gate_recomputed(document, issued, proof, own)
    else:
        more, judged = _recomputed_alone(document, issued, proof, own)
    return [*faults, *more], judged


def _recomputed_alone(
    document: dict[str, Any], issued: Certificate, proof: Path, own: Policy
) -> tuple[list[FieldFault], Judged | None]:
    faults: list[FieldFault] = []
    try:
        policy = policy_claimed(issued)
    except UsageError as error:
        return [*faults, fault("policy", "what was judged by", str(error))], None
    try:
        metric, cluster = issued.primary_metric, issued.stats.cluster_by
        union, rows = read_both(
            proof,
            issued.systems,
            "scores" if metric.kind == "score" else "losses",
            cluster=cluster,
            lower_is_better=metric.lower_is_better,
            per=RATES.get(metric.kind),
        )
        made = MADE_BY.get(issued.stats.bootstrap.version, TODAY)
        found = _facts(union, policy, issued, replace(made, form=FORMATS[document["schema"]]))
    except (InputError, UsageError) as error:
        return [*faults, fault("evidence", "the rows of the certificate", str(error))], None
    faults += differences("", as_today(document), as_issued(found, policy.design().seed, rows).to_dict())
    faults += profile_faults(found)
    if faults or not own:
        issued = issued if faults else issued.beside(assumed(windows_of(union), policy))
        return faults, Judged(issued, f"The certificate is true. {issued.sentence}")
    better = replace(union.metric, lower_is_better=direction(own, issued.primary_metric))
    judged = _facts(replace(union, metrics=(better, *union.metrics[1:])), applied(own, policy), issued)
    stated = msgspec.structs.replace(judged.policy, note=issued.policy.note)  # which is about the issuer's numbers
    judged = msgspec.structs.replace(judged, policy=stated).beside(assumed(windows_of(union), policy))
    reasons = tuple(unmet(own, issued, judged))
    return [], Judged(judged, f"The certificate is true. By your policy: {judged.sentence}", reasons)


def _digest(proof: Path) -> str:
    label = f"{proof}, the evidence"
    check_file(proof, TABLE, label=label)
    try:
        return file_digest(proof)
    except OSError as error:
        raise cannot_open(label, error) from error


def _facts(union: Panel, policy: Policy, issued: Certificate, versions: Versions = TODAY) -> Certificate:
    """The certificate with every fact recomputed from the evidence under this policy."""
    windows = windows_of(union)
    return msgspec.structs.replace(issued, **computed_facts(windows, policy, rules_of(windows, policy), versions))


def policy_claimed(issued: Certificate) -> Policy:
    """The policy that the certificate claims to be judged by."""
    return policy_as_stated(issued.policy, seed=issued.stats.bootstrap.seed)
