"""Assay beside errorbars, evalstats, lm-eval's own standard errors and scipy: the interval of a difference.

    pip install errorbars evalstats            # whichever is missing is left out, and said to be
    python benchmarks/peers.py --out benchmarks/results/peers.md

Data whose true difference is known are drawn again and again; every tool gives its 95 % interval as its documentation
says, with its defaults. How often does it cover the truth, how wide is it, what does it cost? The tools take turns.
"""

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

from assay.stats.units import Floats
from benchmarks.simulation.command import simulate
from benchmarks.simulation.tables import table
from benchmarks.simulation.tools import OURS, PEERS, Tool, version_of
from benchmarks.simulation.worlds import Drawn

PASSAGES, LEAN = 50, 1.5
TOOLS: dict[str, Tool] = {
    "assay": OURS["assay"],
    **{name: PEERS[name] for name in ("errorbars", "evalstats", "lm-eval's standard errors", "scipy")},
}


@dataclass(frozen=True, slots=True)
class Case:
    """Data with a known difference B − A."""

    name: str
    truth: float
    draw: Callable[[np.random.Generator], Drawn]


def cases() -> list[Case]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    share = float((weights / (1 + np.exp(-0.4 - LEAN * nodes))).sum() / weights.sum())
    return [
        Case("500 questions, right or wrong", 0.02, lambda rng: _pairs(rng, 500, 0.06, 0.04)),
        Case("30 questions, right or wrong", 0.07, lambda rng: _pairs(rng, 30, 0.15, 0.08)),
        Case(f"500 questions of {PASSAGES} passages", 0.2 * (2 * share - 1), _passages),
        Case("300 windows of unequal length, nats per token", 0.02, _windows),
    ]


def _pairs(rng: np.random.Generator, n: int, better: float, worse: float) -> Drawn:
    which = rng.choice(4, n, p=[better, worse, 0.6, 0.4 - better - worse])
    return Drawn(np.isin(which, (1, 2)).astype(np.float64), np.isin(which, (0, 2)).astype(np.float64))


def _passages(rng: np.random.Generator) -> Drawn:
    """A fifth of the questions tells the models apart; which way is alike within a passage."""
    clusters = np.repeat(np.arange(PASSAGES), 500 // PASSAGES)
    lean = (1 / (1 + np.exp(-0.4 - LEAN * rng.normal(size=PASSAGES))))[clusters]
    differs, to_b, right = rng.random(500) < 0.2, rng.random(500) < lean, rng.random(500) < 0.7
    a, b = np.where(differs, ~to_b, right), np.where(differs, to_b, right)
    return Drawn(a.astype(np.float64), b.astype(np.float64), clusters)


def _windows(rng: np.random.Generator) -> Drawn:
    tokens = np.ceil(rng.lognormal(5.5, 0.8, 300))
    a = rng.uniform(2, 4, 300)
    return Drawn(a, a + rng.normal(0.02, 0.15, 300), tokens=tokens)


# --------------------------------------------------------------------------------------------------------------- report


def _report(simulations: int) -> str:
    absent = [name for name in ("errorbars", "evalstats") if version_of(name) is None]
    tools = {name: tool for name, tool in TOOLS.items() if name not in absent}
    rows = [row for case in cases() for row in _rows(case, tools, simulations)]
    used = ", ".join(f"{name} {version_of(name)}" for name in ("errorbars", "evalstats", "scipy") if version_of(name))
    said = f"{simulations:,} simulations of each: a coverage of 95 % has a standard error of {_error(simulations):.1f}."
    lines = [table(["data", "tool", "covers, % of 95", "width, median", "CPU, ms"], rows), f"{said} {used}."]
    return "\n\n".join([*lines, *([f"Not installed, and left out: {', '.join(absent)}."] if absent else [])])


def _error(simulations: int) -> float:
    return 100 * sqrt(0.95 * 0.05 / simulations)


def _rows(case: Case, tools: dict[str, Tool], simulations: int) -> list[list[str]]:
    rng = np.random.default_rng(20261118)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in tools}
    seconds = dict.fromkeys(tools, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(simulations):
            drawn = case.draw(rng)
            for name, tool in tools.items():
                began = time.process_time()
                said = tool(drawn)
                seconds[name] += time.process_time() - began
                if said is not None:
                    found[name].append((said.low, said.high))
    return [
        _row(case, name, np.array(limits), seconds[name] / simulations)
        if limits
        else [case.name, name, "–", "has none", ""]
        for name, limits in found.items()
    ]


def _row(case: Case, name: str, limits: Floats, seconds: float) -> list[str]:
    covers = 100 * float(((limits[:, 0] <= case.truth) & (case.truth <= limits[:, 1])).mean())
    width = float(np.nanmedian(limits[:, 1] - limits[:, 0]))  # no limits where all differences are equal: a miss
    return [case.name, name, f"{covers:.1f}", f"{width:.4f}", f"{1000 * seconds:.1f}"]


def main(arguments: Sequence[str] | None = None) -> None:
    about = "The interval of a difference: assay, errorbars, evalstats, lm-eval and scipy."
    simulate(about, _report, 300, arguments, "simulations of each kind of data")


if __name__ == "__main__":
    main()
