"""Every benchmark in one go, as Markdown with the machine, the versions and what each took.

    benchmarks/run                       everything at full size, into benchmarks/results: hours
    benchmarks/run rank intervals        these
    benchmarks/run --quick               everything at its smallest size, stored nowhere: does it still run?
    benchmarks/run --stored              no runs: what is stored, when it was printed, and what its goals say

Peers are pinned in benchmarks/requirements.txt. What a run wrote, with which versions, on which machine, stands in
benchmarks/results/runs.json.
"""

import argparse
import json
import os
import platform
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
RUNS = RESULTS / "runs.json"
NOT_A_BENCHMARK = "run"
PACKAGES = ("assay-eval", "numpy", "scipy", "numba", "duckdb", "torch", "statsmodels", "arch", "pingouin", "sacrebleu")
PEERS = ("errorbars", "evalsig", "evalstats", "lm_eval")

_FEW = ("--simulations", "10")
#: The smallest size at which a script says something about each of its parts.
QUICK: dict[str, tuple[str, ...]] = {
    "calibration": ("--simulations", "5"),
    "calibration_assumptions": _FEW,
    "calibration_attempts": _FEW,
    "calibration_calibrate": _FEW,
    "calibration_context": _FEW,
    "calibration_fairness": ("--simulations", "4", "--questions", "6"),
    "calibration_few": _FEW,
    "calibration_gate": _FEW,
    "calibration_japanese": _FEW,
    "calibration_judges": _FEW,
    "calibration_power": _FEW,
    "calibration_rank": ("--simulations", "4", "--sets", "4", "--tops", "4"),
    "calibration_sequential": _FEW,
    "calibration_suite_gate": _FEW,
    "calibration_suites": _FEW,
    "calibration_summarize": _FEW,
    "calibration_survey": ("--simulations", "4", "--carried", "4"),
    "calibration_temperature": _FEW,
    "calibration_tuning": _FEW,
    "calibration_verdicts": _FEW,
    "engines": ("--quick",),
    "growth": ("--quick",),
    "install": (),
    "intervals": ("--quick",),
    "japanese": ("--quick",),
    "large_tables": ("--quick",),
    "pages": ("--turns", "1"),
    "peers": _FEW,
    "rank": ("--quick",),
    "readers": ("--rows", "2000", "--many", "0"),
    "record": ("--simulations", "4"),
    "scoring": ("--turns", "1"),
    "sequential": (),
    "sizing": ("--quick",),
    "stores": ("--turns", "1", "--rows", "2000"),
    "suites": (),
    "survey": ("--turns", "1"),
    "training": ("--pairs", "10"),
}
#: What full size means where it is not the default.
FULL: dict[str, tuple[str, ...]] = {"record": ("--charts", "docs/assets")}


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of one script."""

    command: str
    date: str
    cpu_seconds: float
    exit_code: int
    machine: str
    versions: Mapping[str, str]


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem != NOT_A_BENCHMARK)


def machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    busy = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    cores = len(os.sched_getaffinity(0))
    return f"{platform.system()} {platform.machine()}, {cores} cores, {memory:.0f} GiB, load {busy}"


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in (*PACKAGES, *PEERS):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def run(name: str, arguments: Sequence[str], out: Path | None) -> tuple[Ran, str]:
    """Run a script in a process of its own; its report goes to ``out``."""
    stored = ["--out", str(out.relative_to(HERE.parent))] if out else []
    words = [f"benchmarks/{name}.py", *arguments, *stored]
    began, when = _children(), datetime.now(UTC).date().isoformat()
    made = subprocess.run([sys.executable, *words], cwd=HERE.parent, capture_output=True, text=True, check=False)  # noqa: S603  # our own scripts
    said = made.stdout if made.returncode == 0 else made.stdout + "\n".join(made.stderr.splitlines()[-5:])
    ran = Ran(f"python {' '.join(words)}", when, round(_children() - began, 1), made.returncode, machine(), versions())
    return ran, said


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def stored_runs() -> dict[str, Ran]:
    kept = json.loads(RUNS.read_text("utf-8")) if RUNS.exists() else {}
    return {name: Ran(**fields) for name, fields in kept.items()}


def keep(name: str, ran: Ran) -> None:
    """Write down a run that stored its report."""
    kept = {**stored_runs(), name: ran}
    text = json.dumps({one: asdict(kept[one]) for one in sorted(kept)}, indent=2, ensure_ascii=False)
    beside = RUNS.with_suffix(".tmp")
    beside.write_text(text + "\n", encoding="utf-8")
    beside.replace(RUNS)


def goals(report: str) -> str:
    """How many of the goals that a report names are met."""
    met, missed = len(re.findall(r"(?<!not )\bmet\b", report)), len(re.findall(r"\bnot met\b", report))
    return f"{met} of {met + missed}" if met + missed else "–"


def summary(where: Callable[[str], str] | None = None) -> str:
    """Every stored report: when it was printed, what that took, its goals, and ``where`` it is quoted."""
    runs = stored_runs()
    heading = ["benchmark", *(["quoted on"] if where else []), "goals met", "printed", "CPU, s", "machine"]
    lines = [f"| {' | '.join(heading)} |", f"| {' | '.join('---' for _ in heading)} |"]
    for name in names():
        report, ran = RESULTS / f"{name}.md", runs.get(name)
        reached = goals(report.read_text("utf-8")) if report.exists() else "not stored"
        told = [ran.date, f"{ran.cpu_seconds:,.0f}", ran.machine] if ran else ["earlier", "–", "–"]
        lines.append(f"| {' | '.join([f'`{name}`', *([where(name)] if where else []), reached, *told])} |")
    return "\n".join(lines)


def heading() -> str:
    used = ", ".join(f"{name} {number}" for name, number in versions().items())
    return f"# Benchmarks\n\n{machine()}.\n\n{used}."


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Every benchmark in one go, as Markdown.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these; without, all")
    parser.add_argument("--quick", action="store_true", help="each at its smallest size, stored nowhere")
    parser.add_argument("--stored", action="store_true", help="run nothing: what is stored")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(names()))
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(names())}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    if options.stored:
        print(summary())
        return 0
    print(heading(), flush=True)
    failed = []
    for name in options.names or names():
        began = time.perf_counter()
        given = QUICK[name] if options.quick else FULL.get(name, ())
        ran, report = run(name, given, None if options.quick else RESULTS / f"{name}.md")
        print(f"\n## {name}\n\n`{ran.command}`: {ran.cpu_seconds:,.0f} s of CPU.\n\n{report.strip()}", flush=True)
        print(f"{name}: {time.perf_counter() - began:.0f} s, exit code {ran.exit_code}", file=sys.stderr, flush=True)
        if ran.exit_code:
            failed.append(name)
        elif not options.quick:
            keep(name, ran)
    print(f"\n{len(failed)} failed{': ' if failed else ''}{', '.join(failed)}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
