"""A certificate over tasks as a result: schema, JSON, text, pages and Markdown say what its facts say."""

import json
from pathlib import Path

import pytest

from assay.certificate.record import schema_of
from assay.certificate.signing import generate_keys
from assay.certificate.suite.record import SCHEMA, SuiteCertificate
from assay.certificate.verification import Verification
from assay.certificate.verify import verify
from assay.design import Policy
from assay.errors import InputError
from assay.report.markdown import certificate_markdown
from assay.report.saved import part_of, read_part
from tests.certificate.alterations import alterations
from tests.certificate.issuing import certify_tasks
from tests.certificate.samples import assay, evidence_of, load, save
from tests.certificate.schema_subset import Schema, violations
from tests.certificate.suite.samples import equal, issue, suite


@pytest.fixture(scope="module")
def schema() -> Schema:
    ran = assay("schema", "suite-certificate")
    assert (ran.code, ran.err) == (0, "")
    found: Schema = json.loads(ran.out)
    return found


def test_every_certificate_is_valid_by_the_printed_schema(over_tasks: Path, schema: Schema) -> None:
    assert list(violations(load(over_tasks), schema, schema)) == []
    assert schema == schema_of(SuiteCertificate, SCHEMA)


def test_what_is_missing_or_added_is_invalid(schema: Schema, tmp_path: Path) -> None:
    wrong = [a for a in alterations(load(issue("undecided", tmp_path))) if a.how in ("removed", "field added")]
    assert len(wrong) > 150
    lists = ("rules", "tasks", "limits", "total", "each", "overrides", "groups")
    valid = [a for a in wrong if not any(violations(a.document, schema, schema))]
    assert [str(a) for a in valid if not a.field.rpartition(".")[2].isdigit() and a.field not in lists] == []


def test_json_gives_the_same_record_back(over_tasks: Path) -> None:
    record = SuiteCertificate.from_dict(load(over_tasks))
    assert record.to_dict() == load(over_tasks)
    found = verify(over_tasks)
    again = Verification.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    assert again == found
    assert str(again).startswith(found.sentence)


def test_no_field_holds_a_sentence(over_tasks: Path) -> None:
    def texts(value: object, place: str = "") -> list[str]:
        inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        found = [text for name, part in inside for text in texts(part, f"{place}.{name}")]
        return [*found, value] if isinstance(value, str) and place != ".policy.note" else found

    assert [text for text in texts(load(over_tasks)) if len(text.split()) > 5] == []


def test_text_page_and_table_agree(over_tasks: Path) -> None:
    record = SuiteCertificate.from_dict(load(over_tasks))
    part = part_of(record)
    assert str(record).startswith(record.sentence)
    assert (part.sentence, part.signature, part.status) == (record.sentence, record.signature, record.status)
    table = record.table("limits")
    assert len(table) == len(record.limits)
    frame = table.to_frame()
    assert sorted(frame["at"]) == sorted(one.at for one in record.limits)
    assert {chart.specification["description"] for group in part.groups for chart in group.charts}
    outcomes = [cell.partition(" (")[0] for cell in dict(zip(table.header, zip(*table.rows, strict=True)))["outcome"]]  # noqa: B905
    assert sorted(outcomes) == sorted(one.outcome for one in record.limits)


def test_a_saved_certificate_is_verified_before_a_page_shows_it(tmp_path: Path) -> None:
    path = issue("fail", tmp_path)
    assert read_part(path).status == "bad"
    document = load(path)
    document["decision"]["verdict"] = "pass"
    save(path, document)
    part = read_part(path)
    assert "not true" in part.sentence
    document["schema"] = "assay/suite-certificate/9"
    with pytest.raises(InputError, match="not a certificate that this version of Assay reads"):
        read_part(save(path, document))


def test_markdown_has_one_table_with_a_line_for_every_limit(over_tasks: Path) -> None:
    record = SuiteCertificate.from_dict(load(over_tasks))
    lines = certificate_markdown(record).splitlines()
    assert lines[0] == f"### {({'pass': '✅', 'fail': '❌', 'undecided': '⚠️'})[record.verdict]} Assay: {record.verdict}"
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + len(record.limits)
    assert sum(line.startswith("| ---") for line in lines) == 1
    assert any("verify" in line for line in lines[-2:])


