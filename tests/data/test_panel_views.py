"""What a panel gives and what can be made of it. Oracles: sums by hand, math.comb for pass@k."""

import pickle
from dataclasses import replace
from math import comb, log

import numpy as np
import pytest

from assay.data import Panel, read_table
from assay.data.metrics import BITS_PER_BYTE, PERPLEXITY, SCORE, Metric
from assay.data.panel_views import Dropped, Runs
from assay.data.tables import Labels
from assay.errors import InputError, NoPairsError, UsageError
from assay.stats.units import Floats

NAN = float("nan")
HOLES = Panel.from_arrays(
    [[1.0, 0.0], [NAN, 1.0], [1.0, 1.0], [0.0, NAN]],
    weights=[1, 2, 3, 4],
    ids=["a", "b", "c", "d"],
    systems=["A", "B"],
    holes=True,
)


def losses() -> Panel:
    return Panel.from_arrays(
        [[8.0, 4.0], [2.0, 6.0], [6.0, 2.0]], [4, 2, 2], kind="losses", sizes={"bytes": [10, 5, 5]}, clusters=[1, 2, 1]
    )


def test_values_times_weights_are_the_sums() -> None:
    assert HOLES.parts["score"][2].tolist() == [3.0, 3.0]
    assert HOLES.parts["weight"].tolist() == [[1.0], [2.0], [3.0], [4.0]]
    assert HOLES.values[2].tolist() == [1.0, 1.0]
    assert not HOLES.whole
    assert HOLES.estimate(0) == (1 + 3 + 0) / (1 + 3 + 4)


def test_complete_leaves_holes_out_and_counts_them() -> None:
    found = HOLES.complete()
    assert (found.ids.tolist(), found.whole) == (["a", "c"], True)
    assert found.dropped == Dropped(1, 1, ("b", "d"))
    assert found.complete() is found
    with pytest.raises(NoPairsError, match="no item has an answer of every system"):
        Panel.from_arrays([[1, NAN], [NAN, 1]], holes=True).complete()


def test_units_by_hand() -> None:
    perplexity, bits = (losses().units(name, 0) for name in ("perplexity", "bits per byte"))
    assert (perplexity.numerators.tolist(), perplexity.denominators.tolist()) == ([14.0, 2.0], [6.0, 2.0])
    assert (bits.numerators.tolist(), bits.denominators.tolist()) == ([14 / log(2), 2 / log(2)], [15.0, 5.0])
    assert HOLES.units("score", 0).numerators.tolist() == [1.0, 3.0, 0.0]
    with pytest.raises(UsageError, match="one of this panel's \\(perplexity, bits per byte\\), but got 'bleu'"):
        losses().units("bleu", 0)


def test_units_with_a_denominator_of_0_have_no_part() -> None:
    panel = Panel.from_arrays([[2.0], [0.0], [1.0]], kind="losses", clusters=["x", "y", "x"])
    panel = replace(panel, parts={**panel.parts, "tokens": np.array([[4.0], [0.0], [1.0]])})
    found = panel.units("perplexity", 0)
    assert (found.numerators.tolist(), found.denominators.tolist()) == ([3.0], [5.0])


def test_a_grid_has_values_weights_and_holes() -> None:
    grid = HOLES.grid
    assert grid.weights.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert grid.present.tolist() == [[True, True], [False, True], [True, True], [True, False]]
    with pytest.raises(InputError, match="same denominators"):
        _ = Panel.from_arrays([[1.0, 2.0]], [[1.0, 2.0]]).grid


def test_substance_by_hand() -> None:
    found = HOLES.substance()  # of all that any system answered: weights 1, 2, 3 and 4
    assert (found.units, found.differing, found.largest) == (4, 1, 0.4)
    assert found.effective == pytest.approx(10**2 / (1 + 4 + 9 + 16), rel=1e-15)
    assert (found.clustered, found.clustered_effective) == (None, None)
    assert Panel.from_arrays([1.0, 0.0]).substance().differing is None


def test_substance_of_clusters_by_hand() -> None:
    found = losses().substance()  # tokens 4 + 2 and 2
    assert (found.units, found.largest, found.differing, found.clustered) == (2, 0.75, 3, 3)
    assert found.effective == pytest.approx(8**2 / (36 + 4), rel=1e-15)
    assert found.clustered_effective == pytest.approx(8**2 / (16 + 4 + 4), rel=1e-15)


def test_substance_has_no_unit_that_nobody_answered() -> None:
    unanswered = replace(HOLES, parts={name: part.copy() for name, part in HOLES.parts.items()})
    next(part for part in unanswered.parts.values() if part.shape[1] == 2)[3] = NAN
    assert replace(HOLES, parts=unanswered.parts).substance().units == 3
    assert Panel.from_arrays([1.0, 0.0]).substance().differing is None


def test_where_and_by() -> None:
    panel = replace(
        Panel.from_arrays([1.0, 2.0, 3.0], ids=["final/x", "final/y", "preview/x"]),
        labels={"split": Labels(("final", "preview"), np.array([0, 0, 1])), "task": Labels(("t",), np.zeros(3, int))},
        numbers={"start": np.array([0.0, 5.0, 9.0])},
    )
    final = panel.where(split="final")
    assert (final.ids.tolist(), final.numbers["start"].tolist()) == (["x", "y"], [0.0, 5.0])
    assert [(name, part.ids.tolist()) for name, part in panel.by("split")] == [
        ("final", ["x", "y"]),
        ("preview", ["x"]),
    ]
    assert panel.where(task="t").ids.tolist() == panel.ids.tolist()
    with pytest.raises(InputError, match="no item has the split 'test', only final, preview"):
        panel.where(split="test")
    with pytest.raises(UsageError, match="no label 'topic' of the items was read, only split, task"):
        panel.where(topic="x")


