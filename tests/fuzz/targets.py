"""What is attacked: every reader of files and every verb that reads them, each with small good files to spoil.

A target is a command line in a folder of files, of which one at a time is changed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fuzz.mutations import Kind
from tests.fuzz.seeds import (
    HARNESS,
    Files,
    certificate_files,
    containers,
    generations,
    harness_files,
    renamed_samples,
    repeated,
    result_files,
    run_files,
    suite_certificate_files,
    survey_files,
    text_files,
    training_files,
    training_run_files,
    two_losses,
    two_scores,
    written_by,
)


@dataclass(frozen=True)
class Target:
    """A command, the files it reads, and which of them are changed."""

    name: str
    command: tuple[str, ...]
    files: Callable[[], Files]
    changed: tuple[str, ...]  # names in `files`
    rows: int | None = None  # n in the answer is at most this; of `rank` the items of all files, as names may change
    json: bool = True  # it prints JSON
    same: bool = True  # a change that leaves the data equal leaves the answer equal

    def kind(self, name: str) -> Kind:
        if name.endswith("small.eval"):  # compressed by a method that Python cannot write
            return "zstandard"
        if name.startswith("bfcl/"):  # called .json, but an object per line
            return "jsonl"
        suffix = name.rpartition(".")[2]
        packed = {"jsonlines": "jsonl", "eval": "zip", "xlsx": "txt", "gz": "txt", "zst": "txt", "yaml": "toml"}
        return {"tsv": "csv", "key": "pem", "pub": "pem", **packed}.get(suffix, suffix)  # type: ignore[return-value]


# ------------------------------------------------------------------------------------------------------------- registry


def _target(name: str, command: str, files: Callable[[], Files], *changed: str, **more: Any) -> Target:
    return Target(name, tuple(command.split()), files, changed, **more)


_LM = ("lm_eval/stories260K-hf", "lm_eval/stories15M-hf")
_SKY = "samples_tiny_sky_2026-11-15T23-56-35.923687.jsonl"
_HELM = "helm/tiny_choices_model-huggingface_stories"
_WRITTEN = "2026-11-16T00-04-35.293129"
_DETAILS = f"lighteval/details/stories15M-hf/{_WRITTEN}/details_tiny_choices_0_{_WRITTEN}.parquet"
_ALPACA = tuple(f"alpaca_eval/{model}/weighted_judge/annotations.json" for model in ("small-1b", "medium-3b"))
_ARENA = "arena_hard/model_judgment/made-up-judge"
_survey_files, _training_files = written_by(survey_files), written_by(training_files)
_certificate_files, _run_files = written_by(certificate_files), written_by(run_files)
_suite_files = written_by(suite_certificate_files)

_STORIES = "tiny_stories_model-huggingface_stories"

TARGETS: tuple[Target, ...] = (
    _target("compare, CSV", "compare a.csv b.csv --json", two_scores, "a.csv", "b.csv", rows=40),
    _target("compare, JSON lines", "compare a.jsonl b.jsonl --json", two_losses, "a.jsonl", "b.jsonl", rows=40),
    _target("compare, Parquet", "compare a.parquet b.parquet --json", two_losses, "a.parquet", rows=40),
    _target("compare, a run", "compare a b --json", _run_files, "a/run.json", "a/windows-00000.parquet", rows=12),
    _target("compare, TSV", "compare a.tsv b.csv --json", two_scores, "a.tsv", rows=40),
    _target("compare, a JSON array", "compare a.csv b.json --json", containers, "b.json", rows=40),
    _target("compare, columns and data", "compare a.csv split.json --json", containers, "split.json", rows=40),
    _target("compare, gzip", "compare a.csv b.csv.gz --json", containers, "b.csv.gz", rows=40, same=False),
    _target("compare, zstandard", "compare a.csv b.jsonl.zst --json", containers, "b.jsonl.zst", rows=40, same=False),
    _target("compare, a workbook", "compare a.csv b.xlsx --json", containers, "b.xlsx", rows=40, same=False),
    _target("rank, a column per model", "rank wide.csv --json", containers, "wide.csv", rows=40),
    _target("compare, errors", "compare a.csv lost.csv --errors wrong --json", containers, "lost.csv", rows=40),
    _target("rank, CSV", "rank a.csv b.csv c.csv --json", two_scores, "a.csv", "c.csv", rows=120),
    _target("power, a pilot", "power a.csv b.csv --items 100 --json", two_scores, "b.csv"),
    _target("summarize, CSV", "summarize a.csv b.csv --json", two_scores, "b.csv", rows=40),
    _target("reliability, CSV", "reliability runs.csv --json", repeated, "runs.csv"),
    _target("context, a run", "context a b --json", _run_files, "b/run.json", "b/tokens-00000.parquet"),
    _target("japanese, CSV", "japanese generations.csv --json", generations, "generations.csv"),
    _target("certify, JSON lines", "certify a.jsonl b.jsonl -o new.json --json", two_losses, "b.jsonl", same=False),
    _target(
        "certify, a policy",
        "certify a.jsonl b.jsonl -o new.json --policy policy.json --json",
        _certificate_files,
        "policy.json",
        same=False,
    ),
    _target(
        "certify, a policy in TOML",
        "certify a.jsonl b.jsonl -o new.json --policy policy.toml --json",
        _certificate_files,
        "policy.toml",
        same=False,
    ),
    _target(
        "certify, a private key",
        "certify a.jsonl b.jsonl -o new.json --sign key --json",
        _certificate_files,
        "key",
        same=False,
    ),
    _target("verify, a certificate", "verify cert.json --json", _certificate_files, "cert.json", same=False),
    _target("verify, several tasks", "verify cert.json --json", _suite_files, "cert.json", same=False),
    _target(
        "verify, the evidence of tasks", "verify cert.json --json", _suite_files, "cert.evidence.parquet", same=False
    ),
    _target(
        "verify, a policy in YAML",
        "verify cert.json --policy policy.yaml --json",
        _suite_files,
        "policy.yaml",
        same=False,
    ),
    _target(
        "certify, several tasks",
        "certify a.csv b.csv -o new.json --policy policy.yaml --json",
        _suite_files,
        "a.csv",
        "policy.yaml",
        same=False,
    ),
    _target("verify, the evidence", "verify cert.json --json", _certificate_files, "cert.evidence.parquet", same=False),
    _target(
        "verify, an envelope and a key",
        "verify cert.json --key key.pub --json",
        _certificate_files,
        "cert.dsse.json",
        "key.pub",
        same=False,
    ),
    _target(
        "verify, a policy",
        "verify cert.json --policy policy.json --json",
        _certificate_files,
        "policy.json",
        same=False,
    ),
    _target(
        "compare, lm-eval",
        f"compare {_LM[0]} {_LM[1]} --task tiny_sky --metric acc --json",
        harness_files(*_LM),
        f"{_LM[1]}/{_SKY}",
        f"{_LM[1]}/results_2026-11-15T23-56-35.923687.json",
        rows=8,
    ),
    _target(
        "rank, inspect",
        "rank a=inspect/small-deflate.eval b=inspect/small.eval c=inspect/large.eval --json",
        harness_files("inspect"),
        "inspect/small-deflate.eval",
        "inspect/small.eval",
    ),
    _target(
        "compare, inspect JSON",
        "compare inspect/small.json inspect/large.eval --json",
        harness_files("inspect"),
        "inspect/small.json",
    ),
    _target(
        "compare, lighteval",
        "compare lighteval --a stories260K-hf --b stories15M-hf --metric acc --json",
        harness_files("lighteval"),
        _DETAILS,
        f"lighteval/results/stories15M-hf/results_{_WRITTEN}.json",
    ),
    _target(
        "compare, HELM",
        f"compare {_HELM}260K-hf {_HELM}15M-hf --metric exact_match --json",
        harness_files(f"{_HELM}260K-hf", f"{_HELM}15M-hf"),
        f"{_HELM}15M-hf/per_instance_stats.json",
        f"{_HELM}15M-hf/run_spec.json",
    ),
    _target(
        "compare, lm-eval losses",
        f"compare {_LM[0]} {_LM[1]} --task tiny_stories --json",
        harness_files(*_LM),
        f"{_LM[0]}/samples_tiny_stories_2026-11-15T23-56-01.024053.jsonl",
        rows=6,
    ),
    _target(
        "rank, renamed lm-eval",
        "rank base.jsonl int4.jsonl --metric acc --json",
        renamed_samples,
        "int4.jsonl",
        rows=16,
    ),
    _target(
        "compare, HELM losses",
        f"compare helm/{_STORIES}260K-hf helm/{_STORIES}15M-hf --metric bits_per_byte --json",
        harness_files(f"helm/{_STORIES}260K-hf", f"helm/{_STORIES}15M-hf"),
        f"helm/{_STORIES}15M-hf/per_instance_stats.json",
    ),
    _target(
        "compare, AlpacaEval",
        f"compare {_ALPACA[0]} {_ALPACA[1]} --json",
        harness_files("alpaca_eval"),
        _ALPACA[1],
        rows=32,
    ),
    _target(
        "summarize, Arena-Hard",
        f"summarize {_ARENA} --json",
        harness_files("arena_hard"),
        f"{_ARENA}/medium-3b.jsonl",
        rows=32,
    ),
    _target(
        "summarize, MT-Bench",
        "summarize mt_bench/made-up-judge_single.jsonl --json",
        harness_files("mt_bench"),
        "mt_bench/made-up-judge_single.jsonl",
        rows=144,
    ),
    _target(
        "summarize, MT-Bench pairs",
        "summarize mt_bench/made-up-judge_pair.jsonl --reference large-9b --json",
        harness_files("mt_bench"),
        "mt_bench/made-up-judge_pair.jsonl",
        rows=144,
    ),
    _target(
        "summarize, verdicts",
        "summarize verdicts/verdicts.csv --json",
        harness_files("verdicts"),
        "verdicts/verdicts.csv",
        rows=192,
    ),
    _target(
        "compare, responses",
        "compare responses/base-echo.jsonl responses/int4-echo.jsonl --json",
        harness_files("responses"),
        "responses/int4-echo.jsonl",
    ),
    _target(
        "rank, a batch",
        "rank one=responses/base-batch.jsonl two=responses/base-batch.jsonl --json",
        harness_files("responses"),
        "responses/base-batch.jsonl",
    ),
    _target(
        "compare, EvalPlus",
        "compare evalplus --a small --b large --metric plus --at 2 --json",
        harness_files("evalplus"),
        "evalplus/small_eval_results.json",
        "evalplus/large_eval_results.json",
        rows=12,
    ),
    _target(
        "summarize, human-eval",
        "summarize human_eval --at 1,2 --json",
        harness_files("human_eval"),
        "human_eval/small.jsonl_results.jsonl",
    ),
    _target(
        "summarize, Every Eval Ever",
        "summarize every_eval_ever/data/tiny_sky --json",
        harness_files("every_eval_ever/data/tiny_sky"),
        "every_eval_ever/data/tiny_sky/example/stories260K-hf/4b807fb3-1ef2-417e-8f83-75c249f717b0.json",
        "every_eval_ever/data/tiny_sky/example/stories260K-hf/4b807fb3-1ef2-417e-8f83-75c249f717b0_samples.jsonl",
    ),
    _target(
        "compare, BFCL",
        "compare bfcl --a base --b tuned --json",
        harness_files("bfcl"),
        "bfcl/score/tuned/BFCL_v3_simple_score.json",
        "bfcl/result/tuned/BFCL_v3_simple_result.json",
        rows=16,
    ),
    _target(
        "compare, promptfoo",
        "compare promptfoo/two_providers.json --metric pass --json",
        harness_files("promptfoo/two_providers.json"),
        "promptfoo/two_providers.json",
        rows=8,
    ),
    _target(
        "compare, BigCodeBench",
        "compare bigcodebench --a base --b tuned --task bigcodebench-hard-instruct --json",
        harness_files("bigcodebench"),
        "bigcodebench/tuned--main--bigcodebench-hard-instruct--vllm-0-1-sanitized_calibrated_eval_results.json",
        rows=12,
    ),
    _target(
        "compare, LiveCodeBench",
        "compare livecodebench/base livecodebench/tuned --at 2 --json",
        harness_files("livecodebench"),
        "livecodebench/tuned/Scenario.codegeneration_2_0.2_eval_all.json",
        rows=10,
    ),
    _target(
        "summarize, LiveCodeBench by place",
        "summarize place.json --json",
        lambda: {"place.json": (HARNESS / "livecodebench/base/Scenario.codegeneration_2_0.2_eval.json").read_bytes()},
        "place.json",
        rows=10,
    ),
    _target(
        "compare, DeepEval",
        "compare deepeval/small deepeval/large --metric Correctness --json",
        harness_files("deepeval/small/.latest_test_run.json", "deepeval/large/.latest_test_run.json"),
        "deepeval/large/.latest_test_run.json",
        rows=8,
    ),
    _target(
        "compare, the cache of DeepEval",
        "compare a=deepeval/small/.latest_test_run.json b=deepeval/large/.deepeval-cache.json --metric Brevity --json",
        harness_files("deepeval"),
        "deepeval/large/.deepeval-cache.json",
        rows=8,
    ),
    _target(
        "compare, SWE-bench",
        "compare swe_bench/base.r1.json swe_bench/tuned.r1.json --json",
        harness_files("swe_bench/base.r1.json", "swe_bench/tuned.r1.json"),
        "swe_bench/base.r1.json",
        rows=16,
    ),
    _target(
        "summarize, SWE-bench instances",
        "summarize swe_bench/logs --json",
        harness_files("swe_bench/logs"),
        "swe_bench/logs/run_evaluation/r1/tuned/django__django-10880/report.json",
        rows=15,
    ),
    _target(
        "compare, SWE-bench lists",
        "compare swe_bench/base.r1.json swe_bench/lists/other-resolved.json --tried swe_bench/predictions.jsonl --json",
        harness_files("swe_bench"),
        "swe_bench/lists/other-resolved.json",
        "swe_bench/predictions.jsonl",
        rows=16,
    ),
    _target(
        "compare, SWE-bench Pro",
        "compare swe_bench_pro/base swe_bench_pro/tuned --json",
        harness_files("swe_bench_pro"),
        "swe_bench_pro/tuned/eval_results.json",
        rows=14,
    ),
    _target(
        "summarize, tau-bench",
        "summarize tau_bench --at 1,2 --json",
        harness_files("tau_bench"),
        "tau_bench/retail/tool-calling-small-0.0_range_0--1_user-gpt-4o-llm_0601120000.json",
        rows=8,
    ),
    _target(
        "compare, BIG-Bench Hard",
        "compare bbh/direct bbh/cot --json",
        harness_files("bbh"),
        "bbh/cot/sky_few_shot_template_0-255000.json",
        "bbh/cot/sky_few_shot_template_0-255000_eval_metrics.jsonl",
        rows=16,
    ),
    _target(
        "compare, OpenCompass",
        "compare opencompass --a base --b tuned --task animals_gen --json",
        harness_files("opencompass"),
        "opencompass/20260101_120000/results/tuned/animals_gen.json",
        rows=8,
    ),
    _target(
        "compare, predictions of OpenCompass",
        "compare opencompass --a base --b tuned --task sky_ppl --metric equality --json",
        harness_files("opencompass"),
        "opencompass/20260101_120000/predictions/tuned/sky_ppl_1.json",
        rows=8,
    ),
    _target(
        "compare, terminal-bench",
        "compare terminal_bench/small-1 terminal_bench/large --json",
        harness_files("terminal_bench"),
        "terminal_bench/large/results.json",
        "terminal_bench/large/run_metadata.json",
        rows=6,
    ),
    _target(
        "summarize, MultiPL-E",
        "summarize multipl_e --at 1,4 --json",
        harness_files("multipl_e"),
        "multipl_e/humaneval-cs-base-0.2-reworded/HumanEval_1_problem.results.json",
    ),
    _target(
        "rank, py-irt",
        "rank py_irt/responses.jsonlines --json",
        harness_files("py_irt"),
        "py_irt/responses.jsonlines",
        rows=48,  # 3 lines of 16 items: a changed name is one more item
    ),
    _target(
        "compare, OpenAI evals",
        "compare openai_evals/small.jsonl openai_evals/large.jsonl --json",
        harness_files("openai_evals"),
        "openai_evals/large.jsonl",
        rows=8,
    ),
    _target(
        "compare, ragas",
        "compare ragas/small.csv ragas/large.csv --metric judged --json",
        harness_files("ragas"),
        "ragas/large.csv",
        rows=8,
    ),
    _target(
        "compare, MLflow",
        "compare mlflow/small mlflow/large --metric contains --json",
        harness_files("mlflow"),
        "mlflow/large/eval_results_table.json",
        rows=8,
    ),
    _target(
        "survey, the benchmark's files",
        "survey survey.json results --json",
        _survey_files,
        "survey.json",
        "results/town.json",
    ),
    _target(
        "survey, a summary",
        "survey survey.json results --summary summary.json --prior survey.json --json",
        _survey_files,
        "summary.json",
    ),
    _target(
        "survey, another round", "survey survey.json results --prior prior.json --json", _survey_files, "prior.json"
    ),
    _target("survey, tables", "survey truth.csv predicted.csv --json", _survey_files, "truth.csv", "predicted.csv"),
    _target(
        "tune, a run", "tune full-0 lora-0 --json", training_run_files, "full-0/training.json", "lora-0/events.jsonl"
    ),
    _target(
        "tune, the Trainer", "tune full=full-state.json lora=lora-state.json --json", _training_files, "full-state.json"
    ),
    _target("tune, JSON lines", "tune full.jsonl lora.csv --json", _training_files, "full.jsonl"),
    _target("tune, peft", "tune full-peft.json lora-peft.json --json", _training_files, "lora-peft.json"),
    _target("tune, CSV", "tune full.csv lora.csv --json", _training_files, "full.csv"),
    _target(
        "tune, targets",
        "tune full.csv lora.csv --targets targets.json --json",
        _training_files,
        "targets.json",
    ),
    _target(
        "tune, targets in TOML",
        "tune full.csv lora.csv --targets targets.toml --json",
        _training_files,
        "targets.toml",
        same=False,
    ),
    _target(
        "report, a comparison",
        "report comparison.json -o page.md",
        written_by(result_files),
        "comparison.json",
        json=False,
    ),
    _target(
        "report, a leaderboard",
        "report leaderboard.json",
        written_by(result_files),
        "leaderboard.json",
        json=False,
    ),
    _target("the texts of score", "texts text.txt", text_files, "text.txt"),
    _target("the texts of score, JSON lines", "texts text.jsonl text", text_files, "text.jsonl"),
    _target("report, power", "report power.json", written_by(result_files), "power.json", json=False),
    _target(
        "rank, a board that is continued",
        "rank a.csv b.csv c.csv --previous leaderboard.json --json",
        written_by(result_files),
        "leaderboard.json",
        rows=40,
    ),
    _target("report, a certificate", "report cert.json", _certificate_files, "cert.json", json=False, same=False),
)
