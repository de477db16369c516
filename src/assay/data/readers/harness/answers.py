"""What most formats hold: an answer a row, with one score or several, and what it cost. A reader only fills it in."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from assay.data.judgments import Games
from assay.data.readers import Selection
from assay.data.readers.harness import Log, Measure, Rows, chosen
from assay.errors import InputError
from assay.names import listed


@dataclass(slots=True)
class Answers:
    """Everything a log says of its items: a value per answer in each of the lists."""

    items: list[str]
    places: list[str]  # where each answer stands in its file, for messages
    metrics: dict[str, list[float]]  # NaN where there is no score
    runs: list[str] | None = None  # attempts at one item
    errors: list[str] | None = None  # why an answer is lost, as the file has it; "" where it is not
    hashes: list[str] | None = None  # of what was asked: the same id must mean the same item in two files
    labels: dict[str, list[str]] = field(default_factory=dict)  # category, difficulty: items may be clustered by them
    costs: dict[str, list[float]] = field(default_factory=dict)  # by `data.costs.COSTS`; NaN where not known
    not_for: dict[str, frozenset[int]] = field(default_factory=dict)  # by metric: answers that it is not meant for
    lower_is_better: frozenset[str] = frozenset()  # the metrics of which lower is better
    notes: list[str] = field(default_factory=list)
    games: tuple[Games, ...] = ()  # the verdicts that scores come from, where a judge compared answers

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class AnswersLog(Log):
    """A log that reads its answers whole: every metric of them."""

    format: ClassVar[str]
    paired_on: ClassVar[str] = "id"
    compared: ClassVar[str] = "contents"
    called: ClassVar[str | None] = None

    @abstractmethod
    def read(self) -> Answers:
        """Read the files."""

    @cached_property
    def answers(self) -> Answers:
        """What the files say, read once."""
        return self.read()

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        found = self.answers
        metric = chosen(self.label, "metric", found.metrics, selection.metric)
        measure = Measure(self.format, metric, paired_on=self.paired_on, compared=self.compared, called=self.called)
        columns: dict[str, Sequence[Any]] = {"item": found.items, "score": found.metrics[metric]}
        several = found.runs is not None and len(set(found.items)) < len(found)
        optional = {"run": found.runs if several else None, "error": found.errors, "doc_hash": found.hashes}
        columns |= {name: values for name, values in optional.items() if values is not None}
        columns |= found.costs
        if cluster is not None:
            columns[cluster] = self._cluster(cluster)
        kept = _kept(len(found), found.not_for.get(metric, frozenset()))
        return Rows(
            "scores",
            measure,
            {name: [values[row] for row in kept] for name, values in columns.items()},
            found.places if len(kept) == len(found) else [found.places[row] for row in kept],
            lower_is_better=metric in found.lower_is_better,
            notes=list(found.notes),
            games=found.games,
        )

    def measures(self, selection: Selection) -> list[Selection]:
        names = [selection.metric] if selection.metric is not None else list(self.answers.metrics)
        return [replace(selection, metric=name) for name in names]

    def _cluster(self, name: str) -> Sequence[str]:
        if name == "task":
            return [self.task] * len(self.answers)
        if name not in self.answers.labels:
            known = listed(self.answers.labels) or "none"
            raise InputError(f"{self.label}: no label {name!r} to cluster by, only {known}; choose one.")
        return self.answers.labels[name]


def _kept(count: int, left_out: frozenset[int]) -> Sequence[int]:
    return [row for row in range(count) if row not in left_out] if left_out else range(count)


def attempts(items: Sequence[str]) -> list[str] | None:
    """The number of each attempt at its item, in the order of the file; ``None`` if there is one at each.

    >>> attempts(["q1", "q2", "q1"])
    ['1', '1', '2']
    """
    if len(set(items)) == len(items):
        return None
    seen: Counter[str] = Counter()
    numbers = []
    for item in items:
        seen[item] += 1
        numbers.append(str(seen[item]))
    return numbers
