"""LiveCodeBench: ``*_eval_all.json``, a question a record with a verdict for each attempt, or ``*_eval.json``.

``_eval.json`` is ``[metrics, results, metadata]`` with questions by their place in the data set, and for each attempt a
result per test: true, false, or a negative code of what failed. Where both are there, ``_eval_all`` is read.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct, field

from assay.data.readers.harness import Log, field_of, shown_value
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.decoding import decoded_file, once_each
from assay.data.readers.harness.first_look import FirstLook, look_at
from assay.data.readers.harness.named_after import model_named, named_after
from assay.errors import InputError
from assay.names import one_line

_NAME = re.compile(r"(?:Scenario\.)?(?P<scenario>[a-z]+)_(?P<attempts>\d+)_(?P<temperature>[\d.]+)_eval(?P<all>_all)?")
_ALL = "_eval_all.json"


class _Question(Struct):
    question_id: str | int
    graded_list: list[bool]
    platform: str = ""
    difficulty: str = ""
    test_id: str | int | None = None  # of the scenario testoutputprediction, where a question has several

    @property
    def item(self) -> str:
        return str(self.question_id) if self.test_id is None else f"{self.question_id}/{self.test_id}"


class _Metrics(Struct):
    detail: dict[str, dict[str, float]] = field(default_factory=dict)


_Results = dict[str, list[list[bool | float]]]


def recognises(look: FirstLook) -> bool:
    return look.keys >= {"question_id", "graded_list"} or _is_by_place(look.start)


def _is_by_place(start: object) -> bool:
    if not isinstance(start, list) or len(start) < 2 or not all(isinstance(part, dict) for part in start[:2]):
        return False
    return "detail" in start[0] and any(key.startswith("pass@") for key in start[0]) and "0" in start[1]


def logs_of(files: Sequence[Path]) -> list[Log]:
    """A log for each file; of a run that has both files, of the one that has the ids."""
    found: dict[Path, Log] = {}
    for path in files:
        beside = path.with_name(path.name.removesuffix("_eval.json") + _ALL)
        given = beside if path.name.endswith("_eval.json") and beside.is_file() else path
        found.setdefault(given, _log(given))
    return list(found.values())


def _log(path: Path) -> Log:
    told = _NAME.fullmatch(path.stem)
    named = named_after(path, "" if told else path.stem.removesuffix("_eval_all").removesuffix("_eval"))
    record = look_at(path).record
    kind = ByPlaceLog if "pass@1" in record and "question_id" not in record else LiveCodeBenchLog
    return kind(
        one_line(str(path)),
        (path,),
        model_named(named),
        told["scenario"] if told else "",
        "",
        named_by=named,
        settings={"temperature": told["temperature"]} if told else {},
    )


@dataclass(frozen=True)
class LiveCodeBenchLog(AnswersLog):
    """The questions of a file of the kind ``_eval_all``."""

    format: ClassVar[str] = "livecodebench"
    paired_on: ClassVar[str] = "question_id"

    def read(self) -> Answers:
        questions = decoded_file(
            self.files[0], list[_Question], check=_check_questions, whole=once_each("question_id", "graded_list")
        )
        every = [(one, run, right) for one in questions for run, right in enumerate(one.graded_list, start=1)]
        return Answers(
            [one.item for one, _, _ in every],
            [f"{self.label}, {one.item}, attempt {run}" for one, run, _ in every],
            {"pass": [float(right) for _, _, right in every]},
            runs=[str(run) for _, run, _ in every],
            labels={
                "platform": [one.platform for one, _, _ in every],
                "difficulty": [one.difficulty for one, _, _ in every],
            },
        )


def _check_questions(found: Any, label: str) -> None:
    if not isinstance(found, list):
        raise InputError(f"{label}: must be a list of questions, but got {shown_value(found)}; evaluate it again.")
    for number, question in enumerate(found, start=1):
        place = f"{label}, question {number}"
        field_of(question, "question_id", place, str, int)
        for attempt, right in enumerate(field_of(question, "graded_list", place, list), start=1):
            if not isinstance(right, bool):
                told = f"must be true or false, but got {shown_value(right)}"
                raise InputError(f"{place}, attempt {attempt}: {told}; evaluate it again.")


@dataclass(frozen=True)
class ByPlaceLog(AnswersLog):
    """The questions of a file of the kind ``_eval``, by their place in the data set."""

    format: ClassVar[str] = "livecodebench"
    paired_on: ClassVar[str] = "place in the data set"

    def read(self) -> Answers:
        metrics, results, *_ = decoded_file(self.files[0], tuple[_Metrics, _Results, Any], check=_check_by_place)
        rates = metrics.detail.get("pass@1", {})
        answers = Answers([], [], {"pass": []}, runs=[])
        assert answers.runs is not None
        overruled = 0
        for place, attempts in results.items():
            where = f"{self.label}, question {place}"
            passed = [_passed(tests) for tests in attempts]
            if place in rates and attempts and abs(sum(passed) / len(passed) - rates[place]) > _SLACK:
                passed, overruled = [_by_rate(rates[place], len(passed), where)], overruled + 1
            answers.items += [place] * len(passed)
            answers.places += [f"{where}, attempt {run}" for run in range(1, len(passed) + 1)]
            answers.runs += [str(run) for run in range(1, len(passed) + 1)]
            answers.metrics["pass"] += [float(right) for right in passed]
        answers.notes += [f"{self.label}: no ids, so that questions are paired by their place in the data set"]
        if overruled:
            answers.notes.append(
                f"{self.label}: of {overruled:,} questions the tests that are listed do not give the pass@1 that was "
                "computed from all of them, which counts"
            )
        return answers


_SLACK = 1e-6


def _passed(tests: Sequence[bool | float]) -> bool:
    """Whether every test passed; codes of failures are negative, which would be true as well."""
    return bool(tests) and all(test > 0 for test in tests)


def _by_rate(rate: float, attempts: int, place: str) -> bool:
    """Whether the only attempt passed, by the rate that the harness computed where lists of tests are cut."""
    if attempts != 1 or rate not in (0.0, 1.0):
        raise InputError(
            f"{place}: the tests of its {attempts} attempts do not give its pass@1 of {rate:g}; evaluate it again, or "
            f"name the file that ends in {_ALL}."
        )
    return rate == 1.0


def _check_by_place(found: Any, label: str) -> None:
    if not isinstance(found, list) or len(found) != 3:
        raise InputError(
            f"{label}: must be [metrics, results, metadata], but got {shown_value(found)}; evaluate it again."
        )
    if not isinstance(found[1], dict):
        raise InputError(f"{label}: results must be an object by place, but got {shown_value(found[1])}.")
    for place, attempts in found[1].items():
        where = f"{label}, question {place}"
        if not isinstance(attempts, list) or not all(isinstance(tests, list) for tests in attempts):
            raise InputError(f"{where}: must be a list of tests per attempt, but got {shown_value(attempts)}.")
        wrong = [test for tests in attempts for test in tests if not isinstance(test, bool | int | float)]
        if wrong:
            raise InputError(f"{where}: a test must be true, false or a code, but got {shown_value(wrong[0])}.")
