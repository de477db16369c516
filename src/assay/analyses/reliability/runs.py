"""The columns of a panel as runs of models: scores item by item, overall, and of all models in the same runs."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from assay.data import Panel
from assay.data.arrays import check_differences, check_largest
from assay.errors import InputError, UsageError
from assay.names import listed
from assay.results import words
from assay.stats.rounding import snapped
from assay.stats.units import Floats, Integers


@dataclass(frozen=True, eq=False)
class RunColumns:
    """A panel without holes whose columns are runs of models."""

    panel: Panel

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(runs.model for runs in self.panel.models)

    @property
    def runs(self) -> tuple[tuple[str, ...], ...]:
        """What the runs of each model are called."""
        return tuple(runs.names for runs in self.panel.models)

    @cached_property
    def _scores(self) -> Floats:
        return np.array([self.panel.estimate(system) for system in range(self.panel.k)])

    def columns(self, model: int) -> Integers:
        """Where the runs of a model are among the systems of the panel."""
        return np.array(self.panel.models[model].columns)

    def values(self, model: int) -> Floats:
        """(n, k) Scores of a model, item by item and run by run."""
        return np.ascontiguousarray(self.panel.numerators[:, self.columns(model)]) / self.panel.denominators[:, None]

    def values_of(self, systems: Integers) -> Floats:
        """(n, k) The same of any systems of the panel, run after run in memory."""
        return np.asfortranarray(self.panel.numerators[:, systems]) / self.panel.denominators[:, None]

    def scores(self, systems: Integers) -> Floats:
        """The overall scores of these systems."""
        return self._scores[systems]

    @cached_property
    def _common(self) -> list[str]:
        return [run for run in self.runs[0] if all(run in others for others in self.runs)]

    @property
    def shared_runs(self) -> bool:
        """Whether the models have at least two names of runs in common."""
        return len(self._common) >= 2

    def crossed(self) -> tuple[Integers, str | None]:
        """(m, k) Systems by model and run: the runs that all models have, and a note where that is not all of them.

        Runs of the same name may share what the name stands for, a seed or a prompt, so they stay together. Where the
        names differ, runs are independent, and any of one model may stand beside any of another.
        """
        shared, models = self._common, self.panel.models
        if self.shared_runs:
            places = [[one.columns[one.names.index(run)] for run in shared] for one in models]
            note = None
            if len(shared) * len(models) < self.panel.k:
                note = f"models are compared in the {len(shared)} runs that all of them have ({listed(shared)})"
            return np.array(places), note
        count = min(len(one.columns) for one in models)
        note = f"the models share no names of runs: they are paired in their order, {count} of each model"
        return np.array([one.columns[:count] for one in models]), note


def repeated(panel: Panel) -> Panel:
    """The items that all runs have, refused where a model has one run."""
    if not panel.models:
        raise UsageError("the panel does not say which of its columns are runs of one model; make it with models=[…].")
    for runs in panel.models:
        if len(runs.columns) < 2:
            raise InputError(f"model {runs.model!r} has one run, and how far runs agree takes two.")
    return panel.complete()


def computable(panel: Panel) -> Panel:
    """The runs with answers made equal that differ by rounding only; refused where they have no variance to compute."""
    if panel.n < 2:
        raise InputError(f"only one {panel.unit} is in every run; how far runs agree takes at least two.")
    repeats = RunColumns(panel)
    for model, name in enumerate(repeats.models):
        check_largest(f"the {panel.metric.kind} of {name!r}", repeats.values(model))
    check_largest("tokens" if panel.metric.kind == "losses" else "weights", panel.denominators)
    numerators, changed = snapped(panel.numerators)
    check_differences(panel.systems, numerators / panel.denominators.max())
    if not changed:
        return panel
    return replace(panel.with_numerators(numerators), notes=(*panel.notes, words.rounded_off(changed)))
