"""The certificate, field by field. `assay schema certificate` prints it; the documentation is made from it.

The names of the sources are kept, in both spellings (P7). What is undefined is null, with a reason beside it.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA = "assay/certificate/1"

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

    name: str
    file: str | None = Field(description="Name of the input file, without its folder; null for a table in memory.")
    sha256: Digest | None = Field(description="Digest of the input file.")
    model: str | None = Field(description="Digest of the model's weights, where the run has it.")
    tokenizer: str | None = Field(description="Digest of the tokenizer, where the run has it.")


class Systems(Part):
    baseline: System
    subject: System


class Limits(Part):
    """What the tier demands, after overrides."""

    windows: int = Field(description="Least number of preview windows, and of final ones; for scores: of items.")
    replicates: int = Field(description="Random replicates of the interval.")
    max_ratio: float = Field(description="Largest acceptable ratio of perplexities.")
    max_drop: float = Field(description="Largest acceptable fall of a mean score.")


class PolicyPart(Part):
    """What the certificate was judged by."""

    tier: Literal["balanced", "conservative", "aggressive"]
    profile: Literal["dev", "ci", "release"]
    level: float = Field(description="Confidence level of the intervals.")
    limits: Limits
    overrides: list[str] = Field(description="The limits that differ from the tier's own.")
    note: str | None = Field(description="The audit note: why they differ.")


class PrimaryMetric(Part):
    """The number the decision is about, in the sources' first spelling."""

    kind: Literal["perplexity", "score"]
    lower_is_better: bool
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

    replicates: int
    seed: int
    method: str = Field(description="bca, or what it fell back to.")
    scheme: Literal["tokens", "windows"] = Field(description="What was drawn (C4).")
    scheme_reason: str
    fallbacks: list[str]


class Covered(Part):
    used: int = Field(description="Paired windows.")
    required: int = Field(description="The tier's minimum.")
    ok: bool


class Coverage(Part):
    preview: Covered | None
    final: Covered


class WindowStats(Part):
    window_match_fraction: float = Field(description="Windows that both systems have, of all windows.")
    window_overlap_fraction: float = Field(description="Windows that share tokens (or an id) with another one.")
    overlap_from: Literal["token spans", "window ids"] = Field(description="What the overlap was computed from.")
    paired_windows: int = Field(description="Paired windows of the split that the ratio is about.")
    paired_delta_summary: Summary
    bootstrap: Bootstrap
    coverage: Coverage
    clusters: int | None = Field(description="Clusters that were drawn whole.")
    cluster_by: str | None
    tokens: int | None = Field(description="Predicted tokens of the final windows; null for scores.")


class Windows(Part):
    stats: WindowStats


class Dataset(Part):
    windows: Windows


class PplStats(Part):
    bootstrap: Bootstrap
    paired_delta_summary: Summary


class Ppl(Part):
    """The same numbers in the sources' second spelling."""

    preview_final_ratio: float = Field(
        description="exp(weighted mean Δ), as the source defines it. What changed from preview to final is in `drift`."
    )
    logloss_delta_ci: Pair
    ratio_ci: Pair = Field(description="exp(logloss_delta_ci).")
    stats: PplStats


class Exact(Part):
    """The same interval with infinitely many replicates."""

    ci: Pair
    display_ci: Pair
    distance: float | None = Field(description="Largest distance of the random limits from these, in standard errors.")
    source: str = Field(description="How the distribution was computed.")


class Bits(Part):
    """Comparable between tokenizers."""

    baseline: float
    subject: float
    difference: float
    ci: Pair


class Drift(Part):
    """The subject's final windows against its preview windows, judged against their own sampling noise (P11)."""

    ratio: float = Field(description="Perplexity of the final over the preview windows.")
    log_ratio: float
    standard_error: float
    p_value: float
    alarm: bool = Field(description="p below 0.01: more drift than splitting the same text at random explains.")


class Rule(Part):
    name: str
    ok: bool
    detail: str


class Decision(Part):
    """The bound decides, not the point."""

    verdict: Literal["pass", "regression", "insufficient evidence"]
    limit: float = Field(description="The limit that was applied: a ratio, or a difference of scores.")
    bound: float = Field(description="The limit of the interval that decided.")
    sentence: str
    windows_needed: int | None = Field(description="Windows that would settle it, if the estimate stays where it is.")


class EvidencePart(Part):
    """The paired rows, in a file beside the certificate."""

    file: str
    sha256: Digest
    rows: int


class Certificate(Part):
    """May the subject replace the baseline?"""

    schema_: Literal["assay/certificate/1"] = Field(alias="schema", description="Version of this format.")
    meta: Meta
    systems: Systems
    policy: PolicyPart
    primary_metric: PrimaryMetric
    ppl: Ppl | None = Field(description="Null for scores.")
    dataset: Dataset
    exact: Exact
    bits_per_byte: Bits | None
    bits_per_character: Bits | None
    drift: Drift | None = Field(description="Null without preview windows.")
    rules: list[Rule] = Field(description="What ci and release insist on, and dev reports.")
    decision: Decision
    evidence: EvidencePart
    signature: str = Field(description="One line that reproduces the result.")
    digest: Digest = Field(description="sha256 of the canonical JSON of every other field.")
