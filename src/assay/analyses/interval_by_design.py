"""The interval of a ratio as a design asks for it."""

from assay.design import Design
from assay.stats.bootstrap import IntervalResult, interval
from assay.stats.units import Units


def interval_by_design(units: Units, design: Design, level: float | None = None) -> IntervalResult:
    """The interval with its own p-value, at the design's level unless another one is given."""
    return interval(
        units,
        method=design.method,
        confidence_level=design.level if level is None else level,
        n_resamples=design.resamples,
        seed=design.seed,
        own_p=True,
    )
