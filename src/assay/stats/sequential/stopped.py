"""Interval, p-value and estimate after stopping, by stage-wise ordering.

Armitage (1957), Tsiatis, Rosner and Mehta (1984, *Exact confidence intervals following a group sequential test*): an
outcome is more extreme upward if it left above at an earlier look, or at the same look with a larger Z, and outcomes
that left above are beyond all that did not. P_θ(at least as extreme) rises with θ, so that it is inverted for an
interval, and for the median-unbiased estimate at ½. The interval leaves out the limit exactly where a bound was
reached.

Which p-value Z at the last look stands for is left to the look (Student's t, skewness); at the looks before, the
bounds and the information decide. A look that is the first one therefore has its own interval, unchanged.
"""

from dataclasses import dataclass
from math import inf, sqrt

from assay.stats.numerics import increasing_root, normal_quantile
from assay.stats.sequential.boundaries import Bounds
from assay.stats.sequential.looks import Seen
from assay.stats.sequential.paths import first_look


@dataclass(frozen=True, slots=True)
class Stopped:
    """What holds after stopping."""

    estimate: float  # median-unbiased
    low: float
    high: float
    p_above: float  # of "not above the limit"
    p_below: float


def after_stopping(bounds: Bounds, look: int, seen: Seen, limit: float, level: float = 0.95) -> Stopped:
    """The adjusted interval, p-values and estimate when a look (0 is the first one) was the last.

    ``bounds`` are those of either side, about the limit. A look at which no bound was reached must be the last planned
    one: stopping for another reason is not a part of the ordering.
    """
    if seen.moments is None:
        exact = seen.estimate
        return Stopped(exact, exact, exact, seen.p_above(limit), seen.p_below(limit))
    ordering = _Ordering(bounds, look, seen, limit)
    tail, error = (1 - level) / 2, seen.moments.error
    low, high = seen.limits(tail)
    return Stopped(
        estimate=_median(ordering, error),
        low=increasing_root(lambda x: ordering.above(x) - tail, low, error, 1e-9),
        high=increasing_root(lambda x: tail - ordering.below(x), high, error, 1e-9),
        p_above=ordering.above(limit),
        p_below=ordering.below(limit),
    )


def _median(ordering: "_Ordering", error: float) -> float:
    """Where an outcome as high and one as low are equally likely: ½ each, but for skewness."""
    start = ordering.seen.estimate
    return increasing_root(lambda x: ordering.above(x) - ordering.below(x), start, error, 1e-9)


@dataclass(frozen=True, slots=True, eq=False)
class _Ordering:
    bounds: Bounds
    look: int
    seen: Seen
    limit: float

    def above(self, value: float) -> float:
        """P(as high an outcome as this) where the true value is ``value``."""
        return self._beyond(value, self.seen.p_above(value), 1.0)

    def below(self, value: float) -> float:
        """P(as low an outcome as this)."""
        return self._beyond(value, self.seen.p_below(value), -1.0)

    def _beyond(self, value: float, p: float, side: float) -> float:
        """Mirrored where ``side`` is −1, as the bounds are symmetric."""
        assert self.seen.moments is not None  # checked by whoever made this
        fractions, upper = self.bounds.fractions, self.bounds.upper
        now = float(fractions[self.look])
        drift = side * (value - self.limit) / (self.seen.moments.error * sqrt(now))  # of Z at information 1
        reached, earlier = first_look(float(fractions[0]), drift), 0.0
        for k in range(self.look):
            earlier += reached.above(float(upper[k]))
            reached = reached.go_on(-float(upper[k]), float(upper[k]), float(fractions[k + 1]))
        z = -normal_quantile(min(p, 1 - 1e-16)) if p > 0 else inf
        return min(earlier + reached.above(z + drift * sqrt(now)), 1.0)
