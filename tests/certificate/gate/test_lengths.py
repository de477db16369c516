"""Differences that go with length: what a gate's certificate says of them, and certificates of before that rule."""

import json
import shutil
from math import log
from pathlib import Path

import msgspec
import numpy as np
import pytest
from msgspec import UNSET

import assay
from assay.certificate.gate.build import ComputedGate, gate_facts
from assay.certificate.gate.fields import StatedGatePlan
from assay.certificate.gate.plan import Candidate, PlannedLooks, in_order, plan_of, with_digest
from assay.certificate.rules import union_of
from assay.certificate.signing import canonical_bytes, digest_of
from assay.data import Panel
from assay.data.reading import read_table
from assay.design import Policy
from assay.errors import InputError
from assay.models import path, round_weights
from assay.scoring.models_and_texts import Document
from assay.scoring.windows import Plan
from assay.stats.units import Floats

BEFORE = Path(__file__).parent / "fixtures" / "lengths-ignored"
POLICY = Policy(max_ratio=1.1).complete()
TOKENS = np.clip(np.round(np.exp(np.random.default_rng(3).normal(3, 1, 180))), 4, 128)
NAMES = [f"w{i:03}" for i in range(180)]


def _plan(*, by_length: bool) -> tuple[StatedGatePlan, list[int]]:
    """A plan over windows of 4 to 128 tokens, and the places of the windows in its order."""
    order = in_order(0, NAMES, None)
    chosen = [Candidate(NAMES[i], "d", int(TOKENS[i]), full=False) for i in order]
    plan = plan_of(chosen, POLICY, PlannedLooks(), text="sha256:" + "0" * 64, context=128)
    return plan if by_length else with_digest(msgspec.structs.replace(plan, lengths=UNSET)), order


def _union(places: list[int], change: Floats) -> Panel:
    columns = {"window": [NAMES[i] for i in places], "tokens": TOKENS[places].tolist(), "start": list(places)}
    base, other = (read_table({**columns, "loss": (3.0 + part[places]).tolist()}) for part in (0 * change, change))
    return union_of(base, other, cluster=None, lower_is_better=None)


def _gated(change: Floats, *, by_length: bool) -> ComputedGate:
    """The facts of a gate that stops as soon as it may."""
    plan, order = _plan(by_length=by_length)
    for look in plan.looks:
        try:
            return gate_facts(_union(order[: look.windows], change), plan, POLICY, int(TOKENS.sum()))
        except InputError as error:
            if "of the plan is at" not in str(error):  # it goes on
                raise
    raise AssertionError("the last look ends every gate")


def _change(slope: float) -> Floats:
    noise = np.random.default_rng(5).normal(0, 0.05, 180)
    return np.asarray(0.05 + slope * (np.log(TOKENS) - log(40)) + noise)


def test_a_gate_that_goes_with_length_is_careful_and_says_so() -> None:
    careful, plain = (_gated(_change(0.04), by_length=by_length) for by_length in (True, False))
    last = careful["looks"][-1]
    assert isinstance(last.widened, float)
    assert isinstance(last.length_t, float)
    assert (last.widened > 1.2, last.length_t > 3) == (True, True)
    assert last.windows > plain["looks"][-1].windows  # it needs more
    assert careful["decision"].rule == "group sequential by length"
    for first, second in zip(careful["looks"], plain["looks"], strict=False):
        assert isinstance(first.widened, float)
        assert first.standard_error == pytest.approx(second.standard_error * first.widened, rel=1e-9)
        assert first.difference == second.difference
    shown = _certificate(careful)
    assert f"it is larger in long windows, standard error × {last.widened:.3g}" in shown.sentence
    assert "the answer rests on the long ones" in shown.cautions[0].text


def test_a_difference_that_does_not_go_with_length_is_as_before() -> None:
    careful, plain = (_gated(_change(0.0), by_length=by_length) for by_length in (True, False))
    assert [look.widened for look in careful["looks"]] == [1.0] * len(plain["looks"])
    assert careful["found"] == plain["found"]
    shown = _certificate(careful)
    assert "long windows" not in shown.sentence
    assert shown.cautions == ()


def _certificate(facts: ComputedGate) -> assay.GateCertificate:
    """The facts as a certificate, with the other fields of another one."""
    other = assay.verify(BEFORE / "early-pass.json").judged
    assert isinstance(other, assay.GateCertificate)
    return msgspec.structs.replace(other, **facts)


@pytest.mark.parametrize(
    ("name", "verdict", "looks"),
    [("early-pass", "pass", 1), ("early-fail", "fail", 2), ("lengths", "pass", 5), ("lengths-tight", "fail", 6)],
)
def test_certificates_of_before_keep_their_meaning(name: str, verdict: str, looks: int) -> None:
    found = assay.verify(BEFORE / f"{name}.json")
    assert (found.true, found.recomputed, found.verdict, found.faults) == (True, True, verdict, ())
    assert isinstance(found.judged, assay.GateCertificate)
    assert (len(found.judged.looks), found.judged.decision.rule) == (looks, "group sequential")
    assert (found.judged.plan.lengths, found.judged.looks[0].widened) == (UNSET, UNSET)


@pytest.mark.parametrize("rule", ["group sequential by length", "interval"])
def test_the_rule_of_a_certificate_cannot_be_renamed(rule: str, tmp_path: Path) -> None:
    document = json.loads((BEFORE / "lengths.json").read_bytes())
    document["decision"]["rule"] = rule
    shutil.copy(BEFORE / "lengths.evidence.parquet", tmp_path)
    place = tmp_path / "lengths.json"
    place.write_bytes(canonical_bytes(document | {"digest": digest_of(document)}))
    assert [one.field for one in assay.verify(place).faults] == ["decision.rule"]


@pytest.mark.parametrize("seed", range(3))
def test_plans_of_every_length_verify(seed: int, tmp_path: Path) -> None:
    """Long documents at the end take information away again, and the plan says how much is left."""
    rng, words = np.random.default_rng(seed), path("en.txt").read_text().split()
    sizes = np.clip(rng.lognormal(1.5, 1.0, 60), 3, 60).astype(int)
    texts = [Document(f"d{i}", " ".join(words[60 * i : 60 * i + size])) for i, size in enumerate(sizes.tolist())]
    policy = Policy(max_ratio=1.00001, min_windows=60, note="goes to the end")
    copy = round_weights(path("base"), tmp_path / "int8", bits=8)
    found = assay.gate(path("base"), copy, texts, tmp_path / "gate.json", plan=Plan(context=64), policy=policy, looks=3)
    assert found.looks[-1].windows == 60
    assert assay.verify(found.path).true
