"""From two tables and a policy to every number of a certificate: what `certify` and `verify` both run."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from assay.analyses.compare import compare_panel
from assay.analyses.compare.result import Comparison, PairedQuantity
from assay.certificate.canonical import rounded, rounded_exp
from assay.certificate.coverage import Arms, Covered, Windows, windows_of, worth
from assay.certificate.decide import Decided, decide_by
from assay.certificate.drift import drift
from assay.certificate.rules import rules_of
from assay.design import Policy
from assay.errors import InputError
from assay.results import words
from assay.stats.records import Estimate, Interval
from assay.stats.units import Units, weighted_deviation

CLOSED_FORM = "closed form"  # where an interval needs no distribution


@dataclass(frozen=True, slots=True)
class Compared:
    """The final windows compared twice: by the tier's replicates and over all resamples."""

    random: Comparison
    exact: Comparison
    windows: Windows

    @property
    def losses(self) -> bool:
        return self.random.kind == "losses"


def computed_fields(arms: Arms, policy: Policy) -> dict[str, Any]:
    """Everything that follows from the evidence and the policy, as plain data rounded to what is printed."""
    policy, windows = policy.complete(), windows_of(arms)
    try:
        if windows.final.metric.kind == "losses":
            rounded_exp(max(windows.final.estimate(0), windows.final.estimate(1)))  # too large for the statistics also
        return _fields(windows, policy)
    except OverflowError as error:
        label = arms.subject.label
        raise InputError(f"{label}: too large for a perplexity; a loss is a mean per token, in nats.") from error


def _fields(windows: Windows, policy: Policy) -> dict[str, Any]:
    random, exact = (compare_panel(windows.final, policy.design(exact=exact), agree=True) for exact in (False, True))
    compared = Compared(random, exact, windows)
    metric = _primary_metric(compared)
    bootstrap, summary = _bootstrap(compared), _summary(compared)
    return {
        "policy": policy_fields(policy),
        "primary_metric": metric,
        "ppl": _ppl(metric, bootstrap, summary) if compared.losses else None,
        "dataset": {"windows": {"stats": _window_stats(compared, policy, bootstrap, summary)}},
        "exact": _exact(metric, compared),
        **{name: _bits(compared.random.sizes.get(name)) for name in ("bits_per_byte", "bits_per_character")},
        "drift": _drift(windows) if compared.losses else None,
        "rules": [rule.to_dict() for rule in rules_of(windows, policy)],
        "decision": _decision(metric, compared, policy),
        "signature": compared.random.signature,
    }


def policy_fields(policy: Policy) -> dict[str, Any]:
    """The policy as the certificate states it."""
    return {
        "tier": policy.tier,
        "profile": policy.profile,
        "level": policy.design().level,
        "weights": policy.weights,
        "limits": asdict(policy.limits),
        "overrides": sorted(policy.overrides),
        "note": policy.note,
    }


def _limits(estimate: Estimate) -> list[float]:
    limits = estimate.interval
    assert limits is not None  # a panel has at least one unit, and a collapsed interval is an interval
    return [rounded(limits.low), rounded(limits.high)]


def _primary_metric(compared: Compared) -> dict[str, Any]:
    found, windows = compared.random, compared.windows
    mean, ci = rounded(found.difference.value or 0.0), _limits(found.difference)
    subject = found.b
    assert subject is not None  # there are pairs
    return {
        "kind": "perplexity" if compared.losses else "score",
        "lower_is_better": found.lower_is_better,
        "preview": None if windows.preview is None else rounded_exp(windows.preview.estimate(1)),
        "final": rounded_exp(subject) if compared.losses else rounded(subject),
        "ratio_vs_baseline": rounded_exp(mean) if compared.losses else None,
        "difference_vs_baseline": mean,
        "standard_error": _standard_error(found),
        "ci": ci,
        "display_ci": [rounded_exp(limit) for limit in ci] if compared.losses else ci,
        "p_value": _optional(found.p_value),
        "test": found.test.name,
    }


def _standard_error(found: Comparison) -> float | None:
    error = found.difference.standard_error
    return error if error is None else 0.0 if found.degenerate else rounded(error)  # not the noise of rounding


def _optional(value: float | None) -> float | None:
    return None if value is None else rounded(value)


def _bootstrap(compared: Compared) -> dict[str, Any]:
    found = compared.random
    limits = found.difference.interval
    assert limits is not None
    drawn = found.computed.distribution != CLOSED_FORM
    return {
        "replicates": found.design.resamples if drawn else None,
        "seed": found.design.seed,
        "method": limits.method,
        "scheme": found.computed.scheme if drawn else None,
        "scheme_reason": found.computed.scheme_reason if drawn else _not_drawn(found),
        "fallbacks": [f"{f.wanted} → {f.used}: {f.why}" for f in found.fallbacks],
        # Those of the panel are about the files, which a verifier does not have.
        "notes": [note for note in found.notes if note not in compared.windows.final.notes],
    }


def _not_drawn(found: Comparison) -> str:
    """Why there are no replicates, and what stands for clusters and weights instead."""
    if found.degenerate:
        return "nothing is drawn: the differences do not vary"
    effect, df = found.computed.design_effect, found.computed.degrees_of_freedom
    closed = "nothing is drawn: the interval of 0/1 scores is a closed form"
    if effect is None:
        return closed
    return f"{closed}, its counts divided by the design effect {effect:.3f}, with {df:.1f} degrees of freedom"


