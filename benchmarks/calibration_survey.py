"""Do the intervals of `assay survey` hold the true score? Coverage by simulation, with who is asked drawn at random.

    python benchmarks/calibration_survey.py                       everything; about 3 minutes on one core
    python benchmarks/calibration_survey.py --simulations 50      a quick look
    python benchmarks/calibration_survey.py --out benchmarks/results/calibration_survey.md

The true shares, and so the true score of every predictor, are known. The same command prints the same numbers.
"""

import argparse
import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

from assay.analyses.survey.intervals import intervals
from assay.design import Design
from assay.stats.divergence import divergence, score_of
from assay.stats.multinomial import Respondents, perfect_noise
from assay.stats.records import Interval
from benchmarks.simulation.surveys import PREDICTORS, World
from benchmarks.simulation.tables import table

QUESTIONS = 40
SIZES = {
    "20": (20,) * 12,
    "50": (50,) * 12,
    "200": (200,) * 12,
    "1,000": (1_000,) * 12,
    "10 to 600": (10, 12, 15, 18, 22, 30, 45, 70, 110, 200, 350, 600),
}
RESAMPLES = 400


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Coverage of the intervals of survey scores, by simulation.")
    parser.add_argument("--simulations", type=int, default=300, metavar="N", help="per line (300)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report to this file as well")
    options = parser.parse_args(arguments)
    report = _report(options.simulations)
    print(report)
    if options.out:
        options.out.write_text(report + "\n", encoding="utf-8")


def _report(simulations: int) -> str:
    found = [_lines(name, sizes, simulations) for name, sizes in SIZES.items()]
    coverage = [line for lines, _ in found for line in lines]
    ceilings = [line for _, line in found]
    header = [
        "respondents",
        "predictor",
        "true score",
        "measured",
        "corrected",
        "covers",
        "percentile covers",
        "JSD covers",
    ]
    about = (
        f"{QUESTIONS} questions of 2 to 6 options × 12 segments, {simulations} simulations, {RESAMPLES} resamples.\n"
        "Nominal is 95; ± the binomial standard error. Corrected: the default. Percentile: as the source has it.\n"
        "JSD: of the mean divergence less its expected noise."
    )
    noise = "The expected score of a perfect prediction, as estimated from a survey and as it is:"
    head = "## Coverage of 95 % intervals of survey scores"
    ceiling = table(["respondents", "estimated", "true", "source's formula"], ceilings)
    return "\n\n".join([head, about, table(header, coverage), noise, ceiling])


def _lines(name: str, sizes: tuple[int, ...], simulations: int) -> tuple[list[list[str]], list[str]]:
    world = World(QUESTIONS, sizes, seed=1)
    jsd = divergence(world.shares[:, None], world.predicted)
    true, divergences = score_of(jsd).mean(axis=0), jsd.mean(axis=0)
    held = {model: [0, 0, 0] for model in PREDICTORS}
    sums = {model: [0.0, 0.0] for model in PREDICTORS}
    ceilings = []
    for simulation in range(simulations):
        survey = world.asked(np.random.default_rng([simulation, len(name)]))
        ceilings.append(float(survey.ceiling.mean()))
        for one in intervals(survey, Design(resamples=RESAMPLES, seed=simulation)).models:
            m = list(PREDICTORS).index(one.model)
            held[one.model][0] += _inside(one.corrected.interval, float(true[m]))
            held[one.model][1] += _inside(one.percentile, float(true[m]))
            held[one.model][2] += _inside(one.divergence.interval, float(divergences[m]))
            sums[one.model][0] += (one.score or 0.0) / simulations
            sums[one.model][1] += (one.corrected.value or 0.0) / simulations
    print(f"{name} respondents: done", file=sys.stderr, flush=True)
    rows = [
        [name, model, f"{true[m]:.4f}", f"{sums[model][0]:.4f}", f"{sums[model][1]:.4f}"]
        + [_share(count, simulations) for count in held[model]]
        for m, model in enumerate(PREDICTORS)
    ]
    options = world.options[world.question]
    exact = 1 - perfect_noise(Respondents(world.shares, options, world.n)).mean()
    source = float(np.maximum(0, 1 - np.sqrt((options - 1) / (2 * np.log(2) * world.n))).mean())
    return rows, [name, f"{np.mean(ceilings):.4f}", f"{exact:.4f}", f"{source:.4f}"]


def _inside(limits: Interval | None, value: float) -> bool:
    return limits is not None and limits.low - 1e-12 <= value <= limits.high + 1e-12


def _share(count: int, of: int) -> str:
    share = count / of
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / of):.1f}"


if __name__ == "__main__":
    main()
