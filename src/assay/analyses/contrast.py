"""What questions share about two systems on the same units: the interval and test of a difference, and the verdict.

For 0/1 scores the default pair is Tango's interval with McNemar's mid-p (clusters and weights by the design effect);
for everything else BCa, or t-hall for few units, with exact sign flips. One rule for every verb: a difference is shown
where p ≤ 1 − level, the interval leaves out 0, and there are enough units to rely on either (`reliance_of`). Where
interval and test are left to us they are made to agree (`agreed`), so that either says it; where one was asked for by
name both are shown as computed, and both are needed.
"""

from dataclasses import replace
from math import inf, isnan, nan
from typing import Literal

import numpy as np
from msgspec import Struct

from assay.data import Panel
from assay.data.panel_views import Substance
from assay.design import DESIGN_EFFECT_LIMIT, Design
from assay.errors import InputError, UsageError
from assay.names import shown
from assay.results import words
from assay.stats.bootstrap import IntervalResult
from assay.stats.compiled import Backend
from assay.stats.finite_set import PartOfSet, without_replacement_p
from assay.stats.interval_and_test import agreeing, joint_p
from assay.stats.numerics import SMALLEST_P, critical_values
from assay.stats.paired_tests import sign_flip, t_test, wilcoxon
from assay.stats.proportions import Effective, effective_counts, mcnemar_p, score_p, score_statistic, tango_limits
from assay.stats.records import Estimate, Fallback, Interval, Test
from assay.stats.rounding import snapped, without_residue
from assay.stats.units import Floats, Units, design_effect, grouped, mean_of_draws, without_noise
from assay.stats.which_interval import UnitFacts, interval_for

Verdict = Literal["better", "worse", "no difference shown", "equivalent", "undecided"]
#: Whether a verdict may rest on so many units: yes, only if their differences are roughly symmetric, or no.
Reliance = Literal["firm", "if symmetric", "too few"]

FEW = 20  # fewer units (or clusters) of equal weight than this, and no interval covers whatever the differences are
FEW_BINARY = 6  # 0/1 scores; with clusters or weights the test knows how few it has


def check_clusters(panel: Panel, asked: str | None = None) -> None:
    """Refuse units that are all in one cluster; ``asked`` is the column that was asked for, if one was."""
    if panel.n_clusters != 1 or panel.n == 1:
        return
    column, alone = panel.cluster_by or "", f"draw {panel.unit}s alone with `columns={{'cluster': ''}}`"
    what = shown(str(panel.label(column).names[0]))
    remedy = f"{alone}, or name a column with several groups as `cluster`"
    if asked is not None:
        remedy = "leave `cluster` out, or name a column with several groups"
    raise InputError(
        f"all {panel.n:,} {panel.unit}s are in one cluster ({what} of the column {column!r}), which shows no spread "
        f"between clusters; {remedy}."
    )


class Differences(Struct, frozen=True, eq=False):
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
    sizes = np.abs(sums.numerators[:, 0])
    sizes += np.abs(sums.numerators[:, 1])
    return Differences(single, without_noise(drawn, sizes), rounded)


class DrawnUnits(Struct, frozen=True):
    """The units to draw, under the scheme that was chosen."""

    units: Units
    scheme: str
    reason: str


def drawn_by(whole: Units, design: Design, panel: Panel) -> DrawnUnits:
    effect = design_effect(whole.denominators)
    unit = "cluster" if panel.clusters is not None else panel.unit
    what = "tokens" if panel.metric.kind == "losses" else "weights"
    method = interval_for(design.method, UnitFacts.of(whole, "0/1 pairs" if panel.binary else "other"))
    if design.scheme != "auto":
        chosen, reason = design.scheme, f"as asked (design effect of the {what} {effect:.3f})"
    elif not whole.equal_denominators and method in ("t", "t-hall"):  # closed forms that need no draws, as in `rank`
        reason = f"{method} is a closed form of drawing {unit}s uniformly (design effect {effect:.3f})"
        chosen = "windows"
    elif effect <= DESIGN_EFFECT_LIMIT:
        chosen, reason = "tokens", f"{what} are nearly equal: design effect {effect:.3f} ≤ {DESIGN_EFFECT_LIMIT}"
    else:
        chosen = "windows"
        reason = f"{unit}s drawn uniformly because {what} vary: design effect {effect:.3f} > {DESIGN_EFFECT_LIMIT}"
    return DrawnUnits(mean_of_draws(whole) if chosen == "tokens" else whole, chosen, reason)


