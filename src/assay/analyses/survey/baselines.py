"""What predictors that know nothing, or little, would score (S2, C9)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from assay.analyses.sheet import Sheet
from assay.analyses.survey.against import MARGIN, Against, Place, against_baselines, placed
from assay.analyses.survey.loaded import LEFT_OUT, NOBODY_ELSE, POOLED, Survey
from assay.analyses.survey.population import categories_of_two, has_everyone
from assay.analyses.survey.scores import number, shown
from assay.analyses.survey.section import Section, Statement
from assay.analyses.survey.shuffled import Nulls, nulls
from assay.data.survey import matched
from assay.design import Design
from assay.results import words
from assay.stats.multiplicity import holm
from assay.stats.units import Floats, Truths

DEFAULT_PERMUTATIONS = 2_000
LEAST_PERMUTATIONS = 1_000
_BINS = 40
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Baseline:
    name: str
    score: float | None
    cells: int  # that it says something about
    note: str | None = None
    beside: tuple["Beside", ...] = ()  # where it lacks cells: what all baselines score on those it has


@dataclass(frozen=True, slots=True)
class Beside:
    name: str
    score: float | None


@dataclass(frozen=True, slots=True)
class Null:
    """Scores under permutation of the segments within questions."""

    model: str | None  # None: of the true answers
    observed: float | None
    mean: float | None
    standard_deviation: float | None
    low: float | None  # the central share of the null
    high: float | None
    p_value: float | None  # of as high a score; (1 + #) / (1 + B)
    p_adjusted: float | None  # Holm, over the models
    edges: tuple[float, ...]  # of a histogram
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Baselines(Section):
    name: ClassVar[str] = "baselines"

    baselines: tuple[Baseline, ...]
    against: tuple[Against, ...]
    shuffled: tuple[Null, ...]  # of the true answers first, then of each model's own predictions
    permutations: int
    level: float
    n_cells: int = 0

    def sheets(self) -> list[Sheet]:
        """Numbers over the same cells are in one table: a baseline that lacks some has its own."""
        whole, header = [b for b in self.baselines if not b.beside], ["baseline", "score", "cells", "predicts"]
        cells = [[b.name, shown(b.score), f"{b.cells:,}", b.note or ""] for b in whole]
        truth = self.shuffled[0]
        spread = f"the answers of another segment; sd {shown(truth.standard_deviation)}"
        cells.append(["true answers, shuffled", shown(truth.mean), f"{self.n_cells:,}", spread])
        title = "predictors without knowledge of the segment"
        parts = [b for b in self.baselines if b.beside]
        names = [b.name for b in whole]
        return [
            Sheet(("baselines", title), header, cells),
            *(_part_sheet(b, self.n_cells) for b in parts),
            *(self._against_sheet(own) for own in (names, *([b.name] for b in parts)) if own),
            self._shuffled_sheet(),
        ]

    def _against_sheet(self, baselines: Sequence[str]) -> Sheet:
        level = words.percent(self.level)
        difference = f"difference [{level}, simultaneous]"
        header = ["model − baseline", "baseline", difference, "d_z", "p, adjusted", "the model is"]
        cells = []
        for one in self.against:
            if one.baseline not in baselines:
                continue
            limits = one.together
            value = one.difference.value
            text = "–" if value is None else f"{value:+.4f}"
            if value is not None and limits is not None:
                text += f" [{limits.low:+.4f} to {limits.high:+.4f}]"
            d = one.effect_sizes.get("d_z")
            effect = "–" if d is None or d.value is None else f"{d.value:+.2f}"
            p = "–" if one.p_adjusted is None else f"{one.p_adjusted:.2g}"
            cells.append([one.model, one.baseline, text, effect, p, "–" if value is None else one.place])
        whole = any(b.name in baselines and not b.beside for b in self.baselines)
        where = "each baseline" if whole else f"“{baselines[0]}”, on the cells that it has"
        return Sheet(("against", f"{where}, questions as clusters"), header, cells)

    def _shuffled_sheet(self) -> Sheet:
        header = ["model", "score", "own predictions shuffled", "p, adjusted"]
        cells = [
            [str(n.model), shown(n.observed), f"{shown(n.mean)} ± {shown(n.standard_deviation)}", _p(n.p_adjusted)]
            for n in self.shuffled[1:]
        ]
        return Sheet(("shuffled", f"segments within questions, {self.permutations:,} permutations"), header, cells)

    def sentences(self) -> list[Statement]:
        said = [s for b in self.baselines if b.score is not None for s in self._about(b.name)]
        return [*said, *self._about_shuffled()]

    def _about(self, baseline: str) -> Iterator[Statement]:
        places = placed(self.against, baseline)
        total = sum(map(len, places.values()))
        margin = next((one.margin for one in self.against if one.baseline == baseline), MARGIN)
        paired = "paired by question, adjusted for all models and baselines"
        for place, phrase in _PLACES.items():
            if places[place]:
                how = f"within ±{margin:g}, or the same to a percentage point" if place == "equal" else paired
                what = f"{phrase} the baseline “{baseline}” ({how})"
                who = f"{len(places[place])} of {words.count(total, 'model')}, {_names(places[place])}"
                more = self._too_few(baseline) if place == "not told apart" else ""
                yield Statement(f"{what}: {who}{more}.", holds=place != "not told apart")

    def _too_few(self, baseline: str) -> str:
        """What so few questions could not show of any model: the signs of n questions have 2ⁿ orders."""
        own = [one for one in self.against if one.baseline == baseline and one.test.name == "sign-flip"]
        questions = max((one.n_questions for one in own), default=0)
        family = sum(one.p_adjusted is not None for one in self.against)
        least = min(1.0, family * 2.0 ** (1 - questions))
        if not own or least <= 1 - self.level:
            return ""
        return f"; {words.count(questions, 'question')} cannot tell any, as the smallest adjusted p is {least:.2g}"

    def _about_shuffled(self) -> list[Statement]:
        tested = [n for n in self.shuffled[1:] if n.p_adjusted is not None]
        known = [str(n.model) for n in tested if n.p_adjusted is not None and n.p_adjusted <= 1 - self.level]
        lacking = [str(n.model) for n in tested if str(n.model) not in known]
        how = f"({self.permutations:,} permutations, Holm-adjusted over {words.count(len(tested), 'model')})"
        said = []
        if known:
            said.append(
                Statement(
                    f"{len(known)} of {len(tested)} models score higher with their predictions on the right segments "
                    f"than with them shuffled within questions {how}: {_names(known)}.",
                    holds=True,
                )
            )
        least = len(tested) / (1 + self.permutations)
        if lacking and least > 1 - self.level:
            lacking_how = f"so few permutations cannot show any, as the smallest adjusted p is {least:.2g}"
            how = f"{how[:-1]}; {lacking_how})"
        if lacking:
            said.append(Statement(f"No knowledge of segments is shown for {_names(lacking)} {how}.", holds=False))
        return said


_PLACES: dict[Place, str] = {
    "above": "Above",
    "below": "Below",
    "equal": "Equal to",
    "not told apart": "Not told apart from",
}


def _names(models: Sequence[str], most: int = 12) -> str:
    more = len(models) - most
    return ", ".join(models[:most]) + (f" and {more} more" if more > 0 else "")


def _part_sheet(baseline: Baseline, count: int) -> Sheet:
    about = f"on the {baseline.cells:,} of {count:,} questions × segments that “{baseline.name}” has: {baseline.note}"
    return Sheet(("baselines", about), ["baseline", "score"], [[b.name, shown(b.score)] for b in baseline.beside])


def _p(p: float | None) -> str:
    return "–" if p is None else f"{p:.2g}"


def baselines(survey: Survey, design: Design) -> Baselines:
    """Baselines, every model against each of them, and the two shuffled nulls."""
    count = max(design.resamples or _permutations(len(survey.models), design.level), LEAST_PERMUTATIONS)
    found = nulls(survey, count, design.seed)
    return Baselines(
        tuple(_baseline(survey, name, scores) for name, scores in survey.baseline_scores.items()),
        against_baselines(survey, design),
        _nulls(survey, found, design),
        count,
        design.level,
        len(survey.truth),
    )


def _permutations(models: int, level: float) -> int:
    """As many as can show something of that many models at the level, twice over."""
    return max(DEFAULT_PERMUTATIONS, ceil(2 * models / (1 - level)))


def _baseline(survey: Survey, name: str, scores: Floats) -> Baseline:
    there = ~np.isnan(scores)
    beside = () if there.all() or not there.any() else tuple(_beside(survey, there))
    return Baseline(name, number(survey.overall(scores[:, None])[0]), int(there.sum()), _note(survey, name), beside)


def _beside(survey: Survey, cells: Truths) -> Iterator[Beside]:
    for name, scores in survey.baseline_scores.items():
        if not np.isnan(scores[cells]).any():
            value = survey.overall(np.where(cells, scores, np.nan)[:, None])[0]
            yield Beside(name, number(value))


def _note(survey: Survey, name: str) -> str | None:
    """What a baseline predicts."""
    if name == "prior round" and survey.prior is not None:
        same = matched(survey.truth.questions, survey.prior.questions)
        asked = f"{len(same)} of {len(survey.truth.questions)}"
        return f"what the segment answered in {survey.prior.source}, where {asked} questions were asked"
    if name == LEFT_OUT:
        return _about_left_out(survey)
    return _PREDICTS.get(name)


_PREDICTS = {
    "uniform": "the same share for every option",
    "marginal": "all segments, the scored one among them",
    POOLED: "all other segments, in which the same people come back",
}


def _about_left_out(survey: Survey) -> str:
    if np.isnan(survey.baseline_scores[LEFT_OUT]).all():
        return NOBODY_ELSE
    if has_everyone(survey.people):
        return "all respondents less the segment"
    two = categories_of_two(survey.people)
    said = "the rest of the segment's category"
    return f"{said}; of {', '.join(two)}, which has two segments, the other one" if two else said


def _nulls(survey: Survey, found: Nulls, design: Design) -> tuple[Null, ...]:
    count = found.models.shape[1]
    there = np.flatnonzero(~np.isnan(found.observed))
    reached = (found.models[there] >= found.observed[there, None] - _TIE).sum(axis=1)
    p = dict(zip(there.tolist(), ((1 + reached) / (1 + count)).tolist(), strict=True))
    adjusted = dict(zip(there.tolist(), holm(np.array(list(p.values()), dtype=np.float64)).tolist(), strict=True))
    truth = _null(None, None, found.truth, (None, None), design.level)
    own = [
        _null(name, number(found.observed[m]), found.models[m], (p.get(m), adjusted.get(m)), design.level)
        for m, name in enumerate(survey.models)
    ]
    return (truth, *own)


def _null(
    model: str | None, observed: float | None, values: Floats, p: tuple[float | None, float | None], level: float
) -> Null:
    if np.isnan(values).any():
        return Null(model, observed, None, None, None, None, None, None, (), ())
    low, high = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2]).tolist()
    counts, edges = np.histogram(values, _BINS)
    spread = float(values.std(ddof=1))
    return Null(
        model, observed, float(values.mean()), spread, low, high, *p, tuple(edges.tolist()), tuple(counts.tolist())
    )
