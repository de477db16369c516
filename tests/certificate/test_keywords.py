"""Keywords of `certify`: the fields of a design and of a policy, as every other verb takes those of a design."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.certificate import certify
from assay.certificate.verify import verify
from assay.design import Design, Policy
from assay.errors import UsageError
from tests.certificate.samples import losses, scores

BEFORE, AFTER = losses(200), losses(200, 2)

#: Keywords, and the policy that says the same.
SAME: dict[str, tuple[dict[str, Any], Policy]] = {
    "a stricter level": ({"level": 0.99}, Policy(level=0.99)),
    "a lower level, with its note": ({"level": 0.9, "note": "a look"}, Policy(level=0.9, note="a look")),
    "a method": ({"method": "bca-plain", "note": "as published"}, Policy(method="bca-plain", note="as published")),
    "a scheme and a seed": ({"scheme": "windows", "seed": 7}, Policy(scheme="windows", seed=7)),
    "resamples are replicates": ({"resamples": 2000, "note": "more"}, Policy(replicates=2000, note="more")),
    "a tier": ({"tier": "conservative", "profile": "dev"}, Policy(tier="conservative", profile="dev")),
    "a design": ({"design": Design(level=0.99, seed=3)}, Policy(level=0.99, seed=3)),
    "a design and a note": (
        {"design": Design(method="percentile", resamples=900), "note": "why"},
        Policy(method="percentile", replicates=900, note="why"),
    ),
    "what a design leaves to us": ({"test": "auto", "margin": None}, Policy()),
    "a design without anything": ({"design": Design()}, Policy()),
}


@pytest.mark.parametrize("kind", SAME)
def test_keywords_and_a_policy_that_says_the_same_give_the_same_certificate(kind: str, tmp_path: Path) -> None:
    keywords, policy = SAME[kind]
    by_keywords = certify(BEFORE, AFTER, tmp_path / "c.json", **keywords).to_dict()
    assert verify(tmp_path / "c.json").true
    assert by_keywords == certify(BEFORE, AFTER, tmp_path / "c.json", policy=policy).to_dict()


def test_a_keyword_beside_a_policy_may_be_stricter_and_not_looser(tmp_path: Path) -> None:
    policy = Policy(level=0.95, tier="balanced")
    found = certify(BEFORE, AFTER, tmp_path / "c.json", policy=policy, level=0.99)
    assert found.policy.level == 0.99
    with pytest.raises(UsageError, match=r"level 0\.9 contradicts the policy, which says 0\.95"):
        certify(BEFORE, AFTER, tmp_path / "d.json", policy=policy, level=0.9, note="a look")
    with pytest.raises(UsageError, match=r"level 0\.9 contradicts the policy"):
        certify(BEFORE, AFTER, tmp_path / "d.json", policy=policy, design=Design(level=0.9), note="a look")
    assert not (tmp_path / "d.json").exists()


NO_TEST = "certify has no `test`: the bound of the interval decides; leave it out."
NO_MARGIN = "certify has no `margin`: its limits are `max_ratio` and `max_drop`; give one of those."
METHODS = "method must be one of auto, bca, bca-plain, percentile, but got 't'."
BOTH = (
    "certify takes either a design or its fields, but got a design and level; write them into the design, or leave it "
    "out."
)
TWICE = "resamples and replicates are the same of a gate; give one of them."
REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"test": "t"}, UsageError, NO_TEST),
    ({"margin": 0.1}, UsageError, NO_MARGIN),
    ({"design": Design(margin=0.1)}, UsageError, NO_MARGIN),
    ({"design": Design(test="wilcoxon")}, UsageError, NO_TEST),
    ({"method": "t"}, UsageError, METHODS),
    ({"design": Design(method="t")}, UsageError, METHODS),
    ({"design": Design(), "level": 0.99}, UsageError, BOTH),
    ({"resamples": 2000, "replicates": 3000}, UsageError, TWICE),
    ({"lvel": 0.9}, TypeError, "certify() has no argument 'lvel'; did you mean 'level'?"),
]


@pytest.mark.parametrize(("keywords", "kind", "message"), REFUSED, ids=[str(keywords) for keywords, _, _ in REFUSED])
def test_what_a_gate_cannot_have_is_refused_before_anything_is_written(
    keywords: dict[str, Any], kind: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(kind) as refused:
        certify(scores(180, 200), scores(178, 200), tmp_path / "c.json", **keywords)
    assert str(refused.value) == message
    assert not list(tmp_path.iterdir())


def test_a_lower_level_still_needs_its_reason(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="level of the tier balanced changed: say why with `note=TEXT`"):
        certify(BEFORE, AFTER, tmp_path / "c.json", level=0.9)
    found = certify(BEFORE, AFTER, tmp_path / "c.json", policy=replace(Policy(), note="a look"), level=0.9)
    assert (found.policy.level, found.policy.note) == (0.9, "a look")
