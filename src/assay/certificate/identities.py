"""What a certificate states twice must agree with itself, in the printed digits: true or not, no evidence is needed."""

from collections.abc import Iterator
from typing import Any

from assay.certificate.canonical import rounded, rounded_exp
from assay.certificate.decide import decide_by
from assay.certificate.faults import Fault

Stated = tuple[str, Any, Any]  # field, what it says, what follows from other fields


def identity_faults(document: dict[str, Any]) -> list[Fault]:
    """P8, the two spellings (P7), and the verdict that follows from the printed bound and limit."""
    metric, ppl = document["primary_metric"], document["ppl"]
    perplexity = metric["kind"] == "perplexity"
    if perplexity is (ppl is None) or perplexity is (metric["ratio_vs_baseline"] is None):
        return [Fault("primary_metric.kind", metric["kind"], "the fields of another kind")]
    try:
        stated = [*_shared(document), *_decision(document), *_display(document, perplexity=perplexity)]
        stated += _ppl(document) if perplexity else []
    except OverflowError:
        return [Fault("decision", "finite numbers", "an integer too large for a number")]
    return [Fault(name, says, follows) for name, says, follows in stated if says != follows]


def _shared(document: dict[str, Any]) -> Iterator[Stated]:
    metric, stats, policy = document["primary_metric"], document["dataset"]["windows"]["stats"], document["policy"]
    boot, final = stats["bootstrap"], stats["coverage"]["final"]
    mean = metric["difference_vs_baseline"]
    yield "dataset.windows.stats.paired_delta_summary.mean", stats["paired_delta_summary"]["mean"], mean
    yield "dataset.windows.stats.coverage.final.used", final["used"], stats["paired_windows"]
    # Null where nothing is drawn; whether that is so only the evidence tells.
    drawn = policy["limits"]["replicates"] if boot["replicates"] is not None else None
    yield "dataset.windows.stats.bootstrap.replicates", boot["replicates"], drawn
    yield "dataset.windows.stats.bootstrap.scheme", boot["scheme"] is None, boot["replicates"] is None
    yield "meta.seeds.bootstrap", document["meta"]["seeds"]["bootstrap"], boot["seed"]


def _display(document: dict[str, Any], *, perplexity: bool) -> Iterator[Stated]:
    for name in ("primary_metric", "exact"):
        ci = document[name]["ci"]
        yield f"{name}.display_ci", document[name]["display_ci"], [_exp(x) for x in ci] if perplexity else ci
    if document["drift"] is not None:
        yield "drift.ratio", document["drift"]["ratio"], _exp(document["drift"]["log_ratio"])


def _ppl(document: dict[str, Any]) -> Iterator[Stated]:
    metric, ppl, stats = document["primary_metric"], document["ppl"], document["dataset"]["windows"]["stats"]
    yield "primary_metric.ratio_vs_baseline", metric["ratio_vs_baseline"], _exp(metric["difference_vs_baseline"])
    yield "ppl.preview_final_ratio", ppl["preview_final_ratio"], _exp(ppl["stats"]["paired_delta_summary"]["mean"])
    yield "ppl.ratio_ci", ppl["ratio_ci"], [_exp(limit) for limit in ppl["logloss_delta_ci"]]
    yield "ppl.logloss_delta_ci", ppl["logloss_delta_ci"], metric["ci"]
    for name in ("bootstrap", "paired_delta_summary"):
        yield f"ppl.stats.{name}", ppl["stats"][name], stats[name]


def _decision(document: dict[str, Any]) -> Iterator[Stated]:
    stated, limits = document["decision"], document["policy"]["limits"]
    paired = document["dataset"]["windows"]["stats"]["paired_windows"]
    found = decide_by(document["primary_metric"], limits, paired)
    yield "decision.verdict", stated["verdict"], found.verdict
    yield "decision.limit", stated["limit"], found.limit
    yield "decision.bound", stated["bound"], rounded(found.bound)
    yield "decision.windows_needed", stated["windows_needed"], found.needed


def _exp(value: float) -> float | None:
    try:
        return rounded_exp(value)
    except OverflowError:
        return None
