"""What a job will take, before it starts: `--dry-run`, and a refusal where memory will not do.

The arithmetic and the rates are those of docs/sizing.md. They are estimates: those of `rank` and the time of `survey`
rest on measurements, and twice as much or half is possible on another machine; the others are rougher.
"""

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from assay.cli.options import option
from assay.cli.output import say
from assay.errors import InputError
from assay.files.counting import lines_by_size, lines_in

_COUNTED = 250e6  # bytes of text, up to which rows are counted; of more they are taken to be as long as the first
_LARGE = 100e6  # bytes of input, from which on a job that was not asked about is looked at before it starts
FLIPS = 10_000

# Fitted to what was measured on two cores (benchmarks/results/rank.md, survey.md)
_START = 110e6  # bytes: Python, numpy and DuckDB
_RANK_ROW, _RANK_FLIP = 82.0, 40.0  # bytes for each row; for each flip and model
_RANK_START, _RANK_ROW_SECONDS, _RANK_PAIR_SECONDS, _RANK_PRODUCT = 0.6, 7.5e-7, 2e-5, 5.6e-11
_SURVEY_START, _SURVEY_CELL_SECONDS = 5.6, 2e-4
_SURVEY_CELL = 3_000.0  # bytes for each cell and model: rough, a sixth below the one peak that was measured
# Assumed, not measured: `score` and `tune run` may take far less or more
_TOKEN_BYTES = 4.0  # of text
_SCORED_TOKEN = 8_000.0  # bytes of activations for each token of a pass
_FLOPS = 3e10  # floating-point operations a second, of one busy core or two


@dataclass(frozen=True, slots=True)
class JobSize:
    """What a job has before it, and what that will take."""

    work: str  # in words
    memory: float  # bytes
    seconds: float
    smaller: str  # what to do where it does not fit
    tokens: int | None = None

    def lines(self) -> list[str]:
        rows = [f"work     {self.work}"]
        rows += [] if self.tokens is None else [f"tokens   about {self.tokens:,}"]
        rows += [f"memory   about {_size(self.memory)} ({_size(free)} free)" for free in (memory_free(),) if free]
        return [*rows, f"time     about {_duration(self.seconds)} of one core"]


@dataclass(frozen=True, slots=True)
class BeforeStart:
    """Whether to look before the job starts."""

    dry_run: Annotated[
        bool, option("Say what it will take (an estimate), and do nothing.", "--dry-run", panel="Size")
    ] = False
    any_size: Annotated[bool, option("Start even if memory looks too small for it.", "--any-size", panel="Size")] = (
        False
    )

    def goes_on(self, size: Callable[[], JobSize], inputs: Sequence[Path]) -> bool:
        """Whether the job is to start; one that memory is too small for is refused."""
        if self.dry_run:
            for line in size().lines():
                say(line)
            say("An estimate, with rates of another machine (docs/sizing.md). Nothing was started or written.")
            return False
        if not self.any_size and bytes_of(inputs) > _LARGE:
            _refuse_what_does_not_fit(size())
        return True


#: The options as they are when nobody gives them.
AS_USUAL = BeforeStart()


def _refuse_what_does_not_fit(size: JobSize) -> None:
    free = memory_free()
    if free is not None and size.memory > free:
        raise InputError(
            f"{size.work} will take about {_size(size.memory)} of memory, and {_size(free)} are free; {size.smaller}, "
            "or start it all the same with --any-size."
        )


