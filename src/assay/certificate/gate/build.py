"""Compute every fact of a gate's certificate from its windows, its plan and a policy; `gate` and `verify` run this."""

from dataclasses import dataclass
from math import exp, isfinite, log
from typing import TypedDict

import numpy as np
from msgspec import UNSET

from assay.analyses.contrast import differences_of
from assay.certificate.build import stated_policy
from assay.certificate.fields import (
    AnyRule,
    FinalMinimumRule,
    IntervalLimits,
    OverlapRule,
    PairingRule,
    StatedPolicy,
    rounded,
    rounded_exp,
)
from assay.certificate.gate.fields import GateDecision, GateFinding, LookOutcome, StatedGatePlan, TakenLook
from assay.certificate.gate.plan import bounds_of, in_order
from assay.certificate.rules import RULES_VERSION, Covered, windows_of
from assay.certificate.suite.fields import SuiteVerdict
from assay.data import Panel
from assay.design import Policy, signature
from assay.errors import InputError
from assay.stats.sequential.looks import Seen, look_at
from assay.stats.sequential.stopped import after_stopping
from assay.stats.units import Integers

RULE_VERSION = 1
_SMALLEST = 1e-300


class ComputedGate(TypedDict):
    """The parts of a certificate that follow from its evidence, its plan and its policy."""

    policy: StatedPolicy
    plan: StatedGatePlan
    looks: tuple[TakenLook, ...]
    found: GateFinding
    rules: tuple[AnyRule, ...]
    decision: GateDecision
    signature: str


@dataclass(frozen=True, eq=False, slots=True)
class Ordered:
    """The paired windows so far, in the order of the plan."""

    panel: Panel

    @classmethod
    def of(cls, union: Panel, plan: StatedGatePlan) -> "Ordered":
        panel = windows_of(union).final
        documents = None if plan.cluster_by is None else panel.label(plan.cluster_by).texts.tolist()
        begins = panel.numbers.get("start", np.zeros(panel.n))
        text = np.lexsort((begins,)) if documents is None else np.lexsort((begins, np.array(documents, dtype=str)))
        names = [str(panel.ids[i]) for i in text]
        order = in_order(plan.seed, names, None if documents is None else [documents[i] for i in text])
        return cls(panel.rows(text[np.array(order, dtype=np.int64)]))

    def first(self, windows: int) -> Panel:
        places: Integers = np.arange(min(windows, self.panel.n))
        return self.panel.rows(places)


def seen_in(panel: Panel, plan: StatedGatePlan) -> Seen:
    """A look at the differences of some windows, by document where those are drawn."""
    return look_at(differences_of(panel).drawn, by_length=plan.lengths is not UNSET)


def taken_look(panel: Panel, plan: StatedGatePlan, number: int) -> tuple[TakenLook, Seen]:
    """A look at its windows."""
    planned, seen, limit = plan.looks[number], seen_in(panel, plan), log(plan.limit)
    found, plain = seen.moments, plan.lengths is UNSET
    within, beyond = seen.p_below(limit), seen.p_above(limit)
    low, high = seen.limits(planned.nominal)
    return (
        TakenLook(
            windows=panel.n,
            tokens=int(panel.denominators.sum()),
            difference=rounded(seen.estimate),
            standard_error=0.0 if found is None else rounded(found.error),
            degrees_of_freedom=None if found is None else rounded(found.df),
            differing=seen.differing,
            length_t=UNSET if plain else None if seen.length_t is None else rounded(seen.length_t),
            widened=UNSET if plain else rounded(seen.widened),
            ci=(rounded(low), rounded(high)) if isfinite(low) and isfinite(high) else None,
            p_within=None if found is None else rounded(max(within, _SMALLEST)),
            p_beyond=None if found is None else rounded(max(beyond, _SMALLEST)),
            outcome=_outcome(plan, number, seen),
        ),
        seen,
    )


def _outcome(plan: StatedGatePlan, number: int, seen: Seen) -> LookOutcome:
    planned, limit, last = plan.looks[number], log(plan.limit), number + 1 == len(plan.looks)
    if seen.moments is None and seen.estimate <= limit:
        return "pass"  # every unit has this value
    if seen.p_below(limit) <= planned.nominal:
        return "pass"
    if seen.p_above(limit) <= planned.nominal:
        return "fail"
    if last:
        return "end"
    if planned.futile is not None and seen.moments is not None:
        within = (limit - seen.estimate) / seen.moments.error
        return "futile" if within <= planned.futile else "continue"
    return "continue"


