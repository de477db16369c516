"""How fast and how frugal scoring is: ours, lm-eval's, the `evaluate` recipe's, and bare forward passes.

    python benchmarks/scoring.py                 the shipped model on the shipped English text
    python benchmarks/scoring.py --model FOLDER --text FILE --context 256
    python benchmarks/scoring.py --out benchmarks/results/scoring.md
    python benchmarks/scoring.py --lengths --out benchmarks/results/scoring_lengths.md
    python benchmarks/scoring.py --agreement --documents 20 --out benchmarks/results/scoring_agreement.md

All of them run the same model over the same text with the same context and number of threads, in turns, in one
process. Tokens per second are predicted tokens, which each contender counts for itself. lm-eval is asked for if it is
installed (pip install lm-eval==0.4.13). Then follows the memory of scoring in processes of their own.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from assay import models
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table
from benchmarks.timing.clock import Times, interleaved
from benchmarks.timing.memory import memory_by_length, memory_report
from benchmarks.timing.scorers import BARE, EVALUATE, LM_EVAL, OURS, Task, log_likelihoods, scorers

#: contender → how many times its tokens per second ours should reach
GOALS = {LM_EVAL: 1.5, EVALUATE: 1.5, BARE: 0.95}
AGREEMENT = 1e-5  # of log-likelihoods, relative


@dataclass(frozen=True, slots=True)
class Measured:
    """Predicted tokens per second of one contender."""

    tokens: int
    times: Times

    @property
    def speed(self) -> float:
        return self.tokens / self.times.median_wall


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Tokens per second and memory of scoring, beside the peers'.")
    parser.add_argument("--model", type=Path, default=models.path("base"), help="a folder for from_pretrained")
    parser.add_argument("--text", type=Path, default=models.path("en.txt"), help="documents, between empty lines")
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--documents", type=int, default=60, help="how many documents of the text")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--lengths", action="store_true", help="only the memory by length of context")
    parser.add_argument("--agreement", action="store_true", help="compare log-likelihoods with lm-eval's instead")
    asked = parser.parse_args(arguments)
    if asked.agreement:
        publish(_agreement(asked.model, asked.documents, asked.threads), asked.out)
        return
    if asked.lengths:
        publish("\n\n".join(memory_by_length()), asked.out)
        return
    documents = asked.text.read_text(encoding="utf-8").strip().split("\n\n")[: asked.documents]
    report = _report(Task(asked.model, documents, asked.context, asked.threads), asked.turns)
    publish(report, asked.out)


def _agreement(model: Path, documents: int, threads: int) -> str:
    """The rolling log-likelihood of both texts, at several contexts: every token of every document."""
    rows = []
    for name in ("en.txt", "ja.txt"):
        texts = models.path(name).read_text(encoding="utf-8").strip().split("\n\n")[:documents]
        for context in (64, 256, 512):
            ours, theirs, tokens = log_likelihoods(Task(model, texts, context, threads))
            apart = abs(ours - theirs) / abs(theirs)
            verdict = "met" if apart <= AGREEMENT else "not met"
            rows.append([name, f"{context}", f"{tokens:,}", f"{ours:,.3f}", f"{theirs:,.3f}", f"{apart:.0e}", verdict])
    header = [
        "text",
        "context",
        "predicted tokens",
        "assay score",
        "lm-eval",
        "relative difference",
        f"≤ {AGREEMENT:g}",
    ]
    return table(header, rows)


def _same_loss(task: Task) -> str:
    """Speeds are compared only where both programs computed the same loss on the same tokens."""
    ours, theirs, tokens = log_likelihoods(task)  # asserts that the tokens are the same
    apart = abs(ours - theirs) / abs(theirs)
    if not apart <= AGREEMENT:
        raise SystemExit(f"assay and lm-eval do not agree on the loss: {ours} and {theirs}, {apart:.0e} apart.")
    return f"assay score and lm-eval: log-likelihoods of the same {tokens:,} tokens are {apart:.0e} apart (relative)."


def _report(task: Task, turns: int) -> str:
    chosen, remarks = scorers(task)
    if any(scorer.name == LM_EVAL for scorer in chosen):
        remarks = [*remarks, _same_loss(task)]
    times = interleaved([scorer.contender for scorer in chosen], turns)
    found = {scorer.name: Measured(scorer.predicted(), times[scorer.name]) for scorer in chosen}
    title = f"## Tokens per second: {task.about} ({turns} turns)"
    return "\n\n".join([title, _speeds(found), *remarks, "## Goals", _goals(found), "## Memory", *memory_report()])


def _speeds(found: dict[str, Measured]) -> str:
    rows = [
        [
            name,
            f"{measured.tokens:,}",
            f"{measured.times.median_wall:.2f}",
            f"{measured.speed:,.0f}",
            f"{found[OURS].speed / measured.speed:.2f}×",
        ]
        for name, measured in found.items()
    ]
    return table(["", "predicted tokens", "seconds", "tokens/s", "ours is"], rows)


def _goals(found: dict[str, Measured]) -> str:
    rows = []
    for name, wanted in GOALS.items():
        if name in found:
            ratio = found[OURS].speed / found[name].speed
            rows.append([name, f"≥ {wanted:g}×", f"{ratio:.2f}×", "met" if ratio >= wanted else "not met"])
    return table(["tokens/s against", "wanted", "reached", ""], rows)


if __name__ == "__main__":
    main()