def memory_free() -> float | None:
    """Bytes that a process may still take, of the machine or of its control group; ``None``: not known."""
    found = []
    try:
        with Path("/proc/meminfo").open() as lines:
            found += [1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    except OSError:
        return None
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text().strip()
        found += [float(limit) - float(used)] if limit != "max" else []
    except (OSError, ValueError):
        pass  # no control group of this kind
    return min(found) if found else None


def command_with(*more: str) -> str:
    """The command that was typed, with other options."""
    return shlex.join(["assay", *(one for one in sys.argv[1:] if one != "--dry-run"), *more])


# ------------------------------------------------------------------------------------------------------------- sizes


def rank_size(results: Sequence[Path], resamples: int | None) -> JobSize:
    """All pairs of the models in some files."""
    found = [_rows_and_models(path) for path in files_in(results)]
    rows = sum(count for count, _ in found)
    models = max(max((k for _, k in found), default=1), len(found))
    items, pairs, flips = max(rows // models, 1), models * (models - 1) // 2, resamples or FLIPS
    memory = _START + _RANK_ROW * rows + _RANK_FLIP * flips * models
    seconds = _RANK_START + _RANK_ROW_SECONDS * rows + _RANK_PAIR_SECONDS * pairs
    work = f"{pairs:,} {'pair' if pairs == 1 else 'pairs'} of {models:,} models on {items:,} items ({rows:,} rows)"
    smaller = f"take fewer models, or fewer flips: {command_with('--resamples', '1000')}"
    return JobSize(work, memory, seconds + _RANK_PRODUCT * flips * items * models, smaller)


def survey_size(truth: Path, results: Sequence[Path], only: Sequence[str] | None) -> JobSize:
    """All analyses of a survey."""
    from assay.data.survey import read_truth  # late: --help needs none of it

    cells, models = len(read_truth(truth)), max(len(files_in(results)), 1)
    work = f"{cells:,} cells × {models:,} {'result file' if models == 1 else 'result files'}"
    part = 1.0 if only is None else 0.3
    smaller = f"ask for some analyses alone: {command_with('--only', 'scores,baselines')}"
    seconds = part * (_SURVEY_START + _SURVEY_CELL_SECONDS * cells * models)
    return JobSize(work, _START + _SURVEY_CELL * cells * models, seconds, smaller)


def score_size(models: Sequence[str], texts: Sequence[Path], batch_tokens: int | None) -> JobSize:
    """Every token of some texts under some models."""
    tokens = int(bytes_of(files_in(texts)) / _TOKEN_BYTES)
    weights = [_weights(name) for name in models]
    work = f"{len(models):,} {'model' if len(models) == 1 else 'models'} on {_size(bytes_of(files_in(texts)))} of text"
    memory = _START + 3e8 + max(weights, default=0.0) + _SCORED_TOKEN * (batch_tokens or 4_096)
    smaller = f"pass fewer tokens at once: {command_with('--batch-tokens', '1024')}"
    seconds = sum(3.0 + 2 * (size / 4) * tokens / _FLOPS for size in weights)
    return JobSize(work, memory, seconds, smaller, tokens * len(models))


def tune_size(base: str, arms: int, steps: int, rows: int, context: int) -> JobSize:
    """Every step of every arm."""
    tokens, size = arms * steps * rows * context, _weights(base)
    work = f"{arms:,} {'run' if arms == 1 else 'runs'} of {steps:,} steps of {rows:,} rows of {context:,} tokens"
    memory = _START + 3e8 + 2 * size + 4 * _SCORED_TOKEN * rows * context
    smaller = f"take shorter rows: {command_with('--context', str(max(context // 4, 32)))}"
    return JobSize(work, memory, arms * 5.0 + 6 * (size / 4) * tokens / _FLOPS, smaller, tokens)


def _weights(name: str) -> float:
    """Bytes of a model's weights, in 32-bit numbers; 0 where they are not on this machine."""
    folder = Path(name)
    if not folder.is_dir():
        return 0.0
    files = [path for suffix in ("*.safetensors", "*.bin") for path in folder.glob(suffix)]
    return float(sum(path.stat().st_size for path in files))


def files_in(paths: Sequence[Path]) -> list[Path]:
    """The files behind [NAME=]PATH…, of folders all in them; what is not there is left to those who read it."""
    found: list[Path] = []
    for path in paths:
        _, given, after = str(path).partition("=")
        named = Path(after) if given and after and not path.exists() else path
        if named.is_dir():
            found += sorted(one for one in named.rglob("*") if one.is_file())
        elif named.is_file():
            found.append(named)
    return found


def bytes_of(paths: Sequence[Path]) -> float:
    return float(sum(path.stat().st_size for path in files_in(paths)))


def _rows_and_models(path: Path) -> tuple[int, int]:
    """Rows of a table, and models in its column ``model``; of other files their lines, of one model."""
    if path.suffix != ".parquet" and path.stat().st_size > _COUNTED:
        return lines_by_size(path), 1
    import duckdb  # late: 30 MB

    columns, literal = "count(*), 1", str(path).replace("'", "''")
    try:
        with duckdb.connect() as base:
            names = [row[0] for row in base.execute(f"DESCRIBE SELECT * FROM '{literal}'").fetchall()]  # noqa: S608
            if "model" in names:
                columns = "count(*), count(DISTINCT model)"
            rows, models = base.execute(f"SELECT {columns} FROM '{literal}'").fetchall()[0]  # noqa: S608
            return int(rows), max(int(models), 1)
    except duckdb.Error:
        return max(lines_in(path), 1), 1


def _size(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
