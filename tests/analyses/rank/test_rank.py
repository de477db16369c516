"""Leaderboards against single comparisons, statsmodels, and what must not change them."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from assay import examples
from assay.analyses.compare import compare
from assay.analyses.rank import pair_columns, pair_tests, rank
from assay.analyses.rank.result import Leaderboard
from assay.design import Design
from assay.errors import InputError, UsageError

QUICK = Design(resamples=400)
SCORES = [examples.path(f"scores-{name}.csv") for name in ("base", "bigram", "int3", "trigram")]
LOSSES = [examples.path(f"losses-{name}.csv") for name in ("base", "int8", "int3", "trigram")]


def tables(values: Any, **columns: Any) -> list[dict[str, Any]]:
    """A mapping for each column of an (n, k) array; NaN is an item that a model has not answered."""
    found = []
    for column in np.asarray(values, dtype=float).T:
        there = ~np.isnan(column)
        items = np.array([f"q{i:03d}" for i in range(len(column))])[there]
        more = {name: np.asarray(cells)[there].tolist() for name, cells in columns.items()}
        found.append({"item": items.tolist(), "score": column[there].tolist(), **more})
    return found


def simulated(n: int, k: int, seed: int = 0, step: float = 0.3) -> Any:
    rng = np.random.default_rng([seed, n, k])
    return rng.normal(size=(n, 1)) + rng.normal(size=(n, k)) - step * np.arange(k)


def names(k: int) -> list[str]:
    return [f"m{i}" for i in range(k)]


def board_of(values: Any, **options: Any) -> Leaderboard:
    k = np.asarray(values).shape[1]
    chosen: dict[str, Any] = {"design": QUICK, "names": names(k), **options}
    return rank(*tables(values), **chosen)


# ------------------------------------------------------------------------------------------------------------- oracles


@pytest.mark.parametrize("files", [SCORES, LOSSES], ids=["scores", "losses"])
def test_every_pair_against_the_comparison_of_two(files: list[Path]) -> None:
    board = rank(*files, adjust="none")
    paths = {path.stem: path for path in files}
    for pair in board.pairs:
        alone = compare(paths[pair.b], paths[pair.a])
        assert pair.difference.value == pytest.approx(alone.difference.value)
        assert pair.difference.standard_error == pytest.approx(alone.difference.standard_error)
        assert pair.test.name == alone.test.name
        assert pair.test.p_value == pytest.approx(alone.p_value)
        assert pair.difference.interval is not None
        assert alone.difference.interval is not None
        assert pair.difference.interval.low == pytest.approx(alone.difference.interval.low, abs=1e-6)
        assert pair.difference.interval.high == pytest.approx(alone.difference.interval.high, abs=1e-6)
        assert (pair.verdict == "not told apart") == (alone.verdict == "no difference shown")
        for name, size in pair.effect_sizes.items():
            assert size.value == pytest.approx(alone.effect_sizes[name].value)
            limits = alone.effect_sizes[name].interval
            assert (size.interval is None) == (limits is None)
            if size.interval is not None and limits is not None:
                assert size.interval.low == pytest.approx(limits.low, abs=1e-6)


@pytest.mark.parametrize(("adjust", "method"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_adjusted_values_against_statsmodels(adjust: Any, method: str) -> None:
    board = rank(*SCORES, adjust=adjust)
    p = [pair.test.p_value for pair in board.pairs]
    adjusted = np.array([pair.p_adjusted for pair in board.pairs], dtype=float)
    np.testing.assert_allclose(adjusted, multipletests(p, method=method)[1])


def test_scores_of_the_examples_are_told_apart_as_they_were_made() -> None:
    board = rank(*SCORES)
    assert board.tiers == (("scores-base", "scores-int3", "scores-trigram"), ("scores-bigram",))
    assert board.models[-1].ranks == (4, 4)
    assert board.sentence.endswith("all 3 are better than scores-bigram.")
    assert (board.n_units, board.n_clusters, board.cluster_by) == (500, 77, "cluster")


def test_losses_are_better_when_lower_and_have_perplexities() -> None:
    board = rank(*LOSSES, split="final", cluster="document")
    assert [model.name for model in board.models[:2]] == ["losses-base", "losses-int8"]
    first = board.models[0]
    assert first.perplexity is not None
    assert first.perplexity.value == pytest.approx(np.exp(first.estimate.value or 0.0))
    values = [model.estimate.value or 0.0 for model in board.models]
    assert values == sorted(values)
    assert board.top.bias <= 0  # the best loss is too low
    assert all(pair.verdict != "worse" for pair in board.pairs)
    assert board.lower_is_better


def test_tiers_letters_and_ranks_follow_from_the_pairs() -> None:
    board = board_of(simulated(120, 6, step=0.12))
    place = {model.name: model for model in board.models}
    differs = {frozenset((p.a, p.b)): p.verdict != "not told apart" for p in board.pairs}
    assert {True, False} == set(differs.values())
    for a, b in combinations(place, 2):
        assert bool(set(place[a].letters) & set(place[b].letters)) != differs[frozenset((a, b))]
    for name, model in place.items():
        above = sum(p.b == name and p.verdict == "better" for p in board.pairs)
        below = sum(p.a == name and p.verdict == "better" for p in board.pairs)
        assert model.ranks == (1 + above, 6 - below)
        assert model.ranks[0] <= model.rank <= model.ranks[1]
    for pair in board.pairs:
        assert (pair.p_adjusted is not None and pair.p_adjusted <= 0.05) == (pair.verdict != "not told apart")
    assert sum(model.probability_best for model in board.models) == pytest.approx(1)


def cyclic() -> Any:
    """Three models of which each pair shares items of its own, and each is worse than another there."""
    noise, values = np.random.default_rng(0).normal(size=(90, 3)), np.full((90, 3), np.nan)
    for first in range(3):
        rows = slice(30 * first, 30 * first + 30)
        values[rows, first], values[rows, (first + 1) % 3] = 1.0, 0.0
    return values + 0.3 * noise


BOARDS = {
    "spread": simulated(120, 6, step=0.12),
    "far apart": simulated(120, 4, step=1.0),
    "equal": simulated(60, 5, step=0.0),
    "0/1": (simulated(150, 6, step=0.3) > 0).astype(float),
    "holes": np.where(np.random.default_rng(1).random((80, 5)) < 0.2, np.nan, simulated(80, 5, step=0.3)),
    "too few": simulated(8, 3, step=3.0),
    "contradictory": cyclic(),
}


@pytest.mark.parametrize("adjust", ["holm", "max-t", "bh", "none"])
@pytest.mark.parametrize("kind", BOARDS)
def test_who_may_be_best_follows_from_the_pairs(kind: str, adjust: Any) -> None:
    board = board_of(BOARDS[kind], adjust=adjust)
    worse = {p.b if p.verdict == "better" else p.a for p in board.pairs if p.verdict != "not told apart"}
    assert set(board.confidence_set) == {model.name for model in board.models} - worse
    for model in board.models:
        assert model.in_confidence_set == (model.name in board.confidence_set) == (model.ranks[0] == 1)
        ahead = [
            p.p_adjusted
            for p in board.pairs
            if p.p_adjusted is not None
            and (p.difference.value or 0) * (1 if p.b == model.name else -1) > 0
            and model.name in (p.a, p.b)
        ]
        assert model.set_p_value == min(ahead, default=1.0)
    (best,) = (fact.text for fact in board.facts if fact.label == "may be best")
    if kind == "contradictory":
        assert (board.confidence_set, board.status) == ((), "unsure")
        assert best == "none: each is shown to be worse than another"
    elif kind == "far apart":
        sure = " (95% confidence)" if adjust in ("holm", "max-t") else ""
        assert best == f"m0: no other is shown to be better{sure}"


@pytest.mark.parametrize("adjust", ["holm", "max-t"])
def test_the_best_is_kept_coverage(adjust: Any) -> None:
    """Ten models of the same accuracy are all best: at most 5 of 100 boards may leave one out."""
    rng, left_out = np.random.default_rng(3), 0
    for _ in range(100):
        right = (rng.random((100, 10)) < 0.8).astype(float)
        left_out += len(board_of(right, adjust=adjust).confidence_set) < 10
    assert left_out <= 11  # binomial(100, .05): 1 in 200


def test_one_file_of_many_models_is_the_same_as_many_files() -> None:
    values = simulated(40, 3)
    parts = tables(values)
    together = {
        "model": [name for name in names(3) for _ in range(40)],
        "item": parts[0]["item"] * 3,
        "score": [score for part in parts for score in part["score"]],
    }
    assert rank(together, design=QUICK).to_dict() == board_of(values).to_dict()


def test_right_or_wrong_is_mcnemar_and_flips_can_be_asked_for() -> None:
    values = (simulated(60, 3) > 0).astype(float)
    assert board_of(values, design=Design()).pairs[0].test.name == "mcnemar-midp"
    flipped = board_of(values, design=Design(test="sign-flip", resamples=2_000))
    assert (flipped.computed.tests, flipped.computed.flips) == ("shared signs", 2_000)
    exact = board_of(values, design=Design(test="mcnemar", resamples=2_000))
    assert exact.computed.tests == "exact"
    for mine, theirs in zip(exact.pairs, flipped.pairs, strict=True):
        assert mine.test.p_value == pytest.approx(theirs.test.p_value, abs=0.05)


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_t_and_wilcoxon_on_request(test: Any) -> None:
    values = simulated(50, 3, step=0.8)
    board = board_of(values, design=Design(test=test))
    assert {pair.test.name for pair in board.pairs} == {test}
    both = (
        {"item": list(range(50)), "score": values[:, 1].tolist()},
        {"item": list(range(50)), "score": values[:, 0].tolist()},
    )
    alone = compare(*both, design=Design(test=test))
    assert board.pair("m0", "m1").test.p_value == pytest.approx(alone.p_value)


def test_max_t_has_intervals_for_all_pairs_and_is_no_weaker_than_holm() -> None:
    values = simulated(80, 5, step=0.15)
    design = Design(resamples=4_000, test="sign-flip")
    holm, max_t = (board_of(values, design=design, adjust=adjust) for adjust in ("holm", "max-t"))
    assert holm.computed.pair_intervals == "t-hall, for all pairs at once (Bonferroni)"
    assert max_t.computed.pair_intervals == "t, for all pairs at once (max-T)"
    assert max_t.computed.simultaneous
    for a, b in zip(holm.pairs, max_t.pairs, strict=True):
        assert b.p_adjusted is not None
        assert a.p_adjusted is not None
        assert b.p_adjusted <= a.p_adjusted + 0.02
    few = board_of(simulated(6, 3), adjust="max-t")
    assert few.computed.pair_intervals == "bonferroni-t, for all pairs at once (max-T)"


# ------------------------------------------------------------------------------------------------------------ holes


def test_pairs_use_the_items_that_both_have() -> None:
    values = simulated(60, 3, step=0.8)
    values[:20, 1] = np.nan
    board = board_of(values, design=Design())
    alone = compare(*(tables(values)[i] for i in (1, 0)))
    pair = board.pair("m0", "m1")
    assert (pair.difference.n, board.pair("m0", "m2").difference.n) == (40, 60)
    assert pair.difference.value == pytest.approx(alone.difference.value)
    assert pair.test.p_value == pytest.approx(alone.p_value)
    assert (board.n_units, board.n_complete) == (60, 40)
    assert any("answers are missing (1 of 3 models; most: m1, 20 of 60)" in note for note in board.notes)
    assert board.computed.intervals == "t"
    assert any(fallback.used == "t" for fallback in board.fallbacks)
    assert {model.name: model.answered for model in board.models} == {"m0": 60, "m1": 40, "m2": 60}


def test_scores_from_0_to_1_stay_there_where_answers_are_missing() -> None:
    """Eleven of twelve right: Student's t would end at 1.1 (by hand), Agresti and Coull's rule cannot."""
    values = np.ones((12, 3))
    values[[3, 7, 5], [0, 1, 2]] = 0.0
    values[0, 1] = np.nan
    for model in board_of(values).models:
        limits, error = model.estimate.interval, model.estimate.standard_error
        assert limits is not None
        assert error is not None
        assert limits.method == "agresti-coull"
        assert 0 < limits.low < (model.estimate.value or 0) < limits.high <= 1
        assert (model.estimate.value or 0) + 2.2 * error > 1


def test_complete_takes_the_items_that_all_have() -> None:
    values = simulated(60, 3)
    holes = values.copy()
    holes[:20, 1] = np.nan
    kept, whole = board_of(holes, missing="complete"), board_of(values[20:])
    assert kept.n_units == 40
    assert [(m.name, m.estimate, m.letters) for m in kept.models] == [
        (m.name, m.estimate, m.letters) for m in whole.models
    ]
    assert not any("missing" in note for note in kept.notes)
    assert board_of(values, missing="complete").to_dict() == board_of(values).to_dict()


def test_a_pair_told_apart_against_the_ranks_is_noted() -> None:
    """Model 1 loses to 0 where both answered, and is ahead through model 2."""
    rng = np.random.default_rng(0)
    values = np.full((90, 3), np.nan)
    values[:30, 0], values[:30, 1] = 0.5, 0.0
    values[30:60, 0], values[30:60, 2] = 0.0, 3.0
    values[60:, 1], values[60:, 2] = 3.0, 0.0
    values += rng.normal(size=(90, 3)) * 0.1
    board = board_of(values)
    assert [model.name for model in board.models] == ["m1", "m2", "m0"]
    assert any(pair.verdict == "worse" for pair in board.pairs)
    assert any("told apart the other way round than the ranks" in note for note in board.notes)


# ---------------------------------------------------------------------------------------------------------- properties


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 500), st.permutations(range(4)))
def test_order_of_files_changes_nothing(seed: int, order: list[int]) -> None:
    values = simulated(25, 4, seed)
    values[:3, 1] = np.nan
    parts = tables(values)
    plain = rank(*parts, names=names(4), design=QUICK)
    moved = rank(*(parts[i] for i in order), names=[f"m{i}" for i in order], design=QUICK)
    assert moved.to_dict() == plain.to_dict()


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 500), st.integers(-50, 50))
def test_a_constant_moves_the_scores_and_nothing_else(seed: int, constant: int) -> None:
    values = simulated(25, 4, seed)
    plain, moved = board_of(values), board_of(values + constant)
    for a, b in zip(plain.models, moved.models, strict=True):
        assert (a.name, a.rank, a.tier, a.letters, a.ranks) == (b.name, b.rank, b.tier, b.letters, b.ranks)
        assert (a.estimate.value or 0) + constant == pytest.approx(b.estimate.value)
        assert a.probability_best == pytest.approx(b.probability_best)
    for mine, theirs in zip(plain.pairs, moved.pairs, strict=True):
        assert mine.test.p_value == pytest.approx(theirs.test.p_value)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 500))
def test_less_is_better_turns_the_order_round(seed: int) -> None:
    values = simulated(25, 4, seed)
    plain, turned = board_of(values), board_of(-values, lower_is_better=True)
    assert [m.name for m in plain.models] == [m.name for m in turned.models]
    assert [(m.ranks, m.tier, m.set_p_value) for m in plain.models] == [
        (m.ranks, m.tier, m.set_p_value) for m in turned.models
    ]
    assert plain.top.bias == pytest.approx(-turned.top.bias)
    assert [p.verdict for p in plain.pairs] == [p.verdict for p in turned.pairs]


def test_seeds_choose_the_random_numbers_and_repeat_them() -> None:
    values = simulated(30, 3, step=0.02)
    a, b, c = (board_of(values, design=Design(resamples=300, seed=seed)) for seed in (1, 1, 2))
    assert a == b
    assert a.models[0].probability_best != c.models[0].probability_best


def test_many_pairs_have_closed_forms_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_tests, "INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr(pair_columns, "MOST_WITH_EFFECT_INTERVALS", 2)
    values = simulated(50, 3, step=0.8)
    board, closed = board_of(values, design=Design()), board_of(values, design=Design(method="t"))
    assert board.computed.pair_intervals == "t, for all pairs at once (Bonferroni)"
    assert board_of(values, adjust="bh").computed.pair_intervals == "t, for each pair alone: not adjusted"
    for mine, theirs in zip(board.pairs, closed.pairs, strict=True):
        assert mine.difference.interval is not None
        assert theirs.difference.interval is not None
        assert mine.difference.interval.low == pytest.approx(theirs.difference.interval.low)
        assert mine.effect_sizes["d_z"].interval is None
        assert "2 pairs" in (mine.effect_sizes["d_z"].reason or "")
    alone = compare(*(tables(values)[i] for i in (1, 0)))
    for name in ("d_z", "hedges_g"):
        assert board.pair("m0", "m1").effect_sizes[name].value == pytest.approx(alone.effect_sizes[name].value)


# ----------------------------------------------------------------------------------------------------------- the edges


def test_constant_and_identical_models() -> None:
    values = simulated(30, 3)
    values[:, 0] = 1.0
    values[:, 2] = values[:, 1]
    board = board_of(values, design=Design())
    json.dumps(board.to_dict(), allow_nan=False)
    constant = next(model for model in board.models if model.name == "m0")
    assert constant.estimate.interval is not None
    assert constant.estimate.interval.method == "degenerate"
    twins = board.pair("m1", "m2")
    assert (twins.verdict, twins.test.p_value, twins.difference.value) == ("not told apart", 1.0, 0.0)
    assert [model.rank for model in board.models] == [1, 2, 2]
    assert board.models[1].name == "m1"  # by name where they tie


def test_two_constant_models_are_told_apart_by_the_test_alone() -> None:
    board = board_of(np.column_stack([np.ones(12), np.zeros(12)]), design=Design())
    json.dumps(board.to_dict(), allow_nan=False)
    (pair,) = board.pairs
    assert pair.test.p_value == pytest.approx(0.5**12)  # the mid-p: half of the two outcomes that are as rare
    assert (pair.verdict, pair.effect_sizes["d_z"].value) == ("better", None)
    assert board.top.bias == pytest.approx(0.0, abs=1e-6)


def test_few_items_are_few() -> None:
    board = board_of(simulated(4, 3), design=Design())
    assert "4 items, too few to rely on unless the differences are roughly symmetric" in board.notes
    assert all(pair.verdict == "not told apart" for pair in board.pairs)  # 2 of 16 sign vectors at best
    with pytest.raises(InputError, match="at least two items, but there is one"):
        board_of(simulated(1, 3))
    with pytest.raises(InputError, match="all 5 items are in one cluster"):
        rank(*tables(simulated(5, 2), cluster=["a"] * 5), names=names(2))


def few_clusters(groups: int, k: int, **options: Any) -> Leaderboard:
    values = simulated(6 * groups, k, step=0.5)
    labels = [f"c{i % groups:02d}" for i in range(6 * groups)]
    return rank(*tables(values, cluster=labels), names=[f"m{i:02d}" for i in range(k)], **options)


def test_few_clusters_are_enumerated_and_say_what_they_can_show() -> None:
    """10 clusters have 1,024 sign vectors: no p below 2 of them, and 2 / 1,024 times 66 pairs is nothing."""
    board = few_clusters(10, 12, design=Design(test="sign-flip"))
    assert (board.computed.tests, board.computed.flips) == ("exact", None)
    p = [pair.test.p_value or 0.0 for pair in board.pairs]
    assert min(p) == 2 / 1024
    assert np.array(p) * 1024 == pytest.approx(np.round(np.array(p) * 1024))
    assert all(pair.verdict == "not told apart" for pair in board.pairs)
    (note,) = [note for note in board.notes if "sign flips" in note]
    assert note.startswith("10 clusters have 1,024 sign flips: no p-value can be below 0.002, nor below 0.13 when ")
    assert "adjusted for 66 pairs, so that no pair can be told apart at 0.05" in note
    plain = few_clusters(10, 12)
    few = "10 clusters, too few to rely on unless the differences are roughly symmetric"
    assert [*plain.notes] == [few, note]
    assert min(pair.test.p_value or 0.0 for pair in plain.pairs) >= 2 / 1024
    jointly = few_clusters(10, 12, adjust="max-t")
    assert min(pair.p_adjusted or 0.0 for pair in jointly.pairs) == 2 / 1024
    (note,) = [note for note in jointly.notes if "sign flips" in note]
    assert note == "10 clusters have 1,024 sign flips: no p-value can be below 0.002"


def test_so_few_clusters_that_nothing_can_be_shown() -> None:
    board = few_clusters(4, 2)
    assert "4 clusters have 16 sign flips: no p-value can be below 0.12, so that no pair can be told apart at 0.05" in [
        *board.notes
    ]


def test_models_without_items_in_common_are_refused_or_connected() -> None:
    values = simulated(40, 3)
    values[:20, 0], values[20:, 1] = np.nan, np.nan
    board = board_of(values)
    apart = board.pair("m0", "m1")
    assert (apart.difference.value, apart.test.p_value, apart.p_adjusted) == (None, None, None)
    assert apart.test.reason == apart.difference.reason == "no unit in common"
    json.dumps(board.to_dict(), allow_nan=False)
    str(board)
    with pytest.raises(InputError, match="no item connects 'm1' with 'm0'"):
        board_of(values[:, :2])
    with pytest.raises(InputError, match="no item has an answer of every model"):
        board_of(values, missing="complete")


def test_one_model_is_refused() -> None:
    with pytest.raises(InputError, match=r"at least two models, but got 1: only 'm0'"):
        rank(*tables(simulated(5, 1)), names=["m0"])
    with pytest.raises(InputError, match=r"at least two models, but got 0"):
        rank()


def test_models_of_the_same_name_are_refused() -> None:
    parts = tables(simulated(5, 2))
    with pytest.raises(InputError, match=r"both hold a model called 'm'; rename one"):
        rank(*parts, names=["m", "m"])
    with pytest.raises(UsageError, match=r"names must be 2, one for each model, but got m"):
        rank(*parts, names=["m"])
    assert [model.name for model in rank(*parts, design=QUICK).models] == ["table 1", "table 2"]


def test_an_unanswered_cell_is_a_hole_and_refused_if_asked() -> None:
    parts = tables(simulated(30, 2))
    parts[1]["score"][3] = float("nan")
    without = [{**part, **{name: list(values) for name, values in part.items()}} for part in parts]
    for values in without[1].values():
        del values[3]
    assert rank(*parts, names=names(2)).pairs == rank(*without, names=names(2)).pairs
    with pytest.raises(InputError, match="row 4: no answer"):
        rank(*parts, names=names(2), missing="refuse")


def test_what_belongs_to_an_item_must_agree() -> None:
    a, b = tables(simulated(6, 2), weight=[1, 2, 3, 4, 5, 6], cluster=list("aabbcc"))
    b["item"], b["score"], b["weight"] = b["item"][1:], b["score"][1:], [2, 3, 9, 5, 6]
    b["cluster"] = b["cluster"][1:]
    with pytest.raises(InputError, match=r"column 'weight': item 'q003' has weight 4 and 9; the same item must"):
        rank(a, b, names=names(2))
    b["weight"][2], b["cluster"][0] = 4, "b"
    with pytest.raises(InputError, match=r"column 'cluster': item 'q001' has cluster 'a' and 'b'"):
        rank(a, b, names=names(2))
    del b["weight"]
    with pytest.raises(InputError, match=r"has a column 'weight' and .* has none"):
        rank(a, b, names=names(2))


def test_a_cluster_column_must_be_everywhere() -> None:
    a, b = tables(simulated(6, 2), passage=list("aabbcc"))
    assert rank(a, b, names=names(2), cluster="passage", design=QUICK).n_clusters == 3
    del b["passage"]
    with pytest.raises(InputError, match="passage"):
        rank(a, b, names=names(2), cluster="passage")


def test_values_too_large_to_add_up_are_refused() -> None:
    with pytest.raises(InputError, match="too large to add up"):
        board_of(np.full((5, 2), 1e308))


def test_options_that_make_no_sense_are_refused() -> None:
    parts = tables(simulated(9, 2))
    with pytest.raises(UsageError, match="leave out the rest"):
        rank(*parts, names=names(2), design=Design(margin=0.1))
    with pytest.raises(UsageError, match="adjust must be one of holm, bh, max-t, none"):
        rank(*parts, names=names(2), adjust="bonferroni")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="max-t is of sign flips, but the test is t"):
        rank(*parts, names=names(2), adjust="max-t", design=Design(test="t"))
    with pytest.raises(UsageError, match="resamples must be at least 1,000 at this level, but got 500"):
        rank(*parts, names=names(2), adjust="max-t", design=Design(level=0.999, resamples=500))
    with pytest.raises(UsageError, match="resamples must be at least 100,000 at this level, but got 10,000"):
        rank(*parts, names=names(2), adjust="max-t", design=Design(level=0.99999))
    with pytest.raises(UsageError, match="mcnemar needs 0/1 scores"):
        rank(*parts, names=names(2), design=Design(test="mcnemar"))


def test_adjustments_that_allow_errors_are_noted() -> None:
    values = simulated(30, 3)
    assert any("allows some to be false" in note for note in board_of(values, adjust="bh").notes)
    alone = board_of(values, adjust="none")
    assert [pair.p_adjusted for pair in alone.pairs] == [pair.test.p_value for pair in alone.pairs]


def test_losses_too_large_for_a_perplexity_have_none() -> None:
    parts = [
        {"window": list(range(12)), "tokens": [1] * 12, "loss": [800.0 + i + shift for i in range(12)]}
        for shift in (0, 1)
    ]
    board = rank(*parts, names=names(2), design=Design())
    perplexity = board.models[0].perplexity
    assert perplexity is not None
    assert (perplexity.value, perplexity.reason) == (None, "the perplexity is too large for a number")
    assert "–" in str(board)
