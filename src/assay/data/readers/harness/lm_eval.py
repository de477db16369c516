"""lm-evaluation-harness: ``samples_<task>_<date>.jsonl`` and the ``results_<date>.json`` beside it.

A row per document and filter. The samples do not name their model; the results of the same date do. A renamed file
states neither its task nor its results, so the model is named after the file.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from sys import intern
from typing import Any

from assay.data.readers import Selection
from assay.data.readers.harness import (
    Log,
    Measure,
    Rows,
    chosen,
    field_of,
    label_of,
    number,
    read_lines,
    scored,
    shown_value,
)
from assay.errors import InputError
from assay.files.reading import read_json

#: The keys of a row of samples, and of a file of results.
SAMPLE_KEYS = frozenset({"doc_id", "doc", "resps", "filtered_resps"})
RESULT_KEYS = frozenset({"results", "configs", "versions"})

_DATE = re.compile(r"_(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d+)?)$")
_NOT_METRICS = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash task_name".split()  # noqa: SIM905 - a list of words
)
#: Rolling tasks keep [log-likelihood, size] under these names; the sizes are bytes and words.
_BYTES = ("bits_per_byte", "byte_perplexity")
_ROLLING = (*_BYTES, "word_perplexity")


@dataclass(frozen=True, slots=True)
class _Results:
    """What a results file says about the samples of the same date."""

    path: Path
    model: str | None
    higher_is_better: dict[str, Any]
    groups: dict[str, Any]


@dataclass(frozen=True, slots=True)
class LmEvalSample:
    """What is kept of a row."""

    place: str
    doc: str
    digest: str
    filter: str
    metrics: dict[str, Any]
    cluster: str


@dataclass(frozen=True)
class LmEvalLog(Log):
    """The samples of a task."""

    results: _Results | None = None

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        every = [_sample(place, record, cluster, self.task) for place, record in read_lines(self.files[0])]
        kept = chosen(self.label, "filter", (sample.filter for sample in every), selection.filter)
        samples = [sample for sample in every if sample.filter == kept]
        rolling = [name for name in _ROLLING if isinstance(samples[0].metrics.get(name), list)]
        if rolling and (selection.metric is None or selection.metric in rolling):
            rows = _losses(samples, rolling, selection.metric, kept)
        else:
            rows = _scores(self.label, samples, selection.metric, kept)
            rows.lower_is_better = self._lower_is_better(rows.measure.metric)
        if cluster is not None:
            rows.columns[cluster] = [sample.cluster for sample in samples]
        return rows

    def _lower_is_better(self, metric: str) -> bool | None:
        told = self.results.higher_is_better.get(self.task) if self.results else None
        higher = told.get(metric) if isinstance(told, dict) else None
        return None if higher is None else not higher


def logs_of(samples: Sequence[Path], results: Sequence[Path]) -> list[LmEvalLog]:
    """A log for each samples file, including those beside a results file that was given."""
    found = list(samples)
    for path in results:
        date = _date(path)
        beside = sorted(path.parent.glob(f"samples_*_{date}.jsonl")) if date else []
        if not beside and not samples:
            raise InputError(f"{path}: no samples of this run are beside it; run lm_eval with --log_samples.")
        found.extend(file for file in beside if file not in found)
    known: dict[tuple[Path, str], _Results | None] = {}  # a results file may tell of hundreds of tasks
    return [_log(path, known) for path in found]


def _log(path: Path, known: dict[tuple[Path, str], _Results | None]) -> LmEvalLog:
    date = _date(path)
    if not date or not path.stem.startswith("samples_"):
        return LmEvalLog(str(path), (path,), path.stem, "", date, guessed="called after its file, which was renamed")
    if (path.parent, date) not in known:
        known[path.parent, date] = _results(path.parent, date)
    results = known[path.parent, date]
    task = _DATE.sub("", path.stem).removeprefix("samples_")
    groups = _groups(results.groups, task) if results else frozenset()
    model = results.model if results and results.model else path.parent.resolve().name or path.stem
    guessed = "" if results else f"no results file of the same date, so the model is called {model}"
    return LmEvalLog(str(path), (path,), model, task, date, groups, guessed, results=results)


def _date(path: Path) -> str:
    found = _DATE.search(path.stem)
    return found[1] if found else ""


def _results(folder: Path, date: str) -> _Results | None:
    for path in sorted(folder.glob(f"*_{date}.json")):
        found = read_json(path)
        if isinstance(found, dict) and found.keys() >= RESULT_KEYS:
            name = found.get("model_name")
            return _Results(path, name if isinstance(name, str) and name else None, *_told(found))
    return None


def _told(found: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    higher, groups = (found.get(name) for name in ("higher_is_better", "group_subtasks"))
    return higher if isinstance(higher, dict) else {}, groups if isinstance(groups, dict) else {}


def _groups(subtasks: dict[str, Any], task: str) -> frozenset[str]:
    """The groups that contain a task, directly or through other groups."""
    found: set[str] = set()
    inside = {task}
    while inside:
        inside = {name for name, parts in subtasks.items() if isinstance(parts, list) and inside & set(parts)} - found
        found |= inside
    return frozenset(found)


def _sample(place: str, record: dict[str, Any], cluster: str | None, task: str) -> LmEvalSample:
    doc = str(field_of(record, "doc_id", place, int, str))
    listed_names = record.get("metrics")
    names = listed_names if isinstance(listed_names, list) else [name for name in record if name not in _NOT_METRICS]
    metrics = {intern(str(name)): field_of(record, str(name), place) for name in names}
    group = "" if cluster is None else _cluster(record, cluster, place, task)
    return LmEvalSample(
        place,
        intern(doc),
        intern(str(record.get("doc_hash", ""))),
        intern(str(record.get("filter", "none"))),
        metrics,
        group,
    )


def _cluster(record: dict[str, Any], name: str, place: str, task: str) -> str:
    if name == "task" and not task:
        raise InputError(f"{place}: the file was renamed and does not say its task; cluster by something else.")
    return task if name == "task" else label_of([("doc", record.get("doc"))], name, place)


def _scores(label: str, samples: list[LmEvalSample], asked: str | None, kept: str) -> Rows:
    places = _places(samples)
    metric, scores = scored(label, [sample.metrics for sample in samples], places, asked)
    return Rows("scores", _measure(metric, kept), _units("item", samples) | {"score": scores}, places)


def _losses(samples: list[LmEvalSample], rolling: list[str], asked: str | None, kept: str) -> Rows:
    """Nats per byte, or per word if requested: the harness keeps no token counts."""
    metric = asked or next((name for name in _BYTES if name in rolling), rolling[0])
    pairs = [_rolled(sample, metric) for sample in samples]
    columns: dict[str, list[Any]] = _units("window", samples) | {
        "document": [sample.doc for sample in samples],
        "tokens": [size for _, size in pairs],
        "loss": [-total / size for total, size in pairs],
    }
    byte = next((name for name in _BYTES if name in rolling), None)
    if byte:
        columns["bytes"] = [_rolled(sample, byte)[1] for sample in samples]
    unit = "byte" if metric in _BYTES else "word"
    note = f"rolling log-likelihoods: a loss is in nats per {unit}, a perplexity is per {unit}"
    return Rows("losses", _measure(metric, kept), columns, _places(samples), notes=[note])


def _rolled(sample: LmEvalSample, metric: str) -> tuple[float, float]:
    pair = field_of(sample.metrics, metric, sample.place, list)
    if len(pair) != 2:
        raise InputError(f"{sample.place}: {metric} must be [log-likelihood, size], but got {shown_value(pair)}.")
    total, size = number(pair[0], sample.place, metric), number(pair[1], sample.place, metric)
    if total > 0 or size < 1 or size != int(size):
        raise InputError(
            f"{sample.place}: {metric} must be a log-likelihood of at most 0 and a size of at least 1, but got "
            f"{shown_value(pair)}; take the item out."
        )
    return total, size


def _measure(metric: str, kept: str) -> Measure:
    return Measure("lm-eval", metric, filter=kept, paired_on="doc_id", compared="doc_hash")


def _units(unit: str, samples: list[LmEvalSample]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {unit: [sample.doc for sample in samples]}
    if all(sample.digest for sample in samples):
        columns["doc_hash"] = [sample.digest for sample in samples]
    return columns


def _places(samples: list[LmEvalSample]) -> list[str]:
    return [sample.place for sample in samples]
