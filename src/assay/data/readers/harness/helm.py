"""HELM: a folder per run with ``run_spec.json`` and ``per_instance_stats.json``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from assay.data.readers import FILTER_WORDS, Selection
from assay.data.readers.harness import (
    ABSENT,
    Log,
    Measure,
    Rows,
    chosen,
    digest,
    field_of,
    scored,
    told,
)
from assay.data.readers.harness.first_look import FirstLook
from assay.data.readers.harness.helm_stats import HelmUnits, OfSplit, read_units
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


@dataclass(frozen=True)
class HelmLog(Log):
    """A run of one scenario by one model."""

    scenario: str = ""
    losses: bool = False

    def measures(self, selection: Selection) -> list[Selection]:
        """Every split with every metric that scores answers; of a run of language modelling the default one."""
        every, found = self._units(selection.metric), []
        for split in every.splits if selection.filter is None else [selection.filter]:
            names = [None] if self.losses else _scores_of_answers(OfSplit.of(every, split).names)
            wanted = names if selection.metric is None else [selection.metric]
            found += [replace(selection, filter=split, metric=metric) for metric in wanted]
        return found

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        every = self._units(selection.metric)
        split = chosen(self.label, "filter", every.splits, selection.filter, word=FILTER_WORDS["helm"])
        units = OfSplit.of(every, split)
        if self.losses and selection.metric in (None, *_LOSS_METRICS):
            rows = self._losses(units, split, selection.metric or "perplexity")
        else:
            rows = self._scores(units, selection.metric, split)
        if every.perturbed:
            rows.notes.append(f"{self.label}: perturbed instances left out: {len(every.perturbed)}")
        if len(set(map(itemgetter(1), units.keys))) > 1:
            rows.columns["run"] = [str(trial) for _, trial, _ in units.keys]
        if cluster is not None:
            if cluster != "task":
                raise InputError(f"{self.label}: a run of HELM has no {cluster!r} to cluster by, only task; use that.")
            rows.columns[cluster] = [self.task] * len(rows)
        return rows

    def _units(self, asked: str | None) -> HelmUnits:
        """The instances with the metrics that score answers, that are costs or that make up losses, and the asked one.

        Where none scores answers, all are kept.
        """
        also = asked if asked is not None and _DESCRIBES.fullmatch(asked) else None
        known = self._read_before
        if also not in known:
            found = read_units(self.files[1], lambda name: name == also or _is_kept(name))
            if not self.losses and all(_DESCRIBES.fullmatch(name) for name in found.metrics):
                found = read_units(self.files[1], lambda _: True)
            known[also] = found
        return known[also]

    @cached_property
    def _read_before(self) -> dict[str | None, HelmUnits]:
        """The instances, by the metric that was kept for having been asked for."""
        return {}

    def _scores(self, units: OfSplit, asked: str | None, split: str) -> Rows:
        places = units.places
        names = units.names if asked is not None else _scores_of_answers(units.names)
        metric = chosen(self.label, "metric", names, asked)
        found = units.means(metric)
        scores: list[float] = found.tolist()
        if not np.isfinite(found).all():  # refused
            means = [ABSENT if isnan(mean) else mean for mean in scores]
            _, scores = scored(self.label, {metric: means}, places, metric)
        columns = self._columns("item", units) | {"score": scores} | _costs(units)
        return Rows("scores", _measure(metric, split), columns, places)

    def _losses(self, units: OfSplit, split: str, metric: str) -> Rows:
        """Nats per token or per byte, from HELM's own sums."""
        places = units.places
        for name in _LOSS:
            field_of(units.every.metrics, name, places[0])
        sums = list(zip(*(units.of_metric(name)[1].tolist() for name in _LOSS), strict=True))
        for at, (total, tokens, size) in enumerate(sums):
            if total > 0 or tokens < 1 or size < 1:
                raise InputError(
                    f"{places[at]}: logprob {total}, {tokens} tokens, {size} bytes give no loss; take it out."
                )
        sizes = [size if metric == "bits_per_byte" else tokens for _, tokens, size in sums]
        columns = self._columns("window", units) | {
            "document": [instance for instance, _, _ in units.keys],
            "tokens": sizes,
            "loss": [-total / size for (total, _, _), size in zip(sums, sizes, strict=True)],
            "bytes": [size for _, _, size in sums],
        }
        return Rows("losses", _measure(metric, split), columns, places)

    def _columns(self, unit: str, units: OfSplit) -> dict[str, list[Any]]:
        names = list(map(itemgetter(0), units.keys))
        return {unit: names, "doc_hash": [f"{self.scenario} {name}" for name in names]}


def _is_kept(name: str) -> bool:
    return not _DESCRIBES.fullmatch(name) or name in _LOSS or name in _COSTS.values()


def _scores_of_answers(names: Sequence[str]) -> list[str]:
    """The metrics without those that only describe a request; all, where there are no others."""
    return [name for name in names if not _DESCRIBES.fullmatch(name)] or list(names)


def _costs(units: OfSplit) -> dict[str, list[float]]:
    found = {ours: units.means(theirs) for ours, theirs in _COSTS.items()}
    return {name: means.tolist() for name, means in found.items() if not np.isnan(means).all()}


def _measure(metric: str, split: str) -> Measure:
    return Measure("helm", metric, filter=split or None, paired_on="instance id", compared="scenario")
