"""Every Eval Ever: an aggregate ``<uuid>.json``, and ``<uuid>_samples.jsonl`` with a row for each sample and result.

The aggregate names the file of its samples, with a checksum and the number of rows, and says what each result measures.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any, cast

from assay.data.readers.harness import Log, SampleText, read_lines, told
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.decoding import decoded_file
from assay.data.readers.harness.every_eval_ever_records import Aggregate, EvalResult
from assay.data.readers.harness.every_eval_ever_samples import SampleFile, TaskSamples
from assay.data.readers.harness.first_look import FirstLook, first_keys
from assay.data.readers.harness.places import NumberedPlaces
from assay.errors import InputError
from assay.files.reading import LINES, opened
from assay.names import listed, one_line

AGGREGATE_KEYS = frozenset({"schema_version", "evaluation_id", "model_info", "evaluation_results"})
SAMPLE_KEYS = frozenset({"schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id", "evaluation"})
SAMPLES = "_samples.jsonl"

_UNKNOWN_LEVEL = -1.0  # a score that stands for none, where a metric has such a level
_HEAD = 1 << 16
_LONG = 200  # characters of a path in a message
_SLACK = 1e-6  # between the score of an aggregate and the mean of its samples


@dataclass(frozen=True)
class EveryEvalEverLog(AnswersLog):
    """One evaluation of one model."""

    format = "every-eval-ever"
    paired_on = "sample_id"
    compared = "sample_hash"

    samples: TaskSamples | None = None

    def texts(self) -> Iterator[SampleText]:
        """The texts of its samples, once for each attempt."""
        seen: set[tuple[str, str]] = set()
        for _, record in read_lines(self.files[0]):
            if (record.get("model_id"), record.get("evaluation_name")) == (self.model, self.task):
                text = _text(record)
                if (text.item, text.run) not in seen:
                    seen.add((text.item, text.run))
                    yield text

    def read(self) -> Answers:
        assert self.samples is not None
        found, n = self.samples, len(self.samples.items)
        names = found.metrics()
        told = {one.evaluation_result_id or "": one for one in found.file.results(self.task)}
        levels = {result for result, one in told.items() if one.metric_config.has_unknown_level}
        metrics = {names[result]: _filled(own, n, levels=result in levels) for result, own in found.scores.items()}
        absent = {names[result]: _absent(own, n) for result, own in found.scores.items()}
        hashes = [found.hashes.get(item, "") for item in found.items]
        return Answers(
            found.items,
            cast("list[str]", NumberedPlaces(found.file.label, found.lines)),
            metrics,
            runs=found.runs,
            errors=_errors(found.errors, metrics),
            hashes=hashes if all(hashes) else None,
            costs={name: _filled(own, n) for name, own in found.costs.items()},
            not_for={name: rows for name, rows in absent.items() if rows},
            lower_is_better=frozenset(
                names[result]
                for result in found.scores
                if (result in told and told[result].metric_config.lower_is_better)
                or (len(told) == 1 and next(iter(told.values())).metric_config.lower_is_better)
            ),
            notes=_unlike(found, names, metrics),
        )


def _errors(errors: Sequence[str], metrics: Mapping[str, Sequence[float]]) -> list[str] | None:
    """Why answers were lost; nothing of one that another metric has a score of."""
    if not any(errors):
        return None
    lost = [why if all(isnan(scores[row]) for scores in metrics.values()) else "" for row, why in enumerate(errors)]
    return lost if any(lost) else None


def _text(record: dict[str, Any]) -> SampleText:
    asked, answered = record.get("input") or {}, record.get("output") or {}
    choices, metadata = asked.get("choices"), record.get("metadata") or {}
    return SampleText(
        str(record.get("sample_id")),
        str(metadata.get("epoch", "")),
        str(asked.get("raw", "")),
        tuple(map(str, asked.get("reference") or ())),
        tuple(map(str, answered.get("raw") or ())),
        None if choices is None else tuple(map(str, choices)),
    )


def _filled(values: Sequence[float | None], n: int, *, levels: bool = False) -> list[float]:
    """A value for each row, NaN where there is none, or one that says that there is none."""
    found = [nan if value is None or (levels and value == _UNKNOWN_LEVEL) else value for value in values]
    return found + [nan] * (n - len(found))


def _absent(values: Sequence[float | None], n: int) -> frozenset[int]:
    """The rows that a result does not have."""
    return frozenset([*(row for row, value in enumerate(values) if value is None), *range(len(values), n)])


def _unlike(found: TaskSamples, names: Mapping[str, str], metrics: Mapping[str, Sequence[float]]) -> list[str]:
    """What the aggregate says that the mean of its samples is not."""
    notes = []
    for one in found.file.results(found.task):
        metric = names.get(one.evaluation_result_id or "", names.get(""))
        scores = [score for score in metrics.get(metric or "", ()) if isfinite(score)]
        said = one.score_details.score
        if said is None or not scores or metric is None:
            continue
        mean = sum(scores) / len(scores)
        if min(abs(said - mean), abs(said / 100 - mean)) > _SLACK * max(1.0, abs(mean)):
            notes.append(
                f"{found.file.label}: the aggregate has {said:g} for {metric} of {found.task}, the mean of its samples "
                f"is {mean:g}"
            )
    return notes


# --------------------------------------------------------------------------------------------------------------- logs


def recognises(look: FirstLook) -> bool:
    return look.keys >= AGGREGATE_KEYS or look.keys >= SAMPLE_KEYS


def logs_of(files: Sequence[Path]) -> list[Log]:
    """A log for each model and evaluation in the samples of these files."""
    samples = [path for path in files if _first(path) >= SAMPLE_KEYS]
    aggregates = {path: decoded_file(path, Aggregate) for path in files if path not in samples}
    pairs = {path: _aggregate_of(path, aggregates) for path in samples}
    for path, aggregate in aggregates.items():
        beside = _samples_of(path, aggregate)
        if beside is not None and not any(_same(beside, known) for known in pairs):
            pairs[beside] = path, aggregate
    if not pairs:
        raise _alone(aggregates)
    return [
        _log(samples, task)
        for path, (where, aggregate) in pairs.items()
        for samples in [SampleFile(path, where, aggregate)]
        for task in samples.tasks.values()
    ]


def _first(path: Path) -> set[str]:
    """The keys of the first object in a file."""
    with opened(path, LINES) as file:
        return first_keys(file.read(_HEAD).decode("utf-8-sig", errors="replace"))[0]


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _aggregate_of(path: Path, aggregates: Mapping[Path, Aggregate]) -> tuple[Path | None, Aggregate | None]:
    """The aggregate of a file of samples: among those that were named, or beside it."""
    beside = path.with_name(path.name.removesuffix(SAMPLES) + ".json")
    for where, aggregate in aggregates.items():
        if _same(where, beside):
            return where, aggregate
    if beside != path and beside.is_file():
        return beside, decoded_file(beside, Aggregate)
    return None, None


def _samples_of(path: Path, aggregate: Aggregate) -> Path | None:
    """The samples of an aggregate: beside it, or where it says below one of the folders above it."""
    details = aggregate.detailed_evaluation_results
    said = Path(details.file_path) if details and details.file_path else None
    places = [path.with_name(path.stem + SAMPLES)]
    if said is not None and not said.is_absolute() and ".." not in said.parts:
        places += [path.with_name(said.name), *(folder / said for folder in path.absolute().parents)]
    return next((place for place in places if place.is_file()), None)


def _alone(aggregates: Mapping[Path, Aggregate]) -> InputError:
    """The error for aggregates without samples."""
    path, aggregate = next(iter(aggregates.items()))
    details, results = aggregate.detailed_evaluation_results, aggregate.evaluation_results
    if details is not None and details.file_path:
        where = f"the samples are in {one_line(details.file_path[:_LONG])}, which is not here; fetch them"
    else:
        where = "it names no samples, and means alone cannot be compared; ask its source for them"
    names = listed(dict.fromkeys(one.evaluation_name for one in results), 6)
    return InputError(f"{one_line(str(path))}: this is the aggregate ({names}); {where}.")


def _log(file: SampleFile, samples: TaskSamples) -> EveryEvalEverLog:
    told_of, aggregate = file.results(samples.task), file.aggregate
    stamp = (aggregate.evaluation_timestamp or aggregate.retrieved_timestamp or "") if aggregate else ""
    return EveryEvalEverLog(
        file.label,
        (file.path, *([file.aggregate_path] if file.aggregate_path else [])),
        samples.model,
        samples.task,
        stamp,
        conditions=told({"split": _split(told_of), "judge": _judges(told_of)}),
        settings=_settings(told_of),
        samples=samples,
    )


def _split(results: Sequence[EvalResult]) -> str | None:
    found = {str(one.source_data["hf_split"]) for one in results if one.source_data.get("hf_split")}
    return found.pop() if len(found) == 1 else None


def _judges(results: Sequence[EvalResult]) -> str | None:
    found = {
        str(judge.model_info.get("id") or judge.model_info.get("name"))
        for one in results
        if one.metric_config.llm_scoring is not None
        for judge in one.metric_config.llm_scoring.judges
    }
    return ", ".join(sorted(found)) or None


def _settings(results: Sequence[EvalResult]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in results:
        arguments = (one.generation_config or {}).get("generation_args")
        if isinstance(arguments, dict):
            found |= told({str(name): value for name, value in arguments.items()})
    return found
