"""The record that `japanese` returns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from assay.data.metrics import Metric
from assay.data.panel_views import Substance
from assay.data.writing_systems import Normalization, Ranges
from assay.design import DEFAULT_RESAMPLES, Design
from assay.results import words
from assay.results.figures import Forest, Gauge, Line, Mark
from assay.results.parts import Caution, Column, Fact, ResultTable, Section, cautions_of, looked_at
from assay.results.record import Result, Status
from assay.stats.records import Estimate, Fallback, Test

if TYPE_CHECKING:
    import pandas as pd

TextKind = Literal["characters", "generations"]  # what a model would have written of a text, or what it did write
ShownAs = Literal["share", "score", "bits"]  # shown as per cent, as points from 0 to 100, as bits

_SCALES: dict[str, ShownAs] = {"share": "share", "bits per character": "bits", "points of 100": "score"}
_LABELS = {
    "cer": "character error rate",
    "zipped_accuracy": "accuracy, zipped",
    "bits": "bits per character",
    "bleu": "BLEU",
    "sentence_bleu": "sentence BLEU",
    "sentence_bleu_std": "sentence BLEU, std",
    "chrf": "chrF",
}
_DRAWN = {
    "characters": "Characters that the model would have written next, given the true text before them.",
    "generations": "Characters of the references that an alignment of least edits finds in the generated text.",
}


class Quantity(msgspec.Struct, frozen=True):
    """What is measured: its key in the JSON and how it is shown."""

    key: str  # "accuracy", "accuracy/kanji", "cer", "bleu/ja-mecab", …
    label: str
    scale: ShownAs
    lower_is_better: bool = False

    @classmethod
    def of(cls, metric: Metric) -> "Quantity":
        name, _, part = metric.name.partition("/")
        scale = _SCALES[metric.measured_in]
        label = _LABELS.get(name, name)
        if part:
            label = f"{label} ({part})" if scale == "score" else f"{name}, {part}"
        return cls(metric.name, label, scale, metric.lower_is_better)

    @property
    def part(self) -> str | None:
        """The script or tokenizer, if the quantity is about one."""
        return self.key.partition("/")[2] or None

    @property
    def name(self) -> str:
        """The key without the script or tokenizer."""
        return self.key.partition("/")[0]

    def scaled(self, estimate: Estimate) -> Estimate:
        """The estimate as it is shown: shares in per cent."""
        factor = 100.0 if self.scale == "share" else 1.0
        value, limits, error = estimate.value, estimate.interval, estimate.standard_error
        return Estimate(
            None if value is None else factor * value,
            None if limits is None else limits.scaled(factor),
            None if error is None else factor * error,
            estimate.n,
            estimate.reason,
        )

    def text(
        self, estimate: Estimate, *, difference: bool = False, fewer: int = 0, beside: Estimate | None = None
    ) -> str:
        """The value with as many decimals as its interval, or ``fewer``; a difference of shares is in points.

        ``beside`` another estimate it has as many as that one: two values, and their difference.
        """
        found = self.scaled(estimate)
        if found.value is None:
            return "undefined"
        places = words.decimals(found.interval if beside is None else self.scaled(beside).interval)
        text = words.placed(found.value, None if places is None else max(places - fewer, 0), sign=difference)
        if self.scale != "share":
            return text
        return f"{text} point{'' if text in ('+1', '−1') else 's'}" if difference else f"{text}%"

    def cell(self, estimate: Estimate, *, difference: bool = False) -> str:
        """``71.2% [70.9 to 71.5]``, with one decimal fewer than in a sentence; or why it is undefined."""
        if estimate.value is None:
            return f"undefined: {estimate.reason}"
        text, limits = self.text(estimate, difference=difference, fewer=1), self.scaled(estimate).interval
        if limits is None:
            return f"{text} (no interval: {estimate.reason})"
        return f"{text} {words.compact_limits(limits, sign=difference)}"


class QuantityValue(msgspec.Struct, frozen=True):
    """The value of a quantity for one system."""

    quantity: Quantity
    estimate: Estimate
    characters: int | None = None  # how many it is about


class SystemScores(msgspec.Struct, frozen=True):
    """Everything that was measured of one system."""

    name: str
    values: tuple[QuantityValue, ...]

    def value(self, key: str) -> QuantityValue:
        """The value of a quantity; KeyError if it was not measured."""
        for value in self.values:
            if value.quantity.key == key:
                return value
        raise KeyError(key)

    def of(self, name: str) -> list[QuantityValue]:
        """A quantity, overall and by script or tokenizer."""
        return [value for value in self.values if value.quantity.name == name]


class QuantityDifference(msgspec.Struct, frozen=True):
    """B − A in one quantity."""

    quantity: Quantity
    difference: Estimate
    randomization: Test
    bootstrap: Test


class SystemPair(msgspec.Struct, frozen=True, kw_only=True):
    """The difference between two systems on the same sentences or documents."""

    a: str
    b: str
    sentence: str
    headline: str | None  # the key of the quantity that the sentence is about
    gaps: tuple[QuantityDifference, ...]

    def gap(self, key: str) -> QuantityDifference:
        """The difference in a quantity; KeyError if it was not measured."""
        for gap in self.gaps:
            if gap.quantity.key == key:
                return gap
        raise KeyError(key)


class Japanese(Result, frozen=True, kw_only=True, tag="assay/japanese/1"):
    """Japanese text by script: a table per system, and each system's difference from the first."""

    question = "How well is Japanese written, script by script?"
    kind_name = "Japanese result"

    kind: TextKind
    sentence: str
    systems: tuple[SystemScores, ...]
    differences: tuple[SystemPair, ...]
    n_units: int
    unit: str  # "document", "window", "sentence" or "cluster"
    scripts: Ranges
    normalize: Normalization
    tokenizers: dict[str, str]  # of BLEU, with their versions
    substance: Substance | None = None  # how much evidence there is of the quantity that systems are judged by
    fallbacks: tuple[Fallback, ...]
    notes: tuple[str, ...]
    design: Design
    signature: str

    @property
    def names(self) -> list[str]:
        return [system.name for system in self.systems]

    @property
    def subject(self) -> str:
        return ", ".join(self.names)

    @property
    def compared(self) -> tuple[Fact, ...]:
        return looked_at(self.names, self.n_units, words.count(self.n_units, self.unit))

    @property
    def gauge(self) -> Gauge | None:
        """The quantity that the first pair is judged by."""
        pair = self.differences[0] if self.differences else None
        if pair is None or pair.headline is None:
            return None
        gap = pair.gap(pair.headline)
        found = gap.quantity.scaled(gap.difference)
        if found.interval is None or found.value is None:
            return None
        return Gauge(
            f"{gap.quantity.label}, {pair.b} − {pair.a}",
            found.value,
            found.interval.low,
            found.interval.high,
            (Mark(0.0, "no difference"),),
            "lower" if gap.quantity.lower_is_better else "higher",
            words.estimate(found.value, found.interval, sign=True),
        )

    @property
    def status(self) -> Status:
        """Good, bad or unsure, depending on where the interval lies."""
        gauge = self.gauge
        if gauge is None:
            return "plain"
        if gauge.low <= 0 <= gauge.high:
            return "unsure"
        return "good" if (gauge.low > 0) == (gauge.better == "higher") else "bad"

    @property
    def facts(self) -> tuple[Fact, ...]:
        resamples = self.design.resamples
        drawn = f"{resamples or DEFAULT_RESAMPLES:,} resamples, seed {self.design.seed}"
        exact = "ratios of sums exactly, other scores from " if resamples is None else ""
        level = words.percent(self.design.level)
        made = words.methods(value.estimate.interval for system in self.systems for value in system.values)
        how = f"closed form; tests by {drawn}" if made in ("t", "t-hall") else f"{exact}{drawn}"
        return (
            Fact(f"{self.unit}s", self.n_units, "clusters"),
            Fact("intervals", f"{level} {made}: {how}", "interval"),
            Fact("scripts", f"{self.scripts} ranges; normalization: {self.normalize}", "scripts"),
        )

    @property
    def cautions(self) -> tuple[Caution, ...]:
        return cautions_of(self.notes, self.fallbacks)

    @property
    def sections(self) -> tuple[Section, ...]:
        level = words.percent(self.design.level)
        tables = [table for system in self.systems for table in (_by_script(system, level), _scores(system, level))]
        tables += [_differences(pair, level) for pair in self.differences]
        return (Section("scripts", "By script", figures=(self._forest(),), tables=tuple(filter(len, tables))),)

    def _forest(self) -> Forest:
        """Accuracy of every system: all characters first, then each script that occurs."""
        shown = [(system.name, value) for system in self.systems for value in system.of("accuracy")]
        level, units = words.percent(self.design.level), words.count(self.n_units, self.unit)
        whose = "" if len(self.systems) > 1 else f"{self.names[0]}. "
        return Forest(
            "japanese",
            "Accuracy by script",
            (whose + _DRAWN[self.kind], f"Lines: {level} CIs of single scripts ({units})."),
            "accuracy (per cent of the characters)",
            tuple(_line(name, value) for name, value in shown),
            domain=(0.0, 100.0),
            groups=tuple(self.names),
            written=".1f",
        )

    def to_frame(self) -> "pd.DataFrame":
        """A row per system and quantity, and per difference and quantity (pandas must be installed)."""
        import pandas as pd  # late: half a second, and not a dependency

        rows = [row for system in self.systems for row in _value_records(system)]
        return pd.DataFrame([*rows, *(row for pair in self.differences for row in _gap_records(pair))])


