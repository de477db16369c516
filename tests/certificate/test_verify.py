"""The verifier's own limits, missing evidence, and forgeries that hang together."""

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.certificate import certify
from assay.certificate.build import computed_facts
from assay.certificate.record import Certificate
from assay.certificate.rules import rules_of, union_of, windows_of
from assay.certificate.verify import verify
from assay.data import read_table
from assay.design import Policy
from assay.errors import InputError, UsageError
from tests.certificate.samples import Document, evidence_of, issue, load, losses, save, scores


@pytest.fixture(scope="module")
def worse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """× 1.0654 [1.0592 to 1.0716], which passes at 1.10."""
    return issue("clusters", tmp_path_factory.mktemp("worse"))


@pytest.mark.parametrize(
    ("limit", "verdict", "code"), [(1.2, "pass", 0), (1.0654, "insufficient evidence", 1), (1.05, "regression", 1)]
)
def test_own_limits_replace_the_embedded_ones(limit: float, verdict: str, code: int, worse: Path) -> None:
    found = verify(worse, policy=Policy(max_ratio=limit))
    assert (found.true, found.verdict, found.exit_code) == (True, verdict, code)
    assert f"the limit of × {limit:g}" in found.sentence
    assert "By your policy" in found.sentence


def test_own_limit_of_the_fall_of_a_score(tmp_path: Path) -> None:
    certificate = issue("scores", tmp_path)
    verdicts = [verify(certificate, policy=Policy(max_drop=drop)).verdict for drop in (0.05, 0.02, 0.001)]
    assert verdicts == ["pass", "insufficient evidence", "regression"]


def test_own_tier_profile_and_windows(worse: Path, tmp_path: Path) -> None:
    strict = verify(worse, policy=Policy(tier="conservative"))
    assert (strict.verdict, strict.exit_code) == ("regression", 1)
    assert strict.reasons == ("180 paired windows, at least 220 required",)
    sure = verify(worse, policy=Policy(level=0.99))
    assert sure.reasons == ("intervals at the level 0.95, at least 0.99 required",)
    formal = verify(worse, policy=Policy(profile="ci"))
    assert formal.reasons == ("issued under the profile dev, ci required",)
    assert (formal.verdict, formal.passed, formal.exit_code) == ("pass", False, 1)
    assert verify(worse, policy=Policy(min_windows=180, profile="dev")).exit_code == 0
    broken = issue("broken rules", tmp_path)
    assert any("pairing: " in reason for reason in verify(broken, policy=Policy(profile="ci")).reasons)


