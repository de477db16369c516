"""The parts of a certificate, field by field: numbers, codes, names and digests, no sentence.

`assay schema certificate` and the page of the documentation are made from these types. The names that other tools look
for are kept, in both spellings. What is undefined is null.
"""

from math import exp
from typing import Annotated, Literal

import msgspec

from assay.analyses.contrast import Reliance, reliance_of
from assay.design import GateMethod, Profile, Scheme, TierName, Weights

GateVerdict = Literal["pass", "regression", "insufficient evidence"]
MetricKind = Literal["perplexity", "score", "bits per byte", "bits per character"]
OverlapFrom = Literal["token spans", "window ids"]
Agreement = Literal["limit set to 0", "limit moved beside 0", "p of the interval"]


def _said(description: str) -> msgspec.Meta:
    return msgspec.Meta(description=description)


IntervalLimits = Annotated[tuple[float, float], _said("Lower and upper limit.")]
Digest = Annotated[str, msgspec.Meta(pattern=r"^sha256:[0-9a-f]{64}$", max_length=71)]


DIGITS = 12  # significant; what is computed twice on different machines agrees to these


def rounded(value: float) -> float:
    """Round a number as certificates print it: to 12 significant digits."""
    return float(f"{value:.{DIGITS}g}") + 0.0  # no minus zero


def rounded_exp(value: float) -> float:
    """The rounded exponential of a rounded number, so that identities hold for the printed digits."""
    return rounded(exp(value))


def rounded_exps(limits: tuple[float, float]) -> tuple[float, float] | None:
    """Both limits exponentiated; ``None`` where one is beyond every number."""
    try:
        return rounded_exp(limits[0]), rounded_exp(limits[1])
    except OverflowError:
        return None