def _line(name: str, value: QuantityValue) -> Line:
    found = value.quantity.scaled(value.estimate)
    low, high = (None, None) if found.interval is None else (found.interval.low, found.interval.high)
    return Line(value.quantity.part or "all", found.value, low, high, name)


def _by_script(system: SystemScores, level: str) -> ResultTable:
    """Accuracy by script, and bits where they were measured."""
    right, bits = system.of("accuracy"), system.of("bits")
    columns = [
        Column("script", [value.quantity.part or "all" for value in right]),
        Column("characters", [value.characters or 0 for value in right]),
        _estimates(f"accuracy [{level}]", "accuracy", right),
    ]
    if bits:
        columns.append(_estimates(f"bits per character [{level}]", "bits", bits))
    return ResultTable(f"{system.name}/scripts", "accuracy by script", tuple(columns), system.name, "scripts")


def _scores(system: SystemScores, level: str) -> ResultTable:
    """What is not split by script: errors, BLEU, chrF."""
    values = [value for value in system.values if value.quantity.name not in ("accuracy", "bits")]
    columns = (_labels([value.quantity for value in values]), _estimates(f"value [{level}]", "value", values))
    return ResultTable(f"{system.name}/scores", "scores", columns, system.name, "scores of text")


def _differences(pair: SystemPair, level: str) -> ResultTable:
    quantities = [gap.quantity for gap in pair.gaps]
    texts = [gap.quantity.cell(gap.difference, difference=True) for gap in pair.gaps]
    columns = (
        _labels(quantities),
        Column(f"B − A [{level}]", [gap.difference for gap in pair.gaps], key="difference", written=texts),
        _p_values("p, randomization", "randomization_p", [gap.randomization for gap in pair.gaps]),
        _p_values("p, bootstrap alone", "bootstrap_p", [gap.bootstrap for gap in pair.gaps]),
    )
    about = f"A is {pair.a}, B is {pair.b}"
    return ResultTable(f"{pair.b}/differences", "difference", columns, about, "differences of text")


