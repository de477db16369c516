"""Run lm-evaluation-harness on local tasks, and keep what it writes.

    python -m venv ENV; ENV/bin/pip install torch==2.13.0 "lm-eval[hf]==0.4.13"
    ENV/bin/python tools/make_harness_fixtures/lm_eval_files.py tests/data/harness/lm_eval SMALL_MODEL LARGE_MODEL

The two models are folders in the format of `transformers`; the fixtures were made with stories260K and stories15M.
"""

# It runs in an environment of its own, where the harness is installed.
# mypy: ignore-errors

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from items import STORIES, documents, write_jsonl

CHOICE = """
task: {task}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{question}}}}"
doc_to_choice: "{{{{choices}}}}"
doc_to_target: answer
target_delimiter: ""
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
  - {{metric: acc_norm, aggregation: mean, higher_is_better: true}}
"""
GENERATE = """
task: tiny_words
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{word}}}}"
generation_kwargs: {{until: ["."], max_gen_toks: 8, do_sample: false}}
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true, ignore_case: true}}
filter_list:
  - name: strict-match
    filter: [{{function: regex, regex_pattern: "^(\\\\w+)$"}}, {{function: take_first}}]
  - name: flexible-extract
    filter: [{{function: regex, regex_pattern: "(\\\\w+)"}}, {{function: take_first}}]
"""
ROLLING = """
task: tiny_stories
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: "{{{{text}}}}"
metric_list:
  - {{metric: word_perplexity}}
  - {{metric: byte_perplexity}}
  - {{metric: bits_per_byte}}
"""
GROUP = "group: tiny_choices\ntask: [tiny_animals, tiny_sky]\n"

#: What these files would tell about the machine, and what no reader needs.
LEFT_OUT = ("pretty_env_info", "git_hash", "upper_git_hash", "transformers_version", "chat_template")


def main(target: Path, small: Path, large: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        tasks = _write_tasks(work)
        for model in (small, large):
            (work / model.name).symlink_to(model.resolve())
            options = ["--model", "hf", "--model_args", f"pretrained={model.name},dtype=float32", "--device", "cpu"]
            _run(work, tasks, target, [*options, "--tasks", "tiny_choices,tiny_stories"])
        for seed in ("1", "2"):
            options = ["--model", "dummy", "--model_args", "pretrained=dummy", "--seed", seed]
            _run(work, tasks, target, [*options, "--tasks", "tiny_words"])
    for results in target.rglob("results_*.json"):
        found = json.loads(results.read_text("utf-8"))
        kept = {key: value for key, value in found.items() if key not in LEFT_OUT}
        kept["configs"] = {}
        results.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _write_tasks(work: Path) -> Path:
    tasks = work / "tasks"
    tasks.mkdir()
    for topic in ("animals", "sky"):
        data = write_jsonl(work / f"{topic}.jsonl", documents(topic))
        (tasks / f"{topic}.yaml").write_text(CHOICE.format(task=f"tiny_{topic}", data=data))
    words = [{"question": doc["question"], "word": "lol" if i % 3 else "milk"} for i, doc in enumerate(documents())]
    (tasks / "words.yaml").write_text(GENERATE.format(data=write_jsonl(work / "words.jsonl", words[:5])))
    stories = write_jsonl(work / "stories.jsonl", [{"text": story} for story in STORIES])
    (tasks / "stories.yaml").write_text(ROLLING.format(data=stories))
    (tasks / "group.yaml").write_text(GROUP)
    return tasks


def _run(work: Path, tasks: Path, target: Path, options: list[str]) -> None:
    output = ["--include_path", str(tasks), "--output_path", str(target.resolve()), "--log_samples"]
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(work / "home")}
    command = [sys.executable, "-m", "lm_eval", "run", *options, *output]
    subprocess.run(command, check=True, cwd=work, env={**os.environ, **offline})  # noqa: S603 - our own arguments


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:4]))
