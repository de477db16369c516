"""`verify`: is this certificate true? Everything that follows from the evidence is computed again."""

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assay.analyses.result import Result, Row
from assay.certificate.build import computed_fields
from assay.certificate.canonical import canonical_bytes, digest_of, parsed
from assay.certificate.coverage import Arms
from assay.certificate.faults import Fault, differences
from assay.certificate.identities import identity_faults
from assay.certificate.issue import evidence_path, file_digest
from assay.certificate.record import certificate_rows
from assay.certificate.requirements import Requirements
from assay.certificate.schema import SCHEMA, Certificate
from assay.certificate.signing import envelope_path, load_public_key, signature_fault
from assay.data import read_table
from assay.data.columns import listed
from assay.data.readers import shown
from assay.design import Policy
from assay.errors import InputError, UsageError

RECOMPUTED = "evidence digest, and every field recomputed from the evidence"


@dataclass(frozen=True, slots=True)
class Verification(Result):
    """What checking a certificate found."""

    path: Path
    document: dict[str, Any]
    checks: tuple[str, ...]  # what was checked, in words
    faults: tuple[Fault, ...]
    verdict: str  # pass, regression, insufficient evidence, or "not true"
    reasons: tuple[str, ...]  # why a true certificate does not pass the verifier's own requirements
    sentence: str

    @property
    def true(self) -> bool:
        return not self.faults

    @property
    def recomputed(self) -> bool:
        """Were its numbers computed again from the evidence?"""
        return RECOMPUTED in self.checks

    @property
    def passed(self) -> bool:
        return self.true and self.verdict == "pass" and not self.reasons

    @property
    def exit_code(self) -> int:
        """0 true and passing, 1 true but not passing, 4 not true."""
        return 4 if self.faults else 0 if self.passed else 1

    def rows(self) -> list[Row]:
        rows: list[Row] = [("checked", check) for check in self.checks]
        rows += [("not true", str(fault)) for fault in self.faults]
        rows += [("not met", reason) for reason in self.reasons]
        return rows if self.faults else [*rows, ("verdict", self.verdict), *certificate_rows(self.document)]

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": "assay/verification/1",
            "certificate": str(self.path),
            "true": self.true,
            "passed": self.passed,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "checks": list(self.checks),
            "faults": [fault.to_dict() for fault in self.faults],
            "reasons": list(self.reasons),
        }


def verify(
    certificate: str | PathLike[str],
    *,
    evidence: str | PathLike[str] | None = None,
    requirements: Requirements | None = None,
    public_key: str | PathLike[str] | None = None,
) -> Verification:
    """Check a certificate: schema, digest, signature, identities, evidence, and every recomputable field.

    Without evidence only the identities are checked, and the result says so. ``requirements`` are the verifier's own.
    """
    path = Path(certificate)
    data = _read(path)
    document = parsed(data, str(path))
    if document["schema"] != SCHEMA:
        what = f"not a certificate that this version reads: schema {shown(str(document['schema']))}"
        raise InputError(f"{path}: {what}, expected {SCHEMA!r}; give a file that `assay certify` wrote.")
    checks, faults = ["schema"], _schema_faults(data)
    if faults:
        return _result(path, document, checks, faults, _Judged("", "not true"))
    checks += ["digest", "identities"]
    faults += _canonical_faults(data, document) + identity_faults(document)
    if public_key is not None:
        checks.append("signature")
        faults += _signature_faults(path, data, Path(public_key))
    proof = Path(evidence) if evidence is not None else evidence_path(path)
    if evidence is None and not proof.exists():
        if requirements:
            raise InputError(f"{proof}: the evidence is missing, and own limits need it; give it with --evidence FILE.")
        checks.append("nothing recomputed: there is no evidence beside the certificate (--evidence FILE)")
        judged = _Judged(
            f"The certificate agrees with itself, but nothing was recomputed: there is no evidence beside it. "
            f"It says: {document['decision']['sentence']}",
            document["decision"]["verdict"],
        )
    else:
        more, judged = _recomputed(document, proof, requirements or Requirements())
        checks.append(RECOMPUTED)
        faults += more
    return _result(path, document, checks, faults, judged)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What the evidence says under the verifier's limits."""

    sentence: str
    verdict: str
    reasons: tuple[str, ...] = ()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); give a file that `assay certify` wrote."
        ) from error


def _result(
    path: Path, document: dict[str, Any], checks: list[str], faults: list[Fault], judged: _Judged
) -> Verification:
    sentence, verdict = judged.sentence, judged.verdict
    if faults:
        more = "" if len(faults) == 1 else f" (and {len(faults) - 1} more)"
        sentence, verdict = f"The certificate is not true: {faults[0]}{more}.", "not true"
    elif judged.reasons:
        sentence = f"The certificate is true but does not meet the requirements: {'; '.join(judged.reasons)}."
    return Verification(path, document, tuple(checks), tuple(faults), verdict, judged.reasons, sentence)


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


def _signature_faults(path: Path, data: bytes, key: Path) -> list[Fault]:
    envelope = envelope_path(path)
    fault = signature_fault(data, _read(envelope) if envelope.exists() else None, load_public_key(key))
    return [] if fault is None else [Fault("signature", "valid", fault)]


def _recomputed(document: dict[str, Any], proof: Path, wanted: Requirements) -> tuple[list[Fault], _Judged]:
    """Faults of the recomputation; the verdict and open requirements under the verifier's own limits."""
    faults = []
    digest = _digest(proof)
    if digest != document["evidence"]["sha256"]:
        faults.append(Fault("evidence.sha256", document["evidence"]["sha256"], digest))
    try:
        policy = stated_policy(document)
    except UsageError as error:
        return [*faults, Fault("policy", "what was judged by", str(error))], _Judged("", "not true")
    try:
        arms, rows = _arms(document, proof)
        fields = computed_fields(arms, policy)
        own = computed_fields(arms, wanted.applied(policy)) if wanted else fields
    except (InputError, UsageError) as error:
        return [*faults, Fault("evidence", "the rows of the certificate", str(error))], _Judged("", "not true")
    for name, value in _as_issued(document, fields, policy, rows).items():
        faults += differences(name, document[name], value)
    faults += _profile_faults(fields)
    decision = own["decision"]
    sentence = f"The certificate is true. {'By your limits: ' if wanted else ''}{decision['sentence']}"
    return faults, _Judged(sentence, decision["verdict"], tuple(wanted.unmet(own)))


def _digest(proof: Path) -> str:
    try:
        return file_digest(proof)
    except OSError as error:
        raise InputError(
            f"{proof}: the evidence cannot be read ({error.strerror}); give it with --evidence FILE."
        ) from error


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
        note=stated["note"],
        max_ratio=changed.get("max_ratio"),
        max_drop=changed.get("max_drop"),
        min_windows=changed.get("windows"),
        replicates=changed.get("replicates"),
        seed=document["dataset"]["windows"]["stats"]["bootstrap"]["seed"],
    )


def _arms(document: dict[str, Any], proof: Path) -> tuple[Arms, int]:
    cluster = document["dataset"]["windows"]["stats"]["cluster_by"]
    table = read_table(proof, cluster=cluster)
    if table.models != ("baseline", "subject"):
        raise InputError(f"{proof}: the models must be baseline and subject, but it has {listed(table.models)}.")
    baseline, subject = (
        replace(table.select(role), name=document["systems"][role]["name"]) for role in ("baseline", "subject")
    )
    return Arms(baseline, subject, cluster, document["primary_metric"]["lower_is_better"]), len(table)
