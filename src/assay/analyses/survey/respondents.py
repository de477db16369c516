"""The people who were asked: the noise of so few, drawing them again, those outside a segment (S3, C3, C9).

`NoisyAnswers` says what scores would be without the noise of who was asked; `Resampled` are scores of every model from
the same multinomial draws. `left_out` is what everybody outside a segment answered.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.data.survey.predictions import OK, SCORE_ONLY, Predictions
from assay.data.survey.truth import Truth
from assay.design import Design
from assay.errors import InputError
from assay.stats.survey.denoised import (
    GRID,
    ExpectedRoots,
    SamplingNoise,
    SpreadFamily,
    TrueSpread,
    noise_of,
    root_table,
    spread_of,
)
from assay.stats.survey.respondents import Predicted, Respondents, resampled_scores
from assay.stats.units import Floats, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def categories_of(truth: Truth) -> Integers:
    """(C,) The category of each cell's segment, as a place among ``truth.categories``."""
    names = list(truth.categories)
    return np.array([names.index(segment.category) for segment in truth.segments], dtype=np.int64)[truth.segment]


def means_of_known(values: Floats) -> Floats:
    """Means over the first axis that leave out NaN; NaN where nothing is known."""
    counts = (~np.isnan(values)).sum(axis=0)
    nothing = np.full(counts.shape, np.nan)
    return np.asarray(np.divide(np.nansum(values, axis=0), counts, out=nothing, where=counts > 0))


@dataclass(frozen=True, eq=False)
class NoisyAnswers:
    """The answers of one model that were read, sorted by cell."""

    rows: Integers  # (r,) among all answers
    cell: Integers  # (r,)
    share: Floats  # (r,) of an answer in the score of its cell
    measured: Floats  # (r,) divergence as measured
    noise: SamplingNoise
    spread: TrueSpread

    @property
    def jsd(self) -> Floats:
        """(r,) The divergence less its expected excess."""
        return np.asarray(self.measured - self.noise.excess)

    @property
    def roots(self) -> Floats:
        """(r,) √JSD as measured."""
        return np.sqrt(np.maximum(self.measured, 0.0))

    @property
    def starts(self) -> Integers:
        """Where each cell starts."""
        return np.flatnonzero(np.concatenate([[True], np.diff(self.cell) != 0])[: len(self.cell)])

    @property
    def cells(self) -> Integers:
        return np.asarray(self.cell[self.starts])

    def expected(self, shape: float | None = None, family: SpreadFamily = "gamma") -> tuple[Floats, Floats, float]:
        """(grid, r) Mean and standard deviation of the measured root for every √μ, and the true mean root for 1."""
        table, noise = root_table(self.spread.shape if shape is None else shape, family), self.noise
        centre = GRID[:, None] ** 2 * (self.spread.relative / noise.scale)
        mean, variance = table.at(np.broadcast_to(noise.freedom, centre.shape), centre)
        scale = np.sqrt(noise.scale)
        return np.asarray(scale * mean), np.asarray(scale * np.sqrt(variance)), table.ratio

    def by_cell(self, values: Floats) -> Floats:
        """(·, cells) Sums over the answers of a cell of values (·, r) times their shares."""
        return np.asarray(np.add.reduceat(values * self.share, self.starts, axis=-1))

    def curves(
        self, weights: "Floats | csr_array", shape: float | None = None, family: SpreadFamily = "gamma"
    ) -> list[ExpectedRoots]:
        """The curves of P parts, given the weights of cells (cells, P). Answers about a cell share its noise."""
        return self.curves_of(self.expected(shape, family), weights)

    def curves_of(self, expected: tuple[Floats, Floats, float], weights: "Floats | csr_array") -> list[ExpectedRoots]:
        """The curves of parts, from what `expected` gave."""
        from scipy.sparse import csr_array  # late; a cell is in a few of hundreds of parts

        (mean, deviation, ratio), sums = expected, csr_array(weights.T)
        means = np.asarray(sums @ self.by_cell(mean).T)  # (P, grid)
        errors = np.sqrt(np.asarray(sums.power(2) @ (self.by_cell(deviation) ** 2).T))
        slope = ratio * (self.by_cell(np.sqrt(self.spread.relative)) @ weights)
        return [ExpectedRoots(means[p], errors[p], float(slope[p])) for p in range(weights.shape[1])]

    def measured_roots(self, weights: "Floats | csr_array") -> Sequence[float]:
        """(P,) The measured mean root of each part."""
        found: list[float] = np.asarray(self.by_cell(self.roots) @ weights).tolist()
        return found


