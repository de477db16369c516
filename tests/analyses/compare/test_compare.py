"""Comparing two systems. Oracles: sums by hand, scipy, statsmodels, and what must not change (swap, order, format)."""

import json
from itertools import pairwise
from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from assay import Design, InputError, Panel, UsageError, compare, read_table, summarize
from assay.analyses.compare import compare_panel
from assay.analyses.compare.result import Comparison, Systems
from tests.analyses.evidence import interval_of, limits, losses, noisy_losses, noisy_scores, scores, value

# ------------------------------------------------------------------------------------------------ the sources' examples


def two_windows() -> Comparison:
    """P2: 512 and 256 tokens, perplexities 40 → 38 and 220 → 260."""
    before = losses([log(40), log(220)], [512, 256])
    after = losses([log(38), log(260)], [512, 256])
    return compare(before, after)


def test_the_two_window_example_is_1_0217_and_not_the_naive_1_12() -> None:
    found = two_windows()
    naive = (512 * 38 + 256 * 260) / (512 * 40 + 256 * 220)
    assert round(naive, 2) == 1.12
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(1.0217, abs=5e-5)
    assert found.ratio.value == pytest.approx(exp((512 * log(38 / 40) + 256 * log(260 / 220)) / 768), rel=1e-12)


def test_the_ratio_is_the_weighted_geometric_mean_so_at_most_the_arithmetic_one() -> None:
    """P12."""
    found = two_windows()
    assert found.ratio is not None
    assert found.ratio.value is not None
    assert found.ratio.value <= (512 * 38 / 40 + 256 * 260 / 220) / 768


def test_probabilities_0_2_0_1_0_4_have_perplexity_5() -> None:
    """L1, as one window of three tokens and as three windows of one."""
    mean = -(log(0.2) + log(0.1) + log(0.4)) / 3
    one, three = losses([mean], 3), losses([-log(0.2), -log(0.1), -log(0.4)], 1)
    assert compare(one, one).a == pytest.approx(log(5), rel=1e-12)
    assert compare(three, three).b == pytest.approx(log(5), rel=1e-12)


def test_c5_the_interval_is_that_of_the_paired_difference() -> None:
    """The source's interval uses the spread of the two samples: √n too wide, and blind to pairing."""
    before, after = noisy_scores(60, 0.2)
    found = compare(before, after, design=Design(method="t", test="t"))
    theirs = stats.ttest_rel(after["score"], before["score"])
    expected = theirs.confidence_interval(0.95)
    assert limits(found) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


# ------------------------------------------------------------------------------------------------------------ estimates


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 4096), st.floats(0, 20), st.floats(0, 20)), min_size=1, max_size=30))
def test_the_ratio_interval_is_exp_of_the_difference_interval_to_the_last_bit(
    rows: list[tuple[int, float, float]],
) -> None:
    """P3 and P8."""
    tokens, a, b = zip(*rows, strict=True)
    found = compare(losses(a, tokens), losses(b, tokens))
    difference, ratio = found.difference, found.ratio
    assert ratio is not None
    assert difference.interval is not None
    assert ratio.interval is not None
    assert ratio.value == exp(value(found))
    assert (ratio.interval.low, ratio.interval.high) == (exp(difference.interval.low), exp(difference.interval.high))
    assert (ratio.interval.level, ratio.interval.method) == (difference.interval.level, difference.interval.method)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 4096), st.floats(0, 20), st.floats(0, 20)), min_size=1, max_size=30))
def test_losses_are_weighted_by_tokens(rows: list[tuple[int, float, float]]) -> None:
    tokens, a, b = zip(*rows, strict=True)
    found = compare(losses(a, tokens), losses(b, tokens))
    means = [np.average(loss, weights=tokens) for loss in (a, b)]
    assert (found.a, found.b) == pytest.approx(tuple(means), rel=1e-12)
    assert value(found) == pytest.approx(means[1] - means[0], rel=1e-9, abs=1e-12)


def test_scores_are_weighted_by_weight() -> None:
    weight = [1.0, 2.5, 0.5, 4.0]
    found = compare(scores([1, 0, 1, 1], weight=weight), scores([1, 1, 0, 1], weight=weight))
    assert (found.a, found.b) == pytest.approx((5.5 / 8, 7.5 / 8))
    assert value(found) == pytest.approx(2 / 8)


