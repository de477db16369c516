"""Compare pass@k or pass^k of two systems with several attempts at each item."""

from collections.abc import Sequence
from dataclasses import replace

from assay.analyses.attempts import attempts_left, attempts_of, few_attempts, passed
from assay.analyses.compare.comparing import compare_panel
from assay.analyses.compare.reading import Asked
from assay.analyses.compare.result import Comparison
from assay.analyses.contrast import check_clusters
from assay.data import Panel, Selection
from assay.data.in_memory import is_array, run_columns
from assay.data.pairing import system_names
from assay.data.readers import UNNAMED
from assay.data.sources import Source, two_names, two_systems
from assay.design import Design, Missing
from assay.errors import UsageError
from assay.names import listed


def compare_attempts(
    a: Source | Panel, b: Source | None, asked: Asked, at: int, design: Design, *, every: bool
) -> Comparison:
    """The comparison of pass@k, item by item; with ``every`` that of pass^k."""
    if isinstance(at, Sequence):
        raise UsageError(f"compare takes one number of attempts as `at`, but got {at!r}; summarize takes several.")
    if asked.per is not None:
        raise UsageError("per is about losses, and `at` about attempts that are right or wrong; leave out one.")
    runs = _named(_attempts(a, b, asked), asked.names)
    check_clusters(runs, asked.cluster)
    return _compare_passed(runs, at, design, every=every, missing=asked.missing)


def _attempts(a: Source | Panel, b: Source | None, asked: Asked) -> Panel:
    """A column for each attempt of the two models, in this order."""
    if isinstance(a, Panel):
        panel = asked.as_asked(a, b)
        return attempts_left(panel.of_models(two_names(panel, asked.models, "compare")), asked.missing)
    if b is not None and is_array(a) and is_array(b):
        return attempts_left(asked.as_asked(run_columns([a, b])), asked.missing)
    numbered = replace(asked.selection or Selection(), attempts=True)
    tables = replace(asked, selection=numbered).tables(a, b)
    own = ("A", "B") if tables[0].name == tables[1].name == UNNAMED else system_names(tables, None)
    panel = attempts_of(tables, own, asked.cluster, asked.missing)
    return replace(asked, cluster=None, columns=None, selection=None).as_asked(panel)  # those were for reading


def _named(runs: Panel, names: Sequence[str] | None) -> Panel:
    """With the models called as asked."""
    if names is None:
        return runs
    if len(names) != 2 or names[0] == names[1]:
        raise UsageError(f"names must be 2 different names, but got {listed(names)}.")
    pairs = list(zip(runs.by_model, names, strict=True))
    lost = {name: runs.lost.get(one.model, 0) for one, name in pairs}
    return replace(runs, models=tuple(replace(one, model=name) for one, name in pairs), lost=lost)


def _compare_passed(runs: Panel, k: int, design: Design, *, every: bool, missing: Missing) -> Comparison:
    found = passed(runs, k, every=every)
    panel = two_systems(found, (None, None), missing="refuse" if missing == "refuse" else "drop")
    few = few_attempts(runs, k)
    noted = replace(panel, notes=(*panel.notes, *([few] if few else [])))
    return compare_panel(noted, design, charts=True)
