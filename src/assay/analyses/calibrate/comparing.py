"""Simulated comparisons: does the interval hold the true difference, and is one claimed where there is none?

Interval, test, agreement and verdict are computed by the functions that `compare` calls.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from assay.analyses.calibrate.simulation import Draws
from assay.analyses.calibrate.worlds import PairWorld
from assay.analyses.compare.comparing import found_in
from assay.analyses.contrast import (
    Reliance,
    binary_of,
    differences_of,
    drawn_by,
    paired_interval,
    reliance_of,
    verdict_of,
)
from assay.data import Panel
from assay.design import Design
from assay.stats.compiled import Backend, numba_installed
from assay.stats.records import Estimate, Interval, IntervalName, Test

#: What may be asked for by name, of differences; those of one kind of values stand with it.
NAMED: tuple[IntervalName, ...] = ("bca", "bca-plain", "percentile", "t", "t-hall", "studentized")
#: The studentized interval draws 10,000 resamples of every simulated data set: beyond so many units that takes minutes.
MOST_STUDENTIZED = 2_000
#: Numbers that a simulation has of each method: where the truth lay, the width, a false verdict, too few, the method.
FIELDS = 5


def alternatives(design: Design, drawn: int) -> tuple[IntervalName, ...]:
    """The methods to set beside the one of the design."""
    every: tuple[IntervalName, ...] = ("auto", *NAMED)
    slow = ("studentized",) if drawn > MOST_STUDENTIZED else ()
    return tuple(name for name in every if name not in (design.method, *slow))


class _Pairs:
    """The differences of a panel, and what designs say of them."""

    def __init__(self, panel: Panel) -> None:
        self.panel, self.differences = panel, differences_of(panel)
        self.binary, self.substance = binary_of(panel, self.differences), panel.substance()

    @cached_property
    def backend(self) -> Backend:
        return "compiled" if numba_installed() else "auto"

    def interval(self, design: Design) -> Interval:
        """The interval that `compare` shows; it agrees with the test where both are left to us."""
        if design.paired:
            made = found_in(self.panel, self.differences, self.binary, design, agree=True).difference.interval
            assert made is not None  # there are units
            return made
        whole = self.differences.drawn
        units = drawn_by(whole, design, self.panel).units
        return paired_interval(units, self.binary, design, backend=self.backend).interval.around(whole.estimate)

    def reliance(self, method: str) -> Reliance:
        return reliance_of(self.substance.units, self.substance.effective, method)

    def claims(self, designs: Sequence[Design]) -> list[bool]:
        """Whether each design shows a difference; where the test they share does not reject, none by name does."""
        found, test = [], None
        for design in designs:
            if test is None or design.paired:
                made = found_in(self.panel, self.differences, self.binary, design, agree=design.paired)
                test = test or replace(made.test, p_value=made.test_p)
                found.append(self._claims(made.difference, made.test, design))
            elif test.p_value is None or test.p_value > 1 - design.level:
                found.append(False)
            else:
                value = self.differences.drawn.estimate
                difference = Estimate(value, self.interval(design), None, self.panel.n)
                found.append(self._claims(difference, test, design))
        return found

    def _claims(self, difference: Estimate, test: Test, design: Design) -> bool:
        assert difference.interval is not None
        lower, reliance = self.panel.metric.lower_is_better, self.reliance(difference.interval.method)
        asked = replace(design, margin=None)
        return verdict_of(difference, test, asked, lower_is_better=lower, reliance=reliance) in ("better", "worse")


@dataclass(frozen=True, slots=True)
class ComparisonTrial:
    """One simulated comparison by every design, and the same data without a difference."""

    world: PairWorld
    null: PairWorld
    designs: tuple[Design, ...]

    def once(self, draws: Draws) -> list[float]:
        """Of each design: −1, 0 or 1 where the truth is below, in or above the interval; width; a false verdict; …"""
        pairs = _Pairs(self.world.draw(draws.generator()))
        claims = _Pairs(self.null.draw(draws.generator())).claims(self.designs)
        row: list[float] = []
        for design, claimed in zip(self.designs, claims, strict=True):
            limits = pairs.interval(design)
            few = pairs.reliance(limits.method) == "too few"
            place, width = side(limits, self.world.truth), limits.high - limits.low
            row += [place, width, claimed, few, METHODS.index(limits.method)]
        return row


#: Names that intervals have, by number.
METHODS = ("degenerate", "tango", "agresti-coull", *NAMED)


def side(limits: Interval, truth: float) -> float:
    """Where the truth is: below the interval (−1), in it (0) or above (1); a rounding error is no distance."""
    near = 1e-9 * (limits.high - limits.low) + 1e-12 * abs(truth)
    return -1.0 if truth < limits.low - near else 1.0 if truth > limits.high + near else 0.0
