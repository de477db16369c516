"""Instances of SWE-bench and its relatives: resolved, not resolved or lost; the repository is the task."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any, ClassVar

from assay.data.readers import Selection
from assay.data.readers.harness import Log, digest
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.instance_ids import read_ids
from assay.errors import InputError

METRIC = "resolved"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an instance."""

    instance: str
    resolved: bool
    lost: str = ""  # why the harness has no verdict
    place: str = ""


@dataclass(frozen=True)
class InstancesLog(AnswersLog):
    """The instances of one repository; until it is prepared, all of a run."""

    paired_on: ClassVar[str] = "instance id"
    compared: ClassVar[str] = "id"
    outcomes: tuple[Outcome, ...] = ()
    notes: tuple[str, ...] = ()

    def read(self) -> Answers:
        ids = [one.instance for one in self.outcomes]
        return Answers(
            ids,
            [one.place or f"{self.label}, {one.instance}" for one in self.outcomes],
            {METRIC: [nan if one.lost else float(one.resolved) for one in self.outcomes]},
            errors=[one.lost for one in self.outcomes],
            hashes=[digest(one) for one in ids],  # an id is one problem, whichever repositories a run has
            labels={"repository": [repository(one) for one in ids]},
            notes=list(self.notes),
        )

    def prepared(self, selection: Selection) -> list[Log]:
        """A log for each repository; where the user says what was tried, of that only."""
        if not self.outcomes:
            raise InputError(f"{self.label}: no instance at all; check what should have written the file.")
        tried = None if selection.tried is None else set(read_ids(Path(selection.tried)))
        found: dict[str, list[Outcome]] = {}
        for one in self.outcomes:
            if tried is None or one.instance in tried:
                found.setdefault(repository(one.instance), []).append(one)
        return [replace(self, task=task, outcomes=tuple(own)) for task, own in sorted(found.items())]


def repository(instance: str) -> str:
    """The repository that an instance id begins with.

    >>> repository("scikit-learn__scikit-learn-10297"), repository("instance_flipt-io__flipt-02e2")
    ('scikit-learn', 'flipt-io')
    """
    return instance.removeprefix("instance_").partition("__")[0] or "other"


def of_lists(tried: Collection[str], resolved: Collection[str], lost: Mapping[str, str]) -> tuple[Outcome, ...]:
    """The outcomes of what was tried, by the lists of a report."""
    right = frozenset(resolved)
    return tuple(Outcome(one, one in right, "" if one in right else lost.get(one, "")) for one in tried)


def texts_of(found: Mapping[str, Any], name: str, place: str) -> Sequence[str]:
    """A list of ids in a report, each once; none where the report has no such list."""
    listed = found.get(name)
    if listed is None:
        return ()
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise InputError(f"{place}: {name!r} must be a list of instance ids; write the report again.")
    return tuple(dict.fromkeys(listed))
