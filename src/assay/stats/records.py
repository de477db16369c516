"""The atoms of every result: an interval, an estimate with its error, a test, a fallback.

All are frozen and hold plain Python values. What is undefined is ``None`` with a reason, never 0 and never NaN.
"""

from dataclasses import dataclass
from math import exp
from typing import Literal

#: How an interval is computed; *auto* is decided in `assay.stats.which_interval`.
IntervalName = Literal["auto", "bca", "bca-plain", "percentile", "t", "t-hall", "studentized", "tango", "agresti-coull"]


@dataclass(frozen=True, slots=True)
class Interval:
    """Two limits, the level they were computed for and the method that gave them."""

    low: float
    high: float
    level: float
    method: str

    def exp(self) -> "Interval":
        """The same interval on the ratio scale: both limits exponentiated."""
        return Interval(exp(self.low), exp(self.high), self.level, self.method)

    def scaled(self, factor: float) -> "Interval":
        """The same interval in another unit; a negative factor swaps the limits."""
        low, high = sorted((self.low * factor, self.high * factor))
        return Interval(low, high, self.level, self.method)

    def around(self, value: float) -> "Interval":
        """The same interval with its estimate in it, which sums in another order may put a digit outside."""
        return Interval(min(self.low, value), max(self.high, value), self.level, self.method)


@dataclass(frozen=True, slots=True)
class Fallback:
    """A method that was wanted and could not be used, what was used instead, and why."""

    wanted: str
    used: str
    why: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval and standard error; ``reason`` says why a part is ``None``."""

    value: float | None
    interval: Interval | None
    standard_error: float | None
    n: int
    reason: str | None = None

    def exp(self, too_large: str = "too large for a number") -> "Estimate":
        """The same estimate on the ratio scale; the standard error by the delta method.

        ``too_large`` is the reason where the exponential is beyond every number.
        """
        try:
            value = None if self.value is None else exp(self.value)
            limits = None if self.interval is None else self.interval.exp()
        except OverflowError:
            return Estimate(None, None, None, self.n, too_large)
        error = None if value is None or self.standard_error is None else value * self.standard_error
        return Estimate(value, limits, error, self.n, self.reason)


@dataclass(frozen=True, slots=True)
class Test:
    """A test of "no difference": its name, its statistic and its p-value, which is never 0."""

    __test__ = False  # pytest would otherwise take the name for a test class

    name: str
    statistic: float | None
    p_value: float | None
    n: int
    reason: str | None = None
