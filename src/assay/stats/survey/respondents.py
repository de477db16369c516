"""Respondents drawn again, once for all predictions of a cell; and samples thinned to equal numbers of respondents.

*Drawn again*: a person's option comes from 16 bits of a word of the stream (seed, purpose), by inversion; word t of
cell c in replicate b has the counter b·W + start[c] + t, so neither the backend nor how the work is cut changes a bit.
Sixteen bits give every option its probability to within 1/65,536. A divergence is a sum over options of a function of
the count alone, so it is looked up: a table for each prediction and option, over the counts that were drawn.

*Thinned*: 1 − √JSD from a sample of n is lower the smaller n is, whoever predicts (C1). A random part of m of the n
respondents is a sample of m of the same people, so the mean score over all parts of m is an unbiased estimate of what a
sample of m would score, whatever n was: thinned to the same m, segments of 30 and of 1,000 can be compared.

Reference: Hurlbert (1971), *The nonconcept of species diversity*, for thinning (rarefaction) in ecology.
"""

from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from assay.stats.compiled import Backend, compiles, compiling
from assay.stats.ranges import in_ranges
from assay.stats.streams import stream_key, words
from assay.stats.survey import (
    ENOUGH,
    FLOOR,
    MOST_LISTED,
    chi_noise,
    composition_count,
    divergence,
    listed_noise,
    score_of,
    support,
)
from assay.stats.units import Floats, Integers

Counts = NDArray[np.int32]

_DRAW, _ADD_SCORES = (f"assay.stats.survey.kernels.{name}" for name in ("draw", "add_scores"))
_COMPILE_ABOVE = 3e6  # people drawn, or scores: about what numpy does in the time that loading the kernels takes
_PEOPLE_A_SECOND = 2e9  # of a core, about
_CHUNK = 1 << 20  # counts held at once, about
_NOISE_DRAWS = 4_000
DRAWS = 32  # parts of each sample: their own noise is small beside that of the questions, and is part of its estimate
_32 = np.uint64(32)


