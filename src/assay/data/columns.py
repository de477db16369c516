"""The columns of each kind of table: which column of a file is which, and what its values must be."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from assay.data.metrics import UNITS, Kind
from assay.data.readers import RowSource
from assay.data.tables import SPLITS, Labels
from assay.errors import InputError, UsageError
from assay.names import argument, listed, nearest, shown
from assay.stats.units import Floats, Integers, Texts, Truths

REQUIRED: dict[Kind, tuple[str, ...]] = {"losses": ("window", "tokens", "loss"), "scores": ("item", "score")}
OPTIONAL: dict[Kind, tuple[str, ...]] = {
    "losses": ("model", "document", "split", "bytes", "chars", "start", "stop", "doc_hash"),
    "scores": ("model", "cluster", "weight", "run", "doc_hash"),
}
#: An id may occur once in each of these.
GROUPS: dict[Kind, tuple[str, ...]] = {"losses": ("model", "split"), "scores": ("model", "run")}
OURS = tuple(dict.fromkeys(name for kind in UNITS for name in REQUIRED[kind] + OPTIONAL[kind]))

#: A name this similar to one of ours is taken for a slip of the pen, not for a column of the user's own.
SIMILAR = 0.8
_WHOLE = ("item", "cluster", "weight", "run", "model", "doc_hash")  # columns that are no model's under our own names


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """Which of our columns a table has, what the file calls them, and which columns are unused."""

    kind: Kind
    columns: dict[str, str]  # our name → the file's
    cluster: str | None  # the column of the file that was named as the cluster
    unused: tuple[str, ...]


def layout_of(
    label: str, columns: tuple[str, ...], mapping: Mapping[str, str], kind: Kind | None, cluster: str | None
) -> ColumnLayout:
    """Find our columns among a file's; name what is missing, ambiguous or misspelt."""
    check_keys(mapping)
    _check_mapped(label, columns, mapping)
    found = _found(columns, mapping)
    kind = kind or _kind(label, columns, found, mapping)
    _check_complete(label, columns, found, kind)
    _check_kind_of_keys(mapping, kind)
    used = {name: found[name] for name in REQUIRED[kind] + OPTIONAL[kind] if name in found}
    named = None if cluster is None else _cluster(label, columns, used, cluster)
    taken = {*used.values()} | ({named} if named else set())
    check_once(label, columns, taken)
    unused = tuple(name for name in columns if name and name not in taken)
    _check_spelling(label, unused, [name for name in OPTIONAL[kind] if name not in used and name not in mapping])
    return ColumnLayout(kind, used, named, unused)


def check_once(label: str, columns: tuple[str, ...], taken: Iterable[str]) -> None:
    """Refuse duplicate column names among the columns used."""
    for name in taken:
        if columns.count(name) > 1:
            raise InputError(f"{label}: {columns.count(name)} columns are called {name!r}; rename all but one.")


def check_keys(mapping: Mapping[str, str], names: Sequence[str] = OURS) -> None:
    """Refuse a mapping with a name that is not one of our columns."""
    for ours in mapping:
        if ours not in names:
            close = nearest(ours, names)
            example = argument(columns={"score" if "score" in names else names[-1]: "NAME"})
            hint = f"did you mean {close!r}?" if close else f"{example} reads the column NAME as ours."
            raise UsageError(f"`columns` must name one of {', '.join(names)}, but got {ours!r}; {hint}")


def _check_mapped(label: str, columns: tuple[str, ...], mapping: Mapping[str, str]) -> None:
    for ours, theirs in mapping.items():
        if theirs and theirs not in columns:
            close = nearest(theirs, columns)
            hint = f"did you mean {argument(columns={ours: close})}?" if close else "name one of them with `columns`."
            raise InputError(f"{label}: no column {theirs!r} for {ours!r} among its columns {listed(columns)}; {hint}")


def _check_kind_of_keys(mapping: Mapping[str, str], kind: Kind) -> None:
    for ours in mapping:
        if mapping[ours] and ours not in REQUIRED[kind] + OPTIONAL[kind]:
            hint = f"; use {argument(cluster=mapping[ours])} instead" if ours == "cluster" else ""
            own = ", ".join(REQUIRED[kind] + OPTIONAL[kind])
            raise UsageError(f"`columns` must name a column of a table of {kind} ({own}), but got {ours!r}{hint}.")


def _found(columns: tuple[str, ...], mapping: Mapping[str, str]) -> dict[str, str]:
    """Our name → the file's: as mapped, or under our own name unless that column was mapped to something else."""
    found = {ours: theirs for ours, theirs in mapping.items() if theirs}
    claimed = set(found.values())
    found.update({ours: ours for ours in OURS if ours not in mapping and ours in columns and ours not in claimed})
    return found


def _kind(label: str, columns: tuple[str, ...], found: Mapping[str, str], mapping: Mapping[str, str]) -> Kind:
    whole: list[Kind] = [kind for kind in UNITS if all(name in found for name in REQUIRED[kind])]
    if len(whole) == 2:
        # What was mapped by hand says which of the two is meant.
        whole = [kind for kind in whole if any(name in REQUIRED[kind] for name in mapping)]
    if len(whole) == 1:
        return whole[0]
    if any(all(name in found for name in REQUIRED[kind]) for kind in UNITS):
        raise InputError(
            f"{label}: both losses (window, tokens, loss) and scores (item, score) among its columns {listed(columns)};"
            " say which is meant, with `columns={'loss': 'loss'}` or `columns={'score': 'score'}`."
        )
    # Nothing fits: ask for what is missing of the kind that is nearest, or of scores, which need less.
    return min(reversed(UNITS), key=lambda kind: _distance(columns, found, kind))


