"""What is kept of the samples of a log of inspect_ai: columns of ids, scores, errors and costs."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from math import inf, isnan, nan
from pathlib import Path
from sys import intern
from typing import Any

from assay.data.readers.harness import ABSENT


@dataclass(eq=False, slots=True)
class InspectSamples:
    """What is kept of a log: a value for each sample in every list."""

    places: Sequence[str]
    items: list[str] = field(default_factory=list)
    epochs: list[str] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)  # "" where there was none
    scores: dict[str, list[Any]] = field(default_factory=dict)  # by scorer; ABSENT where there is none
    costs: "dict[str, array[float]]" = field(default_factory=dict)  # NaN where they are not told

    def __len__(self) -> int:
        return len(self.items)

    def extend(self, more: "InspectSamples") -> None:
        """Add the samples of another, whose places do not count."""
        for name in [name for name in more.scores if name not in self.scores]:  # in their order
            self.scores[name] = [ABSENT] * len(self)
        for name, column in self.scores.items():
            column.extend(more.scores.get(name) or repeat(ABSENT, len(more)))
        for name in [name for name in more.costs if name not in self.costs]:
            self.costs[name] = array("d", [nan]) * len(self)
        for name, numbers in self.costs.items():
            numbers.extend(more.costs.get(name) or repeat(nan, len(more)))
        self.items += more.items
        self.epochs += more.epochs
        self.digests += more.digests
        self.clusters += more.clusters
        self.errors += more.errors

    @property
    def scorers(self) -> list[str]:
        return list(self.scores)

    def parts(self, scorer: str) -> list[str]:
        """The parts of the scores of a scorer, where they have several."""
        values = self.scores.get(scorer, [])
        if dict not in set(map(type, values)):
            return []
        return list(dict.fromkeys(str(name) for value in values if isinstance(value, dict) for name in value))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to read of the samples of a log."""

    path: Path
    model: str  # whose tokens count, and not those of a grader
    task: str
    cluster: str | None


def of_one_sample(
    item: int | str,
    epoch: int,
    content: str,
    scores: Mapping[str, Any],
    costs: Mapping[str, float | None],
    error: str,
    cluster: str,
) -> InspectSamples:
    """What is kept of one sample."""
    return InspectSamples(
        (),
        [str(item)],
        [intern(str(epoch))],
        [content],
        [cluster],
        [error],
        {name: [value] for name, value in scores.items()},
        {name: told for name, value in costs.items() if (told := costs_told([value])) is not None},
    )


def costs_told(values: Sequence[float | None]) -> "array[float] | None":
    """Costs, NaN where they are not told; ``None`` where none is."""
    if values and None not in values and min(values) >= 0 and max(values) < inf:  # type: ignore[type-var,operator]
        return array("d", values)  # type: ignore[arg-type]
    found = array("d", [nan if value is None or not 0 <= value < inf else value for value in values])
    return None if all(map(isnan, found)) else found
