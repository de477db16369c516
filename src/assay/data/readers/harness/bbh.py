"""BIG-Bench Hard outputs: ``<model and method>/<task>_few_shot_template_….json`` with what was asked, said and right.

Items have no id, and some questions occur twice, so that an item is its position.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import ClassVar

import msgspec

from assay.data.readers.harness import Log, digest
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.decoding import decoded_file, decoded_lines, once_each
from assay.data.readers.harness.first_look import FirstLook
from assay.errors import InputError
from assay.names import one_line

_TEMPLATE = re.compile(r"(?P<task>.+?)_(?:few|zero)_shot(?:_.*)?")
_MARK = "answer is "
_ROUNDING = 0.01  # of the percentages that the program writes


class _Output(msgspec.Struct):
    prediction: str | None
    target: str

    @property
    def score(self) -> float:
        """Whether what follows the last "answer is", without a full stop at the end, is the target."""
        if self.prediction is None:
            return nan
        said = self.prediction.rpartition(_MARK)[2].strip()
        return float(said.removesuffix(".") == self.target.strip())


class _File(msgspec.Struct):
    outputs: list[_Output]


class _Metrics(msgspec.Struct):
    accuracy: float


def recognises(look: FirstLook) -> bool:
    """Whether there are outputs with what was asked, said and right."""
    found = look.record.get("outputs")
    first = found[0] if isinstance(found, list) and found else None
    return isinstance(first, dict) and first.keys() >= {"input", "prediction"}


def _once(found: _File, data: bytes) -> bool:
    return once_each("prediction", "target")(found.outputs, data)


def logs_of(files: Sequence[Path]) -> list[Log]:
    """A log for each file: its folder names the model and how it was prompted."""
    found: list[Log] = []
    for path in files:
        named = _TEMPLATE.fullmatch(path.stem)
        task = named["task"] if named else path.stem
        found.append(BbhLog(one_line(str(path)), (path,), path.absolute().parent.name, task, ""))
    return found


@dataclass(frozen=True)
class BbhLog(AnswersLog):
    """A task of a model."""

    format: ClassVar[str] = "bbh"
    paired_on: ClassVar[str] = "position"
    compared: ClassVar[str] = "target"

    def read(self) -> Answers:
        outputs = decoded_file(self.files[0], _File, whole=_once).outputs
        if not outputs:
            raise InputError(f"{self.label}: no outputs; check what should have written them.")
        scores = [output.score for output in outputs]
        numbers = range(1, len(outputs) + 1)
        return Answers(
            items=[str(number) for number in numbers],
            places=[f"{self.label}, output {number}" for number in numbers],
            metrics={"exact_match": scores},
            hashes=[digest(self.task, number, output.target) for number, output in zip(numbers, outputs, strict=True)],
            notes=self._check(scores),
        )

    def _check(self, scores: Sequence[float]) -> list[str]:
        """A note where the metrics beside the outputs say something else."""
        path = self.files[0].with_name(f"{self.files[0].stem}_eval_metrics.jsonl")
        if not path.is_file():
            return []
        told = next(decoded_lines(path, _Metrics))[1].accuracy
        ours = 100 * sum(score for score in scores if score == 1) / len(scores)
        if abs(told - ours) < _ROUNDING:
            return []
        return [f"warning: {path}: accuracy {told:.4g}%, but {ours:.4g}% of the outputs end in the target"]
