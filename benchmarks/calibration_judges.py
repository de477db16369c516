"""Are the intervals of win rates, and of what the place of an answer does, honest? By simulation.

    python benchmarks/calibration_judges.py                       everything; about a minute on one core
    python benchmarks/calibration_judges.py --simulations 100     a quick look
    python benchmarks/calibration_judges.py --out benchmarks/results/calibration_judges.md

The same command prints the same numbers on every run: simulation i of a case has its own seed.
"""

import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation.command import simulate
from benchmarks.simulation.judges import PLACES, WIN_RATES, Case
from benchmarks.simulation.tables import table

ABOUT = """\
A judge compares two answers to each prompt, in both orders. The better answer wins, unless the judge is swayed by the
place, or sees a tie; both concern a whole prompt. Coverage of 95 % intervals in per cent of {n} simulations, and mean
width; the binomial standard error of a cell that should have 95 is {error:.1f}. Win rates: the interval of `summarize`
(Agresti and Coull's, n by the spread of the prompts), Student's t of the prompts, and Wilson's of the games, as if two
games on a prompt were two prompts."""
PLACE = """\
What the first place gets of the wins between equals: the interval of `summarize` (Bonett and Price's, with strengths of
the models taken out where orders are not balanced), Student's t of the prompts and Wilson's of the games, which both
take every game as it comes."""


def main(arguments: Sequence[str] | None = None) -> None:
    simulate(
        "Coverage of the intervals of win rates and of the first place.", _report, 1000, arguments, "per case (1000)"
    )


def _report(n: int) -> str:
    return "\n\n".join(
        [
            ABOUT.format(n=n, error=100 * sqrt(0.95 * 0.05 / n)),
            _table(WIN_RATES, n),
            PLACE,
            _table(PLACES, n),
        ]
    )


def _table(cases: Sequence[Case], n: int) -> str:
    found = [(case, case.simulated(n, seed)) for seed, case in enumerate(cases)]
    names = list(found[0][1])
    rows = [
        [case.name, f"{case.truth:.3f}", *(f"{100 * held[name][0]:.1f} ({held[name][1]:.3f})" for name in names)]
        for case, held in found
    ]
    return table(["verdicts", "truth", *names], rows)


if __name__ == "__main__":
    main()