def test_p6_equal_tokens_give_the_same_numbers_as_no_tokens() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.uniform(2, 4, 50), rng.uniform(2, 4, 50)
    heavy = compare(losses(a.tolist(), 512), losses(b.tolist(), 512))
    light = compare(losses(a.tolist(), 1), losses(b.tolist(), 1))
    plain = compare(scores(a.tolist()), scores(b.tolist()), lower_is_better=True)
    for other in (light, plain):
        assert value(heavy) == pytest.approx(value(other), rel=1e-12)
        assert limits(heavy) == pytest.approx(limits(other), rel=1e-9)
        assert heavy.p_value == pytest.approx(other.p_value, rel=1e-6)
        assert heavy.verdict == other.verdict


def test_the_standard_error_against_the_linearised_formula() -> None:
    """C4: √(n/(n − 1) · Σ t²(Δ − μ)²) / Σ t."""
    tokens = np.random.default_rng(2).integers(10, 900, 40)
    before, after = noisy_losses(40, 0.05, tokens=tokens.tolist())
    found = compare(before, after)
    delta = np.array(after["loss"]) - np.array(before["loss"])
    mu = np.average(delta, weights=tokens)
    expected = sqrt(40 / 39 * (tokens**2 * (delta - mu) ** 2).sum()) / tokens.sum()
    assert found.difference.standard_error == pytest.approx(expected, rel=1e-9)
    assert found.ratio is not None
    assert found.ratio.standard_error == pytest.approx(exp(mu) * expected, rel=1e-9)


def test_bits_per_byte_and_per_character_by_hand() -> None:
    """L3: (loss / ln 2) × tokens / characters. 2 and 3 nats on 10 and 20 tokens are 80 nats on 100 characters."""
    before = losses([2.0, 3.0], [10, 20], bytes=[50, 70], chars=[40, 60])
    after = losses([2.5, 3.0], [10, 20], bytes=[50, 70], chars=[40, 60])
    found = compare(before, after)
    characters, size = found.sizes["bits_per_character"], found.sizes["bits_per_byte"]
    assert characters.a == pytest.approx(80 / log(2) / 100)
    assert characters.b == pytest.approx(85 / log(2) / 100)
    assert characters.difference.value == pytest.approx(5 / log(2) / 100)
    assert (size.a, size.b) == pytest.approx((80 / log(2) / 120, 85 / log(2) / 120))
    mean_loss, tokens_per_character = 80 / 30, 30 / 100
    assert characters.a == pytest.approx(mean_loss / log(2) * tokens_per_character)


def test_a_window_without_a_byte_of_its_own_counts_in_the_sums_by_hand() -> None:
    """It holds the end of a character that began in the window before: nats and no byte."""
    a, b = ({"loss": rng.random(60), "tokens": np.full(60, 8)} for rng in map(np.random.default_rng, (1, 2)))
    shared = {"window": [f"w{i:02d}" for i in range(60)], "bytes": [0 if i in (0, 7, 8) else 20 for i in range(60)]}
    found = compare(a | shared, b | shared)
    assert found.bits_per_byte is not None
    for side, shown in ((a, found.bits_per_byte.a), (b, found.bits_per_byte.b)):
        assert shown == pytest.approx(side["loss"].sum() * 8 / (57 * 20 * log(2)), rel=1e-12)
    apart = (b["loss"].sum() - a["loss"].sum()) * 8 / (57 * 20 * log(2))
    assert found.bits_per_byte.difference.value == pytest.approx(apart, rel=1e-9)
    reach = found.bits_per_byte.difference.interval
    assert reach is not None
    assert reach.low < apart < reach.high
    no_bytes = shared | {"bytes": [0] * 60}
    assert compare(a | no_bytes, b | no_bytes).bits_per_byte is None
    (one,) = summarize(a | shared).models
    assert one.bits_per_byte is not None
    assert one.bits_per_byte.value == pytest.approx(a["loss"].sum() * 8 / (57 * 20 * log(2)), rel=1e-12)


