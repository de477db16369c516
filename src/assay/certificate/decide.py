"""The bound decides, not the point."""

from dataclasses import dataclass
from math import ceil
from typing import Literal

GateVerdict = Literal["pass", "regression", "insufficient evidence"]
MOST_NEEDED = 1e9  # more than this is "never"


@dataclass(frozen=True, slots=True)
class Decided:
    """A verdict, the limit, the bound that decided, and how many units would settle an open case."""

    verdict: GateVerdict
    limit: float
    bound: float
    needed: int | None


def decide(estimate: float, low: float, high: float, limit: float, n: int) -> Decided:
    """Is a quantity that should stay at or below ``limit`` (a ratio, the fall of a score) shown to be there?

    >>> decide(1.09, 0.94, 1.30, 1.10, 180).verdict  # the point is below the limit, the interval is not
    'insufficient evidence'
    """
    if high <= limit:
        return Decided("pass", limit, high, None)
    if low > limit:
        return Decided("regression", limit, low, None)
    reach, gap = (high - estimate, limit - estimate) if estimate <= limit else (estimate - low, estimate - limit)
    needed = n * (reach / gap) ** 2 if gap > 0 else float("inf")  # an interval shrinks as 1/√n
    return Decided("insufficient evidence", limit, high, max(n + 1, ceil(needed)) if needed < MOST_NEEDED else None)