def _summary(compared: Compared) -> dict[str, Any]:
    panel = compared.windows.final
    deltas = (panel.numerators[:, 1] - panel.numerators[:, 0]) / panel.denominators
    std = weighted_deviation(deltas, panel.denominators)
    equal = (
        panel.clusters is None or Units(deltas, np.ones(panel.n)).degenerate
    )  # equal clusters may have spread within
    if std is not None and compared.random.degenerate and equal:
        std = 0.0  # not the noise of rounding, which another machine would not find again
    return {
        "mean": rounded(compared.random.difference.value or 0.0),
        "std": _optional(std),
        "degenerate": compared.random.degenerate,
    }


def _ppl(metric: dict[str, Any], bootstrap: dict[str, Any], summary: dict[str, Any]) -> dict[str, Any]:
    return {
        "preview_final_ratio": rounded_exp(summary["mean"]),
        "logloss_delta_ci": metric["ci"],
        "ratio_ci": [rounded_exp(limit) for limit in metric["ci"]],
        "stats": {"bootstrap": bootstrap, "paired_delta_summary": summary},
    }


def _window_stats(
    compared: Compared, policy: Policy, bootstrap: dict[str, Any], summary: dict[str, Any]
) -> dict[str, Any]:
    windows, required = compared.windows, policy.limits.windows
    counts = {"preview": windows.preview, "final": windows.final}
    return {
        "window_match_fraction": rounded(windows.match_fraction),
        "window_overlap_fraction": rounded(windows.overlap_fraction),
        "overlap_from": windows.overlap_from,
        "paired_windows": windows.final.n,
        "paired_delta_summary": summary,
        "bootstrap": bootstrap,
        "coverage": {
            name: None if panel is None else _covered(Covered.of(panel), required) for name, panel in counts.items()
        },
        "clusters": windows.final.n_clusters,
        "cluster_by": windows.final.cluster_by,
        "tokens": int(windows.final.denominators.sum()) if compared.losses else None,
    }


def _covered(found: Covered, required: int) -> dict[str, Any]:
    return {
        "used": found.used,
        "effective": found.effective,
        "required": required,
        "ok": found.enough(required),
    }


def _exact(metric: dict[str, Any], compared: Compared) -> dict[str, Any]:
    ci, error = _limits(compared.exact.difference), metric["standard_error"]
    gaps = [abs(a - b) for a, b in zip(ci, metric["ci"], strict=True)]
    return {
        "ci": ci,
        "display_ci": [rounded_exp(limit) for limit in ci] if compared.losses else ci,
        "distance": float(f"{max(gaps) / error:.3g}") if error else None,
        "source": compared.exact.computed.distribution,
    }


def _bits(shown: PairedQuantity | None) -> dict[str, Any] | None:
    if shown is None:
        return None
    assert shown.a is not None  # there are pairs
    assert shown.b is not None
    return {
        "baseline": rounded(shown.a),
        "subject": rounded(shown.b),
        "difference": rounded(shown.difference.value or 0.0),
        "ci": _limits(shown.difference),
    }


def _drift(windows: Windows) -> dict[str, Any] | None:
    found = None if windows.preview is None else drift(windows.preview, windows.final, 1)
    if found is None:
        return None
    log_ratio = rounded(found.log_ratio)
    return {
        "ratio": rounded_exp(log_ratio),
        "log_ratio": log_ratio,
        "standard_error": rounded(found.standard_error),
        "p_value": rounded(found.p_value),
        "alarm": found.alarm,
    }


def _decision(metric: dict[str, Any], compared: Compared, policy: Policy) -> dict[str, Any]:
    decided = decide_by(metric, asdict(policy.limits), compared.windows.final.n)
    return {
        "verdict": decided.verdict,
        "limit": decided.limit,
        "bound": rounded(decided.bound),
        "sentence": _sentence(decided, metric, compared),
        "windows_needed": decided.needed,
    }


def _sentence(decided: Decided, metric: dict[str, Any], compared: Compared) -> str:
    found = compared.random
    baseline, subject = found.systems.a, found.systems.b
    heads = {
        "pass": f"{subject} may replace {baseline}",
        "regression": f"{subject} is a regression from {baseline}",
        "insufficient evidence": f"Insufficient evidence that {subject} may replace {baseline}",
    }
    low, high = metric["display_ci"]
    limits = Interval(low, high, found.design.level, "")
    if compared.losses:
        finding = f"perplexity × {words.placed(metric['ratio_vs_baseline'], words.decimals(limits), null=1.0)}"
        shown, limit = words.interval(limits, null=decided.limit), f"× {words.number(decided.limit, 6)}"
    else:
        shift = words.placed(metric["difference_vs_baseline"], words.decimals(limits), sign=True)
        worse, null = ("rise", decided.limit) if found.lower_is_better else ("fall", -decided.limit)
        finding = f"mean score {shift}"
        shown, limit = words.interval(limits, sign=True, null=null), f"a {worse} of {words.number(decided.limit, 6)}"
    where = {"pass": "within", "regression": "beyond", "insufficient evidence": "on both sides of"}[decided.verdict]
    if metric["standard_error"] is None:
        where = "from a single unit, which shows no spread, for"
    unit = found.unit
    more = "" if decided.needed is None else f"; about {words.count(decided.needed, unit)} would settle it"
    level, n = words.percent(found.design.level), words.count(found.n_pairs, unit)
    if compared.windows.weighted:
        n += worth(found.n_pairs, Covered.of(compared.windows.final).effective)
    return f"{heads[decided.verdict]}: {finding}, {level} interval {shown}, {where} the limit of {limit} ({n}){more}."