class Facts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Unknown fields are refused, values are never converted, nothing has a default."""


class Seeds(Facts, frozen=True, kw_only=True):
    bootstrap: Annotated[int, _said("Seed of the random replicates.")]


class Issuer(Facts, frozen=True, kw_only=True):
    """Who wrote the certificate, with what. Only the digest, or a signature, protects these fields."""

    assay: Annotated[str, _said("Version of Assay.")]
    python: Annotated[str, _said("Version of Python.")]
    numpy: Annotated[str, _said("Version of numpy.")]
    created: Annotated[str | None, _said("Time of issue (UTC), only if it was asked for.")]
    seeds: Seeds


class ComparedSystem(Facts, frozen=True, kw_only=True):
    """A compared system. Only the digest, or a signature, protects these fields."""

    name: Annotated[str, _said("What it is called: the model's name, or the file's without its extension.")]
    file: Annotated[str | None, _said("Name of the input file, without its folder; null for what was in memory.")]
    sha256: Annotated[
        Digest | None, _said("Digest of the input file; without a file that of a panel, null for a table.")
    ]
    model: Annotated[str | None, _said("Digest of the model's weights, where the run has it.")]
    tokenizer: Annotated[str | None, _said("Digest of the tokenizer, where the run has it.")]


class BothSystems(Facts, frozen=True, kw_only=True):
    baseline: ComparedSystem
    subject: ComparedSystem


class Condition(Facts, frozen=True, kw_only=True):
    """What scores were measured under, and have in common."""

    name: Annotated[str, _said("What it is: reference, judge, annotator or split.")]
    value: Annotated[str, _said("The one of all rows; several, with commas, where tasks or systems differ.")]


class Measured(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """What the rows are of. Only the digest, or a signature, protects these fields."""

    task: Annotated[str | None, _said("The task, or the group or pattern of tasks that was asked for.")]
    tasks: Annotated[tuple[str, ...], _said("The tasks whose items these are, where a harness names them.")]
    metric: Annotated[str | None, _said("The metric; perplexity or bits for losses, null where nobody said.")]
    filter: Annotated[str | None, _said("The filter of the answers, where a harness has one.")]
    scorer: Annotated[str | None, _said("The scorer, where a harness has one.")]
    # Left out where no file tells them, as in older certificates.
    conditions: Annotated[
        tuple[Condition, ...], _said("What both systems were measured under, where their files tell it.")
    ] = ()


class TierLimits(Facts, frozen=True, kw_only=True):
    """What the tier demands, after overrides."""

    windows: Annotated[int, _said("Least number of preview windows, and of final ones; for scores: of items.")]
    replicates: Annotated[int, _said("Random replicates of the interval, where it has any.")]
    max_ratio: Annotated[float, _said("Largest acceptable ratio of perplexities.")]
    max_drop: Annotated[float, _said("Largest acceptable fall of a mean score, or rise of bits per byte or character.")]


class StatedPolicy(Facts, frozen=True, kw_only=True):
    """What the certificate was judged by."""

    tier: Annotated[TierName, _said("Whose limits these are.")]
    profile: Annotated[Profile, _said("Whether broken rules are refused, or only reported.")]
    level: Annotated[float, _said("Confidence level of the intervals.")]
    weights: Annotated[Weights, _said("Whether scores may have unequal weights.")]
    method: Annotated[GateMethod, _said("The method of the interval that was asked for; bootstrap.method is what ran.")]
    scheme: Annotated[Scheme, _said("The scheme that was asked for; bootstrap.scheme is what ran.")]
    limits: TierLimits
    overrides: Annotated[tuple[str, ...], _said("The limits that differ from the tier's own.")]
    note: Annotated[str | None, _said("The audit note: why they differ.")]


class PrimaryMetric(Facts, frozen=True, kw_only=True):
    """The number the decision is about."""

    kind: Annotated[MetricKind, _said("What was compared: windows, items, or the bits of whole documents.")]
    lower_is_better: Annotated[bool, _said("Which direction is good; always true for what losses give.")]
    preview: Annotated[float | None, _said("The subject's perplexity on the preview windows.")]
    final: Annotated[float, _said("The subject's perplexity on the final windows, or its mean score or bits.")]
    ratio_vs_baseline: Annotated[
        float | None, _said("exp(weighted mean Δ) over the final windows; null where Δ itself is judged.")
    ]
    difference_vs_baseline: Annotated[float, _said("Weighted mean Δ of log-losses, of scores, or of bits.")]
    standard_error: Annotated[float | None, _said("Linearised standard error of the difference.")]
    ci: Annotated[IntervalLimits, _said("Interval of the difference.")]
    display_ci: Annotated[IntervalLimits, _said("exp(ci) for perplexity; else ci itself.")]
    p_value: Annotated[float | None, _said("Of the verdict of no difference: the test's, or the interval's if larger.")]
    test: Annotated[str, _said("The test of no difference.")]
    test_version: Annotated[int, _said("Version of that test.")]
    test_p_value: Annotated[float | None, _said("Of the test alone.")]
    agreement: Annotated[
        Agreement | None, _said("What was done so that interval and test say the same of no difference; null: nothing.")
    ]
    rounded: Annotated[int, _said("Units whose difference is nothing but rounding, and counts as 0.")]


class PairedDeltas(Facts, frozen=True, kw_only=True):
    """The paired differences Δ of the windows that the ratio is about."""

    mean: Annotated[float, _said("Token-weighted mean.")]
    std: Annotated[float | None, _said("Token-weighted standard deviation (n − 1); null for one window.")]
    degenerate: Annotated[bool, _said("All Δ are equal: the interval is collapsed.")]


class Replaced(Facts, frozen=True, kw_only=True):
    """A method that could not be used, and what was used instead."""

    wanted: Annotated[str, _said("The method that could not be used.")]
    used: Annotated[
        Literal["percentile", "collapsed interval", "random sign flips", "smoothed sign flips"],
        _said("What was used instead."),
    ]
    draws: Annotated[int | None, _said("How many were drawn instead; null where nothing is.")]


class BootstrapFacts(Facts, frozen=True, kw_only=True):
    """How the interval was computed."""

    replicates: Annotated[int | None, _said("Random replicates; null where nothing is drawn, as for 0/1 scores.")]
    seed: Annotated[int, _said("Their seed.")]
    method: Annotated[str, _said("auto: tango for 0/1 scores; t-hall for few windows, or few that differ; else bca.")]
    version: Annotated[
        int, _said("Version of the method; 3: of 100,000 or more, replicates are drawn from the exact distribution.")
    ]
    scheme: Annotated[
        Literal["tokens", "windows"] | None,
        _said("What was drawn: windows by their tokens, or uniformly; null where nothing is."),
    ]
    spread_of_weights: Annotated[
        float, _said("n Σw²/(Σw)² of the tokens, or weights, of what is drawn: 1 where all are equal.")
    ]
    spread_limit: Annotated[float, _said("Up to this spread, windows are drawn by their tokens.")]
    design_effect: Annotated[
        float | None, _said("Of 0/1 scores with clusters or weights: what their counts are divided by.")
    ]
    degrees_of_freedom: Annotated[float | None, _said("Likewise: of the interval.")]
    fallbacks: Annotated[tuple[Replaced, ...], _said("What could not be done as asked, and what was done instead.")]


class SplitCoverage(Facts, frozen=True, kw_only=True):
    used: Annotated[int, _said("Paired windows.")]
    effective: Annotated[
        float, _said("As how many windows of equal weight they count: (Σw)²/Σw² of their tokens, or of items' weights.")
    ]
    required: Annotated[int, _said("The tier's minimum.")]
    ok: Annotated[bool, _said("Whether there are enough; items must also count as enough, windows as half of it.")]


class Coverage(Facts, frozen=True, kw_only=True):
    preview: Annotated[SplitCoverage | None, _said("Null without preview windows.")]
    final: SplitCoverage


class WindowStats(Facts, frozen=True, kw_only=True):
    window_match_fraction: Annotated[float, _said("Windows that both systems have, of all windows.")]
    window_overlap_fraction: Annotated[float, _said("Windows that share predicted tokens (or an id) with another one.")]
    overlap_from: Annotated[OverlapFrom, _said("What the overlap was computed from.")]
    paired_windows: Annotated[int, _said("Paired windows of the split that the ratio is about.")]
    differing: Annotated[int | None, _said("Paired windows on which the systems differ; null in format 2.")]
    largest: Annotated[
        float | None, _said("Share of all weight that one window, or cluster, has at most; null in format 2.")
    ]
    paired_delta_summary: PairedDeltas
    bootstrap: BootstrapFacts
    coverage: Coverage
    clusters: Annotated[int | None, _said("Clusters that were drawn whole.")]
    cluster_by: Annotated[str | None, _said("The column that names the clusters; null without clusters.")]
    tokens: Annotated[int | None, _said("Predicted tokens of the final windows; null for scores and bits.")]

    @property
    def drawn(self) -> int:
        """How many windows, or clusters, the interval rests on."""
        return self.paired_windows if self.clusters is None else self.clusters

    @property
    def effective(self) -> float:
        """As how many of equal weight those count; 0 where a forged number has none."""
        try:
            return self.drawn / self.bootstrap.spread_of_weights
        except (OverflowError, ZeroDivisionError):
            return 0.0

    @property
    def reliance(self) -> Reliance:
        """Whether a verdict may rest on them."""
        return reliance_of(self.drawn, self.effective, self.bootstrap.method)


class PairedWindows(Facts, frozen=True, kw_only=True):
    stats: WindowStats


class Dataset(Facts, frozen=True, kw_only=True):
    windows: PairedWindows


class PerplexityStats(Facts, frozen=True, kw_only=True):
    bootstrap: BootstrapFacts
    paired_delta_summary: PairedDeltas


class PerplexityAgain(Facts, frozen=True, kw_only=True):
    """The same numbers under other names, for tools that look for those."""

    preview_final_ratio: Annotated[
        float, _said("exp(weighted mean Δ), baseline to subject, whatever its name says; preview to final is 'drift'.")
    ]
    logloss_delta_ci: Annotated[IntervalLimits, _said("Interval of the weighted mean Δ.")]
    ratio_ci: Annotated[IntervalLimits, _said("exp(logloss_delta_ci).")]
    stats: PerplexityStats


class ExactInterval(Facts, frozen=True, kw_only=True):
    """The same interval with infinitely many replicates."""

    ci: Annotated[IntervalLimits, _said("Interval of the difference.")]
    display_ci: Annotated[IntervalLimits, _said("exp(ci) for perplexity; else ci itself.")]
    distance: Annotated[float | None, _said("Largest distance of the random limits from these, in standard errors.")]
    source: Annotated[str, _said("How the distribution was computed.")]


class PublishedInterval(Facts, frozen=True, kw_only=True):
    """The interval of the published recipe, where it is not ours: for comparison, nothing rests on it.

    Single windows are drawn by their tokens and their plain mean is taken; plain BCa, limits as computed.
    """

    method: Annotated[str, _said("bca-plain; percentile where its acceleration is undefined.")]
    scheme: Annotated[Literal["tokens"], _said("Windows are drawn by their tokens.")]
    replicates: Annotated[int, _said("Random replicates, with the seed of ours.")]
    ci: Annotated[IntervalLimits, _said("Interval of the difference.")]
    display_ci: Annotated[IntervalLimits, _said("exp(ci).")]


class BitsOfBoth(Facts, frozen=True, kw_only=True):
    """Comparable between tokenizers; of the final windows."""

    baseline: Annotated[float, _said("Of the baseline.")]
    subject: Annotated[float, _said("Of the subject.")]
    difference: Annotated[float, _said("Subject − baseline.")]
    ci: Annotated[IntervalLimits, _said("Interval of the difference.")]


class DriftOfSplits(Facts, frozen=True, kw_only=True):
    """The subject's final windows against its preview windows, judged against their own sampling noise."""

    ratio: Annotated[float, _said("Perplexity of the final over the preview windows.")]
    log_ratio: Annotated[float, _said("Mean loss of the final minus that of the preview windows.")]
    standard_error: Annotated[float, _said("Of log_ratio.")]
    degrees_of_freedom: Annotated[float | None, _said("Welch's; null in format 2.")]
    ci: Annotated[IntervalLimits | None, _said("Interval of log_ratio, at the policy's level; null in format 2.")]
    display_ci: Annotated[IntervalLimits | None, _said("exp(ci); null in format 2, or too large for numbers.")]
    test: Annotated[Literal["welch"], _said("The test of no drift.")]
    version: Annotated[int, _said("Version of that test.")]
    p_value: Annotated[float, _said("Of that test.")]
    alarm_level: Annotated[float, _said("p below this is an alarm.")]
    alarm: Annotated[bool, _said("More drift than splitting the same text at random explains.")]


