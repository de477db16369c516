"""The ratio of what the answers to all items cost, subject over baseline."""

from collections.abc import Sequence

import numpy as np

from assay.certificate.fields import rounded
from assay.certificate.suite.fields import MeasuredRatio
from assay.data import Panel
from assay.design import Design
from assay.errors import InputError
from assay.stats.units import Truths, Units, grouped, joined


def cost_ratio(cost: str, panel: Panel, inside: Truths, levels: Sequence[float]) -> MeasuredRatio:
    """Of some of the items of a panel, by the design's interval of a ratio of sums; whole clusters where there are any.

    The second of two ``levels`` is that of intervals for all tasks at once.
    """
    units = _units(cost, panel, inside)
    made = [Design(level=level).interval(units).interval.around(units.estimate) for level in levels]
    ranges = [(rounded(one.low), rounded(one.high)) for one in made]
    before, after = (rounded(float(panel.costs[cost][inside, system].mean())) for system in (0, 1))
    return MeasuredRatio(
        cost=cost,
        baseline=before,
        subject=after,
        ratio=rounded(units.estimate),
        method=made[0].method,
        ci=ranges[0],
        adjusted_ci=ranges[1] if len(ranges) > 1 else None,
    )


def _units(cost: str, panel: Panel, inside: Truths) -> Units:
    before, after = (np.ascontiguousarray(panel.costs[cost][inside, system]) for system in (0, 1))
    if panel.clusters is not None:
        codes = np.unique(panel.clusters[inside], return_inverse=True)[1].astype(np.int64, copy=False)
        before, after = grouped(before, codes), grouped(after, codes)
    if not before.sum() > 0:
        raise InputError(f"{panel.systems[0]}: {cost} is 0 everywhere, and nothing can be compared with it.")
    return Units(*joined(after, before))  # items that cost the baseline nothing are drawn with others


def check_costs(panel: Panel, wanted: Sequence[str]) -> None:
    """Refuse limits of costs that are not known of every item: a gate must not open because a cell is empty."""
    for cost in wanted:
        if cost not in panel.costs:
            known = ", ".join(panel.costs) or "none"
            raise InputError(f"the policy limits {cost}, and the results have no such column, only {known}; add it.")
        lacking = int(np.isnan(panel.costs[cost]).any(axis=1).sum())
        if lacking:
            raise InputError(
                f"the policy limits {cost}, which is not known of {lacking:,} of {panel.n:,} {panel.unit}s; fill it in."
            )