# ----------------------------------------------------------------------------------------------------------- 0/1 scores


class Binary(Struct, frozen=True):
    """0/1 scores: the counts of the items on which one system alone is right."""

    counts: Effective
    plain: bool  # neither clusters nor weights
    part: PartOfSet | None = None  # of which these are a random part

    def of_set(self, part: PartOfSet) -> "Binary":
        """The same as a part of a fixed set, not all of it: the variance is that much smaller."""
        smaller = part.variance if self.plain else part.factor**2
        return Binary(replace(self.counts, deff=self.counts.deff * smaller), self.plain, part)


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
    if binary.plain and binary.part is not None:
        p = np.array([without_replacement_p(int(counts.b), int(counts.c), binary.part, exact=exact)])
        name = "hypergeometric" if exact else "hypergeometric-midp"
    elif binary.plain:
        p = mcnemar_p(counts.b, counts.c, exact=exact)
        name = "mcnemar" if exact else "mcnemar-midp"
    else:
        p, name = score_p(counts.b, counts.c, counts.deff, counts.df), "mcnemar-score"
    statistic = score_statistic(counts.b, counts.c, counts.deff)
    reason = None if p[0] > SMALLEST_P else f"p is below {SMALLEST_P:g}"
    return Test(name, float(statistic), float(p[0]), int(counts.n), reason)


# ------------------------------------------------------------------------------------------------- interval and test


def paired_interval(
    drawn: Units,
    binary: Binary | None,
    design: Design,
    part: PartOfSet | None = None,
    backend: Backend = "auto",
) -> IntervalResult:
    """The interval that the design asks for, with its own p-value; of a part of a fixed set, of the whole set.

    Compiled loops (``backend``) change the time it takes, and of ratios the last digits.
    """
    if part is not None and (part.whole or binary is None) and _has_spread(drawn, part):
        return part.interval(drawn, design.level, "t" if design.method == "t" else "t-hall")
    if binary is not None and interval_for(design.method, UnitFacts("0/1 pairs")) == "tango":
        return _tango(binary, design.level)
    return design.interval(drawn, own_p=True, backend=backend)


def _has_spread(drawn: Units, part: PartOfSet) -> bool:
    return part.whole or (drawn.n > 1 and not drawn.degenerate)


def check_part(design: Design, *, binary: bool) -> None:
    """Refuse, by name, what has no correction for a part of a fixed set."""
    known = ("auto", "tango") if binary else ("auto", "t-hall", "t")
    tests = ("auto", "mcnemar", "mcnemar-midp") if binary else ("auto", "t")
    if design.method not in known or design.test not in tests or design.scheme not in ("auto", "windows"):
        raise UsageError(
            f"`population` corrects closed forms: of these scores the methods {', '.join(known)} with the tests "
            f"{', '.join(tests)}, and no scheme of resampling; leave out the others."
        )


def paired_test(
    whole: Units, binary: Binary | None, design: Design, part: PartOfSet | None = None
) -> tuple[Test, tuple[Fallback, ...]]:
    """The test that the design asks for."""
    if part is not None and (part.whole or binary is None) and _has_spread(whole, part):
        return part.test(whole, "t" if design.test == "t" else "t-hall"), ()
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
            f"{design.test} needs 0/1 scores without weights and clusters; leave `test` out, or choose sign-flip."
        )


# ------------------------------------------------------------------------------------------- agreement and the verdict


class Agreed(Struct, frozen=True):
    """A difference and its test that say the same of 0, and what had to be done for it."""

    difference: Estimate
    test: Test
    notes: tuple[str, ...] = ()


def agreed(difference: Estimate, test: Test, own_p: float | None) -> Agreed:
    """Raise p to the interval's own, and set a limit to 0 where that p does not reject.

    ``own_p`` is the smallest α at which the interval leaves out 0; ``None`` where the test alone decides (Tango's
    interval beside McNemar's test). A collapsed interval stays: it is no interval, and the test decides.
    """
    limits = difference.interval
    if limits is None or limits.method == "degenerate" or difference.value is None:
        return Agreed(difference, test)
    p = nan if test.p_value is None else float(joint_p(test.p_value, 0.0 if own_p is None else own_p))
    moved = replace(difference, interval=moved_limits(limits, p, difference.value))
    return Agreed(moved, test if isnan(p) else replace(test, p_value=p), _what_was_done(limits, test, own_p))


