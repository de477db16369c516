"""The certificate over several tasks: a record of facts, from which schema, files, pages and Markdown are made."""

from math import exp
from typing import Annotated, Any, TypeVar

import msgspec

from assay.certificate import sentences as plain
from assay.certificate import short_form
from assay.certificate.fields import AnyRule, BothSystems, Digest, EvidenceFile, Issuer, Measured
from assay.certificate.record import Certificate, Issued, schema_of
from assay.certificate.suite import sentences, table_and_chart
from assay.certificate.suite.fields import (
    ComparedTasks,
    JudgedLimit,
    StatedLimit,
    SuiteDecision,
    SuitePolicy,
    SuiteRow,
    SuiteVerdict,
)
from assay.names import plural
from assay.results import words
from assay.results.figures import Gauge, Mark
from assay.results.parts import Caution, CheckedCase, Fact, Section
from assay.results.record import Status
from assay.stats.records import Estimate, Interval

FORMAT = 1
SCHEMA = f"assay/suite-certificate/{FORMAT}"
STATUS: dict[SuiteVerdict, Status] = {"pass": "good", "fail": "bad", "undecided": "unsure"}


class SuiteCertificate(Issued, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True, tag=SCHEMA):
    """May the subject replace the baseline, on these tasks?"""

    meta: Issuer
    systems: BothSystems
    measure: Measured
    policy: SuitePolicy
    comparison: ComparedTasks
    total: Annotated[SuiteRow, msgspec.Meta(description="All tasks.")]
    groups: Annotated[tuple[SuiteRow, ...], msgspec.Meta(description="Groups of tasks that the policy limits.")]
    tasks: Annotated[tuple[SuiteRow, ...], msgspec.Meta(description="Every task.")]
    rules: Annotated[tuple[AnyRule, ...], msgspec.Meta(description="What ci and release insist on, and dev reports.")]
    limits: Annotated[tuple[JudgedLimit, ...], msgspec.Meta(description="Every limit: total, groups, tasks.")]
    decision: SuiteDecision
    evidence: EvidenceFile
    signature: Annotated[str, msgspec.Meta(description="One line that reproduces the result.")]
    digest: Annotated[Digest, msgspec.Meta(description="sha256 of the canonical JSON of every other field.")]

    @property
    def verdict(self) -> SuiteVerdict:
        """*pass*, *fail* or *undecided*."""
        return self.decision.verdict

    def detail(self, rule: AnyRule) -> str:
        """The outcome of a rule, in words."""
        return plain.rule_detail(rule, self.unit, self.policy.tier)

    @property
    def change_limit(self) -> StatedLimit:
        """The limit of the total's change."""
        return next(one for one in self.policy.total if one.limit in ("max_drop", "max_ratio"))

    @property
    def limit_name(self) -> str:
        """The field of a policy that limits the total's change."""
        return self.change_limit.limit

    @property
    def deciding(self) -> tuple[tuple[float, float] | None, float]:
        """The total's interval, and its limit."""
        gauge = self.gauge
        return (None if gauge is None else (gauge.low, gauge.high)), self.change_limit.at

    def row_of(self, limit: JudgedLimit) -> SuiteRow:
        """The row that a limit is of."""
        rows = {"total": (self.total,), "group": self.groups, "task": self.tasks}[limit.of]
        return next(row for row in rows if row.name == limit.name)

    # ------------------------------------------------------------------------------------------ what is shown of it

    @property
    def unit(self) -> str:
        return sentences.unit_of(self.comparison)

    @property
    def losses(self) -> bool:
        return self.comparison.kind == "perplexity"

    @property
    def sentence(self) -> str:
        return sentences.sentence_of(self)

    @property
    def status(self) -> Status:
        return STATUS[self.verdict]

    @property
    def terms(self) -> str:
        return f"tier {self.policy.tier}, profile {self.policy.profile}"

    @property
    def units(self) -> str:
        """``2,070 items of 6 tasks``."""
        return f"{words.count(self.total.n, self.unit)} of {words.count(len(self.tasks), self.comparison.by)}"

    @property
    def compared(self) -> tuple[Fact, ...]:
        baseline, subject = self.systems.baseline.name, self.systems.subject.name
        return (
            Fact("baseline", baseline),
            Fact("subject", subject),
            Fact("on", self.total.n, None, self.units),
            Fact("policy", self.terms),
        )

    def main_facts_by(self, whose: str) -> tuple[Fact, ...]:
        """What the decision rests on beside the table, with whose limits the certificate was judged by."""
        return short_form.main_facts_of(self.facts_by(whose), "on")

    def facts_by(self, whose: str) -> tuple[Fact, ...]:
        """The main facts, with whose limits the certificate was judged by."""
        met = len(self.limits) - self.decision.not_met - self.decision.open
        counts = f"{met} of {len(self.limits)} met ({whose})"
        measured = plain.measured(msgspec.structs.replace(self.measure, task=None, tasks=()))  # tasks have rows
        found = [
            Fact("verdict", self.verdict),
            Fact("on", self.total.n, None, self.units),
            *([] if measured is None else [Fact("measure", measured)]),
            *self._change(),
            Fact("limits", len(self.limits), "suite gate", counts),
            Fact("rule", self.decision.rule, "suite gate"),
        ]
        needed = sentences.needed_words(self)
        if needed is not None:
            found.append(Fact("would settle it", self.decision.items_needed, None, f"about {needed}"))
        if self.policy.note:
            found.append(Fact("audit note", self.policy.note))
        proof = self.evidence
        return (*found, Fact("evidence", f"{proof.file}, {words.count(proof.rows, 'row')}", "evidence"))

    def _change(self) -> list[Fact]:
        """The total's change, where it has an interval."""
        gauge = self.gauge
        if gauge is None:
            return []
        limits = Interval(gauge.low, gauge.high, self.policy.level, self.total.method)
        return [
            Fact(sentences.weighing(self), Estimate(gauge.value, limits, None, self.total.n), "suite total", gauge.text)
        ]

    @property
    def gauge(self) -> Gauge | None:
        """The total's interval against its limit, on its own side of no change."""
        row, at = self.total, self.change_limit.at
        if row.ci is None:
            return None
        value, low, high, null, limit = row.difference, *row.ci, 0.0, at if self.comparison.lower_is_better else -at
        if self.losses:
            value, low, high, null, limit = exp(value), exp(low), exp(high), 1.0, at
        found = Interval(low, high, self.policy.level, row.method)
        return Gauge(
            f"{self.comparison.kind}, subject {'/' if self.losses else '−'} baseline, {sentences.weighing(self)}",
            value,
            low,
            high,
            (Mark(null, "no change"), Mark(limit, f"limit {words.number(limit, 6)}")),
            "lower" if self.comparison.lower_is_better else "higher",
            words.estimate(value, found, sign=not self.losses, null=null),
            "limit",
        )

    @property
    def sections(self) -> tuple[Section, ...]:
        title = f"{plural(self.comparison.by)} and their limits"
        return (
            Section(
                "limits",
                title[:1].upper() + title[1:],
                figures=(table_and_chart.forest(self),),
                tables=(table_and_chart.limits_table(self),),
            ),
            Section("errors", "What this shows", said=sentences.errors_said(self)),
            Section("rules", "Rules", tables=(short_form.rules_table(self, self.rules),)),
        )

    @property
    def cases(self) -> tuple[CheckedCase, ...]:
        """The decision, then every group and task."""
        return (*super().cases, *table_and_chart.cases(self))

    @property
    def main_sections(self) -> tuple[Section, ...]:
        return (self.sections[0], *short_form.broken_rules(self))

    @property
    def cautions(self) -> tuple[Caution, ...]:
        return tuple(Caution("note", note) for note in self.__dict__.get("assumed", ()))


AnyCertificate = TypeVar("AnyCertificate", Certificate, SuiteCertificate)  # of one task, or of several


def suite_certificate_schema() -> dict[str, Any]:
    """The JSON Schema of a certificate over several tasks."""
    return schema_of(SuiteCertificate, SCHEMA)
