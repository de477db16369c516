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
from importlib.metadata import PackageNotFoundError, version
from math import sqrt
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np
from scipy import stats

from assay.analyses.compare import compare
from assay.stats.units import Floats, Integers
from benchmarks.simulation.command import simulate
from benchmarks.simulation.tables import table

Limits = tuple[float, float]
PASSAGES, LEAN = 50, 1.5


@dataclass(frozen=True, slots=True)
class Drawn:
    """Scores or losses of two models on the same units."""

    a: Floats
    b: Floats
    clusters: Integers | None = None
    tokens: Floats | None = None


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


# ---------------------------------------------------------------------------------------------------------------- tools


def of_assay(found: Drawn) -> Limits | None:
    ids = [f"q{i}" for i in range(len(found.a))]
    more: dict[str, Any] = {} if found.clusters is None else {"cluster": found.clusters.tolist()}
    if found.tokens is not None:
        tables = [{"window": ids, "tokens": found.tokens.tolist(), "loss": x.tolist()} for x in (found.a, found.b)]
    else:
        tables = [{"item": ids, "score": x.tolist(), **more} for x in (found.a, found.b)]
    limits = compare(*tables).difference.interval
    assert limits is not None
    return limits.low, limits.high


def of_errorbars(found: Drawn) -> Limits | None:
    from errorbars.compare import paired_compare

    if found.tokens is not None:
        return None
    made = paired_compare(found.b, found.a, found.clusters)
    if found.clusters is not None:
        return made.ci_low_clustered, made.ci_high_clustered
    return made.ci_low, made.ci_high


def of_evalstats(found: Drawn) -> Limits | None:
    from evalstats import pairwise_differences

    if found.tokens is not None:
        return None
    made = pairwise_differences(np.stack([found.b, found.a]), 0, 1, rng=np.random.default_rng(0))
    return float(made.ci_low), float(made.ci_high)


def of_lm_eval(found: Drawn) -> Limits | None:
    """Two scores with the standard errors that lm-eval prints, put together as if they were independent."""
    if found.tokens is not None:  # it prints N/A
        return None
    error = sqrt(sum(float(x.var(ddof=1)) / len(x) for x in (found.a, found.b)))
    middle = float(found.b.mean() - found.a.mean())
    return middle - 1.96 * error, middle + 1.96 * error


def of_scipy(found: Drawn) -> Limits | None:
    """BCa with 2,000 resamples, as its manual shows; passages summed, and windows weighed, by hand."""
    gap = found.b - found.a
    how: dict[str, Any] = {"n_resamples": 2_000, "rng": np.random.default_rng(0), "batch": 200}
    if found.tokens is not None:
        ratio = stats.bootstrap((gap * found.tokens, found.tokens), _ratio, paired=True, vectorized=True, **how)
        return float(ratio.confidence_interval.low), float(ratio.confidence_interval.high)
    drawn = gap if found.clusters is None else np.bincount(found.clusters, gap) / np.bincount(found.clusters)
    made = stats.bootstrap((drawn,), np.mean, vectorized=True, **how).confidence_interval
    return float(made.low), float(made.high)


def _ratio(x: Floats, y: Floats, axis: int = -1) -> Floats:
    return np.asarray(x.sum(axis=axis) / y.sum(axis=axis))


TOOLS: dict[str, Callable[[Drawn], Limits | None]] = {
    "assay": of_assay,
    "errorbars": of_errorbars,
    "evalstats": of_evalstats,
    "lm-eval's standard errors": of_lm_eval,
    "scipy": of_scipy,
}


# --------------------------------------------------------------------------------------------------------------- report


def _report(simulations: int) -> str:
    absent = [name for name in ("errorbars", "evalstats") if _version(name) is None]
    tools = {name: tool for name, tool in TOOLS.items() if name not in absent}
    rows = [row for case in cases() for row in _rows(case, tools, simulations)]
    used = ", ".join(f"{name} {_version(name)}" for name in ("errorbars", "evalstats", "scipy") if _version(name))
    said = f"{simulations:,} simulations of each: a coverage of 95 % has a standard error of {_error(simulations):.1f}."
    lines = [table(["data", "tool", "covers, % of 95", "width, median", "CPU, ms"], rows), f"{said} {used}."]
    return "\n\n".join([*lines, *([f"Not installed, and left out: {', '.join(absent)}."] if absent else [])])


def _error(simulations: int) -> float:
    return 100 * sqrt(0.95 * 0.05 / simulations)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _rows(case: Case, tools: dict[str, Callable[[Drawn], Limits | None]], simulations: int) -> list[list[str]]:
    rng = np.random.default_rng(20261118)
    found: dict[str, list[Limits]] = {name: [] for name in tools}
    seconds = dict.fromkeys(tools, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(simulations):
            drawn = case.draw(rng)
            for name, tool in tools.items():
                began = time.process_time()
                limits = tool(drawn)
                seconds[name] += time.process_time() - began
                if limits is not None:
                    found[name].append(limits)
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
