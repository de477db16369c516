"""Prompts, tables of generated text (item, prediction, reference), and counts of correctly predicted characters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from pathlib import PurePath
from typing import Any

import numpy as np

from assay.data.columns import check_keys, check_once
from assay.data.readers import RowSource
from assay.data.readers.registry import named, open_source
from assay.data.tables import Labels
from assay.data.text_columns import TextColumn
from assay.data.values import check_texts, check_unique
from assay.data.writing_systems import Normalization, Ranges
from assay.errors import InputError, UsageError
from assay.names import argument, listed, nearest, shown
from assay.stats.units import Floats, Texts

REQUIRED = ("item", "prediction", "reference")
OPTIONAL = ("model", "cluster")
OURS = (*REQUIRED, *OPTIONAL)
PROMPT_COLUMNS = ("prompt", "item", "reference", "cluster")
#: How a generation ended: by itself, or because it had as many tokens as it may. Such a row is never a missing one.
FINISH = "finish"

TableSource = str | PathLike[str] | Mapping[str, Any] | Any


@dataclass(frozen=True)
class Prompts:
    """What models shall answer, in the order of the table."""

    label: str  # what messages call it
    items: tuple[str, ...]
    texts: tuple[str, ...]
    references: tuple[str, ...] | None = None
    clusters: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.items)

    @property
    def digest(self) -> str:
        """The sha256 of all of it."""
        hashed = sha256()
        for cells in (self.items, self.texts, self.references, self.clusters):
            hashed.update(b"-" if cells is None else len(cells).to_bytes(8, "little"))
            for cell in cells or ():
                hashed.update(len(cell.encode()).to_bytes(8, "little") + cell.encode())
        return "sha256:" + hashed.hexdigest()


def read_prompts(source: TableSource, *, columns: Mapping[str, str] | None = None, references: bool = False) -> Prompts:
    """Read a table of prompts: ``prompt``, and where they are there ``item`` (or ``id``), ``reference``, ``cluster``.

    Without items, rows are numbered from 1. With ``references`` a table without references is refused.

    >>> read_prompts({"prompt": ["Once upon", "There was"], "id": ["a", "b"]}).items
    ('a', 'b')
    """
    given = dict(columns or {})
    check_keys(given, PROMPT_COLUMNS)
    opened = open_source(source)
    if "item" not in given and "item" not in opened.columns and "id" in opened.columns:
        given["item"] = "id"
    needed = ("prompt", "reference") if references else ("prompt",)
    places = _places(opened, given, PROMPT_COLUMNS, needed, f"prompts need {' and '.join(needed)}")
    cells = dict(zip(places, opened.read([(theirs, "text") for theirs in places.values()]), strict=True))
    _check_rows(opened, cells["prompt"])
    for ours, texts in cells.items():
        _check_cells(opened, ours, places[ours], texts, allow_empty=False)
        _check_encodable(opened, places[ours], texts)
    if "item" in places:
        check_unique(opened, places["item"], TextColumn.of(cells["item"]), {})
    found = {ours: tuple(texts.tolist()) for ours, texts in cells.items()}
    numbered = tuple(str(row) for row in range(1, len(found["prompt"]) + 1))
    return Prompts(
        opened.label, found.get("item", numbered), found["prompt"], found.get("reference"), found.get("cluster")
    )


@dataclass(frozen=True, eq=False)
class Generations:
    """What one system wrote, sorted by item."""

    label: str  # what messages call it: the path as it was given
    name: str
    items: tuple[str, ...]
    predictions: tuple[str, ...]
    references: tuple[str, ...]
    clusters: tuple[str, ...] | None = None  # sentences that belong together: the document of each

    def __len__(self) -> int:
        return len(self.items)


def read_generations(
    sources: Sequence[TableSource],
    *,
    columns: Mapping[str, str] | None = None,
    allow_empty: bool = False,
) -> list[Generations]:
    """Read the systems in several tables; all must have the same items and references.

    Paths may be NAME=PATH. ``columns`` maps our names to the file's; with ``allow_empty`` an empty prediction means
    that the system wrote nothing, instead of being refused as missing; in what `assay.generate` wrote it always does.
    """
    check_keys(columns or {}, OURS)
    systems = [system for source in sources for system in _systems(source, columns or {}, allow_empty=allow_empty)]
    if not systems:
        raise UsageError("japanese needs a table of generations.")
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        where = listed(system.label for system in systems if system.name == twice)
        raise InputError(f"{where}: several systems are called {twice!r}; give them different names, as in new=FILE.")
    for other in systems[1:]:
        _check_pairs(systems[0], other)
    return systems


def _systems(source: Any, columns: Mapping[str, str], *, allow_empty: bool) -> list[Generations]:
    name, opened = _opened(source)
    places = _places(opened, columns, OURS, REQUIRED, f"generations need {', '.join(REQUIRED)}")
    cells = dict(zip(places, opened.read([(theirs, "text") for theirs in places.values()]), strict=True))
    _check_rows(opened, cells["item"])
    generated = FINISH in opened.columns  # then whatever a row holds was written, nothing as well as "nan"
    for ours, texts in cells.items():
        of_prediction = ours == "prediction"
        if not (generated and of_prediction):
            _check_cells(opened, ours, places[ours], texts, allow_empty=allow_empty and of_prediction)
        _check_encodable(opened, places[ours], texts)
    models = Labels.of(cells["model"]) if "model" in cells else None
    check_unique(opened, places["item"], TextColumn.of(cells["item"]), {"model": models})
    if models is None or len(models.names) == 1:
        known = models.names[0] if models is not None else PurePath(opened.label).stem
        return [_system(opened.label, name or known, cells, np.arange(len(cells["item"])))]
    if name is not None:
        raise UsageError(
            f"{name}=… names one system, but {opened.label} holds {len(models.names)}: {listed(models.names)}."
        )
    return [
        _system(f"{opened.label} (model {model!r})", model, cells, np.flatnonzero(models.codes == code))
        for code, model in sorted(enumerate(models.names), key=lambda pair: int(np.argmax(models.codes == pair[0])))
    ]


def _opened(source: Any) -> tuple[str | None, RowSource]:
    if not isinstance(source, str | PathLike):
        return None, open_source(source)
    name, path = named(source)
    return name, open_source(path)


def _system(
    label: str, name: str, cells: Mapping[str, Texts], rows: np.ndarray[Any, np.dtype[np.int64]]
) -> Generations:
    """Sorted by item, so that the order of the file changes no number."""
    order = sorted(rows.tolist(), key=cells["item"].__getitem__)
    texts = {ours: tuple(cells[ours][order].tolist()) for ours in cells}
    return Generations(
        label, name, texts["item"], texts["prediction"], texts["reference"], clusters=texts.get("cluster")
    )


def _check_rows(source: RowSource, texts: Texts) -> None:
    if not len(texts):
        raise InputError(f"{source.label}: a header but no rows; check what should have written them.")


def _places(
    source: RowSource, columns: Mapping[str, str], known: Sequence[str], required: Sequence[str], needs: str
) -> dict[str, str]:
    """Our name → the file's; what is not required is optional, and an empty name leaves it out."""
    places = {ours: columns.get(ours, ours) for ours in known}
    for ours, theirs in places.items():
        if theirs in source.columns or (ours not in required and not columns.get(ours)):
            continue
        close = nearest(theirs, [name for name in source.columns if name not in known])
        guess = (
            f"did you mean {argument(columns={ours: close})}?"
            if close
            else f"name it: {argument(columns={ours: 'NAME'})}."
        )
        raise InputError(
            f"{source.label}: no column {theirs!r} among its columns {listed(source.columns)} ({needs}); {guess}"
        )
    found = {ours: theirs for ours, theirs in places.items() if theirs in source.columns}
    check_once(source.label, source.columns, found.values())
    return found


