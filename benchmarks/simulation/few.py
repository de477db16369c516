"""Few units, skewed differences, documents of unequal length: how often intervals hold the truth, and who is warned.

Every case draws n documents, each a difference and its tokens, and asks for the token-weighted mean. Simulation i of a
case has its own seed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from math import sqrt

import numpy as np
from scipy import stats

from assay.analyses.contrast import Reliance, reliance_of
from assay.stats.bootstrap import interval
from assay.stats.interval_and_test import agreeing
from assay.stats.numerics import critical_values
from assay.stats.proportions import mcnemar_p, tango_limits
from assay.stats.records import IntervalName
from assay.stats.units import Floats, Units, effective_number
from assay.stats.which_interval import UnitFacts, interval_for

Draw = Callable[[np.random.Generator, int], tuple[Floats, Floats]]  # differences and tokens
OURS: tuple[IntervalName, ...] = ("t-hall", "bca", "t")
SLOW: tuple[IntervalName, ...] = ("bca-plain",)  # simulated as rarely as scipy's
METHODS = ("auto", *OURS, *SLOW, "scipy BCa", "errorbars")
SLOW_EVERY, SCIPY_RESAMPLES = 5, 999
_LARGE = 4_000_000  # draws for the truth


@dataclass(frozen=True)
class Case:
    """Where differences and tokens come from."""

    name: str
    n: int
    draw: Draw

    @cached_property
    def truth(self) -> float:
        """Σ t d / Σ t of very many documents."""
        differences, tokens = self.draw(np.random.default_rng(1), _LARGE)
        return float((differences * tokens).sum() / tokens.sum())

    def units(self, simulation: int) -> Units:
        differences, tokens = self.draw(np.random.default_rng([len(self.name), self.n, simulation]), self.n)
        return Units(differences * tokens, tokens)


# -------------------------------------------------------------------------------------------------- differences, tokens


def alike(draw: Callable[[np.random.Generator, int], Floats]) -> Draw:
    """All documents as long."""
    return lambda rng, n: (draw(rng, n), np.ones(n))


def zeros(share: float, draw: Callable[[np.random.Generator, int], Floats]) -> Draw:
    """Most pairs do not differ."""
    return alike(lambda rng, n: np.where(rng.random(n) < share, 0.0, draw(rng, n)))


def long_documents(
    sd: float, tied: Callable[[Floats], Floats], noise: Callable[[np.random.Generator, int], Floats]
) -> Draw:
    """Log-normal tokens, and a difference that depends on them."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        tokens = rng.lognormal(0.0, sd, n)
        return tied(tokens) + noise(rng, n), tokens

    return draw


