"""The means of models and their intervals, against numpy, statsmodels, scipy and arithmetic by hand."""

from dataclasses import replace
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

from assay import Design, InputError, Panel, Selection, Summary, UsageError, examples, summarize
from assay.data.tables import Labels
from assay.stats.records import Estimate
from tests.data.readers.harness.logs import INSPECT

RNG = np.random.default_rng(5)
T = Design(method="t")


def limits(found: Estimate) -> tuple[float, float]:
    assert found.interval is not None
    return found.interval.low, found.interval.high


def table(scores: Any, model: str = "A") -> dict[str, Any]:
    return {"item": [f"q{i:03d}" for i in range(len(scores))], "model": [model] * len(scores), "score": list(scores)}


def losses(values: Any, **more: Any) -> dict[str, Any]:
    return {"window": [f"w{i:03d}" for i in range(len(values))], "tokens": [64] * len(values), "loss": values} | more


def test_right_and_wrong_against_statsmodels() -> None:
    scores = (RNG.random(60) < 0.8).astype(int)
    model = summarize(table(scores)).models[0]
    assert model.value.value == scores.mean()
    assert limits(model.value) == pytest.approx(proportion_confint(scores.sum(), 60, method="agresti_coull"), abs=1e-9)
    assert (model.n, model.n_clusters, model.effective, model.missing) == (60, None, 60, 0)
    assert model.perplexity is None


def test_all_right_is_not_certain() -> None:
    found = summarize(table([1] * 20)).models[0].value
    assert (found.value, found.standard_error) == (1, 0)
    assert 0.75 < limits(found)[0] < 0.85
    assert limits(found)[1] == 1


def test_the_standard_error_and_a_method_by_name_against_scipy() -> None:
    scores = RNG.random(40)
    found = summarize(table(scores), design=T).models[0].value
    expected = scipy_stats.ttest_1samp(scores, 0).confidence_interval(0.95)
    assert limits(found) == pytest.approx((expected.low, expected.high))
    assert found.standard_error == pytest.approx(scipy_stats.sem(scores))
    assert found.interval is not None
    assert found.interval.method == "t"


def test_scores_outside_0_and_1_have_the_interval_of_the_design() -> None:
    """One score beyond 1 in any model, and the scale is another one for all of them."""
    inside, beyond = RNG.random(30), RNG.random(30) + 0.5
    found = summarize(table(inside), table(beyond, "B"))
    assert {model.value.interval.method for model in found.models if model.value.interval} == {"t-hall"}
    alone = summarize(table(inside)).models[0].value.interval
    assert alone is not None
    assert alone.method == "agresti-coull"


def test_losses_have_perplexity_and_bits() -> None:
    values, size = RNG.uniform(2, 4, 30), np.full(30, 250)
    found = summarize(losses(values.tolist(), bytes=size.tolist(), chars=(size / 2).tolist()), design=T).models[0]
    expected = scipy_stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.value.value == pytest.approx(values.mean())
    assert found.perplexity is not None
    assert found.perplexity.value == pytest.approx(exp(values.mean()))
    assert limits(found.perplexity) == pytest.approx((exp(expected.low), exp(expected.high)))
    assert found.bits_per_byte is not None
    per_byte = values.mean() * 64 / 250 / log(2)
    assert found.bits_per_byte.value == pytest.approx(per_byte)
    assert limits(found.bits_per_byte) == pytest.approx(
        (expected.low * 64 / 250 / log(2), expected.high * 64 / 250 / log(2))
    )
    assert found.bits_per_character is not None
    assert found.bits_per_character.value == pytest.approx(2 * per_byte)


def test_a_perplexity_beyond_every_number_is_undefined() -> None:
    found = summarize(losses([900.0, 1000.0, 1100.0]))
    assert found.models[0].perplexity is not None
    assert found.models[0].perplexity.value is None
    assert "too large" in str(found.models[0].perplexity.reason)
    assert found.sentence.startswith("The loss of the table is 1,000 (95% CI ")


@pytest.mark.parametrize("values", [[2.5], [2.5, 2.5, 2.5]])
def test_losses_without_spread_have_no_interval_and_say_why(values: list[float]) -> None:
    found = summarize(losses(values))
    assert found.models[0].value.interval is None
    assert "no spread to resample" in str(found.models[0].value.reason)
    assert "no interval" in found.sentence
    assert found.fallbacks[0].used == "collapsed interval"


def test_runs_of_a_model_are_averaged_per_item() -> None:
    scores = (RNG.random((25, 4)) < 0.6).astype(float)
    rows = [(f"q{i:03d}", run, scores[i, run]) for i in range(25) for run in range(4)]
    columns = dict(zip(("item", "run", "score"), map(list, zip(*rows, strict=True)), strict=True))
    from_table = summarize(columns).models[0].value
    from_panel = summarize(Panel.from_arrays(scores, models=["A"] * 4)).models[0].value
    by_hand = summarize(table(scores.mean(axis=1))).models[0].value
    assert from_table == from_panel == by_hand


