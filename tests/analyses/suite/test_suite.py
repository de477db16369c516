"""Two systems on several tasks: against single comparisons, hand-made totals, and what must never contradict."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay import Design, InputError, Panel, UsageError, compare
from assay.analyses.suite.comparing import suite_of_panel
from assay.analyses.suite.result import SuiteComparison
from assay.data.tables import Labels

SIZES = {"arc": 100, "boolq": 150, "gsm8k": 80, "hellaswag": 120, "mmlu": 60}


def panel_of(seed: int = 1, gain: float = 0.3, **sizes: int) -> Panel:
    """0/1 scores; B gains on gsm8k."""
    rng, sizes = np.random.default_rng(seed), sizes or SIZES
    names = np.repeat(list(sizes), list(sizes.values()))
    a = (rng.random(len(names)) < 0.6).astype(float)
    b = np.where(rng.random(len(names)) < 0.1, 1 - a, a)
    b = np.where((names == "gsm8k") & (rng.random(len(names)) < gain), 1.0, b)
    return Panel.from_arrays(np.column_stack([a, b]), systems=["base", "tuned"], labels={"task": names})


def test_rows_hold_what_single_comparisons_say() -> None:
    panel = panel_of()
    found = suite_of_panel(panel, Design())
    for row, (name, part) in zip(found.tasks, panel.by("task"), strict=True):
        alone = compare(part)
        assert (row.task, row.n, row.a, row.b) == (name, part.n, alone.a, alone.b)
        assert row.difference.value == pytest.approx(alone.difference.value, abs=1e-15)
        assert row.p_alone == pytest.approx(alone.p_value, rel=1e-9)  # McNemar's mid-p
        assert row.p_value >= row.p_alone
        assert row.difference.interval is not None
        assert alone.difference.interval is not None
        assert row.difference.interval.high - row.difference.interval.low > (
            alone.difference.interval.high - alone.difference.interval.low
        )


def test_the_total_weighs_tasks_alike_or_by_items_or_as_told_by_hand() -> None:
    panel = panel_of()
    own = {name: part.estimate(1) - part.estimate(0) for name, part in panel.by("task")}
    macro, items = (suite_of_panel(panel, Design(), weights=how).total for how in ("macro", "items"))
    assert macro.difference.value == pytest.approx(np.mean(list(own.values())))
    assert items.difference.value == pytest.approx(panel.estimate(1) - panel.estimate(0))
    told = {"arc": 0, "boolq": 1, "gsm8k": 3, "hellaswag": 0, "mmlu": 0}
    given_ = suite_of_panel(panel, Design(), weights=told).total
    assert given_.weights == "given"
    assert given_.difference.value == pytest.approx((own["boolq"] + 3 * own["gsm8k"]) / 4)
    assert given_.b - given_.a == pytest.approx(given_.difference.value)


def test_tasks_like_these_against_scipy() -> None:
    found = suite_of_panel(panel_of(), Design(level=0.9))
    each = [row.difference.value or 0.0 for row in found.tasks]
    expected = scipy_stats.ttest_1samp(each, 0)
    assert found.total.like_these_p == pytest.approx(expected.pvalue, rel=1e-9)
    limits = found.total.like_these.interval if found.total.like_these else None
    assert limits is not None
    assert (limits.low, limits.high) == pytest.approx(tuple(expected.confidence_interval(0.9)), rel=1e-9)


def test_fewer_than_five_tasks_say_nothing_of_others() -> None:
    found = suite_of_panel(panel_of(arc=50, gsm8k=60), Design())
    assert found.total.like_these is None
    assert "like these" not in str(found)


def test_the_sentence_names_the_task_that_matters() -> None:
    found = suite_of_panel(panel_of(seed=4, gain=0.6), Design())
    assert found.verdict == "better"
    assert found.between.answer == "differ"
    assert found.sentence.endswith("The gain is in 1 of 5 tasks (gsm8k); other tasks may differ.")
    assert "mean of the tasks" in found.sentence


def test_where_the_total_shows_nothing_there_is_no_gain_to_find() -> None:
    found = suite_of_panel(panel_of(seed=3, gain=0.6), Design())
    assert found.verdict == "no difference shown"
    assert found.sentence.endswith("Better in 1 of 5 tasks (gsm8k).")


def test_the_loss_is_where_it_is_and_both_are_named_where_both_are() -> None:
    panel = panel_of(seed=4, gain=0.6)
    assert "The loss is in 1 of 5 tasks (gsm8k)" in suite_of_panel(panel.pair(1, 0), Design()).sentence
    both = suite_of_panel(panel_of(gain=0.6), Design())
    assert [row.task for row in both.tasks if row.verdict == "worse"] == ["boolq"]
    assert "Better in 1 of 5 tasks (gsm8k), worse in 1 (boolq)" in both.sentence


def test_at_most_three_tasks_are_named() -> None:
    sizes = {f"t{i}": 60 for i in range(8)}
    panel = panel_of(**sizes)
    scores = np.column_stack([np.zeros(panel.n), (np.arange(panel.n) % 2).astype(float)])
    found = suite_of_panel(panel.with_numerators(scores), Design())
    assert "Better in all 8 tasks." in found.sentence
    same = scores.copy()
    same[60:120] = 0
    found = suite_of_panel(panel.with_numerators(same), Design())
    assert "The gain is in 7 of 8 tasks (t0, t2 and 5 others)" in found.sentence


def test_nothing_differs() -> None:
    panel = panel_of()
    same = panel.with_numerators(np.column_stack([panel.numerators[:, 0]] * 2))
    found = suite_of_panel(same, Design())
    assert found.verdict == "no difference shown"
    assert {row.p_value for row in found.tasks} == {1.0}
    assert found.sentence.endswith("No single task is shown to differ.")
    assert found.between.answer == "cannot tell"


def test_within_a_margin_they_are_equivalent() -> None:
    panel = panel_of(gain=0.0, arc=3000, boolq=2500, gsm8k=2000)
    assert suite_of_panel(panel, Design(margin=0.05)).verdict == "equivalent"


def test_lower_is_better_turns_verdicts_around() -> None:
    panel = panel_of(gain=0.6)
    turned = replace(panel, metrics=(replace(panel.metric, lower_is_better=True),))
    found = suite_of_panel(turned, Design())
    assert found.verdict == "worse"
    assert [row.task for row in found.tasks if row.verdict == "worse"] == ["gsm8k"]


def test_real_scores_and_losses_have_intervals_by_t_hall() -> None:
    rng = np.random.default_rng(3)
    names = np.repeat(["x", "y"], [60, 40])
    loss = rng.gamma(4, 1, size=(100, 1)) + rng.normal(0, 0.1, size=(100, 2)) + [0, -0.1]
    tokens = rng.integers(200, 500, size=100).astype(float)
    panel = Panel.from_arrays(loss * tokens[:, None], tokens, kind="losses", labels={"task": names})
    found = suite_of_panel(panel, Design())
    assert found.verdict == "better"  # a lower loss
    assert {row.difference.interval.method for row in found.tasks if row.difference.interval} == {"t-hall"}
    assert found.between.test.name == "welch"
    assert "nats per token" in str(found)


def test_items_in_several_tasks_are_one_in_the_total() -> None:
    """Every item occurs in each of four tasks with nearly the same answer: the total is as wide as a single task's."""
    rng = np.random.default_rng(4)
    d = rng.choice([-1, 0, 1], p=[0.1, 0.7, 0.2], size=100)
    a = np.where(d < 0, 1.0, 0.0)
    b = np.where(d > 0, 1.0, 0.0)
    scores = np.column_stack([np.tile(a, 4), np.tile(b, 4)])
    names, items = np.repeat(["p", "q", "r", "s"], 100), np.tile(np.arange(100), 4).astype(str)
    apart = suite_of_panel(Panel.from_arrays(scores, labels={"task": names}), Design())
    shared = suite_of_panel(Panel.from_arrays(scores, labels={"task": names}, clusters=items), Design())
    assert shared.total.difference.standard_error == pytest.approx(2 * (apart.total.difference.standard_error or 0))
    assert [row.p_alone for row in shared.tasks] == [row.p_alone for row in apart.tasks]
    assert any("occur in several tasks" in note for note in shared.notes)


