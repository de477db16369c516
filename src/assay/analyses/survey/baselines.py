"""What predictors that know nothing, or little, would score (S2, C9)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.analyses import wording
from assay.analyses.sheet import Sheet
from assay.analyses.survey.against import Against, against, summary_of
from assay.analyses.survey.loaded import Survey
from assay.analyses.survey.scores import number, shown
from assay.analyses.survey.section import Section, Statement
from assay.analyses.survey.shuffled import Nulls, nulls
from assay.data.panel import Floats
from assay.data.survey import matched
from assay.design import Design
from assay.stats.multiplicity import holm

DEFAULT_PERMUTATIONS = 2_000
LEAST_PERMUTATIONS = 1_000
_BINS = 40
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Baseline:
    name: str
    score: float | None
    cells: int  # that it says something about
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Null:
    """Scores under permutation of the segments within questions."""

    model: str | None  # None: of the true answers
    observed: float | None
    mean: float | None
    standard_deviation: float | None
    low: float | None  # the central share of the null
    high: float | None
    p_value: float | None  # of as high a score; (1 + #) / (1 + B)
    p_adjusted: float | None  # Holm, over the models
    edges: tuple[float, ...]  # of a histogram
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Baselines(Section):
    name: ClassVar[str] = "baselines"

    baselines: tuple[Baseline, ...]
    against: tuple[Against, ...]
    shuffled: tuple[Null, ...]  # of the true answers first, then of each model's own predictions
    permutations: int
    level: float

    def sheets(self) -> list[Sheet]:
        cells = [[b.name, shown(b.score), f"{b.cells:,}"] for b in self.baselines]
        truth = self.shuffled[0]
        cells.append(["true answers, shuffled", shown(truth.mean), f"sd {shown(truth.standard_deviation)}"])
        return [
            Sheet(("baselines", "predictors without knowledge of the segment"), ["baseline", "score", "cells"], cells),
            self._against_sheet(),
            self._shuffled_sheet(),
        ]

    def _against_sheet(self) -> Sheet:
        level = wording.percent(self.level)
        header = ["model − baseline", "baseline", f"difference [{level}]", "d_z", "p, adjusted"]
        cells = []
        for one in self.against:
            limits = one.difference.interval
            value = one.difference.value
            text = "–" if value is None else f"{value:+.4f}"
            if value is not None and limits is not None:
                text += f" [{limits.low:+.4f} to {limits.high:+.4f}]"
            d = one.effect_sizes.get("d_z")
            effect = "–" if d is None or d.value is None else f"{d.value:+.2f}"
            p = "–" if one.p_adjusted is None else f"{one.p_adjusted:.2g}"
            cells.append([one.model, one.baseline, text, effect, p])
        return Sheet(("against", "each baseline, questions as clusters"), header, cells)

    def _shuffled_sheet(self) -> Sheet:
        header = ["model", "score", "own predictions shuffled", "p, adjusted"]
        cells = [
            [str(n.model), shown(n.observed), f"{shown(n.mean)} ± {shown(n.standard_deviation)}", _p(n.p_adjusted)]
            for n in self.shuffled[1:]
        ]
        return Sheet(("shuffled", f"segments within questions, {self.permutations:,} permutations"), header, cells)

    def sentences(self) -> list[Statement]:
        said = [s for b in self.baselines if b.score is not None for s in self._about(b.name)]
        return [*said, *self._about_shuffled()]

    def _about(self, baseline: str) -> list[Statement]:
        above, below, neither = summary_of(self.against, baseline)
        total = len(above) + len(below) + len(neither)
        if not total:
            return []
        counts = f"{len(above)} of {total} models are above it, {len(below)} below, {len(neither)} not told apart"
        text = f"Against the baseline “{baseline}” (paired by question, Holm-adjusted): {counts}."
        if len(above) == total:
            return [
                Statement(f"All {total} models score significantly above the baseline “{baseline}”. {text}", holds=True)
            ]
        return [Statement(f"Not shown: that models in general exceed the baseline “{baseline}”. {text}", holds=False)]

    def _about_shuffled(self) -> list[Statement]:
        tested = [n for n in self.shuffled[1:] if n.p_adjusted is not None]
        known = [n for n in tested if n.p_adjusted is not None and n.p_adjusted <= 1 - self.level]
        if not tested:
            return []
        text = (
            f"{len(known)} of {len(tested)} models score higher with their predictions on the right segments than with "
            f"them shuffled within questions ({self.permutations:,} permutations, Holm-adjusted)"
        )
        lacking = [str(n.model) for n in tested if n not in known]
        more = "." if not lacking else f"; for {', '.join(lacking)} no knowledge of segments is shown."
        return [Statement(text + more, holds=not lacking)]


def _p(p: float | None) -> str:
    return "–" if p is None else f"{p:.2g}"


def baselines(survey: Survey, design: Design) -> Baselines:
    """Baselines, every model against each of them, and the two shuffled nulls."""
    count = max(design.resamples or DEFAULT_PERMUTATIONS, LEAST_PERMUTATIONS)
    found = nulls(survey, count, design.seed)
    return Baselines(
        tuple(_baseline(survey, name, scores) for name, scores in survey.baseline_scores.items()),
        against(survey, survey.baseline_scores, design),
        _nulls(survey, found, design),
        count,
        design.level,
    )


def _baseline(survey: Survey, name: str, scores: Floats) -> Baseline:
    cells = int((~np.isnan(scores)).sum())
    note = None
    if name == "prior round" and survey.prior is not None:
        same = matched(survey.truth.questions, survey.prior.questions)
        note = f"{len(same)} of {len(survey.truth.questions)} questions were asked in {survey.prior.source}"
    return Baseline(name, number(survey.overall(scores[:, None])[0]), cells, note)


def _nulls(survey: Survey, found: Nulls, design: Design) -> tuple[Null, ...]:
    count = found.models.shape[1]
    there = np.flatnonzero(~np.isnan(found.observed))
    reached = (found.models[there] >= found.observed[there, None] - _TIE).sum(axis=1)
    p = dict(zip(there.tolist(), ((1 + reached) / (1 + count)).tolist(), strict=True))
    adjusted = dict(zip(there.tolist(), holm(np.array(list(p.values()), dtype=np.float64)).tolist(), strict=True))
    truth = _null(None, None, found.truth, (None, None), design.level)
    own = [
        _null(name, number(found.observed[m]), found.models[m], (p.get(m), adjusted.get(m)), design.level)
        for m, name in enumerate(survey.models)
    ]
    return (truth, *own)


def _null(
    model: str | None, observed: float | None, values: Floats, p: tuple[float | None, float | None], level: float
) -> Null:
    if np.isnan(values).any():
        return Null(model, observed, None, None, None, None, None, None, (), ())
    low, high = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2]).tolist()
    counts, edges = np.histogram(values, _BINS)
    spread = float(values.std(ddof=1))
    return Null(
        model, observed, float(values.mean()), spread, low, high, *p, tuple(edges.tolist()), tuple(counts.tolist())
    )
