"""A comparison against the limit of an assertion, and what a failure says."""

from dataclasses import dataclass, replace
from math import inf
from os import PathLike
from typing import Any

from msgspec import structs

from assay.analyses.compare import compare
from assay.analyses.compare.result import Comparison
from assay.certificate.rules import Decided, decide
from assay.data import Panel, Table
from assay.data.sources import Source
from assay.errors import NoPairsError, UsageError
from assay.limits import check_number
from assay.names import visible
from assay.results import words
from assay.results.figures import Mark
from assay.results.text import gauge_text
from assay.stats.records import Estimate

NAMES = ("baseline", "candidate")  # of what has no name of its own
_PLACES = {"pass": "within", "regression": "beyond", "insufficient evidence": "on both sides of"}


@dataclass(frozen=True, slots=True)
class AssertionOutcome:
    """Whether an assertion holds; ``message`` has the sentence first, then the interval on a line."""

    passed: bool
    decided: bool  # by the data, either way
    sentence: str
    message: str


def compared(baseline: Source | Panel, candidate: Source | None, how: dict[str, Any]) -> Comparison:
    """The comparison that an assertion is about; nothing in common is an error."""
    if "names" not in how and all(_nameless(source) for source in (baseline, candidate)):
        how = {**how, "names": NAMES}
    found = compare(baseline, candidate, **how)
    if not found.n_pairs:
        raise NoPairsError(found.difference.reason or "no pairs")
    return found


def _nameless(source: object) -> bool:
    return not isinstance(source, str | PathLike | Panel | Table)


def judged(found: Comparison, limit: float, *, ratio: bool) -> AssertionOutcome:
    """Judge by the bound of the interval, as a certificate does."""
    _check_limit(limit, ratio=ratio)
    estimate = found.ratio if ratio else found.difference
    if estimate is None:
        raise UsageError(
            f"assert_ratio_below is about perplexities, but these are scores ({found.measure or 'score'}); use "
            "assert_not_worse."
        )
    decided = _decided(found, estimate, limit, ratio=ratio)
    sentence = _sentence(found, estimate, decided, ratio=ratio)
    clear = decided.verdict != "insufficient evidence"
    return AssertionOutcome(decided.verdict == "pass", clear, sentence, _message(found, sentence, limit, ratio=ratio))


def _check_limit(limit: object, *, ratio: bool) -> None:
    name, rule = ("max_ratio", "positive and finite") if ratio else ("max_drop", "0 or more, and finite")
    if limit is None:
        raise UsageError(f"{name} must be {rule}, but got None.")
    check_number(name, limit, rule, lambda x: 0 < x < inf if ratio else 0 <= x < inf)


def _decided(found: Comparison, estimate: Estimate, limit: float, *, ratio: bool) -> Decided:
    """The decision; too few units decide nothing, and a single one has no interval."""
    limits, value, n = estimate.interval, estimate.value, found.n_pairs
    if limits is None or value is None or (limits.method == "degenerate" and estimate.n == 1):
        return Decided("insufficient evidence", limit, limit, None)
    rises = ratio or found.lower_is_better
    low, high = (limits.low, limits.high) if rises else (-limits.high, -limits.low)
    made = decide(value if rises else -value, low, high, limit, n)
    few = found.reliance == "too few" or (found.reliance == "if symmetric" and made.verdict == "pass")
    return replace(made, verdict="insufficient evidence", needed=None) if few else made


def _sentence(found: Comparison, estimate: Estimate, decided: Decided, *, ratio: bool) -> str:
    """As a certificate says it: the verdict, what was found, its interval, the limit."""
    a, b = found.systems.a, found.systems.b
    heads = {
        "pass": f"{b} is not worse than {a}",
        "regression": f"{b} is a regression from {a}",
        "insufficient evidence": f"Insufficient evidence that {b} is not worse than {a}",
    }
    rises = "rise" if found.lower_is_better else "fall"
    limit = f"× {words.number(decided.limit, 6)}" if ratio else f"a {rises} of {words.number(decided.limit, 6)}"
    units = words.count(found.n_pairs, found.unit)
    clusters = "" if found.n_clusters is None else f" in {words.count(found.n_clusters, 'cluster')}"
    more = "" if decided.needed is None else f"; about {words.count(decided.needed, found.unit)} would settle it"
    where = f"{_interval(found, estimate, decided, ratio=ratio)} the limit of {limit}"
    return f"{heads[decided.verdict]}: {_finding(found, estimate, ratio=ratio)}, {where} ({units}{clusters}){more}."


def _finding(found: Comparison, estimate: Estimate, *, ratio: bool) -> str:
    if estimate.value is None:
        return "nothing measured"
    places = words.decimals(estimate.interval)
    if ratio:
        return f"perplexity × {words.placed(estimate.value, places, null=1.0)}"
    usual = "mean loss" if found.kind == "losses" else "mean score"
    what = found.measure if found.measure not in (None, "score") and found.kind == "scores" else usual
    return f"{what} {words.placed(estimate.value, places, sign=True)}"


def _interval(found: Comparison, estimate: Estimate, decided: Decided, *, ratio: bool) -> str:
    limits = estimate.interval
    if limits is None or (limits.method == "degenerate" and estimate.n == 1):
        return f"from a single {found.unit}, which has no interval, for"
    shown = words.interval(limits, sign=not ratio, null=1.0 if ratio else None)
    few = decided.verdict == "insufficient evidence" and found.reliance != "firm"
    where = "too few to rely on, for" if few else _PLACES[decided.verdict]
    return f"{words.percent(limits.level)} CI {shown}, {where}"


def _message(found: Comparison, sentence: str, limit: float, *, ratio: bool) -> str:
    """The sentence, the interval against the limit on a line, what to know, and the line that reproduces it."""
    lines = [sentence]
    gauge = found.gauge
    if gauge is not None and ratio is (found.ratio is not None):
        place = limit if ratio or found.lower_is_better else -limit
        marks = (*gauge.marks, Mark(place, f"limit {words.number(place, 6)}"))
        lines += ["", gauge_text(structs.replace(gauge, marks=marks)), ""]
    lines += [f"{caution.kind}: {caution.text}" for caution in found.cautions]
    return visible("\n".join([*lines, found.signature]))
