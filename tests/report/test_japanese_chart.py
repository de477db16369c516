"""The chart of accuracy by script: what it shows is what the record holds."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from assay.analyses.japanese import japanese
from assay.analyses.japanese.result import Japanese
from assay.design import Design
from assay.errors import UsageError
from assay.report.charts import COLOURS
from assay.report.japanese_chart import japanese_chart, write_japanese_chart

SVG = "{http://www.w3.org/2000/svg}"
REFERENCES = ["猫がいる。", "カメラ", "犬が走る。", "鳥が飛ぶ。", "山に登る。"]
DATA = {"item": list("abcde"), "reference": REFERENCES}


@pytest.fixture(scope="module")
def found() -> Japanese:
    good = DATA | {
        "prediction": ["猫がいた。", "カメラ", "犬が走る", "鳥の飛ぶ。", "川に登る。"],
        "model": ["a & b"] * 5,
    }
    poor = DATA | {"prediction": ["猫", "カラ", "犬は走った", "鳥よ", "川が登る。"], "model": ["<poor>"] * 5}
    return japanese(good, poor, bleu=["char"], design=Design(resamples=200))


def layers(found: Japanese) -> list[dict[str, Any]]:
    """The layers, with the rows that they share."""
    specification = japanese_chart(found).to_dict()
    rows = specification["datasets"][specification["data"]["name"]]
    return [layer | {"data": rows} for layer in specification["layer"]]


def test_dots_and_lines_are_the_accuracies_of_the_record(found: Japanese) -> None:
    for layer in layers(found):
        for row in layer["data"]:
            system = next(system for system in found.systems if system.name == row["system"])
            key = "accuracy" if row["script"] == "all" else f"accuracy/{row['script']}"
            estimate = system.value(key).estimate
            assert estimate.value is not None
            limits = estimate.interval
            low, high = (estimate.value,) * 2 if limits is None else (limits.low, limits.high)
            assert (row["value"], row["low"], row["high"]) == pytest.approx(
                (100 * estimate.value, 100 * low, 100 * high)
            )
        assert len(layer["data"]) == 2 * 5


def test_systems_have_colours_and_shapes_that_everybody_can_tell_apart(found: Japanese) -> None:
    dots = layers(found)[1]
    assert dots["encoding"]["color"]["scale"]["range"] == list(COLOURS[:2])
    assert len(set(dots["encoding"]["shape"]["scale"]["range"])) == 2


def test_svg_and_png_are_written_and_name_the_systems(found: Japanese, tmp_path: Path) -> None:
    write_japanese_chart(found, tmp_path / "c.svg")
    root = ET.fromstring((tmp_path / "c.svg").read_text(encoding="utf-8"))  # noqa: S314 - our own file
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert {"Accuracy by script", "a & b", "<poor>", "hiragana", "katakana", "kanji", "all"} <= set(words)
    write_japanese_chart(found, tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(UsageError, match=r"\.svg or \.png"):
        write_japanese_chart(found, tmp_path / "c.pdf")


def test_a_script_without_characters_is_left_out_and_one_system_needs_no_key() -> None:
    data = {"item": ["1", "2"], "reference": ["ねこ", "いぬ"], "prediction": ["ねこ", "いね"]}
    found = japanese(data, bleu=["char"], design=Design(resamples=200))
    drawn = layers(found)
    assert [row["script"] for row in drawn[0]["data"]] == ["all", "hiragana"]
    assert drawn[1]["encoding"]["color"]["legend"] is None
