"""One run of scores from 0 to 1 with a known mean: how often intervals of the mean hold it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from assay.stats.bootstrap import interval
from assay.stats.bounded_mean import agresti_coull, effective_items, jeffreys_quantile, nearly_binary, share_limits
from assay.stats.numerics import critical_values, normal_quantile
from assay.stats.records import IntervalName
from assay.stats.units import Floats, Units, effective_number, grouped

SEED = 20267
LEVEL = 0.95
METHODS = ("agresti-coull", "Wilson", "Clopper–Pearson", "Beta (Jeffreys)", "bca", "t")
BCA_EVERY = 5  # simulations: it takes ten times as long as all others together

Generator = np.random.Generator
Draw = Callable[[Generator, int], Floats]
Limits = dict[str, tuple[float, float]]


@dataclass(frozen=True, eq=False, slots=True)
class Run:
    """Scores of items, with their weights, and clusters where there are any."""

    scores: Floats
    weights: Floats
    clusters: NDArray[np.int64] | None = None
    passes: bool = False  # the scores are pass@k or pass^k of items

    @property
    def right_or_wrong(self) -> bool:
        """Whether the scores count as right or wrong answers."""
        return bool(np.isin(self.scores, (0.0, 1.0)).all()) or (self.passes and nearly_binary(self.scores))

    @property
    def drawn(self) -> Units:
        top = self.scores * self.weights
        if self.clusters is None:
            return Units(top, self.weights)
        return Units(grouped(top, self.clusters), grouped(self.weights, self.clusters))


@dataclass(frozen=True, slots=True)
class OneRun:
    """A way to draw a run, and its true mean."""

    name: str
    draw: Callable[[Generator], Run]
    truth: float

    def sample(self, simulation: int) -> Run:
        return self.draw(np.random.default_rng([SEED, crc32(self.name.encode()), simulation]))


def all_limits(run: Run, *, bca: bool = True) -> Limits:
    """The limits of every method on the same scores, with or without BCa.

    Wilson, Clopper–Pearson and the beta distribution get the effective number of items that Agresti–Coull has; where
    that is estimated, Wilson takes Student's quantile and the other two shrink it as Korn and Graubard (1998) do.
    """
    drawn = run.drawn
    items, share = (
        effective_items(drawn, run.weights, right_or_wrong=run.right_or_wrong),
        min(max(drawn.estimate, 0.0), 1.0),
    )
    reach = float(critical_values(LEVEL, items.df)[0])
    n = items.n * (normal_quantile(0.5 + LEVEL / 2) / reach) ** 2
    tail = 0.5 - LEVEL / 2
    found = {
        "agresti-coull": agresti_coull(share, items.n, reach),
        "Wilson": _wilson(share, items.n, reach),
        "Clopper–Pearson": share_limits(share * n, n, tail, tail),
        "Beta (Jeffreys)": (jeffreys_quantile(share * n, n, tail), jeffreys_quantile(share * n, n, 1 - tail)),
    }
    others: tuple[IntervalName, ...] = ("bca", "t") if bca else ("t",)
    for method in others:
        limits = interval(drawn, method=method, confidence_level=LEVEL).interval
        found[method] = (limits.low, limits.high)
    return found


def _wilson(share: float, n: float, reach: float) -> tuple[float, float]:
    more = n + reach * reach
    centre = (share * n + reach * reach / 2) / more
    half = reach / more * sqrt(share * (1 - share) * n + reach * reach / 4)
    return max(centre - half, 0.0), min(centre + half, 1.0)


@dataclass(frozen=True, slots=True)
class Held:
    """Coverage of one method, and the mean width of its intervals."""

    coverage: float
    width: float


def simulated(case: OneRun, simulations: int) -> dict[str, Held]:
    found = [all_limits(case.sample(i), bca=i % BCA_EVERY == 0) for i in range(simulations)]
    limits = {method: np.array([one[method] for one in found if method in one]) for method in METHODS}
    return {method: _held(limits[method], case.truth) for method in METHODS}


def _held(limits: Floats, truth: float) -> Held:
    low, high = limits.T
    inside = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    return Held(float(inside.mean()), float((high - low).mean()))


#: What was compared for right and wrong answers with weights; the last one was taken.
RULES = ("variance, t", "at most Kish, t", "at most Kish, t(Kish − 1)", "at most Kish, normal")


def by_rule(case: OneRun, simulations: int) -> dict[str, Held]:
    """Agresti–Coull with each of the rules for the effective number of items and the quantile."""
    found = [_rule_limits(case.sample(i)) for i in range(simulations)]
    return {rule: _held(np.array([one[rule] for one in found]), case.truth) for rule in RULES}


def _rule_limits(run: Run) -> Limits:
    drawn, kish = run.drawn, effective_number(run.weights)
    items = effective_items(drawn, run.weights, right_or_wrong=False)
    share, capped = min(max(drawn.estimate, 0.0), 1.0), items.n >= kish
    dfs = (items.df, items.df, max(items.df, kish - 1), inf)
    sizes = (items.n, *(min(items.n, kish) for _ in RULES[1:]))
    reach = critical_values(LEVEL, [df if capped else items.df for df in dfs]).tolist()
    return {rule: agresti_coull(share, n, q) for rule, n, q in zip(RULES, sizes, reach, strict=True)}


def enumerated(n: int, shares: Sequence[float]) -> dict[str, list[Held]]:
    """Right and wrong answers: exact coverage of every method, a share after the other."""
    from scipy.stats import binom  # late: 1 s

    every = [all_limits(Run(np.repeat([1.0, 0.0], [right, n - right]), np.ones(n))) for right in range(n + 1)]
    chances = [binom.pmf(np.arange(n + 1), n, share) for share in shares]
    found = {}
    for method in METHODS:
        low, high = np.array([one[method] for one in every]).T
        inside = [(low <= share + 1e-12) & (share - 1e-12 <= high) for share in shares]
        found[method] = [
            Held(float(chance[holds].sum()), float((chance * (high - low)).sum()))
            for chance, holds in zip(chances, inside, strict=True)
        ]
    return found


# ------------------------------------------------------------------------------------------------------------ scenarios


def _independent(name: str, n: int, draw: Draw, truth: float) -> OneRun:
    return OneRun(f"{name}, n = {n}", lambda rng: Run(draw(rng, n), np.ones(n)), truth)


def _attempts(rng: Generator, n: int, a: float, b: float, attempts: int) -> Floats:
    """Means of attempts at items whose chances follow a beta distribution."""
    return np.asarray(rng.binomial(attempts, rng.beta(a, b, n)) / attempts)


def _mostly(rng: Generator, n: int, right: float, wrong: float) -> Floats:
    """Right, wrong, and partial credit for the rest."""
    u = rng.random(n)
    return np.where(u < right, 1.0, np.where(u < right + wrong, 0.0, rng.random(n)))


def _rarely_lost(rng: Generator, n: int, lost: float, a: float, b: float) -> Floats:
    """Nearly full marks, but for the items that are lost entirely."""
    return np.where(rng.random(n) < lost, 0.0, rng.beta(a, b, n))


def _mean_of_steps() -> float:
    """Of ⌈10 X⌉/10, X ~ beta(3, 1): Σ P(X > k/10)/10 with P(X ≤ x) = x³."""
    return sum(1 - (k / 10) ** 3 for k in range(10)) / 10


BOUNDED: dict[str, tuple[Draw, float]] = {
    "uniform": (lambda rng, n: rng.random(n), 0.5),
    "beta(8, 2)": (lambda rng, n: rng.beta(8, 2, n), 0.8),
    "beta(20, 1)": (lambda rng, n: rng.beta(20, 1, n), 20 / 21),
    "beta(½, ½)": (lambda rng, n: rng.beta(0.5, 0.5, n), 0.5),
    "beta(0.9, 0.1)": (lambda rng, n: rng.beta(0.9, 0.1, n), 0.9),
    "0, ⅓, ⅔, 1": (lambda rng, n: rng.choice([0, 1 / 3, 2 / 3, 1], n, p=[0.05, 0.05, 0.2, 0.7]), 0.85),
    "70 % right, 20 % wrong": (lambda rng, n: _mostly(rng, n, 0.7, 0.2), 0.75),
    "90 % right, 5 % wrong": (lambda rng, n: _mostly(rng, n, 0.9, 0.05), 0.925),
    "mean of 4 attempts": (lambda rng, n: _attempts(rng, n, 0.8, 0.2, 4), 0.8),
}

#: Further ones: nothing was chosen by them, but they had been seen when the rule for weights was.
FURTHER_BOUNDED: dict[str, tuple[Draw, float]] = {
    "mean of 5 attempts, chances beta(0.4, 0.1)": (lambda rng, n: _attempts(rng, n, 0.4, 0.1, 5), 0.8),
    "half 0, half beta(5, 2)": (lambda rng, n: _rarely_lost(rng, n, 0.5, 5, 2), 0.5 * 5 / 7),
    "steps of 0.1 of beta(3, 1)": (lambda rng, n: np.ceil(10 * rng.beta(3, 1, n)) / 10, _mean_of_steps()),
    "beta(30, 1), but 5 % lost": (lambda rng, n: _rarely_lost(rng, n, 0.05, 30, 1), 0.95 * 30 / 31),
}


def bounded(named: dict[str, tuple[Draw, float]], n: int) -> list[OneRun]:
    return [_independent(name, n, draw, truth) for name, (draw, truth) in named.items()]


def _clustered(count: int, sizes: tuple[int, int], icc: float, p: float, attempts: int = 1) -> OneRun:
    """Right and wrong answers, or means of attempts, whose chance is shared within a cluster: beta-binomial."""

    def draw(rng: Generator) -> Run:
        size = rng.integers(sizes[0], sizes[1] + 1, count)
        chance = rng.beta(p * (1 / icc - 1), (1 - p) * (1 / icc - 1), count)
        codes = np.repeat(np.arange(count), size)
        return Run(rng.binomial(attempts, chance[codes]) / attempts, np.ones(len(codes)), codes)

    what = "" if attempts == 1 else f", means of {attempts}"
    return OneRun(f"{count} clusters of {sizes[0]}–{sizes[1]}, icc {icc:g}, p = {p:g}{what}", draw, p)


CLUSTERS = [_clustered(20, (5, 20), icc, p) for icc in (0.1, 0.3) for p in (0.5, 0.7, 0.8, 0.9, 0.95)]
#: Further ones: the rule for clusters was not chosen by them, but they had been seen when that for weights was.
FURTHER_CLUSTERS = [
    _clustered(12, (3, 30), 0.15, 0.9),
    _clustered(8, (10, 10), 0.2, 0.7),
    _clustered(40, (2, 6), 0.5, 0.85),
    _clustered(100, (1, 9), 0.05, 0.98),
    _clustered(15, (4, 12), 0.3, 0.8, attempts=3),
]


def _weighted(name: str, n: int, weights: Draw, heavy: float, light: float | None = None) -> OneRun:
    """Right and wrong answers; heavy items, those above the middle of the weights' range, may have their own chance.

    The truth is then that of the weights of one draw, which are the same in every simulation.
    """
    light = heavy if light is None else light
    fixed = weights(np.random.default_rng(SEED), n)
    chances = np.where(fixed > (fixed.min() + fixed.max()) / 2, heavy, light)

    def run(rng: Generator) -> Run:
        drawn, right = (weights(rng, n), heavy) if heavy == light else (fixed, chances)
        return Run((rng.random(n) < right).astype(np.float64), drawn)

    said = f"p = {heavy:g}" if heavy == light else f"p = {heavy:g} of heavy, {light:g} of light ones"
    return OneRun(f"{name} weights, n = {n}, {said}", run, float((chances * fixed).sum() / fixed.sum()))


def _few_heavy(share: float, weight: float) -> Draw:
    """Some items count many times."""
    return lambda _, n: np.where(np.arange(n) < share * n, weight, 1.0)


WEIGHTS = [
    *(
        _weighted("log-normal(1)", n, lambda rng, k: rng.lognormal(0, 1, k), p)
        for n in (30, 100)
        for p in (0.5, 0.8, 0.95)
    ),
    _weighted("1 in 10 heavy (100)", 200, _few_heavy(0.1, 100), 0.97),
    _weighted("1 in 10 heavy (100)", 200, _few_heavy(0.1, 100), 0.8),
    _weighted("1 in 10 heavy (20)", 100, _few_heavy(0.1, 20), 0.6, 0.99),
    _weighted("1 in 10 heavy (20)", 100, _few_heavy(0.1, 20), 0.99, 0.6),
    _weighted("gamma(½)", 60, lambda rng, k: rng.gamma(0.5, size=k) + 1e-9, 0.9),
]
#: Set apart: first looked at after the rule for weights was fixed.
WEIGHTS_HELD_OUT = [
    _weighted("Pareto(2)", 80, lambda rng, k: rng.pareto(2, k) + 1, 0.9),
    _weighted("Zipf's (1/rank)", 50, lambda _, k: 1 / np.arange(1, k + 1), 0.85),
    _weighted("1 in 6 heavy (30)", 120, _few_heavy(1 / 6, 30), 0.7, 0.9),
    _weighted("1 in 4 heavy (8)", 32, _few_heavy(0.25, 8), 0.95),
]
