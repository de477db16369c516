"""The fields of a policy's file: reading, messages and the published schema all come from here."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any, Literal, Protocol, get_args, get_origin

import msgspec

from assay.design import DEFAULT_LEVEL, MOST_RESAMPLES, GateMethod, Profile, Scheme, TierName, Weights
from assay.limits import COST_LIMITS
from assay.names import one_line

_DEEPEST = 12  # groups in groups
_LISTS = "`assay schema policy` lists them"


@dataclass(frozen=True, slots=True)
class Invalid:
    """An invalid number in a file; refused once its field is known."""

    why: str


class Node(Protocol):
    """What a field may hold: its faults, by their fields, its value without any, and its JSON Schema."""

    def faults(self, path: str, value: Any) -> Iterator[str]: ...

    def read(self, value: Any) -> Any: ...

    def schema(self) -> dict[str, Any]: ...


def seen(value: Any) -> str:
    """A value in a message."""
    text = one_line(json.dumps(value, default=str, ensure_ascii=False))
    return text if len(text) <= 60 else text[:57] + "..."


def _never(path: str, value: Any) -> str | None:
    """What no field may hold."""
    if isinstance(value, Invalid):
        return f"{path}: {value.why}"
    if value is None:
        return f"{path}: must not be null; leave the field out to leave it open"
    if isinstance(value, float) and not isfinite(value):
        return f"{path}: must be a finite number, but got {seen(value)}"
    return None


@dataclass(frozen=True, slots=True)
class Leaf:
    """A number, a text or a choice, as msgspec checks it."""

    kind: Any

    def faults(self, path: str, value: Any) -> Iterator[str]:
        fault = _never(path, value)
        if fault is not None:
            yield fault
            return
        try:
            msgspec.convert(value, self.kind)
        except (msgspec.ValidationError, UnicodeEncodeError):
            yield f"{path}: must be {self.must}, but got {seen(value)}"

    @property
    def must(self) -> str:
        """The rule in words: its choices, or its bounds."""
        inner, *about = get_args(self.kind)
        if get_origin(inner) is Literal:
            choices = [repr(choice) for choice in get_args(inner)]
            return f"{', '.join(choices[:-1])} or {choices[-1]}" if len(choices) > 1 else choices[0]
        told = (meta.extra["must"] for meta in about if meta.extra is not None)
        return str(next(told))

    def read(self, value: Any) -> Any:
        return msgspec.convert(value, self.kind)

    def schema(self) -> dict[str, Any]:
        return msgspec.json.schema(self.kind)


@dataclass(frozen=True, slots=True)
class ObjectFields:
    """An object with these fields, none of them required."""

    description: str
    fields: Mapping[str, Node]

    def faults(self, path: str, value: Any) -> Iterator[str]:
        if not isinstance(value, dict):
            must = f"an object of fields such as {next(iter(self.fields))}"
            yield _never(path, value) or f"{path}: must be {must}, but got {seen(value)}"
            return
        for name, one in value.items():
            field = _within(path, name)
            if name in self.fields:
                yield from self.fields[name].faults(field, one)
            else:
                yield _never(field, one) or f"{field}: no such field; {_LISTS}"

    def read(self, value: Any) -> Any:
        return {name: self.fields[name].read(one) for name, one in value.items()}

    def schema(self) -> dict[str, Any]:
        said = {"description": self.description} if self.description else {}
        inner = {name: field.schema() for name, field in self.fields.items()}
        return {**said, "type": "object", "properties": inner, "additionalProperties": False}


def _within(path: str, name: str) -> str:
    return f"{path}.{one_line(name)}" if path else one_line(name)


@dataclass(frozen=True, slots=True)
class ByName:
    """An object whose fields have names of the user's own: tasks, groups."""

    description: str
    of: str  # what a name is of
    inside: Node

    def faults(self, path: str, value: Any) -> Iterator[str]:
        if not isinstance(value, dict) or not value:
            yield _never(path, value) or f"{path}: must be an object by the name of a {self.of}, but got {seen(value)}"
            return
        if path.count(".") > 2 * _DEEPEST:
            yield f"{path}: nested too deeply"
            return
        for name, one in value.items():
            if not name.strip():
                yield f"{path}: the name of a {self.of} must not be blank, but got {seen(name)}"
            yield from self.inside.faults(_within(path, name), one)

    def read(self, value: Any) -> Any:
        return {name: self.inside.read(one) for name, one in value.items()}

    def schema(self) -> dict[str, Any]:
        return {
            "description": self.description,
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"pattern": r"\S"},
            "additionalProperties": self.inside.schema(),
        }


