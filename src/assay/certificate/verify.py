"""`verify`: is this certificate true? Everything that follows from the evidence is computed again."""

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assay.analyses.result import Result, Row
from assay.certificate.build import computed_fields
from assay.certificate.canonical import canonical_bytes, digest_of, parsed, rounded_exp
from assay.certificate.coverage import Arms
from assay.certificate.issue import evidence_path, file_digest
from assay.certificate.record import certificate_rows
from assay.certificate.requirements import Requirements
from assay.certificate.schema import Certificate
from assay.certificate.signing import envelope_path, load_public_key, signature_fault
from assay.data import read_table
from assay.design import Policy
from assay.errors import InputError, UsageError

TOLERANCE = 1e-9  # relative: recomputed on another machine the last printed digits may differ


@dataclass(frozen=True, slots=True)
class Fault:
    """A field that is not true: what the certificate states and what was found."""

    field: str
    stated: Any
    found: Any

    def __str__(self) -> str:
        return f"{self.field}: stated {self.stated!r}, found {self.found!r}"


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
            "faults": [{"field": f.field, "stated": f.stated, "found": f.found} for f in self.faults],
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
    checks, faults = ["schema"], _schema_faults(data)
    if faults:
        return _result(path, document, checks, faults, "not true", ())
    checks += ["digest", "identities"]
    faults += _canonical_faults(data, document) + _identity_faults(document)
    if public_key is not None:
        checks.append("signature")
        faults += _signature_faults(path, data, Path(public_key))
    proof = Path(evidence) if evidence is not None else evidence_path(path)
    verdict: str = document["decision"]["verdict"]
    reasons: list[str] = []
    if evidence is None and not proof.exists():
        checks.append("nothing recomputed: there is no evidence beside the certificate (--evidence FILE)")
        if requirements:
            raise InputError(f"{proof}: the evidence is missing, and own limits need it; give it with --evidence FILE.")
    else:
        more, verdict, reasons = _recomputed(document, proof, requirements or Requirements())
        checks.append("evidence digest, and every field recomputed from the evidence")
        faults += more
    return _result(path, document, checks, faults, "not true" if faults else verdict, tuple(reasons))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); give a file that `assay certify` wrote."
        ) from error


def _result(
    path: Path, document: dict[str, Any], checks: list[str], faults: list[Fault], verdict: str, reasons: tuple[str, ...]
) -> Verification:
    if faults:
        more = "" if len(faults) == 1 else f" (and {len(faults) - 1} more)"
        sentence = f"The certificate is not true: {faults[0]}{more}."
    elif reasons:
        sentence = f"The certificate is true but does not meet the requirements: {'; '.join(reasons)}."
    else:
        sentence = f"The certificate is true. {document['decision']['sentence']}"
    return Verification(path, document, tuple(checks), tuple(faults), verdict, reasons, sentence)


def _schema_faults(data: bytes) -> list[Fault]:
    try:
        Certificate.model_validate_json(data)
    except ValidationError as error:
        return [
            Fault(".".join(map(str, e["loc"])) or "schema", e.get("input"), e["msg"])
            for e in error.errors(include_url=False, include_context=False)
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


def _identity_faults(document: dict[str, Any]) -> list[Fault]:
    """P8, in the printed digits."""
    metric, ppl = document["primary_metric"], document["ppl"]
    pairs = []
    if metric["kind"] == "perplexity" and ppl is not None:
        pairs += [
            ("primary_metric.display_ci", metric["display_ci"], [rounded_exp(x) for x in metric["ci"]]),
            ("ppl.ratio_ci", ppl["ratio_ci"], [rounded_exp(x) for x in ppl["logloss_delta_ci"]]),
            (
                "ppl.preview_final_ratio",
                ppl["preview_final_ratio"],
                rounded_exp(ppl["stats"]["paired_delta_summary"]["mean"]),
            ),
            (
                "primary_metric.ratio_vs_baseline",
                metric["ratio_vs_baseline"],
                rounded_exp(metric["difference_vs_baseline"]),
            ),
        ]
    return [Fault(name, stated, found) for name, stated, found in pairs if stated != found]


def _signature_faults(path: Path, data: bytes, key: Path) -> list[Fault]:
    envelope = envelope_path(path)
    fault = signature_fault(data, envelope.read_bytes() if envelope.exists() else None, load_public_key(key))
    return [] if fault is None else [Fault("signature", "valid", fault)]


def _recomputed(document: dict[str, Any], proof: Path, wanted: Requirements) -> tuple[list[Fault], str, list[str]]:
    """Faults of the recomputation; the verdict and open requirements under the verifier's own limits."""
    faults = []
    if not proof.is_file():
        raise InputError(f"{proof}: the evidence cannot be read; give it with --evidence FILE.")
    digest = file_digest(proof)
    if digest != document["evidence"]["sha256"]:
        faults.append(Fault("evidence.sha256", document["evidence"]["sha256"], digest))
    try:
        policy = stated_policy(document)
        arms, rows = _arms(document, proof)
        fields = computed_fields(arms, policy) | {"evidence": {**document["evidence"], "rows": rows}}
        own = computed_fields(arms, wanted.applied(policy))
    except (InputError, UsageError) as error:
        return [*faults, Fault("evidence", "the rows of the certificate", str(error))], "not true", []
    fields["meta"] = {**document["meta"], "seeds": {"bootstrap": policy.seed}}
    for name, value in fields.items():
        faults += _differences(name, document[name], value)
    return faults, own["decision"]["verdict"], wanted.unmet(own)


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
    baseline, subject = (
        replace(table.select(role), name=document["systems"][role]["name"]) for role in ("baseline", "subject")
    )
    return Arms(baseline, subject, cluster, document["primary_metric"]["lower_is_better"]), len(table)


def _differences(name: str, stated: Any, found: Any) -> list[Fault]:
    """Leaf by leaf; numbers may differ in their last printed digits."""
    if isinstance(stated, dict) and isinstance(found, dict):
        keys = sorted(stated.keys() | found.keys())
        return [f for key in keys for f in _differences(f"{name}.{key}", stated.get(key), found.get(key))]
    if isinstance(stated, list) and isinstance(found, list) and len(stated) == len(found):
        return [
            f for i, (a, b) in enumerate(zip(stated, found, strict=True)) for f in _differences(f"{name}.{i}", a, b)
        ]
    if _same(stated, found):
        return []
    return [Fault(name, stated, found)]


def _same(stated: Any, found: Any) -> bool:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (stated, found))
    if numbers:
        return bool(abs(stated - found) <= TOLERANCE * max(abs(stated), abs(found)))
    return bool(stated == found and type(stated) is type(found))
