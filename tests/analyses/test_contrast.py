"""The interval and the test of a difference, their agreement, and the rule of the verdict by a table of every case."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay import Design, Panel, UsageError, compare
from assay.analyses.contrast import (
    Reliance,
    Verdict,
    agreed,
    binary_of,
    check_test,
    differences_of,
    disagreement,
    drawn_by,
    leaves_out_zero,
    moved_limits,
    paired_interval,
    paired_test,
    verdict_of,
)
from assay.stats.records import Estimate, Interval, Test
from assay.stats.units import Floats
from tests.analyses.evidence import noisy_losses, noisy_scores

# low, high, margin, lower is better → verdict
TABLE: list[tuple[float, float, float | None, bool, Verdict]] = [
    (0.1, 0.3, None, False, "better"),
    (0.1, 0.3, None, True, "worse"),
    (-0.3, -0.1, None, False, "worse"),
    (-0.3, -0.1, None, True, "better"),
    (-0.1, 0.3, None, False, "no difference shown"),
    (-0.1, 0.3, None, True, "no difference shown"),
    (0.0, 0.3, None, False, "no difference shown"),  # 0 itself is a possible difference
    (-0.3, 0.0, None, True, "no difference shown"),
    (-0.1, 0.3, 0.4, False, "equivalent"),
    (-0.1, 0.3, 0.3, False, "no difference shown"),  # inside means inside
    (-0.1, 0.3, 0.2, False, "no difference shown"),
    (-0.5, 0.3, 0.4, False, "no difference shown"),
    (0.1, 0.3, 0.4, False, "equivalent"),  # a difference, but one that does not matter
    (0.1, 0.3, 0.4, True, "equivalent"),
    (0.1, 0.3, 0.2, False, "better"),
    (-0.3, -0.1, 0.2, False, "worse"),
]


@pytest.mark.parametrize(("low", "high", "margin", "lower", "verdict"), TABLE)
def test_the_table_of_verdicts(low: float, high: float, margin: float | None, lower: bool, verdict: Verdict) -> None:
    difference = Estimate((low + high) / 2, Interval(low, high, 0.95, "bca"), 0.05, 100)
    test, asked = Test("sign-flip", 1.0, 1e-6, 100), Design(margin=margin)
    assert verdict_of(difference, test, asked, lower_is_better=lower) == verdict
    needs_both = verdict_of(difference, Test("sign-flip", 1.0, 0.5, 100), asked, lower_is_better=lower)
    assert needs_both == ("equivalent" if verdict == "equivalent" else "no difference shown")


@pytest.mark.parametrize(
    ("p", "verdict"), [(0.03, "better"), (0.05, "better"), (0.06, "no difference shown"), (None, "no difference shown")]
)
def test_a_collapsed_interval_needs_the_test(p: float | None, verdict: Verdict) -> None:
    difference = Estimate(0.2, Interval(0.2, 0.2, 0.95, "degenerate"), 0.0, 7)
    test = Test("sign-flip", 1.0, p, 7)
    assert verdict_of(difference, test, Design(), lower_is_better=False) == verdict


@pytest.mark.parametrize(
    ("n", "p", "verdict"), [(9, 0.06, "no difference shown"), (9, 0.04, "better"), (500, 0.06, "no difference shown")]
)
def test_an_interval_of_however_many_units_needs_the_test(n: int, p: float, verdict: Verdict) -> None:
    difference = Estimate(0.2, Interval(0.1, 0.3, 0.95, "bca"), 0.05, n)
    test = Test("sign-flip", 1.0, p, n)
    assert verdict_of(difference, test, Design(), lower_is_better=False) == verdict


def relied_on(n: int, weights: list[float] | None = None, **more: object) -> Reliance | None:
    panel = Panel.from_arrays(np.random.default_rng(n).normal(size=(n, 2)) * np.ones(n)[:, None], weights, **more)  # type: ignore[arg-type]
    return compare(panel).reliance


def test_what_may_be_relied_on_by_the_number_of_units_and_their_weights() -> None:
    assert [relied_on(n) for n in (1, 2, 19, 20)] == ["too few", "if symmetric", "if symmetric", "firm"]
    heavy = [25.0] + [1.0] * 29  # Kish: 54² / 654 = 4.5
    assert relied_on(30, heavy) == "too few"
    assert relied_on(19, [0.1] * 19) == "if symmetric"
    assert relied_on(20, [0.1] * 20) == "firm"  # not 19.999 by rounding
    assert relied_on(60, clusters=[f"c{i % 19}" for i in range(60)]) == "if symmetric"


@pytest.mark.parametrize(("n", "firm"), [(5, False), (6, True), (12, True)])
def test_0_1_scores_have_a_rule_of_their_own(n: int, firm: bool) -> None:
    panel = Panel.from_arrays(np.column_stack([np.ones(n), np.arange(n) % 2]))
    assert compare(panel).reliance == ("firm" if firm else "too few")
    assert compare(panel, design=Design(method="bca")).reliance == "if symmetric"  # no longer Tango's


@pytest.mark.parametrize("margin", [None, 0.4])
def test_nothing_is_decided_by_too_few(margin: float | None) -> None:
    found, test = Estimate(0.2, Interval(0.1, 0.3, 0.95, "t-hall"), 0.05, 30), Test("sign-flip", 1.0, 1e-6, 30)
    asked = Design(margin=margin)
    assert verdict_of(found, test, asked, lower_is_better=False, reliance="too few") == "undecided"
    assert verdict_of(found, test, asked, lower_is_better=False, reliance="if symmetric") == "better"


def test_two_items_show_nothing_whatever_their_interval() -> None:
    found = compare(
        {"item": [1, 2], "score": [0.0, 0.0]}, {"item": [1, 2], "score": [0.1, 0.2]}, design=Design(margin=1)
    )
    assert found.verdict == "no difference shown"
    assert "too few to rely on" in found.sentence


def test_without_an_interval_nothing_is_shown() -> None:
    difference = Estimate(None, None, None, 0, "no pairs")
    test = Test("sign-flip", None, None, 0, "no pairs")
    found = verdict_of(difference, test, Design(margin=1), lower_is_better=False)
    assert found == "no difference shown"


@pytest.mark.parametrize(
    ("shift", "margin", "verdict"),
    [
        (0.2, None, "worse"),
        (-0.2, None, "better"),
        (0.0, None, "no difference shown"),
        (0.0, 0.1, "equivalent"),
        (0.2, 0.1, "worse"),
    ],
)
def test_verdicts_of_losses(shift: float, margin: float | None, verdict: str) -> None:
    assert compare(*noisy_losses(60, shift), design=Design(margin=margin)).verdict == verdict


@pytest.mark.parametrize(
    ("shift", "lower", "verdict"),
    [(0.3, False, "better"), (-0.3, False, "worse"), (0.3, True, "worse"), (-0.3, True, "better")],
)
def test_verdicts_of_scores(shift: float, lower: bool, verdict: str) -> None:
    assert compare(*noisy_scores(60, shift), lower_is_better=lower).verdict == verdict


# ------------------------------------------------------------------------------ differences, and what is drawn


def test_differences_are_summed_within_clusters_by_hand() -> None:
    panel = Panel.from_arrays([[1.0, 2.0], [1.0, 4.0], [5.0, 5.0]], clusters=["x", "x", "y"])
    found = differences_of(panel)
    assert found.units.tolist() == [1.0, 3.0, 0.0]
    assert (found.drawn.numerators.tolist(), found.drawn.denominators.tolist()) == ([4.0, 0.0], [2.0, 1.0])
    assert (found.rounded, found.note) == (0, ())


def test_rounding_is_no_difference_and_is_noted() -> None:
    found = differences_of(Panel.from_arrays([[0.3, 0.1 * 3], [0.1, 0.4], [0.2, 0.9]]))
    assert (found.units[0], found.rounded) == (0.0, 1)
    assert found.note[0].startswith("1 difference is rounding")


@pytest.mark.parametrize(
    ("tokens", "design", "scheme", "reason"),
    [
        ([10, 10, 10, 11], Design(method="bca"), "tokens", "tokens are nearly equal"),
        ([1, 10, 100, 5], Design(method="bca"), "windows", "windows drawn uniformly because tokens vary"),
        ([1, 10, 100, 5], Design(), "windows", "t-hall is a closed form"),
        ([1, 10, 100, 5], Design(scheme="tokens"), "tokens", "as asked"),
        ([1, 10, 100, 5], Design(method="t"), "windows", "t is a closed form"),
    ],
)
def test_what_is_drawn_follows_the_weights(tokens: list[float], design: Design, scheme: str, reason: str) -> None:
    losses = np.array([[2.0, 3.0], [1.0, 1.5], [4.0, 4.0], [2.0, 1.0]]) * np.array(tokens)[:, None]
    panel = Panel.from_arrays(losses, np.array(tokens, dtype=float), kind="losses")
    found = drawn_by(differences_of(panel).drawn, design, panel)
    assert (found.scheme, found.reason.startswith(reason)) == (scheme, True)
    assert found.units.estimate == pytest.approx(float((losses[:, 1] - losses[:, 0]).sum()) / sum(tokens))


# ------------------------------------------------------------------------------------------ 0/1 scores

RIGHT_AND_WRONG = np.array([[1, 1]] * 5 + [[0, 1]] * 7 + [[1, 0]] * 2 + [[0, 0]] * 6, dtype=float)


def test_counts_of_the_items_that_differ_by_hand() -> None:
    panel = Panel.from_arrays(RIGHT_AND_WRONG)
    found = binary_of(panel, differences_of(panel))
    assert found is not None
    assert (found.counts.b, found.counts.c, found.counts.n, found.plain) == (7, 2, 20, True)


def test_what_is_not_0_or_1_has_no_counts() -> None:
    for panel in (
        Panel.from_arrays([[0.5, 1.0], [0.0, 1.0]]),
        Panel.from_arrays(RIGHT_AND_WRONG, clusters=["all"] * 20),
        Panel.from_arrays(RIGHT_AND_WRONG, np.ones(20), kind="losses"),
    ):
        assert binary_of(panel, differences_of(panel)) is None


def test_clusters_have_a_design_effect_and_the_score_test() -> None:
    panel = Panel.from_arrays(np.repeat(RIGHT_AND_WRONG, 2, axis=0), clusters=[i // 2 for i in range(40)])
    differences = differences_of(panel)
    found = binary_of(panel, differences)
    assert found is not None
    assert not found.plain
    assert found.counts.deff > 1.5  # every item is there twice
    assert paired_test(differences.drawn, found, Design())[0].name == "mcnemar-score"


# ------------------------------------------------------------------------------------------ the tests, by name


def test_tests_by_name_against_scipy_and_enumeration() -> None:
    rng = np.random.default_rng(7)
    values = np.round(rng.normal(0.4, 1.0, size=(9, 2)).cumsum(axis=1), 2)
    panel = Panel.from_arrays(values)
    gaps, whole = values[:, 1] - values[:, 0], differences_of(panel).drawn
    p = {name: paired_test(whole, None, Design(test=name))[0].p_value for name in ("t", "wilcoxon", "sign-flip")}
    flips = np.array(list(product((-1, 1), repeat=9))) @ np.abs(gaps)
    assert p["t"] == pytest.approx(scipy_stats.ttest_1samp(gaps, 0).pvalue)
    assert p["wilcoxon"] == pytest.approx(scipy_stats.wilcoxon(gaps, method="exact").pvalue)
    assert p["sign-flip"] == pytest.approx(np.mean(np.abs(flips) >= abs(gaps.sum()) * (1 - 1e-12)))


def test_mcnemar_by_name_against_scipy() -> None:
    panel = Panel.from_arrays(RIGHT_AND_WRONG)
    differences = differences_of(panel)
    binary = binary_of(panel, differences)
    exact, _ = paired_test(differences.drawn, binary, Design(test="mcnemar"))
    middle, _ = paired_test(differences.drawn, binary, Design())
    law = scipy_stats.binom(9, 0.5)
    assert exact.p_value == pytest.approx(scipy_stats.binomtest(7, 9).pvalue)
    assert middle.name == "mcnemar-midp"
    assert middle.p_value == pytest.approx(2 * law.sf(7) + law.pmf(7))
    assert paired_interval(differences.drawn, binary, Design()).interval.method == "tango"
    assert paired_interval(differences.drawn, binary, Design(method="percentile")).interval.method == "percentile"


def test_mcnemar_by_name_is_refused_where_scores_are_not_0_or_1() -> None:
    with pytest.raises(UsageError, match="mcnemar needs 0/1 scores without weights and clusters"):
        check_test(Design(test="mcnemar"), plain=False)
    check_test(Design(test="mcnemar-midp"), plain=True)
    check_test(Design(), plain=False)


# ------------------------------------------------------------------------------------------ agreement


def difference(low: float, high: float, method: str = "bca") -> Estimate:
    return Estimate((low + high) / 2, Interval(low, high, 0.95, method), 0.1, 50)


@pytest.mark.parametrize(
    ("limits", "p", "own_p", "said"),
    [
        ((0.1, 0.5), 0.01, 0.02, ""),  # both say it
        ((-0.1, 0.5), 0.2, 0.3, ""),  # neither does
        ((0.01, 0.5), 0.08, 0.04, "a limit is set to 0"),
        ((-0.01, 0.5), 0.03, 0.07, "p is the interval's own"),
        ((-0.01, 0.5), 0.03, None, "a limit is moved beside 0"),
    ],
)
def test_interval_and_test_are_made_to_agree(
    limits: tuple[float, float], p: float, own_p: float | None, said: str
) -> None:
    found = agreed(difference(*limits), Test("sign-flip", 1.0, p, 50), own_p)
    assert found.test.p_value == max(p, own_p or 0.0)
    assert found.difference.interval is not None
    assert leaves_out_zero(found.difference.interval) == (found.test.p_value <= 0.05)
    assert [said in note for note in found.notes] == ([True] if said else [])


def test_what_is_no_interval_stays() -> None:
    test = Test("sign-flip", 1.0, 0.03, 50)
    for found in (difference(0.2, 0.2, "degenerate"), Estimate(None, None, None, 0, "nothing")):
        assert agreed(found, test, 0.5).difference is found
        assert agreed(found, test, 0.5).test is test
        assert disagreement(found, test) == ()


@given(st.floats(-5, 5), st.floats(1e-6, 5), st.floats(0.0001, 1))
def test_moved_limits_leave_out_0_exactly_where_the_test_rejects(middle: float, width: float, p: float) -> None:
    assume(abs(middle) > 1e-6)
    moved = moved_limits(Interval(middle - width, middle + width, 0.95, "bca"), p, middle)
    assert leaves_out_zero(moved) == (p <= 1 - 0.95)
    assert moved.low <= middle <= moved.high


@pytest.mark.parametrize(
    ("limits", "p", "said"),
    [
        ((0.1, 0.5), 0.2, "the interval leaves out 0, the t test does not reject"),
        ((-0.1, 0.5), 0.01, "the interval contains 0, the t test rejects"),
    ],
)
def test_what_was_asked_for_by_name_may_disagree_and_says_so(limits: tuple[float, float], p: float, said: str) -> None:
    (note,) = disagreement(difference(*limits), Test("t", 1.0, p, 50))
    assert note == f"borderline: {said}; a verdict needs both"
    assert disagreement(difference(0.1, 0.5), Test("t", 1.0, 0.01, 50)) == ()


# ------------------------------------------------------------------------------------------ few 0/1 pairs, enumerated


@pytest.mark.parametrize("n", range(6, 12))
def test_few_0_1_pairs_are_covered_by_enumeration_of_all_tables(n: int) -> None:
    """The chances are scipy's; interval and test are those of `compare`, table by table."""
    tables = [(b, c) for b in range(n + 1) for c in range(n + 1 - b)]
    found = [compare(Panel.from_arrays(_pairs(b, c, n))) for b, c in tables]
    limits = [one.difference.interval for one in found]
    covered, sizes = [], []
    for differing in (0.05, 0.2, 0.5, 1.0):
        for share in (0.5, 0.7, 0.9, 1.0):
            law = scipy_stats.multinomial(n, [differing * share, differing * (1 - share), 1 - differing])
            mass = np.array([law.pmf([b, c, n - b - c]) for b, c in tables])
            truth = differing * (2 * share - 1)
            inside = [one is not None and one.low - 1e-9 <= truth <= one.high + 1e-9 for one in limits]
            covered.append(float(mass[inside].sum()))
            if share == 0.5:
                sizes.append(float(mass[[one.verdict != "no difference shown" for one in found]].sum()))
    assert np.mean(covered) > 0.97
    assert min(covered) > 0.89
    assert max(sizes) <= 0.071
    assert {one.reliance for one in found} == {"firm"}


def _pairs(b: int, c: int, n: int) -> Floats:
    """B alone is right b times, A alone c times."""
    return np.array([[0.0, 1.0]] * b + [[1.0, 0.0]] * c + [[1.0, 1.0]] * (n - b - c))
