"""Profiles and tiers: what `ci` and `release` refuse before anything is written, and what `dev` reports."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.certificate import certify
from assay.certificate.rules import overlapping_spans
from assay.certificate.verify import verify
from assay.design import TIERS, Policy, Profile, TierName
from assay.errors import InputError, UsageError
from tests.certificate.samples import Columns, evidence_rows, losses, scores, without

STRICT: list[Profile] = ["ci", "release"]


def spans(n: int, *, length: float = 100) -> Columns:
    """Windows side by side, 20 to a document."""
    start = [100.0 * (i % 20) for i in range(2 * n)]
    return {
        "start": start,
        "stop": [at + length for at in start],
        "document": [f"d{i // 20}" for i in range(2 * n)],
    }


def repeated(columns: Columns) -> Columns:
    """The first final window is called like the first preview window."""
    n = len(columns["window"]) // 2
    ids = [*columns["window"][:n], columns["window"][0], *columns["window"][n + 1 :]]
    return columns | {"window": ids}


BROKEN: dict[str, tuple[Columns, Columns, str, str]] = {
    "unpaired windows": (losses(20), without(losses(20, 2), 0, 20), "pairing", "38 of 40 windows pair, 2 do not"),
    "one unpaired window": (losses(20), without(losses(20, 2), 25), "pairing", "39 of 40 windows pair, 1 does not"),
    "ids in both splits": (
        repeated(losses(20)),
        repeated(losses(20, 2)),
        "overlap",
        "2 of 40 windows overlap (by window ids)",
    ),
    "token spans that share a token": (
        losses(20) | spans(20, length=101),
        losses(20, 2) | spans(20, length=101),
        "overlap",
        "40 of 40 windows overlap (by token spans)",
    ),
    "unequal counts": (
        without(losses(22), 0, 1),
        without(losses(22, 2), 0, 1),
        "equal counts",
        "20 preview and 22 final windows",
    ),
    "too few windows": (losses(19), losses(19, 2), "final minimum", "19 windows of at least 20"),
    "no splits": (
        {k: v for k, v in losses(20).items() if k != "split"},
        {k: v for k, v in losses(20, 2).items() if k != "split"},
        "preview minimum",
        "0 windows of at least 20",
    ),
    "a preview of one model only": (losses(20), without(losses(20, 2), *range(20)), "pairing", "20 of 40 windows pair"),
}


@pytest.mark.parametrize("profile", STRICT)
@pytest.mark.parametrize("what", BROKEN)
def test_strict_profiles_refuse_with_the_rule_and_by_how_much_and_write_nothing(
    what: str, profile: Profile, tmp_path: Path
) -> None:
    baseline, subject, rule, detail = BROKEN[what]
    with pytest.raises(InputError) as refused:
        certify(baseline, subject, tmp_path / "c.json", policy=Policy(profile=profile, min_windows=20, note="a test"))
    message = str(refused.value)
    assert refused.value.exit_code == 3
    assert f"profile {profile} refuses" in message
    assert f"{rule}: {detail}" in message
    assert "\n" not in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", BROKEN)
def test_dev_writes_the_certificate_and_lists_the_broken_rules(what: str, tmp_path: Path) -> None:
    baseline, subject, rule, detail = BROKEN[what]
    policy = Policy(min_windows=20, note="a test")
    issued = certify(baseline, subject, tmp_path / "c.json", policy=policy)
    assert detail in issued.broken[rule]
    assert [name for name, outcome, _ in issued.tables[-1].rows if outcome == "not met"] == list(issued.broken)
    assert detail in str(issued)
    assert verify(tmp_path / "c.json").true


@pytest.mark.parametrize("profile", STRICT)
@pytest.mark.parametrize("tier", TIERS)
def test_a_tiers_own_minima_are_met_by_its_own_profiles(tier: TierName, profile: Profile, tmp_path: Path) -> None:
    n, policy = TIERS[tier].windows, Policy(tier=tier, profile=profile)
    found = certify(losses(n), losses(n, 2), tmp_path / "c.json", policy=policy)
    stats = found.to_dict()["dataset"]["windows"]["stats"]
    assert (found.verdict, verify(tmp_path / "c.json").exit_code) == ("pass", 0)
    tokens = np.array(losses(n)["tokens"])
    for split, part in (("preview", tokens[:n]), ("final", tokens[n:])):
        kish = part.sum() ** 2 / (part**2).sum()
        assert stats["coverage"][split] == {"used": n, "effective": pytest.approx(kish), "required": n, "ok": True}
    assert stats["bootstrap"]["replicates"] == TIERS[tier].replicates
    with pytest.raises(InputError, match=rf"{n - 1} windows of at least {n} in the tier {tier}, 1 too few"):
        certify(losses(n - 1), losses(n - 1, 2), tmp_path / "few.json", policy=policy)


def test_the_tiers_are_those_of_the_requirements() -> None:
    found = {name: (tier.windows, tier.replicates, tier.max_ratio) for name, tier in TIERS.items()}
    assert found == {
        "balanced": (180, 1_200, 1.10),
        "conservative": (220, 1_500, 1.05),
        "aggressive": (140, 800, 1.20),
    }


def test_scores_need_no_splits(tmp_path: Path) -> None:
    found = certify(scores(150, 180), scores(150, 180), tmp_path / "c.json", policy=Policy(profile="ci"))
    assert [rule["name"] for rule in found.to_dict()["rules"]] == [
        "pairing",
        "overlap",
        "equal weights",
        "final minimum",
    ]
    with pytest.raises(InputError, match="final minimum: 179 items of at least 180"):
        certify(scores(9, 179), scores(9, 179), tmp_path / "few.json", policy=Policy(profile="ci"))


@pytest.mark.parametrize("change", [{"max_ratio": 1.3}, {"max_drop": 0.1}, {"min_windows": 5}, {"replicates": 300}])
@pytest.mark.parametrize("note", [None, "", "  "])
def test_a_changed_number_of_the_tier_needs_a_note(change: dict[str, Any], note: str | None) -> None:
    with pytest.raises(UsageError, match="say why with `note=TEXT`") as refused:
        Policy(**change, note=note).complete()
    assert refused.value.exit_code == 2


def test_overrides_are_recorded_with_their_note(tmp_path: Path) -> None:
    policy = Policy(max_ratio=1.3, min_windows=10, replicates=300, note="pilot, see #7")
    found = certify(losses(20), losses(20, 2), tmp_path / "c.json", policy=policy).to_dict()["policy"]
    assert found["overrides"] == ["max_ratio", "replicates", "windows"]
    assert found["note"] == "pilot, see #7"
    assert found["limits"] == {"windows": 10, "replicates": 300, "max_ratio": 1.3, "max_drop": 0.02}


def test_the_tiers_own_number_is_no_override() -> None:
    assert Policy(max_ratio=1.10, min_windows=180, replicates=1_200).overrides == {}


def test_more_replicates_than_a_verifier_can_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="replicates must be a whole number from 100 to 1,000,000"):
        certify(losses(20), losses(20, 2), tmp_path / "c.json", policy=Policy(replicates=10**12, note="many"))
    assert list(tmp_path.iterdir()) == []


def test_windows_side_by_side_and_in_different_documents_do_not_overlap(tmp_path: Path) -> None:
    found = certify(losses(30) | spans(30), losses(30, 2) | spans(30), tmp_path / "c.json")
    stats = found.to_dict()["dataset"]["windows"]["stats"]
    assert (stats["window_overlap_fraction"], stats["overlap_from"]) == (0.0, "token spans")


def test_documents_of_one_model_only_do_not_tell_spans_apart(tmp_path: Path) -> None:
    one = {k: v for k, v in spans(20).items() if k != "document"}
    certify(losses(20) | spans(20), losses(20, 2) | one, tmp_path / "c.json")
    assert verify(tmp_path / "c.json").true


@pytest.mark.parametrize(
    ("change", "message"),
    [({"stop": 0.0}, "stops before it starts"), ({"start": 50.0}, "must have the same tokens")],
)
def test_spans_that_cannot_be_are_refused(change: dict[str, float], message: str, tmp_path: Path) -> None:
    wrong = spans(20)
    for name, value in change.items():
        wrong[name] = [*wrong[name][:7], value + (1 if name == "stop" else 0), *wrong[name][8:]]
    with pytest.raises(InputError, match=message):
        certify(losses(20) | spans(20), losses(20, 2) | wrong, tmp_path / "c.json")


windows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(1, 8)), min_size=1, max_size=12)


@given(windows)
def test_overlap_against_sets_of_tokens(found: list[tuple[int, int, int]]) -> None:
    tokens = [{(document, token) for token in range(at, at + size)} for document, at, size in found]
    expected = sum(any(a & b for j, b in enumerate(tokens) if j != i) for i, a in enumerate(tokens))
    document, start, size = (np.array(column, dtype=float) for column in zip(*found, strict=True))
    assert overlapping_spans(start, start + size, document) == expected


def test_a_table_without_runs_beside_one_with_several_verifies(tmp_path: Path) -> None:
    single = scores(12, 20)
    several = {
        "item": [item for item in single["item"] for _ in range(3)],
        "run": [run for _ in single["item"] for run in ("x", "y", "z")],
        "score": [float(i % 5 > 1) for i in range(60)],
    }
    found = certify(single, several, tmp_path / "c.json").to_dict()
    assert found["primary_metric"]["final"] == pytest.approx(np.mean(several["score"]))
    assert verify(tmp_path / "c.json").true
    assert len(evidence_rows(tmp_path / "c.evidence.parquet")["run"]) == 80


def test_a_split_without_a_pair_is_refused_by_name(tmp_path: Path) -> None:
    before, after = losses(20), losses(20, 2)
    n = len(after["window"]) // 2
    renamed = after | {"window": [*after["window"][:n], *(f"x{i}" for i in range(n))]}
    with pytest.raises(InputError, match=r"no final window is in both tables .*; write the same ids"):
        certify(before, renamed, tmp_path / "cert.json")
    assert not list(tmp_path.iterdir())
