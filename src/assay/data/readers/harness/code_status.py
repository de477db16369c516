"""What benchmarks of code call a sample that passed, failed or took too long, and a run in which everything did."""

from assay.data.readers.harness import shown_value
from assay.data.readers.harness.answers import Answers
from assay.errors import InputError

_PASSED = frozenset({"pass", "passed", "success"})
TIMED_OUT = "timed out"
_LATE = frozenset({"timeout", TIMED_OUT})
_FAILED = _LATE | {"fail", "failed"}
_FEWEST = 5  # samples that all time out: fewer may be slow


def passes(status: str, place: str, name: str) -> bool:
    """Whether a status says that the tests passed; one that nobody knows is refused."""
    if status in _PASSED:
        return True
    if status in _FAILED:
        return False
    raise InputError(
        f"{place}: {name} must be pass, fail or timeout, but got {shown_value(status)}; evaluate it again."
    )


def took_too_long(status: str) -> bool:
    return status in _LATE


def broken_run(answers: Answers, late: int, label: str) -> Answers:
    """The answers, all of them lost where every one took too long: then the run broke, and the score is not 0."""
    if late < max(_FEWEST, len(answers)):
        return answers
    answers.metrics = {name: [0.0] * len(answers) for name in answers.metrics}  # as `errors='wrong'` has them
    answers.errors = [TIMED_OUT] * len(answers)
    answers.notes.append(
        f"warning: {label}: all {len(answers):,} samples timed out: the run broke, which is no score of 0"
    )
    return answers


def prefix_of(task_id: str) -> str:
    """The benchmark that a task id names: ``HumanEval`` of ``HumanEval/0``; "" where it names none."""
    return task_id.partition("/")[0] if "/" in task_id else ""
