"""What is found out about training runs: the records that a tuning report is made of."""

from dataclasses import dataclass
from typing import Literal

import msgspec

from assay.analyses.compare.result import Comparison
from assay.stats.records import Estimate, Test

CriterionStatus = Literal["met", "not met", "not measured"]
CriterionGroup = Literal["target", "primary", "secondary"]
PlateauVerdict = Literal["flat", "still falling", "rising", "not shown", "not measured"]
OverfittingVerdict = Literal["shown", "seen but not tested", "not shown", "not measured"]
ContrastVerdict = Literal["better", "worse", "no difference shown", "not measured"]

NO_LANGUAGE_MODEL = "no log says that the loss is a language model's"


class Plateau(msgspec.Struct, frozen=True):
    """Whether the training loss has come to rest over the last part of the run."""

    verdict: PlateauVerdict
    change: Estimate  # nats, over the steps below
    first_step: int
    tolerance: float | None  # nats: 1 % of the whole improvement; a smaller change is flat


class Overfitting(msgspec.Struct, frozen=True):
    """Validation rises while training falls, over the second half of the validation points or over all of them.

    Seen but not tested: validation rose at every evaluation, too few to show it by an interval.
    """

    verdict: OverfittingVerdict
    valid_change: Estimate  # nats
    train_change: Estimate
    first_step: int | None
    best_step: int | None
    best_loss: float | None
    rise: float | None  # the last validation loss less the best


class Gradients(msgspec.Struct, frozen=True):
    """Norms of the gradient."""

    verdict: Literal["stable", "unstable", "not measured"]
    why: str
    points: int
    mean: float | None
    variance: float | None
    variation: float | None  # standard deviation over mean, in the last half
    spikes: tuple[int, ...]  # steps


class RunSummary(msgspec.Struct, frozen=True):
    """One training run: convergence and gradients (T5)."""

    label: str
    kind: str
    seed: int | None
    learning_rate: float | None
    points: int  # logged losses
    last_step: int
    max_steps: int | None
    finished: bool
    diverged_at: int | None
    window: int  # logged points in a smoothed loss
    final_loss: Estimate  # training loss, mean of the last window
    stability: float | None  # 1 / (1 + variance of the last window)
    steps_to_95: int | None  # steps to 95 % of the final improvement
    convergence_step: int | None  # from here on the smoothed loss stays within 1 % of its last value
    plateau: Plateau
    overfitting: Overfitting
    gradients: Gradients
    validation_loss: float | None
    notes: tuple[str, ...]


class StepCurve(msgspec.Struct, frozen=True):
    """A line with a band, thinned out for a chart."""

    steps: tuple[int, ...]
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


class Arm(msgspec.Struct, frozen=True):
    """The runs of one way to train: estimates are means over its seeds."""

    name: str
    runs: tuple[RunSummary, ...]
    total: int | None  # parameters
    trainable: int | None
    share: float | None  # trainable / total
    memory: dict[str, Estimate]  # bytes
    memory_of: str | None
    time: dict[str, Estimate]  # T3
    quality: dict[str, Estimate]  # validation_loss, perplexity, character_accuracy, …
    quality_reason: str | None
    loss_curve: StepCurve
    valid_curve: StepCurve | None
    gradient_curve: StepCurve | None
    language_model: bool = True  # its losses are nats per token, and their exponentials perplexities


class Recipe(msgspec.Struct, frozen=True):
    """Significance as a widespread recipe has it, beside ours: its interval is for one value less another."""

    t: float | None
    p_value: float | None
    cohens_d: float | None  # d_av: over the root mean square of the two standard deviations, which divide by n
    low: float | None
    high: float | None


class Contrast(msgspec.Struct, frozen=True):
    """An arm against the baseline: significance and gains (T10)."""

    baseline: str
    arm: str
    verdict: ContrastVerdict
    sentence: str
    windows: Comparison | None  # would other text change it?
    seeds: Estimate  # would other seeds change it? nats
    seeds_test: Test
    paired_seeds: bool
    recipe: Recipe | None
    ratios: dict[str, Estimate]  # perplexity, parameters, memory, time_per_step, time, …: arm over baseline
    accuracy: str | None = None  # the measure that ratios["accuracy"] is of


class RatePoint(msgspec.Struct, frozen=True):
    rate: float
    loss: float | None  # validation, mean over seeds
    n: int
    diverged: int


class Sensitivity(msgspec.Struct, frozen=True):
    """The held-out loss over learning rates, each trained from the same start on the same data."""

    arm: str
    points: tuple[RatePoint, ...]
    variation: float | None  # standard deviation over mean
    best: float | None
    at_edge: bool
    sentence: str


class Criterion(msgspec.Struct, frozen=True):
    """A target or success criterion, and whether it is met."""

    name: str
    group: CriterionGroup
    arm: str
    wanted: str
    status: CriterionStatus
    estimate: Estimate
    why: str


class Recommendation(msgspec.Struct, frozen=True):
    """What to do, and the numbers it follows from."""

    text: str
    because: str

    def __str__(self) -> str:
        return f"{self.text} Because {self.because}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What an adapted model has to reach. Shares and reductions are parts of 1."""

    perplexity: float = 15.0  # the last grade that is acceptable
    trainable_share: float = 0.01
    memory_reduction: float = 0.40
    time_reduction: float = 0.20
    character_accuracy: float = 0.85
    hiragana: float = 0.90
    katakana: float = 0.88
    kanji: float = 0.80
    performance_loss: float = 0.10  # perplexity of the arm over the baseline's, less 1
    parameter_reduction: float = 0.99
    fluency_loss: float = 0.10  # character accuracy lost, as a part of the baseline's
