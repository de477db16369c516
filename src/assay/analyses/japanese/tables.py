"""A Japanese result as tables: for people and for data frames."""

from collections.abc import Sequence
from typing import Any

from assay.analyses.japanese.parts import Gap, Pair, Quantity, System, Value
from assay.analyses.japanese.sentences import number, scaled, with_unit
from assay.analyses.sheet import Sheet
from assay.results import words
from assay.stats.records import Estimate, Test


def script_sheet(system: System, level: str) -> Sheet:
    """Accuracy by script, and bits where they were measured."""
    with_bits = any(value.quantity.key == "bits" for value in system.values)
    header = ["script", "characters", f"accuracy [{level}]", *([f"bits per character [{level}]"] if with_bits else [])]
    cells = []
    for value in system.values:
        key, _, script = value.quantity.key.partition("/")
        if key == "accuracy":
            bits = [_cell(system.value(f"bits/{script}" if script else "bits"))] if with_bits else []
            cells.append([script or "all", f"{value.characters or 0:,}", _cell(value), *bits])
    return Sheet(("system", system.name), header, cells)


def score_sheet(system: System, level: str) -> Sheet | None:
    """What is not by script: errors, BLEU, chrF."""
    values = [value for value in system.values if value.quantity.key.partition("/")[0] not in ("accuracy", "bits")]
    if not values:
        return None
    cells = [(value.quantity.label, _cell(value)) for value in values]
    return Sheet(("scores", system.name), ("", f"value [{level}]"), cells)


def pair_sheet(pair: Pair, level: str) -> Sheet:
    header = ("", f"B − A [{level}]", "p, randomization", "p, bootstrap alone")
    cells = [
        (gap.quantity.label, _shown(gap.quantity, gap.difference, difference=True), *_p_texts(gap)) for gap in pair.gaps
    ]
    return Sheet(("difference", f"A: {pair.a}, B: {pair.b}"), header, cells)


def _p_texts(gap: Gap) -> Sequence[str]:
    return [_p_text(test) for test in (gap.randomization, gap.bootstrap)]


def _p_text(test: Test) -> str:
    return "undefined" if test.p_value is None else f"{test.p_value:.2g}"


def _cell(value: Value) -> str:
    return _shown(value.quantity, value.estimate)


def _shown(quantity: Quantity, estimate: Estimate, *, difference: bool = False) -> str:
    """``71.2 % [70.9 to 71.5]``, a decimal place fewer than in a sentence; or why there is nothing."""
    if estimate.value is None:
        return f"undefined: {estimate.reason}"
    text = with_unit(quantity, number(quantity, estimate, sign=difference, fewer=1), difference=difference)
    _, limits = scaled(quantity, estimate)
    if limits is None:
        return f"{text} (no interval: {estimate.reason})"
    places = words.decimals(limits)
    places = None if places is None else max(places - 1, 0)
    return f"{text} [{words.limits_at(limits, places, sign=difference)}]"


def value_row(system: System, value: Value) -> dict[str, Any]:
    row: dict[str, Any] = {"system": system.name, "baseline": None, "quantity": value.quantity.key}
    return row | {"characters": value.characters} | _flat(value.estimate)


def gap_row(pair: Pair, gap: Gap) -> dict[str, Any]:
    row: dict[str, Any] = {"system": pair.b, "baseline": pair.a, "quantity": gap.quantity.key, "characters": None}
    p_values = {"randomization_p": gap.randomization.p_value, "bootstrap_p": gap.bootstrap.p_value}
    return row | _flat(gap.difference) | p_values


def _flat(estimate: Estimate) -> dict[str, float | None]:
    limits = estimate.interval
    return {
        "value": estimate.value,
        "low": None if limits is None else limits.low,
        "high": None if limits is None else limits.high,
    }
