"""What the charts of a comparison show: the difference by unit, and the distribution that its interval is read from."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.data import Panel
from assay.design import Design
from assay.stats.bootstrap import bootstrap_of
from assay.stats.units import Floats, Units

MOST_GROUPS = 200  # more units than this are drawn as means of neighbours
_BINS = 80
_TAIL = 5e-4  # of the distribution, on each side, that is not drawn


class Neighbours(msgspec.Struct, frozen=True):
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

    neighbours: tuple[Neighbours, ...]
    edges: tuple[float, ...]  # of the bars; none where there is no distribution
    shares: tuple[float, ...]  # of the resamples, a bar each


def chart_data_of(panel: Panel, drawn: Units, design: Design, method: str) -> ChartData:
    """What is shown of a comparison whose interval drew these units; ``method`` is what the interval took."""
    read = method not in ("degenerate", "t", "studentized", "tango")  # from a distribution
    edges, shares = _histogram(drawn, design) if read else ((), ())
    return ChartData(_neighbours(panel), edges, shares)


def _neighbours(panel: Panel) -> tuple[Neighbours, ...]:
    order = _order(panel)
    ids, weights = panel.ids[order], panel.denominators[order]
    difference = (panel.numerators[:, 1] - panel.numerators[:, 0])[order]
    starts = np.unique(np.linspace(0, panel.n, min(panel.n, MOST_GROUPS), endpoint=False).astype(np.int64))
    stops = np.append(starts[1:], panel.n)
    weight = np.add.reduceat(weights, starts)
    value = np.add.reduceat(difference, starts) / weight
    return tuple(
        Neighbours(str(ids[low]), str(ids[high - 1]), int(high - low), float(v), float(w))
        for low, high, v, w in zip(starts, stops, value, weight, strict=True)
    )


def _order(panel: Panel) -> NDArray[np.int64]:
    """Ids in the order that a person expects: 2 before 10."""
    numbers = [int(name) if name.isascii() and name.isdecimal() and len(name) < 19 else None for name in panel.ids]
    if None in numbers:
        return np.arange(panel.n)
    return np.argsort(np.array(numbers, dtype=np.int64), kind="stable")


def _histogram(drawn: Units, design: Design) -> tuple[tuple[float, ...], tuple[float, ...]]:
    distribution = bootstrap_of(drawn, n_resamples=design.resamples, seed=design.seed)
    low, high = distribution.quantiles([_TAIL, 1 - _TAIL]).tolist()
    edges: Floats = np.linspace(low, high, _BINS + 1)
    below = np.array([distribution.cdf(edge) for edge in edges.tolist()])
    return tuple(edges.tolist()), tuple(np.maximum(np.diff(below), 0).tolist())