class RuleOutcome(Facts, frozen=True, kw_only=True, tag_field="name"):
    """A rule by name and version, whether it holds, and the numbers it is judged by."""

    version: Annotated[int, _said("Version of the rule.")]
    ok: Annotated[bool, _said("Whether it holds.")]


class PairingRule(RuleOutcome, frozen=True, kw_only=True, tag="pairing"):
    paired: Annotated[int, _said("pairing: windows that both systems have.")]
    windows: Annotated[int, _said("pairing, overlap: windows of either system.")]


class OverlapRule(RuleOutcome, frozen=True, kw_only=True, tag="overlap"):
    overlapping: Annotated[int, _said("overlap: windows that share predicted tokens, or an id, with another one.")]
    windows: Annotated[int, _said("pairing, overlap: windows of either system.")]
    by: Annotated[OverlapFrom, _said("overlap: what it was computed from.")]


class EqualCountsRule(RuleOutcome, frozen=True, kw_only=True, tag="equal counts"):
    preview: Annotated[int, _said("equal counts: preview windows.")]
    final: Annotated[int, _said("equal counts: final windows.")]


class EqualWeightsRule(RuleOutcome, frozen=True, kw_only=True, tag="equal weights"):
    items: Annotated[int, _said("equal weights: paired items.")]
    effective: Annotated[float, _said("equal weights, minima: as how many of equal weight or length they count.")]
    lightest: Annotated[float, _said("equal weights: the smallest weight.")]
    heaviest: Annotated[float, _said("equal weights: the largest weight.")]
    allowed: Annotated[Weights, _said("equal weights: what the policy allows.")]


