"""Preview→final drift (P11), judged against its own sampling noise instead of a fixed band.

The two splits are different windows of one text. Under no drift their mean losses differ by sampling noise only, whose
standard error follows from the windows themselves (Welch's test; whole clusters where there are clusters).
"""

from dataclasses import dataclass
from math import sqrt

from assay.data import Panel
from assay.stats.numerics import t_cdf
from assay.stats.units import Units, standard_error

ALARM_LEVEL = 0.01


@dataclass(frozen=True, slots=True)
class DriftFound:
    log_ratio: float
    standard_error: float
    p_value: float

    @property
    def alarm(self) -> bool:
        return self.p_value < ALARM_LEVEL


def drift(preview: Panel, final: Panel, system: int) -> DriftFound | None:
    """Mean loss of a system on the final windows minus the preview windows; ``None`` where a split has no spread."""
    before, after = _units(preview, system), _units(final, system)
    errors = standard_error(before), standard_error(after)
    if errors[0] is None or errors[1] is None or errors[0] + errors[1] <= 0:
        return None
    parts = errors[0] ** 2, errors[1] ** 2
    error = sqrt(sum(parts))
    df = sum(parts) ** 2 / (parts[0] ** 2 / (before.n - 1) + parts[1] ** 2 / (after.n - 1))
    shift = after.estimate - before.estimate
    return DriftFound(shift, error, min(1.0, max(2 * t_cdf(-abs(shift) / error, df), 1e-300)))


def _units(panel: Panel, system: int) -> Units:
    sums = panel.cluster_sums()
    return Units(sums.numerators[:, system], sums.denominators)
