"""The error of a mean or of a slope over steps that resemble their neighbours.

Points are averaged in blocks, at most thirty, so that what is fast in the noise is gone and what is slow is left. The
block means are taken for a line with noise of autocorrelation ρ from block to block (Prais and Winsten 1954). ρ is not
plugged in, which makes errors too small: every ρ gives an error and a Student distribution, and these are mixed by how
likely each ρ is, given the blocks and nothing else (the restricted likelihood of Harville 1974, a flat prior).
"""

from functools import lru_cache

import numpy as np

from assay.stats.roots import increasing_root
from assay.stats.rounding import TOLERANCE
from assay.stats.units import Floats

BLOCKS = 30
_NODES = 64
_FURTHEST = 0.99  # of ρ: beyond, noise is not to be told from a drift


def blocks_of(values: Floats) -> Floats:
    """Means of as many equal blocks as there may be; of the first points some are left out."""
    size = -(-len(values) // BLOCKS)
    count = len(values) // size
    return np.asarray(values[len(values) - count * size :].reshape(count, size).mean(axis=1), dtype=np.float64)


def error_of(x: Floats, values: Floats, column: int, level: float) -> tuple[float, float]:
    """The standard error of the level (column 0) or of the slope on x (column 1), and the half of their interval."""
    places, means = blocks_of(x), blocks_of(values)
    design = np.column_stack([np.ones(len(means)), places - places.mean()])
    df = len(means) - 2
    likely, errors = _mixture(design, means, column)
    if not errors.any():
        return 0.0, 0.0
    return float(np.sqrt(likely @ errors**2)), _reach(likely, errors, df, level)


def _mixture(design: Floats, values: Floats, column: int) -> tuple[Floats, Floats]:
    """(nodes,) How likely each ρ is, and the standard error of the least-squares line if it is the one."""
    rho, weight = _nodes()
    white_x, white_y = _whitened(design, rho), _whitened(values[:, None], rho)[:, :, 0]
    gram = np.einsum("gik,gil->gkl", white_x, white_x)
    cross = np.einsum("gik,gi->gk", white_x, white_y)
    solved = np.linalg.solve(gram, cross[:, :, None])[:, :, 0]
    rest = white_y - np.einsum("gik,gk->gi", white_x, solved)
    squares, df = np.einsum("gi,gi->g", rest, rest), len(values) - design.shape[1]
    if squares.max() <= len(values) * (TOLERANCE * np.abs(values).max()) ** 2:  # a line without noise
        return weight, np.zeros(_NODES)
    log_likelihood = 0.5 * np.log(1 - rho**2) - 0.5 * np.linalg.slogdet(gram)[1] - 0.5 * df * np.log(squares)
    likely = weight * np.exp(log_likelihood - log_likelihood.max())
    return likely / likely.sum(), np.sqrt(squares / df * _spread(design, column, rho))


def _whitened(columns: Floats, rho: Floats) -> Floats:
    """(nodes, n, k) Each point less ρ times the one before it; the first is scaled to the same variance."""
    first = np.sqrt(1 - rho**2)[:, None, None] * columns[:1]
    return np.concatenate([first, columns[1:] - rho[:, None, None] * columns[:-1]], axis=1)


def _spread(design: Floats, column: int, rho: Floats) -> Floats:
    """(nodes,) The variance of a least-squares coefficient, in units of that of the whitened noise."""
    weights = np.linalg.solve(design.T @ design, design.T)[column]
    apart = np.correlate(weights, weights, mode="full")[len(weights) - 1 :]  # by how many blocks
    powers = rho[:, None] ** np.arange(len(weights))
    return np.asarray((2 * powers @ apart - apart[0]) / (1 - rho**2), dtype=np.float64)


def _reach(likely: Floats, errors: Floats, df: int, level: float) -> float:
    """How far the interval reaches: beyond it lies 1 − level of the mixture of Student distributions."""
    from scipy.special import stdtr  # late: scipy takes long to import

    scale = float(errors.max())

    def excess(reach: float) -> float:
        return float(likely @ stdtr(df, reach * scale / errors)) - (0.5 + level / 2)

    return scale * float(increasing_root(excess, 1.0, 0.5))


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats]:
    """ρ and weights: the rule of Gauss and Legendre over Fisher's z, on which the likelihood is about normal."""
    z, weight = np.polynomial.legendre.leggauss(_NODES)
    rho = np.tanh(np.arctanh(_FURTHEST) * z)
    return rho, weight * (1 - rho**2)
