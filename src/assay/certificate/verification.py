"""What `verify` returns, and how untrue fields are found: against the evidence, and against each other."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from assay.certificate import sentences
from assay.certificate.fields import BitsOfBoth, Decision, GateVerdict, IntervalLimits, Seeds, rounded_exp, rounded_exps
from assay.certificate.gate.record import GateCertificate
from assay.certificate.policy_file import policy_from
from assay.certificate.record import Certificate
from assay.certificate.rules import decide_by
from assay.certificate.suite.fields import SuiteVerdict
from assay.certificate.suite.record import AnyCertificate, SuiteCertificate
from assay.names import one_line
from assay.results import words
from assay.results.figures import Gauge
from assay.results.parts import CheckedCase, Column, ResultTable
from assay.results.record import Caution, Fact, Result, Section, Status

TOLERANCE = 1e-9  # relative: recomputed on another machine the last printed digits may differ
_LONGEST = 160  # characters of a value in a message
RECOMPUTED = "evidence digest, and every field recomputed from the evidence"


class FieldFault(msgspec.Struct, frozen=True):
    """A field that is not true: what the certificate states and what was found, as JSON can hold it."""

    field: str
    stated: Any
    found: Any

    def __str__(self) -> str:
        return f"{one_line(self.field)}: stated {self.shown_stated}, found {self.shown_found}"

    @property
    def shown_stated(self) -> str:
        return _shown(self.stated)

    @property
    def shown_found(self) -> str:
        return _shown(self.found)


def fault(field: str, stated: Any, found: Any) -> FieldFault:
    return FieldFault(field, _plain(stated), _plain(found))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _plain(value: Any) -> Any:
    """The value, or its text if JSON cannot hold it: a forged field may be infinite."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return _shown(value)
    return value


@dataclass(frozen=True, slots=True)
class Judged:
    """What the evidence says under the verifier's policy."""

    certificate: Certificate | SuiteCertificate | GateCertificate
    sentence: str
    reasons: tuple[str, ...] = ()


class JudgedInterval(msgspec.Struct, frozen=True):
    low: float
    high: float
    level: float


