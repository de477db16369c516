"""`verify`: is this certificate true? Everything that follows from the evidence is computed again."""

from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assay.certificate.acceptance import applied, direction, issuers_choice, unmet
from assay.certificate.build import computed_fields
from assay.certificate.canonical import canonical_bytes, digest_of, parsed
from assay.certificate.coverage import Arms
from assay.certificate.faults import Fault, differences
from assay.certificate.identities import identity_faults
from assay.certificate.issue import evidence_path, file_digest
from assay.certificate.policy_file import policy_of
from assay.certificate.schema import Certificate
from assay.certificate.signing import envelope_path, load_public_key, signature_fault, signed_payload
from assay.certificate.verification import RECOMPUTED, Verification
from assay.certificate.versions import check_version
from assay.data import read_table
from assay.design import Policy
from assay.errors import InputError, UsageError
from assay.files.reading import SETTINGS, TABLE, cannot_open, check_file, read_bytes
from assay.names import listed


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
    """
    path, own = Path(certificate), policy_of(policy)
    data = read_bytes(path, SETTINGS)
    document = parsed(data, str(path))
    check_version(path, document)
    checks, faults = ["schema"], _schema_faults(data)
    if faults:
        return _result(path, document, checks, faults, _Judged(own, "", "not true"))
    checks += ["digest", "identities"]
    faults += _canonical_faults(data, document) + identity_faults(document)
    signature, found = _signature(path, data, public_key)
    checks += signature
    faults += found
    proof = Path(evidence) if evidence is not None else evidence_path(path)
    if evidence is None and not proof.exists():
        if own:
            raise InputError(f"{proof}: the evidence is missing, and a policy needs it; give it with --evidence FILE.")
        checks.append("nothing recomputed: there is no evidence beside the certificate (--evidence FILE)")
        judged = _unproved(document)
    else:
        more, judged = _recomputed(document, proof, own)
        checks.append(RECOMPUTED)
        faults += more
    return _result(path, document, checks, faults, judged)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What the evidence says under the verifier's policy."""

    policy: Policy
    sentence: str
    verdict: str
    fields: dict[str, Any] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()


def _unproved(document: dict[str, Any]) -> _Judged:
    decision = document["decision"]
    sentence = (
        f"The certificate agrees with itself, but nothing was recomputed: there is no evidence beside it. "
        f"It says: {decision['sentence']}"
    )
    return _Judged(Policy(), sentence, decision["verdict"])


def _result(
    path: Path, document: dict[str, Any], checks: list[str], faults: list[Fault], judged: _Judged
) -> Verification:
    sentence, verdict, own = judged.sentence, judged.verdict, judged.policy
    choices = {} if faults else issuers_choice(own, document)
    if faults:
        more = "" if len(faults) == 1 else f" (and {len(faults) - 1} more)"
        sentence, verdict = f"The certificate is not true: {faults[0]}{more}.", "not true"
    elif judged.reasons:
        sentence = (
            f"The certificate is true but does not meet your policy: {'; '.join(judged.reasons)}. "
            f"Its evidence, judged by your policy: {_said(judged.fields)}"
        )
    return Verification(
        path,
        document,
        tuple(checks),
        tuple(faults),
        verdict,
        judged.reasons,
        sentence,
        own,
        document | judged.fields,
        choices,
    )


def _schema_faults(data: bytes) -> list[Fault]:
    try:
        Certificate.model_validate_json(data)
    except ValidationError as error:
        return [
            # For these two pydantic gives the whole document as the input.
            Fault(".".join(map(str, e["loc"])) or "schema", None if whole else e["input"], e["msg"])
            for e in error.errors(include_url=False, include_context=False)
            for whole in [e["type"] in ("missing", "json_invalid")]
        ]
    return []


def _canonical_faults(data: bytes, document: dict[str, Any]) -> list[Fault]:
    faults = []
    if data != canonical_bytes(document):
        faults.append(Fault("the file", "canonical JSON", "other bytes for the same content"))
    found = digest_of(document)
    if document["digest"] != found:
        faults.append(Fault("digest", document["digest"], found))
    return faults


