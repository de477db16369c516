"""Gaps as tables and sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.analyses.sheet import Sheet
from assay.analyses.survey.fairness_parts import Category, CategoryGap
from assay.analyses.survey.section import Statement
from assay.results import words
from assay.stats.records import Estimate


def sheet_of(category: Category, level: float) -> Sheet:
    least, most = category.respondents
    thin = "–".join(str(n) for n in dict.fromkeys(category.equal_n))
    about = f"{category.name}: {len(category.segments)} segments of {least} to {most}, thinned to {thin} respondents"
    if category.left_out:
        about += f", without {words.count(category.left_out, 'question')} that defines them"
    header = (
        "model",
        "gap",
        f"without noise, these questions [{words.percent(level)}]",
        "expected if equal",
        "at equal n",
        "expected if equal",
        f"true gap [{words.percent(level)}, simultaneous]",
        "p, adjusted",
    )
    cells = [
        (
            gap.model,
            _three(gap.gap),
            "–" if gap.sampling is None else _excess(gap.sampling),
            _three(None if gap.expected is None else gap.expected.mean),
            _three(gap.equal_gap),
            _three(gap.equal_expected),
            _excess(replace(gap.excess, interval=gap.together or gap.excess.interval)),
            _p(gap.p_adjusted),
        )
        for gap in category.gaps
    ]
    perfect = ("a perfect model", _three(category.perfect_gap), "", "", "", "", "", "")
    return Sheet(("fairness", about), header, [*cells, perfect])


def _three(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _p(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2g}"


def _excess(excess: Estimate) -> str:
    if excess.value is None or excess.interval is None:
        return "undefined"
    return f"{excess.value:.3f} [{excess.interval.low:.3f} to {excess.interval.high:.3f}]"


def statements_of(category: Category, level: float) -> Iterator[Statement]:
    tested = [gap for gap in category.gaps if gap.p_adjusted is not None]
    for gap in category.gaps:
        if gap.p_adjusted is not None and gap.p_adjusted <= 1 - level:
            yield Statement(_shown(category, gap, level), holds=True)
    rest = [gap for gap in tested if gap.p_adjusted is not None and gap.p_adjusted > 1 - level]
    if rest:
        yield Statement(_withheld(category, rest), holds=False)
    for reason in dict.fromkeys(gap.test.reason for gap in category.gaps if gap.p_adjusted is None):
        own = [gap.model for gap in category.gaps if gap.p_adjusted is None and gap.test.reason == reason]
        who = own[0] if len(own) == 1 else words.count(len(own), "model")
        yield Statement(f"Nothing is said of the gap in {category.name} of {who}: {reason}.", holds=False)
    if category.perfect_gap >= 0.005:
        least, most = category.respondents
        yield Statement(
            f"A perfect model would show a gap of {category.perfect_gap:.3f} between the segments of {category.name}, "
            f"because they have {least} to {most} respondents.",
            holds=True,
        )


def _shown(category: Category, gap: CategoryGap, level: float) -> str:
    limits = gap.together or gap.excess.interval
    assert limits is not None
    assert gap.p_adjusted is not None
    return (
        f"{gap.model} predicts segments of {category.name} unequally well: at equal numbers of respondents "
        f"{gap.equal_worst} scores {_three(gap.equal_gap)} below {gap.equal_best}, the true gap being "
        f"{_three(limits.low)} to {_three(limits.high)} ({words.percent(level)} simultaneous interval; adjusted "
        f"{words.p_value(gap.p_adjusted)})."
    )


def _withheld(category: Category, gaps: Sequence[CategoryGap]) -> str:
    largest = max(gaps, key=lambda gap: gap.gap or 0.0)
    assert largest.expected is not None
    least = min(gap.p_adjusted for gap in gaps if gap.p_adjusted is not None)
    who = largest.model if len(gaps) == 1 else f"{len(gaps)} models"
    size = f"of {_three(largest.gap)}" if len(gaps) == 1 else f"of up to {_three(largest.gap)}"
    return (
        f"No unequal accuracy is shown for {who} in {category.name}: gaps {size} are published, where equal accuracy "
        f"would give {largest.expected.mean:.3f} on average at these numbers of respondents (smallest adjusted "
        f"p = {least:.2g}). This does not show equality either."
    )
