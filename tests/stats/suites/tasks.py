"""Tasks to compare two systems on: from counts, or from the differences of units."""

from math import inf

import numpy as np
from hypothesis import strategies as st

from assay.stats.proportions import Effective
from assay.stats.suites import TaskDifferences
from assay.stats.units import Floats, Integers, Units

Counts = tuple[int, int, int]  # B alone is right on b of n items, A alone on c


def values_of(b: int, c: int, n: int) -> Floats:
    return np.repeat([1.0, -1.0, 0.0], [b, c, n - b - c])


def binary(b: int, c: int, n: int) -> TaskDifferences:
    return TaskDifferences(Units(values_of(b, c, n), np.ones(n)), Effective(float(b), float(c), float(n), 1.0, inf))


def real(values: Floats, owners: Integers | None = None) -> TaskDifferences:
    return TaskDifferences(Units(values, np.ones(len(values))), owners=owners)


@st.composite
def counts(draw: st.DrawFn, fewest: int = 1, most: int = 40) -> Counts:
    n = draw(st.integers(fewest, most))
    b = draw(st.integers(0, n))
    return b, draw(st.integers(0, n - b)), n


def suites(fewest: int = 1, most: int = 40) -> st.SearchStrategy[list[Counts]]:
    return st.lists(counts(fewest, most), min_size=1, max_size=6)
