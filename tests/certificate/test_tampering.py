"""`verify` against a tamperer who edits a certificate, and a forger who also computes its digest again."""

import re
from pathlib import Path
from typing import Any

import pytest

from assay.certificate.build import TODAY, Computed, Versions, computed_facts
from assay.certificate.fields import AnyRule
from assay.certificate.record import Certificate
from assay.certificate.rules import Windows, windows_of
from assay.certificate.verify import verify
from assay.data import Panel
from assay.design import Policy
from assay.errors import InputError
from tests.certificate.alterations import Alteration, alterations
from tests.certificate.samples import caught, evidence_of, exit_code, follows_schema, issue, load, read_once, save

#: Fields that follow from nothing in the evidence: the digest protects them against a slip, a signature against a
#: forger. The numbers of the certificate do not depend on them.
DIGEST_ONLY = re.compile(
    r"meta\.(assay|python|numpy|created)|systems\.(baseline|subject)\.(name|file|sha256|model|tokenizer)"
    r"|evidence\.file|policy\.note|measure\.(task|tasks|metric|filter|scorer)(\.\d+)?"
)


@pytest.fixture(autouse=True)
def _computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same evidence under the same policy gives the same fields: thousands of forgeries share the work."""
    paired: dict[Any, Windows] = {}
    facts: dict[Any, Computed] = {}

    def pair(union: Panel) -> Windows:
        numbers = tuple(values.tobytes() for values in union.numbers.values())
        key = (union.digest, union.systems, union.cluster, union.metric, tuple(union.labels), numbers)
        if key not in paired:
            paired[key] = windows_of(union)
        return paired[key]

    def compute(windows: Windows, policy: Policy, rules: tuple[AnyRule, ...], versions: Versions = TODAY) -> Computed:
        key = (id(windows), policy, rules, versions)
        if key not in facts:
            facts[key] = computed_facts(windows, policy, rules, versions)
        return facts[key]

    monkeypatch.setattr("assay.certificate.verify.windows_of", pair)
    monkeypatch.setattr("assay.certificate.verify.computed_facts", compute)
    read_once(monkeypatch)


def test_an_unaltered_certificate_is_true(certificate: Path, tmp_path: Path) -> None:
    verdict = load(certificate)["decision"]["verdict"]
    copy = save(tmp_path / "copy.json", load(certificate))
    assert copy.read_bytes() == certificate.read_bytes()
    assert exit_code(copy, evidence_of(certificate)) == (0 if verdict == "pass" else 1)


@pytest.mark.parametrize("kind", ["losses", "scores", "overrides", "harness"])
def test_every_alteration_of_every_field_is_caught(kind: str, tmp_path: Path) -> None:
    certificate = issue(kind, tmp_path)
    tried = list(alterations(load(certificate)))
    assert len(tried) > 700
    missed = [a for a in tried if not caught(a, tmp_path, evidence_of(certificate), sealed=False)]
    assert [str(alteration) for alteration in missed] == []


def test_a_forger_who_seals_again_is_caught_in_every_field_that_follows_from_the_evidence(
    certificate: Path, tmp_path: Path
) -> None:
    document, evidence = load(certificate), evidence_of(certificate)
    tried = [a for a in alterations(document) if a.field != "digest" and follows_schema(a.document, Certificate)]
    assert len(tried) > 200
    missed = [a for a in tried if not caught(a, tmp_path, evidence, sealed=True)]
    assert [str(alteration) for alteration in missed if not _expected(alteration)] == []
    assert {a.field for a in missed if DIGEST_ONLY.fullmatch(a.field)} == _only_sealed(document)


@pytest.mark.parametrize(
    ("kind", "policy"),
    [
        ("turned round", Policy(max_drop=0.02)),
        ("turned round", Policy(tier="aggressive")),
        ("plain scores", Policy(max_drop=0.02, level=0.9)),
        ("overrides", Policy(max_ratio=1.0001)),
        ("broken rules", Policy(profile="ci")),
    ],
)
def test_no_alteration_makes_a_certificate_pass_a_policy_that_it_does_not_meet(
    kind: str, policy: Policy, tmp_path: Path
) -> None:
    certificate = issue(kind, tmp_path)
    evidence, forged = evidence_of(certificate), tmp_path / "forged.json"
    assert verify(certificate, policy=policy).exit_code == 1
    tried = [a for a in alterations(load(certificate)) if follows_schema(a.document, Certificate)]
    assert len(tried) > 200
    passed = []
    for alteration in tried:
        try:
            found = verify(save(forged, alteration.document), evidence=evidence, policy=policy)
        except InputError:
            continue
        passed += [str(alteration)] if found.passed else []
    assert passed == []


def _only_sealed(document: dict[str, Any]) -> set[str]:
    """The fields of the list above, but for the null digests of inputs in memory: nothing tried could be one."""
    systems = [
        (role, name) for role in ("baseline", "subject") for name in ("name", "file", "sha256", "model", "tokenizer")
    ]
    named = {f"systems.{r}.{n}" for r, n in systems if n != "sha256" or document["systems"][r][n] is not None}
    measure = {f"measure.{n}" for n in ("task", "tasks", "metric", "filter", "scorer")}
    measure |= {f"measure.tasks.{i}" for i in range(len(document["measure"]["tasks"]))}
    meta = {f"meta.{n}" for n in ("assay", "python", "numpy", "created")}
    return named | meta | measure | {"evidence.file", "policy.note"}


def _expected(alteration: Alteration) -> bool:
    """Whether a forger may get away with it: see the documentation of what protects what."""
    after = alteration.after
    if DIGEST_ONLY.fullmatch(alteration.field):
        return True
    if alteration.field == "policy.profile":
        return alteration.of_a_profile_that_is_met
    if alteration.field in ("policy.method", "policy.scheme"):  # another name for what ran, or of no part in it
        ran = alteration.document["dataset"]["windows"]["stats"]["bootstrap"]
        taken = ran[alteration.field.removeprefix("policy.")] or "windows"  # which closed forms stand for
        return after == taken or ran["method"] in ("tango", "degenerate")
    return alteration.of_last_digits
