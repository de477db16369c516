"""Do the intervals of corpus BLEU hold the truth, and are the paired tests of the right size? By simulation.

    python benchmarks/calibration_japanese.py                       everything; about three minutes on one core
    python benchmarks/calibration_japanese.py --simulations 100     a quick look
    python benchmarks/calibration_japanese.py --out benchmarks/results/calibration_japanese.md

Samples of sentences are drawn from a text that two systems copied badly; the truth is the BLEU of all of it. For the
size of the tests the two outputs of every sentence are swapped at random, so that there is no difference.
"""

import sys
from collections.abc import Callable, Sequence
from math import sqrt
from pathlib import Path
from typing import Literal, get_args

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

from assay.stats.bootstrap.totals import paired_bootstrap, randomization, replicated_sums, score_interval
from assay.stats.records import Estimate
from assay.stats.text import bleu_of
from assay.stats.units import Floats
from benchmarks.simulation.command import simulate
from benchmarks.simulation.tables import table
from benchmarks.simulation.translations import SEED, counts

Method = Literal["auto", "t-hall", "bca", "percentile", "t"]
RESAMPLES = 999
SIZES = (10, 20, 50, 90, 200)


def main(arguments: Sequence[str] | None = None) -> None:
    simulate("Coverage and size for corpus BLEU, by simulation.", _report, 1_000, arguments, "per line (1,000)")


def _report(simulations: int) -> str:
    head = "## Coverage of 95 % intervals of corpus BLEU, and size of its paired tests at 5 %"
    about = (
        f"Per cent of {simulations:,} simulations, ± the binomial standard error; {RESAMPLES} resamples and swaps.\n"
        f"Sentences are drawn from {len(counts()[0]):,} lines that two systems copied badly. Right is 95 for\n"
        "intervals and 5 for tests. `auto` is the default: t-hall below 100 sentences, bca from there on. *width*: of\n"
        "the default interval, beside t's."
    )
    intervals = [row for n in SIZES for row in _coverage_rows(n, simulations)]
    tests = [_size_row(n, simulations) for n in SIZES]
    return "\n\n".join(
        [
            head,
            about,
            table(["interval of", "sentences", *get_args(Method), "width"], intervals),
            table(["sentences", "approximate randomization", "paired bootstrap"], tests),
        ]
    )


def _difference(a: Floats, b: Floats) -> Floats:
    return bleu_of(b) - bleu_of(a)


def _coverage_rows(n: int, simulations: int) -> list[list[str]]:
    a, b = counts()
    one, two = (float(bleu_of(b.sum(axis=0))), float(_difference(a.sum(axis=0), b.sum(axis=0))))
    held: dict[str, list[tuple[list[bool], float]]] = {"BLEU": [], "difference": []}
    for seed in range(simulations):
        drawn = np.random.default_rng([SEED, n, seed]).integers(0, len(a), n)
        sample = a[drawn], b[drawn]
        sums = replicated_sums(sample, RESAMPLES, seed)
        held["BLEU"].append(_held([sample[1]], bleu_of, bleu_of(sums[1]), one))
        held["difference"].append(_held(sample, _difference, _difference(*sums), two))
    print(f"intervals, {n} sentences: done", file=sys.stderr, flush=True)
    return [
        [
            name,
            str(n),
            *(_share([held[k] for held, _ in part]) for k in range(len(get_args(Method)))),
            f"{np.mean([width for _, width in part]):.2f}",
        ]
        for name, part in held.items()
    ]


def _held(
    sample: Sequence[Floats], score: Callable[..., Floats], drawn: Floats, truth: float
) -> tuple[list[bool], float]:
    """Which intervals hold the truth, and how wide the default one is beside t's."""
    found = {name: score_interval(sample, score, drawn, method=name).estimate for name in get_args(Method)}
    limits = [found[name].interval for name in ("auto", "t")]
    assert limits[0] is not None
    assert limits[1] is not None
    width = (limits[0].high - limits[0].low) / (limits[1].high - limits[1].low)
    return [_holds(estimate, truth) for estimate in found.values()], width


def _holds(estimate: Estimate, truth: float) -> bool:
    return estimate.interval is not None and estimate.interval.low <= truth <= estimate.interval.high


def _size_row(n: int, simulations: int) -> list[str]:
    a, b = counts()
    rejected = []
    for seed in range(simulations):
        rng = np.random.default_rng([SEED, n, seed, 1])
        drawn, swapped = rng.integers(0, len(a), n), rng.random((n, 1)) < 0.5
        first, second = np.where(swapped, b[drawn], a[drawn]), np.where(swapped, a[drawn], b[drawn])
        sums = replicated_sums([first, second], RESAMPLES, seed)
        observed = float(_difference(first.sum(axis=0), second.sum(axis=0)))
        tests = [
            randomization(first, second, [bleu_of], resamples=RESAMPLES, seed=seed)[0],
            paired_bootstrap(observed, _difference(*sums), n),
        ]
        rejected.append([(test.p_value or 1.0) <= 0.05 for test in tests])
    print(f"tests, {n} sentences: done", file=sys.stderr, flush=True)
    return [str(n), *(_share([found[k] for found in rejected]) for k in range(2))]


def _share(held: Sequence[bool]) -> str:
    share = sum(held) / len(held)
    return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / len(held)):.1f}"


if __name__ == "__main__":
    main()
