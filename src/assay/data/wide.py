"""Tables with a column per model: ``--columns item=question_id,score=*``."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from assay.errors import InputError
from assay.names import listed

_WHOLE = ("item", "cluster", "weight", "run", "model", "doc_hash")  # columns that are no model's under our own names


def columns_by_model(
    label: str, columns: Sequence[str], mapping: Mapping[str, str], cluster: str | None
) -> dict[str, dict[str, str]] | None:
    """For each column that the pattern of ``score`` means, the mapping that reads it; ``None`` where it is no pattern.

    >>> columns_by_model("table", ["id", "topic", "m1", "m2"], {"item": "id", "score": "m*"}, None)
    {'m1': {'item': 'id', 'score': 'm1'}, 'm2': {'item': 'id', 'score': 'm2'}}
    """
    pattern = mapping.get("score", "")
    if not any(sign in pattern for sign in "*?") or pattern in columns:
        return None
    taken = {theirs for ours, theirs in mapping.items() if ours != "score"} | {cluster} | set(_WHOLE)
    models = [name for name in columns if fnmatchcase(name, pattern) and name not in taken]
    if not models:
        raise InputError(f"{label}: no column is like score={pattern} among {listed(columns)}; name another pattern.")
    return {model: {**mapping, "score": model} for model in models}
