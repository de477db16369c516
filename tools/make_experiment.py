"""The experiment that ships in ``assay.examples``: a model of English learns Japanese, with LoRA and in full.

LoRA comes twice: as it is, and with the embeddings trained beside it.

    python -m tools.make_experiment [FOLDER] [--work FOLDER]

The base is the recipe of `tools.make_model`, with English stories only. All three ways to train get the same grid of
learning rates, each rate from the same start, in the same order and for as many steps as the final runs; the rate with
the best loss on development stories is kept. Then come three seeds of each at that rate, with validation stories that
nothing was chosen on. All of it is `assay tune run`. What is there already in the folder ``--work`` is not made again;
only the logs, and of the final runs the scored validation windows, are kept.
"""

import argparse
import os
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from assay.analyses.tune import tune
from tools.grammar import text
from tools.make_model import HELD_OUT, Recipe
from tools.make_model import make as make_model

BASE = Recipe(mix=(("en", 1.0),), copying=50, steps=170, threads=2)
STEPS = 150  # of every run
ROWS = 4  # in a step
CONTEXT = 128
#: Stories, by their numbers: no part shares one with another, nor with what the base was trained on.
STORIES = {
    "train": range(300),
    "valid": range(HELD_OUT, HELD_OUT + 16),
    "develop": range(HELD_OUT + 16, HELD_OUT + 32),
}
#: The ways to train, by the names of their folders.
ARMS = {
    "lora": ("--method", "lora"),
    "lora-embeddings": ("--method", "lora", "--train-embeddings"),
    "full": ("--method", "full"),
}
RATES = (1e-3, 3e-3, 1e-2, 3e-2)  # of every arm
RATES_SEED = 9  # none of the final runs is seen when the rate is chosen
SEEDS = (0, 1, 2)
WORKERS = 2
ONE_THREAD = {"OMP_NUM_THREADS": "1"}  # two runs at a time, each with a core of its own
HEAVY = ["peft", "transformers.trainer", "assay.training.run"]  # what every run imports


def make(folder: Path, work: Path) -> None:
    """Train what is missing, then copy the logs."""
    work.mkdir(parents=True, exist_ok=True)
    made_base(work)
    for name, numbers in STORIES.items():
        (work / f"{name}.txt").write_text(text("ja", numbers), encoding="utf-8", newline="\n")
    trained(work, [rate_command(arm, rate) for rate in RATES for arm in ARMS])
    chosen = {arm: best_rate(work / "runs" / f"{arm}-rates") for arm in ARMS}
    print("chosen on the development stories:", ", ".join(f"{a} {rate:g}" for a, rate in chosen.items()), flush=True)
    trained(work, [final_command(arm, chosen[arm], seed) for seed in SEEDS for arm in ARMS])
    copied(work / "runs", folder)


def made_base(work: Path) -> None:
    if not (work / "base" / "base" / "tokenizer.json").is_file():
        make_model(work / "base", BASE, work / "state")


def rate_command(arm: str, rate: float) -> list[str]:
    return [
        *(*ARMS[arm], "--lrs", f"{rate:g}", "--seed", str(RATES_SEED), "--valid", "develop.txt"),
        *("--every-step", "10", "--every-validation", "0", "-o", f"runs/{arm}-rates"),
    ]


def final_command(arm: str, rate: float, seed: int) -> list[str]:
    return [
        *(*ARMS[arm], "--lr", f"{rate:g}", "--seed", str(seed), "--valid", "valid.txt"),
        *("--every-validation", "30", "--every-quality", "75", "-o", f"runs/{arm}-{seed}"),
    ]


def best_rate(runs: Path) -> float:
    """The rate with the lowest loss on the development stories."""
    (found,) = tune(runs).sensitivity
    if found.best is None:
        raise SystemExit(f"{runs}: no learning rate has a loss.")
    print(found.sentence, flush=True)
    return found.best


def trained(work: Path, commands: Sequence[Sequence[str]]) -> None:
    """Two at a time, each in a process of its own that has loaded already what all need."""
    os.environ |= ONE_THREAD
    context = get_context("forkserver")
    context.set_forkserver_preload(HEAVY)
    with ProcessPoolExecutor(WORKERS, mp_context=context, max_tasks_per_child=1) as pool:
        list(pool.map(partial(called, work), commands))


def called(work: Path, command: Sequence[str]) -> None:
    from assay.cli.command_line import command_line

    shared = ["--base", "base/base", "--train", "train.txt", "--split-on", r"\n\n", "--context", str(CONTEXT)]
    shared += ["--rows", str(ROWS), "--steps", str(STEPS), "--every-memory", "50", "--checkpoint", "0"]
    with chdir(work):
        code = command_line(["tune"])(["tune", "run", *shared, *command], standalone_mode=False)
    if code:
        raise SystemExit(f"assay tune run {' '.join(command)} ended with exit code {code}.")


def copied(runs: Path, folder: Path) -> None:
    """Manifests and events; of final runs also the windows, on which they are compared with each other and the base."""
    if folder.exists():
        shutil.rmtree(folder)
    for manifest in sorted(runs.rglob("training.json")):
        target = folder / manifest.parent.relative_to(runs)
        target.mkdir(parents=True)
        for name in ("training.json", "events.jsonl"):
            shutil.copyfile(manifest.parent / name, target / name)
        if manifest.parent.parent == runs:
            for windows in ("windows", "windows-base"):
                shutil.copytree(manifest.parent / windows, target / windows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the experiment that ships with Assay.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("src/assay/examples/tuning/runs"))
    parser.add_argument("--work", type=Path, default=Path(".venv/experiment"))
    asked = parser.parse_args()
    began = time.monotonic()
    make(asked.folder, asked.work)
    print(f"Done in {time.monotonic() - began:.0f} s: {asked.folder}")


if __name__ == "__main__":
    main()
