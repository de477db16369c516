"""A comparison as a part of a document."""

from assay.analyses.comparison import Comparison, Verdict
from assay.report.document import Chart, Fact, Gauge, Group, Mark, Part, Status
from assay.report.parts.common import chart_of, facts_of, notes_of
from assay.results import words

_STATUS: dict[Verdict, Status] = {
    "better": "good",
    "worse": "bad",
    "no difference shown": "unsure",
    "equivalent": "good",
}


def comparison_part(found: Comparison) -> Part:
    """The verdict, the difference against zero and margin, and what it rests on."""
    gauge = gauge_of(found)
    rows = found.rows()
    return Part(
        kind="comparison",
        name=" → ".join(found.systems),
        title="Is B different from A?",
        sentence=found.sentence,
        status=_STATUS[found.verdict],
        compared=_compared(found),
        signature=found.signature,
        gauge=gauge,
        facts=facts_of(rows),
        groups=_groups(found, gauge),
        notes=notes_of(rows),
        data=found.to_dict(),
    )


def gauge_of(found: Comparison) -> Gauge | None:
    """The ratio against 1 where there is one, else the difference against 0; with the margin, where one was given."""
    shown = found.difference if found.ratio is None else found.ratio
    if shown.value is None or shown.interval is None:
        return None
    centre = 0.0 if found.ratio is None else 1.0
    marks = [Mark(centre, "no difference")]
    margin = found.design.margin
    if margin is not None and found.ratio is None:
        marks += [Mark(-margin, f"−{words.number(margin)}"), Mark(margin, f"+{words.number(margin)}")]
    label = f"difference in {found.measure}, B − A" if found.ratio is None else "perplexity, B / A"
    return Gauge(
        label,
        shown.value,
        shown.interval.low,
        shown.interval.high,
        tuple(marks),
        "lower" if found.lower_is_better else "higher",
        words.estimate(shown.value, shown.interval, sign=found.ratio is None, null=centre),
    )


def _compared(found: Comparison) -> tuple[Fact, ...]:
    pairs = words.count(found.n_pairs, found.unit)
    clusters = "" if found.n_clusters is None else f" in {words.count(found.n_clusters, 'cluster')}"
    return (Fact("A", found.systems[0]), Fact("B", found.systems[1]), Fact("on", pairs + clusters))


def _groups(found: Comparison, gauge: Gauge | None) -> tuple[Group, ...]:
    from assay.report.comparison_chart import difference_chart, distribution_chart, interval_chart

    charts: list[Chart] = [] if gauge is None else [chart_of("interval", interval_chart, gauge)]
    if found.picture is not None:
        charts.append(chart_of("differences", difference_chart, found, found.picture))
        if found.picture.edges and found.difference.interval is not None:
            charts.append(chart_of("distribution", distribution_chart, found, found.picture))
    return (Group("Charts", charts=tuple(charts)),) if charts else ()
