"""The rule of the verdict, by a table of every case."""

import pytest

from assay import Design, compare
from assay.analyses.contrast import Verdict, verdict_of
from assay.stats.records import Estimate, Interval, Test
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
