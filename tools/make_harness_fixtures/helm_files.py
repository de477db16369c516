"""Run HELM on a local scenario, and keep the run folders it writes.

python -m venv ENV; ENV/bin/pip install torch==2.13.0 crfm-helm==0.5.16
ENV/bin/python tools/make_harness_fixtures/helm_files.py tests/data/harness/helm SMALL_MODEL LARGE_MODEL
"""

# It runs in an environment of its own, where the harness is installed.
# mypy: ignore-errors

import json
import os
import shutil
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

os.environ |= {"HF_HUB_OFFLINE": "1"}  # before the imports, which look at it

from helm.benchmark.adaptation.adapter_spec import (
    ADAPT_LANGUAGE_MODELING,
    ADAPT_MULTIPLE_CHOICE_SEPARATE_ORIGINAL,
    AdapterSpec,
)
from helm.benchmark.augmentations.data_augmenter import DataAugmenterSpec
from helm.benchmark.augmentations.perturbation import PerturbationSpec
from helm.benchmark.config_registry import register_builtin_configs_from_helm_package
from helm.benchmark.huggingface_registration import register_huggingface_model
from helm.benchmark.metrics.common_metric_specs import (
    get_basic_reference_metric_specs,
    get_language_modeling_metric_specs,
)
from helm.benchmark.run import run_benchmarking
from helm.benchmark.run_spec import RunSpec
from helm.benchmark.scenarios.scenario import (
    CORRECT_TAG,
    TEST_SPLIT,
    Input,
    Instance,
    Output,
    Reference,
    Scenario,
    ScenarioSpec,
)
from helm.common.authentication import Authentication
from items import STORIES, documents

#: Not the scenario, which names this file's folder, nor its requests and answers, which are the largest.
KEPT = ("run_spec.json", "per_instance_stats.json")


class TinyChoices(Scenario):
    name, description, tags = "tiny_choices", "short questions", []

    def get_instances(self, output_path: str) -> list[Instance]:
        return [
            Instance(
                input=Input(text=doc["question"]),
                references=[
                    Reference(Output(text=choice.strip()), tags=[CORRECT_TAG] if i == doc["answer"] else [])
                    for i, choice in enumerate(doc["choices"])
                ],
                split=TEST_SPLIT,
            )
            for doc in documents("animals")[:2]
        ]


class TinyStories(Scenario):
    name, description, tags = "tiny_stories", "short stories", []

    def get_instances(self, output_path: str) -> list[Instance]:
        return [Instance(input=Input(text=story), references=[], split=TEST_SPLIT) for story in STORIES[:2]]


def choices(model: str) -> RunSpec:
    lower = PerturbationSpec(class_name="helm.benchmark.augmentations.lowercase_perturbation.LowerCasePerturbation")
    return RunSpec(
        name=f"tiny_choices:model={model}",
        scenario_spec=ScenarioSpec(class_name=f"{TinyChoices.__module__}.TinyChoices"),
        adapter_spec=_adapter(ADAPT_MULTIPLE_CHOICE_SEPARATE_ORIGINAL, model),
        metric_specs=get_basic_reference_metric_specs(),
        data_augmenter_spec=DataAugmenterSpec(
            perturbation_specs=[lower], should_augment_eval_instances=True, should_include_original_eval=True
        ),
        groups=["tiny_choices"],
    )


def stories(model: str) -> RunSpec:
    return RunSpec(
        name=f"tiny_stories:model={model}",
        scenario_spec=ScenarioSpec(class_name=f"{TinyStories.__module__}.TinyStories"),
        adapter_spec=_adapter(ADAPT_LANGUAGE_MODELING, model),
        metric_specs=get_language_modeling_metric_specs([]),
        groups=["tiny_stories"],
    )


def _adapter(method: str, model: str) -> AdapterSpec:
    return AdapterSpec(
        method=method, model=model, model_deployment=model, max_train_instances=0, max_eval_instances=100, max_tokens=0
    )


def main(target: Path, *models: Path) -> None:
    register_builtin_configs_from_helm_package()
    names = [f"huggingface/{model.name}" for model in models]
    with tempfile.TemporaryDirectory() as work, chdir(work):
        for name, model in zip(names, models, strict=True):
            shutil.copytree(model, model.name, copy_function=shutil.copyfile)
            _bound_length(Path(model.name))
            register_huggingface_model(name, model.name)
        run_benchmarking(
            [spec(name) for name in names for spec in (choices, stories)],
            auth=Authentication(""),
            url=None,
            local_path="prod_env",
            num_threads=1,
            output_path="out",
            suite="tiny",
            dry_run=False,
            skip_instances=False,
            cache_instances=False,
            cache_instances_only=False,
            skip_completed_runs=False,
            exit_on_error=True,
            runner_class_name=None,
            disable_cache=True,
        )
        for run in sorted(Path("out/runs/tiny").glob("tiny_*")):
            kept = target / run.name.replace(":", "_").replace("=", "-")
            kept.mkdir(parents=True, exist_ok=True)
            for name in (*KEPT, "stats.json") if run.name.startswith("tiny_stories") else KEPT:
                shutil.copyfile(run / name, kept / name)


def _bound_length(model: Path) -> None:
    """HELM asks the tokenizer how much the model can read, which those of the stories models do not say."""
    settings = json.loads((model / "tokenizer_config.json").read_text("utf-8"))
    length = json.loads((model / "config.json").read_text("utf-8"))["max_position_embeddings"]
    (model / "tokenizer_config.json").write_text(json.dumps(settings | {"model_max_length": length}), encoding="utf-8")


if __name__ == "__main__":
    main(*(Path(argument).resolve() for argument in sys.argv[1:]))
