"""How often is a gate that stops early wrong at its limit, how much does it score, and does its interval cover?

    python benchmarks/calibration_sequential.py                       everything; about 10 minutes on one core
    python benchmarks/calibration_sequential.py --simulations 200     a quick look
    python benchmarks/calibration_sequential.py --out benchmarks/results/calibration_sequential.md

Seven looks with O'Brien and Fleming's spending, as `assay gate` has them, beside the fixed design: the interval of
`assay certify` on all units. The same command prints the same numbers on every run. Looks are taken at all samples at
once (`benchmarks/simulation/many_looks.py`), with the bounds of the information that was aimed at.
"""

import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import log, sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

from assay.design import Design
from assay.stats.sequential.boundaries import Bounds, bounds
from assay.stats.sequential.looks import look_at, schedule
from assay.stats.sequential.sequences import ConfidenceSequence
from assay.stats.sequential.stopped import after_stopping
from assay.stats.units import Floats, Integers
from benchmarks.simulation.command import simulate
from benchmarks.simulation.gate_cases import Case, Part, cases
from benchmarks.simulation.many_looks import Samples, check, look_at_all, schedules
from benchmarks.simulation.tables import table

LIMIT, LOOKS = log(1.1), 7
TITLES: dict[Part, str] = {
    "first": "The scenarios of calibration.py, t4 and skewed differences",
    "lengths": "Differences that go with length: the rule for them was chosen on these, and on those above",
    "apart": "Scenarios set apart",
    "apart, second": "Set apart again: committed before they were run, nothing was chosen on them",
}


@cache
def _bounds(goals: tuple[float, ...]) -> Bounds:
    return bounds(goals)


@dataclass(frozen=True, eq=False)
class Gated:
    """How gates on many samples ended."""

    passed: np.ndarray  # (S,)
    failed: np.ndarray
    share: Floats  # of the tokens that were scored
    last: Integers  # the look that was the last, among those planned
    nominal: Floats  # (S, K) p-values that stop
    places: Integers  # (S, K)
    refused: np.ndarray


def gated(found: Samples, *, by_length: bool = True) -> Gated:
    plans = schedules(found.denominators, LOOKS)
    nominal = _nominal(plans.places, plans.goals)
    samples = len(found.numerators)
    passed, failed = np.zeros(samples, dtype=bool), np.zeros(samples, dtype=bool)
    last = np.full(samples, LOOKS - 1)
    for k in range(LOOKS):
        open_ = ~(passed | failed | plans.refused) & (plans.places[:, k] > 0)
        seen = look_at_all(found, plans.places[:, k], LIMIT, by_length=by_length)
        now_passed, now_failed = open_ & (seen.below <= nominal[:, k]), open_ & (seen.above <= nominal[:, k])
        last = np.where(now_passed | now_failed, k, last)
        passed, failed = passed | now_passed, failed | (now_failed & ~now_passed)
    used = np.cumsum(found.denominators, axis=1)[np.arange(samples), plans.places[np.arange(samples), last] - 1]
    share = used / found.denominators.sum(axis=1)
    return Gated(passed, failed, share, last, nominal, plans.places, plans.refused)


def _nominal(places: Integers, goals: Floats) -> Floats:
    """The p-values that stop: goals rounded to 1 %, so that few bounds have to be computed."""
    found = np.zeros(goals.shape)
    for i, (row, there) in enumerate(zip(np.round(goals, 2), places > 0, strict=True)):
        chosen = row[there] - 1e-6 * np.arange(int(there.sum()))[::-1]  # never the same twice
        found[i, there] = _bounds(tuple(chosen.tolist())).nominal
    return found


def _samples(case: Case, simulations: int, purpose: int) -> Samples:
    found = [
        case.draw(np.random.default_rng([20263, zlib.crc32(case.label.encode()), purpose, i]))
        for i in range(simulations)
    ]
    return Samples.of(found)


def _fixed(found: Samples) -> tuple[list[bool], list[bool]]:
    """What `certify` passes and fails on all units: by the default interval."""
    limits = [Design().interval(found.one(i)).interval for i in range(len(found.numerators))]
    return [one.high <= LIMIT for one in limits], [one.low > LIMIT for one in limits]