def test_a_pair_is_a_view() -> None:
    panel = Panel.from_arrays(np.arange(12.0).reshape(3, 4))
    for i, j in ((0, 1), (3, 1), (1, 0), (2, 2)):
        found = panel.pair(i, j)
        assert found.numerators.tolist() == panel.numerators[:, [i, j]].tolist()
        assert found.systems == (panel.systems[i], panel.systems[j])
        assert np.shares_memory(found.numerators, panel.numerators) is (i != j)


def test_pass_at_k_per_unit_against_binomial_coefficients() -> None:
    right = np.array([[1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 0]])
    panel = Panel.from_arrays(right, models=["A"] * 4)
    assert panel.models == (Runs("A", ("1", "2", "3", "4"), (0, 1, 2, 3)),)
    assert panel.systems[0] == "A, run 1"

    def pass_at_2(runs: Floats) -> Floats:
        return np.array([1 - comb(int(4 - sum(row)), 2) / comb(4, 2) for row in runs.tolist()])

    found = panel.per_unit(pass_at_2)
    assert found.systems == ("A",)
    assert found.estimate(0) == pytest.approx((5 / 6 + 0 + 1) / 3, rel=1e-15)


def test_weighted_keeps_the_values() -> None:
    found = HOLES.weighted(np.sqrt)
    assert found.denominators.tolist() == np.sqrt([1, 2, 3, 4]).tolist()
    assert found.values[2].tolist() == [1.0, 1.0]
    assert np.isnan(found.values[1, 0])


@pytest.mark.parametrize(
    ("values", "weights", "binary"), [([1, 0], None, True), ([1, 0], [3, 0.1], True), ([1, 0.5], None, False)]
)
def test_binary(values: list[float], weights: list[float] | None, binary: bool) -> None:
    assert Panel.from_arrays(values, weights=weights).binary is binary
    assert not Panel.from_arrays([1.0, 0.0], kind="losses").binary
    assert HOLES.binary


def test_metrics_by_hand() -> None:
    assert PERPLEXITY.value(np.array([[6.0, 3.0], [1.0, 2.0]])).tolist() == [2.0, 0.5]
    assert BITS_PER_BYTE.value(np.array([log(2) * 8, 4.0])) == 2.0
    both = Metric("accuracy", ("a", "b", "n"), (("a", "b"), ("n",)))
    assert both.value(np.array([1.0, 2.0, 4.0])) == 0.75
    assert Metric("largest", ("a", "b"), function=np.max).value(np.array([1.0, 2.0])) == 2.0
    with pytest.raises(UsageError, match="either a ratio"):
        Metric("nothing", ())
    with pytest.raises(UsageError, match=r"one of this panel's \(perplexity, bits per byte\), but got 'bleu'"):
        losses().metric_named("bleu")


def test_a_panel_pickles_to_workers() -> None:
    again = pickle.loads(pickle.dumps(losses()))  # noqa: S301  # our own bytes
    assert again.digest == losses().digest
    assert again.metrics == losses().metrics


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"weights": [1.0], "denominators": [1.0]}, "give either"),
        ({"models": ["A", "B"]}, "models must name the model of all 1 columns"),
    ],
)
def test_arguments_that_contradict_each_other(arguments: dict[str, list[float]], part: str) -> None:
    with pytest.raises(UsageError, match=part):
        Panel.from_arrays([1.0], **arguments)  # type: ignore[arg-type]


def test_a_ratio_of_nothing_is_no_number() -> None:
    found = SCORE.value(np.array([[1.0, 2.0], [3.0, 0.0]]))
    assert found[0] == 0.5
    assert np.isnan(found[1])


def test_the_estimate_of_a_function_of_totals_leaves_holes_out() -> None:
    spread = Metric("spread", ("score", "weight"), function=lambda totals: totals[..., 0] - totals[..., 1])
    panel = replace(HOLES, metrics=(spread,))
    assert panel.sums("spread", 1).tolist()[:3] == [[0.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    assert panel.estimate(1) == (0 + 2 + 3) - (1 + 2 + 3)


def test_a_unit_that_nobody_answered_is_refused() -> None:
    with pytest.raises(InputError, match=r"numerators\[1\] holds no number of any system"):
        Panel.from_arrays([[1.0, 2.0], [NAN, NAN]], holes=True)


def test_parts_and_clusters_must_fit() -> None:
    with pytest.raises(UsageError, match="part 'score' must have the shape"):
        replace(losses(), parts={"score": np.ones((3, 3))})
    with pytest.raises(UsageError, match="need the part 'bytes', but got only loss, tokens"):
        replace(losses(), parts={name: losses().parts[name] for name in ("loss", "tokens")})
    with pytest.raises(UsageError, match="must name a label"):
        replace(losses(), cluster="topic")


def test_among_is_set_membership_by_hand() -> None:
    panel = Panel.from_tables([read_table({"item": ["b", "a", "c"], "score": [1, 0, 1]}, name="x")])
    assert panel.among(["c", "a", "z"]).tolist() == [one in {"a", "c"} for one in panel.ids]
