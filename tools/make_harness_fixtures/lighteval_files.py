"""Run lighteval on a local task, and keep the results and details it writes.

    python -m venv ENV; ENV/bin/pip install torch==2.13.0 lighteval==0.13.0
    ENV/bin/python tools/make_harness_fixtures/lighteval_files.py tests/data/harness/lighteval SMALL_MODEL LARGE_MODEL

Its built-in tasks are not loaded: some of them fetch files when they are imported.
"""

# It runs in an environment of its own, where the harness is installed.
# mypy: ignore-errors

import os
import shutil
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}  # before the imports, which look at them

from items import documents, write_jsonl
from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.models.transformers.transformers_model import TransformersModelConfig
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters
from lighteval.tasks.registry import Registry

TASK = """
from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc


def prompt(line, task_name=None):
    return Doc(task_name=task_name, query=line["question"], choices=line["choices"], gold_index=line["answer"])


TASKS_TABLE = [
    LightevalTaskConfig(
        name="tiny:choices",
        prompt_function=prompt,
        hf_repo="data",
        hf_subset="default",
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        metrics=[Metrics.loglikelihood_acc, Metrics.loglikelihood_acc(sample_params={"normalize_logprob": True})],
    )
]
"""


def main(target: Path, *models: Path) -> None:
    for loader in ("_load_from_files", "_load_from_subdirs"):
        setattr(Registry, loader, staticmethod(lambda *_: {}))
    with tempfile.TemporaryDirectory() as name, chdir(name):
        Path("data").mkdir()
        write_jsonl(Path("data/test.jsonl"), documents())
        Path("tasks.py").write_text(TASK)
        for model in models:
            Path(model.name).symlink_to(model)
            _run(model.name)
        for file in sorted(Path("out").rglob("*.*")):
            if file.is_file():  # its names hold : and |, which not every file system allows
                kept = target / file.relative_to("out").as_posix().replace(":", "_").replace("|", "_")
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, kept)


def _run(model: str) -> None:
    pipeline = Pipeline(
        tasks="tiny:choices|0",
        pipeline_parameters=PipelineParameters(
            launcher_type=ParallelismManager.ACCELERATE, custom_tasks_directory=str(Path("tasks.py").absolute())
        ),
        evaluation_tracker=EvaluationTracker(output_dir="out", save_details=True),
        model_config=TransformersModelConfig(
            model_name=model, dtype="float32", batch_size=1, device="cpu", cache_dir="cache"
        ),
    )
    pipeline.evaluate()
    pipeline.save_and_push_results()


if __name__ == "__main__":
    main(*(Path(argument).resolve() for argument in sys.argv[1:]))
