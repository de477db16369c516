"""What the cells of a table must be: numbers within their rules, ids that occur once, answers and lost answers."""

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from math import prod

import numpy as np
from msgspec import Struct

from assay.data.readers import RowSource
from assay.data.tables import SPLITS, Labels
from assay.data.text_columns import TextColumn
from assay.errors import InputError
from assay.names import argument, shown
from assay.stats.rounding import WHOLE
from assay.stats.units import Floats, Integers, Truths

_LOOKED_AT = 20  # rows with larger numbers than are sure to be exact: each is asked for by itself
NAMED = 3  # how many of the rows that repeat an id a message names


class NumberRule(Struct, frozen=True):
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
    "score": NumberRule(np.isfinite, "must be finite", "write a number, or true or false"),
    "weight": NumberRule(lambda x: x > 0, "must be positive", "give the item a weight above 0, or take the row out"),
}


def check_number(source: RowSource, name: str, column: str, values: Floats) -> None:
    """Refuse values that are missing, not numbers, not finite, or break the rule of our column ``name``."""
    rule = RULES[name]
    good = np.isfinite(values) & rule.holds(values)
    if good.all():
        _check_digits(source, name, column, values)
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


def _check_digits(source: RowSource, name: str, column: str, values: Floats) -> None:
    """Refuse whole numbers that would become others: a difference of 1 between two of them would be none."""
    if not len(values) or max(float(values.max()), -float(values.min())) <= WHOLE:
        return
    for row in (np.flatnonzero(np.abs(values) > WHOLE)[:_LOOKED_AT] + 1).tolist():
        text = source.cell(column, row).strip()
        if text.lstrip("+-").isdecimal() and int(text) != int(values[row - 1]):
            what = f"{name} {shown(text)} has more digits than can be computed with"
            less = "subtract one number from all scores, or " if name == "score" else ""
            raise _refused(source, row, column, what, f"{less}write {float(text):g}")


def check_texts(source: RowSource, column: str, values: TextColumn) -> None:
    """Refuse missing or blank cells."""
    blank = values.first_blank()
    if blank is not None:
        raise _refused(source, blank + 1, column, "the cell is empty", "fill it in or take the row out")


def check_split(source: RowSource, column: str, names: tuple[str, ...], codes: Integers) -> None:
    """Refuse split labels other than preview and final."""
    known = np.array([name in SPLITS for name in names])[codes]
    if not known.all():
        row = int(np.argmin(known)) + 1
        what = f"split must be preview or final, but got {shown(names[codes[row - 1]])}"
        raise _refused(source, row, column, what, "correct the cell")


def check_unique(
    source: RowSource,
    column: str,
    ids: TextColumn,
    groups: Mapping[str, Labels | None],
    *,
    right_or_wrong: Callable[[], bool] = lambda: False,
) -> None:
    """Refuse duplicate ids within a model, split and run (``None``: the file has no such column).

    Of scores that are ``right_or_wrong`` they may be attempts, which there is an option for.
    """
    if _same_in_blocks(ids, groups) or ids.unique:
        return
    again = repeated_rows(ids, groups)
    if not again.size:
        return
    again = again[np.argsort(again[:, 0])]
    pairs = list(zip(*again[:NAMED].T.tolist(), strict=True))
    raise _repeated(source, column, ids, groups, pairs, len(again), right_or_wrong=right_or_wrong())


def _same_in_blocks(ids: TextColumn, groups: Mapping[str, Labels | None]) -> bool:
    """Whether models, splits and runs stand one after the other, each with the ids of the first in their order.

    Then only the ids of the first have to be told apart: of 20 million rows of 200 models 100,000.
    """
    told = [labels for labels in groups.values() if labels is not None]
    if not told or not len(ids):
        return False
    changes = np.logical_or.reduce([labels.codes[1:] != labels.codes[:-1] for labels in told])
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1))
    size = len(ids) // len(starts)
    if len(starts) < 2 or len(starts) > prod(len(labels.names) for labels in told):
        return False
    if len(ids) != size * len(starts) or (starts != size * np.arange(len(starts))).any():
        return False
    kinds = {tuple(kind) for kind in np.stack([labels.codes[starts] for labels in told], axis=1).tolist()}
    first = ids[:size]
    same = len(kinds) == len(starts) and all(first.same(ids[low : low + size]) for low in starts[1:].tolist())
    return same and first.unique


def repeated_rows(ids: TextColumn, groups: Mapping[str, Labels | None]) -> Integers:
    """(m, 2) The rows that repeat an id of their group, each with the first row that has it."""
    keys = [ids.ranks, *(labels.codes for labels in groups.values() if labels is not None)]
    order = np.lexsort(keys) if len(keys) > 1 else ids.sorted.order  # equal ids stay in the order of the file
    starts = np.logical_or.reduce([key[order][1:] != key[order][:-1] for key in keys])
    starts = np.concatenate(([True], starts))
    if starts.all():
        return np.empty((0, 2), dtype=np.int64)
    firsts = order[np.flatnonzero(starts)][np.cumsum(starts) - 1]  # for each row in this order, the first of its kind
    return np.column_stack((order, firsts))[~starts]


def _repeated(
    source: RowSource,
    column: str,
    ids: TextColumn,
    groups: Mapping[str, Labels | None],
    pairs: list[tuple[int, int]],
    many: int,
    *,
    right_or_wrong: bool,
) -> InputError:
    """Name the first few rows that repeat an id, each with the row that had it first."""
    places = iter(source.places([row + 1 for pair in pairs for row in pair]))
    found = [(f"{shown(ids[later])}{_within(groups, later)}", next(places), next(places)) for later, _ in pairs]
    (name, here, there), *more = found
    others = [f"{what} ({at}, first in {first})" for what, at, first in more]
    if many > len(found):
        others.append(f"{many - len(found):,} more rows")
    also = f"; so are {' and '.join(others) if len(others) < 3 else ', '.join(others)}" if others else ""
    then = _told_apart([name for name, labels in groups.items() if labels is None], right_or_wrong=right_or_wrong)
    return InputError(f"{source.label}, {here}, column {column!r}: {name} is in {there} already{also}; {then}.")


