"""Every question × segment: each model's score with an interval, and whether so few people can say anything (S3, S6).

A single cell needs no assumption about the others. Its measured divergence Ĵ is close to a scaled non-central χ² whose
centre is the true J (`assay.stats.survey.denoised`), so the interval is the set of J that a two-sided test does not
refuse, and the estimate the J for which Ĵ is the median. Answers of a model about one cell (contexts, runs) share its
respondents: their limits are averaged, as if their errors were one, which is the widest that they can be.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.analyses.survey.evidence import Survey
from assay.analyses.survey.intervals import KNOWS_THE_SAMPLE, beyond_ceiling, not_corrected
from assay.analyses.survey.respondents import DEFAULT_RESPONDENT_RESAMPLES, add_drawn
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.scores import FOUR, number
from assay.analyses.survey.sentences import Statement
from assay.data.survey.predictions import OK, SCORE_ONLY
from assay.design import Design
from assay.results import words
from assay.results.parts import Column, ResultTable, Value
from assay.stats.records import Estimate, Interval
from assay.stats.survey.denoised import single_divergence
from assay.stats.units import Floats, Truths

METHOD = "non-central χ²"
MOST_NAMED = 5  # flagged cells in a report
_ROOM = 4e6  # drawn scores held at once
_PERCENT = words.fixed(1, percent=True)


class CellNoise(msgspec.Struct, frozen=True):
    """One question asked of one segment: how many answered, and what a perfect prediction would score."""

    question: str
    segment: str
    category: str
    n: int
    options: int
    ceiling: float
    benchmark_ceiling: float  # by the benchmark's own formula
    flagged: bool  # the ceiling is below the threshold: not even a perfect prediction gets there on average
    benchmark_flagged: bool

    @property
    def name(self) -> str:
        return f"{self.question} × {self.segment} (n = {self.n:,})"


class ModelCells(msgspec.Struct, frozen=True):
    """One model in every cell, in their order; nothing where it has no answer."""

    model: str
    score: tuple[float | None, ...]  # as published
    corrected: tuple[float | None, ...]  # against the true shares
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    percentile_low: tuple[float | None, ...]  # of the published recipe, which adds the noise a second time
    percentile_high: tuple[float | None, ...]
    reason: str | None = None  # why nothing is corrected

    @property
    def within_noise(self) -> tuple[bool | None, ...]:
        """Whether each score is one that a perfect prediction may get."""
        return tuple(None if high is None else high >= 1 - 1e-9 for high in self.high)

    @property
    def missed(self) -> tuple[bool | None, ...]:
        """Whether the plain percentile interval misses the score itself."""
        found = zip(self.score, self.percentile_low, self.percentile_high, strict=True)
        return tuple(
            None if score is None or low is None or high is None else not low <= score <= high
            for score, low, high in found
        )


class CellScores(SurveyAnalysis, frozen=True, tag="cells"):
    """Every model in every question × segment."""

    cells: tuple[CellNoise, ...]
    models: tuple[ModelCells, ...]
    threshold: float
    resamples: int
    level: float
    statements: tuple[Statement, ...] = ()

    @property
    def table(self) -> ResultTable:
        """A row for every cell and model: what cells.csv holds."""
        rows = [(cell, model, i) for model in self.models for i, cell in enumerate(self.cells)]
        within, level = {model.model: model.within_noise for model in self.models}, self.level

        def limits(low: float | None, high: float | None, method: str) -> Interval | None:
            return None if low is None or high is None else Interval(low, high, level, method)

        corrected: list[Value] = [
            Estimate(m.corrected[i], limits(m.low[i], m.high[i], METHOD), None, c.n) for c, m, i in rows
        ]
        percentile = [limits(m.percentile_low[i], m.percentile_high[i], "percentile") for _, m, i in rows]
        columns = (
            Column("question", [c.question for c, _, _ in rows]),
            Column("segment", [c.segment for c, _, _ in rows]),
            Column("category", [c.category for c, _, _ in rows]),
            Column("n", [c.n for c, _, _ in rows]),
            Column("options", [c.options for c, _, _ in rows]),
            Column("ceiling", [c.ceiling for c, _, _ in rows], FOUR),
            Column("flagged", [c.flagged for c, _, _ in rows]),
            Column("benchmark_ceiling", [c.benchmark_ceiling for c, _, _ in rows], FOUR),
            Column("benchmark_flagged", [c.benchmark_flagged for c, _, _ in rows]),
            Column("model", [m.model for _, m, _ in rows]),
            Column("score", [m.score[i] for _, m, i in rows], FOUR),
            Column("corrected", corrected, FOUR),
            Column("percentile", percentile, FOUR),
            Column("within_noise", [within[m.model][i] for _, m, i in rows]),
        )
        return ResultTable("all cells", "cells", columns, "every question × segment")

    @property
    def downloads(self) -> Mapping[str, ResultTable]:
        return {"cells.csv": self.table}

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        models = self.models
        columns = (
            Column("model", [m.model for m in models], may_shorten=True),
            Column("cells", [sum(score is not None for score in m.score) for m in models]),
            Column("width of the interval", [_median_width(m) for m in models], FOUR, key="width"),
            Column("may be perfect", [_share(m.within_noise) for m in models], _PERCENT, key="within_noise"),
            Column("percentile misses the score", [_share(m.missed) for m in models], _PERCENT, key="missed"),
        )
        about = f"each with a {words.percent(self.level)} CI; the middle width"
        return (ResultTable("cells", "cells", columns, about), *self._flagged_table())

    def _flagged_table(self) -> Iterator[ResultTable]:
        either = [cell for cell in self.cells if cell.flagged or cell.benchmark_flagged]
        if either:
            few = sorted(either, key=lambda cell: (cell.ceiling, cell.name))[: 2 * MOST_NAMED]
            columns = (
                Column("question", [cell.question for cell in few]),
                Column("segment", [cell.segment for cell in few]),
                Column("n", [cell.n for cell in few]),
                Column("options", [cell.options for cell in few]),
                Column("ceiling", [cell.ceiling for cell in few], FOUR),
                Column("benchmark's", [cell.benchmark_ceiling for cell in few], FOUR, key="benchmark_ceiling"),
            )
            of = f"the lowest {len(few)} of {len(either):,}" if len(few) < len(either) else "all"
            about = f"{of} whose ceiling is below {self.threshold:g} by either formula"
            yield ResultTable("flagged cells", "flagged cells", columns, about)

    def sentences(self) -> Iterator[Statement]:
        given = [m for m in self.models if any(low is not None for low in m.low)]
        if given:
            who = "every model" if len(given) == len(self.models) else words.listed([m.model for m in given], 3)
            yield Statement(
                f"The score of {who} has a {words.percent(self.level)} CI in each of "
                f"{len(self.cells):,} questions × segments.",
                holds=True,
            )
        yield self._about_flagged()

    def _about_flagged(self) -> Statement:
        flagged = [cell.name for cell in sorted(self.cells, key=lambda cell: cell.ceiling) if cell.flagged]
        theirs = sum(cell.benchmark_flagged for cell in self.cells)
        beside = f"(the benchmark's formula flags {theirs:,})"
        all_of = f"{len(self.cells):,} questions × segments"
        if not flagged:
            text = f"In none of {all_of} would a perfect prediction score below {self.threshold:g} {beside}."
            return Statement(text, holds=True)
        named = ", ".join(flagged[:MOST_NAMED])
        more = f" and {len(flagged) - MOST_NAMED:,} more" if len(flagged) > MOST_NAMED else ""
        return Statement(
            f"In {len(flagged):,} of {all_of} even a perfect prediction would score below {self.threshold:g} on "
            f"average {beside}: {named}{more}.",
            holds=True,
        )


def _median_width(model: ModelCells) -> float | None:
    widths = [h - low for low, h in zip(model.low, model.high, strict=True) if low is not None and h is not None]
    return float(np.median(widths)) if widths else None


def _share(found: Sequence[bool | None]) -> float | None:
    known = [one for one in found if one is not None]
    return sum(known) / len(known) if known else None


def cells(survey: Survey, design: Design) -> CellScores:
    """Intervals of every cell, and which cells are mostly noise."""
    level, drawn = design.level, percentiles(survey, design)
    models, beyond = [], beyond_ceiling(survey, level)
    for m, name in enumerate(survey.models):
        reason = KNOWS_THE_SAMPLE if beyond[m] else not_corrected(survey, m)
        nothing = np.full((3, len(survey.truth)), np.nan)
        found = nothing if reason is not None else cell_limits(survey, m, level)
        columns = [survey.scores[:, m], *found, *drawn[m]]
        score, value, low, high, least, most = (tuple(map(number, column.tolist())) for column in columns)
        models.append(ModelCells(name, score, value, low, high, least, most, reason))
    resamples = design.resamples or DEFAULT_RESPONDENT_RESAMPLES
    return CellScores(_noise(survey), tuple(models), survey.threshold, resamples, level)


def _noise(survey: Survey) -> tuple[CellNoise, ...]:
    truth, threshold = survey.truth, survey.threshold
    rows = zip(truth.question.tolist(), truth.segment.tolist(), truth.n.tolist(), truth.options.tolist(), strict=True)
    ours, theirs = survey.ceiling.tolist(), survey.source_ceiling.tolist()
    return tuple(
        CellNoise(
            truth.questions[q].id,
            truth.segments[s].id,
            truth.segments[s].category,
            n,
            k,
            ours[c],
            theirs[c],
            ours[c] < threshold,
            theirs[c] < threshold,
        )
        for c, (q, s, n, k) in enumerate(rows)
    )


def cell_limits(survey: Survey, model: int, level: float) -> Floats:
    """(3, C) A model's score in every cell against the true shares, and its limits; NaN where it has none."""
    answers, predictions = survey.noisy[model], survey.predictions
    found = []
    for chance in (0.5, 0.5 - level / 2, 0.5 + level / 2):
        rows = survey.row_scores.copy()  # failures keep their fixed scores
        rows[answers.rows] = 1 - np.sqrt(single_divergence(answers.measured, answers.noise, chance))
        rows[predictions.model != model] = np.nan
        found.append(survey.cell_means(rows)[:, model])
    there = np.bincount(answers.cell, minlength=len(survey.truth)) > 0
    return np.where(there, np.array(found), np.nan)


