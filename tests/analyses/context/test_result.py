"""The record of `context`: its JSON, text, tables and figure all hold the same numbers."""

import json
import struct
from itertools import pairwise
from math import exp
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import numpy as np
import pytest
from statsmodels.api import WLS

from assay.analyses.context import context
from assay.analyses.context.result import ContextCurve
from assay.design import Design
from assay.errors import InputError, UsageError
from assay.report.charts import check_chart, write_figure
from assay.report.notebook import section_html
from assay.results.figures import Curve
from assay.results.record import record_type
from assay.results.text import plain_html
from tests.data.runs.token_runs import Tokens, by_hand, story, write_run

QUICK = Design(resamples=199)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> ContextCurve:
    folder = tmp_path_factory.mktemp("pair")
    a = write_run(folder / "a", story(3, 60, shortest=40), called="base & co")
    return context(a, write_run(folder / "b", story(3, 60, shortest=40, shift=0.1), called="<edited>"), design=QUICK)


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> ContextCurve:
    return context(write_run(tmp_path_factory.mktemp("run") / "a", story(3, 60)), bins=4, design=QUICK)


def curve_of(found: ContextCurve) -> Curve:
    (figure,) = found.figures
    assert isinstance(figure, Curve)
    return figure


# ----------------------------------------------------------------------------------------------------------------- json


def test_there_and_back_through_json_is_exact(found: ContextCurve) -> None:
    again = ContextCurve.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    assert again == found
    assert str(again) == str(found)
    assert record_type("assay/context/1") is ContextCurve


def test_the_keys_are_those_of_version_1(found: ContextCurve) -> None:
    data = found.to_dict()
    assert list(data) == [
        "schema", "sentence", "models", "differences", "bins", "n_clusters", "cluster_by", "substance",
        "fallbacks", "notes", "design", "signature",
    ]  # fmt: skip
    model, pair = data["models"][0], data["differences"][0]
    assert list(model) == ["name", "sentence", "helps_until", "still_helps", "slope", "slope_from", "bins"]
    assert list(model["bins"][-1]) == ["low", "high", "tokens", "loss", "perplexity", "gain", "test", "within"]
    assert (model["bins"][-1]["gain"], model["bins"][-1]["test"]) == (None, None)
    assert list(pair) == ["a", "b", "sentence", "bins"]
    assert list(pair["bins"][0]) == ["low", "high", "difference", "adjusted", "test"]


@pytest.mark.parametrize("key", ["models", "bins", "design", "signature"])
def test_what_is_no_context_curve_is_refused(found: ContextCurve, key: str) -> None:
    with pytest.raises(InputError, match="not a context curve"):
        ContextCurve.from_dict({"schema": "assay/comparison/1"})
    data = found.to_dict()
    with pytest.raises(msgspec.ValidationError, match=key):
        ContextCurve.from_dict({name: value for name, value in data.items() if name != key})
    with pytest.raises(msgspec.ValidationError, match=key):
        ContextCurve.from_dict(data | {key: 3})


# --------------------------------------------------------------------------------------------------------- text, tables


def test_tables_fit_into_80_columns(found: ContextCurve, single: ContextCurve) -> None:
    for curve, count in ((found, 5), (single, 2)):
        tables = str(curve).split("\n\n")[1:-1]
        assert len(tables) == count == len(curve.tables)
        assert max(len(line) for table in tables for line in table.splitlines()) <= 80


def test_text_holds_every_bin_and_every_sentence(found: ContextCurve) -> None:
    lines = str(found).splitlines()
    assert lines[:3] == [*(model.sentence for model in found.models), found.differences[0].sentence]
    for edge in ("1", "2", "3–4", "5–8", "9–16", "17–32"):
        assert sum(line.split("  ")[0] == edge for line in lines) == 5  # loss and gain of two models, difference
    last = str(found.models[0].points[-1].bin)
    assert sum(line.split("  ")[0] == last for line in lines) == 3  # nothing later to compare with


