"""Which interval an estimate gets: the one place that decides, for every question.

| values | interval |
| --- | --- |
| differences of 0/1 scores | tango |
| the mean of scores from 0 to 1 | agresti-coull |
| other; Kish's number below `ENOUGH`, or fewer than `ENOUGH_DIFFERING` that are not 0 | t-hall |
| other | bca |

Nothing else may decide. The skewness of a sample is no warning: in samples that miss the tail it is small. Clusters are
counted instead of units where they are drawn; weights enter by Kish's number, and in the intervals by design effects.
"""

from dataclasses import dataclass
from math import inf
from typing import Literal

import numpy as np

from assay.errors import UsageError
from assay.stats.records import IntervalName
from assay.stats.units import Units, effective_number

Values = Literal["0/1 pairs", "shares", "other"]

ENOUGH, ENOUGH_DIFFERING = 100, 40  # units by Kish's count, and such as are not 0: from here on BCa is as good

#: Intervals of one kind of values only → that kind, and what to say where they are asked for of another.
_ONLY: dict[IntervalName, tuple[Values, str]] = {
    "tango": ("0/1 pairs", "an interval of 0/1 scores, but these are not"),
    "agresti-coull": (
        "shares",
        "an interval of the mean of scores from 0 to 1, not of a difference or other scores",
    ),
}


@dataclass(frozen=True, slots=True)
class UnitFacts:
    """What decides."""

    values: Values = "other"
    effective: float = inf  # Kish's number of the units or clusters that are drawn
    differing: float = inf  # of them, those that are not 0

    @classmethod
    def of(cls, units: Units, values: Values = "other") -> "UnitFacts":
        weights = units.denominators if units.probabilities is None else units.probabilities
        return cls(values, effective_number(weights), int(np.count_nonzero(units.numerators)))


def interval_for(asked: IntervalName, facts: UnitFacts) -> IntervalName:
    """The method by name where one was asked for; what these facts call for where it is left to us.

    >>> [interval_for("auto", UnitFacts("other", n, n)) for n in (99, 100)]
    ['t-hall', 'bca']
    >>> [interval_for("auto", UnitFacts(values)) for values in ("0/1 pairs", "shares")]
    ['tango', 'agresti-coull']
    >>> interval_for("t", UnitFacts())
    't'
    """
    if asked in _ONLY and _ONLY[asked][0] != facts.values:
        raise UsageError(f"{asked} is {_ONLY[asked][1]}; leave `method` out, or choose bca.")
    if asked != "auto":
        return asked
    own = next((name for name, (values, _) in _ONLY.items() if values == facts.values), None)
    if own is not None:
        return own
    return "t-hall" if facts.effective < ENOUGH or facts.differing < ENOUGH_DIFFERING else "bca"
