"""A survey report as a part of a document."""

from collections.abc import Mapping

from assay.analyses.survey.advice import advice
from assay.analyses.survey.against import Against
from assay.analyses.survey.baselines import Baselines
from assay.analyses.survey.loaded import LEFT_OUT, POOLED
from assay.analyses.survey.report import SurveyReport
from assay.analyses.survey.section import Section, Statement
from assay.report.document import Chart, Fact, Gauge, Group, Mark, Part, Status, Table
from assay.report.parts.common import chart_of
from assay.report.survey_chart import CHARTS
from assay.report.survey_reading import READING, TITLES
from assay.results import words
from assay.results.explanations import Explanation

_MARGINALS = (LEFT_OUT, POOLED)  # the one that was asked for is tested


def survey_part(report: SurveyReport) -> Part:
    """What to do first, then a section for each analysis."""
    best = _best_against_marginal(report.sections)
    return Part(
        kind="survey",
        name=report.survey,
        title="Is this benchmark signal or noise?",
        sentence=report.sentence,
        status=_status(best),
        compared=(
            Fact("models", ", ".join(report.models)),
            Fact("on", f"{report.n_questions:,} questions, {report.n_segments:,} segments, {report.n_cells:,} of both"),
        ),
        signature=report.signature,
        gauge=_gauge(best),
        groups=(_what_to_do(report), *(_group(report, name) for name in report.sections)),
        notes=report.notes,
        data=report.to_dict(),
    )


def _best_against_marginal(sections: Mapping[str, Section]) -> Against | None:
    """The best model, on the questions, against the population marginal without the segment."""
    baselines = sections.get("baselines")
    if not isinstance(baselines, Baselines):
        return None
    found = [one for one in baselines.against if one.baseline in _MARGINALS and one.difference.value is not None]
    return max(found, key=lambda one: one.difference.value or 0.0, default=None)


def _gauge(best: Against | None) -> Gauge | None:
    if best is None or best.difference.value is None or best.together is None:
        return None
    value, limits = best.difference.value, best.together
    return Gauge(
        f"score of {best.model} − the population marginal",
        value,
        limits.low,
        limits.high,
        (Mark(0.0, "no better than the marginal"),),
        "higher",
        words.estimate(value, limits, sign=True),
    )


def _status(best: Against | None) -> Status:
    if best is None or best.together is None:
        return "plain"
    return "good" if best.place == "above" else "bad" if best.place == "below" else "unsure"


def _method(name: str) -> Explanation | None:
    page = "survey-fairness.md" if name == "fairness" else "survey.md"
    return Explanation(READING[name], page) if name in READING else None


def _what_to_do(report: SurveyReport) -> Group:
    found = advice(report.sections)
    if not found:
        return Group("What to do", "The analyses that ran found no weakness that asks for a change.")
    return Group("What to do", said=tuple(f"{one.do} {one.because}" for one in found))


def _mark(said: Statement) -> str:
    return "Warning: " if said.warning else "" if said.holds else "Withheld: "


def _group(report: SurveyReport, name: str) -> Group:
    section = report.sections[name]
    charts: tuple[Chart, ...] = ()
    if name in CHARTS:
        file, draw = CHARTS[name]
        drawn = draw(report.sections)
        charts = () if drawn is None else (chart_of(file.removesuffix(".svg"), lambda: drawn),)
    return Group(
        TITLES.get(name, name.capitalize()),
        READING.get(name, ""),
        charts,
        tuple(Table.of(sheet, method=_method(name)) for sheet in section.sheets() if sheet.cells),
        tuple(f"{_mark(one)}{one.text}" for one in section.sentences()),
    )
