"""Validation losses of a training log: of which set, and whether they are those of a language model."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from assay.data.training_logs import Series, TrainingLog
from assay.errors import InputError, UsageError

#: What trainers log only of models that predict tokens: then a loss is per token, and its exponential a perplexity.
_OF_TOKENS = frozenset(("mean_token_accuracy", "eval_mean_token_accuracy", "perplexity", "eval_perplexity"))
_NAMED = re.compile(r"(?:eval|valid|validation|val)_(.+)_loss")


def set_name(column: str) -> str | None:
    """The name of the validation set whose loss this is: NAME of eval_NAME_loss."""
    found = _NAMED.fullmatch(column)
    return None if found is None else found[1]


def predicts_tokens(columns: Iterable[str]) -> bool | None:
    """Whether the columns say so; ``None`` where they do not."""
    return True if any(column in _OF_TOKENS for column in columns) else None


def deciding(plain: Series, sets: Mapping[str, Series]) -> tuple[Series, str | None]:
    """The loss that a run is judged by, and its name: the one without a name, else the first."""
    first = next(iter(sets), None)
    return (plain, None) if len(plain) or first is None else (sets[first], first)


def judged_by(logs: Sequence[TrainingLog], name: str | None) -> list[TrainingLog]:
    """The logs with the validation set that was asked for; without one, all must be judged by the same."""
    if name is not None:
        return [_chosen(log, name) for log in logs]
    found = {log.valid_name: log for log in logs if len(log.valid)}
    if len(found) > 1:
        (one, a), (two, b) = list(found.items())[:2]
        raise InputError(
            f"{a.label} and {b.label} have different validation losses ({_column(one)} and {_column(two)}), which do "
            "not compare; name one that all have: --validation NAME."
        )
    return list(logs)


def _chosen(log: TrainingLog, name: str) -> TrainingLog:
    if not log.valid_sets and not len(log.valid):
        return log  # it has none at all: not measured
    if name not in log.valid_sets:
        known = ", ".join(log.valid_sets) or "none with a name"
        raise UsageError(f"{log.label}: no validation set {name!r}; it has {known}.")
    return replace(log, valid=log.valid_sets[name], valid_name=name)


def _column(name: str | None) -> str:
    return "eval_loss" if name is None else f"eval_{name}_loss"


def note_of(log: TrainingLog) -> str | None:
    """Which of several validation sets decides."""
    if not log.valid_sets:
        return None
    names, own = ", ".join(log.valid_sets), _column(log.valid_name)
    many = "1 named validation set" if len(log.valid_sets) == 1 else f"{len(log.valid_sets)} named validation sets"
    return f"{many} ({names}): all are shown, and {own} decides; --validation NAME changes it"