def test_tables_hold_the_numbers_of_the_record(found: ContextCurve) -> None:
    losses, gains, _, _, differences = (table.records() for table in found.tables)
    model, pair = found.models[0], found.differences[0]
    assert [row["loss"] for row in losses] == [point.loss.value for point in model.points]
    assert [row["tokens"] for row in losses] == [point.tokens for point in model.points]
    assert [row["gain"] for row in gains] == [point.gain.value for point in model.points if point.gain]
    assert [row["p_adjusted"] for row in differences] == [gap.test.p_value for gap in pair.gaps]
    limits = [gap.adjusted.interval for gap in pair.gaps]
    assert [(row["adjusted_low"], row["adjusted_high"]) for row in differences] == [
        (i.low, i.high) for i in limits if i
    ]
    assert len({table.key for table in found.tables}) == 5


def test_facts_say_what_was_drawn_and_how(found: ContextCurve, single: ContextCurve) -> None:
    assert [(fact.key, fact.text) for fact in found.facts] == [
        ("clusters", "60 documents"),
        ("one bin", "95% t-hall interval, right for each bin alone"),
        ("all bins", "max-T, right for all bins at once; 199 resamples, seed 0"),
    ]
    assert [(fact.label, fact.text) for fact in found.compared] == [
        ("models", "base & co, <edited>"), ("on", "60 documents"),
    ]  # fmt: skip
    assert single.compared[0].label == "model"
    assert (found.status, found.gauge, found.cautions) == ("plain", None, ())


def test_cautions_are_fallbacks_and_notes(found: ContextCurve, tmp_path: Path) -> None:
    few = context(*(write_run(tmp_path / name, story(4, 4, shortest=60), called=name) for name in "abc"), design=QUICK)
    assert [str(caution) for caution in few.cautions if caution.kind == "note"] == list(few.notes)
    assert str(few.cautions[-1]) == "each difference is adjusted for its bins, not for the number of differences"
    assert few.sentence.count("4 documents, too few to rely on") == 5
    assert found.fallbacks == ()


def test_html_escapes_names(found: ContextCurve) -> None:
    html = section_html(found)
    assert "<edited>" not in html
    assert html.count("<table>") == html.count("</table>") == 6  # losses and gains of two, differences, and facts
    assert "<edited>" not in plain_html(found)
    assert plain_html(found).count("<tr>") == len(found.facts)


def test_frame_has_a_row_per_bin(found: ContextCurve) -> None:
    table = found.to_frame()
    assert len(table) == 3 * 7
    by_model = table[table.baseline.isna()]
    assert by_model.groupby("model").tokens.sum().to_dict() == {
        model.name: sum(point.tokens for point in model.points) for model in found.models
    }
    assert by_model.low.tolist() == [point.low for model in found.models for point in model.points]
    differences = table[table.baseline == "base & co"]
    assert differences.difference.tolist() == [gap.difference.value for gap in found.differences[0].gaps]
    assert (differences.adjusted_low < differences.difference_low).all()
    assert differences.difference_p.notna().all()


# --------------------------------------------------------------------------------------------------------------- figure


def test_lines_are_the_losses_where_all_documents_are_equally_long_by_hand(tmp_path: Path) -> None:
    """Then a mean over bins is a mean within documents; bands are the gains' limits, moved with the point."""
    even = context(write_run(tmp_path / "a", story(7, 80, shortest=64, longest=65)), design=QUICK)
    (series,), points = curve_of(even).axes[0].series, even.models[0].points
    drawn = points[-len(series.x) :]
    assert series.y == pytest.approx([point.loss.value for point in drawn])
    for y, low, high, point in zip(series.y, series.low, series.high, drawn[:-1], strict=False):
        assert y is not None
        assert point.gain is not None
        assert point.gain.value is not None
        assert point.gain.interval is not None
        assert low == pytest.approx(y - point.gain.value + point.gain.interval.low)
        assert high == pytest.approx(y - point.gain.value + point.gain.interval.high)