def _labels(quantities: Sequence[Quantity]) -> Column:
    return Column("", [quantity.label for quantity in quantities], key="quantity")


def _estimates(heading: str, key: str, values: Sequence[QuantityValue]) -> Column:
    texts = [value.quantity.cell(value.estimate) for value in values]
    return Column(heading, [value.estimate for value in values], key=key, written=texts)


def _p_values(heading: str, key: str, tests: Sequence[Test]) -> Column:
    return Column(heading, [test.p_value for test in tests], words.p_alone, key)


def _value_records(system: SystemScores) -> list[dict[str, Any]]:
    values = system.values
    characters = Column("characters", [value.characters for value in values])
    quantities = [value.quantity for value in values]
    return _records(system.name, None, quantities, characters, Column("value", [value.estimate for value in values]))


def _gap_records(pair: SystemPair) -> list[dict[str, Any]]:
    columns = (
        Column("value", [gap.difference for gap in pair.gaps]),
        Column("randomization_p", [gap.randomization.p_value for gap in pair.gaps]),
        Column("bootstrap_p", [gap.bootstrap.p_value for gap in pair.gaps]),
    )
    return _records(pair.b, pair.a, [gap.quantity for gap in pair.gaps], *columns)


def _records(
    system: str, baseline: str | None, quantities: Sequence[Quantity], *columns: Column
) -> list[dict[str, Any]]:
    """Every number of a system or of a pair, a row for each quantity."""
    named = (
        Column("system", [system] * len(quantities)),
        Column("baseline", [baseline] * len(quantities)),
        Column("quantity", [quantity.key for quantity in quantities]),
    )
    return ResultTable(system, "", (*named, *columns)).records()