def percentiles(survey: Survey, design: Design) -> Floats:
    """(M, 2, C) The quantiles of every cell's score with its respondents drawn again: the published recipe."""
    truth, models = survey.truth, len(survey.models)
    resamples = design.resamples or DEFAULT_RESPONDENT_RESAMPLES
    found = np.full((models, 2, len(truth)), np.nan)
    step = max(1, int(_ROOM / (resamples * models)))
    for low in range(0, len(truth), step):
        part = np.zeros(len(truth), dtype=bool)
        part[low : low + step] = True
        drawn, has = _drawn(survey, part, resamples, design.seed)  # (cells, B, M)
        limits = np.quantile(drawn, [0.5 - design.level / 2, 0.5 + design.level / 2], axis=1)
        found[:, :, part] = np.where(has, limits, np.nan).transpose(2, 0, 1)
    return found


def _drawn(survey: Survey, part: Truths, resamples: int, seed: int) -> tuple[Floats, NDArray[np.bool_]]:
    """(c, B, M) The scores of some cells (C,) with their respondents drawn again; (c, M) where a model has any."""
    truth, answers, models = survey.truth.only(part), survey.predictions.only(part), len(survey.models)
    scores = survey.row_scores[part[survey.predictions.cell]]
    given = np.flatnonzero(~np.isnan(scores) & (answers.status != SCORE_ONLY))
    cell, model, read = answers.cell[given], answers.model[given], answers.status[given] == OK
    counts = np.bincount(cell * models + model, minlength=len(truth) * models).reshape(len(truth), models)
    weight = 1 / counts[cell, model]
    fixed = np.zeros((len(truth), models))
    np.add.at(fixed, (cell[~read], model[~read]), (weight * scores[given])[~read])
    out = np.zeros((len(truth), resamples, models))
    shares = answers.shares[given[read]]
    add_drawn(out, truth, np.arange(len(truth))[:, None], (cell[read], model[read], weight[read], shares), seed)
    return out + fixed[:, None, :], counts > 0
