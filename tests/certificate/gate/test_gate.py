"""The gate on the shipped model and its edited copies: verdicts, verification, forgeries, resuming, refusals."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

import assay
from assay.certificate.gate.build import gate_facts
from assay.certificate.gate.fields import StatedGatePlan, TakenLook
from assay.certificate.gate.plan import as_it_follows
from assay.certificate.gate.verify import _union, policy_claimed
from assay.certificate.signing import canonical_bytes, digest_of
from assay.errors import InputError, UsageError
from assay.models import path, round_weights
from assay.scoring.windows import Plan

PLAN = Plan(context=32)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {f"int{bits}": round_weights(path("base"), folder / f"int{bits}", bits=bits) for bits in (8, 3)}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("text") / "text.txt"
    found.write_text("\n\n".join(path("en.txt").read_text().split("\n\n")[:60]))
    return found


class Watching:
    """Remembers the looks; stops the gate after some of them."""

    def __init__(self, most: int = 100) -> None:
        self.looks: list[TakenLook] = []
        self.tokens, self.most = 0, most

    def scored(self, done: int, most: int) -> None:
        assert self.tokens < done <= most
        self.tokens = done

    def looked(self, look: TakenLook, number: int, plan: StatedGatePlan) -> None:
        assert look.windows == plan.looks[number].windows
        self.looks.append(look)
        if len(self.looks) >= self.most:
            raise KeyboardInterrupt


def gate(*given: Any, **asked: Any) -> assay.GateCertificate:
    return assay.gate(*given, **{"plan": PLAN, "split_on": "\n\n", **asked})


@pytest.fixture(scope="module")
def passing(copies: dict[str, Path], text: Path, tmp_path_factory: pytest.TempPathFactory) -> assay.GateCertificate:
    return gate(path("base"), copies["int8"], text, tmp_path_factory.mktemp("passing") / "gate.json")


def test_good_copy_passes_early_and_verifies(passing: assay.GateCertificate) -> None:
    assert (passing.verdict, len(passing.looks), passing.looks[0].windows) == ("pass", 1, passing.plan.looks[0].windows)
    found = assay.verify(passing.path)
    assert (found.true, found.passed, found.exit_code, found.recomputed) == (True, True, 0, True)
    manifest = json.loads((passing.path.with_name("gate.runs") / "subject" / "run.json").read_text())
    assert manifest["gate"]["plan"] == passing.plan.digest  # fixed before the first window was scored


def test_broken_copy_fails(copies: dict[str, Path], text: Path, tmp_path: Path) -> None:
    found = gate(path("base"), copies["int3"], text, tmp_path / "gate.json")
    assert found.verdict == "fail"
    assert found.found.ci is not None
    assert found.found.display_ci is not None
    assert found.found.display_ci[0] > found.decision.limit
    assert found.looks[-1].windows < found.plan.windows
    assert assay.verify(found.path).exit_code == 1


def test_identical_models_pass_at_the_first_look(text: Path, tmp_path: Path) -> None:
    found = gate(path("base"), path("base"), text, tmp_path / "gate.json", looks=3)
    assert (found.verdict, len(found.looks), found.found.method, found.found.p_value) == ("pass", 1, "degenerate", None)
    assert "no window differs" in found.cautions[0].text
    assert assay.verify(found.path).true


def test_run_as_baseline_gives_the_same_numbers(
    passing: assay.GateCertificate, copies: dict[str, Path], text: Path, tmp_path: Path
) -> None:
    run = assay.score(path("base"), text, tmp_path / "run", plan=PLAN, split_on="\n\n")["base"]
    found = assay.gate(run, copies["int8"], text, tmp_path / "gate.json", split_on="\n\n")
    assert found.plan == passing.plan
    for name in ("difference", "standard_error"):
        ours, theirs = getattr(found.looks[0], name), getattr(passing.looks[0], name)
        assert ours == pytest.approx(theirs, abs=1e-5)  # other batches
    assert assay.verify(found.path).true


def test_run_with_a_preview_is_a_baseline_too(copies: dict[str, Path], text: Path, tmp_path: Path) -> None:
    """Windows of both splits count, and no others: the plan has all that the run has."""
    cut = replace(PLAN, draw=(30, 30))
    run = assay.score(path("base"), text, tmp_path / "run", plan=cut, split_on="\n\n")["base"]
    found = gate(run, copies["int8"], text, tmp_path / "gate.json", looks=2)
    assert (found.verdict, found.plan.windows) == ("pass", 60)
    assert assay.verify(found.path).true


def test_run_of_another_text_or_cut_is_refused(copies: dict[str, Path], text: Path, tmp_path: Path) -> None:
    run = assay.score(path("base"), text, tmp_path / "run", plan=PLAN, split_on="\n\n")["base"]
    with pytest.raises(InputError, match="another text"):
        assay.gate(run, copies["int8"], path("ja.txt"), tmp_path / "gate.json")
    with pytest.raises(InputError, match="cut in another way"):
        assay.gate(run, copies["int8"], text, tmp_path / "gate.json", plan=Plan(context=48), split_on="\n\n")
    assert not (tmp_path / "gate.json").exists()


def test_killed_gate_goes_on_to_the_same_bytes(copies: dict[str, Path], text: Path, tmp_path: Path) -> None:
    whole = gate(path("base"), copies["int3"], text, tmp_path / "whole" / "gate.json", watcher=(seen := Watching()))
    assert len(seen.looks) > 1
    with pytest.raises(KeyboardInterrupt):
        gate(path("base"), copies["int3"], text, tmp_path / "killed" / "gate.json", watcher=Watching(1))
    assert not (tmp_path / "killed" / "gate.json").exists()
    again = gate(path("base"), copies["int3"], text, tmp_path / "killed" / "gate.json")
    assert again.path.read_bytes() == whole.path.read_bytes()
    proofs = [one.path.with_name("gate.evidence.parquet").read_bytes() for one in (again, whole)]
    assert proofs[0] == proofs[1]


def test_another_model_in_the_same_runs_is_refused(copies: dict[str, Path], text: Path, tmp_path: Path) -> None:
    gate(path("base"), copies["int8"], text, tmp_path / "gate.json")
    with pytest.raises(InputError, match="holds another run"):
        gate(path("base"), copies["int3"], text, tmp_path / "gate.json")
    assert gate(path("base"), copies["int3"], text, tmp_path / "gate.json", overwrite=True).verdict == "fail"


def test_documents_are_drawn_whole(copies: dict[str, Path], text: Path, tmp_path: Path) -> None:
    found = gate(path("base"), copies["int8"], text, tmp_path / "gate.json", cluster="document", looks=4)
    assert found.plan.cluster_by == "document"
    assert found.plan.looks[0].units >= 20
    assert found.plan.looks[0].units < found.plan.looks[0].windows
    assert assay.verify(found.path).true


def test_own_policy_of_the_verifier(passing: assay.GateCertificate) -> None:
    strict = assay.verify(passing.path, policy=assay.Policy(max_ratio=1.0000001))
    assert (strict.true, strict.passed, strict.limit_of_issuer) == (True, False, 1.1)
    assert strict.verdict in ("undecided", "fail")
    assert isinstance(strict.judged, assay.GateCertificate)
    assert strict.judged.found.p_value is None  # the issuer's is about the limit of the plan
    many = assay.verify(passing.path, policy=assay.Policy(tier="conservative"))
    assert "180 planned windows, at least 220 required" in many.sentence
    assert not many.passed


def forged(document: dict[str, Any], place: Path) -> assay.Verification:
    document["digest"] = digest_of(document)
    place.write_bytes(canonical_bytes(document))
    return assay.verify(place)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("plan.alpha", 0.2),
        ("plan.spending", "pocock"),
        ("plan.seed", 7),
        ("plan.limit", 1.2),
        ("plan.looks.0.nominal", 0.01),
        ("plan.looks.0.effective", 22.5),
        ("plan.looks.3.fraction", 0.4),
        ("looks.0.difference", 0.0),
        ("looks.0.outcome", "end"),
        ("found.difference", 0.0),
        ("found.p_value", 1e-5),
        ("found.ci.1", 0.001),
        ("decision.verdict", "fail"),
        ("decision.look", 2),
        ("rules.2.used", 500),
        ("plan.limit", -1.1),
        ("plan.beta", 0.9),
        ("plan.looks.0.windows", 0),
        ("plan.looks.0.nominal", 1e300),
        ("plan.looks.0.nominal", 5e-324),
        ("plan.looks.3.units", 10**30),
        ("found.tokens_planned", 0),
        ("found.tokens_planned", -1),
        ("found.tokens_planned", 10**9),
    ],
)
def test_forged_fields_are_named(passing: assay.GateCertificate, tmp_path: Path, where: str, value: Any) -> None:
    document = json.loads(passing.path.read_bytes())
    inside: Any = document
    *path_to, last = where.split(".")
    for name in path_to:
        inside = inside[int(name)] if isinstance(inside, list) else inside[name]
    inside[int(last) if isinstance(inside, list) else last] = value
    proof = passing.path.with_name("gate.evidence.parquet")
    (tmp_path / "gate.evidence.parquet").write_bytes(proof.read_bytes())
    found = forged(document, tmp_path / "gate.json")
    assert not found.true
    assert found.exit_code == 4


def planned_otherwise(found: assay.GateCertificate, place: Path, **changed: Any) -> assay.Verification:
    """The evidence judged by another plan, with everything that follows from it: what a careful forger would write."""
    proof = place.with_name(f"{place.stem}.evidence.parquet")
    proof.write_bytes(found.path.with_name("gate.evidence.parquet").read_bytes())
    plan = as_it_follows(msgspec.structs.replace(found.plan, **changed))
    union, _ = _union(found, proof)
    facts = gate_facts(union, plan, policy_claimed(found), found.found.tokens_planned)
    return forged(msgspec.structs.replace(found, **facts).to_dict(), place)


def test_error_of_a_plan_is_that_of_the_level(passing: assay.GateCertificate, tmp_path: Path) -> None:
    assert planned_otherwise(passing, tmp_path / "gate.json").true
    found = planned_otherwise(passing, tmp_path / "gate.json", alpha=0.4)
    assert (found.exit_code, [one.field for one in found.faults]) == (4, ["plan.alpha"])


def test_order_of_all_windows_is_checked(copies: dict[str, Path], text: Path, tmp_path: Path) -> None:
    whole = gate(path("base"), copies["int8"], text, tmp_path / "gate.json", looks=1)
    assert assay.verify(whole.path).true
    found = planned_otherwise(whole, tmp_path / "other.json", order="sha256:" + "0" * 64)
    assert (found.exit_code, [one.field for one in found.faults]) == (4, ["plan.order"])


def test_futility_stops_without_a_verdict(copies: dict[str, Path], text: Path, tmp_path: Path) -> None:
    """With a limit of nearly 1 an int8 copy can neither pass nor fail for sure."""
    found = gate(
        path("base"),
        copies["int8"],
        text,
        tmp_path / "gate.json",
        max_ratio=1.00001,
        note="tight",
        futility=0.4,
    )
    assert assay.verify(found.path).true
    assert found.verdict in ("undecided", "pass", "fail")
    assert all(look.futile is not None for look in found.plan.looks[1:-1])


def test_what_a_gate_refuses(copies: dict[str, Path], text: Path, tmp_path: Path) -> None:
    out = tmp_path / "gate.json"
    with pytest.raises(UsageError, match=r"\.json"):
        gate(path("base"), copies["int8"], text, tmp_path / "gate.txt")
    with pytest.raises(UsageError, match="looks must be"):
        gate(path("base"), copies["int8"], text, out, looks=0)
    with pytest.raises(UsageError, match="gate has no `stride`"):
        gate(path("base"), copies["int8"], text, out, plan=Plan(context=32, stride=8))
    with pytest.raises(UsageError, match="say why with `note=TEXT`"):
        gate(path("base"), copies["int8"], text, out, max_ratio=1.3)
    short = tmp_path / "short.txt"
    short.write_text("Once there was a model, and it was small.")
    with pytest.raises(InputError, match="no look is taken before 20"):
        gate(path("base"), copies["int8"], short, out, split_on=None)
    with pytest.raises(InputError, match="profile ci refuses: final minimum"):
        gate(path("base"), copies["int8"], text, out, min_windows=100_000, note="all", profile="ci")
    assert not out.exists()
