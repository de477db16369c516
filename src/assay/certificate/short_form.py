"""The short form of a certificate: what a terminal shows unless everything is asked for, and its row in a paper."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.certificate import sentences
from assay.certificate.fields import AnyRule
from assay.results import words
from assay.results.parts import Column, Fact, ResultTable, Section

if TYPE_CHECKING:
    from assay.certificate.gate.record import GateCertificate
    from assay.certificate.record import Certificate, Issued, Written
    from assay.certificate.suite.record import SuiteCertificate

#: Facts of a certificate that most readers look for, by their labels.
_MAIN = frozenset({"measure", "limit", "limits", "would settle it", "audit note"})
_MAIN_KEYS = frozenset({"values", "test", "pairs"})


def main_facts_of(facts: Sequence[Fact], quantity: str | None, *, alarm: bool = False) -> tuple[Fact, ...]:
    """Of all facts the numbers that a decision rests on; the drift where it is an alarm."""
    wanted = {quantity, "preview → final drift" if alarm else None}
    return tuple(fact for fact in facts if fact.label in _MAIN or fact.key in _MAIN_KEYS or fact.label in wanted)


def place_facts(written: "Written | None") -> tuple[Fact, ...]:
    """Where a certificate was written, and what became of a signature."""
    if written is None:
        return ()
    signed = () if written.signature is None else (Fact("envelope", written.signature),)
    return (Fact("certificate", str(written.path)), *signed)


def placed_with_evidence(issued: "Issued", evidence: str) -> tuple[Fact, ...]:
    """The same, with the evidence in the same line."""
    return tuple(
        Fact(fact.label, f"{fact.text}, its evidence in {evidence}") if fact.label == "certificate" else fact
        for fact in place_facts(issued.written)
    )


def values_fact(issued: "Certificate") -> Fact:
    """Both values, the baseline's from the subject's and the change."""
    metric = issued.primary_metric
    ratio, change = metric.ratio_vs_baseline, metric.difference_vs_baseline
    before = metric.final - change if ratio is None else metric.final / ratio
    label = "mean score" if metric.kind == "score" else metric.kind
    return Fact(label, metric.final, "values", " → ".join(words.apart(before, metric.final, 5)))


def pairs_fact(issued: "Certificate") -> Fact:
    """How many units the change rests on."""
    final, metric, clusters = issued.stats.coverage.final, issued.primary_metric, issued.stats.clusters
    drawn = "" if clusters is None else f" in {words.count(clusters, 'cluster')}"
    counted = sentences.worth(final.used, final.effective, losses=metric.kind == "perplexity")
    return Fact("pairs", final.used, "pairs", words.count(final.used, sentences.unit_of(metric)) + drawn + counted)


def rules_table(issued: "Certificate | SuiteCertificate | GateCertificate", rules: Sequence[AnyRule]) -> ResultTable:
    columns = (
        Column("rule", [sentences.rule_name(rule) for rule in rules]),
        Column("outcome", ["met" if rule.ok else "not met" for rule in rules]),
        Column("detail", [issued.detail(rule) for rule in rules]),
    )
    return ResultTable("rules", "Rules", columns, explained="rules")


def broken_rules(issued: "Certificate | SuiteCertificate | GateCertificate") -> tuple[Section, ...]:
    """The rules that are not met, in a section; none: no section."""
    broken = [rule for rule in issued.rules if not rule.ok]
    return (Section("rules", "Rules", tables=(rules_table(issued, broken),)),) if broken else ()


def row_of(issued: "Certificate") -> ResultTable:
    """The certificate in a row, as papers print it."""
    metric = issued.primary_metric
    columns = (
        Column("baseline", [issued.systems.baseline.name]),
        Column("subject", [issued.systems.subject.name]),
        Column("n", [issued.stats.coverage.final.used]),
        Column(issued.quantity, [issued.estimate], issued.estimate_text, key="change"),
        Column("p", [metric.p_value], words.p_alone, key="p_value"),
        Column("limit", [issued.decision.limit]),
        Column("verdict", [issued.verdict]),
    )
    return ResultTable("certificate", "", columns)
