"""Are the intervals of pass@k and pass^k honest? By simulation, of single models and of two that are compared.

    python benchmarks/calibration_attempts.py                       everything; about 2 minutes on one core
    python benchmarks/calibration_attempts.py --simulations 50      a quick look
    python benchmarks/calibration_attempts.py --out benchmarks/results/calibration_attempts.md

The same command prints the same numbers on every run: simulation i of a case has its own seed.
"""

import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation.attempts import PAIRS, PASSES, PASSES_HELD_OUT, TwoModels
from benchmarks.simulation.command import simulate
from benchmarks.simulation.one_run import METHODS, Held, OneRun, simulated
from benchmarks.simulation.tables import table

ABOUT = """\
Items have chances of their own, from a beta distribution, and several attempts; items with fewer than k are left out.
The interval is of the mean of the items' unbiased estimates, with items drawn. Where fewer than five items are not
settled like all others (0, or 1), n is the number of items: a rule that was chosen by these cases and sixteen more
(without it the least was 81). Coverage of 95 % intervals in per cent of {n} simulations; the binomial standard error of
a cell that should have 95 is {error:.1f}. BCa is simulated a fifth as often. Mean and least of the 24 cases of each
number of items, and the mean width beside Wilson's:"""
APART = "Cases set apart, twelve of each number of items, first looked at after the rule was fixed:"
PAIRED = """\
Two models whose chances at an item go together (correlation 0.5 of their normal scores): coverage of the interval of
`compare --at`, and how often it shows a difference."""


def main(arguments: Sequence[str] | None = None) -> None:
    simulate("Coverage of the intervals of pass@k and pass^k.", _report, 400, arguments, "per case (400)")


def _report(n: int) -> str:
    blocks, apart = ({name: _simulated(cases, n) for name, cases in some.items()} for some in (PASSES, PASSES_HELD_OUT))
    print("single models: done", file=sys.stderr, flush=True)
    every = [one for some in (blocks, apart) for found in some.values() for one in found]
    return "\n\n".join(
        [
            ABOUT.format(n=n, error=100 * sqrt(0.95 * 0.05 / n)),
            table(["items", *METHODS], [[name, *_means(found)] for name, found in blocks.items()]),
            APART,
            table(["items", *METHODS], [[name, *_means(found)] for name, found in apart.items()]),
            PAIRED,
            table(["attempts", "coverage", "shown"], [_paired(case, n) for case in PAIRS]),
            "Every case of single models:",
            table(["rates", *METHODS], [_row(case, held) for case, held in every]),
        ]
    )


def _simulated(cases: Sequence[OneRun], n: int) -> list[tuple[OneRun, dict[str, Held]]]:
    return [(case, simulated(case, n)) for case in cases]


def _means(cases: Sequence[tuple[OneRun, dict[str, Held]]]) -> list[str]:
    """``96.4, least 92.5, × 1.05`` for each method."""
    found = [held for _, held in cases]
    wilson = np.mean([held["Wilson"].width for held in found])
    return [
        f"{100 * np.mean([held[method].coverage for held in found]):.1f}, "
        f"least {100 * min(held[method].coverage for held in found):.1f}, "
        f"× {np.mean([held[method].width for held in found]) / wilson:.2f}"
        for method in METHODS
    ]


def _row(case: OneRun, held: dict[str, Held]) -> list[str]:
    return [case.name, *(f"{100 * held[method].coverage:.1f}" for method in METHODS)]


def _paired(case: TwoModels, n: int) -> list[str]:
    held, shown = case.simulated(n)
    return [case.name, f"{100 * held:.1f}", f"{100 * shown:.1f}"]


if __name__ == "__main__":
    main()
