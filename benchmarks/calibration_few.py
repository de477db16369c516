"""Are intervals honest where units are few, skewed or of unequal length? Coverage beside other methods, and warnings.

    python benchmarks/calibration_few.py                       everything; about 8 minutes on one core
    python benchmarks/calibration_few.py --simulations 200     a quick look
    python benchmarks/calibration_few.py --out benchmarks/results/calibration_few.md

The same command prints the same numbers on every run: simulation i of a case has its own seed. The column of errorbars
is there where that package can be imported.
"""

import sys
from collections.abc import Sequence
from math import exp
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from assay.stats.records import IntervalName
from benchmarks.simulation.command import simulate
from benchmarks.simulation.few import (
    APART,
    KNOWN,
    METHODS,
    NEW,
    SCIPY_RESAMPLES,
    SLOW_EVERY,
    Case,
    Outcome,
    enumerated_pairs,
    exponential,
    false_passes,
    lognormal,
    monte_carlo,
    names,
    simulated,
)
from benchmarks.simulation.leaderboards import holes_held
from benchmarks.simulation.repeated import item_noise_held
from benchmarks.simulation.tables import table

ABOUT = """\
Coverage of the 95 % interval of a token-weighted mean difference, in per cent of {n} simulations; the binomial standard
error of a cell that should have 95 is {error:.1f}. `bca-plain` and scipy's BCa ({resamples} resamples) are simulated a
fifth as often, with an error of {slow:.1f}. errorbars knows no weights. *warned*: per cent of the simulations in which
Kish's number is below 20, so that no firm verdict is given; *if symmetric*: fewer than 20 of equal length. *missed*:
per cent in which the truth is outside the default interval and nothing was said. *width*: of the default interval,
beside t's."""
HELD_OUT = "Cases set apart, which were written down before any of them was run, and after which nothing was changed:"
AFRESH = """\
New cases, written down when every rule had long been chosen, and before any of them was run; nothing was changed:"""
GATE = """\
Per cent of {n} simulations in which a model exactly at the limit passes; 2.5 % at most should. Differences are skewed
to the right. The bound of the default interval (`t-hall` below 100, `bca` from there on), and that of `bca`; the
standard error of 2.5 is {error:.2f}. Below 20 windows nothing passes."""
PAIRS = """\
Exact: the chances of all tables are summed. Tango's interval with McNemar's mid-p, made to agree; mean and least
coverage, and the largest size, over 99 truths from 2 % to all pairs differing."""
NOISE = """\
The noise of an item over repeated runs (`reliability`), right and wrong answers, chances of items from a beta
distribution: per cent of {n} simulations in which the interval holds it, standard error {error:.1f}. `t-hall` has no
interval where no item varied."""
HOLES = """\
The accuracy of each of four models where answers are missing (`rank`), in per cent of {n} simulations, standard error
at most {error:.1f}."""
CHANCES = {"beta(0.5, 0.5)": (0.5, 0.5), "beta(0.2, 0.05)": (0.2, 0.05), "beta(20, 1)": (20.0, 1.0)}
SIZES = (30, 60, 100, 200, 400, 1_000, 2_000)
SKEWED = {"exponential (skewness 2)": (exponential, 1.0), "log-normal (skewness 6)": (lognormal, exp(0.5))}
GATE_METHODS: tuple[IntervalName, ...] = ("auto", "bca")
GATES_PER = 5  # simulations of a gate for one of a case


def main(arguments: Sequence[str] | None = None) -> None:
    simulate("Coverage of intervals of few units.", _report, 1_000, arguments, "per case (1,000)")


def _report(n: int) -> str:
    about = ABOUT.format(n=f"{n:,}", error=monte_carlo(n), slow=monte_carlo(n // SLOW_EVERY), resamples=SCIPY_RESAMPLES)
    gates = GATES_PER * n
    gate = 100 * (0.025 * 0.975 / gates) ** 0.5
    return "\n\n".join(
        [
            "## Few units",
            about,
            _cases(KNOWN, n),
            HELD_OUT,
            _cases(APART, n),
            AFRESH,
            _cases(NEW, n),
            "## A gate at its limit",
            GATE.format(n=f"{gates:,}", error=gate),
            _gates(gates),
            "## Pairs of right and wrong answers",
            PAIRS,
            _pairs(),
            "## Scores from 0 to 1: repeated runs, missing answers",
            NOISE.format(n=f"{n // 2:,}", error=monte_carlo(n // 2)),
            _noise(n // 2),
            HOLES.format(n=f"{n // 2:,}", error=monte_carlo(n // 2)),
            _holes(n // 2),
        ]
    )


def _cases(cases: Sequence[Case], n: int) -> str:
    found = [_one(case, n) for case in cases]
    shown = [method for method in METHODS if any(one.tallies[method].n for one in found)]
    rows = [[name, *_row(one, shown)] for name, one in zip(names(cases), found, strict=True)]
    return table(["differences and tokens", *shown, "warned", "if symmetric", "missed", "width"], rows)


def _one(case: Case, n: int) -> Outcome:
    found = simulated(case, n)
    print(f"{case.name}, {case.n}: done", file=sys.stderr, flush=True)
    return found


def _row(found: Outcome, shown: Sequence[str]) -> list[str]:
    auto = found.tallies["auto"]
    return [
        *(f"{100 * found.tallies[method].coverage:.1f}" for method in shown),
        f"{100 * found.warned['too few']:.1f}",
        f"{100 * found.warned['if symmetric']:.1f}",
        f"{100 * auto.unwarned / auto.n:.1f}",
        f"{auto.width / found.tallies['t'].width:.2f}",
    ]


def _gates(n: int) -> str:
    rows = [
        [name, method, *(f"{100 * false_passes(draw, truth, size, n, method):.1f}" for size in SIZES)]
        for name, (draw, truth) in SKEWED.items()
        for method in GATE_METHODS
    ]
    return table(["differences", "interval", *(f"n = {size:,}" for size in SIZES)], rows)


def _pairs() -> str:
    found = {n: enumerated_pairs(n) for n in (*range(5, 13), 30)}
    rows = [[str(n), f"{one.mean:.3f}", f"{one.least:.3f}", f"{one.size:.3f}"] for n, one in found.items()]
    return table(["pairs", "coverage, mean", "least", "size, largest"], rows)


def _noise(n: int) -> str:
    rows = [
        [name, f"{items}", f"{runs}", *(f"{100 * share:.1f}" for share in item_noise_held(*chances, items, runs, n))]
        for name, chances in CHANCES.items()
        for items in (20, 50, 150)
        for runs in (3, 5)
    ]
    return table(["chances", "items", "runs", "agresti-coull", "t-hall", "without interval"], rows)


def _holes(n: int) -> str:
    rows = [
        [f"{accuracy:g}", f"{items}", f"{100 * missing:.0f}", *(f"{100 * one:.1f}" for one in found)]
        for accuracy in (0.5, 0.8, 0.95)
        for items in (20, 50, 150)
        for missing in (0.1, 0.3)
        for found in [holes_held(accuracy, items, missing, n)]
    ]
    return table(["accuracy", "items", "missing %", "agresti-coull", "t"], rows)


if __name__ == "__main__":
    main()
