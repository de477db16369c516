"""Are some segments predicted worse than others (S8, C2)? Gaps within a category, at equal numbers of respondents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from msgspec.structs import replace as changed

from assay.analyses.survey.category_gaps import CategoryGap, CategoryGaps, Fairness, RecipeTests
from assay.analyses.survey.evidence import Survey
from assay.analyses.survey.intervals import KNOWS_THE_SAMPLE, beyond_ceiling, not_corrected, parts_of, weights_within
from assay.analyses.survey.respondents import categories_of, means_of_known
from assay.data.survey.predictions import OK, SCORE_ONLY
from assay.design import DEFAULT_RESAMPLES, Design
from assay.results import words
from assay.stats.multiplicity import benjamini_hochberg
from assay.stats.records import Estimate, Test
from assay.stats.survey import thinned_scores
from assay.stats.survey.gaps import Expected, Gap, NoisySegment, expected_gap, sampling_gap, segment_gap
from assay.stats.survey.published import analytical_gap, permuted_gap, resampled_interval, score_variance
from assay.stats.survey.respondents import DRAWS, counts_of, thinned
from assay.stats.units import Floats, Integers

_SCORES_ONLY = "the results have scores without distributions, which cannot be compared at equal numbers of respondents"


@dataclass(frozen=True, eq=False)
class SegmentNoise:
    """Every segment, without the questions that define it, as measured, and with replicates of its error.

    A replicate is drawn from shares that are noisy already, so its mean is too low and it varies too much. What is used
    is its deviation from the mean of the replicates, scaled to the standard error that sampling has. As all models
    share the draws, what varies together stays together. This is the noise of who was asked, on these questions.
    """

    segments: Sequence[Sequence[NoisySegment | None]]  # [model][segment]
    reasons: Sequence[str | None]  # [model] why nothing can be said

    def gap(self, chosen: Sequence[int], model: int, level: float) -> Estimate:
        """The true gap of a model between some segments."""
        own = [one for one in (self.segments[model][s] for s in chosen) if one is not None]
        reason = self.reasons[model] or (None if len(own) > 1 else "fewer than two segments have answers")
        if reason is not None:
            return Estimate(None, None, None, len(own), reason)
        return sampling_gap(own, confidence_level=level)


def segment_noise(survey: Survey, design: Design) -> SegmentNoise:
    """The segments of every model, from the same replicates as the scores."""
    models = range(len(survey.models))
    drawn = survey.resampled(design).compared
    beyond = beyond_ceiling(survey, design.level)
    reasons = [KNOWS_THE_SAMPLE if beyond[m] else not_corrected(survey, m) for m in models]
    return SegmentNoise([_segments(survey, m, drawn[:, m]) for m in models], reasons)


def _segments(survey: Survey, model: int, drawn: Floats) -> list[NoisySegment | None]:
    codes = np.where(survey.truth.defining, -1, survey.truth.segment)
    parts = parts_of(survey, model, weights_within(survey, model, codes, len(drawn)))
    if not len(parts.answers.rows):
        return [None] * len(drawn)
    curves, measured = parts.answers.curves(parts.weights), parts.measured
    return [
        NoisySegment(float(parts.whole[s]), measured[s], curves[s], _scaled(drawn[s], 1.0)) if parts.read[s] else None
        for s in range(len(drawn))
    ]


def _scaled(replicates: Floats, error: float) -> Floats:
    """Deviations from their mean, with this standard deviation."""
    off = replicates - replicates.mean()
    deviation = float(off.std())
    return np.asarray(off * (error / deviation) if deviation > 0 else 0 * off)


@dataclass(frozen=True, slots=True)
class _Tested:
    """All gaps that are tested together."""

    beyond: Sequence[bool]  # (M,) models that are not tested: they must have seen the sample
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
        one = _Tested(beyond, count, replace(design, resamples=resamples))
        category = _category(survey, (name, segments), (equal, sizes), one)
        recipes = _recipes(survey, segments, design)
        gaps = [
            changed(gap, sampling=noise.gap(segments, m, design.level), recipe=recipes[m])
            for m, gap in enumerate(category.gaps)
        ]
        found.append(changed(category, gaps=tuple(gaps)))
    return Fairness(design.level, resamples, _adjusted(found), (*notes, *_attainable(count, resamples, design.level)))


def gap_p_values(survey: Survey, design: Design) -> Floats:
    """(categories, M) The p-value of each gap at equal numbers of respondents, of itself; NaN where it has no test."""
    equal, _ = _at_equal_n(survey, design.seed)
    resamples = design.resamples or DEFAULT_RESAMPLES
    found = []
    for segments in survey.truth.categories.values():
        cells, _ = _cells(survey, segments)
        tests = [
            segment_gap(
                _table(equal[:, m], cells), confidence_level=design.level, resamples=resamples, seed=design.seed
            ).test
            for m in range(len(survey.models) if len(segments) > 1 else 0)
        ]
        if tests:
            found.append([np.nan if test.p_value is None else test.p_value for test in tests])
    return np.array(found, dtype=np.float64).reshape(-1, len(survey.models))


def _recipes(survey: Survey, segments: Sequence[int], design: Design) -> list[RecipeTests]:
    """The published recipe's tests of every model's gap between these segments."""
    cells, drawn = _cells(survey, segments)[0], survey.resampled(design).compared[list(segments)]  # (S, M, B)
    found = []
    for m in range(len(survey.models)):
        gaps = np.ptp(drawn[:, m], axis=0)
        found.append(
            RecipeTests(
                None if np.isnan(gaps).any() else resampled_interval(gaps, design.level),
                permuted_gap(_table(survey.scores[:, m], cells), seed=design.seed),
                _analytical(survey, m, cells),
            )
        )
    return found


def _analytical(survey: Survey, model: int, cells: Integers) -> Test:
    """The gap over its sampling error, by the delta method; answers about a cell share its respondents."""
    answers, reason = survey.noisy[model], not_corrected(survey, model)
    scores, errors = _table(survey.scores[:, model], cells), np.zeros(len(survey.truth))
    if reason is not None or len(means := means_of_known(scores)) < 2 or np.isnan(means).any():
        return Test("analytical", None, None, cells.shape[1], reason or "fewer than two segments have answers")
    noise = answers.noise
    errors[answers.cells] = answers.by_cell(np.sqrt(score_variance(answers.measured, noise.variance, noise.excess)))
    squares = np.where(np.isnan(scores), 0.0, _table(errors, cells)) ** 2
    variances = np.nansum(squares, axis=0) / (~np.isnan(scores)).sum(axis=0) ** 2
    return analytical_gap(means.tolist(), variances.tolist())


def _attainable(count: int, resamples: int, level: float) -> list[str]:
    """A note if so few resamples can show none of so many gaps: no p-value is below 1 / (1 + B)."""
    least = min(count / (resamples + 1), 1.0)
    if least <= 1 - level:
        return []
    needed = ceil(count / (1 - level) - 1e-9)
    found = f"with {resamples:,} resamples, no p-value adjusted for {words.count(count, 'gap')} can be below"
    none = f"{words.number(least, 2)}, so none can be shown at {words.number(1 - level)}"
    return [f"{found} {none}; take at least {needed:,} (`resamples`)"]


def _at_equal_n(survey: Survey, seed: int) -> tuple[Floats, Integers]:
    """(C, M) Scores with cells thinned to the smallest of their question and category; (C,) the numbers left."""
    truth, predictions = survey.truth, survey.predictions
    _, group = np.unique(np.stack([categories_of(truth), truth.question]), axis=1, return_inverse=True)
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
    family: _Tested,
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
    perfect = means_of_known(_table(survey.ceiling, cells))
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


def _gap(model: str, segments: Sequence[str], scores: tuple[Floats, Floats], family: _Tested) -> CategoryGap:
    raw, equal = scores
    means, design = means_of_known(raw), family.design
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
        reach=found.reach,
    )


def _withheld(gap: CategoryGap) -> CategoryGap:
    """Only the published gap, for a model that must have seen the sample: corrections assume that it has not."""
    nothing = Estimate(None, None, None, gap.excess.n, KNOWS_THE_SAMPLE)
    test = replace(gap.test, statistic=None, p_value=None, reason=KNOWS_THE_SAMPLE)
    unknown = {"expected": None, "equal_gap": None, "equal_best": None, "equal_worst": None, "equal_expected": None}
    return changed(gap, **unknown, excess=nothing, test=test, p_adjusted=None, together=None, reach=None)


def _expected(raw: Floats, equal: Floats, found: Gap, design: Design) -> Expected | None:
    """The gap that equal accuracy would show; ``None`` if the gap at equal n is unknown too."""
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
