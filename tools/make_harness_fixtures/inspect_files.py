"""Run inspect_ai with its mock model on a local task, and keep the logs it writes.

python -m venv ENV; ENV/bin/pip install inspect_ai==0.3.285
ENV/bin/python tools/make_harness_fixtures/inspect_files.py tests/data/harness/inspect

Run it in a copy of this folder: the logs name the file of the task, and the commit of the repository it is in.
"""

# It runs in an environment of its own, where the harness is installed.
# mypy: ignore-errors

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

from inspect_ai import Task, task
from inspect_ai import eval as run
from inspect_ai._util.zipfile import zipfile_compress_kwargs
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, includes, match, mean, scorer, stderr
from inspect_ai.solver import generate
from items import documents

#: How many of the items are asked, and which of them each model gets right in its first and second epoch.
COUNT = 4
RIGHT = {"small": ("1100", "1001"), "large": ("1110", "1101")}


def samples() -> MemoryDataset:
    return MemoryDataset(
        [
            Sample(
                id=f"q{i}",
                input=doc["question"],
                target=doc["choices"][doc["answer"]].strip(),
                metadata={"topic": doc["topic"]},
            )
            for i, doc in enumerate(documents())
        ]
    )


@scorer(metrics={"*": [mean(), stderr()]})
def graded() -> Any:
    """A score with parts, and one sample that it cannot score."""

    async def score(state: Any, target: Any) -> Score:
        if state.sample_id == "q3":
            return Score(value=float("nan"), reason="no_answer")
        right = target.text in state.output.completion
        return Score(value={"right": 1 if right else 0, "length": len(state.output.completion)})

    return score


@task
def tiny_words(*, parts: bool = False) -> Task:
    return Task(
        dataset=samples(),
        solver=generate(),
        scorer=[match(location="any"), includes(), graded()] if parts else match(location="any"),
    )


def outputs(model: str, epochs: int, count: int) -> Iterator[ModelOutput]:
    """What the mock model answers, item by item: samples are run one after the other."""
    for epoch in range(epochs):
        for doc, right in zip(documents()[:count], RIGHT[model][epoch], strict=False):
            answer = doc["choices"][doc["answer"]] if right == "1" else " nothing"
            said = ModelOutput.from_content(f"mockllm/{model}", f"It is{answer}.")
            # Otherwise inspect counts the tokens with an encoding that it downloads.
            said.usage = ModelUsage(input_tokens=5, output_tokens=4, total_tokens=9)
            yield said


def main(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for model in RIGHT:
            _run(work / model, model, 2, target / f"{model}.eval")
        _run(work / "json", "small", 2, target / "small.json", limit=1)
        _run(work / "parts", "large", 1, target / "parts.eval", parts=True)
        zipfile_compress_kwargs["compression"] = ZIP_DEFLATED  # as inspect packed until 2025
        _run(work / "deflate", "small", 2, target / "small-deflate.eval", limit=2)


def _run(folder: Path, model: str, epochs: int, kept: Path, *, parts: bool = False, limit: int = COUNT) -> None:
    [log] = run(
        tiny_words(parts=parts),
        model=get_model(f"mockllm/{model}", custom_outputs=outputs(model, epochs, limit), memoize=False),
        epochs=epochs,
        limit=limit,
        log_dir=str(folder),
        log_format=kept.suffix.removeprefix("."),
        max_samples=1,
        display="none",
    )
    assert log.status == "success", log.error
    shutil.copyfile(log.location.removeprefix("file://"), kept)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    print(json.dumps({file.name: file.stat().st_size for file in sorted(Path(sys.argv[1]).iterdir())}))
