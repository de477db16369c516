"""Do scores vary less between runs at a lower temperature? (S4)

A model that was asked at several temperatures (its name with `[temp:0.3]`), each in two runs or more. For every
question asked of a segment, the variance of its scores between runs is estimated at both; their sums over a question
are compared, because answers to one question go together. If temperature makes no difference, the two sums of a
question can change places: an exact sign-flip test. The ratio of the mean variances has an interval that draws
questions, and leaves out 1 exactly where the test rejects.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import sqrt

import msgspec
import numpy as np

from assay.analyses.contrast import moved_limits
from assay.analyses.survey.evidence import Survey
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.scores import FOUR
from assay.analyses.survey.sentences import Advice, Statement
from assay.design import Design
from assay.results import words
from assay.results.parts import Column, ResultTable
from assay.stats.paired_tests import sign_flip
from assay.stats.records import Estimate, Interval, Test
from assay.stats.units import Floats, Units

FEWEST = 6  # questions: the signs of fewer cannot give p ≤ 0.05
_NOTHING = 1e-20  # variances below are rounding
_TEMPERATURE = re.compile(r"\[temp[:=]\s*(\d+(?:\.\d+)?)\s*\]")
NONE = (
    "No temperatures are compared: no model has answers at two temperatures, its name with [temp:0.3] and the like, "
    "each in two runs or more."
)


class TemperatureEffect(msgspec.Struct, frozen=True):
    """One model at two temperatures: how far its scores of the same question and segment vary between runs."""

    model: str
    temperatures: tuple[float, float]  # the lower one first
    runs: tuple[int, int]  # at most, of an answer
    items: int  # questions × segments (× contexts) that both have in two runs or more
    questions: int
    sd: tuple[float, float]  # between the runs of a single answer
    ratio: Estimate  # variance at the lower temperature over that at the higher one; alone
    together: Interval | None  # of the ratio, for all comparisons at once; agrees with p_adjusted
    test: Test
    p_adjusted: float | None  # Bonferroni's

    def shown_at(self, level: float) -> bool:
        return self.p_adjusted is not None and self.p_adjusted <= 1 - level


class Temperatures(SurveyAnalysis, frozen=True, tag="temperature"):
    """Every model at its temperatures."""

    effects: tuple[TemperatureEffect, ...]
    level: float
    statements: tuple[Statement, ...] = ()

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        rows = self.effects
        if not rows:
            return ()
        columns = (
            Column("model", [one.model for one in rows], may_shorten=True),
            Column("lower", [one.temperatures[0] for one in rows], key="lower_temperature"),
            Column("higher", [one.temperatures[1] for one in rows], key="higher_temperature"),
            Column("sd at the lower", [one.sd[0] for one in rows], FOUR, key="lower_sd"),
            Column("at the higher", [one.sd[1] for one in rows], FOUR, key="higher_sd"),
            Column(
                f"variance, lower / higher [{words.percent(self.level)}, simultaneous]",
                [replace(one.ratio, interval=one.together) for one in rows],
                words.fixed(3, undefined="undefined"),
                key="ratio",
            ),
            Column("p, adjusted", [one.p_adjusted for one in rows], words.p_alone, key="p_adjusted"),
            Column("questions", [one.questions for one in rows]),
        )
        return (ResultTable("temperature", "temperature", columns, "of the scores of an answer between runs"),)

    @property
    def remarks(self) -> tuple[str, ...]:
        return () if self.effects else (NONE,)

    def advice(self) -> Iterator[Advice]:
        shown = [one for one in self.effects if one.shown_at(self.level) and one.sd[0] < one.sd[1]]
        if shown:
            best = min(shown, key=lambda one: one.ratio.value or 0.0)
            yield Advice(
                f"Ask at temperature {best.temperatures[0]:g}.",
                f"The scores of {best.model} vary less between runs there than at {best.temperatures[1]:g}: a standard "
                f"deviation of {best.sd[0]:.4f} instead of {best.sd[1]:.4f}.",
            )

    def sentences(self) -> Iterator[Statement]:
        for one in self.effects:
            yield Statement(_sentence(one, self.level), holds=one.shown_at(self.level))


def _sentence(found: TemperatureEffect, level: float) -> str:
    low, high = (f"{value:g}" for value in found.temperatures)
    spread = f"a single score has a standard deviation of {found.sd[0]:.4f} at {low} and {found.sd[1]:.4f} at {high}"
    if found.p_adjusted is None:
        return f"Whether temperature changes the run-to-run noise of {found.model} is unknown: {found.test.reason}."
    limits = found.together
    ratio = (
        ""
        if limits is None or found.ratio.value is None
        else f"variance × {found.ratio.value:.3g}, {_limits(limits)}; "
    )
    numbers = f"{ratio}adjusted {words.p_value(found.p_adjusted)}; {words.count(found.questions, 'question')}"
    if not found.shown_at(level):
        return (
            f"It is not shown that temperature {low} changes the run-to-run noise of {found.model} against {high}: "
            f"{spread} ({numbers})."
        )
    less = "less" if found.sd[0] < found.sd[1] else "more"
    return (
        f"Scores of {found.model} vary {less} between runs at temperature {low} than at {high}: {spread} ({numbers})."
    )


def _limits(limits: Interval) -> str:
    return f"{words.percent(limits.level)} CI {limits.low:.3g} to {limits.high:.3g}"


def temperature(survey: Survey, design: Design) -> Temperatures:
    """Every model's lowest temperature against each of its others."""
    pairs = list(_pairs(survey.models))
    spreads = {m: _spreads(survey, m) for pair in pairs for m in pair[2]}
    known = [
        (name, values, spreads[a], spreads[b]) for name, values, (a, b) in pairs if _shared(spreads[a], spreads[b])
    ]
    effects = [_effect(survey, *one, design, len(known)) for one in known]
    return Temperatures(tuple(effects), design.level)