def test_items_with_the_same_contents_are_one_in_the_total_by_hand() -> None:
    """Σ over items of (Σ over tasks of w (d − mean) / n)², with n/(n − 1); each task's own row does not change."""
    rng = np.random.default_rng(5)
    d = rng.choice([-1, 0, 1], p=[0.1, 0.7, 0.2], size=(2, 60))
    d[1, :40] = d[0, :40]  # the same items
    scores = np.column_stack([(d.ravel() < 0).astype(float), (d.ravel() > 0).astype(float)])
    hashes = [*range(60), *range(40), *range(100, 120)]
    names = {"task": np.repeat(["p", "q"], 60)}
    apart = suite_of_panel(Panel.from_arrays(scores, labels=names), Design())
    shared = suite_of_panel(Panel.from_arrays(scores, labels=names | {"doc_hash": [str(x) for x in hashes]}), Design())
    pull = (d - d.mean(axis=1, keepdims=True)) / 60 / 2
    joint = np.concatenate([pull[0, :40] + pull[1, :40], pull[0, 40:], pull[1, 40:]])
    expected = np.sqrt((joint**2).sum() * 60 / 59)
    assert shared.total.difference.standard_error == pytest.approx(expected, rel=1e-12)
    assert (shared.total.difference.standard_error or 0) > (apart.total.difference.standard_error or 0)
    assert shared.tasks == apart.tasks
    said = "items with the same contents: some occur in several tasks; the total takes each of them as one"
    assert said in shared.notes


