"""What results look like when something went wrong before us: the same files twice, and scores that are all 0."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assay.data.metrics import Metric
from assay.data.tables import Table
from assay.files.stores.addresses import copy_or_path
from assay.names import listed
from assay.stats.units import Floats

_FEWEST = 20  # scores that may all be 0 by chance, of a model that is bad
_BLOCK = 1 << 20
_SHOWN = 6


def zeros_note(sums: Floats, systems: Sequence[str], metric: Metric, unit: str) -> tuple[str, ...]:
    """Systems of which every score is 0: more often a scorer that did not work than a model that knows nothing."""
    if metric.kind != "scores" or metric.lower_is_better:
        return ()
    known = ~np.isnan(sums)
    found = [
        f"{name} ({int(there.sum()):,} {unit}s)"
        for name, column, there in zip(systems, sums.T, known.T, strict=True)
        if there.sum() >= _FEWEST and not np.any(column, where=there)
    ]
    return (f"warning: every score of {listed(found, _SHOWN)} is 0: did the scorer work?",) if found else ()


def equal_files(tables: Sequence[Table], systems: Sequence[str]) -> list[list[str]]:
    """Systems that were read from other files with the same content, byte for byte."""
    files = [_files(table) for table in tables]
    groups: list[list[int]] = []
    for at, own in enumerate(files):
        for group in groups:
            if own and own != files[group[0]] and _same_bytes(own, files[group[0]]):
                group.append(at)
                break
        else:
            groups.append([at])
    return [[systems[at] for at in group] for group in groups if len(group) > 1]


def equal_files_note(groups: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What to say of such systems."""
    same = "were read from files that are equal byte for byte: these are the same results"
    return tuple(f"warning: {listed(names, _SHOWN)} {same}" for names in groups)


def _files(table: Table) -> tuple[Path, ...]:
    found = table.about.get("files") or (copy_or_path(table.label),)
    return tuple(sorted(path for path in found if _is_file(path)))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _same_bytes(first: Sequence[Path], second: Sequence[Path]) -> bool:
    """Whether two lists of files have the same contents; read only where all sizes agree."""
    try:
        sizes = [sorted(path.stat().st_size for path in some) for some in (first, second)]
        if sizes[0] != sizes[1] or not any(sizes[0]) or first[0].samefile(second[0]):
            return False
        ordered = [sorted(some, key=lambda path: (path.stat().st_size, path.name)) for some in (first, second)]
        pairs = zip(*ordered, strict=True)
        return all(_same(a, b) for a, b in pairs)
    except OSError:
        return False


def _same(a: Path, b: Path) -> bool:
    with a.open("rb") as one, b.open("rb") as other:
        while True:
            left, right = one.read(_BLOCK), other.read(_BLOCK)
            if left != right:
                return False
            if not left:
                return True
