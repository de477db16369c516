"""py-irt: JSON lines, one for each model, with its responses by item."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from pathlib import Path
from typing import ClassVar

import msgspec

from assay.data.readers.harness import Log
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.decoding import decoded_lines
from assay.data.readers.harness.first_look import FirstLook
from assay.errors import InputError
from assay.names import one_line

_TASK = "responses"


class _Subject(msgspec.Struct):
    subject_id: str | int
    responses: dict[str, float | bool | None]


def recognises(look: FirstLook) -> bool:
    return look.keys >= {"subject_id", "responses"} and isinstance(look.record.get("responses", {}), dict)


def _once(found: _Subject, line: bytes) -> bool:
    """Whether there are as many keys as were read, those of the line itself included."""
    return line.count(b'":') == len(found.responses) + 2


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [log for path in files for log in _logs(path)]


def _logs(path: Path) -> list["PyIrtLog"]:
    """A log for each line."""
    seen: dict[str, str] = {}
    found = []
    for place, line in decoded_lines(path, _Subject, whole=_once):
        name = str(line.subject_id)
        before = seen.setdefault(name, place)
        if before is not place:
            raise InputError(f"{place}: {name!r} is there already ({before}); keep one, or call them differently.")
        found.append(PyIrtLog(one_line(str(path)), (path,), name, _TASK, "", place=place, responses=line.responses))
    return found


@dataclass(frozen=True)
class PyIrtLog(AnswersLog):
    """The responses of a model."""

    format: ClassVar[str] = "py-irt"
    paired_on: ClassVar[str] = "item"

    place: str = ""
    responses: dict[str, float | bool | None] = field(default_factory=dict)

    def read(self) -> Answers:
        scores = [nan if score is None or not isfinite(score) else float(score) for score in self.responses.values()]
        return Answers(list(self.responses), [self.place] * len(scores), {"response": scores})
