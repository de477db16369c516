"""The parts of a fairness result: a category of segments, and the gap of a model within it."""

from dataclasses import dataclass

from assay.stats.records import Estimate, Interval, Test
from assay.stats.survey.gaps import Expected


@dataclass(frozen=True, slots=True)
class CategoryGap:
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
    p_adjusted: float | None = None  # Bonferroni's, over all models and categories
    benjamini_hochberg: float | None = None
    sampling: Estimate | None = None  # the true published gap on these questions: respondents drawn again
    together: Interval | None = None  # of the true gap, for all models and categories at once; agrees with p_adjusted


@dataclass(frozen=True, slots=True)
class Category:
    """The segments that are compared, and every model's gap between them."""

    name: str
    segments: tuple[str, ...]
    respondents: tuple[int, int]  # in the smallest and the largest segment
    equal_n: tuple[int, int]  # the number to which answers are thinned: least and most over the questions
    questions: int
    left_out: int  # questions that define the segments
    perfect_gap: float  # what a perfect model would show, by sample size alone
    gaps: tuple[CategoryGap, ...]
