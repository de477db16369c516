"""The parts of an answer: facts, cautions, and sections with tables and figures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from assay.results import words
from assay.results.figures import Figure
from assay.results.table import ResultTable, Value
from assay.stats.records import Fallback


@dataclass(frozen=True, slots=True)
class Fact:
    """A number, or a word, with its label."""

    label: str
    value: Value
    key: str | None = None  # of its explanation: how it is computed
    written: str | None = None  # as people read it; None: as numbers usually are

    @property
    def text(self) -> str:
        return words.shown(self.value) if self.written is None else self.written


@dataclass(frozen=True, slots=True)
class Caution:
    """What a reader must know beside the numbers: a note, what was left out, a method that could not be used."""

    kind: Literal["note", "dropped", "fallback"]
    text: str

    def __str__(self) -> str:
        return self.text if self.kind == "note" else f"{self.kind}: {self.text}"


def cautions_of(notes: Iterable[str], fallbacks: Iterable[Fallback] = ()) -> tuple[Caution, ...]:
    """Methods that could not be used, then notes.

    >>> [str(one) for one in cautions_of(["few items"], [Fallback("bca", "t", "no spread")])]
    ['fallback: bca → t: no spread', 'few items']
    """
    changed = [Caution("fallback", f"{one.wanted} → {one.used}: {one.why}") for one in fallbacks]
    return (*changed, *(Caution("note", note) for note in notes))


def looked_at(models: Sequence[str], n: int, units: str) -> tuple[Fact, ...]:
    """Which models were looked at, on how many units.

    >>> [(fact.label, fact.text) for fact in looked_at(["x", "y"], 3, "3 items")]
    [('models', 'x, y'), ('on', '3 items')]
    """
    return (Fact("model" if len(models) == 1 else "models", ", ".join(models)), Fact("on", n, written=units))


@dataclass(frozen=True, slots=True)
class Section:
    """Part of an answer: how to read it, figures, tables, and what follows from them."""

    key: str
    title: str
    about: str = ""
    figures: tuple[Figure, ...] = ()
    tables: tuple[ResultTable, ...] = ()
    said: tuple[str, ...] = ()
    page: str | None = None  # of the documentation, which says in full how its tables are computed
