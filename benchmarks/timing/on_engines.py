"""The jobs of `benchmarks/engines.py`: each runs alone in a process, on one engine, and prints what it took as JSON.

    python benchmarks/timing/on_engines.py JOB AMOUNT KIND WORKERS [ADDRESS]

Memory is the highest resident set of a process that works.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from threading import Event, Thread

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from assay.engines import Engine
from assay.engines.replicates import resampling_on
from assay.models import path as model_path

MARK = "ASSAY_BENCHMARK_MARK"
RATES = (1e-4, 2e-4, 5e-4, 1e-3)


def scoring(amount: int, engine: Engine) -> None:
    """Score so many thousand tokens, about, in shards of 4,096."""
    import assay.scoring.windows as cut
    from assay.scoring import score
    from assay.scoring.models_and_texts import Document

    cut.SHARD_TOKENS = 4096
    text = model_path("ja.txt").read_text(encoding="utf-8")
    documents = [Document(f"d{i}", text[200 * i : 200 * i + 1500]) for i in range(amount)]
    with tempfile.TemporaryDirectory() as folder:
        score(model_path("base"), documents, Path(folder, "run"), plan=cut.Plan(context=256), engine=engine)


def sweep(amount: int, engine: Engine) -> None:
    """Train at four rates for so many steps."""
    from assay.scoring.models_and_texts import Document
    from assay.training.fitting import Settings
    from assay.training.recorder import Schedule
    from assay.training.run import tune_run

    text = model_path("ja.txt").read_text(encoding="utf-8")
    documents = [Document(f"d{i}", text[900 * i : 900 * i + 900]) for i in range(12)]
    with tempfile.TemporaryDirectory() as folder:
        tune_run(
            model_path("base"),
            Path(folder, "runs"),
            train=documents[:10],
            valid=documents[10:],
            context=128,
            settings=Settings(steps=amount, rank=4, checkpoint=0),
            schedule=Schedule(step=1, validation=0, memory=0, quality=0),
            learning_rates=RATES,
            engine=engine,
        )


def survey(amount: int, engine: Engine) -> None:
    """Draw the respondents of a survey of 10,000 questions and 8 segments again, so many times; 3 models."""
    from assay.stats.survey.respondents import Predicted, Respondents, resampled_scores

    rng, cells = np.random.default_rng(0), 80_000
    n = np.tile(np.geomspace(20, 600, 8).astype(np.int64), 10_000)
    shares, predicted = rng.dirichlet(np.ones(5), size=cells), rng.dirichlet(np.ones(5), size=(cells, 3))
    blocks = np.tile(np.arange(8), 10_000)[:, None]
    people = Respondents(shares, np.full(cells, 5), n)
    with resampling_on(engine):
        resampled_scores(people, Predicted(predicted, np.ones((cells, 3)), blocks), amount, 1)


JOBS = {"scoring": scoring, "sweep": sweep, "survey": survey}


def peak_of_workers(stopping: Event, found: dict[int, int]) -> None:
    """The highest resident set of every process of this job but this one and those of Ray itself, in kB."""
    wanted = f"{MARK}={os.environ[MARK]}".encode()
    while not stopping.wait(0.3):
        for place in Path("/proc").glob("[0-9]*"):
            try:
                command = (place / "cmdline").read_bytes()
                ours = b"multiprocessing.spawn" in command  # and not its resource tracker
                if wanted in (place / "environ").read_bytes() and (ours or command.startswith(b"ray::_Actor")):
                    lines = (place / "status").read_text().splitlines()
                    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
                    found[int(place.name)] = max(peak, found.get(int(place.name), 0))
            except (OSError, StopIteration, ValueError):
                continue


def main() -> None:
    job, amount, kind, workers, *address = sys.argv[1:]
    engine = Engine("ray" if kind == "ray" else "local", workers=int(workers), address=address[0] if address else None)
    stopping, peaks = Event(), dict[int, int]()
    watcher = Thread(target=peak_of_workers, args=(stopping, peaks), daemon=True)
    watcher.start()
    began = time.perf_counter()
    JOBS[job](int(amount), engine)
    wall = time.perf_counter() - began
    stopping.set()
    watcher.join()
    if not peaks and not engine.here:
        raise SystemExit("no worker was seen: its memory is not known")
    if not peaks:
        import resource

        peaks[0] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"wall": wall, "peak": max(peaks.values()) / 1024}))


if __name__ == "__main__":
    main()