@dataclass(frozen=True, slots=True)
class TextList:
    """A list of texts, at least one."""

    description: str

    def faults(self, path: str, value: Any) -> Iterator[str]:
        good = isinstance(value, list) and value and all(isinstance(one, str) and one.strip() for one in value)
        if not good:
            yield _never(path, value) or f"{path}: must be a list of names or patterns, but got {seen(value)}"

    def read(self, value: Any) -> Any:
        return tuple(value)

    def schema(self) -> dict[str, Any]:
        text = {"type": "string", "pattern": r"\S"}
        return {"description": self.description, "type": "array", "minItems": 1, "items": text}


@dataclass(frozen=True, slots=True)
class Either:
    """A word, or an object."""

    description: str
    word: Leaf
    other: Node

    def faults(self, path: str, value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            yield from self.other.faults(path, value)
        elif list(self.word.faults(path, value)):
            yield _never(path, value) or f"{path}: must be {self.word.must}, or an object, but got {seen(value)}"

    def read(self, value: Any) -> Any:
        return self.other.read(value) if isinstance(value, dict) else value

    def schema(self) -> dict[str, Any]:
        return {"description": self.description, "anyOf": [self.word.schema(), self.other.schema()]}


@dataclass(frozen=True, slots=True)
class Defined:
    """What stands among the definitions of the schema, and may hold itself."""

    description: str
    name: str

    def faults(self, path: str, value: Any) -> Iterator[str]:
        yield from _DEFINED[self.name].faults(path, value)

    def read(self, value: Any) -> Any:
        return _DEFINED[self.name].read(value)

    def schema(self) -> dict[str, Any]:
        said = {"description": self.description} if self.description else {}
        return {**said, "$ref": f"#/$defs/{self.name}"}


# -------------------------------------------------------------------------------------------------------------- fields

FilledText = Annotated[
    str, msgspec.Meta(min_length=1, max_length=2_000, pattern=r"\S", extra={"must": "a text that is not blank"})
]


def _said(description: str, must: str | None = None, **bounds: Any) -> msgspec.Meta:
    """Metadata of a field: its meaning, the rule as messages word it, and the matching bounds."""
    meta: type[Any] = msgspec.Meta  # each pair of bounds is a signature of its own
    found: msgspec.Meta = meta(description=description, extra=None if must is None else {"must": must}, **bounds)
    return found


def _whole(description: str, low: int, high: int) -> Leaf:
    return Leaf(Annotated[int, _said(description, f"a whole number from {low:,} to {high:,}", ge=low, le=high)])


def _above_0(description: str) -> Leaf:
    return Leaf(Annotated[float, _said(description, "a number above 0", gt=0)])


def _from_0(description: str) -> Leaf:
    return Leaf(Annotated[float, _said(description, "a number from 0 up", ge=0)])


def _text(description: str) -> Leaf:
    return Leaf(Annotated[FilledText, _said(description)])


def _flag(description: str) -> Leaf:
    return Leaf(Annotated[bool, _said(description, "true or false")])


_LIMITS: dict[str, Node] = {
    "max_drop": _from_0("Largest acceptable change for the worse of the mean score."),
    "min_score": Leaf(Annotated[float, _said("Smallest acceptable mean score of the new model.", "a number")]),
    "max_ratio": _above_0("Largest acceptable ratio of perplexities."),
    **{name: _above_0(f"Largest acceptable ratio of {cost}, over all items.") for name, cost in COST_LIMITS.items()},
}
_WORD = Leaf(Annotated[Literal["macro", "items", "groups"], _said("Every task the same, every item, or every group.")])
_WEIGHTS_OF_TASKS = Either(
    "What a task counts in the total: macro, items, groups, or a number for every task. Left out: macro.",
    _WORD,
    ByName("A number from 0 up for every task.", "task", _from_0("What the task counts; 0 leaves it out.")),
)
_TASKS_IN_IT = TextList(
    "Its tasks, by names and patterns such as mmlu_*. Left out: those of its groups, or as the results say."
)
_DEFINED: dict[str, Node] = {
    "limits": ObjectFields("Limits of a task.", _LIMITS),
    "total": ObjectFields("Limits of the mean of all tasks.", {"weights": _WEIGHTS_OF_TASKS, **_LIMITS}),
    "group": ObjectFields(
        "Limits of the mean of some tasks.",
        {
            "tasks": _TASKS_IN_IT,
            **_LIMITS,
            "groups": ByName("Groups within it, with limits of their own.", "group", Defined("", "group")),
        },
    ),
}


def definitions() -> dict[str, Any]:
    """What fields refer to, as JSON Schema has it."""
    return {name: node.schema() for name, node in _DEFINED.items()}


_SEED = "Seed of the random replicates."
_LEVEL = f"Least confidence level of the intervals. Left out: {DEFAULT_LEVEL}."
_DIRECTION = "Whether a lower score is better. Left out: no. Lower losses are always better."
_WEIGHTS = "equal: scores with unequal weights are not accepted. any: they are. Left out: equal. Tokens are no weights."
_METHOD = "Method of the interval, or a stricter one: percentile, bca-plain, bca, auto. Left out: auto."
_SCHEME = "Scheme of the draws, or a stricter one: tokens, auto, windows. Left out: auto."
_EVERY = "Whether every task's interval must be within its limit. Left out: no task may be shown to be beyond it."

FIELDS: dict[str, Node] = {
    "$schema": _text("For editors; not read."),
    "schema": Leaf(Annotated[Literal["assay/policy/1"], _said("Version of this format.")]),
    "tier": Leaf(
        Annotated[
            TierName, _said("Limits, minimum and replicates of this tier, where the fields below do not say otherwise.")
        ]
    ),
    "profile": Leaf(Annotated[Profile, _said("Issued under this profile or a stricter one; its rules are met.")]),
    "max_ratio": _above_0("Largest acceptable ratio of perplexities."),
    "max_drop": _from_0("Largest acceptable change for the worse of a mean score; of several tasks, of their mean."),
    "min_windows": _whole("Least number of windows in each split; for scores: of items.", 1, 10**9),
    "replicates": _whole("Least number of random replicates, where an interval has any.", 100, MOST_RESAMPLES),
    "seed": Leaf(
        Annotated[
            int,
            # the maximum is beyond what msgspec can bound: the policy itself checks it
            _said(_SEED, "a whole number from 0 to 2^64 - 1", ge=0, extra_json_schema={"maximum": 2**64 - 1}),
        ]
    ),
    "level": Leaf(Annotated[float, _said(_LEVEL, "a number from 0.5 to below 1", ge=0.5, lt=1)]),
    "lower_is_better": _flag(_DIRECTION),
    "weights": Leaf(Annotated[Weights, _said(_WEIGHTS)]),
    "method": Leaf(Annotated[GateMethod, _said(_METHOD)]),
    "scheme": Leaf(Annotated[Scheme, _said(_SCHEME)]),
    "cluster": _text("The column whose groups are drawn whole, such as document."),
    "task": _text("The task that the scores are of."),
    "metric": _text("The metric that the scores are of."),
    "filter": _text("The filter of the answers, where a harness has several."),
    "scorer": _text("The scorer, where a harness has several."),
    "note": _text("Why it differs from its tier; certificates issued under the policy carry it."),
    "total": Defined("Of several tasks: limits of their mean, and what each of them counts in it.", "total"),
    "each": Defined("Of several tasks: limits of every single one. Left out: the tier's.", "limits"),
    "tasks": ByName("Limits of tasks by their names, or by patterns such as mmlu_*.", "task", Defined("", "limits")),
    "groups": ByName("Groups of tasks, with limits of their means.", "group", Defined("", "group")),
    "every": _flag(_EVERY),
}
