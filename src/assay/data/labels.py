"""A column of repeated texts: a model, a split, a run, a document."""

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