def test_lines_fall_within_documents_though_only_hard_ones_are_long_against_statsmodels(tmp_path: Path) -> None:
    """Every document loses less by every position; long ones lose more, so that the mean of a bin rises.

    The oracle is weighted least squares with a dummy for each document and each bin.
    """
    lengths = [64 if i % 2 else 12 for i in range(20)]
    documents = [
        Tokens(f"d{i:02}", range(1, n), (3.0 + (n > 12) - 0.01 * np.arange(1, n) + 0.01 * (i % 3)).tolist())
        for i, n in enumerate(lengths)
    ]
    (model,) = (found := context(write_run(tmp_path / "a", documents), design=QUICK)).models
    points = model.points
    assert points[-1].loss.value > points[0].loss.value  # type: ignore[operator]  # both are known
    y = [value for value in curve_of(found).axes[0].series[0].y if value is not None]
    assert all(later < earlier for earlier, later in pairwise(y))
    sums = np.array([by_hand(documents, point.low, point.high) for point in points])  # (K, 2, n)
    loss, tokens = sums[:, 0].ravel(), sums[:, 1].ravel()
    there = tokens > 0
    bins, of = (dummies.ravel() for dummies in np.indices((len(points), len(documents))))
    dummies = np.column_stack([bins[:, None] == np.arange(len(points)), of[:, None] == np.arange(1, len(documents))])
    fitted = WLS(loss[there] / tokens[there], dummies[there].astype(float), tokens[there]).fit().params[: len(points)]
    within = np.array([point.within for point in points])
    assert within - within[0] == pytest.approx(fitted - fitted[0])
    weights = [point.tokens for point in points]
    measured = np.average([point.loss.value or 0 for point in points], weights=weights)
    assert np.average(within, weights=weights) == pytest.approx(measured)


def test_a_result_without_levels_within_documents_shows_the_losses(found: ContextCurve) -> None:
    data = found.to_dict()
    for model in data["models"]:
        for point in model["bins"]:
            del point["within"]
    series = curve_of(ContextCurve.from_dict(data)).axes[0].series[0]
    drawn = found.models[0].points[-len(series.x) :]
    assert series.y == tuple(point.loss.value for point in drawn)
    assert series.low == tuple(point.loss.interval.low for point in drawn if point.loss.interval)


def test_a_line_is_dashed_from_where_context_no_longer_helps(found: ContextCurve, tmp_path: Path) -> None:
    """The oracle is the middle of the bin that `helps_until` ends, on an axis of doublings."""
    for series, model in zip(curve_of(found).axes[0].series, found.models, strict=True):
        (last,) = [point for point in model.points if point.high == model.helps_until]
        assert series.dashed_from == pytest.approx((last.low * last.high) ** 0.5)
    on = context(write_run(tmp_path / "a", story(5, 200, helps_until=1000, shortest=48)), design=QUICK)
    assert curve_of(on).axes[0].series[0].dashed_from is None
    none = context(write_run(tmp_path / "b", story(5, 100, helps_until=1)), design=QUICK)
    assert curve_of(none).axes[0].series[0].dashed_from == 1.0


def test_differences_have_the_intervals_that_hold_for_all_bins(found: ContextCurve) -> None:
    below = curve_of(found).axes[1]
    (series,) = below.series
    expected = [gap.adjusted.interval for gap in found.differences[0].gaps[-len(series.x) :]]
    assert (series.low, series.high) == (tuple(i.low for i in expected if i), tuple(i.high for i in expected if i))
    assert [mark.place for mark in below.marks] == [0.0]
    assert below.title == "Difference from base & co; below 0 is better"


def test_one_run_is_one_panel_and_even_bins_are_all_drawn(single: ContextCurve) -> None:
    figure = curve_of(single)
    assert (len(figure.axes), figure.log, figure.ticks) == (1, None, {})
    bins = [point.bin for point in single.models[0].points]
    assert figure.axes[0].series[0].x == tuple((b.low + b.high) / 2 for b in bins)


def test_bins_that_double_stand_on_doublings(found: ContextCurve, tmp_path: Path) -> None:
    assert (curve_of(found).log, curve_of(found).ticks[32.0]) == (2, "32")
    layout = {"context": 64, "stride": 32, "bos": True}
    documents = [type(d)(d.document, range(len(d.loss)), d.loss) for d in story(4, 30, shortest=4, longest=12)]
    start = context(write_run(tmp_path / "r", documents, layout=layout), design=QUICK)
    assert curve_of(start).ticks[0.5] == "0"
    assert curve_of(start).axes[0].series[0].x[0] == 0.5


