"""Shares of simulations: how they are written and drawn, and the one that the verdict rests on."""

from collections.abc import Sequence
from math import floor
from typing import TYPE_CHECKING

from assay.results import words
from assay.results.figures import Gauge, Line, Mark
from assay.stats.records import Estimate

if TYPE_CHECKING:
    from assay.analyses.calibrate.result import Calibration, SimulatedRate

_STEP = 0.05  # the axis of shares begins at a multiple of it


def rated(found: Estimate | None) -> str:
    """A share with the standard error of the simulation; of none or all, whose standard error is 0, with its interval.

    >>> from assay.stats.records import Interval
    >>> rated(Estimate(0.938, None, 0.0054, 2000)), rated(Estimate(1.0, Interval(0.912, 1.0, 0.95, ""), 0.0, 40))
    ('93.8% ± 0.5', '100.0% (91.2 to 100.0)')
    """
    if found is None or found.value is None:
        return "–"
    if not found.standard_error and found.interval is not None:
        return f"{100 * found.value:.1f}% ({100 * found.interval.low:.1f} to {100 * found.interval.high:.1f})"
    return f"{100 * found.value:.1f}% ± {100 * (found.standard_error or 0.0):.1f}"


def gauge_of(found: "Calibration") -> Gauge | None:
    """Coverage, or the rate that is promised first; of several scenarios that of the worst."""
    mark: Mark | None
    if found.worlds[0].methods:
        world = min(found.worlds, key=lambda one: one.methods[0].covered.value or 0.0)
        label, share = f"how often the {words.percent(found.level)} CI holds the truth", world.methods[0].covered
        mark = Mark(found.level, f"promised {words.percent(found.level)}")
    else:
        world = max(found.worlds, key=lambda one: one.rates[0].found.value or 0.0)
        label, share, mark = world.rates[0].what, world.rates[0].found, _promise(world.rates[0])
    named = label if len(found.worlds) == 1 else f"{label}, in {world.name}"
    return None if mark is None else _gauge(named, share, mark)


def _promise(rate: "SimulatedRate") -> Mark | None:
    return None if rate.nominal is None else Mark(rate.nominal, f"{rate.bound} {words.percent(rate.nominal)}")


def _gauge(label: str, share: Estimate, mark: Mark) -> Gauge | None:
    limits = share.interval
    if share.value is None or limits is None:
        return None
    text = f"{100 * share.value:.1f}% [{100 * limits.low:.1f} to {100 * limits.high:.1f}]"
    return Gauge(label, share.value, limits.low, limits.high, (mark,), None, text)


def axis_of(lines: Sequence[Line], nominal: float | None) -> tuple[float, float]:
    """An axis that holds all shares and what was promised, and nothing beyond 0 and 1.

    >>> axis_of([Line("t", 0.9, 0.83, 0.97)], 0.95)
    (0.8, 1.0)
    """
    ends = [end for line in lines for end in (line.low, line.value) if end is not None]
    ends += [] if nominal is None else [nominal]
    return round(_STEP * floor(min(ends, default=0.0) / _STEP), 2), 1.0
