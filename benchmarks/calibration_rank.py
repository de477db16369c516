"""Is a leaderboard honest? False claims, coverage of ranks and sets, and the winner's curse, by simulation.

    python benchmarks/calibration_rank.py                       everything; about 40 minutes on one core
    python benchmarks/calibration_rank.py --simulations 60 --tops 100     a quick look
    python benchmarks/calibration_rank.py --out benchmarks/results/calibration_rank.md

The same command prints the same numbers on every run: simulation i of a board has its own seed.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.leaderboards import APART as APART_BOARDS
from benchmarks.simulation.leaderboards import BOARDS, Board, Outcome, outcome
from benchmarks.simulation.model_sets import EQUAL, SOME, kept_best
from benchmarks.simulation.tables import table
from benchmarks.simulation.winners import APART, CHOSEN, NAMED, Cell, Top, former_holds, plain_holds, top_of

Outcomes = dict[Board, list[Outcome]]

BEHIND = {"equal": "all equal", "ladder": "1 point apart", "one": "one ahead"}
ENOUGH = 0.93  # of 200 boards: what an interval of 95 % may hold by chance

FALSE_CLAIMS = (
    "Per cent of boards on which any pair was told apart that is equal, or the wrong way round; at most 5 is\n"
    "right. *Found*: the per cent of the pairs that differ which were told apart."
)
COVERAGE = (
    "Per cent of boards on which all true ranks were within the intervals (with ties: all the ranks that a\n"
    "model may have), on which every best model was among those that may be best by Holm's decisions, and by max-T's,\n"
    "and on which the intervals of all 45 differences held, beside Holm's p-values and beside max-T's; at least 95 is\n"
    "right. *Size*: the mean number of models that may be best."
)
CURSE = (
    "Top score less its own true score, in standard errors, as measured and corrected; and the per cent of\n"
    "boards on which its plain interval and the corrected one held the true score."
)
CELLS = (
    "Coverage of the corrected interval in per cent, the least and the mean over cells of 5, 20 and 50 equally\n"
    "good models, 50, 200 and 1,000 items, and for scores a true score of 0.5, 0.7, 0.9, 0.95 and 0.98; whether\n"
    "every limit was within [0, 1]; the mean width against that of the same model, had it been the only one. *Above*:\n"
    "the per cent of boards on which the top score, as measured and corrected, exceeds its true score."
)
APART_CELLS = (
    "The same for boards that were drawn up after the formulas had been chosen: 3, 10, 35 and 100 models (values:\n"
    "2, 10 and 35), 60 to 400 items, scores of 0.6 to 0.97, models equal, 1 point apart from each other, or one ahead\n"
    "by 2 points."
)
FORMER = (
    "Coverage of the interval that this one replaced (*locally simultaneous*: max-T of the bootstrap, scaled by the\n"
    "winner's own standard error) and of Clopper and Pearson's for a single model, where all models are equal."
)
SETS = (
    "*Kept*: the\n"
    "per cent of boards on which every best model was among those that may be best, which no other is shown\n"
    "to be better than; at least 95 is right. *Size*: the mean number of models that may be best."
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("False claims, coverage and bias of leaderboards, by simulation.")
    parser.add_argument("--simulations", type=int, default=200, metavar="N", help="per board (200)")
    parser.add_argument("--sets", type=int, default=200, metavar="N", help="per board of 20 models (200)")
    parser.add_argument("--tops", type=int, default=200, metavar="N", help="per cell of the winner's curse (200)")
    options = parser.parse_args(arguments)
    found = {board: _simulated(board, options.simulations) for board in (*BOARDS, *APART_BOARDS)}
    report = _report(found, options.simulations)
    publish(f"{report}\n\n{_sets(options.sets)}\n\n{_tops(options.tops)}", options.out)


def _simulated(board: Board, simulations: int) -> list[Outcome]:
    results = [outcome(board, seed) for seed in range(simulations)]
    print(f"{board.name}: done", file=sys.stderr, flush=True)
    return results


def _report(found: Outcomes, simulations: int) -> str:
    about = (
        f"{simulations} simulations of each board of 10 models at the level of 95 %, ± the standard error of the\n"
        "simulation. Items are as hard for all models as they are, so that scores are correlated. The last seven\n"
        "boards were drawn up after the rules had been chosen."
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
    sets = ["best kept, Holm", "size", "best kept, max-T", "size"]
    header = ["models", "ranks by decisions", "bootstrap ranks", *sets, "all pairs, Holm", "max-T"]
    rows = [
        [
            board.name,
            _share(results, lambda o: o.ranks),
            _share(results, lambda o: o.bootstrap_ranks),
            _share(results, lambda o: o.best_kept),
            f"{mean(o.may_be_best for o in results):.1f}",
            _share(results, lambda o: o.best_kept_max_t),
            f"{mean(o.may_be_best_max_t for o in results):.1f}",
            _share(results, lambda o: o.holm_intervals),
            _share(results, lambda o: o.max_t_intervals),
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


def _sets(simulations: int) -> str:
    rows = []
    for board in (*EQUAL, *SOME):
        by_adjustment = zip(*(kept_best(board, seed) for seed in range(simulations)), strict=True)
        cells = [
            cell
            for found in by_adjustment
            for cell in (_percent([held for held, _ in found]), f"{mean(size for _, size in found):.1f}")
        ]
        rows.append([board.name, *cells])
        print(f"{board.name}: done", file=sys.stderr, flush=True)
    header = ["models", "kept, Holm", "size", "kept, max-T", "size"]
    about = f"{simulations} boards of each kind; of the first eight all models are equally good. {SETS}"
    return "\n\n".join(["### Who may be best, 20 models", about, table(header, rows)])


def _tops(simulations: int) -> str:
    former = [
        [f"{cell.k} models, {cell.n} items, {cell.best}", *(_percent(held) for held in _compared(cell, simulations))]
        for cell in NAMED
    ]
    header = ["0/1 answers", "this interval", "the former one", "of a single model"]
    about = f"{simulations} boards of each cell."
    chosen, apart = _cells_of(CHOSEN, simulations), _cells_of(APART, simulations)
    return "\n\n".join(
        [
            "### The winner's curse, cell by cell",
            f"{about} {CELLS}",
            _top_table(chosen),
            _fallen_short(chosen),
            APART_CELLS,
            _top_table(apart),
            _fallen_short(apart),
            FORMER,
            table(header, former),
        ]
    )


def _compared(cell: Cell, simulations: int) -> list[list[bool]]:
    seeds = range(simulations)
    return [
        [top_of(cell, seed).held for seed in seeds],
        [former_holds(cell, seed) for seed in seeds],
        [plain_holds(cell, seed) for seed in seeds],
    ]


def _cells_of(cells: Sequence[Cell], simulations: int) -> dict[Cell, list[Top]]:
    found = {}
    for cell in cells:
        found[cell] = [top_of(cell, seed) for seed in range(simulations)]
        print(f"{cell.name}, {cell.k} models, {cell.n} items: done", file=sys.stderr, flush=True)
    return found


def _fallen_short(cells: Mapping[Cell, Sequence[Top]]) -> str:
    """The cells whose interval held the truth too seldom, each by name."""
    said = []
    for cell, tops in cells.items():
        held = [top.held for top in tops]
        if mean(held) < ENOUGH:
            said.append(f"{cell.name}, {cell.k} models, {BEHIND[cell.behind]}, {cell.n} items ({_percent(held)})")
    return f"Cells below {100 * ENOUGH:g} %: {'; '.join(said) if said else 'none'}."


def _top_table(cells: Mapping[Cell, Sequence[Top]]) -> str:
    header = ["models", "cells", "least", "mean", "within [0, 1]", "width", "above", "corrected", "bias", "corrected"]
    rows = []
    for name in dict.fromkeys(cell.name for cell in cells):
        chosen = [cell for cell in cells if cell.name == name]
        tops = [cells[cell] for cell in chosen]
        held, every = [mean(top.held for top in part) for part in tops], [top for part in tops for top in part]
        rows.append(
            [
                name,
                str(len(chosen)),
                f"{100 * min(held):.1f}",
                f"{100 * mean(held):.1f}",
                ("yes" if all(top.inside for top in every) else "no") if chosen[0].bounded else "–",
                f"{mean(top.width for top in every):.2f}",
                *(f"{100 * mean(getattr(t, what) > 0 for t in every):.0f}" for what in ("measured", "corrected")),
                *(f"{mean(getattr(t, what) for t in every):+.2f}" for what in ("measured", "corrected")),
            ]
        )
    return table(header, rows)


def _share(results: Sequence[Outcome], held: Callable[[Outcome], bool]) -> str:
    return _percent([held(o) for o in results])


def _percent(held: Sequence[bool]) -> str:
    share = sum(held) / len(held)
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / len(held)):.1f}"


def _average(values: Sequence[float]) -> str:
    return f"{mean(values):+.2f} ± {stdev(values) / sqrt(len(values)):.2f}"


if __name__ == "__main__":
    main()
