"""Tables with several metrics, a row for each: one is chosen, or each becomes a table of its own."""

from dataclasses import replace

import numpy as np

from assay.data.readers import Selection
from assay.data.tables import Labels, Table
from assay.errors import InputError
from assay.names import listed

_WAYS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def of_metrics(table: Table, selection: Selection) -> list[Table]:
    """The table of the metric that was chosen, or of each where all are asked for; the table itself without metrics."""
    if "metric" not in table.labels:
        return [with_direction(table)]
    names = table.labels["metric"].names
    if selection.metric is None and len(names) > 1 and _one_of_each_task(table):
        return [with_direction(replace(table, labels=_without(table, "metric")))]
    if selection.every_metric and selection.metric is None and len(names) > 1:
        _, first = np.unique(table.labels["metric"].codes, return_index=True)
        return [_of_metric(table, names[place], one_of=True) for place in np.argsort(first).tolist()]
    from assay.data.readers.harness import chosen  # late: most tables have one metric

    return [_of_metric(table, chosen(table.label, "metric", names, selection.metric), one_of=False)]


def _one_of_each_task(table: Table) -> bool:
    """Whether every task has a single metric, so that there is nothing to choose."""
    if "task" not in table.labels:
        return False
    pairs = np.unique(np.column_stack([table.labels[name].codes for name in ("task", "metric")]), axis=0)
    return len(pairs) == len(table.labels["task"].names)


def _without(table: Table, name: str) -> dict[str, Labels]:
    return {one: own for one, own in table.labels.items() if one != name}


def _of_metric(table: Table, name: str, *, one_of: bool) -> Table:
    labels = table.labels["metric"]
    part = table.where(labels.codes == labels.names.index(name))
    about = {**table.about, "metric": name} | ({"one_of_metrics": name} if one_of else {})
    notes = table.notes if one_of or len(labels.names) == 1 else (*table.notes, f"{table.label}: metric {name}")
    return with_direction(replace(part, labels=_without(part, "metric"), about=about, notes=notes))


def with_direction(table: Table) -> Table:
    """With what the column says of whether lower is better."""
    if "lower_is_better" not in table.labels:
        return table
    names = table.labels["lower_is_better"].names
    ways = {_WAYS.get(name.strip().casefold()) for name in names}
    if len(ways) > 1 or None in ways:
        raise InputError(
            f"{table.label}, column 'lower_is_better': must be true or false, and the same for all rows of a metric, "
            f"but got {listed(names)}; correct it, or leave it out with `columns={{'lower_is_better': ''}}`."
        )
    return replace(
        table, labels=_without(table, "lower_is_better"), about={**table.about, "lower_is_better": ways.pop()}
    )
