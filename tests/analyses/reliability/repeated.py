"""Tables of repeated runs, made up."""

from typing import Any

import numpy as np

from assay.stats.records import Estimate
from assay.stats.reliability import variance_components
from assay.stats.units import Floats


def columns(values: Floats, models: str | list[str] = "A", **more: Any) -> dict[str, Any]:
    """(m, n, k) scores as a table."""
    names = list(models)
    m, n, k = values.shape
    at = [(i, j, r) for i in range(m) for j in range(n) for r in range(k)]
    rows = {
        "model": [names[i] for i, _, _ in at],
        "item": [f"q{j}" for _, j, _ in at],
        "run": [r + 1 for _, _, r in at],
        "score": [values[point] for point in at],
    }
    return rows | {name: [column[j] for _, j, _ in at] for name, column in more.items()}


def simulated(m: int = 3, n: int = 40, k: int = 5, seed: int = 1) -> Floats:
    rng = np.random.default_rng([m, n, k, seed])
    return np.asarray(
        0.1 * rng.normal(size=(m, 1, 1))
        + rng.normal(size=(1, n, 1))
        + 0.3 * rng.normal(size=(m, n, 1))
        + 0.5 * rng.normal(size=(m, n, k))
    )


def limits(found: Estimate) -> tuple[float, float]:
    assert found.interval is not None
    return found.interval.low, found.interval.high


def by_hand(values: Floats) -> tuple[float, float, float, float]:
    """Variances of a run's score over all models of (m, n, k): from the scores, from the items, and their df."""
    m, n, k = values.shape
    runs = values.mean(axis=1).var(axis=1, ddof=1).mean()
    residuals = [variance_components(model, ("items", "runs"))[2].estimated for model in values]
    rest = values - values.mean(axis=2, keepdims=True) - values.mean(axis=1, keepdims=True)
    rest += values.mean(axis=(1, 2), keepdims=True)
    own = (rest**2).sum(axis=2) / (k - 1)  # (m, n): the noise of each item
    df = np.minimum((n - 1) * (k - 1), 2 * n * own.mean(axis=1) ** 2 / own.var(axis=1))
    return runs, float((residuals * df).sum() / df.sum() / n), m * (k - 1), float(df.sum())
