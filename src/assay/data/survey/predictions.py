"""What models predicted: a row per answer, with the cell it is about and whether it could be read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from assay.data.panel import Floats, Integers

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

    @cached_property
    def contexts(self) -> tuple[int, ...]:
        """The context levels that were tried."""
        return tuple(np.unique(self.context).tolist())

    @cached_property
    def runs(self) -> int:
        """The most runs that any answer has."""
        return int(self.run.max()) + 1

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
    """One answer, on the way into `Predictions`."""

    model: str
    cell: int
    context: int
    shares: Sequence[float] | None
    status: int
    reported: float = float("nan")


def predictions_of(answers: Iterable[Answer], width: int, notes: Sequence[str] = ()) -> Predictions:
    """Answers in the order of their runs, made into columns."""
    columns = _Columns(width)
    for answer in answers:
        columns.add(answer)
    return columns.predictions(tuple(notes))


class _Columns:
    """Lists that grow; there may be millions of answers."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.codes: dict[str, int] = {}
        self.keys: list[tuple[int, int, int]] = []
        self.status: list[int] = []
        self.reported: list[float] = []
        self.shares: list[NDArray[np.float64]] = []
        self.empty = np.zeros(width)

    def add(self, answer: Answer) -> None:
        code = self.codes.setdefault(answer.model, len(self.codes))
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
