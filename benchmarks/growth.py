"""How does the cost of a command grow: CPU, wall time and peak memory of whole commands against size.

    python benchmarks/growth.py            every verb at three sizes, three times; about ten minutes
    python benchmarks/growth.py --quick    smaller sizes
    python benchmarks/growth.py --out benchmarks/results/growth.md

The exponent is the slope of log CPU time against log size, after what the command takes for almost nothing
is subtracted: 1 is linear. Goals: at most 1.1 in rows, and 2 in models where all pairs are compared. Times are
medians of three runs. A gate has a limit that nothing decides, so that it goes to its last look.
"""

import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

from assay.models import path, round_weights
from benchmarks.simulation.command import publish, report_parser
from benchmarks.timing.made_surveys import survey
from benchmarks.timing.made_tables import losses, scores
from benchmarks.timing.processes import ASSAY, Process, measured

LEAST = 2  # items, tasks, models, questions, kB
TURNS = 3
TELLING = 0.5  # of the start of a command: what size adds must be more than this to be fitted
Command = Callable[[Path, int], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Verb:
    name: str
    command: Command
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    goal: float


def _two(folder: Path, rows: int, *, windows: bool = False) -> tuple[str, str]:
    make = losses if windows else scores
    a, b = (make(folder / f"{'w' if windows else 's'}{arm}-{rows}.parquet", rows, arm=arm) for arm in (1, 2))
    return a, b


def _verify(folder: Path, rows: int) -> Sequence[str]:
    certificate = str(folder / f"certificate-{rows}.json")
    measured(str(ASSAY), "certify", *_two(folder, rows, windows=True), "-o", certificate)
    return ["verify", certificate]


def _to(path: Path) -> tuple[str, ...]:
    return "-o", str(path)


def _board(folder: Path, rows: int, models: int) -> Sequence[str]:
    return ["rank", scores(folder / f"board-{rows}-{models}.parquet", rows, arm=1, models=models)]


def _text(folder: Path, size: int) -> str:
    """So many kB of the shipped text, over and over again."""
    whole = path("en.txt").read_text(encoding="utf-8")
    file = folder / f"text-{size}.txt"
    file.write_text((whole * (1 + size * 1_000 // len(whole)))[: size * 1_000], encoding="utf-8")
    return str(file)


def _score(folder: Path, size: int) -> Sequence[str]:
    return ["score", str(path("base")), _text(folder, size), *_SHORT, "-o", str(folder / f"scored-{size}"), _AGAIN]


def _context(folder: Path, size: int) -> Sequence[str]:
    run = str(folder / f"kept-{size}")
    measured(str(ASSAY), "score", str(path("base")), _text(folder, size), *_SHORT, "--keep-tokens", "-o", run)
    return ["context", run]


def _gate(folder: Path, windows: int) -> Sequence[str]:
    """The shipped model against a copy in 8 bits, whose perplexity is nearly the same; from 20 windows."""
    copy, windows = folder / "int8", max(windows, 20)
    if not copy.exists():
        round_weights(path("base"), copy, bits=8)
    files = [str(path("base")), str(copy), _text(folder, max(50, windows))]
    limit = ["--min-windows", str(windows), "--max-ratio", "1.0000001", "--note", "for its time"]
    return ["gate", *files, *_SHORT, *limit, *_to(folder / f"gate-{windows}.json"), _AGAIN]


def _survey(folder: Path, questions: int) -> Sequence[str]:
    files = survey(folder / f"survey-{questions}", questions, segments=8, models=5)
    return ["survey", *files, *_to(folder / f"survey-{questions}" / "out")]


_SHORT, _AGAIN = ("--context", "128"), "--overwrite"
_ROWS, _QUICK = (100_000, 300_000, 1_000_000), (10_000, 30_000, 100_000)
_LARGE = (1_000_000, 3_000_000, 10_000_000)
_TEXT, _SHORT_TEXT = (400, 800, 1_600), (100, 200)
VERBS = (
    Verb("summarize, items", lambda f, n: ["summarize", _two(f, n)[0]], _LARGE, _QUICK, 1.1),
    Verb("compare, items", lambda f, n: ["compare", *_two(f, n)], _LARGE, _QUICK, 1.1),
    Verb("compare, tasks of 100 items", lambda f, n: ["compare", *_tasks(f, n)], (500, 1_000, 2_000), (20, 40), 1.1),
    Verb(
        "certify, windows",
        lambda f, n: ["certify", *_two(f, n, windows=True), *_to(f / f"{n}.json")],
        _ROWS,
        _QUICK,
        1.1,
    ),
    Verb("verify, windows", _verify, _ROWS, _QUICK, 1.1),
    Verb("convert, items", lambda f, n: ["convert", _two(f, n)[0], *_to(f / f"{n}.parquet")], _ROWS, _QUICK, 1.1),
    Verb("rank of 10 models, items", lambda f, n: _board(f, n, 10), (10_000, 30_000, 100_000), _QUICK[:2], 1.1),
    Verb("rank on 1,000 items, models", lambda f, k: _board(f, 1_000, k), (50, 100, 200), (40, 80), 2),
    Verb("reliability, items with 3 runs", lambda f, n: ["reliability", *_runs(f, n)], _ROWS, _QUICK[:2], 1.1),
    Verb("survey of 8 segments and 5 models, questions", _survey, (200, 400, 800), (20, 40), 1.1),
    Verb("score, kB of text", _score, _TEXT, _SHORT_TEXT, 1.1),
    Verb("context, kB of text", _context, _TEXT, _SHORT_TEXT, 1.1),
    Verb("gate, windows of 128 tokens", _gate, (800, 1_600, 3_200), (100, 200), 1.1),
)


def _tasks(folder: Path, tasks: int) -> tuple[str, str]:
    a, b = (scores(folder / f"tasks{arm}-{tasks}.parquet", tasks * 100, arm=arm, tasks=tasks) for arm in (1, 2))
    return a, b


def _runs(folder: Path, rows: int) -> list[str]:
    return [*(scores(folder / f"run{arm}-{rows}.parquet", rows, arm=arm) for arm in (1, 2, 3)), "--files-are-runs"]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("The cost of every verb against the size of what it is given.")
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    options = parser.parse_args(arguments)
    lines = [
        "## Growth of whole commands",
        "",
        "| command | size | CPU, s | wall, s | peak, MB | exponent of CPU | goal |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for verb in VERBS:
            lines += _lines(verb, Path(folder), verb.quick if options.quick else verb.sizes)
    publish("\n".join(lines), options.out)


def _lines(verb: Verb, folder: Path, sizes: Sequence[int]) -> list[str]:
    found = {size: _middle(verb.command(folder, size)) for size in (LEAST, *sizes)}
    for size, one in found.items():
        if one.code > 1:
            return [f"| {verb.name} | {size:,} | failed: {one.errors.strip()} |"]
    start = found[LEAST].cpu
    told = [_line(verb.name, size, one) for size, one in found.items()]
    told[-1] = told[-1].removesuffix(" | |") + f" {_exponent(start, found, sizes)} | {verb.goal:g} |"
    return told


def _middle(command: Sequence[str]) -> Process:
    """Of some runs the one whose CPU time is the median."""
    found = [measured(str(ASSAY), *command) for _ in range(TURNS)]
    return next(one for one in found if one.code > 1 or one.cpu == median(run.cpu for run in found))


def _exponent(start: float, found: dict[int, Process], sizes: Sequence[int]) -> str:
    """The exponent, where what grows is more than noise beside what any command takes to start."""
    grown = {size: found[size].cpu - start for size in sizes if found[size].cpu > (1 + TELLING) * start}
    return f"{exponent(grown):.2f}" if len(grown) > 1 else "too small to tell"


def _line(name: str, size: int, one: Process) -> str:
    return f"| {name} | {size:,} | {one.cpu:.2f} | {one.wall:.2f} | {one.peak / 1e6:,.0f} | | |"


def exponent(costs: dict[int, float]) -> float:
    """The slope of log cost against log size, by least squares."""
    points = [(log(size), log(max(cost, 1e-3))) for size, cost in costs.items()]
    x, y = np.array(points).T
    return float(np.polyfit(x, y, 1)[0])


if __name__ == "__main__":
    main()
