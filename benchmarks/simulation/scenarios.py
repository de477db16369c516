"""Data with a known truth: token counts t, differences Δ, and the value E[tΔ]/E[t] that an interval should cover.

Token counts are log-normal(σ), exp(σ·Z), so E[t] = exp(σ²/2) and the design effect is exp(σ²): 1.04, 1.28 and 2.72 for
σ = 0.2, 0.5 and 1. Real-valued counts do no harm: only their ratios matter.
"""

import zlib
from dataclasses import dataclass
from functools import partial
from math import exp

import numpy as np

from assay.analyses.calibrate.scenarios import (
    Draw,
    averaged,
    binary,
    clustered,
    grows,
    normal,
    skewed,
    student,
)
from assay.stats.units import Floats, Units

SEED = 20260

# Which tests should reject 5 % of the time once the true difference is 0:
SYMMETRIC = frozenset({"sign-flip", "t", "wilcoxon"})
MEAN_ONLY = frozenset({"sign-flip", "t"})  # the mean is 0 but not the median, and Wilcoxon's test sees that
BINARY = frozenset({"sign-flip", "mcnemar", "t", "wilcoxon"})
NONE: frozenset[str] = frozenset()  # units that are not independent


@dataclass(frozen=True, slots=True)
class Scenario:
    """A way to draw n windows, and the true value of their token-weighted mean difference."""

    name: str
    label: str
    n: int
    draw: Draw  # (rng, n) → (t, Δ)
    truth: float
    group: int = 1  # windows per cluster that the analysis knows of; 1: it treats all windows as independent
    null_holds: frozenset[str] = SYMMETRIC
    used_for: frozenset[str] = frozenset({"coverage", "size"})

    def sample(self, simulation: int) -> Units:
        """The units of one simulation: windows, or the sums of whole clusters."""
        rng = np.random.default_rng([SEED, zlib.crc32(self.name.encode()), simulation])
        tokens, differences = self.draw(rng, self.n)
        return Units(_summed(tokens * differences, self.group), _summed(tokens, self.group))

    def null_sample(self, simulation: int) -> Units:
        """The same, shifted so that the true difference is 0."""
        units = self.sample(simulation)
        return Units(units.numerators - self.truth * units.denominators, units.denominators)


def _summed(values: Floats, group: int) -> Floats:
    return values if group == 1 else np.asarray(values.reshape(-1, group).sum(axis=1))


def _sized(name: str, label: str, draw: Draw, truth: float, sizes: tuple[int, ...]) -> list[Scenario]:
    return [Scenario(f"{name}-{n}", label, n, draw, truth) for n in sizes]


def _skewed_scenarios() -> list[Scenario]:
    label = "equal tokens, skewed Δ: log-normal(1)"
    return [
        Scenario(f"equal-skewed-{n}", label, n, skewed, exp(0.5), null_holds=MEAN_ONLY) for n in (30, 60, 180, 1000)
    ]


def _grows_scenarios() -> list[Scenario]:
    label = "log-normal(1) tokens, Δ grows with t: log t + normal"
    return [Scenario(f"grows-{n}", label, n, grows, 1.0, null_holds=MEAN_ONLY) for n in (180, 1000)]


def _clustered_scenarios() -> list[Scenario]:
    unequal = partial(clustered, sigma=0.5)
    blind, known = "clusters of 5, intra-class 0.5, ignored", "clusters of 5, intra-class 0.5, drawn whole"
    return [
        Scenario("clusters-ignored-180", blind, 180, clustered, 0.1, null_holds=NONE),
        Scenario("clusters-180", known + " (36 clusters)", 180, clustered, 0.1, 5),
        Scenario("clusters-900", known + " (180 clusters)", 900, clustered, 0.1, 5),
        Scenario("clusters-unequal-900", known + " (180 clusters), log-normal(0.5) tokens", 900, unequal, 0.1, 5),
    ]


def _binary_scenarios() -> list[Scenario]:
    differ = partial(binary, better=0.12, worse=0.08)
    same = partial(binary, better=0.1, worse=0.1)
    coverage, size = frozenset({"coverage"}), frozenset({"size"})
    label = "0/1 scores, 20 % of items differ"
    return [
        *(Scenario(f"binary-{n}", label, n, differ, 0.04, used_for=coverage) for n in (60, 180, 1000)),
        *(Scenario(f"binary-null-{n}", label, n, same, 0.0, 1, BINARY, size) for n in (60, 180, 1000)),
    ]


SCENARIOS: tuple[Scenario, ...] = (
    *_sized("equal-normal", "equal tokens, normal Δ", normal, 0.1, (30, 180, 1000)),
    *_skewed_scenarios(),
    *_sized("equal-t3", "equal tokens, Student t3 Δ", student, 0.0, (30, 180)),
    *_sized("lognormal02-normal", "log-normal(0.2) tokens, normal Δ", partial(normal, sigma=0.2), 0.1, (180,)),
    *_sized("lognormal05-normal", "log-normal(0.5) tokens, normal Δ", partial(normal, sigma=0.5), 0.1, (60, 180)),
    *_sized("lognormal05-t3", "log-normal(0.5) tokens, Student t3 Δ", partial(student, sigma=0.5), 0.0, (180, 1000)),
    *_sized("lognormal1-normal", "log-normal(1) tokens, normal Δ", partial(normal, sigma=1.0), 0.1, (30, 180, 1000)),
    *_grows_scenarios(),
    *_sized("averaged", "log-normal(1) tokens, noise ∝ 1/√t", averaged, 0.1, (180,)),
    *_clustered_scenarios(),
    *_binary_scenarios(),
)
