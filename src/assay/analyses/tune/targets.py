"""Targets: what an adapted model has to reach, by name or from a file. Nothing is asked that was not."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, TypeGuard

from assay.errors import InputError, UsageError
from assay.files.reading import SETTINGS, read_bytes, read_json
from assay.names import nearest, one_line, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What an adapted model has to reach; what is ``None`` is not asked. Shares and reductions are parts of 1."""

    perplexity: float | None = None
    trainable_share: float | None = None
    memory_reduction: float | None = None
    time_reduction: float | None = None
    character_accuracy: float | None = None
    hiragana: float | None = None
    katakana: float | None = None
    kanji: float | None = None
    performance_loss: float | None = None  # perplexity of the arm over the baseline's, less 1
    parameter_reduction: float | None = None
    fluency_loss: float | None = None  # character accuracy lost, as a part of the baseline's
    stable_convergence: bool | None = None
    grades: dict[str, float] | None = None  # perplexity in words: the name of a grade, and what it is below

    def __post_init__(self) -> None:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        faults = [said for name, value in given.items() if value is not None and (said := _fault(name, value))]
        if faults:
            raise UsageError(f"targets: {'; '.join(faults)}.")


_NAMES = tuple(field.name for field in fields(Targets))
_LAST_GRADE = "poor"
_LARGEST = 1e300
#: Limits that are parts of 1; the others are positive.
_SHARES = frozenset(_NAMES) - {"perplexity", "performance_loss", "stable_convergence", "grades"}


def _fault(name: str, value: object) -> str | None:
    """What is wrong with a target, in a line."""
    if name == "stable_convergence":
        return None if value is True else f"{name!r} must be true, or left out, but got {shown(str(value))}"
    if name == "grades":
        return _grades_fault(value)
    if not _is_number(value):
        return f"{name!r} must be a number, but got {shown(str(value))}"
    if name in _SHARES and not 0 <= value <= 1:
        return f"{name!r} must be from 0 to 1, but got {value:g} (40% is 0.4)"
    return None if value > 0 or name in _SHARES else f"{name!r} must be above 0, but got {value:g}"


def _grades_fault(value: object) -> str | None:
    wanted = "'grades' must be names with rising perplexities, such as {'good': 12, 'acceptable': 15}"
    if not isinstance(value, Mapping) or not value:
        return f"{wanted}, but got {shown(str(value))}"
    limits = list(value.values())
    rising = all(map(_is_number, limits)) and all(low < high for low, high in pairwise([0, *limits]))
    return None if rising else f"{wanted}, but got {shown(str(value))}"


def _is_number(value: object) -> TypeGuard[float]:
    """Whether a limit is a finite number, and not a whole number that no float holds."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


#: The targets and success criteria of a published framework for adapting a small model to Japanese.
JAPANESE = Targets(
    perplexity=12.0,
    trainable_share=0.01,
    memory_reduction=0.40,
    time_reduction=0.20,
    character_accuracy=0.85,
    hiragana=0.90,
    katakana=0.88,
    kanji=0.80,
    performance_loss=0.10,
    parameter_reduction=0.99,
    fluency_loss=0.10,
    stable_convergence=True,
    grades={"excellent": 10.0, "good": 12.0, "acceptable": 15.0},
)
NAMED = {"japanese": JAPANESE}


def targets_from(asked: "Targets | str | PathLike[str] | None") -> Targets | None:
    """Targets by their name, or from a JSON or TOML file; ``None``: none are asked."""
    if asked is None or isinstance(asked, Targets):
        return asked
    if str(asked) in NAMED:
        return NAMED[str(asked)]
    path = Path(asked)
    if not path.exists():
        raise InputError(
            f"{one_line(str(path))}: no such file, and no targets of that name; "
            f"name a JSON or TOML file, or {' or '.join(NAMED)}."
        )
    return read_targets(path)


def read_targets(path: Path) -> Targets:
    """A JSON or TOML file with some of the names of `Targets`; `targets_schema` is its shape."""
    label, advice = f"{one_line(str(path))}: the targets cannot be read", "write JSON or TOML"
    if path.suffix.lower() != ".toml":
        return targets_of(read_json(path, label=label, limit=SETTINGS, strict=True, advice=advice), str(path))
    try:
        data = tomllib.loads(read_bytes(path, SETTINGS, label=label).decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{label} ({str(error).partition(chr(10))[0]}); {advice}.") from error
    return targets_of(data, str(path))


def targets_of(data: object, label: str) -> Targets:
    """The targets with these names and limits; what is wrong is named with ``label``."""
    label = one_line(label)
    if not isinstance(data, Mapping) or not data:
        raise InputError(f"{label}: targets must be names with limits; the names are {', '.join(_NAMES)}.")
    for name, value in data.items():
        if name not in _NAMES:
            close = nearest(name, _NAMES)
            hint = f"did you mean {close!r}?" if close else f"the names are {', '.join(_NAMES)}."
            raise InputError(f"{label}: unknown target {name!r}; {hint}")
        if fault := _fault(name, value):
            raise InputError(f"{label}: {fault}; `assay schema targets` prints the shape.")
    return Targets(**{name: _floats(value) for name, value in data.items()})


def _floats(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    return {name: float(limit) for name, limit in value.items()} if isinstance(value, Mapping) else float(value)


def targets_schema() -> dict[str, Any]:
    """The published JSON Schema of a file of targets."""
    shares = {name: {"type": "number", "minimum": 0, "maximum": 1} for name in _NAMES if name in _SHARES}
    positive = {"type": "number", "exclusiveMinimum": 0}
    others = {
        "perplexity": positive,
        "performance_loss": positive,
        "stable_convergence": {"const": True},
        "grades": {"type": "object", "additionalProperties": positive, "minProperties": 1},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Targets",
        "description": "What an adapted model has to reach. Only what is there is asked. Shares are parts of 1.",
        "type": "object",
        "properties": {name: (shares | others)[name] for name in _NAMES},
        "additionalProperties": False,
        "minProperties": 1,
    }


def grade_of(perplexity: float, grades: Mapping[str, float]) -> str:
    """The first grade whose limit the perplexity is below.

    >>> grade_of(11.9, {"excellent": 10, "good": 12}), grade_of(12, {"excellent": 10, "good": 12})
    ('good', 'poor')
    """
    return next((grade for grade, limit in grades.items() if perplexity < limit), _LAST_GRADE)
