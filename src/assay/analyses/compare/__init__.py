"""Is B different from A? Two systems on the same units: an interval, a test, a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log
from typing import Any, Unpack

from assay.analyses.assumptions import Assumptions, measured
from assay.analyses.attempts import attempts_left, attempts_of, few_attempts, passed
from assay.analyses.compare.chart_data import chart_data_of
from assay.analyses.compare.result import Comparison, HowComputed, PairedQuantity, Systems
from assay.analyses.compare.sentences import nothing_to_compare, sentence_of
from assay.analyses.contrast import (
    Binary,
    Differences,
    DrawnUnits,
    agreed,
    binary_of,
    differences_of,
    disagreement,
    drawn_by,
    moved_limits,
    paired_interval,
    paired_test,
    reliance_of,
    reserve_of,
    verdict_of,
)
from assay.data import Dropped, Metric, Panel, Selection, Table, pair
from assay.data.in_memory import is_array, run_columns
from assay.data.pairing import system_names
from assay.data.readers import UNNAMED
from assay.data.runs.rates import Size, check_per, rates_of_panel, rates_of_tables
from assay.data.sources import Models, Source, panel_as_asked, renamed, two_names, two_systems, two_tables
from assay.design import Design, DesignFields, Missing, as_given, signature
from assay.errors import InputError, NoPairsError, UsageError
from assay.names import listed
from assay.stats.bootstrap import IntervalResult
from assay.stats.numerics import SMALLEST_P
from assay.stats.paired_tests import ArmValues, effect_sizes
from assay.stats.records import Estimate, Fallback, Test
from assay.stats.units import Floats, Units, joined, standard_error

#: How a size column is shown. Perplexities of different tokenizers do not compare; bits per byte and character do.
SIZES = {"bytes": "bits_per_byte", "chars": "bits_per_character"}
_EFFECTS = ("d_z", "hedges_g", "d_av")
_TOO_LARGE = "the ratio is too large for a number; is the loss a mean per token, in nats?"


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
    if at is not None:
        how = {"cluster": cluster, "split": split, "lower_is_better": lower_is_better}
        runs = _attempts(a, b, models, names, columns, selection, per, missing=missing, **how)
        return _compare_passed(runs, at, design, every=every, missing=missing)
    asked = _Asked(models, names, columns, cluster, split, missing, lower_is_better, selection)
    if isinstance(a, Panel):
        panel = _panel_asked(a, b, asked)
        rates = panel if per is None else rates_of_panel(per, panel.averaged())
        return compare_panel(pooled(renamed(two_systems(rates, models, missing=missing), names)), design, charts=True)
    first, second, names = _tables_asked(a, b, asked)
    try:
        if per is not None:
            rates = rates_of_tables(per, (first, second), names=names, split=split)
            panel = two_systems(rates, (None, None), missing=missing)
        else:
            panel = asked.pair(first, second, names)
    except NoPairsError as nothing:
        if missing == "refuse":
            raise
        return _nothing_paired((first, second), system_names((first, second), names), str(nothing), design, per)
    return compare_panel(pooled(panel), design, charts=True)


@dataclass(frozen=True, slots=True)
class _Asked:
    """How two sources are read and paired."""

    models: Models
    names: Sequence[str] | None
    columns: Mapping[str, str] | None
    cluster: str | None
    split: str | None
    missing: Missing
    lower_is_better: bool | None
    selection: Selection | None

    def pair(self, first: Table, second: Table, names: Sequence[str] | None) -> Panel:
        return pair(
            first,
            second,
            names=names,
            cluster=self.cluster,
            missing=self.missing,
            lower_is_better=self.lower_is_better,
            split=self.split,
        )


def _panel_asked(a: Panel, b: Source | None, asked: _Asked) -> Panel:
    how = {"b": b, "columns": asked.columns, "selection": asked.selection}
    return panel_as_asked(a, cluster=asked.cluster, split=asked.split, lower_is_better=asked.lower_is_better, **how)


def _tables_asked(a: Source, b: Source | None, asked: _Asked) -> tuple[Table, Table, Sequence[str] | None]:
    first, second = two_tables(a, b, asked.models, asked.columns, asked.cluster, asked.selection)
    unnamed = asked.names is None and first.name == second.name == UNNAMED
    return first, second, ("A", "B") if unnamed else asked.names


def panel_of_two(
    a: Source | Panel,
    b: Source | None = None,
    *,
    models: Models = (None, None),
    names: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    split: str | None = None,
    missing: Missing = "drop",
    lower_is_better: bool | None = None,
    selection: Selection | None = None,
) -> Panel:
    """The two systems to compare, on the units that both have."""
    asked = _Asked(models, names, columns, cluster, split, missing, lower_is_better, selection)
    if isinstance(a, Panel):
        return renamed(two_systems(_panel_asked(a, b, asked), models, missing=missing), names)
    return asked.pair(*_tables_asked(a, b, asked))


def pooled(panel: Panel) -> Panel:
    """With a note where units of several tasks are taken together."""
    tasks = len(panel.labels["task"].names) if "task" in panel.labels and panel.cluster != "task" else 0
    if tasks < 2:
        return panel
    return replace(
        panel, notes=(*panel.notes, f"{panel.unit}s of {tasks} tasks are taken together: large tasks count most")
    )


def _attempts(
    a: Source | Panel,
    b: Source | None,
    models: Models,
    names: Sequence[str] | None,
    columns: Mapping[str, str] | None,
    selection: Selection | None,
    per: Size | None,
    *,
    missing: Missing,
    **how: Any,
) -> Panel:
    """A column for each attempt of the two models, in this order."""
    if per is not None:
        raise UsageError("per is about losses, and `at` about attempts that are right or wrong; leave out one.")
    if isinstance(a, Panel):
        panel = panel_as_asked(a, b=b, columns=columns, selection=selection, **how)
        chosen = attempts_left(panel.of_models(two_names(panel, models, "compare")), missing)
    elif b is not None and is_array(a) and is_array(b):
        panel = panel_as_asked(run_columns([a, b]), columns=columns, selection=selection, **how)
        chosen = attempts_left(panel, missing)
    else:
        tables = two_tables(a, b, models, columns, how["cluster"], selection)
        own = ("A", "B") if tables[0].name == tables[1].name == UNNAMED else system_names(tables, None)
        chosen = panel_as_asked(attempts_of(tables, own, how["cluster"], missing), **{**how, "cluster": None})
    if names is None:
        return chosen
    if len(names) != 2 or names[0] == names[1]:
        raise UsageError(f"names must be 2 different names, but got {listed(names)}.")
    renamed_runs = list(zip(chosen.by_model, names, strict=True))
    lost = {name: chosen.lost.get(one.model, 0) for one, name in renamed_runs}
    return replace(chosen, models=tuple(replace(one, model=name) for one, name in renamed_runs), lost=lost)


def _compare_passed(runs: Panel, k: int, design: Design, *, every: bool, missing: Missing) -> Comparison:
    """The comparison of pass@k, item by item."""
    found = passed(runs, k, every=every)
    panel = two_systems(found, (None, None), missing="refuse" if missing == "refuse" else "drop")
    few = few_attempts(runs, k)
    noted = replace(panel, notes=(*panel.notes, *([few] if few else [])))
    return compare_panel(noted, design, charts=True)


def _nothing_paired(
    tables: tuple[Table, Table], names: Sequence[str], reason: str, design: Design, per: Size | None
) -> Comparison:
    """Every number is ``None``; ``reason`` says which ids the tables have instead."""
    kind, unit = (tables[0].kind, tables[0].unit) if per is None else ("scores", "document")
    metric = Metric.of(kind, name=None if per is None else f"bits per {per}")
    none = Estimate(None, None, None, 0, reason)
    losses = metric.kind == "losses"
    own = [table.ids if per is None else table.labels["document"].texts for table in tables]
    return Comparison(
        kind=metric.kind,
        unit=unit,
        systems=Systems(names[0], names[1]),
        lower_is_better=metric.lower_is_better or per is not None,
        verdict="no difference shown",
        sentence=nothing_to_compare(unit, names[0], names[1]),
        a=None,
        b=None,
        difference=none,
        ratio=none if losses else None,
        p_value=None,
        test=Test("sign-flip" if design.test == "auto" else design.test, None, None, 0, reason),
        effect_sizes=dict.fromkeys(_EFFECTS, none),
        n_pairs=0,
        n_clusters=None,
        cluster_by=None,
        degenerate=True,
        dropped=Dropped(len(set(own[0])), len(set(own[1])), tuple(str(ids[0]) for ids in own)),
        fallbacks=(Fallback(design.method, "nothing", "no pairs"),),
        notes=(),
        design=design,
        computed=HowComputed(scheme="none", scheme_reason="no pairs", distribution="none", resamples=None),
        measure=None if losses else metric.name,
        signature=signature("ratio" if losses else "difference", units=unit + "s", n=0, level=design.level),
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Found:
    """The difference as its design computes it: interval, test and, where it is ours to choose, their agreement."""

    whole: Units
    drawn: DrawnUnits
    interval: IntervalResult
    difference: Estimate
    test: Test
    test_p: float | None  # of the test alone
    agree: bool  # whether every interval says the same of 0 as the test
    sizes: dict[str, PairedQuantity]
    fallbacks: tuple[Fallback, ...]
    notes: tuple[str, ...]


def compare_panel(panel: Panel, design: Design, *, charts: bool = False, agree: bool | None = None) -> Comparison:
    """Compare the two systems of a panel.

    ``agree`` makes an interval and a test that were asked for by name say the same of 0, as the default ones do.
    """
    if panel.k != 2:
        raise UsageError(f"compare takes a panel of two systems, but got {panel.k}; choose two with panel.pair(i, j).")
    if panel.denominators.ndim != 1:
        raise InputError("compare needs the same denominators (tokens, weights) in both systems; these differ.")
    differences = differences_of(panel)
    binary = binary_of(panel, differences)
    agree = design.paired if agree is None else agree
    found = _found(panel, differences, binary, design, agree=agree)
    assumed = assumptions_of(panel, design, differences, agree=agree)
    value = PairedQuantity(panel.estimate(0), panel.estimate(1), found.difference)
    losses = panel.metric.kind == "losses"
    ratio = value.difference.exp(_TOO_LARGE) if losses else None
    substance = panel.substance()
    reliance = reliance_of(substance.units, substance.effective, found.interval.interval.method)
    verdict = verdict_of(
        value.difference, found.test, design, lower_is_better=panel.metric.lower_is_better, reliance=reliance
    )
    return Comparison(
        kind=panel.metric.kind,
        unit=panel.unit,
        systems=Systems(*panel.systems),
        lower_is_better=panel.metric.lower_is_better,
        verdict=verdict,
        sentence=sentence_of(verdict, panel, value, ratio, found.test, design, reserve_of(reliance, substance)),
        a=value.a,
        b=value.b,
        difference=value.difference,
        ratio=ratio,
        **found.sizes,
        p_value=found.test.p_value,
        test=found.test,
        effect_sizes=_effect_sizes(panel, found, design),
        n_pairs=panel.n,
        n_clusters=panel.n_clusters,
        cluster_by=panel.cluster_by,
        substance=substance,
        reliance=reliance,
        long_units=assumed.long_units,
        same_document=assumed.same_document,
        degenerate=found.interval.degenerate,
        dropped=panel.dropped,
        lost=panel.lost_answers,
        fallbacks=found.fallbacks,
        notes=(*panel.notes, *differences.note, *found.notes),
        design=design,
        computed=_computed(found, binary, differences),
        signature=_signature(panel, design, found),
        measure=None if losses else panel.metric.name,
        chart_data=chart_data_of(panel, found.drawn.units, design, found.interval.interval.method) if charts else None,
    )


def assumptions_of(
    panel: Panel, design: Design, differences: Differences | None = None, *, agree: bool = True
) -> Assumptions:
    """What comparing the two systems of a panel takes for granted."""
    found = differences_of(panel) if differences is None else differences
    by_document = partial(_difference, design=design, agree=agree)
    return measured(panel, found, binary_of(panel, found), design, by_document)


def _difference(panel: Panel, design: Design, *, agree: bool) -> Estimate:
    found = differences_of(panel)
    return _found(panel, found, binary_of(panel, found), design, agree=agree).difference


def _found(panel: Panel, differences: Differences, binary: Binary | None, design: Design, *, agree: bool) -> _Found:
    whole = differences.drawn
    drawn = drawn_by(whole, design, panel)
    main = paired_interval(drawn.units, binary, design)
    test, test_fallbacks = paired_test(whole, binary, design)
    difference, alone = _estimate(whole, main), test.p_value
    sums = panel.cluster_sums()
    bits = {name: _bits(panel, whole, size, design) for name, size in sums.sizes.items() if size.any()}
    notes = disagreement(difference, test)
    if agree:
        own = [found.own_p for found in (main, *(found for _, found in bits.values())) if found.own_p is not None]
        joint = agreed(difference, test, max(own, default=None))
        difference, test, notes = joint.difference, joint.test, joint.notes
    decided = test if agree else None
    sizes = {SIZES[name]: _shown_bits(panel, name, *found, decided) for name, found in bits.items()}
    return _Found(whole, drawn, main, difference, test, alone, agree, sizes, (*main.fallbacks, *test_fallbacks), notes)


def _effect_sizes(panel: Panel, found: _Found, design: Design) -> dict[str, Estimate]:
    """Effect sizes, with limits on the side of 0 that the test allows."""
    effects = effect_sizes(_unit_arms(panel), found.whole, design.level)
    return {name: _with_limits(effect, found.test if found.agree else None) for name, effect in effects.items()}


def _with_limits(estimate: Estimate, test: Test | None) -> Estimate:
    """The same with limits that agree with a test, where there is one to agree with."""
    if test is None or estimate.interval is None or estimate.value is None:
        return estimate
    if estimate.interval.method == "degenerate":
        return estimate
    return replace(estimate, interval=moved_limits(estimate.interval, test.p_value, estimate.value))


def _computed(found: _Found, binary: Binary | None, differences: Differences) -> HowComputed:
    shrunk = None if binary is None or binary.plain else binary.counts
    return HowComputed(
        scheme=found.drawn.scheme,
        scheme_reason=found.drawn.reason,
        distribution=found.interval.source,
        resamples=found.interval.resamples,
        test_p=found.test_p,
        interval_p=None if found.interval.own_p is None else max(found.interval.own_p, SMALLEST_P),
        design_effect=None if shrunk is None else shrunk.deff,
        degrees_of_freedom=None if shrunk is None else shrunk.df,
        rounded=differences.rounded,
    )


def _estimate(whole: Units, found: IntervalResult) -> Estimate:
    error = standard_error(whole)
    reason = "one unit has no standard error; its interval is collapsed" if error is None else None
    value, limits = whole.estimate, found.interval  # another scheme sums in another order
    limits = replace(limits, low=value, high=value) if found.degenerate else limits.around(value)
    return Estimate(value, limits, error, whole.n, reason)


def _bits(panel: Panel, whole: Units, size: Floats, design: Design) -> tuple[Units, IntervalResult]:
    """Bits per byte or character, Σ loss / (ln 2 · Σ size): the same differences over other denominators."""
    nats, size = joined(whole.numerators, size)
    bits = Units(nats / log(2), size)
    return bits, paired_interval(drawn_by(bits, design, panel).units, None, design)


def _shown_bits(panel: Panel, name: str, bits: Units, found: IntervalResult, test: Test | None) -> PairedQuantity:
    total = float(panel.sizes[name].sum()) * log(2)
    a, b = (float(panel.numerators[:, i].sum()) / total for i in range(2))
    return PairedQuantity(a, b, _with_limits(_estimate(bits, found), test))


def _unit_arms(panel: Panel) -> ArmValues:
    values = panel.numerators / panel.denominators[:, None]
    return ArmValues(values[:, 0], values[:, 1], panel.denominators)


def _signature(panel: Panel, design: Design, found: _Found) -> str:
    made = found.interval
    return signature(
        "ratio" if panel.metric.kind == "losses" else "difference",
        units=panel.unit + "s",
        n=panel.n,
        clusters=None if panel.n_clusters is None else f"{panel.n_clusters} {panel.cluster_by}",
        scheme=found.drawn.scheme,
        method=design.method if made.degenerate and design.method != "auto" else made.interval.method,
        test=None if found.agree and found.test.name == "sign-flip" else found.test.name,
        resamples="closed" if made.source == "closed form" else made.resamples or "exact",
        level=design.level,
        seed=design.seed if made.resamples else None,
        data=panel.digest[:16],
    )
