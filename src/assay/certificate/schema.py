"""The certificate, field by field. `assay schema certificate` prints it; the documentation is made from it.

The names that other tools look for are kept, in both spellings. What is undefined is null, with a reason beside it.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA = "assay/certificate/3"

Pair = Annotated[tuple[float, float], Field(description="Lower and upper limit.")]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class Part(BaseModel):
    """Unknown fields are refused, values are never converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Seeds(Part):
    bootstrap: int = Field(description="Seed of the random replicates.")


class Meta(Part):
    """Who wrote the certificate, with what. Only the digest, or a signature, protects these fields."""

    assay: str = Field(description="Version of Assay.")
    python: str = Field(description="Version of Python.")
    numpy: str = Field(description="Version of numpy.")
    created: str | None = Field(description="Time of issue (UTC), only if it was asked for.")
    seeds: Seeds


class System(Part):
    """A compared system. Only the digest, or a signature, protects these fields."""

    name: str = Field(description="What it is called: the model's name, or the file's without its extension.")
    file: str | None = Field(description="Name of the input file, without its folder; null for a table in memory.")
    sha256: Digest | None = Field(description="Digest of the input file.")
    model: str | None = Field(description="Digest of the model's weights, where the run has it.")
    tokenizer: str | None = Field(description="Digest of the tokenizer, where the run has it.")


class Systems(Part):
    baseline: System
    subject: System


class Measure(Part):
    """What the rows are of. Only the digest, or a signature, protects these fields."""

    task: str | None = Field(description="The task, or the group or pattern of tasks that was asked for.")
    tasks: list[str] = Field(description="The tasks whose items these are, where a harness names them.")
    metric: str | None = Field(description="The metric; perplexity for losses, null where nobody said.")
    filter: str | None = Field(description="The filter of the answers, where a harness has one.")
    scorer: str | None = Field(description="The scorer, where a harness has one.")


class Limits(Part):
    """What the tier demands, after overrides."""

    windows: int = Field(description="Least number of preview windows, and of final ones; for scores: of items.")
    replicates: int = Field(description="Random replicates of the interval, where it has any.")
    max_ratio: float = Field(description="Largest acceptable ratio of perplexities.")
    max_drop: float = Field(description="Largest acceptable fall of a mean score.")


class PolicyPart(Part):
    """What the certificate was judged by."""

    tier: Literal["balanced", "conservative", "aggressive"] = Field(description="Whose limits these are.")
    profile: Literal["dev", "ci", "release"] = Field(description="Whether broken rules are refused, or only reported.")
    level: float = Field(description="Confidence level of the intervals.")
    weights: Literal["equal", "any"] = Field(description="Whether scores may have unequal weights.")
    limits: Limits
    overrides: list[str] = Field(description="The limits that differ from the tier's own.")
    note: str | None = Field(description="The audit note: why they differ.")


class PrimaryMetric(Part):
    """The number the decision is about."""

    kind: Literal["perplexity", "score"] = Field(description="What was compared.")
    lower_is_better: bool = Field(description="Which direction is good; always true for perplexity.")
    preview: float | None = Field(description="The subject's perplexity on the preview windows.")
    final: float = Field(description="The subject's perplexity on the final windows, or its mean score.")
    ratio_vs_baseline: float | None = Field(description="exp(weighted mean Δ) over the final windows; null for scores.")
    difference_vs_baseline: float = Field(description="Weighted mean Δ of log-losses, or of scores.")
    standard_error: float | None = Field(description="Linearised standard error of the difference.")
    ci: Pair = Field(description="Interval of the difference.")
    display_ci: Pair = Field(description="exp(ci) for perplexity; ci itself for scores.")
    p_value: float | None = Field(description="Of the test named in `test`.")
    test: str = Field(description="The test of no difference.")


class Summary(Part):
    """The paired differences Δ of the windows that the ratio is about."""

    mean: float = Field(description="Token-weighted mean.")
    std: float | None = Field(description="Token-weighted standard deviation (n − 1); null for one window.")
    degenerate: bool = Field(description="All Δ are equal: the interval is collapsed.")


class Bootstrap(Part):
    """How the interval was computed."""

    replicates: int | None = Field(description="Random replicates; null where nothing is drawn, as for 0/1 scores.")
    seed: int = Field(description="Their seed.")
    method: str = Field(description="bca, or what it fell back to; tango for 0/1 scores.")
    scheme: Literal["tokens", "windows"] | None = Field(
        description="What was drawn: windows by their tokens, or uniformly; null where nothing is."
    )
    scheme_reason: str = Field(description="Why.")
    notes: list[str] = Field(description="What was done so that interval and test say the same of no difference.")
    fallbacks: list[str] = Field(description="What could not be done as asked, what was done instead, and why.")


