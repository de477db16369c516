"""Groups of tasks: the weighted mean of each, adjusted for how many groups there are.

A group's difference, interval and p-value are those of a total over its tasks (`assay.stats.suites.total`). Groups may
be inside each other, and two-sided tests of normal estimates keep Šidák's bound whatever their correlations are (Šidák
1967, *Rectangular confidence regions for the means of multivariate normal distributions*): so p is 1 − (1 − p)^G and
the level of each interval (1 − α)^(1/G). Groups, tasks and the total are three families, each with its own α.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.stats.interval_and_test import agreeing
from assay.stats.multiplicity import benjamini_hochberg, holm
from assay.stats.suites import Adjustment, TaskDifferences, level_of_each, product_p
from assay.stats.suites.total import Total, total
from assay.stats.units import Floats, Integers


@dataclass(frozen=True, eq=False, slots=True)
class GroupRows:
    """Every group's mean, limits and p-values; the limits leave out 0 exactly where the adjusted p ≤ α."""

    each: tuple[Total, ...]  # with the limits and p-value of each group by itself, at the level of all
    low: Floats  # (G,)
    high: Floats
    p: Floats  # (G,) adjusted
    level: float  # of each interval


def group_rows(
    tasks: Sequence[TaskDifferences],
    groups: Sequence[Integers],
    weights: Floats,
    *,
    level: float,
    adjust: Adjustment = "product",
) -> GroupRows:
    """The mean of every group, given as places of its tasks; what they weigh in the total they weigh in their group."""
    chosen = [([tasks[i] for i in own], inside(weights[own])) for own in groups]
    first = _sidak(level, len(groups))
    found = tuple(total(part, shares, level=first) for part, shares in chosen)
    p = _adjusted(np.array([one.p for one in found]), adjust)
    at = level_of_each(p, level, adjust)
    if at != first:  # it depends on how many are selected
        found = tuple(total(part, shares, level=at) for part, shares in chosen)
    low, high, value = (np.array([getattr(one, name) for one in found]) for name in ("low", "high", "value"))
    return GroupRows(found, *agreeing(low, high, p, 1 - level, value), p, at)


def _sidak(level: float, count: int) -> float:
    return level_of_each(np.ones(count), level, "product")


def inside(weights: Floats) -> Floats:
    """Weights within a group, which sum to 1; equal ones where the total has nothing of it."""
    whole = float(weights.sum())
    return weights / whole if whole > 0 else np.full(len(weights), 1 / len(weights))


def _adjusted(p: Floats, adjust: Adjustment) -> Floats:
    if adjust == "holm":
        return holm(p)
    return benjamini_hochberg(p) if adjust == "bh" else product_p(p, [None] * len(p))
