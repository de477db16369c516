"""The chart of a context curve: what it draws is what the record holds."""

import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from assay.analyses.context import context
from assay.analyses.context_curve import ContextCurve
from assay.design import Design
from assay.errors import InputError, UsageError
from assay.report.charts import check_chart
from assay.report.context_chart import context_chart, write_context_chart
from tests.data.runs.token_runs import story, write_run

QUICK = Design(resamples=199)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def curve(tmp_path_factory: pytest.TempPathFactory) -> ContextCurve:
    folder = tmp_path_factory.mktemp("runs")
    a = write_run(folder / "a", story(3, 60, shortest=40), called="base & co")
    b = write_run(folder / "b", story(3, 60, shortest=40, shift=0.1), called="<edited>")
    return context(a, b, design=QUICK)


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> ContextCurve:
    return context(write_run(tmp_path_factory.mktemp("run") / "a", story(3, 60)), bins=4, design=QUICK)


def drawn(curve: ContextCurve) -> list[list[list[dict[str, Any]]]]:
    """The rows of every layer of every panel."""
    specification = context_chart(curve).to_dict()
    data = specification.get("datasets", {})

    def rows(layer: dict[str, Any]) -> list[dict[str, Any]]:
        found = layer["data"]
        values: list[dict[str, Any]] = data[found["name"]] if "name" in found else found["values"]
        return values

    return [[rows(layer) for layer in panel["layer"]] for panel in specification["vconcat"]]


def test_bands_and_lines_are_the_losses_of_the_record(curve: ContextCurve) -> None:
    (band, solid, dashed, dots), _ = drawn(curve)
    assert band == dots
    for model in curve.models:
        shown = [point for point in model.points if point.bin.low >= 3]  # 1 and 2 hold less than 2 % of the tokens each
        mine = [row for row in band if row["model"] == model.name]
        expected = [p.loss.interval for p in model.points[-len(mine) :]]
        assert len(mine) >= len(shown)
        assert [(row["low"], row["high"]) for row in mine] == [(i.low, i.high) for i in expected if i]
        until = model.helps_until or 0
        assert all(row["end"] <= until for row in solid if row["model"] == model.name)
        assert all(row["end"] >= until for row in dashed if row["model"] == model.name)
    ends = {row["end"] for row in solid} | {row["end"] for row in dashed}
    assert ends == {row["end"] for row in band}


def test_differences_have_the_intervals_that_hold_for_all_bins(curve: ContextCurve) -> None:
    _, (zero, bars, _) = drawn(curve)
    assert zero == [{"zero": 0}]
    expected = [gap.adjusted.interval for gap in curve.differences[0].gaps[-len(bars) :]]
    assert [(row["low"], row["high"]) for row in bars] == [(i.low, i.high) for i in expected if i]


def test_one_run_is_one_panel_and_even_bins_are_all_drawn(single: ContextCurve) -> None:
    panels = drawn(single)
    assert len(panels) == 1
    bins = [point.bin for point in single.models[0].points]
    assert [row["x"] for row in panels[0][0]] == [(b.low + b.high) / 2 for b in bins]


def test_the_first_positions_are_left_out_where_they_would_flatten_the_rest(tmp_path: Path) -> None:
    curve = context(write_run(tmp_path / "a", story(3, 40, longest=600, shortest=500)), design=QUICK)
    specification = context_chart(curve).to_dict()
    tokens = [point.tokens for point in curve.models[0].points]
    assert 100 * sum(tokens[:4]) / sum(tokens) == pytest.approx(1.46, abs=0.01)  # positions 1 to 8; 16 would be 2.9 %
    assert specification["title"]["subtitle"][0].endswith("Not drawn: positions below 9, 1.5 % of the tokens.")
    assert drawn(curve)[0][0][0]["end"] == 16


def test_svg_is_well_formed_and_names_the_models(curve: ContextCurve, tmp_path: Path) -> None:
    write_context_chart(curve, tmp_path / "c.svg")
    text = (tmp_path / "c.svg").read_text(encoding="utf-8")
    root = ET.fromstring(text)  # noqa: S314 - our own file
    assert root.tag == f"{SVG}svg"
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert {"Loss by length of context", "base & co", "<edited>", "loss (nats per token)"} <= set(words)
    assert "http" not in text.replace("http://www.w3.org/", "")  # nothing is loaded from outside


def test_png_is_a_png_of_two_pixels_a_point(single: ContextCurve, tmp_path: Path) -> None:
    write_context_chart(single, tmp_path / "c.PNG")
    data = (tmp_path / "c.PNG").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert width > 2 * 560
    assert height > 2 * 280


def test_the_same_curve_is_the_same_file(single: ContextCurve, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        write_context_chart(single, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_what_cannot_be_written_is_refused(single: ContextCurve, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.svg or \.png, but got 'c\.pdf'"):
        check_chart(Path("c.pdf"))
    with pytest.raises(InputError, match="cannot be written"):
        write_context_chart(single, tmp_path / "missing" / "c.svg")
