"""The same interval of the same data by scipy, by arch and by us.

Each run takes the next of many samples, as a user's calls would, so that nothing a call remembers can help the next.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import cycle
from typing import Literal

import numpy as np
from arch.bootstrap import IIDBootstrap
from scipy import stats

from assay.stats.bootstrap import interval
from assay.stats.compiled import Backend
from assay.stats.records import IntervalName
from assay.stats.units import Floats, Units
from benchmarks.timing.clock import Contender, quickest

MOST_MEMORY = 4e9  # bytes: what asks for more is not run
SCIPY, SCIPY_DEFAULT, ARCH = "scipy, best batch", "scipy, default batch", "arch"
LIKE, FUSED = "exact, as scipy", "exact, as scipy, compiled"
DEFAULT = "exact, our default (bca)"
SCIPY_RATIO, RATIO, HEAVY, FUSED_RATIO, FUSED_HEAVY = (
    "scipy, ratio of sums, best batch",
    "exact, default, ratio",
    "exact, default, ratio, t2 tails",
    "exact, default, ratio, compiled",
    "exact, default, ratio, t2 tails, compiled",
)
NUMPY, COMPILED = "random, numpy", "random, compiled"


@dataclass(frozen=True, slots=True)
class Size:
    """How much data, how many replicates, how many turns, and the method that all can do."""

    n: int
    resamples: int
    turns: int
    method: Literal["BCa", "percentile"]

    @property
    def scipy_default_bytes(self) -> float:
        """The index and the values of all resamples at once."""
        return 16.0 * self.n * self.resamples

    @property
    def ours(self) -> IntervalName:
        return "bca-plain" if self.method == "BCa" else "percentile"


SIZES = (Size(180, 1_200, 15, "BCa"), Size(1_000, 10_000, 7, "BCa"), Size(100_000, 2_000, 3, "percentile"))


def contenders(size: Size) -> tuple[list[Contender], list[str]]:
    """Everything that can run at this size, scipy at its best first, and remarks on what cannot."""
    best, batch = _scipy_at_best(size)
    found, remarks = [best], [f"scipy's best batch here: {batch}."]
    if size.scipy_default_bytes <= MOST_MEMORY:
        found.append(Contender(SCIPY_DEFAULT, _scipy(size, None)))
    else:
        remarks.append(f"scipy at its default batch would need {size.scipy_default_bytes / 1e9:.0f} GB: not run.")
    if size.method == "percentile":
        remarks.append(f"scipy's and arch's BCa would form {size.n:,}² jackknife values: percentile intervals here.")
    ratio, batch = _scipy_at_best(size, _scipy_ratio, SCIPY_RATIO)
    remarks.append(f"Of the ratio: {batch}.")
    return [*found, Contender(ARCH, _arch(size)), *_ours(size), ratio, *_ratios(size)], remarks


def _ours(size: Size) -> list[Contender]:
    return [
        Contender(LIKE, _own(size, None, "numpy")),
        Contender(FUSED, _own(size, None, "compiled")),
        Contender(DEFAULT, _of_mean(size, lambda x: interval(_equal(x), backend="numpy"))),
        Contender(NUMPY, _own(size, size.resamples, "numpy")),
        Contender(COMPILED, _own(size, size.resamples, "compiled")),
    ]


def _ratios(size: Size) -> list[Contender]:
    """Our default for a ratio of unequal sums, as scipy's contender has it, and for one with heavy tails."""
    return [
        Contender(RATIO, _of_ratio(size, _samples, lambda x, t: interval(Units(x, t), backend="numpy"))),
        Contender(HEAVY, _of_ratio(size, _heavy, lambda x, t: interval(Units(x, t), backend="numpy"))),
        Contender(FUSED_RATIO, _of_ratio(size, _samples, lambda x, t: interval(Units(x, t), backend="compiled"))),
        Contender(FUSED_HEAVY, _of_ratio(size, _heavy, lambda x, t: interval(Units(x, t), backend="compiled"))),
    ]


def _own(size: Size, resamples: int | None, backend: Backend) -> Callable[[], object]:
    """What scipy computes, by us."""
    return _of_mean(size, lambda x: interval(_equal(x), method=size.ours, resamples=resamples, backend=backend))


def _scipy(size: Size, batch: int | None) -> Callable[[], object]:
    rng = np.random.default_rng(0)
    mean = partial(stats.bootstrap, statistic=np.mean, vectorized=True, axis=-1, method=size.method, rng=rng)
    return _of_mean(size, lambda x: mean((x,), n_resamples=size.resamples, batch=batch))


def _scipy_ratio(size: Size, batch: int | None) -> Callable[[], object]:
    def ratio(x: Floats, t: Floats, axis: int = -1) -> Floats:
        return np.asarray(x.sum(axis=axis) / t.sum(axis=axis))

    rng = np.random.default_rng(0)
    drawn = partial(
        stats.bootstrap, statistic=ratio, paired=True, vectorized=True, axis=-1, method=size.method, rng=rng
    )
    return _of_ratio(size, _samples, lambda x, t: drawn((x, t), n_resamples=size.resamples, batch=batch))


def _scipy_at_best(
    size: Size, run: "Callable[[Size, int], Callable[[], object]] | None" = None, name: str = SCIPY
) -> tuple[Contender, int]:
    """Batches of 2¹², 2¹⁴, … 2²⁰ numbers are tried."""
    run = run or _scipy
    batches = sorted({min(size.resamples, max(1, 2**bits // size.n)) for bits in range(12, 22, 2)})
    best = quickest([Contender(str(batch), run(size, batch)) for batch in batches], min(3, size.turns))
    return Contender(name, best.run), int(best.name)


def _arch(size: Size) -> Callable[[], object]:
    method: Literal["bca", "percentile"] = "bca" if size.method == "BCa" else "percentile"
    rng = np.random.default_rng(0)
    return _of_mean(size, lambda x: IIDBootstrap(x, seed=rng).conf_int(np.mean, reps=size.resamples, method=method))


def _of_mean(size: Size, run: Callable[[Floats], object]) -> Callable[[], object]:
    samples = cycle(_samples(size.n))
    return lambda: run(next(samples))


def _of_ratio(
    size: Size, samples: Callable[[int], list[Floats]], run: Callable[[Floats, Floats], object]
) -> Callable[[], object]:
    """Samples weighted by log-normal(0.5) token counts."""
    tokens = np.random.default_rng(2).lognormal(6.0, 0.5, size.n)
    sums = cycle([sample * tokens for sample in samples(size.n)])
    return lambda: run(next(sums), tokens)


@cache
def _samples(n: int) -> list[Floats]:
    """More of them than any cache of ours holds, or than there are runs."""
    rng = np.random.default_rng(1)
    return [rng.normal(0.02, 0.3, n) for _ in range(300 if n <= 1_000 else 20)]


@cache
def _heavy(n: int) -> list[Floats]:
    """The same with the tails of Student's t with two degrees of freedom."""
    rng = np.random.default_rng(3)
    return [0.02 + 0.3 * rng.standard_t(2, n) for _ in range(300 if n <= 1_000 else 20)]


def _equal(values: Floats) -> Units:
    """A mean: all that scipy and arch are asked for."""
    return Units(values, np.ones(len(values)))
