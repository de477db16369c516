"""The gaps between the segments of a category: a record for each model, as a table, a line of a chart and sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import msgspec
import numpy as np

from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.sentences import Advice, Statement
from assay.results import words
from assay.results.figures import Figure, Forest, Line, Matrix, SecondMark
from assay.results.parts import Column, Fact, ResultTable
from assay.stats.records import Estimate, Interval, Test
from assay.stats.survey.gaps import Expected

_THREE = words.fixed(3)
WIDE_GAP = 0.05  # a gap from sample size alone that would be read as unfair
GROUPS = ("not shown", "shown")


class RecipeTests(msgspec.Struct, frozen=True):
    """What the published recipe's three tests say of a gap; none of them keeps its error (`survey-fairness.md`)."""

    resampling: Interval | None  # of the gap, respondents drawn again; “significant” where it does not reach 0
    permutation: Test  # segments permuted within questions
    analytical: Test  # the gap over its sampling error

    def shown_at(self, level: float) -> tuple[bool, bool, bool]:
        """Which of the three call the gap significant."""
        resampling = self.resampling is not None and self.resampling.low > 0
        return resampling, _rejects(self.permutation, level), _rejects(self.analytical, level)


def _rejects(test: Test, level: float) -> bool:
    return test.p_value is not None and test.p_value <= 1 - level


class CategoryGap(msgspec.Struct, frozen=True):
    """One model in one category of segments."""

    model: str
    gap: float | None  # max − min of the segments' scores, as published
    best: str | None  # its two segments
    worst: str | None
    expected: Expected | None  # what equal accuracy would show at these numbers of respondents
    equal_gap: float | None  # the gap at equal numbers of respondents
    equal_best: str | None
    equal_worst: str | None
    equal_expected: float | None  # what equal accuracy would show there
    excess: Estimate  # what is left of it; the interval is of the true gap, and begins above 0 where the test rejects
    test: Test
    p_adjusted: float | None  # Bonferroni's, over all models and categories
    benjamini_hochberg: float | None
    sampling: Estimate | None  # the true published gap on these questions: respondents drawn again
    together: Interval | None  # of the true gap, for all models and categories at once; agrees with p_adjusted
    reach: float | None = None  # a larger gap at equal n is shown, adjusted for all models and categories
    recipe: RecipeTests | None = None  # the published recipe's tests of it

    @property
    def simultaneous(self) -> Estimate:
        """The true gap with the interval that holds for all models and categories, where there is one."""
        return replace(self.excess, interval=self.together or self.excess.interval)

    def shown_at(self, level: float) -> bool:
        """Whether unequal accuracy is shown, adjusted for all models and categories."""
        return self.p_adjusted is not None and self.p_adjusted <= 1 - level


class CategoryGaps(msgspec.Struct, frozen=True):
    """The segments that are compared, and every model's gap between them."""

    name: str
    segments: tuple[str, ...]
    respondents: tuple[int, int]  # in the smallest and the largest segment
    equal_n: tuple[int, int]  # the number to which answers are thinned: least and most over the questions
    questions: int
    left_out: int  # questions that define the segments
    perfect_gap: float  # what a perfect model would show, by sample size alone
    gaps: tuple[CategoryGap, ...]


def gap_table(category: CategoryGaps, level: float) -> ResultTable:
    least, most = category.respondents
    thin = "–".join(str(n) for n in dict.fromkeys(category.equal_n))
    about = f"{category.name}: {len(category.segments)} segments of {least} to {most}, thinned to {thin} respondents"
    if category.left_out:
        about += f", without the {words.count(category.left_out, 'question')} used to define them"
    percent, gaps, estimated = words.percent(level), category.gaps, words.fixed(3, undefined="undefined")
    equal, expected = "at equal n", "expected if equal"
    published = [None if gap.expected is None else gap.expected.mean for gap in gaps]
    without, true = f"without noise, these questions [{percent}]", f"true gap [{percent}, simultaneous]"
    columns = (  # the last row is of a perfect model, of which there is only the gap
        Column("model", [*(gap.model for gap in gaps), "a perfect model"], may_shorten=True),
        Column("gap", [*(gap.gap for gap in gaps), category.perfect_gap], _THREE),
        Column(without, [*(gap.sampling for gap in gaps), None], estimated, key="sampling"),
        Column(expected, [*published, None], _THREE, key="expected"),
        Column(equal, [*(gap.equal_gap for gap in gaps), None], _THREE, key="equal_gap"),
        Column(expected, [*(gap.equal_expected for gap in gaps), None], _THREE, key="equal_expected"),
        Column(true, [*(gap.simultaneous for gap in gaps), None], estimated, key="true_gap"),
        Column("p, adjusted", [*(gap.p_adjusted for gap in gaps), None], words.p_alone, key="p_adjusted"),
    )
    return ResultTable(f"fairness {category.name}", "fairness", columns, about)


