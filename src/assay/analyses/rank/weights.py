"""Does the ranking change under other weights (S7)? Items weighted by n, √n or log n, or only those with enough."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from assay.analyses.rank.records import Move, Reweighting
from assay.data import Panel
from assay.errors import InputError, UsageError
from assay.stats.ranking import fitted
from assay.stats.repeated_runs import rank_stability
from assay.stats.units import Floats, Truths

WeightScheme = Literal["equal", "n", "sqrt", "log"]

_NEAR = 1e-12  # of the largest: estimates closer than this are equal up to rounding


def check_weights(weights: str | None, min_n: int | None) -> None:
    if weights is not None and weights not in get_args(WeightScheme):
        raise UsageError(f"weights must be one of {', '.join(get_args(WeightScheme))}, but got {weights!r}.")
    if min_n is not None and min_n < 1:
        raise UsageError(f"min_n must be at least 1, but got {min_n}.")


def reweighted(panel: Panel, weights: WeightScheme | None, min_n: int | None) -> Panel:
    """The panel with f(n) for the weight n of an item, and without the items of which n is too small."""
    if weights is None and min_n is None:
        return panel
    if "weight" not in panel.numbers:
        raise InputError(
            "`weights` and `min_n` need the number behind each item in a column 'weight' of scores; name it with "
            "`columns={'weight': 'NAME'}`."
        )
    if min_n is not None:
        enough = np.asarray(panel.grid.weights >= min_n)
        if not enough.any():
            raise InputError(f"no {panel.unit} has a weight of at least {min_n}; lower `min_n`.")
        panel = panel.rows(enough)
    return panel.weighted(lambda n: _weights(n, weights or "n"))


def _weights(n: Floats, how: WeightScheme) -> Floats:
    if how == "log" and not (n > 1).all():
        raise InputError("the logarithm of a weight of 1 or less is no weight; leave such items out with `min_n=2`.")
    if how == "equal":
        return np.ones_like(n)
    return n if how == "n" else np.sqrt(n) if how == "sqrt" else np.log(n)


def place_of(goodness: Floats) -> list[int]:
    """Ranks, 1 the best; estimates that are equal up to rounding share theirs."""
    near = _NEAR * float(np.abs(goodness).max(initial=0.0))
    return [1 + int((goodness > value + near).sum()) for value in goodness.tolist()]


def reweightings(panel: Panel, asked: WeightScheme | None, min_n: int | None, better: Truths) -> list[Reweighting]:
    """Every weighting against equal weights and all items; ``better`` is what the leaderboard decided."""
    if asked is None and min_n is None:
        return []
    base = _goodness(panel, "equal", None)
    schemes: Sequence[WeightScheme] = [
        how for how in get_args(WeightScheme) if how == asked or _possible(panel, how, min_n)
    ]
    chosen = [(how, min_n) for how in schemes if (how, min_n) != ("equal", None)]
    return [_against(base, panel, how, least, better) for how, least in chosen]


def _possible(panel: Panel, how: WeightScheme, min_n: int | None) -> bool:
    return how != "log" or bool((np.maximum(panel.grid.weights, min_n or 0) > 1).all())


def _goodness(panel: Panel, how: WeightScheme, min_n: int | None) -> Floats:
    estimates = fitted(reweighted(panel, how, min_n).grid).estimates
    return -estimates if panel.metric.lower_is_better else estimates


def _against(base: Floats, panel: Panel, how: WeightScheme, min_n: int | None, better: Truths) -> Reweighting:
    other = _goodness(panel, how, min_n)
    before, after = place_of(base), place_of(other)
    moves = [Move(*move) for move in zip(panel.systems, before, after, strict=True) if move[1] != move[2]]
    swapped = better & (other[:, None] < other[None, :])
    units = panel.grid.n if min_n is None else int((panel.grid.weights >= min_n).sum())
    tau = rank_stability(np.column_stack([base, other])).tau_mean
    return Reweighting(how, min_n, units, tau, tuple(sorted(moves, key=lambda m: m.rank)), int(swapped.sum()))