class Covered(Part):
    used: int = Field(description="Paired windows.")
    effective: float = Field(
        description="As how many windows of equal weight they count: (Σw)²/Σw² of their tokens, or of items' weights."
    )
    required: int = Field(description="The tier's minimum.")
    ok: bool = Field(description="Whether there are enough; items must also count as enough, windows as half of it.")


class Coverage(Part):
    preview: Covered | None = Field(description="Null without preview windows.")
    final: Covered


class WindowStats(Part):
    window_match_fraction: float = Field(description="Windows that both systems have, of all windows.")
    window_overlap_fraction: float = Field(
        description="Windows that share predicted tokens (or an id) with another one."
    )
    overlap_from: Literal["token spans", "window ids"] = Field(description="What the overlap was computed from.")
    paired_windows: int = Field(description="Paired windows of the split that the ratio is about.")
    paired_delta_summary: Summary
    bootstrap: Bootstrap
    coverage: Coverage
    clusters: int | None = Field(description="Clusters that were drawn whole.")
    cluster_by: str | None = Field(description="The column that names the clusters; null without clusters.")
    tokens: int | None = Field(description="Predicted tokens of the final windows; null for scores.")


class Windows(Part):
    stats: WindowStats


class Dataset(Part):
    windows: Windows


class PplStats(Part):
    bootstrap: Bootstrap
    paired_delta_summary: Summary


class Ppl(Part):
    """The same numbers under other names, for tools that look for those."""

    preview_final_ratio: float = Field(
        description="exp(weighted mean Δ), baseline to subject, whatever its name says; preview to final is `drift`."
    )
    logloss_delta_ci: Pair = Field(description="Interval of the weighted mean Δ.")
    ratio_ci: Pair = Field(description="exp(logloss_delta_ci).")
    stats: PplStats


class Exact(Part):
    """The same interval with infinitely many replicates."""

    ci: Pair = Field(description="Interval of the difference.")
    display_ci: Pair = Field(description="exp(ci) for perplexity; ci itself for scores.")
    distance: float | None = Field(description="Largest distance of the random limits from these, in standard errors.")
    source: str = Field(description="How the distribution was computed.")


class Bits(Part):
    """Comparable between tokenizers; of the final windows."""

    baseline: float = Field(description="Of the baseline.")
    subject: float = Field(description="Of the subject.")
    difference: float = Field(description="Subject − baseline.")
    ci: Pair = Field(description="Interval of the difference.")


class Drift(Part):
    """The subject's final windows against its preview windows, judged against their own sampling noise."""

    ratio: float = Field(description="Perplexity of the final over the preview windows.")
    log_ratio: float = Field(description="Mean loss of the final minus that of the preview windows.")
    standard_error: float = Field(description="Of log_ratio.")
    p_value: float = Field(description="Of Welch's test.")
    alarm: bool = Field(description="p below 0.01: more drift than splitting the same text at random explains.")


class Rule(Part):
    name: str = Field(description="Which rule.")
    ok: bool = Field(description="Whether it holds.")
    detail: str = Field(description="What was found, and by how much it falls short.")


class Decision(Part):
    """The bound decides, not the point."""

    verdict: Literal["pass", "regression", "insufficient evidence"] = Field(description="The answer.")
    limit: float = Field(description="The limit that was applied: a ratio, or a difference of scores.")
    bound: float = Field(description="The limit of the interval that decided.")
    sentence: str = Field(description="The answer for a person.")
    windows_needed: int | None = Field(description="Windows that would settle it, if the estimate stays where it is.")


class EvidencePart(Part):
    """The rows of both systems, in a file beside the certificate."""

    file: str = Field(description="Its name.")
    sha256: Digest = Field(description="Its digest.")
    rows: int = Field(description="Rows of both systems together.")


class Certificate(Part):
    """May the subject replace the baseline?"""

    schema_: Literal["assay/certificate/3"] = Field(alias="schema", description="Version of this format.")
    meta: Meta
    systems: Systems
    measure: Measure
    policy: PolicyPart
    primary_metric: PrimaryMetric
    ppl: Ppl | None = Field(description="Null for scores.")
    dataset: Dataset
    exact: Exact
    bits_per_byte: Bits | None = Field(description="Null without byte counts.")
    bits_per_character: Bits | None = Field(description="Null without character counts.")
    drift: Drift | None = Field(description="Null without preview windows.")
    rules: list[Rule] = Field(description="What ci and release insist on, and dev reports.")
    decision: Decision
    evidence: EvidencePart
    signature: str = Field(description="One line that reproduces the result.")
    digest: Digest = Field(description="sha256 of the canonical JSON of every other field.")
