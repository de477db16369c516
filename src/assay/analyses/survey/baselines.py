"""What predictors with little or no knowledge score, and how models compare with them (S2, C9)."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil

import msgspec
import numpy as np

from assay.analyses.survey.baseline_tests import MARGIN, Against, Nulls, Position, against_baselines, nulls, placed
from assay.analyses.survey.evidence import LEFT_OUT, NOBODY_ELSE, POOLED, Survey, overall
from assay.analyses.survey.respondents import categories_of_two, has_everyone
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.scores import FOUR, number
from assay.analyses.survey.sentences import Advice, Statement
from assay.data.survey.truth import matched
from assay.design import Design
from assay.results import words
from assay.results.figures import Distribution, Histogram, Mark
from assay.results.parts import Column, ResultTable
from assay.stats.multiplicity import holm
from assay.stats.units import Floats, Truths

DEFAULT_PERMUTATIONS = 2_000
LEAST_PERMUTATIONS = 1_000
_BINS = 40
_MOST_SHOWN = 12  # histograms
_MOST_NAMED = 13  # models in a sentence
_NO_SPREAD = 1e-9
_MARGINALS = (LEFT_OUT, POOLED)  # the one that was asked for is tested
_TIE = 1e-12
SHUFFLED_TRUTH = "true answers, shuffled"


class Beside(msgspec.Struct, frozen=True):
    """A predictor on the cells that another one has."""

    name: str
    score: float | None


class Baseline(msgspec.Struct, frozen=True):
    """A predictor that knows nothing about the segment."""

    name: str
    score: float | None
    cells: int  # that it predicts
    note: str | None = None
    beside: tuple[Beside, ...] = ()  # if it lacks cells: what all baselines score on those it has


class ShuffledScores(msgspec.Struct, frozen=True):
    """Scores under permutation of the segments within questions."""

    model: str | None  # None: the true answers
    observed: float | None
    mean: float | None
    standard_deviation: float | None
    low: float | None  # the central share of the null
    high: float | None
    p_value: float | None  # of so high a score: (1 + #) / (1 + B)
    p_adjusted: float | None  # Holm, over the models
    edges: tuple[float, ...]  # of a histogram
    counts: tuple[int, ...]


class Baselines(SurveyAnalysis, frozen=True, tag="baselines"):
    """Predictors that know nothing about the segment, and every model against them."""

    baselines: tuple[Baseline, ...]
    against: tuple[Against, ...]
    shuffled: tuple[ShuffledScores, ...]  # of the true answers first, then of each model's own predictions
    permutations: int
    level: float
    n_cells: int = 0
    statements: tuple[Statement, ...] = ()

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        """A table holds numbers over the same cells, so a baseline that lacks some has its own."""
        whole = [b.name for b in self.baselines if not b.beside]
        parts = [b for b in self.baselines if b.beside]
        return (
            self._whole_table(),
            *(_part_table(b, self.n_cells) for b in parts),
            *(self._against_table(own) for own in (whole, *([b.name] for b in parts)) if own),
            self._shuffled_table(),
        )

    def _whole_table(self) -> ResultTable:
        whole, truth = [b for b in self.baselines if not b.beside], self.shuffled[0]
        spread = f"the answers of another segment; sd {FOUR(truth.standard_deviation)}"
        columns = (
            Column("baseline", [*(b.name for b in whole), SHUFFLED_TRUTH]),
            Column("score", [*(b.score for b in whole), truth.mean], FOUR),
            Column("cells", [*(b.cells for b in whole), self.n_cells]),
            Column("predicts", [*(b.note or "" for b in whole), spread]),
        )
        return ResultTable("baselines", "baselines", columns, "predictors that know nothing about the segment")

    def _against_table(self, baselines: Sequence[str]) -> ResultTable:
        found = [one for one in self.against if one.baseline in baselines]
        sizes = [one.effect_sizes.get("d_z") for one in found]
        positions = [None if one.difference.value is None else one.position for one in found]
        difference = f"difference [{words.percent(self.level)}, simultaneous]"
        columns = (
            Column("model − baseline", [one.model for one in found], key="model", may_shorten=True),
            Column("baseline", [one.baseline for one in found]),
            Column(difference, [one.simultaneous for one in found], words.fixed(4, sign=True), key="difference"),
            Column("d_z", [None if d is None else d.value for d in sizes], words.fixed(2, sign=True)),
            Column("p, adjusted", [one.p_adjusted for one in found], words.p_alone, key="p_adjusted"),
            Column("the model is", positions, key="position"),
        )
        whole = any(b.name in baselines and not b.beside for b in self.baselines)
        where = "each baseline" if whole else f"“{baselines[0]}”, on the cells that it has"
        key = "against" if whole else f"against {baselines[0]}"
        return ResultTable(key, "against", columns, f"{where}, questions as clusters")

    def _shuffled_table(self) -> ResultTable:
        own = self.shuffled[1:]
        columns = (
            Column("model", [one.model for one in own], may_shorten=True),
            Column("score", [one.observed for one in own], FOUR),
            Column("own predictions shuffled", [one.mean for one in own], FOUR, key="shuffled"),
            Column("± sd", [one.standard_deviation for one in own], FOUR, key="shuffled_sd"),
            Column("p, adjusted", [one.p_adjusted for one in own], words.p_alone, key="p_adjusted"),
        )
        about = f"segments within questions, {self.permutations:,} permutations"
        return ResultTable("shuffled", "shuffled", columns, about)

    def figures(self, beside: Mapping[str, SurveyAnalysis]) -> tuple[Distribution, ...]:  # noqa: ARG002
        """For each model, the histogram of its scores with predictions shuffled, and the score itself."""
        known = [one for one in self.shuffled[1:] if one.counts and one.observed is not None]
        shown = sorted(known, key=lambda one: -(one.observed or 0.0))[:_MOST_SHOWN]
        if not shown:
            return ()
        mixed = f"{self.permutations:,} permutations of a model's own predictions among the segments of a question"
        about = [
            f"Grey: {mixed}.",
            "Orange line: its score. A model that does not know which segment is which lies within the grey.",
        ]
        if len(shown) < len(known):
            about.append(f"The {len(shown)} best of {len(known)} models.")
        title = "Scores with segments shuffled"
        return (Distribution("shuffled", title, tuple(about), "score", tuple(map(_histogram, shown)), "permutations"),)

    @property
    def marks(self) -> tuple[Mark, ...]:
        whole = [one for one in self.baselines if not one.beside]  # others are over fewer cells than the models
        found = [Mark(one.score, one.name) for one in whole if one.score is not None]
        truth = self.shuffled[0].mean
        return (*found, *([] if truth is None else [Mark(truth, SHUFFLED_TRUTH)]))

    @property
    def best_against_marginal(self) -> Against | None:
        found = [one for one in self.against if one.baseline in _MARGINALS and one.difference.value is not None]
        return max(found, key=lambda one: one.difference.value or 0.0, default=None)

    def advice(self) -> Iterator[Advice]:
        tested = [null for null in self.shuffled[1:] if null.p_adjusted is not None]
        lacking = [null for null in tested if null.p_adjusted is not None and null.p_adjusted > 1 - self.level]
        one = len(lacking) == 1
        if lacking:
            yield Advice(
                "Ask questions on which segments differ, or use coarser segments.",
                f"{len(lacking)} of {words.count(len(tested), 'model')} {'scores' if one else 'score'} no better with "
                f"{'its' if one else 'their'} predictions on the right segments than with them shuffled.",
            )

    def sentences(self) -> Iterator[Statement]:
        for one in self.baselines:
            if one.score is not None:
                yield from self._about(one.name)
        yield from self._about_shuffled()

    def _about(self, baseline: str) -> Iterator[Statement]:
        places = placed(self.against, baseline)
        total = sum(map(len, places.values()))
        margin = next((one.margin for one in self.against if one.baseline == baseline), MARGIN)
        paired = "paired by question, adjusted for all models and baselines"
        for place, phrase in _PLACES.items():
            if places[place]:
                how = f"within ±{margin:g}, or the same to a percentage point" if place == "equal" else paired
                what = f"{phrase} the baseline “{baseline}” ({how})"
                who = (
                    f"{len(places[place])} of {words.count(total, 'model')}, {words.listed(places[place], _MOST_NAMED)}"
                )
                more = self._too_few(baseline) if place == "not told apart" else ""
                yield Statement(f"{what}: {who}{more}.", holds=place != "not told apart")

    def _too_few(self, baseline: str) -> str:
        """Why so few questions can tell no model apart: n questions have 2ⁿ arrangements of signs."""
        own = [one for one in self.against if one.baseline == baseline and one.test.name == "sign-flip"]
        questions = max((one.n_questions for one in own), default=0)
        family = sum(one.p_adjusted is not None for one in self.against)
        least = min(1.0, family * 2.0 ** (1 - questions))
        if not own or least <= 1 - self.level:
            return ""
        return f"; with {words.count(questions, 'question')} the smallest possible adjusted p is {least:.2g}"

    def _about_shuffled(self) -> Iterator[Statement]:
        tested = [n for n in self.shuffled[1:] if n.p_adjusted is not None]
        known = [str(n.model) for n in tested if n.p_adjusted is not None and n.p_adjusted <= 1 - self.level]
        lacking = [str(n.model) for n in tested if str(n.model) not in known]
        how = f"({self.permutations:,} permutations, Holm-adjusted over {words.count(len(tested), 'model')})"
        if known:
            yield Statement(
                f"{len(known)} of {len(tested)} models score higher with their predictions on the right segments than "
                f"with them shuffled within questions {how}: {words.listed(known, _MOST_NAMED)}.",
                holds=True,
            )
        least = len(tested) / (1 + self.permutations)
        if lacking and least > 1 - self.level:
            how = f"{how[:-1]}; with so few, the smallest possible adjusted p is {least:.2g})"
        if lacking:
            who = words.listed(lacking, _MOST_NAMED)
            yield Statement(f"No knowledge of segments is shown for {who} {how}.", holds=False)


_PLACES: dict[Position, str] = {
    "above": "Above",
    "below": "Below",
    "equal": "Equal to",
    "not told apart": "Not told apart from",
}


def _part_table(baseline: Baseline, count: int) -> ResultTable:
    about = f"on the {baseline.cells:,} of {count:,} questions × segments that “{baseline.name}” has: {baseline.note}"
    columns = (
        Column("baseline", [b.name for b in baseline.beside]),
        Column("score", [b.score for b in baseline.beside], FOUR),
    )
    return ResultTable(f"baselines beside {baseline.name}", "baselines", columns, about)


def _histogram(one: ShuffledScores) -> Histogram:
    """If predictions are the same for all segments, no shuffle changes the score: a bin without width."""
    p = "" if one.p_adjusted is None else f", {words.p_value(one.p_adjusted)} adjusted"
    marks = () if one.observed is None else (Mark(one.observed, "score", dashed=False),)
    label, heights = f"{one.model}{p}", tuple(map(float, one.counts))
    if one.mean is not None and (one.standard_deviation or 0.0) <= _NO_SPREAD:
        return Histogram(label, (one.mean, one.mean), (sum(heights),), marks=marks)
    return Histogram(label, one.edges, heights, marks=marks)


def baselines(survey: Survey, design: Design) -> Baselines:
    """Baselines, every model against each of them, and the two shuffled nulls."""
    twice = ceil(2 * len(survey.models) / (1 - design.level))  # what it takes to show anything about so many models
    count = max(design.resamples or max(DEFAULT_PERMUTATIONS, twice), LEAST_PERMUTATIONS)
    found = nulls(survey, count, design.seed)
    return Baselines(
        tuple(_baseline(survey, name) for name in survey.baseline_scores),
        against_baselines(survey, design),
        _nulls(survey, found, design),
        count,
        design.level,
        len(survey.truth),
    )


def _baseline(survey: Survey, name: str) -> Baseline:
    panel = survey.of_baseline(name)
    there = panel.answered[:, 0]
    beside = () if there.all() or not there.any() else tuple(_beside(survey, there))
    return Baseline(name, number(overall(panel)[0]), int(there.sum()), _note(survey, name), beside)


def _beside(survey: Survey, units: Truths) -> Iterator[Beside]:
    for name in survey.baseline_scores:
        panel = survey.of_baseline(name).rows(units)
        if panel.whole:
            yield Beside(name, number(overall(panel)[0]))


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
    "marginal": "all segments, including the scored one",
    POOLED: "all other segments, which contain the same people",
}


def _about_left_out(survey: Survey) -> str:
    if np.isnan(survey.baseline_scores[LEFT_OUT]).all():
        return NOBODY_ELSE
    if has_everyone(survey.people):
        return "all respondents less the segment"
    two = ", ".join(categories_of_two(survey.people))
    said = "the rest of the segment's category"
    return f"{said}; in categories of two segments ({two}) that is the other one" if two else said


def shuffled_p(found: Nulls) -> dict[int, tuple[float, float]]:
    """By model: how often it would score as well with its predictions shuffled, alone and by Holm over the models."""
    count = found.models.shape[1]
    there = np.flatnonzero(~np.isnan(found.observed))
    reached = (found.models[there] >= found.observed[there, None] - _TIE).sum(axis=1)
    p = np.asarray((1 + reached) / (1 + count), dtype=np.float64)
    return dict(zip(there.tolist(), zip(p.tolist(), holm(p).tolist(), strict=True), strict=True))


def _nulls(survey: Survey, found: Nulls, design: Design) -> tuple[ShuffledScores, ...]:
    tested = shuffled_p(found)
    truth = _null(None, None, found.truth, (None, None), design.level)
    own = [
        _null(name, number(found.observed[m]), found.models[m], tested.get(m, (None, None)), design.level)
        for m, name in enumerate(survey.models)
    ]
    return (truth, *own)


def _null(
    model: str | None, observed: float | None, values: Floats, p: tuple[float | None, float | None], level: float
) -> ShuffledScores:
    if np.isnan(values).any():
        return ShuffledScores(model, observed, None, None, None, None, None, None, (), ())
    low, high = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2]).tolist()
    counts, edges = np.histogram(values, _BINS)
    spread = float(values.std(ddof=1))
    return ShuffledScores(
        model, observed, float(values.mean()), spread, low, high, *p, tuple(edges.tolist()), tuple(counts.tolist())
    )
