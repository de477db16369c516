"""What a policy demands of single tasks, of groups of tasks, and of their total."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal, Self, get_args

from assay.errors import UsageError

LimitName = Literal[
    "max_drop",
    "min_score",
    "max_ratio",
    "max_price_ratio",
    "max_seconds_ratio",
    "max_tokens_in_ratio",
    "max_tokens_out_ratio",
    "max_tokens_total_ratio",
    "max_chars_out_ratio",
    "max_steps_ratio",
]
LIMITS: tuple[LimitName, ...] = get_args(LimitName)
#: What each task counts in the total: the same, by its items, every group the same, or as the mapping says.
TaskWeights = Literal["macro", "items", "groups"] | Mapping[str, float]
#: What limits of ratios are about beside the scores, by the column of it.
COST_LIMITS: dict[LimitName, str] = {
    name: name.removeprefix("max_").removesuffix("_ratio") for name in LIMITS if re.fullmatch(r"max_.+_ratio", name)
}


def rule_of(name: LimitName) -> tuple[str, Callable[[float], bool]]:
    """What a limit must be, in words, and whether a number is so."""
    if name == "max_drop":
        return "0 or more, and finite", lambda x: 0 <= x < inf
    return (
        ("finite", lambda x: -inf < x < inf) if name == "min_score" else ("positive and finite", lambda x: 0 < x < inf)
    )


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What may be lost at most; ``None`` is no limit."""

    max_drop: float | None = None  # fall of the mean score
    min_score: float | None = None  # of the new model, whatever the old one has
    max_ratio: float | None = None  # of perplexities
    # Of what the answers to all items cost:
    max_price_ratio: float | None = None
    max_seconds_ratio: float | None = None
    max_tokens_in_ratio: float | None = None
    max_tokens_out_ratio: float | None = None
    max_tokens_total_ratio: float | None = None
    max_chars_out_ratio: float | None = None
    max_steps_ratio: float | None = None

    def __post_init__(self) -> None:
        for name in LIMITS:
            check_number(name, getattr(self, name), *rule_of(name))
        for name, value in self.given():
            object.__setattr__(self, name, float(value))

    def __bool__(self) -> bool:
        """Whether anything is limited."""
        return any(self.given())

    def given(self) -> Iterator[tuple[LimitName, float]]:
        """The limits that there are, by name."""
        return ((name, value) for name in LIMITS if (value := getattr(self, name)) is not None)

    def over(self, other: "Limits") -> "Limits":
        """These limits, and the other's where there are none.

        >>> dict(Limits(max_drop=0.05).over(Limits(max_drop=0.1, min_score=0.5)).given())
        {'max_drop': 0.05, 'min_score': 0.5}
        """
        return Limits(**dict(other.given()) | dict(self.given()))

    def only(self, *names: LimitName) -> "Limits":
        """Those of these names."""
        return Limits(**{name: value for name, value in self.given() if name in names})

    def looser(self, than: "Limits") -> list[LimitName]:
        """The limits that ask for less than another's of the same name."""
        wanted = dict(than.given())
        return [name for name, value in self.given() if name in wanted and stricter(name, wanted[name], value)]


@dataclass(frozen=True, kw_only=True)
class TotalLimits(Limits):
    """Limits of all tasks together, and what each task counts in their mean."""

    weights: TaskWeights | None = None  # None: macro

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weights(self.weights)

    def __bool__(self) -> bool:
        return self.weights is not None or super().__bool__()

    def without(self, *names: LimitName) -> Self:
        return replace(self, **dict.fromkeys(names))


@dataclass(frozen=True, kw_only=True)
class GroupLimits(Limits):
    """Tasks, by names and patterns, with limits of their mean; groups within it have limits of their own."""

    tasks: tuple[str, ...] = ()  # none: those of its groups, or of the group of this name that the results know
    groups: "Mapping[str, GroupLimits]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "tasks", tuple(self.tasks))
        for name in self.tasks:
            check_name("a task of a group", name)
            if self.tasks.count(name) > 1:
                raise UsageError(f"a group must name a task once, but got {name!r} twice.")
        check_groups(self.groups)


