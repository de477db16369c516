"""Is B different from A? Two systems on the same units: an interval, a test, a verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import exp, log
from os import PathLike
from typing import Any

import numpy as np

from assay.analyses.comparison import Comparison, Computed, Shown
from assay.analyses.picture import picture_of
from assay.analyses.verdict import sentence_of, verdict_of
from assay.data import Panel, Selection, Table, pair
from assay.data.panel import Floats
from assay.data.rates import Size, bits_per
from assay.data.readers.source import UNNAMED
from assay.data.tables import check_used, one_model, read_models
from assay.design import DESIGN_EFFECT_LIMIT, Design, signature
from assay.errors import InputError, UsageError
from assay.stats.bootstrap import IntervalResult, interval
from assay.stats.effects import Arms, effect_sizes
from assay.stats.paired import mcnemar, t_test, wilcoxon
from assay.stats.permutation import sign_flip
from assay.stats.records import Estimate, Fallback, Test
from assay.stats.units import Units, design_effect, mean_of_draws, standard_error

EPSILON = float(np.finfo(np.float64).eps)

Source = str | PathLike[str] | Mapping[str, Any] | Table

#: How a size column is shown. Perplexities of different tokenizers do not compare; bits per byte and character do (L3).
SIZES = {"bytes": "bits_per_byte", "chars": "bits_per_character"}


def compare(
    a: Source,
    b: Source | None = None,
    *,
    design: Design | None = None,
    models: tuple[str | None, str | None] = (None, None),
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    split: str | None = None,
    strict: bool = False,
    lower_is_better: bool | None = None,
    selection: Selection | None = None,
    per: Size | None = None,
    picture: bool = False,
) -> Comparison:
    """Compare two systems on the units they share.

    ``a`` and ``b`` are files, logs of a harness, mappings of columns, data frames or tables; one may hold both
    ``models``. ``selection`` says which results of a harness are meant. ``per`` compares bits per byte or character of
    whole documents, also of models whose tokens differ. ``picture`` adds what charts of the result show.

    >>> before = {"window": [1, 2], "tokens": [512, 256], "loss": [3.688879454, 5.393627546]}  # perplexities 40 and 220
    >>> after = {"window": [1, 2], "tokens": [512, 256], "loss": [3.63758616, 5.560681631]}  # perplexities 38 and 260
    >>> found = compare(before, after)
    >>> round(found.ratio.value, 4)
    1.0217

    The estimate is the exponential of the token-weighted mean difference of log-losses (P2), not a ratio of mean
    perplexities, which would be 1.12 here.
    """
    first, second = tables_of(a, b, models, columns, cluster, selection)
    if per is not None:
        first, second = bits_per(per, (first, second), split=split)
        split = None
    panel = pair(
        first,
        second,
        names=("A", "B") if first.name == second.name == UNNAMED else None,
        cluster=cluster,
        strict=strict,
        lower_is_better=lower_is_better,
        split=split,
    )
    return compare_panel(panel, design or Design(), picture=picture)


def tables_of(
    a: Source,
    b: Source | None,
    models: tuple[str | None, str | None],
    columns: Mapping[str, str] | None,
    cluster: str | None,
    selection: Selection | None = None,
    *,
    must_pick: bool = True,
) -> tuple[Table, Table]:
    """The two tables; ``must_pick``: a selection makes no sense where there is nothing to select from."""
    if b is None and None in models:
        raise UsageError("compare needs two files, or one file and the names of two of its models (--a NAME --b NAME).")
    read = partial(read_models, columns=columns, cluster=cluster, selection=selection)
    named = [[name] if name else [] for name in models]
    first = read(a, models=named[0] + (named[1] if b is None else []))
    second = first if b is None else read(b, models=named[1])
    if must_pick:
        check_used(selection, [*first, *second])
    return one_model(first, models[0]), one_model(second, models[1])


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The units to draw, under the scheme that was chosen."""

    units: Units
    scheme: str
    reason: str


def compare_panel(panel: Panel, design: Design, *, picture: bool = False) -> Comparison:
    """Compare the two systems of a panel."""
    if panel.k != 2:
        raise UsageError(f"compare takes a panel of two systems, but got {panel.k}; choose two with panel.pair(i, j).")
    if panel.denominators.ndim != 1:
        raise InputError("compare needs the same denominators (tokens, weights) in both systems; these differ.")
    sums = panel.cluster_sums()
    whole = _difference(sums.numerators, sums.denominators)
    drawn = _drawn(whole, design, panel)
    found = _interval(drawn.units, design)
    value = Shown(panel.estimate(0), panel.estimate(1), _estimate(whole, found))
    ratio = _ratio(value.difference) if panel.metric.kind == "losses" else None
    test, test_fallbacks = _test(panel, whole, design)
    verdict = verdict_of(
        value.difference, test, design, lower_is_better=panel.metric.lower_is_better, degenerate=found.degenerate
    )
    return Comparison(
        kind=panel.metric.kind,
        unit=panel.metric.unit,
        systems=(panel.systems[0], panel.systems[1]),
        lower_is_better=panel.metric.lower_is_better,
        verdict=verdict,
        sentence=sentence_of(verdict, panel, value, ratio, test, design),
        value=value,
        ratio=ratio,
        sizes={SIZES[name]: _bits(panel, sums.numerators, size, name, design) for name, size in sums.sizes.items()},
        test=test,
        effect_sizes=effect_sizes(_unit_arms(panel), whole, design.level),
        n_pairs=panel.n,
        n_clusters=panel.n_clusters,
        cluster_by=panel.cluster_by,
        degenerate=found.degenerate,
        dropped=panel.dropped,
        fallbacks=(*found.fallbacks, *test_fallbacks),
        notes=(*panel.notes, *_disagreement(value.difference, test, design, degenerate=found.degenerate)),
        design=design,
        computed=Computed(drawn.scheme, drawn.reason, found.source, found.resamples),
        signature=_signature(panel, design, drawn, found),
        measure=panel.metric.name,
        picture=picture_of(panel, drawn.units, design, degenerate=found.degenerate) if picture else None,
    )


