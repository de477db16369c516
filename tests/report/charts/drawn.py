"""What a specification draws, for tests."""

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

from assay.report.charts import draw, picture_of
from assay.results.figures import Figure


def marks(figure: Figure, panel: int = 0) -> dict[str, list[list[dict[str, Any]]]]:
    """The rows of every layer of one panel, by the kind of its mark."""
    specification = draw(figure)
    data: Mapping[str, Any] = specification.get("datasets", {})
    found: dict[str, list[list[dict[str, Any]]]] = {}
    shown = specification.get("vconcat", [specification])[panel]
    for layer in shown["layer"]:
        held = layer["data"] if "data" in layer else shown["data"]  # a single layer leaves its data to the chart
        found.setdefault(layer["mark"]["type"], []).append(data[held["name"]] if "name" in held else held["values"])
    return found


def texts(figure: Figure) -> list[str]:
    """Everything that is written on the chart as it is drawn; the oracle is an XML parser."""
    root = ET.fromstring(picture_of(draw(figure), ".svg"))  # noqa: S314  # our own
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def channel(figure: Figure, name: str, panel: int = 0) -> list[dict[str, Any]]:
    """The encodings of a channel, of the layers that have it."""
    specification = draw(figure)
    layers = specification.get("vconcat", [specification])[panel]["layer"]
    return [layer["encoding"][name] for layer in layers if name in layer["encoding"]]
