"""Write small files in the shape of benchmarks of code and of agents that cannot be run here, with values of our own.

    python tools/make_harness_fixtures/code_benchmark_files.py tests/data/harness

A letter for each attempt: p passed, f failed, t took too long, x lost to an error.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any


def write(path: Path, found: Any, **how: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, **how) + "\n", encoding="utf-8")


# --------------------------------------------------------------------------------------------------------- BigCodeBench

BIG_IDS = (13, 17, 15, 82, 89, 99, 100, 101, 120, 123, 124, 129)
BIG = {
    ("base", "instruct"): "pfftpfpffpff",
    ("base", "complete"): "ppftpfpffpfp",
    ("tuned", "instruct"): "ppftpfppfpfp",
    ("tuned", "complete"): "ppfppfppfpfp",
}
STATUSES = {"p": "pass", "f": "fail", "t": "timeout"}


def bigcodebench(folder: Path) -> None:
    for (model, prompt), grades in BIG.items():
        samples = {
            f"BigCodeBench/{number}": [
                {
                    "task_id": f"BigCodeBench/{number}",
                    "solution": "def task_func():\n    return 1\n",
                    "status": STATUSES[grade],
                    "details": {"test_case_1": "Traceback: AssertionError"} if grade == "f" else {},
                }
            ]
            for number, grade in zip(BIG_IDS, grades, strict=True)
        }
        name = f"{model}--main--bigcodebench-hard-{prompt}--vllm-0-1-sanitized_calibrated_eval_results.json"
        write(folder / name, {"date": "2025-02-03 10:20", "eval": samples})


# -------------------------------------------------------------------------------------------------------- LiveCodeBench

LIVE = {
    "base": ("pp", "ff", "pf", "ff", "fp", "pp", "tf", "ff", "pp", "ff"),
    "tuned": ("pp", "fp", "pp", "ff", "pp", "pp", "ff", "pf", "pp", "ff"),
}
CODES = {"p": [True, True], "f": [True, -2], "t": [-3]}


def livecodebench(folder: Path) -> None:
    for model, attempts in LIVE.items():
        questions = [
            {
                "question_title": f"Question {number}",
                "question_content": "",
                "platform": ("leetcode", "atcoder")[number % 2],
                "question_id": f"abc3{number:02d}_a" if number % 2 else str(2800 + number),
                "contest_id": "abc",
                "contest_date": "2024-05-01T00:00:00",
                "starter_code": "",
                "difficulty": ("easy", "hard")[number // 5],
                "output_list": [""] * len(grades),
                "code_list": [""] * len(grades),
                "graded_list": [grade == "p" for grade in grades],
                "pass@1": grades.count("p") / len(grades),
                "metadata": ["{}"] * len(grades),
            }
            for number, grades in enumerate(attempts)
        ]
        name = f"{model}/Scenario.codegeneration_2_0.2_eval"
        write(folder / f"{name}_all.json", questions)
        rates = {str(number): grades.count("p") / len(grades) for number, grades in enumerate(attempts)}
        results = {str(number): [CODES[grade] for grade in grades] for number, grades in enumerate(attempts)}
        mean = sum(rates.values()) / len(rates)
        metadata = [["{}"] * len(grades) for grades in attempts]
        write(folder / f"{name}.json", [{"pass@1": mean, "detail": {"pass@1": rates}}, results, metadata])


# -------------------------------------------------------------------------------------------------------- SWE-bench Pro

PRO_REPOSITORIES = ("ansible__ansible", "flipt-io__flipt", "qutebrowser__qutebrowser")
#: One letter for each instance; a dot where a run does not have it.
PRO = {"base": "pffpffpfpff.ff", "tuned": "ppfpfppfpffpf."}


def swe_bench_pro(folder: Path) -> None:
    for run, grades in PRO.items():
        found = {
            f"instance_{PRO_REPOSITORIES[place % 3]}-{place:040x}": grade == "p"
            for place, grade in enumerate(grades)
            if grade != "."
        }
        write(folder / run / "eval_results.json", found)


# ------------------------------------------------------------------------------------------------------------ tau-bench

#: Four trials of each task, of which a run may have fewer.
TAU = {
    "small": ("pppf", "ffff", "pfpp", "fxff", "pppp", "ffpf", "xxpf", "ffff"),
    "large": ("pppp", "pfpf", "pppp", "ffpf", "pppp", "pppf", "pppp", "fff"),
}


def tau_bench(folder: Path) -> None:
    for model, trials in TAU.items():
        most = max(map(len, trials))
        order = [(task, trial) for trial in range(most) for task in range(len(trials)) if trial < len(trials[task])]
        name = f"tool-calling-{model}-0.0_range_0--1_user-gpt-4o-llm_0601120000.json"
        write(folder / "retail" / name, [_trial(trials[task][trial], task, trial) for task, trial in order], indent=1)


def _trial(grade: str, task: int, trial: int) -> dict[str, Any]:
    info: dict[str, Any]
    if grade == "x":
        info = {"error": "litellm.RateLimitError: try again later", "traceback": "Traceback …"}
    else:
        asked = {"user_id": f"user_{task}", "actions": [], "instruction": f"Return order {task}.", "outputs": []}
        reward = {"reward": float(grade == "p"), "info": {"r_actions": float(grade == "p")}, "actions": []}
        info = {"task": asked, "source": "user", "user_cost": 0.0001, "reward_info": reward}
    traj = [] if grade == "x" else [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    return {"task_id": task, "reward": float(grade == "p"), "info": info, "traj": traj, "trial": trial}


# ------------------------------------------------------------------------------------------------------------ MultiPL-E

#: p passed, a an assertion that fails with exit code 0, f failed, t took too long.
MULTIPL = {
    "base": ("ppfa", "ffff", "pfpp", "atff", "pppp", "ffpf", "fftf", "pppf"),
    "tuned": ("pppp", "fpff", "pppp", "apff", "pppp", "fppf", "fftf", "pppp"),
}
ENDS = {"p": ("OK", 0), "a": ("Exception", 0), "f": ("Exception", 1), "t": ("Timeout", -1)}


def multipl_e(folder: Path) -> None:
    for model, problems in MULTIPL.items():
        for place, grades in enumerate(problems):
            name = f"HumanEval_{place}_problem"
            results = [
                {
                    "program": "def f():\n    return 1\n",
                    "timestamp": 1700000000,
                    "stdout": "",
                    "stderr": "",
                    "exit_code": ENDS[grade][1],
                    "status": ENDS[grade][0],
                }
                for grade in grades
            ]
            found = {"name": name, "language": "cs", "prompt": "", "tests": "", "results": results}
            path = folder / f"humaneval-cs-{model}-0.2-reworded" / f"{name}.results.json"
            if place % 2:
                write(path, found)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(json.dumps(found).encode(), mtime=0))


def main(folder: Path) -> None:
    multipl_e(folder / "multipl_e")
    bigcodebench(folder / "bigcodebench")
    livecodebench(folder / "livecodebench")
    swe_bench_pro(folder / "swe_bench_pro")
    tau_bench(folder / "tau_bench")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
