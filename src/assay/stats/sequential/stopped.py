"""Interval, p-value and estimate after stopping, by stage-wise ordering.

Armitage (1957), Tsiatis, Rosner and Mehta (1984, *Exact confidence intervals following a group sequential test*): an
outcome is more extreme upward if it left above at an earlier look, or at the same look with a larger Z, and outcomes
that left above are beyond all that did not. P_θ(at least as extreme) rises with θ, so that it is inverted for an
interval, and for the median-unbiased estimate at ½.

Two things are as the looks had them, not as a known variance would. How far the estimate had to be from the limit at an
earlier look is the margin that was needed there, by Student's t and with the spread of its few units: given the
spreads, that is what stopping depended on. And the last look's own p-value stands for its Z. A first look therefore has
its own interval, unchanged; with many units all is as published. Spreads that change over the looks could make interval
and verdict differ by a hair: the interval leaves out the limit exactly where a bound was reached.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

from assay.stats.numerics import increasing_root, normal_quantile
from assay.stats.sequential.boundaries import Bounds
from assay.stats.sequential.looks import Seen
from assay.stats.sequential.paths import first_look

Margins = tuple[float, float]  # above and below


@dataclass(frozen=True, slots=True)
class AfterStopping:
    """What holds after stopping."""

    estimate: float  # median-unbiased
    low: float
    high: float
    p_above: float  # of "not above the limit"
    p_below: float


def after_stopping(bounds: Bounds, looks: Sequence[Seen], limit: float, level: float = 0.95) -> AfterStopping:
    """The adjusted interval, p-values and estimate after these looks, of which only the last reached a bound.

    ``bounds`` are those of either side, about the limit. Where the last one reached none it must be the last planned
    one: stopping for another reason is not a part of the ordering.
    """
    seen = looks[-1]
    if seen.moments is None:
        exact = seen.estimate
        return AfterStopping(exact, exact, exact, seen.p_above(limit), seen.p_below(limit))
    ordering = _Ordering(bounds, tuple(looks), limit)
    tail, error = (1 - level) / 2, seen.moments.error
    low, high = seen.limits(tail)
    found = AfterStopping(
        estimate=increasing_root(lambda x: ordering.above(x) - ordering.below(x), seen.estimate, error, 1e-9),
        low=increasing_root(lambda x: ordering.above(x) - tail, low, error, 1e-9),
        high=increasing_root(lambda x: tail - ordering.below(x), high, error, 1e-9),
        p_above=ordering.above(limit),
        p_below=ordering.below(limit),
    )
    return _agreeing(found, bounds, looks, limit, level)


def _agreeing(found: AfterStopping, bounds: Bounds, looks: Sequence[Seen], limit: float, level: float) -> AfterStopping:
    """With the limit outside of the interval exactly where a bound was reached; at another level as it is."""
    alpha, stops = bounds.alpha, float(bounds.nominal[len(looks) - 1])
    if abs(2 * alpha - (1 - level)) > 1e-9:
        return found
    above, below = looks[-1].p_above(limit) <= stops, looks[-1].p_below(limit) <= stops
    low = max(found.low, limit) if above else min(found.low, limit)
    high = min(found.high, limit) if below else max(found.high, limit)
    p_above = min(found.p_above, alpha) if above else max(found.p_above, alpha)
    p_below = min(found.p_below, alpha) if below else max(found.p_below, alpha)
    return AfterStopping(min(max(found.estimate, low), high), low, high, p_above, p_below)


@dataclass(frozen=True, eq=False)
class _Ordering:
    bounds: Bounds
    looks: tuple[Seen, ...]
    limit: float

    @property
    def seen(self) -> Seen:
        return self.looks[-1]

    @property
    def error(self) -> float:
        assert self.seen.moments is not None  # checked by whoever made this
        return self.seen.moments.error

    @property
    def now(self) -> float:
        """The information at the last look."""
        return float(self.bounds.fractions[len(self.looks) - 1])

    @cached_property
    def margins(self) -> list[Margins]:
        """How far above and below the limit the earlier looks would have stopped, in standard errors of that look.

        The standard error is that of the last look, scaled by the information.
        """
        found = []
        for k, look in enumerate(self.looks[:-1]):
            scale = self.error * sqrt(self.now / float(self.bounds.fractions[k]))
            low, high = look.limits(float(self.bounds.nominal[k]))
            found.append(((look.estimate - low) / scale, (high - look.estimate) / scale))
        return found

    def above(self, value: float) -> float:
        """P(as high an outcome as this) where the true value is ``value``."""
        return self._beyond(value, self.seen.p_above(value), self.margins, 1.0)

    def below(self, value: float) -> float:
        """P(as low an outcome as this): mirrored."""
        return self._beyond(value, self.seen.p_below(value), [(b, a) for a, b in self.margins], -1.0)

    def _beyond(self, value: float, p: float, margins: Sequence[Margins], side: float) -> float:
        fractions = self.bounds.fractions
        drift = side * (value - self.limit) / (self.error * sqrt(self.now))  # of Z at information 1
        reached, earlier = first_look(float(fractions[0]), drift), 0.0
        for k, (up, down) in enumerate(margins):
            earlier += reached.above(up)
            reached = reached.go_on(-down, up, float(fractions[k + 1]))
        z = -normal_quantile(min(p, 1 - 1e-16)) if p > 0 else inf
        return min(earlier + reached.above(z + drift * sqrt(self.now)), 1.0)
