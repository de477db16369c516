"""What comparing in pairs gains: how the two systems go together, who alone is right, what so many pairs could show."""

import msgspec
import numpy as np

from assay.analyses.contrast import Binary, Differences, binary_of
from assay.data import Panel
from assay.design import Design
from assay.stats.detectable_shifts import detectable_shift
from assay.stats.units import Units, standard_error

POWER = 0.8  # at which a difference counts as one that could have been shown


class RightCounts(msgspec.Struct, frozen=True):
    """On how many items of 0/1 scores both are right, one alone, or neither."""

    both: int
    only_a: int
    only_b: int
    neither: int

    def __str__(self) -> str:
        return f"both {self.both:,}, B alone {self.only_b:,}, A alone {self.only_a:,}, neither {self.neither:,}"


class PairFacts(msgspec.Struct, frozen=True):
    """Beside the difference itself."""

    correlation: float | None  # of both means over what is drawn; None: one of them does not vary
    saved: float | None  # share of the units that an unpaired comparison as precise would need beyond these
    detectable: float | None  # the difference that so many units show with 80% power; None: none, or no spread
    right: RightCounts | None = None  # of 0/1 scores


def pair_facts_of(panel: Panel, found: Differences, design: Design) -> PairFacts:
    """From the standard errors of both means and of their difference, by cluster where there are clusters.

    What could have been shown is by the power of the test that is used: McNemar's of 0/1 scores, Student's t of others.
    Var(B − A) = Var A + Var B − 2 r √(Var A · Var B) gives the correlation r; unpaired, the last term is missing.
    """
    sums = panel.cluster_sums()
    a, b = (standard_error(Units(sums.numerators[:, i], sums.denominators)) for i in range(2))
    both = standard_error(found.drawn)
    binary = binary_of(panel, found) if design.test not in ("t", "wilcoxon", "sign-flip") else None
    shown = _shown_by(found, binary, design.level)
    right = _right(panel) if panel.binary else None
    if not a or not b or both is None:
        return PairFacts(None, None, shown, right)
    low, gap = min(a, b) / max(a, b), both / max(a, b)  # so that no square over- or underflows
    apart = low * low + 1
    if not low:
        return PairFacts(None, None, shown, right)
    correlation = min(max((apart - gap * gap) / (2 * low), -1.0), 1.0)
    return PairFacts(correlation, 1 - gap * gap / apart, shown, right)


def _shown_by(found: Differences, binary: Binary | None, level: float) -> float | None:
    if binary is not None:
        from assay.stats.suites import TaskDifferences, detectable  # late: of 0/1 scores only

        return detectable(TaskDifferences(found.drawn, binary.counts), level, POWER)
    error = standard_error(found.drawn)
    return error * detectable_shift(found.drawn.n - 1.0, level, POWER) if error else None


def _right(panel: Panel) -> RightCounts:
    a, b = (panel.values[:, i] > 0 for i in range(2))
    counts = (np.count_nonzero(found) for found in (a & b, a & ~b, ~a & b, ~a & ~b))
    return RightCounts(*(int(one) for one in counts))
