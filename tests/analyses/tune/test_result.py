"""What is shown of a tuning report: tables hold the numbers of the record, figures its curves, words its advice."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from assay.analyses.tune import tune
from assay.analyses.tune.advice import Recommendation
from assay.analyses.tune.result import TuningReport
from assay.analyses.tune.targets import Targets
from assay.errors import InputError
from assay.examples import RUNS
from assay.report.files import result_markdown
from assay.results.figures import Curve, Points, Series
from assay.results.parts import ResultTable
from assay.results.record import record_type
from assay.stats.records import Estimate, Interval
from tests.analyses.tune.test_validation import peft, trainer
from tests.training.runs import write_run

ARMS = ("lora r=16", "lora r=16 + embeddings", "full")
#: Of the report template of source 002, §6.2.
HEADINGS = [
    "Executive summary",
    "Detailed metrics",
    "Statistical analysis",
    "Japanese-specific metrics",
    "Recommendations",
]


@pytest.fixture(scope="module")
def report() -> TuningReport:
    runs = (RUNS / f"{arm}-{seed}" for arm in ("lora", "lora-embeddings", "full") for seed in range(3))
    return tune(*runs, RUNS / "lora-rates", targets="japanese")


@pytest.fixture
def bare(tmp_path: Path) -> TuningReport:
    return tune(write_run(tmp_path / "a", [3.0, 2.0, 1.5, 1.2]))


def table(report: TuningReport, key: str) -> ResultTable:
    return next(table for table in report.tables if table.key == key)


def column(report: TuningReport, key: str, name: str) -> list[Any]:
    return list(next(one.values for one in table(report, key).columns if one.name == name))


def series(report: TuningReport, name: str) -> list[Series]:
    figure = next(one for one in report.figures if one.name == name)
    assert isinstance(figure, Curve)
    (axes,) = figure.axes
    return [one for one in axes.series if one.x]


# ---------------------------------------------------------------------------------------------------------------- JSON


def test_the_schema_names_the_record(report: TuningReport) -> None:
    data = report.to_dict()
    assert (data["schema"], data["kind"]) == ("assay/tuning/2", "tuning")
    assert record_type(data["schema"]) is TuningReport
    assert TuningReport.from_dict(json.loads(json.dumps(data, allow_nan=False))) == report


def test_a_comparison_inside_is_the_whole_comparison(report: TuningReport) -> None:
    inside = report.to_dict()["statistical_analysis"]["contrasts"][0]["windows"]
    windows = report.contrasts[0].windows
    assert windows is not None
    assert inside == windows.to_dict()
    assert inside["schema"] == "assay/comparison/1"
    assert "picture" not in inside  # the charts are those of the training


def test_every_field_is_in_the_json_also_where_it_is_the_usual_one(report: TuningReport) -> None:
    data = report.to_dict()
    assert all("language_model" in arm for arm in data["detailed_metrics"]["arms"])
    assert all(one["accuracy"] is None for one in data["statistical_analysis"]["contrasts"])
    assert set(data["targets"]) == {field.name for field in fields(Targets)}


@pytest.mark.parametrize(
    "path",
    [
        ("detailed_metrics", "arms", 0, "runs", 0, "plateau", "verdict"),
        ("design", "level"),
        ("criteria", 0, "estimate", "n"),
    ],
)
def test_what_is_of_another_type_is_refused(report: TuningReport, path: tuple[str | int, ...]) -> None:
    data = report.to_dict()
    inner: Any = data
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = {"no": "such"}
    with pytest.raises(msgspec.ValidationError):
        TuningReport.from_dict(data)


def test_a_field_that_is_missing_is_named(report: TuningReport) -> None:
    data = report.to_dict()
    del data["criteria"]
    with pytest.raises(msgspec.ValidationError, match="criteria"):
        TuningReport.from_dict(data)
    with pytest.raises(InputError, match="not a tuning result"):
        TuningReport.from_dict({"schema": "assay/comparison/1"})


# ------------------------------------------------------------------------------------------------------- what is shown


def test_subject_status_and_gauge_are_those_of_the_first_contrast(report: TuningReport) -> None:
    contrast = report.contrasts[0]
    ratio = contrast.ratios["perplexity"]
    assert (report.subject, report.status) == (", ".join(ARMS), "bad")
    assert report.gauge is not None
    assert ratio.interval is not None
    assert (report.gauge.value, report.gauge.low, report.gauge.high) == (
        ratio.value, ratio.interval.low, ratio.interval.high,
    )  # fmt: skip
    assert report.gauge.label == f"perplexity, {contrast.arm} / {contrast.baseline}"
    assert [fact.text for fact in report.compared] == [report.subject, "9 runs"]


def test_one_arm_has_neither_status_nor_gauge(bare: TuningReport) -> None:
    assert (bare.status, bare.gauge, bare.compared[1].text) == ("plain", None, "1 run")


def test_losses_that_are_no_language_models_have_no_gauge(tmp_path: Path) -> None:
    paths = [trainer(tmp_path / arm / "trainer_state.json", eval_loss=[0.5, 0.4, 0.35, 0.33]) for arm in "ab"]
    found = tune(*paths)
    assert found.gauge is None
    assert "validation loss" in table(found, "significance of b").about
    assert "perplexity" not in column(found, "gains of b", "quantity")


def test_sections_are_those_of_the_template(report: TuningReport, bare: TuningReport) -> None:
    assert [section.title for section in report.sections] == HEADINGS
    assert report.sections[-1].said == tuple(map(str, report.recommendations))
    assert str(Recommendation("Do this.", "of 3")) == "Do this. Because of 3."
    assert len({one.key for one in report.tables}) == len(report.tables)
    assert {one.key for one in bare.tables} == {"summary", "time", "convergence"}


def test_notes_are_cautions(bare: TuningReport, tmp_path: Path) -> None:
    assert [caution.text for caution in bare.cautions] == list(bare.notes)
    cut = write_run(tmp_path / "cut", [2.0, 1.5], end=False)
    with (cut / "events.jsonl").open("a") as file:
        file.write('{"kind": "step", "st')
    assert any("line 3 is cut off" in str(caution) for caution in tune(cut).cautions)


# -------------------------------------------------------------------------------------------------------------- tables


def test_costs_are_numbers_with_their_units_in_what_is_shown(report: TuningReport) -> None:
    assert column(report, "parameters", "trainable") == [arm.trainable for arm in report.arms]
    assert table(report, "parameters").rows[2] == ("full", "952,960", "952,960", "100%")
    memory = table(report, "memory")
    assert memory.header == ("part", *ARMS)
    assert column(report, "memory", "full")[0] is report.arm("full").memory["parameters"]
    assert memory.rows[0][3] == "3.64 MiB"
    assert memory.records()[0]["full"] == report.arm("full").memory["parameters"].value  # bytes
    assert memory.rows[1][1] == "560.00 KiB"


def test_quality_has_a_row_for_each_measure_and_a_column_for_each_arm(report: TuningReport) -> None:
    quality = report.arm("full").quality
    for key, names in (("quality", list(quality)[:3]), ("japanese", list(quality)[3:])):
        assert column(report, key, "quantity") == [name.replace("_", " ") for name in names]
        assert column(report, key, "full") == [quality[name] for name in names]
    record = table(report, "quality").records()[0]
    limits = report.arm("full").quality["validation_loss"].interval
    assert limits is not None
    assert (record["full_low"], record["full_high"]) == (limits.low, limits.high)


def test_convergence_names_every_run_and_where_one_diverged(report: TuningReport, tmp_path: Path) -> None:
    assert column(report, "convergence", "run")[:2] == ["lora r=16, seed 0", "lora r=16, seed 1"]
    assert column(report, "convergence", "95% at") == [run.steps_to_95 for arm in report.arms for run in arm.runs]
    lost = tune(write_run(tmp_path / "x", [3.0, 2.9, 2.8, "nan", 9.0]))
    assert table(lost, "convergence").rows[0][1] == "diverged at step 4"
    assert table(lost, "convergence").records()[0]["final loss"] is None


def test_significance_has_windows_seeds_and_the_recipe(report: TuningReport) -> None:
    contrast = report.contrasts[0]
    assert contrast.recipe is not None
    key = f"significance of {contrast.arm}"
    windows, seeds, recipe = column(report, key, "difference")
    assert windows == (contrast.windows and contrast.windows.difference)
    assert seeds is contrast.seeds
    assert isinstance(recipe, Interval)
    assert (recipe.low, recipe.high, recipe.level) == (contrast.recipe.low, contrast.recipe.high, 0.95)
    assert column(report, key, "p")[1] == contrast.seeds_test.p_value
    assert table(report, key).rows[1][3] == "–"  # seeds have no effect size
    assert table(report, key).rows[2][:2] == ("the published recipe, of single windows", "[2.87 to 4.55]")


def test_gains_leave_out_what_was_not_measured(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", [3.0] * 20, parameters={"total": 1000, "trainable": 1000})
    b = write_run(tmp_path / "b", [3.0] * 20, arm="lora", parameters={"total": 1010, "trainable": 10})
    found = tune(a, b)
    assert "memory" not in column(found, "gains of lora", "quantity")
    ratio = column(found, "gains of lora", "ratio")[0]
    assert isinstance(ratio, Estimate)
    assert ratio.value == pytest.approx(0.01)


def test_rates_that_diverged_have_no_loss_and_are_counted(report: TuningReport, tmp_path: Path) -> None:
    assert table(report, "rates of lora r=16").header == ("rate", "held-out loss", "runs")
    bad = write_run(tmp_path / "r1", [2.0, "nan"], sweep=True, learning_rate=0.1)
    good = write_run(tmp_path / "r2", [2.0, 1.0], sweep=True, learning_rate=0.01)
    found = table(tune(good, bad), "rates of full")
    assert found.header[-1] == "diverged"
    assert [record["diverged"] for record in found.records()] == [0, 1]
    assert found.records()[1]["held-out loss"] is None
    assert [row[0] for row in found.rows] == ["0.01", "0.1"]


def test_criteria_that_were_not_measured_share_a_line(report: TuningReport, bare: TuningReport) -> None:
    assert len(table(report, "criteria")) == len(report.criteria)
    assert bare.criteria == ()
    asked = tune(bare.arms[0].runs[0].label, targets=Targets(perplexity=12, character_accuracy=0.85))
    (line,) = table(asked, "criteria").rows
    assert (line[0], line[4]) == ("not measured: 2", "perplexity, character accuracy")


def test_the_frame_has_every_number_once_and_unrounded(report: TuningReport) -> None:
    pytest.importorskip("pandas")
    frame = report.to_frame()
    assert list(frame.columns) == ["arm", "group", "quantity", "value", "value_low", "value_high"]
    assert not frame.duplicated(["arm", "group", "quantity"]).any()
    of_full = frame[(frame["arm"] == "full") & (frame["quantity"] == "perplexity")]
    found = report.arm("full").quality["perplexity"]
    assert found.interval is not None
    assert of_full[["value", "value_low", "value_high"]].to_numpy().tolist() == [
        [found.value, found.interval.low, found.interval.high]
    ]
    ratios = frame[frame["group"] == "ratio to full"]
    assert set(ratios["arm"]) == {one.arm for one in report.contrasts}


# ------------------------------------------------------------------------------------------------------------- figures


def test_the_losses_are_the_curves_of_the_record(report: TuningReport) -> None:
    found = series(report, "losses")
    assert [one.style for one in found] == ["line"] * 3 + ["points"] * 3
    line, points = (one for one in found if one.label == "full")
    arm = report.arm("full")
    assert (line.x, line.y) == (arm.loss_curve.steps, arm.loss_curve.values)
    assert (line.low, line.high) == ((), ())  # a band would cover the other lines
    valid = arm.valid_curve
    assert valid is not None
    assert (points.x, points.y, points.low, points.high) == (valid.steps, valid.values, valid.low, valid.high)
    assert [one.label for one in series(report, "gradients")] == [*ARMS, *ARMS]


def test_a_line_without_validation_has_its_intervals_at_a_few_steps(report: TuningReport) -> None:
    norms = report.arm("full").gradient_curve
    assert norms is not None
    _, bars = (one for one in series(report, "gradients") if one.label == "full")
    assert len(bars.x) == 6
    assert bars.x[-1] == norms.steps[-1]
    for x, y, low, high in zip(bars.x, bars.y, bars.low, bars.high, strict=True):
        place = norms.steps.index(int(x))
        assert (y, low, high) == (norms.values[place], norms.low[place], norms.high[place])


def test_every_figure_names_all_arms_in_the_same_order(report: TuningReport) -> None:
    for figure in report.figures:
        if isinstance(figure, Curve):
            names = [one.label for axes in figure.axes for one in axes.series]
            assert tuple(dict.fromkeys(names)) == ARMS
        else:
            assert isinstance(figure, Points)
            assert figure.groups == ARMS


def test_rates_are_drawn_without_those_that_diverged(report: TuningReport, tmp_path: Path) -> None:
    (line,) = series(report, "rates")
    assert line.x == tuple(point.rate for point in report.sensitivity[0].points)
    lost = [write_run(tmp_path / f"r{r}", [2.0, "nan"], sweep=True, learning_rate=r) for r in (1.0, 2.0)]
    assert "rates" not in [figure.name for figure in tune(*lost, write_run(tmp_path / "a", [2.0, 1.0])).figures]


def test_an_arm_is_on_the_front_unless_another_is_better_in_both(report: TuningReport) -> None:
    (figure,) = (one for one in report.figures if isinstance(one, Points))
    assert figure.axes == ("memory of training (MiB)", "perplexity")
    assert {point.group: point.y for point in figure.points}["full"] == report.arm("full").quality["perplexity"].value
    for point in figure.points:
        beaten = any(other.x <= point.x and other.y < point.y for other in figure.points if other is not point)
        assert point.strong is not beaten


def test_without_memory_the_cost_is_time(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", [3.0, 2.0], validation="x")
    events = run / "events.jsonl"
    lines = events.read_text().splitlines()
    valid = {"kind": "validation", "step": 2, "loss": 2.0, "tokens": 10, "rows": 1, "digest": "x"}
    events.write_text("\n".join([*lines[:-1], json.dumps(valid), lines[-1]]) + "\n")
    (figure,) = (one for one in tune(run).figures if isinstance(one, Points))
    assert figure.axes[0] == "seconds of training"
    (point,) = figure.points
    assert (point.low, point.high, point.strong) == (None, None, True)  # one seed has no interval


def test_a_bare_log_has_no_figures_for_what_it_has_not(bare: TuningReport) -> None:
    assert [figure.name for figure in bare.figures] == ["losses"]
    assert bare.figures[0].title == "Loss by step"


# ---------------------------------------------------------------------------------------------------------- everywhere


def test_the_text_has_the_sentence_the_advice_and_every_table(report: TuningReport) -> None:
    text = report.to_text(verbose=True)
    assert text.startswith(report.sentence)
    assert "\n\nExecutive summary\narm  " in text
    assert "Convergence" not in str(report)
    assert all(table.heading in text for table in report.tables)
    assert text.endswith(f"signature  {report.signature}")
    assert max(map(len, text.partition("\nRecommendations\n")[2].partition("\n\n")[0].splitlines())) <= 110


def test_markdown_has_every_section_and_stays_text(report: TuningReport, tmp_path: Path) -> None:
    text = result_markdown(report)
    heads = [line for line in text.splitlines() if line.startswith("### ")]
    assert heads == [f"### {title}" for title in HEADINGS]
    assert all(part in text for part in ("Memory", "Quality", "Convergence", "Significance", "Criteria"))
    odd = tune(write_run(tmp_path / "a", [3.0, 2.0], arm="<b>|x"))
    assert "<b>" not in result_markdown(odd)


# ------------------------------------------------------------------------------------------------------------ template


def test_the_json_has_the_headings_of_the_template(report: TuningReport, bare: TuningReport) -> None:
    """Source 002, §6.2: executive_summary with its four entries, then the four others."""
    data = report.to_dict()
    wanted = ["executive_summary", "detailed_metrics", "statistical_analysis", "japanese_specific", "recommendations"]
    assert [key for key in data if key in wanted] == wanted
    line = next(line for line in data["executive_summary"] if line["arm"] == "lora r=16")
    full, lora = report.arm("full"), report.arm("lora r=16")
    assert line["final_perplexity"]["value"] == lora.quality["perplexity"].value
    assert line["parameter_efficiency"] == (lora.trainable or 0) / (lora.total or 1)
    ratio = next(one for one in report.contrasts if one.arm == "lora r=16").ratios["memory"].value
    assert ratio is not None
    assert line["memory_savings"]["value"] == pytest.approx(1 - ratio)
    assert line["convergence"] == "not shown"
    assert set(data["japanese_specific"]["full"]) == {"character_accuracy", "hiragana", "katakana", "kanji", "other"}
    ends = {name: line["convergence"] for name, line in zip(ARMS, data["executive_summary"], strict=True)}
    assert ends["full"] == "not achieved"  # its loss still falls
    assert full.name in data["japanese_specific"]
    assert bare.to_dict()["japanese_specific"] == {}


def test_the_divisor_of_every_spread_is_named_and_the_other_is_there(report: TuningReport) -> None:
    found = report.sensitivity[0]
    losses = [point.loss for point in found.points if point.loss is not None]
    assert found.variation == pytest.approx(np.std(losses, ddof=1) / np.mean(losses))
    assert found.variation_n == pytest.approx(np.std(losses) / np.mean(losses))  # as source 002, §3.3, has it
    assert "with the divisor n − 1" in found.sentence
    assert set(report.detailed_metrics.divisors.values()) == {"n − 1", "n"}


# ------------------------------------------------------------------------------------------------------------ many arms


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """63 arms, as peft's comparison of methods has them."""
    folder = tmp_path_factory.mktemp("many")
    return [str(peft(folder / f"method-{i}.json", 0.4 + i / 1000, 500 + i, 5 + i)) for i in range(63)]


