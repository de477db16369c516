"""How uncertainty is computed: the one home of every default."""

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from assay.errors import UsageError
from assay.version import VERSION

Method = Literal["bca", "bca-plain", "percentile", "t", "studentized"]
Scheme = Literal["auto", "tokens", "windows"]
TestName = Literal["auto", "sign-flip", "mcnemar", "t", "wilcoxon"]

#: Token counts count as equal below this design effect n Σt²/(Σt)²; above it windows are drawn uniformly (C4).
DESIGN_EFFECT_LIMIT = 1.05

DEFAULT_LEVEL = 0.95

#: Replicates for what has no closed form (the studentized interval, recorded fallbacks) when none were asked for.
DEFAULT_RESAMPLES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Method, level, scheme, replicates, seed and test. ``resamples=None`` is the exact distribution (B = ∞)."""

    method: Method = "bca"
    level: float = DEFAULT_LEVEL
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


@dataclass(frozen=True, slots=True)
class Tier:
    """How much evidence a certificate needs, and what it may find (P10)."""

    windows: int  # at least so many preview windows, and as many final ones; for scores: items
    replicates: int
    max_ratio: float  # the largest acceptable perplexity of the subject over the baseline's
    max_drop: float  # the largest acceptable fall of a mean score


TierName = Literal["balanced", "conservative", "aggressive"]
Profile = Literal["dev", "ci", "release"]

TIERS: dict[TierName, Tier] = {
    "balanced": Tier(180, 1_200, 1.10, 0.02),
    "conservative": Tier(220, 1_500, 1.05, 0.01),
    "aggressive": Tier(140, 800, 1.20, 0.05),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a certificate is judged by. Overriding a number of the tier needs a note, which the certificate carries."""

    tier: TierName = "balanced"
    profile: Profile = "dev"
    max_ratio: float | None = None
    max_drop: float | None = None
    min_windows: int | None = None
    replicates: int | None = None
    seed: int = 0
    level: float = DEFAULT_LEVEL
    note: str | None = None

    def __post_init__(self) -> None:
        _check_choice("tier", self.tier, get_args(TierName))
        _check_choice("profile", self.profile, get_args(Profile))
        if self.max_ratio is not None and not 0 < self.max_ratio < float("inf"):
            raise UsageError(f"max_ratio must be positive and finite, but got {self.max_ratio}.")
        if self.max_drop is not None and not 0 <= self.max_drop < float("inf"):
            raise UsageError(f"max_drop must be 0 or more, but got {self.max_drop}.")
        if self.min_windows is not None and self.min_windows < 1:
            raise UsageError(f"min_windows must be at least 1, but got {self.min_windows}.")
        self.design()  # checks the level, the replicates and the seed
        weaker = ["level"] if self.level < DEFAULT_LEVEL else []  # a lower level makes every gate easier to pass
        if (self.overrides or weaker) and not (self.note and self.note.strip()):
            changed = ", ".join(sorted([*self.overrides, *weaker]))
            raise UsageError(f"{changed} of the tier {self.tier} changed: say why with --note TEXT (it is recorded).")

    @property
    def limits(self) -> Tier:
        """The tier's numbers with the overrides in place."""
        return replace(TIERS[self.tier], **self.overrides)

    @property
    def overrides(self) -> dict[str, Any]:
        """What differs from the tier."""
        wanted = {
            "windows": self.min_windows,
            "replicates": self.replicates,
            "max_ratio": self.max_ratio,
            "max_drop": self.max_drop,
        }
        tier = TIERS[self.tier]
        return {name: value for name, value in wanted.items() if value is not None and value != getattr(tier, name)}

    def design(self, *, exact: bool = False) -> Design:
        """How the certificate's interval is computed: by the tier's replicates, or over all resamples."""
        replicates = self.replicates if self.replicates is not None else TIERS[self.tier].replicates
        return Design(level=self.level, resamples=None if exact else replicates, seed=self.seed)
