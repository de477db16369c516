"""The plan of a gate, fixed before the first look: which windows in which order, when to look, and what stops."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

import msgspec
import numpy as np

from assay.certificate.fields import Digest, rounded
from assay.certificate.gate.fields import PlannedLook, StatedGatePlan
from assay.certificate.signing import digest_of
from assay.design import Policy
from assay.errors import InputError, UsageError
from assay.results.words import count
from assay.stats.sequential.boundaries import MOST_LOOKS, Bounds, bounds, futility
from assay.stats.sequential.looks import LEAST_UNITS, schedule
from assay.stats.sequential.spending import Spending
from assay.stats.units import Floats

CLUSTER: Literal["document"] = "document"
FEWEST_DOCUMENTS = 2 * LEAST_UNITS  # of a plan that draws them whole, by Kish's count, where the text has so many


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedLooks:
    """How often a gate looks, and how it spends its error."""

    number: int = 7
    spending: Spending = "obrien-fleming"
    beta: float | None = None  # that futility bounds spend

    def __post_init__(self) -> None:
        if not 1 <= self.number <= MOST_LOOKS:
            raise UsageError(f"looks must be a whole number from 1 to {MOST_LOOKS}, but got {self.number}.")
        if self.beta is not None and not 0 < self.beta < 0.5:
            raise UsageError(f"futility must be above 0 and below 0.5, but got {self.beta}.")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A window that may be scored."""

    name: str
    document: str
    tokens: int
    full: bool


def rank_of(seed: int, name: str) -> str:
    """What units are ordered by: nobody can choose it, and anybody can check it.

    >>> rank_of(0, "a")[:8]
    '0d3b8411'
    """
    return hashlib.sha256(f"{seed}\n{name}".encode()).hexdigest()


def in_order(seed: int, names: Sequence[str], documents: Sequence[str] | None) -> list[int]:
    """The places of windows in the order in which they are scored; whole documents where they are drawn."""
    units = names if documents is None else documents
    ranks = {unit: rank_of(seed, unit) for unit in set(units)}
    return sorted(range(len(names)), key=lambda i: (ranks[units[i]], i))


def planned_order(candidates: Sequence[Candidate], policy: Policy) -> list[int]:
    """The windows of a plan, in order: as many as the policy asks for, full ones if there are enough.

    Whole documents are added until there are so many windows, and documents worth `FEWEST_DOCUMENTS` of equal length.
    """
    wanted, seed = policy.limits.windows, policy.seed or 0
    if policy.cluster not in (None, CLUSTER):
        raise UsageError(f"cluster must be {CLUSTER!r} in a gate, but got {policy.cluster!r}.")
    if policy.cluster is None:
        full = [i for i, one in enumerate(candidates) if one.full]
        pool = full if len(full) >= wanted else list(range(len(candidates)))
        order = in_order(seed, [candidates[i].name for i in pool], None)
        return [pool[i] for i in order[:wanted]]
    documents = [one.document for one in candidates]
    order = in_order(seed, [one.name for one in candidates], documents)
    weights, ends = unit_weights([candidates[i].tokens for i in order], [documents[i] for i in order])
    kish = np.cumsum(weights) ** 2 / np.cumsum(weights * weights)
    enough = np.flatnonzero((ends >= wanted) & (kish >= FEWEST_DOCUMENTS))
    return order[: int(ends[enough[0]])] if len(enough) else order


def unit_weights(tokens: Sequence[int], documents: Sequence[str] | None) -> tuple[Floats, Floats]:
    """The tokens of each unit, and how many windows there are when it is complete."""
    if documents is None:
        return np.asarray(tokens, dtype=np.float64), np.arange(1.0, len(tokens) + 1)
    codes = np.cumsum([i == 0 or documents[i] != documents[i - 1] for i in range(len(documents))]) - 1
    sums = np.bincount(codes, weights=np.asarray(tokens, dtype=np.float64))
    return sums.astype(np.float64), np.cumsum(np.bincount(codes)).astype(np.float64)


