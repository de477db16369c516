"""What an earlier certificate certified, as the baseline of the next one: its rows are in the evidence."""

from dataclasses import replace
from os import PathLike
from pathlib import Path

import msgspec

from assay.certificate.evidence import evidence_path
from assay.certificate.fields import BothSystems, ComparedSystem
from assay.certificate.gate.record import GateCertificate
from assay.certificate.inputs import Given
from assay.certificate.record import Certificate
from assay.certificate.suite.record import SuiteCertificate
from assay.data import Panel, Table
from assay.data.metrics import Kind
from assay.data.reading import read_parquet
from assay.data.sources import Source
from assay.errors import InputError, UsageError


def released(certificate: str | PathLike[str]) -> tuple[Table, ComparedSystem]:
    """The rows of the subject of a certificate that is true and passes, and what is said of it.

    It is recomputed first: a forged release would make every later one pass. Its file is the evidence.
    """
    from assay.certificate.verify import verify  # late: few gates need it

    path = Path(certificate)
    found = verify(path)
    issued = found.judged
    if issued is None:
        raise InputError(f"{path}: {found.sentence} Take the certificate as it was issued.")
    if not found.recomputed:
        raise InputError(
            f"{evidence_path(path)}: there is no evidence beside the certificate, and its rows are the baseline; put "
            "it there."
        )
    if not found.passed:
        raise InputError(
            f"{path}: its verdict is {issued.verdict!r}, so that it certified no release; name the certificate of the "
            "model in use."
        )
    table = read_parquet(evidence_path(path), kind=_kind(issued))
    said = issued.systems.subject
    rows = replace(table.select("subject"), name=said.name)
    return rows, msgspec.structs.replace(said, file=issued.evidence.file, sha256=issued.evidence.sha256)


def _kind(issued: Certificate | SuiteCertificate | GateCertificate) -> Kind:
    if isinstance(issued, SuiteCertificate):
        return "losses" if issued.losses else "scores"
    return "scores" if isinstance(issued, Certificate) and issued.primary_metric.kind == "score" else "losses"


def check_against(baseline: Source | Panel | None, subject: Source | None) -> None:
    """Refuse a second baseline, and what is missing."""
    if baseline is not None:
        raise UsageError("`against` is the baseline: with it, give only the subject.")
    if subject is None or isinstance(subject, Panel):
        raise UsageError("`against` needs the results of the subject: a file, a run, a table or scores.")


def with_release(given: Given, said: ComparedSystem) -> Given:
    """The two systems, the first as its certificate describes it."""
    return replace(given, systems=BothSystems(baseline=said, subject=given.systems.subject))
