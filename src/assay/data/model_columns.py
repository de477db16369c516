"""Tables with a column for each model: which columns those are, and which one names the items."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

import numpy as np

from assay.data.columns import METRICS, OPTIONAL, REQUIRED, ColumnsAsked, found_in
from assay.data.costs import COSTS
from assay.data.readers import RowSource
from assay.data.values import holds_scores
from assay.errors import InputError
from assay.names import argument, listed

#: Columns that may be models without being named: more models are in no leaderboard.
MOST_UNASKED = 200
#: Numbers of an answer that are no score of it: no model is called so.
_NOT_MODELS = re.compile(
    r"|unnamed: \d+|index|level_\d+|row|number|n|turn|year|(.*[_ ])?(latency|costs?|price|tokens?|time|seconds|secs|ms|"
    r"duration|length|len|chars|bytes|count|timestamp|tstamp|date)([_ ].*)?",
    re.IGNORECASE,
)
#: What rows are called that are models, and no items.
_NOT_ITEMS = re.compile(
    r"(.*[_ ])?(name|model|system|method|llm|checkpoint|run|config|team|submission)([_ ].*)?", re.IGNORECASE
)
_WHOLE = (
    "item",
    "cluster",
    "weight",
    "run",
    "model",
    "doc_hash",
    "task",
    "group",
    "error",
    *METRICS,
    *COSTS,
)  # columns that are no model's under our own names


#: Beside a column for each model, costs are of no model that is known.
_NO_COSTS = dict.fromkeys(COSTS, "")


def columns_by_model(source: RowSource, asked: ColumnsAsked) -> dict[str, dict[str, str]] | None:
    """The column mapping of each model where a column holds one; ``None`` for any other table.

    Such columns are those that ``score`` is a pattern of, or else all that hold scores where no column is called so.
    """
    mapping = asked.mapping
    pattern = mapping.get("score", "")
    if any(sign in pattern for sign in "*?") and pattern not in source.columns:
        taken = {theirs for ours, theirs in mapping.items() if ours != "score"} | {asked.cluster} | set(_WHOLE)
        models = [name for name in source.columns if fnmatchcase(name, pattern) and name not in taken]
        if not models:
            known = listed(source.columns)
            raise InputError(f"{source.label}: no column matches score={pattern} among {known}; name another pattern.")
        return {model: {**_NO_COSTS, **mapping, "score": model} for model in models}
    return None if pattern or "score" in mapping else _unasked(source, asked)


def _unasked(source: RowSource, asked: ColumnsAsked) -> dict[str, dict[str, str]] | None:
    """The same for a table that has no score and no model, but several columns of scores; refused without ids."""
    if asked.kind == "losses" or not asked.usual or "measure" in source.about:
        return None
    found = found_in(source, asked)
    if "score" in found or "model" in found or "loss" in found:
        return None
    taken = {*found.values(), asked.cluster}
    free = [name for name in source.columns if name not in taken]
    named = "item" in found or asked.by_row
    item = None if named or "item" in asked.mapping else _names_items(source, free)
    models = _models(source, [name for name in free if name != item and not _NOT_MODELS.fullmatch(name)])
    if len(models) < 2:
        return None
    if not named and item is None:
        raise InputError(
            f"{source.label}: {len(models)} columns of scores ({listed(models)}), but none that names the items; name "
            f"it with {argument(columns={'item': 'NAME'})}, or take each row as an item with "
            "`Selection(pair_by='row')`."
        )
    own = {ours: theirs for ours, theirs in found.items() if ours in REQUIRED["scores"] + OPTIONAL["scores"]}
    own |= {} if item is None else {"item": item}
    return {model: {**own, **_NO_COSTS, **asked.mapping, "score": model} for model in models}


def _models(source: RowSource, free: list[str]) -> list[str]:
    if len(free) > MOST_UNASKED:  # more likely a column per item, or a mistake
        raise InputError(
            f"{source.label}: no column score, and {len(free):,} columns are too many to be models unasked; name the "
            "score with `columns={'score': 'NAME'}`, or the models with a pattern, `columns={'score': '*'}`."
        )
    return holds_scores(source, free) if len(free) > 1 else []


def _names_items(source: RowSource, free: Sequence[str]) -> str | None:
    """The first column of texts that are all different, or a first column of numbers that count the rows."""
    possible = [name for name in free if name and not _NOT_ITEMS.fullmatch(name) and source.columns.count(name) == 1]
    if possible and possible[0] == source.columns[0] and _counts_rows(source, possible[0]):
        return possible[0]
    numbers = set(holds_scores(source, possible))
    return next((name for name in possible if name not in numbers and _all_different(source, name)), None)


def _counts_rows(source: RowSource, column: str) -> bool:
    (values,) = source.read([(column, "number")])
    return len(values) > 2 and bool((np.diff(values) == 1).all())


def _all_different(source: RowSource, column: str) -> bool:
    (texts,) = source.read([(column, "text")])
    return all(map(str.strip, texts)) and len(set(texts)) == len(texts)