def test_the_axis_and_what_it_shows_are_chosen(tmp_path: Path) -> None:
    """The paper's figure: perplexity over positions on a linear axis, differences below, bands on both."""
    runs = [write_run(tmp_path / name, story(3, 60, shortest=40, shift=0.1 * i), called=name)
            for i, name in enumerate("abc")]  # fmt: skip
    chosen = context(*runs, axis="linear", shown="perplexity", design=QUICK)
    figure, plain = curve_of(chosen), curve_of(context(*runs, design=QUICK))
    assert (figure.log, figure.ticks, plain.log) == (None, {}, 2)
    points = chosen.models[1].points[-len(figure.axes[0].series[1].x) :]
    assert figure.axes[0].series[1].x == tuple((point.low + point.high) / 2 for point in points)
    assert figure.axes[0].series[1].y == pytest.approx([exp(point.within or 0) for point in points])
    assert figure.axes[0].axis == "perplexity"
    assert [series.label for series in figure.axes[1].series] == ["b", "c"]
    assert [series.style for axes in figure.axes for series in axes.series] == ["both"] * 5
    assert figure.axes[1].series[0].y == plain.axes[1].series[0].y  # of losses, whatever is shown above
    again = ContextCurve.from_dict(json.loads(json.dumps(chosen.to_dict())))
    assert curve_of(again) == figure


def test_a_logarithmic_axis_for_even_bins(tmp_path: Path) -> None:
    curve = context(write_run(tmp_path / "a", story(3, 60)), bins=4, axis="log", design=QUICK)
    bins = [point.bin for point in curve.models[0].points]
    assert curve_of(curve).axes[0].series[0].x == pytest.approx([(b.low * b.high) ** 0.5 for b in bins])


@pytest.mark.parametrize("wrong", [{"axis": "sqrt"}, {"shown": "bits"}])
def test_figures_that_there_are_not_are_refused(wrong: dict[str, str], tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", story(3, 60))
    with pytest.raises(UsageError, match="must be one of"):
        context(run, design=QUICK, **wrong)  # type: ignore[arg-type]


def test_the_first_positions_are_left_out_where_they_would_flatten_the_rest(tmp_path: Path) -> None:
    curve = context(write_run(tmp_path / "a", story(3, 40, longest=600, shortest=500)), design=QUICK)
    tokens = [point.tokens for point in curve.models[0].points]
    assert 100 * sum(tokens[:4]) / sum(tokens) == pytest.approx(1.46, abs=0.01)  # positions 1 to 8; 16 would be 2.9%
    figure = curve_of(curve)
    assert figure.about[-1] == "Not drawn: positions below 9, 1.5% of the tokens."
    assert figure.axes[0].series[0].x[0] == pytest.approx((9 * 16) ** 0.5)


def test_svg_is_well_formed_and_names_the_models(found: ContextCurve, tmp_path: Path) -> None:
    write_figure(curve_of(found), tmp_path / "c.svg")
    text = (tmp_path / "c.svg").read_text(encoding="utf-8")
    root = ET.fromstring(text)  # noqa: S314 - our own file
    assert root.tag == f"{SVG}svg"
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert {"Loss by length of context", "base & co", "<edited>", "loss (nats per token)"} <= set(words)
    assert "http" not in text.replace("http://www.w3.org/", "")  # nothing is loaded from outside


def test_png_is_a_png_of_two_pixels_a_point(single: ContextCurve, tmp_path: Path) -> None:
    write_figure(curve_of(single), tmp_path / "c.PNG")
    data = (tmp_path / "c.PNG").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert width > 2 * 520
    assert height > 2 * 280


def test_the_same_curve_is_the_same_file(single: ContextCurve, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        write_figure(curve_of(single), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_what_cannot_be_written_is_refused(single: ContextCurve, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.svg, \.png or \.pdf, but got 'c\.gif'"):
        check_chart(Path("c.gif"))
    with pytest.raises(InputError, match="cannot be written"):
        write_figure(curve_of(single), tmp_path / "missing" / "c.svg")
