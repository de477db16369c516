"""How numbers are computed, in a sentence or two each, with the page of the documentation that says it in full."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Method:
    """How a number came about."""

    text: str
    page: str  # of the documentation


_DIFFERENCE = Method(
    "The paired difference B − A: sums over the units that both systems have, divided by the sum of their weights "
    "(tokens, for losses). The interval is of that ratio of sums.",
    "intervals.md",
)
_EFFECT = Method(
    "A standardised difference: the mean of the paired differences over a standard deviation. d_z divides by that of "
    "the differences, Hedges' g is d_z corrected for few units, d_av divides by the average of the two systems.",
    "tests.md",
)

#: By the label of the number; a label that starts with a key has its method.
_METHODS = {
    "difference": _DIFFERENCE,
    "score difference": _DIFFERENCE,
    "perplexity": Method(
        "exp(difference of token-weighted mean log-losses): the ratio of the two perplexities. Its limits are those of "
        "the difference, exponentiated.",
        "intervals.md",
    ),
    "with all resamples": Method(
        "The same interval over all resamples that could be drawn, without random numbers.", "intervals.md"
    ),
    "bits per": Method(
        "Summed log-loss in bits over bytes or characters of the text, which do not depend on the tokenizer.",
        "intervals.md",
    ),
    "test": Method(
        "Two-sided and paired. Sign-flip: every difference might as well have had the other sign. McNemar: the same "
        "for scores of 0 and 1, from the items on which the systems disagree. By default p is at most 1 − level "
        "exactly where the interval leaves out 0.",
        "tests.md",
    ),
    "effect size": _EFFECT,
    "interval": Method(
        "Tango: the differences of two shares that a score test does not reject. BCa: the bootstrap distribution, read "
        "at levels corrected for its bias and skewness, and widened for few units. Exact means all resamples at once, "
        "by inversion, not a random selection of them.",
        "intervals.md",
    ),
    "scheme": Method(
        "How units are drawn. By tokens where all windows are about the same length; otherwise whole windows, with "
        "the ratio of sums computed anew for each resample.",
        "intervals.md",
    ),
    "limit": Method(
        "The largest ratio of perplexities, or the largest fall of a score, that the policy lets pass.", "gate-in-ci.md"
    ),
    "preview → final drift": Method(
        "Do the two halves of the windows agree on the ratio, given their sampling noise?", "gate-in-ci.md"
    ),
    "top score": Method(
        "The best of several is partly the luckiest; the corrected score takes that luck off.", "rank.md"
    ),
    "may be best": Method("Models that the tests leave as candidates for the first place.", "rank.md"),
    "tests": Method("All pairs, adjusted so that a false difference anywhere is rare.", "rank.md"),
    "all bins": Method("Intervals that hold for all bins at once, from the largest deviation over them.", "context.md"),
    "one bin": Method("An interval for each bin alone.", "context.md"),
    "detectable": Method(
        "The smallest true difference that would be found with the stated power, given the noise between runs.",
        "reliability.md",
    ),
    "noise of": Method("The standard deviation of an overall score between repeated runs.", "reliability.md"),
    "scripts": Method("Which characters count as hiragana, katakana and kanji.", "japanese.md"),
    "loss (nats": Method("Summed log-loss over the predicted tokens, divided by their number.", "intervals.md"),
    "score": Method("The mean over the items, weighted where the file has weights.", "intervals.md"),
    "pairs": Method("The units that both systems have, paired by id; those of only one are counted.", "input-files.md"),
    "clusters": Method("What is drawn as a whole, because its parts are not independent.", "intervals.md"),
    "tiers": Method("Models that no test tells apart share a letter; a tier is a step that tests confirm.", "rank.md"),
    "data": Method("The items that models share, and the clusters they come in.", "rank.md"),
    "Kendall's τ": Method("How far the order of the models is the same in two runs, from −1 to 1.", "reliability.md"),
    "whole order": Method("The share of pairs of runs that put all models in the same order.", "reliability.md"),
    "items": Method("How many units; in a plan, how many the stated difference and power take.", "power.md"),
    "power": Method("The chance that the test finds the stated difference if it is real.", "power.md"),
    "level": Method("One minus the chance of a false alarm, adjusted for the number of comparisons.", "power.md"),
    "sd of a difference": Method("The spread of paired differences between single items.", "power.md"),
    "design effect": Method("By how much clusters or unequal weights raise the variance.", "power.md"),
    "correlation": Method("Of the two systems' scores over the items: the higher, the fewer items.", "power.md"),
    "evidence": Method("The losses or scores from which every number can be computed again.", "verify.md"),
    "pilot": Method("What the power is computed from: variances and correlations of the data given.", "power.md"),
}


def method_of(label: str) -> Method | None:
    """How the number with this label is computed, where a sentence on it exists: the longest key that fits."""
    found = [key for key in _METHODS if label.startswith(key)]
    return _METHODS[max(found, key=len)] if found else None