def test_bits_per_byte_where_every_token_has_four_bytes_is_the_loss_on_another_scale() -> None:
    before, after = noisy_losses(60, 0.03, tokens=100, bytes=[400] * 60)
    found = compare(before, after)
    bits = found.sizes["bits_per_byte"].difference
    assert bits.interval is not None
    scale = 1 / (4 * log(2))
    assert bits.value == pytest.approx(scale * value(found), rel=1e-12)
    assert (bits.interval.low, bits.interval.high) == pytest.approx(tuple(scale * x for x in limits(found)), rel=1e-9)
    assert "bits_per_character" not in found.sizes


def test_runs_are_averaged_before_anything_else() -> None:
    items, runs = ["q1", "q1", "q2", "q2"], ["1", "2", "1", "2"]
    before = {"item": items, "run": runs, "score": [1, 0, 1, 1]}
    after = {"item": items, "run": runs, "score": [1, 1, 0, 1]}
    found = compare(before, after)
    assert (found.a, found.b, found.n_pairs) == (0.75, 0.75, 2)
    assert any("2 runs of each item averaged" in note for note in found.notes)
    assert found.test.name == "sign-flip"  # an average of runs is not right or wrong


# ---------------------------------------------------------------------------------------------------------------- swap


@pytest.mark.parametrize("method", ["bca", "bca-plain", "percentile", "t", "studentized"])
@pytest.mark.parametrize("resamples", [None, 500])
def test_swapping_the_systems_mirrors_everything(method: Any, resamples: int | None) -> None:
    before, after = noisy_losses(40, 0.05, tokens=[50 + 7 * i for i in range(40)])
    design = Design(method=method, resamples=resamples)
    there, back = compare(before, after, design=design), compare(after, before, design=design)
    low, high = limits(there)
    assert value(back) == pytest.approx(-value(there), rel=1e-12)
    assert limits(back) == pytest.approx((-high, -low), rel=1e-6)
    assert (there.verdict, back.verdict) == ("worse", "better")
    assert back.p_value == there.p_value
    assert (back.a, back.b) == (there.b, there.a)
    assert there.ratio is not None
    assert back.ratio is not None
    assert there.ratio.value is not None
    assert back.ratio.value == pytest.approx(1 / there.ratio.value, rel=1e-12)


def test_swapping_the_systems_of_scores_mirrors_the_lattice_interval() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, 90).tolist(), rng.integers(0, 2, 90).tolist()
    low, high = limits(compare(scores(a), scores(b)))
    assert limits(compare(scores(b), scores(a))) == pytest.approx((-high, -low), abs=1e-12)


@settings(max_examples=25)
@given(st.permutations(range(20)))
def test_the_order_of_rows_changes_no_bit(order: list[int]) -> None:
    before, after = noisy_losses(20, 0.05, tokens=[50 + 7 * i for i in range(20)])
    shuffled = {name: [values[i] for i in order] for name, values in before.items()}
    assert compare(shuffled, after) == compare(before, after)


def test_the_same_design_and_seed_give_the_same_bits_and_another_seed_others() -> None:
    before, after = noisy_scores(30, 0.1)
    first = compare(before, after, design=Design(method="bca", resamples=1000, seed=7))
    assert compare(before, after, design=Design(method="bca", resamples=1000, seed=7)) == first
    assert limits(compare(before, after, design=Design(method="bca", resamples=1000, seed=8))) != limits(first)


def test_resamples_that_nothing_uses_are_said_to_be_unused() -> None:
    few, many = noisy_scores(30, 0.1), noisy_scores(120, 0.1)
    unused = "nothing is drawn at random: t-hall is a closed form; `method='bca'` draws"
    assert unused in [one.text for one in compare(*few, design=Design(resamples=1000)).cautions]
    for tables, design in (
        (few, Design()),
        (few, Design(method="bca", resamples=1000)),
        (many, Design(resamples=1000)),
    ):
        assert not [one for one in compare(*tables, design=design).cautions if "nothing is drawn" in one.text]


# --------------------------------------------------------------------------------------------- degenerate and undefined


