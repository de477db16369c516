"""What the values of a table must be; the first one that is not is an error that names its row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from assay.data.panel_records import Labels
from assay.data.readers import RowSource
from assay.errors import InputError
from assay.names import shown
from assay.stats.units import Floats, Integers, Texts, Truths

SPLITS = ("preview", "final")
NAMED = 3  # how many of the rows that repeat an id a message names


@dataclass(frozen=True, slots=True)
class NumberRule:
    """What a finite number in a column must be, and what to write there."""

    holds: Callable[[Floats], Truths]
    must: str
    write: str


def _whole(values: Floats) -> Truths:
    whole: Truths = (values >= 1) & (values == np.floor(values))
    return whole


def _position(values: Floats) -> Truths:
    position: Truths = (values >= 0) & (values == np.floor(values))
    return position


RULES: dict[str, NumberRule] = {
    "tokens": NumberRule(
        _whole, "must be a whole number of at least 1", "count the predicted tokens, or take the row out"
    ),
    "loss": NumberRule(
        lambda x: x >= 0, "must not be negative", "give the mean of -log p per predicted token, in nats"
    ),
    "bytes": NumberRule(
        _whole, "must be a whole number of at least 1", "count its bytes in UTF-8, or take the row out"
    ),
    "chars": NumberRule(_whole, "must be a whole number of at least 1", "count its characters, or take the row out"),
    "start": NumberRule(
        _position, "must be a whole number of at least 0", "give the window's first token in its document"
    ),
    "stop": NumberRule(_whole, "must be a whole number of at least 1", "give the token after the window's last one"),
    "score": NumberRule(lambda x: np.ones(x.shape, dtype=bool), "must be finite", "write a number, or true or false"),
    "weight": NumberRule(lambda x: x > 0, "must be positive", "give the item a weight above 0, or take the row out"),
}


def check_number(source: RowSource, name: str, column: str, values: Floats) -> None:
    """Refuse what is missing, not a number, not finite or outside the rule of our column ``name``."""
    rule = RULES[name]
    good = np.isfinite(values) & rule.holds(values)
    if good.all():
        return
    row = int(np.argmin(good)) + 1
    text = source.cell(column, row)
    if not text.strip():
        raise _refused(source, row, column, "the cell is empty", "fill it in or take the row out")
    if np.isnan(values[row - 1]) and text.strip().lstrip("+-").lower() != "nan":
        comma = "; decimals are written with a point" if "," in text else ""
        raise _refused(source, row, column, f"{shown(text)} is not a number{comma}", rule.write)
    must = rule.must if np.isfinite(values[row - 1]) else "must be finite"
    raise _refused(source, row, column, f"{name} {must}, but got {shown(text)}", rule.write)


def check_texts(source: RowSource, column: str, values: Texts) -> None:
    """Refuse what is missing or blank."""
    if not all(map(str.strip, values)):
        row = next(row for row, text in enumerate(values, start=1) if not text.strip())
        raise _refused(source, row, column, "the cell is empty", "fill it in or take the row out")


def check_split(source: RowSource, column: str, names: tuple[str, ...], codes: Integers) -> None:
    """Refuse a split that is neither preview nor final."""
    known = np.array([name in SPLITS for name in names])[codes]
    if not known.all():
        row = int(np.argmin(known)) + 1
        what = f"split must be preview or final, but got {shown(names[codes[row - 1]])}"
        raise _refused(source, row, column, what, "correct the cell")


def check_unique(source: RowSource, column: str, ids: Texts, groups: Mapping[str, Labels | None]) -> None:
    """Refuse ids that are there twice within the same model, split and run (``None``: not in the file)."""
    if len(set(ids)) == len(ids):
        return
    numbers = {text: number for number, text in enumerate(dict.fromkeys(ids))}
    keys = [np.fromiter(map(numbers.__getitem__, ids), np.int64, len(ids))]
    keys.extend(labels.codes for labels in groups.values() if labels is not None)
    order = np.lexsort(keys)  # stable: rows with the same keys stay in the order of the file
    starts = np.logical_or.reduce([key[order][1:] != key[order][:-1] for key in keys])
    if starts.all():
        return
    groups_of = np.concatenate(([0], np.cumsum(starts)))
    firsts = order[np.searchsorted(groups_of, groups_of)]  # for each row in this order, the first of its kind
    again = np.flatnonzero(firsts != order)
    again = again[np.argsort(order[again])]
    pairs = list(zip(order[again[:NAMED]].tolist(), firsts[again[:NAMED]].tolist(), strict=True))
    raise _repeated(source, column, ids, groups, pairs, len(again))


def _repeated(
    source: RowSource,
    column: str,
    ids: Texts,
    groups: Mapping[str, Labels | None],
    pairs: list[tuple[int, int]],
    many: int,
) -> InputError:
    """Name the first few rows that repeat an id, each with the row that has it already."""
    places = iter(source.places([row + 1 for pair in pairs for row in pair]))
    found = [(f"{shown(ids[later])}{_within(groups, later)}", next(places), next(places)) for later, _ in pairs]
    (name, here, there), *more = found
    others = [f"{what} ({at}, first in {first})" for what, at, first in more]
    if many > len(found):
        others.append(f"{many - len(found):,} more rows")
    also = f"; so are {' and '.join(others) if len(others) < 3 else ', '.join(others)}" if others else ""
    lacking = " or ".join(repr(name) for name, labels in groups.items() if labels is None)
    then = "keep one of each" + (f", or tell them apart with a column {lacking}" if lacking else "")
    return InputError(f"{source.label}, {here}, column {column!r}: {name} is in {there} already{also}; {then}.")


def _within(groups: Mapping[str, Labels | None], row: int) -> str:
    """Of which model, split and run."""
    told = [f"{name} {shown(labels.names[labels.codes[row]])}" for name, labels in groups.items() if labels is not None]
    return f" of {', '.join(told)}" if told else ""


def _refused(source: RowSource, row: int, column: str, what: str, then: str) -> InputError:
    return InputError(f"{source.label}, {source.places([row])[0]}, column {column!r}: {what}; {then}.")
