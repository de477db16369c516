"""The chart and the Markdown of training runs: what they show is what the record holds."""

from pathlib import Path
from typing import Any

import pytest

from assay.analyses.tune import tune
from assay.analyses.tune.result import TuningReport
from assay.examples.tuning import RUNS
from assay.report.folder import result_markdown
from assay.report.tuning_chart import tuning_chart, write_tuning_chart
from tests.training.runs import write_run


@pytest.fixture(scope="module")
def report() -> TuningReport:
    arms = ("lora", "lora-embeddings", "full")
    return tune(*(RUNS / f"{arm}-{seed}" for arm in arms for seed in range(3)), RUNS / "lora-rates")


def panels(report: TuningReport) -> list[list[list[dict[str, Any]]]]:
    """Panel, layer, rows."""
    chart = tuning_chart(report).to_dict()
    return [
        [chart["datasets"][layer.get("data", panel.get("data"))["name"]] for layer in panel["layer"]]
        for panel in chart["vconcat"]
    ]


def test_the_loss_panel_holds_the_curves_of_the_record(report: TuningReport) -> None:
    losses, gradients, rates, cost = panels(report)
    full = [row for row in losses[1] if row["arm"] == "full"]
    curve = report.arm("full").loss_curve
    assert [row["step"] for row in full] == list(curve.steps)
    assert [row["low"] for row in full] == list(curve.low)
    assert all(row["low"] <= row["value"] <= row["high"] for row in full)
    assert {row["arm"] for row in gradients[0]} == {"full", "lora r=16", "lora r=16 + embeddings"}
    assert [row["rate"] for row in rates[0]] == [point.rate for point in report.sensitivity[0].points]
    values = {row["arm"]: row["value"] for row in cost[1]}
    assert values["full"] == report.arm("full").quality["perplexity"].value


def test_an_arm_is_on_the_front_unless_another_is_better_in_both(report: TuningReport) -> None:
    rows = {row["arm"]: row for row in panels(report)[3][1]}
    for name, row in rows.items():
        beaten = any(o["cost"] <= row["cost"] and o["value"] < row["value"] for n, o in rows.items() if n != name)
        assert row["front"] == ("off" if beaten else "on")


def test_a_bare_log_is_drawn_without_the_panels_it_has_nothing_for(tmp_path: Path) -> None:
    bare = tune(write_run(tmp_path / "a", [3.0, 2.0, 1.5, 1.2]))
    assert len(panels(bare)) == 1
    write_tuning_chart(bare, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_markdown_has_every_section_and_stays_text(report: TuningReport, tmp_path: Path) -> None:
    text = result_markdown(report)
    heads = [line for line in text.splitlines() if line.startswith("### ")]
    assert heads == ["### What to do", "### Tables"]
    assert all(part in text for part in ("Cost", "Quality", "Convergence", "Significance", "Criteria"))
    odd = tune(write_run(tmp_path / "a", [3.0, 2.0], arm="<b>|x"))
    assert "<b>" not in result_markdown(odd)
