"""One rule: sentence, interval, p-value and leaderboard agree, and `rank` of two models says what `compare` does."""

from typing import Any, Literal, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analyses.compare import compare
from assay.analyses.rank import rank
from assay.analyses.rank.records import Adjust, RankedPair
from assay.analyses.rank.result import Leaderboard
from assay.design import Design
from assay.errors import UsageError
from assay.stats.units import Floats
from tests.analyses.rank.test_rank import names, tables

Kind = Literal["0/1", "nearly right", "partial credit", "normal", "skewed", "mostly equal", "rounding"]
LEVELS = (0.9, 0.95, 0.99, 0.999)

kinds = st.sampled_from(get_args(Kind))
levels = st.sampled_from(LEVELS)
adjustments = st.sampled_from(get_args(Adjust))
seeds = st.integers(0, 10_000)


def answers(kind: Kind, n: int, k: int, seed: int) -> Floats:
    rng = np.random.default_rng([seed, n, k])
    shift = rng.choice([0.0, 0.2, 0.6]) * np.arange(k)
    noise = rng.normal(size=(n, 1)) + rng.normal(size=(n, k))
    if kind in ("0/1", "nearly right"):
        return np.asarray(noise - shift > (0.0 if kind == "0/1" else -2.5), dtype=np.float64)
    if kind == "partial credit":  # of the last model, and of the others where it is missing
        found = np.asarray(noise > shift, dtype=np.float64)
        found[::3, -1] /= 2
        return found
    if kind == "skewed":
        return np.asarray(rng.exponential(size=(n, k)) - shift)
    if kind == "mostly equal":
        return np.asarray(rng.normal(size=(n, 1)) + (rng.random((n, k)) < 0.15) * (noise - shift))
    return np.asarray(noise - shift if kind == "normal" else 5 + rng.integers(-1, 2, (n, k)) * 1e-15, dtype=np.float64)


def extras(n: int, seed: int, *, clusters: bool, weights: bool) -> dict[str, Any]:
    rng = np.random.default_rng([seed, 1])
    found: dict[str, Any] = {}
    if clusters:
        found["cluster"] = [f"c{c}" for c in np.arange(n) % max(n // 4, 2)]
    if weights:
        found["weight"] = rng.integers(1, 6, n).astype(float)
    return found


def excludes(pair: RankedPair) -> bool:
    limits = pair.difference.interval
    return limits is not None and not limits.low <= 0 <= limits.high


def collapsed(pair: RankedPair) -> bool:
    return pair.difference.interval is None or pair.difference.interval.method == "degenerate"


# ------------------------------------------------------------------------------------------------- rank against compare


@settings(max_examples=40, deadline=None)
@given(kinds, st.integers(5, 45), seeds, levels, adjustments, st.booleans(), st.booleans())
def test_two_models_are_ranked_as_they_are_compared(
    kind: Kind, n: int, seed: int, level: float, adjust: Adjust, clusters: bool, weights: bool
) -> None:
    parts = tables(answers(kind, n, 2, seed), **extras(n, seed, clusters=clusters, weights=weights))
    board = rank(*parts, names=names(2), design=Design(level=level), adjust=adjust)
    (pair,) = board.pairs
    order = [names(2).index(name) for name in (pair.b, pair.a)]
    alone = compare(*(parts[i] for i in order), design=Design(level=level))
    assert pair.test.name == alone.test.name
    assert pair.test.p_value == pytest.approx(alone.p_value, rel=1e-9)
    assert pair.p_adjusted == pair.test.p_value
    assert pair.difference.interval is not None
    assert alone.difference.interval is not None
    assert pair.difference.interval.method == alone.difference.interval.method
    mine, theirs = ((i.low, i.high) for i in (pair.difference.interval, alone.difference.interval))
    assert mine == pytest.approx(theirs, rel=1e-6, abs=1e-9)
    told = {"better": "better", "worse": "worse"}
    assert pair.verdict == told.get(alone.verdict, "not told apart")
    assert pair.reliance == alone.reliance
    assert ("cannot be told apart" in board.sentence) == (alone.verdict in ("no difference shown", "undecided"))


def assert_as_compared(board: Leaderboard, parts: list[dict[str, Any]], level: float) -> None:
    """Every pair of a board without adjustment, against `compare` of the two alone."""
    for pair in board.pairs:
        order = [names(len(parts)).index(name) for name in (pair.b, pair.a)]
        alone = compare(*(parts[i] for i in order), design=Design(level=level))
        assert pair.test.name == alone.test.name
        assert pair.test.p_value == pytest.approx(alone.p_value, rel=1e-9)
        mine, theirs = pair.difference.interval, alone.difference.interval
        assert mine is not None
        assert theirs is not None
        assert mine.method == theirs.method
        assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), rel=1e-6, abs=1e-9)
        assert pair.reliance == alone.reliance


