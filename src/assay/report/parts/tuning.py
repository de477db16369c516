"""A tuning report as a part of a document."""

from assay.analyses.tune.records import Better
from assay.analyses.tune.result import TuningReport
from assay.report.document import Fact, Gauge, Group, Mark, Part, Status, Table
from assay.report.parts.common import chart_of
from assay.report.tuning_chart import panel_charts
from assay.results import words
from assay.results.explanations import Explanation

_STATUS: dict[Better, Status] = {
    "better": "good",
    "worse": "bad",
    "no difference shown": "unsure",
    "not measured": "plain",
}

_METHOD = Explanation(
    "Means over the seeds of an arm, with t intervals where there are several. Ratios are of an arm over the baseline. "
    "Significance is paired by validation window, with seeds as clusters. What no log holds is not measured.",
    "tune.md",
)


def tuning_part(report: TuningReport) -> Part:
    """Which way to train is better, and what it costs."""
    names = [arm.name for arm in report.arms]
    runs = sum(len(arm.runs) for arm in report.arms)
    return Part(
        kind="tuning",
        name=", ".join(names),
        title="Which way to train is better, and what does it cost?",
        sentence=report.sentence,
        status=_status(report),
        compared=(Fact("arms", ", ".join(names)), Fact("runs", words.count(runs, "run"))),
        signature=report.signature,
        gauge=_gauge(report),
        groups=(
            Group("What to do", said=tuple(f"{one.text} Because {one.because}." for one in report.recommendations)),
            Group(
                "Curves and costs",
                charts=tuple(chart_of(name, lambda one: one, drawn) for name, drawn in panel_charts(report)),
            ),
            Group("Tables", tables=tuple(Table.of(sheet, method=_METHOD) for sheet in report.sheets())),
        ),
        notes=report.notes,
        data=report.to_dict(),
    )


def _status(report: TuningReport) -> Status:
    if not report.contrasts:
        return "plain"
    return _STATUS[report.contrasts[0].verdict]


def _gauge(report: TuningReport) -> Gauge | None:
    """The first arm against the baseline: the ratio of perplexities that the verdict gives."""
    if not report.contrasts:
        return None
    contrast = report.contrasts[0]
    ratio = contrast.ratios.get("perplexity")
    if ratio is None or ratio.value is None or ratio.interval is None:
        return None if contrast.windows is None else contrast.windows.gauge
    return Gauge(
        f"perplexity, {contrast.arm} / {contrast.baseline}",
        ratio.value,
        ratio.interval.low,
        ratio.interval.high,
        (Mark(1.0, "no difference"),),
        "lower",
        words.estimate(ratio.value, ratio.interval, null=1.0),
    )
