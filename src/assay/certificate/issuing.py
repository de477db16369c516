"""Write a certificate with its evidence and signature, all of them or none."""

import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from assay.certificate.evidence import evidence_path, file_digest, write_tables
from assay.certificate.fields import EvidenceFile, Issuer, Seeds
from assay.certificate.record import Issued, Written
from assay.certificate.signing import canonical_bytes, digest_of, envelope_path, sign, withdraw_envelope
from assay.data import Table
from assay.files.writing import staged, together, write_bytes
from assay.version import VERSION

NO_DIGEST = "sha256:" + "0" * 64  # until there is one

OneCertificate = TypeVar("OneCertificate", bound=Issued)


def written(path: Path, certificate: OneCertificate, tables: Mapping[str, Table], key: Any) -> OneCertificate:
    """Write the evidence, the certificate that names it and, with a key, its signature; all of them or none."""
    canonical_bytes(certificate.to_dict())  # what cannot be written is refused before anything is
    evidence, envelope = evidence_path(path), envelope_path(path)
    with together():  # a certificate beside the evidence of another would be false
        rows = write_tables(evidence, tables)
        proof = EvidenceFile(file=evidence.name, sha256=file_digest(staged(evidence)), rows=rows)
        certificate = msgspec.structs.replace(certificate, evidence=proof)
        certificate = msgspec.structs.replace(certificate, digest=digest_of(certificate.to_dict()))
        data = canonical_bytes(certificate.to_dict())
        write_bytes(path, data)
        if key is not None:
            write_bytes(envelope, sign(data, key))
        became = withdraw_envelope(envelope, data) if key is None else None
    return certificate.written_to(Written(path, became))


def issuer(seed: int, *, timestamp: bool) -> Issuer:
    """Who writes, with what."""
    return Issuer(
        assay=VERSION,
        python=platform.python_version(),
        numpy=np.__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds") if timestamp else None,
        seeds=Seeds(bootstrap=seed),
    )
