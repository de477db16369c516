"""How numbers are computed, in a sentence or two each, with the page of the documentation that says it in full."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a number came about."""

    text: str
    page: str  # of the documentation


_DIFFERENCE = Explanation(
    "The paired difference B − A: sums over the units that both systems have, divided by the sum of their weights "
    "(tokens, for losses). The interval is of that ratio of sums.",
    "intervals.md",
)
_EFFECT = Explanation(
    "A standardised difference: the mean of the paired differences over a standard deviation. d_z divides by that of "
    "the differences, Hedges' g is d_z corrected for few units, d_av divides by the average of the two systems.",
    "tests.md",
)

#: By the key of the number.
EXPLANATIONS = {
    "difference": _DIFFERENCE,
    "score difference": _DIFFERENCE,
    "perplexity ratio": Explanation(
        "exp(difference of token-weighted mean log-losses): the ratio of the two perplexities. Its limits are those of "
        "the difference, exponentiated.",
        "intervals.md",
    ),
    "with all resamples": Explanation(
        "The same interval over all resamples that could be drawn, without random numbers; and that of the published "
        "recipe (windows drawn by their tokens, plain BCa), on which nothing rests.",
        "intervals.md",
    ),
    "bits": Explanation(
        "Summed log-loss in bits over bytes or characters of the text, which do not depend on the tokenizer.",
        "intervals.md",
    ),
    "test": Explanation(
        "Two-sided and paired. Sign-flip: every difference might as well have had the other sign. McNemar: the same "
        "for scores of 0 and 1, from the items on which the systems disagree. By default p is at most 1 − level "
        "exactly where the interval leaves out 0.",
        "tests.md",
    ),
    "right": Explanation(
        "Items of 0/1 scores by who is right. Only those that one system alone has right tell the two apart.",
        "tests.md",
    ),
    "pairing": Explanation(
        "The correlation of the two means, from their standard errors and that of the difference; and how many fewer "
        "units that takes than an unpaired comparison as precise, 1 − Var(B − A) / (Var A + Var B).",
        "tests.md",
    ),
    "could have shown": Explanation(
        "The true difference that Student's t test on as many units, with the spread that was found, shows in 80% of "
        "studies.",
        "power.md",
    ),
    "effect size": _EFFECT,
    "interval": Explanation(
        "Tango: the differences of two shares that a score test does not reject. BCa: the bootstrap distribution, read "
        "at levels corrected for its bias and skewness, and widened for few units. Exact means all resamples at once, "
        "by inversion, not a random selection of them.",
        "intervals.md",
    ),
    "suite gate": Explanation(
        "The total, and groups of tasks, are within a limit where the bound of their interval is. A single task is "
        "beyond its limit where it is shown to have changed for the worse (Holm's p over all tasks) and is found "
        "beyond it; with `every`, each task's own bound must be within.",
        "suites.md",
    ),
    "gate ratio": Explanation(
        "After stopping early an estimate is too good, its interval too short. These are adjusted for the looks: the "
        "median-unbiased estimate, and the interval by stage-wise ordering.",
        "gate.md",
    ),
    "calibration": Explanation(
        "The share of simulations on data drawn again from these, with the truth known; ± the standard error of the "
        "simulation itself.",
        "calibrate.md",
    ),
    "watch": Explanation(
        "A confidence sequence: with this probability it never leaves out the truth, however often one looks. It is "
        "wider than an interval for one look, and needs items in random order.",
        "watch.md",
    ),
    "population": Explanation(
        "The items that are there are a random part of a fixed set: the error shrinks as the part grows, and is 0 at "
        "the end.",
        "watch.md",
    ),
    "gate p": Explanation(
        "How often a model at the limit would have ended as well for the verdict as this one, over all looks.",
        "gate.md",
    ),
    "gate looks": Explanation(
        "Looking several times would pass too many models, so each look may spend only a part of the error: little at "
        "first, most at the end. The interval of a look holds at all looks at once.",
        "gate.md",
    ),
    "gate order": Explanation(
        "The order of the windows is a function of the seed and their names, and the plan was fixed before the first "
        "look: nobody could stop where it suited.",
        "gate.md",
    ),
    "suite rows": Explanation(
        "Every task's own interval and test, adjusted for the number of tasks: a false difference in any of them is "
        "rare. The interval leaves out 0 exactly where the adjusted p-value is at most 1 − level.",
        "suites.md",
    ),
    "suite total": Explanation(
        "The mean of the tasks' differences, weighted as it says; its interval is about these tasks.",
        "suites.md",
    ),
    "tasks like these": Explanation(
        "The same mean with the tasks as a sample: Student's t over their differences, from five tasks on.",
        "suites.md",
    ),
    "runs like these": Explanation(
        "The same difference with the runs as a sample: what runs move by beyond the noise of single items is added to "
        "the variance. The interval above it is about these runs.",
        "suites.md",
    ),
    "tasks differ": Explanation(
        "Whether the tasks' differences differ from each other: Cochran's Q with the variances that each task would "
        "have at the common difference; Welch's test where scores are not 0/1, or come in clusters.",
        "suites.md",
    ),
    "mean of the tasks": Explanation(
        "The plain mean of the tasks' means, whatever their sizes; its limits combine those of the tasks (MOVER).",
        "suites.md",
    ),
    "scheme": Explanation(
        "How units are drawn. By tokens where all windows are about the same length; otherwise whole windows, with "
        "the ratio of sums computed anew for each resample.",
        "intervals.md",
    ),
    "training runs": Explanation(
        "Means over the seeds of an arm, with t intervals where there are several. Ratios are of an arm over the "
        "baseline. Significance is paired by validation window, with seeds as clusters; the base is the model "
        "at step 0, on the same text. What no log holds is not measured.",
        "tune.md",
    ),
    "limit": Explanation(
        "The largest ratio of perplexities, or the largest fall of a score, that the policy lets pass.", "gate-in-ci.md"
    ),
    "rules": Explanation("What the policy asks of the evidence before an interval is looked at.", "gate-in-ci.md"),
    "preview → final drift": Explanation(
        "Do the two halves of the windows agree on the ratio, given their sampling noise?", "gate-in-ci.md"
    ),
    "summarized models": Explanation(
        "Each model over the units that it answered. Scores from 0 to 1 have the interval of Agresti and Coull: a "
        "share of an effective number of items, with a few right and a few wrong ones added, so that all right is not "
        "certain. Others have BCa: the bootstrap distribution, read at levels corrected for bias and skewness.",
        "summarize.md",
    ),
    "detectable by one run": Explanation(
        "The least true difference to a second model that a t test on as many units shows in 80% of studies, if that "
        "model has the same spread and its answers are unrelated. Answers of correlation ρ bring it down by √(1 − ρ).",
        "summarize.md",
    ),
    "attempts": Explanation(
        "From c right of n attempts at an item: pass@k is 1 − C(n − c, k)/C(n, k), pass^k is C(c, k)/C(n, k), both "
        "unbiased. Means over items; intervals draw items, whose spread holds the noise of their attempts.",
        "summarize.md",
    ),
    "judges": Explanation(
        "First place: what the answer shown first gets of the wins where both models are as good, by least squares "
        "with a strength for each model; ½ where the place does not matter. Games on one prompt are drawn together. "
        "Longer answer: of games between answers of different length, which may be better answers too.",
        "judgments.md",
    ),
    "top score": Explanation(
        "The best of several is partly the luckiest; the corrected score takes that luck off.", "rank.md"
    ),
    "may be best": Explanation("Models that the tests leave as candidates for the first place.", "rank.md"),
    "tests": Explanation("All pairs, adjusted so that a false difference anywhere is rare.", "rank.md"),
    "other weights": Explanation(
        "The ranking under other weights against that of equal weights and all items: Kendall's τ, who moves, and "
        "whether any pair that is told apart changes its order.",
        "rank.md",
    ),
    "ranked models": Explanation(
        "Ranks are by score. “Ranks” are those that the tests leave open, “best” is the share of resamples in which "
        "the model is first, “set” marks the models that hold the best one at the level.",
        "rank.md",
    ),
    "ranked pairs": Explanation(
        "A − B on the units that both have answered; p is adjusted for the number of pairs. Intervals of “all pairs” "
        "hold for all of them at once and leave out 0 where the adjusted p-value rejects; “unadjusted” ones hold for "
        "one pair.",
        "rank.md",
    ),
    "ranked tasks": Explanation(
        "The score of every model in every task. The ranks are of the mean of the tasks, weighted as “total” says, and "
        "its tests and intervals are about these tasks.",
        "suites.md",
    ),
    "board changes": Explanation(
        "Ranks, the ranks that the tests leave open, and tiers on the board before and on this one. A model that joins "
        "adds pairs, so that adjusted p-values and what follows from them change; nothing of the old pairs by "
        "themselves does.",
        "rank.md",
    ),
    "rests on": Explanation(
        "Of pairs that are told apart: the task that adds most to the lead, and what the other tasks leave of it. A "
        "lead is lost where the task's part, its weight times the difference there, is all of it or more.",
        "suites.md",
    ),
    "all bins": Explanation(
        "Intervals that hold for all bins at once, from the largest deviation over them.", "context.md"
    ),
    "one bin": Explanation("An interval for each bin alone.", "context.md"),
    "detectable": Explanation(
        "The smallest true difference that would be found with the stated power, given the noise between runs.",
        "reliability.md",
    ),
    "run noise": Explanation("The standard deviation of an overall score between repeated runs.", "reliability.md"),
    "intraclass correlation": Explanation(
        "Shrout and Fleiss's intraclass correlations: the share of the variance that lies between the targets, for one "
        "run and for the mean of all, with F intervals.",
        "reliability.md",
    ),
    "variance components": Explanation(
        "The variance of a single score, split by an analysis of variance in which every factor is random.",
        "reliability.md",
    ),
    "scripts": Explanation("Which characters count as hiragana, katakana and kanji.", "japanese.md"),
    "scores of text": Explanation(
        "Character error rate: edits over the characters of the references. BLEU and chrF: of the counts of all "
        "sentences together, as sacrebleu computes them; sentence BLEU is the mean over sentences.",
        "japanese.md",
    ),
    "differences of text": Explanation(
        "B − A on the same sentences or documents. Randomization: their outputs might as well have been exchanged. "
        "Bootstrap alone: how often a resample lies as far from the difference as 0 does.",
        "japanese.md",
    ),
    "loss": Explanation("Summed log-loss over the predicted tokens, divided by their number.", "intervals.md"),
    "score": Explanation("The mean over the items, weighted where the file has weights.", "intervals.md"),
    "values": Explanation("Of the baseline and of the subject, on the units that both have.", "gate-in-ci.md"),
    "pairs": Explanation(
        "The units that both systems have, paired by id; those of only one are counted.", "input-files.md"
    ),
    "unweighted mean": Explanation(
        "The mean of the differences in which every unit counts the same, beside the one weighted by tokens: shown "
        "where differences go with length, so that the weighted mean rests on the longest units.",
        "intervals.md",
    ),
    "longest units": Explanation("What the ten longest units have of all tokens, or of all weight.", "intervals.md"),
    "clusters": Explanation("What is drawn as a whole, because its parts are not independent.", "intervals.md"),
    "tiers": Explanation(
        "Models that no test tells apart share a letter; a tier is a step that tests confirm.", "rank.md"
    ),
    "data": Explanation("The items that models share, and the clusters they come in.", "rank.md"),
    "Kendall's τ": Explanation(
        "How far the order of the models is the same in two runs, from −1 to 1.", "reliability.md"
    ),
    "whole order": Explanation("The share of pairs of runs that put all models in the same order.", "reliability.md"),
    "items": Explanation("How many units; in a plan, how many the stated difference and power take.", "power.md"),
    "power": Explanation("The chance that the test finds the stated difference if it is real.", "power.md"),
    "level": Explanation("One minus the chance of a false alarm, adjusted for the number of comparisons.", "power.md"),
    "sd of a difference": Explanation("The spread of paired differences between single items.", "power.md"),
    "discordant": Explanation("The items on which exactly one of the two systems is right.", "power.md"),
    "design effect": Explanation("By how much clusters or unequal weights raise the variance.", "power.md"),
    "correlation": Explanation("Of the two systems' scores over the items: the higher, the fewer items.", "power.md"),
    "evidence": Explanation("The losses or scores from which every number can be computed again.", "verify.md"),
    "against the marginal": Explanation(
        "The best model less what people answered who are not in the segment, paired by question; the interval holds "
        "for all models and baselines at once.",
        "survey.md",
    ),
    "pilot": Explanation("What the power is computed from: variances and correlations of the data given.", "power.md"),
}


def explanation_of(key: str | None) -> Explanation | None:
    """How the number with this key is computed, if that is explained."""
    return None if key is None else EXPLANATIONS.get(key)
