"""Is a leaderboard honest? False claims, coverage of ranks and sets, and the winner's curse, by simulation.

    python benchmarks/calibration_rank.py                       everything; about 3 minutes on one core
    python benchmarks/calibration_rank.py --simulations 100     a quick look
    python benchmarks/calibration_rank.py --out benchmarks/results/calibration_rank.md

The same command prints the same numbers on every run: simulation i of a board has its own seed.
"""

import sys
from collections.abc import Callable, Sequence
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.leaderboards import BOARDS, RESAMPLES, Board, Outcome, outcome
from benchmarks.simulation.tables import table

Outcomes = dict[Board, list[Outcome]]

FALSE_CLAIMS = (
    "Per cent of boards on which any pair was told apart that is equal, or the wrong way round; at most 5 is\n"
    "right. *Found*: the per cent of the pairs that differ which were told apart."
)
COVERAGE = (
    "Per cent of boards on which all true ranks were within the intervals (with ties: all the ranks that a\n"
    "model may have), on which the model confidence set held every best model, and on which the max-T\n"
    "intervals of all 45 differences held; at least 95 is right. *Size*: the mean number of models in the set."
)
CURSE = (
    "Top score less its own true score, in standard errors, as measured and corrected; and the per cent of\n"
    "boards on which its plain interval and the corrected one held the true score."
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("False claims, coverage and bias of leaderboards, by simulation.")
    parser.add_argument("--simulations", type=int, default=500, metavar="N", help="per board (500)")
    options = parser.parse_args(arguments)
    found = {board: _simulated(board, options.simulations) for board in BOARDS}
    report = _report(found, options.simulations)
    publish(report, options.out)


def _simulated(board: Board, simulations: int) -> list[Outcome]:
    results = [outcome(board, seed) for seed in range(simulations)]
    print(f"{board.name}: done", file=sys.stderr, flush=True)
    return results


def _report(found: Outcomes, simulations: int) -> str:
    about = (
        f"{simulations} simulations of each board of 10 models at the level of 95 %, ± the standard error of the\n"
        f"simulation; {RESAMPLES:,} random flips and resamples. Items are as hard for all models as they are, so that\n"
        "scores are correlated."
    )
    return "\n\n".join(
        [
            "## Is a leaderboard honest?",
            about,
            "### False claims",
            FALSE_CLAIMS,
            _false_claims(found),
            "### Ranks, sets and intervals of all pairs",
            COVERAGE,
            _coverage(found),
            "### The winner's curse",
            CURSE,
            _curse(found),
        ]
    )


def _false_claims(found: Outcomes) -> str:
    header = ["models", "Holm", "max-T", "not adjusted", "found, Holm", "found, max-T"]
    rows = [
        [
            board.name,
            _share(results, lambda o: o.false_holm),
            _share(results, lambda o: o.false_max_t),
            _share(results, lambda o: o.false_alone),
            *(_found(board, results, name) for name in ("found_holm", "found_max_t")),
        ]
        for board, results in found.items()
    ]
    return table(header, rows)


def _found(board: Board, results: Sequence[Outcome], name: str) -> str:
    if not board.truth.any():
        return "–"
    return f"{100 * mean(getattr(o, name) for o in results):.1f}"


def _coverage(found: Outcomes) -> str:
    header = ["models", "ranks by decisions", "bootstrap ranks", "confidence set", "size", "all pairs, max-T"]
    rows = [
        [
            board.name,
            _share(results, lambda o: o.ranks),
            _share(results, lambda o: o.bootstrap_ranks),
            _share(results, lambda o: o.in_set),
            f"{mean(o.set_size for o in results):.1f}",
            _share(results, lambda o: o.pair_intervals),
        ]
        for board, results in found.items()
    ]
    return table(header, rows)


def _curse(found: Outcomes) -> str:
    header = ["models", "bias", "corrected", "plain interval", "corrected interval"]
    rows = [
        [
            board.name,
            _average([o.bias for o in results]),
            _average([o.corrected_bias for o in results]),
            _share(results, lambda o: o.top_interval),
            _share(results, lambda o: o.corrected_interval),
        ]
        for board, results in found.items()
    ]
    return table(header, rows)


def _share(results: Sequence[Outcome], held: Callable[[Outcome], bool]) -> str:
    share = sum(held(o) for o in results) / len(results)
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / len(results)):.1f}"


def _average(values: Sequence[float]) -> str:
    return f"{mean(values):+.2f} ± {stdev(values) / sqrt(len(values)):.2f}"


if __name__ == "__main__":
    main()
