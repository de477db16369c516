"""Digests of evidence: the same for equal ids and numbers, whatever file they came from."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.stats.units import Texts

_HASHED_AT_ONCE = 65_536  # ids; all at once would double what a large panel takes


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