def _check_cells(source: RowSource, ours: str, column: str, texts: Texts, *, allow_empty: bool) -> None:
    if ours == "prediction" and not allow_empty and not all(texts):
        row = next(row for row, text in enumerate(texts, start=1) if not text)
        raise InputError(
            f"{_cell(source, row, column)}: the cell is empty; fill it in, or pass `allow_empty=True` if "
            "the model wrote nothing."
        )
    if ours != "prediction":
        check_texts(source, column, TextColumn.of(texts))
    for row, text in enumerate(texts, start=1):
        if text.strip().lower() == "nan":
            what = f"{shown(text)} is a missing number, not text; fill it in or take the row out"
            raise InputError(f"{_cell(source, row, column)}: {what}.")


def _check_encodable(source: RowSource, column: str, texts: Texts) -> None:
    for row, text in enumerate(texts, start=1):
        lone = _unpaired(text)
        if lone is not None:
            raise InputError(
                f"{_cell(source, row, column)}: character {lone + 1} is an unpaired surrogate "
                f"(U+{ord(text[lone]):04X}), not a character; decode the text again, as UTF-8."
            )


def _cell(source: RowSource, row: int, column: str) -> str:
    return f"{source.label}, {source.places([row])[0]}, column {column!r}"


def _unpaired(text: str) -> int | None:
    """Position of the first character that cannot be encoded as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None


def _check_pairs(first: Generations, other: Generations) -> None:
    """Refuse systems with different items or references: their scores would not measure the same thing."""
    alone = sorted(set(first.items).symmetric_difference(other.items))
    if alone:
        where, lacks = (first, other) if alone[0] in first.items else (other, first)
        more = f" (and {len(alone) - 1} more)" if len(alone) > 1 else ""
        raise InputError(
            f"{where.label} and {lacks.label}: item {shown(alone[0])}{more} is in the first only; give all systems the "
            "same items."
        )
    if first.clusters != other.clusters:
        raise InputError(
            f"{first.label} and {other.label}: the same items have different clusters; give both the same ones."
        )
    for item, a, b in zip(first.items, first.references, other.references, strict=True):
        if a != b:
            raise InputError(
                f"{first.label} and {other.label}: item {shown(item)} has two references, {shown(a)} and {shown(b)}; "
                "give all systems the same."
            )


@dataclass(frozen=True, eq=False)
class CharacterCounts:
    """Characters of a text under one model: how many were predicted, how many correctly, and their bits."""

    name: str  # of the model
    units: tuple[str, ...]  # (n,) documents, or windows where there is one document
    cluster_by: str  # "document" or "window"
    scripts: tuple[str, ...]  # (S,)
    characters: Floats  # (n, S) that were predicted
    right: Floats  # (n, S)
    bits: Floats  # (n, S)
    left_out: int  # characters that were not predicted: the first of a document or window
    mixed_bits: float  # bits of tokens that hold characters of several scripts: shared out by bytes
    ranges: Ranges
    normalize: Normalization
    context: int
    stride: int
    text: str  # digest of the text
    tokenizer: str | None  # digest of the token ids of the text