@settings(max_examples=25, deadline=None)
@given(st.integers(8, 45), st.integers(3, 5), seeds, levels, st.booleans(), st.booleans(), st.booleans())
def test_each_pair_of_a_mixed_board_is_judged_as_compare_judges_it(
    n: int, k: int, seed: int, level: float, clusters: bool, weights: bool, holes: bool
) -> None:
    """0/1 rules for pairs of 0/1 scores, whatever other models of the board have."""
    values = answers("partial credit", n, k, seed)
    if holes:  # items with partial credit of one model that another one lacks do not count for the two
        values[0, 0], values[0, 1] = 0.25, np.nan
    parts = tables(values, **extras(n, seed, clusters=clusters, weights=weights))
    board = rank(*parts, names=names(k), design=Design(level=level), adjust="none")
    assert_as_compared(board, parts, level)


def test_a_board_of_two_tests_says_so_and_travels() -> None:
    values = answers("partial credit", 60, 3, 4)
    board = rank(*tables(values), names=names(3))
    assert sorted(board.pairs.test.name) == ["mcnemar-midp", "sign-flip", "sign-flip"]
    assert "mcnemar-midp and sign-flip (" in str(board)
    assert "|test:mcnemar-midp and sign-flip|" in board.signature
    assert Leaderboard.from_dict(board.to_dict()) == board
    with pytest.raises(UsageError, match="mcnemar needs 0/1 scores"):
        rank(*tables(values), names=names(3), design=Design(test="mcnemar"))
    with pytest.raises(UsageError, match="tango is an interval of 0/1 scores"):
        rank(*tables(values), names=names(3), design=Design(method="tango"))


def test_four_lost_and_none_won_of_a_hundred() -> None:
    values = np.ones((100, 2))
    values[:4, 1] = 0
    board, alone = rank(*tables(values), names=names(2)), compare(*tables(values))
    assert board.sentence == "m0 and m1 cannot be told apart (p = 0.062, adjusted)."
    assert "p = 0.062" in alone.sentence
    assert alone.verdict == "no difference shown"
    exact = Design(test="mcnemar")
    board, alone = rank(*tables(values), names=names(2), design=exact), compare(*tables(values), design=exact)
    assert board.pairs[0].test.p_value == alone.p_value == 0.125  # scipy: binomtest(0, 4).pvalue
    assert (board.pairs[0].verdict, alone.verdict) == ("not told apart", "no difference shown")


@pytest.mark.parametrize(
    "design", [Design(method="t"), Design(method="bca"), Design(test="sign-flip"), Design(test="t")]
)
@pytest.mark.parametrize("kind", ["0/1", "skewed", "mostly equal"])
def test_what_was_asked_for_is_shown_as_computed_and_both_are_needed(design: Design, kind: Kind) -> None:
    for seed in range(12):
        parts = tables(answers(kind, 30, 2, seed))
        (pair,) = rank(*parts, names=names(2), design=design).pairs
        order = [names(2).index(name) for name in (pair.b, pair.a)]
        alone = compare(*(parts[i] for i in order), design=design)
        assert pair.test.p_value == pytest.approx(alone.p_value)
        assert pair.difference.interval is not None
        assert alone.difference.interval is not None
        mine, theirs = ((i.low, i.high) for i in (pair.difference.interval, alone.difference.interval))
        assert mine == pytest.approx(theirs, rel=1e-6, abs=1e-9)
        assert (pair.verdict == "not told apart") == (alone.verdict == "no difference shown")


# ------------------------------------------------------------------------------------------------------- several models


def consistent(board: Leaderboard, level: float) -> None:
    alpha = 1 - level
    for pair in board.pairs:
        shown = pair.p_adjusted is not None and pair.p_adjusted <= alpha and pair.reliance != "too few"
        assert (pair.verdict != "not told apart") == (shown and pair.difference.value != 0)
        if collapsed(pair):
            continue
        p = pair.test.p_value if board.adjust == "bh" else pair.p_adjusted
        assert excludes(pair) == (p is not None and p <= alpha and pair.difference.value != 0)
        assert pair.difference.interval is not None
        assert pair.difference.interval.low <= (pair.difference.value or 0.0) <= pair.difference.interval.high
        assert pair.p_adjusted is None or pair.p_adjusted >= (pair.test.p_value or 0.0) - 1e-12
    place = {model.name: model for model in board.models}
    for pair in board.pairs:
        share = bool(set(place[pair.a].letters) & set(place[pair.b].letters))
        assert share == (pair.verdict == "not told apart")
    for name, model in place.items():
        above = sum({p.b: "better", p.a: "worse"}.get(name) == p.verdict for p in board.pairs)
        below = sum({p.a: "better", p.b: "worse"}.get(name) == p.verdict for p in board.pairs)
        assert model.ranks == (1 + above, len(place) - below)


