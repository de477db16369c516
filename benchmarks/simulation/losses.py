"""The noise of a training loss around its course, step by step."""

import numpy as np

from assay.stats.units import Floats

#: Names, and the parts of the variance by how much a step keeps of the one before it.
NOISES: dict[str, tuple[tuple[float, float], ...]] = {
    "0": ((1.0, 0.0),),
    "0.3": ((1.0, 0.3),),
    "0.6": ((1.0, 0.6),),
    "0.9": ((1.0, 0.9),),
    "both": ((0.5, 0.0), (0.5, 0.9)),
}


def losses(noise: str, n: int, seed: int) -> Floats:
    """(n,) Mean 0, variance 1; as it is long after a beginning."""
    rng = np.random.default_rng((seed, n))
    total = np.zeros(n)
    for share, kept in NOISES[noise]:
        total += np.sqrt(share) * _kept(rng.normal(size=n), kept)
    return total


def _kept(fresh: Floats, kept: float) -> Floats:
    from scipy.signal import lfilter

    fresh[1:] *= np.sqrt(1 - kept**2)  # the first has the variance of all
    return np.asarray(lfilter([1.0], [1.0, -kept], fresh), dtype=np.float64)


def spread_of_change(noise: str, n: int) -> float:
    """The standard deviation of the change of a least-squares line from the first point to the last."""
    x = np.linspace(-0.5, 0.5, n)
    weights = x / (x @ x)
    apart = np.correlate(weights, weights, mode="full")[n - 1 :]
    correlation = sum(share * kept ** np.arange(n) for share, kept in NOISES[noise])
    return float(np.sqrt(2 * apart @ correlation - apart[0]))
