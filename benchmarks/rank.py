"""How long do all pairs of a leaderboard take: ours, scipy's permutation test pair by pair, and ten lines of numpy.

    python benchmarks/rank.py            everything; some minutes
    python benchmarks/rank.py --quick    fewer turns, without whole commands
    python benchmarks/rank.py --out benchmarks/results/rank.md

scipy would take an hour for 1,225 pairs, so it is timed on a few of them, in turns with ours, and multiplied. It is
asked for what it does best: sign flips of the differences, a vectorized mean, the quickest of several batch sizes. Ten
lines of numpy that share the signs of all pairs are what a user would write instead, and stand beside it. Then
`assay rank` on whole boards, cold, from a Parquet file.
"""

import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np
from scipy import stats

from assay.stats.ranking.flips import Flips
from assay.stats.ranking.pair_tests import sign_flips
from assay.stats.ranking.pairs import pairs_of
from assay.stats.ranking.shared_signs import maxima
from assay.stats.units import Floats, Grid
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table
from benchmarks.timing.clock import Contender, Times, interleaved, quickest
from benchmarks.timing.processes import ASSAY, measured

MODELS, ITEMS, FLIPS = 50, 5_684, 10_000
PAIRS = MODELS * (MODELS - 1) // 2
SCIPY, LINES, FLIPPED = "scipy, one pair after the other", "ten lines of numpy, shared signs", "shared signs"
MAX_T, AUTO, BINARY = (
    "shared signs, max-T step-down",
    "our default (exact where it is quick)",
    "0/1 scores, exact (McNemar)",
)

