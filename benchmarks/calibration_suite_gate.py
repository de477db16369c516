"""A gate over tasks: how often does it pass what it should not, and whom does it let pass? By simulation.

    python benchmarks/calibration_suite_gate.py                       everything; about 6 minutes on one core
    python benchmarks/calibration_suite_gate.py --simulations 200     a quick look
    python benchmarks/calibration_suite_gate.py --out benchmarks/results/calibration_suite_gate.md

The same command prints the same numbers on every run: simulation i of a suite has its own seed.
"""

import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation.command import simulate
from benchmarks.simulation.suite_gates import GateRates, alike, gated
from benchmarks.simulation.suites import Suite
from benchmarks.simulation.tables import table

EQUAL = """\
An equal model: per cent of {n} simulations, ± the binomial standard error. The total's limit is 0.02, that of each task
0.05, a tenth of the items differ. *Foretold* is what the certificate says of an equal model, on average over
{told} simulations: that the total passes, and that every task's own bound is within (`every: true`)."""
LIMIT = """\
Every task is down by 0.02, so that the mean is exactly at its limit: what passes, passes wrongly; 2.5 is right.
*A task named*: it has dropped, but not beyond its own limit of 0.05."""
ONE = """\
One task is down, all others are equal: how often it is named. *Noticed from* is what the certificate says is named 4
times in 5, on average."""
OTHERS = "The same of other scores: differences with a standard deviation of 0.3."


def main(arguments: Sequence[str] | None = None) -> None:
    simulate("What a gate over tasks passes and names.", _report, 1_500, arguments, "per suite (1,500)")


def _report(n: int) -> str:
    told = max(n // 60, 5)
    sizes = [(4, 100), (4, 400), (12, 100), (12, 400), (57, 100)]
    equal = [(count, size, gated(alike(count, size, 0.1), n, told)) for count, size in sizes]
    limit = [(count, size, gated(alike(count, size, 0.1, (-0.02,) * count), n, 1)) for count, size in sizes]
    drops = [
        (count, size, drop, _one(count, size, drop, n, told)) for count, size in sizes[2:] for drop in (0.1, 0.15, 0.2)
    ]
    real = [
        (kind, gated(_real(kind, 0.0), n, told), gated(_real(kind, -0.02), n, 1)) for kind in ("normal", "exponential")
    ]
    return "\n\n".join(
        [
            EQUAL.format(n=f"{n:,}", told=told),
            table(
                ["tasks", "items of each", "passes", "foretold", "a task named", "every task within", "foretold "],
                [_equal_row(*one) for one in equal],
            ),
            LIMIT,
            table(["tasks", "items of each", "passes", "fails", "a task named"], [_limit_row(*one) for one in limit]),
            ONE,
            table(["tasks", "items of each", "drop", "named", "noticed from"], [_one_row(*one) for one in drops]),
            OTHERS,
            table(
                ["differences", "equal: passes", "foretold", "a task named", "at the limit: passes"],
                [_real_row(*one) for one in real],
            ),
        ]
    )


def _one(count: int, size: int, drop: float, n: int, told: int) -> GateRates:
    return gated(alike(count, size, 0.1, (-drop, *(0.0,) * (count - 1))), n, told)


def _real(kind: str, shift: float) -> Suite:
    return alike(12, 200, 0.3, (shift,) * 12, kind=kind)


def _percent(share: float, n: int) -> str:
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / n):.1f}"


def _equal_row(count: int, size: int, found: GateRates) -> list[str]:
    return [
        str(count),
        str(size),
        _percent(found.passed, found.n),
        f"{100 * found.total_foretold:.0f}",
        _percent(found.named, found.n),
        _percent(found.every, found.n),
        f"{100 * found.every_foretold:.1f}",
    ]


def _limit_row(count: int, size: int, found: GateRates) -> list[str]:
    shares = (found.passed, found.failed, found.named)
    return [str(count), str(size), *(_percent(share, found.n) for share in shares)]


def _one_row(count: int, size: int, drop: float, found: GateRates) -> list[str]:
    least = "–" if found.noticed is None else f"{found.noticed:.3f}"
    return [str(count), str(size), f"{drop:g}", _percent(found.first, found.n), least]


def _real_row(kind: str, equal: GateRates, limit: GateRates) -> list[str]:
    foretold = f"{100 * equal.total_foretold:.0f}"
    return [
        kind,
        _percent(equal.passed, equal.n),
        foretold,
        _percent(equal.named, equal.n),
        _percent(limit.passed, limit.n),
    ]


if __name__ == "__main__":
    main()
