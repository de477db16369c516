"""What `certify` and `verify` return."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.analyses.result import Result, Row
from assay.results import words
from assay.stats.records import Interval


@dataclass(frozen=True, slots=True)
class Issued(Result):
    """A certificate that was written."""

    path: Path
    document: dict[str, Any]
    signature: str | None = None  # what became of a signature that was there before

    @property
    def sentence(self) -> str:  # type: ignore[override]  # here it is part of the document
        return str(self.document["decision"]["sentence"])

    @property
    def verdict(self) -> str:
        """*pass*, *regression* or *insufficient evidence*."""
        return str(self.document["decision"]["verdict"])

    @property
    def passed(self) -> bool:
        return self.verdict == "pass"

    def to_dict(self) -> dict[str, Any]:
        return self.document

    def rows(self) -> list[Row]:
        rows = [("verdict", self.verdict), *certificate_rows(self.document), ("certificate", str(self.path))]
        return rows if self.signature is None else [*rows, ("signature", self.signature)]


def certificate_rows(document: dict[str, Any], whose: str | None = None) -> list[Row]:
    """What a person looks for in a certificate; ``whose`` limit it was judged by, if not the issuer's."""
    policy, boot = document["policy"], document["dataset"]["windows"]["stats"]["bootstrap"]
    level, limit = words.percent(policy["level"]), words.number(document["decision"]["limit"], 6)
    rows = [
        *_measure_rows(document["measure"]),
        *_metric_rows(document),
        ("limit", f"{limit} ({whose or _terms(policy)})"),
        ("interval", f"{level} {boot['method']}, {_drawn(boot)}"),
        ("scheme", boot["scheme_reason"] if boot["scheme"] is None else f"{boot['scheme']}: {boot['scheme_reason']}"),
        *_drift_rows(document["drift"]),
    ]
    rows += [("rule not met", f"{rule['name']}: {rule['detail']}") for rule in document["rules"] if not rule["ok"]]
    rows += [("fallback", text) for text in boot["fallbacks"]]
    rows += [("note", text) for text in boot["notes"]]
    if policy["note"]:
        rows.append(("audit note", policy["note"]))
    return [*rows, ("evidence", f"{document['evidence']['file']}, {document['evidence']['rows']:,} rows")]


def _drawn(boot: dict[str, Any]) -> str:
    if boot["replicates"] is not None:
        return f"{boot['replicates']:,} replicates, seed {boot['seed']}"
    return "closed form" if boot["method"] == "tango" else "nothing drawn"


def _terms(policy: dict[str, Any]) -> str:
    return f"tier {policy['tier']}, profile {policy['profile']}"


def _measure_rows(measure: dict[str, Any]) -> list[Row]:
    """Task and metric, where they say more than the rows below."""
    if measure["task"] is None and measure["metric"] in (None, "perplexity"):
        return []
    named = [f"{name} {measure[name]}" for name in ("metric", "task", "filter", "scorer") if measure[name] is not None]
    several = f" ({words.count(len(measure['tasks']), 'task')})" if len(measure["tasks"]) > 1 else ""
    return [("measure", ", ".join(named) + several)]


def _metric_rows(document: dict[str, Any]) -> list[Row]:
    metric, level = document["primary_metric"], document["policy"]["level"]
    scores = metric["ratio_vs_baseline"] is None
    value = metric["difference_vs_baseline"] if scores else metric["ratio_vs_baseline"]
    limits, exact = (interval_of(part["display_ci"], level) for part in (metric, document["exact"]))
    shown = words.estimate(value, limits, sign=scores, null=0.0 if scores else 1.0)
    rows = [("score difference" if scores else "perplexity ratio", shown)]
    if document["dataset"]["windows"]["stats"]["bootstrap"]["replicates"] is not None:
        rows.append(("with all resamples", f"[{words.interval(exact, sign=scores, null=0.0 if scores else 1.0)}]"))
    for label in ("bits_per_byte", "bits_per_character"):
        bits = document[label]
        if bits is not None:
            change = words.estimate(bits["difference"], interval_of(bits["ci"], level), sign=True)
            values = f"{words.number(bits['baseline'], 6)} → {words.number(bits['subject'], 6)}"
            rows.append((label.replace("_", " "), f"{values}, {change}"))
    return rows


def interval_of(limits: list[float], level: float) -> Interval:
    """Two limits of a certificate as an interval."""
    low, high = limits
    return Interval(low, high, level, "")


def _drift_rows(drift: dict[str, Any] | None) -> list[Row]:
    if drift is None:
        return []
    alarm = "more than sampling noise" if drift["alarm"] else "within sampling noise"
    shown = f"× {words.number(drift['ratio'], 4)}, {words.p_value(drift['p_value'])}: {alarm}"
    return [("preview → final drift", shown)]
