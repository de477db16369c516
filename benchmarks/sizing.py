"""How far a cluster carries: what the driver does per token, what a board of models takes, and what follows at size.

    python benchmarks/sizing.py            some minutes
    python benchmarks/sizing.py --quick
    python benchmarks/sizing.py --out benchmarks/results/sizing.md

Measured: the CPU time of the driver of `score` (windows, checks, shards) when the losses come from elsewhere and cost
nothing, the bytes of a run, and `rank` on 0/1 scores. Everything for 10⁹ tokens, 64 graphics cards and 500 models is
extrapolated from these points and from the arithmetic of a forward pass, and says so.
"""

import pickle
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

import assay
from assay.scoring import Encoded, score_encoded
from assay.scoring.models_and_texts import Document
from assay.scoring.windows import Layout, Plan
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table

TOKENS, CARDS, PARAMETERS = 1e9, 64, 70e9
FLOPS, USED = 989e12, 0.4  # a card's bfloat16 peak by its maker's sheet, and the share that a forward pass reaches
MODELS, ITEMS = 500, 1_000_000


def driver(tokens: int, folder: Path, *, keep_tokens: bool) -> tuple[float, int]:
    """CPU seconds and bytes for so many tokens whose losses cost nothing; windows of 2,048."""
    rng = np.random.default_rng(0)
    ids, ends = rng.integers(0, 30_000, 65_536), 4 * np.arange(1, 65_537)
    text = "word" * 65_536
    encoded = [Encoded(Document(f"d{i}", text), ids, ends) for i in range(tokens // 65_536)]

    def losses(blocks: Sequence[Sequence[tuple[object, list[int]]]]) -> Iterator[list[list[np.ndarray]]]:
        for place in range(len(blocks)):
            sent = pickle.loads(pickle.dumps(blocks[place]))  # noqa: S301 - ours: what goes to a worker
            yield [[rng.random(count) for count in counted] for _, counted in sent]

    began = time.process_time()
    plan = Plan(context=2048, batch_tokens=65_536, keep_tokens=keep_tokens)
    score_encoded(
        encoded,
        lambda _rows, counted: [rng.random(count) for count in counted],
        folder,
        about={"model": {"name": "m", "digests": {}}, "versions": {}},
        layout=Layout(2048),
        plan=plan,
        bos=None,
        on_workers=losses,
    )
    spent = time.process_time() - began
    return spent, sum(file.stat().st_size for file in folder.iterdir())


def board(models: int, items: int) -> tuple[float, float]:
    """CPU seconds and peak MiB of `rank` on 0/1 scores."""
    rng = np.random.default_rng(1)
    scores = (rng.random((items, models)) < np.linspace(0.5, 0.6, models)).astype(np.float64)
    panel = assay.Panel.from_arrays(scores, systems=[f"m{i:03d}" for i in range(models)])
    began = time.process_time()
    assay.rank(panel)
    return time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(*, quick: bool) -> str:
    tokens = 1 << (20 if quick else 23)
    with tempfile.TemporaryDirectory() as folder:
        plain, size = driver(tokens, Path(folder, "plain"), keep_tokens=False)
        kept, kept_size = driver(tokens, Path(folder, "kept"), keep_tokens=True)
    sizes = [(20, 20_000), (40, 20_000)] if quick else [(50, 20_000), (50, 100_000), (100, 100_000), (200, 100_000)]
    boards = [(k, n, *board(k, n)) for k, n in sizes]
    millions = tokens / 1e6
    measured = [
        ["driver of score", f"{tokens:,} tokens", f"{plain / millions:.2f} s per 10⁶ tokens", f"{size / tokens:.3f}"],
        [
            "with --keep-tokens",
            f"{tokens:,} tokens",
            f"{kept / millions:.2f} s per 10⁶ tokens",
            f"{kept_size / tokens:.1f}",
        ],
    ]
    ranked = [[str(k), f"{n:,}", f"{cpu:.1f}", f"{peak:,.0f}"] for k, n, cpu, peak in boards]
    return "\n\n".join(
        [
            "**Measured here**, CPU time of one process:",
            table(["what", "on", "CPU", "bytes a token"], measured),
            table(["models ranked (0/1)", "items", "CPU s", "peak MiB so far"], ranked),
            "**Extrapolated** (nothing below was run):",
            table(["what", "extrapolated", "from"], _extrapolated(plain / tokens, kept_size / tokens, boards)),
        ]
    )


def _extrapolated(seconds: float, stored: float, boards: Sequence[tuple[int, int, float, float]]) -> list[list[str]]:
    per_card = FLOPS * USED / (2 * PARAMETERS)
    hours = TOKENS / (CARDS * per_card) / 3600
    k, n, cpu, peak = boards[-1]
    least, most = (cpu * (MODELS / k) ** power * (ITEMS / n) / 60 for power in (1, 2))
    bytes_each = (peak - boards[0][3]) * 2**20 / (k * n - boards[0][0] * boards[0][1])
    return [
        [
            f"10⁹ tokens, 70B, {CARDS} cards",
            f"{hours:.1f} h, {CARDS * per_card:,.0f} tokens a second",
            f"2 × parameters operations a token, {USED:.0%} of {FLOPS / 1e12:,.0f} TFLOP/s",
        ],
        [
            "its driver",
            f"{TOKENS * seconds / 60:.0f} min of CPU, {TOKENS * seconds / 3600 / hours:.0%} of a core meanwhile",
            "linear in tokens",
        ],
        ["its run with --keep-tokens", f"{TOKENS * stored / 1e9:.0f} GB", "linear in tokens"],
        [
            f"{MODELS} models × 10⁶ items",
            f"{least:.0f} to {most:.0f} min of CPU, {bytes_each * MODELS * ITEMS / 1e9:.0f} GB of memory",
            f"items × models to items × models² from {k} × {n:,}; {bytes_each:.0f} bytes a score",
        ],
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("What a driver and a board take, and what follows at size.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    options = parser.parse_args(arguments)
    publish(report(quick=options.quick), options.out)


if __name__ == "__main__":
    main()
