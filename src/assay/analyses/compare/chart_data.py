"""What the charts of a comparison show: the difference by unit, and the distribution that its interval is read from."""

from dataclasses import dataclass
from math import ceil, floor

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.data import Panel
from assay.design import Design
from assay.stats.bootstrap import bootstrap_of
from assay.stats.units import Floats, Units

MOST_GROUPS = 200  # more units than this are drawn as means of neighbours
_BINS = 80
_FIRST = 1_000  # units that are looked at first
_WHOLE = 100  # whole numbers up to this are counts or 0/1 scores
_TAIL = 5e-4  # of the distribution, on each side, that is not drawn


@dataclass(frozen=True, slots=True)
class Neighbours:
    """One unit, or several that follow each other in the order of their ids."""

    first: str
    last: str
    count: int
    difference: float
    weight: float

    def __str__(self) -> str:
        return self.first if self.count == 1 else f"{self.first} … {self.last} ({self.count})"


class ChartData(msgspec.Struct, frozen=True):
    """The difference along the units, and the bootstrap distribution of the difference as a histogram."""

    first: tuple[str, ...]  # ids of the first and the last unit of each group of neighbours
    last: tuple[str, ...]
    count: tuple[int, ...]
    difference: tuple[float, ...]
    weight: tuple[float, ...]
    edges: tuple[float, ...]  # of the bars; none where there is no distribution
    shares: tuple[float, ...]  # of the resamples, a bar each

    @property
    def neighbours(self) -> list[Neighbours]:
        columns = (self.first, self.last, self.count, self.difference, self.weight)
        return [Neighbours(*row) for row in zip(*columns, strict=True)]


def chart_data_of(panel: Panel, drawn: Units, design: Design, method: str) -> ChartData:
    """What is shown of a comparison whose interval drew these units; ``method`` is what the interval took."""
    read = method not in ("degenerate", "t", "studentized", "tango")  # from a distribution
    resamples = None if method == "t-hall" else design.resamples  # a closed form draws none
    edges, shares = _histogram(drawn, resamples, design.seed) if read else ((), ())
    return ChartData(*_neighbours(panel), edges, shares)


def _neighbours(
    panel: Panel,
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...], tuple[float, ...], tuple[float, ...]]:
    """The columns of the groups: first and last id, how many, difference, weight."""
    order = _order(panel)
    ids, weights = panel.ids[order], panel.denominators[order]
    difference = (panel.numerators[:, 1] - panel.numerators[:, 0])[order]
    starts = np.linspace(0, panel.n, min(panel.n, MOST_GROUPS), endpoint=False).astype(np.int64)
    starts = starts[np.diff(starts, prepend=-1) > 0]  # np.unique would import numpy.ma, a tenth of the command's time
    stops = np.append(starts[1:], panel.n)
    weight = np.add.reduceat(weights, starts)
    value = np.add.reduceat(difference, starts) / weight
    return (
        tuple(map(str, ids[starts])),
        tuple(map(str, ids[stops - 1])),
        tuple((stops - starts).tolist()),
        tuple(value.tolist()),
        tuple(weight.tolist()),
    )


def _order(panel: Panel) -> NDArray[np.int64] | slice:
    """Ids in the order that a person expects: 2 before 10."""
    numbers = panel.ids.whole_numbers()
    return slice(None) if numbers is None else np.argsort(numbers, kind="stable")


def _histogram(drawn: Units, resamples: int | None, seed: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    distribution = bootstrap_of(drawn, resamples=resamples, seed=seed)
    low, high = distribution.quantiles([_TAIL, 1 - _TAIL]).tolist()
    edges = _edges(drawn, low, high)
    below = np.array([distribution.cdf(edge) for edge in edges.tolist()])
    return tuple(edges.tolist()), tuple(np.maximum(np.diff(below), 0).tolist())


def _edges(drawn: Units, low: float, high: float) -> Floats:
    """The edges of the bars: of means of whole numbers between their possible values, so that bars are no comb."""
    few = drawn.numerators[:_FIRST] / drawn.denominators[:_FIRST]
    if not drawn.equal_denominators or (few != np.rint(few)).any():  # as the first tell of most
        return np.linspace(low, high, _BINS + 1)
    values = drawn.numerators / drawn.denominators
    if np.abs(values).max() > _WHOLE or (values != np.rint(values)).any():
        return np.linspace(low, high, _BINS + 1)
    step = 1 / drawn.n
    width = max(1, ceil((high - low) / step / _BINS))
    first = floor(low / step + 0.5) - 0.5
    bars = max(1, ceil((high / step - first) / width))
    return np.asarray(step * (first + width * np.arange(bars + 1)), dtype=np.float64)
