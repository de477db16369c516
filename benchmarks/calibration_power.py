"""Is the power what `assay power` predicts, and do the intervals of `reliability` and of pilots hold? By simulation.

    python benchmarks/calibration_power.py                       everything; about 4 minutes on one core
    python benchmarks/calibration_power.py --simulations 200     a quick look
    python benchmarks/calibration_power.py --out benchmarks/results/calibration_power.md

The same command prints the same numbers on every run: simulation i of a case has its own seed.
"""

import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from assay.stats.planning import chosen_test
from assay.stats.planning.plans import Goal
from benchmarks.simulation.command import simulate
from benchmarks.simulation.planning import STUDIES, Study, found
from benchmarks.simulation.repeated import PILOTS, RUNS, SHIFTS, PilotData, Runs, Shifts, order_held
from benchmarks.simulation.tables import table

ORDERS = ((0.0, 3), (0.5, 5), (1.0, 5), (2.0, 5), (1.0, 20))


def main(arguments: Sequence[str] | None = None) -> None:
    simulate(
        "Predicted and simulated power; coverage of intervals of runs.", _report, 2000, arguments, "per line (2000)"
    )


ERROR = "± the binomial standard error"
POWER = f"""\
Per cent. Predicted by `assay power`; then, of {{n}} simulations of such a study, those in which the test of the
prediction found the difference, {ERROR}, and those in which `assay compare` shows it, by its default
interval and test together (for 0/1 scores they are those of the plan)."""
PILOT = f"""\
Per cent of {{n}} pilots whose 95 % interval held n times the true variance of a mean difference, or the share of items
that differ, {ERROR}. The interval of the number of items follows from it."""
REPEATED = f"""\
Per cent of {{n}} simulations in which the 95 % interval held the truth, {ERROR}. In brackets:
ICC(1,1) supposes that no run shifts all items."""
STATED = f"""\
Run-to-run noise of a score, from the noise of items and the scores of runs together: per cent of {{n}} simulations in
which its 95 % interval held the truth, {ERROR}; and the power of the detectable difference that is stated as
one of 80 %, for two single runs: its mean and lowest tenth, beside those of a difference from the runs' scores alone.
*Shift*: what a run moves all items by, in standard deviations of what their own noise does."""
ORDER = """\
The probability that the order of two models repeats. Its interval is exact for a binomial count, and so holds more
often:"""


def _report(n: int) -> str:
    power = ["study", "items", "difference", "test", "predicted", "simulated", "compare"]
    repeated = ["data", "items", "runs", "ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "sd between runs"]
    stated = ["items", "runs", "shift", "coverage", "power", "lowest tenth", "scores alone", "lowest tenth"]
    order = ["difference of the models, in sd between runs", "runs", "coverage"]
    return "\n\n".join(
        [
            "## Predicted and simulated power",
            POWER.format(n=n),
            table(power, [_study(study, n) for study in STUDIES]),
            "## Coverage of the intervals of pilots",
            PILOT.format(n=n),
            table(["pilot", "items", "coverage"], [_pilot(pilot, n) for pilot in PILOTS]),
            "## Coverage of the intervals of repeated runs",
            REPEATED.format(n=n),
            table(repeated, [_runs(runs, n) for runs in RUNS]),
            STATED.format(n=n),
            table(stated, [_stated(case, n) for case in SHIFTS]),
            ORDER,
            table(
                order, [[f"{gap:g}", str(k), _share([order_held(gap, k, i) for i in range(n)])] for gap, k in ORDERS]
            ),
        ]
    )


def _study(study: Study, simulations: int) -> list[str]:
    seen = [found(study, i) for i in range(simulations)]
    print(f"{study.name}, {study.n}: done", file=sys.stderr, flush=True)
    test = chosen_test(study.plan, Goal(margin=study.margin))
    cells = [study.name, str(study.n), f"{study.difference:g}", test, f"{100 * study.predicted():.1f}"]
    return [*cells, *(_share([pair[i] for pair in seen]) for i in range(2))]


def _pilot(pilot: PilotData, simulations: int) -> list[str]:
    return [pilot.name, str(pilot.n), _share([pilot.held(i) for i in range(simulations)])]


def _runs(runs: Runs, simulations: int) -> list[str]:
    held = [runs.held(i) for i in range(simulations)]
    shares = [_share([line[i] for line in held]) for i in range(4)]
    if runs.runs:
        shares[0] = f"({shares[0]})"
    return [runs.name, str(runs.n), str(runs.k), *shares]


def _stated(case: Shifts, simulations: int) -> list[str]:
    found = [case.stated(i) for i in range(simulations)]
    powers = [sorted(line[way] for line in found) for way in (1, 2)]
    shown = [f"{100 * value:.0f}" for some in powers for value in (sum(some) / len(some), some[len(some) // 10])]
    items = f"{case.n}, 0/1" if case.binary else str(case.n)
    return [items, str(case.k), f"{case.shift:g}", _share([line[0] for line in found]), *shown]


def _share(held: Sequence[bool]) -> str:
    share = sum(held) / len(held)
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / len(held)):.1f}"


if __name__ == "__main__":
    main()