def _pairs(models: Sequence[str]) -> Iterator[tuple[str, tuple[float, float], tuple[int, int]]]:
    """The name without its temperature, the lowest temperature and another, and the models that these are."""
    found = []
    for m, name in enumerate(models):
        given = _TEMPERATURE.search(name)
        if given is not None:
            found.append((_TEMPERATURE.sub("", name).strip(), float(given[1]), m))
    for name, own in groupby(sorted(found), key=lambda one: one[0]):
        (_, lowest, first), *others = own
        for _, value, m in others:
            if value > lowest:
                yield name, (lowest, value), (first, m)


@dataclass(frozen=True, eq=False)
class _Spread:
    """The answers of a model that it gave twice or more often: their variance between runs."""

    variance: dict[tuple[int, int], float]  # by cell and context
    runs: int


def _spreads(survey: Survey, model: int) -> _Spread:
    answers = survey.predictions
    rows = np.flatnonzero((answers.model == model) & ~np.isnan(survey.row_scores))
    keys = np.column_stack([answers.cell[rows], answers.context[rows]])
    places, group = np.unique(keys, axis=0, return_inverse=True)
    group, scores = group.ravel(), survey.row_scores[rows]
    count = np.bincount(group, minlength=len(places))
    mean = np.bincount(group, scores, len(places)) / count
    squares = np.bincount(group, (scores - mean[group]) ** 2, len(places))
    squares[squares < _NOTHING] = 0.0
    several = np.flatnonzero(count > 1)
    found = {(int(places[i, 0]), int(places[i, 1])): float(squares[i] / (count[i] - 1)) for i in several.tolist()}
    return _Spread(found, int(count.max(initial=0)))


def _shared(a: _Spread, b: _Spread) -> list[tuple[int, int]]:
    return [item for item in a.variance if item in b.variance]


def _effect(
    survey: Survey, name: str, values: tuple[float, float], low: _Spread, high: _Spread, design: Design, family: int
) -> TemperatureEffect:
    items = _shared(low, high)
    question = survey.truth.question[[cell for cell, _ in items]]
    names, codes = np.unique(question, return_inverse=True)
    single = [np.array([spread.variance[item] for item in items]) for spread in (low, high)]
    sums = [np.asarray(np.bincount(codes, own, len(names)), dtype=np.float64) for own in single]
    ratio, together, test = variance_ratio(sums[0], sums[1], design, family)
    return TemperatureEffect(
        name,
        values,
        (low.runs, high.runs),
        len(items),
        len(names),
        (sqrt(float(sums[0].sum()) / len(items)), sqrt(float(sums[1].sum()) / len(items))),
        ratio,
        together,
        test,
        None if test.p_value is None else min(1.0, test.p_value * family),
    )


def variance_ratio(
    low: Floats, high: Floats, design: Design, family: int = 1
) -> tuple[Estimate, Interval | None, Test]:
    """The ratio of two sums of variances over questions (Q,), its interval as one of a family, and a sign-flip test.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> ratio, _, test = variance_ratio(rng.chisquare(4, 30), 3 * rng.chisquare(4, 30), Design())
    >>> round(ratio.value, 2), test.p_value < 0.001
    (0.3, True)
    """
    n, nothing = len(low), None
    if n < FEWEST:
        reason = f"only {words.count(n, 'question')} with repeated answers at both temperatures, of at least {FEWEST}"
        return Estimate(None, None, None, n, reason), nothing, Test("sign-flip", None, None, n, reason)
    test, _ = sign_flip(low - high, seed=design.seed)
    if not high.sum() > 0:
        reason = "answers repeat exactly at the higher temperature"
        return Estimate(None, None, None, n, reason), nothing, test
    units = Units(low, high)
    asked = design if bool((high > 0).all()) else replace(design, method="t")
    alone, together = (_limits_of(units, asked, test, count) for count in (1, family))
    return Estimate(units.estimate, alone, None, n), together, test


def _limits_of(units: Units, design: Design, test: Test, family: int) -> Interval:
    """The interval of the ratio at the level of one of a family: it leaves out 1 exactly where the test rejects."""
    each = replace(design, level=1 - (1 - design.level) / family)
    found = each.interval(units).interval
    shifted = replace(found, low=found.low - 1, high=found.high - 1, level=design.level)
    p = None if test.p_value is None else min(1.0, test.p_value * family)
    moved = moved_limits(shifted, p, units.estimate - 1)
    return replace(moved, low=max(moved.low + 1, 0.0), high=moved.high + 1)
