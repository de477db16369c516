"""What all charts share."""

from pathlib import Path
from xml.etree import ElementTree as ET

import altair as alt

from assay.report.charts import finished, write_chart


def test_a_chart_as_a_file_says_in_words_what_it_shows(tmp_path: Path) -> None:
    """The oracle is an XML parser."""
    rows = alt.InlineData(values=[{"x": 1}])
    drawn = finished(alt.Chart(rows).mark_point().encode(x="x:Q"), 'A <b> & "c"', ["About."])
    write_chart(drawn, tmp_path / "c.svg")
    root = ET.fromstring((tmp_path / "c.svg").read_text("utf-8"))  # noqa: S314  # our own file
    assert (root.get("role"), root.get("aria-label")) == ("img", 'A <b> & "c". About.')
