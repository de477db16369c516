"""`verify` against a tamperer who edits a certificate over tasks, and a forger who also computes its digest again."""

import re
from pathlib import Path
from typing import Any

import pytest

from assay.certificate.fields import AnyRule
from assay.certificate.suite.build import ComputedSuite, SuiteEvidence, suite_facts
from assay.certificate.suite.record import SuiteCertificate
from assay.certificate.verify import verify
from assay.design import Policy
from assay.errors import InputError
from assay.limits import Limits
from tests.certificate.alterations import Alteration, alterations
from tests.certificate.samples import (
    caught,
    evidence_of,
    evidence_rows,
    exit_code,
    follows_schema,
    load,
    read_once,
    save,
    write_evidence,
)
from tests.certificate.suite.samples import KINDS, issue
from tools.certificate_fields import certificate_fields

#: What the documentation calls stated: the digest protects it against a slip, only a signature against a forger.
STATED = {field.path for field in certificate_fields("fields of several tasks") if field.trust == "stated"}


@pytest.fixture(autouse=True)
def _computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same evidence under the same policy gives the same fields: thousands of forgeries share the work."""
    facts: dict[Any, ComputedSuite] = {}

    def compute(evidence: SuiteEvidence, policy: Policy, rules: tuple[AnyRule, ...]) -> ComputedSuite:
        final = evidence.windows.final
        labels = tuple((name, one.names, one.codes.tobytes()) for name, one in final.labels.items())
        key = (final.digest, final.metric, final.cluster, labels, evidence.by, repr(policy), rules)
        if key not in facts:
            facts[key] = suite_facts(evidence, policy, rules)
        return facts[key]

    monkeypatch.setattr("assay.certificate.suite.verify.suite_facts", compute)
    read_once(monkeypatch)


@pytest.mark.parametrize("kind", KINDS)
def test_an_unaltered_certificate_is_true(kind: str, tmp_path: Path) -> None:
    certificate = issue(kind, tmp_path)
    verdict = load(certificate)["decision"]["verdict"]
    copy = save(tmp_path / "copy.json", load(certificate))
    assert copy.read_bytes() == certificate.read_bytes()
    assert exit_code(copy, evidence_of(certificate)) == (0 if verdict == "pass" else 1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["undecided"])
def test_every_alteration_of_every_field_is_caught(kind: str, tmp_path: Path) -> None:
    certificate = issue(kind, tmp_path)
    tried = list(alterations(load(certificate)))
    assert len(tried) > 1_500
    missed = [a for a in tried if not caught(a, tmp_path, evidence_of(certificate), sealed=False)]
    assert [str(alteration) for alteration in missed] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fail", "limits", "every", "perplexity", "clusters", "given weights"])
def test_a_forger_who_seals_again_is_caught_in_every_field_that_follows_from_the_evidence(
    kind: str, tmp_path: Path
) -> None:
    certificate = issue(kind, tmp_path)
    document, evidence = load(certificate), evidence_of(certificate)
    step = 1 if kind == "limits" else 3
    tried = [a for a in alterations(document) if a.field != "digest" and follows_schema(a.document, SuiteCertificate)][
        ::step
    ]
    assert len(tried) > 200
    missed = [a for a in tried if not caught(a, tmp_path, evidence, sealed=True)]
    assert [str(alteration) for alteration in missed if not _expected(alteration)] == []


@pytest.mark.parametrize(
    ("kind", "policy"),
    [
        ("undecided", Policy(max_drop=0.02)),
        ("limits", Policy(max_drop=0.02)),
        ("limits", Policy(each=Limits(max_drop=0.01), every=True)),
        ("clusters", Policy(tasks={"hellaswag": Limits()})),
        ("broken rules", Policy(profile="ci")),
    ],
)
def test_no_alteration_makes_a_certificate_pass_a_policy_that_it_does_not_meet(
    kind: str, policy: Policy, tmp_path: Path
) -> None:
    certificate = issue(kind, tmp_path)
    evidence, forged = evidence_of(certificate), tmp_path / "forged.json"
    assert verify(certificate, policy=policy).exit_code == 1
    tried = [a for a in alterations(load(certificate)) if follows_schema(a.document, SuiteCertificate)][::5]
    assert len(tried) > 100
    passed = []
    for alteration in tried:
        try:
            found = verify(save(forged, alteration.document), evidence=evidence, policy=policy)
        except InputError:
            continue
        passed += [str(alteration)] if found.passed else []
    assert passed == []


@pytest.mark.parametrize("change", ["another score", "another task", "a row less", "a task less", "another cost"])
def test_other_evidence_is_found(change: str, tmp_path: Path) -> None:
    """The digest of the evidence is forged too: the numbers still do not follow from it."""
    certificate = issue("limits", tmp_path)
    rows = evidence_rows(evidence_of(certificate))
    if change == "another score":
        rows["score"][7] = 1 - rows["score"][7]
    elif change == "another task":  # the same item, in both models
        item = rows["item"][0]
        rows["task"] = ["gsm8k" if i == item else t for i, t in zip(rows["item"], rows["task"], strict=True)]
    elif change == "another cost":
        rows["price"][3] *= 1.01
    else:
        kept = [task != "arc" for task in rows["task"]] if change == "a task less" else [i != 5 for i in range(380)]
        rows = {name: [v for v, keep in zip(values, kept, strict=True) if keep] for name, values in rows.items()}
    folder = tmp_path / "forged"
    folder.mkdir()
    other = write_evidence(folder / "cert.evidence.parquet", rows)
    found = verify(certificate, evidence=other)
    assert not found.true
    assert {fault.field for fault in found.faults} - {"evidence.sha256", "digest"}


@pytest.mark.parametrize(
    "text",
    ['"verdict": "pass",\n    "verdict": "fail"', '"verdict": NaN', '"verdict": Infinity'],
)
def test_keys_that_stand_twice_and_numbers_that_are_none_are_refused(text: str, tmp_path: Path) -> None:
    certificate = issue("undecided", tmp_path)
    content = certificate.read_text(encoding="utf-8").replace('"verdict": "undecided"', text)
    certificate.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"stands twice|is not a number"):
        verify(certificate)


def _expected(alteration: Alteration) -> bool:
    """Whether a forger may get away with it: see the documentation of what protects what."""
    if alteration.field == "policy.profile":
        return alteration.of_a_profile_that_is_met
    if re.sub(r"\.\d+", "", alteration.field) in STATED:
        return True
    if alteration.field == "policy.tier":  # of a tier whose every number is overridden, nothing is taken
        return {"min_items", "total.max_drop", "each.max_drop"} <= set(alteration.document["policy"]["overrides"])
    return alteration.of_last_digits
