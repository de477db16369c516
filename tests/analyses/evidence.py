"""Small tables of losses and scores to compare."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.analyses.compare.result import Comparison
from assay.stats.records import Interval

Columns = dict[str, Any]


def losses(loss: Sequence[float], tokens: int | Sequence[int] = 100, **more: Any) -> Columns:
    counts = [tokens] * len(loss) if isinstance(tokens, int) else list(tokens)
    return {"window": [f"w{i:04}" for i in range(len(loss))], "tokens": counts, "loss": list(loss)} | more


def scores(score: Sequence[float], **more: Any) -> Columns:
    return {"item": [f"q{i:04}" for i in range(len(score))], "score": list(score)} | more


def noisy_losses(
    n: int, shift: float, seed: int = 0, tokens: int | Sequence[int] = 100, **more: Any
) -> tuple[Columns, Columns]:
    """The same windows under two models, the second worse by ``shift`` on average."""
    rng = np.random.default_rng(seed)
    a = rng.uniform(2, 4, n)
    b = a + rng.normal(shift, 0.1, n)
    return losses(a.tolist(), tokens, **more), losses(b.tolist(), tokens, **more)


def noisy_scores(n: int, shift: float, seed: int = 0, **more: Any) -> tuple[Columns, Columns]:
    rng = np.random.default_rng(seed)
    a = rng.uniform(0, 1, n)
    b = a + rng.normal(shift, 0.3, n)
    return scores(a.tolist(), **more), scores(b.tolist(), **more)


def limits(found: Comparison) -> tuple[float, float]:
    interval = found.difference.interval
    assert interval is not None
    return interval.low, interval.high


def interval_of(found: Comparison) -> Interval:
    assert found.difference.interval is not None
    return found.difference.interval


def value(found: Comparison) -> float:
    assert found.difference.value is not None
    return found.difference.value
