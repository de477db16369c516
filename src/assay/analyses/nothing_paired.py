"""The record of a comparison that has no pair: every number is ``None``, and the reason beside it."""

from assay.analyses.comparison import Comparison, Computed, Systems
from assay.data import Dropped, Metric, Table
from assay.design import Design, signature
from assay.stats.records import Estimate, Fallback, Test

_EFFECTS = ("d_z", "hedges_g", "d_av")


def nothing_paired(tables: tuple[Table, Table], names: tuple[str, str], reason: str, design: Design) -> Comparison:
    """Nothing was compared; ``reason`` says which ids the tables have instead."""
    first, second = tables
    metric = Metric.of(first.kind)
    none = Estimate(None, None, None, 0, reason)
    losses = metric.kind == "losses"
    examples = tuple(str(table.ids[0]) for table in tables)
    return Comparison(
        kind=metric.kind,
        unit=first.unit,
        systems=Systems(*names),
        lower_is_better=metric.lower_is_better,
        verdict="no difference shown",
        sentence=f"Nothing to compare: no {first.unit} is in both {names[0]} and {names[1]}.",
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
        dropped=Dropped(len(set(first.ids)), len(set(second.ids)), examples),
        fallbacks=(Fallback(design.resampling, "nothing", "no pairs"),),
        notes=(),
        design=design,
        computed=Computed(scheme="none", scheme_reason="no pairs", distribution="none", resamples=None),
        measure=None if losses else metric.name,
        signature=signature("ratio" if losses else "difference", units=first.unit + "s", n=0, level=design.level),
    )
