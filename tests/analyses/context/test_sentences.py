"""The sentences of `context`: what a curve allows one to say, word by word."""

from assay.analyses.context.result import BinDifference, BinLoss
from assay.analyses.context.sentences import above_zero, below_zero, model_sentence, pair_sentence
from assay.stats.records import Estimate, Interval, Test

UNKNOWN = Estimate(None, None, None, 0, "no cluster has it")


def estimate(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, Interval(low, high, 0.95, "max-t"), 0.05, 40)


def points(count: int) -> list[BinLoss]:
    """Bins of one position each, with the same gain in all."""
    loss = Estimate(2.0, None, None, 40)
    return [BinLoss(k, k, 9, loss, loss, estimate(0.2, 0.1, 0.3), None) for k in range(1, count + 1)]


def gap(low: int, high: int, value: float) -> BinDifference:
    found = estimate(value, value - 0.01, value + 0.01)
    return BinDifference(low, high, found, found, Test("max-t", 3.0, 0.01, 40))


def test_a_slope_may_show_what_no_bin_shows() -> None:
    """A fall too slow for any one bin, seen over all of them."""
    assert model_sentence("m", points(4), 0, estimate(-0.02, -0.03, -0.01)) == (
        "m: context still helps up to 2 tokens (at 1 the loss is 0.200 nats above what follows, 0.100 to 0.300); "
        "beyond, no bin improves on later ones, but the loss still falls "
        "(slope −0.0200 nats per doubling, 95% CI −0.0300 to −0.0100)."
    )


def test_beyond_the_last_gain_the_slope_speaks() -> None:
    rises = model_sentence("m", points(4), 0, estimate(0.02, 0.01, 0.03))
    assert "beyond, the loss rises (slope +0.0200" in rises
    open_ended = model_sentence("m", points(4), 0, estimate(0.0, -0.01, 0.01))
    assert "beyond, no improvement shown (slope 0.0000" in open_ended
    assert model_sentence("m", points(4), 0, UNKNOWN).endswith("beyond, no improvement shown.")


def test_a_gain_up_to_the_last_bin_and_none_at_all() -> None:
    assert model_sentence("m", points(3), 1, UNKNOWN) == (
        "m: context still helps at 3 tokens, the longest measured "
        "(at 2 the loss is 0.200 nats above what follows, 0.100 to 0.300)."
    )
    assert model_sentence("m", points(3), None, UNKNOWN) == "m: no help from context beyond 1 token shown."


def test_neighbouring_bins_are_joined_and_the_largest_difference_is_named() -> None:
    gaps = [gap(1, 1, -0.2), gap(2, 2, 0.0), gap(3, 4, 0.1), gap(5, 8, 0.3), gap(9, 1200, 0.0)]
    assert pair_sentence(("A", "B"), gaps) == (
        "B against A: better at position 1 (−0.2000 nats per token, −0.2100 to −0.1900) and worse at position 3–8 "
        "(most at 5–8: +0.3000 nats per token, +0.2900 to +0.3100); no difference shown elsewhere (5 bins, adjusted)."
    )
    apart = pair_sentence(("A", "B"), [gaps[2], gaps[1], gaps[3]])
    assert "worse at positions 3–4 and 5–8 (most at 5–8" in apart


def test_every_position_and_none() -> None:
    assert "worse at every position (most at 5–8" in pair_sentence(("A", "B"), [gap(3, 4, 0.1), gap(5, 8, 0.3)])
    assert pair_sentence(("A", "B"), [gap(1, 2, 0.0)]) == (
        "No difference shown between A and B at any position (1 bin, adjusted)."
    )


def test_a_collapsed_interval_shows_nothing() -> None:
    found, test = estimate(0.2, 0.1, 0.3), Test("max-t", 3.0, 0.01, 40)
    assert above_zero(found, test)
    assert not below_zero(found, test)
    assert below_zero(estimate(-0.2, -0.3, -0.1), test)
    assert not above_zero(found, Test("max-t", None, 1.0, 40))
    assert not above_zero(Estimate(0.2, None, None, 1), test)
