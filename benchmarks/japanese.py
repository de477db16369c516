"""How long does a paired test of corpus BLEU take: ours, and sacrebleu's.

    python benchmarks/japanese.py            about a minute
    python benchmarks/japanese.py --quick    fewer turns
    python benchmarks/japanese.py --out benchmarks/results/japanese.md

Both are given the same 2,000 sentences of two systems as text, cut them into characters, count n-grams, score the
systems and test their difference. They run in turns in one process.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from assay.stats.bootstrap.totals import paired_bootstrap, randomization, replicated_sums, score_interval
from assay.stats.text import bleu_counts, bleu_of
from assay.stats.units import Floats
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table
from benchmarks.simulation.translations import translations
from benchmarks.timing.clock import Contender, Times, interleaved

SENTENCES = 2_000
TESTS = (("bs", 1_000), ("bs", 10_000), ("ar", 10_000))  # with the resamples: sacrebleu's defaults, and our default
NAMES = {"bs": "paired bootstrap", "ar": "approximate randomization"}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Paired tests of corpus BLEU: our time and sacrebleu's.")
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    options = parser.parse_args(arguments)
    report = _report(1 if options.quick else 3)
    publish(report, options.out)


def _report(turns: int) -> str:
    rows = [row for kind, resamples in TESTS for row in _rows(kind, resamples, turns)]
    about = (
        f"{SENTENCES:,} sentences of two systems, BLEU of characters, from the texts to the p-value; {turns} turns in\n"
        "one warm process. sacrebleu's bootstrap test counts one tail, ours both."
    )
    header = ["test", "resamples", "by", "CPU s", "wall s", "× sacrebleu, CPU", "p"]
    return "\n\n".join(["## Time of paired tests of corpus BLEU", about, table(header, rows)])


def _rows(kind: str, resamples: int, turns: int) -> list[list[str]]:
    contenders = {"sacrebleu": _theirs(kind, resamples), "ours": _ours(kind, resamples)}
    p_values = {name: run() for name, run in contenders.items()}
    times = interleaved([Contender(name, run) for name, run in contenders.items()], turns)
    return [[NAMES[kind], f"{resamples:,}", *_row(name, times, p_values[name])] for name in contenders]


def _row(name: str, times: dict[str, Times], p: float) -> list[str]:
    own, theirs = times[name], times["sacrebleu"]
    ratio = f"{theirs.median_cpu / own.median_cpu:.1f}"
    seconds = [f"{own.median_cpu:.3f}", f"{own.median_wall:.3f}"]
    return [name, *seconds, ratio, f"{p:.4f}"]


def _theirs(kind: str, resamples: int) -> Callable[[], float]:
    made = translations()
    named = [("a", made.a[:SENTENCES]), ("b", made.b[:SENTENCES])]
    references = [made.references[:SENTENCES]]

    def run() -> float:
        metrics = {"BLEU": BLEU(tokenize="char")}
        paired: Any = PairedTest  # its types are narrower than what it takes
        test = paired(named, metrics, references, test_type=kind, n_samples=resamples)
        return float(test()[1]["BLEU"][1].p_value)

    return run


def _ours(kind: str, resamples: int) -> Callable[[], float]:
    made = translations()

    def counted(system: list[str]) -> Floats:
        pairs = zip(system[:SENTENCES], made.references[:SENTENCES], strict=True)
        return np.array([bleu_counts("".join(a.split()), "".join(b.split())) for a, b in pairs], dtype=np.float64)

    def run() -> float:
        a, b = counted(made.a), counted(made.b)
        if kind == "ar":
            found = randomization(a, b, [bleu_of], resamples=resamples)[0]
        else:
            drawn = [bleu_of(sums) for sums in replicated_sums([a, b], resamples, 0)]
            gap = score_interval([a, b], lambda x, y: bleu_of(y) - bleu_of(x), drawn[1] - drawn[0]).estimate
            found = paired_bootstrap(gap.value or 0.0, drawn[1] - drawn[0], len(a))
        assert found.p_value is not None
        return found.p_value

    return run


if __name__ == "__main__":
    main()
