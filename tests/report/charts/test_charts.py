"""What all charts share: they are Vega-Lite, as altair knows it, and so is the script that draws them on pages."""

import re
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree as ET

import altair as alt
import pytest
from jsonschema import ValidationError

from assay.report.charts import finished, write_chart
from assay.report.charts.vega import layer, layers, number
from assay.report.document import Chart
from assay.report.html import asset
from tests.report.results import KINDS, part
from tools.make_chart_library import library

PINNED = re.compile(r"^vl-convert-python==(\S+)$", re.MULTILINE)
CHARTS = [pytest.param(chart, id=f"{kind}-{chart.name}") for kind in KINDS for chart in part(kind).charts]


def test_a_chart_as_a_file_says_in_words_what_it_shows(tmp_path: Path) -> None:
    """The oracle is an XML parser."""
    drawn = layers([layer([{"x": 1}], "point", {"x": number("x")})], 100, 100)
    write_chart(finished(drawn, 'A <b> & "c"', ["About."]), tmp_path / "c.svg")
    root = ET.fromstring((tmp_path / "c.svg").read_text("utf-8"))  # noqa: S314  # our own file
    assert (root.get("role"), root.get("aria-label")) == ("img", 'A <b> & "c". About.')


@pytest.mark.parametrize("chart", CHARTS)
def test_every_chart_is_vega_lite_against_altair(chart: Chart) -> None:
    alt.Chart.from_dict(dict(chart.specification), validate=True)


def test_a_misspelt_specification_would_be_seen() -> None:
    wrong = layers([layer([{"x": 1}], "point", {"x": number("x", titel="x")})], 100, 100)
    with pytest.raises(ValidationError):
        alt.Chart.from_dict(finished(wrong, "t", []), validate=True)


def test_rows_that_several_layers_draw_stand_there_once() -> None:
    rows = [{"x": 1}]
    drawn = [layer(rows, kind, {"x": number("x")}) for kind in ("point", "rule")]
    found = finished(layers([*drawn, layer([{"x": 2}], "tick", {"x": number("x")})], 100, 100), "t", [])
    assert found["datasets"] == {"rows1": [{"x": 1}], "rows2": [{"x": 2}]}
    assert [one["data"]["name"] for one in found["layer"]] == ["rows1", "rows1", "rows2"]


# --------------------------------------------------------------------------------------- the script that draws on pages


def test_the_script_was_made_by_the_version_that_is_pinned() -> None:
    """Else run `python -m tools.make_chart_library`, and look whether vega.LICENSES.txt still names every part."""
    pinned = PINNED.search((Path(__file__).parents[3] / "constraints.txt").read_text("utf-8"))
    assert pinned is not None
    assert f"vl-convert-python {pinned[1]}. */" in asset("vega.js")


@pytest.mark.slow
def test_the_script_is_what_that_version_bundles() -> None:
    if f"vl-convert-python {version('vl-convert-python')}. */" not in asset("vega.js"):
        pytest.skip("another version of vl-convert-python is installed than the one that is pinned")
    assert asset("vega.js") == library()