class MinimumRule(RuleOutcome, frozen=True, kw_only=True):
    used: Annotated[int, _said("minima: paired windows or items of the split.")]
    effective: Annotated[float, _said("equal weights, minima: as how many of equal weight or length they count.")]
    required: Annotated[int, _said("minima: how many the policy asks for.")]


class PreviewMinimumRule(MinimumRule, frozen=True, kw_only=True, tag="preview minimum"):
    pass


class FinalMinimumRule(MinimumRule, frozen=True, kw_only=True, tag="final minimum"):
    pass


AnyRule = PairingRule | OverlapRule | EqualCountsRule | EqualWeightsRule | PreviewMinimumRule | FinalMinimumRule


class Decision(Facts, frozen=True, kw_only=True):
    """The bound decides, not the point."""

    rule: Annotated[Literal["bound"], _said("How it was decided: by the bound of the interval.")]
    version: Annotated[int, _said("Version of that rule.")]
    verdict: Annotated[GateVerdict, _said("The answer.")]
    limit: Annotated[float, _said("The limit that was applied: a ratio, or a difference of scores or bits.")]
    bound: Annotated[float, _said("The limit of the interval that decided.")]
    windows_needed: Annotated[int | None, _said("Windows that would settle it, if the estimate stays where it is.")]


class EvidenceFile(Facts, frozen=True, kw_only=True):
    """The rows of both systems, in a file beside the certificate."""

    file: Annotated[str, _said("Its name.")]
    sha256: Annotated[Digest, _said("Its digest.")]
    rows: Annotated[int, _said("Rows of both systems together.")]
