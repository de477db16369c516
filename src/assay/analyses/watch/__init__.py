"""A harness still runs: may I stop? Two systems on the items that are there so far, valid however often one looks."""

from collections.abc import Mapping
from math import ceil

from assay.analyses.contrast import check_clusters, differences_of
from assay.analyses.watch.result import StopAdvice, Watch, WatchedVerdict
from assay.analyses.watch.sentences import sentence_of
from assay.data import Panel, Selection, pair
from assay.data.sources import Models, Source, two_systems, two_tables
from assay.design import DEFAULT_LEVEL, signature
from assay.errors import UsageError
from assay.stats.finite_set import check_population
from assay.stats.records import Estimate, Interval
from assay.stats.sequential.looks import LEAST_UNITS, Seen, look_at
from assay.stats.sequential.sequences import NARROWEST, ConfidenceSequence


def watch(
    a: Source | Panel,
    b: Source | None = None,
    *,
    models: Models = (None, None),
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    lower_is_better: bool | None = None,
    selection: Selection | None = None,
    level: float = DEFAULT_LEVEL,
    population: int | None = None,
    margin: float | None = None,
) -> Watch:
    """May a comparison stop, on the items that both systems have so far?

    ``a`` and ``b`` are as in `assay.compare`; ``a`` may be a `Panel` of both.

    The interval is a confidence sequence (Waudby-Smith et al. 2024): with the probability ``level`` it never leaves out
    the truth, however often one looks and whenever one stops. It needs items in random order: those that are there must
    not be the easy ones. ``population`` is the number of items in all, where these are a part of a fixed set; the
    answer is then about that set. With a ``margin`` it also stops where no difference as large as that is left.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> right = rng.random(800) < 0.7
    >>> better = right | (rng.random(800) < 0.3)
    >>> found = watch({"item": range(800), "score": right}, {"item": range(800), "score": better})
    >>> found.advice, found.verdict
    ('stop', 'better')
    """
    _check_margin(margin)
    panel = watched(a, b, models, columns, cluster, selection, lower_is_better=lower_is_better)
    return watch_panel(panel, level=level, population=population, margin=margin)


def watched(
    a: Source | Panel,
    b: Source | None,
    models: Models,
    columns: Mapping[str, str] | None,
    cluster: str | None,
    selection: Selection | None,
    *,
    lower_is_better: bool | None,
) -> Panel:
    """The units that both systems have so far."""
    if isinstance(a, Panel):
        if b is not None:
            raise UsageError("a panel holds both systems: give it alone.")
        return two_systems(a, models, verb="watch")
    tables = two_tables(a, b, models, columns, cluster, selection, verb="watch")
    names = ("A", "B") if tables[0].name == tables[1].name else None
    return pair(*tables, names=names, lower_is_better=lower_is_better, cluster=cluster)


def _check_margin(margin: float | None) -> None:
    if margin is not None and not 0 < margin < float("inf"):
        raise UsageError(f"margin must be positive and finite, but got {margin}.")


def watch_panel(panel: Panel, *, level: float, population: int | None, margin: float | None) -> Watch:
    """The same for the units that both systems of a panel have."""
    _check_margin(margin)
    check_clusters(panel)
    units = differences_of(panel).drawn
    if population is not None:
        check_population(population, panel.n, panel.unit)
    seen = look_at(units)
    scaled = None if population is None else population * seen.effective / panel.n  # in units of equal weight
    sequence = ConfidenceSequence(level, NARROWEST if scaled is None else min(scaled, NARROWEST), scaled)
    limits = sequence.limits(seen)
    complete = population is not None and panel.n >= population
    verdict = _verdict(limits, margin, lower_is_better=panel.metric.lower_is_better, complete=complete)
    advice: StopAdvice = "continue" if verdict == "open" else "stop"
    more = _more(sequence, seen, panel.n, limits, margin) if advice == "continue" else None
    found = Watch(
        systems=(panel.systems[0], panel.systems[1]),
        kind=panel.kind,
        unit=panel.unit,
        n=panel.n,
        n_clusters=panel.n_clusters,
        effective=seen.effective,
        differing=seen.differing,
        lower_is_better=panel.metric.lower_is_better,
        level=level,
        population=population,
        margin=margin,
        difference=_estimate(seen, limits, level, panel.n),
        advice=advice,
        verdict=verdict,
        more=more,
        sentence="",
        signature=signature(
            "watch",
            units=panel.unit + "s",
            n=panel.n,
            clusters=panel.n_clusters,
            method="confidence-sequence",
            level=level,
            population=population,
            margin=margin,
            data=panel.digest[:16],
        ),
    )
    return found.with_sentence(sentence_of(found))


def _estimate(seen: Seen, limits: tuple[float, float] | None, level: float, n: int) -> Estimate:
    error = None if seen.moments is None else seen.moments.error
    if limits is None:
        few = seen.effective < LEAST_UNITS
        why = f"fewer than {LEAST_UNITS} units of equal weight" if few else "all units have the same difference"
        return Estimate(seen.estimate, None, error, n, why)
    return Estimate(seen.estimate, Interval(*limits, level, "confidence-sequence"), error, n)


def _verdict(
    limits: tuple[float, float] | None, margin: float | None, *, lower_is_better: bool, complete: bool
) -> WatchedVerdict:
    if complete:
        return "complete"
    if limits is None:
        return "open"
    low, high = limits
    if low > 0 or high < 0:
        return "better" if (low > 0) is not lower_is_better else "worse"
    if margin is not None and -margin < low and high < margin:
        return "equivalent"
    return "open"


def _more(
    sequence: ConfidenceSequence, seen: Seen, n: int, limits: tuple[float, float] | None, margin: float | None
) -> int | None:
    """About how many more units until the answer is expected, if the estimate stays; ``None``: not to be expected."""
    if limits is None and seen.effective < LEAST_UNITS:
        return ceil(n * LEAST_UNITS / seen.effective) - n
    wanted = [sequence.units_until(seen, abs(seen.estimate))]
    if margin is not None and abs(seen.estimate) < margin:
        wanted.append(sequence.units_until(seen, margin - abs(seen.estimate)))
    known = [one for one in wanted if one is not None]
    if not known:
        return None
    return max(ceil(n * (min(known) / seen.effective - 1)), 1)
