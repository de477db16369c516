"""Coarser segments: a table of `segment, into` says which segments become one, and what it is called.

People are added: the merged segment's shares are those of all its respondents to a question. So is a prediction of it,
the mean of the predictions of its parts weighted by how many answered the question in each; a part without an answer
leaves the whole without one, and a part that could not be read makes the whole one that could not be read. Only
segments of one category can be merged: the people of another are the same people.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.data.readers.registry import open_source
from assay.data.survey.predictions import ERROR, OK, SCORE_ONLY, UNPARSEABLE, WRONG_LENGTH, Predictions
from assay.data.survey.truth import Segment, Truth
from assay.errors import InputError
from assay.names import listed
from assay.stats.units import Integers

_COLUMNS = ("segment", "into")
_WORST = (OK, WRONG_LENGTH, UNPARSEABLE, ERROR)  # of parts, the last one that occurs


@dataclass(frozen=True, eq=False)
class Merged:
    """A survey with coarser segments, and which of its cells each cell of the finer one went into."""

    truth: Truth
    finer: Truth
    cell: Integers  # (C of the finer,)

    def predictions(self, given: Predictions) -> Predictions:
        """Predictions of the finer cells as predictions of the coarser ones."""
        parts = np.bincount(self.cell, minlength=len(self.truth))
        cell, several = self.cell[given.cell], parts[self.cell[given.cell]] > 1
        if (several & (given.status == SCORE_ONLY)).any():
            raise InputError("the results have scores without distributions, so that segments cannot be merged.")
        contexts, context = np.unique(given.context, return_inverse=True)
        sizes = len(given.models), len(contexts), given.runs
        keys = np.ravel_multi_index((cell, given.model, context, given.run), (len(self.truth), *sizes))
        places, group = np.unique(keys, return_inverse=True)
        where = np.unravel_index(places, (len(self.truth), *sizes))
        weight = self.finer.n[given.cell].astype(np.float64)
        shares = np.zeros((len(places), given.shares.shape[1]))
        np.add.at(shares, group, weight[:, None] * given.shares)
        status = np.zeros(len(places), dtype=np.int8)
        for bad in _WORST:
            status[group[given.status == bad]] = bad
        whole = np.bincount(group) == parts[where[0]]  # every part has an answer
        single = parts[where[0]] == 1
        reported = np.full(len(places), np.nan)
        reported[group[~several]] = given.reported[~several]
        status[single] = given.status[_first(group, single)]
        read = status == OK
        shares[read] /= np.maximum(np.bincount(group, weight)[read, None], 1e-300)
        shares[~read] = 0.0
        status[~whole] = ERROR
        lost = int((~whole).sum())
        note = f"{lost:,} answers about merged segments left out: a part of the segment has none"
        return Predictions(
            given.models,
            where[1].astype(np.int64),
            where[0].astype(np.int64),
            contexts[where[2]],
            where[3].astype(np.int64),
            np.where(whole[:, None], shares, 0.0),
            status,
            reported,
            (*given.notes, *([note] if lost else [])),
        )


def _first(group: Integers, chosen: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> Integers:
    """The row of each group that is chosen, which has one row only."""
    rows = np.zeros(len(chosen), dtype=np.int64)
    rows[group] = np.arange(len(group))
    return np.asarray(rows[chosen])


def read_merging(source: Any, truth: Truth) -> dict[str, str]:
    """Segment → what it is merged into, from a file, a mapping of columns or a data frame."""
    table = open_source(source)
    missing = [name for name in _COLUMNS if name not in table.columns]
    if missing:
        raise InputError(
            f"{table.label}: no column {' and no '.join(missing)} among its columns {listed(table.columns)}; a table "
            "that merges segments has the columns segment and into."
        )
    segments, into = ([str(v).strip() for v in column] for column in table.read([(name, "text") for name in _COLUMNS]))
    if not segments:
        raise InputError(f"{table.label}: a header but no rows; write a row for each segment to merge.")
    found: dict[str, str] = {}
    for place, segment, name in zip(table.places(range(1, len(segments) + 1)), segments, into, strict=True):
        where = f"{table.label}, {place}"
        if not segment or not name:
            raise InputError(f"{where}: the {'segment' if not segment else 'name to merge into'} is empty; fill it in.")
        if segment not in truth.segment_codes:
            known = listed([one.id for one in truth.segments], 6)
            raise InputError(f"{where}: {truth.source} has no segment {segment!r}; it has {known}.")
        if segment in found:
            raise InputError(f"{where}: segment {segment!r} is merged into {found[segment]!r} already; keep one row.")
        found[segment] = name
    _check(found, truth, table.label)
    return found


def _check(into: Mapping[str, str], truth: Truth, label: str) -> None:
    """Refuse what would count people twice, or take another segment's name."""
    categories: dict[str, tuple[str, str]] = {}
    for segment, name in into.items():
        category = truth.segments[truth.segment_codes[segment]].category
        first, other = categories.setdefault(name, (segment, category))
        if other != category:
            raise InputError(
                f"{label}: {first!r} of category {other!r} and {segment!r} of category {category!r} both go into "
                f"{name!r}; the same people are in both, so merge segments of one category."
            )
        if name in truth.segment_codes and name not in into:
            raise InputError(
                f"{label}: {name!r} is a segment that is not merged; add a row for it, or take another name."
            )


def merged(truth: Truth, into: Mapping[str, str]) -> Merged:
    """The survey with merged segments; the others stay as they are."""
    if not into:
        return Merged(truth, truth, np.arange(len(truth)))
    segments: dict[str, Segment] = {}
    for one in truth.segments:
        name = into.get(one.id, one.id)
        before = segments.get(name)
        label = one.label if name == one.id else name
        segments[name] = Segment(name, label, one.category, one.n + (before.n if before else 0))
    codes = {name: code for code, name in enumerate(segments)}
    segment = np.array([codes[into.get(one.id, one.id)] for one in truth.segments], dtype=np.int64)[truth.segment]
    places, cell = np.unique(segment * len(truth.questions) + truth.question, return_inverse=True)
    n, shares = np.bincount(cell, truth.n), np.zeros((len(places), truth.shares.shape[1]))
    np.add.at(shares, cell, truth.n[:, None] * truth.shares)
    sums = None if truth.sums is None else np.bincount(cell, truth.n * truth.sums) / n
    many, made = len(into), len(set(into.values()))
    note = f"{many} segments merged into {made}: respondents added, predictions weighted by them"
    coarser = replace(
        truth,
        segments=tuple(segments.values()),
        question=places % len(truth.questions),
        segment=places // len(truth.questions),
        shares=shares / shares.sum(axis=1, keepdims=True),
        n=n.astype(np.int64),
        notes=(*truth.notes, note),
        sums=sums,
    )
    return Merged(coarser, truth, np.asarray(cell, dtype=np.int64))


def merged_round(other: Truth, into: Mapping[str, str]) -> Truth:
    """Another round with the same segments merged; without those of which it lacks a part."""
    lacking = {name for segment, name in into.items() if segment not in other.segment_codes}
    gone = [code for segment, code in other.segment_codes.items() if into.get(segment, segment) in lacking]
    kept = ~np.isin(other.segment, gone)
    if not kept.any():
        raise InputError(f"{other.source}: it has no part of the merged segments; leave out the other round.")
    left = other.only(kept) if gone else other
    own = {segment: name for segment, name in into.items() if segment in left.segment_codes}
    return merged(left, own).truth
