"""Random replicates of many units, drawn from the exact distribution of the estimate instead of unit by unit.

A replicate is one draw from the bootstrap distribution F of the estimate. Where F is known to ten digits
(`assay.stats.bootstrap.exact`), F⁻¹(U) of a uniform U is the same draw, and costs no pass over the units: 1,200
replicates of a million units take milliseconds. Replicate b depends on (seed, b) only.
"""

import numpy as np

from assay.stats.bootstrap.exact import Atoms, BootstrapDistribution
from assay.stats.bootstrap.resampling import Replicates
from assay.stats.streams import stream_key, words
from assay.stats.units import Floats

#: Units, from which on replicates may be drawn so.
DRAWN_FROM = 100_000
_DIGITS = 53  # bits of a uniform number


def uniforms(count: int, seed: int) -> Floats:
    """(count,) Uniform numbers between 0 and 1, neither of which occurs."""
    bits = words(stream_key(seed, "bootstrap distribution"), 0, count) >> np.uint64(64 - _DIGITS)
    return np.asarray((bits.astype(np.float64) + 0.5) * 2.0**-_DIGITS)


def drawn_replicates(distribution: BootstrapDistribution, resamples: int, seed: int) -> Replicates:
    """Random replicates, as sorted values."""
    places = uniforms(resamples, seed)
    if isinstance(distribution, Atoms):
        cumulative = np.cumsum(distribution.masses)
        chosen = np.searchsorted(cumulative, places * cumulative[-1], side="right")
        return Replicates(np.sort(distribution.points[np.minimum(chosen, len(cumulative) - 1)]))
    return Replicates(np.sort(distribution.quantiles(places.tolist())))
