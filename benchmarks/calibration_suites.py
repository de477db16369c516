"""Suites: is a task named wrongly in 5 % of suites, and do intervals of tasks and totals cover? By simulation.

    python benchmarks/calibration_suites.py                       everything; about 7 minutes on one core
    python benchmarks/calibration_suites.py --simulations 100     a quick look
    python benchmarks/calibration_suites.py --part tasks --out benchmarks/results/calibration_suites.md
    python benchmarks/calibration_suites.py --part groups --out benchmarks/results/calibration_suites_groups.md
    python benchmarks/calibration_suites.py --part boards --out benchmarks/results/calibration_suites_boards.md

The same command prints the same numbers on every run: simulation i of a suite has its own seed.
"""

import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.groups_and_runs import (
    REPEATED,
    GroupRates,
    Repeated,
    RunRates,
    grouped_suite,
    named_with_shared_items,
    repeated,
)
from benchmarks.simulation.suite_boards import BOARDS, BoardRates, SuiteBoard, rates
from benchmarks.simulation.suites import CHANGED, EQUAL, Rates, Suite, macro_means, named_by_rows, set_apart, simulated
from benchmarks.simulation.tables import table

APART, ALONE_SUITES = 40, 20
SHARING = [suite for suite in EQUAL if suite.kind == "shared"]
GROUPED = (EQUAL[0], EQUAL[1], EQUAL[6], EQUAL[9], CHANGED[0])
GROUPS = (tuple(range(12)), (0, 1, 2, 3, 4, 5), (6, 7, 8, 9, 10, 11), (0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10, 11))

NOTHING = """\
Nothing differs between A and B. Per cent of {n} simulations, ± the binomial standard error: *a task named*, some
adjusted p ≤ 0.05 (with Holm's in the second column); *all tasks covered*, every simultaneous 95 % interval holds;
*total covered*, by its own 95 % interval; *tasks differ*, said of tasks that do not."""
SOME = """\
Some tasks differ, or weights are unequal. *Named wrongly*: a task that does not differ is named; *found*: of the tasks
that differ, those that are named."""
ANY = """\
{count} suites set apart, at which no choice was looked at (3 to 30 tasks of 25 to 1,200 items, 3 to 40 % of the items
differ, weights from a Dirichlet distribution, half of the tasks with a difference): {n} simulations each."""


ALONE = """\
One model alone: coverage of the interval of the mean of its tasks' shares of right answers (`summarize`), mean and
worst over {count} suites of 2 to 30 tasks of 15 to 800 items, {n} simulations each."""
SHARES = ("0.1 to 0.9", "0.01 to 0.99, most at the ends", "0.95 to 0.995")


SHARED = """\
Nothing differs, and tasks share items (every task takes the first n of the same ones). Per cent of {n} suites in which
a task is named."""
NESTED = """\
Groups of tasks: 12 tasks in 4 groups of 3, two larger groups around two of them each, and one around all. Per cent of
{n} simulations: *a group named* that does not differ; *all groups covered* by their simultaneous 95 % intervals."""
RUNS = """\
Several runs of both models, 0/1 scores, B ahead by 3 points. A run moves all items of its model together. Coverage of
what other runs would give, by the interval for *these runs* and by that for *runs like these*, {n} simulations each;
*wider*: by how many times the second is, at the median."""


