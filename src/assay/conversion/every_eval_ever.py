"""Records of Every Eval Ever (schema 0.3.0): for each model and task an aggregate with uncertainty, and its samples."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan
from pathlib import Path
from typing import Any, BinaryIO, Literal
from uuid import UUID

import numpy as np

from assay.analyses.summarize import summarize
from assay.conversion.long_table import errors_of
from assay.conversion.sample_texts import SampleTexts
from assay.data import Panel, Table
from assay.data.readers.containers import plain_stem
from assay.design import Design
from assay.files.writing import make_folder, write_bytes, write_whole
from assay.stats.records import Estimate
from assay.version import VERSION

SCHEMA_VERSION = "0.3.0"
Relationship = Literal["first_party", "third_party", "collaborative", "other"]

_UNKNOWN = "unknown"
_NOT_IN_PATHS = re.compile(r"[^A-Za-z0-9._-]+")
_BINARY = {"score_type": "binary"}
_PERPLEXITY = {"score_type": "continuous", "min_score": 1.0, "max_score": "Infinity"}
_OTHER: dict[str, Any] = {}  # no file says what the smallest and the largest score could have been
#: What the coalition calls the programs whose files we read.
_LIBRARIES = {"lm-eval": "lm_eval", "inspect": "inspect_ai"}


@dataclass(frozen=True, slots=True)
class RecordSource:
    """Who says so, and when."""

    organization: str = _UNKNOWN
    relationship: Relationship = "other"
    retrieved: int = 0  # seconds since 1970


@dataclass(frozen=True, eq=False)
class MetricRows:
    """The rows of one metric, and what is said of them."""

    name: str
    table: Table
    estimate: Estimate  # the mean, or the perplexity
    spread: float | None  # standard deviation of single samples
    resamples: int | None
    binary: bool
    lower_is_better: bool


@dataclass(frozen=True, eq=False)
class TaskRecord:
    """One model on one task: an aggregate, and its samples if their texts are known."""

    model: str
    task: str
    source: RecordSource
    about: Mapping[str, Any]
    metrics: list[MetricRows] = field(default_factory=list)
    texts: SampleTexts | None = None

    @property
    def identity(self) -> str:
        """A UUID that the same data gives again."""
        digests = [Panel.from_tables([one.table]).digest for one in self.metrics]
        made = hashlib.sha256("\0".join([self.model, self.task, *(m.name for m in self.metrics), *digests]).encode())
        return str(UUID(bytes=made.digest()[:16], version=4))

    @property
    def place(self) -> Path:
        """The folder of both files, from the root of a data set on."""
        developer, slash, name = self.model.partition("/")
        parts = (self.task, developer, name) if slash else (self.task, _UNKNOWN, developer)
        return Path("data", *(_NOT_IN_PATHS.sub("_", part).strip(".") or _UNKNOWN for part in parts))

    @property
    def evaluation_id(self) -> str:
        return f"{self.task}/{self.model.replace('/', '_')}/{self.source.retrieved}"

    @property
    def has_samples(self) -> bool:
        """Whether every row has its texts, and scores for single samples."""
        return self.texts is not None and all(
            one.table.kind == "scores" and self.texts.know(one.table, self.task) for one in self.metrics
        )


# ------------------------------------------------------------------------------------------------------------- records


def records_of(
    tables: Sequence[Table], texts: Mapping[str, SampleTexts], source: RecordSource, design: Design
) -> list[TaskRecord]:
    """A record for each model and task of tables that have one model and one metric each."""
    found: dict[tuple[str, str], TaskRecord] = {}
    for table in tables:
        for task, part in _by_task(table):
            model = str(table.about.get("model", {}).get("name") or table.name)
            key = model, task
            if key not in found:
                found[key] = TaskRecord(model, task, source, table.about, texts=texts.get(model))
            found[key].metrics.append(_measured(part, table, task, design))
    return list(found.values())


def _by_task(table: Table) -> Iterator[tuple[str, Table]]:
    labels = table.labels.get("task")
    if labels is None:
        yield table.about.get("measure", {}).get("task") or plain_stem(table.label), table
        return
    for code, name in enumerate(labels.names):
        yield name, table.where(labels.codes == code)


def _measured(part: Table, whole: Table, task: str, design: Design) -> MetricRows:
    found = summarize(part, design=design, lower_is_better=whole.about.get("lower_is_better") or None)
    model = found.models[0]
    panel = Panel.from_tables([part.answered()])
    values = panel.values[:, 0]
    return MetricRows(
        _metric(part, task, losses=found.kind == "losses"),
        part,
        model.perplexity if model.perplexity is not None else model.value,
        float(np.std(values, ddof=1)) if len(values) > 1 and found.kind == "scores" else None,
        design.resamples,
        found.kind == "scores" and bool(np.isin(part.answered().numbers["score"], (0.0, 1.0)).all()),
        found.lower_is_better,
    )


def _metric(table: Table, task: str, *, losses: bool) -> str:
    about = table.about
    own = about.get("measure", {}).get("by_task", {}).get(task, {}).get("metric")
    return str(about.get("one_of_metrics") or about.get("metric") or own or ("perplexity" if losses else "score"))


# -------------------------------------------------------------------------------------------------------------- files


def write_record(record: TaskRecord, folder: Path) -> list[Path]:
    """Write the aggregate and, if their texts are known, the samples; which files these are."""
    where, name = folder / record.place, record.identity
    make_folder(where)
    written, details = [], None
    if record.has_samples:
        path = where / f"{name}_samples.jsonl"
        lines = _Lines()
        write_whole(path, lambda part: lines.write(part, record))
        written.append(path)
        details = {
            "format": "jsonl",
            "file_path": (record.place / path.name).as_posix(),
            "hash_algorithm": "sha256",
            "checksum": lines.hashed.hexdigest(),
            "total_rows": lines.count,
        }
    aggregate = _aggregate(record) | ({"detailed_evaluation_results": details} if details else {})
    path = where / f"{name}.json"
    write_bytes(path, (json.dumps(aggregate, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode())
    return [path, *written]


class _Lines:
    """Writes samples, and remembers how many and their checksum."""

    def __init__(self) -> None:
        self.count, self.hashed = 0, hashlib.sha256()

    def write(self, part: Path, record: TaskRecord) -> None:
        self.__init__()  # type: ignore[misc]  # a file may be written again
        with part.open("wb") as file:
            for sample in _samples(record):
                self._add(file, sample)

    def _add(self, file: BinaryIO, sample: dict[str, Any]) -> None:
        line = (json.dumps(sample, ensure_ascii=False, allow_nan=False) + "\n").encode()
        self.hashed.update(line)
        self.count += 1
        file.write(line)


def _aggregate(record: TaskRecord) -> dict[str, Any]:
    version, written = record.about.get("program", {}).get(record.task, ("", ""))
    program = record.about.get("measure", {}).get("format", _UNKNOWN)
    developer = record.model.partition("/")[0] if "/" in record.model else _UNKNOWN
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": record.evaluation_id,
        **({"evaluation_timestamp": written} if written else {}),
        "retrieved_timestamp": str(record.source.retrieved),
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": record.source.organization,
            "evaluator_relationship": record.source.relationship,
            "additional_details": {"converted_by": f"assay {VERSION}"},
        },
        "eval_library": {"name": _LIBRARIES.get(program, program), "version": version or _UNKNOWN},
        "model_info": {
            "name": record.model,
            "id": record.model,
            "developer": developer,
            "additional_details": {"deployment_type": _UNKNOWN, "model_availability": _UNKNOWN},
        },
        "evaluation_results": [_result(record, one) for one in record.metrics],
    }


def _result(record: TaskRecord, one: MetricRows) -> dict[str, Any]:
    conditions = record.about.get("conditions", {}).get(record.task, {})
    settings = record.about.get("settings", {}).get(record.task, {})
    details = {"additional_details": dict(conditions)} if conditions else {}
    return {
        "evaluation_result_id": one.name,
        "evaluation_name": record.task,
        "source_data": {"dataset_name": record.task, "source_type": "other", **details},
        "metric_config": {
            "metric_id": one.name,
            "metric_name": one.name,
            "lower_is_better": one.lower_is_better,
            **(_PERPLEXITY if one.table.kind == "losses" else _BINARY if one.binary else _OTHER),
        },
        "score_details": {"score": one.estimate.value, "uncertainty": _uncertainty(one)},
        **({"generation_config": {"additional_details": dict(settings)}} if settings else {}),
    }


def _uncertainty(one: MetricRows) -> dict[str, Any]:
    found: dict[str, Any] = {"num_samples": one.estimate.n}
    limits, error = one.estimate.interval, one.estimate.standard_error
    clustered = one.table.cluster_by is not None
    if error is not None:
        found["standard_error"] = {"value": error, "method": "analytic, of clusters" if clustered else "analytic"}
    if limits is not None:
        found["confidence_interval"] = {
            "lower": limits.low,
            "upper": limits.high,
            "confidence_level": limits.level,
            "method": limits.method,
        }
    if one.spread is not None:
        found["standard_deviation"] = one.spread
    if one.resamples is not None:
        found["num_bootstrap_samples"] = one.resamples
    return found


# ------------------------------------------------------------------------------------------------------------- samples


def _samples(record: TaskRecord) -> Iterator[dict[str, Any]]:
    """A line for each answer and metric."""
    assert record.texts is not None
    for one in record.metrics:
        table, errors = one.table, errors_of(one.table).tolist()
        scores = table.numbers["score"].tolist()
        whole = all(0 <= score <= 1 for score in scores if not isnan(score))
        runs = table.labels["run"].texts.tolist() if "run" in table.labels else None
        for row, (text, score) in enumerate(zip(record.texts.of(table, record.task), scores, strict=True)):
            told = {} if runs is None else {"metadata": {"epoch": str(runs[row])}}
            yield {
                "schema_version": SCHEMA_VERSION,
                "evaluation_id": record.evaluation_id,
                "model_id": record.model,
                "evaluation_name": record.task,
                "evaluation_result_id": one.name,
                "sample_id": text.item,
                "sample_hash": hashlib.sha256((text.question + "".join(text.references)).encode()).hexdigest(),
                "interaction_type": "single_turn",
                "input": {
                    "raw": text.question,
                    "reference": list(text.references),
                    **({} if text.choices is None else {"choices": list(text.choices)}),
                },
                "output": {"raw": list(text.answers)},
                "answer_attribution": [],
                # A sample must have a score: one that was lost has an error beside it, and readers leave it out.
                "evaluation": {"score": 0.0 if isnan(score) else score, "is_correct": whole and score == 1},
                **_costs(table, row),
                **({"error": errors[row]} if isnan(score) else {}),
                **told,
            }


def _costs(table: Table, row: int) -> dict[str, Any]:
    known = {name: float(table.numbers[name][row]) for name in _COSTS if name in table.numbers}
    tokens_in, tokens_out, total, seconds = (_finite(known.get(name)) for name in _COSTS)
    found: dict[str, Any] = {}
    if tokens_in is not None and tokens_out is not None:
        counts = (tokens_in, tokens_out, tokens_in + tokens_out if total is None else total)
        if all(count.is_integer() for count in counts):
            names = ("input_tokens", "output_tokens", "total_tokens")
            found["token_usage"] = dict(zip(names, map(int, counts), strict=True))
    if seconds is not None:
        found["performance"] = {"latency_ms": seconds * 1000}
    return found


_COSTS = ("tokens_in", "tokens_out", "tokens_total", "seconds")


def _finite(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else value