def gate_facts(union: Panel, plan: StatedGatePlan, policy: Policy, tokens_planned: int) -> ComputedGate:
    """Everything that follows from the evidence, the plan and the policy, rounded as printed."""
    ordered = Ordered.of(union, plan)
    looks: list[TakenLook] = []
    seen: list[Seen] = []
    for number, planned in enumerate(plan.looks):
        if ordered.panel.n < planned.windows:
            raise InputError(f"{ordered.panel.n} windows, and look {number + 1} of the plan is at {planned.windows}.")
        taken, look = taken_look(ordered.first(planned.windows), plan, number)
        looks.append(taken)
        seen.append(look)
        if taken.outcome != "continue":
            break
    if ordered.panel.n != looks[-1].windows:
        raise InputError(f"{ordered.panel.n} windows, but it stopped after {looks[-1].windows}.")
    found = _finding(ordered.panel, plan, policy, looks, seen, tokens_planned)
    return {
        "policy": stated_policy(policy),
        "plan": plan,
        "looks": tuple(looks),
        "found": found,
        "rules": gate_rules(union, plan, policy),
        "decision": decided(plan, policy, looks, found),
        "signature": _signature(ordered.panel, plan, looks, policy),
    }


def _finding(
    panel: Panel,
    plan: StatedGatePlan,
    policy: Policy,
    looks: list[TakenLook],
    seen: list[Seen],
    tokens_planned: int,
) -> GateFinding:
    level, taken, last = policy.design().level, looks[-1], seen[-1]
    stopped = after_stopping(bounds_of(plan), seen, log(plan.limit), level)
    ci: IntervalLimits | None = (rounded(stopped.low), rounded(stopped.high))
    method, difference = "stage-wise", stopped.estimate
    p = min(stopped.p_below, stopped.p_above)
    tested = last.moments is not None and policy.limits.max_ratio == plan.limit  # the bounds are about no other limit
    if last.moments is None:
        method = "degenerate"
    elif taken.outcome == "futile":
        method, ci, difference = "repeated", taken.ci, last.estimate
    return GateFinding(
        baseline=rounded(panel.estimate(0)),
        subject=rounded(panel.estimate(1)),
        difference=rounded(difference),
        ratio=rounded_exp(difference),
        ci=ci,
        display_ci=None if ci is None else (rounded_exp(ci[0]), rounded_exp(ci[1])),
        method=method,  # type: ignore[arg-type]  # one of the three
        p_value=rounded(max(p, _SMALLEST)) if tested else None,
        tokens_planned=tokens_planned,
    )


def decided(plan: StatedGatePlan, policy: Policy, looks: list[TakenLook], found: GateFinding) -> GateDecision:
    """By the bound that was reached; where another limit applies than the plan's, by the interval after stopping."""
    limit, own = policy.limits.max_ratio, policy.limits.max_ratio == plan.limit
    outcome = looks[-1].outcome
    verdict: SuiteVerdict = "undecided"
    if own:
        verdict = outcome if outcome in ("pass", "fail") else "undecided"
    elif found.ci is not None:
        low, high = (exp(value) for value in found.ci)
        verdict = "pass" if high <= limit else "fail" if low > limit else "undecided"
    return GateDecision(
        rule="interval" if not own else "group sequential" if plan.lengths is UNSET else "group sequential by length",
        version=RULE_VERSION,
        verdict=verdict,
        limit=limit,
        look=len(looks),
    )


def gate_rules(union: Panel, plan: StatedGatePlan, policy: Policy) -> tuple[AnyRule, ...]:
    """Pairing and overlap of the windows that were scored, and the minimum of the plan."""
    windows = windows_of(union)
    counted = Covered(plan.windows, plan.effective, long=True)
    return (
        PairingRule(
            version=RULES_VERSION,
            ok=windows.paired == windows.windows,
            paired=windows.paired,
            windows=windows.windows,
        ),
        OverlapRule(
            version=RULES_VERSION,
            ok=windows.overlapping == 0,
            overlapping=windows.overlapping,
            windows=windows.windows,
            by=windows.overlap_from,
        ),
        minimum_rule(plan, policy, counted),
    )


def minimum_rule(plan: StatedGatePlan, policy: Policy, counted: Covered | None = None) -> FinalMinimumRule:
    """The policy's minimum applies to the plan, not to what was needed of it."""
    least = policy.limits.windows
    found = counted or Covered(plan.windows, plan.effective, long=True)
    enough = found.used >= least if plan.cluster_by is not None else found.enough(least)
    return FinalMinimumRule(
        version=RULES_VERSION, used=found.used, effective=rounded(found.effective), required=least, ok=enough
    )


def _signature(panel: Panel, plan: StatedGatePlan, looks: list[TakenLook], policy: Policy) -> str:
    return signature(
        "gate",
        units=panel.unit + "s",
        n=panel.n,
        clusters=None if panel.n_clusters is None else f"{panel.n_clusters} {panel.cluster_by}",
        look=f"{len(looks)} of {len(plan.looks)}",
        spending=plan.spending,
        level=policy.design().level,
        seed=plan.seed,
        plan=plan.digest[7:23],
        data=panel.digest[:16],
    )
