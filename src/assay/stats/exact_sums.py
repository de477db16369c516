"""The correctly rounded sum of many numbers, as `math.fsum` gives it, in a third of the time."""

import math

import numpy as np

from assay.stats.units import Floats

_FEWEST = 1_000  # below, `math.fsum` is as quick
_BLOCK = 1 << 16
_DIGITS = 53  # bits of a float64
_LOW = 26  # bits of the lower half of one: a sum of 2²⁷ such halves is exact in float64


def exact_sum(values: Floats) -> float:
    """The sum of finite numbers, rounded once.

    >>> exact_sum(np.array([1e16, 1.0, -1e16] * 1000))
    1000.0
    """
    if len(values) < _FEWEST or len(values) >= 1 << (_DIGITS - _LOW):
        return math.fsum(values.tolist())
    if (values == values[0]).all():
        return len(values) * float(values[0])
    lows: dict[int, int] = {}
    for start in range(0, len(values), _BLOCK):
        _add_block(values[start : start + _BLOCK], lows)
    if not lows:
        return 0.0
    least = min(lows)
    total = sum(part << (exponent - least) for exponent, part in lows.items())
    from fractions import Fraction

    return float(Fraction(total) * Fraction(2) ** (least - _DIGITS))


def _add_block(values: Floats, sums: dict[int, int]) -> None:
    """Add numbers to whole numbers of units 2^(e − 53), by e."""
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, _DIGITS).astype(np.int64)
    first = int(exponents.min())
    places = exponents - first
    high = np.bincount(places, weights=whole >> _LOW)
    low = np.bincount(places, weights=whole & ((1 << _LOW) - 1))
    for place in np.flatnonzero(high.astype(bool) | low.astype(bool)).tolist():
        part = (int(high[place]) << _LOW) + int(low[place])
        sums[first + place] = sums.get(first + place, 0) + part
