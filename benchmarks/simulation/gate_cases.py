"""Differences that a gate may meet: their mean is 0 and their standard deviation about 1."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import exp, sqrt
from typing import Literal

import numpy as np

from assay.stats.units import Floats, Units
from benchmarks.simulation.scenarios import SCENARIOS

Rng = np.random.Generator
Draw = Callable[[Rng], Units]
#: first: of calibration.py, t4 and skewed; lengths: what the rule for lengths was chosen on; apart: nothing was chosen
#: on them, and those of the second kind were committed before they were run for the first time.
Part = Literal["first", "lengths", "apart", "apart, second"]
_TAKEN = (
    "equal-normal-180",
    "equal-t3-180",
    "equal-skewed-180",
    "lognormal05-normal-180",
    "lognormal1-normal-180",
    "grows-180",
    "averaged-180",
    "clusters-900",
    "clusters-unequal-900",
)


@dataclass(frozen=True)
class Case:
    """Units whose mean is 0 and whose standard deviation is about 1."""

    label: str
    draw: Draw
    part: Part = "first"


def _equal(values: Callable[[Rng, int], Floats]) -> Draw:
    return lambda rng: Units(values(rng, 180), np.ones(180))


def _of_scenario(name: str) -> Case:
    """A scenario of benchmarks/calibration.py, standardised."""
    found = next(one for one in SCENARIOS if one.name == name)
    sample = [found.null_sample(10**6 + i) for i in range(20)]
    spread = float(np.std(np.concatenate([units.numerators / units.denominators for units in sample])))

    def draw(rng: Rng) -> Units:
        units = found.null_sample(int(rng.integers(10**6)))
        return Units(units.numerators / spread, units.denominators)

    return Case(found.label, draw)


def _contaminated(rng: Rng, n: int) -> Floats:
    """One value in twenty is five times as wide."""
    return rng.standard_normal(n) * np.where(rng.random(n) < 0.05, 5.0, 1.0) / sqrt(0.95 + 0.05 * 25)


def _long(rng: Rng) -> Units:
    """Skewed differences in windows of unequal length, the long ones less noisy."""
    tokens = rng.lognormal(0, 0.7, 180)
    return Units(tokens * (rng.gamma(4, 0.5, 180) - 2) * np.sqrt(1.28 / tokens), tokens)


def _documents(rng: Rng) -> Units:
    """Documents of 1 to 12 windows, half of the variance between documents."""
    sizes = rng.integers(1, 13, 60).astype(float)
    return Units(sizes * sqrt(0.5) * rng.standard_normal(60) + np.sqrt(0.5 * sizes) * rng.standard_normal(60), sizes)


# ----------------------------------------------------------------------------- differences that go with the length


def _going(rng: Rng, *, sigma: float, of: Callable[[Floats], Floats], mean: float, spread: float) -> Units:
    """Log-normal(σ) tokens, Δ = f(t) + normal; ``mean`` is E[t f(t)]/E[t]."""
    tokens = rng.lognormal(0, sigma, 180)
    return Units(tokens * (of(tokens) - mean + rng.standard_normal(180)) / spread, tokens)


def _lengths() -> list[Case]:
    chosen = {
        "log-normal(0.5) tokens, Δ = log t + normal": partial(_going, sigma=0.5, of=np.log, mean=0.25, spread=1.2),
        "log-normal(1) tokens, Δ = −log t + normal": partial(
            _going, sigma=1.0, of=lambda t: -np.log(t), mean=-1.0, spread=1.4
        ),
        "log-normal(1) tokens, Δ = 0.3 log t + normal": partial(
            _going, sigma=1.0, of=lambda t: 0.3 * np.log(t), mean=0.3, spread=1.1
        ),
        "log-normal(1) tokens, Δ = t + normal": partial(_going, sigma=1.0, of=_self, mean=exp(1.5), spread=2.4),
        "log-normal(0.7) tokens, Δ = √t + normal": partial(
            _going, sigma=0.7, of=np.sqrt, mean=exp(0.625 * 0.49), spread=1.1
        ),
        "log-normal(0.5) tokens, Δ = t + normal": partial(
            _going, sigma=0.5, of=_self, mean=exp(1.5 * 0.25), spread=1.3
        ),
    }
    return [Case(label, draw, "lengths") for label, draw in chosen.items()]


def _self(tokens: Floats) -> Floats:
    return tokens


def _gamma_tokens(rng: Rng) -> Units:
    """E[t²]/E[t] of gamma(2) is 3; the variance of t/2 is ½, that of t5 5/3."""
    tokens = rng.gamma(2, 1, 180)
    return Units(tokens * ((tokens - 3) / 2 + rng.standard_t(5, 180)) / sqrt(0.5 + 5 / 3), tokens)


def _falling(rng: Rng) -> Units:
    """E[t log t]/E[t] of log-normal(0.8) is 0.64."""
    tokens = rng.lognormal(0, 0.8, 180)
    return Units(tokens * (0.64 - np.log(tokens) + rng.laplace(0, 0.7, 180)) / 1.25, tokens)


def _geometric(rng: Rng) -> Units:
    """90 documents of geometric(0.15) windows whose mean grows with √size."""
    sizes = rng.geometric(0.15, 90).astype(float)
    every = np.arange(1.0, 400.0)
    weight = every * 0.15 * 0.85 ** (every - 1)
    mean = float((weight * np.sqrt(every)).sum() / weight.sum())
    noise = sizes * rng.standard_normal(90) + np.sqrt(sizes) * rng.standard_normal(90)
    return Units((sizes * (np.sqrt(sizes) - mean) + noise) / 1.6, sizes)


def _uniform_tokens(rng: Rng) -> Units:
    """8 to 128 tokens; E[t log t]/E[t] = (b² log b − a² log a)/(b² − a²) − ½."""
    a, b = 8.0, 128.0
    mean = (b * b * np.log(b) - a * a * np.log(a)) / (b * b - a * a) - 0.5
    tokens = rng.uniform(a, b, 180)
    return Units(tokens * (np.log(tokens) - mean + rng.exponential(1, 180) - 1) / 1.2, tokens)


def _skewed_tokens(rng: Rng) -> Units:
    """Length has no part in it."""
    tokens = rng.lognormal(0, 1, 180)
    return Units(tokens * (rng.exponential(1, 180) - 1), tokens)


def _a_tenth_is_worse(rng: Rng, n: int) -> Floats:
    """One value in ten is 3 higher: the variance is 1 + 9·0.09."""
    return (rng.standard_normal(n) + 3 * (rng.random(n) < 0.1) - 0.3) / sqrt(1.81)


def cases() -> list[Case]:
    return [
        *map(_of_scenario, _TAKEN),
        Case("equal tokens, t4 Δ", _equal(lambda rng, n: rng.standard_t(4, n) / sqrt(2))),
        Case("equal tokens, Δ skewed to worse: exponential", _equal(lambda rng, n: rng.exponential(1, n) - 1)),
        Case("equal tokens, Δ skewed to better: exponential", _equal(lambda rng, n: 1 - rng.exponential(1, n))),
        *_lengths(),
        Case("equal tokens, contaminated normal Δ", _equal(_contaminated), "apart"),
        Case("equal tokens, Δ skewed to worse: gamma(4)", _equal(lambda rng, n: rng.gamma(4, 0.5, n) - 2), "apart"),
        Case("log-normal(0.7) tokens, gamma(4) Δ, noise ∝ 1/√t", _long, "apart"),
        Case("60 documents of 1 to 12 windows, drawn whole", _documents, "apart"),
        Case("gamma(2) tokens, Δ = t/2 + t5", _gamma_tokens, "apart, second"),
        Case("log-normal(0.8) tokens, Δ = −log t + Laplace", _falling, "apart, second"),
        Case("90 documents of geometric(0.15) windows, Δ = √size + normal", _geometric, "apart, second"),
        Case("8 to 128 tokens, Δ = log t + exponential", _uniform_tokens, "apart, second"),
        Case("log-normal(1) tokens, exponential Δ", _skewed_tokens, "apart, second"),
        Case("equal tokens, a tenth is worse", _equal(_a_tenth_is_worse), "apart, second"),
    ]
