"""Certificates that earlier versions issued, with their evidence: each must still be true, and no forgery of it may be.

`python -m tools.make_certificates` writes a folder for a version, and never writes one again.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from assay.certificate import sentences
from assay.certificate.record import Certificate
from assay.certificate.verify import verify
from tests.certificate.alterations import last_place
from tests.certificate.samples import evidence_of, load, save
from tools.make_certificates import KINDS

FOLDERS = sorted(path for path in (Path(__file__).parent / "fixtures").iterdir() if path.is_dir())
EXPECTED: dict[Path, dict[str, Any]] = {
    folder / f"{name}.json": said
    for folder in FOLDERS
    for name, said in json.loads((folder / "expected.json").read_text(encoding="utf-8")).items()
}


@pytest.mark.parametrize("certificate", EXPECTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_certificate_of_an_earlier_version_is_true_and_says_the_same(certificate: Path) -> None:
    expected = EXPECTED[certificate]
    key = certificate.with_name("signer.pub") if expected["signed"] else None
    found = verify(certificate, public_key=key)
    assert (found.true, found.recomputed, found.faults) == (True, True, ())
    assert found.verdict == expected["verdict"]
    assert isinstance(found.judged, Certificate)
    assert list(found.judged.primary_metric.ci) == expected["ci"]
    assert sorted(found.judged.broken) == expected["broken"]
    assert ("signature" in found.checks) is expected["signed"]


@pytest.mark.parametrize("certificate", EXPECTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_forgery_of_it_is_not(certificate: Path, tmp_path: Path) -> None:
    document = load(certificate)
    document["primary_metric"]["test_p_value"] = last_place(document["primary_metric"]["test_p_value"]) * 0.9
    found = verify(save(tmp_path / "forged.json", document), evidence=evidence_of(certificate))
    assert [fault.field for fault in found.faults] == ["primary_metric.test_p_value"]


@pytest.mark.parametrize("certificate", [path for path in EXPECTED if path.stem == "losses-signed"], ids=str)
def test_a_field_of_a_later_format_is_none_of_an_earlier_one(certificate: Path, tmp_path: Path) -> None:
    """A format says which fields there are: one with others is not true, however its digest was made."""
    document, other = load(certificate), {"assay/certificate/2": "assay/certificate/3"}
    relabelled = document | {"schema": other.get(document["schema"], "assay/certificate/2")}
    found = verify(save(tmp_path / "forged.json", relabelled), evidence=evidence_of(certificate))
    assert not found.true
    added = ("published", "policy.method", "drift.ci", "drift.degrees_of_freedom", "dataset.windows.stats.differing")
    assert found.faults[0].field in added


def test_there_are_enough_of_them_and_every_kind_was_issued() -> None:
    assert len(KINDS) >= 12
    assert all(
        {f"{name}.json" for name in KINDS} >= {path.name for path in EXPECTED if path.parent == f} for f in FOLDERS
    )


def test_every_verdict_rule_method_and_fallback_is_among_them() -> None:
    found = [Certificate.from_dict(load(path)) for path in EXPECTED]
    assert {one.verdict for one in found} == {"pass", "regression", "insufficient evidence"}
    broken = {name for one in found for name in one.broken}
    assert broken == {"pairing", "overlap", "equal counts", "equal weights", "preview minimum", "final minimum"}
    methods = {"bca", "t-hall", "tango", "degenerate", "bca-plain", "percentile"}
    assert {one.stats.bootstrap.method for one in found} == methods
    assert {(one.policy.method, one.policy.scheme) for one in found} >= {("bca-plain", "tokens"), ("auto", "windows")}
    assert {one.stats.bootstrap.scheme for one in found} == {"tokens", "windows", None}
    used = {fallback.used for one in found for fallback in one.stats.bootstrap.fallbacks}
    assert used == {"collapsed interval", "random sign flips", "smoothed sign flips"}
    assert {one.primary_metric.agreement for one in found} == {None, "limit set to 0"}
    assert any(one.primary_metric.rounded for one in found)


def test_rewording_breaks_no_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prose is made when it is shown: other words for everything, and every certificate is as true as before."""
    before = {path: verify(path).sentence for path in EXPECTED}
    for name in ("decided", "scheme", "fallback", "rule_detail"):
        monkeypatch.setattr(sentences, name, lambda *_: "Other words.")
    monkeypatch.setattr(sentences, "notes", lambda _: ["Other words."])
    for path, said in before.items():
        found = verify(path)
        assert (found.true, found.sentence) == (True, "The certificate is true. Other words.")
        assert found.sentence != said
