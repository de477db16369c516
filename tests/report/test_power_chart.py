"""The chart of a power curve: what it draws is what the record holds."""

import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from assay import examples
from assay.analyses.power import power
from assay.analyses.power_result import Power
from assay.errors import InputError, UsageError
from assay.report.power_chart import power_chart, write_power_chart
from assay.stats.planning.plans import Goal, Shares, Spread

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def pilot() -> Power:
    return power(examples.path("losses-base.csv"), examples.path("losses-int3.csv"), difference=0.005)


def layers(found: Power) -> list[list[dict[str, Any]]]:
    specification = power_chart(found).to_dict()
    data = specification.get("datasets", {})
    held = [layer.get("data", specification.get("data")) for layer in specification["layer"]]
    return [data[part["name"]] if "name" in part else part["values"] for part in held]


def test_line_and_band_are_the_curve_of_the_record(pilot: Power) -> None:
    band, line, *answer = layers(pilot)
    assert [(row["items"], row["value"]) for row in line] == [(p.items, p.value) for p in pilot.curve]
    assert [(row["low"], row["high"]) for row in band] == [(p.low, p.high) for p in pilot.curve]
    assert len(answer) == 4
    assert {(part[0]["items"], part[0]["value"]) for part in answer} == {(pilot.items, pilot.power)}


def test_numbers_have_no_band_and_no_answer_where_there_is_none() -> None:
    assert len(layers(power(Spread(sd=1.0), difference=0.2))) == 5
    nothing = power(Shares(discordant=0.1), items=20)
    (line,) = layers(nothing)
    assert [row["items"] for row in line] == [p.items for p in nothing.curve if p.value is not None]


@pytest.mark.parametrize(
    ("found", "title", "axis"),
    [
        (power(Spread(sd=1.0), difference=0.2), "Power to detect a difference of 0.2", "power"),
        (power(Spread(sd=1.0), items=50), "Difference that is detected with 80 % power", "detectable difference"),
        (power(Spread(sd=1.0), goal=Goal(margin=0.3)), "Power to show equivalence within ±0.3", "power"),
    ],
)
def test_svg_is_well_formed_and_says_what_it_shows(found: Power, title: str, axis: str, tmp_path: Path) -> None:
    write_power_chart(found, tmp_path / "c.svg")
    text = (tmp_path / "c.svg").read_text(encoding="utf-8")
    root = ET.fromstring(text)  # noqa: S314 - our own file
    assert root.tag == f"{SVG}svg"
    assert {title, axis, "items"} <= {element.text for element in root.iter(f"{SVG}text")}
    assert "http" not in text.replace("http://www.w3.org/", "")  # nothing is loaded from outside


def test_a_pilot_of_losses_names_windows_and_nats(pilot: Power, tmp_path: Path) -> None:
    write_power_chart(pilot, tmp_path / "c.svg")
    words = ["".join(e.itertext()) for e in ET.parse(tmp_path / "c.svg").iter(f"{SVG}text")]  # noqa: S314 - our own file
    assert {"windows", "Power to detect a difference of 0.005 nats per token"} <= set(words)
    assert any("Band: what the pilot of 360 windows leaves possible" in word for word in words)


def test_png_is_a_png_of_two_pixels_a_point(pilot: Power, tmp_path: Path) -> None:
    write_power_chart(pilot, tmp_path / "c.PNG")
    data = (tmp_path / "c.PNG").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert width > 2 * 560
    assert height > 2 * 300


def test_what_cannot_be_written_is_refused(pilot: Power, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.svg or \.png, but got 'c\.pdf'"):
        write_power_chart(pilot, Path("c.pdf"))
    with pytest.raises(InputError, match="cannot be written"):
        write_power_chart(pilot, tmp_path / "missing" / "c.svg")
