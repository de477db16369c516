"""The parts of a gate's certificate that a certificate of a fixed number of windows does not have."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType

from assay.certificate.fields import Digest, Facts, IntervalLimits
from assay.certificate.suite.fields import SuiteVerdict
from assay.stats.sequential.spending import Spending

#: How a look treats differences that go with length. Plans of before this rule have none, and take no notice.
LengthRule = Literal["by length"]
LookOutcome = Literal["continue", "pass", "fail", "futile", "end"]


def _said(description: str) -> msgspec.Meta:
    return msgspec.Meta(description=description)


class PlannedLook(Facts, frozen=True, kw_only=True):
    """A look as it was planned: when, and what stops."""

    windows: Annotated[int, _said("Windows that are scored by then.")]
    units: Annotated[int, _said("What is drawn of them: the windows themselves, or their documents.")]
    effective: Annotated[float, _said("As how many units of equal length they count (Kish): the information.")]
    fraction: Annotated[float, _said("Of the information of the whole plan.")]
    bound: Annotated[float | None, _said("How many standard errors from the limit stop; null where nothing does.")]
    nominal: Annotated[float, _said("The one-sided p-value that stops.")]
    futile: Annotated[float | None, _said("So few standard errors within the limit stop without a verdict.")]


class StatedGatePlan(Facts, frozen=True, kw_only=True):
    """What was fixed before the first look; the manifest of the run has its digest."""

    limit: Annotated[float, _said("Largest acceptable ratio of perplexities.")]
    alpha: Annotated[float, _said("Error that is spent on either side of the limit.")]
    spending: Annotated[Spending, _said("How it is spent over the looks.")]
    beta: Annotated[float | None, _said("Error that futility bounds spend; null without them.")]
    windows: Annotated[int, _said("Windows at the most.")]
    units: Annotated[int, _said("What is drawn of them.")]
    effective: Annotated[float, _said("As how many units of equal length they count.")]
    cluster_by: Annotated[Literal["document"] | None, _said("What is drawn whole; null: single windows.")]
    seed: Annotated[int, _said("Units come in the order of the sha256 of this seed and their names.")]
    order: Annotated[Digest, _said("sha256 of the names of the planned windows, in order, a line each.")]
    text: Annotated[Digest, _said("sha256 of the token ids of the whole text.")]
    context: Annotated[int, _said("Tokens of a full window.")]
    lengths: Annotated[
        LengthRule | UnsetType,
        _said(
            "by length: where the difference goes with length (|t| > 3), the standard error of a look is multiplied by "
            "the design effect of the lengths, units / effective. Absent: it is not (plans of before this rule)."
        ),
    ] = UNSET
    looks: Annotated[tuple[PlannedLook, ...], _said("The looks; the last one has all windows.")]
    digest: Annotated[Digest, _said("sha256 of the canonical JSON of the other fields of the plan.")]


class TakenLook(Facts, frozen=True, kw_only=True):
    """A look that was taken."""

    windows: Annotated[int, _said("Paired windows by then.")]
    tokens: Annotated[int, _said("Their predicted tokens.")]
    difference: Annotated[float, _said("Loss of the subject − loss of the baseline, in nats.")]
    standard_error: Annotated[float, _said("Of the difference, as widened; 0 where all units agree.")]
    degrees_of_freedom: Annotated[float | None, _said("Of the standard error; null where all units agree.")]
    differing: Annotated[int, _said("Units whose difference is not 0.")]
    length_t: Annotated[
        float | UnsetType | None,
        _said(
            "t of the correlation of difference and length; null where either does not vary. Absent as plan.lengths."
        ),
    ] = UNSET
    widened: Annotated[
        float | UnsetType, _said("What the standard error was multiplied by, for that. Absent as plan.lengths.")
    ] = UNSET
    ci: Annotated[IntervalLimits | None, _said("Repeated interval: it holds at all looks at once. Null: everything.")]
    p_within: Annotated[float | None, _said("One-sided p of not being within the limit; null where all units agree.")]
    p_beyond: Annotated[float | None, _said("One-sided p of not being beyond it; null where all units agree.")]
    outcome: Annotated[LookOutcome, _said("Whether it stopped, and why; end: the plan ends without a bound reached.")]


class GateFinding(Facts, frozen=True, kw_only=True):
    """What was found when it stopped, adjusted for stopping."""

    baseline: Annotated[float, _said("Mean loss of the baseline, in nats per token.")]
    subject: Annotated[float, _said("The same of the subject.")]
    difference: Annotated[float, _said("Median-unbiased estimate of the difference, in nats.")]
    ratio: Annotated[float, _said("The same as a ratio of perplexities.")]
    ci: Annotated[IntervalLimits | None, _said("Interval of the difference; null where there is none.")]
    display_ci: Annotated[IntervalLimits | None, _said("The same as ratios.")]
    method: Annotated[
        Literal["stage-wise", "repeated", "degenerate"],
        _said("stage-wise: adjusted for stopping by a bound; repeated: it holds at all looks; degenerate: no spread."),
    ]
    p_value: Annotated[
        float | None, _said("Adjusted one-sided p of the verdict's opposite; null without spread or by another limit.")
    ]
    tokens_planned: Annotated[int, _said("Predicted tokens of all planned windows.")]


class GateDecision(Facts, frozen=True, kw_only=True):
    """A bound that was reached decides, or the end of the plan."""

    rule: Annotated[
        Literal["group sequential", "group sequential by length", "interval"],
        _said("by length: as plan.lengths says; interval: by a limit that is not the plan's."),
    ]
    version: Annotated[int, _said("Version of that rule.")]
    verdict: Annotated[SuiteVerdict, _said("The answer.")]
    limit: Annotated[float, _said("The limit that was applied: a ratio of perplexities.")]
    look: Annotated[int, _said("The look that was the last, from 1.")]
