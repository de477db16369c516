"""How long do large logs of harnesses take to read: rows, CPU time and memory, beside plain ``json`` and pandas.

    python benchmarks/readers.py
    python benchmarks/readers.py --rows 20000 --many 200000
    python benchmarks/readers.py --out benchmarks/results/readers.md

Every run is a process of its own, imports included, so that its peak memory is its own; contenders take turns.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table
from benchmarks.timing.large_logs import KINDS, Kind, lm_eval
from benchmarks.timing.processes import ASSAY, Process, measured

ROWS, MANY, TURNS = 100_000, 1_000_000, 3
MOST_SECONDS, MOST_BYTES = 10, 1e9
MMLU_ROWS, MMLU_BYTES, MMLU_SECONDS = 14_000, 15_000, 3

READ = """
from assay.data.reading import read_tables
from assay.data.readers import Selection
[table] = read_tables([path], selection=Selection(metric={metric!r}))
assert len(table) == {rows}, len(table)
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Large logs of harnesses: our time and memory, and those of plain json and pandas.")
    parser.add_argument("--rows", type=int, default=ROWS, metavar="N", help="rows of the files that all read")
    parser.add_argument("--many", type=int, default=MANY, metavar="N", help="rows that we read alone; 0: none")
    parser.add_argument("--kind", action="append", metavar="NAME", help="one of the kinds; all if not given")
    options = parser.parse_args(arguments)
    kinds = [kind for kind in KINDS if not options.kind or kind.name in options.kind]
    parts = [_beside(kinds, options.rows)]
    parts += [_alone(kinds, options.many), _mmlu()] if options.many else []
    publish("\n\n".join(parts), options.out)


def _run(program: str, path: Path) -> Process:
    found = measured(sys.executable, "-c", f"path = {str(path)!r}\n{program}")
    if found.code:
        raise RuntimeError(found.errors)
    return found


def _ours(kind: Kind, rows: int) -> str:
    return READ.format(metric=kind.metric, rows=rows)


def _beside(kinds: Sequence[Kind], rows: int) -> str:
    about = (
        f"{rows:,} rows, median of {TURNS} turns, each a process of its own with its imports. CPU seconds (user and "
        "system), peak memory in MB; a ratio is of CPU times, to ours."
    )
    lines = []
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            path = kind.written(Path(folder), rows)
            programs = {"ours": _ours(kind, rows), "json": kind.plain, "pandas": kind.pandas}
            there = {name: program for name, program in programs.items() if program is not None}
            found: dict[str, list[Process]] = {name: [] for name in there}
            for _ in range(TURNS):
                for name, program in there.items():
                    found[name].append(_run(program, path))
            lines.append([kind.name, f"{path.stat().st_size / 1e6:,.0f}", *_columns(found)])
    head = ["", "MB", "ours: CPU s", "peak MB", "json: CPU s", "peak MB", "ratio", "pandas: CPU s", "peak MB", "ratio"]
    return f"{about}\n\n{table(head, lines)}"


def _columns(found: dict[str, list[Process]]) -> list[str]:
    cpu = {name: median(one.cpu for one in runs) for name, runs in found.items()}
    peak = {name: median(one.peak for one in runs) / 1e6 for name, runs in found.items()}
    columns = [f"{cpu['ours']:.2f}", f"{peak['ours']:,.0f}"]
    for name in ("json", "pandas"):
        told = name in cpu
        columns += [f"{cpu[name]:.2f}", f"{peak[name]:,.0f}", f"{cpu[name] / cpu['ours']:.1f}"] if told else ["–"] * 3
    return columns


def _alone(kinds: Sequence[Kind], rows: int) -> str:
    about = (
        f"{rows:,} rows by us alone, one run each. The goal is below {MOST_SECONDS} s of CPU for a million rows, "
        f"and below {MOST_BYTES / 1e9:g} GB; other work on the machine counts against it. The floor is what it "
        "takes to read the file and cut it into parts, and to have msgspec skip over all of it, keeping nothing."
    )
    lines = []
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            path = kind.written(Path(folder), rows)
            found = _run(_ours(kind, rows), path)
            floors = [f"{_run(program, path).cpu * 1e6 / rows:.1f}" for program in kind.floors or ()] or ["–"] * 2
            million = found.cpu * 1e6 / rows
            met = "met" if million < MOST_SECONDS and found.peak < MOST_BYTES else "not met"
            size = f"{path.stat().st_size / 1e6:,.0f}"
            row = f"{path.stat().st_size / rows / 1e3:.2g}"
            told = [f"{found.cpu:.1f}", f"{million:.1f}", *floors, f"{found.peak / 1e6:,.0f}", met]
            lines.append([kind.name, f"{rows:,}", size, row, *told])
    head = ["", "rows", "MB", "KB a row", "CPU s", "per million", "floor: read", "and skip", "peak MB", "goal"]
    return f"{about}\n\n{table(head, lines)}"


def _mmlu() -> str:
    """Two models on as many items as MMLU has, with prompts of five shots."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [lm_eval(Path(folder) / name, MMLU_ROWS, MMLU_BYTES) for name in ("base", "tuned")]
        size = sum(path.stat().st_size for path in paths) / 1e6
        found = measured(str(ASSAY), "compare", *(str(path.parent) for path in paths), "--metric", "acc")
    met = "met" if found.cpu < MMLU_SECONDS else "not met"
    return (
        f"`assay compare` of two folders of lm-eval with {MMLU_ROWS:,} rows each, {size:,.0f} MB in all, cold: "
        f"{found.cpu:.2f} s of CPU, {found.peak / 1e6:,.0f} MB, exit code {found.code} (below {MMLU_SECONDS} s: {met})."
    )


if __name__ == "__main__":
    main()
