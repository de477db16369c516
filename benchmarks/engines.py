"""What an engine costs and brings: scoring, a sweep and the resampling of a survey, on one and two workers.

    python benchmarks/engines.py            about ten minutes on two idle cores
    python benchmarks/engines.py --quick    jobs of some seconds: does it still run?
    python benchmarks/engines.py --out benchmarks/results/engines.md

Every job takes about a minute on one worker: its size is found by timing a small one first. A worker has one thread, so
that two workers on two cores could be twice as fast. Each measurement is a process of its own, from the start of the
job to its end: importing torch and loading models on the workers is in it. "ray" is a cluster that runs already, "ray,
started" one that the job starts on this machine.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table

ONE = Path(__file__).with_name("timing") / "on_engines.py"
MARK = "ASSAY_BENCHMARK_MARK"
SMALL = {"scoring": 20, "sweep": 10, "survey": 100}  # amounts that are timed first, of a second or more
SLOTS = [("here", 1), ("processes", 2), ("ray", 1), ("ray", 2)]
STARTED = ("ray, started", 2)  # of one job: what starting takes is the same for all
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS")
MOST_OVERHEAD = 0.10


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds from start to end, and MiB of the largest worker."""

    wall: float
    peak: float


def took(job: str, amount: int, kind: str, workers: int, address: str | None, token: str) -> Took:
    engine = "ray" if kind.startswith("ray") else "local"
    where = [address] if kind == "ray" and address else []
    environment = os.environ | {MARK: token, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    environment |= dict.fromkeys(THREADS, "1")
    environment |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token} if engine == "ray" else {}
    command = [sys.executable, str(ONE), job, str(amount), engine, str(workers), *where]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"{job} on {kind} failed:\n{done.stderr}")
    return Took(**json.loads(done.stdout.splitlines()[-1]))


@contextmanager
def cluster(token: str) -> Iterator[str]:
    """A node of Ray on this machine, ended by its own number."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    ray = Path(sys.executable).with_name("ray")
    command = [str(ray), "start", "--head", f"--port={port}", "--node-ip-address=127.0.0.1", "--num-cpus=2", "--block"]
    environment = os.environ | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token, MARK: token}
    environment["PYTHONPATH"] = os.pathsep.join(part for part in sys.path if part)
    node = subprocess.Popen(  # noqa: S603 - ours
        [*command, "--include-dashboard=false", "--disable-usage-stats"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(300):
            with socket.socket() as found:
                if found.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.2)
        time.sleep(3)  # the port answers before the node has joined
        yield f"127.0.0.1:{port}"
    finally:
        node.terminate()
        node.wait(60)


def sized(job: str, seconds: float, token: str) -> int:
    """The amount that takes about so long on one worker; two small ones show what starting takes."""
    small = SMALL[job]
    took(job, small, "here", 1, None, token)  # what is compiled once, or read from a cold disk, is not timed
    first, second = (took(job, amount, "here", 1, None, token).wall for amount in (small, 3 * small))
    if not second > first:
        raise SystemExit(f"{job}: {3 * small} take no longer than {small}; is the machine busy?")
    return max(3 * small, int(seconds * 2 * small / (second - first)))


def report(seconds: float, turns: int) -> str:
    token = secrets.token_hex(32)
    lines, goals = [], []
    with cluster(token) as address:
        for job in SMALL:
            amount = sized(job, seconds, token)
            slots = [*SLOTS, *([STARTED] if job == "scoring" else [])]
            runs: dict[tuple[str, int], list[Took]] = {slot: [] for slot in slots}
            for _ in range(turns):
                for kind, workers in slots:
                    runs[kind, workers].append(took(job, amount, kind, workers, address, token))
                    print(f"{job} on {kind}, {workers}: {runs[kind, workers][-1]}", file=sys.stderr, flush=True)
            here = median(one.wall for one in runs["here", 1])
            for (kind, workers), found in runs.items():
                wall, peak = median(one.wall for one in found), max(one.peak for one in found)
                lines.append([job, kind, str(workers), f"{wall:.1f}", f"{here / wall:.2f}", f"{peak:,.0f}"])
            goals.append(_overhead(job, runs, here))
    about = (
        f"Jobs of about {seconds:g} s on one worker, {turns} {'turn' if turns == 1 else 'turns'}; one thread a worker, "
        f'{os.cpu_count()} cores; medians.\nSpeed-up is to the same job without workers ("here").'
    )
    columns = ["job", "engine", "workers", "wall s", "speed-up", "MiB of a worker"]
    return "\n\n".join(["### Overhead and speed-up", about, table(columns, lines), "\n".join(goals)])


def _overhead(job: str, runs: dict[tuple[str, int], list[Took]], here: float) -> str:
    ray = median(one.wall for one in runs["ray", 1])
    more, met = ray / here - 1, "met" if ray / here - 1 < MOST_OVERHEAD else "not met"
    return f"- {job}: overhead of Ray, one worker on a running cluster, {more:+.0%} (goal: below +10%): {met}."


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("What an engine costs and brings.")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="of a job on one worker (60)")
    parser.add_argument("--turns", type=int, default=1, metavar="N", help="turns (1)")
    parser.add_argument("--quick", action="store_true", help="jobs of 4 s")
    options = parser.parse_args(arguments)
    publish(report(4.0 if options.quick else options.seconds, options.turns), options.out)


if __name__ == "__main__":
    main()
