"""A verifier's own policy over a certificate of several tasks: what applies, what is not met, what is left open."""

from pathlib import Path
from typing import Any

import pytest

from assay.certificate.suite.record import SuiteCertificate
from assay.certificate.verification import Verification
from assay.certificate.verify import verify
from assay.design import Policy
from assay.limits import GroupLimits, Limits, TotalLimits
from tests.certificate.issuing import certify_alone, certify_tasks
from tests.certificate.samples import load, save, scores
from tests.certificate.suite.samples import SIZES, equal, issue, losses, suite, with_costs

WIDE = {"arc": 600, "boolq": 800, "gsm8k": 700}


def judged(found: Verification) -> SuiteCertificate:
    assert isinstance(found.judged, SuiteCertificate)
    return found.judged


@pytest.fixture
def passing(tmp_path: Path) -> Path:
    return certify_tasks(*equal(WIDE), tmp_path / "c.json").path


@pytest.mark.parametrize(
    ("policy", "verdict"),
    [
        (Policy(max_drop=0.02), "pass"),
        (Policy(max_drop=0.001), "undecided"),
        (Policy(tier="conservative"), "undecided"),
        (Policy(total=TotalLimits(min_score=0.4)), "pass"),
        (Policy(total=TotalLimits(min_score=0.6)), "fail"),
        (Policy(every=True), "pass"),
        (Policy(every=True, each=Limits(max_drop=0.01)), "undecided"),
        (Policy(tasks={"gsm8k": Limits(min_score=0.7)}), "fail"),
        (Policy(groups={"both": GroupLimits(tasks=("arc", "boolq"), max_drop=0.001)}), "undecided"),
    ],
)
def test_the_evidence_is_judged_by_the_verifiers_limits(policy: Policy, verdict: str, passing: Path) -> None:
    found = verify(passing, policy=policy)
    assert (found.true, found.verdict, found.reasons) == (True, verdict, ())
    assert found.exit_code == (0 if verdict == "pass" else 1)
    assert found.limit_of_issuer == 0.02


def test_it_is_judged_as_if_it_had_been_issued_so(passing: Path, tmp_path: Path) -> None:
    policy = Policy(max_drop=0.01, each=Limits(max_drop=0.03), tasks={"arc": Limits(min_score=0.3)}, every=True)
    other = certify_tasks(*equal(WIDE), tmp_path / "d.json", policy=policy.with_options(note="same"))
    found = judged(verify(passing, policy=policy))
    assert (found.limits, found.decision, found.tasks, found.total) == (
        other.limits,
        other.decision,
        other.tasks,
        other.total,
    )


def test_what_the_verifier_says_of_every_task_goes_before_what_the_issuer_says_of_one(tmp_path: Path) -> None:
    """An issuer's wide limit of one task does not survive."""
    tables = suite({"arc": (1, 25, 300), "boolq": (60, 3, 400)})
    easy = Policy(tasks={"arc": Limits(max_drop=0.5)}, note="trust me")
    assert certify_tasks(*tables, tmp_path / "c.json", policy=easy).verdict == "pass"
    for policy in (
        Policy(each=Limits(max_drop=0.05)),
        Policy(tier="balanced"),
        Policy(tasks={"a*": Limits(max_drop=0.05)}),
    ):
        found = verify(tmp_path / "c.json", policy=policy)
        assert (found.true, found.verdict, found.exit_code) == (True, "fail", 1)
    assert verify(tmp_path / "c.json", policy=Policy(max_drop=0.02)).issuers_choice["tasks"] == "arc max_drop 0.5"


def test_weights_of_the_verifier_apply(tmp_path: Path) -> None:
    tables = suite({"arc": (0, 40, 400), "boolq": (60, 0, 400)})
    easy = Policy(total=TotalLimits(weights={"arc": 0, "boolq": 1}), each=Limits(max_drop=1), note="trust me")
    assert certify_tasks(*tables, tmp_path / "c.json", policy=easy).verdict == "pass"
    by = Policy(each=Limits(max_drop=0.05), total=TotalLimits(weights="macro"))
    found = judged(verify(tmp_path / "c.json", policy=by))
    assert (found.policy.total_weights, [row.weight for row in found.tasks]) == ("macro", [0.5, 0.5])
    assert found.verdict == "fail"


@pytest.mark.parametrize(
    ("kind", "policy", "reason"),
    [
        ("undecided", Policy(tasks={"mmlu": Limits()}), "no task 'mmlu' in the evidence, which is required"),
        ("undecided", Policy(groups={"g": GroupLimits(tasks=("x*", "arc"))}), "no task 'x*' in the evidence"),
        (
            "undecided",
            Policy(groups={"g": GroupLimits(max_drop=0.1)}),
            "the policy cannot be applied: the policy has",
        ),
        ("undecided", Policy(each=Limits(max_price_ratio=2)), "the policy cannot be applied: the policy limits price"),
        ("undecided", Policy(max_ratio=1.1), "about scores, and the policy limits perplexity only (max_ratio)"),
        ("perplexity", Policy(max_drop=0.1), "about perplexity, and the policy limits scores only (max_drop)"),
        ("every", Policy(max_drop=0.02), "intervals at the level 0.9, at least 0.95 required"),
        ("graded", Policy(max_drop=0.02), "issued with lower scores as better, higher scores as better required"),
        ("undecided", Policy(cluster="passage"), "issued without clusters, 'passage' required"),
        ("clusters", Policy(cluster="document"), "issued with the clusters 'passage', 'document' required"),
        ("undecided", Policy(metric="acc"), "metric not stated, 'acc' required"),
        ("undecided", Policy(min_windows=500), "190 paired items, at least 500 required"),
        ("undecided", Policy(profile="ci"), "issued under the profile dev, ci required"),
        ("broken rules", Policy(profile="dev"), "pairing: 188 of 190 items pair, 2 do not"),
    ],
)
def test_what_is_not_met(kind: str, policy: Policy, reason: str, tmp_path: Path) -> None:
    found = verify(issue(kind, tmp_path), policy=policy)
    assert found.true
    assert any(one.startswith(reason) for one in found.reasons), found.reasons
    assert (found.passed, found.exit_code) == (False, 1)


