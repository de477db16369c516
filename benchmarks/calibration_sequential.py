"""How often is a gate that stops early wrong at its limit, how much does it score, and does its interval cover?

    python benchmarks/calibration_sequential.py                       everything; about 10 minutes on one core
    python benchmarks/calibration_sequential.py --simulations 100     a quick look
    python benchmarks/calibration_sequential.py --out benchmarks/results/calibration_sequential.md

Seven looks with O'Brien and Fleming's spending, as `assay gate` has them. The same command prints the same numbers on
every run. The scenarios that are set apart were drawn up after everything else was fixed.
"""

import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import log, sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

from assay.stats.sequential.boundaries import Bounds, bounds
from assay.stats.sequential.looks import LookSchedule, Seen, look_at, schedule
from assay.stats.sequential.sequences import ConfidenceSequence
from assay.stats.sequential.stopped import after_stopping
from assay.stats.units import Units
from benchmarks.simulation.command import simulate
from benchmarks.simulation.scenarios import SCENARIOS
from benchmarks.simulation.tables import table

LIMIT, LOOKS = log(1.1), 7
Draw = Callable[[np.random.Generator], Units]
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
    apart: bool = False


def _equal(values: Callable[[np.random.Generator, int], np.ndarray]) -> Draw:
    return lambda rng: Units(values(rng, 180), np.ones(180))


def _of_scenario(name: str) -> Case:
    """A scenario of benchmarks/calibration.py, standardised."""
    found = next(one for one in SCENARIOS if one.name == name)
    sample = [found.null_sample(10**6 + i) for i in range(20)]
    spread = float(np.std(np.concatenate([units.numerators / units.denominators for units in sample])))

    def draw(rng: np.random.Generator) -> Units:
        units = found.null_sample(int(rng.integers(10**6)))
        return Units(units.numerators / spread, units.denominators)

    return Case(found.label, draw)


def _contaminated(rng: np.random.Generator, n: int) -> np.ndarray:
    """One value in twenty is five times as wide."""
    return rng.standard_normal(n) * np.where(rng.random(n) < 0.05, 5.0, 1.0) / sqrt(0.95 + 0.05 * 25)


def _long(rng: np.random.Generator) -> Units:
    """Skewed differences in windows of unequal length, the long ones less noisy."""
    tokens = rng.lognormal(0, 0.7, 180)
    return Units(tokens * (rng.gamma(4, 0.5, 180) - 2) * np.sqrt(1.28 / tokens), tokens)


def _documents(rng: np.random.Generator) -> Units:
    """Documents of 1 to 12 windows, half of the variance between documents."""
    sizes = rng.integers(1, 13, 60).astype(float)
    return Units(sizes * sqrt(0.5) * rng.standard_normal(60) + np.sqrt(0.5 * sizes) * rng.standard_normal(60), sizes)


def cases() -> list[Case]:
    return [
        *map(_of_scenario, _TAKEN),
        Case("equal tokens, t4 Δ", _equal(lambda rng, n: rng.standard_t(4, n) / sqrt(2))),
        Case("equal tokens, Δ skewed to worse: exponential", _equal(lambda rng, n: rng.exponential(1, n) - 1)),
        Case("equal tokens, Δ skewed to better: exponential", _equal(lambda rng, n: 1 - rng.exponential(1, n))),
        Case("equal tokens, contaminated normal Δ", _equal(_contaminated), apart=True),
        Case("equal tokens, Δ skewed to worse: gamma(4)", _equal(lambda rng, n: rng.gamma(4, 0.5, n) - 2), apart=True),
        Case("log-normal(0.7) tokens, gamma(4) Δ, noise ∝ 1/√t", _long, apart=True),
        Case("60 documents of 1 to 12 windows, drawn whole", _documents, apart=True),
    ]


@cache
def _bounds(fractions: tuple[float, ...]) -> Bounds:
    return bounds(fractions)


def bounds_for(found: LookSchedule) -> Bounds:
    """Rounded to 1 % of the information, so that few bounds have to be computed."""
    rounded = np.round(found.fractions, 2) - 1e-6 * np.arange(len(found.fractions))[::-1]  # never the same twice
    return _bounds(tuple(rounded.tolist()))


@dataclass(frozen=True)
class Outcome:
    verdict: str
    share: float  # of the tokens that were scored
    bounds: Bounds
    looks: list[Seen]


def gated(units: Units, truth: float, spread: float) -> Outcome:
    """A gate on units with this mean difference, and this standard deviation."""
    whole = Units(spread * units.numerators + truth * units.denominators, units.denominators)
    plan = schedule(whole.denominators, LOOKS)
    assert plan is not None
    found, looks = bounds_for(plan), []
    for k, place in enumerate(plan.places.tolist()):
        looks.append(look_at(Units(whole.numerators[:place], whole.denominators[:place])))
        share = float(whole.denominators[:place].sum() / whole.denominators.sum())
        if looks[-1].p_below(LIMIT) <= found.nominal[k]:
            return Outcome("pass", share, found, looks)
        if looks[-1].p_above(LIMIT) <= found.nominal[k]:
            return Outcome("fail", share, found, looks)
    return Outcome("undecided", 1.0, found, looks)


