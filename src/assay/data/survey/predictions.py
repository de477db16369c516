"""Model predictions: a row per answer, with its cell and whether it could be parsed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from assay.data.survey.truth import LEAST_SUM, MOST_SUM
from assay.names import one_line
from assay.stats.units import Floats, Integers

#: What became of an answer. An ERROR is missing; the benchmark scores the two failures before it with 0 and 0.1.
OK, UNPARSEABLE, WRONG_LENGTH, ERROR, SCORE_ONLY = range(5)
STATUS_NAMES = ("read", "unparseable", "wrong length", "no answer", "score only")

UNKNOWN_CONTEXT = -1


@dataclass(frozen=True, eq=False)
class Predictions:
    """R answers of M models, sorted by cell, model, context and run."""

    models: tuple[str, ...]
    model: Integers  # (R,)
    cell: Integers  # (R,)
    context: Integers  # (R,) how many context questions; -1: not given
    run: Integers  # (R,) 0, 1, … of the same model, cell and context
    shares: Floats  # (R, K) rows sum to 1 where the status is OK, else 0
    status: NDArray[np.int8]  # (R,)
    reported: Floats  # (R,) the file's own score; NaN where it has none
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.model)

    def only(self, cells: NDArray[np.bool_]) -> "Predictions":
        """The answers about these cells (C,), which are renumbered."""
        rows, codes = cells[self.cell], np.cumsum(cells) - 1
        parts = {
            name: getattr(self, name)[rows] for name in ("model", "context", "run", "shares", "status", "reported")
        }
        return replace(self, cell=codes[self.cell[rows]], **parts)

    @cached_property
    def contexts(self) -> tuple[int, ...]:
        """The context levels that occur."""
        return tuple(np.unique(self.context).tolist())

    @cached_property
    def runs(self) -> int:
        """The largest number of runs of any answer."""
        return int(self.run.max(initial=0)) + 1

    def counts(self, status: int) -> Integers:
        """(M,) How many answers of each model have a status."""
        return np.bincount(self.model[self.status == status], minlength=len(self.models))

    @cached_property
    def digest(self) -> str:
        hashed = sha256(b"assay survey predictions 1")
        hashed.update("\n".join(self.models).encode("utf-8", "surrogatepass"))
        parts = (
            self.model,
            self.cell,
            self.context,
            self.run,
            self.status,
            self.shares,
            np.nan_to_num(self.reported, nan=-1),
        )
        for part in parts:
            hashed.update(np.ascontiguousarray(part).astype("<f8").tobytes())
        return hashed.hexdigest()


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, before it becomes a row of `Predictions`."""

    model: str
    cell: int
    context: int
    shares: Sequence[float] | None
    status: int
    reported: float = float("nan")
    total: float = float("nan")  # what the numbers of an answer that was read summed to, before they were scaled


#: What shares or percentages may sum to, rounded one by one.
_WHOLE = ((LEAST_SUM / 100, MOST_SUM / 100), (LEAST_SUM, MOST_SUM))


def is_whole(total: float) -> bool:
    """Whether this is a plausible total of shares (1) or percentages (100)."""
    return any(low <= total <= high for low, high in _WHOLE)


class Places:
    """Collects answers that were not used as given: how many of each kind, and where the first one is."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.found: dict[str, list[str]] = {}

    def add(self, answer: Answer, where: str) -> None:
        """Record an answer if it is one of these."""
        if answer.status == WRONG_LENGTH:
            self._add("not as many percentages as the question has options; scored 0.1", where)
        elif answer.status == UNPARSEABLE:
            self._add("no percentages that can be read; scored 0", where)
        elif answer.status == OK and not is_whole(answer.total):
            self._add("percentages that do not sum to 100; scaled to 100", f"{where}, {answer.total:g}")

    def _add(self, kind: str, where: str) -> None:
        self.found.setdefault(kind, []).append(where)

    def notes(self) -> list[str]:
        """One note per kind."""
        return [self._note(kind, places) for kind, places in self.found.items()]

    def _note(self, kind: str, places: list[str]) -> str:
        wrong, _, done = kind.partition("; ")
        many = f"1 {self.what} has" if len(places) == 1 else f"{len(places):,} {self.what}s have"
        return f"{many} {wrong} (first: {places[0]}); {done}, as the benchmark does"


def predictions_of(answers: Iterable[Answer], width: int, notes: Sequence[str] = ()) -> Predictions:
    """Convert answers, in the order of their runs, to columns."""
    columns = _Columns(width)
    for answer in answers:
        columns.add(answer)
    return columns.predictions(tuple(notes))


class _Columns:
    """Growing lists, compact enough for millions of answers."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.codes: dict[str, int] = {}
        self.keys: list[tuple[int, int, int]] = []
        self.status: list[int] = []
        self.reported: list[float] = []
        self.shares: list[NDArray[np.float64]] = []
        self.empty = np.zeros(width)

    def add(self, answer: Answer) -> None:
        code = self.codes.setdefault(one_line(answer.model), len(self.codes))
        self.keys.append((answer.cell, code, answer.context))
        self.status.append(answer.status)
        self.reported.append(answer.reported)
        if answer.shares is None:
            self.shares.append(self.empty)
            return
        row = np.zeros(self.width)
        row[: len(answer.shares)] = answer.shares
        self.shares.append(row)

    def predictions(self, notes: tuple[str, ...]) -> Predictions:
        names = sorted(self.codes)
        place = np.array([names.index(name) for name in self.codes], dtype=np.int64)
        keys = np.array(self.keys, dtype=np.int64).reshape(-1, 3)
        keys[:, 1] = place[keys[:, 1]]
        order = np.lexsort((keys[:, 2], keys[:, 1], keys[:, 0]))  # stable, so that runs stay in their order
        keys = keys[order]
        fresh = np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)])
        starts = np.flatnonzero(fresh)
        run = np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))
        return Predictions(
            tuple(names),
            keys[:, 1],
            keys[:, 0],
            keys[:, 2],
            run,
            np.array(self.shares)[order],
            np.array(self.status, dtype=np.int8)[order],
            np.array(self.reported)[order],
            notes,
        )