def _rates(case: Case, simulations: int) -> list[str]:
    at_limit = _samples(case, simulations, 0).shifted(LIMIT, 0.1)
    check(at_limit, LOOKS, LIMIT)
    found, plain = gated(at_limit), gated(at_limit, by_length=False)
    there = ~found.refused
    fixed = _fixed(at_limit)
    few = max(simulations // 5, 20)
    kinds = {1: (0.0001, 0.02, True), 2: (0.024, 0.05, True), 3: (0.26, 0.15, False)}
    scored = [_used(gated(_samples(case, few, k).shifted(*kinds[k][:2])), passes=kinds[k][2]) for k in kinds]
    return [
        case.label,
        _share(found.passed[there]),
        _share(np.array(fixed[0])[there]),
        f"{100 * plain.passed[there].mean():.1f}",
        _share(found.failed[there]),
        _share(np.array(fixed[1])[there]),
        f"{100 * found.share[there].mean():.0f}",
        *scored,
    ]


def _used(found: Gated, *, passes: bool) -> str:
    there, right = ~found.refused, found.passed if passes else found.failed
    return f"{100 * found.share[there].mean():.0f} ({100 * right[there].mean():.0f})"


def _coverage(case: Case, simulations: int) -> list[str]:
    """At a difference for which the gate stops now here, now there: three standard errors of the whole plan."""
    covered, above, early = [], [], []
    plain = _samples(case, simulations, 4)
    effective = plain.denominators.sum(axis=1) ** 2 / (plain.denominators**2).sum(axis=1)
    truth = LIMIT - 3 * 0.1 / np.sqrt(effective)
    found = plain.shifted(truth, 0.1)
    ended = gated(found)
    for i in np.flatnonzero(~ended.refused).tolist():
        plan = schedule(found.denominators[i], LOOKS)
        assert plan is not None
        taken = plan.places[plan.places <= ended.places[i, ended.last[i]]]
        looks = [look_at(found.one(i, place), by_length=True) for place in taken.tolist()]
        rounded = np.round(plan.fractions, 2) - 1e-6 * np.arange(len(plan.fractions))[::-1]
        stopped = after_stopping(_bounds(tuple(rounded.tolist())), looks, LIMIT)
        covered.append(stopped.low <= truth[i] <= stopped.high)
        above.append(stopped.estimate > truth[i])
        early.append(len(looks) < len(plan.places))
    return [case.label, _share(covered), _share(above), f"{100 * np.mean(early):.0f}"]


def _watched(case: Case, simulations: int) -> list[str]:
    """The confidence sequence, looked at after every tenth part from 20 units on."""
    sequence, missed = ConfidenceSequence(), []
    found = _samples(case, simulations, 5)
    for i in range(simulations):
        plan = schedule(found.denominators[i], 12)
        if plan is None:
            continue
        limits = [sequence.limits(look_at(found.one(i, place))) for place in plan.places.tolist()]
        missed.append(any(one is not None and not one[0] <= 0 <= one[1] for one in limits))
    return [case.label, _share(missed)]


def _share(found: Sequence[bool] | np.ndarray) -> str:
    share = float(np.mean(found))
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / len(found)):.1f}"


AT_LIMIT = """Per cent of {simulations:,} simulations at the limit, ± the binomial standard error; at most 2.5 of
either is the goal. *Fixed*: the default interval of certify on all units of the same samples. *Lengths ignored*: the
gate's passes without its rule for lengths. *Scored*: mean share of the tokens until the decision, in brackets how often
it is the right one (a fifth as many simulations): an 8-bit copy (Δ = 0.0001, sd 0.02 nats), a 4-bit copy (0.024, 0.05),
a regression (0.26, 0.15). At the limit sd = 0.1. Samples worth fewer than 20 units are refused, and are left out."""
AFTER = """After stopping, three standard errors within the limit ({simulations:,} simulations): the interval should
cover in 95, the estimate be too high in 50. *Early*: stopped before the end."""
WATCHED = (
    "Confidence sequence, looked at 12 times ({simulations:,} simulations): the truth is ever left out in at most 5."
)
HEADER = ["differences", "pass", "fixed: pass", "lengths ignored: pass", "fail", "fixed: fail", "scored"]
COPIES = ["8-bit: scored", "4-bit", "regression"]


def _part(title: str, chosen: Sequence[Case], simulations: int) -> list[str]:
    rates = [_told(_rates(case, simulations)) for case in chosen]
    after = [_told(_coverage(case, simulations // 20)) for case in chosen]
    watched = [_told(_watched(case, simulations // 5)) for case in chosen]
    return [
        f"### {title}",
        AT_LIMIT.format(simulations=simulations),
        table([*HEADER, *COPIES], rates),
        AFTER.format(simulations=simulations // 20),
        table(["differences", "covers", "too high", "early"], after),
        WATCHED.format(simulations=simulations // 5),
        table(["differences", "left out"], watched),
    ]


def _report(simulations: int) -> str:
    every = cases()
    return "\n\n".join(
        text
        for part, title in TITLES.items()
        for text in _part(title, [c for c in every if c.part == part], simulations)
    )


def _told(row: list[str]) -> list[str]:
    print("; ".join(row), file=sys.stderr, flush=True)
    return row


def main(arguments: Sequence[str] | None = None) -> None:
    simulate("How often a gate that stops early errs.", _report, 2000, arguments, "per cell at the limit (2,000)")


if __name__ == "__main__":
    main()
