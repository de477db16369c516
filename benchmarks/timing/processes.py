"""What a user waits for and what it takes: whole processes, from a cold start."""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import duckdb
import numpy as np

ASSAY = Path(sys.executable).with_name("assay")
MANY = 1_000_000

MANY_UNITS = f"""
import numpy as np
from assay.stats.bootstrap import interval
from assay.stats.units import Units
tokens = np.random.default_rng(2).lognormal(6.0, 0.5, {MANY})
interval(Units(np.random.default_rng(1).normal(0.02, 0.3, {MANY}) * tokens, tokens))
"""

# hash() gives the same numbers on every machine.
MANY_ROWS = """
SELECT printf('w%07d', i) AS window, 1 + hash(i) % 512 AS tokens, 2 + hash(i, $arm)::DOUBLE / 2.0^64 AS loss
FROM range($many) AS windows(i)
"""


@dataclass(frozen=True, slots=True)
class Process:
    """How a command ended, and what it took."""

    code: int
    wall: float  # seconds
    cpu: float  # seconds
    peak: int  # bytes
    errors: str


def measured(*command: str) -> Process:
    """Run a command in a process whose parent is small."""
    parent = str(Path(__file__).with_name("measured_child.py"))
    run = [sys.executable, parent, *command]
    done = subprocess.run(run, capture_output=True, text=True, check=True)  # noqa: S603  # our own script
    return Process(**json.loads(done.stdout))


def process_report(runs: int) -> list[str]:
    """One line per measurement."""
    lines = [process_line(f"interval of {MANY:,} units", measured(sys.executable, "-c", MANY_UNITS), most_bytes=1e9)]
    if not ASSAY.exists() or measured(str(ASSAY), "compare", "--help").code:
        return [*lines, "- `assay compare`: skipped, there is no such command here yet."]
    with tempfile.TemporaryDirectory() as folder:
        return [_cold(Path(folder), runs), *lines, _parquet(Path(folder))]


def _cold(folder: Path, runs: int) -> str:
    rng = np.random.default_rng(3)
    tokens, loss = rng.integers(64, 513, 180).tolist(), rng.normal(2.5, 0.3, 180)
    files = [_written(folder / f"{arm}.csv", tokens, (loss + rng.normal(0, 0.05, 180)).tolist()) for arm in "AB"]
    command = (str(ASSAY), "compare", *files)
    measured(*command)  # the disk is warm, the process is not
    found = [measured(*command) for _ in range(runs)]
    middle = Process(
        found[0].code, median(p.wall for p in found), median(p.cpu for p in found), found[0].peak, found[0].errors
    )
    return process_line(
        f"`assay compare` on two CSV files of 180 windows, cold, median of {runs}", middle, most_seconds=0.5
    )


def _written(path: Path, tokens: list[int], loss: list[float]) -> str:
    rows = [f"w{i:03d},{t},{x:.6f}" for i, (t, x) in enumerate(zip(tokens, loss, strict=True))]
    path.write_text("\n".join(["window,tokens,loss", *rows, ""]), encoding="utf-8")
    return str(path)


def _parquet(folder: Path) -> str:
    files = [str(folder / f"{arm}.parquet") for arm in "AB"]
    for arm, file in enumerate(files):
        rows = duckdb.sql(MANY_ROWS, params={"arm": arm, "many": MANY})
        assert rows is not None  # a query, not a statement
        rows.write_parquet(file)
    label = f"`assay compare` on two Parquet files of {MANY:,} windows"
    return process_line(label, measured(str(ASSAY), "compare", *files), most_bytes=1e9)


def process_line(
    what: str, process: Process, *, most_seconds: float | None = None, most_bytes: float | None = None
) -> str:
    if process.code:
        return f"- {what}: failed with exit code {process.code}: {process.errors.strip()}"
    took = f"{process.wall:.2f} s wall, {process.cpu:.2f} s CPU, peak {process.peak / 1e6:.0f} MB"
    goals = []
    if most_seconds is not None:
        goals.append(f"under {most_seconds} s: {_met(process.wall < most_seconds)}")
    if most_bytes is not None:
        goals.append(f"under {most_bytes / 1e9:g} GB: {_met(process.peak < most_bytes)}")
    return f"- {what}: {took} (goal {', '.join(goals)})"


def _met(reached: bool) -> str:  # noqa: FBT001  # the only argument
    return "met" if reached else "not met"
