"""Does the test of a fairness gap reject 5 % of the time when all segments are equally well predicted?

    python benchmarks/calibration_fairness.py                       everything; about 10 minutes on one core
    python benchmarks/calibration_fairness.py --simulations 100     a quick look
    python benchmarks/calibration_fairness.py --out benchmarks/results/calibration_fairness.md

The same command prints the same numbers on every run: simulation i of a scenario has its own seed.
"""

import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from assay.stats.survey.gaps import segment_gap
from assay.stats.units import Floats
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.segments import (
    ALTERNATIVES,
    NULLS,
    Sample,
    Scenario,
    analytical,
    equal_scores,
    interval_above_zero,
    permuted,
    raw_scores,
    sample,
    true_gap,
)
from benchmarks.simulation.tables import table

QUESTIONS = (15, 43)
RESAMPLES = 399
SOURCE_RESAMPLES, SOURCE_SIMULATIONS = 200, 25  # what rejects always needs few simulations to show it
OTHERS_SIMULATIONS = 200  # of the permutations, which cost more
COLUMNS = [
    *("published: resampling", "published: permutation", "published: analytical"),
    *("permutation, equal n", "and studentized", "sign-flip (ours)"),
]
FAMILY = 20  # models × categories
SMALLEST, LARGEST = 0.03, 0.07


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Size and power of tests of a fairness gap, by simulation.")
    parser.add_argument("--simulations", type=int, default=1000, metavar="N", help="per line (1000)")
    parser.add_argument("--questions", type=int, nargs="+", default=QUESTIONS, metavar="Q", help="(15 43)")
    options = parser.parse_args(arguments)
    report = _report(options.simulations, options.questions)
    publish(report, options.out)


def _report(simulations: int, questions: Sequence[int]) -> str:
    sizes = [_rejections(scenario, q, simulations) for scenario in NULLS for q in questions]
    powers = [_rejections(scenario, q, simulations) for scenario in ALTERNATIVES for q in questions]
    wrong = [f"{row[0]}, {row[1]} questions: {row[-3]}" for row, size in sizes if not SMALLEST <= size <= LARGEST]
    others, published = min(simulations, OTHERS_SIMULATIONS), min(simulations, SOURCE_SIMULATIONS)
    about = (
        f"Per cent of {simulations} simulations in which a test at 5 % rejects, ± the binomial standard error\n"
        f"({others} simulations of the permutations and the analytical test, {published} of the resampling). "
        "Last columns:\nhow often the 95 % interval of `assay survey` holds the true gap, and as one of a family of "
        f"{FAMILY} gaps (nominal {100 - 5 / FAMILY:g})."
    )
    goal = "Goal, a size of 3 to 7 % in every line: " + (
        "met." if not wrong else "not met in " + "; ".join(wrong) + "."
    )
    header = ["scenario", "questions", *COLUMNS, "interval holds", f"as 1 of {FAMILY}"]
    return "\n\n".join(
        [
            "## Size: all segments are equally well predicted",
            about,
            table(header, [row for row, _ in sizes]),
            goal,
            "## Power: one segment is predicted worse",
            "A test that rejects under equality has no power to speak of: read the columns that keep their size.",
            table(header, [row for row, _ in powers]),
        ]
    )


def _rejections(scenario: Scenario, questions: int, simulations: int) -> tuple[list[str], float]:
    source: list[bool] = []
    others: list[list[bool]] = []
    own: list[list[bool]] = []
    for seed in range(simulations):
        drawn = sample(scenario, questions, seed)
        equal = equal_scores(drawn, seed)
        if seed < SOURCE_SIMULATIONS:
            source.append(interval_above_zero(drawn, seed, SOURCE_RESAMPLES))
        if seed < OTHERS_SIMULATIONS:
            others.append(_others(drawn, equal, seed))
        own.append(_own(equal, true_gap(scenario), seed))
    print(f"{scenario.label}, {questions} questions: done", file=sys.stderr, flush=True)
    rejected, held, family = zip(*own, strict=True)
    cells = [source, *zip(*others, strict=True), rejected, held, family]
    return [scenario.label, str(questions), *map(_share, cells)], sum(rejected) / simulations


def _others(drawn: Sample, equal: Floats, seed: int) -> list[bool]:
    return [
        permuted(raw_scores(drawn), seed, RESAMPLES, studentized=False),
        analytical(drawn),
        permuted(equal, seed, RESAMPLES, studentized=False),
        permuted(equal, seed, RESAMPLES, studentized=True),
    ]


def _own(equal: Floats, truth: float, seed: int) -> list[bool]:
    """Whether the test rejects, whether the interval holds the true gap, and whether it does as one of a family."""
    gap = segment_gap(equal, family=FAMILY, resamples=RESAMPLES, seed=seed)
    limits, together = gap.excess.interval, gap.together
    assert limits is not None
    assert together is not None
    return [limits.low > 0, limits.low <= truth <= limits.high, together.low <= truth <= together.high]


def _share(held: Sequence[bool]) -> str:
    share = sum(held) / len(held)
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / len(held)):.1f}"


if __name__ == "__main__":
    main()
