"""How long do large tables take: whole commands, each beside DuckDB's bare inner join of the same files.

    python benchmarks/large_tables.py            1 and 10 million pairs, 200 million tokens; about ten minutes
    python benchmarks/large_tables.py --quick    1 million, one turn
    python benchmarks/large_tables.py --before 07cf2c0 --out benchmarks/results/large_tables.md

A job and its reference run in turns, each in a process of its own, so other work on the machine meets both. Times are
CPU times of all threads. Goals are those of an idle machine; the ratio is what can be compared between machines.
``--before`` takes a commit of this repository: the smallest job is then also timed beside what was there at that time.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation.command import publish, report_parser
from benchmarks.timing.made_tables import losses, scores, tokens
from benchmarks.timing.processes import ASSAY, Process, measured

JOIN = """
import duckdb, sys
query = "SELECT count(*), avg(b.{value} - a.{value}) FROM '{a}' AS a JOIN '{b}' AS b USING ({id})"
duckdb.connect().execute(query).fetchall()
"""
SUMS = """
import duckdb
for file in ("{a}", "{b}"):
    duckdb.connect().execute(f"SELECT sum(t) FROM (SELECT sum(loss) AS t FROM '{{file}}' GROUP BY document)").fetchall()
"""
NOTHING = "import numpy, typer"
BEFORE = """
import sys
sys.path.insert(0, {folder!r})
sys.argv = ["assay", *{command!r}]
from assay.cli.main import main
main()
"""
ROOT = Path(__file__).resolve().parents[1]
SMALL_TURNS = 15  # of what takes a fifth of a second


@dataclass(frozen=True, slots=True)
class Job:
    name: str
    command: tuple[str, ...]
    reference: str  # Python code
    seconds: float | None  # goal
    megabytes: float | None  # goal
    turns: int = 1  # at the least


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Large tables: our time and that of DuckDB's bare join.")
    parser.add_argument("--quick", action="store_true", help="1 million pairs, one turn")
    parser.add_argument("--turns", type=int, default=3, metavar="N", help="of every job (default: 3)")
    parser.add_argument("--before", metavar="COMMIT", help="also time 180 pairs beside this commit")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        jobs = [*_small(Path(folder), options.before), *_jobs(Path(folder), large=not options.quick)]
        publish(_report(jobs, 1 if options.quick else options.turns, options.before), options.out)


def _small(folder: Path, before: str | None) -> list[Job]:
    """Two files of 180 pairs, from a cold start."""
    command = ("compare", *(scores(folder / f"cold-{arm}.csv", 180, arm=arm) for arm in (1, 2)))
    found = [Job("compare, 180 pairs, CSV, cold", command, NOTHING, 0.27, None, SMALL_TURNS)]
    if before is not None:
        packed = subprocess.run(["git", "archive", before, "src"], cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S603, S607
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder / "before", filter="data")
        reference = BEFORE.format(folder=str(folder / "before" / "src"), command=command)
        measured(sys.executable, "-c", reference)  # now its byte code is there, as ours is
        name = f"compare, 180 pairs, CSV, cold, beside {before}"
        found.append(Job(name, command, reference, None, None, SMALL_TURNS))
    return found


def _jobs(folder: Path, *, large: bool) -> list[Job]:
    found = []
    sizes = [(1_000_000, "shuffled", 1.2, 300)]
    if large:
        sizes += [(10_000_000, "in order", 8, 1_100), (10_000_000, "shuffled", 12, 1_100)]
    for rows, order, seconds, megabytes in sizes:
        files = [folder / f"{arm}-{rows}-{order[0]}.parquet" for arm in "ab"]
        a, b = (scores(one, rows, arm=i, shuffled=i > 1 and order == "shuffled") for i, one in enumerate(files, 1))
        name = f"compare, {rows:,} pairs, Parquet, {order}"
        found.append(Job(name, ("compare", a, b), _join(a, b, "item", "score"), seconds, megabytes))
    if large:
        a, b = (scores(folder / f"{arm}.csv", 10_000_000, arm=arm, shuffled=arm > 1) for arm in (1, 2))
        found.append(
            Job("compare, 10,000,000 pairs, CSV, shuffled", ("compare", a, b), _join(a, b, "item", "score"), 15, 1_200)
        )
    a, b = (losses(folder / f"windows-{arm}.parquet", 1_000_000, arm=arm) for arm in (1, 2))
    join, certificate = _join(a, b, "window", "loss"), str(folder / "certificate.json")
    found.append(Job("certify, 1,000,000 windows", ("certify", a, b, "-o", certificate), join, 2, None))
    found.append(Job("verify, 1,000,000 windows", ("verify", certificate), join, 2, None))
    return [*found, *_token_rows(folder, large=large)]


def _token_rows(folder: Path, *, large: bool) -> list[Job]:
    """Rows of single tokens, added up by document with a limit of memory: in order, and in random order."""
    found = []
    rows = 100_000_000 if large else 5_000_000
    for order, of_each, goal in (("in document order", rows, rows / 1e7), ("in random order", rows // 4, None)):
        a, b = (
            tokens(folder / f"tokens-{arm}-{order[3]}.parquet", of_each, arm=arm, shuffled=goal is None)
            for arm in (1, 2)
        )
        name = f"compare, {2 * of_each:,} rows of tokens, {order}, `--memory 1GB`"
        command = ("compare", a, b, "--sum-by", "document", "--memory", "1GB")
        found.append(Job(name, command, SUMS.format(a=a, b=b), goal, 1_100))
    return found


def _join(a: str, b: str, unit: str, value: str) -> str:
    return JOIN.format(a=a, b=b, id=unit, value=value)


def _report(jobs: Sequence[Job], turns: int, before: str | None) -> str:
    lines = [
        "## Large tables, whole commands",
        "",
        f"{_turns(turns)} The reference is DuckDB's bare inner join of the same files, of tokens its sums by document;",
        f"for 180 pairs ({SMALL_TURNS} turns) it is importing numpy and typer"
        + ("." if before is None else f", or the same command at commit {before} (goal of that ratio: 0.65)."),
        "",
        "| job | CPU, s | goal | peak, MB | goal | reference, CPU s | peak, MB | ratio of CPU |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*lines, *(_line(job, turns) for job in jobs)])


def _turns(turns: int) -> str:
    return "One turn." if turns == 1 else f"Medians of {turns} turns."


def _line(job: Job, turns: int) -> str:
    ours, theirs = [], []
    for _ in range(max(turns, job.turns)):
        ours.append(measured(str(ASSAY), *job.command))
        theirs.append(measured(sys.executable, "-c", job.reference))
    for one in (*ours, *theirs):
        if one.code not in (0, 1):  # 1: a gate that failed
            return f"| {job.name} | failed with exit code {one.code}: {one.errors.strip()} |"
    cpu, reference = (median(one.cpu for one in some) for some in (ours, theirs))
    goal = "" if job.megabytes is None else f"{job.megabytes:,.0f}"
    seconds = "" if job.seconds is None else f"{job.seconds:g}"
    return (
        f"| {job.name} | {cpu:.2f} | {seconds} | {_peak(ours):,.0f} | {goal} | {reference:.2f} | "
        f"{_peak(theirs):,.0f} | {cpu / reference:.2f} |"
    )


def _peak(some: Sequence[Process]) -> float:
    return median(one.peak for one in some) / 1e6


if __name__ == "__main__":
    main()