@pytest.mark.parametrize("limits", [{"max_ratio": -1.0}, {"max_ratio": float("nan")}, {"max_drop": -0.1}])
def test_own_limits_that_make_no_sense_are_no_fault_of_the_certificate(limits: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Policy(**limits)


def test_without_evidence_only_identities_are_checked_and_it_says_so(worse: Path, tmp_path: Path) -> None:
    alone = save(tmp_path / "alone.json", load(worse))
    found = verify(alone)
    assert (found.exit_code, found.verdict) == (0, "pass")
    assert "nothing was recomputed" in found.sentence
    assert any("nothing recomputed" in check for check in found.checks)
    assert not any("recomputed from the evidence" in check for check in found.checks)
    with pytest.raises(InputError, match="the evidence is missing, and a policy needs it"):
        verify(alone, policy=Policy(max_ratio=1.05))


def test_evidence_elsewhere(worse: Path, tmp_path: Path) -> None:
    alone = save(tmp_path / "alone.json", load(worse))
    assert "every field recomputed" in verify(alone, evidence=evidence_of(worse)).checks[-1]
    for missing, said in ((tmp_path / "none.parquet", "cannot be opened"), (tmp_path, "a directory")):
        with pytest.raises(InputError, match=f"the evidence: {said}"):
            verify(alone, evidence=missing)


IDENTITIES: dict[str, Any] = {
    "primary_metric.display_ci": [1.0, 1.01],
    "primary_metric.ratio_vs_baseline": 1.0,
    "primary_metric.ci": [0.0, 1e9],
    "ppl.ratio_ci": [1.0, 1.01],
    "ppl.logloss_delta_ci": [0.0, 0.01],
    "ppl.preview_final_ratio": 1.0,
    "ppl.stats.paired_delta_summary.mean": 0.0,
    "dataset.windows.stats.paired_delta_summary.mean": 0.0,
    "dataset.windows.stats.paired_windows": 10**400,
    "dataset.windows.stats.bootstrap.replicates": 10**400,
    "meta.seeds.bootstrap": 9,
    "exact.display_ci": [1.0, 1.01],
    "drift.ratio": 1.0,
    "decision.verdict": "regression",
    "decision.limit": 1.2,
    "decision.bound": 1.0,
    "decision.windows_needed": 500,
    "policy.limits.max_ratio": 1.01,
    "primary_metric.kind": "score",
}


@pytest.mark.parametrize("field", IDENTITIES)
def test_what_contradicts_itself_is_caught_without_evidence(field: str, worse: Path, tmp_path: Path) -> None:
    document = load(worse)
    *parents, last = field.split(".")
    place = document
    for name in parents:
        place = place[name]
    place[last] = IDENTITIES[field]
    found = verify(save(tmp_path / "alone.json", document))
    assert (found.exit_code, found.verdict) == (4, "not true")


def test_an_edited_limit_does_not_verify(tmp_path: Path) -> None:
    certificate = tmp_path / "c.json"
    certify(losses(60), losses(60, 2, shift=0.15), certificate)
    document = load(certificate)
    assert document["decision"]["verdict"] == "regression"
    document["policy"]["limits"]["max_ratio"] = 1.3
    document["decision"] |= {"limit": 1.3, "verdict": "pass", "bound": document["primary_metric"]["display_ci"][1]}
    found = verify(save(certificate, document))
    assert found.exit_code == 4
    assert {"policy.limits.max_ratio", "decision.verdict"} <= {fault.field for fault in found.faults}


def reissued(document: Document, evidence: Path, policy: Policy) -> Document:
    """What the strongest forger makes: the same evidence judged by another policy, all fields consistent."""
    table = read_table(evidence, cluster=None)
    both = table.select("baseline"), table.select("subject")
    windows = windows_of(union_of(*both, cluster=None, lower_is_better=None))
    facts = computed_facts(windows, policy, rules_of(windows, policy))
    return msgspec.structs.replace(Certificate.from_dict(document), **facts).to_dict()


def test_a_consistent_forgery_shows_its_override_and_fails_by_the_verifiers_own_limit(tmp_path: Path) -> None:
    certificate = tmp_path / "c.json"
    certify(losses(60), losses(60, 2, shift=0.15), certificate)
    policy = Policy(max_ratio=1.3, note="trust me")
    save(certificate, reissued(load(certificate), evidence_of(certificate), policy))
    found = verify(certificate)
    assert (found.exit_code, found.to_dict()["judged"]["policy"]["overrides"]) == (0, ["max_ratio"])
    assert "trust me" in str(found)
    assert verify(certificate, policy=Policy(max_ratio=1.1)).exit_code == 1


def test_a_dev_certificate_with_broken_rules_cannot_be_made_one_of_ci(tmp_path: Path) -> None:
    certificate = issue("broken rules", tmp_path)
    document = load(certificate)
    for profile in ("ci", "release"):
        document["policy"]["profile"] = profile
        found = verify(save(certificate, document))
        assert (found.exit_code, [fault.field for fault in found.faults]) == (4, ["policy.profile"])


def test_a_certificate_of_an_earlier_version_is_still_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certify(losses(40), losses(40, 2), tmp_path / "c.json")
    for name in ("assay.version", "assay.design"):
        monkeypatch.setattr(sys.modules[name], "VERSION", "7.3.1")
    assert verify(tmp_path / "c.json").exit_code == 0
    document = load(tmp_path / "c.json")
    document["signature"] = document["signature"].replace("assay:", "assay:9")
    assert verify(save(tmp_path / "c.json", document)).faults[0].field == "signature"


def test_every_wrong_field_is_named_with_what_it_says_and_what_was_found(worse: Path, tmp_path: Path) -> None:
    document = load(worse)
    document["bits_per_byte"]["subject"] = 1.5
    document["drift"]["p_value"] = 0.5
    found = verify(save(tmp_path / "c.json", document), evidence=evidence_of(worse))
    stated = {fault.field: (fault.stated, fault.found) for fault in found.faults}
    assert stated == {
        "bits_per_byte.subject": (1.5, load(worse)["bits_per_byte"]["subject"]),
        "drift.p_value": (0.5, load(worse)["drift"]["p_value"]),
    }
    assert "bits_per_byte.subject: stated 1.5, found 1." in found.sentence
    assert [row[:2] for row in found.tables[0].rows] == [("bits_per_byte.subject", "1.5"), ("drift.p_value", "0.5")]
    assert "(and 1 more)" in found.sentence


def test_a_verification_as_json_is_json_whatever_was_forged(worse: Path, tmp_path: Path) -> None:
    text = worse.read_text(encoding="utf-8")
    forgeries = [
        text.replace('"max_ratio": 1.1', '"max_ratio": 1e999'),
        text.replace('"profile": "dev"', '"profile": "\\ud800"'),
        text.replace('"note": null', '"note": ' + "[" * 500 + "]" * 500),
        text.replace('"note": null', '"n\\nverdict  pass": 1, "note": null'),
    ]
    for forgery in forgeries:
        assert forgery != text
        (tmp_path / "c.json").write_text(forgery, encoding="utf-8")
        found = verify(tmp_path / "c.json", evidence=evidence_of(worse))
        again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert (found.exit_code, again["true"], again["passed"]) == (4, False, False)
        assert len(again["faults"]) >= 1
        assert "\n" not in found.sentence
        str(found).encode()


def test_both_records_are_results(tmp_path: Path) -> None:
    issued = certify(scores(180, 200), scores(180, 200), tmp_path / "c.json")
    found = verify(issued.path)
    for record in (issued, found):
        assert record.verdict == "pass"
        assert str(record).startswith(record.sentence)
        assert ("verdict", "pass") in [(fact.label, fact.value) for fact in record.facts]
    assert issued.to_dict() == load(issued.path)
    assert found.to_dict()["schema"] == "assay/verification/1"
