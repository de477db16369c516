"""What the parts of all kinds share."""

from collections.abc import Callable, Iterable
from typing import Any

from assay.analyses.result import Row
from assay.report.document import Chart, Fact
from assay.report.names import visible_data
from assay.results.explanations import explanation_of

_CAUTIONS = ("note", "dropped", "fallback")  # rows that are sentences, not numbers


def facts_of(rows: Iterable[Row]) -> tuple[Fact, ...]:
    """Labelled values, with how they are computed; signature, notes and empty lines have places of their own."""
    kept = [row for row in rows if row[0] and row[0] not in ("signature", *_CAUTIONS)]
    return tuple(Fact(label, value, explanation_of(label)) for label, value in kept)


def notes_of(rows: Iterable[Row]) -> tuple[str, ...]:
    """What a reader must know beside the numbers."""
    return tuple(value if label == "note" else f"{label}: {value}" for label, value in rows if label in _CAUTIONS)


def chart_of(name: str, draw: Callable[..., Any], *of: Any) -> Chart:
    """What ``draw(*of)`` gives, an altair chart that `finished` has given a title and words; drawn when it is shown."""
    return Chart(name, lambda: visible_data(draw(*of).to_dict()))
