"""JUnit XML, against the schema that Jenkins' xUnit plugin ships (MIT), as pytest's own tests have it."""

from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import assay
from assay import examples
from assay.cli.arguments import as_options
from assay.report.junit import junit_xml
from assay.results.record import Result
from tests.cli.command import Shell
from tests.report.results import RECORDS, result


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys, monkeypatch)


SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).parent / "junit-10.xsd"))
TASKS = "item,task,score\n" + "".join(f"q{i},t{i % 3},{{}}\n" for i in range(300))


def parsed(data: bytes) -> etree._Element:
    document = etree.parse(BytesIO(data))
    SCHEMA.assertValid(document)
    return document.getroot()


def cases_of(data: bytes) -> dict[str, str]:
    """By the name of each case: passed, or the type of what it failed or was skipped for."""
    root = parsed(data)
    found = {}
    for case in root.iter("testcase"):
        ended = [f"{child.tag}: {child.get('type')}" for child in case if child.tag in ("failure", "skipped")]
        found[case.get("name")] = ended[0] if ended else "passed"
    (suite,) = root
    for count, tag in (("failures", "failure"), ("skipped", "skipped")):
        assert int(suite.get(count)) == sum(how.startswith(tag) for how in found.values())
    assert int(suite.get("tests")) == len(list(root.iter("testcase")))
    return found


@pytest.mark.parametrize("name", RECORDS)
def test_every_kind_of_result_is_valid(name: str) -> None:
    data = junit_xml(result(name))
    assert cases_of(data)
    assert data == junit_xml(result(name))


@pytest.mark.parametrize(
    ("b", "ended"),
    [
        ([1] * 30 + [0] * 10, "passed"),  # the same
        ([1] * 40, "passed"),  # better
        ([0] * 40, "failure: worse"),
    ],
)
def test_a_comparison_fails_where_it_is_worse(b: list[int], ended: str) -> None:
    found = assay.compare([1] * 30 + [0] * 10, b, names=("old", "new"))
    assert cases_of(junit_xml(found)) == {"old → new": ended}


def test_what_cannot_be_said_is_skipped() -> None:
    found = assay.compare([1, 0, 1], [0, 1, 1], names=("old", "new"))
    assert found.verdict == "undecided"
    assert cases_of(junit_xml(found)) == {"old → new": "skipped: undecided"}


@given(st.text(), st.text())
def test_whatever_names_hold_the_document_is_valid_and_says_them(a: str, b: str) -> None:
    class Named(Result, frozen=True, kw_only=True, tag="assay/named/1"):
        question = "What?"
        kind_name = "comparison"
        sentence: str
        signature: str

        @property
        def subject(self) -> str:
            return a

        @property
        def status(self) -> str:  # type: ignore[override]
            return "bad"

    root = parsed(junit_xml(Named(sentence=b, signature="assay:<&>\"'")))
    (case,) = root.iter("testcase")
    if a.isprintable():
        assert case.get("name") == a
    if b.isprintable():
        assert case[0].get("message") == b


def test_a_certificate_that_does_not_pass_fails_for_want_of_evidence_too(shell: Shell) -> None:
    base = str(examples.path("losses-base.csv"))
    for name, ended in (("int8", "passed"), ("trigram", "failure: insufficient evidence")):
        other = str(examples.path(f"losses-{name}.csv"))
        ran = shell("certify", base, other, "-o", "c.json", "--cluster", "document", "--junit", "out/c.xml")
        assert ran.exit_code == (0 if ended == "passed" else 1)
        assert cases_of((shell.folder / "out" / "c.xml").read_bytes()) == {f"losses-base → losses-{name}": ended}


def test_suites_have_a_case_for_each_task_and_one_for_all(shell: Shell) -> None:
    right, wrong = (TASKS.format(*(int(i % 10 > 0 and not (bad and i % 3 == 2)) for i in range(300))) for bad in (0, 1))
    a, b = shell.write("a.csv", right), shell.write("b.csv", wrong)
    shell("compare", a, b, "--junit", "suite.xml")
    found = cases_of((shell.folder / "suite.xml").read_bytes())
    assert found == {"a → b": "failure: worse", "t0": "passed", "t1": "passed", "t2": "failure: worse"}
    assert shell("certify", a, b, "-o", "c.json", "--junit", "c.xml").exit_code == 1
    issued = cases_of((shell.folder / "c.xml").read_bytes())
    assert issued["a → b"] == "failure: fail"
    assert issued["t2"] == "failure: not met"
    assert issued["t0"] == "passed"
    assert shell("verify", "c.json", "--junit", "v.xml").exit_code == 1
    assert cases_of((shell.folder / "v.xml").read_bytes()) == issued


def test_a_forged_certificate_fails_with_the_field_that_is_wrong(shell: Shell) -> None:
    base, other = (str(examples.path(f"losses-{name}.csv")) for name in ("base", "trigram"))
    shell("certify", base, other, "-o", "c.json", "--cluster", "document")
    text = (shell.folder / "c.json").read_text("utf-8")
    (shell.folder / "c.json").write_text(text.replace("insufficient evidence", "pass"), "utf-8")
    assert shell("verify", "c.json", "--junit", "v.xml").exit_code == 4
    data = (shell.folder / "v.xml").read_bytes()
    assert cases_of(data) == {"c.json": "failure: not true"}
    assert "decision.verdict" in (parsed(data).findtext(".//failure") or "")


def test_it_is_not_written_over_what_is_read(shell: Shell) -> None:
    a, b = (shell.write(name, TASKS.format(*[1] * 300)) for name in ("a.csv", "b.csv"))
    ran = shell("compare", a, b, "--junit", "b.csv")
    assert (ran.exit_code, "is read" in ran.err) == (2, True)


def test_arguments_are_options_in_what_the_command_writes() -> None:
    class Advising(Result, frozen=True, kw_only=True, tag="assay/advising/1"):
        question, kind_name = "?", "advice"
        sentence: str
        signature: str

        @property
        def subject(self) -> str:
            return "a"

        @property
        def status(self) -> str:  # type: ignore[override]
            return "bad"

    found = Advising(sentence="Too few draws; raise `resamples=5000`.", signature="")
    assert b"--resamples 5000" in junit_xml(found, as_options)
    assert b"resamples=" not in junit_xml(found, as_options)
    assert b"`resamples=5000`" in junit_xml(found)
