"""The difference of two systems on the same units: its interval and its test, which say the same of 0.

For 0/1 scores the default pair is Tango's interval with McNemar's mid-p (clusters and weights by the design effect);
for everything else BCa with exact sign flips. `assay.analyses.verdict` makes them agree. A method or a test that was
asked for by name is shown as computed.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from assay.data import Panel
from assay.design import DESIGN_EFFECT_LIMIT, Design
from assay.errors import UsageError
from assay.results import words
from assay.stats.bootstrap import IntervalResult
from assay.stats.numerics import SMALLEST_P, critical_values
from assay.stats.paired_tests import sign_flip, t_test, wilcoxon
from assay.stats.proportions import Effective, effective_counts, mcnemar_p, score_p, score_statistic, tango_limits
from assay.stats.records import Fallback, Interval, Test
from assay.stats.rounding import snapped, without_noise, without_residue
from assay.stats.units import Floats, Units, design_effect, grouped, mean_of_draws


@dataclass(frozen=True, eq=False, slots=True)
class Differences:
    """B − A: of every unit, and summed within what is drawn."""

    units: Floats  # (n,) of single units, times their weights; rounding is taken off
    drawn: Units  # the units or clusters
    rounded: int  # units whose difference was rounding and is 0

    @property
    def note(self) -> tuple[str, ...]:
        return (words.rounded_off(self.rounded),) if self.rounded else ()


def differences_of(panel: Panel) -> Differences:
    """B − A without rounding. Where all are equal up to rounding they are made equal, so that they have no spread."""
    values, rounded = snapped(panel.numerators)
    single = values[:, 1] - values[:, 0]
    sums = panel.cluster_sums()
    if panel.clusters is None:
        drawn = Units(single, sums.denominators)
    else:
        total, size = grouped(single, panel.clusters), grouped(np.abs(single), panel.clusters)
        drawn = Units(without_residue(total, size), sums.denominators)
    return Differences(single, without_noise(drawn, np.abs(sums.numerators).sum(axis=1)), rounded)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The units to draw, under the scheme that was chosen."""

    units: Units
    scheme: str
    reason: str


def drawn_by(whole: Units, design: Design, panel: Panel) -> Drawn:
    effect = design_effect(whole.denominators)
    unit = "cluster" if panel.clusters is not None else panel.unit
    what = "tokens" if panel.metric.kind == "losses" else "weights"
    if design.scheme != "auto":
        chosen, reason = design.scheme, f"as asked (design effect of the {what} {effect:.3f})"
    elif design.method == "t" and not whole.equal_denominators:  # a closed form that needs no draws, as in `rank`
        chosen, reason = "windows", f"t is the closed form of drawing {unit}s uniformly (design effect {effect:.3f})"
    elif effect <= DESIGN_EFFECT_LIMIT:
        chosen, reason = "tokens", f"{what} are nearly equal: design effect {effect:.3f} ≤ {DESIGN_EFFECT_LIMIT}"
    else:
        chosen = "windows"
        reason = f"{unit}s drawn uniformly because {what} vary: design effect {effect:.3f} > {DESIGN_EFFECT_LIMIT}"
    return Drawn(mean_of_draws(whole) if chosen == "tokens" else whole, chosen, reason)


# ----------------------------------------------------------------------------------------------------------- 0/1 scores


@dataclass(frozen=True, slots=True)
class Binary:
    """0/1 scores: the counts of the items on which one system alone is right."""

    counts: Effective
    plain: bool  # neither clusters nor weights


def binary_of(panel: Panel, found: Differences) -> Binary | None:
    """``None`` where the scores are not 0/1, or where a single cluster leaves nothing to draw."""
    if not panel.binary:
        return None
    plain = panel.clusters is None and found.drawn.equal_denominators
    if not plain and found.drawn.n < 2:
        return None
    signs = np.sign(found.units)
    if plain:
        b, c = (float((signs == sign).sum()) for sign in (1, -1))
        return Binary(Effective(b, c, float(panel.n), 1.0, inf), plain)
    return Binary(effective_counts(signs, panel.denominators, found.drawn), plain)


def _tango(binary: Binary, level: float) -> IntervalResult:
    """It has no p-value of its own: McNemar's test alone decides."""
    counts, reach = binary.counts, critical_values(level, binary.counts.df)
    low, high = tango_limits(counts.b / counts.deff, counts.c / counts.deff, counts.n / counts.deff, reach)
    return IntervalResult(Interval(float(low[0]), float(high[0]), level, "tango"), "closed form", None)


def _mcnemar(binary: Binary, *, exact: bool) -> Test:
    counts = binary.counts
    if binary.plain:
        p = mcnemar_p(counts.b, counts.c, exact=exact)
        name = "mcnemar" if exact else "mcnemar-midp"
    else:
        p, name = score_p(counts.b, counts.c, counts.deff, counts.df), "mcnemar-score"
    statistic = score_statistic(counts.b, counts.c, counts.deff)
    reason = None if p[0] > SMALLEST_P else f"p is below {SMALLEST_P:g}"
    return Test(name, float(statistic), float(p[0]), int(counts.n), reason)


# --------------------------------------------------------------------------------------------------------------- either


def paired_interval(drawn: Units, binary: Binary | None, design: Design) -> IntervalResult:
    """The interval that the design asks for, with its own p-value."""
    if binary is not None and design.method in ("auto", "tango"):
        return _tango(binary, design.level)
    return design.interval(drawn, own_p=True)


def paired_test(whole: Units, binary: Binary | None, design: Design) -> tuple[Test, tuple[Fallback, ...]]:
    """The test that the design asks for."""
    if design.test == "t":
        return t_test(whole), ()
    if design.test == "wilcoxon":
        return wilcoxon(whole.numerators / whole.denominators), ()
    check_test(design, plain=binary is not None and binary.plain)
    if binary is not None and design.test != "sign-flip":
        return _mcnemar(binary, exact=design.test == "mcnemar"), ()
    return sign_flip(whole.numerators, seed=design.seed)


def check_test(design: Design, *, plain: bool) -> None:
    """Refuse McNemar's test by name where scores are not 0/1, or come with weights or clusters."""
    if design.test in ("mcnemar", "mcnemar-midp") and not plain:
        raise UsageError(
            f"{design.test} needs 0/1 scores without weights and clusters; leave --test out, or choose sign-flip."
        )
