"""How high can a survey score get? What a perfect prediction scores with k options and n respondents, without a survey.

A sample of n differs from its population, so that the true shares themselves score less than 1 against it (C1). Where
all samples can be listed the expected score is exact; else the χ approximation where n·min p ≥ 10, where it is within
2%; else samples are drawn. The published recipe's numbers stand beside: its JSD is four times too large for one
sample, and it takes the root of a mean for the mean of a root.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from assay.design import signature
from assay.errors import UsageError
from assay.results import words
from assay.results.figures import Axes, Curve, Series
from assay.results.parts import Column, Fact, ResultTable, Section
from assay.results.record import Result
from assay.stats.survey import ENOUGH, chi_noise, composition_count, listed_moments, source_noise
from assay.stats.survey.respondents import drawn_moments

if TYPE_CHECKING:
    import pandas as pd

How = Literal["listed", "formula", "drawn"]

MOST_LISTED = 200_000.0  # samples
DRAWS = 20_000
MOST_OPTIONS, MOST_RESPONDENTS, MOST_ROWS = 100, 10**9, 1_000
LEAST_SHARE = 0.001  # rarer options are not drawn exactly
_THREE = words.fixed(3)


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyPlan:
    """Questions with so many options asked of so many respondents; by default the grid of the published recipe.

    Options are equally likely, unless ``shares`` says how likely each is: then there is one question.
    """

    options: Sequence[int] = (3, 4, 5, 6)
    respondents: Sequence[int] = (20, 50, 100, 500)
    shares: Sequence[float] | None = None  # that sum to 1, or to 100

    def __post_init__(self) -> None:
        _check_numbers("options", self.options, 2, MOST_OPTIONS)
        _check_numbers("respondents", self.respondents, 1, MOST_RESPONDENTS)
        if self.shares is not None:
            _check_shares(self.shares)
        if len(self.options) * len(self.respondents) > MOST_ROWS:
            raise UsageError(f"a table of more than {MOST_ROWS:,} rows; give fewer `options` or `respondents`.")

    @property
    def questions(self) -> "list[np.ndarray[tuple[int], np.dtype[np.float64]]]":
        """The shares of every question."""
        if self.shares is not None:
            own = np.array(self.shares, dtype=np.float64)
            return [own / own.sum()]
        return [np.full(k, 1 / k) for k in self.options]


def _check_numbers(name: str, values: Sequence[int], least: int, most: int) -> None:
    if not values:
        raise UsageError(f"`{name}` must be one number or more, but got none.")
    for value in values:
        if value != int(value) or not least <= value <= most:
            raise UsageError(f"`{name}` must be whole numbers from {least:,} to {most:,}, but got {value}.")


def _check_shares(shares: Sequence[float]) -> None:
    total = sum(shares)
    if not 2 <= len(shares) <= MOST_OPTIONS or not (abs(total - 1) < 0.011 or abs(total - 100) < 1.1):
        raise UsageError(f"`shares` must be two numbers or more that sum to 1 or to 100, but sum to {total:g}.")
    if min(shares) < LEAST_SHARE * total:
        raise UsageError(
            f"`shares` must be {LEAST_SHARE:.1%} or more each, but got {min(shares):g}; leave out what nobody chooses."
        )


class NoiseCell(msgspec.Struct, frozen=True):
    """One number of options and one of respondents."""

    options: int
    respondents: int
    jsd: float  # the expected JSD of a perfect prediction and a sample
    distance: float  # the expected root of it
    ceiling: float  # 1 − distance
    how: How
    error: float | None  # standard error, where samples were drawn
    formula_ceiling: float  # by the χ approximation
    recipe_jsd: float
    recipe_distance: float
    recipe_ceiling: float


class SurveyNoise(Result, frozen=True, kw_only=True, tag="assay/noise/1"):
    """What a perfect prediction would score, for each number of options and respondents."""

    question = "How high can a survey score get?"
    kind_name = "survey noise"

    sentence: str
    shares: tuple[float, ...] | None
    cells: tuple[NoiseCell, ...]
    draws: int
    signature: str

    @property
    def subject(self) -> str:
        return f"{_range([cell.respondents for cell in self.cells])} respondents"

    @property
    def compared(self) -> tuple[Fact, ...]:
        asked = f"{_range([cell.options for cell in self.cells])} options, {self.subject}"
        return (Fact("asked", len(self.cells), None, asked),)

    @property
    def facts(self) -> tuple[Fact, ...]:
        shares = "equal" if self.shares is None else ", ".join(f"{share:.3g}" for share in self.shares)
        found = [Fact("shares of the options", None, None, shares)]
        worst = max((cell.error or 0.0 for cell in self.cells), default=0.0)
        if worst:
            error = f"{self.draws:,} samples; standard error of the ceiling at most {worst:.1g}"
            found.append(Fact("drawn", worst, None, error))
        return tuple(found)

    @property
    def sections(self) -> tuple[Section, ...]:
        return (Section("noise", "Noise", _ABOUT, self._curves(), (self.noise_table,), page="power.md"),)

    @property
    def noise_table(self) -> ResultTable:
        cells = self.cells
        columns = (
            Column("options", [cell.options for cell in cells]),
            Column("respondents", [cell.respondents for cell in cells]),
            Column("JSD", [cell.jsd for cell in cells], _THREE, key="jsd"),
            Column("distance", [cell.distance for cell in cells], _THREE),
            Column("ceiling", [cell.ceiling for cell in cells], _THREE),
            Column("computed", [cell.how for cell in cells], key="how"),
            Column("recipe's JSD", [cell.recipe_jsd for cell in cells], _THREE, key="recipe_jsd"),
            Column("distance", [cell.recipe_distance for cell in cells], _THREE, key="recipe_distance"),
            Column("“similarity”", [cell.recipe_ceiling for cell in cells], _THREE, key="recipe_ceiling"),
            Column("formula_ceiling", [cell.formula_ceiling for cell in cells], hidden=True),
            Column("error", [cell.error for cell in cells], hidden=True),
        )
        return ResultTable("noise", "noise", columns, "a perfect prediction, and what the published recipe says of it")

    def _curves(self) -> tuple[Curve, ...]:
        sizes = sorted({cell.respondents for cell in self.cells})
        if len(sizes) < 2:
            return ()
        series = []
        for k in dict.fromkeys(cell.options for cell in self.cells):
            own = sorted((cell for cell in self.cells if cell.options == k), key=lambda cell: cell.respondents)
            series.append(Series(f"{k} options", tuple(c.respondents for c in own), tuple(c.ceiling for c in own)))
        about = ("The score of the true shares against a sample, on average: a ceiling for every predictor.",)
        ticks = {float(size): f"{size:,}" for size in sizes}
        axes = (Axes("expected score (1 − √JSD)", tuple(series)),)
        return (Curve("noise", "What a perfect prediction scores", about, "respondents", axes, 2, ticks),)

    def to_frame(self) -> "pd.DataFrame":
        """A row for each number of options and respondents (pandas must be installed)."""
        return self.noise_table.to_frame()


_ABOUT = (
    "“Ceiling” is the expected score 1 − √JSD of the true shares against a sample of so many people: no predictor that "
    "has not seen the sample does better on average. “Listed”: over all samples, exact; “formula”: the χ approximation;"
    " “drawn”: from random samples. The last columns are the published recipe's, which calls the same thing a floor."
)


def survey_noise(plan: SurveyPlan) -> SurveyNoise:
    """The table of a plan."""
    cells = tuple(_cell(shares, int(n)) for shares in plan.questions for n in plan.respondents)
    shares = None if plan.shares is None else tuple(plan.questions[0].tolist())
    return SurveyNoise(
        sentence=_sentence(cells),
        shares=shares,
        cells=cells,
        draws=DRAWS,
        signature=signature(
            "noise",
            options="+".join(str(k) for k in dict.fromkeys(cell.options for cell in cells)),
            respondents="+".join(str(n) for n in dict.fromkeys(cell.respondents for cell in cells)),
            shares=None if shares is None else "+".join(f"{share:.6g}" for share in shares),
            draws=DRAWS if any(cell.how == "drawn" for cell in cells) else None,
        ),
    )


def _cell(shares: "np.ndarray[tuple[int], np.dtype[np.float64]]", n: int) -> NoiseCell:
    k = len(shares)
    formula = float(chi_noise(np.array([n]), np.array([k]))[0])
    recipe = float(source_noise(np.array([n]), np.array([k]))[0])
    how, jsd, distance, error = _expected(shares, n, formula)
    values = 1 - distance, how, error, 1 - formula, recipe**2, recipe, max(0.0, 1 - recipe)
    return NoiseCell(k, n, jsd, distance, *values)


def _expected(
    shares: "np.ndarray[tuple[int], np.dtype[np.float64]]", n: int, formula: float
) -> tuple[How, float, float, float | None]:
    """How it was found, E JSD, E √JSD, and its standard error where samples were drawn."""
    if composition_count(n, len(shares)) <= MOST_LISTED:
        return "listed", *listed_moments(shares, n), None
    if n * float(shares.min()) >= ENOUGH - 1e-9:
        return "formula", (len(shares) - 1) / (8 * n * log(2)), formula, None
    return "drawn", *drawn_moments(shares, n, DRAWS)


def _sentence(cells: Sequence[NoiseCell]) -> str:
    asked = f"{_range([cell.options for cell in cells])} options and {_range([cell.respondents for cell in cells])}"
    ours, theirs = ([getattr(cell, name) for cell in cells] for name in ("ceiling", "recipe_ceiling"))
    if len(cells) == 1:
        found = f"{ours[0]:.3f} on average; the published recipe says {theirs[0]:.3f}"
    else:
        found = f"{min(ours):.3f} to {max(ours):.3f} on average; the published recipe says {min(theirs):.3f} to "
        found += f"{max(theirs):.3f}"
    return f"With {asked} respondents a perfect prediction scores {found}."


def _range(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
