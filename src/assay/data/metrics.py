"""Every metric, by name: a pure function of the totals of named parts. Nothing else knows what perplexity is."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log
from typing import Literal

from assay.errors import UsageError
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
        found: Floats = top / (bottom * self.divisor)
        return found

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


PERPLEXITY = Metric(
    "perplexity",
    ("loss", "tokens"),
    (("loss",), ("tokens",)),
    scale="exp",
    lower_is_better=True,
    measured_in="nats per token",
)
BITS_PER_BYTE = Metric(
    "bits per byte",
    ("loss", "bytes"),
    (("loss",), ("bytes",)),
    divisor=log(2),
    lower_is_better=True,
    measured_in="bits per byte",
)
BITS_PER_CHARACTER = Metric(
    "bits per character",
    ("loss", "chars"),
    (("loss",), ("chars",)),
    divisor=log(2),
    lower_is_better=True,
    measured_in="bits per character",
)
SCORE = Metric("score", ("score", "weight"), (("score",), ("weight",)), measured_in="points of score")

METRICS = {metric.name: metric for metric in (PERPLEXITY, BITS_PER_BYTE, BITS_PER_CHARACTER, SCORE)}
#: Beside the loss: what the sizes of a text are the denominators of.
BITS = {"bytes": BITS_PER_BYTE, "chars": BITS_PER_CHARACTER}


def metric_named(name: str) -> Metric:
    """The metric of this name.

    >>> metric_named("bits per byte").parts
    ('loss', 'bytes')
    """
    if name not in METRICS:
        raise UsageError(f"metric must be one of {', '.join(METRICS)}, but got {name!r}.")
    return METRICS[name]
