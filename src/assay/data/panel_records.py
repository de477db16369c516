"""Small records that belong to a panel: what did not pair, which columns are runs, how much evidence there is."""

from collections.abc import Sequence
from dataclasses import dataclass

from assay.data.arrays import check_names
from assay.errors import UsageError
from assay.stats.units import Floats


@dataclass(frozen=True, slots=True)
class Dropped:
    """Units that one system has and another has not: how many, and the first five ids.

    With more than two systems ``only_b`` counts the ids outside the first system that some system lacks.
    """

    only_a: int = 0
    only_b: int = 0
    examples: tuple[str, ...] = ()


NOTHING = Dropped()


@dataclass(frozen=True, slots=True)
class Runs:
    """Columns of a panel that are runs of one model."""

    model: str
    names: tuple[str, ...]  # what the runs are called
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Substance:
    """How much evidence a panel holds, whatever it says."""

    units: int  # that are drawn: clusters, or the units themselves
    effective: float  # Kish's (Σw)² / Σw²: so many units of equal weight would say as much
    differing: int | None  # units on which the first two systems differ; None for one system
    largest: float  # the share of all weight that one drawn unit has


@dataclass(frozen=True, eq=False, slots=True)
class Sums:
    """What is resampled: a row per cluster, or per unit where there are no clusters."""

    numerators: Floats  # (g, k)
    denominators: Floats  # (g,) or (g, k)
    sizes: dict[str, Floats]  # (g,) each


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
