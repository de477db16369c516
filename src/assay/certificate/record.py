"""The certificate: a record of facts, from which schema, files, pages and Markdown are made."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import msgspec

from assay.certificate import sentences, short_form
from assay.certificate.fields import (
    AnyRule,
    BitsOfBoth,
    BothSystems,
    Dataset,
    Decision,
    Digest,
    DriftOfSplits,
    EvidenceFile,
    ExactInterval,
    GateVerdict,
    Issuer,
    Measured,
    PerplexityAgain,
    PrimaryMetric,
    PublishedInterval,
    StatedPolicy,
    WindowStats,
)
from assay.results import words
from assay.results.figures import Gauge, Mark
from assay.results.parts import CheckedCase, Column, ResultTable
from assay.results.record import Caution, Fact, Result, Section, Status
from assay.stats.records import Estimate, Interval

FORMAT = 3  # 2: without the method and scheme of the policy, the published interval and that of drift
SCHEMA = f"assay/certificate/{FORMAT}"
FORMATS = {f"assay/certificate/{number}": number for number in (2, FORMAT)}  # that are read
#: What format 2 did not have, by object, and how it is read.
_ADDED: dict[str, dict[str, Any]] = {
    "": {"published": None},
    "policy": {"method": "auto", "scheme": "auto"},
    "drift": dict.fromkeys(("degrees_of_freedom", "ci", "display_ci")),
    "dataset.windows.stats": dict.fromkeys(("differing", "largest")),
}
STATUS: dict[str, Status] = {"pass": "good", "regression": "bad", "insufficient evidence": "unsure"}


@dataclass(frozen=True, slots=True)
class Written:
    """Where a certificate was written, and what happened to an earlier signature."""

    path: Path
    signature: str | None = None


class Issued(Result, frozen=True, kw_only=True, dict=True):
    """What every certificate can do."""

    question = "May the new model replace the old one?"
    kind_name = "certificate"

    if TYPE_CHECKING:

        @property
        def verdict(self) -> str: ...
        @property
        def systems(self) -> BothSystems: ...
        @property
        def rules(self) -> tuple[AnyRule, ...]: ...
        @property
        def evidence(self) -> EvidenceFile: ...
        @property
        def terms(self) -> str: ...
        def detail(self, rule: AnyRule) -> str: ...
        def facts_by(self, whose: str) -> tuple[Fact, ...]: ...
        def main_facts_by(self, whose: str) -> tuple[Fact, ...]: ...

    @property
    def passed(self) -> bool:
        return self.verdict == "pass"

    @property
    def broken(self) -> dict[str, str]:
        """The rules that do not hold, and by how much."""
        return {sentences.rule_name(rule): self.detail(rule) for rule in self.rules if not rule.ok}

    @property
    def subject(self) -> str:
        return f"{self.systems.baseline.name} → {self.systems.subject.name}"

    @property
    def facts(self) -> tuple[Fact, ...]:
        return (*self.facts_by(self.terms), *short_form.place_facts(self.written))

    @property
    def main_facts(self) -> tuple[Fact, ...]:
        return (*self.main_facts_by(self.terms), *short_form.placed_with_evidence(self, self.evidence.file))

    # Where it was written is no fact of a certificate: it stands beside the fields, and only `certify` knows it.

    def written_to(self, place: Written) -> Self:
        """Remember where the certificate was written."""
        self.__dict__["written"] = place
        return self

    @property
    def written(self) -> Written | None:
        return self.__dict__.get("written")

    @property
    def cases(self) -> tuple[CheckedCase, ...]:
        """What does not pass has failed, for want of evidence too."""
        outcome: Literal["passed", "failed"] = "passed" if self.status == "good" else "failed"
        return (CheckedCase(self.subject, outcome, self.verdict, self.sentence),)

    @property
    def path(self) -> Path:
        """Where `certify` wrote it."""
        if self.written is None:
            raise AttributeError("only a certificate that assay.certify has just written has a path")
        return self.written.path

    def beside(self, notes: tuple[str, ...]) -> Self:
        """Remember what its assumptions looked like; as the file's place, this is no fact of a certificate."""
        self.__dict__["assumed"] = notes
        return self


