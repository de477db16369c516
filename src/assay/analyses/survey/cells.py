"""Scores by cell (question × segment) as a panel, and their means.

Questions are clusters: one that was asked of 49 segments is one question. The overall score is the mean over segments
of the mean over questions; under `segments_alike` it is the panel's own estimate.
"""

from collections.abc import Sequence

import numpy as np

from assay.data import Metric, Panel
from assay.data.survey.truth import Truth
from assay.data.tables import Labels
from assay.stats.units import Floats, Integers


def order_of(truth: Truth) -> Integers:
    """(C,) The cells by question, because a panel numbers its clusters as they appear."""
    return np.argsort(truth.question, kind="stable")


def panel_of_cells(truth: Truth, values: Floats, systems: Sequence[str]) -> Panel:
    """The panel of values (C, k), NaN where there are none; every cell weighs 1."""
    order = order_of(truth)
    question, segment = truth.question[order], truth.segment[order]
    units = np.empty(len(order), dtype=object)
    units[:] = [
        f"{truth.questions[q].id} × {truth.segments[s].id}"
        for q, s in zip(question.tolist(), segment.tolist(), strict=True)
    ]
    return Panel(
        tuple(systems),
        units,
        {"score": np.asfortranarray(values[order]), "weight": np.ones((len(order), 1))},
        (Metric.of("scores"),),
        labels={
            "question": Labels(tuple(one.id for one in truth.questions), question),
            "segment": Labels(tuple(one.id for one in truth.segments), segment),
        },
        cluster="question",
    )


def shared_cells(panel: Panel) -> Panel | None:
    """The cells that every system has; ``None`` where there are none."""
    there = np.asarray(panel.answered.all(axis=1))
    return panel.rows(there) if there.any() else None


def segments_alike(panel: Panel) -> Panel:
    """The same with weights under which every segment counts the same, however many of its questions are there."""
    weights = segment_weights(panel.label("segment").codes)
    return panel.weighted(lambda _: weights)


def segment_weights(segment: Integers) -> Floats:
    """(c,) Weights of cells of these segments in the mean over segments of means over questions; they sum to c."""
    _, codes, counts = np.unique(segment, return_inverse=True, return_counts=True)
    return np.asarray(len(segment) / (len(counts) * counts[codes]), dtype=np.float64)


def means_by(panel: Panel, label: str) -> Floats:
    """(labels, k) Means of the units with each label over those that a system has; NaN where it has none."""
    labels, there = panel.label(label), panel.answered
    values = np.where(there, panel.values, 0.0)
    count = len(labels.names)
    sums = np.column_stack([np.bincount(labels.codes, column, count) for column in values.T])
    counts = np.column_stack([np.bincount(labels.codes, column, count) for column in there.T])
    return np.asarray(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0))


def overall(panel: Panel) -> Floats:
    """(k,) The mean over segments of the mean over questions."""
    segments = means_by(panel, "segment")
    there = ~np.isnan(segments)
    counts = there.sum(axis=0)
    sums = np.where(there, segments, 0.0).sum(axis=0)
    return np.asarray(np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0))