def moved_limits(limits: Interval, p: float | None, estimate: float) -> Interval:
    """The limits with 0 left out exactly where p ≤ 1 − level."""
    low, high = agreeing(limits.low, limits.high, nan if p is None else p, 1 - limits.level, estimate)
    return replace(limits, low=float(low), high=float(high))


def _what_was_done(limits: Interval, test: Test, own_p: float | None) -> tuple[str, ...]:
    """Where interval and test disagree at this level."""
    rejects = test.p_value is not None and test.p_value <= 1 - limits.level
    excludes = leaves_out_zero(limits)
    if excludes == rejects or test.p_value is None:
        return ()
    shown = words.p_value(test.p_value)
    if excludes:
        return (
            f"the interval alone leaves out 0, the {test.name} test does not reject ({shown}): a limit is set to 0",
        )
    if own_p is None:
        return (f"the {test.name} test rejects ({shown}), the interval alone has 0 in it: a limit is moved beside 0",)
    return (f"the {test.name} test alone rejects ({shown}), the interval has 0 in it: p is the interval's own",)


def leaves_out_zero(limits: Interval) -> bool:
    return not limits.low <= 0 <= limits.high


def disagreement(difference: Estimate, test: Test) -> tuple[str, ...]:
    """What to say where both are as computed and differ."""
    limits = difference.interval
    if limits is None or test.p_value is None or limits.method == "degenerate":
        return ()
    excludes, rejects = leaves_out_zero(limits), test.p_value <= 1 - limits.level
    if excludes == rejects:
        return ()
    zero, answer = "leaves out" if excludes else "contains", "rejects" if rejects else "does not reject"
    return (f"borderline: the interval {zero} 0, the {test.name} test {answer}; a verdict needs both",)


def reliance_of(n: int, effective: float, method: str) -> Reliance:
    """By the number of what is drawn, Kish's of it, and by nothing that a sample says of its own shape.

    Below `FEW` no interval covers where values depend on their weights or are very skewed, and samples that miss the
    tail look harmless. With equal weights Student's t still holds for symmetric differences. Tango's interval of 0/1
    scores covers from `FEW_BINARY` on.

    >>> reliance_of(180, 19.0, "bca"), reliance_of(12, 12.0, "t-hall"), reliance_of(12, 12.0, "tango")
    ('too few', 'if symmetric', 'firm')
    """
    if method == "tango":
        return "firm" if n >= FEW_BINARY else "too few"
    if effective >= FEW:
        return "firm"
    nearly_equal = 2 <= n < FEW and n <= DESIGN_EFFECT_LIMIT * effective
    return "if symmetric" if nearly_equal else "too few"


def reserve_of(reliance: Reliance, found: Substance) -> str:
    """What a reader must know before believing a verdict on so much evidence; empty: nothing."""
    if reliance == "firm":
        return ""
    if reliance == "if symmetric":
        return "too few to rely on unless the differences are roughly symmetric"
    worth = "" if found.effective > 0.95 * found.units else f"worth {found.effective:.2g} of equal weight, "
    return f"{worth}too few to rely on"


def reserved(sentence: str, reliance: Reliance, found: Substance, units: str) -> str:
    """A sentence that names no verdict of `verdict_of`, with what a reader must know before believing it."""
    if reliance == "too few":
        return f"Undecided ({units}, {reserve_of(reliance, found)}): {sentence}"
    return f"{sentence[:-1]}; {units}, {reserve_of(reliance, found)}." if reliance == "if symmetric" else sentence


def verdict_of(
    difference: Estimate, test: Test, design: Design, *, lower_is_better: bool, reliance: Reliance = "firm"
) -> Verdict:
    """A difference is shown where the interval leaves out 0 and the test rejects; too few units decide nothing."""
    limits = difference.interval
    if limits is None:
        return "no difference shown"
    if reliance == "too few":
        return "undecided"
    inside = design.margin is not None and -design.margin < limits.low and limits.high < design.margin
    if inside and reliance == "firm":
        return "equivalent"
    rejected = test.p_value is not None and test.p_value <= 1 - design.level
    if not (rejected and leaves_out_zero(limits)):
        return "no difference shown"
    return "better" if (limits.low > 0) != lower_is_better else "worse"
