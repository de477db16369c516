"""A column of repeated texts: a model, a split, a run, a document."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.stats.units import Integers, Texts


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


def without_prefix(ids: Texts, prefix: str) -> Texts:
    """Ids without the split, which two splits need to be told apart and one does not."""
    if not all(name.startswith(prefix) for name in ids):
        return ids
    plain = np.empty(len(ids), dtype=object)
    plain[:] = [name.removeprefix(prefix) for name in ids]
    return plain
