"""Run DeepEval with metrics of our own on a few cases, and keep the files it writes.

python -m venv ENV; ENV/bin/pip install deepeval==4.3.1
ENV/bin/python tools/make_harness_fixtures/deepeval_files.py tests/data/harness/deepeval
"""

# It runs in an environment of its own, where the harness is installed.
# mypy: ignore-errors

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

os.environ.update(DEEPEVAL_TELEMETRY_OPT_OUT="1", DEEPEVAL_DISABLE_DOTENV="1", CONFIDENT_OPEN_BROWSER="0")

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, ErrorConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase
from items import documents

#: Which of the cases each model answers rightly; x is an answer that the judge fails on.
RIGHT = {"small": "11001010", "large": "1110111x"}


class Metric(BaseMetric):
    """A metric that needs no model; it says that a judge gave the score."""

    threshold = 0.5
    async_mode = strict_mode = False
    include_reason = True
    evaluation_model = "rule"

    def __init__(self, name: str) -> None:
        self.name = name

    def measure(self, test_case: LLMTestCase, *_args: object, **_more: object) -> float:
        said, right = test_case.actual_output, test_case.expected_output
        if said == "?":
            raise ValueError("the judge did not answer")
        self.score = float(right in said) if self.name == "Correctness" else round(len(right) / len(said), 4)
        self.success = self.score >= self.threshold
        self.reason = f"{right!r} in {said!r}"
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_args: object, **_more: object) -> float:
        return self.measure(test_case)

    def is_successful(self) -> bool:
        return self.success

    @property
    def __name__(self) -> str:
        return self.name


def cases(model: str) -> list[LLMTestCase]:
    found = []
    for doc, right in zip(documents(), RIGHT[model], strict=False):
        answer = doc["choices"][doc["answer"]].strip()
        told = answer if model == "large" else f"It is {answer}."
        said = {"1": told, "0": "I do not know.", "x": "?"}[right]
        found.append(
            LLMTestCase(input=doc["question"], actual_output=said, expected_output=answer, completion_time=0.5)
        )
    return found


def run(model: str, kept: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        own = cases(model)
        evaluate(
            own,
            [Metric("Correctness"), Metric("Brevity")],
            hyperparameters={"model": model},
            async_config=AsyncConfig(run_async=False),
            cache_config=CacheConfig(write_cache=True),
            error_config=ErrorConfig(ignore_errors=True),
        )
        kept.mkdir(parents=True, exist_ok=True)
        for name in (".latest_test_run.json", ".deepeval-cache.json"):
            shutil.copyfile(Path(".deepeval", name), kept / name)


if __name__ == "__main__":
    for name in sys.argv[2:]:
        run(name, Path(sys.argv[1]).absolute() / name)
    for name in () if sys.argv[2:] else RIGHT:  # each in a process of its own: the cache goes on from one to the next
        subprocess.run([sys.executable, __file__, sys.argv[1], name], check=True)  # noqa: S603 - this script