@dataclass(frozen=True, eq=False)
class Respondents:
    """n people in each of C cells, with the shares they are drawn from."""

    shares: Floats  # (C, K) rows sum to 1, padded with 0
    options: Integers  # (C,)
    n: Integers  # (C,)

    @cached_property
    def start(self) -> Integers:
        """(C + 1,) Where the words of each cell start in a replicate; the last is how many there are."""
        return np.concatenate([[0], np.cumsum((self.n + 3) // 4)]).astype(np.int64)

    @cached_property
    def limits(self) -> NDArray[np.int32]:
        """(C, K) A digit from 0 to 65,535 below limit j chooses one of the options up to j."""
        limits: NDArray[np.int32] = np.rint(65_536 * np.minimum(np.cumsum(self.shares, axis=1), 1.0)).astype(np.int32)
        return limits


@dataclass(frozen=True, eq=False)
class DrawnAnswers:
    """The counts of some cells."""

    counts: Counts  # (cells, B, K)
    ends: Counts  # (2, cells, K) the least and the most of each


def draw(
    people: Respondents, cells: slice, resamples: int, key: int, backend: Backend, *, first: int = 0
) -> DrawnAnswers:
    """How many choose each option, for a range of cells, in the replicates first … first + resamples − 1."""
    low, high = cells.start, cells.stop
    if backend != "compiled":
        counts = _numpy_counts(people, cells, (first, resamples), key)
        return DrawnAnswers(counts, np.stack([counts.min(axis=1), counts.max(axis=1)]))
    from assay.stats.survey import kernels as kernels_survey  # late: importing numba takes half a second

    counts = np.zeros((high - low, resamples, people.shares.shape[1]), dtype=np.int32)
    ends = np.zeros((2, high - low, people.shares.shape[1]), dtype=np.int32)
    stream = np.uint64(key), first, int(people.start[-1])
    kernels_survey.draw(
        people.limits[cells], people.n[cells], people.options[cells], people.start[low:high], stream, counts, ends
    )
    return DrawnAnswers(counts, ends)


def _numpy_counts(people: Respondents, cells: slice, replicates: tuple[int, int], key: int) -> Counts:
    """Replicate by replicate, all people at once."""
    low, high, width = cells.start, cells.stop, people.shares.shape[1]
    first, resamples = replicates
    begin, end, whole = int(people.start[low]), int(people.start[high]), int(people.start[-1])
    person = np.repeat(np.arange(high - low), people.n[low:high])  # the cell of each
    lane = np.concatenate([4 * (s - begin) + np.arange(m) for s, m in _runs(people, low, high)])
    limits = people.limits[low:high]
    out = np.empty((high - low, resamples, width), dtype=np.int32)
    for b in range(resamples):
        digit = words(key, (first + b) * whole + begin, end - begin).astype("<u8").view("<u2")[lane]
        option = np.zeros(len(person), dtype=np.int64)
        for j in range(width - 1):
            option += digit >= limits[person, j]
        out[:, b] = np.bincount(person * width + option, minlength=(high - low) * width).reshape(-1, width)
    return out


def _runs(people: Respondents, low: int, high: int) -> list[tuple[int, int]]:
    return list(zip(people.start[low:high].tolist(), people.n[low:high].tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Predicted:
    """M predictions of each of C cells, and the sums that their scores go into."""

    shares: Floats  # (C, M, K)
    weights: Floats  # (C, M) 0 where there is no prediction
    blocks: Integers  # (C, g) the sums of a cell

    @property
    def n_blocks(self) -> int:
        return int(self.blocks.max()) + 1


def resampled_scores(
    people: Respondents,
    predicted: Predicted,
    resamples: int,
    seed: int,
    *,
    purpose: str = "respondents",
    backend: Backend = "auto",
) -> Floats:
    """(blocks, B, M) Σ weight · (1 − √JSD) in each block, with the answers of every cell drawn again B times."""
    work = max(float(people.n.sum()), 2.0 * predicted.weights.size) * resamples
    if backend == "auto":
        backend = "compiled" if compiles("auto", work, _COMPILE_ABOVE, _ADD_SCORES) else "numpy"
    shared = people, predicted, stream_key(seed, purpose), backend
    with compiling(_ADD_SCORES) if backend == "compiled" else nullcontext():
        parts = list(in_ranges(_range_of_scores, shared, resamples, seconds=work / _PEOPLE_A_SECOND))
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _range_of_scores(shared: tuple[Respondents, Predicted, int, Backend], first: int, resamples: int) -> Floats:
    """(blocks, B, M) The same for the replicates first … first + B − 1."""
    people, predicted, key, backend = shared
    out = np.zeros((predicted.n_blocks, resamples, predicted.shares.shape[1]))
    logs = _count_logs(int(people.n.max()))
    step = max(1, _CHUNK // (resamples * people.shares.shape[1]))
    for low in range(0, len(people.n), step):
        cells = slice(low, min(low + step, len(people.n)))
        drawn = draw(people, cells, resamples, key, backend, first=first)
        tables = _Tables.of(people, predicted, cells, drawn)
        add = _add_compiled if backend == "compiled" else _add_numpy
        add(tables, drawn, logs, (predicted.weights[cells], predicted.blocks[cells]), out)
    return out


def _count_logs(most: int) -> Floats:
    """(most + 1,) c·log₂c."""
    c = np.arange(1, most + 1, dtype=np.float64)
    return np.concatenate([[0.0], c * np.log2(c)])


@dataclass(frozen=True, eq=False)
class _Tables:
    """Where the tables of some cells are: one for each option, over the counts that were drawn."""

    n: Integers  # (cells,)
    options: Integers  # (cells,)
    shares: Floats  # (cells, M, K)
    own_logs: Floats  # (cells, M, K) q·log₂q
    at: Integers  # (cells, K) where count 0 would be
    entries: Integers  # (cells, K)

    @classmethod
    def of(cls, people: Respondents, predicted: Predicted, cells: slice, drawn: DrawnAnswers) -> "_Tables":
        shares, options = predicted.shares[cells], people.options[cells]
        low, high = drawn.ends.astype(np.int64)
        entries = (high - low + 1) * (np.arange(low.shape[1]) < options[:, None])
        first = (np.cumsum(entries.ravel()) - entries.ravel()).reshape(entries.shape)
        floored = np.maximum(shares, FLOOR)
        return cls(people.n[cells], options, shares, floored * np.log2(floored), first - low, entries)


def _add_compiled(
    tables: _Tables, drawn: DrawnAnswers, logs: Floats, sums: tuple[Floats, Integers], out: Floats
) -> None:
    from assay.stats.survey import kernels as kernels_survey  # late

    table = np.empty((int(tables.entries.sum()) + 1, tables.shares.shape[1]))
    table[-1] = 0.0  # what options add that a cell does not have
    kernels_survey.fill_tables(
        (tables.n, tables.options, drawn.ends),
        (tables.shares, tables.own_logs),
        (logs, *log_grid()),
        _SERIES,
        _FLOOR,
        tables.at,
        table,
    )
    kernels_survey.add_scores(drawn.counts, tables.options, table, tables.at, *sums, out)


def _add_numpy(tables: _Tables, drawn: DrawnAnswers, logs: Floats, sums: tuple[Floats, Integers], out: Floats) -> None:
    table = _filled(tables, logs)
    weights, blocks = sums
    for c, k in enumerate(tables.options.tolist()):
        jsd = table[tables.at[c, 0] + drawn.counts[c, :, 0]]  # (B, M)
        for j in range(1, k):
            jsd += table[tables.at[c, j] + drawn.counts[c, :, j]]
        score = weights[c] * score_of(jsd)
        for block in blocks[c].tolist():
            out[block] += score


def _filled(tables: _Tables, logs: Floats) -> Floats:
    """(entries, M) What each option adds to the divergence at each count; the floors are the benchmark's."""
    entries, width = tables.entries.ravel(), tables.shares.shape[2]
    where = np.repeat(np.arange(len(entries)), entries)  # cell · K + option
    count = np.arange(len(where)) - tables.at.ravel()[where]
    n = tables.n[where // width]
    size, size_log = n.astype(np.float64), logs[n] / n
    q = tables.shares[where // width, :, where % width]  # (entries, M)
    p = count / size
    log = log2(np.maximum((p[:, None] + q) / 2, FLOOR))
    own = (logs[count] - count * size_log) / size
    p[count == 0], own[count == 0] = _FLOOR
    shown = own[:, None] + tables.own_logs[where // width, :, where % width]
    return np.asarray((shown - (p[:, None] + np.maximum(q, FLOOR)) * log) / 2)


_FLOOR = FLOOR, float(FLOOR * np.log2(FLOOR))
_SERIES = tuple(sign / (i * np.log(2)) for i, sign in ((1, 1.0), (2, -1.0), (3, 1.0), (4, -1.0)))  # of log₂(1 + x)
_PLACES = 11  # bits of the mantissa


@cache
def log_grid() -> tuple[Floats, Floats]:
    """(2¹¹,) The inverse of the middle of each piece of [1, 2), and the logarithm of that middle."""
    inverse = 1 / (1 + (np.arange(1 << _PLACES) + 0.5) / (1 << _PLACES))
    return inverse, -np.log2(inverse)


def log2(x: Floats) -> Floats:
    """log₂ of positive normal numbers to 2e-16 of its scale, in operations that are the same on every machine.

    That of numpy is another on processors with wider registers, and so is that of compiled code.
    """
    inverse, logs = log_grid()
    bits = x.view(np.int64)
    place = (bits >> (52 - _PLACES)) & ((1 << _PLACES) - 1)
    mantissa = ((bits & ((1 << 52) - 1)) | (1023 << 52)).view(np.float64)
    r = mantissa * inverse[place] - 1.0
    one, two, three, four = _SERIES
    return np.asarray((((bits >> 52) - 1023) + logs[place]) + r * (one + r * (two + r * (three + r * four))))


# ------------------------------------------------------------------------------------------- a perfect prediction


def perfect_noise(people: Respondents, *, seed: int = 0, backend: Backend = "auto") -> Floats:
    """(C,) E √JSD between the shares and a sample of n: the χ approximation where it is good, else listed or drawn.

    It is good where n·min p ≥ 10, p being the probabilities that are not 0.
    """
    k = support(people.shares)
    noise = chi_noise(people.n, k)
    least = np.where(people.shares > 0, people.shares, 1.0).min(axis=1)
    rough = (k > 1) & (people.n * least < ENOUGH)
    few = np.array(
        [composition_count(*pair) <= MOST_LISTED for pair in zip(people.n.tolist(), k.tolist(), strict=True)]
    )
    for c in np.flatnonzero(rough & few).tolist():
        noise[c] = listed_noise(people.shares[c], int(people.n[c]))
    left = np.flatnonzero(rough & ~few)
    if len(left):
        drawn = Respondents(people.shares[left], people.options[left], people.n[left])
        predicted = Predicted(drawn.shares[:, None], np.ones((len(left), 1)), np.arange(len(left))[:, None])
        scores = resampled_scores(drawn, predicted, _NOISE_DRAWS, seed, purpose="perfect prediction", backend=backend)
        noise[left] = 1 - scores[:, :, 0].mean(axis=1)
    return noise


def drawn_moments(p: Floats, n: int, draws: int, *, seed: int = 0) -> tuple[float, float, float]:
    """E JSD(p̂, p), E √JSD(p̂, p) and the standard error of the latter, from so many samples of n."""
    people = Respondents(p[None], np.array([len(p)]), np.array([n]))
    backend: Backend = "compiled" if compiles("auto", float(n) * draws, _COMPILE_ABOVE, _DRAW) else "numpy"
    counts = draw(people, slice(0, 1), draws, stream_key(seed, "perfect prediction"), backend).counts[0]
    jsd = divergence(counts / n, p, floor=0.0)
    roots = 1 - score_of(jsd)
    return float(jsd.mean()), float(roots.mean()), float(roots.std(ddof=1) / np.sqrt(draws))


# ------------------------------------------------------------------------------------------------- thinning of samples


def counts_of(shares: Floats, n: Integers) -> Integers:
    """(C, K) Whole respondents from (C, K) shares of n: rounded down, the largest remainders get those that are left.

    >>> import numpy as np
    >>> counts_of(np.array([[0.333, 0.333, 0.334]]), np.array([10])).tolist()
    [[3, 3, 4]]
    """
    exact = shares * n[:, None]
    whole = np.floor(exact + 1e-9).astype(np.int64)
    left = n - whole.sum(axis=1)
    order = np.argsort(-(exact - whole), axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(shares.shape[1]), order.shape), axis=1)
    return np.asarray(whole + (rank < left[:, None]), dtype=np.int64)


def thinned(counts: Integers, sizes: Integers, draws: int, seed: int, *, purpose: str = "rarefaction") -> Counts:
    """(C, D, K) Random parts of ``sizes`` of the respondents of each cell, without replacement.

    The few are drawn: those who stay or those who go. One respondent at a time in all cells and parts at once.
    """
    total = counts.sum(axis=1)
    stay = 2 * sizes <= total
    steps = np.where(stay, sizes, total - sizes)
    order = np.argsort(-steps, kind="stable")
    left = np.repeat(counts[order, None, :], draws, axis=1).astype(np.int32)
    key, most = stream_key(seed, purpose), int(steps.max(initial=0))
    for step in range(most):
        active = int(np.searchsorted(-steps[order], -step, side="left"))  # those with more steps than this
        word = words(key, step * len(counts) * draws, active * draws).reshape(active, draws) >> _32
        place = (word * (total[order][:active, None] - step).astype(np.uint64)) >> _32
        _take(left[:active], place.astype(np.int32))
    out = np.empty_like(left)
    out[order] = left
    return np.where(stay[:, None, None], counts[:, None, :].astype(np.int32) - out, out)


def _take(left: Counts, place: NDArray[np.int32]) -> None:
    """Take the respondent at this place, options in order, out of each part."""
    above = np.zeros(left.shape[:2], dtype=np.int32)
    taken = np.zeros(left.shape[:2], dtype=bool)
    for option in range(left.shape[2]):
        above += left[:, :, option]
        here = ~taken & (place < above)
        left[:, :, option] -= here
        taken |= here
