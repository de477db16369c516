"""Are some segments predicted worse than others (S8, C2)? Gaps within a category, at equal numbers of respondents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import ClassVar

import numpy as np
from msgspec.structs import replace as changed

from assay.analyses.survey.category_gaps import GROUPS, CategoryGap, CategoryGaps, gap_statements, gap_table, line_of
from assay.analyses.survey.denoised import KNOWS_THE_SAMPLE, beyond_ceiling
from assay.analyses.survey.evidence import Survey
from assay.analyses.survey.propagated import SegmentNoise, segment_noise
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.sentences import Statement
from assay.data.survey.predictions import OK, SCORE_ONLY
from assay.design import DEFAULT_RESAMPLES, Design
from assay.results import words
from assay.results.figures import Forest
from assay.results.parts import ResultTable
from assay.stats.multiplicity import benjamini_hochberg
from assay.stats.records import Estimate
from assay.stats.survey import thinned_scores
from assay.stats.survey.gaps import Expected, Gap, expected_gap, segment_gap
from assay.stats.survey.respondents import DRAWS, counts_of, thinned
from assay.stats.units import Floats, Integers

_SCORES_ONLY = "the results have scores without distributions, which cannot be compared at equal numbers of respondents"


class Fairness(SurveyAnalysis, frozen=True, tag="fairness"):
    """Every model's gaps, tested against what equal accuracy gives."""

    page: ClassVar[str] = "survey-fairness.md"

    level: float
    resamples: int
    categories: tuple[CategoryGaps, ...]
    notes: tuple[str, ...]
    statements: tuple[Statement, ...] = ()

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        return tuple(gap_table(category, self.level) for category in self.categories)

    def figures(self, beside: Mapping[str, SurveyAnalysis]) -> tuple[Forest, ...]:  # noqa: ARG002
        """The true gaps with their intervals, beside the published ones and what equality would show."""
        lines = tuple(
            line_of(category.name, gap, self.level)
            for category in self.categories
            for gap in category.gaps
            if gap.simultaneous.interval is not None
        )
        if not lines:
            return ()
        level, for_all = words.percent(self.level), " for all at once"
        about = (
            f"Points and lines: the true gap at equal numbers of respondents, with its {level} interval{for_all}.",
            "Orange squares: unequal accuracy is shown (adjusted for all); blue circles: it is not.",
            "Black ticks: gaps as published. Open triangles: what equal accuracy would show at these sample sizes.",
        )
        title, axis = "Fairness gaps, and what sample size makes of them", "gap between the best and the worst segment"
        return (Forest("gaps", title, about, axis, lines, groups=GROUPS, legend=False, zero=True),)

    @property
    def remarks(self) -> tuple[str, ...]:
        return tuple(f"Note: {note}." for note in self.notes)

    def sentences(self) -> Iterator[Statement]:
        for category in self.categories:
            yield from gap_statements(category, self.level)


@dataclass(frozen=True, slots=True)
class _Family:
    """All gaps that are tested together."""

    beyond: Sequence[bool]  # (M,) models that are not: they know the sample
    count: int
    design: Design


def fairness(survey: Survey, design: Design) -> Fairness:
    """The gaps of every model in every category of two segments or more."""
    equal, sizes = _at_equal_n(survey, design.seed)
    resamples = design.resamples or DEFAULT_RESAMPLES
    found, notes, noise = [], [], segment_noise(survey, design)
    beyond = beyond_ceiling(survey, design.level)
    count = (len(beyond) - sum(beyond)) * sum(len(segments) > 1 for segments in survey.truth.categories.values())
    for name, segments in survey.truth.categories.items():
        if len(segments) < 2:
            notes.append(f"category {name!r} has one segment: nothing to compare")
            continue
        one = _Family(beyond, count, replace(design, resamples=resamples))
        category = _category(survey, (name, segments), (equal, sizes), one)
        found.append(_with_sampling(category, segments, noise, design.level))
    return Fairness(design.level, resamples, _adjusted(found), (*notes, *_attainable(count, resamples, design.level)))


def _attainable(count: int, resamples: int, level: float) -> list[str]:
    """What so few resamples can show of so many gaps: no p-value is below 1 / (1 + B)."""
    least = min(count / (resamples + 1), 1.0)
    if least <= 1 - level:
        return []
    needed = ceil(count / (1 - level) - 1e-9)
    found = f"no p-value of {resamples:,} resamples can be below {words.number(least, 2)}"
    adjusted = f"when adjusted for {words.count(count, 'gap')}, so that none can be shown"
    return [f"{found} {adjusted} at {words.number(1 - level)}; take at least {needed:,} (`resamples`)"]


def _with_sampling(category: CategoryGaps, segments: Sequence[int], noise: SegmentNoise, level: float) -> CategoryGaps:
    gaps = [changed(gap, sampling=noise.gap(segments, m, level)) for m, gap in enumerate(category.gaps)]
    return changed(category, gaps=tuple(gaps))


