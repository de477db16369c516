"""The certificate of a gate that stops when the answer is clear: the plan, every look, and what was found."""

from math import exp
from typing import Annotated, Any

import msgspec

from assay.certificate import sentences as plain
from assay.certificate import short_form
from assay.certificate.fields import AnyRule, BothSystems, Digest, EvidenceFile, Issuer, Measured, StatedPolicy
from assay.certificate.gate import sentences
from assay.certificate.gate.fields import GateDecision, GateFinding, StatedGatePlan, TakenLook
from assay.certificate.record import Issued, schema_of
from assay.certificate.suite.fields import SuiteVerdict
from assay.certificate.suite.record import STATUS
from assay.results import words
from assay.results.figures import Forest, Gauge, Line, Mark
from assay.results.parts import Caution, Column, Fact, ResultTable, Section
from assay.results.record import Status
from assay.stats.records import Estimate, Interval

FORMAT = 1
SCHEMA = f"assay/gate-certificate/{FORMAT}"


class GateCertificate(Issued, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True, tag=SCHEMA):
    """May the subject replace the baseline, by as many windows as the answer needs?"""

    meta: Issuer
    systems: BothSystems
    measure: Measured
    policy: StatedPolicy
    plan: StatedGatePlan
    looks: Annotated[tuple[TakenLook, ...], msgspec.Meta(description="Every look that was taken.")]
    found: GateFinding
    rules: Annotated[tuple[AnyRule, ...], msgspec.Meta(description="What ci and release insist on, and dev reports.")]
    decision: GateDecision
    evidence: EvidenceFile
    signature: Annotated[str, msgspec.Meta(description="One line that reproduces the result.")]
    digest: Annotated[Digest, msgspec.Meta(description="sha256 of the canonical JSON of every other field.")]

    @property
    def verdict(self) -> SuiteVerdict:
        """*pass*, *fail* or *undecided*."""
        return self.decision.verdict

    @property
    def passed(self) -> bool:
        return self.verdict == "pass"

    @property
    def losses(self) -> bool:
        """Whether perplexities are compared, as always here."""
        return True

    @property
    def broken(self) -> dict[str, str]:
        """The rules that do not hold, and by how much."""
        return {plain.rule_name(rule): self.detail(rule) for rule in self.rules if not rule.ok}

    def detail(self, rule: AnyRule) -> str:
        """The outcome of a rule, in words."""
        return plain.rule_detail(rule, "window", self.policy.tier)

    @property
    def limit_name(self) -> str:
        """The field of a policy that limits what is judged."""
        return "max_ratio"

    @property
    def deciding(self) -> tuple[tuple[float, float] | None, float]:
        """The interval after stopping, and the limit."""
        return self.found.display_ci, self.decision.limit

    # ------------------------------------------------------------------------------------------ what is shown of it

    @property
    def sentence(self) -> str:
        return sentences.sentence_of(self)

    @property
    def subject(self) -> str:
        return f"{self.systems.baseline.name} → {self.systems.subject.name}"

    @property
    def status(self) -> Status:
        return STATUS[self.verdict]

    @property
    def terms(self) -> str:
        return f"tier {self.policy.tier}, profile {self.policy.profile}"

    @property
    def compared(self) -> tuple[Fact, ...]:
        baseline, subject = self.systems.baseline.name, self.systems.subject.name
        return Fact("baseline", baseline), Fact("subject", subject), Fact("policy", self.terms)

    @property
    def facts(self) -> tuple[Fact, ...]:
        return (*self.facts_by(self.terms), *short_form.place_facts(self.written))

    @property
    def main_facts(self) -> tuple[Fact, ...]:
        return (*self.main_facts_by(self.terms), *short_form.placed_with_evidence(self, self.evidence.file))

    def main_facts_by(self, whose: str) -> tuple[Fact, ...]:
        """What the decision rests on, with whose limits the certificate was judged by."""
        return short_form.main_facts_of(self.facts_by(whose), "perplexity ratio")

    @property
    def estimate(self) -> Estimate:
        """The ratio of perplexities after stopping."""
        found = self.found
        limits = None if found.display_ci is None else Interval(*found.display_ci, self.policy.level, found.method)
        return Estimate(found.ratio, limits, None, self.looks[-1].windows)

    def facts_by(self, whose: str) -> tuple[Fact, ...]:
        """The main facts, with whose limit the certificate was judged by."""
        limit, p, plan = self.decision.limit, self.found.p_value, self.plan
        observed = words.number(exp(self.looks[-1].difference), 6)
        found = [
            Fact("verdict", self.verdict),
            Fact("perplexity ratio", self.estimate, "gate ratio", words.with_interval(self.estimate, null=1.0)),
            Fact("as observed", exp(self.looks[-1].difference), "gate ratio", f"× {observed}, before the adjustment"),
            Fact("p, one-sided", p, "gate p", "undefined" if p is None else words.p_value(p)),
            Fact("limit", limit, "limit", f"{words.number(limit, 6)} ({whose})"),
            Fact("stopped", self.decision.look, "gate looks", sentences.stopped_words(self)),
            Fact("spending", f"{plan.spending}, {words.percent(2 * plan.alpha)} over both sides", "gate looks"),
            Fact("order", f"seed {plan.seed}, by sha256 of the {plan.cluster_by or 'window'}", "gate order"),
            Fact("plan", f"{plan.digest[:23]}…, fixed before the first look", "gate order"),
        ]
        if self.policy.note:
            found.append(Fact("audit note", self.policy.note))
        proof = self.evidence
        return (*found, Fact("evidence", f"{proof.file}, {words.count(proof.rows, 'row')}", "evidence"))

    @property
    def gauge(self) -> Gauge | None:
        """The interval after stopping, against the limit."""
        limits, limit = self.found.display_ci, self.decision.limit
        if limits is None:
            return None
        shown = Interval(*limits, self.policy.level, self.found.method)
        return Gauge(
            "perplexity, subject / baseline",
            self.found.ratio,
            *limits,
            (Mark(1.0, "no change"), Mark(limit, f"limit {words.number(limit, 6)}")),
            "lower",
            words.estimate(self.found.ratio, shown, null=1.0),
            "limit",
        )

    @property
    def sections(self) -> tuple[Section, ...]:
        about = "the interval holds at all looks at once; a look stops where its p-value is at most the nominal one"
        return (
            Section("looks", "Looks", figures=(self._closing_in(),), tables=(self._looks(about),)),
            Section("rules", "Rules", tables=(short_form.rules_table(self, self.rules),)),
        )

    def _closing_in(self) -> Forest:
        lines = [Line(f"{one.windows} windows", exp(one.difference), *_ratios(one)) for one in self.looks]
        if self.found.display_ci is not None:
            lines.append(Line("after stopping", self.found.ratio, *self.found.display_ci))
        limit = self.plan.limit
        return Forest(
            "looks",
            "The interval closing in on the limit",
            ("Perplexity of the subject over the baseline's at each look, with the interval that holds at all looks.",),
            "perplexity, subject / baseline",
            tuple(lines),
            (Mark(1.0, "no change"), Mark(limit, f"limit {words.number(limit, 6)}")),
        )

    def _looks(self, about: str) -> ResultTable:
        planned = self.plan.looks[: len(self.looks)]
        level = self.policy.level
        shown = [None if one.ci is None else Interval(*_both(one), level, "repeated") for one in self.looks]
        columns = (
            Column("look", list(range(1, len(self.looks) + 1))),
            Column("windows", [one.windows for one in self.looks]),
            Column("tokens", [one.tokens for one in self.looks]),
            Column("information", [one.fraction for one in planned], words.fixed(3)),
            Column("perplexity ratio", [exp(one.difference) for one in self.looks], words.fixed(4)),
            Column("interval", shown, words.fixed(4)),
            Column("p within", [one.p_within for one in self.looks], words.p_alone),
            Column("p beyond", [one.p_beyond for one in self.looks], words.p_alone),
            Column("stops at p", [one.nominal for one in planned], words.p_alone),
            Column("outcome", [one.outcome for one in self.looks]),
        )
        return ResultTable("looks", "Looks", columns, about, explained="gate looks")

    @property
    def main_sections(self) -> tuple[Section, ...]:
        return (self.sections[0], *short_form.broken_rules(self))

    @property
    def cautions(self) -> tuple[Caution, ...]:
        said = (*sentences.notes(self), *self.__dict__.get("assumed", ()))
        return tuple(Caution("note", note) for note in said)


def _both(look: TakenLook) -> tuple[float, float]:
    assert look.ci is not None  # asked for by whoever knows that it is there
    return exp(look.ci[0]), exp(look.ci[1])


def _ratios(look: TakenLook) -> tuple[float | None, float | None]:
    return (None, None) if look.ci is None else _both(look)


def gate_certificate_schema() -> dict[str, Any]:
    """The JSON Schema of a gate's certificate."""
    return schema_of(GateCertificate, SCHEMA)
