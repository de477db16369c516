"""What a study would measure (the spread of paired differences, or shares of right answers), and its goal."""

from dataclasses import dataclass, field, fields
from math import inf, sqrt
from typing import Literal, TypedDict, get_args

from assay.errors import UsageError

McNemar = Literal["auto", "mcnemar-midp", "mcnemar"]

_SLACK = 1e-9  # what rounding may take a share or a variance beyond its limit
_TINY = 1e-12  # the square of a correlation that is as good as 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """How sure the answer shall be. With a ``margin`` the question is not "different?" but "equivalent within it?"."""

    level: float = 0.95  # of the interval; a two-sided test at 1 − level
    power: float = 0.8
    margin: float | None = None
    comparisons: int = 1  # tests among which the error is shared (Bonferroni)
    test: McNemar = "auto"  # of 0/1 scores; auto is the mid-p, as in `compare`

    def __post_init__(self) -> None:
        if not 0.5 <= self.level < 1:
            raise UsageError(f"level must be at least 0.5 and below 1, but got {self.level}; 0.95 is usual.")
        if not 1 - self.level < self.power < 1:
            raise UsageError(
                f"power must be above {1 - self.level:g}, which chance alone gives, and below 1, but got {self.power}; "
                "0.8 is usual."
            )
        if self.margin is not None and not 0 < self.margin < inf:
            raise UsageError(f"margin must be positive and finite, but got {self.margin}.")
        if self.comparisons < 1:
            raise UsageError(f"comparisons must be at least 1, but got {self.comparisons}; count the tests you plan.")
        if self.test not in get_args(McNemar):
            raise UsageError(f"test must be one of {', '.join(get_args(McNemar))}, but got {self.test!r}.")

    @property
    def adjusted_level(self) -> float:
        """The level that each of the comparisons has."""
        return 1 - (1 - self.level) / self.comparisons


class GoalFields(TypedDict, total=False):
    """The fields of a `Goal`, which the verbs take as keywords too."""

    level: float
    power: float
    margin: float | None
    comparisons: int
    test: McNemar


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """Items that are alike within clusters, and scores that are means of repeated runs."""

    cluster_size: float = 1.0
    icc: float = 0.0  # intraclass correlation of the differences of two items of a cluster
    repeats: int = 1  # runs of each system on each item
    sd_within: float = 0.0  # of the runs of one system on one item

    def __post_init__(self) -> None:
        if not 1 <= self.cluster_size < inf:
            raise UsageError(f"cluster_size must be at least 1, but got {self.cluster_size}; give items per cluster.")
        if not 0 <= self.icc <= 1:
            raise UsageError(f"icc must be between 0 and 1, but got {self.icc}.")
        if self.repeats < 1:
            raise UsageError(f"repeats must be at least 1, but got {self.repeats}; give the runs of each item.")
        if not 0 <= self.sd_within < inf:
            raise UsageError(f"sd_within must be 0 or more, but got {self.sd_within}.")

    @property
    def plain(self) -> bool:
        """Independent items, run once."""
        return self.design_effect == 1 and self.repeats == 1

    @property
    def design_effect(self) -> float:
        """By how much clusters multiply the variance of a mean."""
        return 1 + (self.cluster_size - 1) * self.icc

    def variance(self, single: float) -> float:
        """N × the variance of a mean difference, from that of a single difference with one run of each system.

        Repeats take away noise that items do not share, 2·sd_within² of the single difference, and nothing else.
        """
        noise = min(2 * self.sd_within**2, (1 - self.icc) * single)
        return single * self.design_effect - noise * (1 - 1 / self.repeats)

    def check_noise(self, single: float) -> None:
        """Refuse noise that exceeds the whole spread."""
        most = sqrt((1 - self.icc) * single / 2)
        if self.sd_within > most * (1 + _SLACK):
            raise UsageError(
                f"sd_within must be at most {most:.4g}, for two runs differ by √2 × sd_within already, but got "
                f"{self.sd_within}; give that of one item, not of the mean."
            )


