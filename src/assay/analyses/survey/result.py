"""The record that `survey` returns, and what every analysis of a survey gives."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import msgspec

from assay.analyses.survey.sentences import NO_WEAKNESS, READING, TITLES, Advice, Statement, brief, for_a_paper
from assay.design import Design
from assay.results import words
from assay.results.figures import Figure, Gauge, Mark
from assay.results.parts import ResultTable
from assay.results.record import MAIN_FACTS, Caution, Fact, Result, Section, Status
from assay.stats.records import Estimate

if TYPE_CHECKING:
    from assay.analyses.survey.baseline_tests import Against

#: Name → "module:function:record", in the order in which analyses are run and shown; imported when one is met.
ANALYSES: dict[str, str] = {
    "scores": "assay.analyses.survey.scores:scores:Scores",
    "baselines": "assay.analyses.survey.baselines:baselines:Baselines",
    "noise": "assay.analyses.survey.noise:noise:NoiseCeiling",
    "intervals": "assay.analyses.survey.intervals:intervals:ScoreIntervals",
    "cells": "assay.analyses.survey.cells:cells:CellScores",
    "pairs": "assay.analyses.survey.order:pairs:ModelPairs",
    "weighting": "assay.analyses.survey.order:weighting:SegmentWeights",
    "fairness": "assay.analyses.survey.fairness:fairness:Fairness",
    "context": "assay.analyses.survey.context_levels:context:ContextSlopes",
    "repeats": "assay.analyses.survey.order:repeats:RepeatedRuns",
    "temperature": "assay.analyses.survey.temperature:temperature:Temperatures",
}


class SurveyAnalysis(msgspec.Struct, frozen=True, tag_field="kind"):
    """The record of one analysis: its fields and what they say are the JSON; what is shown is computed from them."""

    page: ClassVar[str] = "survey.md"  # of the documentation

    if TYPE_CHECKING:  # the last field of every record

        @property
        def statements(self) -> tuple[Statement, ...]: ...

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "statements", tuple(self.sentences()))

    def sentences(self) -> Iterator[Statement]:
        """What follows from it: what a paper may say, and what is withheld."""
        raise NotImplementedError

    def advice(self) -> Iterator[Advice]:
        """What to do if it shows a weak signal (S11), with the numbers that say so."""
        yield from ()

    @property
    def kind(self) -> str:
        """Its name among the analyses."""
        return str(type(self).__struct_config__.tag)

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        return ()

    def figures(self, beside: Mapping[str, "SurveyAnalysis"]) -> tuple[Figure, ...]:  # noqa: ARG002  # scores need it
        """Its charts; those of the scores show what the analyses beside it found."""
        return ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know but no paper would print: why there is nothing, or how little can be shown."""
        return ()

    @property
    def downloads(self) -> Mapping[str, ResultTable]:
        """Tables too long for a report, by the names of their files."""
        return {}

    # What an analysis contributes to another one or to the whole report.

    @property
    def main_fact(self) -> Fact | None:
        """The one number of it that a busy reader looks for."""
        return None

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Scores to compare those of models with."""
        return ()

    @property
    def corrected(self) -> Mapping[str, Estimate]:
        """Scores of models without the noise of the respondents."""
        return {}

    @property
    def best_against_marginal(self) -> "Against | None":
        """The model that is furthest above the population marginal, or least below it."""
        return None

    @property
    def above_ceiling(self) -> tuple[str, ...]:
        """Models that score higher than a perfect prediction would."""
        return ()

    def section(self, beside: Mapping[str, "SurveyAnalysis"]) -> Section:
        return Section(
            self.kind,
            TITLES[self.kind],
            READING[self.kind],
            self.figures(beside),
            self.tables,
            (*(said.marked for said in self.statements), *self.remarks),
            self.page,
        )


def analysis_type(kind: str) -> type[SurveyAnalysis]:
    """The record of an analysis."""
    module, _, name = ANALYSES[kind].split(":")
    found: type[SurveyAnalysis] = getattr(import_module(module), name)
    return found


FEW_ANALYSES = 3  # that a terminal shows whole


class SurveyReport(Result, frozen=True, kw_only=True, tag="assay/survey/1"):
    """Everything that was found out about a survey benchmark, analysis by analysis."""

    question = "Is this benchmark signal or noise?"
    kind_name = "survey"

    kind: Literal["survey"]
    sentence: str
    survey: str
    n_questions: int
    n_segments: int
    n_cells: int
    models: tuple[str, ...]
    analyses: dict[str, SurveyAnalysis] = msgspec.field(name="sections")
    advice: tuple[Advice, ...] | None = None  # None: saved before it was part of a report
    paper: tuple[Statement, ...] = ()  # sentences to print as they are, and what is not supported
    notes: tuple[str, ...]
    design: Design
    signature: str

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The record that `to_dict` wrote; each analysis is read by the type of its kind."""
        if data.get("schema") != cls.__struct_config__.tag:
            return super().from_dict(data)  # which refuses it
        parts = {name: msgspec.convert(part, analysis_type(name)) for name, part in data["sections"].items()}
        return msgspec.structs.replace(super().from_dict({**data, "sections": {}}), analyses=parts)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """What a paper may say, and what it may not."""
        return tuple(said for analysis in self.analyses.values() for said in analysis.statements)

    @property
    def brief(self) -> str:
        """What it says, without tables."""
        return brief([self.sentence, *self.notes, self.signature], self.statements, self.advice or ())

    @property
    def for_a_paper(self) -> tuple[Section, ...]:
        """What a paper may print, and what it may not."""
        return for_a_paper(self.sentence, self.statements, self.paper)

    @property
    def downloads(self) -> dict[str, ResultTable]:
        """Tables too long for a report, by the names of their files."""
        return {file: table for one in self.analyses.values() for file, table in one.downloads.items()}

    @property
    def subject(self) -> str:
        return self.survey

    @property
    def status(self) -> Status:
        best = self._best
        if best is None or best.together is None:
            return "plain"
        return "good" if best.position == "above" else "bad" if best.position == "below" else "unsure"

    @property
    def compared(self) -> tuple[Fact, ...]:
        sizes = f"{self.n_questions:,} questions, {self.n_segments:,} segments, {self.n_cells:,} of both"
        return (Fact("models", ", ".join(self.models)), Fact("on", self.n_cells, None, sizes))

    @property
    def gauge(self) -> Gauge | None:
        """The best model against the population marginal."""
        best = self._best
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

    @property
    def _best(self) -> "Against | None":
        found = [analysis.best_against_marginal for analysis in self.analyses.values()]
        return next((one for one in found if one is not None), None)

    @property
    def facts(self) -> tuple[Fact, ...]:
        sizes = (
            Fact("questions", self.n_questions),
            Fact("segments", self.n_segments),
            Fact("questions × segments", self.n_cells),
        )
        best = self._best
        if best is None:
            return sizes
        found = best.simultaneous
        shown = words.with_interval(found, sign=True) if found.interval is not None else words.shown(found)
        return (*sizes, Fact(f"{best.model} − {best.baseline}", found, "against the marginal", shown))

    @property
    def main_sections(self) -> tuple[Section, ...]:
        """What to do, the scores and their order; of a few analyses that were asked for, all."""
        if len(self.analyses) <= FEW_ANALYSES:
            return self.sections
        return tuple(section for section in self.sections if section.key in ("what to do", "scores", "pairs"))

    @property
    def main_figures(self) -> tuple[Figure, ...]:
        """Models between the marginal and the ceiling; fairness and context are numbers, and charts that are folded."""
        return tuple(figure for figure in self.figures if figure.name == "scores") or super().main_figures

    @property
    def gauge_apart(self) -> bool:
        return not any(figure.name == "scores" for figure in self.figures)

    @property
    def main_facts(self) -> tuple[Fact, ...]:
        found = [analysis.main_fact for analysis in self.analyses.values()]
        return (*self.facts[3:], *(fact for fact in found if fact is not None), *self.facts[2:3])[:MAIN_FACTS]

    @property
    def to_do(self) -> tuple[str, ...]:
        return tuple(map(str, self.advice or ()))

    @property
    def cautions(self) -> tuple[Caution, ...]:
        return tuple(Caution("note", note) for note in self.notes)

    @property
    def sections(self) -> tuple[Section, ...]:
        own = tuple(analysis.section(self.analyses) for analysis in self.analyses.values())
        if self.advice is None:
            return own
        do = self.to_do
        return (Section("what to do", "What to do", "" if do else NO_WEAKNESS, said=do), *own)
