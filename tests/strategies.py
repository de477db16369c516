"""What the tests draw at random: Hypothesis strategies, and the kinds of data that intervals have to cope with."""

from collections.abc import Callable
from functools import cache
from zlib import crc32

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.stats.units import Units

Floats = NDArray[np.float64]


def outlier(size: float) -> Callable[[np.random.Generator, int], Floats]:
    """Normal data with one value that is ``size`` standard deviations away."""
    return lambda rng, n: np.append(rng.normal(size=n - 1), size)


def _mostly_zeros(rng: np.random.Generator, n: int) -> Floats:
    values = np.zeros(n)
    values[: max(2, n // 100)] = rng.normal(1, 0.3, size=max(2, n // 100))
    return values


KINDS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "t2": lambda rng, n: rng.standard_t(2, size=n),
    "cauchy": lambda rng, n: rng.standard_cauchy(size=n),
    "log-normal": lambda rng, n: rng.lognormal(size=n),
    "outlier 1e3": outlier(1e3),
    "outlier 1e6": outlier(1e6),
    "0/1": lambda rng, n: (rng.random(n) < 0.3).astype(np.float64),
    "-1/0/1": lambda rng, n: rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.7, 0.2], size=n),
    "99% zeros": _mostly_zeros,
}


@cache
def sample(kind: str, n: int, seed: int = 0) -> Floats:
    """(n,) The same values each time they are asked for."""
    values = KINDS[kind](np.random.default_rng([seed, n, crc32(kind.encode())]), n)
    values.setflags(write=False)
    return values


@cache
def lengths(n: int, spread: float, seed: int = 0) -> Floats:
    """(n,) Token counts, log-normal with this spread, around 30."""
    rng = np.random.default_rng([seed, n, round(100 * spread)])
    return np.maximum(1, np.rint(rng.lognormal(np.log(30), spread, size=n)))


def values(min_n: int = 2, max_n: int = 12) -> st.SearchStrategy[Floats]:
    """Values as users bring them: a few digits, ties allowed."""
    number = st.integers(-9_999, 9_999).map(lambda i: i / 100)
    return st.lists(number, min_size=min_n, max_size=max_n).map(lambda v: np.array(v, dtype=np.float64))


@st.composite
def units(draw: st.DrawFn, min_n: int = 2, max_n: int = 12, *, equal: bool | None = None) -> Units:
    """Units with some spread: denominators all equal, or of sizes up to 40 times each other, or either."""
    found = draw(values(min_n, max_n))
    n = len(found)
    if draw(st.booleans()) if equal is None else equal:
        denominators = np.full(n, float(draw(st.integers(1, 50))))
    else:
        sizes = draw(st.lists(st.integers(1, 40), min_size=n, max_size=n))
        denominators = np.array(sizes, dtype=np.float64)
    made = Units(found * denominators, denominators)
    if made.degenerate:  # give it spread rather than throw it away
        found = found + np.arange(n)
        made = Units(found * denominators, denominators)
    return made
