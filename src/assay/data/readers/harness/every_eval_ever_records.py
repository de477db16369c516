"""The records of Every Eval Ever, as far as they are wanted."""

from typing import Any

import msgspec


class Judge(msgspec.Struct):
    model_info: dict[str, Any] = {}


class Judges(msgspec.Struct):
    judges: list[Judge] = []


class MetricConfig(msgspec.Struct):
    lower_is_better: bool = False
    metric_id: str | None = None
    metric_name: str | None = None
    has_unknown_level: bool = False
    llm_scoring: Judges | None = None


class _ScoreDetails(msgspec.Struct):
    score: float | None = None


class EvalResult(msgspec.Struct):
    evaluation_name: str
    evaluation_result_id: str | None = None
    metric_config: MetricConfig = msgspec.field(default_factory=MetricConfig)
    score_details: _ScoreDetails = msgspec.field(default_factory=_ScoreDetails)
    source_data: dict[str, Any] = {}
    generation_config: dict[str, Any] | None = None


class _Details(msgspec.Struct):
    file_path: str = ""
    hash_algorithm: str | None = None
    checksum: str | None = None
    total_rows: int | None = None


class _Model(msgspec.Struct):
    id: str
    name: str = ""


class Aggregate(msgspec.Struct):
    """What is wanted of an aggregate."""

    schema_version: str
    evaluation_id: str
    model_info: _Model
    evaluation_results: list[EvalResult]
    evaluation_timestamp: str | None = None
    retrieved_timestamp: str | None = None
    detailed_evaluation_results: _Details | None = None


class _Evaluation(msgspec.Struct, gc=False):
    score: float | None


class _Tokens(msgspec.Struct, gc=False):
    input_tokens: float | None = None
    output_tokens: float | None = None
    total_tokens: float | None = None


class _Performance(msgspec.Struct, gc=False):
    latency_ms: float | None = None


class _Metadata(msgspec.Struct, gc=False):
    epoch: str | int | None = None


class EvalSample(msgspec.Struct, gc=False):
    """What is wanted of a sample: no text of it."""

    model_id: str
    evaluation_name: str
    sample_id: str
    evaluation: _Evaluation
    evaluation_result_id: str | None = None
    sample_hash: str | None = None
    error: str | None = None
    token_usage: _Tokens | None = None
    performance: _Performance | None = None
    metadata: _Metadata | None = None
