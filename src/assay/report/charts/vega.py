"""Vega-Lite specifications as plain dictionaries: layers, channels, titles. `tests/report/charts` validates them."""

from collections.abc import Sequence
from typing import Any

Spec = dict[str, Any]
ChartRows = Sequence[Spec]


def layer(rows: ChartRows, kind: str, encoding: Spec, **look: Any) -> Spec:
    """Marks of one kind, one for each row."""
    return {"data": {"values": rows}, "mark": {"type": kind, **look}, "encoding": encoding}


def layers(parts: Sequence[Spec], width: float, height: float, **more: Any) -> Spec:
    """Layers on the same axes, the first at the bottom."""
    return {"layer": list(parts), "width": width, "height": height, **more}


def below(parts: Sequence[Spec], **shared: str) -> Spec:
    """Charts below each other; ``shared`` names the scales that they have in common."""
    return {"vconcat": list(parts), "spacing": 16, "resolve": {"scale": shared}}


def number(field: str, **more: Any) -> Spec:
    """A channel of numbers."""
    return {"field": field, "type": "quantitative", **more}


def name(field: str, **more: Any) -> Spec:
    """A channel of names."""
    return {"field": field, "type": "nominal", **more}


def end(field: str) -> Spec:
    """The other end of a mark, on the scale of the first."""
    return {"field": field}


def pixel(value: float) -> Spec:
    """A place, in pixels of the plot."""
    return {"value": value}


def small_title(text: str, **more: Any) -> Spec:
    return {"text": text, "anchor": "start", "fontWeight": "normal", "fontSize": 11, **more}


def with_datasets(specification: Spec) -> Spec:
    """The specification with each list of rows once, under a name, however many layers draw it."""
    known: dict[int, tuple[str, ChartRows]] = {}

    def named(part: Any) -> Any:
        if isinstance(part, list):
            return [named(one) for one in part]
        if not isinstance(part, dict):
            return part
        if "data" not in part:
            return {key: named(inner) for key, inner in part.items()}
        rows = part["data"]["values"]
        label, _ = known.setdefault(id(rows), (f"rows{len(known) + 1}", rows))
        return {**part, "data": {"name": label}}  # what is beside data holds none

    found: Spec = named(specification)
    return {**found, "datasets": dict(known.values())}
