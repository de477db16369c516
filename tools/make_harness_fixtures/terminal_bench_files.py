"""Let terminal-bench write the results of trials that are made up, and keep them.

    python3.12 -m venv ENV; ENV/bin/pip install terminal-bench==0.2.18
    ENV/bin/python tools/make_harness_fixtures/terminal_bench_files.py tests/data/harness/terminal_bench

The files are written by its own models, which compute the accuracy and pass@k in them.
"""

# It runs in an environment of its own, where the harness is installed.
# mypy: ignore-errors

import sys
from pathlib import Path

TASKS = ("hello-world", "fix-git", "csv-to-parquet", "build-linux", "play-zork", "simple-web")
#: p resolved, f not resolved, n no verdict; a letter for each attempt.
GRADES = {"small": ("ppp", "ffp", "pnf", "fff", "fnf", "ppf"), "large": ("ppp", "pfp", "ppp", "ffp", "pff", "ppp")}


def main(target: Path) -> None:
    for at, grades in enumerate(zip(*GRADES["small"], strict=True), start=1):  # three runs of one attempt each
        _run(target / f"small-{at}", "small", [(task, 1, 1, grade) for task, grade in zip(TASKS, grades, strict=True)])
    trials = [
        (task, at, 3, grade)
        for task, grades in zip(TASKS, GRADES["large"], strict=True)
        for at, grade in enumerate(grades, 1)
    ]
    _run(target / "large", "large", trials)


def _run(folder: Path, model: str, trials) -> None:
    from terminal_bench.harness.models import BenchmarkResults, RunMetadata, TrialResults

    folder.mkdir(parents=True, exist_ok=True)
    results = [
        TrialResults(**_trial(folder.name, *trial), id=f"{'0' * 8}-0000-4000-8000-{place:012d}")
        for place, trial in enumerate(trials)
    ]
    for one in results if folder.name == "small-1" else ():  # one run with its trials is enough
        path = folder / one.task_id / one.trial_name / "results.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(one.model_dump_json(indent=4) + "\n")
    whole = BenchmarkResults(results=results, id=f"{'1' * 8}-0000-4000-8000-{'0' * 12}")
    (folder / "results.json").write_text(whole.model_dump_json(indent=4) + "\n")
    told = {"run_id": folder.name, "output_path": "runs", "agent_name": "terminus", "model_name": model}
    told |= {"no_rebuild": False, "cleanup": True, "log_level": 20, "dataset_name": "terminal-bench-core"}
    told |= {"dataset_version": "0.1.1", "uuid": "0", "start_time": "2026-01-02T03:04:05+00:00"}
    (folder / "run_metadata.json").write_text(RunMetadata(**told).model_dump_json(indent=4) + "\n")


def _trial(run: str, task: str, at: int, of: int, grade: str) -> dict[str, object]:
    return {
        "trial_name": f"{task}.{at}-of-{of}.{run}",
        "task_id": task,
        "instruction": f"Do what {task} says.",
        "is_resolved": {"p": True, "f": False, "n": None}[grade],
        "failure_mode": "test_timeout" if grade == "n" else "unset",
        "parser_results": None if grade == "n" else {"test_all": "passed" if grade == "p" else "failed"},
        "total_input_tokens": 1000,
        "total_output_tokens": 200,
        "agent_started_at": "2026-01-02T03:04:05+00:00",
        "agent_ended_at": "2026-01-02T03:05:35+00:00",
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
