"""Is B different from A? Two systems on the same units: an interval, a test, a verdict."""

from collections.abc import Mapping, Sequence
from typing import Unpack

from assay.analyses.compare.comparing import assumptions_of, compare_panel, nothing_paired
from assay.analyses.compare.reading import Asked, pooled
from assay.analyses.compare.result import Comparison
from assay.data import Panel, Selection
from assay.data.pairing import system_names
from assay.data.runs.rates import Size, check_per
from assay.data.sources import Source
from assay.design import Design, DesignFields, Missing, as_given
from assay.errors import NoPairsError, UsageError

__all__ = ["assumptions_of", "compare", "compare_panel", "pooled"]


def compare(
    a: Source | Panel,
    b: Source | None = None,
    *,
    design: Design | None = None,
    models: tuple[str | None, str | None] = (None, None),
    names: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    split: str | None = None,
    missing: Missing = "drop",
    lower_is_better: bool | None = None,
    selection: Selection | None = None,
    per: Size | None = None,
    at: int | None = None,
    every: bool = False,
    population: int | None = None,
    **settings: Unpack[DesignFields],
) -> Comparison:
    """Compare two systems on the units they share.

    ``a`` and ``b`` are files, logs of a harness, mappings of columns, data frames or tables, or the scores themselves:
    arrays, lists and Series, paired by their index or by position, where NaN is a missing answer. One source may hold
    both ``models``, in a column ``model``, in a column each, or as the columns of an array. ``names`` is what the two
    are called. ``selection`` says which results of a harness are meant. ``per`` compares bits per byte or character of
    whole documents, also of models whose tokens differ. ``a`` may be a `Panel` instead, of two systems or with the
    names of two as ``models``; runs of a model are averaged, and ``per`` needs the label ``document``. Units that one
    of the two lacks are left out; ``missing`` may count them as 0 (``"zero"``) or refuse them (``"refuse"``). The
    fields of a design (``level``, ``method``, ``test``, …) may be given as keywords instead of a ``design``.

    >>> compare([1, 0, 0, 1, 0, 0, 1, 0], [1, 1, 1, 1, 1, 0, 1, 1], names=("old", "new"), level=0.9).difference.value
    0.5

    >>> before = {"window": [1, 2], "tokens": [512, 256], "loss": [3.688879454, 5.393627546]}  # perplexities 40 and 220
    >>> after = {"window": [1, 2], "tokens": [512, 256], "loss": [3.63758616, 5.560681631]}  # perplexities 38 and 260
    >>> found = compare(before, after)
    >>> round(found.ratio.value, 4)
    1.0217

    ``at=k`` compares pass@k of items with several attempts that are right or wrong, the chance that one of k is right;
    with ``every`` pass^k, that all k are. Items with fewer attempts are left out. Arrays are then of items × attempts.

    >>> a, b = [[1, 0], [0, 0], [1, 1], [0, 1]], [[1, 1], [0, 1], [1, 1], [0, 0]]
    >>> compare(a, b, at=2).difference.value, compare(a, b, at=2, every=True).difference.value
    (0.0, 0.25)

    ``population`` is the number of units in all, where these are a random part of a fixed set and the question is about
    that set: the error is then √(1 − n/N) of what it would be, and 0 where all are there.

    >>> some = compare([0] * 40, [1] * 8 + [0] * 32)
    >>> part = compare([0] * 40, [1] * 8 + [0] * 32, population=50)
    >>> round(some.difference.interval.low, 3), round(part.difference.interval.low, 3)
    (0.095, 0.15)

    The estimate is the exponential of the token-weighted mean difference of log-losses, not a ratio of mean
    perplexities, which would be 1.12 here.

    >>> from assay import Panel
    >>> panel = Panel.from_arrays([[1, 1], [0, 1], [0, 1], [1, 0]], systems=["A", "B"])
    >>> compare(panel).difference.value
    0.25

    Where no unit is in both tables every number of the record is ``None`` with a reason, never 0; with
    ``missing="refuse"`` it is an error, as on the command line.
    """
    design = as_given("compare", Design, design, settings)
    check_per(per, cluster=cluster, lower_is_better=lower_is_better)
    if every and at is None:
        raise UsageError("`every` says that all of k attempts must be right; say how many with `at=k`.")
    asked = Asked(models, names, columns, cluster, split, missing, lower_is_better, selection, per)
    if at is not None and population is not None:
        raise UsageError("`population` is about units that were answered once; leave out `at`, or `population`.")
    if at is not None:
        from assay.analyses.compare.attempts import compare_attempts  # late: most results have one attempt

        return compare_attempts(a, b, asked, at, design, every=every)
    if isinstance(a, Panel):
        panel, runs = asked.two(a, b)
        return compare_panel(pooled(panel), design, charts=True, runs=runs, population=population)
    return _compare_sources(a, b, asked, design, population)


def _compare_sources(a: Source, b: Source | None, asked: Asked, design: Design, population: int | None) -> Comparison:
    tables = asked.tables(a, b)
    try:
        panel = asked.paired(tables)
    except NoPairsError as nothing:
        if asked.missing == "refuse":
            raise
        names = system_names(tables, asked.names_of(tables))
        return nothing_paired(tables, names, str(nothing), design, asked.per)
    runs = asked.runs(tables, panel)
    return compare_panel(pooled(panel), design, charts=True, runs=runs, population=population)
