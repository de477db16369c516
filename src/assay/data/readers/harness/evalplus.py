"""EvalPlus: ``*eval_results.json``, a list of samples for each task, with a status on the base and on the plus tests.

HumanEval+ and MBPP+ count a sample that passes the base *and* the plus tests, so that is what ``plus`` means here.
Files of 2023 hold ``{nfiles, base: [[status, tests], …], plus: […]}`` instead of the samples.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct

from assay.data.readers.harness import Log, field_of, shown_value
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.code_status import broken_run, passes, prefix_of, took_too_long
from assay.data.readers.harness.decoding import decoded_file
from assay.data.readers.harness.first_look import FirstLook, look_at
from assay.data.readers.harness.named_after import model_named, named_after
from assay.errors import InputError
from assay.names import one_line

_APPENDED = re.compile(r"([-_.]sanitized)?[-_.]eval_results$")


class _Sample(Struct):
    base_status: str
    plus_status: str | None = None


class _Samples2023(Struct):
    base: list[tuple[str, Any]]
    plus: list[tuple[str, Any]] | None = None
    nfiles: int = 0


class _Results(Struct):
    eval: dict[str, list[_Sample] | _Samples2023]


def recognises(look: FirstLook) -> bool:
    return any(_is_task(task) for task in _tasks(look).values())


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [_log(path) for path in files]


def _log(path: Path) -> "EvalPlusLog":
    look = look_at(path)
    named = named_after(path, _APPENDED.sub("", path.stem).removeprefix("samples_"))
    version = look.record.get("hash")
    return EvalPlusLog(
        one_line(str(path)),
        (path,),
        model_named(named),
        prefix_of(next(iter(_tasks(look)), "")),
        str(look.record.get("date", "")),
        named_by=named,
        conditions={"dataset": version} if isinstance(version, str) else {},
    )


def _tasks(look: FirstLook) -> Mapping[str, Any]:
    found = look.record.get("eval")
    return found if isinstance(found, dict) else {}


def _is_task(found: object) -> bool:
    if isinstance(found, list):
        return bool(found) and isinstance(found[0], dict) and "base_status" in found[0]
    return isinstance(found, dict) and found.keys() >= {"nfiles", "base"}


@dataclass(frozen=True)
class EvalPlusLog(AnswersLog):
    """The samples of one file."""

    format: ClassVar[str] = "evalplus"
    paired_on: ClassVar[str] = "task id"

    def read(self) -> Answers:
        found = decoded_file(self.files[0], _Results, check=_check, whole=_whole)
        items, places, runs = list[str](), list[str](), list[str]()
        base, plus = list[float](), list[float]()
        late, with_plus = 0, False
        for task, samples in found.eval.items():
            for number, (easy, hard) in enumerate(_pairs(samples, f"{self.label}, {task}"), start=1):
                place = f"{self.label}, {task}, sample {number}"
                right = passes(easy, place, "base_status")
                items.append(task)
                places.append(place)
                runs.append(str(number))
                base.append(float(right))
                plus.append((nan if hard is None else float(passes(hard, place, "plus_status"))) if right else 0.0)
                late += took_too_long(easy)
                with_plus |= hard is not None
        metrics = {"base": base, "plus": plus} if with_plus else {"base": base}
        return broken_run(Answers(items, places, metrics, runs=runs), late, self.label)


def _pairs(samples: list[_Sample] | _Samples2023, place: str) -> list[tuple[str, str | None]]:
    """The statuses of each sample on the base and the plus tests."""
    if isinstance(samples, list):
        return [(one.base_status, one.plus_status) for one in samples]
    base = [status for status, _ in samples.base]
    plus: list[str | None] = [status for status, _ in samples.plus or ()] or [None] * len(base)
    if len(plus) != len(base):
        raise InputError(f"{place}: {len(base)} base and {len(plus)} plus results; evaluate the samples again.")
    return list(zip(base, plus, strict=True))


def _whole(found: _Results, data: bytes) -> bool:
    """Whether every sample was decoded: a task that is there twice would be there once."""
    lists = [samples for samples in found.eval.values() if isinstance(samples, list)]
    return data.count(b'"base_status":') == sum(map(len, lists)) and data.count(b'"nfiles":') == len(found.eval) - len(
        lists
    )


def _check(found: Any, label: str) -> None:
    for task, samples in field_of(found, "eval", label, dict).items():
        place = f"{label}, {task}"
        if isinstance(samples, dict):
            for name in ("base", "plus") if samples.get("plus") else ("base",):
                _check_2023(field_of(samples, name, place, list), f"{place}, {name}")
        elif isinstance(samples, list):
            for number, sample in enumerate(samples, start=1):
                field_of(sample, "base_status", f"{place}, sample {number}", str)
        else:
            raise InputError(f"{place}: must be a list of samples, but got {shown_value(samples)}; evaluate it again.")


def _check_2023(results: list[Any], place: str) -> None:
    for number, one in enumerate(results, start=1):
        if not isinstance(one, list) or len(one) != 2 or not isinstance(one[0], str):
            raise InputError(
                f"{place}, sample {number}: must be [status, tests], but got {shown_value(one)}; evaluate it again."
            )
