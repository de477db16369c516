"""Means over segments and questions, and the weights under which a panel's estimate is the overall score, by hand."""

import numpy as np
import pytest

from assay.analyses.survey.evidence import means_by, overall, panel_of_cells, segments_alike, shared_cells
from assay.data.survey import read_truth
from assay.data.survey.truth import Truth

NAN = float("nan")


def truth() -> Truth:
    """Two questions asked of segment a, one of segment b."""
    return read_truth(
        {
            "question": ["q1", "q2", "q1"],
            "segment": ["a", "a", "b"],
            "n": [50, 60, 70],
            "yes": [60, 30, 45],
            "no": [40, 70, 55],
        }
    )


def cells(
    asked: Truth, values: dict[tuple[str, str], list[float]]
) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """(C, k) The values of (question, segment), in the order of the cells."""
    places = [
        (asked.questions[q].id, asked.segments[s].id)
        for q, s in zip(asked.question.tolist(), asked.segment.tolist(), strict=True)
    ]
    return np.array([values[place] for place in places])


VALUES = {("q1", "a"): [0.5, 0.25], ("q2", "a"): [1.0, NAN], ("q1", "b"): [0.25, 0.75]}


def test_means_by_hand() -> None:
    asked = truth()
    panel = panel_of_cells(asked, cells(asked, VALUES), ["whole", "with a hole"])
    assert panel.ids.tolist() == ["q1 × a", "q1 × b", "q2 × a"]
    assert means_by(panel, "segment").tolist() == [[0.75, 0.25], [0.25, 0.75]]
    np.testing.assert_array_equal(means_by(panel, "question"), [[0.375, 0.5], [1.0, NAN]])
    assert overall(panel).tolist() == [0.5, 0.5]


def test_segments_count_alike_in_the_estimate_of_the_panel() -> None:
    asked = truth()
    panel = panel_of_cells(asked, cells(asked, VALUES), ["whole", "with a hole"])
    weighted = segments_alike(panel)
    assert weighted.denominators.tolist() == [0.75, 1.5, 0.75]  # they sum to the number of cells
    assert weighted.estimate(0) == pytest.approx(float(overall(panel)[0]))
    both = shared_cells(panel)
    assert both is not None
    assert both.ids.tolist() == ["q1 × a", "q1 × b"]
    assert [segments_alike(both).estimate(i) for i in (0, 1)] == overall(both).tolist() == [0.375, 0.5]


def test_no_cell_in_common() -> None:
    asked = truth()
    apart = {("q1", "a"): [0.5, NAN], ("q2", "a"): [1.0, NAN], ("q1", "b"): [NAN, 0.75]}
    panel = panel_of_cells(asked, cells(asked, apart), ["one", "other"])
    assert shared_cells(panel) is None
    assert overall(panel).tolist() == [0.75, 0.75]
