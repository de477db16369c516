"""Validate arrays and names from callers: finite values, the right shape, positive denominators."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.data.panel_views import Runs
from assay.data.tables import Labels, numbered
from assay.data.text_columns import TextColumn
from assay.errors import InputError, UsageError
from assay.stats.rounding import TOLERANCE, WHOLE
from assay.stats.units import Floats, Integers

#: Variances of variances are fourth powers, which leave float64 beyond 1e±77.
LARGEST, SMALLEST = 1e60, 1e-60


def matrix(name: str, values: ArrayLike, *, holes: bool = False) -> Floats:
    """(n, k) Numbers; with ``holes`` NaN is allowed, but not in a whole row."""
    array = numbers(name, values, holes=holes)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"{name} must have the shape (n,) or (n, k) with n and k at least 1, but got {array.shape}.")
    empty = np.isnan(array).all(axis=1)
    if empty.any():
        raise InputError(f"{name}[{int(np.argmax(empty))}] holds no number of any system; take that unit out.")
    return array


def positive(name: str, values: ArrayLike, shapes: tuple[tuple[int, ...], ...], *, zeros: bool = False) -> Floats:
    """Positive numbers of one of the shapes; with ``zeros`` some may be 0."""
    array = numbers(name, values)
    if array.shape not in shapes:
        raise InputError(f"{name} must have the shape {' or '.join(map(str, shapes))}, but got {array.shape}.")
    if zeros and bool((array >= 0).all()) and array.any():
        return array
    if not bool((array > 0).all()):
        where = np.argwhere(array <= 0)[0].tolist()
        raise InputError(f"{name} must be positive, but {name}{where} is {array[tuple(where)]}; take that unit out.")
    return array


def numbers(name: str, values: ArrayLike, *, holes: bool = False) -> Floats:
    """Finite numbers of any shape; with ``holes`` NaN is allowed."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers in rows of equal length ({error}); convert them first.") from error
    _check_whole(name, values, array)
    good = np.isfinite(array) | (np.isnan(array) if holes else False)
    if not bool(good.all()):
        where = tuple(np.argwhere(~good)[0].tolist())
        hint = "take that unit out" if not np.isnan(array[where]) else "take that unit out, or allow it with holes=True"
        raise InputError(f"{name} must be finite, but {name}{list(where)} is {array[where]}; {hint}.")
    return array + 0.0


def _check_whole(name: str, values: ArrayLike, array: Floats) -> None:
    """Refuse whole numbers that would become others."""
    given = np.asarray(values)
    if given.dtype.kind not in "iuO" or not array.size or not bool((np.abs(array) > WHOLE).any()):
        return
    for where in np.argwhere(np.abs(array) > WHOLE).tolist():
        one = given[tuple(where)]
        if isinstance(one, int | np.integer) and int(one) != int(array[tuple(where)]):
            raise InputError(
                f"{name} must have no more digits than can be computed with, but {name}{where} is {one}; "
                f"subtract one number from all of them, or give {float(one):g}."
            )


def shared(denominators: Floats) -> Floats:
    """(n, 1) where all systems have the same denominators, else (n, k)."""
    if denominators.ndim == 1:
        return denominators[:, None]
    if bool(np.all(denominators == denominators[:, :1])):
        return denominators[:, :1].copy()
    return columnwise(denominators)


def columnwise(values: Floats) -> Floats:
    """(n, k) with contiguous columns, so that the sum of a column does not depend on the number of columns."""
    return np.asfortranarray(values)


def summable(name: str, values: Floats) -> Floats:
    """Return the values, or refuse them if their sum overflows."""
    with np.errstate(over="ignore"):
        totals = np.nansum(np.abs(values), axis=0)
    if not bool(np.isfinite(totals).all()):
        raise InputError(f"{name} are too large to add up; give them in another unit.")
    return values


def unit_ids(ids: Sequence[Any] | NDArray[Any] | None, n: int) -> TextColumn:
    """(n,) Names of the units; by default zero-padded numbers, which sort as text in row order."""
    found = [f"{i:0{len(str(n - 1))}d}" for i in range(n)] if ids is None else [str(one) for one in ids]
    if len(found) != n:
        raise InputError(f"ids must name all {n} rows of the values, but got {len(found)} ids.")
    return TextColumn.of(found)


def check_ids(ids: TextColumn) -> None:
    if not ids.unique:
        twice = ids[int(ids.sorted.order[np.argmax(ids.sorted.repeats)])]
        raise InputError(f"ids must be different, but {twice!r} occurs twice; give each unit its own.")


def check_names(systems: tuple[str, ...], k: int) -> None:
    if len(systems) != k:
        raise UsageError(f"systems must name all {k} columns of the values, but got {len(systems)} names.")
    if len(set(systems)) != k:
        raise UsageError(f"systems must differ in name, but got {', '.join(systems)}.")


def labels_of(name: str, values: Sequence[Any] | NDArray[Any], order: Integers) -> Labels:
    """Labels of the units, reordered; values of any type are shown as text."""
    array = np.asarray(values)
    if array.shape != order.shape:
        raise InputError(f"{name} must have the shape {order.shape}, one label per unit, but got {array.shape}.")
    listed = array.tolist()
    sorted_labels = [listed[i] for i in order.tolist()]
    return Labels(tuple(map(str, dict.fromkeys(sorted_labels))), numbered(sorted_labels, len(order)))


def columns_named(
    systems: Sequence[str] | None, models: Sequence[str] | None, k: int
) -> tuple[tuple[str, ...], tuple[Runs, ...]]:
    """The names of the columns, and which of them are runs of one model."""
    if models is None:
        names = tuple(systems) if systems is not None else tuple(f"system {i + 1}" for i in range(k))
        check_names(names, k)
        return names, ()
    if len(models) != k:
        raise UsageError(f"models must name the model of all {k} columns, but got {len(models)} names.")
    places = {model: tuple(i for i in range(k) if models[i] == model) for model in models}
    numbers = [places[model].index(i) + 1 for i, model in enumerate(models)]
    names = (
        tuple(systems)
        if systems is not None
        else tuple(f"{model}, run {number}" for model, number in zip(models, numbers, strict=True))
    )
    check_names(names, k)
    runs = {
        model: tuple(str(numbers[i]) if systems is None else names[i] for i in own) for model, own in places.items()
    }
    return names, tuple(Runs(model, runs[model], own) for model, own in places.items())


def check_largest(what: str, values: Floats) -> None:
    """Refuse values whose largest magnitude is nonzero and outside 1e-60 to 1e60; NaN is ignored."""
    most = float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))
    if most == 0 or SMALLEST <= most <= LARGEST:
        return
    size = f"too large to compute with (up to {most:.3g})" if most > 1 else f"too small (at most {most:.3g})"
    raise InputError(f"{what} are {size}; give them in another unit, so that the largest is from 1e-60 to 1e60.")


def check_differences(names: Sequence[str], values: Floats) -> None:
    """Refuse (n, k) values in which two columns differ by less than 1e-60 everywhere: the variance would be 0."""
    small = (values != 0) & (np.abs(values) < SMALLEST / TOLERANCE)  # others are equal, or differ by more
    for column in np.flatnonzero(small.any(axis=0)).tolist():
        gaps = np.fmax.reduce(np.abs(values - values[:, [column]]), axis=0, initial=0.0)
        close = (gaps > 0) & (gaps < SMALLEST)
        if close.any():
            other = int(np.argmax(close))
            raise InputError(
                f"the scores of {names[column]} and {names[other]} differ by {gaps[other]:.3g} at most, too little to "
                "compute with; round them, or give them in another unit."
            )
