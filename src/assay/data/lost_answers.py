"""Lost and missing answers, scales that differ, clusters that look like tasks: refused, counted or warned of."""

from collections.abc import Mapping, Sequence

import numpy as np

from assay.data.metrics import Metric
from assay.data.panel_views import PanelViews
from assay.data.tables import Labels, Table
from assay.design import Missing, check_missing
from assay.errors import InputError, UsageError
from assay.names import argument, listed, plural

LARGER_SCALE = 10  # scores beyond this are on another scale than scores up to 1
#: Clusters are taken for tasks where they are so few, and so large.
_FEW_CLUSTERS, _LARGE_CLUSTERS = 30, 50


def answered_tables(tables: Sequence[Table], metric: Metric, missing: Missing) -> list[Table]:
    """The tables without the answers that were lost, checked for whether what is left can be compared."""
    check_missing(missing)
    check_zero(metric, missing)
    wrong = any(table.lost is not None and (table.numbers["score"][table.lost] == 0).any() for table in tables)
    if wrong and metric.lower_is_better:
        raise UsageError("`Selection(errors='wrong')` counts errors as 0, the best score where lower is better.")
    check_rows(tables)
    found = [table.answered(zero=missing == "zero") for table in tables]
    for table, left in zip(tables, found, strict=True):
        if not len(left):
            raise _all_lost(table)
        if missing == "refuse" and len(left) < len(table):
            first = table.place(int(np.argmax(np.isnan(table.numbers["score"]))))
            others = len(table) - len(left) - 1
            more = f", nor in {others:,} other row{'s' if others > 1 else ''}" if others else ""
            raise InputError(f"{first}: no answer{more}; complete the file, or leave out `missing`.")
    if not metric.lower_is_better:
        check_scales(found)
    return found


def _all_lost(table: Table) -> InputError:
    """The error for a table without any answer; what a warning of its reader says is the reason."""
    warned = next((note for note in table.notes if note.startswith("warning: ")), "")
    why = warned.removeprefix("warning: ").removeprefix(f"{table.label}: ")
    lost = f"every answer was lost to an error{f' ({why})' if why else ''}"
    return InputError(
        f"{table.label}: {lost}; see what failed, and run it again (`Selection(errors='wrong')` counts errors as 0)."
    )


def check_zero(metric: Metric, missing: Missing) -> None:
    """Refuse 0 for what is missing where 0 is no bad score."""
    if missing == "zero" and metric.lower_is_better:
        what = "a loss of 0 is perfect" if metric.kind == "losses" else "0 is the best score where lower is better"
        raise UsageError(f"`missing='zero'` is for scores of which higher is better: {what}; leave it out.")


def like_tasks(labels: Mapping[str, Labels], cluster: str | None, table: Table) -> list[str]:
    if cluster is None or table.kind != "scores":
        return []
    groups, n = len(labels[cluster].names), len(labels[cluster].codes)
    if not 1 < groups <= _FEW_CLUSTERS or n < _LARGE_CLUSTERS * groups:
        return []
    column = table.columns.get(cluster, cluster)
    task = argument(columns={"task": column})
    looks = (
        f"{groups} clusters of about {n / groups:,.0f} {table.unit}s each look like tasks, and clusters are drawn whole"
    )
    advice = f"leave {column!r} out of `cluster` ({task} keeps it as the task)"
    return [f"warning: {looks}; {advice}, unless the {table.unit}s of one belong together"]


def check_rows(tables: Sequence[Table]) -> None:
    """Refuse tables of different lengths whose rows are paired by their place."""
    if all(table.unit in table.columns for table in tables):
        return
    sizes = [int((~table.ids.sorted.repeats).sum()) for table in tables]
    if len(set(sizes)) > 1:
        told = listed(f"{table.label} has {size:,}" for table, size in zip(tables, sizes, strict=True))
        raise InputError(f"rows cannot be paired by their place where tables differ in length: {told}; give them ids.")


def check_scales(tables: Sequence[Table]) -> None:
    """Refuse scores from 0 to 1 beside scores of another size, unless files say that they are of one metric."""
    if tables[0].kind != "scores" or all(table.about.keys() & {"measure", "metric"} for table in tables):
        return
    scores = [table.numbers["score"] for table in tables]
    tops = [max(float(np.fmax.reduce(one)), -float(np.fmin.reduce(one))) for one in scores]
    small, large = int(np.argmin(np.where(np.array(tops) > 0, tops, np.inf))), int(np.argmax(tops))
    if 0 < tops[small] <= 1 and tops[large] > LARGER_SCALE:
        raise InputError(
            f"{tables[small].label} has scores up to {tops[small]:g} and {tables[large].label} up to {tops[large]:g}: "
            "scores must be on one scale; divide those in percent by 100, or leave out a column that is no score."
        )


def scales_apart(panel: PanelViews, by: str) -> str | None:
    """What is to be said of tasks on different scales, of which no mean makes sense; ``None``: they are on one."""
    if panel.kind != "scores" or panel.metric.lower_is_better:
        return None
    labels = panel.label(by)
    tops = np.zeros(len(labels.names))
    np.maximum.at(tops, labels.codes, np.nan_to_num(np.abs(panel.values)).max(axis=1))
    small, large = int(np.argmin(np.where(tops > 0, tops, np.inf))), int(np.argmax(tops))
    if not (0 < tops[small] <= 1 and tops[large] > LARGER_SCALE):
        return None
    first, second = (f"{labels.names[i]!r} up to {tops[i]:g}" for i in (small, large))
    return (
        f"{plural(by)} are on different scales, with scores of {first} and of {second}, so that their mean says nothing"
    )


def lost_in(tables: Sequence[Table], systems: Sequence[str]) -> dict[str, int]:
    """How many answers each system lost; empty where none lost any."""
    counts = [0 if table.lost is None else int(table.lost.sum()) for table in tables]
    return dict(zip(systems, counts, strict=True)) if any(counts) else {}


def lost_notes(tables: Sequence[Table], systems: Sequence[str], missing: Missing = "drop") -> tuple[str, ...]:
    """The same in words; a warning where these numbers differ."""
    counts = list(lost_in(tables, systems).values())
    if not counts:
        return ()
    worst = sorted(range(len(tables)), key=lambda i: -counts[i])
    told = listed((f"{systems[i]} {counts[i]:,} of {len(tables[i]):,}" for i in worst), 6)
    wrong = any(table.lost is not None and (table.numbers["score"][table.lost] == 0).any() for table in tables)
    if wrong:
        rule = "they count as wrong (`Selection(errors='missing')` leaves them out)"
    elif missing == "zero":
        rule = "they count as 0 (`missing='drop'` leaves them out)"
    else:
        rule = "they are missing, not wrong (`Selection(errors='wrong')` makes them 0)"
    if len(set(counts)) == 1:
        return (f"answers lost to errors, nulls or empty cells, {told}: {rule}",)
    biased = "" if wrong or missing == "zero" else ", and a model that fails on hard items looks better than it is"
    return (
        f"warning: models lost different numbers of answers to errors, nulls or empty cells, {told}: {rule}{biased}",
    )
