"""lm-evaluation-harness: ``samples_<task>_<date>.jsonl`` and the ``results_<date>.json`` beside it.

A row per document and filter. The samples do not name their model; the results of the same date do. A renamed file
states neither its task nor its results, so the model is named after the file.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.data.readers import Selection
from assay.data.readers.harness import (
    ABSENT,
    Log,
    Measure,
    Rows,
    SampleText,
    all_tasks,
    chosen,
    field_of,
    number,
    scored,
    shown_value,
    single_metrics,
    told,
)
from assay.data.readers.harness.first_look import FirstLook, first_keys
from assay.data.readers.harness.lm_eval_samples import Samples, read_samples, sample_texts
from assay.errors import InputError
from assay.files.reading import DOCUMENT, LINES, opened, read_json

#: The keys of a row of samples, and of a file of results.
SAMPLE_KEYS = frozenset({"doc_id", "doc", "resps", "filtered_resps"})
RESULT_KEYS = frozenset({"results", "configs", "versions"})

_SPLITS = ("test_split", "validation_split", "training_split")  # the first that a task has is evaluated
_DATE = re.compile(r"_(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d+)?)$")
#: Rolling tasks keep [log-likelihood, size] under these names; the sizes are bytes and words.
_BYTES = ("bits_per_byte", "byte_perplexity")
_ROLLING = (*_BYTES, "word_perplexity")


@dataclass(frozen=True, slots=True)
class _Results:
    """What a results file says about the samples of the same date."""

    path: Path
    model: str | None
    higher_is_better: dict[str, Any]
    groups: dict[str, tuple[str, ...]]  # all tasks of each
    configs: dict[str, Any]  # by task
    chat: dict[str, str]  # how every prompt was put to the model
    version: str = ""  # of the harness

    def split(self, task: str) -> dict[str, str]:
        """The part of the data set that was evaluated."""
        config = self._config(task)
        return told({"split": next((config[name] for name in _SPLITS if config.get(name)), None)})

    def settings(self, task: str) -> dict[str, str]:
        """How the model was asked."""
        config = self._config(task)
        return told({"shots": config.get("num_fewshot"), "prompt": config.get("doc_to_text")}) | self.chat

    def _config(self, task: str) -> dict[str, Any]:
        found = self.configs.get(task)
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class LmEvalLog(Log):
    """The samples of a task."""

    results: _Results | None = None

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        every = self._samples(cluster)
        kept = chosen(self.label, "filter", every.filters, selection.filter)
        samples = every.of_filter(kept)
        rolling = _rolling(samples)
        if rolling and (selection.metric is None or selection.metric in rolling):
            rows = _losses(samples, rolling, selection.metric, kept)
        else:
            rows = _scores(self.label, samples, selection.metric, kept)
            rows.lower_is_better = self._lower_is_better(rows.measure.metric)
        if cluster is not None:
            rows.columns[cluster] = samples.clusters
        return rows

    def measures(self, selection: Selection) -> list[Selection]:
        """Every filter with every metric of single documents; of rolling log-likelihoods the default one."""
        every = self._samples(None)
        found = []
        for kept in sorted(set(every.filters)) if selection.filter is None else [selection.filter]:
            samples = every.of_filter(kept)
            names = [None] if _rolling(samples) else sorted(single_metrics(samples.metrics))
            metrics = names if selection.metric is None else [selection.metric]
            found += [replace(selection, filter=kept, metric=metric) for metric in metrics]
        return found

    def texts(self) -> Iterator[SampleText]:
        return sample_texts(self.files[0])

    def _samples(self, cluster: str | None) -> Samples:
        known = self._read_before
        if cluster not in known:
            known[cluster] = read_samples(self.files[0], cluster, self.task)
        return known[cluster]

    @cached_property
    def _read_before(self) -> dict[str | None, Samples]:
        """The samples, by what they are clustered by."""
        return {}

    def tasks_of_groups(self) -> Mapping[str, tuple[str, ...]]:
        return {} if self.results is None else {name: self.results.groups[name] for name in self.groups}

    def _lower_is_better(self, metric: str) -> bool | None:
        ways = self.results.higher_is_better.get(self.task) if self.results else None
        higher = ways.get(metric) if isinstance(ways, dict) else None
        return None if higher is None else not higher


def recognises(look: FirstLook) -> bool:
    return look.keys >= SAMPLE_KEYS or look.keys >= RESULT_KEYS


def logs_of(files: Sequence[Path]) -> list[Log]:
    """A log for each samples file; of results alone, for the samples beside them."""
    results = [path for path in files if _is_results(path)]
    samples = [path for path in files if path not in results]
    return [*_logs(samples, [] if samples else results)]


def _is_results(path: Path) -> bool:
    """Whether these are the results that tell of samples; they are one JSON object, never lines."""
    if path.suffix.lower() != ".json":
        return False
    with opened(path, LINES) as file:
        return not first_keys(file.readline(DOCUMENT.bytes).decode("utf-8-sig", errors="replace"))[0] >= SAMPLE_KEYS


def _logs(samples: Sequence[Path], results: Sequence[Path]) -> list[LmEvalLog]:
    """A log for each samples file, including those beside a results file that was given."""
    found = list(samples)
    for path in results:
        date = _date(path)
        beside = sorted(path.parent.glob(f"samples_*_{date}.jsonl")) if date else []
        if not beside and not samples:
            alone = "this is the aggregate, and no samples of its run are beside it"
            raise InputError(f"{path}: {alone}; run lm_eval with --log_samples.")
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
    groups = frozenset(name for name, tasks in results.groups.items() if task in tasks) if results else frozenset()
    model = results.model if results and results.model else path.parent.resolve().name or path.stem
    guessed = "" if results else f"no results file of the same date, so the model is called {model}"
    log = LmEvalLog(str(path), (path,), model, task, date, groups, guessed, results=results)
    if results is None:
        return log
    return replace(log, conditions=results.split(task), settings=results.settings(task), version=results.version)


def _date(path: Path) -> str:
    found = _DATE.search(path.stem)
    return found[1] if found else ""


def _results(folder: Path, date: str) -> _Results | None:
    for path in sorted(folder.glob(f"*_{date}.json")):
        found = read_json(path)
        if isinstance(found, dict) and found.keys() >= RESULT_KEYS:
            name = found.get("model_name")
            return _Results(
                path, name if isinstance(name, str) and name else None, *_told(found), _chat(found), _version(found)
            )
    return None


def _told(found: dict[str, Any]) -> tuple[dict[str, Any], dict[str, tuple[str, ...]], dict[str, Any]]:
    names = ("higher_is_better", "group_subtasks", "configs")
    higher, groups, configs = (one if isinstance(one := found.get(name), dict) else {} for name in names)
    nested = {str(name): [*map(str, parts)] for name, parts in groups.items() if isinstance(parts, list)}
    return higher, all_tasks(nested), configs


def _version(found: dict[str, Any]) -> str:
    version = found.get("lm_eval_version")
    return version if isinstance(version, str) else ""


def _chat(found: dict[str, Any]) -> dict[str, str]:
    """Whether a chat template was used, which is another for every model, and the instruction to the system."""
    template = {"chat template": found["chat_template"] is not None} if "chat_template" in found else {}
    return told({**template, "system instruction": found.get("system_instruction")})


def _rolling(samples: Samples) -> list[str]:
    """The metrics that are sums of log-likelihoods with sizes."""
    return [name for name in _ROLLING if name in samples.metrics and isinstance(samples.metrics[name][0], list)]


def _scores(label: str, samples: Samples, asked: str | None, kept: str) -> Rows:
    metric, scores = scored(label, samples.metrics, samples.places, asked)
    return Rows("scores", _measure(metric, kept), _units("item", samples) | {"score": scores}, samples.places)


def _losses(samples: Samples, rolling: list[str], asked: str | None, kept: str) -> Rows:
    """Nats per byte, or per word if requested: the harness keeps no token counts."""
    metric = asked or next((name for name in _BYTES if name in rolling), rolling[0])
    pairs = _rolled(samples, metric)
    columns: dict[str, list[Any]] = _units("window", samples) | {
        "document": list(samples.docs),
        "tokens": [size for _, size in pairs],
        "loss": [-total / size for total, size in pairs],
    }
    byte = next((name for name in _BYTES if name in rolling), None)
    if byte:
        columns["bytes"] = [size for _, size in _rolled(samples, byte)]
    unit = "byte" if metric in _BYTES else "word"
    note = f"rolling log-likelihoods: a loss is in nats per {unit}, a perplexity is per {unit}"
    return Rows("losses", _measure(metric, kept), columns, samples.places, notes=[note])


def _rolled(samples: Samples, metric: str) -> list[tuple[float, float]]:
    return [_pair(values, metric, place) for values, place in zip(_records(samples), samples.places, strict=True)]


def _records(samples: Samples) -> list[dict[str, Any]]:
    """The metrics of each row."""
    return [
        {name: column[at] for name, column in samples.metrics.items() if column[at] is not ABSENT}
        for at in range(len(samples))
    ]


def _pair(metrics: dict[str, Any], metric: str, place: str) -> tuple[float, float]:
    pair = field_of(metrics, metric, place, list)
    if len(pair) != 2:
        raise InputError(f"{place}: {metric} must be [log-likelihood, size], but got {shown_value(pair)}.")
    total, size = number(pair[0], place, metric), number(pair[1], place, metric)
    if total > 0 or size < 1 or size != int(size):
        raise InputError(
            f"{place}: {metric} must be a log-likelihood of at most 0 and a size of at least 1, but got "
            f"{shown_value(pair)}; take the item out."
        )
    return total, size


def _measure(metric: str, kept: str) -> Measure:
    return Measure("lm-eval", metric, filter=kept, paired_on="doc_id", compared="doc_hash")


def _units(unit: str, samples: Samples) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {unit: list(samples.docs)}
    if all(samples.digests):
        columns["doc_hash"] = list(samples.digests)
    return columns
