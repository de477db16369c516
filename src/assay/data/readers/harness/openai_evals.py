"""OpenAI evals: JSON lines with a ``spec``, events in any order, and a ``final_report``.

Scores are in events of the type ``match`` (right or not) and ``metrics`` (numbers by name); several of one sample are
attempts at it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from assay.data.readers.harness import Log
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.decoding import decoded_lines
from assay.data.readers.harness.first_look import FirstLook
from assay.errors import InputError
from assay.names import listed, one_line

_EVENT = frozenset({"run_id", "event_id", "sample_id", "type", "data"})
_MATCH, _METRICS, _ERROR = "match", "metrics", "error"
_TOTAL = "accuracy"
_ROUNDING = 1e-6


class _Spec(msgspec.Struct):
    eval_name: str | None = None
    base_eval: str | None = None
    completion_fns: list[str] | None = None
    created_at: str | None = None


class _Line(msgspec.Struct):
    spec: _Spec | None = None
    final_report: dict[str, Any] | None = None
    event_id: int | None = None
    sample_id: str | None = None
    type: str | None = None
    data: msgspec.Raw = msgspec.Raw(b"null")


@dataclass(slots=True)
class _Sample:
    """What the events say of a sample, each in the order of their numbers."""

    place: str
    scores: dict[str, list[tuple[int, float]]] = field(default_factory=dict)  # by metric
    error: str = ""

    @property
    def attempts(self) -> int:
        return max((len(found) for found in self.scores.values()), default=1)

    def score(self, metric: str, attempt: int) -> float:
        found = sorted(self.scores.get(metric, ()))
        return found[attempt][1] if attempt < len(found) else nan


def recognises(look: FirstLook) -> bool:
    """Whether the first line is the specification of a run, or an event."""
    spec = look.record.get("spec")
    told = isinstance(spec, dict) and bool(spec.keys() & {"eval_name", "base_eval"}) and "completion_fns" in spec
    return told or look.keys >= _EVENT


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [_log(path) for path in files]


def _log(path: Path) -> "OpenAIEvalsLog":
    label, spec, report = one_line(str(path)), _Spec(), dict[str, Any]()
    samples: dict[str, _Sample] = {}
    types: dict[str, None] = {}
    for place, line in decoded_lines(path, _Line):
        spec, report = line.spec or spec, line.final_report or report
        if line.sample_id is not None and line.type is not None:
            types[line.type] = None
            _add(samples.setdefault(line.sample_id, _Sample(place)), line)
    if not any(sample.scores for sample in samples.values()):
        had = f"only of {listed(types)}" if types else "none at all"
        raise InputError(f"{label}: no events of the type match or metrics, {had}; score the samples, or name others.")
    model = ", ".join(spec.completion_fns or ())
    task = spec.eval_name or spec.base_eval or ""
    return OpenAIEvalsLog(
        label,
        (path,),
        model or path.stem,
        (task or "eval") if model else "",
        spec.created_at or "",
        samples=samples,
        report=report,
    )


def _add(sample: _Sample, line: _Line) -> None:
    """Add an event to its sample; those of other types are no scores."""
    if line.type not in (_MATCH, _METRICS, _ERROR):
        return
    data = msgspec.json.decode(bytes(line.data)) if bytes(line.data) else None
    found = data if isinstance(data, dict) else {}
    if line.type == _ERROR:
        sample.error = str(found.get("message") or found.get("type") or "error").partition("\n")[0]
        return
    scores = {_TOTAL: found.get("correct")} if line.type == _MATCH else found
    for name, value in scores.items():
        if isinstance(value, bool | int | float):
            number = float(value) if isfinite(value) else nan
            sample.scores.setdefault(name, []).append((line.event_id or 0, number))


@dataclass(frozen=True)
class OpenAIEvalsLog(AnswersLog):
    """The events of a run."""

    format: ClassVar[str] = "openai-evals"
    paired_on: ClassVar[str] = "sample_id"

    samples: Mapping[str, _Sample] = field(default_factory=dict)
    report: Mapping[str, Any] = field(default_factory=dict)

    def read(self) -> Answers:
        names = dict.fromkeys(name for sample in self.samples.values() for name in sample.scores)
        rows = [(item, one, i) for item, one in self.samples.items() for i in range(one.attempts)]
        metrics = {name: [one.score(name, i) for _, one, i in rows] for name in names}
        several = any(one.attempts > 1 for one in self.samples.values())
        return Answers(
            items=[item for item, _, _ in rows],
            places=[one.place for _, one, _ in rows],
            metrics=metrics,
            runs=[str(i + 1) for _, _, i in rows] if several else None,
            errors=["" if one.scores else one.error for _, one, _ in rows],
            notes=self._check(metrics),
        )

    def _check(self, metrics: Mapping[str, list[float]]) -> list[str]:
        """A note where the report of the program has another accuracy than its events."""
        told = self.report.get(_TOTAL)
        known = [score for score in metrics.get(_TOTAL, ()) if not isnan(score)]
        mean = sum(known) / len(known) if known else nan
        if not isinstance(told, int | float) or not abs(told - mean) > _ROUNDING:
            return []
        return [f"warning: {self.label}: an accuracy of {told:.4g} in its report, of {mean:.4g} in its events"]