class Verification(Result, frozen=True, kw_only=True, tag="assay/verification/1"):
    """What checking a certificate found."""

    kind_name = "certificate"

    certificate: str  # the file
    true: bool
    passed: bool
    verdict: GateVerdict | SuiteVerdict | Literal["not true"]
    sentence: str
    checks: tuple[str, ...]  # what was checked, in words
    faults: tuple[FieldFault, ...]
    reasons: tuple[str, ...]  # why a true certificate does not meet the verifier's policy
    policy: dict[str, Any]  # the verifier's own: what it fixes
    issuers_choice: dict[str, Any]  # what the policy left to the issuer
    # Absent where the certificate is not true:
    interval: JudgedInterval | None = None
    limit: float | None = None
    limit_of_issuer: float | None = None
    decision: Decision | None = None  # of one task; those of several are in what is judged
    #: As the verifier's policy judges its evidence; as issued without one.
    judged: Certificate | SuiteCertificate | GateCertificate | None = None

    @property
    def path(self) -> Path:
        return Path(self.certificate)

    @property
    def question(self) -> str:  # type: ignore[override]  # what is not true answers another one
        return "Is this certificate true?" if self.judged is None else self.judged.question

    @property
    def recomputed(self) -> bool:
        """Whether its numbers were recomputed from the evidence."""
        return RECOMPUTED in self.checks

    @property
    def exit_code(self) -> int:
        """0 true and passing, 1 true but not passing, 4 not true."""
        return 4 if self.faults else 0 if self.passed else 1

    @property
    def signature(self) -> str:
        return "" if self.judged is None else self.judged.signature

    @property
    def subject(self) -> str:
        return self.path.name if self.judged is None else self.judged.subject

    @property
    def status(self) -> Status:
        if self.judged is None or self.reasons:
            return "bad"
        return self.judged.status if self.recomputed else "unsure"

    @property
    def compared(self) -> tuple[Fact, ...]:
        return (Fact("file", self.path.name),) if self.judged is None else self.judged.compared

    @property
    def gauge(self) -> Gauge | None:
        return None if self.judged is None else self.judged.gauge

    @property
    def whose_limit(self) -> str:
        """Whose limit it is, in words."""
        if self.judged is None:
            return ""
        if policy_from(self.policy).fixed(self.judged.limit_name) is None:
            return self.judged.terms
        issuers = self.limit_of_issuer
        if issuers is None or issuers == self.limit:
            return "yours and the issuer's"
        return f"yours; the issuer's is {words.number(issuers, 6)}"

    @property
    def cases(self) -> tuple[CheckedCase, ...]:
        """Whether it is true and meets the policy; of a true one over several tasks, every task too."""
        said = "\n".join([self.sentence, *map(str, self.faults), *self.reasons])
        whole = CheckedCase(self.subject, "failed" if self.exit_code else "passed", self.verdict, said)
        return (whole, *(() if self.judged is None else self.judged.cases[1:]))

    @property
    def facts(self) -> tuple[Fact, ...]:
        found = [Fact("checked", check) for check in self.checks]
        found += [Fact("not met", reason) for reason in self.reasons]
        if self.judged is not None:
            found += self.judged.facts_by(self.whose_limit)
        if self.issuers_choice:
            found.append(Fact("issuer's choice", sentences.choices(self.issuers_choice)))
        return tuple(found)

    @property
    def main_facts(self) -> tuple[Fact, ...]:
        """What is not met, the numbers of the certificate, then what was checked, and what the issuer chose."""
        reasons = [fact for fact in self.facts if fact.label == "not met"]
        numbers = () if self.judged is None else self.judged.main_facts_by(self.whose_limit)
        chosen = [fact for fact in self.facts if fact.label == "issuer's choice"]
        return (*reasons, *numbers, Fact("checked", ", ".join(self.checks)), *chosen)

    @property
    def main_sections(self) -> tuple[Section, ...]:
        return self.sections if self.judged is None else self.judged.main_sections

    @property
    def main_table(self) -> ResultTable:
        return self.tables[0] if self.judged is None else self.judged.main_table

    @property
    def sections(self) -> tuple[Section, ...]:
        if self.judged is not None:
            return self.judged.sections
        columns = (
            Column("field", [one_line(fault.field) for fault in self.faults]),
            Column("stated", [fault.shown_stated for fault in self.faults]),
            Column("found", [fault.shown_found for fault in self.faults]),
        )
        return (Section("faults", "Faults", tables=(ResultTable("faults", "Not true", columns),)),)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        return () if self.judged is None else self.judged.cautions


# ---------------------------------------------------------------------------------------------- what is not true


def differences(name: str, stated: Any, found: Any) -> list[FieldFault]:
    """Compare leaf by leaf; numbers may differ in their last printed digits."""
    if isinstance(stated, dict) and isinstance(found, dict):
        keys = sorted(stated.keys() | found.keys())
        return [f for key in keys for f in differences(_inside(name, key), stated.get(key), found.get(key))]
    if isinstance(stated, list) and isinstance(found, list) and len(stated) == len(found):
        return [
            f for i, (a, b) in enumerate(zip(stated, found, strict=True)) for f in differences(_inside(name, i), a, b)
        ]
    return [] if _same(stated, found) else [fault(name, stated, found)]


def _inside(name: str, key: str | int) -> str:
    return f"{name}.{key}" if name else str(key)


def _same(stated: Any, found: Any) -> bool:
    if isinstance(stated, float) and isinstance(found, float):
        return abs(stated - found) <= TOLERANCE * max(abs(stated), abs(found))
    return bool(type(stated) is type(found) and stated == found)


def as_issued(found: AnyCertificate, seed: int, rows: int) -> AnyCertificate:
    """The recomputed facts, with what only the issuer knows (version, file names) as stated."""
    version = ".".join(found.meta.assay.split(".")[:2])
    return msgspec.structs.replace(
        found,
        meta=msgspec.structs.replace(found.meta, seeds=Seeds(bootstrap=seed)),
        evidence=msgspec.structs.replace(found.evidence, rows=rows),
        signature=f"assay:{version}|{found.signature.partition('|')[2]}",
    )


def profile_faults(found: Certificate | SuiteCertificate | GateCertificate) -> list[FieldFault]:
    """Broken rules are a fault unless the profile is `dev`: no other issues such a certificate."""
    profile = found.policy.profile
    if profile == "dev" or not found.broken:
        return []
    return [fault("policy.profile", profile, f"dev, for these rules are broken: {', '.join(found.broken)}")]


