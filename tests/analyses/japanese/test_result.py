"""The record of `japanese`: its JSON, text, tables and figure all hold the same numbers."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from assay.analyses.japanese import japanese
from assay.analyses.japanese.result import Japanese, Quantity
from assay.design import Design
from assay.errors import InputError, UsageError
from assay.report.charts import COLOURS, draw, write_figure
from assay.report.notebook import section_html
from assay.results.explanations import EXPLANATIONS
from assay.results.figures import Forest
from assay.results.record import record_type
from assay.stats.records import Estimate, Interval
from tests.analyses.japanese.texts import FAST, counts, shipped
from tests.report.charts.drawn import channel

SVG = "{http://www.w3.org/2000/svg}"
REFERENCES = ["猫がいる。", "カメラ", "犬が走る。", "鳥が飛ぶ。", "山に登る。"]
DATA = {"item": list("abcde"), "reference": REFERENCES}
SHARE, SCORE = Quantity("accuracy/kanji", "accuracy, kanji", "share"), Quantity("bleu/char", "BLEU (char)", "score")


@pytest.fixture(scope="module")
def found() -> Japanese:
    good = DATA | {
        "prediction": ["猫がいた。", "カメラ", "犬が走る", "鳥の飛ぶ。", "川に登る。"],
        "model": ["a & b"] * 5,
    }
    poor = DATA | {"prediction": ["猫", "カラ", "犬は走った", "鳥よ", "川が登る。"], "model": ["<poor>"] * 5}
    return japanese(good, poor, bleu=["char"], design=FAST)


@pytest.fixture(scope="module")
def read() -> Japanese:
    return japanese(counts(), counts("n", seed=2), design=FAST)


def forest_of(result: Japanese) -> Forest:
    (figure,) = result.figures
    assert isinstance(figure, Forest)
    return figure


# ----------------------------------------------------------------------------------------------------------------- json


@pytest.mark.parametrize("kind", ["generations", "characters"])
def test_a_record_comes_back_whole(found: Japanese, read: Japanese, kind: str) -> None:
    record = found if kind == "generations" else read
    assert record.kind == kind
    back = Japanese.from_dict(json.loads(json.dumps(record.to_dict(), allow_nan=False)))
    assert (back, str(back), back._repr_html_()) == (record, str(record), record._repr_html_())
    assert record_type("assay/japanese/1") is Japanese


def test_the_keys_are_those_of_version_1(found: Japanese) -> None:
    data = found.to_dict()
    assert list(data) == [
        "schema", "kind", "sentence", "systems", "differences", "n_units", "unit", "scripts", "normalize",
        "tokenizers", "substance", "fallbacks", "notes", "design", "signature",
    ]  # fmt: skip
    value, pair = data["systems"][0]["values"][0], data["differences"][0]
    assert list(value) == ["quantity", "estimate", "characters"]
    assert value["quantity"] == {
        "key": "cer", "label": "character error rate", "scale": "share", "lower_is_better": True,
    }  # fmt: skip
    assert data["systems"][0]["values"][-1]["characters"] is None
    assert list(pair) == ["a", "b", "sentence", "headline", "gaps"]
    assert list(pair["gaps"][0]) == ["quantity", "difference", "randomization", "bootstrap"]


@pytest.mark.parametrize(("key", "wrong"), [("kind", "poems"), ("systems", 3), ("scripts", "all"), ("n_units", "5")])
def test_what_is_no_japanese_result_is_refused(found: Japanese, key: str, wrong: object) -> None:
    with pytest.raises(InputError, match="not a Japanese result"):
        Japanese.from_dict({"schema": "assay/context/1"})
    data = found.to_dict()
    with pytest.raises(msgspec.ValidationError, match=key):
        Japanese.from_dict({name: value for name, value in data.items() if name != key})
    with pytest.raises(msgspec.ValidationError, match=key):
        Japanese.from_dict(data | {key: wrong})


def test_a_quantity_is_found_by_its_key(found: Japanese) -> None:
    system, pair = found.systems[0], found.differences[0]
    assert system.value("accuracy/kanji").quantity.part == "kanji"
    assert pair.gap("chrf").quantity.label == "chrF"
    assert [value.quantity.part for value in system.of("accuracy")] == [None, "hiragana", "katakana", "kanji", "other"]
    for lookup in (system.value, pair.gap):
        with pytest.raises(KeyError, match="bits"):
            lookup("bits")


# --------------------------------------------------------------------------------------------------------- in per cent


def test_a_share_is_shown_in_per_cent_and_its_difference_in_points() -> None:
    estimate = Estimate(0.7123, Interval(0.7, 0.725, 0.95, "bca"), 0.006, 40)
    assert SHARE.scaled(estimate) == Estimate(71.23, Interval(70.0, 72.5, 0.95, "bca"), 0.6, 40)
    assert SHARE.text(estimate) == "71.23%"
    assert SHARE.text(estimate, fewer=1) == "71.2%"
    assert SHARE.text(estimate, difference=True) == "+71.23 points"
    assert SHARE.cell(estimate) == "71.2% [70.0 to 72.5]"
    assert SHARE.cell(estimate, difference=True) == "+71.2 points [+70.0 to +72.5]"


def test_a_score_is_shown_as_it_is() -> None:
    estimate = Estimate(25.7, Interval(21.9, 30.7, 0.95, "bca"), 2.2, 40)
    assert SCORE.scaled(estimate) == estimate
    assert SCORE.cell(estimate) == "25.7 [21.9 to 30.7]"
    assert SCORE.cell(estimate, difference=True) == "+25.7 [+21.9 to +30.7]"


def test_what_is_undefined_has_its_reason() -> None:
    nothing = Estimate(None, None, None, 0, "no kanji characters in the text")
    assert (SHARE.text(nothing), SHARE.cell(nothing)) == ("undefined", "undefined: no kanji characters in the text")
    single = Estimate(0.5, None, None, 1, "only one sentence counts in it")
    assert SHARE.cell(single) == "50% (no interval: only one sentence counts in it)"
    assert SHARE.scaled(nothing) == nothing


# --------------------------------------------------------------------------------------------------------- text, tables


def test_tables_hold_the_numbers_of_the_record(found: Japanese) -> None:
    scripts, scores, _, _, differences = found.tables
    first, pair = found.systems[0], found.differences[0]
    accuracy = first.of("accuracy")
    assert [row["accuracy"] for row in scripts.records()] == [value.estimate.value for value in accuracy]
    assert [row["characters"] for row in scripts.records()] == [value.characters for value in accuracy]
    assert [row["quantity"] for row in scores.records()] == [
        "character error rate", "accuracy, zipped", "BLEU (char)", "sentence BLEU (char)", "sentence BLEU, std (char)",
        "chrF",
    ]  # fmt: skip
    rows = differences.records()
    assert [row["difference"] for row in rows] == [gap.difference.value for gap in pair.gaps]
    assert [row["randomization_p"] for row in rows] == [gap.randomization.p_value for gap in pair.gaps]
    assert [row["bootstrap_p"] for row in rows] == [gap.bootstrap.p_value for gap in pair.gaps]
    assert {table.explained for table in found.tables} <= set(EXPLANATIONS)
    assert len({table.key for table in found.tables}) == 5


def test_cells_say_the_unit_of_their_row(found: Japanese) -> None:
    cells = {row[0]: row[1] for row in found.tables[-1].rows}
    assert " points [" in cells["accuracy"]
    assert "points" not in cells["chrF"]
    assert "%" not in cells["chrF"]


def test_counts_of_characters_have_bits_and_no_scores(read: Japanese) -> None:
    assert [table.key for table in read.tables] == ["m/scripts", "n/scripts", "n/differences"]
    scripts = read.tables[0]
    assert scripts.header == ("script", "characters", "accuracy [95%]", "bits per character [95%]")
    assert [row["bits"] for row in scripts.records()] == [v.estimate.value for v in read.systems[0].of("bits")]
    assert [row[0] for row in scripts.rows] == ["all", "hiragana", "katakana", "kanji", "other"]


def test_text_has_every_sentence_table_and_caution(found: Japanese) -> None:
    text = found.to_text(verbose=True)
    assert text.startswith(found.sentence)
    for heading in ("Accuracy by script: a & b", "Scores: <poor>", "Difference: A is a & b, B is <poor>"):
        assert heading in text
    assert all(caution.text in text for caution in found.cautions)
    assert text.endswith(found.signature)


def test_facts_say_how_much_was_measured_and_how(found: Japanese, read: Japanese) -> None:
    assert [(fact.label, fact.text) for fact in found.facts] == [
        ("sentences", "5"),
        ("intervals", "95% t-hall: closed form; tests by 400 resamples, seed 0"),
        ("scripts", "basic ranges; normalization: none"),
    ]
    exact = japanese(counts(), design=Design(method="bca"))
    assert exact.facts[1].text == "95% bca: ratios of sums exactly, other scores from 10,000 resamples, seed 0"
    assert all(fact.key in EXPLANATIONS for fact in found.facts)
    assert [(fact.label, fact.text) for fact in found.compared] == [("models", "a & b, <poor>"), ("on", "5 sentences")]
    assert [(fact.label, fact.text) for fact in exact.compared] == [("model", "m"), ("on", "12 documents")]
    assert (found.subject, read.subject) == ("a & b, <poor>", "m, n")


def test_cautions_are_fallbacks_and_notes() -> None:
    windows = japanese(counts(cluster_by="window"), design=FAST)
    kinds = [caution.kind for caution in windows.cautions]
    assert kinds == ["fallback"] * len(windows.fallbacks) + ["note"] * len(windows.notes)
    assert (
        str(windows.cautions[0]) == "fallback: documents as clusters → windows as clusters: there is one document only"
    )


def test_the_gauge_is_the_quantity_that_was_chosen_beforehand(found: Japanese) -> None:
    gap = found.differences[0].gap("bleu/char")
    gauge = found.gauge
    assert gauge is not None
    assert gauge.label == "BLEU (char), <poor> − a & b"
    assert gap.difference.interval is not None
    assert (gauge.low, gauge.high) == (gap.difference.interval.low, gap.difference.interval.high)
    assert (gauge.better, [mark.place for mark in gauge.marks]) == ("higher", [0.0])


def test_status_is_where_the_interval_lies() -> None:
    base, poor = shipped("base"), shipped("int3")
    assert japanese(base, poor, bleu=["char"], design=FAST).status == "bad"
    assert japanese(poor, base, bleu=["char"], design=FAST).status == "good"
    copy = base | {"model": ["copy"] * len(base["item"])}
    assert japanese(base, copy, bleu=["char"], design=FAST).status == "unsure"
    alone = japanese(base, bleu=["char"], design=FAST)
    assert (alone.status, alone.gauge) == ("plain", None)


def test_html_escapes_names(found: Japanese) -> None:
    html = section_html(found)
    assert "<poor>" not in html
    assert html.count("<table>") == html.count("</table>") == 6  # two of each system, differences, and facts


def test_frame_has_a_row_per_quantity(found: Japanese) -> None:
    frame = found.to_frame()
    assert len(frame) == sum(len(system.values) for system in found.systems) + len(found.differences[0].gaps)
    own, gaps = frame[frame.baseline.isna()], frame[frame.baseline == "a & b"]
    cer = own[(own.system == "<poor>") & (own.quantity == "cer")]
    estimate = found.systems[1].value("cer").estimate
    assert estimate.interval is not None
    assert cer[["value", "value_low", "value_high"]].to_numpy().tolist() == [
        [estimate.value, estimate.interval.low, estimate.interval.high]
    ]
    assert gaps.randomization_p.tolist() == [gap.randomization.p_value for gap in found.differences[0].gaps]
    assert own.bootstrap_p.isna().all()


# --------------------------------------------------------------------------------------------------------------- figure


def test_dots_and_lines_are_the_accuracies_of_the_record(found: Japanese) -> None:
    figure = forest_of(found)
    assert len(figure.lines) == 2 * 5
    for line in figure.lines:
        system = next(system for system in found.systems if system.name == line.group)
        estimate = system.value("accuracy" if line.label == "all" else f"accuracy/{line.label}").estimate
        assert estimate.value is not None
        limits = estimate.interval
        expected = (None, None) if limits is None else (100 * limits.low, 100 * limits.high)
        assert line.value == pytest.approx(100 * estimate.value)
        assert (line.low, line.high) == (expected if limits is None else pytest.approx(expected))
    assert figure.domain == (0, 100)


def test_systems_have_colours_and_shapes_that_everybody_can_tell_apart(found: Japanese) -> None:
    figure = forest_of(found)
    assert figure.groups == ("a & b", "<poor>")
    assert channel(figure, "color")[0]["scale"]["range"] == list(COLOURS[:2])
    assert len(set(channel(figure, "shape")[0]["scale"]["range"])) == 2


def test_the_legend_says_what_was_aligned_and_how_sure_it_is(found: Japanese, read: Japanese) -> None:
    assert forest_of(found).about == (
        "Characters of the references that an alignment of least edits finds in the generated text.",
        "Lines: 95% CIs of single scripts (5 sentences).",
    )
    assert forest_of(read).about[0].startswith("Characters that the model would have written next")
    assert forest_of(japanese(counts(), design=FAST)).about[0].startswith("m. Characters that")


def test_svg_and_png_are_written_and_name_the_systems(found: Japanese, tmp_path: Path) -> None:
    figure = forest_of(found)
    write_figure(figure, tmp_path / "c.svg")
    root = ET.fromstring((tmp_path / "c.svg").read_text(encoding="utf-8"))  # noqa: S314 - our own file
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert {"Accuracy by script", "a & b", "<poor>", "hiragana", "katakana", "kanji", "all"} <= set(words)
    write_figure(figure, tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    write_figure(figure, tmp_path / "c.pdf")
    assert (tmp_path / "c.pdf").read_bytes().startswith(b"%PDF-")
    with pytest.raises(UsageError, match=r"\.svg, \.png or \.pdf"):
        write_figure(figure, tmp_path / "c.gif")


def test_a_script_without_characters_is_left_out_and_one_system_needs_no_key() -> None:
    data = {"item": ["1", "2"], "reference": ["ねこ", "いぬ"], "prediction": ["ねこ", "いね"]}
    figure = forest_of(japanese(data, bleu=["char"], design=FAST))
    assert [line.label for line in figure.lines if line.value is not None] == ["all", "hiragana"]
    assert channel(figure, "color")[0]["legend"] is None
    assert "kanji" not in json.dumps(draw(figure))
