"""Do the intervals of `assay survey` hold the truth? Coverage by simulation, with who is asked drawn at random.

    python benchmarks/calibration_survey.py                       everything; about 15 minutes on one core
    python benchmarks/calibration_survey.py --simulations 80 --carried 10      a quick look
    python benchmarks/calibration_survey.py --carried 100 --out benchmarks/results/calibration_survey.md

The true shares, and so the true score of every predictor, are known. The same command prints the same numbers.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

from assay.analyses.survey.baseline_tests import Against, against
from assay.analyses.survey.cells import cell_limits, percentiles
from assay.analyses.survey.context_levels import levels_within, slope_noise
from assay.analyses.survey.evidence import Survey, means_by, overall
from assay.analyses.survey.fairness import segment_noise
from assay.analyses.survey.intervals import beyond_ceiling, corrected, divergence_of, overall_weights, parts_of
from assay.data.survey.predictions import OK, Answer, predictions_of
from assay.design import Design
from assay.stats.records import Estimate, Interval
from assay.stats.survey import divergence
from assay.stats.survey.respondents import Respondents, perfect_noise
from assay.stats.units import Floats
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.surveys import PREDICTORS, World, WorldApart
from benchmarks.simulation.tables import table

MIXED = (10, 12, 15, 18, 22, 30, 45, 70, 110, 200, 350, 600)
#: Questions, segments, respondents of each, and one simulation in how many.
SURVEYS = (
    *((10, (n,) * 6, 1) for n in (50, 200, 1_000)),
    *((40, (n,) * 12, 2) for n in (20, 50, 200, 1_000)),
    (40, MIXED, 2),
    *((116, (n,) * 49, 40) for n in (50, 200, 1_000)),
)
#: Questions, and respondents of the segments, of worlds whose predictors are set apart.
APART = ((20, (80,) * 8), (40, (150,) * 12), (30, (20, 25, 30, 40, 60, 90, 150, 250, 400, 600)), (60, (300,) * 16))
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
CELL_PERCENTILES = 5  # of every single cell
PERCENTILES = 50  # simulations of the benchmark's interval of a score, which covers nothing
WORLDS = 2_000  # whose mean difference is taken for the truth
MODELS = tuple(PREDICTORS)
SEED = 2026  # of worlds that the method was not tuned on


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Coverage of the intervals of survey scores, by simulation.")
    parser.add_argument("--simulations", type=int, default=1_000, metavar="N", help="of the smallest survey (1,000)")
    parser.add_argument("--carried", type=int, default=300, metavar="N", help="of gaps and of slopes (300)")
    parser.add_argument("--only", choices=PARTS, metavar="PART", help=f"one of {', '.join(PARTS)} (all)")
    options = parser.parse_args(arguments)
    counts = {"scores": options.simulations, "cells": max(options.simulations // 20, 2)}
    asked = PARTS if options.only is None else {options.only: PARTS[options.only]}
    report = "\n\n".join(line for name, part in asked.items() for line in part(counts.get(name, options.carried)))
    publish(report, options.out)


class Tally:
    """What intervals did, for every predictor."""

    def __init__(self, true: Floats) -> None:
        self.true = true
        self.held = np.zeros(len(true))
        self.measured, self.found, self.plain = (np.zeros(len(true)) for _ in range(3))
        self.count = 0
        self.withheld = np.zeros(len(true), dtype=np.int64)

    def add(self, m: int, found: Estimate, measured: float) -> None:
        limits = found.interval
        self.count += m == 0
        if limits is None or found.value is None:  # the predictor seems to know the sample
            self.withheld[m] += 1
            return
        self.held[m] += limits.low - 1e-9 <= self.true[m] <= limits.high + 1e-9
        self.measured[m] += measured
        self.found[m] += found.value

    def given(self, m: int) -> int:
        """Simulations with an interval."""
        return self.count - int(self.withheld[m])

    def add_plain(self, m: int, replicates: Floats) -> None:
        low, high = np.quantile(replicates, [0.025, 0.975])
        self.plain[m] += low - 1e-9 <= self.true[m] <= high + 1e-9

    def numbers(self, m: int, digits: int) -> list[str]:
        values = self.true[m], self.measured[m] / self.given(m), self.found[m] / self.given(m)
        return [f"{0.0 + round(value, digits):.{digits}f}" for value in values]


def _share(count: float, of: int) -> str:
    share = count / of
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / of):.1f}"


def _plain(share: float) -> str:
    return f"{100 * share:.1f}"


def _progress(what: str) -> None:
    print(f"{what}: done", file=sys.stderr, flush=True)


# ------------------------------------------------------------------------------------------------------------ scores


def _scores(simulations: int) -> Iterator[str]:
    yield "## Coverage of 95 % intervals under sampling noise"
    yield (
        "Questions of 2 to 6 options. Nominal is 95; ± the binomial standard error. Corrected: the default.\n"
        f"Percentile: as the benchmark has it, in {PERCENTILES} of the simulations. JSD: of the mean divergence "
        "less its expected noise."
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
        measured = overall(survey.of_models)
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


def _apart(simulations: int) -> Iterator[str]:
    yield "### Predictors set apart"
    yield (
        "Wrong in a few cells, questions or segments, with heavy tails, or the true marginal of all segments: nothing "
        "was chosen on these.\nNominal is 95; ± the binomial standard error."
    )
    header = ["questions × segments", "respondents", "simulations", "predictor", "true score", "measured", "corrected"]
    yield table(
        [*header, "covers"],
        [line for questions, sizes in APART for line in _apart_lines(questions, sizes, simulations)],
    )


def _apart_lines(questions: int, sizes: tuple[int, ...], simulations: int) -> list[list[str]]:
    world = WorldApart(questions, sizes, seed=SEED)
    scores = Tally(world.true[:, :, 0].mean(axis=0))
    for simulation in range(simulations):
        survey = world.asked(np.random.default_rng([simulation, questions, sizes[-1], 2]))
        measured = overall(survey.of_models)
        for m in range(len(world.models)):
            found = corrected(parts_of(survey, m, overall_weights(survey, m)), 0.95)[0]
            scores.add(m, found, float(measured[m]))
    name = f"{sizes[0]:,}" if len(set(sizes)) == 1 else f"{min(sizes):,} to {max(sizes):,}"
    _progress(f"set apart: {questions} questions, {name} respondents")
    start = [f"{questions} × {len(sizes)}", name, f"{simulations:,}"]
    return [
        [*start, model, *scores.numbers(m, 4), _share(scores.held[m], scores.given(m))]
        for m, model in enumerate(world.models)
    ]


# ------------------------------------------------------------------------------------------------------- single cells


def _cells(count: int) -> Iterator[str]:
    yield "### Single cells"
    yield (
        f"The 95 % interval of every question × segment alone; 40 questions × 12 segments, {count} simulations, so "
        f"{480 * count:,} intervals in each line.\nBelow and above: how often the true score is outside on that side. "
        f"Percentile: as the benchmark has it, in {CELL_PERCENTILES} of the simulations."
    )
    header = ["respondents", "predictor", "covers", "below", "above", "middle width", "percentile covers"]
    sizes = {f"{n:,}": (n,) * 12 for n in (10, 20, 50, 200, 1_000)} | {"10 to 600": MIXED}
    yield table(header, [line for name, own in sizes.items() for line in _cell_lines(name, own, count)])


def _cell_lines(name: str, sizes: tuple[int, ...], count: int) -> list[list[str]]:
    world = World(40, sizes, seed=SEED)
    true, held = world.true[:, :, 0], np.zeros((4, len(MODELS)))  # covers, below, above, percentile
    widths: list[list[float]] = [[] for _ in MODELS]
    for simulation in range(count):
        survey = world.asked(np.random.default_rng([simulation, 5, sizes[-1]]))
        for m in range(len(MODELS)):
            _, low, high = cell_limits(survey, m, 0.95)
            below, above = true[:, m] < low - 1e-9, true[:, m] > high + 1e-9
            held[:3, m] += np.mean(~below & ~above), below.mean(), above.mean()
            widths[m].append(float(np.median(high - low)))
        if simulation < CELL_PERCENTILES:
            drawn = percentiles(survey, Design(resamples=RESAMPLES, seed=simulation))  # (M, 2, C)
            held[3] += np.mean((drawn[:, 0] - 1e-9 <= true.T) & (drawn[:, 1] + 1e-9 >= true.T), axis=1)
    _progress(f"cells, {name} respondents")
    shares = np.vstack([held[:3] / count, held[3:] / min(count, CELL_PERCENTILES)])
    return [
        [name, model, *map(_plain, shares[:3, m]), f"{np.mean(widths[m]):.3f}", _plain(shares[3, m])]
        for m, model in enumerate(MODELS)
    ]


# --------------------------------------------------------------------------------------------------- gaps and slopes


def _gaps(count: int) -> Iterator[str]:
    yield "### Gaps between segments, the questions being fixed"
    yield (
        f"{CARRIED_QUESTIONS} questions × 5 segments, {count} simulations, {RESAMPLES} resamples. Published: max − min "
        "of the measured scores.\nPercentile: the quantiles of the resampled gap, as the benchmark has it."
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
        [name, model, *tally.numbers(m, 4), _share(tally.held[m], tally.given(m)), _share(tally.plain[m], count)]
        for m, model in enumerate(MODELS)
    ]


def _add_gaps(world: World, simulation: int, tally: Tally) -> None:
    survey, design = world.asked(np.random.default_rng([simulation, 9])), Design(resamples=RESAMPLES, seed=simulation)
    noise, published = segment_noise(survey, design), np.ptp(means_by(survey.of_models, "segment"), axis=0)
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


def _ceilings(_: int) -> Iterator[str]:
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


def _too_good(count: int) -> Iterator[str]:
    yield "### Scores above that of a perfect prediction"
    yield (
        f"Per cent of {count} surveys of 20 questions in which a predictor is warned of; of 3 predictors together, at "
        "most 5 are allowed for honest ones.\n“Half the sample” predicts the mean of the true and the sampled shares."
    )
    lines = []
    for name, sizes in {"20": (20,) * 6, "50": (50,) * 6, "200": (200,) * 6, "10 to 600": MIXED}.items():
        warned = np.zeros(3)
        for simulation in range(count):
            world = World(20, sizes, seed=SEED + 1 + simulation)
            survey = world.asked(np.random.default_rng([simulation, 3]))
            half = (world.shares + survey.truth.shares) / 2
            told = {"perfect": world.shares, "good": world.predicted[:, 1], "half the sample": half}
            warned += beyond_ceiling(_predicted(survey, told), 0.95)
        lines.append([name, *(_share(one, count) for one in warned)])
        _progress(f"too good, {name}")
    yield table(["respondents", "perfect", "good", "half the sample"], lines)


def _predicted(survey: Survey, told: dict[str, Floats]) -> Survey:
    """The survey with other predictors, in the order of their names."""
    answers = [
        Answer(f"{i}", c, 0, row.tolist(), OK) for i, own in enumerate(told.values()) for c, row in enumerate(own)
    ]
    return replace(survey, predictions=predictions_of(answers, survey.truth.shares.shape[1]), _resampled={})


# ------------------------------------------------------------------------------------------------------------ families


def _families(count: int) -> Iterator[str]:
    yield "### Differences from baselines, all at once, with other questions"
    yield (
        f"4 predictors against 3 baselines on 4 segments of 100; {count} simulations, each with new questions. The "
        f"truth is the mean of {WORLDS:,} such worlds.\nAll hold: the simultaneous intervals of all 12 differences. "
        "Alone: the mean over the 12 intervals of each alone. Contradictions: p at most 5 % and 0 inside, or\nthe "
        "other way round, of either kind."
    )
    lines = []
    for questions in (13, 43):
        true = np.mean([_differences(questions, SEED + 10_000 + i)[0] for i in range(WORLDS)], axis=0)
        held, alone, wrong = 0, 0.0, 0
        for simulation in range(count):
            found = _differences(questions, SEED + 50_000 + simulation)[1]
            pairs = list(zip(found, true.tolist(), strict=True))
            held += all(_inside(one.together, value) for one, value in pairs)
            alone += float(np.mean([_inside(one.difference.interval, value) for one, value in pairs]))
            wrong += sum(map(_contradicts, found))
        lines.append([f"{questions}", _share(held, count), f"{100 * alone / count:.1f}", f"{wrong}"])
        _progress(f"families, {questions} questions")
    yield table(["questions", "all hold", "alone", "contradictions"], lines)


def _differences(questions: int, seed: int) -> tuple[list[float], tuple[Against, ...]]:
    """The differences of one world, and what is found of them."""
    survey = World(questions, (100,) * 4, seed=seed).asked(np.random.default_rng([seed, 4]))
    chosen = {name: survey.baseline_scores[name] for name in ("uniform", "marginal", "marginal, left out")}
    scores = survey.scores
    values = [float((scores[:, m] - own).mean()) for own in chosen.values() for m in range(scores.shape[1])]
    return values, against(survey, chosen, Design()) if seed >= SEED + 50_000 else ()


def _inside(limits: Interval | None, true: float) -> bool:
    assert limits is not None
    return limits.low <= true <= limits.high


def _contradicts(one: Against) -> bool:
    assert one.test.p_value is not None
    assert one.p_adjusted is not None
    return (one.test.p_value <= 0.05) == _inside(one.difference.interval, 0.0) or (one.p_adjusted <= 0.05) == _inside(
        one.together, 0.0
    )


PARTS: dict[str, Callable[[int], Iterator[str]]] = {
    "scores": _scores,
    "apart": _apart,
    "cells": _cells,
    "gaps": _gaps,
    "slopes": _slopes,
    "ceilings": _ceilings,
    "too-good": _too_good,
    "families": _families,
}

if __name__ == "__main__":
    main()
