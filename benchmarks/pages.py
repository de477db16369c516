"""What a page of results takes: whole commands, cold, for 1 and for 100 results.

    python benchmarks/pages.py
    python benchmarks/pages.py --out benchmarks/results/pages.md

The results are comparisons of 180 items each, half of them with 0/1 scores. `assay report` and a bare `import numpy`,
by which a machine can be told from another, run in turns.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

import assay
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table
from benchmarks.timing.processes import ASSAY, Process, measured

ITEMS, MANY = 180, 100
MOST_SECONDS, MOST_BYTES = {1: 0.7, MANY: 3.0}, 2e6


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Time, memory and size of a page of results.")
    parser.add_argument("--turns", type=int, default=5, metavar="N", help="runs of each command")
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        publish(report(Path(folder), options.turns), options.out)


def report(folder: Path, turns: int) -> str:
    files = results(folder)
    pages = {count: folder / f"{count}.html" for count in MOST_SECONDS}
    commands = {
        count: (str(ASSAY), "report", *map(str, files[:count]), "-o", str(page)) for count, page in pages.items()
    }
    numpy = (sys.executable, "-c", "import numpy")
    for command in (numpy, *commands.values()):
        measured(*command)  # the disk is warm and modules are compiled, the process is not
    found: dict[int, list[Process]] = {0: [], **{count: [] for count in commands}}
    for _ in range(turns):
        found[0].append(measured(*numpy))
        for count, command in commands.items():
            found[count].append(measured(*command))
    rows = [["`import numpy`", *_took(found[0], found[0]), "", ""]]
    rows += [_row(count, found, page.stat().st_size) for count, page in pages.items()]
    header = ["", "CPU s", "× numpy", "wall s", "peak MB", "page MB", ""]
    title = f"## A page of comparisons of {ITEMS} items, median of {turns} cold runs in turns"
    return "\n\n".join([title, table(header, rows)])


def results(folder: Path) -> list[Path]:
    """Comparisons as `--save` writes them."""
    rng = np.random.default_rng(1)
    files = []
    for place in range(MANY):
        first = rng.normal(3, 0.5, ITEMS)
        scores = np.stack([first, first + rng.normal(0.01 * (place % 7 - 3), 0.1, ITEMS)])
        scores = (scores > 3).astype(float) if place % 2 else scores
        a, b = ({"item": list(map(str, range(ITEMS))), "score": row.tolist()} for row in scores)
        files.append(folder / f"{place:03d}.json")
        files[-1].write_text(json.dumps(assay.compare(a, b).to_dict()), encoding="utf-8")
    return files


def _row(count: int, found: dict[int, list[Process]], size: int) -> list[str]:
    cpu = median(process.cpu for process in found[count])
    met = cpu <= MOST_SECONDS[count] and size <= MOST_BYTES
    goal = f"goal ≤ {MOST_SECONDS[count]:g} s, ≤ {MOST_BYTES / 1e6:g} MB: {'met' if met else 'not met'}"
    return [f"{count} result{'s' * (count > 1)}", *_took(found[count], found[0]), f"{size / 1e6:.2f}", goal]


def _took(found: Sequence[Process], numpy: Sequence[Process]) -> list[str]:
    failed = [process.errors for process in found if process.code]
    if failed:
        raise SystemExit(failed[0])
    cpu, reference = (median(process.cpu for process in processes) for processes in (found, numpy))
    wall, peak = median(process.wall for process in found), max(process.peak for process in found)
    return [f"{cpu:.2f}", f"{cpu / reference:.1f}", f"{wall:.2f}", f"{peak / 1e6:.0f}"]


if __name__ == "__main__":
    main()
