"""The samples of Every Eval Ever, column by column, and whether they are those of their aggregate."""

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite, isnan, nan
from pathlib import Path

from assay.data.readers.harness.decoding import decoded_blocks
from assay.data.readers.harness.every_eval_ever_records import Aggregate, EvalResult, EvalSample
from assay.data.readers.harness.lines import place_of_line
from assay.errors import InputError
from assay.files.reading import LINES, opened
from assay.names import one_line, shown

_BLOCK = 1 << 20


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
    def tasks(self) -> "Tasks":
        """The samples by model and evaluation, read once and checked against the aggregate."""
        found: Tasks = {}
        count = 0
        for numbers, samples in decoded_blocks(self.path, EvalSample, once=(b'"sample_id":',)):
            self._add(found, samples, numbers)
            count += len(samples)
        self._check(count)
        return found

    def _add(self, found: "Tasks", samples: Sequence[EvalSample], numbers: Sequence[int]) -> None:
        for key in dict.fromkeys((one.model_id, one.evaluation_name) for one in samples):
            if key not in found:
                found[key] = TaskSamples(self, *key)
        first = found[samples[0].model_id, samples[0].evaluation_name]
        if first.add_together(samples, numbers):
            return
        for number, sample in zip(numbers, samples, strict=True):
            found[sample.model_id, sample.evaluation_name].add(sample, number)

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

    def add_together(self, samples: Sequence[EvalSample], numbers: Sequence[int]) -> bool:
        """Add the first attempts at samples with one result; False where they must be added one by one."""
        items, results = [one.sample_id for one in samples], {one.evaluation_result_id or "" for one in samples}
        others = any((one.model_id, one.evaluation_name) != (self.model, self.task) for one in samples)
        epochs = any(one.metadata is not None and one.metadata.epoch is not None for one in samples)
        new = len(set(items)) == len(items) and self.rows.keys().isdisjoint(items)
        if others or epochs or not new or len(results) > 1:
            return False
        start, scores = len(self.items), [_score(one) for one in samples]
        self.rows.update(zip(items, range(start, start + len(items)), strict=True))
        self.hashes.update((one.sample_id, one.sample_hash) for one in samples if one.sample_hash)
        self.items += items
        self.runs += ["1"] * len(items)
        self.lines.extend(numbers)
        self.errors += [
            (one.error or "no score") if isnan(score) else "" for one, score in zip(samples, scores, strict=True)
        ]
        _extend(self.scores.setdefault(results.pop(), []), start, scores)
        for row, one in enumerate(samples, start):
            self._add_costs(one, row)
        return True

    def add(self, sample: EvalSample, number: int) -> None:
        """Add a sample, which stands in that line."""
        self._check_hash(sample, number)
        column = self.scores.setdefault(sample.evaluation_result_id or "", [])
        row, score = self._row(sample, column, number), _score(sample)
        _put(column, row, score)
        if isnan(score):
            self.errors[row] = sample.error or "no score"
        self._add_costs(sample, row)

    def _add_costs(self, sample: EvalSample, row: int) -> None:
        if sample.token_usage is not None or sample.performance is not None:
            for name, value in _costs(sample):
                _put(self.costs.setdefault(name, []), row, value)

    def _check_hash(self, sample: EvalSample, number: int) -> None:
        if sample.sample_hash and self.hashes.setdefault(sample.sample_id, sample.sample_hash) != sample.sample_hash:
            first = self.lines[self.items.index(sample.sample_id)]
            raise InputError(
                f"{self._place(number)}: the sample {shown(sample.sample_id)} of {self.task} has another sample_hash "
                f"than in line {first}, so one id stands for two samples; give each its own."
            )

    def _row(self, sample: EvalSample, column: list[float | None], number: int) -> int:
        """The row of an attempt: by its epoch, or the first that has no score of this result yet."""
        epoch = sample.metadata.epoch if sample.metadata else None
        if epoch is not None:
            row = self._known(sample.sample_id, str(epoch), number)
            if row < len(column) and column[row] is not None:
                raise InputError(
                    f"{self._place(number)}: sample {shown(sample.sample_id)} has an epoch {epoch} already; keep one."
                )
            return row
        run = 1
        while (row := self._known(sample.sample_id, str(run), number)) < len(column) and column[row] is not None:
            run += 1
        return row

    def _known(self, item: str, run: str, number: int) -> int:
        row = self.rows.setdefault(item if run == "1" else f"{item}\0{run}", len(self.items))
        if row == len(self.items):
            self.items.append(item)
            self.runs.append(run)
            self.errors.append("")
            self.lines.append(number)
        return row

    def _place(self, number: int) -> str:
        return place_of_line(self.file.path, number)

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


Tasks = dict[tuple[str, str], TaskSamples]  # by model and evaluation


def _score(sample: EvalSample) -> float:
    """The score of a sample; NaN if it is lost."""
    score = sample.evaluation.score
    return nan if score is None or sample.error or not isfinite(score) else score


def _put(column: list[float | None], row: int, value: float) -> None:
    column.extend([None] * (row + 1 - len(column)))
    column[row] = value


def _extend(column: list[float | None], row: int, values: Sequence[float]) -> None:
    """Put values into the rows from one on, which have none yet."""
    column.extend([None] * (row - len(column)))
    column.extend(values)


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