def clusters(sizes: Callable[[np.random.Generator, int], Floats], tie: float, icc: float) -> Draw:
    """A document is a cluster of windows: its mean, and as many tokens as it has windows."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        size = sizes(rng, n)
        own = rng.normal(0, 1, n) * np.sqrt(icc + (1 - icc) / size)
        return tie * np.log(size) + own, size

    return draw


def normal(rng: np.random.Generator, n: int) -> Floats:
    return rng.normal(0.0, 1.0, n)


def exponential(rng: np.random.Generator, n: int) -> Floats:
    return rng.exponential(1.0, n)


def lognormal(rng: np.random.Generator, n: int) -> Floats:
    return rng.lognormal(0.0, 1.0, n)


def _twenties(rng: np.random.Generator, n: int) -> Floats:
    return rng.integers(5, 21, n).astype(np.float64)


def _geometric(rng: np.random.Generator, n: int) -> Floats:
    return 1.0 + rng.geometric(0.2, n).astype(np.float64)


def _outliers(rng: np.random.Generator, n: int) -> Floats:
    return normal(rng, n) + np.where(rng.random(n) < 0.05, 5.0, 0.0)


def _contaminated(rng: np.random.Generator, n: int) -> Floats:
    return normal(rng, n) * np.where(rng.random(n) < 0.1, 5.0, 1.0)


def _pareto_sizes(rng: np.random.Generator, n: int) -> Floats:
    return np.ceil(2 * (1 + rng.pareto(1.5, n)))


def _poisson_sizes(rng: np.random.Generator, n: int) -> Floats:
    return 1.0 + rng.poisson(6, n).astype(np.float64)


def _two_lengths(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    long = rng.random(n) < 0.5
    return normal(rng, n) + 0.5 * long, np.where(long, 10.0, 1.0)


def _falling(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    tokens = rng.gamma(2.0, 1.0, n) + 0.1
    return rng.normal(0.0, 1.0, n) / np.sqrt(tokens) - 0.2 * tokens, tokens


KNOWN = (
    Case("normal", 5, alike(normal)),
    Case("normal", 30, alike(normal)),
    Case("exponential", 30, alike(exponential)),
    Case("exponential", 100, alike(exponential)),
    Case("log-normal", 10, alike(lognormal)),
    Case("log-normal", 20, alike(lognormal)),
    Case("log-normal", 30, alike(lognormal)),
    Case("log-normal", 100, alike(lognormal)),
    Case("90 % zeros, normal", 100, zeros(0.9, normal)),
    Case("90 % zeros, normal about 0.5", 100, zeros(0.9, lambda rng, n: rng.normal(0.5, 1.0, n))),
    Case("90 % zeros, log-normal", 100, zeros(0.9, lognormal)),
    Case("log-normal(0.5) tokens, exponential", 30, long_documents(0.5, lambda t: 0 * t, exponential)),
    Case("log-normal(1) tokens, difference ~ log tokens", 30, long_documents(1.0, np.log, normal)),
    Case("log-normal(1) tokens, the same and skewed", 30, long_documents(1.0, np.log, exponential)),
    Case("log-normal(1) tokens, difference ~ tokens", 30, long_documents(1.0, lambda t: t, normal)),
    Case("log-normal(1) tokens, difference ~ tokens", 150, long_documents(1.0, lambda t: t, normal)),
    Case("20 clusters, effect tied to size", 20, clusters(_twenties, 1.0, 0.3)),
    Case("chi-square(1)", 20, alike(lambda rng, n: rng.chisquare(1, n))),
    Case("normal, 5 % outliers", 40, alike(_outliers)),
    Case("95 % zeros, gamma(2)", 200, zeros(0.95, lambda rng, n: rng.gamma(2.0, 1.0, n))),
    Case("gamma tokens, Weibull(0.7)", 60, lambda rng, n: (rng.weibull(0.7, n), rng.gamma(2.0, 1.0, n) + 0.1)),
    Case("log-normal(1.2) tokens, difference ~ log tokens", 40, long_documents(1.2, np.log, normal)),
    Case("25 clusters of Pareto size, effect tied to size", 25, clusters(_pareto_sizes, 0.5, 0.3)),
)
#: Set apart: written down before any of them was run, and nothing was changed afterwards.
APART = (
    Case("logistic", 25, alike(lambda rng, n: rng.logistic(0.0, 1.0, n))),
    Case("chi-square(3)", 40, alike(lambda rng, n: rng.chisquare(3, n))),
    Case("two humps", 30, alike(lambda rng, n: np.where(rng.random(n) < 0.3, 3.0, -1.0) + 0.5 * normal(rng, n))),
    Case("gamma(0.5)", 60, alike(lambda rng, n: rng.gamma(0.5, 1.0, n))),
    Case("Student's t(3)", 60, alike(lambda rng, n: rng.standard_t(3, n))),
    Case("Pareto(4)", 80, alike(lambda rng, n: rng.pareto(4.0, n))),
    Case("80 % zeros, Laplace about 0.3", 150, zeros(0.8, lambda rng, n: rng.laplace(0.3, 1.0, n))),
    Case("95 % zeros, half-normal", 400, zeros(0.95, lambda rng, n: np.abs(normal(rng, n)))),
    Case(
        "Poisson tokens, uniform",
        25,
        lambda rng, n: (rng.uniform(-1, 1, n), 5.0 + rng.poisson(20, n).astype(np.float64)),
    ),
    Case("tokens 1 to 10, Weibull(1.5)", 50, lambda rng, n: (rng.weibull(1.5, n), rng.uniform(1, 10, n))),
    Case(
        "log-normal(0.5) tokens, skewed to the left",
        50,
        long_documents(0.5, lambda t: 0 * t, lambda r, n: -exponential(r, n)),
    ),
    Case("30 clusters of geometric size", 30, clusters(_geometric, 0.0, 0.2)),
    Case("gamma tokens, difference falls with them", 120, _falling),
)
#: New ones, which nothing was tuned on either: written down after everything was chosen, before any of them was run.
NEW = (
    Case("Gumbel", 35, alike(lambda rng, n: rng.gumbel(0.0, 1.0, n))),
    Case("inverse Gaussian(1, 1)", 50, alike(lambda rng, n: rng.wald(1.0, 1.0, n))),
    Case(
        "normal, a tenth with five times the spread",
        45,
        alike(lambda r, n: normal(r, n) * r.choice([1, 5], n, p=[0.9, 0.1])),
    ),
    Case("triangle, skewed to the left", 24, alike(lambda rng, n: rng.triangular(-1.0, 0.9, 1.0, n))),
    Case("log-normal(0.7)", 120, alike(lambda rng, n: rng.lognormal(0.0, 0.7, n))),
    Case("differences of beta(2, 5) scores", 60, alike(lambda rng, n: rng.beta(2, 5, n) - rng.beta(2, 5, n))),
    Case("70 % zeros, exponential", 90, zeros(0.7, exponential)),
    Case("85 % zeros, steps of a half", 200, zeros(0.85, lambda rng, n: rng.integers(-2, 4, n) / 2)),
    Case("exponential tokens, normal", 80, lambda rng, n: (normal(rng, n), 0.05 + exponential(rng, n))),
    Case("tokens 2, 4, 8, 16, logistic", 64, lambda rng, n: (rng.logistic(0, 1, n), np.exp2(rng.integers(1, 5, n)))),
    Case("tokens 1 and 10, the longer ones differ more", 100, _two_lengths),
    Case("40 clusters of Poisson size, effect tied to size", 40, clusters(_poisson_sizes, 0.3, 0.2)),
)


# ----------------------------------------------------------------------------------------------------------- simulation


@dataclass
class Tally:
    """Of one method in one case."""

    n: int = 0
    inside: int = 0
    above: int = 0  # the truth is above the interval
    width: float = 0.0
    unwarned: int = 0  # the truth is outside, and nothing says that units are too few

    def add(self, low: float, high: float, truth: float, *, firm: bool) -> None:
        self.n += 1
        self.inside += low <= truth <= high
        self.above += truth > high
        self.width += high - low
        self.unwarned += firm and not low <= truth <= high

    @property
    def coverage(self) -> float:
        return self.inside / self.n


@dataclass(frozen=True)
class Outcome:
    """Of one case."""

    tallies: dict[str, Tally]
    warned: dict[Reliance, float]  # share of the simulations


def simulated(case: Case, simulations: int) -> Outcome:
    tallies, warned = {method: Tally() for method in METHODS}, {"firm": 0.0, "if symmetric": 0.0, "too few": 0.0}
    for simulation in range(simulations):
        units = case.units(simulation)
        reliance = reliance_of(units.n, effective_number(units.denominators), "t-hall")
        warned[reliance] += 1 / simulations
        for method, (low, high) in _limits(units, simulation).items():
            tallies[method].add(low, high, case.truth, firm=reliance == "firm")
    return Outcome(tallies, warned)  # type: ignore[arg-type]  # the three words


def _limits(units: Units, simulation: int) -> dict[str, tuple[float, float]]:
    made = {method: interval(units, method=method).interval for method in OURS}
    found: dict[str, tuple[float, float]] = {name: (limits.low, limits.high) for name, limits in made.items()}
    found["auto"] = found[interval_for("auto", UnitFacts.of(units))]
    if simulation % SLOW_EVERY == 0:
        plain = {method: interval(units, method=method).interval for method in SLOW}
        found |= {name: (limits.low, limits.high) for name, limits in plain.items()}
        found["scipy BCa"] = _scipy(units, simulation)
    other = _errorbars(units)
    return found if other is None else {**found, "errorbars": other}


def _scipy(units: Units, simulation: int) -> tuple[float, float]:
    """BCa of the ratio, documents drawn together with their tokens."""

    def ratio(top: Floats, bottom: Floats, axis: int) -> Floats:
        return np.asarray(top.sum(axis=axis) / bottom.sum(axis=axis))

    with np.errstate(all="ignore"):
        found = stats.bootstrap(
            (units.numerators, units.denominators),
            ratio,
            paired=True,
            vectorized=True,
            n_resamples=SCIPY_RESAMPLES,
            rng=np.random.default_rng(simulation),
        ).confidence_interval
    return (-np.inf, -np.inf) if np.isnan(found.low) else (float(found.low), float(found.high))  # none: a miss


def _errorbars(units: Units) -> tuple[float, float] | None:
    """The paired interval of errorbars, which knows no weights; ``None`` where it is not installed."""
    try:
        compare = import_module("errorbars.compare")  # not among our dependencies
    except ImportError:
        return None
    found = compare.paired_compare(units.numerators / units.denominators, np.zeros(units.n))
    return found.ci_low, found.ci_high


# ----------------------------------------------------------------------------------------------------- gates, 0/1 pairs


def false_passes(
    draw: Callable[[np.random.Generator, int], Floats],
    truth: float,
    n: int,
    simulations: int,
    method: IntervalName = "auto",
) -> float:
    """How often a gate passes a model that is exactly at its limit: the upper bound is below the truth."""
    case = Case("gate", n, alike(draw))
    found = (interval(case.units(simulation), method=method).interval.high for simulation in range(simulations))
    return sum(high < truth for high in found) / simulations


@dataclass(frozen=True, slots=True)
class Enumerated:
    """Of 0/1 pairs, over a grid of truths: exact."""

    mean: float
    least: float
    size: float  # the largest


def enumerated_pairs(n: int, level: float = 0.95) -> Enumerated:
    """Coverage and size of Tango's interval with McNemar's mid-p, made to agree, over every table of n pairs."""
    b, c = (part.ravel().astype(np.float64) for part in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    b, c = b[b + c <= n], c[b + c <= n]
    low, high = tango_limits(b, c, np.full(len(b), float(n)), critical_values(level, np.full(len(b), np.inf)))
    p = mcnemar_p(b, c)
    low, high = agreeing(low, high, p, 1 - level, (b - c) / n)
    counts, covered, sizes = np.column_stack([b, c, n - b - c]), [], []
    for differing in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0):
        for share in np.linspace(0.5, 1.0, 11):  # of the differing pairs that B wins
            chance = np.array([differing * share, differing * (1 - share), 1 - differing])
            mass = stats.multinomial.pmf(counts, n, chance / chance.sum())
            truth = differing * (2 * share - 1)
            covered.append(float(mass[(low - 1e-12 <= truth) & (truth <= high + 1e-12)].sum()))
            if share == 0.5:
                sizes.append(float(mass[p <= 1 - level].sum()))
    return Enumerated(float(np.mean(covered)), min(covered), max(sizes))


# ------------------------------------------------------------------------------------------------- neighbouring windows


def monte_carlo(n: int) -> float:
    """The standard error of a coverage of 95 %, in per cent."""
    return 100 * sqrt(0.95 * 0.05 / n)


def names(cases: Sequence[Case]) -> list[str]:
    return [f"{case.name}, n = {case.n}" for case in cases]
