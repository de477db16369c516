"""Training runs for tests: a tiny model, and folders as the callback writes them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.data.training import TrainingLog
from assay.data.training.formats import read_noted


def read_logs(paths: Sequence[str | Path]) -> list[TrainingLog]:
    """The runs of every path."""
    return read_noted(paths)[0]


def write_run(
    folder: Path,
    losses: Sequence[float | str],
    *,
    arm: str = "full",
    seed: int = 0,
    norms: Sequence[float] = (),
    valid: Mapping[int, float] | None = None,
    end: bool = True,
    **about: Any,
) -> Path:
    """A run folder with these losses, one a step."""
    folder.mkdir(parents=True)
    manifest = {"schema": "assay/training/1", "arm": arm, "seed": seed, "max_steps": len(losses), **about}
    (folder / "training.json").write_text(json.dumps(manifest), encoding="utf-8")
    lines: list[dict[str, Any]] = []
    for step, loss in enumerate(losses, start=1):
        event = {"kind": "step", "step": step, "loss": loss, "learning_rate": 1e-3, "step_seconds": 0.5}
        lines.append(event | {"tokens": 100 * step} | ({"grad_norm": norms[step - 1]} if norms else {}))
    lines += [{"kind": "validation", "step": step, "loss": loss} for step, loss in (valid or {}).items()]
    lines += [{"kind": "end", "step": len(losses), "wall": 0.5 * len(losses)}] if end else []
    (folder / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


@contextmanager
def one_thread() -> Iterator[None]:
    """Of two threads each waits for the other where a machine is busy: small models train many times slower."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
