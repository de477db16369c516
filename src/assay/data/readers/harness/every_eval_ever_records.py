"""The records of Every Eval Ever, as far as they are wanted, and the samples of an evaluation, column by column."""

import hashlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite, nan
from pathlib import Path
from typing import Any

import msgspec

from assay.data.readers.harness.decoding import decoded_lines
from assay.errors import InputError
from assay.files.reading import LINES, opened
from assay.names import one_line, shown

_BLOCK = 1 << 20


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


@dataclass(frozen=True, eq=False)
class SampleFile:
    """A file of samples, the aggregate that it belongs to, and where both are."""

    path: Path
    aggregate_path: Path | None
    aggregate: Aggregate | None

    @property
    def label(self) -> str:
        return one_line(str(self.path))

    @cached_property
    def tasks(self) -> "dict[tuple[str, str], TaskSamples]":
        """The samples by model and evaluation, read once and checked against the aggregate."""
        found: dict[tuple[str, str], TaskSamples] = {}
        count = 0
        for place, sample in decoded_lines(self.path, EvalSample, once=(b'"sample_id":',)):
            key = sample.model_id, sample.evaluation_name
            if key not in found:
                found[key] = TaskSamples(self, *key)
            found[key].add(sample, place)
            count += 1
        self._check(count)
        return found

    def _check(self, rows: int) -> None:
        """Refuse samples that are not those of the aggregate."""
        details = self.aggregate.detailed_evaluation_results if self.aggregate else None
        if details is None:
            return
        if details.total_rows is not None and details.total_rows != rows:
            raise self._other(f"{rows:,} rows", f"{details.total_rows:,}")
        if details.checksum and self._checksum(details.hash_algorithm or "sha256") != details.checksum.lower():
            raise self._other("another checksum", details.checksum)

    def _other(self, has: str, told: str) -> InputError:
        return InputError(
            f"{self.label}: {has}, but {self.aggregate_path} says {told}; these are other samples than it was made "
            "from, or the file is cut: copy both again."
        )

    def _checksum(self, algorithm: str) -> str:
        if algorithm not in ("sha256", "md5"):
            raise InputError(f"{self.aggregate_path}: hash_algorithm must be sha256 or md5, but got {algorithm!r}.")
        hashed = hashlib.new(algorithm, usedforsecurity=False)
        with opened(self.path, LINES) as file:
            while block := file.read(_BLOCK):
                hashed.update(block)
        return hashed.hexdigest()

    def results(self, task: str) -> list[EvalResult]:
        """What the aggregate says of an evaluation."""
        every = self.aggregate.evaluation_results if self.aggregate else []
        return [one for one in every if one.evaluation_name == task]


@dataclass(eq=False)
class TaskSamples:
    """The samples of one model and evaluation: a row for each attempt at a sample, a column for each result."""

    file: SampleFile
    model: str
    task: str
    rows: dict[str, int] = field(default_factory=dict)  # by sample, and run where that is not the first
    hashes: dict[str, str] = field(default_factory=dict)  # by sample
    items: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    lines: "array[int]" = field(default_factory=lambda: array("q"))
    errors: list[str] = field(default_factory=list)
    scores: dict[str, list[float | None]] = field(default_factory=dict)  # by result; NaN lost, None not of it
    costs: dict[str, list[float | None]] = field(default_factory=dict)

    def add(self, sample: EvalSample, place: str) -> None:
        result, score = sample.evaluation_result_id or "", sample.evaluation.score
        self._check_hash(sample, place)
        column = self.scores.setdefault(result, [])
        row = self._row(sample, column, place)
        lost = bool(sample.error) or score is None or not isfinite(score)
        _put(column, row, nan if lost or score is None else score)
        if lost:
            self.errors[row] = sample.error or "no score"
        if sample.token_usage is not None or sample.performance is not None:
            for name, value in _costs(sample):
                _put(self.costs.setdefault(name, []), row, value)

    def _check_hash(self, sample: EvalSample, place: str) -> None:
        if sample.sample_hash and self.hashes.setdefault(sample.sample_id, sample.sample_hash) != sample.sample_hash:
            first = self.lines[self.items.index(sample.sample_id)]
            raise InputError(
                f"{place}: the sample {shown(sample.sample_id)} of {self.task} has another sample_hash than in line "
                f"{first}, so one id stands for two samples; give each its own."
            )

    def _row(self, sample: EvalSample, column: list[float | None], place: str) -> int:
        """The row of an attempt: by its epoch, or the first that has no score of this result yet."""
        epoch = sample.metadata.epoch if sample.metadata else None
        if epoch is not None:
            row = self._known(sample.sample_id, str(epoch), place)
            if row < len(column) and column[row] is not None:
                raise InputError(f"{place}: sample {shown(sample.sample_id)} has an epoch {epoch} already; keep one.")
            return row
        run = 1
        while (row := self._known(sample.sample_id, str(run), place)) < len(column) and column[row] is not None:
            run += 1
        return row

    def _known(self, item: str, run: str, place: str) -> int:
        row = self.rows.setdefault(item if run == "1" else f"{item}\0{run}", len(self.items))
        if row == len(self.items):
            self.items.append(item)
            self.runs.append(run)
            self.errors.append("")
            self.lines.append(int(place.rpartition(" ")[2]))
        return row

    def metrics(self) -> dict[str, str]:
        """What each result measures, as the aggregate calls it."""
        told = self.file.results(self.task)
        by_id = {one.evaluation_result_id: one for one in told if one.evaluation_result_id}
        only = told[0] if len(told) == 1 else None
        names = {}
        for result in self.scores:
            config = (by_id.get(result) or only or EvalResult(self.task)).metric_config
            names[result] = config.metric_name or config.metric_id or result or "score"
        twice = [name for name in names.values() if list(names.values()).count(name) > 1]
        return {result: result or name if name in twice else name for result, name in names.items()}


def _put(column: list[float | None], row: int, value: float) -> None:
    column.extend([None] * (row + 1 - len(column)))
    column[row] = value


def _costs(sample: EvalSample) -> Iterator[tuple[str, float]]:
    usage, performance = sample.token_usage, sample.performance
    if usage is not None:
        known = (usage.input_tokens, usage.output_tokens, usage.total_tokens)
        yield from (
            (name, value)
            for name, value in zip(("tokens_in", "tokens_out", "tokens_total"), known, strict=True)
            if value is not None
        )
    if performance is not None and performance.latency_ms is not None:
        yield "seconds", performance.latency_ms / 1000