def test_clusters_widen_the_interval_of_answers_that_agree() -> None:
    answers = np.repeat((RNG.random(20) < 0.7).astype(int), 5)
    columns = table(answers) | {"passage": [f"p{i // 5}" for i in range(100)]}
    found, alone = summarize(columns, cluster="passage"), summarize(columns)
    assert (found.n_clusters, found.models[0].n_clusters, found.cluster_by) == (20, 20, "passage")
    assert found.models[0].effective == 20
    widths = [high - low for low, high in (limits(one.models[0].value) for one in (found, alone))]
    assert widths[0] == pytest.approx(widths[1] * 5**0.5, rel=0.15)


def test_holes_are_counted_and_left_out() -> None:
    scores = np.array([[1, 0], [0, 1], [1, np.nan], [1, 1], [0, np.nan]])
    found = summarize(Panel.from_arrays(scores, systems=["A", "B"], holes=True))
    assert {model.name: (model.value.value, model.n, model.missing) for model in found.models} == {
        "A": (0.6, 5, 0),
        "B": (pytest.approx(2 / 3), 3, 2),
    }
    assert any("B lacks 2 of 5 items" in note for note in found.notes)


def test_models_stand_best_first() -> None:
    tables = [table([0, 0, 1, 0], "low"), table([1, 1, 1, 0], "high"), table([1, 0, 1, 0], "middle")]
    assert [model.name for model in summarize(*tables).models] == ["high", "middle", "low"]
    errors = summarize(*tables, lower_is_better=True)
    assert [model.name for model in errors.models] == ["low", "middle", "high"]


def test_tasks_are_summarized_apart() -> None:
    scores = (RNG.random((30, 2)) < [0.4, 0.8]).astype(float)
    tasks = Labels(("math", "word"), np.repeat([0, 1], [10, 20]))
    panel = replace(Panel.from_arrays(scores, ids=[f"{i:02d}" for i in range(30)]), labels={"task": tasks})
    found = summarize(panel)
    assert list(found.tasks) == ["math", "word"]
    whole = {model.name: model for model in found.tasks["math"]}
    assert whole["system 1"] == summarize(Panel.from_arrays(scores[:10, :1])).models[0]
    assert whole["system 2"].value.value == scores[:10, 1].mean()
    assert [table.key for table in found.tables] == ["models", "tasks", "macro"]
    means = [scores[:10, 0].mean(), scores[10:, 0].mean()]
    assert found.macro["system 1"].value == pytest.approx(sum(means) / 2)  # whatever the sizes of the tasks
    assert [row["task"] for row in found.tables[1].records()] == ["math", "math", "word", "word"]
    assert summarize(replace(panel, cluster="task")).tasks == {}


def test_a_model_that_has_nothing_of_a_task_is_left_out_there() -> None:
    scores = np.array([[1, np.nan], [0, np.nan], [1, 1], [1, 0]])
    tasks = Labels(("math", "word"), np.array([0, 0, 1, 1]))
    panel = replace(Panel.from_arrays(scores, systems=["A", "B"], holes=True), labels={"task": tasks})
    assert [model.name for model in summarize(panel).tasks["math"]] == ["A"]


@given(st.permutations(range(12)), st.lists(st.sampled_from([0, 0.25, 0.5, 1]), min_size=12, max_size=12))
def test_the_order_of_rows_changes_no_bit(order: list[int], scores: list[float]) -> None:
    columns = table(scores)
    shuffled = {name: [values[i] for i in order] for name, values in columns.items()}
    assert summarize(shuffled) == summarize(columns)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_every_interval_is_within_the_scale_and_holds_its_mean(scores: list[float]) -> None:
    found = summarize(table(scores)).models[0].value
    low, high = limits(found)
    assert 0 <= low <= (found.value or 0.0) <= high <= 1


def test_fifty_models_at_once() -> None:
    scores = (RNG.random((40, 50)) < np.linspace(0.1, 0.9, 50)).astype(float)
    found = summarize(Panel.from_arrays(scores))
    assert len(found.models) == 50
    alone = summarize(Panel.from_arrays(scores[:, 7])).models[0].value
    assert next(model for model in found.models if model.name == "system 8").value == alone


def test_files_and_logs_of_a_harness() -> None:
    found = summarize(examples.path("losses-base.csv"), examples.path("losses-int3.csv"), cluster="document")
    assert [model.name for model in found.models] == ["losses-base", "losses-int3"]
    logs = [INSPECT / f"{name}.eval" for name in ("large", "small")]
    found = summarize(*logs, selection=Selection(scorer="match"))  # epochs 1110 and 1101, 1100 and 1001
    assert {model.name: model.value.value for model in found.models} == {"mockllm/large": 0.75, "mockllm/small": 0.5}


