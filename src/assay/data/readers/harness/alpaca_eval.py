"""AlpacaEval: ``results/<model>/<annotator>/annotations.json``, a verdict per instruction on a model and a reference.

A preference is 1 where the reference is better, 2 where the model is, between with a weighted annotator; 1.5 and 0 are
draws, and null was not judged. Which answer the annotator was shown first is not recorded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from pathlib import Path

import msgspec

from assay.data.judgments import WIN_RATE, Game, Games
from assay.data.readers.harness import Log
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.decoding import decoded_file, once_each
from assay.data.readers.harness.first_look import FirstLook
from assay.errors import InputError
from assay.names import listed, one_line

KEYS = frozenset({"instruction", "generator_1", "generator_2", "preference"})
_ONCE = once_each("instruction", "generator_1", "generator_2", "preference")
TASK = "alpaca_eval"


class _Annotation(msgspec.Struct):
    instruction: str
    generator_1: str  # the reference
    generator_2: str  # the model
    preference: float | None
    annotator: str | None = None
    dataset: str | None = None
    output_1: str | None = None
    output_2: str | None = None


@dataclass(slots=True)
class _Verdict:
    """What is kept of an annotation: of the answers only how long they are."""

    place: str
    instruction: str
    score: float  # of the model
    dataset: str
    lengths: tuple[float, float]


def recognises(look: FirstLook) -> bool:
    return look.keys >= KEYS


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [log for path in files for log in _logs(path)]


@dataclass(frozen=True)
class AlpacaEvalLog(AnswersLog):
    """The verdicts on one model."""

    format = "alpaca-eval"
    paired_on = "instruction"
    called = WIN_RATE
    verdicts: list[_Verdict] = field(default_factory=list)

    def read(self) -> Answers:
        games = [
            Game(one.instruction, self.conditions["reference"], self.model, 1 - one.score, one.lengths)
            for one in self.verdicts
        ]
        lost = ["not judged" if isnan(one.score) else "" for one in self.verdicts]
        return Answers(
            [one.instruction for one in self.verdicts],
            [one.place for one in self.verdicts],
            {"win_rate": [one.score for one in self.verdicts]},
            errors=lost if any(lost) else None,
            costs={"chars_out": [one.lengths[1] for one in self.verdicts]},
            labels={"dataset": [one.dataset for one in self.verdicts]},
            notes=[f"against {self.conditions['reference']}, by {self.conditions['annotator']}; a draw is half a win"],
            games=(Games.of(self.conditions["annotator"], games, ordered=False),),
        )


def _logs(path: Path) -> list[AlpacaEvalLog]:
    """A log for each model of a file, which usually is one."""
    models: dict[str, list[_Verdict]] = {}
    conditions: dict[str, dict[str, set[str]]] = {}
    label = one_line(str(path))
    rows: list[_Annotation] = decoded_file(path, list[_Annotation], whole=_ONCE)
    for at, one in enumerate(rows, start=1):
        models.setdefault(one.generator_2, []).append(_verdict(one, f"{label}, record {at}"))
        told = conditions.setdefault(one.generator_2, {"reference": set(), "annotator": set()})
        told["reference"].add(one.generator_1)
        told["annotator"].add(one.annotator or "")
    if not models:
        raise InputError(f"{label}: an empty list; check what should have written it.")
    return [
        AlpacaEvalLog(label, (path,), model, TASK, "", conditions=_only(conditions[model], label), verdicts=verdicts)
        for model, verdicts in models.items()
    ]


def _only(told: Mapping[str, set[str]], label: str) -> dict[str, str]:
    """The one reference and annotator of all rows."""
    for name, found in told.items():
        if len(found) > 1:
            raise InputError(
                f"{label}: {len(found)} {name}s ({listed(sorted(found))}), whose verdicts do not compare; keep those "
                "of one."
            )
    return {name: found.copy().pop() for name, found in told.items()}


def _verdict(one: _Annotation, place: str) -> _Verdict:
    lengths = float(len(one.output_1 or "")) or nan, float(len(one.output_2 or "")) or nan
    return _Verdict(place, one.instruction, _score(one.preference, place), one.dataset or "", lengths)


def _score(preference: float | None, place: str) -> float:
    """The model's share of a win."""
    if preference is None or isnan(preference):
        return nan
    if preference == 0:
        return 0.5  # a draw, as version 1 writes it
    if not 1 <= preference <= 2:
        raise InputError(
            f"{place}: preference must be from 1 (the reference is better) to 2, or 0 or null, but got {preference:g}; "
            "write the file again."
        )
    return preference - 1