def line_of(category: str, gap: CategoryGap, level: float) -> Line:
    found = gap.simultaneous
    assert found.interval is not None
    expected = None if gap.expected is None else gap.expected.mean
    return Line(
        f"{category} · {gap.model}",
        found.value,
        found.interval.low,
        found.interval.high,
        GROUPS[gap.shown_at(level)],
        (SecondMark(gap.gap, shape="tick"), SecondMark(expected, shape="triangle")),
    )


def gap_statements(category: CategoryGaps, level: float) -> Iterator[Statement]:
    tested = [gap for gap in category.gaps if gap.p_adjusted is not None]
    for gap in category.gaps:
        if gap.shown_at(level):
            yield Statement(_unequal(category, gap, level), holds=True)
    rest = [gap for gap in tested if not gap.shown_at(level)]
    if rest:
        yield Statement(_not_shown(category, rest), holds=False)
    for reason in dict.fromkeys(gap.test.reason for gap in category.gaps if gap.p_adjusted is None):
        own = [gap.model for gap in category.gaps if gap.p_adjusted is None and gap.test.reason == reason]
        who = own[0] if len(own) == 1 else words.count(len(own), "model")
        yield Statement(f"No gap in {category.name} is tested for {who}: {reason}.", holds=False)
    if category.perfect_gap >= 0.005:
        least, most = category.respondents
        yield Statement(
            f"A perfect model would show a gap of {category.perfect_gap:.3f} between the segments of {category.name}, "
            f"because they have {least} to {most} respondents.",
            holds=True,
        )


def _unequal(category: CategoryGaps, gap: CategoryGap, level: float) -> str:
    limits = gap.simultaneous.interval
    assert limits is not None
    assert gap.p_adjusted is not None
    return (
        f"{gap.model} predicts segments of {category.name} unequally well: at equal numbers of respondents "
        f"{gap.equal_worst} scores {_THREE(gap.equal_gap)} below {gap.equal_best}, with a true gap of "
        f"{_THREE(limits.low)} to {_THREE(limits.high)} ({words.percent(level)} simultaneous interval; adjusted "
        f"{words.p_value(gap.p_adjusted)})."
    )


def _not_shown(category: CategoryGaps, gaps: Sequence[CategoryGap]) -> str:
    largest = max(gaps, key=lambda gap: gap.gap or 0.0)
    assert largest.expected is not None
    least = min(gap.p_adjusted for gap in gaps if gap.p_adjusted is not None)
    who = largest.model if len(gaps) == 1 else f"{len(gaps)} models"
    size = f"of {_THREE(largest.gap)}" if len(gaps) == 1 else f"of up to {_THREE(largest.gap)}"
    return (
        f"No unequal accuracy is shown for {who} in {category.name}: gaps {size} are published, where equal accuracy "
        f"would give {largest.expected.mean:.3f} on average at these numbers of respondents (smallest adjusted "
        f"p = {least:.2g}). This does not show equality either."
    )