#: models, items, right or wrong, seconds of CPU time and bytes at most
BOARDS = (
    (500, 1_000, False, 3.0, None),
    (500, 1_000, True, 1.5, None),
    (200, 100_000, False, 12.0, 1e9),
    (200, 100_000, True, 5.0, 1e9),
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("All pairs of a leaderboard: our time and scipy's.")
    parser.add_argument("--quick", action="store_true", help="fewer turns, without whole commands")
    options = parser.parse_args(arguments)
    report = _report(3 if options.quick else 5, whole=not options.quick)
    publish(report, options.out)


def _report(turns: int, *, whole: bool) -> str:
    best, batch = _scipy_at_best()
    times = interleaved([best, *_ours()], turns)
    parts = [
        "## Time of all pairs",
        (
            f"{MODELS} models, {ITEMS:,} items, {PAIRS:,} pairs, {FLIPS:,} sign flips; {turns} turns in one warm\n"
            f"process. scipy's time is that of one pair times {PAIRS:,}, at its best batch of {batch} flips."
        ),
        table(["", "CPU s", "wall s", "× scipy, CPU", "× scipy, wall"], [_row(name, times) for name in times]),
        "### Goals",
        "\n".join(_goals(times)),
    ]
    return "\n\n".join([*parts, *([_boards()] if whole else [])])


def _scores() -> Floats:
    """Scores between 0 and 1 on many levels, as 1 − √JSD has; items are hard for all models together."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(ITEMS, 1)) + 0.7 * rng.normal(size=(ITEMS, MODELS)) + np.linspace(0, 0.3, MODELS)
    return np.asarray(1 / (1 + np.exp(-hidden)))


def _scipy_at_best() -> tuple[Contender, int]:
    scores = _scores()
    pairs = cycle([(i, (7 * i + 3) % MODELS) for i in range(MODELS) if i != (7 * i + 3) % MODELS])
    test = partial(
        stats.permutation_test,
        statistic=np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=FLIPS,
        axis=-1,
        rng=np.random.default_rng(1),
    )

    def contender(batch: int) -> Callable[[], object]:
        def run() -> object:
            i, j = next(pairs)
            return test((scores[:, i] - scores[:, j],), batch=batch)

        return run

    best = quickest([Contender(str(batch), contender(batch)) for batch in (16, 64, 256)], 1)
    return Contender(SCIPY, best.run), int(best.name)


def _ours() -> list[Contender]:
    scores = _scores()
    right = (scores > 0.5).astype(np.float64)

    def flipped() -> object:
        return sign_flips(pairs_of(Grid(scores, np.ones(ITEMS))), resamples=FLIPS)

    def stepped() -> object:
        grid = Grid(scores, np.ones(ITEMS))
        pairs = pairs_of(grid)
        return maxima(Flips.of(grid), pairs.evidence, pairs.norm, FLIPS)

    return [
        Contender(LINES, lambda: ten_lines(scores)),
        Contender(FLIPPED, flipped),
        Contender(MAX_T, stepped),
        Contender(AUTO, lambda: sign_flips(pairs_of(Grid(scores, np.ones(ITEMS))))),
        Contender(BINARY, lambda: sign_flips(pairs_of(Grid(right, np.ones(ITEMS))))),
    ]


def ten_lines(scores: Floats) -> Floats:
    """P-values of all pairs, without ties, bounds or errors: the signs of a flip serve every pair."""
    n, k = scores.shape
    i, j = np.triu_indices(k, 1)
    words = np.random.default_rng(0).integers(0, 2**64, size=(FLIPS, -(-n // 64)), dtype=np.uint64)
    bits = np.unpackbits(words.view(np.uint8), axis=1)[:, :n].astype(np.float32)
    centred = (scores - scores.mean(axis=1, keepdims=True)).astype(np.float32)
    sums = (2 * (bits @ centred) - centred.sum(axis=0)).T
    observed = np.abs(centred.sum(axis=0)[i] - centred.sum(axis=0)[j])
    reached = [np.count_nonzero(np.abs(sums[a] - sums[b]) >= seen) for a, b, seen in zip(i, j, observed, strict=True)]
    return (1 + np.array(reached)) / (1 + FLIPS)


def _seconds(name: str, times: dict[str, Times]) -> tuple[float, float]:
    factor = PAIRS if name == SCIPY else 1
    return factor * times[name].median_cpu, factor * times[name].median_wall


def _row(name: str, times: dict[str, Times]) -> list[str]:
    cpu, wall = _seconds(name, times)
    scipy_cpu, scipy_wall = _seconds(SCIPY, times)
    return [name, _digits(cpu), _digits(wall), f"{scipy_cpu / cpu:,.0f}", f"{scipy_wall / wall:,.0f}"]


def _digits(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.3g}"


def _goals(times: dict[str, Times]) -> list[str]:
    cpu, lines = _seconds(AUTO, times)[0], _seconds(LINES, times)[0]
    faster = _seconds(SCIPY, times)[0] / cpu
    return [
        f"- our default at least 10,000 × scipy by CPU time: {faster:,.0f} × ({_met(reached=faster >= 10_000)})",
        f"- our default at most 0.15 s of CPU time: {cpu:.3f} s ({_met(reached=cpu <= 0.15)})",
        f"- and no more than ten lines of numpy: {cpu / lines:.2f} of their time ({_met(reached=cpu <= lines)})",
    ]


def _boards() -> str:
    header = ["models", "items", "scores", "CPU s", "wall s", "peak MB", "goal", ""]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for k, n, binary, seconds, most in BOARDS:
            print(f"{k} × {n:,}", file=sys.stderr, flush=True)
            done = measured(str(ASSAY), "rank", str(write_board(Path(folder), k, n, binary=binary)))
            if done.code:
                raise SystemExit(done.errors)
            reached = done.cpu <= seconds and done.peak <= (most or done.peak)
            goal = f"≤ {seconds:g} s" + (f", ≤ {most / 1e6:,.0f} MB" if most else "")
            sizes = [f"{done.cpu:.1f}", f"{done.wall:.1f}", f"{done.peak / 1e6:,.0f}", goal, _met(reached=reached)]
            rows.append([str(k), f"{n:,}", "0/1" if binary else "real", *sizes])
    about = (
        "`assay rank` on one Parquet file with a column for the model, all pairs, cold: start, reading and printing\n"
        "included. Means are spread evenly over 0.5 of a standard deviation of the items."
    )
    return "\n\n".join(["### Whole boards", about, table(header, rows)])


def write_board(folder: Path, k: int, n: int, *, binary: bool) -> Path:
    """Scores of k models on n items as one Parquet file."""
    import duckdb

    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(n, 1)) + 0.8 * rng.normal(size=(n, k)) + np.linspace(0, 0.5, k)
    scores = (hidden > 0).astype(np.float64) if binary else hidden
    rows = {  # noqa: F841  # duckdb finds it by its name
        "model": np.repeat(np.arange(k, dtype=np.int32), n),
        "item": np.tile(np.arange(n, dtype=np.int32), k),
        "score": np.ascontiguousarray(scores.T).ravel(),
    }
    path = folder / "board.parquet"
    columns = "printf('m%03d', model) AS model, printf('q%06d', item) AS item, score"
    duckdb.connect().execute(f"COPY (SELECT {columns} FROM rows) TO '{path}' (FORMAT parquet)")  # noqa: S608  # our own
    return path


def _met(*, reached: bool) -> str:
    return "met" if reached else "not met"


if __name__ == "__main__":
    main()
