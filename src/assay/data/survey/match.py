"""The same question in another round: it has another id, but the same text and options."""

import numpy as np

from assay.data.survey.truth import Question, Truth
from assay.stats.units import Floats


def prior_shares(truth: Truth, prior: Truth) -> Floats:
    """(C, K) What the same segment answered to the same question in another round; rows of NaN where it did not.

    A question that a round asks more than once pairs with the other round's in their order, and the last of them with
    any that are left over.
    """
    found = np.full(truth.shares.shape, np.nan)
    pairs = matched(truth.questions, prior.questions)
    for cell, (q, s) in enumerate(zip(truth.question.tolist(), truth.segment.tolist(), strict=True)):
        if q not in pairs:
            continue
        other = prior.place.get((prior.questions[pairs[q]].id, truth.segments[s].id))
        if other is not None:
            options = int(truth.options[cell])
            found[cell] = 0.0
            found[cell, :options] = prior.shares[other, :options]
    return found


def matched(questions: tuple[Question, ...], others: tuple[Question, ...]) -> dict[int, int]:
    """Codes of questions → codes of the same questions among others."""
    by_key: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for code, question in enumerate(others):
        by_key.setdefault(question.key, []).append(code)
    used: dict[tuple[str, tuple[str, ...]], int] = {}
    found = {}
    for code, question in enumerate(questions):
        same = by_key.get(question.key)
        if same:
            place = used.get(question.key, 0)
            found[code] = same[min(place, len(same) - 1)]
            used[question.key] = place + 1
    return found
