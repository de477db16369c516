"""The panel itself. Oracles: math.fsum, sums by hand, and what a digest must and must not depend on."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from assay.data import Metric, Panel
from assay.data.metrics import PERPLEXITY, SCORE
from assay.data.tables import Labels
from assay.data.text_columns import TextColumn
from assay.errors import InputError, UsageError

VALUES = st.floats(-1e6, 1e6)


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.tuples(arrays(float, (n, 3), elements=VALUES), arrays(float, n, elements=st.floats(0.5, 100)))
    )
)
def test_estimates_against_fsum(data: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]) -> None:
    numerators, denominators = data
    panel = Panel.from_arrays(numerators, denominators)
    for system in range(3):
        expected = math.fsum(float(x) for x in numerators[:, system]) / math.fsum(float(x) for x in denominators)
        assert panel.estimate(system) == expected


def test_two_windows_of_the_source_document() -> None:
    tokens = np.array([512.0, 256.0])
    losses = np.log([[40.0, 38.0], [220.0, 260.0]])
    panel = Panel.from_arrays(losses * tokens[:, None], tokens, kind="losses")
    assert round(math.exp(panel.estimate(1) - panel.estimate(0)), 4) == 1.0217


def test_cluster_sums_against_sums_by_hand() -> None:
    panel = Panel.from_arrays(
        [[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]],
        [1.0, 2.0, 3.0],
        clusters=["x", "y", "x"],
        sizes={"bytes": [5, 6, 7]},
    )
    sums = panel.cluster_sums()
    assert panel.n_clusters == 2
    assert sums.numerators.tolist() == [[5.0, 50.0], [2.0, 20.0]]
    assert sums.denominators.tolist() == [4.0, 2.0]
    assert sums.sizes["bytes"].tolist() == [12.0, 6.0]


def test_cluster_sums_of_two_denominators_by_hand() -> None:
    panel = Panel.from_arrays([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 5.0]], clusters=[7, 7])
    assert panel.cluster_sums().denominators.tolist() == [[4.0, 7.0]]
    assert [panel.estimate(0), panel.estimate(1)] == [4 / 4, 6 / 7]


def test_without_clusters_the_units_are_what_is_summed() -> None:
    panel = Panel.from_arrays([[1.0], [2.0]], sizes={"chars": [1, 2]})
    sums = panel.cluster_sums()
    assert panel.n_clusters is None
    assert sums.numerators is panel.numerators
    assert sums.denominators is panel.denominators
    assert sums.sizes == panel.sizes


def test_pair_takes_two_systems_in_their_order() -> None:
    panel = Panel.from_arrays([[1.0, 2.0, 3.0]], [[1.0, 2.0, 2.0]], systems=("a", "b", "c"))
    swapped = panel.pair(2, 1)
    assert (swapped.systems, swapped.k, swapped.n) == (("c", "b"), 2, 1)
    assert swapped.numerators.tolist() == [[3.0, 2.0]]
    assert swapped.denominators.tolist() == [2.0]  # the same for both, so one column
    assert panel.pair(0, 1).denominators.tolist() == [[1.0, 2.0]]


def test_equal_denominators() -> None:
    assert Panel.from_arrays([1.0, 2.0]).equal_denominators
    assert Panel.from_arrays([1.0, 2.0], [3.0, 3.0]).equal_denominators
    assert not Panel.from_arrays([1.0, 2.0], [3.0, 4.0]).equal_denominators


def test_units_are_sorted_and_rows_follow() -> None:
    panel = Panel.from_arrays([[1.0], [2.0], [3.0]], [4, 5, 6], ids=["b", "c", "a"], clusters=[1, 2, 1])
    assert panel.ids.tolist() == ["a", "b", "c"]
    assert panel.numerators[:, 0].tolist() == [3.0, 1.0, 2.0]
    assert panel.denominators.tolist() == [6.0, 4.0, 5.0]
    assert panel.clusters is not None
    assert panel.clusters.tolist() == [0, 0, 1]


def test_units_without_names_keep_the_order_of_the_rows() -> None:
    panel = Panel.from_arrays(np.arange(12.0))
    assert panel.numerators[:, 0].tolist() == list(range(12))
    assert panel.ids[:2].tolist() == ["00", "01"]


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"systems": ("x", "y")}, True),
        ({"notes": ("a note",)}, True),
        ({"cluster": "topic"}, True),
        ({"parts": {"score": np.array([[1.0, -0.0], [3.0, 4.0]])}}, True),
        ({"parts": {"score": np.asfortranarray([[1.0, 0.0], [3.0, 4.0]])}}, True),
        ({"parts": {"score": np.array([[1.0, 5e-324], [3.0, 4.0]])}}, False),
        ({"parts": {"weight": np.array([[1.0], [2.0]])}}, False),
        ({"ids": np.array(["a", "c"], dtype=object)}, False),
        ({"ids": np.array(["ab", ""], dtype=object)}, False),
        ({"cluster": "one"}, False),
        ({"cluster": None}, False),
        ({"parts": {"bytes": np.array([[1.0], [2.0]])}}, False),
    ],
)
def test_the_digest_depends_on_values_and_ids_only(change: dict[str, Any], same: bool) -> None:
    panel = Panel(
        ("A", "B"),
        TextColumn.of(["a", "b"]),
        {"score": np.array([[1.0, 0.0], [3.0, 4.0]]), "weight": np.array([[1.0], [1.0]])},
        (Metric.of("scores"),),
        labels={
            "two": Labels(("x", "y"), np.array([0, 1])),
            "topic": Labels(("a", "b"), np.array([1, 0])),
            "one": Labels(("x",), np.array([0, 0])),
        },
        cluster="two",
    )
    # As written down before parts had names: digests of panels of one ratio never change.
    assert panel.digest == "23d5227b4cabea84402d9d39795aa7ecf4d38e3c53c2776fc9f2e6bfe2cd5364"
    change = change | ({"parts": {**panel.parts, **change["parts"]}} if "parts" in change else {})
    assert (replace(panel, **change).digest == panel.digest) is same


def test_sizes_of_another_name_give_another_digest() -> None:
    assert (
        Panel.from_arrays([1.0], sizes={"bytes": [3]}).digest != Panel.from_arrays([1.0], sizes={"chars": [3]}).digest
    )


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"numerators": [1.0, float("nan")]}, "numerators[1] is nan"),
        ({"numerators": [[1.0, 2.0], [3.0, float("inf")]]}, "numerators[1, 1] is inf"),
        ({"numerators": ["a", "b"]}, "numerators must be numbers"),
        ({"numerators": [[1.0], [2.0, 3.0]]}, "numerators must be numbers"),
        ({"numerators": []}, "but got (0, 1)"),
        ({"numerators": np.ones((2, 2, 2))}, "but got (2, 2, 2)"),
        ({"numerators": [1.0], "denominators": [0.0]}, "denominators[0] is 0.0"),
        ({"numerators": [1.0], "denominators": [-1.0]}, "must be positive"),
        ({"numerators": [1.0], "denominators": [1.0, 2.0]}, "must have the shape (1,) or (1, 1), but got (2,)"),
        ({"numerators": [1.0], "sizes": {"bytes": [0]}}, "bytes must be positive"),
        ({"numerators": [1.0], "ids": ["a", "b"]}, "must name all 1 rows"),
        ({"numerators": [1.0, 2.0], "ids": ["a", "a"]}, "'a' occurs twice"),
        ({"numerators": [1.0, 2.0], "clusters": ["a"]}, "clusters must have the shape (2,)"),
        ({"numerators": [1e308, 1e308]}, "numerators are too large to add up"),
        ({"numerators": [1.0, 1.0], "denominators": [1e308, 1e308]}, "denominators are too large to add up"),
    ],
)
def test_arrays_that_make_no_panel_are_refused(arguments: dict[str, Any], part: str) -> None:
    with pytest.raises(InputError) as caught:
        Panel.from_arrays(**arguments)
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"systems": ("a", "b")}, "must name all 1 columns"),
        ({"kind": "points"}, "kind must be one of losses, scores"),
        ({"kind": "losses", "lower_is_better": False}, "a lower log-loss is always the better one"),
    ],
)
def test_options_that_make_no_sense_are_usage_errors(arguments: dict[str, Any], part: str) -> None:
    with pytest.raises(UsageError) as caught:
        Panel.from_arrays([1.0], **arguments)
    assert part in str(caught.value)


def test_two_systems_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="must differ in name"):
        Panel.from_arrays([[1.0, 2.0]], systems=("a", "a"))


def test_the_metric_of_each_kind() -> None:
    assert Metric.of("losses") is PERPLEXITY
    assert Metric.of("scores") == SCORE
    assert not SCORE.lower_is_better
    assert Metric.of("scores", lower_is_better=True).lower_is_better


def test_the_callers_arrays_are_not_touched_or_shared() -> None:
    numerators = np.array([[2.0], [1.0]])
    panel = Panel.from_arrays(numerators)
    numerators[0, 0] = 99.0
    assert panel.numerators[0, 0] == 2.0
