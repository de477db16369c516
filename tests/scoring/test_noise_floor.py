"""Two runs of one model: by hand, and with the shipped model."""

from collections.abc import Sequence
from math import exp

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.scoring.noise_floor import noise_floor

Rows = Sequence[Sequence[int]]


def test_by_hand() -> None:
    """Windows of 2 and 6 tokens that differ by 0.4 and −0.8 when they are scored alone: (0.4·2 − 0.8·6) / 8 = −0.5."""

    def losses(rows: Rows, counts: Sequence[int]) -> list[NDArray[np.float64]]:
        if len(rows) > 1:
            return [np.full(count, 2.0) for count in counts]
        return [np.full(counts[0], 2.4 if counts[0] == 2 else 1.2)]

    found = noise_floor("base", losses, [[1, 2, 3], [4, 5, 6, 7, 8, 9, 10]], [2, 6])
    assert (found.windows, found.tokens, found.differing) == (2, 8, 2)
    assert found.largest == pytest.approx(0.8)
    assert found.difference == pytest.approx(-0.5)
    assert found.ratio == pytest.approx(exp(0.5))
    assert found.sentence.startswith(
        "Noise floor: two runs of base differ in 2 of 2 windows, by at most 0.8 nats per token"
    )


def test_a_model_that_does_not_depend_on_its_batch_has_none() -> None:
    def losses(rows: Rows, counts: Sequence[int]) -> list[NDArray[np.float64]]:
        return [np.full(count, float(row[0])) for row, count in zip(rows, counts, strict=True)]

    found = noise_floor("base", losses, [[i, 1, 2] for i in range(21)], [2] * 21)
    assert (found.differing, found.largest, found.ratio) == (0, 0.0, 1.0)
    assert "the same, to the last bit (21 windows, 42 tokens)" in found.sentence


def test_the_shipped_model_against_single_precision() -> None:
    """Batches may round in another way, by no more than float32 does."""
    pytest.importorskip("torch")
    from assay.models import path
    from assay.scoring import local_scorer
    from assay.scoring.models_and_texts import ModelSpec

    scorer = local_scorer(ModelSpec(str(path("base"))))
    rows = [[(7 * i + j) % 200 for j in range(20 + i)] for i in range(9)]
    found = noise_floor("base", scorer.losses, rows, [len(row) - 1 for row in rows])
    assert found.largest < 1e-5
    assert found.ratio < 1 + 1e-5
