"""Certificates over tasks that earlier versions issued, with their evidence: each must still be true, and no forgery.

`python -m tools.make_suite_certificates` writes a folder for a version, and never writes one again.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from assay.certificate.suite import sentences
from assay.certificate.suite.record import SuiteCertificate
from assay.certificate.verify import verify
from tests.certificate.alterations import last_place
from tests.certificate.samples import evidence_of, load, save
from tools.make_suite_certificates import FOLDER, KINDS

EXPECTED: dict[Path, dict[str, Any]] = {
    folder / f"{name}.json": said
    for folder in sorted(FOLDER.iterdir())
    for name, said in json.loads((folder / "expected.json").read_text(encoding="utf-8")).items()
}


@pytest.mark.parametrize("certificate", EXPECTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_certificate_of_an_earlier_version_is_true_and_says_the_same(certificate: Path) -> None:
    expected = EXPECTED[certificate]
    found = verify(certificate, public_key=certificate.with_name("signer.pub") if expected["signed"] else None)
    assert (found.true, found.recomputed, found.faults) == (True, True, ())
    assert isinstance(found.judged, SuiteCertificate)
    judged = found.judged
    assert (found.verdict, list(judged.total.ci or ())) == (expected["verdict"], expected["ci"])
    not_met = [f"{one.of} {one.name} {one.limit}" for one in judged.limits if one.outcome == "not met"]
    assert (not_met, sorted(judged.broken)) == (expected["not_met"], expected["broken"])
    assert ("signature" in found.checks) is expected["signed"]


@pytest.mark.parametrize("certificate", EXPECTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_forgery_of_it_is_not(certificate: Path, tmp_path: Path) -> None:
    document = load(certificate)
    document["tasks"][0]["adjusted_p"] = last_place(document["tasks"][0]["adjusted_p"]) * 0.999
    found = verify(save(tmp_path / "forged.json", document), evidence=evidence_of(certificate))
    assert [fault.field for fault in found.faults] == ["tasks.0.adjusted_p"]


def test_every_verdict_rule_and_kind_is_among_them() -> None:
    found = [SuiteCertificate.from_dict(load(path)) for path in EXPECTED]
    assert {path.stem for path in EXPECTED} == set(KINDS)
    assert {one.verdict for one in found} == {"pass", "fail", "undecided"}
    assert {one.decision.rule for one in found} == {"total bound, shown drops", "every bound"}
    assert {one.comparison.kind for one in found} == {"score", "perplexity"}
    assert {one.policy.total_weights for one in found} == {"macro", "given"}
    assert {limit.outcome for one in found for limit in one.limits} == {"met", "not met", "open"}
    assert any(row.costs for one in found for row in (one.total, *one.tasks))


def test_rewording_breaks_no_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prose is made when it is shown: other words for everything, and every certificate is as true as before."""
    monkeypatch.setattr(sentences, "sentence_of", lambda _: "Other words.")
    for path in EXPECTED:
        found = verify(path)
        assert (found.true, found.sentence) == (True, "The certificate is true. Other words.")
