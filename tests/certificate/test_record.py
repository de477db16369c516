"""A certificate as a result: what is shown follows from its facts, and JSON gives the same record back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay import examples
from assay.certificate.record import Certificate, Written
from assay.certificate.verification import Verification
from assay.certificate.verify import verify
from assay.design import Policy
from assay.errors import InputError
from assay.report.saved import part_of
from tests.certificate.issuing import certify_alone as certify
from tests.certificate.samples import evidence_of, issue, load, losses, save, scores


def test_json_gives_the_same_record_back(certificate: Path) -> None:
    record = Certificate.from_dict(load(certificate))
    assert record.to_dict() == load(certificate)
    assert Certificate.from_dict(json.loads(json.dumps(record.to_dict()))) == record
    found = verify(certificate)
    assert Verification.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False))) == found
    assert str(Verification.from_dict(found.to_dict())) == str(found)


def test_no_field_holds_a_sentence(certificate: Path) -> None:
    """The longest text but for the audit note, digests and the signature is a name: no field has five words."""

    def texts(value: object, place: str = "") -> list[str]:
        inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        found = [text for name, part in inside for text in texts(part, f"{place}.{name}")]
        return [*found, value] if isinstance(value, str) and place != ".policy.note" else found

    assert [text for text in texts(load(certificate)) if len(text.split()) > 4] == []


def test_what_is_shown_stands_in_text_page_and_frame(certificate: Path) -> None:
    record = Certificate.from_dict(load(certificate))
    text, part = str(record), part_of(record)
    assert text.startswith(record.sentence)
    assert (part.sentence, part.signature, part.status) == (record.sentence, record.signature, record.status)
    assert [rule for rule, _, _ in record.tables[-1].rows] == [rule["name"] for rule in load(certificate)["rules"]]
    assert record.to_frame()["quantity"].tolist() == [fact.label for fact in record.facts]
    several = record.stats.bootstrap.replicates is not None or record.published is not None
    assert [table.key for table in record.tables] == (["intervals", "rules"] if several else ["rules"])


def test_all_intervals_are_numbers_in_the_table(tmp_path: Path) -> None:
    record = certify(losses(120), losses(120, 2), tmp_path / "c.json")
    frame = record.tables[0].to_frame()
    metric, exact, published = record.primary_metric, record.exact, record.published
    assert published is not None
    assert frame["perplexity ratio_low"].tolist() == [one.display_ci[0] for one in (metric, exact, published)]
    assert frame["difference in nats_high"].tolist() == [one.ci[1] for one in (metric, exact, published)]
    assert frame["apart, in standard errors"][1] == exact.distance


@pytest.mark.parametrize(("lower", "place", "better"), [(False, -0.02, "higher"), (True, 0.02, "lower")])
def test_the_gauge_of_scores_has_its_limit_on_the_bad_side(
    lower: bool, place: float, better: str, tmp_path: Path
) -> None:
    record = certify(scores(180, 200), scores(179, 200), tmp_path / "c.json", lower_is_better=lower or None)
    found = verify(tmp_path / "c.json")
    for gauge in (record.gauge, found.gauge, part_of(record).gauge, part_of(found).gauge):
        assert gauge is not None
        assert ([mark.place for mark in gauge.marks], gauge.better) == ([0.0, place], better)
        assert (gauge.value, gauge.low, gauge.high) == (-0.005, *record.primary_metric.ci)


def test_a_certificate_says_where_it_is_only_when_it_was_written(tmp_path: Path) -> None:
    issued = certify(losses(20), losses(20, 2), tmp_path / "c.json")
    assert (issued.path, issued.written) == (tmp_path / "c.json", Written(tmp_path / "c.json"))
    again = Certificate.from_dict(issued.to_dict())
    assert (again, again.written) == (issued, None)  # where it lies is no fact of it
    with pytest.raises(AttributeError, match=r"only a certificate that assay\.certify has just written"):
        _ = again.path


@pytest.mark.parametrize(
    ("place", "value", "field", "said"),
    [
        (("extra",), 1, "extra", "no such field"),
        (("policy", "limits", "extra"), 1, "policy.limits.extra", "no such field"),
        (("policy", "level"), "0.95", "policy.level", "Expected `float`, got `str`"),
        (("policy", "level"), 1e999, "policy.level", "not a finite number"),
        (("policy", "note"), "\ud800", "policy.note", "not a text"),
        (("policy", "tier"), "best", "policy.tier", "Invalid enum value 'best'"),
        (("policy", "overrides"), ["a", 3], "policy.overrides.1", "Expected `str`, got `int`"),
        (("evidence", "rows"), 720.0, "evidence.rows", "Expected `int`, got `float`"),
        (("evidence", "rows"), True, "evidence.rows", "Expected `int`, got `bool`"),
        (("evidence", "sha256"), "sha256:" + "0" * 64 + "\n", "evidence.sha256", "Expected `str` of length <= 71"),
        (("primary_metric", "ci"), [0.1], "primary_metric.ci", "Expected `array` of length 2, got 1"),
    ],
)
def test_what_is_not_as_the_schema_says_is_named(
    place: tuple[str, ...], value: object, field: str, said: str, tmp_path: Path
) -> None:
    certificate = issue("losses", tmp_path)
    document = load(certificate)
    inner = document
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    text = json.dumps(document, sort_keys=True, indent=2).replace("Infinity", "1e999")
    (tmp_path / "forged.json").write_text(text + "\n", encoding="utf-8")
    (fault,) = verify(tmp_path / "forged.json", evidence=evidence_of(certificate)).faults
    assert (fault.field, fault.found) == (field, said)


def test_a_whole_number_is_not_taken_for_another(tmp_path: Path) -> None:
    """1 is not 1.0, though a reader of JSON may take one for the other: the bytes of the two differ."""
    certificate = issue("plain scores", tmp_path)
    document = load(certificate)
    document["dataset"]["windows"]["stats"]["window_match_fraction"] = 1
    fields = [fault.field for fault in verify(save(certificate, document)).faults]
    assert fields == ["dataset.windows.stats.window_match_fraction"]


def test_another_schema_is_no_certificate(tmp_path: Path) -> None:
    document = load(issue("losses", tmp_path))
    with pytest.raises(InputError, match="schema must be 'assay/certificate/3'"):
        Certificate.from_dict(document | {"schema": "assay/certificate/1"})
    with pytest.raises(msgspec.ValidationError, match="unknown field `published`"):
        Certificate.from_dict(document | {"schema": "assay/certificate/2"})
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        Certificate.from_dict(document | {"extra": 1})


def test_an_untrue_certificate_shows_its_faults_and_no_claim(tmp_path: Path) -> None:
    certificate = issue("losses", tmp_path)
    record = Certificate.from_dict(load(certificate))
    save(certificate, load(certificate) | {"bits_per_byte": None})
    found = verify(certificate)
    part = part_of(found)
    assert (found.judged, found.gauge, found.status, found.question) == (None, None, "bad", "Is this certificate true?")
    assert [table.header for table in found.tables] == [("field", "stated", "found")]
    assert record.sentence not in str(found)
    assert str(found).endswith("recomputed from the evidence")  # and no empty line for a signature
    assert (part.title, part.name, part.status) == ("Is this certificate true?", "cert.json", "bad")


def test_certify_pairs_once_and_checks_its_rules_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from assay import certificate as module

    calls: list[str] = []

    def counted(name: str) -> Callable[..., Any]:
        real = getattr(module, name)

        def call(*given: Any) -> Any:
            calls.append(name)
            return real(*given)

        return call

    for name in ("windows_of", "rules_of", "computed_facts"):
        monkeypatch.setattr(module, name, counted(name))
    pair = examples.path("losses-base.csv"), examples.path("losses-int8.csv")
    assert certify(*pair, tmp_path / "c.json", policy=Policy(profile="ci")).passed
    assert calls == ["windows_of", "rules_of", "computed_facts"]