def noisy_answers(
    truth: Truth, predictions: Predictions, likely: Floats, divergences: Floats, there: NDArray[np.bool_]
) -> tuple[NoisyAnswers, ...]:
    """The answers of each model; ``likely`` (C, K) estimates true shares, ``there`` (R,) marks those with a score."""
    found, models = [], len(predictions.models)
    place = predictions.cell * models + predictions.model
    per_cell = np.bincount(place[there], minlength=len(truth) * models)
    for m in range(models):
        rows = np.flatnonzero((predictions.model == m) & (predictions.status == OK))
        cell, measured = predictions.cell[rows], divergences[rows]
        share = 1 / np.maximum(per_cell[m::models][cell], 1)
        noise = noise_of(likely[cell], predictions.shares[rows], truth.n[cell])
        weights = share / max(float(share.sum()), 1e-300)
        spread = spread_of(measured - noise.excess, noise, truth.n[cell], weights)
        found.append(NoisyAnswers(rows, cell, share, measured, noise, spread))
    return tuple(found)


DEFAULT_RESPONDENT_RESAMPLES = 1_000
_MOST_SUMS = 2e8  # numbers held at once


@dataclass(frozen=True, eq=False)
class Resampled:
    """Replicates of scores; NaN where a model has no answer with a distribution."""

    columns: tuple[tuple[int, int | None], ...]  # (L,) the model and its context level, None for all
    by_segment: Floats  # (S, L, B)
    by_question: Floats  # (Q, L, B)
    compared: Floats  # (S, L, B) segments without the questions that define them

    @property
    def overall(self) -> Floats:
        """(L, B) The mean over segments."""
        return means_of_known(self.by_segment)


def resample(truth: Truth, predictions: Predictions, row_scores: Floats, design: Design, *, by: str) -> Resampled:
    """Draw the respondents of every cell again. Failed answers keep their fixed score; scores alone are left out."""
    rows = np.flatnonzero(~np.isnan(row_scores) & (predictions.status != SCORE_ONLY))
    column, columns = _columns(predictions, rows, by=by)
    drawn, fixed, there = _sums(truth, predictions, (rows, column, len(columns)), row_scores, design)
    segments, questions = len(truth.segments), len(truth.questions)
    plain = _means(drawn, fixed, there)
    compared = plain[:segments]
    if len(drawn) > segments + questions:  # questions that define a segment were summed apart
        for part in (drawn, fixed, there):
            part[:segments] += part[segments + questions :]
        plain = _means(drawn, fixed, there)
    return Resampled(columns, plain[:segments], plain[segments : segments + questions], compared)


def _means(drawn: Floats, fixed: Floats, there: Floats) -> Floats:
    """(·, L, B) The means, from sums (·, B, L); NaN where there is none."""
    means = np.full((drawn.shape[0], drawn.shape[2], drawn.shape[1]), np.nan)
    for part in range(drawn.shape[2]):
        has = there[:, part] > 0
        means[has, part] = (drawn[has, :, part] + fixed[has, part, None]) / there[has, part, None]
    return means


def places_of(truth: Truth) -> Integers:
    """(C, 2) The sums of a cell: of its segment (of a question that defines it, one apart), and of its question."""
    segments, questions = len(truth.segments), len(truth.questions)
    own = np.where(truth.defining, segments + questions + truth.segment, truth.segment)
    return np.stack([own, segments + truth.question], axis=1)


def _columns(
    predictions: Predictions, rows: Integers, *, by: str
) -> tuple[Integers, tuple[tuple[int, int | None], ...]]:
    """The column of each row."""
    if by == "cell":
        return predictions.model[rows], tuple((m, None) for m in range(len(predictions.models)))
    levels = predictions.contexts
    place = np.searchsorted(levels, predictions.context[rows])
    column = predictions.model[rows] * len(levels) + place
    return column, tuple((m, level) for m in range(len(predictions.models)) for level in levels)


