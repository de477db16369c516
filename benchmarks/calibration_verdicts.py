"""Are the verdicts honest, and do interval and p-value ever contradict each other? By enumeration and simulation.

    python benchmarks/calibration_verdicts.py                       everything; about 3 minutes on one core
    python benchmarks/calibration_verdicts.py --simulations 200     a quick look
    python benchmarks/calibration_verdicts.py --out benchmarks/results/calibration_verdicts.md

The same command prints the same numbers on every run: simulation i of a case has its own seed.
"""

import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation.command import simulate
from benchmarks.simulation.tables import table
from benchmarks.simulation.verdicts import (
    DISCORDANT,
    HEAVY,
    HEAVY_HELD_OUT,
    HELD_OUT,
    REAL,
    REAL_HELD_OUT,
    SHARES,
    UNEVEN,
    UNEVEN_HELD_OUT,
    Exact,
    Real,
    Simulated,
    Uneven,
    enumerate_tables,
    real,
    uneven,
)

GRID = tuple((discordant, share) for discordant in DISCORDANT for share in SHARES)
BCA_UP_TO = 100  # items: beyond, an interval of every table takes too long

EXACT = """\
Exact: the chances of all outcomes (b, c) are summed. *Coverage* of the 95 % interval, mean and least over {cells} cells
({discordant} of the items differ, B ahead by 0 to all of that); *size* of the test, mean and largest, where B is not
ahead; *contradictions*: outcomes in which p ≤ 0.05 and the interval has 0 in it, or the other way round."""
APART = "The same on {cells} cells set apart, at which no choice was looked at:"
CLUSTERS = """\
Tango's interval and McNemar's score test with the design effect, per cent of {n} simulations, ± the binomial standard
error. *False*: verdicts where there is no difference."""
VALUES = """\
BCa with exact sign flips, made to agree; and the BCa interval by itself. Per cent of {n} simulations, ± the binomial
standard error; *shown* are the verdicts, false ones where the true mean is 0; *contradictions* of interval and test."""


def main(arguments: Sequence[str] | None = None) -> None:
    about = "Coverage, size and contradictions of the verdicts of compare."
    simulate(about, _report, 1000, arguments, "per case (1000)")


def _report(n: int) -> str:
    shown = f"{100 * DISCORDANT[0]:g} to {100 * DISCORDANT[-1]:g} %"
    exact = ["items", "interval and test", "coverage, mean", "least", "size, mean", "largest", "contradictions"]
    clusters = ["case", "coverage", "false", "contradictions"]
    values = ["differences", "n", "coverage", "shown", "contradictions", "bca alone", "shown", "contradictions"]
    return "\n\n".join(
        [
            "## 0/1 scores, every outcome",
            EXACT.format(cells=len(GRID), discordant=shown),
            table(exact, _exact_rows(GRID)),
            APART.format(cells=len(HELD_OUT)),
            table(exact, _exact_rows(HELD_OUT)),
            "## 0/1 scores in clusters or with weights",
            CLUSTERS.format(n=n),
            table(clusters, [_uneven(case, n) for case in UNEVEN]),
            "Set apart: other clusters, other weights.",
            table(clusters, [_uneven(case, n) for case in UNEVEN_HELD_OUT]),
            "Few heavy items among many light ones, where those that differ may all be light:",
            table(clusters, [_uneven(case, n) for case in HEAVY]),
            "Set apart: other ratios and weights, and items that differ more, or less, often the heavier they are.",
            table(clusters, [_uneven(case, n) for case in HEAVY_HELD_OUT]),
            "## Real-valued differences",
            VALUES.format(n=n),
            table(values, [_real(case, n) for case in REAL]),
            "Set apart:",
            table(values, [_real(case, n) for case in REAL_HELD_OUT]),
        ]
    )


def _exact_rows(cells: tuple[tuple[float, float], ...]) -> list[list[str]]:
    names = {
        "mid-p": "Tango, mid-p, made to agree (default)",
        "exact": "Tango, exact p, made to agree",
        "tango alone": "Tango, exact p, apart",
        "t": "t interval, exact p",
        "bca": "BCa, exact p",
    }
    rows = []
    for n in (12, 30, 100, 500):
        for method, name in names.items():
            if method != "bca" or n <= BCA_UP_TO:
                rows.append([str(n), name, *_exact(enumerate_tables(n, method, cells))])
        print(f"tables of {n}: done", file=sys.stderr, flush=True)
    return rows


def _exact(found: Exact) -> list[str]:
    numbers = (found.mean, found.least, found.size_mean, found.size_most)
    return [*(f"{value:.3f}" for value in numbers), f"{found.contradictions:,} of {found.tables:,}"]


def _uneven(case: Uneven, simulations: int) -> list[str]:
    found = uneven(case, simulations)
    print(f"{case.name}: done", file=sys.stderr, flush=True)
    false = _share(found.rejected, simulations) if case.truth == 0 else "–"
    return [case.name, _share(found.covered, simulations), false, str(found.contradictions)]


def _real(case: Real, simulations: int) -> list[str]:
    both, alone = real(case, simulations)
    print(f"{case.name}, {case.n}: done", file=sys.stderr, flush=True)
    return [case.name, str(case.n), *_cells(both, simulations), *_cells(alone, simulations)]


def _cells(found: Simulated, n: int) -> list[str]:
    return [_share(found.covered, n), _share(found.rejected, n), str(found.contradictions)]


def _share(share: float, n: int) -> str:
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / n):.1f}"


if __name__ == "__main__":
    main()