RANKED = """\
Leaderboards of ten models on twelve tasks of 30 to 400 items, ranked by the mean of the tasks. Per cent of {n}
simulations, ± the binomial standard error, in which an order is shown that is none, by *max-T* (the default), by
*Holm*'s rule and *unadjusted*; *found*: of the pairs that differ, those that are told apart; *ranks* and *intervals*
that hold, all of a board at once (max-T); *leader changes*: another model comes first when some task is left out, which
is why nothing is said of tasks where no order is shown."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Family-wise error and coverage of suites of tasks.")
    parser.add_argument("--simulations", type=int, default=800, metavar="N", help="per suite (800)")
    parser.add_argument("--part", choices=list(PARTS), help="only this part")
    options = parser.parse_args(arguments)
    chosen = [PARTS[options.part]] if options.part else list(PARTS.values())
    publish("\n\n".join(part(options.simulations) for part in chosen), options.out)


def _boards(n: int) -> str:
    few = max(n // 4, 1)
    head = ["board", "max-T", "Holm", "unadjusted", "found", "found, Holm", "ranks", "intervals", "leader changes"]
    rows = [_board_row(board, rates(board, few)) for board in BOARDS]
    return "\n\n".join([RANKED.format(n=f"{few:,}"), table(head, rows)])


def _board_row(board: SuiteBoard, found: BoardRates) -> list[str]:
    order = [_percent(share, found.n) for share in (found.false_max_t, found.false_holm, found.false_alone)]
    known = [f"{100 * share:.1f}" if board.ability.any() else "–" for share in (found.found_max_t, found.found_holm)]
    held = [_percent(share, found.n) for share in (found.ranks, found.intervals, found.leader)]
    return [board.label, *order, *known, *held]


def _groups_and_runs(n: int) -> str:
    groups = [(suite, grouped_suite(suite, GROUPS, max(n // 2, 1))) for suite in GROUPED]
    runs = [(suite, repeated(suite, n)) for suite in REPEATED]
    odd = sum(found.contradictions for _, found in groups)
    shared = [[suite.label, _percent(named_with_shared_items(suite, 3 * n), 3 * n)] for suite in SHARING]
    return "\n\n".join(
        [
            SHARED.format(n=f"{3 * n:,}"),
            table(["suite", "a task named"], shared),
            NESTED.format(n=f"{max(n // 2, 1):,}"),
            table(["suite", "a group named", "all groups covered"], [_group_row(*one) for one in groups]),
            f"Contradictions of a group's interval and its p-value: {odd}.",
            RUNS.format(n=f"{n:,}"),
            table(["suite", "these runs", "runs like these", "wider"], [_run_row(*one) for one in runs]),
        ]
    )


def _group_row(suite: Suite, found: GroupRates) -> list[str]:
    return [suite.label, _percent(found.named, found.n), _percent(found.covered, found.n)]


def _run_row(suite: Repeated, found: RunRates) -> list[str]:
    return [suite.label, _percent(found.these, found.n), _percent(found.like_these, found.n), f"{found.wider:.2f}"]


def _tasks(n: int) -> str:
    apart = [(suite, simulated(suite, max(n // 4, 1))) for suite in set_apart(APART)]
    equal = [(suite, simulated(suite, n)) for suite in EQUAL]
    changed = [(suite, simulated(suite, n)) for suite in CHANGED]
    every = [rates for _, rates in (*apart, *equal, *changed)]
    parts = [
        NOTHING.format(n=f"{n:,}"),
        table(
            ["suite", "a task named", "Holm", "all tasks covered", "total covered", "total named", "tasks differ"],
            [_equal_row(*one) for one in equal],
        ),
        _rows_alone(15 * n),
        SOME,
        table(
            ["suite", "named wrongly", "Holm", "found", "all tasks covered", "total covered", "tasks differ"],
            [_changed_row(*one) for one in changed],
        ),
        ANY.format(count=APART, n=f"{max(n // 4, 1):,}"),
        table(["", "mean", "worst"], _summary([rates for _, rates in apart])),
        _contradictions(every),
        ALONE.format(count=ALONE_SUITES, n=f"{max(n // 4, 1):,}"),
        table(["right in each task", "mean", "worst"], [_alone_row(kind, max(n // 4, 1)) for kind in SHARES]),
    ]
    return "\n\n".join(parts)


def _rows_alone(n: int) -> str:
    shown = ", ".join(_percent(named_by_rows(suite, n), n) for suite in EQUAL[:4])
    return f"*A task named* in the first four suites, from {n:,} draws of their counts: {shown}."


def _alone_row(kind: str, n: int) -> list[str]:
    return [kind, *(f"{100 * share:.1f}" for share in macro_means(kind, ALONE_SUITES, n))]


def _contradictions(found: Sequence[Rates]) -> str:
    count, suites = sum(one.contradictions for one in found), sum(one.n for one in found)
    return f"Contradictions of an interval and its p-value, in all {suites:,} simulated suites: {count}."


def _percent(share: float | None, n: int) -> str:
    return "–" if share is None else f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / n):.1f}"


def _equal_row(suite: Suite, found: Rates) -> list[str]:
    shares = (found.named, found.named_holm, found.tasks_covered, found.total_covered, found.total_named)
    return [suite.label, *(_percent(share, found.n) for share in (*shares, found.spread_named))]


def _changed_row(suite: Suite, found: Rates) -> list[str]:
    shares = (found.named, found.named_holm, found.found, found.tasks_covered, found.total_covered)
    return [suite.label, *(_percent(share, found.n) for share in (*shares, found.spread_named))]


def _summary(found: Sequence[Rates]) -> list[list[str]]:
    named = [one.named for one in found]
    rows = [["named wrongly", f"{100 * sum(named) / len(named):.1f}", f"{100 * max(named):.1f}"]]
    for label, shares in (
        ("all tasks covered", [one.tasks_covered for one in found]),
        ("total covered", [one.total_covered for one in found]),
    ):
        rows.append([label, f"{100 * sum(shares) / len(shares):.1f}", f"{100 * min(shares):.1f}"])
    return rows


PARTS = {"tasks": _tasks, "groups": _groups_and_runs, "boards": _boards}

if __name__ == "__main__":
    main()
