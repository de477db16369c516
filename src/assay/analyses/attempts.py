"""Several attempts at each item: pass@k and pass^k as scores of items, and how much of their noise is of attempts.

Items are drawn and attempts are nested in them, so that the spread of the items' estimates holds both kinds of noise:
intervals and tests of the derived panel are those of any panel of scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from assay.data import Metric, Panel, Table
from assay.data.lost_answers import answered_tables, lost_in, lost_notes
from assay.data.units_and_runs import numbered_attempts, runs_of
from assay.design import Missing
from assay.errors import InputError, UsageError
from assay.stats.repeated_runs import attempt_variance, pass_all, pass_any
from assay.stats.units import Floats, Integers

MOST_K = 100_000  # a product of so many terms for each item


def attempts_of(
    tables: Sequence[Table], names: Sequence[str], cluster: str | None = None, missing: Missing = "drop"
) -> Panel:
    """A column for each attempt of each model, with holes where items have fewer; ``names`` are of the models.

    An attempt that was lost is none, or wrong where ``missing`` is ``"zero"``.
    """
    left = [replace(table, lost=None) for table in answered_tables(tables, Metric.of(tables[0].kind), missing)]
    named = [replace(numbered_attempts(table), name=name) for table, name in zip(left, names, strict=True)]
    panel = Panel.from_runs(runs_of(named), cluster=cluster)
    own = zip(panel.models, names, strict=True)  # a model without a name is called otherwise among runs
    models = tuple(replace(runs, model=name) for runs, name in own)
    noted = replace(panel, notes=(*lost_notes(tables, names, missing), *panel.notes), lost=lost_in(tables, names))
    return attempts_left(replace(noted, models=models), missing)


def attempts_left(panel: Panel, missing: Missing) -> Panel:
    """Items that a model has not attempted at all are left, left out, refused, or count as wrong."""
    items = panel.averaged().without(missing)
    if missing == "zero":
        sums = panel.numerators.copy()
        for runs in panel.by_model:
            columns = list(runs.columns)
            never = ~panel.answered[:, columns].any(axis=1, keepdims=True)
            sums[:, columns] = np.where(never, 0.0, sums[:, columns])
        return replace(panel.with_numerators(sums), notes=items.notes)
    return replace(panel.rows(panel.among(items.ids)), dropped=items.dropped)


def counts_of(panel: Panel, model: int) -> tuple[Floats, Floats]:
    """(n,) each: how many attempts of a model at every item are right, and how many there are."""
    columns = list(panel.by_model[model].columns)
    below = panel.denominators[:, None] if panel.denominators.ndim == 1 else panel.denominators[:, columns]
    values = panel.numerators[:, columns] / below
    return np.nansum(values, axis=1), np.asarray((~np.isnan(values)).sum(axis=1), dtype=np.float64)


def numbers_of(panel: Panel, model: int) -> Integers:
    """(items,) How many attempts there are at every item that the model answered."""
    counts = counts_of(panel, model)[1].astype(np.int64)
    return counts[counts > 0]


def check_at(panel: Panel, k: int) -> None:
    """Refuse what has no pass@k: scores that are not right or wrong, and a k that no item has."""
    if type(k) is not int or not 1 <= k <= MOST_K:
        raise UsageError(f"at must be a whole number from 1 to {MOST_K:,}, but got {k!r}.")
    if not panel.binary or panel.metric.lower_is_better:
        raise InputError("pass@k needs attempts that are right or wrong, 1 or 0; leave out `at` for other scores.")
    for model, runs in enumerate(panel.by_model):
        most = int(numbers_of(panel, model).max(initial=0))
        if most < k:
            what = "attempt" if most == 1 else "attempts"
            raise InputError(
                f"{runs.model} has at most {most} {what} at an item, too few for `at={k}`; ask for less, or bring more "
                "attempts, told apart by a column 'run'."
            )


def passed(panel: Panel, k: int, *, every: bool = False) -> Panel:
    """pass@k, or with ``every`` pass^k, of each item and model; items with fewer than k attempts are holes."""
    check_at(panel, k)
    function = pass_all if every else pass_any

    def score(values: Floats) -> Floats:
        there = ~np.isnan(values)
        return function(np.where(there, values, 0.0).sum(axis=1), there.sum(axis=1).astype(np.float64), k)

    found = panel.per_unit(score, weighted=True)
    metric = replace(found.metric, name=f"pass{'^' if every else '@'}{k}")
    found = replace(found, metrics=(metric,))
    some = found.answered.any(axis=1)
    return found if some.all() else found.rows(np.asarray(some))


def few_attempts(panel: Panel, k: int) -> str | None:
    """A note on the items that a model attempted fewer than k times, which are left out."""
    told = []
    for model, runs in enumerate(panel.by_model):
        numbers = numbers_of(panel, model)
        if few := int((numbers < k).sum()):
            told.append(f"{few:,} of {len(numbers):,} {panel.unit}s of {runs.model}")
    if not told:
        return None
    more = f" and of {len(told) - 3} more models" if len(told) > 3 else ""
    return f"at {k}: {', '.join(told[:3])}{more} have fewer than {k} attempts and are left out"


@dataclass(frozen=True, slots=True)
class AttemptNoise:
    """Where the variance of a mean over items comes from, and what twice the answers would make of its error."""

    share: float  # of the variance: that of attempts; the rest is that of items
    error: float  # the standard error as it is
    twice_items: float
    twice_attempts: float


def attempt_noise(panel: Panel, model: int, k: int, error: float | None) -> AttemptNoise | None:
    """Of pass@k with this standard error over items; ``None`` unless every item has 2k attempts, and there is noise.

    Attempts give the mean the variance W = Σ w² v / (Σ w)², with v that of each item's estimate; the rest is that of
    items. Twice the items halve both; twice the attempts halve W, and for k above 1 make it smaller still.
    """
    right, attempts = counts_of(panel, model)
    there = attempts >= k
    right, attempts, weights = right[there], attempts[there], panel.denominators[there]
    if not error or not (attempts >= 2 * k).all():
        return None
    total, shares = error * error, (weights / weights.sum()) ** 2
    now, then = (float((shares * attempt_variance(attempts - right, attempts, k, times)).sum()) for times in (1, 2))
    within = min(max(now, 0.0), total)
    saved = within * (1 - min(max(then, 0.0), now) / now) if within else 0.0
    return AttemptNoise(within / total, error, error / sqrt(2), sqrt(total - saved))
