"""How uncertainty is computed: the one home of every default."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypedDict, TypeVar, get_args

from assay.errors import UsageError
from assay.limits import (
    TASK_LIMITS,
    GroupLimits,
    Limits,
    TotalLimits,
    check_groups,
    check_limits,
    check_number,
    check_tasks,
    short,
)
from assay.names import nearest
from assay.stats.records import IntervalName
from assay.version import VERSION

if TYPE_CHECKING:
    from assay.stats.bootstrap import IntervalResult
    from assay.stats.compiled import Backend
    from assay.stats.records import Interval
    from assay.stats.units import Units

#: auto is tango for 0/1 scores; else t-hall for few units, or few that differ, and bca for the others.
Method = IntervalName
Scheme = Literal["auto", "tokens", "windows"]
#: Of a certificate: *auto*, and what the published recipe and its fallback take.
GateMethod = Literal["auto", "bca", "bca-plain", "percentile"]
#: auto is mcnemar-midp for 0/1 scores and sign-flip for everything else; mcnemar is the exact one.
TestName = Literal["auto", "sign-flip", "mcnemar-midp", "mcnemar", "t", "wilcoxon"]

#: Units that a system did not answer: left out pair by pair, or wherever any system lacks them, or 0, or refused.
Missing = Literal["drop", "complete", "zero", "refuse"]

#: Answers that were lost, to an error of the harness, say: missing, or as wrong as can be.
Errors = Literal["missing", "wrong"]
PairBy = Literal["id", "row"]

#: Token counts count as equal below this design effect n Σt²/(Σt)²; above it windows are drawn uniformly.
DESIGN_EFFECT_LIMIT = 1.05

DEFAULT_LEVEL = 0.95

#: Replicates for what has no closed form (the studentized interval, recorded fallbacks) when none were asked for.
DEFAULT_RESAMPLES = 10_000

#: The random error of a p-value is then below 0.0005. A leaderboard of 20 models keeps 20 numbers of each replicate,
#: several times, and so takes less than 1 GB; a forged certificate must not fill a verifier's memory either.
MOST_RESAMPLES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Method, level, scheme, replicates, seed and test. ``resamples=None`` is the exact distribution (B = ∞)."""

    method: Method = "auto"
    level: float = DEFAULT_LEVEL
    scheme: Scheme = "auto"
    resamples: int | None = None
    seed: int = 0
    test: TestName = "auto"
    margin: float | None = None

    drawn_whole: ClassVar[bool] = False  # see `assay.stats.bootstrap.interval`

    def __post_init__(self) -> None:
        _check_choice("method", self.method, get_args(Method))
        _check_choice("scheme", self.scheme, get_args(Scheme))
        _check_choice("test", self.test, get_args(TestName))
        check_number("level", self.level, "at least 0.5 and below 1", lambda x: 0.5 <= x < 1, "; 0.95 is usual")
        if self.resamples is not None and not 100 <= self.resamples <= MOST_RESAMPLES:
            rule = "at least 100" if self.resamples < 100 else f"at most {MOST_RESAMPLES:,}"
            raise UsageError(
                f"resamples must be {rule}, but got {short(self.resamples)}; leave it out for the exact interval."
            )
        if not 0 <= self.seed < 2**64:
            raise UsageError(f"seed must be an integer from 0 to 2^64 - 1, but got {self.seed}.")
        if self.margin is not None and not 0 < self.margin < float("inf"):
            raise UsageError(f"margin must be positive and finite, but got {self.margin}.")

    def interval(
        self, units: "Units", level: float | None = None, *, own_p: bool = False, backend: "Backend" = "auto"
    ) -> "IntervalResult":
        """The interval of a ratio of sums as the design asks for it, at its own level unless another one is given.

        ``own_p`` asks for the interval's own p-value too; ``backend`` changes the time, and no number.
        """
        from assay.stats.bootstrap import interval  # late: a design is made before anything is computed

        return interval(
            units,
            method=self.method,
            confidence_level=self.level if level is None else level,
            resamples=self.resamples,
            seed=self.seed,
            backend=backend,
            own_p=own_p,
            drawn_whole=self.drawn_whole,
        )

    def ran(self, made: "Iterable[Interval | None]") -> str:
        """The method that all of these intervals have; where they differ, the one that was asked for."""
        names = {limits.method for limits in made if limits is not None and limits.method != "degenerate"}
        return names.pop() if len(names) == 1 else self.method

    @property
    def paired(self) -> bool:
        """Whether interval and test are left to us: then they are made to agree. Otherwise both are as computed."""
        return self.method == "auto" and self.test in ("auto", "mcnemar-midp", "mcnemar")


