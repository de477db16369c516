"""DeepEval: ``.deepeval/.latest_test_run.json`` and ``.deepeval/.deepeval-cache.json``.

A case has a score by each of its metrics. Whether it succeeded depends on thresholds, so only scores are read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from assay.data.readers import Selection
from assay.data.readers.harness import Log, Rows
from assay.data.readers.harness.answers import Answers, AnswersLog, attempts
from assay.data.readers.harness.decoding import decoded, decoded_file
from assay.data.readers.harness.first_look import FirstLook
from assay.errors import InputError
from assay.names import listed, one_line

_CASES = "cases"  # the task, where the file names its model
_CACHE, _RUN = "test_cases_lookup_map", "testRunData"
#: What the program calls its files, the best one first.
_NAMES = (".latest_test_run.json", ".latest_run_full.json", ".deepeval-cache.json")


class _Metric(msgspec.Struct, rename="camel"):
    name: str
    score: float | None = None
    success: bool | None = None
    threshold: float | None = None
    evaluation_model: str | None = None


class _Case(msgspec.Struct, rename="camel"):
    """A case of a test run; a conversation has a scenario instead of an input."""

    input: Any = None
    scenario: str | None = None
    name: str | None = None
    metrics_data: list[_Metric] | None = None
    completion_time: float | None = None
    token_cost: float | None = None

    @property
    def item(self) -> str:
        told = self.input if self.input is not None else self.scenario or self.name or ""
        return told if isinstance(told, str) else msgspec.json.encode(told).decode()


class _Run(msgspec.Struct, rename="camel"):
    test_cases: list[_Case]
    conversational_test_cases: list[_Case] | None = None
    hyperparameters: dict[str, Any] | None = None


class _Whole(msgspec.Struct, rename="camel"):
    test_run_data: _Run


class _Key(msgspec.Struct):
    """What a case of the cache is called, as JSON."""

    input: Any


class _CachedMetric(msgspec.Struct):
    metric_data: _Metric


class _Cached(msgspec.Struct):
    cached_metrics_data: list[_CachedMetric] | None = None


class _Cache(msgspec.Struct):
    test_cases_lookup_map: dict[str, _Cached]


def recognises(look: FirstLook) -> bool:
    """Whether it is a test run, or the cache; a run may be wrapped, and may begin with conversations."""
    found = look.record
    run = found.get(_RUN, found)
    cases = run.get("testCases") if isinstance(run, dict) else None
    return _CACHE in found or _RUN in found or (isinstance(cases, list) and "metricsScores" in look.keys)


def logs_of(files: Sequence[Path]) -> list[Log]:
    """A log for each folder of DeepEval's: the latest run, or the cache where there is none; other files are alone.

    The folder holds the same cases in several files.
    """
    folders: dict[Path, list[Path]] = {}
    for path in files:
        folders.setdefault(path.parent if path.name in _NAMES else path, []).append(path)
    return [_log(min(paths, key=_rank)) for paths in folders.values()]


def _rank(path: Path) -> int:
    return _NAMES.index(path.name) if path.name in _NAMES else len(_NAMES)


def _log(path: Path) -> "DeepevalLog":
    label = one_line(str(path))
    keys = decoded_file(path, dict[str, msgspec.Raw]).keys()
    if _CACHE in keys:
        cases, told = list(_cached(decoded_file(path, _Cache, whole=_once), label)), None
    else:
        run = decoded_file(path, _Whole).test_run_data if _RUN in keys else decoded_file(path, _Run)
        found = [*run.test_cases, *(run.conversational_test_cases or ())]
        cases = [(f"{label}, case {number}", case) for number, case in enumerate(found, start=1)]
        told = (run.hyperparameters or {}).get("model")
    if not cases:
        raise InputError(f"{label}: no test cases; check what should have written them.")
    judges = {metric.evaluation_model for _, case in cases for metric in case.metrics_data or ()} - {None, ""}
    named = isinstance(told, str) and bool(told)
    return DeepevalLog(
        label,
        (path,),
        str(told) if named else path.stem,
        _CASES if named else "",
        "",
        conditions={"judge": ", ".join(sorted(map(str, judges)))} if judges else {},
        cases=tuple(cases),
        cached=_CACHE in keys,
    )


def _once(cache: _Cache, data: bytes) -> bool:
    """Whether every case of a file is there: of a key that is there twice the decoder takes the last."""
    return data.count(b'"cached_metrics_data":') == len(cache.test_cases_lookup_map)


def _cached(cache: _Cache, label: str) -> Iterator[tuple[str, _Case]]:
    for number, (key, case) in enumerate(cache.test_cases_lookup_map.items(), start=1):
        place = f"{label}, case {number}"
        asked = decoded(key.encode("utf-8", "surrogatepass"), _Key, place).input
        yield place, _Case(input=asked, metrics_data=[one.metric_data for one in case.cached_metrics_data or ()])


@dataclass(frozen=True)
class DeepevalLog(AnswersLog):
    """The cases of a run."""

    format: ClassVar[str] = "deepeval"
    paired_on: ClassVar[str] = "input"

    cases: tuple[tuple[str, _Case], ...] = ()
    cached: bool = False

    def read(self) -> Answers:
        by_case = [_by_name(case, place) for place, case in self.cases]
        names = dict.fromkeys(name for found in by_case for name in found)
        if not names:
            raise InputError(f"{self.label}: no case has a metric; check what should have written them.")
        items = [case.item for _, case in self.cases]
        return Answers(
            items=items,
            places=[place for place, _ in self.cases],
            metrics={name: [_score(found.get(name)) for found in by_case] for name in names},
            runs=attempts(items),
            costs=self._costs(),
            not_for={name: frozenset(row for row, found in enumerate(by_case) if name not in found) for name in names},
            notes=self._mixed(items),
        )

    def _mixed(self, items: Sequence[str]) -> list[str]:
        """What may not belong together: scores of several judges, cases of several runs."""
        judges, again = self.conditions.get("judge", "").split(", "), len(items) - len(set(items))
        found = [f"{self.label}: scores by {len(judges)} judges: {listed(judges)}"] if len(judges) > 1 else []
        if self.cached and again:
            found.append(
                f"warning: {self.label}: {again:,} of {len(items):,} cases have the input of another one: a cache "
                "keeps the cases of earlier runs, whatever they were runs of; .latest_test_run.json holds one run"
            )
        return found

    def _costs(self) -> dict[str, list[float]]:
        found = {
            "seconds": [nan if case.completion_time is None else case.completion_time for _, case in self.cases],
            "price": [nan if case.token_cost is None else case.token_cost for _, case in self.cases],
        }
        return {name: values for name, values in found.items() if not all(map(isnan, values))}

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        rows = super().rows(selection, cluster)
        return replace(rows, notes=[*rows.notes, *self._thresholds(rows.measure.metric)])

    def _thresholds(self, name: str) -> list[str]:
        """How many cases miss the threshold of a metric: what DeepEval calls a failure."""
        told = [one for _, case in self.cases for one in case.metrics_data or () if one.name == name]
        missed = sum(one.success is False and one.score is not None for one in told)
        limits = {one.threshold for one in told} - {None}
        if not limits or not missed:
            return []
        limit = f"the threshold of {limits.pop():g}" if len(limits) == 1 else "their thresholds"
        return [f"{self.label}: {name} misses {limit} in {missed:,} of {len(told):,} cases; the scores are compared"]


def _by_name(case: _Case, place: str) -> dict[str, _Metric]:
    found = {metric.name: metric for metric in case.metrics_data or ()}
    if len(found) < len(case.metrics_data or ()):
        names = [metric.name for metric in case.metrics_data or ()]
        twice = listed(dict.fromkeys(name for name in names if names.count(name) > 1))
        raise InputError(f"{place}: several scores by the metric {twice}; evaluate again with an empty cache.")
    return found


def _score(metric: _Metric | None) -> float:
    return nan if metric is None or metric.score is None else metric.score