@dataclass(frozen=True, slots=True)
class FlatGroup:
    """A group by its path: ``math/algebra`` is within ``math``."""

    name: str
    limits: Limits
    tasks: tuple[str, ...]  # as given, its own or those of all groups within it

    @property
    def parent(self) -> str | None:
        return self.name.rpartition("/")[0] or None


def flat_groups(groups: Mapping[str, GroupLimits], path: str = "") -> Iterator[FlatGroup]:
    """Every group, one that holds others before them.

    >>> inner = {"algebra": GroupLimits(tasks=("aime*",), max_drop=0.1)}
    >>> [(one.name, one.tasks) for one in flat_groups({"math": GroupLimits(groups=inner)})]
    [('math', ('aime*',)), ('math/algebra', ('aime*',))]
    """
    for name, group in groups.items():
        within = list(flat_groups(group.groups, f"{path}{name}/"))
        inside = (task for one in within for task in one.tasks)
        yield FlatGroup(f"{path}{name}", group.only(*LIMITS), group.tasks or tuple(dict.fromkeys(inside)))
        yield from within


def stricter(name: LimitName, value: float, than: float) -> bool:
    """Whether a limit asks for more than another of its name."""
    return value > than if name == "min_score" else value < than


# -------------------------------------------------------------------------------------------------------------- checks


def check_number(name: str, value: object, rule: str, holds: Callable[[float], bool], then: str = "") -> None:
    """Refuse what is not a number that keeps a rule; ``None`` is none, and kept."""
    if value is None:
        return
    try:
        sound = isinstance(value, int | float) and not isinstance(value, bool) and holds(float(value))
    except OverflowError:  # an integer beyond every float
        sound = False
    if not sound:
        raise UsageError(f"{name} must be {rule}, but got {short(value)}{then}.")


def short(value: object) -> str:
    """A value in a message."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of more than 30 digits"
    return repr(value)


def check_name(what: str, name: object) -> None:
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"{what} must be a text that is not empty, but got {name!r}.")


def check_weights(weights: object) -> None:
    if weights is None or weights in ("macro", "items", "groups"):
        return
    if not isinstance(weights, Mapping) or not weights:
        raise UsageError(
            f"weights of the total must be macro, items, groups or a number for each task, but got {weights!r}."
        )
    for task, weight in weights.items():
        check_name("a task that is weighed", task)
        check_number(f"the weight of {task!r}", weight, "0 or more, and finite", lambda x: 0 <= x < inf)


def check_tasks(tasks: object) -> None:
    """Refuse what is not limits by task."""
    if tasks is None:
        return
    if not isinstance(tasks, Mapping):
        raise UsageError(f"tasks must be limits by the name of a task, but got {tasks!r}.")
    for name, limits in tasks.items():
        check_name("a task", name)
        _check_kind(f"the limits of the task {name!r}", limits, Limits)


def check_groups(groups: object) -> None:
    """Refuse what is not groups by name."""
    if groups is None:
        return
    if not isinstance(groups, Mapping):
        raise UsageError(f"groups must be limits by the name of a group, but got {groups!r}.")
    for name, group in groups.items():
        check_name("a group", name)
        if "/" in name:
            raise UsageError(
                f"the name of a group must not have a '/', which says that it is within, but got {name!r}."
            )
        _check_kind(f"the group {name!r}", group, GroupLimits)


def check_limits(name: str, limits: object, kind: type[Limits]) -> None:
    """Refuse what is not limits of this kind; ``None`` is none, and kept."""
    if limits is not None:
        _check_kind(name, limits, kind)


def _check_kind(what: str, value: object, kind: type[Limits]) -> None:
    if type(value) is not kind:
        raise UsageError(f"{what} must be {kind.__name__}(…), but got {value!r}.")


#: Of a single task, by the tier, where nothing else is said; never below the limit of the total.
TASK_LIMITS: dict[str, Limits] = {
    "balanced": Limits(max_drop=0.05, max_ratio=1.20),
    "conservative": Limits(max_drop=0.03, max_ratio=1.10),
    "aggressive": Limits(max_drop=0.10, max_ratio=1.40),
}