def _distance(columns: tuple[str, ...], found: Mapping[str, str], kind: Kind) -> float:
    missing = [name for name in REQUIRED[kind] if name not in found]
    near = [name for name in missing if nearest(name, columns, SIMILAR)]
    return (len(missing) - 0.5 * len(near)) / len(REQUIRED[kind])


def _check_complete(label: str, columns: tuple[str, ...], found: Mapping[str, str], kind: Kind) -> None:
    missing = [name for name in REQUIRED[kind] if name not in found]
    if not missing:
        return
    free = [name for name in columns if name not in found.values()]
    guesses = {name: nearest(name, free) for name in missing}
    mapped = argument(columns={ours: theirs or "NAME" for ours, theirs in guesses.items()})
    hint = f"did you mean {mapped}?" if all(guesses.values()) else f"name them with {mapped}."
    if len(missing) < len(REQUIRED[kind]):
        needs = f"{kind} need {', '.join(REQUIRED[kind])}"
    else:
        needs = "losses need window, tokens, loss; scores need item, score"
    lacks = " and no ".join(missing)
    raise InputError(f"{label}: no column {lacks} among its columns {listed(columns)} ({needs}); {hint}")


def _cluster(label: str, columns: tuple[str, ...], used: Mapping[str, str], cluster: str) -> str:
    name = used.get(cluster, cluster)
    if name not in columns:
        close = nearest(cluster, columns)
        hint = f"did you mean {argument(cluster=close)}?" if close else "name one of them with `cluster`."
        raise InputError(f"{label}: no column {cluster!r} to cluster by among its columns {listed(columns)}; {hint}")
    return name


def _check_spelling(label: str, unused: tuple[str, ...], absent: list[str]) -> None:
    for name in unused:
        close = nearest(name, absent, SIMILAR)
        if close:
            raise InputError(
                f"{label}: unknown column {name!r}, which looks like {close!r}; use it as that with "
                f"{argument(columns={close: name})}, or leave it out with {argument(columns={close: ''})}."
            )


def columns_by_model(
    label: str, columns: Sequence[str], mapping: Mapping[str, str], cluster: str | None
) -> dict[str, dict[str, str]] | None:
    """The column mapping of each model when ``score`` is a pattern; ``None`` when it is not one.

    >>> columns_by_model("table", ["id", "topic", "m1", "m2"], {"item": "id", "score": "m*"}, None)
    {'m1': {'item': 'id', 'score': 'm1'}, 'm2': {'item': 'id', 'score': 'm2'}}
    """
    pattern = mapping.get("score", "")
    if not any(sign in pattern for sign in "*?") or pattern in columns:
        return None
    taken = {theirs for ours, theirs in mapping.items() if ours != "score"} | {cluster} | set(_WHOLE)
    models = [name for name in columns if fnmatchcase(name, pattern) and name not in taken]
    if not models:
        raise InputError(f"{label}: no column matches score={pattern} among {listed(columns)}; name another pattern.")
    return {model: {**mapping, "score": model} for model in models}


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
    # A window may hold nothing but the end of a character that began in the one before: no byte of its own.
    "bytes": NumberRule(_position, "must be a whole number of at least 0", "count its bytes in UTF-8"),
    "chars": NumberRule(_position, "must be a whole number of at least 0", "count its characters"),
    "start": NumberRule(
        _position, "must be a whole number of at least 0", "give the window's first token in its document"
    ),
    "stop": NumberRule(_whole, "must be a whole number of at least 1", "give the token after the window's last one"),
    "score": NumberRule(lambda x: np.ones(x.shape, dtype=bool), "must be finite", "write a number, or true or false"),
    "weight": NumberRule(lambda x: x > 0, "must be positive", "give the item a weight above 0, or take the row out"),
}


def check_number(source: RowSource, name: str, column: str, values: Floats) -> None:
    """Refuse values that are missing, not numbers, not finite, or break the rule of our column ``name``."""
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
    """Refuse missing or blank cells."""
    if not all(map(str.strip, values)):
        row = next(row for row, text in enumerate(values, start=1) if not text.strip())
        raise _refused(source, row, column, "the cell is empty", "fill it in or take the row out")


def check_split(source: RowSource, column: str, names: tuple[str, ...], codes: Integers) -> None:
    """Refuse split labels other than preview and final."""
    known = np.array([name in SPLITS for name in names])[codes]
    if not known.all():
        row = int(np.argmin(known)) + 1
        what = f"split must be preview or final, but got {shown(names[codes[row - 1]])}"
        raise _refused(source, row, column, what, "correct the cell")


def check_unique(source: RowSource, column: str, ids: Texts, groups: Mapping[str, Labels | None]) -> None:
    """Refuse duplicate ids within a model, split and run (``None``: the file has no such column)."""
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
    """Name the first few rows that repeat an id, each with the row that had it first."""
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