class Certificate(Issued, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True, tag=SCHEMA):
    """May the subject replace the baseline?"""

    meta: Issuer
    systems: BothSystems
    measure: Measured
    policy: StatedPolicy
    primary_metric: PrimaryMetric
    ppl: Annotated[PerplexityAgain | None, msgspec.Meta(description="Null for scores.")]
    dataset: Dataset
    exact: ExactInterval
    published: Annotated[
        PublishedInterval | None, msgspec.Meta(description="Null for scores, where it is ours, and in format 2.")
    ]
    bits_per_byte: Annotated[BitsOfBoth | None, msgspec.Meta(description="Null without byte counts.")]
    bits_per_character: Annotated[BitsOfBoth | None, msgspec.Meta(description="Null without character counts.")]
    drift: Annotated[DriftOfSplits | None, msgspec.Meta(description="Null without preview windows.")]
    rules: Annotated[tuple[AnyRule, ...], msgspec.Meta(description="What ci and release insist on, and dev reports.")]
    decision: Decision
    evidence: EvidenceFile
    signature: Annotated[str, msgspec.Meta(description="One line that reproduces the result.")]
    digest: Annotated[Digest, msgspec.Meta(description="sha256 of the canonical JSON of every other field.")]

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Certificate":
        """The record that `to_dict` wrote, of any format that is read."""
        return super().from_dict(as_today(data))

    @property
    def stats(self) -> WindowStats:
        return self.dataset.windows.stats

    @property
    def scores(self) -> bool:
        """Whether a difference (of scores, or of bits) is judged rather than a ratio of perplexities."""
        return self.primary_metric.kind != "perplexity"

    @property
    def limit_name(self) -> str:
        """The field of a policy that limits what is judged."""
        return "max_drop" if self.scores else "max_ratio"

    @property
    def deciding(self) -> tuple[tuple[float, float] | None, float]:
        """The interval that decided, and the limit."""
        return self.primary_metric.display_ci, self.decision.limit

    @property
    def quantity(self) -> str:
        """What is judged, as facts and columns call it."""
        kinds = {"perplexity": "perplexity ratio", "score": "score difference"}
        return kinds.get(self.primary_metric.kind, f"difference in {self.primary_metric.kind}")

    @property
    def verdict(self) -> GateVerdict:
        """*pass*, *regression* or *insufficient evidence*."""
        return self.decision.verdict

    def detail(self, rule: AnyRule) -> str:
        """The outcome of a rule, in words."""
        return sentences.rule_detail(rule, sentences.unit_of(self.primary_metric), self.policy.tier)

    # ------------------------------------------------------------------------------------------ what is shown of it

    @property
    def sentence(self) -> str:
        return sentences.decided(self.systems, self.primary_metric, self.stats, self.policy, self.decision, self.rules)

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

    def main_facts_by(self, whose: str) -> tuple[Fact, ...]:
        """What the decision rests on, with whose limit the certificate was judged by."""
        alarm = self.drift is not None and self.drift.alarm
        return short_form.main_facts_of(self.facts_by(whose), self.quantity, alarm=alarm)

    def facts_by(self, whose: str) -> tuple[Fact, ...]:
        """The main facts, with whose limit the certificate was judged by."""
        level, limit = self.policy.level, self.decision.limit
        measured = sentences.measured(self.measure)
        found = [
            Fact("verdict", self.verdict),
            *([] if measured is None else [Fact("measure", measured)]),
            *self._main_facts(),
            Fact("limit", limit, "limit", f"{words.number(limit, 6)} ({whose})"),
            Fact("interval", sentences.interval_method(self.stats.bootstrap, level), "interval"),
            Fact("scheme", sentences.scheme(self.primary_metric, self.stats, self.policy), "scheme"),
            *self._other_facts(),
        ]
        if self.policy.note:
            found.append(Fact("audit note", self.policy.note))
        proof = self.evidence
        return (*found, Fact("evidence", f"{proof.file}, {words.count(proof.rows, 'row')}", "evidence"))

    def _other_facts(self) -> list[Fact]:
        """What decides nothing: the published recipe's interval, and the drift."""
        found = []
        if self.published is not None:
            estimate = self._estimate(self.estimate.value or 0.0, self.published.display_ci, self.published.method)
            shown = sentences.published(self.published, self.primary_metric, self.policy.level)
            found.append(Fact("published recipe", estimate, "published recipe", shown))
        if self.drift is not None:
            limits, shown = self.drift.display_ci, sentences.drift(self.drift, self.policy.level)
            value = self.drift.ratio if limits is None else self._estimate(self.drift.ratio, limits, "welch")
            found.append(Fact("preview → final drift", value, "preview → final drift", shown))
        return found

    def _main_facts(self) -> list[Fact]:
        metric, key = self.primary_metric, self.quantity
        p = metric.p_value
        found = [
            short_form.values_fact(self),
            Fact(key, self.estimate, key, self.estimate_text(self.estimate)),
            Fact(f"test ({metric.test})", p, "test", "undefined" if p is None else words.p_value(p)),
            short_form.pairs_fact(self),
        ]
        for label in ("bits_per_byte", "bits_per_character"):
            bits: BitsOfBoth | None = getattr(self, label)
            if bits is not None:  # of both systems
                change = self._estimate(bits.difference, bits.ci)
                before, after = words.apart(bits.baseline, bits.subject, 6)
                text = f"{before} → {after}, {words.with_interval(change, sign=True)}"
                found.append(Fact(label.replace("_", " "), change, "bits", text))
        return found

    def _estimate(self, value: float, limits: tuple[float, float], method: str = "") -> Estimate:
        return Estimate(value, Interval(*limits, self.policy.level, method), None, self.stats.paired_windows)

    @property
    def estimate(self) -> Estimate:
        """What the decision is about: the ratio of perplexities, or the difference of scores."""
        metric = self.primary_metric
        ratio, how = metric.ratio_vs_baseline, self.stats.bootstrap.method
        return self._estimate(metric.difference_vs_baseline if ratio is None else ratio, metric.display_ci, how)

    def estimate_text(self, estimate: Estimate) -> str:
        """The estimate with its interval, as people read it; of a single unit there is none."""
        if sentences.collapsed(self.primary_metric, self.stats):
            return words.of_one(estimate, sentences.drawn_unit(self.primary_metric, self.stats), sign=self.scores)
        return words.with_interval(estimate, sign=self.scores, null=0.0 if self.scores else 1.0)

    @property
    def gauge(self) -> Gauge:
        """The interval against the limit, on its own side of no change: a fall of 0.02 is a difference of -0.02."""
        null, lower = 0.0 if self.scores else 1.0, self.primary_metric.lower_is_better
        limit = self.decision.limit if lower else -self.decision.limit
        estimate, limits = self.estimate, self.estimate.interval
        assert estimate.value is not None  # a certificate has both
        assert limits is not None
        return Gauge(
            f"{self.primary_metric.kind}, subject {'−' if self.scores else '/'} baseline",
            estimate.value,
            limits.low,
            limits.high,
            (Mark(null, "no change"), Mark(limit, f"limit {words.number(limit, 6)}")),
            "lower" if lower else "higher",
            words.estimate(estimate.value, limits, sign=self.scores, null=null),
            "limit",
        )

    @property
    def sections(self) -> tuple[Section, ...]:
        intervals = [self._intervals()] if len(self._computed()) > 1 else []
        return (
            Section("limit", "Interval against the limit", figures=(self.gauge,), tables=tuple(intervals)),
            Section("rules", "Rules", tables=(short_form.rules_table(self, self.rules),)),
        )

    @property
    def main_sections(self) -> tuple[Section, ...]:
        return short_form.broken_rules(self)

    @property
    def main_table(self) -> ResultTable:
        return short_form.row_of(self)

    def _computed(self) -> "dict[str, PrimaryMetric | ExactInterval | PublishedInterval]":
        """The interval that decides, the same over all resamples, and the published recipe's, where they are others."""
        how = self.stats.bootstrap
        drawn = f"{how.method}, closed form" if how.replicates is None else f"{how.replicates:,} replicates"
        exact = None if how.replicates is None else self.exact
        made = {drawn: self.primary_metric, "all resamples": exact, "published recipe": self.published}
        return {name: one for name, one in made.items() if one is not None}

    def _intervals(self) -> ResultTable:
        names, made = self._computed().keys(), self._computed().values()
        shown, plain = ([Interval(*ci, self.policy.level, "") for ci in both] for both in (
            [one.display_ci for one in made],
            [one.ci for one in made],
        ))  # fmt: skip
        columns = [
            Column("from", list(names)),
            Column(self.quantity, shown, self._limits),
            *([] if self.scores else [Column("difference in nats", plain, _signed)]),
            Column("apart, in standard errors", [None, *(self._apart(one.ci) for one in [*made][1:])]),
        ]
        return ResultTable("intervals", "Intervals", tuple(columns), explained="with all resamples")

    def _apart(self, limits: tuple[float, float]) -> float | None:
        """The largest distance from the limits that decide."""
        error = self.primary_metric.standard_error
        gap = max(abs(a - b) for a, b in zip(limits, self.primary_metric.ci, strict=True))
        return float(f"{gap / error:.3g}") if error else None

    def _limits(self, limits: Interval) -> str:
        return f"[{words.interval(limits, sign=self.scores, null=0.0 if self.scores else 1.0)}]"

    @property
    def cautions(self) -> tuple[Caution, ...]:
        metric, found = self.primary_metric, self.stats.bootstrap.fallbacks
        fallbacks = [Caution("fallback", sentences.fallback(one, metric)) for one in found]
        notes = (*sentences.notes(metric), *self.__dict__.get("assumed", ()))
        return (*fallbacks, *(Caution("note", note) for note in notes))


