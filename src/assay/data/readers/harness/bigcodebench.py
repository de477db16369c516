"""BigCodeBench: ``*_eval_results.json``, a list of samples with a status for each task.

``instruct`` and ``complete`` are two prompts for the same task ids: two tasks here, which may be compared with each
other and are never attempts. ``hard`` is a subset. Only the file's name tells them, and the model.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct

from assay.data.readers.harness import Log, digest, field_of, shown_value
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.code_status import broken_run, passes, took_too_long
from assay.data.readers.harness.decoding import decoded_file
from assay.data.readers.harness.first_look import FirstLook, look_at
from assay.data.readers.harness.named_after import model_named, named_after
from assay.errors import InputError
from assay.names import one_line

_NAME = re.compile(
    r"(?P<model>.+?)(?:-{2}main)?-{2}(?P<task>bigcodebench(?:-hard)?-(?P<prompt>instruct|complete))"
    r"-{2}(?P<backend>[^-]+)-(?P<temperature>[\d.]+)-(?P<samples>\d+).*"
)
_APPENDED = re.compile(r"([-_.]sanitized)?([-_.]calibrated)?[-_.]eval_results$")


class _Sample(Struct):
    status: str


class _Results(Struct):
    eval: dict[str, list[_Sample]]


def recognises(look: FirstLook) -> bool:
    found = look.record.get("eval")
    tasks = found.values() if isinstance(found, dict) else ()
    return any(isinstance(task, list) and task and _is_sample(task[0]) for task in tasks)


def _is_sample(found: object) -> bool:
    return isinstance(found, dict) and found.keys() >= {"task_id", "status"} and "base_status" not in found


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [_log(path) for path in files]


def _log(path: Path) -> "BigCodeBenchLog":
    told = _NAME.fullmatch(path.stem)
    named = named_after(path, told["model"] if told else _APPENDED.sub("", path.stem))
    return BigCodeBenchLog(
        one_line(str(path)),
        (path,),
        model_named(named),
        told["task"] if told else "",
        str(look_at(path).record.get("date", "")),
        named_by=named,
        settings={name: told[name] for name in ("prompt", "temperature")} if told else {},
    )


@dataclass(frozen=True)
class BigCodeBenchLog(AnswersLog):
    """The samples of one file."""

    format: ClassVar[str] = "bigcodebench"
    paired_on: ClassVar[str] = "task id"
    compared: ClassVar[str] = "id"

    def read(self) -> Answers:
        found = decoded_file(self.files[0], _Results, check=_check, whole=_whole)
        items, places, runs, scores = list[str](), list[str](), list[str](), list[float]()
        late = 0
        for task, samples in found.eval.items():
            for number, sample in enumerate(samples, start=1):
                place = f"{self.label}, {task}, sample {number}"
                items.append(task)
                places.append(place)
                runs.append(str(number))
                scores.append(float(passes(sample.status, place, "status")))
                late += took_too_long(sample.status)
        # An id means one problem under either prompt, so that the two prompts may be compared.
        answers = Answers(items, places, {"pass": scores}, runs=runs, hashes=[digest(item) for item in items])
        return broken_run(answers, late, self.label)


def _whole(found: _Results, data: bytes) -> bool:
    """Whether every sample was decoded: a task that is there twice would be there once."""
    return data.count(b'"status":') == sum(map(len, found.eval.values()))


def _check(found: Any, label: str) -> None:
    for task, samples in field_of(found, "eval", label, dict).items():
        place = f"{label}, {task}"
        if not isinstance(samples, list):
            raise InputError(f"{place}: must be a list of samples, but got {shown_value(samples)}; evaluate it again.")
        for number, sample in enumerate(samples, start=1):
            field_of(sample, "status", f"{place}, sample {number}", str)
