"""Documents whose true difference is 0 in every bin of positions, and whether intervals hold it in all at once."""

from collections.abc import Callable

import numpy as np

from assay.stats.bootstrap import interval
from assay.stats.bootstrap.simultaneous import Family, simultaneous
from assay.stats.units import Floats

SEED = 20264

Noise = Callable[[np.random.Generator, tuple[int, int]], Floats]


def _normal(rng: np.random.Generator, size: tuple[int, int]) -> Floats:
    return rng.normal(size=size)


def _skewed(rng: np.random.Generator, size: tuple[int, int]) -> Floats:
    return rng.exponential(size=size) - 1


def _heavy(rng: np.random.Generator, size: tuple[int, int]) -> Floats:
    return rng.standard_t(3, size=size)


#: Noise of documents and bins; "shorter documents" leaves fewer documents in each later bin, down to a third.
SHAPES: dict[str, Noise] = {"normal": _normal, "skewed": _skewed, "t3": _heavy, "shorter documents": _normal}


def documents_by_bin(shape: str, n: int, bins: int, seed: int) -> Family:
    """(n, K) Summed differences and tokens: document effects, bins that double, log-normal document sizes."""
    rng = np.random.default_rng([SEED, sorted(SHAPES).index(shape), n, bins, seed])
    noise = SHAPES[shape]
    doubling = 2.0 ** np.maximum(np.arange(bins) - 1, 0)
    tokens = np.ceil(rng.lognormal(0, 0.5, (n, 1)) * doubling)
    if shape == "shorter documents":
        tokens *= rng.random((n, 1)) > np.linspace(0, 2 / 3, bins)
    differences = 0.6 * noise(rng, (n, 1)) + 0.8 * noise(rng, (n, bins))
    return Family(tokens * differences, tokens)


def covered(family: Family, seed: int, *, resamples: int) -> tuple[bool, bool]:
    """Do the max-T intervals hold 0 in all bins at once, and do the t intervals? A bin of one document has neither."""
    found = simultaneous(family, resamples=resamples, seed=seed).estimates
    together = all(e.interval is None or e.interval.low <= 0 <= e.interval.high for e in found)
    units = [family.units(k) for k in range(family.size)]
    limits = [interval(u, method="t").interval for u in units if u is not None and u.n > 1]
    return together, all(limit.low <= 0 <= limit.high for limit in limits)