class Fairness(SurveyAnalysis, frozen=True, tag="fairness"):
    """Every model's gaps, tested against what equal accuracy gives."""

    page: ClassVar[str] = "survey-fairness.md"

    level: float
    resamples: int
    categories: tuple[CategoryGaps, ...]
    notes: tuple[str, ...]
    statements: tuple[Statement, ...] = ()

    @property
    def main_fact(self) -> Fact | None:
        tested = [(one.name, gap) for one in self.categories for gap in one.gaps if gap.p_adjusted is not None]
        if not tested:
            return None
        shown = [f"{gap.model}: {name}" for name, gap in tested if gap.shown_at(self.level)]
        names = f" ({words.listed(shown, 3)})" if shown else ""
        return Fact(
            "unequal accuracy shown", len(shown), None, f"{len(shown)} of {words.count(len(tested), 'gap')}{names}"
        )

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        return (*(gap_table(category, self.level) for category in self.categories), *self._recipe_table())

    @property
    def _recipes(self) -> list[tuple[str, CategoryGap, RecipeTests]]:
        found = ((category.name, gap) for category in self.categories for gap in category.gaps)
        return [(name, gap, gap.recipe) for name, gap in found if gap.recipe is not None]

    def _recipe_table(self) -> Iterator[ResultTable]:
        rows = self._recipes
        if not rows:
            return
        columns = (
            Column("category", [name for name, _, _ in rows]),
            Column("model", [gap.model for _, gap, _ in rows], may_shorten=True),
            Column("gap", [gap.gap for _, gap, _ in rows], _THREE),
            Column(f"resampling [{words.percent(self.level)}]", [r.resampling for _, _, r in rows], _THREE),
            Column("permutation p", [r.permutation.p_value for _, _, r in rows], words.p_alone, key="permutation_p"),
            Column("analytical p", [r.analytical.p_value for _, _, r in rows], words.p_alone, key="analytical_p"),
            Column("our p", [gap.test.p_value for _, gap, _ in rows], words.p_alone, key="p"),
            Column("adjusted", [gap.p_adjusted for _, gap, _ in rows], words.p_alone, key="p_adjusted"),
        )
        about = "the published recipe's three tests, which reject too often, beside ours"
        yield ResultTable("fairness recipe", "fairness", columns, about)

    def figures(self, beside: Mapping[str, SurveyAnalysis]) -> tuple[Figure, ...]:  # noqa: ARG002
        """The true gaps with their intervals, beside the published ones and what equality would show."""
        lines = tuple(
            line_of(category.name, gap, self.level)
            for category in self.categories
            for gap in category.gaps
            if gap.simultaneous.interval is not None
        )
        if not lines:
            return ()
        level, for_all = words.percent(self.level), " for all at once"
        about = (
            f"Points and lines: the true gap at equal numbers of respondents, with its {level} CI{for_all}.",
            "Orange squares: unequal accuracy is shown (adjusted for all); blue circles: it is not.",
            "Black ticks: gaps as published. Open triangles: what equal accuracy would show at these sample sizes.",
        )
        title, axis = "Fairness gaps, and what sample size makes of them", "gap between the best and the worst segment"
        gaps = Forest("gaps", title, about, axis, lines, groups=GROUPS, legend=False, zero=True)
        return self._overview(), gaps

    def _overview(self) -> Matrix:
        """Models and categories: the true gap, coloured where unequal accuracy is shown."""
        known = {(gap.model, category.name): gap for category in self.categories for gap in category.gaps}
        models = tuple(dict.fromkeys(model for model, _ in known))
        names = tuple(category.name for category in self.categories)
        rows = [[known.get((model, category)) for category in names] for model in models]
        return Matrix(
            "fairness",
            "For whom is it less accurate?",
            (
                "Cells: the true gap between the best and the worst segment of a category.",
                "Orange: unequal accuracy is shown, adjusted for all. Grey: it is not.",
            ),
            models,
            names,
            tuple(tuple(None if gap is None else gap.simultaneous.value for gap in row) for row in rows),
            tuple(
                tuple(None if gap is None else -1.0 if gap.shown_at(self.level) else 0.0 for gap in row) for row in rows
            ),
            "",
            ".3f",
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        return (*(f"Note: {note}." for note in self.notes), *self._about_recipes())

    def _about_recipes(self) -> Iterator[str]:
        rows = self._recipes
        if rows:
            each = np.sum([recipe.shown_at(self.level) for _, _, recipe in rows], axis=0).tolist()
            ours = sum(gap.shown_at(self.level) for _, gap, _ in rows)
            yield (
                f"Note: the published recipe calls {each[0]} (resampling), {each[1]} (permutation) and {each[2]} "
                f"(analytical) of {words.count(len(rows), 'gap')} significant; of these, unequal accuracy is shown for "
                f"{ours}. Its tests also reject where all segments are predicted equally well."
            )

    def advice(self) -> Iterator[Advice]:
        wide = [category for category in self.categories if category.perfect_gap >= WIDE_GAP]
        if wide:
            named = ", ".join(f"{category.name} {category.perfect_gap:.2f}" for category in wide)
            yield Advice(
                "Do not publish max − min gaps; compare segments at equal numbers of respondents, or use coarser "
                "segments.",
                f"A perfect model would show these gaps by sample size alone: {named}.",
            )

    def sentences(self) -> Iterator[Statement]:
        for category in self.categories:
            yield from gap_statements(category, self.level)
