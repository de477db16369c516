"""Are the intervals and tests honest? Coverage and size by simulation, on data whose truth is known.

    python benchmarks/calibration.py                                 everything; about 8 minutes on one core
    python benchmarks/calibration.py --simulations 200               a quick look
    python benchmarks/calibration.py --scenario grows-180            one scenario; may be repeated
    python benchmarks/calibration.py --out benchmarks/results/calibration.md

The same command prints the same numbers on every run: simulation i of a scenario has its own seed.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation import tables
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.coverage import STUDENTIZED_RESAMPLES, coverage
from benchmarks.simulation.scenarios import SCENARIOS, Scenario
from benchmarks.simulation.size import size

Found = TypeVar("Found")

DRAWN = (
    f"The studentized interval takes {STUDENTIZED_RESAMPLES} random resamples, the bootstrap intervals infinitely many."
)
ERROR = "± the binomial standard error."
SIGNS = "In brackets: 5 % is not to be expected, as the test is not one of the mean or the windows are not independent."
LATTICE = "Exact tests of 0/1 scores stay below 5 % by nature: with few items that differ, few p-values are possible."


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    chosen = [scenario for scenario in SCENARIOS if not options.scenario or scenario.name in options.scenario]
    report = _report(chosen, options.simulations)
    publish(report, options.out)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = report_parser("Coverage of every interval and size of every test, by simulation.")
    names = [scenario.name for scenario in SCENARIOS]
    parser.add_argument("--simulations", type=int, default=1000, metavar="N", help="per scenario (1000)")
    parser.add_argument("--scenario", action="append", choices=names, metavar="NAME", help=f"of {', '.join(names)}")
    return parser.parse_args(arguments)


def _report(chosen: Sequence[Scenario], simulations: int) -> str:
    covered = _each(coverage, "coverage", [s for s in chosen if "coverage" in s.used_for], simulations)
    sizes = _each(size, "size", [s for s in chosen if "size" in s.used_for], simulations)
    return "\n\n".join([*_coverage_part(covered, simulations), *_size_part(sizes, simulations)])


def _each(
    measure: Callable[[Scenario, int], Found], what: str, chosen: Sequence[Scenario], simulations: int
) -> dict[Scenario, Found]:
    found = {}
    for scenario in chosen:
        began = time.perf_counter()
        found[scenario] = measure(scenario, simulations)
        print(f"{what} {scenario.name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return found


def _coverage_part(found: tables.Coverages, simulations: int) -> list[str]:
    if not found:
        return []
    return [
        "## Coverage of 95 % intervals",
        f"Per cent of {simulations} simulations in which the interval held the truth, {ERROR}\n{DRAWN}",
        tables.coverage_table(found),
        "Per cent in which the truth lay below / above the interval:",
        tables.misses_table(found),
        "Goal: for n ≥ 180 the default is within 1.5 points of 95 % wherever any method is.",
        tables.coverage_verdicts(found),
    ]


def _size_part(found: tables.Sizes, simulations: int) -> list[str]:
    if not found:
        return []
    return [
        "## Size of the tests at 5 %",
        f"Per cent of {simulations} simulations of no difference in which p ≤ 0.05, {ERROR}\n{SIGNS}",
        tables.size_table(found),
        LATTICE,
        "Goal: every size within 4–6 %.",
        tables.size_verdicts(found),
    ]


if __name__ == "__main__":
    main()
