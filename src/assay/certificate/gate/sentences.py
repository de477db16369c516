"""What a gate's certificate says in words. None of it is stored; it is made from the facts when shown."""

from math import exp
from typing import TYPE_CHECKING

from msgspec import UNSET

from assay.certificate.gate.fields import TakenLook
from assay.certificate.sentences import names_of, rules_not_met
from assay.results import words
from assay.stats.records import Interval

if TYPE_CHECKING:
    from assay.certificate.gate.record import GateCertificate

_WHERE = {"pass": "within", "fail": "beyond", "undecided": "on both sides of"}


def sentence_of(found: "GateCertificate") -> str:
    """The verdict in a sentence: what was found, after how many windows, and what that saved."""
    baseline, subject = names_of(found.systems)
    head = {
        "pass": f"{subject} may replace {baseline}",
        "fail": f"{subject} may not replace {baseline}",
        "undecided": f"Undecided whether {subject} may replace {baseline}",
    }[found.verdict]
    rules = rules_not_met(found.rules, found.policy.profile)
    return f"{head}: {_finding(found)} ({stopped_words(found)}{_by_length(found)}){rules}."


def _by_length(found: "GateCertificate") -> str:
    """What a reader must know of a ratio that goes with length; empty where it does not."""
    t, widened = _lengths(found.looks[-1])
    if widened == 1:
        return ""
    units = (found.plan.cluster_by or "window") + "s"
    return f"; it is {'larger' if t > 0 else 'smaller'} in long {units}, standard error × {words.number(widened, 3)}"


def _lengths(look: TakenLook) -> tuple[float, float]:
    """The t of the correlation with length, and what the standard error was multiplied by; 1 where it was not."""
    t, widened = look.length_t, look.widened
    return (0.0, 1.0) if t is UNSET or t is None or widened is UNSET else (t, widened)


def _finding(found: "GateCertificate") -> str:
    limit = f"the limit of × {words.number(found.decision.limit, 6)}"
    what = found.found
    if what.method == "degenerate":
        return f"perplexity × {words.number(what.ratio, 6)} in every window, {_WHERE[found.verdict]} {limit}"
    if what.display_ci is None:
        return f"perplexity × {words.number(what.ratio, 6)}, no interval yet, for {limit}"
    limits = Interval(*what.display_ci, found.policy.level, what.method)
    ratio = words.placed(what.ratio, words.decimals(limits), null=1.0)
    shown = words.interval(limits, null=found.decision.limit)
    return f"perplexity × {ratio}, {words.percent(found.policy.level)} CI {shown}, {_WHERE[found.verdict]} {limit}"


def stopped_words(found: "GateCertificate") -> str:
    """``stopped at look 2 of 7, after 44 of 180 windows: 76% of the tokens saved``."""
    looks, plan, last = found.looks, found.plan, found.looks[-1]
    if last.windows == plan.windows:
        return f"all {words.count(plan.windows, 'window')}, {words.count(len(looks), 'look')}"
    hopeless = ", with little hope of a pass" if last.outcome == "futile" else ""
    saved = 1 - last.tokens / found.found.tokens_planned
    return (
        f"stopped at look {len(looks)} of {len(plan.looks)}{hopeless}, after {last.windows} of "
        f"{words.count(plan.windows, 'window')}: {saved:.0%} of the tokens saved"
    )


def look_words(look: TakenLook, number: int, of: int, limit: float) -> str:
    """A look in a line, as progress shows it: the interval closing in on the limit."""
    shown = "the interval is still open"
    if look.ci is not None:
        shown = f"{words.number(exp(look.ci[0]), 5)} to {words.number(exp(look.ci[1]), 5)}"
    ends = {
        "continue": "go on",
        "pass": "pass",
        "fail": "fail",
        "futile": "stop, a pass is out of reach",
        "end": "undecided",
    }
    ratio = words.number(exp(look.difference), 5)
    return (
        f"look {number} of {of}: {words.count(look.windows, 'window')}, perplexity × {ratio}, {shown}, "
        f"limit {words.number(limit, 6)}: {ends[look.outcome]}"
    )


def notes(found: "GateCertificate") -> list[str]:
    """What a reader must know beside the numbers."""
    last = found.looks[-1]
    if last.differing == 0:
        units = found.plan.looks[len(found.looks) - 1].units
        share = 1 - 0.05 ** (1 / units)
        unit = found.plan.cluster_by or "window"
        rarely = f"differ in fewer than {share:.0%} of the {unit}s (95% confidence)"
        return [f"no {unit} differs: the models are the same on this text, or {rarely}"]
    t, widened = _lengths(last)
    if widened > 1:
        unit = found.plan.cluster_by or "window"
        said = (
            f"the difference goes with the length of {unit}s (t = {words.number(t, 3)}), so that the answer rests on "
            f"the long ones: the standard error was multiplied by {words.number(widened, 3)}, the design effect of the "
            f"lengths; {unit}s of one length (a shorter `context`) would not need it"
        )
        return [said]
    return []
