"""A study with several looks: how many more units it must plan, and how many it is expected to need."""

from dataclasses import dataclass

from assay.stats.sequential.boundaries import bounds, drift_for
from assay.stats.sequential.looks import spaced
from assay.stats.sequential.spending import Spending


@dataclass(frozen=True, slots=True)
class StudyLook:
    """A look of a study, with how often it is the last one."""

    fraction: float  # of the units that are planned
    bound: float  # standard errors from no difference
    nominal: float  # the two-sided p-value that stops
    stops: float  # if the planned difference is there
    stops_without: float  # if there is none


@dataclass(frozen=True, slots=True)
class Study:
    """What looking several times costs and saves, for a two-sided test."""

    inflation: float  # units at the most, against a single look with the same power
    expected: float  # units on average, against a single look, if the planned difference is there
    expected_without: float  # the same if there is none
    looks: tuple[StudyLook, ...]


def study(looks: int, level: float, power: float, spending: Spending = "obrien-fleming") -> Study:
    """The looks of a study with this power.

    >>> found = study(5, 0.95, 0.8)
    >>> round(found.inflation, 3), round(found.expected, 2)
    (1.023, 0.83)
    """
    found = bounds(spaced(looks).tolist(), (1 - level) / 2, spending, two_sided=True)
    drift = drift_for(found, power)
    alone = drift_for(bounds([1.0], (1 - level) / 2), power)
    inflation = (drift / alone) ** 2
    there, nothing = found.exits(drift), found.exits(0.0)
    rows = zip(found.fractions, found.upper, 2 * found.nominal, there.stops, nothing.stops, strict=True)
    return Study(
        inflation,
        inflation * there.expected(found.fractions),
        inflation * nothing.expected(found.fractions),
        tuple(StudyLook(*(float(value) for value in row)) for row in rows),
    )