def _samples(case: Case, simulations: int, purpose: int) -> list[Units]:
    return [
        case.draw(np.random.default_rng([20263, zlib.crc32(case.label.encode()), purpose, i]))
        for i in range(simulations)
    ]


def _rates(case: Case, simulations: int) -> list[str]:
    limit = [gated(units, LIMIT, 0.1) for units in _samples(case, simulations, 0)]
    few = max(simulations // 5, 20)
    good = [gated(units, 0.0001, 0.02) for units in _samples(case, few, 1)]
    fair = [gated(units, 0.024, 0.05) for units in _samples(case, few, 2)]
    broken = [gated(units, 0.26, 0.15) for units in _samples(case, few, 3)]
    return [
        case.label,
        _share([one.verdict == "pass" for one in limit]),
        _share([one.verdict == "fail" for one in limit]),
        _used(limit),
        _used(good, "pass"),
        _used(fair, "pass"),
        _used(broken, "fail"),
    ]


def _used(found: Sequence[Outcome], wanted: str | None = None) -> str:
    mean = f"{100 * np.mean([one.share for one in found]):.0f}"
    right = "" if wanted is None else f" ({100 * np.mean([one.verdict == wanted for one in found]):.0f})"
    return mean + right


def _coverage(case: Case, simulations: int) -> list[str]:
    """At a difference for which the gate stops now here, now there: three standard errors of the whole plan."""
    covered, above, early = [], [], []
    for units in _samples(case, simulations, 4):
        effective = float(units.denominators.sum()) ** 2 / float((units.denominators**2).sum())
        truth = LIMIT - 3 * 0.1 / sqrt(effective)
        found = gated(units, truth, 0.1)
        stopped = after_stopping(found.bounds, found.looks, LIMIT)
        covered.append(stopped.low <= truth <= stopped.high)
        above.append(stopped.estimate > truth)
        early.append(found.share < 1)
    return [case.label, _share(covered), _share(above), f"{100 * np.mean(early):.0f}"]


def _watched(case: Case, simulations: int) -> list[str]:
    """The confidence sequence, looked at after every tenth part from 20 units on."""
    sequence, missed = ConfidenceSequence(), []
    for units in _samples(case, simulations, 5):
        plan = schedule(units.denominators, 12)
        assert plan is not None
        limits = [
            sequence.limits(look_at(Units(units.numerators[:place], units.denominators[:place])))
            for place in plan.places.tolist()
        ]
        missed.append(any(one is not None and not one[0] <= 0 <= one[1] for one in limits))
    return [case.label, _share(missed)]


def _share(found: Sequence[bool]) -> str:
    share = float(np.mean(found))
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / len(found)):.1f}"


AT_LIMIT = """Per cent of {simulations:,} simulations at the limit, ± the binomial standard error; at most 2.5 of
either is the goal. *Scored*: mean share of the tokens until the decision, in brackets how often it is the right one
(a fifth as many simulations): an 8-bit copy (Δ = 0.0001, sd 0.02 nats), a 4-bit copy (0.024, 0.05), a regression
(0.26, 0.15). At the limit sd = 0.1."""
AFTER = """After stopping, three standard errors within the limit ({simulations:,} simulations): the interval should
cover in 95, the estimate be too high in 50. *Early*: stopped before the end."""
WATCHED = (
    "Confidence sequence, looked at 12 times ({simulations:,} simulations): the truth is ever left out in at most 5."
)


def _part(title: str, chosen: Sequence[Case], simulations: int) -> list[str]:
    rates = [_told(_rates(case, simulations)) for case in chosen]
    after = [_told(_coverage(case, simulations // 4)) for case in chosen]
    watched = [_told(_watched(case, simulations // 2)) for case in chosen]
    return [
        f"### {title}",
        AT_LIMIT.format(simulations=simulations),
        table(["differences", "pass", "fail", "scored", "8-bit: scored", "4-bit", "regression"], rates),
        AFTER.format(simulations=simulations // 4),
        table(["differences", "covers", "too high", "early"], after),
        WATCHED.format(simulations=simulations // 2),
        table(["differences", "left out"], watched),
    ]


def _report(simulations: int) -> str:
    every = cases()
    first = _part(
        "The scenarios of calibration.py, t4 and skewed differences", [c for c in every if not c.apart], simulations
    )
    return "\n\n".join([*first, *_part("Scenarios set apart", [c for c in every if c.apart], simulations)])


def _told(row: list[str]) -> list[str]:
    print("; ".join(row), file=sys.stderr, flush=True)
    return row


def main(arguments: Sequence[str] | None = None) -> None:
    simulate("How often a gate that stops early errs.", _report, 1000, arguments, "per cell at the limit (1,000)")


if __name__ == "__main__":
    main()