class DrawnWhole(Design):
    """The same, with resamples of many units drawn from the exact distribution of the estimate."""

    drawn_whole: ClassVar[bool] = True


Record = TypeVar("Record")


class DesignFields(TypedDict, total=False):
    """The fields of a `Design`, which the verbs take as keywords too."""

    method: Method
    level: float
    scheme: Scheme
    resamples: int | None
    seed: int
    test: TestName
    margin: float | None


def as_given(verb: str, record: type[Record], given: Record | None, keywords: Mapping[str, Any]) -> Record:
    """The design (or goal) that a verb was given, or the one that its keywords make; both at once are refused.

    >>> as_given("compare", Design, None, {"level": 0.9}).level
    0.9
    """
    known, name = [field.name for field in fields(record)], record.__name__.lower()  # type: ignore[arg-type]  # a dataclass
    check_keywords(verb, known, keywords, "" if record is Design else f", a {name} in place of a design")
    if given is None:
        return record(**keywords)
    refuse_both(verb, name, list(keywords))
    return given


def check_keywords(verb: str, known: Collection[str], keywords: Iterable[str], instead: str = "") -> None:
    """Refuse keywords that a verb does not take, as Python does; ``instead`` is what it takes in their place."""
    for keyword in keywords:
        if keyword not in known:
            close = nearest(keyword, known)
            own = f"it takes those of its signature{instead}, and {', '.join(known)}."
            hint = f"did you mean {close!r}?" if close else own
            raise TypeError(f"{verb}() has no argument {keyword!r}; {hint}")


def refuse_both(verb: str, record: str, keywords: Sequence[str]) -> None:
    """Refuse fields of a record beside the record itself."""
    if keywords:
        raise UsageError(
            f"{verb} takes either a {record} or its fields, but got a {record} and {', '.join(keywords)}; write them "
            f"into the {record}, or leave it out."
        )


def said_by(design: Design) -> dict[str, Any]:
    """The fields of a design that are not its defaults, for verbs that leave the others open.

    >>> said_by(Design(level=0.9))
    {'level': 0.9}
    """
    usual = Design()
    values = {field.name: getattr(design, field.name) for field in fields(design)}
    return {name: value for name, value in values.items() if value != getattr(usual, name)}


def check_missing(missing: str) -> None:
    """Refuse what is no way to treat missing answers."""
    _check_choice("missing", missing, get_args(Missing))


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
    """How much evidence a certificate needs, and what it may find."""

    windows: int  # at least so many preview windows, and as many final ones; for scores: items
    replicates: int
    max_ratio: float  # the largest acceptable perplexity of the subject over the baseline's
    max_drop: float  # the largest acceptable fall of a mean score


TierName = Literal["balanced", "conservative", "aggressive"]
Profile = Literal["dev", "ci", "release"]
Weights = Literal["equal", "any"]

TIERS: dict[TierName, Tier] = {
    "balanced": Tier(180, 1_200, 1.10, 0.02),
    "conservative": Tier(220, 1_500, 1.05, 0.01),
    "aggressive": Tier(140, 800, 1.20, 0.05),
}