def test_many_arms_have_a_line_each_and_everything_on_demand(many: list[str]) -> None:
    report = tune(*many, targets="japanese")
    lines = report.to_text(verbose=True, full=True).splitlines()
    assert len(lines) <= 150 + 10
    assert len(str(tune(*many)).splitlines()) <= 100
    assert len(result_markdown(report).splitlines()) <= 200
    assert sum(line.startswith("method-") for line in lines) == 2 * 63  # the summary, and the criteria
    assert any("each of 63 arms (method-0, method-1 and 61 others)" in line for line in lines)
    full = tune(*many, targets="japanese", full=True)
    assert len(full.to_text(verbose=True, full=True).splitlines()) > 1000
    assert "full=True" in str(report)
    strip = {"sentence", "full"}
    small, large = ({k: v for k, v in one.to_dict().items() if k not in strip} for one in (report, full))
    assert small == large
    assert TuningReport.from_dict(json.loads(json.dumps(full.to_dict(), allow_nan=False))) == full


@pytest.mark.parametrize(("arms", "compact"), [(7, False), (8, True)])
def test_the_layout_is_compact_from_eight_arms_on(many: list[str], arms: int, compact: bool) -> None:
    report = tune(*many[:arms])
    assert report.compact is compact
    assert ("convergence" in {one.key for one in report.tables}) is not compact


def test_an_arm_whose_name_is_a_part_of_the_baselines_is_grouped_by_its_own(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / f"r{i}", [2.0, 1.0], arm=f"x{i}" if i else "x10 sft") for i in range(11)]
    text = str(tune(*runs))
    assert "Do not decide between x10 sft and each of 10 arms (x1, x2 and 8 others) yet" in text.replace("\n  ", " ")
