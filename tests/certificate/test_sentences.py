"""The sentence of a certificate says what its table, its rules and its interval say."""

from pathlib import Path

from assay.certificate import certify
from assay.certificate.verify import verify
from tests.certificate.samples import Columns, losses, scores, without


def item(score: float) -> Columns:
    return {"item": ["q"], "score": [score]}


def test_a_pass_in_dev_names_the_rules_that_are_not_met(tmp_path: Path) -> None:
    found = certify(losses(40), without(losses(40, 2), 3), tmp_path / "c.json")
    assert found.verdict == "pass"
    assert set(found.broken) == {"pairing", "equal counts", "preview minimum", "final minimum"}
    said = "; rules not met: pairing, equal counts, preview minimum and final minimum (profile dev only reports them)."
    assert found.sentence.endswith(f"(40 windows){said}")
    assert verify(tmp_path / "c.json").sentence == f"The certificate is true. {found.sentence}"


def test_one_rule_that_is_not_met_is_named_beside_any_verdict(tmp_path: Path) -> None:
    found = certify(scores(90, 120), scores(89, 120), tmp_path / "c.json")
    assert found.verdict == "insufficient evidence"
    assert found.sentence.endswith(" would settle it; rule not met: final minimum (profile dev only reports it).")


def test_where_all_rules_are_met_the_sentence_says_nothing_of_them(tmp_path: Path) -> None:
    found = certify(losses(200), losses(200, 2), tmp_path / "c.json")
    assert (found.verdict, found.broken) == ("pass", {})
    assert "rule" not in found.sentence


def test_one_item_that_is_right_or_wrong_has_an_interval_and_is_too_few(tmp_path: Path) -> None:
    found = certify(item(1), item(1), tmp_path / "c.json")
    head = "Insufficient evidence that subject may replace baseline: mean score 0.00, 95% CI −0.79 to +0.79"
    assert found.sentence.split(": ", 1)[1].startswith(head.split(": ", 1)[1])
    assert ", too few to rely on (1 item), for the limit of a fall of 0.02 (1 item); rule not met" in found.sentence
    assert "spread" not in found.sentence
    assert "would settle it" not in found.sentence


def test_one_item_of_other_scores_has_no_interval_and_none_is_said(tmp_path: Path) -> None:
    found = certify(item(0.71), item(0.72), tmp_path / "c.json")
    assert ": mean score +0.01 from a single item, which has no interval, for the limit of a fall" in found.sentence
    assert "95%" not in found.sentence
    assert {fact.label: fact.text for fact in found.facts}["score difference"] == "+0.01, no interval: one item"
    assert {fact.label: fact.text for fact in found.facts}["scheme"] == "nothing is drawn: there is one item"