@pytest.mark.parametrize("margin", [None, 0.1])
def test_identical_systems_show_no_difference(margin: float | None) -> None:
    before, _ = noisy_losses(50, 0)
    found = compare(before, before, design=Design(margin=margin))
    assert (value(found), limits(found), found.p_value) == (0, (0, 0), 1)
    assert (found.degenerate, found.verdict) == (True, "no difference shown" if margin is None else "equivalent")
    assert found.ratio is not None
    assert found.ratio.value == 1
    assert [f.used for f in found.fallbacks] == ["collapsed interval"]
    assert all(effect.value is None and effect.reason for effect in found.effect_sizes.values())


@pytest.mark.parametrize("step", [0.1, 1e-4, -0.03])
@pytest.mark.parametrize("tokens", [100, [100, 101, 99, 102, 98], [3, 900, 20, 57, 400]])
def test_p4_equal_differences_collapse_the_interval(step: float, tokens: int | list[int]) -> None:
    """The losses are decimal fractions, so that their differences are equal only up to rounding."""
    a = [3.1, 3.25, 2.2, 4.75, 0.9]
    found = compare(losses(a, tokens), losses([x + step for x in a], tokens))
    assert value(found) == pytest.approx(step, rel=1e-9)
    assert limits(found) == (value(found), value(found))
    assert found.degenerate
    assert interval_of(found).method == "degenerate"
    assert found.fallbacks[0].used == "collapsed interval"
    assert found.p_value == pytest.approx(2 / 2**5)  # more than 0.05: five pairs cannot reject
    assert found.verdict == ("undecided" if kish(np.atleast_1d(tokens).tolist()) > 1.05 else "no difference shown")
    assert all(effect.value is None for effect in found.effect_sizes.values())


def test_p4_enough_equal_differences_show_a_difference_by_the_test() -> None:
    a = [3.1, 3.25, 2.2, 4.75, 0.9, 1.3, 2.2]
    found = compare(losses(a), losses([x + 0.1 for x in a]))
    assert found.p_value == pytest.approx(2 / 2**7)
    assert (found.degenerate, found.verdict) == (True, "worse")


def test_one_pair_has_no_standard_error() -> None:
    found = compare(losses([3.0]), losses([2.5]))
    assert (value(found), limits(found), found.p_value) == (-0.5, (-0.5, -0.5), 1)
    assert found.difference.standard_error is None
    assert found.difference.reason == "one unit has no standard error; its interval is collapsed"
    assert (found.degenerate, found.verdict, found.n_pairs) == (True, "undecided", 1)
    assert "too few to rely on" in found.sentence


def test_one_cluster_is_one_unit() -> None:
    panel = Panel.from_arrays([[1, 0], [0, 0], [1, 1]], systems=["A", "B"], clusters=["a"] * 3)
    found = compare_panel(panel, Design())
    assert (found.n_clusters, found.degenerate, found.verdict) == (1, True, "undecided")
    assert {fact.label: fact.text for fact in found.facts}["difference B − A"] == "−0.333333, no interval: one cluster"


def test_two_pairs_are_not_certain_under_any_method() -> None:
    for method in ("bca", "bca-plain", "percentile", "t", "studentized"):
        settings: dict[str, Any] = {"method": method}
        found = compare(scores([1, 0]), scores([1, 1]), design=Design(**settings))
        assert found.verdict == "no difference shown", method


def test_a_ratio_too_large_for_a_number_is_undefined_and_said() -> None:
    found = compare(losses([0.0, 0, 0]), losses([1000.0, 1001, 1003]))
    assert found.ratio is not None
    assert (found.ratio.value, found.ratio.interval) == (None, None)
    assert found.ratio.reason == "the ratio is too large for a number; is the loss a mean per token, in nats?"
    assert "mean loss 0 → 1,001" in found.sentence
    assert "undefined: the ratio is too large" in str(found)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e200])
def test_the_unit_of_a_score_does_not_matter(scale: float) -> None:
    before, after = noisy_scores(25, 0.15)
    plain = compare(before, after)
    scaled = compare(scores([scale * x for x in before["score"]]), scores([scale * x for x in after["score"]]))
    assert limits(scaled) == pytest.approx(tuple(scale * x for x in limits(plain)), rel=1e-6)
    assert scaled.p_value == pytest.approx(plain.p_value, rel=1e-6)
    assert scaled.verdict == plain.verdict
    assert "nan" not in str(scaled)
    assert len(str(scaled)) < 3000


