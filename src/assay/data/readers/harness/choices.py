"""Which metric, filter and scorer each task has: one for all, or its own, as ``arc=acc_norm,gsm8k=exact_match``.

A part TASK=NAME is of a task, a group of tasks or a pattern; a part without a task is of all others. Tasks of which
nothing is said have the only one there is, or are refused with what would choose.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from assay.data.metrics import UNITS
from assay.data.readers import Selection
from assay.data.readers.harness import Log, Rows, SeveralChoicesError
from assay.errors import InputError
from assay.names import argument, listed

PICKED = ("metric", "filter", "scorer")
_NO_FILTER = "none"  # as lm-eval calls it
Parts = Sequence[tuple[Log, Rows]]


def belongs(log: Log, asked: str) -> bool:
    """Whether a log is of a task, of a group of tasks, or fits a pattern."""
    return bool(log.task) and (log.task == asked or asked in log.groups or fnmatchcase(log.task, asked))


def for_task(selection: Selection, log: Log, logs: Sequence[Log]) -> Selection:
    """The selection with what it says of the task of this log."""
    metric, filter_, scorer = (_own(getattr(selection, name), log, logs) for name in PICKED)
    return replace(selection, metric=metric, filter=filter_, scorer=scorer)


def _own(text: str | None, log: Log, logs: Sequence[Log]) -> str | None:
    if text is None or "=" not in text:
        return text
    pairs = [[piece.strip() for piece in part.partition("=")] for part in text.split(",")]
    if not any(equals and any(belongs(one, tasks) for one in logs) for tasks, equals, _ in pairs):
        return text  # a name that has the sign in it
    own = [name for tasks, equals, name in pairs if equals and belongs(log, tasks)]
    return own[0] if own else next((name for name, equals, _ in pairs if not equals), None)


def one_text(chosen: Mapping[str, str]) -> str:
    """What each task has in one text: a single name, or the one that most have, and the tasks that have another.

    >>> one_text({"arc": "acc", "boolq": "acc", "gsm8k": "exact_match"})
    'acc,gsm8k=exact_match'
    """
    counts = Counter(sorted(chosen.values()))
    usual = max(counts, key=counts.__getitem__)
    return ",".join([usual, *(f"{task}={name}" for task, name in chosen.items() if name != usual)])


# ------------------------------------------------------------------------------------------------------- every measure

Measures = dict[str, tuple[Selection, list[int]]]  # by what people call it: how to read it, and the logs that have it


def every_measure(logs: Sequence[Log], selection: Selection) -> Measures:
    """Every metric (filter, scorer) and which logs have it; empty where each has a single one, of one kind."""
    own = [_measures(log, for_task(selection, log, logs)) for log in logs]
    losses = {measure.metric is None and measure.scorer is None for measures in own for measure in measures}
    if all(len(measures) == 1 for measures in own) and len(losses) == 1:
        return {}
    found: dict[Selection, list[int]] = {}
    for place, measures in enumerate(own):
        for measure in measures:
            found.setdefault(measure, []).append(place)
    names = _names_of_measures(list(found))
    return {name: (measure, found[measure]) for name, measure in zip(names, found, strict=True)}


def _measures(log: Log, selection: Selection) -> list[Selection]:
    """The measures of a log; one that has none is refused as it would be alone."""
    found = log.measures(selection)
    if not found:
        log.rows(selection, None)
    return found or [selection]


def _names_of_measures(measures: Sequence[Selection]) -> list[str]:
    """The metric, with filter and scorer where these differ."""
    several = [name for name in PICKED[1:] if len({getattr(one, name) for one in measures}) > 1]
    named = []
    for one in measures:
        told = [getattr(one, name) for name in several]
        parts = [one.metric, *(name for name in told if name != _NO_FILTER)]
        first, *others = [part for part in parts if part is not None] or ["perplexity"]
        named.append(f"{first} ({', '.join(others)})" if others else first)
    return named


# ------------------------------------------------------------------------------------------------------------ refusals


def choose_each(where: str, several: Mapping[str, SeveralChoicesError], parts: Parts) -> InputError:
    """The error for tasks with several metrics, filters or scorers, with arguments that choose one for each."""
    told, picks = [], {}
    for what in PICKED:
        own = {task: error for task, error in several.items() if error.what == what}
        if own:
            told += _told(own)
            known = _known(what, parts) if len(own) == len(several) else None
            picks[what] = _shortest({task: error.names for task, error in own.items()}, known)
    return InputError(
        f"{where}: {' and '.join(told)}; choose for each task, such as {argument('Selection', **picks)}, or leave "
        "tasks out with `Selection(task=...)`."
    )


def _told(several: Mapping[str, SeveralChoicesError]) -> list[str]:
    """``2 metrics (acc, acc_norm) of arc, boolq``, for each set of names."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for task, error in several.items():
        found.setdefault((error.word, error.names), []).append(task)
    return [f"{len(names)} {word}s ({listed(names, 40)}) of {listed(tasks)}" for (word, names), tasks in found.items()]


def _known(what: str, parts: Parts) -> dict[str, str]:
    """What the other tasks have, as far as they have any."""
    return {log.task: name for log, rows in parts if (name := getattr(rows.measure, what)) is not None}


def _shortest(several: Mapping[str, Sequence[str]], known: Mapping[str, str] | None) -> str:
    """A text that chooses one for each task: only for these or, where all others are known, one with exceptions."""
    each = ",".join(f"{task}={names[0]}" for task, names in several.items())
    if known is None:
        return each
    counts = Counter(name for names in several.values() for name in names)
    usual = max(sorted(counts), key=counts.__getitem__)
    others = {task: names[0] for task, names in several.items() if usual not in names}
    others |= {task: name for task, name in known.items() if name != usual}
    whole = ",".join([usual, *(f"{task}={name}" for task, name in others.items())])
    return min(whole, each, key=len)


def check_alike(where: str, parts: Parts) -> None:
    """Refuse tasks that have no common total: losses beside scores, or scores of which lower and higher are better."""
    kinds = {log.task: rows.kind for log, rows in parts}
    if len(set(kinds.values())) > 1:
        raise _apart(where, {kind: [task for task, own in kinds.items() if own == kind] for kind in UNITS})
    lower = {log.task: rows.lower_is_better for log, rows in parts}
    if True in lower.values() and len(set(lower.values())) > 1:
        words = {True: "scores of which lower is better", False: "scores of which higher is better"}
        raise _apart(
            where, {word: [task for task, own in lower.items() if bool(own) is way] for way, word in words.items()}
        )


def _apart(where: str, kinds: Mapping[str, Sequence[str]]) -> InputError:
    told = " beside ".join(f"{what} ({listed(tasks)})" for what, tasks in kinds.items())
    most = max(kinds.values(), key=len)
    return InputError(
        f"{where}: {told}, and no total has both; choose tasks that measure alike, such as "
        f"{argument('Selection', task=','.join(most))}."
    )