def _sums(
    truth: Truth, predictions: Predictions, chosen: tuple[Integers, Integers, int], row_scores: Floats, design: Design
) -> tuple[Floats, Floats, Floats]:
    """By segment, question and what defines a segment: Σ of drawn scores (·, B, L), of fixed ones (·, L), and cells."""
    (rows, column, count), places = chosen, places_of(truth)
    blocks = len(truth.segments) * (2 if truth.defining.any() else 1) + len(truth.questions)
    resamples = design.resamples or DEFAULT_RESPONDENT_RESAMPLES
    cell, read = predictions.cell[rows], predictions.status[rows] == OK
    here = np.bincount(cell * count + column, minlength=len(truth) * count).reshape(len(truth), count)
    weight = 1 / here[cell, column]  # an answer's share of its cell
    fixed, there = np.zeros((blocks, count)), np.zeros((blocks, count))
    failed = ~read
    for g in range(2):
        np.add.at(fixed, (places[cell[failed], g], column[failed]), (weight * row_scores[rows])[failed])
        np.add.at(there, places[:, g], here > 0)
    if float(blocks) * resamples * count > _MOST_SUMS:
        raise InputError(
            f"{resamples:,} resamples of {count:,} columns do not fit into memory; take fewer `resamples`."
        )
    out = np.zeros((blocks, resamples, count))
    add_drawn(out, truth, places, (cell[read], column[read], weight[read], predictions.shares[rows[read]]), design.seed)
    return out, fixed, there


def add_drawn(
    out: Floats, truth: Truth, places: Integers, answers: tuple[Integers, Integers, Floats, Floats], seed: int
) -> None:
    """Add Σ weight · score of answers (cell, column, weight, shares), drawn again, to out (blocks, B, L)."""
    cell, column, weight, predicted = answers
    slot = _numbered(cell, column)  # answers of one column about one cell go into slots side by side
    people = Respondents(truth.shares, truth.options, truth.n)
    for s in range(int(slot.max(initial=-1)) + 1):
        own = np.flatnonzero(slot == s)
        shares = np.zeros((len(truth), out.shape[2], truth.shares.shape[1]))
        weights = np.zeros((len(truth), out.shape[2]))
        shares[cell[own], column[own]] = predicted[own]
        weights[cell[own], column[own]] = weight[own]
        found = resampled_scores(people, Predicted(shares, weights, places), out.shape[1], seed)
        out[: len(found)] += found


def resample_sums(truth: Truth, predictions: Predictions, weights: Floats, design: Design) -> Floats:
    """(G, B, M, L) Σ weight · score of the answers that were read, by category, model and context level.

    From the same draws as `resample`. Answers of weight (R,) 0 are left out.
    """
    rows = np.flatnonzero((weights != 0) & (predictions.status == OK))
    column, columns = _columns(predictions, rows, by="context")
    categories = len(truth.categories)
    out = np.zeros((categories, design.resamples or DEFAULT_RESPONDENT_RESAMPLES, len(columns)))
    answers = predictions.cell[rows], column, weights[rows], predictions.shares[rows]
    add_drawn(out, truth, categories_of(truth)[:, None], answers, design.seed)
    return out.reshape(categories, out.shape[1], len(predictions.models), -1)


def _numbered(cell: Integers, column: Integers) -> Integers:
    """0, 1, … for the answers with the same cell and column."""
    order = np.lexsort((column, cell))
    same = (np.diff(cell[order]) == 0) & (np.diff(column[order]) == 0)
    starts = np.flatnonzero(np.concatenate([[True], ~same])[: len(cell)])
    found = np.empty(len(cell), dtype=np.int64)
    found[order] = np.arange(len(cell)) - np.repeat(starts, np.diff(np.append(starts, len(cell))))
    return found