def test_a_signed_certificate_is_checked_by_its_key(tmp_path: Path) -> None:
    public = generate_keys(tmp_path / "key")
    issued = certify_tasks(*equal({"a": 300, "b": 400}), tmp_path / "c.json", sign_with=tmp_path / "key")
    assert "signature" in verify(issued.path, public_key=public).checks
    assert verify(issued.path, public_key=public).true
    document = load(issued.path)
    document["policy"]["note"] = "another"
    found = verify(save(issued.path, document), evidence=evidence_of(issued.path), public_key=public)
    assert [fault.field for fault in found.faults] == ["signature"]


# ---------------------------------------------------------------------------------------------------------- sentences


def test_a_pass_says_how_sure_it_is_and_what_it_does_not_show(tmp_path: Path) -> None:
    found = certify_tasks(*equal({"arc": 600, "boolq": 800, "gsm8k": 700}), tmp_path / "c.json")
    assert "may replace" in found.sentence
    assert (
        "has not dropped by more than 0.02 (wrong at most 1 time in 40), and no single task is shown" in found.sentence
    )
    assert "would have been noticed 4 times in 5." in found.sentence
    said = found.sections[1].said
    assert "wrong at most 1 time in 40" in said[0]
    assert said[1].startswith("An equal model would pass this in ")
    assert "(Holm over 3 tasks)" in said[2]


def test_a_task_that_dropped_within_its_limit_is_named(tmp_path: Path) -> None:
    """Shown to be worse, by 0.04 and no more than 0.05: it passes, and the sentence says so."""
    found = certify_tasks(*suite({"arc": (10, 50, 1000), "boolq": (60, 10, 1000)}), tmp_path / "c.json")
    assert found.verdict == "pass"
    assert "(arc is shown to be worse, within its limit)" in found.sentence


def test_a_fail_names_what_failed_and_at_most_three(tmp_path: Path) -> None:
    counts = {f"t{i}": (0, 40, 100) for i in range(5)}
    found = certify_tasks(*suite(counts), tmp_path / "c.json")
    assert "may not replace" in found.sentence
    assert found.sentence.count("is beyond the limit of a drop of") == 3
    assert found.sentence.endswith("; and 3 limits more.")
    assert "by Holm" in found.sentence


def test_undecided_says_how_many_items_would_decide(tmp_path: Path) -> None:
    found = certify_tasks(*suite({"arc": (3, 4, 60), "boolq": (4, 4, 80)}), tmp_path / "c.json")
    needed = found.decision.items_needed
    assert found.sentence.startswith("Undecided whether")
    assert f"about {needed:,} items in these proportions would settle it" in found.sentence
    policy = Policy(max_drop=0.2, every=True, note="wide")
    strict = certify_tasks(*suite({"arc": (1, 1, 400), "boolq": (6, 6, 30)}), tmp_path / "d.json", policy=policy)
    (open_,) = [one for one in strict.limits if one.outcome == "open"]
    assert f"about {open_.items_needed} items of boolq would settle it" in strict.sentence
    assert "An equal model would pass all tasks in" in strict.sentence


def test_what_is_too_few_is_said_to_be(tmp_path: Path) -> None:
    policy = Policy(every=True)
    found = certify_tasks(*suite({"arc": (0, 0, 400), "boolq": (0, 0, 5)}), tmp_path / "c.json", policy=policy)
    assert "boolq, 0.6 → 0.6, 0.000" in found.sentence
    assert "is too few to rely on, for the limit of a drop of 0.05" in found.sentence


def test_broken_rules_are_named(tmp_path: Path) -> None:
    found = SuiteCertificate.from_dict(load(issue("broken rules", tmp_path)))
    assert "rule not met: pairing (profile dev only reports it)" in found.sentence
    assert found.broken == {"pairing": "188 of 190 items pair, 2 do not"}


@pytest.mark.parametrize(("level", "said"), [(0.95, "1 time in 40"), (0.9, "1 time in 20"), (0.99, "1 time in 200")])
def test_error_rates_follow_the_level(level: float, said: str, tmp_path: Path) -> None:
    note = "a pilot"
    found = certify_tasks(*equal({"a": 2000, "b": 2000}), tmp_path / "c.json", policy=Policy(level=level, note=note))
    assert f"wrong at most {said}" in found.sections[1].said[0]
