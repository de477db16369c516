"""Counts of simulations as shares with their own error, and which method to ask for.

**The rule.** The method of the design stays unless the upper end of the 95% interval of its coverage (Clopper and
Pearson's, over the simulations) is below the level. Another one is recommended only where it held the truth more often
on the same simulated data, by McNemar's exact test at 5% with Holm's adjustment over all methods. Of those, the
narrowest whose own coverage is not short; if all are short, the one that covers most. So a method is never chosen
because it was the luckiest of many.
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from assay.analyses.calibrate.comparing import FIELDS, METHODS
from assay.analyses.calibrate.result import Bound, MethodCoverage, SimulatedRate, is_short
from assay.stats.bounded_mean import clopper_pearson
from assay.stats.multiplicity import holm
from assay.stats.proportions import mcnemar_p
from assay.stats.records import Estimate, Interval
from assay.stats.units import Floats, Truths

_OWN_LEVEL = 0.95  # of the simulation's own error
_BETTER = 0.05  # p-values up to this show that another method covers more


def share_of(happened: Truths) -> Estimate:
    """How often something happened, with the error of the simulation."""
    n, count = len(happened), int(happened.sum())
    if not n:
        return Estimate(None, None, None, 0, "no simulation")
    share = count / n
    limits = Interval(*clopper_pearson(count, n, _OWN_LEVEL), _OWN_LEVEL, "clopper-pearson")
    return Estimate(share, limits, sqrt(share * (1 - share) / n), n)


def rate(
    key: str,
    what: str,
    happened: Floats,
    bound: Bound | None = None,
    nominal: float | None = None,
    *,
    told: bool = True,
) -> SimulatedRate:
    """How often something happened, of the simulations in which it could."""
    known = happened[~np.isnan(happened)]
    return SimulatedRate(key, what, share_of(known > 0), bound, nominal, told)


def coverages(rows: Floats, names: Sequence[str], *, verdicts: bool = True) -> tuple[MethodCoverage, ...]:
    """What each method did, from rows of `FIELDS` numbers for each (S, methods × `FIELDS`)."""
    found = rows.reshape(len(rows), len(names), FIELDS)
    held = found[:, :, 0] == 0  # (S, methods)
    better = _better(held)
    first = float(found[:, 0, 1].mean())
    return tuple(
        MethodCoverage(
            method=name,
            used=tuple(METHODS[int(code)] for code in np.unique(found[:, i, 4])[::-1]),
            covered=share_of(held[:, i]),
            below=float((found[:, i, 0] < 0).mean()),
            above=float((found[:, i, 0] > 0).mean()),
            width=float(found[:, i, 1].mean()),
            relative_width=float(found[:, i, 1].mean()) / first if first > 0 else None,
            false_verdicts=share_of(found[:, i, 2] > 0) if verdicts else None,
            too_few=float(found[:, i, 3].mean()),
            p_better=better[i],
        )
        for i, name in enumerate(names)
    )


def _better(held: Truths) -> list[float | None]:
    """p-values that a method covers more than the first, two-sided; 1 where it covers less."""
    gained, lost = (held & ~held[:, :1]).sum(axis=0), (~held & held[:, :1]).sum(axis=0)
    both = [float(mcnemar_p(float(b), float(c), exact=True)[0]) for b, c in zip(gained[1:], lost[1:], strict=True)]
    adjusted = holm(np.array(both)).tolist() if both else []
    more = (gained > lost)[1:].tolist()
    return [None, *(p if yes else 1.0 for p, yes in zip(adjusted, more, strict=True))]


def recommended(rows: Sequence[MethodCoverage], level: float) -> str | None:
    """The method to ask for instead of the first; ``None``: keep it."""
    if not is_short(rows[0], level):
        return None
    better = [row for row in rows[1:] if row.p_better is not None and row.p_better <= _BETTER]
    enough = [row for row in better if not is_short(row, level)]
    if enough:
        return min(enough, key=lambda row: row.width).method
    return max(better, key=lambda row: row.covered.value or 0.0).method if better else None
