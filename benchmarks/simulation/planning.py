"""Studies whose true difference is known: what power is predicted for them, and how often they find it."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Literal
from zlib import crc32

import numpy as np

from assay.stats.bootstrap import interval
from assay.stats.paired_tests import sign_flip
from assay.stats.planning import chosen_test, power_of
from assay.stats.planning.plans import Goal, Shares, Spread, Structure, StudyPlan
from assay.stats.proportions import mcnemar_p
from assay.stats.units import Floats, Units

SEED = 20265
ALPHA = 0.05

Generator = np.random.Generator


@dataclass(frozen=True, slots=True)
class Study:
    """n items and a true difference: the plan for it, and a way to draw the units that are analysed."""

    name: str
    n: int
    difference: float
    plan: StudyPlan
    draw: Callable[[Generator, int], Units]
    margin: float | None = None

    def predicted(self) -> float:
        return power_of(self.plan, self.n, self.difference, Goal(level=1 - ALPHA, margin=self.margin))

    def sample(self, simulation: int) -> Units:
        return self.draw(np.random.default_rng([SEED, crc32(self.name.encode()), self.n, simulation]), self.n)


def found(study: Study, simulation: int) -> tuple[bool, bool]:
    """Whether the planned test finds it, and whether `compare` shows it by default."""
    units = study.sample(simulation)
    if study.margin is not None:
        return _inside(units, "t", study.margin), _inside(units, "bca", study.margin)
    if units.degenerate:  # nothing differs: no test rejects
        return False, False
    if chosen_test(study.plan, Goal()) == "mcnemar-midp":
        test = _mid_p(units.numerators) <= ALPHA
        return test, test  # Tango's interval leaves out 0 exactly where the mid-p rejects
    return (interval(units, method="t").own_p or 0.0) <= ALPHA, _shown(units)


def _mid_p(differences: Floats) -> float:
    return float(mcnemar_p((differences > 0).sum(), (differences < 0).sum())[0])


def _shown(units: Units) -> bool:
    """Both the exact sign flips and the BCa interval show it."""
    own = interval(units, own_p=True).own_p or 0.0
    return own <= ALPHA and (sign_flip(units.numerators)[0].p_value or 1.0) <= ALPHA


def _inside(units: Units, method: Literal["t", "bca"], margin: float) -> bool:
    limits = interval(units, method=method, confidence_level=1 - ALPHA).interval
    return -margin < limits.low and limits.high < margin


def plain(values: Floats) -> Units:
    return Units(values, np.ones(len(values)))


# ------------------------------------------------------------------------------------------ ways to draw


def _normal(difference: float) -> Callable[[Generator, int], Units]:
    return lambda rng, n: plain(rng.normal(difference, 1, n))


def _skewed(difference: float) -> Callable[[Generator, int], Units]:
    return lambda rng, n: plain(rng.exponential(1, n) - 1 + difference)


def _arms(difference: float, sd_a: float, sd_b: float, correlation: float) -> Callable[[Generator, int], Units]:
    def draw(rng: Generator, n: int) -> Units:
        a = rng.normal(size=n)
        b = correlation * a + sqrt(1 - correlation**2) * rng.normal(size=n)
        return plain(sd_b * b + difference - sd_a * a)

    return draw


def _answers(better: float, worse: float) -> Callable[[Generator, int], Units]:
    def draw(rng: Generator, n: int) -> Units:
        u = rng.random(n)
        return plain(np.where(u < better, 1.0, np.where(u < better + worse, -1.0, 0.0)))

    return draw


def _clustered(difference: float, size: int, icc: float) -> Callable[[Generator, int], Units]:
    def draw(rng: Generator, n: int) -> Units:
        shared = np.repeat(rng.normal(size=n // size), size)
        values = difference + sqrt(icc) * shared + sqrt(1 - icc) * rng.normal(size=n)
        return Units(values.reshape(-1, size).sum(axis=1), np.full(n // size, float(size)))

    return draw


def _repeated(difference: float, repeats: int, within: float) -> Callable[[Generator, int], Units]:
    def draw(rng: Generator, n: int) -> Units:
        own = rng.normal(difference, sqrt(1 - 2 * within**2), n)
        a, b = rng.normal(0, within, (2, n, repeats)).mean(axis=2)
        return plain(own + b - a)

    return draw


#: A's chance on an item is uniform; B's is higher by 2·difference times what A lacks.
def _sampled_answers(difference: float, repeats: int) -> Callable[[Generator, int], Units]:
    def draw(rng: Generator, n: int) -> Units:
        a = rng.random(n)
        b = a + 2 * difference * (1 - a)
        return plain((rng.binomial(repeats, b) - rng.binomial(repeats, a)) / repeats)

    return draw


def _sampled_plan(difference: float, repeats: int) -> Shares:
    """The shares of the above, integrated over A's chance."""
    a = (np.arange(100_000) + 0.5) / 100_000
    b = a + 2 * difference * (1 - a)
    noise = float((a * (1 - a) + b * (1 - b)).mean()) / 2
    differ = float((a * (1 - b) + b * (1 - a)).mean())
    return Shares(discordant=differ, structure=Structure(repeats=repeats, sd_within=sqrt(noise)))


def _studies() -> list[Study]:
    one = Spread(sd=1.0).means()
    arms = Spread.of_arms(1.0, 1.2, 0.6).means()
    shares = Shares(p_a=0.7, correlation=0.5)
    clusters = Spread(sd=1.0, structure=Structure(cluster_size=5, icc=0.3)).means()
    repeated = Spread(sd=1.0, structure=Structure(repeats=4, sd_within=0.6)).means()
    return [
        *(
            Study("normal differences", n, d, one, _normal(d))
            for n, d in ((10, 1.0), (30, 0.53), (100, 0.2), (400, 0.14))
        ),
        Study("two arms, correlation 0.6", 100, 0.3, arms, _arms(0.3, 1.0, 1.2, 0.6)),
        *(Study("skewed differences", n, d, one, _skewed(d)) for n, d in ((30, 0.53), (100, 0.28), (400, 0.14))),
        *(Study("0/1, 20 % differ", n, 0.06, Shares(discordant=0.2), _answers(0.13, 0.07)) for n in (100, 300, 450)),
        Study("0/1, A 70 %, correlation 0.5", 660, 0.05, shares, _answers(*shares.discordance(0.05))),
        *(Study("clusters of 5, icc 0.3", n, d, clusters, _clustered(d, 5, 0.3)) for n, d in ((50, 0.6), (400, 0.2))),
        Study("4 runs, noise 0.6", 60, 0.3, repeated, _repeated(0.3, 4, 0.6)),
        Study("0/1 answers sampled 5 times", 300, 0.04, _sampled_plan(0.04, 5), _sampled_answers(0.04, 5)),
        Study("equivalence within ±0.3", 100, 0.0, one, _normal(0.0), 0.3),
        Study("equivalence within ±0.3, true 0.05", 160, 0.05, one, _normal(0.05), 0.3),
    ]


STUDIES = _studies()
