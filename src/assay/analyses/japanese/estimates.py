"""Every quantity with its interval, and two systems compared in pairs."""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from assay.analyses.contrast import agreed
from assay.analyses.japanese.counts import TextCounts, TextMeasure
from assay.analyses.japanese.result import QuantityDifference, QuantityValue, SystemScores
from assay.design import DEFAULT_RESAMPLES, Design
from assay.stats.bootstrap.totals import paired_bootstrap, randomization, replicated_sums, score_interval
from assay.stats.paired_tests import sign_flip
from assay.stats.records import Estimate, Fallback, Test
from assay.stats.rounding import difference as without_rounding
from assay.stats.units import Floats, Units, standard_error


class Estimates:
    """The estimates of some evidence under a design, and what could not be done as asked."""

    def __init__(self, evidence: TextCounts, design: Design) -> None:
        self.evidence, self.design = evidence, design
        self.resamples = design.resamples or DEFAULT_RESAMPLES
        self._fallbacks: list[Fallback] = []

    @property
    def fallbacks(self) -> tuple[Fallback, ...]:
        return tuple(dict.fromkeys(self._fallbacks))

    @cached_property
    def _replicates(self) -> list[Floats]:
        """(B, c) of each system, over the same drawn units."""
        return replicated_sums(self.evidence.columns, self.resamples, self.design.seed)

    def systems(self) -> tuple[SystemScores, ...]:
        return tuple(
            SystemScores(name, tuple(self._value(measure, at) for measure in self.evidence.measures))
            for at, name in enumerate(self.evidence.names)
        )

    def _value(self, measure: TextMeasure, at: int) -> QuantityValue:
        columns = self.evidence.columns[at]
        if measure.top is None or measure.bottom is None:
            return QuantityValue(measure.quantity, self._scored(measure, [at])[0])
        top, bottom = columns[:, measure.top].sum(axis=1), columns[:, measure.bottom].sum(axis=1)
        counted = int(bottom.sum()) if not measure.quantity.key.startswith("sentence") else None
        return QuantityValue(measure.quantity, self._ratio(top, bottom, measure.reason)[0], counted)

    def _ratio(self, top: Floats, bottom: Floats, reason: str) -> tuple[Estimate, float | None]:
        """A ratio of sums over the units that have a part in it, and its interval's own p-value."""
        present = bottom > 0
        if not present.any():
            return Estimate(None, None, None, 0, reason), None
        units = Units(top[present], bottom[present])
        if units.n < 2:
            return Estimate(units.estimate, None, None, 1, f"only one {self.evidence.unit} has a part in it"), None
        found = self.design.interval(units, own_p=True)
        self._fallbacks += found.fallbacks
        return Estimate(units.estimate, found.interval, standard_error(units), units.n), found.own_p

    def _scored(self, measure: TextMeasure, systems: Sequence[int]) -> tuple[Estimate, float | None]:
        """A score that is no ratio, or the difference of two systems in it, and its interval's own p-value."""
        score = measure.score if len(systems) == 1 else _difference(measure)
        found = score_interval(
            [self.evidence.columns[at] for at in systems],
            score,
            score(*(self._replicates[at] for at in systems)),
            method=self.design.method,
            confidence_level=self.design.level,
        )
        self._fallbacks += found.fallbacks
        estimate = found.estimate
        if estimate.value is None:
            return Estimate(None, None, None, estimate.n, measure.reason), None
        return estimate, found.own_p

    def gaps(self, b: int) -> tuple[QuantityDifference, ...]:
        """What system b has more than the first."""
        measures = self.evidence.measures
        tests = self._randomized([measure for measure in measures if measure.top is None], b)
        return tuple(self._gap(measure, b, tests.get(measure.quantity.key)) for measure in measures)

    def _randomized(self, measures: Sequence[TextMeasure], b: int) -> dict[str, Test]:
        if not measures:
            return {}
        first, other = self.evidence.columns[0], self.evidence.columns[b]
        scores = [measure.score for measure in measures]
        tests = randomization(first, other, scores, n_resamples=self.resamples, seed=self.design.seed)
        return {measure.quantity.key: test for measure, test in zip(measures, tests, strict=True)}

    def _gap(self, measure: TextMeasure, b: int, test: Test | None) -> QuantityDifference:
        if test is None:
            difference, test, own_p = self._ratio_difference(measure, b)
        else:
            difference, own_p = self._scored(measure, [0, b])
        if self.design.paired and own_p is not None:
            joint = agreed(difference, test, own_p)
            difference, test = joint.difference, joint.test
        drawn = _difference(measure)(self._replicates[0], self._replicates[b])
        observed = np.nan if difference.value is None else difference.value
        return QuantityDifference(measure.quantity, difference, test, paired_bootstrap(observed, drawn, difference.n))

    def _ratio_difference(self, measure: TextMeasure, b: int) -> tuple[Estimate, Test, float | None]:
        """With the same bottom in both systems, to swap the outputs of a unit is to flip the sign of its difference."""
        assert measure.top is not None
        assert measure.bottom is not None
        first, other = self.evidence.columns[0], self.evidence.columns[b]
        bottom = first[:, measure.bottom].sum(axis=1)
        top = without_rounding(*(part[:, measure.top].sum(axis=1) for part in (first, other)))
        difference, own_p = self._ratio(top, bottom, measure.reason)
        if difference.value is None:
            return difference, Test("exact randomization", None, None, 0, measure.reason), None
        test, fallbacks = sign_flip(top[bottom > 0], seed=self.design.seed, name="exact randomization")
        self._fallbacks += fallbacks
        return difference, test, own_p


def _difference(measure: TextMeasure) -> Callable[[Floats, Floats], Floats]:
    return lambda a, b: measure.score(b) - measure.score(a)
