"""The verb `survey` and the record it gives."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import Any, get_args

import numpy as np

from assay.analyses.result import Result, Row
from assay.analyses.survey.loaded import MIN_RESPONDENTS, THRESHOLD, Population, Survey, load
from assay.analyses.survey.registry import ANALYSES, analysis, chosen, record
from assay.analyses.survey.section import Section, Statement
from assay.analyses.survey.shared import on_shared_cells
from assay.data.survey import Progress, SurveySource, Variants
from assay.design import Design, signature
from assay.errors import InputError, UsageError
from assay.stats.units import Floats

SCHEMA = "assay/survey/1"


@dataclass(frozen=True, slots=True)
class SurveyReport(Result):
    """Everything that was found out about a survey benchmark, one section per analysis."""

    sentence: str
    survey: str
    n_questions: int
    n_segments: int
    n_cells: int
    models: tuple[str, ...]
    sections: dict[str, Section]
    notes: tuple[str, ...]
    design: Design
    signature: str

    def rows(self) -> list[Row]:
        rows: list[Row] = []
        for section in self.sections.values():
            rows += [*section.rows(), ("", "")]
        rows += [("note", note) for note in self.notes]
        return [*rows, ("signature", self.signature)]

    def statements(self) -> list[Statement]:
        """What a paper may say, and what it may not."""
        return [said for section in self.sections.values() for said in section.sentences()]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact and versioned: `from_dict` gives the same record back."""
        return {
            "schema": SCHEMA,
            "kind": "survey",
            "sentence": self.sentence,
            "survey": self.survey,
            "n_questions": self.n_questions,
            "n_segments": self.n_segments,
            "n_cells": self.n_cells,
            "models": list(self.models),
            "sections": {name: section.to_dict() for name, section in self.sections.items()},
            "notes": list(self.notes),
            "design": asdict(self.design),
            "signature": self.signature,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "SurveyReport":
        """The record that `to_dict` wrote."""
        if data.get("schema") != SCHEMA:
            raise InputError(f"this is not a survey report: schema must be {SCHEMA!r}, but got {data.get('schema')!r}.")
        plain = ("sentence", "survey", "n_questions", "n_segments", "n_cells", "signature")
        return cls(
            **{name: data[name] for name in plain},
            models=tuple(data["models"]),
            sections={name: record(name).from_dict(part) for name, part in data["sections"].items()},
            notes=tuple(data["notes"]),
            design=Design(**data["design"]),
        )


def survey(
    truth: SurveySource,
    *results: SurveySource,
    prior: SurveySource | None = None,
    summary: str | PathLike[str] | None = None,
    only: Sequence[str] | None = None,
    design: Design | None = None,
    min_n: int = MIN_RESPONDENTS,
    threshold: float = THRESHOLD,
    variants: Variants = "apart",
    marginal: Population = "left-out",
    progress: Progress | None = None,
) -> SurveyReport:
    """Is a survey benchmark signal or noise?

    ``truth`` is the survey, ``results`` are the benchmark's result files, folders of them, or tables of predictions.
    ``prior`` is another round, ``summary`` the published one, ``only`` the analyses to run (all of them without it).
    Answers of fewer than ``min_n`` respondents are left out. ``marginal`` is what predicts a segment from the others:
    "left-out" has none of its people, "pooled" has all other rows, in which the same people come back.

    >>> answers = {"question": ["q1", "q1", "q2", "q2"], "segment": ["a", "b"] * 2, "n": [80, 60, 80, 60]}
    >>> answers |= {"yes": [60, 30, 45, 80], "no": [40, 70, 55, 20]}
    >>> guess = {name: answers[name] for name in ("question", "segment")}
    >>> guess |= {"yes": [55, 35, 50, 75], "no": [45, 65, 50, 25]}
    >>> found = survey(answers, {"model": ["guess"] * 4, **guess}, only=["scores"])
    >>> round(found.sections["scores"].models[0].score, 3)
    0.955
    """
    asked, names = design or Design(), chosen(only)
    _check(asked, min_n, threshold, marginal)
    loaded = load(
        truth,
        results,
        prior=prior,
        summary=summary,
        min_n=min_n,
        threshold=threshold,
        variants=variants,
        population=marginal,
        progress=progress,
    )
    return report_of(loaded, asked, names)


def _check(design: Design, min_n: int, threshold: float, marginal: str) -> None:
    if replace(design, scheme=Design().scheme) != design:
        raise UsageError("survey takes every part of a design but the scheme; leave it out.")
    if design.test in ("mcnemar", "mcnemar-midp"):
        raise UsageError(f"{design.test} is for 0/1 scores; a survey's are between 0 and 1: leave --test out.")
    if min_n < 1:
        raise UsageError(f"min_n must be at least 1, but got {min_n}.")
    if marginal not in get_args(Population):
        raise UsageError(f"marginal must be one of {', '.join(get_args(Population))}, but got {marginal!r}.")
    if not 0 < threshold < 1:
        raise UsageError(f"threshold must be between 0 and 1, but got {threshold}.")


def report_of(loaded: Survey, design: Design, names: Sequence[str] = tuple(ANALYSES)) -> SurveyReport:
    """The report on a survey that has been read, over the cells that every model has."""
    data = f"{loaded.truth.digest[:8]}{loaded.predictions.digest[:8]}"
    loaded = on_shared_cells(loaded)
    sections = {name: analysis(name)(loaded, design) for name in names}
    truth = loaded.truth
    return SurveyReport(
        _sentence(loaded, sections),
        truth.survey_id or truth.source,
        len(truth.questions),
        len(truth.segments),
        len(truth),
        loaded.models,
        sections,
        loaded.notes,
        design,
        signature(
            "survey",
            questions=len(truth.questions),
            segments=len(truth.segments),
            models=len(loaded.models),
            answers=len(loaded.predictions),
            only=None if tuple(names) == tuple(ANALYSES) else "+".join(names),
            method=design.resampling,
            resamples=design.resamples,
            level=design.level,
            margin=design.margin,
            seed=design.seed,
            marginal=None if loaded.population == "left-out" else loaded.population,
            data=data,
        ),
    )


def _sentence(loaded: Survey, sections: dict[str, Section]) -> str:
    """The best model between what needs no knowledge and what can be had, over the same cells."""
    marginal = loaded.baseline_scores[loaded.reference]
    known = ~np.isnan(marginal)
    cells = known if known.any() else np.ones(len(known), dtype=bool)

    def over_them(values: Floats) -> list[float]:
        found: list[float] = loaded.overall(np.where(cells[:, None], values, np.nan)).tolist()
        return found

    values = zip(loaded.models, over_them(loaded.scores), strict=True)
    scores = {name: value for name, value in values if not np.isnan(value)}
    if not scores:
        return "No model has an answer that could be scored."
    best = max(scores, key=lambda name: (scores[name], name))
    who = f"The best of {len(scores)} models, {best}," if len(scores) > 1 else best
    parts = [f"{who} scores {scores[best]:.3f}"]
    if known.any():
        parts.append(f"the population marginal, {over_them(marginal[:, None])[0]:.3f}")
    if "noise" in sections:
        ceiling = over_them(loaded.ceiling[:, None])[0]
        parts.append(f"a perfect prediction would score {ceiling:.3f} with so many respondents")
    asked = len(cells if loaded.shared is None else loaded.shared)
    count = int(cells.sum())
    over = "" if count == asked else f" These are over {count:,} of {asked:,} questions × segments."
    warned = f" {best} knows the sample: see the warnings." if _beyond(sections.get("noise"), best) else ""
    return "; ".join(parts) + "." + over + warned


def _beyond(section: Section | None, model: str) -> bool:
    from assay.analyses.survey.noise import Noise  # late, as every analysis

    return isinstance(section, Noise) and any(one.beyond and one.model == model for one in section.models)
