"""The record of a comparison: plain data there and back, and what a person reads of it."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Comparison, Design, InputError, compare
from assay.report.notebook import section_html
from assay.results.explanations import EXPLANATIONS
from assay.results.figures import Distribution, Points
from assay.results.text import plain_html
from tests.analyses.evidence import losses, noisy_losses, noisy_scores, scores

#: What other programs rely on.
PROMISED = {
    "schema", "kind", "verdict", "sentence", "difference", "p_value", "test", "effect_sizes", "n_pairs", "n_clusters",
    "dropped", "fallbacks", "design", "signature",
}  # fmt: skip
COMPUTED = {
    "scheme", "scheme_reason", "distribution", "resamples", "test_p", "interval_p", "design_effect",
    "degrees_of_freedom", "rounded", "rounding",
}  # fmt: skip
BESIDES = {
    "unit", "systems", "lower_is_better", "a", "b", "cluster_by", "degenerate", "notes", "computed", "picture",
    "substance", "reliance",
}  # fmt: skip


def strict_json(found: Comparison) -> Any:
    """Through text that may not hold NaN or infinity, as any other program would read it."""
    return json.loads(json.dumps(found.to_dict(), allow_nan=False))


def every_kind_of_result() -> list[Comparison]:
    sizes: dict[str, Any] = {"bytes": [300 + i for i in range(130)], "chars": [200 + i for i in range(130)]}
    documents: dict[str, Any] = {"document": [f"d{i // 3}" for i in range(30)]}
    first = {"item": ["q1", "q2", "q3"], "score": [1, 0, 1]}
    return [
        compare(*noisy_losses(130, 0.1, tokens=[50 + 9 * (i % 30) for i in range(130)], **sizes)),
        compare(*noisy_losses(30, 0.1, **documents), cluster="document", design=Design(margin=0.5)),
        compare(*noisy_scores(30, 0.1), design=Design(resamples=200, seed=3, method="studentized", level=0.9)),
        compare(*noisy_scores(30, 0.1), design=Design(test="t"), lower_is_better=True),
        compare(scores([1, 0, 1, 1] * 5), scores([1, 1, 1, 0] * 5)),
        compare(scores([1, 0]), scores([1, 0])),
        compare(losses([2.0]), losses([2.5])),
        compare(losses([0.0, 0, 0]), losses([1000.0, 1001, 1003])),
        compare(first, {"item": ["q2", "q3", "q4"], "score": [1, 1, 0]}),
    ]


@pytest.fixture(scope="module")
def results() -> list[Comparison]:
    return every_kind_of_result()


# ------------------------------------------------------------------------------------------------------- there and back


def test_there_and_back_through_json_is_exact(results: list[Comparison]) -> None:
    for found in results:
        again = Comparison.from_dict(strict_json(found))
        assert again == found
        assert str(again) == str(found)
        assert again.to_dict() == found.to_dict()


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)), min_size=1, max_size=12))
def test_any_scores_come_back_exactly(pairs: list[tuple[float, float]]) -> None:
    a, b = zip(*pairs, (2.0, 2.0), strict=True)  # beyond 1, so that one is not taken for percent of the other
    found = compare(scores(a), scores(b))
    assert Comparison.from_dict(strict_json(found)) == found


@pytest.mark.parametrize("data", [{}, {"schema": "assay/comparison/0"}, {"schema": "assay/leaderboard/2"}])
def test_another_schema_is_refused_by_name(data: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"schema must be 'assay/comparison/1', but got"):
        Comparison.from_dict(data)


def test_the_keys_are_those_that_were_promised(results: list[Comparison]) -> None:
    for found in results:
        data = strict_json(found)
        extra = {"ratio"} if found.kind == "losses" else {"measure"}
        measured = {"long_units", "same_document", "pairing"}  # where there is something to measure
        assert set(data) - set(found.sizes) - measured == PROMISED | BESIDES | extra
        assert data["schema"] == "assay/comparison/1"
        assert set(data["difference"]) == {"value", "interval", "standard_error", "n", "reason"}
        assert set(data["difference"]["interval"]) == {"low", "high", "level", "method"}
        assert set(data["test"]) == {"name", "statistic", "p_value", "n", "reason"}
        assert set(data["effect_sizes"]) == {"d_z", "hedges_g", "d_av"}
        assert set(data["dropped"]) == {"only_a", "only_b", "examples"}
        assert set(data["design"]) == {"method", "level", "scheme", "resamples", "seed", "test", "margin"}
        assert set(data["computed"]) == COMPUTED
        assert data["p_value"] == data["test"]["p_value"]


def test_the_sizes_are_there_only_with_their_columns(results: list[Comparison]) -> None:
    assert {"bits_per_byte", "bits_per_character"} <= set(results[0].to_dict())
    assert not {"bits_per_byte", "bits_per_character"} & set(results[1].to_dict())
    assert set(results[0].to_dict()["bits_per_byte"]) == {"a", "b", "difference"}


def test_what_is_undefined_is_null_with_a_reason(results: list[Comparison]) -> None:
    def check(node: Any) -> None:
        if isinstance(node, dict):
            if "value" in node and "reason" in node and None in (node["value"], node["interval"]):
                assert node["reason"]
            if "p_value" in node and "reason" in node and node["p_value"] is None:
                assert node["reason"]
            for child in node.values():
                check(child)

    for found in results:
        check(strict_json(found))


def test_a_result_cannot_be_changed(results: list[Comparison]) -> None:
    found: Any = results[0]
    with pytest.raises(AttributeError):
        found.verdict = "better"


# ------------------------------------------------------------------------------------------------------------- as text


def test_the_text_is_the_sentence_and_a_row_for_every_number(results: list[Comparison]) -> None:
    for found in results:
        blocks = found.to_text(verbose=True).split("\n\n")
        assert blocks[0] == found.sentence
        assert len(blocks) == (2 if found.gauge is None else 3)
        rows = blocks[-1].splitlines()
        assert [row.split("  ")[0] for row in rows] == [
            *(fact.label for fact in found.facts),
            *(caution.kind for caution in found.cautions),
            "signature",
        ]
        assert all("nan" not in row and "None" not in row for row in rows)
        assert max(map(len, rows)) <= 190
        assert rows[-1].endswith(found.signature)


def test_the_text_says_what_was_dropped_what_fell_back_and_what_to_know(results: list[Comparison]) -> None:
    dropped = str(results[-1])
    assert "2 not paired (1 only in A, 1 only in B): q1, q4" in dropped
    assert "t-hall → collapsed interval: one unit" in str(results[6])
    assert "seed 3" in results[2].to_text(verbose=True)
    assert "200 random resamples" in results[2].to_text(verbose=True)
    assert "10 clusters (document)" in str(results[1])
    assert "windows drawn uniformly because tokens vary" in results[0].to_text(verbose=True)


def test_html_escapes_names() -> None:
    evil = "<script>alert('x')</script>&"
    a = {"item": ["q1", "<b>"], "model": [evil] * 2, "score": [1, 0]}
    found = compare(a, a | {"item": ["q1", "<i>"], "model": ["b"] * 2})
    assert evil in found.sentence  # as text it is what it is
    for html in (section_html(found), plain_html(found)):
        assert "<script>" not in html
        assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;" in html
    assert html.count("<tr>") == html.count("</tr>") == len(found.facts)


def test_the_frame_has_a_row_for_every_number(results: list[Comparison]) -> None:
    for found in results:
        frame = found.to_frame()
        assert list(frame.columns) == ["quantity", "value", "value_low", "value_high"]
        assert list(frame["quantity"]) == [fact.label for fact in found.facts]
        by_label = frame.set_index("quantity")
        difference, limits = found.difference, found.difference.interval
        assert by_label.loc["difference B − A", "value"] == difference.value
        assert limits is not None
        assert by_label.loc["difference B − A", "value_low"] == limits.low
        assert by_label.loc["difference B − A", "value_high"] == limits.high
        assert by_label.loc[f"test ({found.test.name})", "value"] == found.p_value


def test_p_is_never_shown_as_zero() -> None:
    found = compare(scores([1] * 3000 + [0] * 500), scores([0] * 3000 + [1] * 500))
    assert found.p_value == 1e-300
    assert found.test.reason == "p is below 1e-300"
    assert "p < 1e-299" in found.sentence


# ---------------------------------------------------------------------------------------------------- facts and figures


def test_facts_hold_numbers_and_know_how_they_are_computed(results: list[Comparison]) -> None:
    for found in results:
        facts = {fact.label: fact for fact in found.facts}
        assert facts["difference B − A"].value == found.difference
        assert facts["pairs"].value == found.n_pairs
        assert all(fact.key in EXPLANATIONS for fact in found.facts)
        if found.kind == "losses":
            assert facts["perplexity B / A"].value == found.ratio
            assert facts["scheme"].text.startswith(found.computed.scheme)


def test_the_gauge_is_the_ratio_against_1_or_the_difference_against_0(results: list[Comparison]) -> None:
    for found in results:
        judged = found.difference if found.ratio is None else found.ratio
        if judged.interval is None or judged.value is None:
            assert found.gauge is None
            continue
        assert found.gauge is not None
        assert (found.gauge.value, found.gauge.low, found.gauge.high) == (
            judged.value,
            judged.interval.low,
            judged.interval.high,
        )
        assert found.gauge.marks[0].place == (0 if found.ratio is None else 1)
        assert found.gauge.better == ("lower" if found.lower_is_better else "higher")


def test_a_margin_of_scores_is_marked_on_both_sides() -> None:
    found = compare(*noisy_scores(30, 0.1), design=Design(margin=0.25))
    assert found.gauge is not None
    assert [mark.place for mark in found.gauge.marks] == [0, -0.25, 0.25]


@pytest.mark.parametrize(
    ("verdict", "status"), [("better", "good"), ("worse", "bad"), ("no difference shown", "unsure")]
)
def test_the_status_follows_the_verdict(verdict: str, status: str) -> None:
    shift = {"better": 0.5, "worse": -0.5, "no difference shown": 0.0}[verdict]
    found = compare(*noisy_scores(60, shift))
    assert (found.verdict, found.status) == (verdict, status)


def test_what_was_compared_names_both_and_counts(results: list[Comparison]) -> None:
    clustered = results[1]
    assert [(fact.label, fact.text) for fact in clustered.compared] == [
        ("A", clustered.systems.a),
        ("B", clustered.systems.b),
        ("on", "30 windows in 10 clusters"),
    ]
    assert clustered.subject == f"{clustered.systems.a} → {clustered.systems.b}"


def test_figures_are_the_gauge_the_units_and_the_distribution(results: list[Comparison]) -> None:
    found = results[0]
    assert found.chart_data is not None
    assert found.difference.interval is not None
    gauge, units, distribution = found.figures
    assert gauge == found.gauge
    assert isinstance(units, Points)
    assert [point.y for point in units.points] == [one.difference for one in found.chart_data.neighbours]
    limits = found.difference.interval
    assert units.band == (limits.low, found.difference.value, limits.high)
    assert isinstance(distribution, Distribution)
    (histogram,) = distribution.histograms
    assert (histogram.edges, histogram.heights) == (found.chart_data.edges, found.chart_data.shares)
    assert histogram.inside == (limits.low, limits.high)


def test_nothing_compared_has_no_figure() -> None:
    found = compare({"item": ["a"], "score": [1]}, {"item": ["b"], "score": [1]})
    assert (found.n_pairs, found.gauge, found.figures, found.chart_data) == (0, None, (), None)
    assert Comparison.from_dict(strict_json(found)) == found
