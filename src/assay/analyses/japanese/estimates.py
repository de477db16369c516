"""Every metric of texts with its interval, and two systems compared in pairs."""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from assay.analyses.contrast import agreed
from assay.analyses.japanese.result import Quantity, QuantityDifference, QuantityValue, SystemScores
from assay.data import Metric, Panel
from assay.design import DEFAULT_RESAMPLES, Design
from assay.stats.bootstrap.totals import Score, paired_bootstrap, randomization, replicated_sums, score_interval
from assay.stats.paired_tests import sign_flip
from assay.stats.records import Estimate, Fallback, Test
from assay.stats.rounding import difference as without_rounding
from assay.stats.units import Floats, Units, standard_error


class Estimates:
    """The estimates of a panel of texts under a design, and what could not be done as asked."""

    def __init__(self, panel: Panel, metrics: Sequence[Metric], design: Design) -> None:
        self.panel, self.metrics, self.design = panel.clusters_as_units(), metrics, design
        self.resamples = design.resamples or DEFAULT_RESAMPLES
        self._fallbacks: list[Fallback] = []

    @property
    def fallbacks(self) -> tuple[Fallback, ...]:
        return tuple(dict.fromkeys(self._fallbacks))

    @cached_property
    def _drawn(self) -> dict[str, Floats]:
        """(B, k) or (B, 1) The sums of each part, over the same drawn units."""
        parts = self.panel.parts
        return dict(zip(parts, replicated_sums(list(parts.values()), self.resamples, self.design.seed), strict=True))

    def _replicates(self, metric: Metric, system: int) -> Floats:
        """(B, m) Of the parts of a metric."""
        columns = (self._drawn[name] for name in metric.parts)
        return np.column_stack([sums[:, 0 if sums.shape[1] == 1 else system] for sums in columns])

    def systems(self) -> tuple[SystemScores, ...]:
        return tuple(
            SystemScores(name, tuple(self._value(metric, at) for metric in self.metrics))
            for at, name in enumerate(self.panel.systems)
        )

    def _value(self, metric: Metric, at: int) -> QuantityValue:
        if metric.ratio is None:
            return QuantityValue(Quantity.of(metric), self._scored(metric, [at])[0])
        units = self.panel.units(metric.name, at)
        counted = None if "sentences" in metric.parts else int(units.denominators.sum())
        return QuantityValue(Quantity.of(metric), self._ratio(units, metric)[0], counted)

    def _ratio(self, units: Units, metric: Metric) -> tuple[Estimate, float | None]:
        """A ratio of sums over the units that have a part in it, and its interval's own p-value."""
        if units.n == 0:
            return Estimate(None, None, None, 0, self._undefined(metric)), None
        if units.n < 2:
            return Estimate(units.estimate, None, None, 1, f"only one {self.panel.unit} has a part in it"), None
        found = self.design.interval(units, own_p=True)
        self._fallbacks += found.fallbacks
        return Estimate(units.estimate, found.interval, standard_error(units), units.n), found.own_p

    def _undefined(self, metric: Metric) -> str:
        """Why the sums have no such value."""
        name, _, part = metric.name.partition("/")
        if name == "zipped_accuracy":
            return "every prediction is empty"
        if name == "sentence_bleu_std":
            return "one sentence has no spread"
        if not part:
            return "no characters"
        return f"no {part} characters in the {'references' if 'edits' in self.panel.parts else 'text'}"

    def _scored(self, metric: Metric, systems: Sequence[int]) -> tuple[Estimate, float | None]:
        """A metric that is no ratio, or the difference of two systems in it, and its interval's own p-value."""
        score = metric.value if len(systems) == 1 else _difference(metric)
        found = score_interval(
            [self.panel.sums(metric.name, at) for at in systems],
            score,
            score(*(self._replicates(metric, at) for at in systems)),
            method=self.design.method,
            confidence_level=self.design.level,
        )
        self._fallbacks += found.fallbacks
        estimate = found.estimate
        if estimate.value is None:
            return Estimate(None, None, None, estimate.n, self._undefined(metric)), None
        return estimate, found.own_p

    def gaps(self, b: int) -> tuple[QuantityDifference, ...]:
        """What system b has more than the first."""
        tests = self._randomized([metric for metric in self.metrics if metric.ratio is None], b)
        return tuple(self._gap(metric, b, tests.get(metric.name)) for metric in self.metrics)

    def _randomized(self, metrics: Sequence[Metric], b: int) -> dict[str, Test]:
        if not metrics:
            return {}
        names = list(dict.fromkeys(name for metric in metrics for name in metric.parts))
        first, other = (np.column_stack([self.panel.column(name, at) for name in names]) for at in (0, b))
        scores = [_of_columns(metric, names) for metric in metrics]
        tests = randomization(first, other, scores, resamples=self.resamples, seed=self.design.seed)
        return {metric.name: test for metric, test in zip(metrics, tests, strict=True)}

    def _gap(self, metric: Metric, b: int, test: Test | None) -> QuantityDifference:
        if test is None:
            difference, test, own_p = self._ratio_difference(metric, b)
        else:
            difference, own_p = self._scored(metric, [0, b])
        if self.design.paired and own_p is not None:
            joint = agreed(difference, test, own_p)
            difference, test = joint.difference, joint.test
        drawn = _difference(metric)(self._replicates(metric, 0), self._replicates(metric, b))
        observed = np.nan if difference.value is None else difference.value
        return QuantityDifference(
            Quantity.of(metric), difference, test, paired_bootstrap(observed, drawn, difference.n)
        )

    def _ratio_difference(self, metric: Metric, b: int) -> tuple[Estimate, Test, float | None]:
        """With the same bottom in both systems, to swap the outputs of a unit is to flip the sign of its difference."""
        first, other = (self.panel.units(metric.name, at) for at in (0, b))
        top = without_rounding(first.numerators, other.numerators)
        difference, own_p = self._ratio(Units(top, first.denominators), metric)
        if difference.value is None:
            return difference, Test("exact randomization", None, None, 0, difference.reason), None
        test, fallbacks = sign_flip(top, seed=self.design.seed, name="exact randomization")
        self._fallbacks += fallbacks
        return difference, test, own_p


def _of_columns(metric: Metric, names: Sequence[str]) -> Score:
    """The metric as a function of the totals of all these parts."""
    places = [names.index(name) for name in metric.parts]
    return lambda totals: metric.value(totals[..., places])


def _difference(metric: Metric) -> Callable[[Floats, Floats], Floats]:
    return lambda a, b: metric.value(b) - metric.value(a)
