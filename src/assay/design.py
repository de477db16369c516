"""How uncertainty is computed: the one home of every default."""

from dataclasses import dataclass
from typing import Literal, get_args

from assay.errors import UsageError
from assay.version import VERSION

Method = Literal["bca", "bca-plain", "percentile", "t", "studentized"]
Scheme = Literal["auto", "tokens", "windows"]
TestName = Literal["auto", "sign-flip", "mcnemar", "t", "wilcoxon"]

#: Token counts count as equal below this design effect n Σt²/(Σt)²; above it windows are drawn uniformly (C4).
DESIGN_EFFECT_LIMIT = 1.05

#: Replicates for what has no closed form (the studentized interval, recorded fallbacks) when none were asked for.
DEFAULT_RESAMPLES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Method, level, scheme, replicates, seed and test. ``resamples=None`` is the exact distribution (B = ∞)."""

    method: Method = "bca"
    level: float = 0.95
    scheme: Scheme = "auto"
    resamples: int | None = None
    seed: int = 0
    test: TestName = "auto"
    margin: float | None = None

    def __post_init__(self) -> None:
        _check_choice("method", self.method, get_args(Method))
        _check_choice("scheme", self.scheme, get_args(Scheme))
        _check_choice("test", self.test, get_args(TestName))
        if not 0.5 <= self.level < 1:
            raise UsageError(f"level must be at least 0.5 and below 1, but got {self.level}; 0.95 is usual.")
        if self.resamples is not None and self.resamples < 100:
            raise UsageError(
                f"resamples must be at least 100, but got {self.resamples}; leave it out for the exact interval."
            )
        if not 0 <= self.seed < 2**64:
            raise UsageError(f"seed must be an integer from 0 to 2^64 - 1, but got {self.seed}.")
        if self.margin is not None and not 0 < self.margin < float("inf"):
            raise UsageError(f"margin must be positive and finite, but got {self.margin}.")


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise UsageError(f"{name} must be one of {', '.join(choices)}, but got {value!r}.")


def signature(estimand: str, **parts: object) -> str:
    """One line that reproduces a result: the version, what was estimated, and every part that is not ``None``."""
    version = ".".join(VERSION.split(".")[:2])
    return "|".join(
        [f"assay:{version}", estimand, *(f"{name}:{part}" for name, part in parts.items() if part is not None)]
    )