def test_a_weight_beside_which_the_others_vanish_gives_no_nan() -> None:
    weight = [1e300, 1, 1]
    found = compare(scores([1, 0, 1], weight=weight), scores([0, 0, 1], weight=weight))
    assert "NaN" not in json.dumps(found.to_dict())
    assert value(found) == -1


# --------------------------------------------------------------------------------------------------------------- scheme


def kish(tokens: list[int]) -> float:
    t = np.array(tokens, dtype=np.float64)
    return float(len(t) * (t**2).sum() / t.sum() ** 2)


@pytest.mark.parametrize(("spread", "scheme"), [(0.0, "tokens"), (0.2, "tokens"), (0.25, "windows"), (0.6, "windows")])
def test_c4_auto_draws_tokens_up_to_a_design_effect_of_1_05(spread: float, scheme: str) -> None:
    tokens = [round(1000 * (1 + (-1) ** i * spread)) for i in range(160)]
    assert (kish(tokens) <= 1.05) == (scheme == "tokens")
    found = compare(*noisy_losses(160, 0.05, tokens=tokens))
    assert found.computed.scheme == scheme
    assert f"{kish(tokens):.3f}" in found.computed.scheme_reason
    if scheme == "tokens":
        assert found.computed.scheme_reason == f"tokens are nearly equal: design effect {kish(tokens):.3f} ≤ 1.05"
    else:
        expected = f"windows drawn uniformly because tokens vary: design effect {kish(tokens):.3f} > 1.05"
        assert found.computed.scheme_reason == expected


@pytest.mark.parametrize("scheme", ["tokens", "windows"])
def test_c4_a_scheme_that_was_asked_for_is_used(scheme: Any) -> None:
    tokens = [100 + 400 * (i % 2) for i in range(40)]
    found = compare(*noisy_losses(40, 0.05, tokens=tokens), design=Design(scheme=scheme))
    assert found.computed.scheme == scheme
    assert found.computed.scheme_reason.startswith("as asked")


def test_c4_the_sources_scheme_is_too_short_by_the_root_of_the_design_effect() -> None:
    """Noise that does not depend on the tokens: Var_w(Δ)/n against Σ t²(Δ − μ)²/(Σ t)²."""
    rng = np.random.default_rng(5)
    tokens = np.rint(200 * rng.lognormal(0, 0.7, 400)).astype(int).tolist()
    before, after = noisy_losses(400, 0.0, tokens=tokens)
    widths = []
    for scheme in ("tokens", "windows"):
        settings: dict[str, Any] = {"scheme": scheme, "method": "percentile"}
        low, high = limits(compare(before, after, design=Design(**settings)))
        widths.append(high - low)
    assert widths[1] / widths[0] == pytest.approx(sqrt(kish(tokens)), rel=0.15)
    assert widths[1] > 1.1 * widths[0]


# ------------------------------------------------------------------------------------------------------------- clusters


@pytest.mark.parametrize("kind", ["losses", "scores"])
def test_clusters_against_statsmodels_cluster_robust(kind: str) -> None:
    rng = np.random.default_rng(6)
    groups = rng.integers(0, 15, 90)
    documents = [f"d{g}" for g in groups]
    tokens = rng.integers(50, 500, 90)
    if kind == "losses":
        before, after = noisy_losses(90, 0.02, tokens=tokens.tolist(), document=documents)
        cluster, field, weights = "document", "loss", tokens.astype(np.float64)
    else:
        before, after = noisy_scores(90, 0.05, cluster=documents)
        cluster, field, weights = "cluster", "score", np.ones(90)
    found = compare(before, after, cluster=cluster, design=Design(method="t", test="t"))
    delta = np.array(after[field]) - np.array(before[field])
    model = sm.WLS(delta, np.ones(90), weights=weights)
    theirs = model.fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    assert value(found) == pytest.approx(float(theirs.params[0]), rel=1e-9)
    assert found.difference.standard_error == pytest.approx(float(theirs.bse[0]), rel=1e-9)
    assert found.p_value == pytest.approx(float(theirs.pvalues[0]), rel=1e-9)
    assert limits(found) == pytest.approx(tuple(theirs.conf_int()[0]), rel=1e-9)
    assert (found.n_pairs, found.n_clusters, found.cluster_by) == (90, 15, cluster)


