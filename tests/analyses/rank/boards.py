"""Panels of several models on several tasks, for tests of leaderboards."""

from collections.abc import Sequence

import numpy as np

from assay.data import Panel
from assay.stats.units import Floats

SIZES = {"law": 60, "math": 90, "physics": 75, "poetry": 40}
LADDER = (0.8, 0.74, 0.6, 0.45)  # right answers of each model
MODELS = ("ada", "bea", "cleo", "dora")


def scores(
    right: Sequence[float] = LADDER, seed: int = 0, sizes: Sequence[int] = tuple(SIZES.values()), *, real: bool = False
) -> Floats:
    """(n, k) Scores of models on the same items, which are hard for all of them together."""
    rng = np.random.default_rng([seed, len(right)])
    n = sum(sizes)
    latent = 0.6 * rng.normal(size=(n, 1)) + 0.8 * rng.normal(size=(n, len(right)))
    if real:
        return np.asarray(latent + np.array(right))
    limits = np.array([np.quantile(latent[:, i], share) for i, share in enumerate(right)])
    return (latent < limits).astype(np.float64)


def task_panel(
    values: Floats | None = None, sizes: dict[str, int] | None = None, *, clusters: int = 0, **options: object
) -> Panel:
    sizes = SIZES if sizes is None else sizes
    values = scores() if values is None else values
    tasks = np.repeat(list(sizes), list(sizes.values()))
    names = [f"m{i}" for i in range(values.shape[1])] if values.shape[1] != len(MODELS) else list(MODELS)
    drawn = [f"c{i % clusters:03d}" for i in range(len(tasks))] if clusters else None
    return Panel.from_arrays(values, systems=names, labels={"task": tasks}, clusters=drawn, **options)  # type: ignore[arg-type]


def with_holes(values: Floats, share: float = 0.15, seed: int = 0) -> Floats:
    """Some answers are not there; the first model has all."""
    missing = np.random.default_rng(seed).random(values.shape) < share
    missing[:, 0] = False
    return np.where(missing, np.nan, values)
