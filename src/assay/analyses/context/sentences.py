"""What a context curve says: a sentence per model and per difference."""

from collections.abc import Sequence

from assay.analyses.context.result import BinDifference, BinLoss
from assay.results import words
from assay.stats.records import Estimate, Test


def above_zero(estimate: Estimate, test: Test) -> bool:
    """Whether the interval shows a positive value; an interval without width shows nothing."""
    return test.statistic is not None and estimate.interval is not None and estimate.interval.low > 0


def below_zero(estimate: Estimate, test: Test) -> bool:
    return test.statistic is not None and estimate.interval is not None and estimate.interval.high < 0


def model_sentence(name: str, points: Sequence[BinLoss], last_gain: int | None, slope: Estimate) -> str:
    """How far context helps this model."""
    slope_text = _slope(slope)
    if last_gain is None:
        least = f"{points[0].bin} {_tokens(points[0].bin.high)}"
        return f"{name}: no help from context beyond {least} shown{_bracketed(slope_text)}."
    here, end = points[last_gain], points[last_gain + 1].bin
    assert here.gain is not None
    gain = f"at {here.bin} the loss is {_with_limits(here.gain)}"
    if last_gain + 1 == len(points) - 1:
        evidence = "; ".join(part for part in (gain, slope_text) if part)
        return f"{name}: context still helps at {end} tokens, the longest measured ({evidence})."
    until = f"{end} {_tokens(end.high)}"
    return f"{name}: context still helps up to {until} ({gain}); {_beyond(slope)}{_bracketed(slope_text)}."


def _tokens(n: int) -> str:
    return "token" if n == 1 else "tokens"


def _bracketed(text: str) -> str:
    return f" ({text})" if text else ""


def _with_limits(estimate: Estimate) -> str:
    assert estimate.value is not None
    assert estimate.interval is not None
    value = words.placed(estimate.value, words.decimals(estimate.interval))
    return f"{value} nats above what follows, {words.interval(estimate.interval)}"


def _beyond(slope: Estimate) -> str:
    """What the slope says about the positions where no bin shows an improvement."""
    limits = slope.interval
    if limits is not None and limits.high < 0:
        return "beyond, no bin improves on later ones, but the loss still falls"
    if limits is not None and limits.low > 0:
        return "beyond, the loss rises"
    return "beyond, no improvement shown"


def _slope(slope: Estimate) -> str:
    if slope.value is None or slope.interval is None:
        return ""
    value = words.placed(slope.value, words.decimals(slope.interval), sign=True)
    limits = words.interval(slope.interval, sign=True)
    return f"slope {value} nats per doubling, {words.percent(slope.interval.level)} CI {limits}"


def pair_sentence(names: tuple[str, str], gaps: Sequence[BinDifference]) -> str:
    """Where B is better than A, and where worse."""
    better = [gap for gap in gaps if below_zero(gap.adjusted, gap.test)]
    worse = [gap for gap in gaps if above_zero(gap.adjusted, gap.test)]
    shown = [("better", better), ("worse", worse)]
    found = [f"{word} at {_ranges(gaps, part)} ({_largest(part)})" for word, part in shown if part]
    a, b = names
    if not found:
        return f"No difference shown between {a} and {b} at any position ({words.count(len(gaps), 'bin')}, adjusted)."
    rest = "" if len(better) + len(worse) == len(gaps) else "; no difference shown elsewhere"
    return f"{b} against {a}: {' and '.join(found)}{rest} ({words.count(len(gaps), 'bin')}, adjusted)."


def _ranges(gaps: Sequence[BinDifference], chosen: Sequence[BinDifference]) -> str:
    """Neighbouring bins joined: ``1–16 and 33–64``."""
    if len(chosen) == len(gaps):
        return "every position"
    places = [gaps.index(gap) for gap in chosen]
    starts = [p for p in places if p - 1 not in places]
    ends = [p for p in places if p + 1 not in places]
    spans = [(gaps[s].bin.low, gaps[e].bin.high) for s, e in zip(starts, ends, strict=True)]
    texts = [f"{low:,}" if low == high else f"{low:,}–{high:,}" for low, high in spans]
    return "position " + texts[0] if len(texts) == 1 else "positions " + ", ".join(texts[:-1]) + " and " + texts[-1]


def _largest(gaps: Sequence[BinDifference]) -> str:
    """The difference furthest from 0, with its adjusted interval."""
    gap = max(gaps, key=lambda g: abs(g.adjusted.value or 0.0))
    assert gap.adjusted.interval is not None
    assert gap.adjusted.value is not None
    value = words.placed(gap.adjusted.value, words.decimals(gap.adjusted.interval), sign=True)
    at = "" if len(gaps) == 1 else f"most at {gap.bin}: "
    return f"{at}{value} nats per token, {words.interval(gap.adjusted.interval, sign=True)}"