def _signature(path: Path, data: bytes, key: str | PathLike[str] | None) -> tuple[list[str], list[Fault]]:
    """What was checked of the signature, and what is wrong with it. Without a key an envelope is only told of."""
    envelope = envelope_path(path)
    content = read_bytes(envelope, SETTINGS) if envelope.exists() else None
    if key is not None:
        fault = signature_fault(data, content, load_public_key(Path(key)))
        return ["signature"], [] if fault is None else [Fault("signature", "valid", fault)]
    if content is None:
        return [], []
    if signed_payload(content) != data:
        return [f"not signed: {envelope.name} beside it is not a signature of this certificate"], []
    return [f"signature not checked: {envelope.name} is beside it; give the public key with --key PUB"], []


def _recomputed(document: dict[str, Any], proof: Path, own: Policy) -> tuple[list[Fault], _Judged]:
    """Faults of the recomputation; the verdict and what is not met under the verifier's own policy."""
    faults = []
    digest = _digest(proof)
    if digest != document["evidence"]["sha256"]:
        faults.append(Fault("evidence.sha256", document["evidence"]["sha256"], digest))
    try:
        policy = stated_policy(document)
    except UsageError as error:
        return [*faults, Fault("policy", "what was judged by", str(error))], _Judged(own, "", "not true")
    try:
        arms, rows = _arms(document, proof)
        fields = computed_fields(arms, policy)
    except (InputError, UsageError) as error:
        return [*faults, Fault("evidence", "the rows of the certificate", str(error))], _Judged(own, "", "not true")
    for name, value in _as_issued(document, fields, policy, rows).items():
        faults += differences(name, document[name], value)
    faults += _profile_faults(fields)
    if faults or not own:
        return faults, _Judged(own, f"The certificate is true. {_said(fields)}", fields["decision"]["verdict"], fields)
    lower = direction(own, document["primary_metric"])
    judged = computed_fields(replace(arms, lower_is_better=lower), applied(own, policy))
    judged["policy"]["note"] = document["policy"]["note"]  # which is about the issuer's numbers, and no reason for ours
    sentence = f"The certificate is true. By your policy: {_said(judged)}"
    return [], _Judged(own, sentence, judged["decision"]["verdict"], judged, tuple(unmet(own, document, judged)))


def _said(fields: dict[str, Any]) -> str:
    return str(fields["decision"]["sentence"])


def _digest(proof: Path) -> str:
    label = f"{proof}, the evidence"
    check_file(proof, TABLE, label=label)
    try:
        return file_digest(proof)
    except OSError as error:
        raise cannot_open(label, error) from error


def _as_issued(document: dict[str, Any], fields: dict[str, Any], policy: Policy, rows: int) -> dict[str, Any]:
    """The recomputed fields beside what only the issuer knows: its version, file names."""
    version = ".".join(document["meta"]["assay"].split(".")[:2])
    return fields | {
        "meta": {**document["meta"], "seeds": {"bootstrap": policy.seed}},
        "evidence": {**document["evidence"], "rows": rows},
        "signature": f"assay:{version}|{fields['signature'].partition('|')[2]}",
    }


def _profile_faults(fields: dict[str, Any]) -> list[Fault]:
    """A certificate that breaks a rule is only ever issued under `dev`."""
    profile = fields["policy"]["profile"]
    broken = [rule["name"] for rule in fields["rules"] if not rule["ok"]]
    if profile == "dev" or not broken:
        return []
    return [Fault("policy.profile", profile, f"dev, for these rules are broken: {', '.join(broken)}")]


def stated_policy(document: dict[str, Any]) -> Policy:
    """The policy that the certificate says it was judged by."""
    stated = document["policy"]
    changed = {name: stated["limits"][name] for name in stated["overrides"] if name in stated["limits"]}
    return Policy(
        tier=stated["tier"],
        profile=stated["profile"],
        level=stated["level"],
        weights=stated["weights"],
        note=stated["note"],
        max_ratio=changed.get("max_ratio"),
        max_drop=changed.get("max_drop"),
        min_windows=changed.get("windows"),
        replicates=changed.get("replicates"),
        seed=document["dataset"]["windows"]["stats"]["bootstrap"]["seed"],
    ).complete()


def _arms(document: dict[str, Any], proof: Path) -> tuple[Arms, int]:
    cluster = document["dataset"]["windows"]["stats"]["cluster_by"]
    table = read_table(proof, cluster=cluster)
    if table.models != ("baseline", "subject"):
        raise InputError(f"{proof}: the models must be baseline and subject, but it has {listed(table.models)}.")
    baseline, subject = (
        replace(table.select(role), name=document["systems"][role]["name"]) for role in ("baseline", "subject")
    )
    return Arms(baseline, subject, cluster, document["primary_metric"]["lower_is_better"]), len(table)