def test_clusters_widen_rows_and_total() -> None:
    panel = panel_of()
    value = np.repeat(np.arange(panel.n // 5), 5).astype(str)
    scores = np.repeat(panel.numerators[::5], 5, axis=0)
    made = Panel.from_arrays(scores, labels={"task": panel.labels["task"].texts}, clusters=value)
    loose = suite_of_panel(replace(made, cluster=None), Design())
    tight = suite_of_panel(made, Design())
    assert (tight.total.difference.standard_error or 0) > 2 * (loose.total.difference.standard_error or 1)


def test_other_labels_tell_units_apart_too() -> None:
    panel = panel_of()
    half = Labels(("even", "odd"), np.arange(panel.n) % 2)
    found = suite_of_panel(replace(panel, labels={**panel.labels, "half": half}), Design(), by="half")
    assert [row.task for row in found.tasks] == ["even", "odd"]
    assert "over 2 halfs" in found.sentence


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"by": "colour"}, UsageError, "no label 'colour'"),
        ({"weights": {"arc": 1}}, UsageError, "no weight for the task 'boolq'"),
        ({"weights": {**dict.fromkeys(SIZES, 1), "ark": 1}}, UsageError, "did you mean 'arc'"),
        ({"weights": dict.fromkeys(SIZES, -1)}, UsageError, "must be 0 or more"),
        ({"weights": dict.fromkeys(SIZES, 0)}, UsageError, "must not all be 0"),
        ({"weights": "micro"}, UsageError, "must be macro, items"),
        ({"design": Design(method="bca")}, UsageError, "level and the margin"),
        ({"design": Design(test="t")}, UsageError, "level and the margin"),
    ],
)
def test_what_is_refused(change: dict[str, Any], error: type[Exception], words: str) -> None:
    how = {"design": Design(), **change}
    with pytest.raises(error, match=words):
        suite_of_panel(panel_of(), **how)


def test_one_task_is_nothing_to_tell_apart() -> None:
    with pytest.raises(InputError, match="same task"):
        suite_of_panel(panel_of(arc=30), Design())


def test_the_cluster_cannot_be_the_task() -> None:
    with pytest.raises(UsageError, match="cannot be the cluster too"):
        suite_of_panel(replace(panel_of(), cluster="task"), Design())


def test_the_record_is_the_same_after_json() -> None:
    found = suite_of_panel(panel_of(), Design())
    assert SuiteComparison.from_dict(found.to_dict()) == found


def test_frame_and_table_have_a_row_for_each_task() -> None:
    found = suite_of_panel(panel_of(), Design())
    records = found.tables[0].records()
    assert [one["task"] for one in records] == list(SIZES)
    assert {"p_alone", "p_adjusted", "weight", "shrunken", "difference_low", "detectable"} <= set(records[0])


@given(st.integers(0, 10**6), st.sampled_from(["product", "holm", "bh"]))
def test_verdicts_intervals_and_p_never_contradict(seed: int, adjust: Any) -> None:
    found = suite_of_panel(panel_of(seed, arc=30, gsm8k=25, mmlu=9), Design(), adjust=adjust)
    for row in found.tasks:
        assert row.difference.interval is not None
        outside = not row.difference.interval.low <= 0 <= row.difference.interval.high
        assert outside == (row.p_value <= 0.05) == (row.verdict in ("better", "worse"))
    limits = found.total.difference.interval
    assert limits is not None
    assert (not limits.low <= 0 <= limits.high) == ((found.total.test.p_value or 1) <= 0.05)


@given(st.integers(0, 10**6))
def test_swapping_a_and_b_turns_everything_around(seed: int) -> None:
    panel = panel_of(seed, arc=30, gsm8k=40)
    found, other = suite_of_panel(panel, Design()), suite_of_panel(panel.pair(1, 0), Design())
    assert other.total.difference.value == pytest.approx(-(found.total.difference.value or 0), abs=1e-12)
    assert other.total.test.p_value == pytest.approx(found.total.test.p_value, rel=1e-6)
    assert [row.p_value for row in other.tasks] == pytest.approx([row.p_value for row in found.tasks])


def test_tasks_on_different_scales_have_no_total() -> None:
    panel = panel_of(arc=30, gsm8k=30)
    scores = panel.numerators.copy()
    scores[:30] *= 100
    with pytest.raises(InputError, match=r"'gsm8k' up to 1 and of 'arc' up to 100.*divide those in percent by 100"):
        suite_of_panel(panel.with_numerators(scores), Design())


def test_rows_say_their_metric_where_tasks_differ() -> None:
    panel = replace(panel_of(arc=30, gsm8k=30), measures={"arc": "acc", "gsm8k": "exact_match, strict-match"})
    found = suite_of_panel(panel, Design())
    assert [row.measure for row in found.tasks] == ["acc", "exact_match, strict-match"]
    assert "exact_match, strict-match" in str(found)
    assert "metric" not in str(suite_of_panel(panel_of(arc=30, gsm8k=30), Design()))
