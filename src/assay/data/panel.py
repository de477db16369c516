"""The panel: sufficient statistics of the same units under several systems."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import InputError, UsageError

Kind = Literal["losses", "scores"]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Texts = NDArray[np.object_]

_HASHED_AT_ONCE = 65_536  # ids; all at once would double what a large panel takes
UNITS: dict[Kind, str] = {"losses": "window", "scores": "item"}


@dataclass(frozen=True, slots=True)
class Metric:
    """What a panel measures, and how it is shown."""

    kind: Kind
    unit: str  # what a row is called: "window", "item"
    lower_is_better: bool
    name: str = "score"  # what is averaged, where it is not a loss

    @classmethod
    def of(
        cls, kind: Kind, *, lower_is_better: bool | None = None, name: str | None = None, unit: str | None = None
    ) -> "Metric":
        """The metric of a kind of table: losses are better when lower, scores when higher unless said otherwise."""
        if kind not in UNITS:
            raise UsageError(f"kind must be one of {', '.join(UNITS)}, but got {kind!r}.")
        if kind == "losses" and lower_is_better is False:
            raise UsageError("lower_is_better must not be False for losses: a lower log-loss is always the better one.")
        lower = kind == "losses" if lower_is_better is None else lower_is_better
        return cls(kind, unit or UNITS[kind], lower, name or "score")


@dataclass(frozen=True, slots=True)
class Dropped:
    """Units that one system has and another has not: how many, and the first five ids.

    With more than two systems ``only_b`` counts the ids outside the first system that some system lacks.
    """

    only_a: int = 0
    only_b: int = 0
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Sums:
    """What is resampled: a row per cluster, or per unit where there are no clusters."""

    numerators: Floats  # (g, k)
    denominators: Floats  # (g,) or (g, k)
    sizes: dict[str, Floats]  # (g,) each


@dataclass(frozen=True, eq=False)
class Panel:
    """Numerators and denominators per unit and system; a system's estimate is Σ numerator / Σ denominator.

    Units are sorted by id, so the order of rows in a file changes no bit of any result.

    >>> panel = Panel.from_arrays([[2.0, 1.0], [1.0, 5.0]], [2.0, 1.0], systems=("A", "B"))
    >>> panel.estimate(0), panel.estimate(1)
    (1.0, 2.0)
    """

    systems: tuple[str, ...]  # k names
    units: Texts  # (n,) ids as text, sorted
    numerators: Floats  # (n, k)
    denominators: Floats  # (n,) shared by all systems, or (n, k)
    metric: Metric
    clusters: Integers | None = None  # (n,) codes 0..G-1, numbered as they appear
    cluster_by: str | None = None  # the column the clusters came from
    sizes: dict[str, Floats] = field(default_factory=dict)  # "bytes", "chars": (n,) for bits per byte / per character
    dropped: Dropped = Dropped()
    notes: tuple[str, ...] = ()  # what the reader did that a person should know (runs averaged, ...)

    @property
    def n(self) -> int:
        """How many units."""
        return len(self.units)

    @property
    def k(self) -> int:
        """How many systems."""
        return len(self.systems)

    @property
    def n_clusters(self) -> int | None:
        """How many clusters; ``None`` where the units stand for themselves."""
        return None if self.clusters is None else int(self.clusters.max()) + 1

    @property
    def equal_denominators(self) -> bool:
        """Whether every unit weighs the same, so that an estimate is a plain mean."""
        return bool(np.all(self.denominators == self.denominators.flat[0]))

    @cached_property
    def digest(self) -> str:
        """The sha256 of the ids and of every number: the same for any file format, row order and names of systems."""
        hashed = hashlib.sha256(b"assay panel 1")
        lengths = np.fromiter(map(len, self.units), np.int64, self.n)
        _hash_array(hashed, "units", lengths)
        for start in range(0, self.n, _HASHED_AT_ONCE):
            hashed.update("".join(self.units[start : start + _HASHED_AT_ONCE]).encode("utf-8", "surrogatepass"))
        _hash_array(hashed, "numerators", self.numerators)
        _hash_array(hashed, "denominators", self.denominators)
        if self.clusters is not None:
            _hash_array(hashed, "clusters", self.clusters)
        for name in sorted(self.sizes):
            _hash_array(hashed, name, self.sizes[name])
        return hashed.hexdigest()

    def denominators_of(self, system: int) -> Floats:
        """The denominators of one system, (n,)."""
        return self.denominators if self.denominators.ndim == 1 else self.denominators[:, system]

    def estimate(self, system: int) -> float:
        """Σ numerator / Σ denominator of one system, both sums correctly rounded."""
        total = math.fsum(self.numerators[:, system].tolist())
        return total / math.fsum(self.denominators_of(system).tolist())

    def pair(self, first: int, second: int) -> "Panel":
        """The panel of two of the systems, in this order."""
        chosen = [first, second]
        return replace(
            self,
            systems=(self.systems[first], self.systems[second]),
            numerators=self.numerators[:, chosen],
            denominators=self.denominators if self.denominators.ndim == 1 else _shared(self.denominators[:, chosen]),
        )

    def cluster_sums(self) -> Sums:
        """Numerators, denominators and sizes added up within clusters; the units themselves where there are none."""
        if self.clusters is None:
            return Sums(self.numerators, self.denominators, self.sizes)
        sizes = {name: _grouped(values, self.clusters) for name, values in self.sizes.items()}
        return Sums(_grouped(self.numerators, self.clusters), _grouped(self.denominators, self.clusters), sizes)

    @classmethod
    def from_arrays(
        cls,
        numerators: ArrayLike,
        denominators: ArrayLike | None = None,
        *,
        units: Sequence[Any] | None = None,
        systems: Sequence[str] | None = None,
        kind: Kind = "scores",
        lower_is_better: bool | None = None,
        clusters: Sequence[Any] | NDArray[Any] | None = None,
        sizes: Mapping[str, ArrayLike] | None = None,
    ) -> "Panel":
        """A panel of arrays, (n,) or (n, k): summed losses over tokens, weighted scores over weights (or over 1)."""
        metric = Metric.of(kind, lower_is_better=lower_is_better)
        top = _matrix("numerators", numerators)
        n, k = top.shape
        names = tuple(systems) if systems is not None else tuple(f"system {i + 1}" for i in range(k))
        ids = _unit_ids(units, n)
        order = np.array(sorted(range(n), key=ids.__getitem__), dtype=np.int64)
        _check_names(names, k, ids[order])
        bottom = np.ones(n) if denominators is None else _positive("denominators", denominators, ((n,), (n, k)))
        measured = {name: _positive(name, values, ((n,),))[order] for name, values in (sizes or {}).items()}
        groups = None if clusters is None else _cluster_codes(clusters, order)
        return cls(
            names,
            ids[order],
            _summable("numerators", top[order]),
            _summable("denominators", _shared(bottom[order])),
            metric,
            clusters=groups,
            cluster_by=None if clusters is None else "clusters",
            sizes=measured,
        )


def numbered(labels: Iterable[Any], n: int) -> Integers:
    """Codes 0, 1, … of n labels in the order in which they first appear."""
    seen = list(labels)
    codes = {label: code for code, label in enumerate(dict.fromkeys(seen))}
    return np.fromiter(map(codes.__getitem__, seen), np.int64, n)


def _hash_array(hashed: "hashlib._Hash", name: str, values: NDArray[Any]) -> None:
    # Adding zero turns -0.0, which compares equal to 0.0, into the same bytes.
    canonical = np.ascontiguousarray(values + 0).astype("<f8" if values.dtype.kind == "f" else "<i8", copy=False)
    hashed.update(f"|{name}{values.shape}|".encode())
    hashed.update(canonical.data)


def _grouped(values: Floats, clusters: Integers) -> Floats:
    columns = [
        np.bincount(clusters, weights=column).astype(np.float64, copy=False) for column in np.atleast_2d(values.T)
    ]
    return columns[0] if values.ndim == 1 else np.column_stack(columns)


def _shared(denominators: Floats) -> Floats:
    """One column where all systems have the same denominators."""
    if denominators.ndim == 2 and bool(np.all(denominators == denominators[:, :1])):
        return denominators[:, 0].copy()
    return denominators


def _array(name: str, values: ArrayLike) -> Floats:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers in rows of equal length ({error}); convert them first.") from error
    if not bool(np.isfinite(array).all()):
        where = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        raise InputError(f"{name} must be finite, but {name}{list(where)} is {array[where]}; take that unit out.")
    return array + 0.0


def _matrix(name: str, values: ArrayLike) -> Floats:
    array = _array(name, values)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"{name} must have the shape (n,) or (n, k) with n and k at least 1, but got {array.shape}.")
    return array


def _positive(name: str, values: ArrayLike, shapes: tuple[tuple[int, ...], ...]) -> Floats:
    array = _array(name, values)
    if array.shape not in shapes:
        raise InputError(f"{name} must have the shape {' or '.join(map(str, shapes))}, but got {array.shape}.")
    if not bool((array > 0).all()):
        where = np.argwhere(array <= 0)[0].tolist()
        raise InputError(f"{name} must be positive, but {name}{where} is {array[tuple(where)]}; take that unit out.")
    return array


def _unit_ids(units: Sequence[Any] | None, n: int) -> Texts:
    # Padded with zeros, so that sorting the ids as text keeps the order of the rows.
    ids = [f"{i:0{len(str(n - 1))}d}" for i in range(n)] if units is None else [str(unit) for unit in units]
    if len(ids) != n:
        raise InputError(f"units must name all {n} rows of the numerators, but got {len(ids)} ids.")
    texts = np.empty(n, dtype=object)
    texts[:] = ids
    return texts


def _check_names(systems: tuple[str, ...], k: int, ids: Texts) -> None:
    if len(systems) != k:
        raise UsageError(f"systems must name all {k} columns of the numerators, but got {len(systems)} names.")
    if len(set(systems)) != k:
        raise UsageError(f"systems must differ in name, but got {', '.join(systems)}.")
    twice = np.flatnonzero(ids[1:] == ids[:-1])
    if twice.size:
        raise InputError(f"units must be different, but {ids[twice[0]]!r} occurs twice; give each unit its own id.")


def _cluster_codes(clusters: Sequence[Any] | NDArray[Any], order: Integers) -> Integers:
    array = np.asarray(clusters)
    if array.shape != order.shape:
        raise InputError(f"clusters must have the shape {order.shape}, one label per unit, but got {array.shape}.")
    labels = array.tolist()
    return numbered((labels[i] for i in order.tolist()), len(order))


def _summable(name: str, values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        totals = np.abs(values).sum(axis=0)
    if not bool(np.isfinite(totals).all()):
        raise InputError(f"{name} are too large to add up; give them in another unit.")
    return values