def _told_apart(lacking: list[str], *, right_or_wrong: bool) -> str:
    """What to do about rows of one id, by the columns that the file does not have."""
    ways = ["keep one of each"]
    if lacking:
        ways.append(f"tell them apart with a column {' or '.join(map(repr, lacking))}")
    if right_or_wrong and "run" in lacking:
        ways.append("take them as attempts at one item with `at=1` (summarize, compare)")
    return " or ".join(ways) if len(ways) < 2 else f"{', '.join(ways[:-1])}, or {ways[-1]}"


def _within(groups: Mapping[str, Labels | None], row: int) -> str:
    """Of which model, split and run."""
    told = [f"{name} {shown(labels.names[labels.codes[row]])}" for name, labels in groups.items() if labels is not None]
    return f" of {', '.join(told)}" if told else ""


def _refused(source: RowSource, row: int, column: str, what: str, then: str) -> InputError:
    return InputError(f"{source.label}, {source.places([row])[0]}, column {column!r}: {what}; {then}.")


# ------------------------------------------------------------------------------------------------------------- answers

#: Scores in words, whatever their case.
WORDS = {
    **dict.fromkeys(("true", "yes", "correct", "pass", "passed", "right"), 1.0),
    **dict.fromkeys(("false", "no", "incorrect", "fail", "failed", "wrong"), 0.0),
}
#: What stands in a cell of scores where there is none.
_NO_ANSWER = ("", "null", "none", "nan", "n/a", "na", "-", "unparsed", "unparseable", "unscored", "not judged")
#: What a harness writes where it failed itself, in a cell of scores or of a status.
_FAILED = (
    *("*error*", "*exception*", "*timeout*", "*timed out*", "*timed_out*", "*crash*", "*cancel*", "*abort*"),
    *("*interrupt*", "*unparse*", "*rate*limit*"),
)
#: What stands in a column of errors where there was none.
_NO_ERROR = frozenset({"", "0", "false", "no", "none", "null", "nan", "{}", "[]", "ok", "success", "unset", "n/a"})


def failed(text: str) -> bool:
    """Whether a status says that no answer was judged; a wrong answer is no failure of the harness.

    >>> failed("Timed out"), failed("failed"), failed("success")
    (True, False, False)
    """
    plain = text.strip().casefold()
    return any(fnmatchcase(plain, pattern) for pattern in _FAILED)


def errors_in(column: str, texts: TextColumn) -> Truths:
    """(rows,) Where a column of errors, or of states, tells of one."""
    tells: Callable[[str], bool]
    state = column.rpartition(".")[2].casefold() in ("status", "state")
    tells = failed if state else lambda text: text.strip().casefold() not in _NO_ERROR
    names, codes = texts.coded()
    return np.array([tells(name) for name in names], dtype=np.bool_)[codes]


class ReadScores(Struct, frozen=True, eq=False):
    """Scores as they are in a file: which words were read as numbers, and which rows hold no answer."""

    values: Floats  # (rows,) 0 where there is no answer
    lost: Truths  # (rows,)
    words: tuple[str, ...]  # that were read as 1 or 0, without true and false
    other: Truths  # (rows,) cells that are none of these


def answers_in(source: RowSource, column: str, values: Floats) -> ReadScores:
    """Look at the cells of a column of scores that are no numbers."""
    unread = np.flatnonzero(np.isnan(values))
    lost, other, found = (np.zeros(len(values), dtype=bool), np.zeros(len(values), dtype=bool), values.copy())
    words: dict[str, None] = {}
    if unread.size:
        (texts,) = source.read([(column, "text")])
        for row in unread.tolist():
            plain = str(texts[row]).strip().casefold()
            if plain in WORDS:
                found[row], words[plain] = WORDS[plain], None
                continue
            found[row] = 0.0
            lost[row] = plain in _NO_ANSWER or failed(plain)
            other[row] = not lost[row]
    return ReadScores(found, lost, tuple(word for word in words if word not in ("true", "false")), other)


def holds_scores(source: RowSource, columns: list[str]) -> list[str]:
    """Those of some columns that hold scores and nothing else: numbers, words for them, or no answer."""
    found = []
    for column, values in zip(columns, source.read([(name, "score") for name in columns]), strict=True):
        answers = answers_in(source, column, values)
        if not answers.other.any() and not answers.lost.all() and np.isfinite(answers.values).all():
            found.append(column)
    return found


def worded(words: tuple[str, ...]) -> str:
    """What words were read as.

    >>> worded(("no", "yes"))
    'yes is read as 1, no as 0'
    """
    right, wrong = ([word for word in words if WORDS[word] == value] for value in (1.0, 0.0))
    parts = [f"{', '.join(some)} {number}" for some, number in ((right, "as 1"), (wrong, "as 0")) if some]
    return ", ".join(parts).replace(" as", " is read as", 1)


def check_answers(source: RowSource, column: str, answers: ReadScores) -> None:
    """Refuse cells that are neither a score nor a known way to say that there is none; and a column without any."""
    checked = np.where(answers.other, np.nan, answers.values)
    check_number(source, "score", column, checked)
    if answers.lost.all():
        other = (
            "run it again"
            if source.about
            else f"fill some in, or name another with {argument(columns={'score': 'NAME'})}"
        )
        raise InputError(f"{source.label}, column {column!r}: no row holds a score; {other}.")
