"""What is there twice: items, and systems that are equal everywhere.

Items that occur more than once have the same contents, by their hash, under different ids, in a task or in several.
They are counted and named wherever tables are paired. Copies in several tasks are one item, and the total of the tasks
takes them as one; copies within a task are drawn apart, unless the hash is named as the cluster.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from assay.data.tables import Labels
from assay.data.text_columns import TextColumn
from assay.names import listed
from assay.stats.units import Floats, Integers

if TYPE_CHECKING:
    from assay.data.panel_views import PanelViews

CONTENTS = "doc_hash"  # the label of units that have the same contents
_NAMED, _MOST_IDS = 3, 3  # items that are named, ids of each
_LOOKED_AT = 1_000  # units that tell most systems apart
_FEWEST_EQUAL = 20  # units that two systems have in common: fewer may be equal by chance


def copies_note(ids: TextColumn, labels: Mapping[str, Labels], unit: str, cluster: str | None) -> tuple[str, ...]:
    """How many items occur more than once, and which; nothing where none does, or where no hash is known."""
    codes = _codes(labels)
    twice = [] if codes is None else _twice(codes, labels.get("document"))
    if codes is None or not twice:
        return ()
    named = [_ids(ids[codes == code].tolist()) for code in twice[:_NAMED]]
    more = f" and {len(twice) - _NAMED:,} more" if len(twice) > _NAMED else ""
    across = _across(codes, twice, labels.get("task"))
    what = f"{len(twice):,} {unit}{'s occur' if len(twice) > 1 else ' occurs'} more than once, with the same {CONTENTS}"
    advice = "" if cluster is not None else f" (`cluster='{CONTENTS}'` draws copies together)"
    return (f"{what}{across}: {', '.join(named)}{more}{advice}",)


def equal_note(values: Floats, systems: Sequence[str], unit: str) -> tuple[str, ...]:
    """Which systems (columns) are equal in every unit; nothing where units are few, or all have one value."""
    if len(values) < _FEWEST_EQUAL:
        return ()
    found: dict[bytes, list[int]] = {}
    for place, column in enumerate(values.T):
        found.setdefault(np.ascontiguousarray(column[:_LOOKED_AT]).tobytes(), []).append(place)
    groups = [group for alike in found.values() if len(alike) > 1 for group in _equal_columns(values, alike)]
    return tuple(
        f"warning: {listed([systems[place] for place in group], 6)} are equal in all {len(values):,} {unit}s: are "
        "these the same results twice?"
        for group in sorted(groups)
    )


def _equal_columns(values: Floats, alike: Sequence[int]) -> list[list[int]]:
    """Columns that are equal to the last bit, and not of one value only, among some that begin alike."""
    found: dict[bytes, list[int]] = {}
    for place in alike:
        column = np.ascontiguousarray(values[:, place])
        if not ((column == column[0]).all() or np.isnan(column).all()):
            found.setdefault(hashlib.sha256(column.data).digest(), []).append(place)
    return [group for group in found.values() if len(group) > 1]


def _codes(labels: Mapping[str, Labels]) -> Integers | None:
    """(n,) The same code for the same contents; ``None`` where all differ, or where the hash is not of single items."""
    found = labels.get(CONTENTS)
    if found is None or not 1 < len(found.names) < len(found.codes):
        return None
    return found.codes


def _twice(codes: Integers, documents: Labels | None) -> list[int]:
    """Codes of several units, not all of them windows of one document; in the order in which they appear."""
    counts = np.bincount(codes)
    if documents is not None:
        counts = np.bincount(_once_in_each(codes, documents.codes), minlength=len(counts))
    places = np.flatnonzero(counts[codes] > 1)
    return list(dict.fromkeys(codes[places].tolist()))


def _ids(ids: list[str]) -> str:
    more = [f"{len(ids) - _MOST_IDS} more"] if len(ids) > _MOST_IDS else []
    return " = ".join([*map(repr, ids[:_MOST_IDS]), *more])


def _across(codes: Integers, twice: list[int], tasks: Labels | None) -> str:
    if tasks is None:
        return ""
    count = len(np.intersect1d(_in_several(codes, tasks.codes), twice))
    if not count:
        return ""
    return ", in several tasks" if count == len(twice) else f", {count:,} of them in several tasks"


def _in_several(codes: Integers, tasks: Integers) -> Integers:
    """Codes that units of different tasks have."""
    return np.flatnonzero(np.bincount(_once_in_each(codes, tasks)) > 1)


def _once_in_each(codes: Integers, parts: Integers) -> Integers:
    """The codes of each part, every code once."""
    size = int(parts.max()) + 1
    return np.asarray(np.unique(codes * size + parts) // size, dtype=np.int64)


def shared_by_tasks(panel: "PanelViews", by: str) -> bool:
    """Whether anything that is drawn together occurs in several tasks."""
    owners = owners_of(panel, by)
    return owners is not None and len(_in_several(owners, panel.label(by).codes)) > 0


def owners_of(panel: "PanelViews", by: str) -> Integers | None:
    """(n,) What is drawn together over all tasks: clusters, and copies in several; ``None``: every unit by itself."""
    codes, tasks, clusters = _codes(panel.labels), panel.label(by).codes, panel.clusters
    if codes is None or not len(_in_several(codes, tasks)):
        return clusters
    return codes if clusters is None else _joined(clusters, codes)


def _joined(clusters: Integers, codes: Integers) -> Integers:
    """Clusters that have an item in common are one."""
    from scipy.sparse import coo_array  # late: 0.3 s
    from scipy.sparse.csgraph import connected_components

    count = int(clusters.max()) + 1
    edges = (np.ones(len(codes), dtype=np.int8), (clusters, count + codes))
    size = count + int(codes.max()) + 1
    parts = connected_components(coo_array(edges, shape=(size, size)), directed=False)[1]
    return np.asarray(parts[clusters], dtype=np.int64)