#: From the loosest to the strictest.
STRICTNESS: dict[str, tuple[str, ...]] = {
    "tier": ("aggressive", "balanced", "conservative"),
    "profile": ("dev", "ci", "release"),
    "weights": ("any", "equal"),
    "method": ("percentile", "bca-plain", "bca", "auto"),
    "scheme": ("tokens", "auto", "windows"),
}
#: What is looser makes gates easier to pass, and needs a note: weights that hide what was lost, draws by tokens that
#: vary, a method that is not the one whose coverage holds for units like these.
USUAL = {"weights": "equal", "method": "auto", "scheme": "auto"}
_LOWER_IS_STRICTER = ("max_ratio", "max_drop")
_HIGHER_IS_STRICTER = ("min_windows", "replicates", "level")
#: What a tier says of the fields of a policy, by the name that the tier has for it.
OF_THE_TIER = {"max_ratio": "max_ratio", "max_drop": "max_drop", "min_windows": "windows", "replicates": "replicates"}
_TEXTS = ("cluster", "task", "metric", "filter", "scorer", "note")
SUITE_FIELDS = ("total", "each", "tasks", "groups", "every")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a model must meet to replace another: `certify` issues by it, and `verify` insists on it.

    What is ``None`` is left open. `certify` then takes the tier's number, or the default; `verify` takes what the
    issuer chose, and says so.
    """

    tier: TierName | None = None  # its limits, minimum and replicates, where the fields below do not say otherwise
    profile: Profile | None = None
    max_ratio: float | None = None
    max_drop: float | None = None
    min_windows: int | None = None  # windows in each split; for scores: items
    replicates: int | None = None
    seed: int | None = None
    level: float | None = None
    lower_is_better: bool | None = None  # of scores; losses always are
    weights: Weights | None = None  # of scores; "equal" as soon as a policy says anything
    method: GateMethod | None = None  # of the interval; "auto" as soon as a policy says anything
    scheme: Scheme | None = None  # what is drawn; likewise
    cluster: str | None = None  # the column whose groups are drawn whole
    task: str | None = None
    metric: str | None = None
    filter: str | None = None
    scorer: str | None = None
    note: str | None = None
    # Of several tasks; the limits above are then of their total.
    total: TotalLimits | None = field(default=None, hash=False)  # further ones, and what each task counts
    each: Limits | None = None  # of a single task, where ``tasks`` says nothing else
    tasks: Mapping[str, Limits] | None = field(default=None, hash=False)  # by name or pattern
    groups: Mapping[str, GroupLimits] | None = field(default=None, hash=False)
    every: bool | None = None  # every task's bound must be within its limit, and not only no task shown to be beyond

    def __post_init__(self) -> None:
        self._check_suite()
        for name in STRICTNESS:
            if getattr(self, name) is not None:
                _check_choice(name, getattr(self, name), STRICTNESS[name][::-1])
        check_number("max_ratio", self.max_ratio, "positive and finite", lambda x: 0 < x < float("inf"))
        check_number("max_drop", self.max_drop, "0 or more, and finite", lambda x: 0 <= x < float("inf"))
        check_number("level", self.level, "at least 0.5 and below 1; 0.95 is usual", lambda x: 0.5 <= x < 1)
        _check_whole("min_windows", self.min_windows, 1, 10**9)
        _check_whole("replicates", self.replicates, 100, MOST_RESAMPLES)
        _check_whole("seed", self.seed, 0, 2**64 - 1)
        if self.lower_is_better is not None and not isinstance(self.lower_is_better, bool):
            raise UsageError(f"lower_is_better must be true or false, but got {self.lower_is_better!r}.")
        for name in _TEXTS:
            value = getattr(self, name)
            if value is not None and not (isinstance(value, str) and (value.strip() or name == "note")):
                raise UsageError(f"{name} must be a text that is not empty, but got {value!r}.")

    def _check_suite(self) -> None:
        """Check the limits of several tasks; those of the total that the policy itself has a field for go there."""
        check_limits("total", self.total, TotalLimits)
        check_limits("each", self.each, Limits)
        check_tasks(self.tasks)
        check_groups(self.groups)
        if self.every is not None and not isinstance(self.every, bool):
            raise UsageError(f"every must be true or false, but got {self.every!r}.")
        for name in ("max_drop", "max_ratio") if self.total is not None else ():
            own, of_total = getattr(self, name), getattr(self.total, name)
            if own is not None and of_total is not None and own != of_total:
                raise UsageError(f"{name} must be said once, but got {own} and {of_total} of the total.")
            object.__setattr__(self, name, own if of_total is None else of_total)
        if self.total is not None:
            left = self.total.without("max_drop", "max_ratio")
            object.__setattr__(self, "total", left or None)

    def __bool__(self) -> bool:
        """Whether anything is fixed."""
        return any(getattr(self, field.name) is not None for field in fields(self) if field.name != "note")

    def fixed(self, name: str) -> Any:
        """What the policy says of a field, by itself or by its tier; ``None`` where it is left open."""
        value = getattr(self, name)
        if value is None and self.tier is not None and name in OF_THE_TIER:
            return getattr(TIERS[self.tier], OF_THE_TIER[name])
        return value

    @property
    def limits(self) -> Tier:
        """The tier's numbers with the overrides in place."""
        return replace(TIERS[self.tier or "balanced"], **self.overrides)

    @property
    def overrides(self) -> dict[str, Any]:
        """What differs from the tier."""
        tier = TIERS[self.tier or "balanced"]
        wanted = {name: getattr(self, field) for field, name in OF_THE_TIER.items()}
        return {name: value for name, value in wanted.items() if value is not None and value != getattr(tier, name)}

    def design(self, *, exact: bool = False) -> Design:
        """How a certificate's interval is computed: as `compare` does, by the tier's replicates or over all resamples.

        Where nothing is resampled (0/1 scores) the two are the same.
        """
        return Design(
            method=self.method or "auto",
            level=DEFAULT_LEVEL if self.level is None else self.level,
            scheme=self.scheme or "auto",
            resamples=None if exact else self.limits.replicates,
            seed=self.seed or 0,
        )

    @property
    def of_tasks(self) -> list[str]:
        """The fields that are about several tasks, and say something."""
        return [name for name in SUITE_FIELDS if getattr(self, name)]

    @property
    def task_limits(self) -> Limits:
        """Of a single task, where nothing is said of it by name."""
        usual, whole = TASK_LIMITS[self.tier or "balanced"], self.limits
        assert usual.max_drop is not None
        assert usual.max_ratio is not None
        at_least = Limits(max_drop=max(usual.max_drop, whole.max_drop), max_ratio=max(usual.max_ratio, whole.max_ratio))
        return at_least if self.each is None else self.each.over(at_least)

    def _looser_tasks(self) -> list[str]:
        """What of the limits of tasks makes gates easier to pass than the tier does."""
        usual = replace(self, each=None).task_limits
        given = {"each": self.each, **{f"tasks.{name}": one for name, one in (self.tasks or {}).items()}}
        found = [f"{name}.{limit}" for name, one in given.items() if one is not None for limit in one.looser(usual)]
        weighed = self.total is not None and self.total.weights not in (None, "macro")
        return [*found, *(["total.weights"] if weighed else [])]

    def complete(self) -> "Policy":
        """What a certificate is issued by: defaults where it is open. What differs from the tier needs a note."""
        filled = replace(
            self,
            tier=self.tier or "balanced",
            profile=self.profile or "dev",
            level=self.design().level,
            seed=self.seed or 0,
            weights=self.weights or "equal",
            method=self.method or "auto",
            scheme=self.scheme or "auto",
            every=bool(self.every),
        )
        weaker = ["level"] if filled.design().level < DEFAULT_LEVEL else []  # a lower level makes gates easier to pass
        weaker += [name for name, usual in USUAL.items() if looser(name, getattr(filled, name), usual)]
        weaker += self._looser_tasks()
        if (self.overrides or weaker) and not (self.note and self.note.strip()):
            changed = ", ".join(sorted([*self.overrides, *weaker]))
            raise UsageError(
                f"{changed} of the tier {filled.tier} changed: say why with `note=TEXT`, or with a note in the policy "
                "(it is recorded)."
            )
        return filled

    def with_options(self, **options: Any) -> "Policy":
        """The policy with options beside it, which may fill what it leaves open and be stricter, but not contradict it.

        >>> Policy(tier="balanced").with_options(max_ratio=1.05).max_ratio
        1.05
        """
        given = {name: value for name, value in options.items() if value is not None}
        if self.note and given.get("note"):
            given["note"] = f"{self.note}; {given['note']}"
        if self.each is not None and "each" in given:
            given["each"] = _merged(given["each"], self.each)
        for name, value in given.items():
            says = None if name in ("note", "each") else self.fixed(name)
            if says is not None and value != says and not _stricter(name, value, says):
                raise UsageError(
                    f"{name} {_plain(value)} contradicts the policy, which says {_plain(says)}; an option may be "
                    "stricter than the policy, so leave it out or change the policy."
                )
        return replace(self, **given)


def _merged(asked: Limits, says: Limits) -> Limits:
    """The limits of single tasks of a policy with an option beside them, which may be stricter."""
    for name in asked.looser(says):
        raise UsageError(
            f"{name} {getattr(asked, name)} of each task contradicts the policy, which says {getattr(says, name)}; an "
            "option may be stricter than the policy, so leave it out or change the policy."
        )
    return asked.over(says)


def looser(name: str, value: str, than: str) -> bool:
    """Whether one of the choices of `STRICTNESS` asks for less than another."""
    return STRICTNESS[name].index(value) < STRICTNESS[name].index(than)


def _stricter(name: str, value: Any, than: Any) -> bool:
    if name == "every":
        return bool(value)
    if name in STRICTNESS:
        return value in STRICTNESS[name] and looser(name, than, value)
    return bool((name in _LOWER_IS_STRICTER and value < than) or (name in _HIGHER_IS_STRICTER and value > than))


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check_whole(name: str, value: object, low: int, high: int) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value is not None and not (whole and low <= value <= high):  # type: ignore[operator]  # whole says it is an int
        raise UsageError(f"{name} must be a whole number from {low:,} to {high:,}, but got {short(value)}.")
