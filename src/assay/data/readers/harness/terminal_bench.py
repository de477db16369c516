"""terminal-bench: ``results.json`` of a run, and one for each trial in the folders below it, which hold the same.

A trial that is neither resolved nor unresolved (null) has no verdict: its tests took too long, or could not be read.
Repeats are trials of one run (``1-of-5``), or several runs of the same agent and model at one path.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import nan
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct

from assay.data.readers.harness import Log, digest, field_of, shown_value
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.decoding import decoded_file
from assay.data.readers.harness.first_look import FirstLook, look_at
from assay.data.readers.harness.named_after import model_named, named_after
from assay.errors import InputError
from assay.files.reading import read_json
from assay.names import one_line

METADATA = "run_metadata.json"
_ATTEMPT = re.compile(r".*\.(\d+)-of-\d+\..*")


class _Trial(Struct):
    task_id: str
    trial_name: str
    is_resolved: bool | None = None
    failure_mode: str = ""
    instruction: str = ""
    total_input_tokens: float | None = None
    total_output_tokens: float | None = None
    agent_started_at: str | None = None
    agent_ended_at: str | None = None

    @property
    def seconds(self) -> float:
        """How long the agent took; NaN where that is not told."""
        try:
            started, ended = (datetime.fromisoformat(str(at)) for at in (self.agent_started_at, self.agent_ended_at))
            return max((ended - started).total_seconds(), 0.0)
        except (ValueError, TypeError):
            return nan


class _Run(Struct):
    results: list[_Trial]


@dataclass(frozen=True, slots=True)
class _Told:
    """What the metadata of a run say; empty texts where there are none."""

    agent: str = ""
    model: str = ""
    dataset: str = ""
    version: str = ""
    written: str = ""


def recognises(look: FirstLook) -> bool:
    return _is_trial(look.keys) or _is_run(look)


def _is_trial(keys: object) -> bool:
    return isinstance(keys, set | Mapping) and {"task_id", "trial_name", "is_resolved"} <= set(keys)


def _is_run(look: FirstLook) -> bool:
    found = look.record.get("results")
    return isinstance(found, list) and bool(found) and _is_trial(found[0])


def logs_of(files: Sequence[Path]) -> list[Log]:
    """A log for each agent and model; runs without metadata are apart."""
    runs: dict[Path, list[Path]] = {}
    for path in files:
        whole = "results" in look_at(path).record
        runs.setdefault(path.parent if whole else _above(path), []).append(path)
    systems: dict[Any, list[Path]] = {}
    for folder in runs:
        told = _told(folder)
        systems.setdefault((told.agent, told.model, told.dataset, told.version) if told.model else folder, []).append(
            folder
        )
    return [
        _log(folders, [sorted(runs[folder], key=lambda path: len(path.parts)) for folder in folders])
        for folders in systems.values()
    ]


def _above(path: Path) -> Path:
    """The folder of the run that a trial is of: RUN/TASK/TRIAL/results.json."""
    return path.parents[2] if len(path.parents) > 2 else path.parent


def _told(folder: Path) -> _Told:
    path = folder / METADATA
    if not path.is_file():
        return _Told()
    found = read_json(path)
    if not isinstance(found, dict):
        raise InputError(f"{one_line(str(path))}: must be an object, but got {shown_value(found)}; write it again.")
    names = ("agent_name", "model_name", "dataset_name", "dataset_version", "start_time")
    return _Told(*(one_line(str(found[name])) if found.get(name) else "" for name in names))


def _log(folders: Sequence[Path], files: Sequence[Sequence[Path]]) -> "TerminalBenchLog":
    told = _told(folders[0])
    named = None if told.model else named_after(folders[0] / "results.json", "results")
    return TerminalBenchLog(
        one_line(str(folders[0])) + (f" and {len(folders) - 1} more" if len(folders) > 1 else ""),
        tuple(path for own in files for path in own),
        f"{told.agent} {told.model}".strip() if named is None else model_named(named),
        told.dataset,
        told.written,
        named_by=named,
        conditions={"version": told.version} if told.version else {},
        runs=tuple(len(own) for own in files),
    )


@dataclass(frozen=True)
class TerminalBenchLog(AnswersLog):
    """The trials of an agent and a model, in one run or several."""

    format: ClassVar[str] = "terminal-bench"
    paired_on: ClassVar[str] = "task_id"
    compared: ClassVar[str] = "instruction"
    runs: tuple[int, ...] = ()  # how many of the files are of each run

    def read(self) -> Answers:
        trials: list[tuple[str, str, _Trial]] = []  # run, place
        files = iter(self.files)
        for number, count in enumerate(self.runs, start=1):
            own = _trials([next(files) for _ in range(count)])
            prefix = f"{number}." if len(self.runs) > 1 else ""
            trials += [(prefix + attempt, place, one) for attempt, place, one in own]
        records = [one for _, _, one in trials]
        return Answers(
            [one.task_id for one in records],
            [place for _, place, _ in trials],
            {"resolved": [nan if one.is_resolved is None else float(one.is_resolved) for one in records]},
            runs=[run for run, _, _ in trials],
            errors=[one.failure_mode or "no verdict" if one.is_resolved is None else "" for one in records],
            hashes=[digest(one.instruction) for one in records] if all(one.instruction for one in records) else None,
            costs=_costs(records),
        )


def _trials(files: Sequence[Path]) -> list[tuple[str, str, _Trial]]:
    """The trials of a run with their numbers and places: those of its results, and trials that these do not have."""
    found: dict[tuple[str, str], tuple[str, str, _Trial]] = {}
    seen: Counter[str] = Counter()
    for path in files:
        label = one_line(str(path))
        whole = "results" in look_at(path).record
        own = decoded_file(path, _Run, check=_check).results if whole else [decoded_file(path, _Trial, check=_check)]
        for place, one in enumerate(own, start=1):
            key = (one.task_id, one.trial_name)
            if key not in found:
                seen[one.task_id] += 1
                told = _ATTEMPT.fullmatch(one.trial_name)
                where = f"{label}, result {place}" if whole else label
                found[key] = (told[1] if told else str(seen[one.task_id]), where, one)
    return list(found.values())


def _costs(records: Sequence[_Trial]) -> dict[str, list[float]]:
    """Tokens, where an agent counts them, and seconds."""
    costs = {
        "tokens_in": [nan if one.total_input_tokens is None else one.total_input_tokens for one in records],
        "tokens_out": [nan if one.total_output_tokens is None else one.total_output_tokens for one in records],
        "seconds": [one.seconds for one in records],
    }
    return {name: values for name, values in costs.items() if any(value > 0 for value in values)}


def _check(found: Any, label: str) -> None:
    records = found.get("results") if isinstance(found, dict) and "results" in found else [found]
    if not isinstance(records, list):
        raise InputError(f"{label}: 'results' must be a list of trials, but got {shown_value(records)}.")
    for place, record in enumerate(records, start=1):
        where = f"{label}, result {place}" if records != [found] else label
        field_of(record, "task_id", where, str)
        field_of(record, "trial_name", where, str)
        if record.get("is_resolved") is not None:
            field_of(record, "is_resolved", where, bool)