def test_copies_of_an_item_in_one_cluster_add_no_evidence() -> None:
    before, after = noisy_scores(30, 0.12)
    copies = {"cluster": [f"c{i}" for i in range(30) for _ in range(4)]}
    both = [scores(np.repeat(table["score"], 4).tolist(), **copies) for table in (before, after)]
    alone, clustered = compare(before, after), compare(*both)
    blind = compare(*[{k: v for k, v in table.items() if k != "cluster"} for table in both])
    assert limits(clustered) == pytest.approx(limits(alone), rel=1e-9)
    assert clustered.p_value == pytest.approx(alone.p_value, rel=1e-6)
    assert limits(blind)[1] - limits(blind)[0] < 0.6 * (limits(alone)[1] - limits(alone)[0])


def test_the_document_column_is_mentioned_when_it_is_not_used() -> None:
    before, after = noisy_losses(12, 0.1, document=["a", "b"] * 6)
    found = compare(before, after)
    assert found.n_clusters is None
    assert any("`cluster='document'`" in note for note in found.notes)


# ---------------------------------------------------------------------------------------------------------------- tests


RIGHT_A, RIGHT_B = [1] * 60 + [0] * 40, [1] * 45 + [0] * 15 + [1] * 4 + [0] * 36  # 15 lost, 4 won


def test_auto_takes_mid_p_and_tango_for_right_or_wrong_against_scipy() -> None:
    found = compare(scores(RIGHT_A), scores(RIGHT_B))
    assert (found.design.method, found.design.test) == ("auto", "auto")
    assert (interval_of(found).method, found.test.name) == ("tango", "mcnemar-midp")
    exact = stats.binomtest(4, 19).pvalue
    assert found.p_value == pytest.approx(exact - stats.binom.pmf(4, 19, 0.5), rel=1e-10)
    assert limits(found) == pytest.approx(paired_shares_by_hand(4, 15, 100), abs=1e-9)
    assert "method:tango|test:mcnemar-midp|resamples:closed" in found.signature


def paired_shares_by_hand(b: int, c: int, n: int) -> tuple[float, float]:
    """Tango's limits: where his statistic, written out, crosses ±1.96."""

    def statistic(d: float) -> float:
        middle = (2 * n - b + c) * d - b - c
        q = (np.sqrt(middle**2 + 8 * n * c * d * (1 - d)) - middle) / (4 * n)
        return float((b - c - n * d) / np.sqrt(n * (2 * q + d * (1 - d))))

    z, at = stats.norm.ppf(0.975), (b - c) / n
    low = optimize.brentq(lambda d: statistic(d) - z, -0.99, at, xtol=1e-13)
    return low, optimize.brentq(lambda d: statistic(d) + z, at, 0.99, xtol=1e-13)


def test_the_exact_test_stays_by_option_with_the_same_interval_rule_against_binomtest() -> None:
    found = compare(scores(RIGHT_A), scores(RIGHT_B), design=Design(test="mcnemar"))
    assert (interval_of(found).method, found.test.name) == ("tango", "mcnemar")
    assert found.p_value == pytest.approx(stats.binomtest(4, 19).pvalue, rel=1e-10)
    borderline = compare(scores([1] * 5 + [0] * 25), scores([0] * 5 + [0] * 25), design=Design(test="mcnemar"))
    assert borderline.p_value == pytest.approx(0.0625)
    assert limits(borderline)[1] == 0
    assert borderline.verdict == "no difference shown"
    assert "a limit is set to 0" in " ".join(borderline.notes)


