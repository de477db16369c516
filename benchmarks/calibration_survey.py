"""Do the intervals of `assay survey` hold the truth? Coverage by simulation, with who is asked drawn at random.

    python benchmarks/calibration_survey.py                       everything; about 8 minutes on one core
    python benchmarks/calibration_survey.py --simulations 80 --carried 10      a quick look
    python benchmarks/calibration_survey.py --out benchmarks/results/calibration_survey.md

The true shares, and so the true score of every predictor, are known. The same command prints the same numbers.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

from assay.analyses.survey.carried import segment_noise, slope_noise
from assay.analyses.survey.context import levels_within
from assay.analyses.survey.correction import corrected, divergence_of, overall_weights, parts_of
from assay.design import Design
from assay.stats.divergence import divergence
from assay.stats.multinomial import Respondents, perfect_noise
from assay.stats.records import Estimate
from assay.stats.units import Floats
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.surveys import PREDICTORS, World
from benchmarks.simulation.tables import table

MIXED = (10, 12, 15, 18, 22, 30, 45, 70, 110, 200, 350, 600)
#: Questions, segments, respondents of each, and one simulation in how many.
SURVEYS = (
    *((10, (n,) * 6, 1) for n in (50, 200, 1_000)),
    *((40, (n,) * 12, 2) for n in (20, 50, 200, 1_000)),
    (40, MIXED, 2),
    *((116, (n,) * 49, 40) for n in (50, 200, 1_000)),
)
UNEQUAL = (30, 60, 120, 300, 1_000)
#: What is unequal, respondents of the segments, and by how much errors are larger in each.
GAPS: dict[str, tuple[tuple[int, ...], tuple[float, ...] | None]] = {
    "alike, 50 each": ((50,) * 5, None),
    "alike, 200 each": ((200,) * 5, None),
    "alike, 30 to 1,000": (UNEQUAL, None),
    "one worse, 200 each": ((200,) * 5, (1, 1, 1, 1, 1.5)),
    "one worse, 30 to 1,000": (UNEQUAL, (1, 1, 1, 1, 1.5)),
}
SLOPES = (50, 200, 1_000)
CONTEXTS = (1.0, 0.8, 0.6)  # what is left of the error at 0, 1 and 2 context questions
CARRIED_QUESTIONS = 40
RESAMPLES = 400
PERCENTILES = 50  # simulations of the source's interval of a score, which covers nothing
MODELS = tuple(PREDICTORS)
SEED = 2026  # of worlds that the method was not tuned on


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Coverage of the intervals of survey scores, by simulation.")
    parser.add_argument("--simulations", type=int, default=1_000, metavar="N", help="of the smallest survey (1,000)")
    parser.add_argument("--carried", type=int, default=300, metavar="N", help="of gaps and of slopes (300)")
    options = parser.parse_args(arguments)
    report = "\n\n".join(
        [*_scores(options.simulations), *_gaps(options.carried), *_slopes(options.carried), *_ceilings()]
    )
    publish(report, options.out)


class Tally:
    """What intervals did, for every predictor."""

    def __init__(self, true: Floats) -> None:
        self.true = true
        self.held = np.zeros(len(true))
        self.measured, self.found, self.plain = (np.zeros(len(true)) for _ in range(3))
        self.count = 0

    def add(self, m: int, found: Estimate, measured: float) -> None:
        limits = found.interval
        assert limits is not None
        assert found.value is not None
        self.held[m] += limits.low - 1e-9 <= self.true[m] <= limits.high + 1e-9
        self.measured[m] += measured
        self.found[m] += found.value
        self.count += m == 0

    def add_plain(self, m: int, replicates: Floats) -> None:
        low, high = np.quantile(replicates, [0.025, 0.975])
        self.plain[m] += low - 1e-9 <= self.true[m] <= high + 1e-9

    def numbers(self, m: int, digits: int) -> list[str]:
        values = self.true[m], self.measured[m] / self.count, self.found[m] / self.count
        return [f"{0.0 + round(value, digits):.{digits}f}" for value in values]


def _share(count: float, of: int) -> str:
    share = count / of
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / of):.1f}"


def _progress(what: str) -> None:
    print(f"{what}: done", file=sys.stderr, flush=True)


# ------------------------------------------------------------------------------------------------------------ scores


def _scores(simulations: int) -> Iterator[str]:
    yield "## Coverage of 95 % intervals under sampling noise"
    yield (
        "Questions of 2 to 6 options. Nominal is 95; ± the binomial standard error. Corrected: the default.\n"
        f"Percentile: as the source has it, in {PERCENTILES} of the simulations. JSD: of the mean divergence less its "
        "expected noise."
    )
    header = ["questions × segments", "respondents", "simulations", "predictor", "true score", "measured", "corrected"]
    lines = [line for case in SURVEYS for line in _score_lines(*case, simulations)]
    yield table([*header, "covers", "percentile covers", "JSD covers"], lines)


def _score_lines(questions: int, sizes: tuple[int, ...], one_in: int, simulations: int) -> list[list[str]]:
    world = World(questions, sizes, seed=SEED)
    jsd = divergence(world.shares[:, None], world.predicted).mean(axis=0)
    scores, divergences = Tally(world.true[:, :, 0].mean(axis=0)), Tally(jsd)
    count = max(simulations // one_in, 2)
    for simulation in range(count):
        survey = world.asked(np.random.default_rng([simulation, questions, sizes[-1]]))
        measured = survey.overall(survey.scores)
        for m in range(len(MODELS)):
            parts = parts_of(survey, m, overall_weights(survey, m))
            scores.add(m, corrected(parts, 0.95)[0], float(measured[m]))
            divergences.add(m, divergence_of(parts, 0.95), 0.0)
            if simulation < PERCENTILES:
                drawn = survey.resampled(Design(resamples=RESAMPLES, seed=simulation)).overall
                scores.add_plain(m, drawn[m])
    name = f"{sizes[0]:,}" if len(set(sizes)) == 1 else f"{min(sizes):,} to {max(sizes):,}"
    _progress(f"{questions} questions, {name} respondents")
    return [
        [
            f"{questions} × {len(sizes)}",
            name,
            f"{count:,}",
            model,
            *scores.numbers(m, 4),
            _share(scores.held[m], count),
            _share(scores.plain[m], min(count, PERCENTILES)),
            _share(divergences.held[m], count),
        ]
        for m, model in enumerate(MODELS)
    ]


# --------------------------------------------------------------------------------------------------- gaps and slopes


def _gaps(count: int) -> Iterator[str]:
    yield "### Gaps between segments, the questions being fixed"
    yield (
        f"{CARRIED_QUESTIONS} questions × 5 segments, {count} simulations, {RESAMPLES} resamples. Published: max − min "
        "of the measured scores.\nPercentile: the quantiles of the resampled gap, as the source has it."
    )
    lines = []
    for name, (sizes, worse) in GAPS.items():
        world = World(CARRIED_QUESTIONS, sizes, seed=SEED, worse=worse)
        by_segment = world.true[:, :, 0].reshape(len(sizes), CARRIED_QUESTIONS, -1).mean(axis=1)
        lines += _carried_lines(name, world, Tally(np.ptp(by_segment, axis=0)), _add_gaps, count)
    header = ["segments", "predictor", "true gap", "published", "corrected", "covers", "percentile covers"]
    yield table(header, lines)


def _slopes(count: int) -> Iterator[str]:
    yield "### Slopes in context, the questions being fixed"
    yield (
        f"{CARRIED_QUESTIONS} questions × 6 segments at 0, 1 and 2 context questions, each taking a fifth of the error "
        f"away; {count} simulations."
    )
    lines, x = [], np.arange(len(CONTEXTS)) - (len(CONTEXTS) - 1) / 2
    for n in SLOPES:
        world = World(CARRIED_QUESTIONS, (n,) * 6, seed=SEED, contexts=CONTEXTS)
        tally = Tally(world.true.mean(axis=0) @ x / (x @ x))
        lines += _carried_lines(f"{n:,}", world, tally, _add_slopes, count)
    header = ["respondents", "predictor", "true slope", "measured", "corrected", "covers", "percentile covers"]
    yield table(header, lines)


def _carried_lines(
    name: str, world: World, tally: Tally, add: Callable[[World, int, Tally], None], count: int
) -> list[list[str]]:
    for simulation in range(count):
        add(world, simulation, tally)
    _progress(name)
    return [
        [name, model, *tally.numbers(m, 4), _share(tally.held[m], count), _share(tally.plain[m], count)]
        for m, model in enumerate(MODELS)
    ]


def _add_gaps(world: World, simulation: int, tally: Tally) -> None:
    survey, design = world.asked(np.random.default_rng([simulation, 9])), Design(resamples=RESAMPLES, seed=simulation)
    noise, published = segment_noise(survey, design), np.ptp(survey.by_segment(survey.scores), axis=0)
    for m in range(len(MODELS)):
        tally.add(m, noise.gap(range(len(world.sizes)), m, 0.95), float(published[m]))
        tally.add_plain(m, np.ptp(survey.resampled(design).by_segment[:, m], axis=0))


def _add_slopes(world: World, simulation: int, tally: Tally) -> None:
    survey, design = world.asked(np.random.default_rng([simulation, 9])), Design(resamples=RESAMPLES, seed=simulation)
    noise = slope_noise(survey, levels_within(survey), design)
    for m in range(len(MODELS)):
        rows = survey.predictions.model == m
        spread = float((noise.within[rows] ** 2).sum())
        measured = float(noise.within[rows] @ survey.row_scores[rows]) / spread
        tally.add(m, noise.slope(m, [0], 0.95), measured)
        tally.add_plain(m, noise.drawn[0, :, m].sum(axis=1) / spread)


# -------------------------------------------------------------------------------------------------------- the ceiling


def _ceilings() -> Iterator[str]:
    yield "### The expected score of a perfect prediction"
    yield "As estimated from a survey of 40 questions × 12 segments (mean of 20 surveys), and as it is:"
    lines = []
    for name, sizes in {"20": (20,) * 12, "50": (50,) * 12, "200": (200,) * 12, "10 to 600": MIXED}.items():
        world = World(40, sizes, seed=SEED)
        found = [float(world.asked(np.random.default_rng([i, 1])).ceiling.mean()) for i in range(20)]
        options = world.options[world.question]
        exact = 1 - perfect_noise(Respondents(world.shares, options, world.n)).mean()
        source = float(np.maximum(0, 1 - np.sqrt((options - 1) / (2 * np.log(2) * world.n))).mean())
        lines.append([name, f"{np.mean(found):.4f}", f"{exact:.4f}", f"{source:.4f}"])
    yield table(["respondents", "estimated", "true", "source's formula"], lines)


if __name__ == "__main__":
    main()
