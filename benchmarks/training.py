"""What recording costs: steps of one training with the callback on and off, in pairs whose order is random.

    python benchmarks/training.py [--pairs 1000] [--out benchmarks/results/training.md]

Two neighbouring steps make a pair; in one of them the callback records, in the other it does nothing and the Trainer
does not log. A step lasts from its beginning to that of the next, with all that the Trainer does between. Validation
and the suite, which a user asks for, are left out. Beside the difference stands what clocks around the callback and
around the Trainer's logging say: every second that recording takes directly.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments
from transformers.trainer_callback import PrinterCallback
from transformers.utils.logging import disable_progress_bar

from assay import models
from assay.stats.bootstrap import interval
from assay.stats.units import Floats, Units
from assay.training.callback import AssayCallback
from assay.training.fitting import batch_of
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table

GOAL = 2.0  # per cent of the step's time
WARM = 10  # steps before the first pair


class Switched(AssayCallback):
    """The callback, in some steps only; and the clocks at the beginning of every step."""

    def __init__(self, folder: Path, recorded: Sequence[bool]) -> None:
        super().__init__(folder)
        self.recorded = recorded
        self.marks: list[tuple[float, float]] = []  # wall and CPU time
        self.hook_seconds = 0.0  # outside the Trainer's logging
        self._on = False

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._on = self.recorded[state.global_step]
        self.marks.append((perf_counter(), process_time()))
        if self._on:
            super().on_step_begin(args, state, control, **kwargs)

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._on:
            before = self.own_seconds
            super().on_pre_optimizer_step(args, state, control, **kwargs)
            self.hook_seconds += self.own_seconds - before

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        return super().on_step_end(args, state, control, **kwargs) if self._on else control

    def _count(self, model: Any, positional: Any, inputs: Any) -> None:
        if self._on:
            before = self.own_seconds
            super()._count(model, positional, inputs)
            self.hook_seconds += self.own_seconds - before


class Clocked(Trainer):  # type: ignore[misc]  # mypy does not look into transformers
    """Knows how long its logging took, with what the callback writes then."""

    logging_seconds = 0.0

    def _maybe_log_save_evaluate(self, *args: Any, **kwargs: Any) -> None:
        began = perf_counter()
        super()._maybe_log_save_evaluate(*args, **kwargs)
        self.logging_seconds += perf_counter() - began


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("The overhead of recording a training run.")
    parser.add_argument("--pairs", type=int, default=1000)
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)
    disable_progress_bar()
    report = _report(asked.pairs)
    publish(report, asked.out)


def _report(pairs: int) -> str:
    first = np.random.default_rng(0).random(pairs) < 0.5  # whether the first of a pair is the recorded one
    recorded = [True] * WARM + [bool(on) for one in first for on in (one, not one)] + [False]
    with TemporaryDirectory() as folder:
        callback = Switched(Path(folder) / "run", recorded)
        direct = _trained(callback, len(recorded), folder)
    seconds = np.diff(np.array(callback.marks), axis=0)[WARM : WARM + 2 * pairs].reshape(pairs, 2, 2)
    on = np.where(first[:, None], seconds[:, 0], seconds[:, 1])
    off = np.where(first[:, None], seconds[:, 1], seconds[:, 0])
    per_step = direct / sum(recorded)
    rows = [
        ("a step without", f"{1e3 * np.median(off[:, 0]):.1f} ms"),
        ("overhead, wall time", _overhead(on[:, 0], off[:, 0])),
        ("overhead, CPU time", _overhead(on[:, 1], off[:, 1])),
        (
            "clocks around callback and logging",
            f"{1e6 * per_step:.0f} µs, {100 * per_step / np.median(off[:, 0]):.2f} %",
        ),
        ("goal", f"≤ {GOAL:g} %"),
    ]
    head = (
        f"Shipped model, steps of 8 rows of 128 tokens, one thread, {pairs} pairs of steps. [95 % intervals over pairs]"
    )
    return head + "\n\n" + table(("", ""), rows)


def _overhead(on: Floats, off: Floats) -> str:
    """The seconds that were added, over those without."""
    units = Units(on - off, off)
    limits = interval(units, method="bca").interval
    assert limits is not None
    return f"{100 * units.estimate:+.2f} % [{100 * limits.low:+.2f} to {100 * limits.high:+.2f}]"


def _trained(callback: Switched, steps: int, folder: str) -> float:
    """Seconds that recording took by the clocks around it."""
    arguments: Any = TrainingArguments(
        output_dir=folder,
        max_steps=steps,
        per_device_train_batch_size=8,
        logging_strategy="no",
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
    )
    model, dataset = AutoModelForCausalLM.from_pretrained(models.path("base")), _rows()
    found: Any = dataset
    trainer = Clocked(model=model, args=arguments, train_dataset=found, data_collator=batch_of, callbacks=[callback])
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return trainer.logging_seconds + callback.hook_seconds


def _rows() -> list[list[int]]:
    tokenizer = AutoTokenizer.from_pretrained(models.path("base"))
    ids = tokenizer(models.path("en.txt").read_text(encoding="utf-8"), verbose=False)["input_ids"]
    return [ids[low : low + 128] for low in range(0, 64 * 128, 128)]


if __name__ == "__main__":
    main()
