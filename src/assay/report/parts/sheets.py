"""Results that are tables and a chart: Japanese."""

from assay.analyses.japanese.result import Japanese
from assay.analyses.japanese.sentences import scaled
from assay.report.document import Chart, Fact, Gauge, Group, Mark, Part, Status, Table
from assay.report.japanese_chart import japanese_chart
from assay.report.parts.common import chart_of, facts_of, notes_of
from assay.results import words


def japanese_part(found: Japanese) -> Part:
    """Accuracy by script, BLEU, and differences."""
    names = [system.name for system in found.systems]
    gauge = _japanese_gauge(found)
    return Part(
        kind="Japanese",
        name=", ".join(names),
        title="How well is Japanese written, script by script?",
        sentence=found.sentence,
        status=_judged(gauge),
        compared=_systems(names, words.count(found.n_units, found.unit)),
        signature=found.signature,
        gauge=gauge,
        facts=facts_of(found.evidence()),
        groups=_groups("By script", (chart_of("japanese", japanese_chart, found),), found),
        notes=notes_of(found.evidence()),
        data=found.to_dict(),
    )


def _japanese_gauge(found: Japanese) -> Gauge | None:
    """The quantity that the first pair is judged by."""
    if not found.differences or found.differences[0].headline is None:
        return None
    pair = found.differences[0]
    gap = pair.gap(pair.headline or "")
    value, limits = scaled(gap.quantity, gap.difference)
    if limits is None or value is None:
        return None
    return Gauge(
        f"{gap.quantity.label}, {pair.b} − {pair.a}",
        value,
        limits.low,
        limits.high,
        (Mark(0.0, "no difference"),),
        "lower" if gap.quantity.lower_is_better else "higher",
        words.estimate(value, limits, sign=True),
    )


def _judged(gauge: Gauge | None) -> Status:
    """Good, bad or open, by where the interval lies."""
    if gauge is None:
        return "plain"
    if gauge.low <= 0 <= gauge.high:
        return "unsure"
    return "good" if (gauge.low > 0) == (gauge.better == "higher") else "bad"


def _systems(names: list[str], units: str) -> tuple[Fact, ...]:
    label = "model" if len(names) == 1 else "models"
    return (Fact(label, ", ".join(names)), Fact("on", units))


def _groups(title: str, charts: tuple[Chart, ...], found: Japanese) -> tuple[Group, ...]:
    return (Group(title, charts=charts, tables=tuple(Table.of(sheet) for sheet in found.sheets())),)
