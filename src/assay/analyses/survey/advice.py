"""What to do where the signal is weak (S11), each with the numbers that say so."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from assay.analyses.survey.baselines import Baselines
from assay.analyses.survey.evidence import FEW_RESPONDENTS
from assay.analyses.survey.fairness import Fairness
from assay.analyses.survey.intervals import ScoreIntervals
from assay.analyses.survey.noise import NoiseCeiling
from assay.analyses.survey.order import ModelPairs, RepeatedRuns, SegmentWeights
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.scores import Scores
from assay.analyses.survey.sentences import NOTABLE, Advice
from assay.results import words

HIGH_ENOUGH = 0.9  # of the cells should be able to reach the threshold
MANY_SMALL = 0.25  # of the segments: more than that should not be small
WIDE_GAP = 0.05  # a gap that sample size alone gives, and that would be read as unfair
CLOSE = 0.5  # of a range: a model in the lower half adds little to the marginal


def advice_on(analyses: Mapping[str, SurveyAnalysis]) -> Iterator[Advice]:
    """What these results recommend; nothing where no weakness was found in the analyses that ran."""
    for kind, rule in _RULES.items():
        if kind in analyses:
            yield from rule(analyses[kind])


def _from_scores(found: Scores) -> Iterator[Advice]:
    bad = [model for model in found.models if model.failed >= NOTABLE]
    if bad:
        worst = max(bad, key=lambda model: model.failed)
        yield Advice(
            "Repair the answers that could not be read before models are compared, or report the honest score.",
            f"{words.count(len(bad), 'model')} failed in 1 % of the answers or more, {worst.model} in "
            f"{100 * worst.failed:.1f} %.",
        )


def _from_baselines(found: Baselines) -> Iterator[Advice]:
    tested = [null for null in found.shuffled[1:] if null.p_adjusted is not None]
    lacking = [null for null in tested if null.p_adjusted is not None and null.p_adjusted > 1 - found.level]
    if lacking:
        yield Advice(
            "Ask questions on which segments differ, or use coarser segments.",
            f"{len(lacking)} of {len(tested)} models score no better with their predictions on the right segments than "
            "with them shuffled.",
        )


def _from_noise(found: NoiseCeiling) -> Iterator[Advice]:
    low = [part for part in found.segments if part.ceiling < found.threshold]
    few = sum(part.respondents < FEW_RESPONDENTS for part in found.segments)
    if found.overall.above < HIGH_ENOUGH or few > MANY_SMALL * len(found.segments):
        yield Advice(
            f"Raise the minimum number of respondents (`min_n={FEW_RESPONDENTS}`), or merge small segments.",
            f"{100 * found.overall.above:.0f} % of the questions × segments can reach {found.threshold:g} at all; "
            f"{few} of {len(found.segments)} segments have fewer than {FEW_RESPONDENTS} respondents"
            + (f", and in {len(low)} even a perfect prediction stays below it on average." if low else "."),
        )
    shares = [m.fraction.value for m in found.models if m.fraction.value is not None]
    if shares and max(shares) < CLOSE:
        yield Advice(
            "Report how much of the reachable range a model covers beside its score.",
            f"No model covers more than {100 * max(shares):.0f} % of the range between the population marginal and a "
            "perfect prediction, whatever its score.",
        )


def _from_intervals(found: ScoreIntervals) -> Iterator[Advice]:
    limits = [m.corrected.interval for m in found.models if m.corrected.interval is not None]
    known = [m.score for m in found.models if m.score is not None]
    if not limits or len(known) < 2:
        return
    half = max((one.high - one.low) / 2 for one in limits)
    steps = [a - b for a, b in pairwise(known)]
    close = sum(step < 2 * half for step in steps)
    if close:
        yield Advice(
            "Publish every score as point ± interval.",
            f"{close} of {len(steps)} neighbours in the ranking are closer than the interval of a score is wide "
            f"(±{half:.4f}, from the respondents alone).",
        )


def _from_pairs(found: ModelPairs) -> Iterator[Advice]:
    board = found.leaderboard
    if board is None:
        return
    open_pairs = len(board.pairs) - board.pairs.told_apart
    if open_pairs:
        yield Advice(
            "Publish tiers instead of ranks.",
            f"{open_pairs} of {len(board.pairs)} pairs of models are not told apart; {len(board.models)} models form "
            f"{words.count(len(board.tiers), 'tier')}.",
        )


def _from_weighting(found: SegmentWeights) -> Iterator[Advice]:
    moved = [other for other in found.others if other.moves]
    if not moved:
        return
    numbers = f"{len(moved)} of {len(found.others)} other weightings of segments change the ranking"
    reversed_pairs = max(other.reversed for other in moved)
    if reversed_pairs:
        yield Advice(
            "Weight segments by √n or n, and say how; small segments are mostly noise.",
            f"{numbers}, and reverse up to {words.count(reversed_pairs, 'pair')} of models that are told apart.",
        )
    else:
        yield Advice(
            "Say how segments are weighted, and do not rank models that trade places.",
            f"{numbers}, though only among models that are not told apart.",
        )


def _from_fairness(found: Fairness) -> Iterator[Advice]:
    wide = [category for category in found.categories if category.perfect_gap >= WIDE_GAP]
    if wide:
        named = ", ".join(f"{category.name} {category.perfect_gap:.2f}" for category in wide)
        yield Advice(
            "Do not publish max − min gaps; compare segments at equal numbers of respondents, or use coarser segments.",
            f"A perfect model would show these gaps by sample size alone: {named}.",
        )


def _from_repeats(found: RepeatedRuns) -> Iterator[Advice]:
    if found.found is None:
        yield Advice(
            "Ask at temperature 0, or several times, and report the noise between runs.",
            f"Here {str(found.reason).partition(';')[0]}.",
        )
        return
    across, detectable = found.found.across, found.found.detectable.one_run
    if across is None or detectable is None:
        return
    close = sum(abs(pair.difference) < detectable for pair in across.pairs)
    if close:
        yield Advice(
            "Average several runs of every model.",
            f"{close} of {len(across.pairs)} pairs of models differ by less than single runs can show "
            f"({detectable:.4f}).",
        )


_RULES: dict[str, Callable[[Any], Iterator[Advice]]] = {
    "scores": _from_scores,
    "baselines": _from_baselines,
    "noise": _from_noise,
    "intervals": _from_intervals,
    "pairs": _from_pairs,
    "weighting": _from_weighting,
    "fairness": _from_fairness,
    "repeats": _from_repeats,
}
