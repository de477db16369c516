"""Calibrate `certify`: how often does a model exactly at the limit pass, and one that is as good as the baseline?

Every simulated certificate is computed as a real one is, and decided on its printed numbers.
"""

from dataclasses import dataclass, replace
from math import log

from assay.analyses.calibrate.result import SimulatedRate, SimulatedWorld
from assay.analyses.calibrate.simulation import Draws, simulated
from assay.analyses.calibrate.studies import (
    YOURS,
    Evidence,
    Setup,
    Studied,
    data_like,
    facts_of,
    facts_of_scenario,
    scenarios_of,
)
from assay.analyses.calibrate.tallies import rate
from assay.analyses.calibrate.worlds import BuiltInPairs, OwnPairs, PairWorld
from assay.certificate.build import computed_facts
from assay.certificate.rules import Windows
from assay.data import Panel
from assay.design import DEFAULT_LEVEL, Policy, said_by
from assay.errors import UsageError
from assay.results import words

_NOTE = "simulated"  # a policy that differs from its tier needs a note


@dataclass(frozen=True, slots=True)
class CertificateTrial:
    """One simulated certificate of a model at the limit, of one without a difference, and of the model as it is."""

    worlds: tuple[PairWorld, ...]
    policy: Policy

    def once(self, draws: Draws) -> list[float]:
        """Whether each passes."""
        return [float(_verdict(world.draw(draws.generator()), self.policy) == "pass") for world in self.worlds]


def _verdict(panel: Panel, policy: Policy) -> str:
    windows = Windows(None, panel, panel.n, panel.n, 0, "window ids")
    return computed_facts(windows, policy, ())["decision"].verdict


def limit_of(policy: Policy, panel: Panel) -> float:
    """The true difference B − A at which a model is exactly at the limit."""
    if panel.metric.kind == "losses":
        return log(policy.limits.max_ratio)
    return policy.limits.max_drop if panel.metric.lower_is_better else -policy.limits.max_drop


def calibrated(evidence: Evidence, setup: Setup) -> Studied:
    """How often `certify` passes a model that is exactly at its limit."""
    policy = _policy(setup)
    panel = evidence.two("certify")
    if panel is None:
        return Studied(tuple(_built_in(name.name, setup, policy) for name in scenarios_of(setup)))
    if "split" in panel.labels and evidence.asked.split is None:
        panel = panel.where(split="final")  # which the certificate is about
    world = OwnPairs.of(panel)
    rates = _rates(world, limit_of(policy, panel), setup, policy, "certify", as_it_is=True)
    made = SimulatedWorld(
        name=YOURS,
        about=data_like(panel),
        truth=world.truth,
        null="swapped" if panel.binary else "shifted",
        rates=rates,
        **facts_of(panel),
    )
    return Studied((made,), panel.systems, (*panel.notes, _limit_note(policy, panel)), panel.digest)


def _policy(setup: Setup) -> Policy:
    """The policy with the level and the method of the design."""
    said = said_by(setup.design)
    unknown = [name for name in said if name not in ("level", "method", "scheme", "seed")]
    if unknown:
        raise UsageError(f"certify takes the level, method, scheme and seed of a design; leave out {unknown[0]}.")
    if "level" not in said and setup.policy.level not in (None, DEFAULT_LEVEL):
        raise UsageError("say the level of the policy in the design as well: `level`.")
    return replace(setup.policy, **said, note=setup.policy.note or _NOTE).complete()


def _limit_note(policy: Policy, panel: Panel) -> str:
    limits = policy.limits
    if panel.metric.kind == "losses":
        return f"the limit is a perplexity ratio of {words.number(limits.max_ratio)}"
    return f"the limit is {words.number(limits.max_drop)} worse than the baseline"


def _built_in(name: str, setup: Setup, policy: Policy) -> SimulatedWorld:
    scenario = next(one for one in scenarios_of(setup) if one.name == name)
    world = BuiltInPairs.of(scenario)
    limit = -policy.limits.max_drop if scenario.binary else log(policy.limits.max_ratio)
    rates = _rates(world, limit, setup, policy, f"certify {name}", as_it_is=False)
    return SimulatedWorld(**facts_of_scenario(scenario), rates=rates)


def _rates(
    world: PairWorld, limit: float, setup: Setup, policy: Policy, purpose: str, *, as_it_is: bool
) -> tuple[SimulatedRate, ...]:
    worlds = [world.with_difference(limit), world.without_difference(), *([world] if as_it_is else [])]
    trial = CertificateTrial(tuple(worlds), policy)
    rows = simulated(trial, setup.simulations, seed=setup.seed, purpose=purpose, engine=setup.engine)
    error = (1 - policy.design().level) / 2
    found = [
        rate("false_passes", "a model at the limit passes", rows[:, 0], "at most", error),
        rate("passes", "one without a difference passes", rows[:, 1]),
    ]
    if as_it_is:
        found.append(rate("own_passes", "one as different as this passes", rows[:, 2]))
    return tuple(found)
