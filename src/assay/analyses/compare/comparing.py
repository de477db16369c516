"""Compare the two systems of a panel: the interval, the test and the verdict, as one record."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log

import msgspec
import numpy as np

from assay.analyses.assumptions import Assumptions, measured
from assay.analyses.compare.chart_data import chart_data_of
from assay.analyses.compare.pair_facts import PairFacts, pair_facts_of
from assay.analyses.compare.result import Comparison, HowComputed, PairedQuantity, Systems
from assay.analyses.compare.sentences import nothing_to_compare, sentence_of, with_runs
from assay.analyses.contrast import (
    Binary,
    Differences,
    DrawnUnits,
    agreed,
    binary_of,
    check_part,
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
from assay.analyses.runs_like_these import like_these, runs_note
from assay.data import Dropped, Metric, Panel, Table
from assay.data.runs.rates import Size
from assay.design import Design, Method, signature
from assay.errors import InputError, UsageError
from assay.stats.bootstrap import IntervalResult
from assay.stats.finite_set import PartOfSet, check_population
from assay.stats.numerics import SMALLEST_P
from assay.stats.paired_tests import ArmValues, effect_sizes
from assay.stats.records import Estimate, Fallback, Test
from assay.stats.units import Floats, Units, joined, standard_error

#: How a size column is shown. Perplexities of different tokenizers do not compare; bits per byte and character do.
SIZES = {"bytes": "bits_per_byte", "chars": "bits_per_character"}
_EFFECTS = ("d_z", "hedges_g", "d_av")
_TOO_LARGE = "the ratio is too large for a number; is the loss a mean per token, in nats?"


@dataclass(frozen=True, eq=False, slots=True)
class FoundDifference:
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


def compare_panel(
    panel: Panel,
    design: Design,
    *,
    charts: bool = False,
    agree: bool | None = None,
    runs: Panel | None = None,
    population: int | None = None,
) -> Comparison:
    """Compare the two systems of a panel.

    ``agree`` makes an interval and a test that were asked for by name say the same of 0, as the default ones do.
    ``runs`` has a column for each run of the two, on the same units. ``population`` is the number of units in all, of
    which these are a random part.
    """
    if panel.k != 2:
        raise UsageError(f"compare takes a panel of two systems, but got {panel.k}; choose two with panel.pair(i, j).")
    if panel.denominators.ndim != 1:
        raise InputError("compare needs the same denominators (tokens, weights) in both systems; these differ.")
    differences = differences_of(panel)
    binary, part = _part_of(panel, binary_of(panel, differences), design, population, runs)
    agree = design.paired if agree is None else agree
    found = found_in(panel, differences, binary, design, agree=agree, part=part)
    assumed = assumptions_of(panel, design, differences, agree=agree)
    value = PairedQuantity(panel.estimate(0), panel.estimate(1), found.difference)
    losses = panel.metric.kind == "losses"
    ratio = value.difference.exp(_TOO_LARGE) if losses else None
    substance = panel.substance()
    reliance = reliance_of(substance.units, substance.effective, found.interval.interval.method)
    reliance = "firm" if part is not None and part.whole else reliance
    verdict = verdict_of(
        value.difference, found.test, design, lower_is_better=panel.metric.lower_is_better, reliance=reliance
    )
    beyond = like_these(runs, panel, value.difference, found.test.p_value, [np.arange(panel.n)], np.ones(1))
    reserve = reserve_of(reliance, substance)
    said = sentence_of(verdict, panel, value, ratio, found.test, design, reserve, population=population)
    return Comparison(
        kind=panel.metric.kind,
        unit=panel.unit,
        systems=Systems(*panel.systems),
        lower_is_better=panel.metric.lower_is_better,
        verdict=verdict,
        sentence=with_runs(said, verdict, beyond),
        a=value.a,
        b=value.b,
        difference=value.difference,
        runs_like_these=beyond,
        ratio=ratio,
        **found.sizes,
        p_value=found.test.p_value,
        test=found.test,
        effect_sizes=_effect_sizes(panel, found, design, part),
        n_pairs=panel.n,
        population=population,
        pairing=_pairing(panel, differences, design, part),
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
        notes=(*panel.notes, *differences.note, *found.notes, *runs_note(runs)),
        design=design,
        computed=_computed(found, binary, differences),
        signature=_signature(panel, design, found, population),
        measure=None if losses else panel.metric.name,
        chart_data=chart_data_of(panel, found.drawn.units, design, found.interval.interval.method) if charts else None,
    )


def _part_of(
    panel: Panel, binary: Binary | None, design: Design, population: int | None, runs: Panel | None
) -> tuple[Binary | None, PartOfSet | None]:
    """The part of a fixed set that these units are, where a number of all was given."""
    if population is None:
        return binary, None
    check_population(population, panel.n, panel.unit)
    if runs is not None:
        raise UsageError(
            f"`population` is about {panel.unit}s that were answered once, and there are several runs, which are drawn "
            "too; leave it out, or compare single runs."
        )
    check_part(design, binary=binary is not None)
    part = PartOfSet(panel.n, population)
    return binary if binary is None or part.whole else binary.of_set(part), part


def _pairing(panel: Panel, differences: Differences, design: Design, part: PartOfSet | None) -> PairFacts:
    """As ever; what so many units of a fixed set could have shown is that much smaller, and nothing is left of all."""
    found = pair_facts_of(panel, differences, design)
    if part is None or found.detectable is None:
        return found
    shown = None if part.whole else found.detectable * part.factor
    return msgspec.structs.replace(found, detectable=shown)


def assumptions_of(
    panel: Panel, design: Design, differences: Differences | None = None, *, agree: bool = True
) -> Assumptions:
    """What comparing the two systems of a panel takes for granted."""
    found = differences_of(panel) if differences is None else differences
    by_document = partial(_difference, design=design, agree=agree)
    return measured(panel, found, binary_of(panel, found), design, by_document)


def _difference(panel: Panel, design: Design, *, agree: bool) -> Estimate:
    found = differences_of(panel)
    return found_in(panel, found, binary_of(panel, found), design, agree=agree).difference


def found_in(
    panel: Panel,
    differences: Differences,
    binary: Binary | None,
    design: Design,
    *,
    agree: bool,
    part: PartOfSet | None = None,
) -> FoundDifference:
    """The interval and the test of a difference, made to agree where ``agree`` says so."""
    whole = differences.drawn
    drawn = drawn_by(whole, design if part is None else replace(design, method=_closed(design, binary)), panel)
    main = paired_interval(drawn.units, binary, design, part)
    test, test_fallbacks = paired_test(whole, binary, design, part)
    difference, alone = _estimate(whole, main, part), test.p_value
    sums = panel.cluster_sums()
    bits = {name: _bits(panel, whole, size, design, part) for name, size in sums.sizes.items() if size.any()}
    notes = disagreement(difference, test)
    if agree:
        own = [found.own_p for found in (main, *(found for _, found in bits.values())) if found.own_p is not None]
        joint = agreed(difference, test, max(own, default=None))
        difference, test, notes = joint.difference, joint.test, joint.notes
    decided = test if agree else None
    sizes = {SIZES[name]: _shown_bits(panel, name, *found, decided) for name, found in bits.items()}
    fallbacks = (*main.fallbacks, *test_fallbacks)
    return FoundDifference(whole, drawn, main, difference, test, alone, agree, sizes, fallbacks, notes)


def _closed(design: Design, binary: Binary | None) -> Method:
    """The closed form that a part of a fixed set has."""
    return design.method if design.method != "auto" or binary is not None else "t-hall"


def _effect_sizes(
    panel: Panel, found: FoundDifference, design: Design, part: PartOfSet | None = None
) -> dict[str, Estimate]:
    """Effect sizes, with limits on the side of 0 that the test allows."""
    effects = effect_sizes(_unit_arms(panel), found.whole, design.level)
    if part is not None:
        effects = {name: _of_set(effect, part) for name, effect in effects.items()}
    return {name: _with_limits(effect, found.test if found.agree else None) for name, effect in effects.items()}


def _of_set(estimate: Estimate, part: PartOfSet) -> Estimate:
    """The estimate of a part as that of its whole set."""
    error = None if estimate.standard_error is None else estimate.standard_error * part.factor
    if estimate.interval is None or estimate.value is None:
        return replace(estimate, standard_error=error)
    return replace(estimate, standard_error=error, interval=part.closer(estimate.interval, estimate.value))


def _with_limits(estimate: Estimate, test: Test | None) -> Estimate:
    """The same with limits that agree with a test, where there is one to agree with."""
    if test is None or estimate.interval is None or estimate.value is None:
        return estimate
    if estimate.interval.method == "degenerate":
        return estimate
    return replace(estimate, interval=moved_limits(estimate.interval, test.p_value, estimate.value))


def _computed(found: FoundDifference, binary: Binary | None, differences: Differences) -> HowComputed:
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


def _estimate(whole: Units, found: IntervalResult, part: PartOfSet | None = None) -> Estimate:
    error = standard_error(whole)
    error = error if error is None or part is None else error * part.factor
    reason = "one unit has no standard error; its interval is collapsed" if error is None else None
    value, limits = whole.estimate, found.interval  # another scheme sums in another order
    limits = replace(limits, low=value, high=value) if found.degenerate else limits.around(value)
    return Estimate(value, limits, error, whole.n, reason)


def _bits(
    panel: Panel, whole: Units, size: Floats, design: Design, part: PartOfSet | None
) -> tuple[Units, IntervalResult]:
    """Bits per byte or character, Σ loss / (ln 2 · Σ size): the same differences over other denominators."""
    nats, size = joined(whole.numerators, size)
    bits = Units(nats / log(2), size)
    drawn = bits if part is not None else drawn_by(bits, design, panel).units
    return bits, paired_interval(drawn, None, design, part)


def _shown_bits(panel: Panel, name: str, bits: Units, found: IntervalResult, test: Test | None) -> PairedQuantity:
    total = float(panel.sizes[name].sum()) * log(2)
    a, b = (float(panel.numerators[:, i].sum()) / total for i in range(2))
    return PairedQuantity(a, b, _with_limits(_estimate(bits, found), test))


def _unit_arms(panel: Panel) -> ArmValues:
    weights = panel.denominators
    values = panel.numerators if (weights == 1).all() else panel.numerators / weights[:, None]
    return ArmValues(values[:, 0], values[:, 1], weights)


def _signature(panel: Panel, design: Design, found: FoundDifference, population: int | None) -> str:
    made = found.interval
    return signature(
        "ratio" if panel.metric.kind == "losses" else "difference",
        units=panel.unit + "s",
        n=panel.n,
        population=population,
        clusters=None if panel.n_clusters is None else f"{panel.n_clusters} {panel.cluster_by}",
        scheme=found.drawn.scheme,
        method=design.method if made.degenerate and design.method != "auto" else made.interval.method,
        test=None if found.agree and found.test.name == "sign-flip" else found.test.name,
        resamples="closed" if made.source == "closed form" else made.resamples or "exact",
        level=design.level,
        seed=design.seed if made.resamples else None,
        data=panel.digest[:16],
    )


def nothing_paired(
    tables: tuple[Table, Table], names: Sequence[str], reason: str, design: Design, per: Size | None
) -> Comparison:
    """Every number is ``None``; ``reason`` says which ids the tables have instead."""
    kind, unit = (tables[0].kind, tables[0].unit) if per is None else ("scores", "document")
    metric = Metric.of(kind, name=None if per is None else f"bits per {per}")
    none = Estimate(None, None, None, 0, reason)
    losses = metric.kind == "losses"
    own = [table.ids.texts if per is None else table.labels["document"].texts for table in tables]
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
