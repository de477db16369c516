"""Pilots, made up, and plans of every kind."""

from functools import cache
from typing import Any

import numpy as np

from assay.analyses.power import power
from assay.analyses.power.result import Power
from assay.stats.planning.plans import Goal, Shares, Spread
from assay.stats.units import Floats


def arms(n: int = 60, seed: int = 1, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng([n, seed])
    shared = rng.normal(size=n)
    items = [f"q{i:03d}" for i in range(n)]
    return tuple({"item": items, "score": shared + 0.4 * rng.normal(size=n)} | more for _ in "AB")  # type: ignore[return-value]


def gaps(a: dict[str, Any], b: dict[str, Any]) -> Floats:
    return np.asarray(np.asarray(b["score"]) - np.asarray(a["score"]), dtype=np.float64)


def limits(found: Power) -> tuple[float, float]:
    assert found.answer.interval is not None
    return found.answer.interval.low, found.answer.interval.high


def repeated(noise: float, runs: int, n: int = 400) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng([runs, n])
    made = []
    for shift in (0.0, 0.1):
        own = shift + rng.normal(size=(n, 1))
        scores = own + noise * rng.normal(size=(n, runs))
        items = [f"q{i}" for i in range(n) for _ in range(runs)]
        made.append({"item": items, "run": list(range(runs)) * n, "score": scores.ravel()})
    return made[0], made[1]


@cache  # it is asked for in every list of parameters
def every_kind() -> list[Power]:
    a, b = arms()
    return [
        power(Spread(sd=1.0), difference=0.2),
        power(Shares(p_a=0.7, correlation=0.5), items=500),
        power(a, b, items=50, difference=0.1),
        power(*repeated(0.5, 2, 30), difference=0.1, repeats=3),
        power(Spread(sd=1.0), items=50, goal=Goal(margin=0.5)),
    ]
