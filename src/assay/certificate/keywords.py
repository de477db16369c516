"""What a caller of `certify` asks for by keyword: the fields of a policy, and those of a design that a gate has."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypedDict

from assay.design import (
    Design,
    GateMethod,
    Policy,
    Profile,
    Scheme,
    TierName,
    Weights,
    check_keywords,
    refuse_both,
    said_by,
)
from assay.errors import UsageError
from assay.limits import GroupLimits, Limits, TotalLimits

#: Fields of a design that a gate does not have, and why.
_NOT_OF_A_GATE = {
    "test": "the bound of the interval decides; leave it out",
    "margin": "its limits are `max_ratio` and `max_drop`; give one of those",
}


class GateFields(TypedDict, total=False):
    """The fields of a `Policy`, which `certify` takes as keywords too; ``resamples`` are its replicates."""

    method: GateMethod
    level: float
    scheme: Scheme
    resamples: int
    seed: int
    tier: TierName
    profile: Profile
    max_ratio: float
    max_drop: float
    min_windows: int
    replicates: int
    weights: Weights
    note: str
    total: TotalLimits
    each: Limits
    tasks: Mapping[str, Limits]
    groups: Mapping[str, GroupLimits]
    every: bool


def asked_for(design: Design | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a policy that a design and keywords ask for.

    >>> asked_for(Design(level=0.99, resamples=2000), {"note": "why"})
    {'level': 0.99, 'replicates': 2000, 'note': 'why'}
    """
    of_design = [field.name for field in fields(Design)]
    check_keywords("certify", [*GateFields.__annotations__, *of_design], keywords)
    if design is not None:
        refuse_both("certify", "design", [name for name in keywords if name in of_design])
    said = {**({} if design is None else said_by(design)), **keywords}
    for name, why in _NOT_OF_A_GATE.items():
        usual = getattr(Design(), name)
        if said.pop(name, usual) != usual:
            raise UsageError(f"certify has no `{name}`: {why}.")
    if "resamples" in said and "replicates" in said:
        raise UsageError("resamples and replicates are the same of a gate; give one of them.")
    return {"replicates" if name == "resamples" else name: value for name, value in said.items()}


def with_asked(policy: Policy, design: Design | None, keywords: Mapping[str, Any]) -> Policy:
    """The policy with what was asked for beside it, which may be stricter but not contradict it."""
    return policy.with_options(**asked_for(design, keywords))
