"""Data to calibrate on, and comparisons of them by hand."""

import numpy as np

from assay.data import Panel


def scores(b: int, c: int, n: int) -> Panel:
    """0/1 scores of which B alone has b right, A alone c, and both the others."""
    difference = np.array([1] * b + [-1] * c + [0] * (n - b - c))
    right = np.column_stack([difference <= 0, difference >= 0]).astype(np.float64)
    return Panel.from_arrays(right, systems=["A", "B"])


def losses(n: int = 24, *, clusters: int | None = None, equal: int = 0, seed: int = 1) -> Panel:
    """Skewed differences that grow with the tokens, in clusters of unequal size where so many are asked for."""
    rng = np.random.default_rng(seed)
    tokens = rng.integers(50, 400, n).astype(np.float64)
    a = 3 + rng.normal(size=n)
    difference = rng.exponential(size=n) - 0.5 + tokens / 1000
    difference[:equal] = 0.0
    codes = None if clusters is None else np.concatenate([np.arange(clusters), rng.integers(0, clusters, n - clusters)])
    values = np.column_stack([a, a + difference])
    return Panel.from_arrays(values * tokens[:, None], tokens, systems=["A", "B"], kind="losses", clusters=codes)