def test_four_lost_and_none_won_are_no_difference_in_every_word() -> None:
    """They were "worse … p = 0.12" in one verb and "cannot be told apart" in another."""
    found = compare(scores([1] * 4 + [1, 0] * 48), scores([0] * 4 + [1, 0] * 48))
    assert found.verdict == "no difference shown"
    assert found.p_value == pytest.approx(0.0625)
    assert limits(found)[1] == 0
    assert found.sentence.startswith("No difference shown")


@pytest.mark.parametrize("more", [{"weight": [1.0, 2.0] * 10}, {"cluster": ["a", "b", "c", "d", "e"] * 4}])
def test_right_or_wrong_with_weights_or_clusters_takes_the_design_effect(more: dict[str, Any]) -> None:
    found = compare(scores([1, 0] * 10, **more), scores([1, 1] * 10, **more))
    assert (interval_of(found).method, found.test.name) == ("tango", "mcnemar-score")
    assert found.computed.design_effect is not None
    assert found.computed.design_effect >= 1
    assert found.computed.degrees_of_freedom is not None


def test_what_was_asked_for_by_name_is_shown_as_computed_and_a_verdict_needs_both() -> None:
    """Four of a hundred items lost: the BCa interval leaves out 0, the test does not reject."""
    tables = scores([1] * 4 + [1, 0] * 48), scores([0] * 4 + [1, 0] * 48)
    found = compare(*tables, design=Design(method="bca"))
    low, high = limits(found)
    assert (interval_of(found).method, found.test.name) == ("bca", "mcnemar-midp")
    assert low < high < 0
    assert found.p_value == pytest.approx(0.0625)
    assert found.verdict == "no difference shown"
    assert [note for note in found.notes if "a verdict needs both" in note]


def test_mcnemar_is_refused_where_it_means_nothing() -> None:
    with pytest.raises(UsageError, match="mcnemar needs 0/1 scores without weights and clusters; leave `test` out"):
        compare(*noisy_scores(10, 0.1), design=Design(test="mcnemar"))


def test_tango_is_refused_where_it_means_nothing() -> None:
    with pytest.raises(UsageError, match="tango is an interval of 0/1 scores, but these are not; leave `method` out"):
        compare(*noisy_scores(10, 0.1), design=Design(method="tango"))


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_a_test_that_was_asked_for_is_used_against_scipy(test: Any) -> None:
    before, after = noisy_scores(40, 0.1)
    values = np.array(after["score"]), np.array(before["score"])
    theirs = stats.ttest_rel(*values) if test == "t" else stats.wilcoxon(*values)
    found = compare(before, after, design=Design(test=test))
    assert found.test.name == test
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_the_interval_of_a_mean_against_scipy_bootstrap() -> None:
    before, after = noisy_scores(50, 0.1)
    delta = np.array(after["score"]) - np.array(before["score"])
    theirs = stats.bootstrap((delta,), np.mean, n_resamples=40_000, method="BCa", rng=np.random.default_rng(1))
    found = compare(before, after, design=Design(method="bca-plain"))
    reach = 0.03 * float(theirs.standard_error)
    assert limits(found) == pytest.approx(tuple(theirs.confidence_interval), abs=reach)


def test_interval_and_test_that_disagree_are_made_to_agree_and_it_is_noted() -> None:
    """What `t-hall` and `sign-flip` give by name, they give by default, but for the limit or the p that is moved."""
    noted = 0
    for seed in range(60):
        tables = noisy_scores(14, 0.15, seed=seed)
        found, apart = compare(*tables), compare(*tables, design=Design(method="t-hall", test="sign-flip"))
        assert found.p_value is not None
        assert apart.p_value is not None
        assert found.p_value >= apart.p_value == found.computed.test_p
        assert found.p_value == max(found.computed.test_p, found.computed.interval_p or 0.0)
        (low, high), before = limits(found), limits(apart)
        assert (not low <= 0 <= high) == (found.p_value <= 1 - 0.95) == (found.verdict != "no difference shown")
        if (not before[0] <= 0 <= before[1]) != (apart.p_value <= 1 - 0.95):
            noted += 1
            assert apart.verdict == "no difference shown"
            assert [note for note in apart.notes if note.startswith("borderline")]
            assert [note for note in found.notes if "alone" in note]
        else:
            assert (low, high) == before
    assert noted > 0


