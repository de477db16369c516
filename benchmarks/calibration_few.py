"""Are intervals honest where units are few, skewed or of unequal length? Coverage beside other methods, and warnings.

    python benchmarks/calibration_few.py                       everything; about 5 minutes on one core
    python benchmarks/calibration_few.py --simulations 200     a quick look
    python benchmarks/calibration_few.py --out benchmarks/results/calibration_few.md

The same command prints the same numbers on every run: simulation i of a case has its own seed. The column of errorbars
is there where that package can be imported.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation.command import simulate
from benchmarks.simulation.few import (
    APART,
    KNOWN,
    METHODS,
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
from benchmarks.simulation.tables import table

ABOUT = """\
Coverage of the 95 % interval of a token-weighted mean difference, in per cent of {n} simulations; the binomial standard
error of a cell that should have 95 is {error:.1f}. scipy's BCa is simulated a fifth as often. *warned*: per cent of the
simulations in which Kish's number is below 20, so that no firm verdict is given; *if symmetric*: fewer than 20 of equal
length. *missed*: per cent in which the truth is outside the default interval and nothing was said. *width*: of the
default interval, beside t's."""
HELD_OUT = "Cases set apart, which were written down before any of them was run, and after which nothing was changed:"
GATE = """\
A model exactly at the limit must pass in 2.5 % at most. Differences skewed to the right, the default interval, {n}
simulations a cell; the standard error of 2.5 is {error:.1f}."""
PAIRS = """\
Exact: the chances of all tables are summed. Tango's interval with McNemar's mid-p, made to agree; mean and least
coverage, and the largest size, over 99 truths from 2 % to all pairs differing."""
SIZES = (30, 60, 100, 200, 400, 1_000)


def main(arguments: Sequence[str] | None = None) -> None:
    simulate("Coverage of intervals of few units.", _report, 1_000, arguments, "per case (1,000)")


def _report(n: int) -> str:
    error = monte_carlo(n)
    gate = 100 * (0.025 * 0.975 / (2 * n)) ** 0.5
    return "\n\n".join(
        [
            "## Few units",
            ABOUT.format(n=f"{n:,}", error=error),
            _cases(KNOWN, n),
            HELD_OUT,
            _cases(APART, n),
            "## A gate at its limit",
            GATE.format(n=f"{2 * n:,}", error=gate),
            _gates(2 * n),
            "## Pairs of right and wrong answers",
            PAIRS,
            _pairs(),
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
    draws = {"exponential (skewness 2)": exponential, "log-normal (skewness 6)": lognormal}
    rows = [[name, *(f"{100 * false_passes(draw, size, n):.1f}" for size in SIZES)] for name, draw in draws.items()]
    return table(["differences", *(f"n = {size:,}" for size in SIZES)], rows)


def _pairs() -> str:
    found = {n: enumerated_pairs(n) for n in (*range(5, 13), 30)}
    rows = [[str(n), f"{one.mean:.3f}", f"{one.least:.3f}", f"{one.size:.3f}"] for n, one in found.items()]
    return table(["pairs", "coverage, mean", "least", "size, largest"], rows)


if __name__ == "__main__":
    main()
