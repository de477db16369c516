"""A certificate as a part of a document."""

from dataclasses import replace
from typing import Any

from assay.certificate.acceptance import in_words
from assay.certificate.record import certificate_rows, interval_of
from assay.certificate.verification import Verification
from assay.report.document import Fact, Gauge, Group, Mark, Part, Status, Table
from assay.report.part import chart_of_figure
from assay.report.parts.common import facts_of, notes_of
from assay.results import words
from assay.results.explanations import Explanation

_STATUS: dict[str, Status] = {"pass": "good", "regression": "bad", "insufficient evidence": "unsure"}
_RULES = Explanation("What the policy asks of the evidence before an interval is looked at.", "gate-in-ci.md")


def certificate_part(document: dict[str, Any], checked: Verification | None = None) -> Part:
    """The verdict, the interval against the limit, the rules; and whether it is true, where that was checked."""
    if checked is not None and checked.faults:
        return _untrue(document, checked)
    document = document if checked is None else checked.judged  # by the verifier's policy, where there is one
    decision, rows = document["decision"], certificate_rows(document, None if checked is None else checked.whose_limit)
    gauge = _gauge(document)
    unsure = checked is not None and not checked.recomputed
    subject, baseline = (document["systems"][place]["name"] for place in ("subject", "baseline"))
    return Part(
        kind="certificate",
        name=f"{baseline} → {subject}",
        title="May the new model replace the old one?",
        sentence=checked.sentence if checked is not None and (unsure or checked.policy) else decision["sentence"],
        status=_status(decision["verdict"], checked),
        compared=(
            Fact("baseline", baseline),
            Fact("subject", subject),
            Fact("policy", f"tier {document['policy']['tier']}, profile {document['policy']['profile']}"),
        ),
        signature=document["signature"],
        gauge=gauge,
        facts=facts_of(rows),
        groups=(
            Group("Interval against the limit", charts=(chart_of_figure(replace(gauge, name="limit")),)),
            Group("Rules", tables=(_rules(document),)),
        ),
        notes=(*notes_of(rows), *_checks(checked)),
        data=document,
    )


def _status(verdict: str, checked: Verification | None) -> Status:
    if checked is None or (checked.recomputed and not checked.reasons):
        return _STATUS[verdict]
    return "bad" if checked.reasons else "unsure"


def _untrue(document: dict[str, Any], checked: Verification) -> Part:
    """A certificate that does not hold is shown as its faults, not as its claims."""
    faults = Table("Faults", ("fault",), tuple((str(fault),) for fault in checked.faults))
    return Part(
        kind="certificate",
        name=checked.path.name,
        title="Is this certificate true?",
        sentence=checked.sentence,
        status="bad",
        compared=(Fact("file", checked.path.name),),
        signature="",
        groups=(Group("Faults", tables=(faults,)),),
        data=document,
    )


def _checks(checked: Verification | None) -> tuple[str, ...]:
    if checked is None:
        return ("Check it with `assay verify`: every number is recomputed from the evidence.",)
    unmet = [f"not met: {reason}" for reason in checked.reasons]
    left = [f"issuer's choice: {in_words(checked.choices)}"] if checked.choices else []
    return (*unmet, *left, *(f"checked: {check}" for check in checked.checks))


def _gauge(document: dict[str, Any]) -> Gauge:
    metric, level = document["primary_metric"], document["policy"]["level"]
    scores, lower = metric["ratio_vs_baseline"] is None, metric["lower_is_better"]
    value = metric["difference_vs_baseline"] if scores else metric["ratio_vs_baseline"]
    limits, limit = interval_of(metric["display_ci"], level), document["decision"]["limit"]
    limit = limit if lower else -limit  # a fall of 0.02 is a difference of -0.02
    marks = (Mark(0.0 if scores else 1.0, "no change"), Mark(limit, f"limit {words.number(limit, 6)}"))
    label = "score, subject − baseline" if scores else "perplexity, subject / baseline"
    text = words.estimate(value, limits, sign=scores, null=marks[0].place)
    return Gauge(label, value, limits.low, limits.high, marks, "lower" if lower else "higher", text)


def _rules(document: dict[str, Any]) -> Table:
    rows = tuple((rule["name"], "met" if rule["ok"] else "not met", rule["detail"]) for rule in document["rules"])
    return Table("Rules", ("rule", "outcome", "detail"), rows, None, _RULES)