@dataclass(frozen=True, slots=True)
class Means:
    """Mean differences with Student's t: what a difference varies by, all told, and how many items share a cluster."""

    variance: float  # n × the variance of the mean of n items
    cluster_size: float = 1.0

    def error(self, items: float) -> float:
        return sqrt(self.variance / items)

    def df(self, items: float) -> float:
        return items / self.cluster_size - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Differences B − A of single items with one run of each, and what they are collected in."""

    sd: float
    structure: Structure = field(default_factory=Structure)

    def __post_init__(self) -> None:
        if not 0 < self.sd < inf:
            raise UsageError(f"sd must be positive and finite, but got {self.sd}.")
        self.structure.check_noise(self.sd**2)

    @classmethod
    def of_arms(cls, sd_a: float, sd_b: float, correlation: float, structure: Structure | None = None) -> "Spread":
        """From the spread of each system's scores and their correlation over items."""
        for name, value in (("sd_a", sd_a), ("sd_b", sd_b)):
            if not 0 < value < inf:
                raise UsageError(f"{name} must be positive and finite, but got {value}.")
        _check_correlation(correlation)
        square = sd_a**2 + sd_b**2 - 2 * correlation * sd_a * sd_b
        if square <= _SLACK * (sd_a**2 + sd_b**2):
            raise UsageError("with this correlation all differences are equal: every number of items would do.")
        return cls(sd=sqrt(square), structure=structure or Structure())

    def means(self) -> Means:
        return Means(self.structure.variance(self.sd**2), self.structure.cluster_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """0/1 scores: how often A is right, and how often exactly one of the two is, or the correlation of the two."""

    p_a: float | None = None
    discordant: float | None = None
    correlation: float | None = None
    structure: Structure = field(default_factory=Structure)

    def __post_init__(self) -> None:
        if (self.discordant is None) == (self.correlation is None):
            raise UsageError("0/1 scores need either the correlation or the discordant share, how many items differ.")
        if self.p_a is not None and not 0 < self.p_a < 1:
            raise UsageError(f"p_a must be between 0 and 1, but got {self.p_a}.")
        if self.discordant is not None and not 0 < self.discordant <= 1:
            raise UsageError(f"discordant must be above 0 and at most 1, but got {self.discordant}.")
        if self.correlation is not None:
            _check_correlation(self.correlation)
            if self.p_a is None:
                raise UsageError("a correlation of 0/1 scores needs p_a, the share that A gets right.")
        self.structure.check_noise(self.discordant if self.discordant is not None else self._discordant(0.0))

    def discordance(self, difference: float) -> tuple[float, float]:
        """The probabilities that only B is right, and that only A is, if B is better by ``difference``."""
        discordant = self.discordant if self.discordant is not None else self._discordant(difference)
        if abs(difference) > discordant * (1 + _SLACK):
            raise UsageError(self._too_few(difference, discordant))
        if self.p_a is not None:
            self._check_room(difference, discordant)
        return max(discordant + difference, 0.0) / 2, max(discordant - difference, 0.0) / 2

    def _too_few(self, difference: float, discordant: float) -> str:
        if self.correlation is None:
            return (
                f"a difference of {difference:g} needs a discordant share of at least {abs(difference):g}, but it is "
                f"{discordant:.4g}; where so few items differ, the difference is smaller."
            )
        assert self.p_a is not None
        low, high = sorted((self.p_a, self.p_a + difference))
        most = sqrt(low * (1 - high) / (high * (1 - low)))
        return (
            f"correlation must be at most {most:.4g} between the shares {self.p_a:g} and {self.p_a + difference:.4g}, "
            f"but got {self.correlation:g}."
        )

    def _discordant(self, difference: float) -> float:
        assert self.p_a is not None
        assert self.correlation is not None
        a, b = self.p_a, self.p_a + difference
        if not 0 < b < 1:
            raise UsageError(
                f"p_b must be between 0 and 1, but p_a {a:g} and a difference of {difference:g} give {b:g}."
            )
        return a + b - 2 * (a * b + self.correlation * sqrt(a * (1 - a) * b * (1 - b)))

    def _check_room(self, difference: float, discordant: float) -> None:
        """Both right and neither right must be 0 or more."""
        assert self.p_a is not None
        total = 2 * self.p_a + difference
        if min(total, 2 - total) < discordant - _SLACK:
            raise UsageError(
                f"where A is right on {self.p_a:g} and B on {self.p_a + difference:.4g} of the items, at most "
                f"{min(total, 2 - total):.4g} can differ, but got {discordant:.4g}; correct the shares or "
                f"{'the discordant share' if self.correlation is None else 'the correlation'}."
            )

    def possible(self) -> tuple[float, float]:
        """The least and the largest difference, 0 or more, that the shares allow."""
        low, high = self._possible()
        if not low < high:
            raise UsageError("with these shares B cannot be better than A; correct p_a, the discordant share or both.")
        return low, high

    def _possible(self) -> tuple[float, float]:
        if self.discordant is not None:
            if self.p_a is None:
                return 0.0, self.discordant
            return max(0.0, self.discordant - 2 * self.p_a), min(self.discordant, 2 - 2 * self.p_a - self.discordant)
        assert self.p_a is not None
        assert self.correlation is not None
        square, odds = self.correlation**2, self.p_a / (1 - self.p_a)
        if self.correlation < 0:  # from "both right" and "neither right" being 0 or more
            low, high = square / odds, 1 / (odds * max(square, _TINY))
        else:  # from "only A is right"
            low, high = 0.0, odds / max(square, _TINY)
        inside = 1 - 1e-12
        return max(0.0, low / (1 + low) - self.p_a), (high / (1 + high) - self.p_a) * inside

    def means(self, difference: float) -> Means:
        """The same as a mean difference, for what McNemar's test has no answer to."""
        better, worse = self.discordance(difference)
        single = better + worse - difference**2
        return Means(self.structure.variance(single), self.structure.cluster_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanNumbers:
    """Whatever is known of a study, which must be enough for one kind of plan, and not too much."""

    sd: float | None = None
    sd_a: float | None = None
    sd_b: float | None = None
    correlation: float | None = None
    p_a: float | None = None
    p_b: float | None = None
    discordant: float | None = None
    cluster_size: float | None = None
    icc: float | None = None
    sd_within: float | None = None
    repeats: int | None = None

    def plan(self) -> Spread | Shares:
        """The plan that these numbers make."""
        kinds = {
            "`sd`": self.sd is not None,
            "`sd_a` and `sd_b`": self.sd_a is not None or self.sd_b is not None,
            "`p_a` or `discordant`": any(x is not None for x in (self.p_a, self.p_b, self.discordant)),
        }
        chosen = [name for name, given in kinds.items() if given]
        if len(chosen) != 1:
            seen = f"but got {' and '.join(chosen)}" if chosen else "or a pilot: two files of results"
            raise UsageError(f"the spread is given by `sd`, by `sd_a` and `sd_b`, or by `p_a` or `discordant`, {seen}.")
        structure = self._structure()
        if self.sd is not None:
            if self.correlation is not None:
                raise UsageError("`sd` is of the differences, in which the correlation is already; leave out one.")
            return Spread(sd=self.sd, structure=structure)
        if self.sd_a is not None or self.sd_b is not None:
            if self.sd_a is None or self.sd_b is None or self.correlation is None:
                raise UsageError("`sd_a`, `sd_b` and `correlation` belong together; give all three.")
            return Spread.of_arms(self.sd_a, self.sd_b, self.correlation, structure)
        return Shares(p_a=self.p_a, discordant=self.discordant, correlation=self.correlation, structure=structure)

    def _structure(self) -> Structure:
        if (self.cluster_size is None) != (self.icc is None):
            raise UsageError("`cluster_size` and `icc` belong together; give both or neither.")
        if (self.repeats is None) != (self.sd_within is None):
            raise UsageError("`repeats` and `sd_within` belong together; give both or neither.")
        names = ("cluster_size", "icc", "repeats", "sd_within")
        return Structure(**{name: getattr(self, name) for name in names if getattr(self, name) is not None})

    def difference(self, given: float | None) -> float | None:
        """What was asked for, or what the shares of both systems say."""
        if self.p_b is None:
            return given
        if self.p_a is None or given is not None:
            raise UsageError("`p_b` is the share beside `p_a`, and their difference is the one to detect.")
        if not 0 <= self.p_b <= 1:
            raise UsageError(f"p_b must be between 0 and 1, but got {self.p_b}.")
        return self.p_b - self.p_a

    def check_pilot(self) -> None:
        """Refuse what a pilot says itself; how often to run each item is for the study to say."""
        given = [part.name for part in fields(self) if part.name != "repeats" and getattr(self, part.name) is not None]
        if given:
            raise UsageError(f"`{given[0]}` is a number that the pilot gives; leave out the one or the other.")


def _check_correlation(correlation: float) -> None:
    if not -1 <= correlation <= 1:
        raise UsageError(f"correlation must be between -1 and 1, but got {correlation}.")


StudyPlan = Means | Shares
