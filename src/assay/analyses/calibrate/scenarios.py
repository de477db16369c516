"""Built-in data with a known truth: token counts t, differences Δ, and the value E[tΔ]/E[t] that intervals should hold.

Token counts are log-normal(σ), exp(σ·Z), so E[t] = exp(σ²/2) and the design effect is exp(σ²): 1.04, 1.28 and 2.72 for
σ = 0.2, 0.5 and 1. Real-valued counts do no harm: only their ratios matter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import exp, sqrt

import numpy as np

from assay.errors import UsageError
from assay.names import nearest
from assay.stats.units import Floats

Generator = np.random.Generator
Draw = Callable[[Generator, int], tuple[Floats, Floats]]  # (rng, n) → (t, Δ)

CLUSTER = 5  # windows of a cluster


def tokens(rng: Generator, n: int, sigma: float) -> Floats:
    return np.ones(n) if sigma == 0 else rng.lognormal(0.0, sigma, n)


def normal(rng: Generator, n: int, *, sigma: float = 0.0) -> tuple[Floats, Floats]:
    return tokens(rng, n, sigma), rng.normal(0.1, 1.0, n)


def student(rng: Generator, n: int, *, sigma: float = 0.0, df: int = 3) -> tuple[Floats, Floats]:
    return tokens(rng, n, sigma), rng.standard_t(df, n)


def skewed(rng: Generator, n: int) -> tuple[Floats, Floats]:
    return np.ones(n), rng.lognormal(0.0, 1.0, n)


def grows(rng: Generator, n: int) -> tuple[Floats, Floats]:
    """Δ = log t + N(0, 1). With t = exp(σZ), E[t log t]/E[t] = σ²."""
    counts = tokens(rng, n, 1.0)
    return counts, np.log(counts) + rng.normal(size=n)


def averaged(rng: Generator, n: int) -> tuple[Floats, Floats]:
    """Δ as a mean over t independent tokens: its noise is ∝ 1/√t."""
    counts = tokens(rng, n, 1.0)
    return counts, 0.1 + rng.normal(size=n) / np.sqrt(counts)


def clustered(rng: Generator, n: int, *, sigma: float = 0.0) -> tuple[Floats, Floats]:
    """Clusters of 5 with an intra-class correlation of 0.5."""
    shared = np.repeat(rng.normal(size=n // CLUSTER), CLUSTER)
    return tokens(rng, n, sigma), 0.1 + sqrt(0.5) * (shared + rng.normal(size=n))


def binary(rng: Generator, n: int, *, better: float, worse: float) -> tuple[Floats, Floats]:
    """The difference of two 0/1 scores: +1 with probability ``better``, −1 with ``worse``, 0 otherwise."""
    u = rng.random(n)
    return np.ones(n), np.where(u < better, 1.0, np.where(u < better + worse, -1.0, 0.0))


def mostly_equal(rng: Generator, n: int, *, differ: float) -> tuple[Floats, Floats]:
    """Most pairs do not differ; the others by N(0.5, 1)."""
    return np.ones(n), np.where(rng.random(n) < differ, rng.normal(0.5, 1.0, n), 0.0)


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A way to draw n windows or items, and the true value of their weighted mean difference."""

    name: str
    label: str
    n: int
    draw: Draw
    truth: float
    clusters: int | None = None  # how many, of `CLUSTER` windows each
    binary: bool = False  # 0/1 scores
    equal: float = 0.0  # the share of pairs that do not differ


BUILT_IN = {
    one.name: one
    for one in (
        BuiltIn("normal-30", "30 windows of equal length, normal differences", 30, normal, 0.1),
        BuiltIn("normal-180", "180 windows of equal length, normal differences", 180, normal, 0.1),
        BuiltIn("skewed-30", "30 windows of equal length, log-normal(1) differences", 30, skewed, exp(0.5)),
        BuiltIn("skewed-180", "180 windows of equal length, log-normal(1) differences", 180, skewed, exp(0.5)),
        BuiltIn(
            "heavy-180",
            "180 windows, log-normal(0.5) tokens, Student t3 differences",
            180,
            partial(student, sigma=0.5),
            0.0,
        ),
        BuiltIn("grows-180", "180 windows, log-normal(1) tokens, differences that grow with them", 180, grows, 1.0),
        BuiltIn("clusters-200", "200 windows in 40 clusters, intra-class correlation 0.5", 200, clustered, 0.1, 40),
        BuiltIn(
            "equal-200",
            "200 windows, 90% of them without a difference",
            200,
            partial(mostly_equal, differ=0.1),
            0.05,
            equal=0.9,
        ),
        BuiltIn(
            "binary-60",
            "60 items of 0/1 scores, 20% of them differ",
            60,
            partial(binary, better=0.12, worse=0.08),
            0.04,
            binary=True,
            equal=0.8,
        ),
        BuiltIn(
            "binary-180",
            "180 items of 0/1 scores, 20% of them differ",
            180,
            partial(binary, better=0.12, worse=0.08),
            0.04,
            binary=True,
            equal=0.8,
        ),
    )
}


def built_in(name: str) -> BuiltIn:
    """The scenario of this name."""
    if name not in BUILT_IN:
        close = nearest(name, BUILT_IN)
        hint = f"did you mean {close!r}?" if close else f"there are {', '.join(BUILT_IN)}."
        raise UsageError(f"no scenario is called {name!r}; {hint}")
    return BUILT_IN[name]
