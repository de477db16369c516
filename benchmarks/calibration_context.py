"""Do the max-T intervals of `assay context` hold in all bins at once? Coverage by simulation, the truth being 0.

    python benchmarks/calibration_context.py                       everything; about 3 minutes on one core
    python benchmarks/calibration_context.py --simulations 100     a quick look
    python benchmarks/calibration_context.py --out benchmarks/results/calibration_context.md

The same command prints the same numbers on every run: simulation i of a shape has its own seed.
"""

import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation.command import simulate
from benchmarks.simulation.positions import SHAPES, covered, documents_by_bin
from benchmarks.simulation.tables import table

BINS = 8
RESAMPLES = 999
DOCUMENTS = (6, 12, 40, 150)


def main(arguments: Sequence[str] | None = None) -> None:
    simulate(
        "Coverage of max-T intervals over all bins at once, by simulation.", _report, 500, arguments, "per line (500)"
    )


def _report(simulations: int) -> str:
    rows = [_row(shape, n, simulations) for n in DOCUMENTS for shape in SHAPES]
    head = "## Coverage of 95 % intervals in all bins at once"
    about = (
        f"Per cent of {simulations} simulations in which the intervals of all {BINS} bins held the truth, ± the\n"
        f"binomial standard error. max-T takes {RESAMPLES} resamples. Right for all bins at once is 95; the t\n"
        "intervals of single bins are right for each bin alone, and so hold in all of them far less often."
    )
    return "\n\n".join([head, about, table(["differences", "documents", "max-T", "single bins (t)"], rows)])


def _row(shape: str, n: int, simulations: int) -> list[str]:
    families = ((documents_by_bin(shape, n, BINS, seed), seed) for seed in range(simulations))
    held = [covered(family, seed, resamples=RESAMPLES) for family, seed in families]
    print(f"{shape}, {n} documents: done", file=sys.stderr, flush=True)
    return [shape, str(n), *(_share([pair[i] for pair in held]) for i in range(2))]


def _share(held: Sequence[bool]) -> str:
    share = sum(held) / len(held)
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / len(held)):.1f}"


if __name__ == "__main__":
    main()