def _signed(limits: Interval) -> str:
    return f"[{words.interval(limits, sign=True, null=0.0)}]"


def as_today(document: dict[str, Any]) -> dict[str, Any]:
    """A document of an earlier format with the fields that it did not have; it may not have them already."""
    form = FORMATS.get(str(document.get("schema")), FORMAT)
    if form == FORMAT:
        return document
    found = {**document, "schema": SCHEMA}
    for place, fields in _ADDED.items():
        found = _with(found, place.split(".") if place else [], fields, f"$.{place}")
    return found


def _with(found: Any, path: list[str], fields: dict[str, Any], place: str) -> Any:
    """The object with fields added at a path inside it; what is null, or wrong, is left to the types to refuse."""
    if not isinstance(found, dict) or (path and path[0] not in found):
        return found
    if path:
        return {**found, path[0]: _with(found[path[0]], path[1:], fields, place)}
    early = fields.keys() & found.keys()
    if early:
        raise msgspec.ValidationError(f"Object contains unknown field `{min(early)}` - at `{place}`")
    return {**found, **fields}


def certificate_schema() -> dict[str, Any]:
    """The JSON Schema of a certificate."""
    return schema_of(Certificate, SCHEMA)


def schema_of(record: type[Issued], version: str) -> dict[str, Any]:
    """The JSON Schema of a kind of certificate."""
    schema = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(record)))  # defaults as JSON has them
    parts = schema["$defs"]
    whole = parts.pop(record.__name__)
    whole["properties"]["schema"] = {"const": version, "description": "Version of this format."}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole, "$defs": parts}
