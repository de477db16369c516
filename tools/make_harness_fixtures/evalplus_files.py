"""Run EvalPlus on a tiny data set of our own, and keep the results it writes.

python -m venv ENV; ENV/bin/pip install evalplus==0.3.1
ENV/bin/python tools/make_harness_fixtures/evalplus_files.py tests/data/harness/evalplus

The answers of the models are those of `code_items.py`.
"""

# It runs in an environment of its own, where the harness is installed.
# mypy: ignore-errors

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from code_items import GRADES, PROBLEMS


def _problem(number, problem):
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": problem.prompt,
        "entry_point": problem.name,
        "canonical_solution": problem.answer("r"),
        "base_input": problem.easy_inputs,
        "plus_input": problem.hard_inputs,
        "contract": "",
        "atol": 0,
    }


def _write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def main(target: Path) -> None:
    folder = Path(tempfile.mkdtemp())
    os.environ["HUMANEVAL_OVERRIDE_PATH"] = str(
        _write(folder / "data.jsonl", [_problem(*one) for one in enumerate(PROBLEMS)])
    )
    from evalplus import evaluate  # after the path is set, which it looks at when it is imported
    from evalplus.data import humaneval

    humaneval.completeness_check = lambda *_: None  # it asks for 164 problems
    evaluate.get_human_eval_plus.__globals__["completeness_check"] = humaneval.completeness_check
    target.mkdir(parents=True, exist_ok=True)
    for model, attempts in GRADES.items():
        samples = [
            {"task_id": f"HumanEval/{number}", "solution": problem.prompt + problem.answer(grade)}
            for number, (problem, grades) in enumerate(zip(PROBLEMS, attempts, strict=True))
            for grade in grades
        ]
        path = _write(folder / f"{model}.jsonl", samples)
        evaluate.evaluate("humaneval", samples=str(path), parallel=2)
        shutil.copyfile(folder / f"{model}_eval_results.json", target / f"{model}_eval_results.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
