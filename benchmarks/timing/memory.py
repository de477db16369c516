"""The most memory that scoring takes beyond what the process had before it loaded the model.

A process of its own for each size, because a peak cannot be reset.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.simulation.tables import table
from tests.data.runs.token_runs import Tokens, story, write_run

_SIZES = ((32_000, 1024, 8), (151_936, 896, 4))  # vocabulary, width, layers; the second like Qwen2.5-0.5B, but shallow
_ALLOWED = 1.2
_LENGTHS = (2_048, 8_192, 32_768)  # tokens of context, of the shipped model with its positions stretched


def memory_report() -> list[str]:
    """A table: weights, chunk, peak, and whether the peak is within weights + chunk + 20 %."""
    rows = [_row(*size) for size in _SIZES]
    header = ["vocabulary", "weights MB", "chunk MB", "peak MB", "allowed MB", "full logits MB", ""]
    return [table(header, rows), "Full logits: of one batch, in float32."]


def memory_by_length() -> list[str]:
    """A table: what scoring two documents and reading the run take at each length, beside the logits of one row."""
    rows = []
    for length in _LENGTHS:
        with TemporaryDirectory() as folder:
            scored = _in_a_process("score", folder, str(length))
            read = _in_a_process("context", folder, str(length))
        sizes = scored["peak"], read["peak"], scored["logits"]
        rows.append([f"{length:,}", *(f"{size / 1e6:,.0f}" for size in sizes)])
    header = ["context", "score, peak MB", "context, peak MB", "full logits MB"]
    about = (
        "The shipped model with `--rope-scaling yarn`, two documents of one window each; what a process takes\n"
        "beyond libraries and weights. Full logits: of one window, in float32; they are never there at once."
    )
    return [table(header, rows), about]


def _in_a_process(*arguments: str) -> dict[str, int]:
    asked = [sys.executable, "-m", "benchmarks.timing.memory", *arguments]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])  # noqa: S603
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


def _peak_of(run: Callable[[], object]) -> int:
    """The most memory of a call beyond what the process had before it."""
    before = _resident()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    run()
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024 - before


def _score_long(folder: str, length: int) -> dict[str, int]:
    from assay import models
    from assay.scoring import hf
    from assay.scoring.models_and_texts import ModelSpec

    spec = ModelSpec(str(models.path("base")), device="cpu", rope_scaling=f"yarn:{length // 512}")
    scorer = hf.ModelScorer(spec)
    ids = scorer.tokenizer(models.path("en.txt").read_text("utf-8"), verbose=False)["input_ids"]
    rows = [ids[length * i : length * (i + 1) + 1] for i in range(2)]
    scorer.losses([rows[0][:512]])  # what the libraries load at their first use is not the row's
    losses: list[Any] = []
    peak = _peak_of(lambda: losses.extend(scorer.losses([row])[0].tolist() for row in rows))
    write_run(Path(folder) / "run", [Tokens(f"d{i}", range(1, len(one) + 1), one) for i, one in enumerate(losses)])
    return {"peak": peak, "logits": 4 * length * scorer.model.config.vocab_size}


def _read_long(folder: str, _: int) -> dict[str, int]:
    from assay.analyses.context import context

    context(write_run(Path(folder) / "small", story(1, 20)))  # likewise
    return {"peak": _peak_of(lambda: context(Path(folder) / "run"))}


def _row(vocabulary: int, width: int, layers: int) -> list[str]:
    with TemporaryDirectory() as folder:
        asked = [sys.executable, "-m", "benchmarks.timing.memory", folder, str(vocabulary), str(width), str(layers)]
        done = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])  # noqa: S603
    found = json.loads(done.stdout.splitlines()[-1])
    allowed = _ALLOWED * (found["weights"] + found["chunk"])
    sizes = [found["weights"], found["chunk"], found["peak"], allowed, found["logits"]]
    met = "met" if found["peak"] <= allowed else "not met"
    return [f"{vocabulary:,}", *(f"{size / 1e6:,.0f}" for size in sizes), met]


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def _child(folder: str, vocabulary: int, width: int, layers: int) -> None:
    """Make a model on disk, then load it and score a batch; the peak is the process's own."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig

    from assay.scoring import hf
    from assay.scoring.models_and_texts import ModelSpec
    from tests.scoring.conftest import save_tokenizer

    build: Any = AutoModelForCausalLM.from_config  # has no types
    config = LlamaConfig(
        vocab_size=vocabulary, hidden_size=width, intermediate_size=2 * width, num_hidden_layers=layers,
        num_attention_heads=width // 64, max_position_embeddings=2048, tie_word_embeddings=True,
    )  # fmt: skip
    if not (Path(folder) / "config.json").exists():
        build(config).save_pretrained(folder)
        save_tokenizer(Path(folder), bos=True)
        again = [sys.executable, "-m", "benchmarks.timing.memory", folder, str(vocabulary), str(width), str(layers)]
        raise SystemExit(subprocess.run(again, check=False).returncode)  # noqa: S603  # with a fresh peak
    torch.set_num_threads(2)
    tiny = LlamaConfig(vocab_size=300, hidden_size=32, intermediate_size=64, num_hidden_layers=1)
    build(tiny)(input_ids=torch.arange(64)[None])  # what the libraries load at their first use is not the model's
    AutoTokenizer.from_pretrained(folder)
    before = _resident()
    scorer = hf.ModelScorer(ModelSpec(folder, dtype="float32", device="cpu"))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak from here on: loading is transformers'
    tokens = scorer.batch_tokens(None)
    rows = [[i % 250 for i in range(1024)]] * (tokens // 1024)
    scorer.losses(rows)
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
    weights = sum(p.numel() * p.element_size() for p in scorer.model.parameters())
    print(
        json.dumps(
            {
                "weights": weights,
                "chunk": hf.CHUNK_BYTES,
                "peak": peak - before,
                "logits": 4 * vocabulary * tokens,
            }
        )
    )


if __name__ == "__main__" and sys.argv[1] in ("score", "context"):
    print(json.dumps({"score": _score_long, "context": _read_long}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))))
elif __name__ == "__main__":
    _child(sys.argv[1], *(int(value) for value in sys.argv[2:5]))
