"""Is `assay calibrate` honest? What it says of samples from known scenarios, beside the coverage that is true there.

    python benchmarks/calibration_calibrate.py                       everything; about 3 minutes on one core
    python benchmarks/calibration_calibrate.py --simulations 40      a quick look
    python benchmarks/calibration_calibrate.py --out benchmarks/results/calibration_calibrate.md

The same command prints the same numbers on every run.
"""

import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

from assay.analyses.calibrate.comparing import ComparisonTrial
from assay.analyses.calibrate.scenarios import BuiltIn, built_in
from assay.analyses.calibrate.simulation import simulated
from assay.analyses.calibrate.tallies import coverages
from assay.analyses.calibrate.worlds import BuiltInPairs, OwnPairs, PairWorld
from assay.design import Design
from assay.engines import LOCAL
from assay.stats.units import Floats
from benchmarks.simulation.command import simulate
from benchmarks.simulation.tables import table

SEED = 20270
SAMPLES = 16
STUDENT = Design(method="t", test="t")  # an interval that is known to fail where differences are skewed
CASES = (
    *((name, Design()) for name in ("skewed-30", "skewed-180", "heavy-180", "grows-180", "equal-200", "binary-60")),
    *((name, STUDENT) for name in ("skewed-30", "skewed-180")),
)
TRUE_AS_OFTEN = 10  # times as many simulations as of a single sample

ABOUT = """\
*True*: coverage of the 95 % interval over {many:,} samples of the scenario, in per cent ± the standard error.
*Said*: the mean of what calibrate says of {samples} further samples, each simulated {n:,} times, ± its standard error;
*from … to* holds eight of ten of them. *Warned*: samples of which it says that the interval falls short. *False
verdicts*: true, and the mean of what is said. The simulation's own standard error of one answer is {error:.1f}."""


def main(arguments: Sequence[str] | None = None) -> None:
    simulate("What calibrate says of samples beside the truth.", _report, 120, arguments, "of each sample (120)")


def _report(simulations: int) -> str:
    many = TRUE_AS_OFTEN * simulations
    error = 100 * sqrt(0.05 * 0.95 / simulations)
    rows = [_row(built_in(name), design, simulations, many) for name, design in CASES]
    header = ["scenario", "method", "true", "said", "from … to", "warned", "false verdicts: true", "said"]
    return f"{ABOUT.format(many=many, samples=SAMPLES, n=simulations, error=error)}\n\n{table(header, rows)}"


def _row(scenario: BuiltIn, design: Design, simulations: int, many: int) -> list[str]:
    true = _found(BuiltInPairs.of(scenario), design, many, scenario.name)
    world = BuiltInPairs.of(scenario)
    said, false, warned = [], [], 0
    for sample in range(SAMPLES):
        panel = world.draw(np.random.default_rng([SEED, sample]))
        found = _found(OwnPairs.of(panel), design, simulations, f"{scenario.name} {sample}")
        said.append(found[0])
        false.append(found[1])
        warned += found[2]
    print(f"{scenario.name}: done", file=sys.stderr, flush=True)
    low, high = np.quantile(said, [0.1, 0.9])
    return [
        scenario.label,
        design.method,
        f"{100 * true[0]:.1f} ± {100 * sqrt(true[0] * (1 - true[0]) / many):.1f}",
        _mean(np.array(said)),
        f"{100 * low:.1f} … {100 * high:.1f}",
        f"{warned} of {SAMPLES}",
        f"{100 * true[1]:.1f}",
        _mean(np.array(false)),
    ]


def _found(world: PairWorld, design: Design, simulations: int, purpose: str) -> tuple[float, float, bool]:
    """Coverage, false verdicts, and whether the coverage is said to be short."""
    trial = ComparisonTrial(world, world.without_difference(), (design,))
    rows = simulated(trial, simulations, seed=SEED, purpose=purpose, engine=LOCAL)
    found = coverages(rows, [design.method])[0]
    assert found.covered.value is not None
    assert found.covered.interval is not None
    assert found.false_verdicts is not None
    return found.covered.value, found.false_verdicts.value or 0.0, found.covered.interval.high < 0.95


def _mean(values: Floats) -> str:
    return f"{100 * values.mean():.1f} ± {100 * values.std(ddof=1) / sqrt(len(values)):.1f}"


if __name__ == "__main__":
    main()
