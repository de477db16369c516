"""Sentences that a paper can print as they are: against baselines, rankings, noise, gaps, intervals, runs (S10).

Each is complete in itself, with its interval and test. What the data do not support is said as that, and marked.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.analyses.survey.evidence import LEFT_OUT, POOLED
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.sentences import Statement
from assay.results import words
from assay.stats.records import Estimate, Interval

if TYPE_CHECKING:
    from assay.analyses.reliability.result import ModelRuns
    from assay.analyses.survey.baseline_tests import Against
    from assay.analyses.survey.baselines import Baselines
    from assay.analyses.survey.category_gaps import Fairness
    from assay.analyses.survey.intervals import ScoreIntervals
    from assay.analyses.survey.noise import NoiseCeiling
    from assay.analyses.survey.order import ModelPairs, RepeatedRuns

MOST_NAMED = 8  # models or pairs in a sentence
STABLE = 0.95  # an intraclass correlation above which the published recipe calls predictions stable
_BASELINES = {
    "uniform": "a uniform prediction",
    LEFT_OUT: "the population marginal (the answers of everybody outside the segment)",
    POOLED: "the population marginal (the answers of all other segments)",
}


def paper_of(analyses: Mapping[str, SurveyAnalysis]) -> Iterator[Statement]:
    """What a paper may print of these analyses, in the order of its usual sections."""
    for name, said in _SAID.items():
        if name in analyses:
            yield from said(analyses[name])


def _percent(level: float) -> str:
    return words.percent(level).replace(" ", "")


def _ci(limits: Interval, digits: int = 3) -> str:
    return f"{_percent(limits.level)} CI {limits.low:.{digits}f} to {limits.high:.{digits}f}"


def _alpha(level: float) -> str:
    return f"p < {words.number(1 - level, 3)}"


# ----------------------------------------------------------------------------------------------------------- baselines


def _baselines(found: "Baselines") -> Iterator[Statement]:
    tested = [one for one in found.against if one.p_adjusted is not None]
    for baseline, name in _BASELINES.items():
        own = [one for one in tested if one.baseline == baseline]
        if own:
            yield _effect(own, name, len(tested))


def _effect(own: "Sequence[Against]", name: str, family: int) -> Statement:
    """The effect of the best model that is above, or that none is shown to be."""
    best = max(own, key=lambda one: one.difference.value or 0.0)
    above = [one for one in own if one.position == "above"]
    about = f"CI and p adjusted for {words.count(family, 'comparison')}, {best.n_questions} questions as clusters"
    if not above:
        least = min(one.p_adjusted for one in own if one.p_adjusted is not None)
        none = "No model is" if len(own) > 1 else f"{best.model} is not"
        text = f"{none} shown to score above {name} (smallest {words.p_value(least)}; {about}"
        return Statement(f"{text}; largest difference {_difference(best)}).", holds=False)
    top = max(above, key=lambda one: one.difference.value or 0.0)
    who = f"{len(above)} of {len(own)} models score" if len(own) > 1 else f"{top.model} scores"
    first = f"; the best, {top.model}, by" if len(own) > 1 else ", by"
    return Statement(f"{who} significantly above {name}{first} {_difference(top)}; {about}).", holds=True)


def _difference(one: "Against") -> str:
    """0.134 (95% CI 0.044 to 0.245; d_z = 1.17; p = 0.0039, without the closing bracket."""
    limits, size = one.together, one.effect_sizes.get("d_z")
    parts = [] if limits is None else [_ci(limits)]
    parts += [] if size is None or size.value is None else [f"d_z = {size.value:.2f}"]
    parts += [] if one.p_adjusted is None else [words.p_value(one.p_adjusted)]
    return f"{one.difference.value or 0.0:.3f} ({'; '.join(parts)}"


# ------------------------------------------------------------------------------------------------------ ranks and noise


def _pairs(found: "ModelPairs") -> Iterator[Statement]:
    board = found.leaderboard
    if board is None:
        return
    apart = [pair for pair in board.pairs if pair.verdict != "not told apart"]
    how = f"{_alpha(board.design.level)} ({board.pairs.test.names} test, questions as clusters, Holm-adjusted)"
    if not apart:
        none = f"None of {words.count(len(board.pairs), 'difference')} between models is significant at {how}."
        yield Statement(none, holds=False)
        return
    named = [f"{_order(pair)} ({words.p_value(pair.p_adjusted or 0.0)})" for pair in apart[:MOST_NAMED]]
    more = f" and {len(apart) - MOST_NAMED} more" if len(apart) > MOST_NAMED else ""
    of = f"{len(apart)} of {words.count(len(board.pairs), 'difference')} between models"
    yield Statement(
        f"{of} {'is' if len(apart) == 1 else 'are'} significant at {how}: {', '.join(named)}{more}.", holds=True
    )


def _order(pair: Any) -> str:
    better, worse = (pair.a, pair.b) if (pair.difference.value or 0.0) > 0 else (pair.b, pair.a)
    return f"{better} above {worse}"


def _noise(found: "NoiseCeiling") -> Iterator[Statement]:
    one = found.overall
    yield Statement(
        f"{100 * one.above:.1f}% of {one.cells:,} questions × segments have enough respondents for a perfect "
        f"prediction to score {found.threshold:g} or more on average; over all of them, a perfect prediction would "
        f"score {one.ceiling:.3f}.",
        holds=True,
    )


# -------------------------------------------------------------------------------------------------- gaps and intervals


def _fairness(found: "Fairness") -> Iterator[Statement]:
    gaps = [gap for category in found.categories for gap in category.gaps if gap.p_adjusted is not None]
    limits = [
        f"{max(reach):.3f} in {category.name} ({_range(category.equal_n)} respondents)"
        for category in found.categories
        if (reach := [gap.reach for gap in category.gaps if gap.reach is not None])
    ]
    if not limits:
        yield Statement("No threshold for significant fairness gaps is known: no gap could be tested.", holds=False)
        return
    shown = sum(gap.shown_at(found.level) for gap in gaps)
    every = "every model" if len(gaps) == sum(len(one.gaps) for one in found.categories) else "every model tested"
    yield Statement(
        f"With segments at equal numbers of respondents, fairness gaps above {_and(limits)} are significant at "
        f"{_alpha(found.level)} for {every}, adjusted for {words.count(len(gaps), 'gap')}; {shown} of {len(gaps)} "
        f"{'is' if shown == 1 else 'are'} significant.",
        holds=True,
    )


def _range(numbers: tuple[int, int]) -> str:
    return f"{numbers[0]:,}" if numbers[0] == numbers[1] else f"{numbers[0]:,} to {numbers[1]:,}"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _intervals(found: "ScoreIntervals") -> Iterator[Statement]:
    given = [m for m in found.models if m.corrected.interval is not None]
    level = _percent(found.level)
    for m in found.models:
        if m.corrected.interval is None:
            yield Statement(f"No {level} CI is given for the score of {m.model}: {m.corrected.reason}.", holds=False)
    if not given:
        return
    named = [f"{m.model} {_score(m.corrected)}" for m in given[:MOST_NAMED]]
    more = f" and {len(given) - MOST_NAMED} more" if len(given) > MOST_NAMED else ""
    all_of = "All scores" if len(given) == len(found.models) else f"The scores of {len(given)} models"
    yield Statement(
        f"{all_of} carry {level} CIs that account for who was asked, with the sampling noise of the respondents taken "
        f"off: {', '.join(named)}{more}.",
        holds=True,
    )


def _score(found: Estimate) -> str:
    assert found.interval is not None
    return f"{found.value:.3f} ({_ci(found.interval)})"


# -------------------------------------------------------------------------------------------------------- repeated runs


def _repeats(found: "RepeatedRuns") -> Iterator[Statement]:
    runs = found.found
    if runs is None:
        yield Statement(
            f"Test–retest reliability and the minimum detectable difference are unknown: {found.reason}.", holds=False
        )
        return
    yield from _icc(runs.models)
    least, power = runs.detectable, _percent(runs.goal.power)
    if least.one_run is None or least.all_runs is None:
        yield Statement(f"The minimum detectable difference is unknown: {least.reason}.", holds=False)
        return
    text = f"The minimum detectable score difference between two models is {least.one_run:.4f} for single runs"
    if least.one_run_limits is not None:
        text += f" ({_ci(least.one_run_limits, 4)})"
    means = f" and {least.all_runs:.4f} for means of {least.n_runs} runs" if least.n_runs > 1 else ""
    yield Statement(f"{text}{means}, with {power} power against run-to-run noise.", holds=True)


def _icc(models: "Sequence[ModelRuns]") -> Iterator[Statement]:
    known = [(m.name, m.icc["ICC(2,1)"]) for m in models if m.icc["ICC(2,1)"].value is not None]
    if not known:
        yield Statement("No intraclass correlation of repeated runs is known.", holds=False)
        return
    known.sort(key=lambda one: one[1].value or 0.0)
    low, high = known[0], known[-1]
    found = _correlation(*low) if len(known) == 1 else f"from {_correlation(*low)} to {_correlation(*high)}"
    limits = [one.interval for _, one in known]
    stable = all(limit is not None and limit.low > STABLE for limit in limits)
    begin = (
        f"Predictions are stable across repeated runs (ICC > {STABLE:g})"
        if stable
        else "Predictions repeat across runs"
    )
    yield Statement(f"{begin} with an intraclass correlation ICC(2,1) of single scores {found}.", holds=True)


def _correlation(name: str, found: Estimate) -> str:
    limits = "" if found.interval is None else f"{_ci(found.interval)}; "
    return f"{found.value:.3f} ({limits}{name})"


_SAID: dict[str, Callable[[Any], Iterator[Statement]]] = {
    "baselines": _baselines,
    "pairs": _pairs,
    "noise": _noise,
    "fairness": _fairness,
    "intervals": _intervals,
    "repeats": _repeats,
}
