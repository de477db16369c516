"""Small records that panels and tables are made of: labels of rows, runs, what did not pair, a digest of it all."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.stats.units import Floats, Integers, Texts

_HASHED_AT_ONCE = 65_536  # ids; all at once would double what a large panel takes


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """A column of repeated texts: each once, sorted, and which one every row has."""

    names: tuple[str, ...]
    codes: Integers  # (rows,)

    @classmethod
    def of(cls, texts: Texts) -> "Labels":
        names = sorted(set(texts))
        codes = {name: code for code, name in enumerate(names)}
        return cls(tuple(names), np.fromiter(map(codes.__getitem__, texts), np.int64, len(texts)))

    def where(self, rows: NDArray[Any]) -> "Labels":
        """The labels of some of the rows, without those that no row has any more."""
        kept, codes = np.unique(self.codes[rows], return_inverse=True)
        return Labels(tuple(self.names[code] for code in kept.tolist()), codes.astype(np.int64, copy=False))

    @property
    def texts(self) -> Texts:
        """(rows,) The label of every row."""
        names = np.empty(len(self.names), dtype=object)
        names[:] = self.names
        return names[self.codes]

    @property
    def by_appearance(self) -> Integers:
        """(rows,) Codes 0, 1, … in the order in which the labels first appear."""
        _, first, codes = np.unique(self.codes, return_index=True, return_inverse=True)
        places = np.empty(len(first), dtype=np.int64)
        places[np.argsort(first)] = np.arange(len(first))
        return places[codes]


def numbered(labels: Iterable[Any], n: int) -> Integers:
    """Codes 0, 1, … of n labels in the order in which they first appear."""
    seen = list(labels)
    codes = {label: code for code, label in enumerate(dict.fromkeys(seen))}
    return np.fromiter(map(codes.__getitem__, seen), np.int64, n)


def without_splits(ids: Texts, splits: Labels) -> Texts:
    """Ids without the split before them, which two splits need to be told apart and one does not."""
    both = list(zip(ids.tolist(), splits.texts.tolist(), strict=True))
    if not all(name.startswith(f"{split}/") for name, split in both):
        return ids
    plain = np.empty(len(ids), dtype=object)
    plain[:] = [name.removeprefix(f"{split}/") for name, split in both]
    return plain


@dataclass(frozen=True, slots=True)
class Dropped:
    """Units that one system has and another has not: how many, and the first five ids.

    With more than two systems ``only_b`` counts the ids outside the first system that some system lacks.
    """

    only_a: int = 0
    only_b: int = 0
    examples: tuple[str, ...] = ()


NOTHING = Dropped()


@dataclass(frozen=True, slots=True)
class Runs:
    """Columns of a panel that are runs of one model."""

    model: str
    names: tuple[str, ...]  # what the runs are called
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Substance:
    """How much evidence a panel holds, whatever it says."""

    units: int  # that are drawn: clusters, or the units themselves
    effective: float  # Kish's (Σw)² / Σw²: so many units of equal weight would say as much
    differing: int | None  # units on which the first two systems differ; None for one system
    largest: float  # the share of all weight that one drawn unit has


@dataclass(frozen=True, eq=False, slots=True)
class Sums:
    """What is resampled: a row per cluster, or per unit where there are no clusters."""

    numerators: Floats  # (g, k)
    denominators: Floats  # (g,) or (g, k)
    sizes: dict[str, Floats]  # (g,) each


def digest(tag: bytes, ids: Texts, named: Mapping[str, NDArray[Any]]) -> str:
    """The sha256 of ids and of named arrays, in this order; ``tag`` says what they are of."""
    hashed = hashlib.sha256(tag)
    _hash_array(hashed, "units", np.fromiter(map(len, ids), np.int64, len(ids)))
    for start in range(0, len(ids), _HASHED_AT_ONCE):
        hashed.update("".join(ids[start : start + _HASHED_AT_ONCE]).encode("utf-8", "surrogatepass"))
    for name, values in named.items():
        _hash_array(hashed, name, values)
    return hashed.hexdigest()


def _hash_array(hashed: "hashlib._Hash", name: str, values: NDArray[Any]) -> None:
    # Adding zero turns -0.0, which compares equal to 0.0, into the same bytes. Of the many NaN one is taken.
    canonical = np.ascontiguousarray(values + 0).astype("<f8" if values.dtype.kind == "f" else "<i8", copy=False)
    if canonical.dtype.kind == "f":
        canonical[np.isnan(canonical)] = np.nan
    hashed.update(f"|{name}{values.shape}|".encode())
    hashed.update(canonical.data)