Stated = tuple[str, Any, Any]  # field, what it says, what follows from other fields


def identity_faults(issued: Certificate) -> list[FieldFault]:
    """Contradictions between fields: P8, the two spellings (P7), and the verdict from the printed bound and limit."""
    metric = issued.primary_metric
    if issued.scores is not (issued.ppl is None) or issued.scores is not (metric.ratio_vs_baseline is None):
        return [fault("primary_metric.kind", metric.kind, "the fields of another kind")]
    try:
        stated = [*_shared(issued), *_decision(issued), *_displayed(issued), *_spellings(issued)]
    except OverflowError:
        return [fault("decision", "finite numbers", "an integer too large for a number")]
    return [fault(name, says, follows) for name, says, follows in map(_builtins, stated) if says != follows]


def _builtins(stated: Stated) -> Stated:
    return stated[0], msgspec.to_builtins(stated[1]), msgspec.to_builtins(stated[2])


def _shared(issued: Certificate) -> Iterator[Stated]:
    stats, how, at = issued.stats, issued.stats.bootstrap, "dataset.windows.stats"
    yield (
        f"{at}.paired_delta_summary.mean",
        stats.paired_delta_summary.mean,
        issued.primary_metric.difference_vs_baseline,
    )
    yield f"{at}.coverage.final.used", stats.coverage.final.used, stats.paired_windows
    # Null where nothing is drawn; whether that is so only the evidence tells.
    drawn = issued.policy.limits.replicates if how.replicates is not None else None
    yield f"{at}.bootstrap.replicates", how.replicates, drawn
    yield f"{at}.bootstrap.scheme", how.scheme is None, how.replicates is None
    yield "meta.seeds.bootstrap", issued.meta.seeds.bootstrap, how.seed


def _displayed(issued: Certificate) -> Iterator[Stated]:
    for name, part in (("primary_metric", issued.primary_metric), ("exact", issued.exact)):
        yield f"{name}.display_ci", part.display_ci, part.ci if issued.scores else _both(part.ci)
    if issued.published is not None:
        yield "published.display_ci", issued.published.display_ci, _both(issued.published.ci)
    if issued.drift is not None:
        drift = issued.drift
        yield "drift.ratio", drift.ratio, _exp(drift.log_ratio)
        yield "drift.display_ci", drift.display_ci, None if drift.ci is None else rounded_exps(drift.ci)


def _spellings(issued: Certificate) -> Iterator[Stated]:
    metric, ppl, stats = issued.primary_metric, issued.ppl, issued.stats
    for name in ("bits_per_byte", "bits_per_character"):
        bits: BitsOfBoth | None = getattr(issued, name)
        if metric.kind == name.replace("_", " "):
            yield f"{name}.difference", None if bits is None else bits.difference, metric.difference_vs_baseline
            yield f"{name}.ci", None if bits is None else bits.ci, metric.ci
    if ppl is None:
        return
    yield "primary_metric.ratio_vs_baseline", metric.ratio_vs_baseline, _exp(metric.difference_vs_baseline)
    yield "ppl.preview_final_ratio", ppl.preview_final_ratio, _exp(ppl.stats.paired_delta_summary.mean)
    yield "ppl.ratio_ci", ppl.ratio_ci, _both(ppl.logloss_delta_ci)
    yield "ppl.logloss_delta_ci", ppl.logloss_delta_ci, metric.ci
    yield "ppl.stats.bootstrap", ppl.stats.bootstrap, stats.bootstrap
    yield "ppl.stats.paired_delta_summary", ppl.stats.paired_delta_summary, stats.paired_delta_summary


def _decision(issued: Certificate) -> Iterator[Stated]:
    found = decide_by(issued.primary_metric, issued.stats, issued.policy.limits, issued.decision.version)
    for name in found.__struct_fields__:
        yield f"decision.{name}", getattr(issued.decision, name), getattr(found, name)


def _both(limits: IntervalLimits) -> tuple[float | None, float | None]:
    return _exp(limits[0]), _exp(limits[1])


def _exp(value: float) -> float | None:
    try:
        return rounded_exp(value)
    except OverflowError:
        return None
