"""Numbers that can be squared: variances of variances are fourth powers, which leave float64 beyond 1e±77.

What is larger or smaller than any score that means something is refused, and not computed to 0 or infinity.
"""

from collections.abc import Sequence

import numpy as np

from assay.errors import InputError
from assay.stats.rounding import TOLERANCE
from assay.stats.units import Floats

LARGEST, SMALLEST = 1e60, 1e-60


def check_largest(what: str, values: Floats) -> None:
    """Refuse values of which the largest, 0 apart, is beyond 1e60 or below 1e-60; NaN is no value."""
    most = float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))
    if most == 0 or SMALLEST <= most <= LARGEST:
        return
    size = f"too large to compute with (up to {most:.3g})" if most > 1 else f"too small (at most {most:.3g})"
    raise InputError(f"{what} are {size}; give them in another unit, so that the largest is from 1e-60 to 1e60.")


def check_differences(names: Sequence[str], values: Floats) -> None:
    """Refuse (n, k) values of which two columns differ, but nowhere by 1e-60: their variance would be 0."""
    small = (values != 0) & (np.abs(values) < SMALLEST / TOLERANCE)  # others are equal, or differ by more
    for column in np.flatnonzero(small.any(axis=0)).tolist():
        gaps = np.fmax.reduce(np.abs(values - values[:, [column]]), axis=0, initial=0.0)
        close = (gaps > 0) & (gaps < SMALLEST)
        if close.any():
            other = int(np.argmax(close))
            raise InputError(
                f"the scores of {names[column]} and {names[other]} differ by {gaps[other]:.3g} at most, too little to "
                "compute with; round them, or give them in another unit."
            )