def _difference(numerators: Floats, denominators: Floats) -> Units:
    """B − A. Values that are equal up to the rounding of the two arms are made equal: noise must not decide P4."""
    a, b = numerators[:, 0], numerators[:, 1]
    whole = Units(b - a, denominators)
    noise = 8 * EPSILON * float(((np.abs(a) + np.abs(b)) / denominators).max())
    equal = float(np.ptp(whole.numerators / denominators)) <= noise
    return Units(whole.estimate * denominators, denominators) if equal else whole


def _drawn(whole: Units, design: Design, panel: Panel) -> _Drawn:
    effect = design_effect(whole.denominators)
    unit = "cluster" if panel.clusters is not None else panel.metric.unit
    what = "tokens" if panel.metric.kind == "losses" else "weights"
    if design.scheme != "auto":
        chosen, reason = design.scheme, f"as asked (design effect of the {what} {effect:.3f})"
    elif effect <= DESIGN_EFFECT_LIMIT:
        chosen, reason = "tokens", f"{what} are nearly equal: design effect {effect:.3f} ≤ {DESIGN_EFFECT_LIMIT}"
    else:
        chosen = "windows"
        reason = f"{unit}s drawn uniformly because {what} vary: design effect {effect:.3f} > {DESIGN_EFFECT_LIMIT}"
    return _Drawn(mean_of_draws(whole) if chosen == "tokens" else whole, chosen, reason)


def _interval(units: Units, design: Design) -> IntervalResult:
    return interval(
        units, method=design.method, confidence_level=design.level, n_resamples=design.resamples, seed=design.seed
    )


def _estimate(whole: Units, found: IntervalResult) -> Estimate:
    error = standard_error(whole)
    reason = "one unit has no standard error; its interval is collapsed" if error is None else None
    value, limits = whole.estimate, found.interval
    if found.degenerate:  # [μ, μ] exactly: another scheme sums in another order
        limits = replace(limits, low=value, high=value)
    return Estimate(value, limits, error, whole.n, reason)


def _ratio(difference: Estimate) -> Estimate:
    """The difference and its limits, exponentiated; the standard error by the delta method."""
    try:
        value = None if difference.value is None else exp(difference.value)
        limits = None if difference.interval is None else difference.interval.exp()
    except OverflowError:
        why = "the ratio is too large for a number; is the loss a mean per token, in nats?"
        return Estimate(None, None, None, difference.n, why)
    error = None if value is None or difference.standard_error is None else value * difference.standard_error
    return Estimate(value, limits, error, difference.n, difference.reason)


def _bits(panel: Panel, numerators: Floats, size: Floats, name: str, design: Design) -> Shown:
    """Bits per byte or character: Σ loss / (ln 2 · Σ size)."""
    whole = _difference(numerators / log(2), size)
    drawn = _drawn(whole, design, panel)
    total = float(panel.sizes[name].sum()) * log(2)
    a, b = (float(panel.numerators[:, i].sum()) / total for i in range(2))
    return Shown(a, b, _estimate(whole, _interval(drawn.units, design)))


def _unit_arms(panel: Panel) -> Arms:
    values = panel.numerators / panel.denominators[:, None]
    return Arms(values[:, 0], values[:, 1], panel.denominators)


def _test(panel: Panel, whole: Units, design: Design) -> tuple[Test, tuple[Fallback, ...]]:
    name = design.test
    if name == "auto":
        name = "mcnemar" if _binary(panel) else "sign-flip"
    if name == "t":
        return t_test(whole), ()
    if name == "wilcoxon":
        return wilcoxon(whole.numerators / whole.denominators), ()
    if name == "mcnemar":
        if not _binary(panel):
            raise UsageError(
                "mcnemar needs 0/1 scores without weights and clusters; --test sign-flip is the same test in general."
            )
        return mcnemar(whole.numerators)
    return sign_flip(whole.numerators, seed=design.seed)


def _binary(panel: Panel) -> bool:
    scores = panel.metric.kind == "scores" and panel.clusters is None
    return scores and bool(
        np.all(panel.denominators == 1) and np.all((panel.numerators == 0) | (panel.numerators == 1))
    )


def _disagreement(difference: Estimate, test: Test, design: Design, *, degenerate: bool) -> tuple[str, ...]:
    """The interval and the test answer nearly the same question; where they differ, the result says so."""
    if difference.interval is None or test.p_value is None or degenerate:
        return ()
    excludes = not difference.interval.low <= 0 <= difference.interval.high
    rejects = test.p_value <= 1 - design.level
    if excludes == rejects:
        return ()
    zero = "excludes" if excludes else "contains"
    answer = "rejects" if rejects else "does not reject"
    return (f"borderline: the interval {zero} 0, the {test.name} test {answer}; the interval decides the verdict",)


def _signature(panel: Panel, design: Design, drawn: _Drawn, found: IntervalResult) -> str:
    return signature(
        "ratio" if panel.metric.kind == "losses" else "difference",
        units=panel.metric.unit + "s",
        n=panel.n,
        clusters=None if panel.n_clusters is None else f"{panel.n_clusters} {panel.cluster_by}",
        scheme=drawn.scheme,
        method=design.method,
        resamples="closed" if found.source == "closed form" else found.resamples or "exact",
        level=design.level,
        seed=design.seed if found.resamples else None,
        data=panel.digest[:16],
    )
