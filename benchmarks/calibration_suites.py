"""Suites: is a task named wrongly in 5 % of suites, and do intervals of tasks and totals cover? By simulation.

    python benchmarks/calibration_suites.py                       everything; about 4 minutes on one core
    python benchmarks/calibration_suites.py --simulations 100     a quick look
    python benchmarks/calibration_suites.py --out benchmarks/results/calibration_suites.md

The same command prints the same numbers on every run: simulation i of a suite has its own seed.
"""

import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation.command import simulate
from benchmarks.simulation.suites import CHANGED, EQUAL, Rates, Suite, macro_means, named_by_rows, set_apart, simulated
from benchmarks.simulation.tables import table

APART, ALONE_SUITES = 40, 20

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


def main(arguments: Sequence[str] | None = None) -> None:
    about = "Family-wise error and coverage of suites of tasks."
    simulate(about, _report, 800, arguments, "per suite (800)")


def _report(n: int) -> str:
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


if __name__ == "__main__":
    main()
