"""Verdicts of a judge that is moved by the place of an answer: what `calibration_judges.py` simulates.

On a prompt the better answer is that of the model with chance p. With chance c the judge is swayed, and the place
decides: the first wins with chance b. A verdict is a tie with chance t. Otherwise the better answer wins.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assay.stats.bounded_mean import bounded_interval
from assay.stats.numerics import critical_values, normal_quantile
from assay.stats.positions import first_place
from assay.stats.records import Interval
from assay.stats.units import Floats, Integers, Units, grouped, standard_error

LEVEL = 0.95


@dataclass(frozen=True)
class Judge:
    """How a judge comes to its verdicts."""

    better: float  # p: the chance that the model's answer is the better one
    swayed: float = 0.0  # c
    first: float = 0.9  # b: of the swayed verdicts, those for the first place
    tie: float = 0.0  # t

    @property
    def win_rate(self) -> float:
        """Of the model, in both orders."""
        return self.tie / 2 + (1 - self.tie) * ((1 - self.swayed) * self.better + self.swayed / 2)

    @property
    def first_share(self) -> float:
        """What the first place gets between equals."""
        return 0.5 + (1 - self.tie) * self.swayed * (self.first - 0.5)


@dataclass(frozen=True, eq=False)
class Played:
    """What the one shown first got in each game, by codes; model 0 is looked at."""

    won: Floats
    first: Integers
    second: Integers
    prompts: Integers

    @property
    def scores(self) -> Floats:
        """(prompts,) The mean of model 0 on each prompt."""
        own = np.where(self.first == 0, self.won, 1 - self.won)
        return grouped(own, self.prompts) / np.bincount(self.prompts)


def both_orders(judge: Judge, n: int, rng: np.random.Generator) -> Played:
    """Two games on each prompt; a swayed judge is swayed in both, and so is one that sees a tie."""
    return _played(judge, np.tile([0, 1], n), np.repeat(np.arange(n), 2), n, rng)


def one_order(judge: Judge, n: int, rng: np.random.Generator, share: float = 0.5) -> Played:
    """One game on each prompt; model 0 is shown first in a share of them."""
    first = np.where(np.arange(n) < round(share * n), 0, 1)
    return _played(judge, first, np.arange(n), n, rng)


def _played(judge: Judge, first: Integers, prompts: Integers, n: int, rng: np.random.Generator) -> Played:
    better = (rng.random(n) >= judge.better).astype(np.int64)[prompts]  # which model's answer is
    swayed, to_first = (rng.random(n) < judge.swayed)[prompts], (rng.random(n) < judge.first)[prompts]
    tie = (rng.random(n) < judge.tie)[prompts]
    won = np.where(swayed, to_first, first == better).astype(np.float64)
    return Played(np.where(tie, 0.5, won), first, 1 - first, prompts)


# ----------------------------------------------------------------------------------------------------------- intervals

Limits = tuple[float, float]


def of_win_rate(found: Played) -> dict[str, Limits]:
    """Ours, Student's t of the prompts, and Wilson's of the games as if they were independent."""
    scores = found.scores
    ones = np.ones(len(scores))
    drawn = Units(scores, ones)
    ours = bounded_interval(drawn, ones, LEVEL, right_or_wrong=bool(((scores == 0) | (scores == 1)).all()))
    return {"agresti-coull": (ours.low, ours.high), "t": _student(drawn), "Wilson, games": _wilson(found, "model")}


def of_first_place(found: Played) -> dict[str, Limits]:
    """Ours, Student's t of the prompts where both orders are there, and Wilson's of the games."""
    estimate = first_place(found.won, found.first, found.second, found.prompts, LEVEL)
    assert estimate is not None
    assert isinstance(estimate.interval, Interval)
    counts = np.bincount(found.prompts).astype(np.float64)
    plain = _student(Units(grouped(found.won, found.prompts), counts))
    ours = (estimate.interval.low, estimate.interval.high)
    return {"bonett-price": ours, "t": plain, "Wilson, games": _wilson(found, "first")}


def _student(drawn: Units) -> Limits:
    reach = float(critical_values(LEVEL, drawn.n - 1.0)[0]) * (standard_error(drawn) or 0.0)
    return drawn.estimate - reach, drawn.estimate + reach


def _wilson(found: Played, of: str) -> Limits:
    won = found.won if of == "first" else np.where(found.first == 0, found.won, 1 - found.won)
    n, share, z = len(won), float(won.mean()), normal_quantile(0.5 + LEVEL / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return centre - reach, centre + reach


# --------------------------------------------------------------------------------------------------------------- cases


@dataclass(frozen=True)
class Case:
    """What is drawn, what is true of it, and which intervals are looked at."""

    name: str
    draw: Callable[[np.random.Generator], Played]
    truth: float
    intervals: Callable[[Played], dict[str, Limits]]

    def simulated(self, simulations: int, seed: int) -> dict[str, tuple[float, float]]:
        """By interval: the share that holds the truth, and the mean width."""
        inside: dict[str, int] = {}
        width: dict[str, float] = {}
        for i in range(simulations):
            played = self.draw(np.random.default_rng([seed, i]))
            for name, (low, high) in self.intervals(played).items():
                inside[name] = inside.get(name, 0) + int(low - 1e-12 <= self.truth <= high + 1e-12)
                width[name] = width.get(name, 0.0) + high - low
        return {name: (inside[name] / simulations, width[name] / simulations) for name in inside}


def _win_rates(n: int) -> list[Case]:
    judges = {
        "no ties, p = 0.5": Judge(0.5),
        "no ties, p = 0.9": Judge(0.9),
        "30 % ties, p = 0.5": Judge(0.5, tie=0.3),
        "30 % ties, p = 0.9": Judge(0.9, tie=0.3),
        "70 % ties, p = 0.7": Judge(0.7, tie=0.7),
        "20 % swayed, 10 % ties, p = 0.6": Judge(0.6, 0.2, tie=0.1),
        "50 % swayed, 10 % ties, p = 0.8": Judge(0.8, 0.5, tie=0.1),
        "10 % swayed, 5 % ties, p = 0.97": Judge(0.97, 0.1, tie=0.05),
    }
    return [
        Case(f"{name}, {n} prompts", lambda rng, judge=judge: both_orders(judge, n, rng), judge.win_rate, of_win_rate)  # type: ignore[misc]
        for name, judge in judges.items()
    ]


def _places(n: int) -> list[Case]:
    judges = {
        "5 % swayed, half to the first": Judge(0.6, 0.05, 0.5, 0.2),
        "5 % swayed, 90 % to the first": Judge(0.6, 0.05, 0.9, 0.2),
        "20 % swayed, half to the first": Judge(0.6, 0.2, 0.5, 0.2),
        "20 % swayed, 80 % to the first": Judge(0.6, 0.2, 0.8, 0.2),
        "60 % swayed, 95 % to the first": Judge(0.6, 0.6, 0.95, 0.1),
    }
    found = [
        Case(
            f"both orders, {name}, {n} prompts",
            lambda rng, judge=judge: both_orders(judge, n, rng),  # type: ignore[misc]
            judge.first_share,
            of_first_place,
        )
        for name, judge in judges.items()
    ]
    for share in (0.5, 0.75):
        for better in (0.5, 0.8):
            judge = Judge(better, 0.3, 0.8, 0.1)
            name = f"one order, model first in {share:.0%}, p = {better}, {n} prompts".replace("%", " %")
            draw = lambda rng, judge=judge, share=share: one_order(judge, n, rng, share)  # noqa: E731 - one line each
            found.append(Case(name, draw, judge.first_share, of_first_place))
    return found


WIN_RATES = [case for n in (20, 80, 500) for case in _win_rates(n)]
PLACES = [case for n in (20, 80, 300) for case in _places(n)]
