"""The bound decides, not the point."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal

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
    shrink = reach / gap if gap > 0 else float("inf")  # an interval shrinks as 1/√n
    needed = n * shrink * shrink
    return Decided("insufficient evidence", limit, high, max(n + 1, ceil(needed)) if needed < MOST_NEEDED else None)


def decide_by(metric: Mapping[str, Any], limits: Mapping[str, Any], n: int) -> Decided:
    """The decision of a certificate, on its printed numbers, so that a reader decides as the certificate does."""
    low, high = metric["display_ci"]
    mean, drop = metric["difference_vs_baseline"], limits["max_drop"]
    if metric["kind"] == "perplexity":
        found = decide(metric["ratio_vs_baseline"], low, high, limits["max_ratio"], n)
    elif metric["lower_is_better"]:
        found = decide(mean, low, high, drop, n)
    else:
        found = decide(-mean, -high, -low, drop, n)
    # One unit (all windows in one cluster) has a collapsed interval and no sampling error: it shows nothing.
    return found if metric["standard_error"] is not None else replace(found, verdict="insufficient evidence")
