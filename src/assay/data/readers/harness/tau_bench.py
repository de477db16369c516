"""tau-bench: a list of records, one for each trial of a task, with a reward of 0 or 1.

A record with ``info.error`` is a request that failed, and carries a reward of 0 that the agent has not earned: lost.
The file's name tells model, agent and user; nothing tells the domain, in each of which task ids start at 0, but
where the tasks are there, their texts are compared.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct, field

from assay.data.readers.harness import Log, digest, field_of, number, shown_value
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.decoding import decoded_file
from assay.data.readers.harness.first_look import FirstLook
from assay.data.readers.harness.named_after import model_named, named_after
from assay.errors import InputError
from assay.names import one_line

_NAME = re.compile(
    r"(?P<agent>tool-calling|act|react|few-shot|[a-z]+-agent)-(?P<model>.+)-(?P<temperature>\d+(?:\.\d+)?)"
    r"_range_-?\d+-{1,2}\d+(?:_user-(?P<user>.+)-(?:llm|react|verify|reflection|human))?_(?P<written>[\d_]+)"
)
_DOMAINS = ("retail", "airline", "telecom")


class _Task(Struct):
    user_id: str | None = None
    instruction: str | None = None


class _Info(Struct):
    error: str | None = None
    task: _Task | None = None


class _Message(Struct):
    role: str = ""


class _Record(Struct):
    task_id: int | str
    reward: float
    info: _Info
    trial: int | str = 0
    traj: list[_Message | str | float | bool | list[Any] | None] = field(default_factory=list)

    @property
    def steps(self) -> float:
        """How often it was the agent's turn."""
        return float(sum(isinstance(one, _Message) and one.role == "assistant" for one in self.traj))


def recognises(look: FirstLook) -> bool:
    return look.keys >= {"task_id", "reward", "info", "traj"} and look.text.startswith("[")


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [_log(path) for path in files]


def _log(path: Path) -> "TauBenchLog":
    told = _NAME.fullmatch(path.stem)
    named = _named(path, told)
    domain = next((name for name in _DOMAINS if name in (*path.parent.parts, *path.stem.split("_"))), "")
    settings = {name: told[name] for name in ("agent", "temperature", "user") if told[name]} if told else {}
    return TauBenchLog(
        one_line(str(path)),
        (path,),
        model_named(named),
        "",  # the domain is in the path at best
        told["written"] if told else "",
        named_by=named,
        conditions={"domain": domain} if domain else {},
        settings=settings,
    )


def _named(path: Path, told: re.Match[str] | None) -> Path:
    """The path with the model last, and before it what tells two runs of one model apart: agent, temperature, user."""
    if told is None:
        return named_after(path, path.stem)
    if told["model"] == "none":
        return path.with_name(told["agent"] + ".json")
    return path.parent / (told["user"] or "user") / told["temperature"] / told["agent"] / f"{told['model']}.json"


@dataclass(frozen=True)
class TauBenchLog(AnswersLog):
    """The trials of one file."""

    format: ClassVar[str] = "tau-bench"
    paired_on: ClassVar[str] = "task_id"
    compared: ClassVar[str] = "task"

    def read(self) -> Answers:
        records = decoded_file(self.files[0], list[_Record], check=_check)
        runs, notes = self._runs(records)
        told = [one.info.task for one in records if one.info.task]
        steps = [one.steps for one in records]
        return Answers(
            [str(one.task_id) for one in records],
            [f"{self.label}, record {place}" for place in range(1, len(records) + 1)],
            {"reward": [nan if one.info.error else one.reward for one in records]},
            runs=runs,
            errors=[one_line(one.info.error or "")[:200] for one in records],
            hashes=[digest(task.user_id, task.instruction) for task in told] if len(told) == len(records) else None,
            costs={"steps": steps} if any(steps) else {},
            notes=notes,
        )

    def _runs(self, records: Sequence[_Record]) -> tuple[list[str], list[str]]:
        """The trial of each record; where every record has a number of its own, attempts in the order of the file."""
        trials = [str(one.trial) for one in records]
        if len(set(trials)) < len(trials) or len(trials) < 2:
            return trials, []
        seen: Counter[str] = Counter()
        for place, one in enumerate(records):
            seen[str(one.task_id)] += 1
            trials[place] = str(seen[str(one.task_id)])
        repeats = "no task has repeats" if len(seen) == len(records) else "repeats of a task are counted in their order"
        return trials, [f"{self.label}: every record has a trial number of its own, so that {repeats}"]


def _check(found: Any, label: str) -> None:
    if not isinstance(found, list):
        raise InputError(f"{label}: must be a list of trials, but got {shown_value(found)}; run it again.")
    for place, record in enumerate(found, start=1):
        where = f"{label}, record {place}"
        field_of(record, "task_id", where, int, str)
        info = field_of(record, "info", where, dict)
        number(field_of(record, "reward", where), where, "reward")
        if info.get("error") is not None:
            field_of(info, "error", where, str)