def test_a_panel_and_its_tables_say_the_same() -> None:
    columns = table(RNG.random(12)) | {
        "weight": [1 + i % 3 for i in range(12)],
        "topic": [f"t{i % 5}" for i in range(12)],
    }
    panel = Panel.from_frame(columns, cluster="topic")
    assert summarize(panel) == summarize(columns, cluster="topic")
    assert summarize(panel, lower_is_better=True).lower_is_better


@pytest.mark.parametrize(
    ("sources", "options", "error", "part"),
    [
        ([], {}, UsageError, "needs at least one table"),
        ([Panel.from_arrays([1.0, 0.0]), table([1])], {}, UsageError, "one panel, or files and tables"),
        ([Panel.from_arrays([1.0, 0.0])], {"columns": {"score": "x"}}, UsageError, "is about reading files"),
        ([table([1, 0])], {"design": Design(method="tango")}, UsageError, "tango is an interval of a difference"),
        ([table([1, 0])], {"design": Design(margin=0.1)}, UsageError, "leave out the rest"),
        ([table([1, 0])], {"cluster": "passage"}, InputError, "no column 'passage' to cluster by"),
        (["nowhere.csv"], {}, InputError, "no such file"),
    ],
)
def test_what_cannot_be_summarized_is_refused(
    sources: list[Any], options: dict[str, Any], error: type[Exception], part: str
) -> None:
    with pytest.raises(error, match=part):
        summarize(*sources, **options)


def test_the_signature_names_data_and_settings() -> None:
    found = summarize(table([1, 0, 1]), design=Design(level=0.9))
    assert "|summary|units:items|models:1|n:3|method:agresti-coull|resamples:closed|level:0.9|data:" in found.signature
    few = summarize(losses([1.0, 2.0, 3.0]))
    assert "|method:t-hall|resamples:closed|level:0.95|data:" in few.signature
    random = summarize(losses([1.0, 2.0, 3.0]), design=Design(method="bca", resamples=500, seed=3))
    assert "|method:bca|resamples:500|level:0.95|seed:3|data:" in random.signature
    drawn = summarize(losses([1.0, 2.0, 3.0, 5.0]), design=Design(method="studentized"))
    assert "|method:studentized|resamples:10000|level:0.95|seed:0|data:" in drawn.signature
    assert isinstance(found, Summary)


def test_the_detectable_difference_against_statsmodels() -> None:
    """Two models of the same spread, unrelated: d_z = difference / (√2 sd), the power of a paired t test."""
    scores = RNG.normal(5, 2, 40)
    needed = TTestPower().solve_power(nobs=40, alpha=0.1, power=0.8)
    found = summarize(table(scores), level=0.9).models[0].detectable
    assert found == pytest.approx(needed * 2**0.5 * scores.std(ddof=1), rel=1e-4)


def test_the_detectable_difference_of_shares_by_hand() -> None:
    """9 of 12 right: ñ = 12 + 1.96², p̃ = (9 + 1.92)/ñ; all right is not certain, so there is one."""
    found = summarize(table([1] * 9 + [0] * 3)).models[0].detectable
    more = 12 + 1.959964**2
    centre = (9 + 1.959964**2 / 2) / more
    needed = TTestPower().solve_power(nobs=12, alpha=0.05, power=0.8) * 12**0.5
    assert found == pytest.approx(needed * (2 * centre * (1 - centre) / more) ** 0.5, rel=1e-4)
    assert summarize(table([1] * 20)).models[0].detectable is not None
    assert summarize(table([1, 0])).models[0].detectable is None  # beyond the scale
    assert summarize(table([1])).models[0].detectable is None
    assert "detectable" not in str(summarize(table([1])))


def test_runs_are_counted() -> None:
    rows = {"item": ["a", "a", "b", "b", "b"], "run": [1, 2, 1, 2, 3], "score": [1, 0.5, 0, 1, 1]}
    assert summarize(rows).models[0].runs == (2, 3)
    assert summarize(rows).tables[0].records()[0]["runs"] == "2–3"
    assert summarize(table([1, 0])).models[0].runs is None


@pytest.mark.parametrize("scale", [1.0, 9.0])  # from 0 to 1, and not
def test_a_task_that_holds_the_same_clusters_again_adds_nothing_by_hand(scale: float) -> None:
    """Its copy has the same scores: the error of the mean of both is that of one task alone."""
    rng = np.random.default_rng(5)
    once = np.round(rng.random(60), 2) * scale
    rows = {"item": [f"q{i}" for i in range(60)], "score": once}
    both = {
        "item": [f"{task}{i}" for task in "ab" for i in range(60)],
        "task": ["a"] * 60 + ["b"] * 60,
        "cluster": [f"q{i}" for i in range(60)] * 2,
        "score": np.concatenate((once, once)),
    }
    [alone], found = summarize(rows).models, summarize(both)
    [macro] = found.macro.values()
    assert macro.standard_error == pytest.approx(alone.value.standard_error, rel=1e-12)
    assert alone.value.interval is not None
    assert macro.interval is not None
    width = alone.value.interval.high - alone.value.interval.low
    assert macro.interval.high - macro.interval.low == pytest.approx(width, rel=0.05)