def plan_of(
    chosen: Sequence[Candidate], policy: Policy, looks: PlannedLooks, *, text: Digest, context: int
) -> StatedGatePlan:
    """The plan for windows in this order."""
    documents = None if policy.cluster is None else [one.document for one in chosen]
    weights, ends = unit_weights([one.tokens for one in chosen], documents)
    found = schedule(weights, looks.number)
    if found is None:
        kish, unit = float(weights.sum() ** 2 / (weights * weights).sum()), policy.cluster or "window"
        more = "give more text, a shorter `context`, or a larger `min_windows`"
        if policy.cluster is not None:
            more = "give a text of more documents (`split_on` says where a file is cut), or leave out `cluster`"
        raise InputError(
            f"the plan has {count(len(weights), unit)}, worth {kish:.3g} of equal length, and no look is taken before "
            f"{LEAST_UNITS}; {more}."
        )
    effective = [rounded(float(value)) for value in found.effective]
    fractions = [rounded(value / effective[-1]) for value in effective]
    alpha = alpha_of(policy.design().level)
    spent = bounds(fractions, alpha, looks.spending)
    plan = StatedGatePlan(
        limit=policy.limits.max_ratio,
        alpha=alpha,
        spending=looks.spending,
        beta=looks.beta,
        windows=len(chosen),
        units=len(weights),
        effective=effective[-1],
        cluster_by=CLUSTER if policy.cluster is not None else None,
        seed=policy.seed or 0,
        order=order_digest([one.name for one in chosen]),
        text=text,
        context=context,
        lengths="by length",
        looks=_looks(spent, looks.beta, effective, [(int(place), int(ends[int(place) - 1])) for place in found.places]),
        digest="",
    )
    return with_digest(plan)


def _looks(
    spent: Bounds, beta: float | None, effective: Sequence[float], places: Sequence[tuple[int, int]]
) -> tuple[PlannedLook, ...]:
    futile = [None] * spent.looks if beta is None else [float(z) for z in futility(spent, beta).lower[:-1]] + [None]
    return tuple(
        PlannedLook(
            windows=windows,
            units=units,
            effective=effective[k],
            fraction=rounded(float(spent.fractions[k])),
            bound=_finite(float(spent.upper[k])),
            nominal=rounded(float(spent.nominal[k])),
            futile=None if (z := futile[k]) is None else _finite(z),
        )
        for k, (units, windows) in enumerate(places)
    )


def _finite(z: float) -> float | None:
    return rounded(z) if isfinite(z) else None


def order_digest(names: Sequence[str]) -> Digest:
    """The digest of windows in the order in which they are scored."""
    return "sha256:" + hashlib.sha256("\n".join(names).encode()).hexdigest()


def with_digest(plan: StatedGatePlan) -> StatedGatePlan:
    return msgspec.structs.replace(plan, digest=digest_of(msgspec.to_builtins(plan)))


def alpha_of(level: float) -> float:
    """The error on either side of the limit that an interval of this level leaves.

    >>> alpha_of(0.95)
    0.025
    """
    return rounded((1 - level) / 2)


def bounds_of(plan: StatedGatePlan) -> Bounds:
    """The bounds of a plan, computed again from its looks."""
    return bounds([look.fraction for look in plan.looks], plan.alpha, plan.spending)


def as_it_follows(plan: StatedGatePlan) -> StatedGatePlan:
    """The plan with everything that follows from its other fields computed again."""
    PlannedLooks(number=len(plan.looks), spending=plan.spending, beta=plan.beta)  # refuses what cannot be planned
    effective = [look.effective for look in plan.looks]
    if sorted(set(effective)) != effective or effective[0] < LEAST_UNITS * (1 - 1e-9):
        raise InputError(f"the looks of a plan have ever more information, and at least {LEAST_UNITS} units.")
    if any(look.effective > look.units * (1 + 1e-9) or look.units > look.windows for look in plan.looks):
        raise InputError("a look has no more information than units, and no more units than windows.")
    if not plan.limit > 0:
        raise InputError("the limit of a plan is above 0.")
    spent = bounds([rounded(value / effective[-1]) for value in effective], plan.alpha, plan.spending)
    looks = _looks(spent, plan.beta, effective, [(look.units, look.windows) for look in plan.looks])
    last = plan.looks[-1]
    found = msgspec.structs.replace(plan, looks=looks, windows=last.windows, units=last.units, effective=last.effective)
    return with_digest(found)
