"""Tokens and seconds until the decision: a gate that stops when the answer is clear, against scoring every window.

    python benchmarks/sequential.py                                     the shipped model and its edits; some minutes
    python benchmarks/sequential.py --models DIR TEXT                   another model too: its edits are made and gated
    python benchmarks/sequential.py --out benchmarks/results/sequential.md

Both designs have the same number of windows, context and limit. The fixed one scores all of them with both models and
certifies. Seconds are CPU time (user and system), a gate and the fixed design in turns; the last row of each model is
the median of three, with the limit at the ratio that was found, so that the gate goes to the end.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import assay
from assay.design import Policy
from assay.models import path, prune, round_weights
from assay.scoring.windows import Plan
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table

CONTEXT = 128
WINDOWS = 180
SHORT = ("8 bits", "4 bits", "2 bits")  # of other models than the shipped one
AGAIN = 3  # measurements of a gate that goes to the end


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Tokens and seconds until the decision, against the fixed design.")
    parser.add_argument("--models", nargs=2, action="append", type=Path, metavar=("MODEL", "TEXT"), default=[])
    options = parser.parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as folder:  # what is imported now is not timed
        _both(path("base"), path("base"), path("en.txt"), Path(folder), None)
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
    }
    ratio, four = 1.0, base
    for name, edit in edits.items():
        if base != path("base") and name not in SHORT:
            continue
        model = edit(folder / name.replace(" ", "-") / "model")
        found = _both(base, model, text, folder / name.replace(" ", "-"), None)
        if name == "4 bits":
            ratio, four = found[2], model
        yield _row(base.name, name, found[0], [found[1]])
    limit = float(f"{ratio:.4g}")
    again = [_both(base, four, text, folder / f"end-{i}", limit) for i in range(AGAIN)]
    yield _row(base.name, f"4 bits, limit × {limit:g}", again[0][0], [one[1] for one in again])


def _both(
    base: Path, model: Path, text: Path, place: Path, limit: float | None
) -> tuple[assay.GateCertificate, tuple[float, float], float]:
    """The gate, the seconds of both designs, and the ratio of all windows."""
    tight = None if limit is None else Policy(max_ratio=limit, note="near what a 4-bit copy loses")
    began = time.process_time()
    found = assay.gate(base, model, text, place / "gate.json", plan=Plan(context=CONTEXT), policy=tight)
    gated, began = time.process_time() - began, time.process_time()
    drawn = Plan(context=CONTEXT, draw=(1, WINDOWS - 1))
    runs = assay.score({"a": base, "b": model}, text, place / "runs", plan=drawn)
    judged = assay.certify(runs["a"], runs["b"], place / "fixed.json", policy=tight)
    assert isinstance(judged, assay.Certificate)  # of one text
    return found, (gated, time.process_time() - began), judged.primary_metric.ratio_vs_baseline or 1.0


def _row(model: str, name: str, found: assay.GateCertificate, seconds: Sequence[tuple[float, float]]) -> list[str]:
    gated, fixed = (median(one[i] for one in seconds) for i in range(2))
    last = found.looks[-1]
    return [
        model,
        name,
        found.verdict,
        f"{found.found.ratio:.3f}",
        f"{last.windows} of {found.plan.windows}",
        f"{found.found.tokens_planned / last.tokens:.1f} ×",
        f"{gated:.1f}",
        f"{fixed:.1f}",
        f"{fixed / gated:.2f} ×",
    ]


def _told(row: list[str]) -> list[str]:
    print("; ".join(row), file=sys.stderr, flush=True)
    return row


def _report(rows: list[list[str]]) -> str:
    header = ["model", "edit", "verdict", "ratio", "windows", "fewer tokens", "gate, s", "fixed, s", "faster"]
    about = f"Limit × 1.1 unless said, {WINDOWS} windows of {CONTEXT} tokens at most, 7 looks; seconds include loading."
    return f"{about}\n\n{table(header, rows)}"


if __name__ == "__main__":
    main()
