"""What a pilot says about the study to plan: the spread of paired differences, given clusters, weights and runs."""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from assay.analyses.power.result import Pilot
from assay.data import Panel
from assay.errors import InputError, UsageError
from assay.stats.bounded_mean import clopper_pearson
from assay.stats.planning.plans import Means, Shares, StudyPlan
from assay.stats.records import Interval
from assay.stats.reliability import variance_limits
from assay.stats.units import Floats, Units, design_effect, influence, standard_error, weighted_deviation


@dataclass(frozen=True, slots=True)
class PilotRunSpread:
    """How much the runs of the same items differ, for one system."""

    variance: float  # between the runs of an item, pooled over items
    inverse_runs: float  # the mean of 1 / runs over items: the part of the noise that their means still have


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan that a pilot suggests, and those with the least and the largest spread that it leaves possible."""

    likely: StudyPlan
    least: StudyPlan
    most: StudyPlan

    def within_reach(self, difference: float) -> "Planned":
        """The same, with enough items that differ for the difference to be possible."""

        def reached(plan: StudyPlan) -> StudyPlan:
            if not isinstance(plan, Shares) or plan.discordant is None:
                return plan
            return replace(plan, discordant=max(plan.discordant, min(abs(difference) * (1 + 1e-9), 1.0)))

        return Planned(reached(self.likely), reached(self.least), reached(self.most))


def pilot_of(panel: Panel, runs: Panel, *, level: float, repeats: int | None) -> tuple[Pilot, Planned]:
    """Measure two systems on the same units; ``repeats`` is how many runs the study will have.

    ``runs`` is the same evidence with a column per run, holes included; without runs, it is the same panel.
    """
    sums = panel.cluster_sums()
    drawn = Units(sums.numerators[:, 1] - sums.numerators[:, 0], sums.denominators)
    if drawn.n < 2 or drawn.degenerate:
        what = "one unit" if drawn.n < 2 else "the same difference everywhere"
        raise InputError(f"the pilot has {what}, which says nothing about the spread; take more items, or give `sd`.")
    noise = _noises(runs, repeats)
    pilot = _pilot(panel, drawn, noise, level)
    if _binary(panel) and noise is None:
        found = [Shares(discordant=share) for share in (pilot.discordant, pilot.limits.low, pilot.limits.high)]
        return pilot, Planned(found[0], found[1], found[2])
    return pilot, _means(pilot, panel, drawn, noise, repeats)


def _pilot(panel: Panel, drawn: Units, noise: tuple[PilotRunSpread, PilotRunSpread] | None, level: float) -> Pilot:
    a, b = (panel.numerators[:, i] / panel.denominators for i in range(2))
    spread = weighted_deviation(b - a, panel.denominators) or 0.0
    error = standard_error(drawn)
    assert error is not None  # there are two units, and they differ
    variance = panel.n * error**2
    differ = int(np.count_nonzero(a != b)) if _binary(panel) and noise is None else None
    if differ is not None:
        limits = Interval(*clopper_pearson(differ, panel.n, level), level, "Clopper-Pearson")
    else:
        limits = variance_limits(influence(drawn), level).scaled(panel.n / drawn.n)
    return Pilot(
        systems=(panel.systems[0], panel.systems[1]),
        kind=panel.metric.kind,
        n=panel.n,
        n_clusters=panel.n_clusters,
        cluster_by=panel.cluster_by,
        sd=spread,
        correlation=float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) > 0 and np.ptp(b) > 0 else None,
        design_effect=variance / spread**2,
        discordant=None if differ is None else differ / panel.n,
        sd_within=None if noise is None else (sqrt(noise[0].variance), sqrt(noise[1].variance)),
        runs=None if noise is None else 2 / (noise[0].inverse_runs + noise[1].inverse_runs),
        limits=limits,
        data=panel.digest,
    )


def _binary(panel: Panel) -> bool:
    """Whether the scores are 0/1, without clusters or weights: McNemar's case."""
    return panel.binary and panel.clusters is None and bool(np.all(panel.denominators == 1))


def _noises(runs: Panel, repeats: int | None) -> tuple[PilotRunSpread, PilotRunSpread] | None:
    """The noise between the runs of both systems; ``None`` if the items have one run."""
    both = runs.averaged().answered.all(axis=1)  # the units that the pilot compares
    found = [noise_of(runs.values[both][:, list(model.columns)]) for model in runs.models] or [None, None]
    if found[0] is not None and found[1] is not None:
        return found[0], found[1]
    if repeats is not None and repeats > 1:
        lone = (runs.models or runs.systems)[found.index(None)]
        name = lone if isinstance(lone, str) else lone.model
        raise UsageError(
            f"{name}: one run of each {runs.unit}, so what {repeats} repeats would save is unknown; give a "
            "pilot with a column 'run', or numbers with `sd` and `sd_within`."
        )
    return None


def noise_of(values: Floats) -> PilotRunSpread | None:
    """The noise between runs (n, r) of the same units, NaN for a missing run; ``None`` if no unit has two."""
    there = ~np.isnan(values)
    counts = there.sum(axis=1)
    if counts.max() < 2:
        return None
    means = np.nansum(values, axis=1) / counts
    squares = float(np.where(there, (values - means[:, None]) ** 2, 0.0).sum())
    return PilotRunSpread(squares / float((counts - 1).sum()), float((1 / counts).mean()))


def _means(
    pilot: Pilot, panel: Panel, drawn: Units, noise: tuple[PilotRunSpread, PilotRunSpread] | None, repeats: int | None
) -> Planned:
    variance, size = pilot.design_effect * pilot.sd**2, panel.n / drawn.n
    left = wanted = 0.0
    if noise is not None and repeats is not None:  # the noise of runs left in the pilot, and that of the study
        weights = design_effect(panel.denominators)
        left = weights * sum(part.variance * part.inverse_runs for part in noise)
        wanted = weights * sum(part.variance for part in noise) / repeats
    values = (variance, pilot.limits.low, pilot.limits.high)
    likely, least, most = (Means(max(value - left, 0.0) + wanted, size) for value in values)
    return Planned(likely, least, most)
