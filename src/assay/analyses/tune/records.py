"""What is found out about training runs: records that become plain data and come back from it."""

from dataclasses import dataclass
from typing import Literal

from assay.analyses.comparison import Comparison
from assay.stats.records import Estimate, Test

Status = Literal["met", "not met", "not measured"]
Group = Literal["target", "primary", "secondary"]
Resting = Literal["flat", "still falling", "rising", "not shown", "not measured"]
Shown = Literal["shown", "seen but not tested", "not shown", "not measured"]
Better = Literal["better", "worse", "no difference shown", "not measured"]

NO_LANGUAGE_MODEL = "no log says that the loss is a language model's"


@dataclass(frozen=True, slots=True)
class Plateau:
    """Whether the training loss has come to rest over the last part of the run."""

    verdict: Resting
    change: Estimate  # nats, over the steps below
    first_step: int
    tolerance: float | None  # nats: 1 % of the whole improvement; a smaller change is flat


@dataclass(frozen=True, slots=True)
class Overfitting:
    """Validation rises while training falls, over the second half of the validation points or over all of them.

    Seen but not tested: validation rose at every evaluation, too few to show it by an interval.
    """

    verdict: Shown
    valid_change: Estimate  # nats
    train_change: Estimate
    first_step: int | None
    best_step: int | None
    best_loss: float | None
    rise: float | None  # the last validation loss less the best


@dataclass(frozen=True, slots=True)
class Gradients:
    """Norms of the gradient."""

    verdict: Literal["stable", "unstable", "not measured"]
    why: str
    points: int
    mean: float | None
    variance: float | None
    variation: float | None  # standard deviation over mean, in the last half
    spikes: tuple[int, ...]  # steps


@dataclass(frozen=True, slots=True)
class RunSummary:
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


@dataclass(frozen=True, slots=True)
class Curve:
    """A line with a band, thinned out for a chart."""

    steps: tuple[int, ...]
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Arm:
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
    loss_curve: Curve
    valid_curve: Curve | None
    gradient_curve: Curve | None
    language_model: bool = True  # its losses are nats per token, and their exponentials perplexities


@dataclass(frozen=True, slots=True)
class Recipe:
    """Significance as a widespread recipe has it, beside ours: its interval is for one value less another."""

    t: float | None
    p_value: float | None
    cohens_d: (
        float | None
    )  # over the root mean square of the two standard deviations: d_av, with variances that divide by n
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Contrast:
    """An arm against the baseline: significance and gains (T10)."""

    baseline: str
    arm: str
    verdict: Better
    sentence: str
    windows: Comparison | None  # would other text change it?
    seeds: Estimate  # would other seeds change it? nats
    seeds_test: Test
    paired_seeds: bool
    recipe: Recipe | None
    ratios: dict[str, Estimate]  # perplexity, parameters, memory, time_per_step, time, …: arm over baseline
    accuracy: str | None = None  # the measure that ratios["accuracy"] is of


@dataclass(frozen=True, slots=True)
class RatePoint:
    rate: float
    loss: float | None  # validation, mean over seeds
    n: int
    diverged: int


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The held-out loss over learning rates, each trained from the same start on the same data."""

    arm: str
    points: tuple[RatePoint, ...]
    variation: float | None  # standard deviation over mean
    best: float | None
    at_edge: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Criterion:
    """A target or success criterion, and whether it is met."""

    name: str
    group: Group
    arm: str
    wanted: str
    status: Status
    estimate: Estimate
    why: str


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What to do, and the numbers it follows from."""

    text: str
    because: str
