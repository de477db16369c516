"""`certify`: decide, and write the certificate with its evidence beside it."""

import hashlib
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from assay.certificate.build import computed_fields
from assay.certificate.canonical import canonical_bytes, digest_of
from assay.certificate.coverage import Arms, windows_of
from assay.certificate.measure import check_direction, measure_of, policy_with, selection_with
from assay.certificate.policy_file import policy_of
from assay.certificate.record import Issued
from assay.certificate.rules import enforce, rules_of
from assay.certificate.schema import SCHEMA
from assay.certificate.signing import envelope_path, load_private_key, sign, withdraw_envelope
from assay.data import Selection, Table
from assay.data.readers.registry import named
from assay.data.runs import MANIFEST
from assay.data.sources import Source, tables_of
from assay.data.tables import check_used
from assay.data.writing import write_tables
from assay.design import Policy
from assay.errors import UsageError
from assay.files.places import check_outputs
from assay.files.writing import staged, together, write_bytes
from assay.version import VERSION


def certify(
    baseline: Source,
    subject: Source | None,
    output: str | PathLike[str],
    *,
    policy: Policy | str | PathLike[str] | None = None,
    models: tuple[str | None, str | None] = (None, None),
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    lower_is_better: bool | None = None,
    selection: Selection | None = None,
    sign_with: str | PathLike[str] | None = None,
    timestamp: bool = False,
) -> Issued:
    """May the subject replace the baseline? Writes ``output`` and, beside it, the evidence from which it was computed.

    The verdict is *pass*, *regression* or *insufficient evidence*; the interval's bound decides, not the point.
    ``policy`` is a `Policy` or a file of one. ``selection``, ``cluster`` and ``lower_is_better`` may not contradict it.
    """
    path = Path(output)
    check_outputs(written_files(path), [baseline, subject, sign_with, policy])
    policy = policy_with(policy_of(policy), selection, cluster=cluster, lower_is_better=lower_is_better).complete()
    if path.suffix != ".json":
        raise UsageError(f"the certificate must be a .json file, but got {str(output)!r}.")
    key = None if sign_with is None else load_private_key(Path(sign_with))
    picked = selection_with(policy, selection)
    first, second = tables_of(baseline, subject, models, columns, policy.cluster, picked, must_pick=False)
    check_used(Selection(newest=picked.newest), (first, second))
    check_direction((first, second), policy)
    # A policy is for losses and scores alike, and of losses the lower one is always the better.
    lower = None if first.kind == "losses" else policy.lower_is_better
    arms = Arms(first, second, policy.cluster or first.cluster_by, lower)
    enforce(rules_of(windows_of(arms), policy), policy)
    evidence = evidence_path(path)
    document = {
        "schema": SCHEMA,
        "meta": _meta(policy, timestamp=timestamp),
        "systems": {
            "baseline": _system(first, baseline),
            "subject": _system(second, baseline if subject is None else subject),
        },
        "measure": measure_of((first, second), policy),
        **computed_fields(arms, policy),
    }
    canonical_bytes(document)  # what cannot be written is refused before anything is
    envelope = envelope_path(path)
    with together():  # a certificate beside the evidence of another would be false
        rows = write_tables(evidence, {"baseline": first, "subject": second})
        document["evidence"] = {"file": evidence.name, "sha256": file_digest(staged(evidence)), "rows": rows}
        document["digest"] = digest_of(document)
        data = canonical_bytes(document)
        write_bytes(path, data)
        if key is not None:
            write_bytes(envelope, sign(data, key))
            said = None
        else:
            said = withdraw_envelope(envelope, data)
    return Issued(path, document, said)


def written_files(certificate: Path) -> tuple[Path, ...]:
    """Everything that `certify` writes: the certificate, its evidence and, if it is signed, the envelope."""
    return certificate, evidence_path(certificate), envelope_path(certificate)


def evidence_path(certificate: Path) -> Path:
    """CERT.json → CERT.evidence.parquet."""
    return certificate.with_name(certificate.stem + ".evidence.parquet")


def file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def _input_digest(table: Table, path: Path) -> str:
    """The digest of the file; of several files of a harness, that of their digests, in order."""
    files = table.about.get("files") or [path / MANIFEST if path.is_dir() else path]
    digests = sorted(file_digest(file) for file in files)
    return digests[0] if len(digests) == 1 else "sha256:" + hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _meta(policy: Policy, *, timestamp: bool) -> dict[str, Any]:
    return {
        "assay": VERSION,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds") if timestamp else None,
        "seeds": {"bootstrap": policy.seed},
    }


def _system(table: Table, source: Source) -> dict[str, Any]:
    path = named(source)[1] if isinstance(source, str | PathLike) else None
    digests = table.about.get("model", {}).get("digests", {})
    return {
        "name": table.name,
        "file": None if path is None else path.name,
        "sha256": None if path is None else _input_digest(table, path),
        "model": digests.get("model"),
        "tokenizer": digests.get("tokenizer"),
    }
