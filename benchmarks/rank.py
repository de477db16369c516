"""How long do all pairs of a leaderboard take: ours, and scipy's permutation test pair by pair.

    python benchmarks/rank.py            everything; about two minutes
    python benchmarks/rank.py --quick    fewer turns, without k = 500
    python benchmarks/rank.py --out benchmarks/results/rank.md

scipy would take an hour for 1,225 pairs, so it is timed on a few of them, in turns with ours, and multiplied. It is
asked for what it does best: sign flips of the differences, a vectorized mean, the quickest of several batch sizes.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np
from scipy import stats

from assay.stats.compiled import Backend
from assay.stats.ranking.pair_tests import sign_flips
from assay.stats.ranking.pairs import pairs_of
from assay.stats.ranking.shared_signs import Flips, maxima
from assay.stats.units import Floats, Grid
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table
from benchmarks.timing.clock import Contender, Times, interleaved, quickest
from benchmarks.timing.processes import measured

MODELS, ITEMS, FLIPS = 50, 5_684, 10_000
PAIRS = MODELS * (MODELS - 1) // 2
SCIPY, FLIPPED, TWIN = "scipy, one pair after the other", "shared signs", "shared signs, numpy alone"
MAX_T, AUTO, BINARY = (
    "shared signs, max-T step-down",
    "our default (exact where it is quick)",
    "0/1 scores, exact (McNemar)",
)

LARGE = """
import numpy as np
from assay.analyses.rank import rank_panel
from assay.data import Panel
from assay.design import Design
k, n = 500, 20_000
rng = np.random.default_rng(1)
scores = rng.normal(size=(n, 1)) + 0.8 * rng.normal(size=(n, k)) + np.linspace(0, 0.5, k)
rank_panel(Panel.from_arrays(scores, systems=[f"m{i:03d}" for i in range(k)]), Design())
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("All pairs of a leaderboard: our time and scipy's.")
    parser.add_argument("--quick", action="store_true", help="fewer turns, without k = 500")
    options = parser.parse_args(arguments)
    report = _report(3 if options.quick else 5, large=not options.quick)
    publish(report, options.out)


def _report(turns: int, *, large: bool) -> str:
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
    return "\n\n".join([*parts, *([_large()] if large else [])])


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

    def flipped(backend: Backend) -> object:
        return sign_flips(pairs_of(Grid(scores, np.ones(ITEMS))), resamples=FLIPS, backend=backend)

    def stepped() -> object:
        grid = Grid(scores, np.ones(ITEMS))
        pairs = pairs_of(grid)
        return maxima(Flips.of(grid), pairs.evidence, pairs.norm, FLIPS)

    return [
        Contender(FLIPPED, lambda: flipped("compiled")),
        Contender(TWIN, lambda: flipped("numpy")),
        Contender(MAX_T, stepped),
        Contender(AUTO, lambda: sign_flips(pairs_of(Grid(scores, np.ones(ITEMS))))),
        Contender(BINARY, lambda: sign_flips(pairs_of(Grid(right, np.ones(ITEMS))))),
    ]


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
    wall, scipy_wall = _seconds(FLIPPED, times)[1], _seconds(SCIPY, times)[1]
    faster = scipy_wall / wall
    return [
        f"- shared signs at least 10,000 × scipy by wall time: {faster:,.0f} × ({_met(reached=faster >= 10_000)})",
        f"- shared signs under 1 s: {wall:.3f} s ({_met(reached=wall < 1)})",
    ]


def _large() -> str:
    print("k = 500", file=sys.stderr, flush=True)
    done = measured(sys.executable, "-c", LARGE)
    if done.code:
        return f"### 500 models, 20,000 items\n\nfailed: {done.errors.strip()}"
    took = f"{done.wall:.0f} s wall, {done.cpu:.0f} s CPU, peak {done.peak / 1e9:.2f} GB"
    return (
        "### 500 models, 20,000 items\n\nA whole leaderboard of 124,750 pairs in a process of its own, its start\n"
        f"and the making of the data included: {took} (goal under 4 GB: {_met(reached=done.peak < 4e9)})."
    )


def _met(*, reached: bool) -> str:
    return "met" if reached else "not met"


if __name__ == "__main__":
    main()