# ------------------------------------------------------------------------------------------------------------- evidence


def test_ids_that_do_not_pair_are_counted_listed_and_left_out() -> None:
    before = {"item": [f"q{i}" for i in range(9)], "score": [1] * 9}
    after = {"item": [f"q{i}" for i in range(7, 12)], "score": [0] * 5}
    found = compare(before, after)
    assert (found.n_pairs, found.dropped.only_a, found.dropped.only_b) == (2, 7, 3)
    assert len(found.dropped.examples) == 5
    with pytest.raises(InputError, match="10 items do not pair"):
        compare(before, after, missing="refuse")


def test_one_table_may_hold_both_models() -> None:
    both = {"item": ["q1", "q2", "q1", "q2"], "model": ["x", "x", "y", "y"], "score": [1, 0, 1, 1]}
    found = compare(both, models=("x", "y"))
    assert (found.systems, found.a, found.b) == (Systems("x", "y"), 0.5, 1.0)
    assert compare(read_table(both), models=("y", "x")).systems == Systems("y", "x")


@pytest.mark.parametrize("models", [(None, None), ("x", None), (None, "y")])
def test_one_table_of_three_models_needs_the_names_of_two(models: tuple[str | None, str | None]) -> None:
    both = {"item": ["q1", "q1", "q1"], "model": ["x", "y", "z"], "score": [1, 0, 0]}
    with pytest.raises(UsageError, match="compare needs two files, or one file and the names of two of its models"):
        compare(both, models=models)


def test_columns_and_splits_are_chosen_by_name() -> None:
    a = {"id": ["1", "2", "3"], "t": [5, 5, 5], "nll": [1.0, 2.0, 9.0], "split": ["final", "final", "preview"]}
    b = a | {"nll": [1.5, 2.5, 1.0]}
    mapping = {"window": "id", "tokens": "t", "loss": "nll"}
    found = compare(a, b, columns=mapping, split="final")
    assert (found.n_pairs, value(found)) == (2, 0.5)


def test_lower_is_better_turns_the_verdict_and_nothing_else() -> None:
    before, after = noisy_scores(40, 0.3)
    higher, lower = compare(before, after), compare(before, after, lower_is_better=True)
    assert (higher.verdict, lower.verdict) == ("better", "worse")
    assert (higher.difference, higher.test) == (lower.difference, lower.test)
    with pytest.raises(UsageError, match="lower_is_better must not be False for losses"):
        compare(*noisy_losses(5, 0.1), lower_is_better=False)


def test_a_panel_of_three_systems_must_be_cut_to_two() -> None:
    panel = Panel.from_arrays(np.arange(12.0).reshape(4, 3) ** 1.5)
    with pytest.raises(UsageError, match="compare takes a panel of two systems, but got 3"):
        compare_panel(panel, Design())
    assert compare_panel(panel.pair(0, 2), Design()).n_pairs == 4


def test_a_panel_with_different_denominators_is_refused() -> None:
    panel = Panel.from_arrays([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [1.0, 1.0]])
    with pytest.raises(InputError, match="same denominators"):
        compare_panel(panel, Design())


def test_the_signature_tells_any_two_results_apart() -> None:
    before, after = noisy_losses(30, 0.05, tokens=[50 + 20 * i for i in range(30)])
    designs = [Design(), Design(level=0.9), Design(method="t"), Design(scheme="tokens", method="bca")]
    designs += [Design(method="bca", resamples=200, seed=seed) for seed in (0, 1)]
    designs.append(Design(method="bca", resamples=300))
    lines = [compare(before, after, design=design).signature for design in designs]
    lines.append(compare(after, before).signature)
    assert len(set(lines)) == len(lines)
    assert all(line.startswith("assay:") and "|n:30|" in line and "\n" not in line for line in lines)
    assert [("seed:" in line) for line in lines] == [False, False, False, False, True, True, True, False]


def test_more_evidence_narrows_the_interval() -> None:
    widths = [high - low for low, high in (limits(compare(*noisy_scores(n, 0.1))) for n in (20, 80, 320))]
    assert all(0.35 < narrow / wide < 0.7 for wide, narrow in pairwise(widths))
