"""HELM: a folder per run with ``run_spec.json`` and ``per_instance_stats.json``."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan, nan
from pathlib import Path
from typing import Any

from assay.data.readers import FILTER_WORDS, Selection
from assay.data.readers.harness import (
    Log,
    Measure,
    Rows,
    chosen,
    digest,
    field_of,
    metric_columns,
    number,
    scored,
    single_metrics,
    told,
)
from assay.data.readers.harness.first_look import FirstLook
from assay.errors import InputError
from assay.files.reading import read_json

SPEC, STATS = "run_spec.json", "per_instance_stats.json"
#: The keys of an entry of the statistics.
KEYS = frozenset({"instance_id", "stats"})
_MODEL = re.compile(r"[:,](?:model|model_deployment)=[^,]*")
_LOSS = ("logprob", "num_perplexity_tokens", "num_bytes")
_LOSS_METRICS = ("perplexity", "bits_per_byte")  # per token, which needs the same tokenizer, or per byte

#: What HELM keeps of a request beside the scores of its answer, and what of that are costs.
_DESCRIBES = re.compile(
    r"num_.*|training_.*|inference_.*|batch_size|finish_reason_.*|.*_truncated|max_prob|logprob.*|predicted_index"
)
_COSTS = {"tokens_in": "num_prompt_tokens", "tokens_out": "num_output_tokens", "seconds": "inference_runtime"}

_SETTINGS = {"shots": "max_train_instances", "prompt": "instructions", "temperature": "temperature"}

Key = tuple[str, int, str]  # instance, trial and split


def is_run(folder: Path) -> bool:
    return (folder / SPEC).is_file() and (folder / STATS).is_file()


def recognises(look: FirstLook) -> bool:
    return look.keys >= KEYS


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [log_of(path) for path in files]


def log_of(path: Path) -> "HelmLog":
    """The log of a run folder, or of the statistics in it."""
    folder = path if path.is_dir() else path.parent
    if not is_run(folder):
        raise InputError(f"{folder}: no {SPEC} and {STATS}, so not a HELM run folder; name another.")
    spec = read_json(folder / SPEC)
    place = str(folder / SPEC)
    adapter = field_of(spec, "adapter_spec", place, dict)
    model = str(field_of(adapter, "model", place, str))
    task = _MODEL.sub("", str(field_of(spec, "name", place, str)))
    scenario = digest(field_of(spec, "scenario_spec", place, dict))
    losses = adapter.get("method") == "language_modeling"
    groups = spec.get("groups")
    return HelmLog(
        str(folder),
        (folder / SPEC, folder / STATS),
        model,
        task,
        "",
        frozenset(str(name) for name in groups if name != task) if isinstance(groups, list) else frozenset(),
        settings=told({ours: adapter.get(theirs) for ours, theirs in _SETTINGS.items()}),
        scenario=scenario,
        losses=losses,
    )


@dataclass(slots=True)
class _Unit:
    """The statistics of an instance in a trial, by name: how many values, and their sum."""

    place: str
    sums: dict[str, tuple[float, float]]

    def means(self) -> dict[str, float]:
        return {name: total / count for name, (count, total) in self.sums.items() if count}


@dataclass(frozen=True)
class HelmLog(Log):
    """A run of one scenario by one model."""

    scenario: str = ""
    losses: bool = False

    def measures(self, selection: Selection) -> list[Selection]:
        """Every split with every metric that scores answers; of a run of language modelling the default one."""
        every, found = self._units[0], []
        splits = dict.fromkeys(split for _, _, split in every)
        for split in splits if selection.filter is None else [selection.filter]:
            means = [unit.means() for key, unit in every.items() if key[2] == split]
            names = [None] if self.losses else _scores_of_answers(single_metrics(metric_columns(means)))
            metrics = names if selection.metric is None else [selection.metric]
            found += [replace(selection, filter=split, metric=metric) for metric in metrics]
        return found

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        every, perturbed = self._units
        split = chosen(
            self.label, "filter", (split for _, _, split in every), selection.filter, word=FILTER_WORDS["helm"]
        )
        units = {key: unit for key, unit in every.items() if key[2] == split}
        if self.losses and selection.metric in (None, *_LOSS_METRICS):
            rows = self._losses(units, split, selection.metric or "perplexity")
        else:
            rows = self._scores(units, selection.metric, split)
        if perturbed:
            rows.notes.append(f"{self.label}: perturbed instances left out: {perturbed}")
        if len({trial for _, trial, _ in units}) > 1:
            rows.columns["run"] = [str(trial) for _, trial, _ in units]
        if cluster is not None:
            if cluster != "task":
                raise InputError(f"{self.label}: a run of HELM has no {cluster!r} to cluster by, only task; use that.")
            rows.columns[cluster] = [self.task] * len(rows)
        return rows

    @cached_property
    def _units(self) -> tuple[dict[Key, _Unit], int]:
        """The unperturbed instances, and the number of perturbed ones.

        Each metric of a run adds an entry of its own, so an instance has several.
        """
        path = self.files[1]
        entries = read_json(path)
        if not isinstance(entries, list) or not entries:
            raise InputError(f"{path}: must be a list of instances, and not an empty one; run HELM again.")
        units: dict[Key, _Unit] = {}
        perturbed: set[tuple[str, int]] = set()
        for at, entry in enumerate(entries, start=1):
            place = f"{path}, entry {at}"
            key = (
                str(field_of(entry, "instance_id", place, str)),
                int(field_of({"train_trial_index": 0} | entry, "train_trial_index", place, int)),
            )
            if entry.get("perturbation"):
                perturbed.add(key)
                continue
            for name, split, count, total in _stats(entry, place):
                unit = units.setdefault((*key, split), _Unit(place, {}))
                before = unit.sums.get(name, (0.0, 0.0))
                unit.sums[name] = (before[0] + count, before[1] + total)
        if not units:
            raise InputError(f"{path}: no instance without perturbation; run HELM on the original instances too.")
        return units, len(perturbed)

    def _scores(self, units: dict[Key, _Unit], asked: str | None, split: str) -> Rows:
        places = [unit.place for unit in units.values()]
        means = [unit.means() for unit in units.values()]
        every = metric_columns(means)
        names = every if asked is not None else _scores_of_answers(list(every))
        metric, scores = scored(self.label, {name: every[name] for name in names}, places, asked)
        columns = self._columns("item", units) | {"score": scores} | _costs(means)
        return Rows("scores", _measure(metric, split), columns, places)

    def _losses(self, units: dict[Key, _Unit], split: str, metric: str) -> Rows:
        """Nats per token or per byte, from HELM's own sums."""
        sums = [[field_of(unit.sums, name, unit.place)[1] for name in _LOSS] for unit in units.values()]
        for unit, (total, tokens, size) in zip(units.values(), sums, strict=True):
            if total > 0 or tokens < 1 or size < 1:
                raise InputError(
                    f"{unit.place}: logprob {total}, {tokens} tokens, {size} bytes give no loss; take it out."
                )
        sizes = [size if metric == "bits_per_byte" else tokens for _, tokens, size in sums]
        columns = self._columns("window", units) | {
            "document": [instance for instance, _, _ in units],
            "tokens": sizes,
            "loss": [-total / size for (total, _, _), size in zip(sums, sizes, strict=True)],
            "bytes": [size for _, _, size in sums],
        }
        return Rows("losses", _measure(metric, split), columns, [unit.place for unit in units.values()])

    def _columns(self, unit: str, units: dict[Key, _Unit]) -> dict[str, list[Any]]:
        names = [instance for instance, _, _ in units]
        return {unit: names, "doc_hash": [digest(self.scenario, name) for name in names]}


def _scores_of_answers(names: Sequence[str]) -> list[str]:
    """The metrics without those that only describe a request; all, where there are no others."""
    return [name for name in names if not _DESCRIBES.fullmatch(name)] or list(names)


def _costs(means: Sequence[dict[str, float]]) -> dict[str, list[float]]:
    found = {ours: [one.get(theirs, nan) for one in means] for ours, theirs in _COSTS.items()}
    return {name: values for name, values in found.items() if not all(map(isnan, values))}


def _stats(entry: dict[str, Any], place: str) -> Iterator[tuple[str, str, float, float]]:
    for stat in field_of(entry, "stats", place, list):
        name = field_of(stat, "name", place, dict)
        what = str(field_of(name, "name", place, str))
        count = number(field_of(stat, "count", place), place, f"the count of {what}")
        total = number(field_of(stat, "sum", place), place, what)
        yield what, str(name.get("split", "")), count, total


def _measure(metric: str, split: str) -> Measure:
    return Measure("helm", metric, filter=split or None, paired_on="instance id", compared="scenario")
