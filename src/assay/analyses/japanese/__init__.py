"""How good is this model's Japanese? Characters by script, edit distance, BLEU and chrF, with intervals (T7–T9, C7)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Unpack, cast, get_args

import numpy as np

from assay.analyses.contrast import FEW, agreed
from assay.analyses.japanese.result import (
    Japanese,
    Quantity,
    QuantityDifference,
    QuantityValue,
    SystemPair,
    SystemScores,
    TextKind,
)
from assay.analyses.japanese.sentences import pair_sentence, system_sentence
from assay.analyses.japanese.text_panel import TOKENIZERS, BleuTokenizer, TextSource, text_panel
from assay.data import Metric, Panel
from assay.data.metrics import character_metrics, generation_metrics
from assay.data.panel_views import Substance
from assay.data.writing_systems import JAPANESE, Normalization, Ranges, check_normalization, script_names
from assay.design import DEFAULT_RESAMPLES, Design, DesignFields, as_given, signature
from assay.errors import InputError, UsageError
from assay.names import listed
from assay.results.words import count
from assay.stats.bootstrap.totals import Score, paired_bootstrap, randomization, replicated_sums, score_interval
from assay.stats.paired_tests import sign_flip
from assay.stats.records import Estimate, Fallback, Test
from assay.stats.rounding import difference as without_rounding
from assay.stats.units import Floats, Units, standard_error

_MOST = {"share": 1.0, "points of 100": 100.0}


def japanese(
    *sources: TextSource | Panel,
    scripts: Ranges = "basic",
    normalize: Normalization = "none",
    bleu: Sequence[BleuTokenizer] = TOKENIZERS,
    columns: Mapping[str, str] | None = None,
    allow_empty: bool = False,
    design: Design | None = None,
    **settings: Unpack[DesignFields],
) -> Japanese:
    """Measure Japanese text by script, and compare every system with the first.

    ``sources`` are tables of generations, or what `assay.characters` counted for models on a text, or one `Panel` that
    `assay.text_panel` made from either. Generations have the columns ``item, prediction, reference``, ``model`` if
    there are several, and ``cluster`` for sentences that are drawn together. They are aligned with their references by
    edit distance, which gives the character error rate and accuracy by script; BLEU (with the tokenizers ``bleu``) and
    chrF stand beside them. Of the design, the method, level, resamples and seed are used.

    >>> cats = {"item": ["1", "2", "3"], "reference": ["猫がいる。", "犬がいる。", "鳥が飛ぶ。"]}
    >>> found = japanese(cats | {"prediction": ["猫はいる。", "犬がいます。", "鳥が飛ぶ。"]}, bleu=["char"])
    >>> found.systems[0].value("accuracy/kanji").estimate.value
    1.0
    >>> round(found.systems[0].value("cer").estimate.value, 3)  # three edits, fifteen characters
    0.2
    """
    design = as_given("japanese", Design, design, settings)
    _check_design(design)
    panels = [source for source in sources if isinstance(source, Panel)]
    if panels:
        if len(sources) > 1:
            raise UsageError("japanese takes one panel, or files and tables, but not both.")
        _check_usual((scripts, normalize, tuple(bleu), columns, allow_empty))
        return japanese_of(panels[0], design)
    panel = text_panel(
        *sources, scripts=scripts, normalize=normalize, bleu=bleu, columns=columns, allow_empty=allow_empty
    )
    return japanese_of(panel, design)


def _check_usual(options: tuple[object, ...]) -> None:
    """Refuse options of counting for texts that have been counted already."""
    usual = {"scripts": "basic", "normalize": "none", "bleu": TOKENIZERS, "columns": None, "allow_empty": False}
    given = [name for (name, left), value in zip(usual.items(), options, strict=True) if value != left]
    if given:
        raise UsageError(
            f"{given[0]} says how texts are counted, but those of a panel have been; pass it to assay.text_panel."
        )


def _check_design(design: Design) -> None:
    used = Design(method=design.method, level=design.level, resamples=design.resamples, seed=design.seed)
    if used != design:
        raise UsageError("japanese takes the method, level, resamples and seed of a design; leave out the rest.")


def japanese_of(panel: Panel, design: Design) -> Japanese:
    """The result for a panel of texts; systems are judged by the first of its metrics."""
    kind, scripts, metrics = _kind_of(panel)
    _check_counts(panel)
    made = Estimates(panel, metrics, design)
    systems = made.systems()
    headline, n, unit = Quantity.of(panel.metric), made.panel.n, made.panel.unit
    substance = _substance(made.panel, panel.metric)
    pairs = tuple(_pair(made, systems, headline.key, b, substance) for b in range(1, panel.k))
    sentences = [system_sentence(system, unit, n) for system in systems]
    tokenizers = _tokenizers(panel)
    return Japanese(
        kind=kind,
        sentence="\n".join([*sentences, *(pair.sentence for pair in pairs)]),
        systems=systems,
        differences=pairs,
        n_units=n,
        unit=unit,
        scripts=scripts,
        normalize=_normalization(panel),
        tokenizers=tokenizers,
        substance=substance,
        fallbacks=(*_cluster_fallback(unit), *made.fallbacks),
        notes=_notes(panel, made.panel, systems, headline if pairs else None),
        design=design,
        signature=signature(
            "japanese",
            kind=kind,
            units=f"{unit}s",
            n=n,
            scripts=scripts,
            normalize=_normalization(panel),
            bleu="+".join(tokenizers.values()) or None,
            **{name: panel.settings[name] for name in ("context", "stride") if name in panel.settings},
            method=design.ran(value.estimate.interval for system in systems for value in system.values),
            resamples=design.resamples or f"exact+{DEFAULT_RESAMPLES}",
            level=design.level,
            seed=design.seed,
            data=panel.digest[:16],
        ),
    )


def _kind_of(panel: Panel) -> tuple[TextKind, Ranges, tuple[Metric, ...]]:
    """What was counted, by which scripts, and the metrics in the order of the result."""
    tokenizers = list(_tokenizers(panel))
    for scripts in get_args(Ranges):
        names = script_names(scripts)
        known = {"characters": character_metrics(names), "generations": generation_metrics(names, tokenizers)}
        for kind, metrics in known.items():
            if set(metrics) == set(panel.metrics):
                return cast("TextKind", kind), scripts, metrics
    shown = listed(metric.name for metric in panel.metrics)
    raise UsageError(f"japanese takes a panel of texts, as assay.text_panel makes it, but got the metrics {shown}.")


def _tokenizers(panel: Panel) -> dict[str, str]:
    """The tokenizers of BLEU, with their versions."""
    names = [metric.name for metric in panel.metrics if metric.name.startswith("bleu/")]
    return {name.removeprefix("bleu/"): str(panel.settings.get(name, name.removeprefix("bleu/"))) for name in names}


def _normalization(panel: Panel) -> Normalization:
    found = panel.settings.get("normalize", "none")
    check_normalization(str(found))
    return cast("Normalization", found)


def _check_counts(panel: Panel) -> None:
    if panel.models:
        raise UsageError("japanese compares systems, but the columns of this panel are runs; take one run of each.")
    if not panel.whole:
        raise InputError(
            f"japanese needs counts of every system for every {panel.unit}, but this panel has holes; leave them out: "
            "panel.complete()."
        )
    for name, part in panel.parts.items():
        if (part < 0).any():
            raise InputError(f"part {name!r} must hold counts, but {part.min():g} is negative.")
    for metric in panel.metrics:
        own = [name for name in (metric.ratio or ((), ()))[1] if panel.parts[name].shape[1] > 1]
        if own:
            raise InputError(
                f"part {own[0]!r} must be shared by all systems, of the shape ({panel.n}, 1): all are measured by the "
                "same references."
            )


def _substance(drawn: Panel, metric: Metric) -> Substance:
    """Of what is drawn, by its part in the quantity that systems are judged by: characters, or sentences alike."""
    parts = [drawn.parts[name] for name in metric.parts if drawn.parts[name].shape[1] > 1]
    differ = None if drawn.k < 2 else int(np.any([part[:, 0] != part[:, 1] for part in parts], axis=0).sum())
    weights = np.ones(drawn.n) if metric.ratio is None else drawn.units(metric.name, 0).denominators
    return Substance.of(weights, differ)


def _pair(
    made: "Estimates", systems: Sequence[SystemScores], headline: str, b: int, substance: Substance
) -> SystemPair:
    gaps, both = made.gaps(b), (systems[0], systems[b])
    sentence = pair_sentence(both, gaps, headline, made.panel.unit, made.design, substance)
    return SystemPair(a=both[0].name, b=both[1].name, sentence=sentence, headline=headline, gaps=gaps)


def _cluster_fallback(unit: str) -> tuple[Fallback, ...]:
    if unit != "window":
        return ()
    return (Fallback("documents as clusters", "windows as clusters", "there is one document only"),)


def _notes(panel: Panel, drawn: Panel, systems: Sequence[SystemScores], headline: Quantity | None) -> tuple[str, ...]:
    notes = list(panel.notes)
    if drawn is not panel:
        notes.append(f"{panel.n:,} {panel.unit}s in {drawn.n:,} clusters, which are drawn whole")
    scripts = [systems[0].value(f"accuracy/{script}") for script in JAPANESE]
    if not any(value.characters for value in scripts):
        notes.append("the text has no Japanese characters: no hiragana, katakana or kanji")
    if drawn.n < FEW:
        notes.append(f"{count(drawn.n, drawn.unit)}: too few to rely on an interval")
    if headline is not None:
        chosen = f"{headline.label} was chosen beforehand"
        notes.append(f"p-values are for single quantities, not adjusted for their number; {chosen}")
    return tuple(notes)


class Estimates:
    """Every metric of a panel of texts with its interval, differences in pairs, and the fallbacks on the way."""

    def __init__(self, panel: Panel, metrics: Sequence[Metric], design: Design) -> None:
        self.panel, self.metrics, self.design = panel.clusters_as_units(), metrics, design
        self.resamples = design.resamples or DEFAULT_RESAMPLES
        self._fallbacks: list[Fallback] = []

    @property
    def fallbacks(self) -> tuple[Fallback, ...]:
        return tuple(dict.fromkeys(self._fallbacks))

    @cached_property
    def _drawn(self) -> dict[str, Floats]:
        """(B, k) or (B, 1) The sums of each part over the same drawn units."""
        parts = self.panel.parts
        return dict(zip(parts, replicated_sums(list(parts.values()), self.resamples, self.design.seed), strict=True))

    def _replicates(self, metric: Metric, system: int) -> Floats:
        """(B, m) Replicated sums of the parts of a metric."""
        columns = (self._drawn[name] for name in metric.parts)
        return np.column_stack([sums[:, 0 if sums.shape[1] == 1 else system] for sums in columns])

    def systems(self) -> tuple[SystemScores, ...]:
        return tuple(
            SystemScores(name, tuple(self._value(metric, at) for metric in self.metrics))
            for at, name in enumerate(self.panel.systems)
        )

    def _value(self, metric: Metric, at: int) -> QuantityValue:
        if metric.ratio is None:
            return QuantityValue(Quantity.of(metric), _possible(metric, self._scored(metric, [at])[0]))
        units = self.panel.units(metric.name, at)
        counted = None if "sentences" in metric.parts else int(units.denominators.sum())
        return QuantityValue(Quantity.of(metric), _possible(metric, self._ratio(units, metric)[0]), counted)

    def _ratio(self, units: Units, metric: Metric) -> tuple[Estimate, float | None]:
        """A ratio of sums over the units that count in it, and its interval's own p-value."""
        if units.n == 0:
            return Estimate(None, None, None, 0, self._undefined(metric)), None
        if units.n < 2:
            return Estimate(units.estimate, None, None, 1, f"only one {self.panel.unit} counts in it"), None
        found = self.design.interval(units, own_p=True)
        self._fallbacks += found.fallbacks
        return Estimate(units.estimate, found.interval, standard_error(units), units.n), found.own_p

    def _undefined(self, metric: Metric) -> str:
        """Why the metric is undefined for these sums."""
        name, _, part = metric.name.partition("/")
        if name == "zipped_accuracy":
            return "every prediction is empty"
        if name == "sentence_bleu_std":
            return "one sentence has no spread"
        if not part:
            return "no characters"
        return f"no {part} characters in the {'references' if 'edits' in self.panel.parts else 'text'}"

    def _scored(self, metric: Metric, systems: Sequence[int]) -> tuple[Estimate, float | None]:
        """A metric that is not a ratio, or the difference of two systems in it, and its interval's own p-value."""
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
        """System b less the first, in every metric."""
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
        """As both systems share the denominator, swapping a unit's outputs flips the sign of its difference."""
        first, other = (self.panel.units(metric.name, at) for at in (0, b))
        top = without_rounding(first.numerators, other.numerators)
        difference, own_p = self._ratio(Units(top, first.denominators), metric)
        if difference.value is None:
            return difference, Test("exact randomization", None, None, 0, difference.reason), None
        test, fallbacks = sign_flip(top, seed=self.design.seed, name="exact randomization")
        self._fallbacks += fallbacks
        return difference, test, own_p


def _possible(metric: Metric, found: Estimate) -> Estimate:
    """No limit lies where the metric cannot: a share is from 0 to 1, a score from 0 to 100, errors and bits from 0."""
    if (limits := found.interval) is None:
        return found
    most = inf if metric.lower_is_better else _MOST.get(metric.measured_in, inf)
    return replace(found, interval=replace(limits, low=max(limits.low, 0.0), high=min(limits.high, most)))


def _of_columns(metric: Metric, names: Sequence[str]) -> Score:
    """The metric as a function of the totals of all named parts."""
    places = [names.index(name) for name in metric.parts]
    return lambda totals: metric.value(totals[..., places])


def _difference(metric: Metric) -> Callable[[Floats, Floats], Floats]:
    return lambda a, b: metric.value(b) - metric.value(a)
