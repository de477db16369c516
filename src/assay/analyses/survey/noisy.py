"""The answers of a model with what sampling noise does to them: from measured scores to those without noise (C3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.data.survey import OK, Predictions, Truth
from assay.stats.survey.denoised import GRID, ExpectedRoots, SamplingNoise, TrueSpread, noise_of, root_table, spread_of
from assay.stats.units import Floats, Integers


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

    def expected(self, shape: float | None = None) -> tuple[Floats, Floats, float]:
        """(grid, r) Mean and standard deviation of the measured root for every √μ, and the true mean root for 1."""
        table, noise = root_table(self.spread.shape if shape is None else shape), self.noise
        centre = GRID[:, None] ** 2 * (self.spread.relative / noise.scale)
        mean, variance = table.at(np.broadcast_to(noise.freedom, centre.shape), centre)
        scale = np.sqrt(noise.scale)
        return np.asarray(scale * mean), np.asarray(scale * np.sqrt(variance)), table.ratio

    def by_cell(self, values: Floats) -> Floats:
        """(·, cells) Sums over the answers of a cell of values (·, r) times their shares."""
        return np.asarray(np.add.reduceat(values * self.share, self.starts, axis=-1))

    def curves(self, weights: Floats, shape: float | None = None) -> list[ExpectedRoots]:
        """Of parts: weights (cells, P) are of a cell in each. Answers about one cell share its noise."""
        return self.curves_of(self.expected(shape), weights)

    def curves_of(self, expected: tuple[Floats, Floats, float], weights: Floats) -> list[ExpectedRoots]:
        """The same from what is `expected`."""
        from scipy.sparse import csr_array  # late; a cell is in a few of hundreds of parts

        (mean, deviation, ratio), sums = expected, csr_array(weights.T)
        means = np.asarray(sums @ self.by_cell(mean).T)  # (P, grid)
        errors = np.sqrt(np.asarray(sums.power(2) @ (self.by_cell(deviation) ** 2).T))
        slope = ratio * (self.by_cell(np.sqrt(self.spread.relative)) @ weights)
        return [ExpectedRoots(means[p], errors[p], float(slope[p])) for p in range(weights.shape[1])]

    def measured_roots(self, weights: Floats) -> Sequence[float]:
        """(P,) Of the same parts."""
        found: list[float] = (self.by_cell(self.roots) @ weights).tolist()
        return found


def noisy_answers(
    truth: Truth, predictions: Predictions, likely: Floats, divergences: Floats, there: NDArray[np.bool_]
) -> tuple[NoisyAnswers, ...]:
    """For each model; ``likely`` (C, K) is what true shares may be, ``there`` (R,) which answers have a score."""
    models, place = len(predictions.models), predictions.cell * len(predictions.models) + predictions.model
    per_cell = np.bincount(place[there], minlength=len(truth) * models)
    return tuple(
        _of(truth, predictions, likely, divergences, per_cell[m::models], np.flatnonzero((predictions.model == m) & ok))
        for ok in [predictions.status == OK]
        for m in range(models)
    )


def _of(
    truth: Truth, predictions: Predictions, likely: Floats, divergences: Floats, per_cell: Integers, rows: Integers
) -> NoisyAnswers:
    cell = predictions.cell[rows]
    share = 1 / np.maximum(per_cell[cell], 1)
    noise = noise_of(likely[cell], predictions.shares[rows], truth.n[cell])
    jsd = divergences[rows] - noise.excess
    weights = share / max(float(share.sum()), 1e-300)
    return NoisyAnswers(rows, cell, share, divergences[rows], noise, spread_of(jsd, noise, truth.n[cell], weights))
