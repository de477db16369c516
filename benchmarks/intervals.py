"""How long an interval takes: ours, scipy's and arch's on the same data, in turns, in one run.

    python benchmarks/intervals.py            everything; some minutes
    python benchmarks/intervals.py --quick    fewer turns, without n = 100,000
    python benchmarks/intervals.py --out benchmarks/results/intervals.md

Ratios say how many times faster than scipy at its best batch size a contender is: by the medians of CPU time (all
threads together), by the best CPU times, and by the medians of wall time. All times are of a warm process: imported,
compiled, called before.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table
from benchmarks.timing.clock import Contender, Times, interleaved, peak_memory
from benchmarks.timing.contenders import (
    COMPILED,
    FUSED,
    FUSED_HEAVY,
    FUSED_RATIO,
    HEAVY,
    LIKE,
    NUMPY,
    RATIO,
    SCIPY,
    SCIPY_RATIO,
    SIZES,
    Size,
    contenders,
)
from benchmarks.timing.processes import process_report

RANDOM = "random resampling, by wall time"

#: goal → the contenders that may reach it, and the ratio to reach at each size
GOALS: dict[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "exact, numpy alone": ((LIKE,), (10, 80, 100)),
    "exact, compiled, warm process": ((FUSED,), (50, 400, 180)),
    "ratio of sums, numpy alone": ((RATIO,), (22, 350, 300)),
    "ratio of sums, t2 tails": ((HEAVY,), (11, 175, 150)),
    "ratio of sums, compiled": ((FUSED_RATIO,), (40,)),
    "ratio of sums, t2 tails, compiled": ((FUSED_HEAVY,), (20,)),
    RANDOM: ((NUMPY, COMPILED), (10, 10, 10)),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """All contenders at one size."""

    size: Size
    times: dict[str, Times]
    peaks: dict[str, int]
    remarks: list[str]

    def faster(self, name: str) -> float:
        """How many times less CPU time than scipy at its best."""
        return self.times[_reference(name)].median_cpu / self.times[name].median_cpu

    def faster_at_best(self, name: str) -> float:
        """The same from the best turn of each, which a busy machine disturbs least."""
        return min(self.times[_reference(name)].cpu) / min(self.times[name].cpu)

    def sooner(self, name: str) -> float:
        """How many times less wall time."""
        return self.times[_reference(name)].median_wall / self.times[name].median_wall


def _reference(name: str) -> str:
    """Scipy on the same statistic."""
    return SCIPY_RATIO if name in (SCIPY_RATIO, RATIO, HEAVY, FUSED_RATIO, FUSED_HEAVY) else SCIPY


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Our time, scipy's and arch's for the same interval.")
    parser.add_argument("--quick", action="store_true", help="fewer turns, without n = 100,000")
    options = parser.parse_args(arguments)
    sizes = [replace(size, turns=3) for size in SIZES[:2]] if options.quick else SIZES
    report = _report(sizes, cold_runs=3 if options.quick else 10)
    publish(report, options.out)


def _report(sizes: Sequence[Size], cold_runs: int) -> str:
    found = [_measured(size) for size in sizes]
    parts = ["## Time and memory of one interval", *(_part(measured) for measured in found)]
    processes = "\n".join(process_report(cold_runs))
    return "\n\n".join([*parts, "## Goals", _goals(found), "## Whole processes", processes])


def _measured(size: Size) -> Measured:
    print(f"n = {size.n:,}", file=sys.stderr, flush=True)
    chosen, remarks = contenders(size)
    times = interleaved(chosen, size.turns)
    return Measured(size, times, _peaks(chosen), remarks)


def _peaks(chosen: Sequence[Contender]) -> dict[str, int]:
    return {contender.name: peak_memory(contender) for contender in chosen}


def _part(found: Measured) -> str:
    size = found.size
    header = ["", "CPU ms", "best", "wall ms", "× scipy, CPU", "best", "wall", "peak MB"]
    title = f"### n = {size.n:,}, B = {size.resamples:,} ({size.method}; {size.turns} turns)"
    return "\n\n".join([title, table(header, [_row(found, name) for name in found.times]), " ".join(found.remarks)])


def _row(found: Measured, name: str) -> list[str]:
    times = found.times[name]
    milliseconds = [1e3 * times.median_cpu, 1e3 * min(times.cpu), 1e3 * times.median_wall]
    ratios = [found.faster(name), found.faster_at_best(name), found.sooner(name)]
    return [name, *(_digits(value) for value in [*milliseconds, *ratios, found.peaks[name] / 1e6])]


def _digits(value: float) -> str:
    """Three significant digits, without powers of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _goals(found: Sequence[Measured]) -> str:
    rows = [
        _goal(goal, measured, names, wanted)
        for goal, (names, ratios) in GOALS.items()
        for measured, wanted in zip(found, ratios, strict=False)  # a quick run has fewer sizes
    ]
    return table(["goal", "n", "wanted", "CPU, medians", "CPU, best turns", "wall, medians", ""], rows)


def _goal(goal: str, measured: Measured, names: tuple[str, ...], wanted: float) -> list[str]:
    name = max(names, key=measured.faster)
    ratios = [measured.faster(name), measured.faster_at_best(name), measured.sooner(name)]
    judged = ratios[2] if goal == RANDOM else ratios[0]  # random resampling uses threads; the rest is one thread each
    met = "met" if judged >= wanted else "not met"
    return [goal, f"{measured.size.n:,}", f"≥ {wanted:g}×", *(f"{_digits(ratio)}×" for ratio in ratios), met]


if __name__ == "__main__":
    main()
