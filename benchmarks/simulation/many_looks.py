"""Looks at thousands of samples at once: `assay.stats.sequential.looks`, written for whole arrays.

The same formulas a second time, a hundred times as fast; `check` compares them with the library's on some samples.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from assay.stats.assumptions import LARGE_T
from assay.stats.sequential.looks import LEAST_UNITS, look_at, schedule, spaced
from assay.stats.units import Floats, Integers, Units


@dataclass(frozen=True, eq=False)
class Samples:
    """S samples of n units each."""

    numerators: Floats  # (S, n)
    denominators: Floats  # (S, n)

    @classmethod
    def of(cls, found: list[Units]) -> "Samples":
        return cls(np.array([one.numerators for one in found]), np.array([one.denominators for one in found]))

    def one(self, i: int, place: int | None = None) -> Units:
        return Units(self.numerators[i, :place], self.denominators[i, :place])

    def shifted(self, truth: Floats | float, spread: float) -> "Samples":
        """With this mean difference, and this standard deviation."""
        mean = np.broadcast_to(truth, (len(self.numerators),))[:, None]
        return Samples(spread * self.numerators + mean * self.denominators, self.denominators)


@dataclass(frozen=True, eq=False)
class Schedules:
    """The looks of every sample: after how many units, and at which part of the information they were meant to be."""

    places: Integers  # (S, K); 0: no such look
    goals: Floats  # (S, K)
    refused: np.ndarray  # (S,) too few units by Kish's count


def schedules(denominators: Floats, looks: int) -> Schedules:
    """As `schedule` has them."""
    kish = np.cumsum(denominators, axis=1) ** 2 / np.cumsum(denominators**2, axis=1)
    whole, most = kish[:, -1], np.maximum.accumulate(kish, axis=1)
    samples, n = denominators.shape
    places, goals = np.zeros((samples, looks), dtype=np.int64), np.zeros((samples, looks))
    before = np.zeros(samples)
    for k, share in enumerate(spaced(looks)[:-1]):
        goal = np.maximum(share * whole, LEAST_UNITS)
        place = (most < (goal * (1 - 1e-12))[:, None]).sum(axis=1)
        there = place < n
        reached = np.where(there, kish[np.arange(samples), np.minimum(place, n - 1)], np.inf)
        taken = there & (before < reached) & (reached < whole)
        places[taken, k], goals[taken, k] = place[taken] + 1, (goal / whole)[taken]
        before = np.where(taken, reached, before)
    places[:, -1], goals[:, -1] = n, 1.0
    return Schedules(places, goals, whole < LEAST_UNITS * (1 - 1e-12))


@dataclass(frozen=True, eq=False)
class ManySeen:
    """The p-values of one look at each sample."""

    below: Floats  # (S,)
    above: Floats
    widened: Floats


def look_at_all(found: Samples, places: Integers, limit: float, *, by_length: bool = True) -> ManySeen:
    """What the first units of each sample say; ``places`` says how many of them."""
    m = np.maximum(places, 2).astype(np.float64)
    there = np.arange(found.numerators.shape[1]) < m[:, None]
    top, below = found.numerators * there, found.denominators * there
    total = below.sum(axis=1)
    estimate, weight = top.sum(axis=1) / total, below / total[:, None]
    pull = (top - estimate[:, None] * below) / total[:, None]
    others, square = 1 - weight, pull**2
    second, third, fourth = square.sum(axis=1), (square * pull).sum(axis=1), (square**2).sum(axis=1)
    error = np.sqrt(np.maximum(second * m / (m - 1), (square / others).sum(axis=1)))
    kurtosis = m * fourth / second**2
    df = np.minimum(np.clip(2 * m / np.maximum(kurtosis - 1, 1e-12), 1.0, m - 1), _bell_mccaffrey(weight, others))
    widened = np.ones(len(m))
    if by_length:
        t = _length_t(found, there, m)
        widened = np.where(np.abs(t) > LARGE_T, m * (weight**2).sum(axis=1), 1.0)
    t, g = (estimate - limit) / (error * widened), third / second**1.5
    bent = t + g * t * t / 3 + g * g * t**3 / 27 + g / 6
    sides = [np.maximum(stdtr(df, -side * t), stdtr(m - 1, -side * bent)) for side in (-1, 1)]
    return ManySeen(sides[0], sides[1], widened)


def _bell_mccaffrey(weight: Floats, others: Floats) -> Floats:
    square, a = (weight**2).sum(axis=1), weight**2 / others
    zero, one, two = ((a * weight**k).sum(axis=1) for k in range(3))
    mean = (a * (1 - 2 * weight + square[:, None])).sum(axis=1)
    own = (a * a * (1 - 4 * weight + 2 * square[:, None])).sum(axis=1)
    spread = own + 2 * zero * two + square**2 * zero**2 + 2 * one**2 - 4 * square * zero * one
    return np.asarray(np.maximum(1.0, mean**2 / spread))


def _length_t(found: Samples, there: np.ndarray, m: Floats) -> Floats:
    """The t of the correlation of values and lengths; 0 where all are as long."""
    parts = []
    for part in (found.numerators / found.denominators, found.denominators):
        mean = (part * there).sum(axis=1) / m
        parts.append((part - mean[:, None]) * there)
    spreads = [np.sqrt((part**2).sum(axis=1)) for part in parts]
    flat = (spreads[0] < 1e-12) | (spreads[1] < 1e-9 * m)
    r = (parts[0] * parts[1]).sum(axis=1) / np.where(flat, 1.0, spreads[0] * spreads[1])
    return np.asarray(np.where(flat, 0.0, r * np.sqrt((m - 2) / np.maximum(1 - r * r, 1e-15))))


def check(found: Samples, looks: int, limit: float, some: int = 3) -> None:
    """Refuse to go on where this and the library differ."""
    plans = schedules(found.denominators, looks)
    for i in range(min(some, len(found.numerators))):
        plan = schedule(found.denominators[i], looks)
        assert (plan is None) == bool(plans.refused[i])
        if plan is None:
            continue
        assert plan.places.tolist() == plans.places[i][plans.places[i] > 0].tolist()
        for place in plan.places.tolist():
            seen = look_at(found.one(i, place), by_length=True)
            many = look_at_all(found, np.full(len(found.numerators), place), limit)
            ours, theirs = (many.below[i], many.above[i], many.widened[i]), (seen.p_below(limit), seen.p_above(limit))
            np.testing.assert_allclose(ours, (*theirs, seen.widened), rtol=1e-6, atol=1e-12)