#: Names of a row of all respondents, as a segment's id or as the value in attribute:value.
EVERYONE = frozenset(
    ("all", "everyone", "everybody", "overall", "total", "population", "all respondents", "all participants")
)
_ROUNDING = 0.005  # of the respondents: percentages may be whole numbers


def pooled(truth: Truth, sizes: Floats) -> Floats:
    """(C, K) All other rows of the question, weighted by ``sizes`` (C,); they still contain the segment's people."""
    sums, mass = _group_sums(truth.shares * sizes[:, None], truth.question), _group_sums(sizes[:, None], truth.question)
    left, rest = sums - truth.shares * sizes[:, None], mass - sizes[:, None]
    return _shares(left, rest)


def left_out(truth: Truth, everyone: Truth) -> Floats:
    """(C, K) What the people outside the segment answered; NaN if nobody else was asked.

    Leaving out the segment's own row is not enough: everybody is in one segment of *every* category, so the people of
    `party:left` come back through the ages, the places, the incomes. They are left out only if the pool is **one**
    partition of the people: the other segments of the segment's own category, or all respondents less the segment if
    the survey has a row for them. ``everyone`` is the survey with the small answers that ``truth`` leaves out: their
    people belong to the population.
    """
    cells = zip(truth.question.tolist(), truth.segment.tolist(), strict=True)
    places = [everyone.place[truth.questions[q].id, truth.segments[s].id] for q, s in cells]
    return np.asarray(_complement(everyone)[places])


def categories_of_two(truth: Truth) -> tuple[str, ...]:
    """The categories of two segments, whose complement is the other one; none if a row holds all respondents."""
    if has_everyone(truth):
        return ()
    return tuple(name for name, codes in truth.categories.items() if len(codes) == 2)


def has_everyone(truth: Truth) -> bool:
    """Whether the survey has a row of all respondents."""
    return bool(_named(truth))


def _complement(truth: Truth) -> Floats:
    mass = truth.n[:, None] * truth.shares
    named = np.isin(truth.segment, _named(truth))
    _, group = np.unique(np.stack([categories_of(truth), truth.question]), axis=1, return_inverse=True)
    own = np.where(named[:, None], 0.0, mass)  # a row of all respondents is not one group among others
    count = np.where(named, 0, truth.n)[:, None].astype(np.float64)
    found = _shares(_group_sums(own, group.ravel()) - own, _group_sums(count, group.ravel()) - count)
    found[named] = np.nan
    for cell, whole in _whole_rows(truth).items():
        rest = mass[whole] - mass[cell]
        if truth.n[whole] > truth.n[cell] and rest.min() >= -_ROUNDING * (truth.n[whole] + truth.n[cell]):
            found[cell] = np.maximum(rest, 0.0) / np.maximum(rest, 0.0).sum()
    return found


def _named(truth: Truth) -> list[int]:
    """The segments whose name says that they are all respondents."""
    return [
        code
        for code, segment in enumerate(truth.segments)
        if {_plain(segment.id), _plain(segment.id.partition(":")[2]), _plain(segment.label)} & EVERYONE
    ]


def _plain(name: str) -> str:
    return " ".join(name.replace("-", " ").replace("_", " ").split()).casefold()


def _whole_rows(truth: Truth) -> dict[int, int]:
    """Cell → the row of all respondents to its question: of its own category if there is one, else the largest."""
    rows: list[int] = np.flatnonzero(np.isin(truth.segment, _named(truth))).tolist()
    if not rows:
        return {}
    category, found = categories_of(truth), {}
    for cell in range(len(truth)):
        same = [row for row in rows if truth.question[row] == truth.question[cell]]
        if same and cell not in same:
            found[cell] = max(same, key=lambda row: (category[row] == category[cell], truth.n[row]))
    return found


def _group_sums(values: Floats, groups: Integers) -> Floats:
    """(C, ·) For each row the sum over its group."""
    sums = np.zeros((int(groups.max()) + 1, values.shape[1]))
    np.add.at(sums, groups, values)
    return np.asarray(sums[groups])


def _shares(left: Floats, rest: Floats) -> Floats:
    out = np.full(left.shape, np.nan)
    return np.asarray(np.divide(np.maximum(left, 0.0), rest, out=out, where=rest > 0))
