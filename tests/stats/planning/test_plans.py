"""What a study measures: shares and spreads that are possible, and refusals of those that are not. Oracles: the cells
of a 2 × 2 table, and samples drawn with them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import UsageError
from assay.stats.planning.plans import Goal, PlanNumbers, Shares, Spread, Structure


@pytest.mark.parametrize("correlation", [-0.3, 0.0, 0.5])
def test_discordance_against_a_sample(correlation: float) -> None:
    """Draw the four cells, and look at how the two systems correlate."""
    better, worse = Shares(p_a=0.6, correlation=correlation).discordance(0.1)
    both = 0.6 - worse
    cells = np.random.default_rng(1).choice(4, size=400_000, p=[both, worse, better, 1 - both - worse - better])
    a, b = np.isin(cells, (0, 1)), np.isin(cells, (0, 2))
    assert (a.mean(), b.mean()) == pytest.approx((0.6, 0.7), abs=4e-3)
    assert np.corrcoef(a, b)[0, 1] == pytest.approx(correlation, abs=8e-3)


@given(st.floats(0.05, 0.95), st.floats(-0.99, 0.99))
def test_what_is_possible_has_no_cell_below_0_and_what_is_beyond_has(p_a: float, correlation: float) -> None:
    shares = Shares(p_a=p_a, correlation=correlation)
    try:
        low, high = shares.possible()
    except UsageError:
        return
    for difference in (low + 1e-9, (low + high) / 2, high):
        better, worse = shares.discordance(difference)
        both = p_a - worse
        assert min(better, worse, both, 1 - both - better - worse) > -1e-8
    with pytest.raises(UsageError):
        shares.discordance(high + 1e-3 + 1e-3 * abs(high))


def test_spread_of_arms_by_hand() -> None:
    assert Spread.of_arms(3.0, 4.0, 0.0).sd == pytest.approx(5)
    assert Spread.of_arms(1.0, 1.0, 0.5).sd == pytest.approx(1)


def test_discordant_shares_by_hand() -> None:
    assert Shares(discordant=0.3).discordance(0.1) == pytest.approx((0.2, 0.1))
    assert Shares(discordant=0.3, p_a=0.5).possible() == pytest.approx((0.0, 0.3))
    assert Shares(discordant=0.3, p_a=0.1).possible() == pytest.approx((0.1, 0.3))
    assert Shares(discordant=0.3, p_a=0.8).possible() == pytest.approx((0.0, 0.1))
    assert Shares(p_a=0.5, correlation=0.0).possible() == pytest.approx((0.0, 0.5), abs=1e-9)
    assert Shares(discordant=0.3).means(0.1).variance == pytest.approx(0.3 - 0.01)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Goal(level=1.0), "level must be"),
        (lambda: Goal(level=0.0), "level must be"),
        (lambda: Goal(power=1.0), "power must be"),
        (lambda: Goal(power=0.05), "chance alone gives"),
        (lambda: Goal(margin=0.0), "margin must be positive"),
        (lambda: Goal(comparisons=0), "comparisons must be"),
        (lambda: Structure(cluster_size=0.5), "cluster_size must be"),
        (lambda: Structure(icc=1.1), "icc must be"),
        (lambda: Structure(icc=-0.1), "icc must be"),
        (lambda: Structure(repeats=0), "repeats must be"),
        (lambda: Structure(sd_within=-1.0), "sd_within must be 0 or more"),
        (lambda: Spread(sd=-1.0), "sd must be positive"),
        (lambda: Spread(sd=float("nan")), "sd must be positive"),
        (lambda: Spread(sd=1.0, structure=Structure(repeats=2, sd_within=0.8)), "sd_within must be at most 0.7071"),
        (lambda: Spread.of_arms(1.0, 1.0, 1.5), "correlation must be between -1 and 1"),
        (lambda: Spread.of_arms(1.0, 0.0, 0.5), "sd_b must be positive"),
        (lambda: Spread.of_arms(1.0, 1.0, 1.0), "all differences are equal"),
        (lambda: Shares(p_a=0.5), "either the correlation or the discordant share"),
        (lambda: Shares(discordant=0.1, correlation=0.1, p_a=0.5), "either the correlation or the discordant share"),
        (lambda: Shares(p_a=1.0, correlation=0.1), "p_a must be between 0 and 1"),
        (lambda: Shares(discordant=0.0), "discordant must be above 0"),
        (lambda: Shares(correlation=0.5), "needs p_a"),
        (lambda: Shares(p_a=0.5, correlation=-2.0), "correlation must be between"),
        (lambda: Shares(discordant=0.1, structure=Structure(repeats=2, sd_within=0.5)), "sd_within must be at most"),
        (lambda: Shares(discordant=0.1).discordance(0.2), "discordant share of at least 0.2"),
        (lambda: Shares(p_a=0.9, discordant=0.5).discordance(0.0), "at most 0.2 can differ"),
        (lambda: Shares(p_a=0.9, discordant=0.5).possible(), "cannot be better than A"),
        (lambda: Shares(p_a=0.9, correlation=0.5).discordance(0.2), "p_b must be between 0 and 1"),
        (lambda: Shares(p_a=0.7, correlation=0.95).discordance(0.05), "correlation must be at most 0.8819"),
        (lambda: Shares(p_a=0.9, correlation=-0.9).discordance(0.0), "at most 0.2 can differ"),
    ],
)
def test_what_cannot_be_is_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(UsageError, match=message):
        make()


@pytest.mark.parametrize(
    ("numbers", "plan"),
    [
        (PlanNumbers(sd=0.3), Spread(sd=0.3)),
        (PlanNumbers(sd_a=3.0, sd_b=4.0, correlation=0.0), Spread(sd=5.0)),
        (PlanNumbers(p_a=0.6, p_b=0.7, discordant=0.2), Shares(p_a=0.6, discordant=0.2)),
        (
            PlanNumbers(sd=1.0, cluster_size=4, icc=0.2, repeats=3, sd_within=0.1),
            Spread(sd=1.0, structure=Structure(cluster_size=4, icc=0.2, repeats=3, sd_within=0.1)),
        ),
    ],
)
def test_numbers_make_the_plan_that_they_say(numbers: PlanNumbers, plan: Spread | Shares) -> None:
    assert numbers.plan() == plan


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (PlanNumbers(), "or a pilot"),
        (PlanNumbers(sd=1.0, sd_a=1.0), "but got `sd` and `sd_a` and `sd_b`"),
        (PlanNumbers(sd=1.0, correlation=0.5), "leave out one"),
        (PlanNumbers(sd_a=1.0, sd_b=1.0), "give all three"),
        (PlanNumbers(sd=1.0, icc=0.1), "`cluster_size` and `icc` belong together"),
        (PlanNumbers(sd=1.0, repeats=2), "`repeats` and `sd_within` belong together"),
    ],
)
def test_numbers_that_are_too_few_or_too_many_are_refused(numbers: PlanNumbers, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        numbers.plan()


def test_the_shares_of_both_give_the_difference() -> None:
    assert PlanNumbers(p_a=0.25, p_b=0.75).difference(None) == 0.5
    assert PlanNumbers(sd=1.0).difference(0.1) == 0.1
    for numbers, asked in ((PlanNumbers(p_a=0.5, p_b=0.6), 0.1), (PlanNumbers(p_b=0.6), None)):
        with pytest.raises(UsageError, match="`p_b` is the share beside `p_a`"):
            numbers.difference(asked)


def test_a_pilot_gives_its_numbers_itself() -> None:
    PlanNumbers(repeats=3).check_pilot()
    with pytest.raises(UsageError, match="`icc` is a number that the pilot gives"):
        PlanNumbers(icc=0.5, repeats=3).check_pilot()
