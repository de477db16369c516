"""How far two runs of the same model differ: rows are batched in another way, and kernels round in another order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import NDArray

from assay.results import words

#: Rows of token ids, and how many of the last tokens of each count; the losses of those.
LossesByRow = Callable[[Sequence[Sequence[int]], Sequence[int]], list[NDArray[np.float64]]]


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """Two runs of one model on the same windows."""

    name: str
    windows: int
    tokens: int
    differing: int  # windows whose loss is not the same
    largest: float  # difference of a window, in nats per token
    difference: float  # of all windows, second − first, in nats per token

    @property
    def ratio(self) -> float:
        """The perplexity of the worse run over that of the better."""
        return exp(abs(self.difference))

    @property
    def sentence(self) -> str:
        where = f"{words.count(self.windows, 'window')}, {words.count(self.tokens, 'token')}"
        if not self.differing:
            return f"Noise floor: two runs of {self.name} are the same, to the last bit ({where})."
        many = f"{self.differing:,} of {words.count(self.windows, 'window')}"
        return (
            f"Noise floor: two runs of {self.name} differ in {many}, by at most {self.largest:.2g} nats per token; "
            f"over all, perplexity × {1 + (self.ratio - 1):.9g} ({where})."
        )


def noise_floor(
    name: str, losses: LossesByRow, rows: Sequence[Sequence[int]], counts: Sequence[int], together: int = 8
) -> NoiseFloor:
    """Score rows twice, ``together`` in a batch and each alone, and compare.

    >>> import numpy as np
    >>> def losses(rows, counts):  # every batch rounds in its own way
    ...     return [np.full(count, 2.0 + 1e-6 * len(rows)) for count in counts]
    >>> found = noise_floor("base", losses, [[1, 2, 3]] * 4, [2] * 4, together=4)
    >>> found.differing, round(found.difference, 9)
    (4, -3e-06)
    """
    first, second = (_means(losses, rows, counts, size) for size in (together, 1))
    weights = np.asarray(counts, dtype=np.float64)
    gaps = second - first
    return NoiseFloor(
        name=name,
        windows=len(rows),
        tokens=int(weights.sum()),
        differing=int(np.count_nonzero(gaps)),
        largest=float(np.abs(gaps).max(initial=0.0)),
        difference=float((gaps * weights).sum() / weights.sum()),
    )


def _means(losses: LossesByRow, rows: Sequence[Sequence[int]], counts: Sequence[int], size: int) -> NDArray[np.float64]:
    """(rows,) The mean loss of each row, so many rows in a batch."""
    found: list[float] = []
    for begin in range(0, len(rows), size):
        part = losses(rows[begin : begin + size], counts[begin : begin + size])
        found += [float(values.mean()) for values in part]
    return np.array(found)
