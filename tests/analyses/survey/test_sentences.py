"""What a survey report says, for a paper and for a terminal."""

import pytest

from assay.analyses.survey import report_of
from assay.analyses.survey.result import SurveyReport
from assay.analyses.survey.sentences import Statement
from assay.design import Design
from assay.report.markdown import sections_markdown
from tests.analyses.survey.surveys import made


@pytest.fixture(scope="module")
def report() -> SurveyReport:
    return report_of(made(questions=10, contexts=(0, 5), runs=2), Design(resamples=1000))


@pytest.mark.parametrize(
    ("said", "marked", "sign"),
    [
        (Statement("a", holds=True), "a", "→"),
        (Statement("a", holds=False), "Withheld: a", "?"),
        (Statement("a", holds=True, warning=True), "Warning: a", "!"),
    ],
)
def test_what_may_not_be_printed_is_marked(said: Statement, marked: str, sign: str) -> None:
    assert (said.marked, said.sign) == (marked, sign)


def test_every_statement_is_in_its_list_and_only_there(report: SurveyReport) -> None:
    sections = {section.key: section for section in report.for_a_paper}
    said = report.statements
    assert len(sections["supported"].said) == sum(s.holds and not s.warning for s in said)
    assert len(sections["withheld"].said) == sum(not s.holds for s in said)
    assert sections["sentence"].about == report.sentence
    first = next(s.text for s in said if not s.holds)
    assert sections["withheld"].said[0].startswith(first)


def test_where_there_is_nothing_to_say_that_is_said() -> None:
    report = report_of(made(questions=8), Design(), ["context"])  # one level: withheld
    *_, supported, withheld = report.for_a_paper
    assert (supported.said, supported.about) == ((), "Nothing.")
    assert withheld.said
    report = report_of(made(questions=8), Design(), ["scores"])
    *_, supported, withheld = report.for_a_paper
    assert supported.said
    assert withheld.about.split("\n\n")[1] == "Nothing."
    text = sections_markdown("Statements: x", report.for_a_paper, report.signature)
    assert text.startswith(f"# Statements: x\n\n{report.sentence.split(';')[0]}")
    assert text.endswith(f"each says what is missing.\n\nNothing.\n\n`{report.signature}`\n")


def test_a_terminal_has_every_statement_and_what_to_do(report: SurveyReport) -> None:
    text = report.brief
    assert text.startswith(report.sentence)
    assert all(f"{said.sign} {said.text}" in text for said in report.statements)
    assert all(f"- {one.do} {one.because}" in text for one in report.advice or ())
    assert text.endswith(report.signature)


def test_every_section_says_its_statements(report: SurveyReport) -> None:
    for section in report.sections[1:]:
        own = report.analyses[section.key]
        assert section.said[: len(own.statements)] == tuple(said.marked for said in own.statements)


def test_one_model_has_no_pairs_and_that_is_said() -> None:
    report = report_of(made(questions=8, models={"a": 0.3}), Design(), ["pairs"])
    assert report.sections[1].said == ("No pairs were tested: there is only one model.",)
    assert report.analyses["pairs"].statements == ()
