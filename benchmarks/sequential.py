"""Tokens and seconds until the decision: a gate that stops when the answer is clear, against scoring every window.

    python benchmarks/sequential.py                                     the shipped model and its edits; some minutes
    python benchmarks/sequential.py --models DIR TEXT                   a folder of models: its edits are made and gated
    python benchmarks/sequential.py --out benchmarks/results/sequential.md

Both designs have the same windows, context and limit. The fixed one scores all of them with both models and certifies
nothing: its time is that of `assay.score` alone. Seconds are CPU time (user and system) of both runs, interleaved.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import assay
from assay.design import Policy
from assay.models import path, prune, round_weights
from assay.scoring.windows import Plan
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table

CONTEXT = 128
WINDOWS = 180
TO_THE_END = "4 bits, limit × 1.025"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Tokens and seconds until the decision, against the fixed design.")
    parser.add_argument("--models", nargs=2, action="append", type=Path, metavar=("MODEL", "TEXT"), default=[])
    options = parser.parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as folder:  # what is imported now is not timed
        assay.score(path("base"), path("en.txt"), Path(folder, "run"), plan=Plan(context=32, draw=(1, 1)))
    for base, text in [(path("base"), path("en.txt")), *options.models]:
        with tempfile.TemporaryDirectory() as folder:
            rows += [_told(row) for row in _rows(base, text, Path(folder))]
    publish(_report(rows), options.out)


def _rows(base: Path, text: Path, folder: Path) -> Iterator[list[str]]:
    edits: dict[str, Callable[[Path], Path]] = {
        "the same": lambda _: base,
        "8 bits": lambda out: round_weights(base, out, bits=8),
        "4 bits": lambda out: round_weights(base, out, bits=4),
        "3 bits": lambda out: round_weights(base, out, bits=3),
        "2 bits": lambda out: round_weights(base, out, bits=2),
        "30 % pruned": lambda out: prune(base, out, share=0.3),
        TO_THE_END: lambda out: round_weights(base, out, bits=4),
    }
    plan, drawn = Plan(context=CONTEXT), Plan(context=CONTEXT, draw=(1, WINDOWS - 1))
    for name, edit in edits.items():
        place = folder / name.replace(" ", "-")
        model = edit(place / "model")
        began = time.process_time()
        tight = Policy(max_ratio=1.025, note="near what a 4-bit copy loses") if name == TO_THE_END else None
        found = assay.gate(base, model, text, place / "gate.json", plan=plan, policy=tight)
        gated, began = time.process_time() - began, time.process_time()
        assay.score({"a": base, "b": model}, text, place / "runs", plan=drawn)
        fixed = time.process_time() - began
        last = found.looks[-1]
        yield [
            base.name,
            name,
            found.verdict,
            f"{found.found.ratio:.3f}",
            f"{last.windows} of {found.plan.windows}",
            f"{found.found.tokens_planned / last.tokens:.1f} ×",
            f"{gated:.1f}",
            f"{fixed:.1f}",
            f"{fixed / gated:.1f} ×",
        ]


def _told(row: list[str]) -> list[str]:
    print("; ".join(row), file=sys.stderr, flush=True)
    return row


def _report(rows: list[list[str]]) -> str:
    header = ["model", "edit", "verdict", "ratio", "windows", "fewer tokens", "gate, s", "all windows, s", "faster"]
    about = f"Limit × 1.1 unless said, {WINDOWS} windows of {CONTEXT} tokens at most, 7 looks; seconds include loading."
    return f"{about}\n\n{table(header, rows)}"


if __name__ == "__main__":
    main()
