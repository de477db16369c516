"""Every metric, by name: a pure function of the totals of named parts. Nothing else knows what perplexity is."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any, Literal

import numpy as np

from assay.errors import UsageError
from assay.stats.text import BLEU_ORDER, CHRF_ORDER, bleu_of, chrf_of
from assay.stats.units import Floats

Kind = Literal["losses", "scores"]
Names = tuple[str, ...]

#: What a unit of each kind of table is called.
UNITS: dict[Kind, str] = {"losses": "window", "scores": "item"}
#: Shared parts beside tokens: the sizes of a text that its losses can also be divided by.
SIZES = ("bytes", "chars")


@dataclass(frozen=True)
class Metric:
    """What a panel measures, and how it is shown.

    Intervals are computed on the scale of `value`; with the scale ``exp`` it is shown as exp(value), such as the
    perplexity of a mean loss.

    >>> import numpy as np
    >>> float(PERPLEXITY.value(np.array([30.0, 10.0])))  # nats, tokens
    3.0
    """

    name: str
    parts: Names  # what is summed
    ratio: tuple[Names, Names] | None = None  # tops and bottoms: Σ tops / Σ bottoms has exact intervals
    function: Callable[[Floats], Floats] | None = None  # totals (..., m) → (...), where it is not a ratio
    divisor: float = 1.0  # of the ratio
    scale: Literal["identity", "exp"] = "identity"
    bounds: tuple[float, float] | None = None  # of single values
    lower_is_better: bool = False
    measured_in: str = ""
    digits: int = 4

    def __post_init__(self) -> None:
        if (self.ratio is None) == (self.function is None):
            raise UsageError(f"metric {self.name!r} must have either a ratio of parts or a function of totals.")

    @property
    def kind(self) -> Kind:
        """Which kind of table it comes from."""
        return "losses" if self.scale == "exp" else "scores"

    def value(self, totals: Floats) -> Floats:
        """The metric of totals (..., m) of its parts, in their order."""
        if self.function is not None:
            return self.function(totals)
        assert self.ratio is not None  # as checked above
        top, bottom = (_sum(totals, [self.parts.index(name) for name in names]) for names in self.ratio)
        return _quotient(top, bottom * self.divisor)

    @classmethod
    def of_sums(cls, name: str, tops: Names, bottoms: Names, **shown: Any) -> "Metric":
        """Σ tops / Σ bottoms."""
        return cls(name, (*tops, *bottoms), (tops, bottoms), **shown)

    @classmethod
    def of(cls, kind: Kind, *, lower_is_better: bool | None = None, name: str | None = None) -> "Metric":
        """The metric of a kind of table: losses are better when lower, scores when higher unless said otherwise."""
        if kind not in UNITS:
            raise UsageError(f"kind must be one of {', '.join(UNITS)}, but got {kind!r}.")
        if kind == "losses":
            if lower_is_better is False:
                raise UsageError(
                    "lower_is_better must not be False for losses: a lower log-loss is always the better one."
                )
            return PERPLEXITY
        return replace(SCORE, name=name or SCORE.name, lower_is_better=bool(lower_is_better))


def _sum(totals: Floats, columns: list[int]) -> Floats:
    found: Floats = totals[..., columns[0]]
    for column in columns[1:]:
        found = found + totals[..., column]
    return found


def _quotient(top: Floats, bottom: Floats) -> Floats:
    """The quotient, NaN where the bottom is not positive."""
    return np.asarray(np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), np.nan))


PERPLEXITY = Metric.of_sums(
    "perplexity", ("loss",), ("tokens",), scale="exp", lower_is_better=True, measured_in="nats per token"
)
BITS_PER_BYTE = Metric.of_sums(
    "bits per byte", ("loss",), ("bytes",), divisor=log(2), lower_is_better=True, measured_in="bits per byte"
)
BITS_PER_CHARACTER = Metric.of_sums(
    "bits per character", ("loss",), ("chars",), divisor=log(2), lower_is_better=True, measured_in="bits per character"
)
SCORE = Metric.of_sums("score", ("score",), ("weight",), measured_in="points of score")

#: Beside the loss: what the sizes of a text are the denominators of.
BITS = {"bytes": BITS_PER_BYTE, "chars": BITS_PER_CHARACTER}


# ----------------------------------------------------------------------------------------------------------------- text


def character_metrics(scripts: Sequence[str]) -> tuple[Metric, ...]:
    """Metrics of next-token predictions: accuracy and bits per character, overall and by script."""
    bits: dict[str, Any] = {"lower_is_better": True, "measured_in": "bits per character"}
    return (
        *_by_script("accuracy", "right", scripts, measured_in="share"),
        *_by_script("bits", "bits", scripts, **bits),
    )


def generation_metrics(scripts: Sequence[str], tokenizers: Sequence[str]) -> tuple[Metric, ...]:
    """Metrics of generated text: character errors, accuracy by script, BLEU with each tokenizer, chrF."""
    characters = _each("characters", scripts)
    return (
        Metric.of_sums("cer", ("edits",), characters, lower_is_better=True, measured_in="share"),
        *_by_script("accuracy", "right", scripts, measured_in="share"),
        Metric("zipped_accuracy", ("zipped", "both"), function=_share, measured_in="share"),
        *(metric for tokenizer in tokenizers for metric in _bleu(tokenizer)),
        Metric("chrf", chrf_parts(), function=chrf_of, measured_in="points of 100"),
    )


def _by_script(name: str, top: str, scripts: Sequence[str], **shown: Any) -> Iterator[Metric]:
    yield Metric.of_sums(name, _each(top, scripts), _each("characters", scripts), **shown)
    for script in scripts:
        yield Metric.of_sums(f"{name}/{script}", (f"{top}/{script}",), (f"characters/{script}",), **shown)


def _each(part: str, scripts: Sequence[str]) -> Names:
    return tuple(f"{part}/{script}" for script in scripts)


def _bleu(tokenizer: str) -> Iterator[Metric]:
    """Corpus BLEU, and the mean and standard deviation of sentence BLEU (T9)."""
    shown, single = "points of 100", f"sentence_bleu/{tokenizer}"
    spread = (single, f"sentence_bleu_squares/{tokenizer}", "sentences")
    yield Metric(f"bleu/{tokenizer}", bleu_parts(tokenizer), function=bleu_of, measured_in=shown)
    yield Metric.of_sums(single, (single,), ("sentences",), measured_in=shown)
    yield Metric(f"sentence_bleu_std/{tokenizer}", spread, function=_deviation, measured_in=shown)


def bleu_parts(tokenizer: str) -> Names:
    """The ten counts of `assay.stats.text.bleu_counts`."""
    orders = range(1, BLEU_ORDER + 1)
    names = ("written", "wanted", *(f"{what} {n}" for what in ("matched", "all") for n in orders))
    return _each(f"bleu/{tokenizer}", names)


def chrf_parts() -> Names:
    """The eighteen counts of `assay.stats.text.chrf_counts`."""
    return tuple(f"chrf/{what} {n}" for n in range(1, CHRF_ORDER + 1) for what in ("written", "wanted", "matched"))


def _share(totals: Floats) -> Floats:
    """First part over second, for denominators that differ between systems: sign flips do not apply."""
    return _quotient(totals[..., 0], totals[..., 1])


#: Σ(x − 50)² of scores from 0 to 100: centred, so that squares do not cancel.
CENTRE = 50


def _deviation(totals: Floats) -> Floats:
    """The standard deviation (n − 1) from Σ x, Σ (x − 50)² and n."""
    total, squares, n = (totals[..., column] for column in range(3))
    shift = total - CENTRE * n
    spread = np.maximum(squares - shift * shift / n, 0.0)
    return np.asarray(np.where(n > 1, np.sqrt(spread / np.where(n > 1, n - 1, 1.0)), np.nan))
