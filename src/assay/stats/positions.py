"""Does the answer that is shown first win more often? Apart from how good the models are that are shown there.

A game is a judge's look at two answers. What the one shown first gets, y (1, ½ or 0), is taken to be

    y = F + s(first) − s(second) + noise,

with a strength s for each model. F is the share that the first place gets between equals: ½ where the place does not
matter. Least squares give it in closed form: with r what is left of the constant after the models are taken out of it,

    F = Σ r·y / Σ r.

Where every pair of models was judged in both orders equally often r is 1 and F the plain share. Where no r is left, the
order tells the models apart (one was always shown first), and F cannot be known.

Games on one prompt are drawn together. The squared standard error is Σ (Σ r·e)² / (Σ r)² over prompts, of residuals e
that are divided by √(1 − leverage), the leverage being at least one prompt's share: with one order that is Welch's
error of two groups, with both orders the usual error of a mean over prompts.

Where most prompts have the same verdict in both orders, the few that have not say little of the spread. So the interval
counts two prompts more, one that goes to the first place and one that goes to the second: Bonett and Price's interval
of a difference of paired shares, which is the case of two models, two orders and no ties. Its n is Kish's number of
prompts, and Student's t has Satterthwaite's degrees of freedom for the weights r². Coverage:
`benchmarks/calibration_judges.py`.

References: Liang and Zeger (1986), *Longitudinal data analysis using generalized linear models*; Bonett and Price
(2012), *Adjusted Wald confidence interval for a difference of binomial proportions based on paired data*.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from assay.stats.numerics import critical_values
from assay.stats.records import Estimate, Interval
from assay.stats.units import Floats, Integers, Truths, effective_number, grouped

METHOD = "bonett-price"
_NOTHING = 1e-9  # of the constant, per game, is left: the order and the models say the same
_WORST = 0.5  # the residual of a game that alone tells a strength


def first_place(
    won: Floats, first: Integers, second: Integers, prompts: Integers, level: float = 0.95
) -> Estimate | None:
    """The share that the first place gets, from codes of models and prompts; ``None`` where it cannot be known.

    >>> import numpy as np
    >>> won = np.array([1.0, 1.0, 1.0, 0.0])  # x then y, y then x, on two prompts
    >>> first_place(won, np.array([0, 1, 0, 1]), np.array([1, 0, 1, 0]), np.array([0, 0, 1, 1])).value
    0.75
    """
    k = int(max(first.max(), second.max())) + 1
    solve = np.asarray(np.linalg.pinv(_laplacian(first, second, k), hermitian=True), dtype=np.float64)
    left = 1 - _strengths(solve, np.ones(len(won)), first, second)
    total = float(left.sum())
    if total <= _NOTHING * len(won):
        return None
    share = float((left * won).sum()) / total
    rest = np.asarray(won - share)
    codes = np.unique(prompts, return_inverse=True)[1]
    leverage = np.maximum(_leverage(solve, left, total, first, second), 1 / (int(codes.max()) + 1))
    residual = _unbiased(rest - _strengths(solve, rest, first, second), leverage)
    pulls, mass, squares = (grouped(part, codes) for part in (left * residual / total, np.abs(left), left * left))
    share = min(max(share, 0.0), 1.0)
    if len(pulls) < 2:
        return Estimate(share, None, None, len(won), "a single prompt")
    error = sqrt(float((pulls * pulls).sum()))
    limits = _interval(share, error, effective_number(mass), max(effective_number(squares) - 1, 1.0), level)
    return Estimate(share, limits.around(share), error, len(won))


def _interval(share: float, error: float, n: float, df: float, level: float) -> Interval:
    """Of n prompts, with one more that goes to the first place and one that goes to the second."""
    centre = (n * share + 1) / (n + 2)
    squares = error**2 * n * (n - 1) + n * (share - centre) ** 2 + (1 - centre) ** 2 + centre**2
    reach = float(critical_values(level, df)[0]) * sqrt(squares / ((n + 2) * (n + 1)))
    return Interval(max(centre - reach, 0.0), min(centre + reach, 1.0), level, METHOD)


def _laplacian(first: Integers, second: Integers, k: int) -> Floats:
    """(k, k) The normal equations of the strengths: how often each met each."""
    met = np.zeros((k, k))
    np.add.at(met, (first, second), 1.0)
    both = met + met.T
    return np.asarray(np.diag(both.sum(axis=1)) - both)


def _strengths(solve: Floats, values: Floats, first: Integers, second: Integers) -> Floats:
    """(games,) What the models alone say of these values, by least squares."""
    k = len(solve)
    sums = np.bincount(first, values, k) - np.bincount(second, values, k)
    strength = (solve * sums).sum(axis=1)  # no BLAS product, whose order of summation depends on the machine
    return np.asarray(strength[first] - strength[second])


def _leverage(solve: Floats, left: Floats, total: float, first: Integers, second: Integers) -> Floats:
    """(games,) How much of what is fitted to a game is its own: by the models, and by what is left of the constant."""
    models = solve[first, first] + solve[second, second] - 2 * solve[first, second]
    return np.asarray(models + left * left / total)


def _unbiased(residual: Floats, leverage: Floats) -> Floats:
    """Residuals as large as the errors are; of a game that alone tells a strength nothing is known."""
    rest = 1 - leverage
    alone = rest < _NOTHING
    return np.asarray(np.where(alone, _WORST, residual / np.sqrt(np.where(alone, 1.0, rest))))


# --------------------------------------------------------------------------------------------------------- both orders


@dataclass(frozen=True, eq=False, slots=True)
class BothOrders:
    """Pairs of models on a prompt that were judged in both orders."""

    agree: Truths  # (pairs,) whether both orders have the same verdict: a win of the same model, or a tie
    prompts: Integers  # (pairs,)


def both_orders(won: Floats, first: Integers, second: Integers, prompts: Integers) -> BothOrders:
    """Whether a judge says the same when the answers change places; several games in one order count as their mean."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    k = int(high.max()) + 1
    pairs, place = np.unique((prompts * k + low) * k + high, return_inverse=True)
    swapped = first > second
    means = [_means(np.where(swapped, 1 - won, won), place, chosen, len(pairs)) for chosen in (~swapped, swapped)]
    there = ~np.isnan(means[0]) & ~np.isnan(means[1])
    agree = np.sign(means[0] - 0.5) == np.sign(means[1] - 0.5)
    return BothOrders(agree[there], (pairs // (k * k))[there])


def _means(values: Floats, place: Integers, chosen: Truths, n: int) -> Floats:
    sums, counts = np.bincount(place[chosen], values[chosen], n), np.bincount(place[chosen], minlength=n)
    return np.asarray(np.divide(sums, counts, out=np.full(n, np.nan), where=counts > 0))