def test_unequal_weights_of_items_need_the_verifiers_leave(tmp_path: Path) -> None:
    tables = [{**table, "weight": [1.0 + i % 2 for i in range(190)]} for table in equal(SIZES)]
    certify_tasks(*tables, tmp_path / "c.json", policy=Policy(weights="any", note="as the benchmark has them"))
    found = verify(tmp_path / "c.json", policy=Policy(max_drop=0.02))
    assert found.reasons[0].startswith("unequal weights (190 items, worth 171")
    assert verify(tmp_path / "c.json", policy=Policy(max_drop=0.02, weights="any")).reasons == ()


def test_a_certificate_of_one_task_does_not_meet_limits_of_several(tmp_path: Path) -> None:
    certify_alone(scores(180, 200), scores(181, 200), tmp_path / "c.json")
    found = verify(tmp_path / "c.json", policy=Policy(max_drop=0.1, each=Limits(max_drop=0.05), every=True))
    assert found.reasons == ("of one task, and the policy has limits of several (each, every)",)


def test_what_is_left_open_is_the_issuers_choice(tmp_path: Path) -> None:
    found = verify(issue("limits", tmp_path)).issuers_choice
    assert found == {
        "max_drop": 0.06,
        "min_windows": 100,
        "profile": "dev",
        "cluster": None,
        "task": None,
        "metric": None,
        "level": 0.95,
        "lower_is_better": False,
        "total": "weighed by items",
        "each": "max_drop 0.2",
        "tasks": "arc min_score 0.1, gsm8k max_drop 0.1 and min_score 0.2 and max_seconds_ratio 1.5, b* max_drop 0.25",
        "groups": "hard max_drop 0.15",
        "every": False,
    }
    own = Policy(max_drop=0.06, each=Limits(max_drop=0.2), every=False, profile="dev")
    assert set(verify(tmp_path / "cert.json", policy=own).issuers_choice) == {
        *("min_windows", "cluster", "task", "metric", "total", "tasks", "groups"),
    }


def test_costs_of_the_verifier_need_the_evidence(tmp_path: Path) -> None:
    tables = with_costs(equal(WIDE), 1.5)
    policy = Policy(total=TotalLimits(max_price_ratio=2))
    assert certify_tasks(*tables, tmp_path / "c.json", policy=policy).verdict == "pass"
    found = verify(tmp_path / "c.json", policy=Policy(total=TotalLimits(max_price_ratio=1.2)))
    assert (found.verdict, found.reasons) == ("fail", ())
    assert "price of the mean of the tasks" in found.sentence


def test_without_evidence_only_the_identities_are_checked(passing: Path) -> None:
    (passing.parent / "c.evidence.parquet").unlink()
    found = verify(passing)
    assert (found.true, found.recomputed) == (True, False)
    assert "nothing was recomputed" in found.sentence
    document = load(passing)
    document["decision"]["verdict"] = "fail"
    forged = verify(save(passing, document))
    assert [fault.field for fault in forged.faults] == ["decision.verdict"]


@pytest.mark.parametrize("field", ["total", "tasks"])
def test_a_row_that_contradicts_a_limit_is_found_without_evidence(field: str, tmp_path: Path) -> None:
    path = issue("undecided", tmp_path)
    (tmp_path / "cert.evidence.parquet").unlink()
    document: dict[str, Any] = load(path)
    row = document["total"] if field == "total" else document["tasks"][0]
    row["difference"] += 0.1
    row["ci"] = row["ci"] and [0.1, 0.2]
    row["adjusted_ci"] = row["adjusted_ci"] and [0.1, 0.2]
    assert {fault.field.split(".")[0] for fault in verify(save(path, document)).faults} >= {"limits"}


def test_policies_are_of_losses_too(tmp_path: Path) -> None:
    certify_tasks(*losses({"code": 0.0, "prose": 0.02}), tmp_path / "c.json")
    assert verify(tmp_path / "c.json", policy=Policy(max_ratio=1.1)).verdict == "pass"
    assert verify(tmp_path / "c.json", policy=Policy(max_ratio=1.001)).verdict == "fail"
    found = verify(tmp_path / "c.json", policy=Policy(each=Limits(max_ratio=1.0001)))
    assert (found.verdict, judged(found).decision.not_met) == ("fail", 1)