def _at_equal_n(survey: Survey, seed: int) -> tuple[Floats, Integers]:
    """(C, M) Scores with every answer thinned to the smallest segment of its question and category; (C,) to what."""
    truth, predictions = survey.truth, survey.predictions
    category = np.array([list(truth.categories).index(s.category) for s in truth.segments])[truth.segment]
    _, group = np.unique(np.stack([category, truth.question]), axis=1, return_inverse=True)
    least = np.full(int(group.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, group.ravel(), truth.n)
    sizes = least[group.ravel()]
    larger = np.flatnonzero(truth.n > sizes)
    parts = thinned(counts_of(truth.shares[larger], truth.n[larger]), sizes[larger], DRAWS, seed)
    place = np.full(len(truth), -1)
    place[larger] = np.arange(len(larger))
    rows = survey.row_scores.copy()
    moved = place[predictions.cell] >= 0
    rows[moved & (predictions.status == SCORE_ONLY)] = np.nan
    read = np.flatnonzero(moved & (predictions.status == OK))
    rows[read] = thinned_scores(parts, place[predictions.cell[read]], predictions.shares[read])
    return survey.cell_means(rows), sizes


def _category(
    survey: Survey,
    named: tuple[str, Sequence[int]],
    equal: tuple[Floats, Integers],
    family: _Family,
) -> CategoryGaps:
    name, segments = named
    truth, (scores, sizes) = survey.truth, equal
    cells, left_out = _cells(survey, segments)
    there = cells >= 0
    used = sizes[cells[there]] if there.any() else np.zeros(1, dtype=np.int64)
    people = [truth.segments[s].n for s in segments]
    ids = tuple(truth.segments[s].id for s in segments)
    gaps = [
        _gap(survey.models[m], ids, (_table(survey.scores[:, m], cells), _table(scores[:, m], cells)), family)
        for m in range(len(survey.models))
    ]
    gaps = [_withheld(gap) if beyond else gap for gap, beyond in zip(gaps, family.beyond, strict=True)]
    perfect = _means(_table(survey.ceiling, cells))
    return CategoryGaps(
        name,
        ids,
        (min(people), max(people)),
        (int(used.min()), int(used.max())),
        int(there.any(axis=1).sum()),
        left_out,
        float(np.nanmax(perfect) - np.nanmin(perfect)) if there.any() else 0.0,
        tuple(gaps),
    )


def _cells(survey: Survey, segments: Sequence[int]) -> tuple[Integers, int]:
    """(Q, S) Cells of the questions of these segments, −1 where there is none; and how many define a segment."""
    truth = survey.truth
    place = np.full(len(truth.segments), -1)
    place[list(segments)] = np.arange(len(segments))
    own = place[truth.segment] >= 0
    cells = np.full((len(truth.questions), len(segments)), -1)
    kept = np.flatnonzero(own & ~truth.defining)
    cells[truth.question[kept], place[truth.segment[kept]]] = kept
    return cells[(cells >= 0).any(axis=1)], len(np.unique(truth.question[own & truth.defining]))


def _table(values: Floats, cells: Integers) -> Floats:
    """(Q, S) Values of cells, NaN where there is none."""
    return np.where(cells >= 0, values[cells], np.nan)


def _means(table: Floats) -> Floats:
    """(S,) Means over questions; NaN where a segment has none."""
    count = (~np.isnan(table)).sum(axis=0)
    nothing = np.full(table.shape[1], np.nan)
    return np.asarray(np.divide(np.nansum(table, axis=0), count, out=nothing, where=count > 0))


def _gap(model: str, segments: Sequence[str], scores: tuple[Floats, Floats], family: _Family) -> CategoryGap:
    raw, equal = scores
    means, design = _means(raw), family.design
    assert design.resamples is not None
    found = segment_gap(
        equal,
        confidence_level=design.level,
        family=max(family.count, 1),
        resamples=design.resamples,
        seed=design.seed,
    )
    if found.value is None and (np.isnan(equal) & ~np.isnan(raw)).any():
        found = replace(
            found,
            excess=replace(found.excess, reason=_SCORES_ONLY),
            test=replace(found.test, reason=_SCORES_ONLY),
        )
    several = int((~np.isnan(means)).sum()) >= 2
    return CategoryGap(
        model,
        float(np.nanmax(means) - np.nanmin(means)) if several else None,
        segments[int(np.nanargmax(means))] if several else None,
        segments[int(np.nanargmin(means))] if several else None,
        _expected(raw, equal, found, design),
        found.value,
        None if found.high is None else segments[found.high],
        None if found.low is None else segments[found.low],
        found.expected,
        found.excess,
        found.test,
        None if found.test.p_value is None else min(1.0, found.test.p_value * family.count),
        benjamini_hochberg=None,
        sampling=None,
        together=found.together,
    )


def _withheld(gap: CategoryGap) -> CategoryGap:
    """The published gap alone, of a model that knows the sample: thinning and correcting assume that it does not."""
    nothing = Estimate(None, None, None, gap.excess.n, KNOWS_THE_SAMPLE)
    test = replace(gap.test, statistic=None, p_value=None, reason=KNOWS_THE_SAMPLE)
    unknown = {"expected": None, "equal_gap": None, "equal_best": None, "equal_worst": None, "equal_expected": None}
    return changed(gap, **unknown, excess=nothing, test=test, p_adjusted=None, together=None)


def _expected(raw: Floats, equal: Floats, found: Gap, design: Design) -> Expected | None:
    """Of segments and questions that have both; ``None`` where the gap at equal n is not known either."""
    if found.value is None:
        return None
    both = np.where(np.isnan(equal), np.nan, raw)
    return expected_gap(
        both, equal, confidence_level=design.level, resamples=design.resamples or DEFAULT_RESAMPLES, seed=design.seed
    )


def _adjusted(categories: Sequence[CategoryGaps]) -> tuple[CategoryGaps, ...]:
    """With Benjamini and Hochberg's p-values over all models and categories."""
    p = np.array([g.test.p_value for c in categories for g in c.gaps if g.test.p_value is not None], dtype=np.float64)
    found: Iterator[float] = iter(benjamini_hochberg(p).tolist())
    return tuple(changed(c, gaps=tuple(_with(g, found) for g in c.gaps)) for c in categories)


def _with(gap: CategoryGap, found: Iterator[float]) -> CategoryGap:
    return gap if gap.test.p_value is None else changed(gap, benjamini_hochberg=next(found))
