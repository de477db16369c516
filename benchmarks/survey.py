"""How long does resampling the respondents of a survey take: ours, and scipy's distance on numpy's draws.

    python benchmarks/survey.py            about a minute
    python benchmarks/survey.py --out benchmarks/results/survey.md

A round of the size of a real one: 116 questions × 49 segments = 5,684 cells, 10 to 684 respondents, 20 models, 1,000
replicates. scipy is timed on a few replicates, in turns with ours, and multiplied; it compares all cells with the same
number of options in one call, without padding. Then `assay survey` on a round of that size, all analyses, from a cold
process.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np
from scipy.spatial.distance import jensenshannon

from assay.stats.bootstrap.kernels_resampling import use_threads
from assay.stats.survey.respondents import Predicted, Respondents, resampled_scores
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table
from benchmarks.timing.clock import Contender, Times, interleaved
from benchmarks.timing.made_surveys import survey
from benchmarks.timing.processes import ASSAY, measured, process_line

QUESTIONS, SEGMENTS, MODELS, RESAMPLES = 116, 49, 20, 1_000
#: questions, segments and models of whole commands, seconds of CPU time at most, and whether files are written
WHOLE = (
    ((29, 49, 5), 2.0, False),
    ((29, 49, 5), 2.0, True),
    ((QUESTIONS, SEGMENTS, MODELS), 60.0, True),
    ((10_000, 8, 3), 120.0, False),
)
FEW = 10  # replicates that scipy is timed on
SCIPY, COMPILED, ONE_THREAD = "scipy, extrapolated", "compiled", "compiled, one thread as scipy"
GOAL = 60  # times scipy, by the CPU time of one thread


def round_of_survey() -> tuple[Respondents, Predicted]:
    rng = np.random.default_rng(0)
    options = np.tile(rng.choice([3, 4, 5, 6], p=[0.1, 0.1, 0.75, 0.05], size=QUESTIONS), SEGMENTS)
    segment, question = np.repeat(np.arange(SEGMENTS), QUESTIONS), np.tile(np.arange(QUESTIONS), SEGMENTS)
    n = np.geomspace(10, 684, SEGMENTS).astype(np.int64)[segment]
    mask = np.arange(6) < options[:, None]
    shares = rng.dirichlet(np.ones(6), size=len(n)) * mask
    shares /= shares.sum(axis=1, keepdims=True)
    predicted = rng.dirichlet(np.ones(6), size=(len(n), MODELS)) * mask[:, None]
    predicted /= predicted.sum(axis=2, keepdims=True)
    blocks = np.stack([segment, SEGMENTS + question], axis=1)
    return Respondents(shares, options, n), Predicted(predicted, np.ones((len(n), MODELS)), blocks)


def with_scipy(people: Respondents, predicted: Predicted, resamples: int) -> float:
    """The same replicates by numpy's draws and scipy's distance, all cells of as many options at once."""
    rng, total = np.random.default_rng(1), 0.0
    for k in np.unique(people.options).tolist():
        cells = people.options == k
        shares, n, guesses = people.shares[cells, :k], people.n[cells], predicted.shares[cells, :, :k]
        for _ in range(resamples):
            drawn = rng.multinomial(n, shares) / n[:, None]
            total += float((1 - jensenshannon(drawn[:, None], guesses, base=2, axis=-1)).sum())
    return total


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Resampling of respondents: our time and scipy's.")
    parser.add_argument("--turns", type=int, default=5, metavar="N", help="turns (5)")
    options = parser.parse_args(arguments)
    report = _report(options.turns)
    publish(report, options.out)


def _report(turns: int) -> str:
    people, predicted = round_of_survey()
    contenders = [
        Contender(SCIPY, lambda: with_scipy(people, predicted, FEW)),
        Contender(COMPILED, lambda: _compiled(people, predicted, None)),
        Contender(ONE_THREAD, lambda: _compiled(people, predicted, 1)),
    ]
    times = interleaved(contenders, turns)
    times[SCIPY] = Times(*([t * RESAMPLES / FEW for t in part] for part in (times[SCIPY].cpu, times[SCIPY].wall)))
    rows = [_row(name, own, times[SCIPY]) for name, own in times.items()]
    about = (
        f"{len(people.n):,} cells of {int(people.n.sum()):,} respondents in all, {MODELS} models,\n"
        f"{RESAMPLES:,} replicates; {turns} turns in one warm process.\n"
        f"scipy's time is that of {FEW} replicates times {RESAMPLES // FEW}."
    )
    ratio = times[SCIPY].median_cpu / times[ONE_THREAD].median_cpu
    goal = f"Goal, one thread, by CPU time: at least {GOAL} times scipy: {'met' if ratio >= GOAL else 'not met'}."
    header = ["", "CPU s", "wall s", "× scipy, CPU", "× scipy, wall", "best turn, wall s"]
    return "\n\n".join(
        ["## Time of resampling the respondents", about, table(header, rows), goal, *(_whole(*size) for size in WHOLE)]
    )


def _compiled(people: Respondents, predicted: Predicted, threads: int | None) -> None:
    """Threads wait for each other in CPU time, which ratios to a program of one thread must not count."""
    use_threads(threads)
    resampled_scores(people, predicted, RESAMPLES, 0, backend="compiled")
    use_threads(None)


def _whole(shape: tuple[int, int, int], most_seconds: float, written: bool) -> str:  # noqa: FBT001  # a row of WHOLE
    """All analyses of a round, and every file that the command writes where it is asked to."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        questions, segments, models = shape
        files = survey(folder, questions, segments=segments, models=models)
        found = measured(str(ASSAY), "survey", *files, *(("-o", str(folder / "out")) if written else ()))
    if found.code:
        raise SystemExit(found.errors)
    size = f"{questions:,} questions × {segments} segments × {models} models"
    what = f"`assay survey{' -o FOLDER' if written else ''}` on {size}"
    return process_line(what, found, most_seconds=most_seconds, most_bytes=2e9)


def _row(name: str, own: Times, scipy: Times) -> list[str]:
    cells = [name, f"{own.median_cpu:.2f}", f"{own.median_wall:.2f}"]
    return [
        *cells,
        f"{scipy.median_cpu / own.median_cpu:.0f}",
        f"{scipy.median_wall / own.median_wall:.0f}",
        f"{min(own.wall):.2f}",
    ]


if __name__ == "__main__":
    main()
