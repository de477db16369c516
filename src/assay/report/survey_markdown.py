"""A survey report as Markdown: tables, how to read them, and what to do where the signal is weak (S10, S11)."""

from assay.analyses.survey.advice import advice
from assay.analyses.survey.report import SurveyReport
from assay.analyses.survey.section import Section
from assay.report.markdown import cell
from assay.report.rank_markdown import _table

#: Title of each section.
_TITLES = {
    "scores": "Scores",
    "baselines": "Baselines",
    "noise": "Noise",
    "intervals": "Intervals",
    "pairs": "Which models can be told apart",
    "weighting": "Weights",
    "fairness": "Fairness",
    "context": "Context",
    "repeats": "Repeated runs",
}

#: How to read its tables.
_READING = {
    "scores": (
        "1 − √JSD of predicted and true shares, 1 is perfect; the mean over segments of the mean over "
        "questions. *Honest* leaves out answers that could not be read, which the benchmark scores 0 or 0.1."
    ),
    "baselines": (
        "A model has to beat predictors that know nothing of the segment. The population marginal is that of "
        "all other segments. *Shuffled* mixes up a model's own predictions within each question: a model that "
        "does not know which segment is which scores as well then."
    ),
    "noise": (
        "So few people were asked that their shares are not those of the population. The *ceiling* is what a "
        "perfect prediction would score on average; the source's formula is shown beside it. A score is to be "
        "read within the range from the marginal to the ceiling."
    ),
    "intervals": (
        "Respondents are drawn again. That adds their noise a second time, so the plain percentile interval "
        "may miss the score itself; the corrected one is of the score against the true shares."
    ),
    "pairs": (
        "Paired tests, whole questions as clusters, adjusted for the number of pairs. Models that share a "
        "letter are not told apart; *ranks* are those that the tests leave open."
    ),
    "weighting": (
        "Segments count the same in the benchmark, whatever their size. If the ranking changes when larger "
        "segments count more, it hangs on segments that are mostly noise."
    ),
    "fairness": (
        "A gap is the best segment's score less the worst's. It is never negative, and small segments score "
        "lower whatever the model does, so it is compared with what equal accuracy would show. *At equal n* "
        "every segment is thinned to the smallest; the test and the interval of the true gap are of that. p "
        "is adjusted over all models and categories."
    ),
    "context": (
        "The change of the score for one more question about the segment in the prompt, within the same "
        "question and segment, with errors clustered by question. R² is of the changes within question and "
        "segment."
    ),
    "repeats": (
        "How far the same model scores the same again: intraclass correlations, the spread between runs, and "
        "the smallest difference that single runs can show."
    ),
}


def survey_markdown(report: SurveyReport, charts: dict[str, str] | None = None) -> str:
    """The whole report; ``charts`` are file names by section."""
    parts = [f"# Is this benchmark signal or noise? {cell(report.survey)}", cell(report.sentence), _about(report)]
    parts.append(_what_to_do(report))
    for name, section in report.sections.items():
        parts.append(_section(name, section, (charts or {}).get(name)))
    if report.notes:
        parts.append("## Notes\n\n" + _bullets([cell(note) for note in report.notes]))
    parts.append(f"`{report.signature}`")
    return "\n\n".join(parts) + "\n"


def _about(report: SurveyReport) -> str:
    return (
        f"{report.n_questions:,} questions, {report.n_segments:,} segments, {report.n_cells:,} questions × segments, "
        f"{len(report.models):,} models. The sentences for a paper are in [statements.md](statements.md), every number "
        "is in [survey.json](survey.json)."
    )


def _what_to_do(report: SurveyReport) -> str:
    found = advice(report.sections)
    if not found:
        return "## What to do\n\nThe analyses that ran found no weakness that asks for a change."
    return "## What to do\n\n" + _bullets([f"**{cell(one.do)}** {cell(one.because)}" for one in found])


def _section(name: str, section: Section, chart: str | None) -> str:
    title = _TITLES.get(name, name.capitalize())
    parts = [f"## {title}", *([_READING[name]] if name in _READING else [])]
    if chart is not None:
        parts.append(f"![{title}]({chart})")
    for sheet in section.sheets():
        parts += [f"**{cell(': '.join(sheet.title))}**", _table(sheet)]
    said = [f"{'' if one.holds else '*Withheld:* '}{cell(one.text)}" for one in section.sentences()]
    return "\n\n".join([*parts, *([_bullets(said)] if said else [])])


def _bullets(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
