"""What a certificate states twice must agree with itself, in the printed digits: true or not, no evidence is needed."""

from collections.abc import Iterator
from typing import Any

import msgspec

from assay.certificate.canonical import FieldFault, fault, rounded_exp
from assay.certificate.fields import Limits
from assay.certificate.policy import decide_by
from assay.certificate.record import Certificate

Stated = tuple[str, Any, Any]  # field, what it says, what follows from other fields


def identity_faults(issued: Certificate) -> list[FieldFault]:
    """P8, the two spellings (P7), and the verdict that follows from the printed bound and limit."""
    metric = issued.primary_metric
    if issued.scores is not (issued.ppl is None) or issued.scores is not (metric.ratio_vs_baseline is None):
        return [fault("primary_metric.kind", metric.kind, "the fields of another kind")]
    try:
        stated = [*_shared(issued), *_decision(issued), *_displayed(issued), *_spellings(issued)]
    except OverflowError:
        return [fault("decision", "finite numbers", "an integer too large for a number")]
    return [fault(name, says, follows) for name, says, follows in map(_plain, stated) if says != follows]


def _plain(stated: Stated) -> Stated:
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
    if issued.drift is not None:
        yield "drift.ratio", issued.drift.ratio, _exp(issued.drift.log_ratio)


def _spellings(issued: Certificate) -> Iterator[Stated]:
    metric, ppl, stats = issued.primary_metric, issued.ppl, issued.stats
    if ppl is None:
        return
    yield "primary_metric.ratio_vs_baseline", metric.ratio_vs_baseline, _exp(metric.difference_vs_baseline)
    yield "ppl.preview_final_ratio", ppl.preview_final_ratio, _exp(ppl.stats.paired_delta_summary.mean)
    yield "ppl.ratio_ci", ppl.ratio_ci, _both(ppl.logloss_delta_ci)
    yield "ppl.logloss_delta_ci", ppl.logloss_delta_ci, metric.ci
    yield "ppl.stats.bootstrap", ppl.stats.bootstrap, stats.bootstrap
    yield "ppl.stats.paired_delta_summary", ppl.stats.paired_delta_summary, stats.paired_delta_summary


def _decision(issued: Certificate) -> Iterator[Stated]:
    found = decide_by(issued.primary_metric, issued.policy.limits, issued.stats.paired_windows)
    for name in found.__struct_fields__:
        yield f"decision.{name}", getattr(issued.decision, name), getattr(found, name)


def _both(limits: Limits) -> tuple[float | None, float | None]:
    return _exp(limits[0]), _exp(limits[1])


def _exp(value: float) -> float | None:
    try:
        return rounded_exp(value)
    except OverflowError:
        return None
