"""Are the intervals of `assay tune` for the end of a loss curve honest? Size, power and coverage by simulation.

    python benchmarks/calibration_tuning.py                       everything; about 5 minutes on one core
    python benchmarks/calibration_tuning.py --simulations 100     a quick look
    python benchmarks/calibration_tuning.py --out benchmarks/results/calibration_tuning.md

The noise of a loss keeps a part of itself from step to step. The same command prints the same numbers on every run.
"""

import sys
from collections.abc import Callable, Sequence
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

from assay.analyses.tune.curves import overfitting_of
from assay.data.training import StepSeries
from assay.stats.regression import change_of, mean_of
from assay.stats.units import Floats
from benchmarks.simulation.command import simulate
from benchmarks.simulation.losses import NOISES, losses, spread_of_change
from benchmarks.simulation.tables import table

LENGTHS = (12, 25, 50, 100, 200, 500, 1000, 2000)
WINDOWS = (25, 50)
SLOPES = (2.0, 4.0, 6.0)  # a true change, in standard deviations of the least-squares line
LEVEL = 0.95
T = TypeVar("T")
EVALUATIONS, FEW, RISES = (3, 5, 10, 25, 50), (3, 5), (0.0, 10.0, 30.0)  # rises in per cent


def main(arguments: Sequence[str] | None = None) -> None:
    simulate(
        "Size, power and coverage at the end of a loss curve, by simulation.",
        _report,
        2000,
        arguments,
        "per cell (2,000)",
    )


def _report(simulations: int) -> str:
    noises = list(NOISES)
    size = [[str(n), *(_share(_rejected(name, n, simulations)) for name in noises)] for n in LENGTHS]
    held = [[str(n), *(_share(_held(name, n, simulations)) for name in noises)] for n in WINDOWS]
    power = [
        [str(n), f"{change:g}", *(_share(_rejected(name, n, simulations, change)) for name in noises)]
        for n in (50, 200, 2000)
        for change in SLOPES
    ]
    about = (
        f"Per cent of {simulations:,} simulations, ± the binomial standard error. The columns are how much of the\n"
        "noise of a step is still there in the next; *both* is independent noise and noise that keeps 0.9, in equal\n"
        "parts."
    )
    known = (
        " A test\nthat knew the noise would find "
        + ", ".join(f"{c:g} in {100 * _known(c):.0f}" for c in SLOPES)
        + " %."
    )
    return "\n\n".join(
        [
            "### A change that is not there\n\n" + about + " Right is 5; less is cautious.",
            table(["points", *noises], size),
            "### A change that is there\n\nHow often it is found. It is given in standard deviations of the line."
            + known,
            table(["points", "change", *noises], power),
            "### The mean of the last window\n\nHow often the interval holds the truth. Right is 95; more is cautious.",
            table(["points", *noises], held),
            *_overfitting(min(simulations, 500)),
        ]
    )


def _overfitting(simulations: int) -> list[str]:
    """How often overfitting is shown where validation is level, and where it rises from its first point on."""
    verdicts = {
        (n, rise): [_overfits(name, n, rise / 100, simulations) for name in NOISES]
        for n in EVALUATIONS
        for rise in RISES
    }
    shown, seen = (
        [
            [str(n), f"{rise:g} %", *(_share([one == verdict for one in found]) for found in verdicts[n, rise])]
            for n, rise in verdicts
            if n in sizes
        ]
        for verdict, sizes in (("shown", EVALUATIONS), ("seen but not tested", FEW))
    )
    about = (
        f"### Overfitting\n\nHow often it is shown in {simulations:,} simulations. Training falls by half in 200 "
        "steps; the validation loss has noise of\n2 % of itself, and rises in a line by so much from the first "
        "evaluation to the last. At 0 % at most 5 are right."
    )
    header = ["evaluations", "rise", *NOISES]
    described = "How often it is seen but not tested: no interval shows it, but validation rose at every evaluation."
    return [about, table(header, shown), described, table(header, seen)]


def _overfits(noise: str, n: int, rise: float, simulations: int) -> list[str]:
    train = StepSeries(np.arange(1.0, 201.0), np.linspace(2.0, 1.0, 200) + 0.02 * losses(noise, 200, 1))
    steps = np.linspace(200 / n, 200, n).round()

    def found(values: Floats) -> str:
        valid = 1 + rise * np.linspace(0, 1, n) + 0.02 * values
        return overfitting_of(train, StepSeries(steps, valid), LEVEL).verdict

    return _each(found, noise, n, simulations)


def _rejected(noise: str, n: int, simulations: int, change: float = 0.0) -> list[bool]:
    slope = np.linspace(0, 1, n) * change * spread_of_change(noise, n)

    def found(values: Floats) -> bool:
        limits = change_of(np.arange(float(n)), values + slope, LEVEL).interval
        assert limits is not None
        return not limits.low <= 0 <= limits.high

    return _each(found, noise, n, simulations)


def _known(change: float) -> float:
    """The power of a test that knows the variance of the noise."""
    normal, z = NormalDist(), NormalDist().inv_cdf(0.5 + LEVEL / 2)
    return normal.cdf(change - z) + normal.cdf(-change - z)


def _held(noise: str, n: int, simulations: int) -> list[bool]:
    def found(values: Floats) -> bool:
        limits = mean_of(values, LEVEL).interval
        assert limits is not None
        return limits.low <= 0 <= limits.high

    return _each(found, noise, n, simulations)


def _each(found: Callable[[Floats], T], noise: str, n: int, simulations: int) -> list[T]:
    values = [found(losses(noise, n, seed)) for seed in range(simulations)]
    print(f"{noise}, {n} points: done", file=sys.stderr, flush=True)
    return values


def _share(held: Sequence[bool]) -> str:
    share = sum(held) / len(held)
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / len(held)):.1f}"


if __name__ == "__main__":
    main()