@settings(max_examples=40, deadline=None)
@given(kinds, st.integers(6, 40), st.integers(3, 5), seeds, levels, adjustments, st.sampled_from(["", "c", "w", "cw"]))
def test_p_values_intervals_verdicts_letters_and_ranks_agree(
    kind: Kind, n: int, k: int, seed: int, level: float, adjust: Adjust, more: str
) -> None:
    clusters, weights = "c" in more, "w" in more
    values = answers(kind, n, k, seed)
    if seed % 3 == 0:
        values[: n // 4, k - 1] = np.nan
    parts = tables(values, **extras(n, seed, clusters=clusters, weights=weights))
    board = rank(*parts, names=names(k), design=Design(level=level), adjust=adjust)
    consistent(board, level)


@pytest.mark.parametrize("adjust", get_args(Adjust))
@pytest.mark.parametrize("level", LEVELS)
def test_many_pairs_in_closed_form_agree_as_well(adjust: Adjust, level: float, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.analyses.rank import pair_tests

    monkeypatch.setattr(pair_tests, "INTERVAL_SECONDS", 0.0)
    for kind in ("skewed", "mostly equal", "normal", "partial credit"):
        board = rank(*tables(answers(kind, 40, 4, 3)), names=names(4), design=Design(level=level), adjust=adjust)
        consistent(board, level)


def test_intervals_say_what_they_hold_for() -> None:
    parts = tables(answers("normal", 40, 3, 1))
    for adjust, said in (("holm", "95%, all pairs"), ("max-t", "95%, all pairs"), ("bh", "95%, unadjusted")):
        board = rank(*parts, names=names(3), adjust=adjust)  # type: ignore[arg-type]
        assert said in str(board)
        assert said in board.tables[1].header  # of Markdown and pages, too
        assert ("not adjusted" if adjust == "bh" else "for all pairs at once") in board._repr_html_()
        assert board.to_dict()["computed"]["simultaneous"] == (adjust != "bh")
    assert "95% CI" in str(rank(*parts[:2], names=names(2))).partition("A − B")[2]


def test_simultaneous_limits_are_those_of_the_bonferroni_level() -> None:
    """Six pairs: each interval is at the level 1 − 0.05/6 of `compare`."""
    parts = tables(answers("normal", 40, 4, 5))
    board = rank(*parts, names=names(4))
    for pair in board.pairs:
        order = [names(4).index(name) for name in (pair.b, pair.a)]
        alone = compare(*(parts[i] for i in order), design=Design(level=1 - 0.05 / 6)).difference.interval
        assert alone is not None
        assert pair.difference.interval is not None
        if excludes(pair) == (not alone.low <= 0 <= alone.high):
            assert pair.difference.interval.low == pytest.approx(alone.low, abs=1e-6)
            assert pair.difference.interval.high == pytest.approx(alone.high, abs=1e-6)


# ------------------------------------------------------------------------------------------------------------- rounding


def test_rounding_is_no_difference() -> None:
    """Losses that differ by one ulp each, always in favour of one: a test of signs alone would be sure."""
    first = np.linspace(1, 2, 50)
    board = rank(*tables(np.column_stack([first, np.nextafter(first, 3), first + 1e-14])), names=names(3))
    assert {pair.verdict for pair in board.pairs} == {"not told apart"}
    assert {pair.test.p_value for pair in board.pairs} == {1.0}
    assert [model.rank for model in board.models] == [1, 1, 1]
    assert any("are rounding" in note for note in board.notes)


def test_sums_of_clusters_that_differ_by_rounding_do_not_differ() -> None:
    values = np.tile([[0.1, 0.3], [0.2, 0.0], [0.3, 0.3]], (8, 1))  # 0.1 + 0.2 + 0.3 and 0.3 + 0 + 0.3 in a cluster
    parts = tables(values, cluster=[f"c{i // 3}" for i in range(24)])
    (pair,) = rank(*parts, names=names(2)).pairs
    assert (pair.verdict, pair.test.p_value) == ("not told apart", 1.0)
