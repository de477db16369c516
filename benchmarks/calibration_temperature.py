"""Does the test of `assay survey` for a change of run-to-run noise with temperature reject 5 % where there is none?

    python benchmarks/calibration_temperature.py                       everything; about 1 minute on one core
    python benchmarks/calibration_temperature.py --simulations 50      a quick look
    python benchmarks/calibration_temperature.py --out benchmarks/results/calibration_temperature.md

Beside it Brown and Forsythe's test, the usual one of equal variances, on the deviations of scores from the mean of
their runs: it takes every answer for one of its own. The same command prints the same numbers.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np
from scipy.stats import levene

from assay.analyses.survey.temperature import variance_ratio
from assay.design import Design
from assay.stats.units import Floats
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table

SEGMENTS = 12
QUESTIONS = (13, 43)
DESIGN = Design()


@dataclass(frozen=True)
class Noise:
    """How scores vary between runs."""

    label: str
    runs: tuple[int, int] = (3, 3)
    unequal: float = 0.0  # spread of log sd over questions
    shared: float = 0.0  # of the variance, by all segments of a question in a run
    tails: float | None = None  # degrees of freedom of Student's t; None: normal
    deviation: float = 1.0  # at the lower temperature, where it is 1 at the higher


NULLS = (
    Noise("alike"),
    Noise("2 runs of each", runs=(2, 2)),
    Noise("2 and 5 runs", runs=(2, 5)),
    Noise("questions unequal", unequal=0.7),
    Noise("segments of a question alike", shared=0.6),
    Noise("both, 2 and 5 runs", runs=(2, 5), unequal=0.7, shared=0.6),
    Noise("both, heavy tails", unequal=0.7, shared=0.6, tails=3.0),
)
ALTERNATIVES = (
    Noise("sd × 0.7", deviation=0.7),
    Noise("sd × 0.7, 2 runs of each", runs=(2, 2), deviation=0.7),
    Noise("sd × 0.7, unequal and alike", unequal=0.7, shared=0.6, deviation=0.7),
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Size and power of the test of temperature, by simulation.")
    parser.add_argument("--simulations", type=int, default=400, metavar="N", help="per line (400)")
    options = parser.parse_args(arguments)
    header = ["scenario", "questions", "sign-flip (ours)", "Brown–Forsythe", "interval holds"]
    parts = []
    for title, scenarios in (("Size: temperature changes nothing", NULLS), ("Power: it does", ALTERNATIVES)):
        lines = [_line(noise, questions, options.simulations) for noise in scenarios for questions in QUESTIONS]
        parts += [f"## {title}", table(header, lines)]
    about = (
        f"Per cent of {options.simulations:,} simulations in which a test at 5 % rejects, ± the binomial standard "
        f"error; {SEGMENTS} segments. Interval holds: the 95 % interval\nof the ratio of variances holds the true one."
    )
    publish("\n\n".join([parts[0], about, *parts[1:]]), options.out)


def _line(noise: Noise, questions: int, simulations: int) -> list[str]:
    found = np.array([_simulated(noise, questions, seed) for seed in range(simulations)])
    print(f"{noise.label}, {questions} questions: done", file=sys.stderr, flush=True)
    return [noise.label, str(questions), *(_share(float(share), simulations) for share in found.mean(axis=0))]


def _share(share: float, of: int) -> str:
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / of):.1f}"


def _simulated(noise: Noise, questions: int, seed: int) -> tuple[bool, bool, bool]:
    """Whether each test rejects, and whether the interval holds the true ratio."""
    rng = np.random.default_rng([seed, questions])
    scale = np.exp(noise.unequal * rng.normal(size=(questions, 1, 1)))
    low, high = (
        deviation * scale * _drawn(noise, (questions, SEGMENTS, runs), rng)
        for deviation, runs in zip((noise.deviation, 1.0), noise.runs, strict=True)
    )
    sums = [part.var(axis=2, ddof=1).sum(axis=1) for part in (low, high)]
    ratio, _, test = variance_ratio(sums[0], sums[1], DESIGN)
    assert test.p_value is not None
    assert ratio.interval is not None
    plain = levene(*(_residuals(part) for part in (low, high)), center="median")
    holds = ratio.interval.low <= noise.deviation**2 <= ratio.interval.high
    return test.p_value <= 0.05, bool(plain.pvalue <= 0.05), holds


def _drawn(noise: Noise, shape: tuple[int, int, int], rng: np.random.Generator) -> Floats:
    def drawn(size: tuple[int, ...]) -> Floats:
        return np.asarray(rng.normal(size=size) if noise.tails is None else rng.standard_t(noise.tails, size))

    return sqrt(noise.shared) * drawn((shape[0], 1, shape[2])) + sqrt(1 - noise.shared) * drawn(shape)


def _residuals(scores: Floats) -> Floats:
    return np.asarray((scores - scores.mean(axis=2, keepdims=True)).ravel())


if __name__ == "__main__":
    main()
