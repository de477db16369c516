"""The public record: every interval and every test, of Assay and of its peers, on the same data.

    pip install -r benchmarks/requirements.txt        # peers that are missing are left out, and said to be
    python benchmarks/record.py --out benchmarks/results/record.md --charts docs/assets

In each world, samples with a true difference show how often a 95 % interval holds it (coverage), how wide it is, and
how often the difference is found (power); samples without one show how often one is found that is not there (size).
Simulation i of a world has its own seed, so a run repeats exactly.
"""

import json
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isnan, sqrt
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table
from benchmarks.simulation.tools import OPTIONAL, OURS, PEERS, SLOW, Said, Tool, version_of
from benchmarks.simulation.worlds import WORLDS, Drawn, World

SHORT, WRONG = 0.03, 0.03  # below 92 % or above 8 %, beyond twice the standard error: called too low, too high
ALPHA = 0.05
WIDE = {"labelLimit": 330}  # pixels of a label


@dataclass(slots=True)
class Row:
    """What one tool said in one world."""

    world: World
    tool: str
    shown: list[Said] = field(default_factory=list)  # with the true difference
    null: list[Said] = field(default_factory=list)  # without one
    seconds: float = 0.0

    @property
    def covers(self) -> float | None:
        truth = self.world.power_difference
        if not any(not isnan(said.low) for said in self.shown):
            return None
        return float(np.mean([said.low <= truth <= said.high for said in self.shown]))  # no limits: a miss

    @property
    def misses(self) -> tuple[float, float]:
        """The truth below the interval, above it."""
        truth = self.world.power_difference
        return (
            float(np.mean([truth < said.low for said in self.shown])),
            float(np.mean([truth > said.high for said in self.shown])),
        )

    @property
    def width(self) -> float | None:
        widths = [said.high - said.low for said in self.shown if not isnan(said.low)]
        return float(np.median(widths)) if widths else None

    @property
    def size(self) -> float | None:
        return _rejects(self.null)

    @property
    def power(self) -> float | None:
        return _rejects(self.shown)

    @property
    def error(self) -> float:
        return sqrt(0.05 * 0.95 / max(len(self.shown), 1))

    @property
    def milliseconds(self) -> float:
        return 1000 * self.seconds / max(len(self.shown) + len(self.null), 1)


def _rejects(said: Sequence[Said]) -> float | None:
    if not any(not isnan(one.p) for one in said):
        return None
    return float(np.mean([one.p <= ALPHA for one in said]))  # no p: not found


def measured(world: World, tools: dict[str, Tool], simulations: int) -> list[Row]:
    """All tools on the samples of a world, in turns."""
    rows = {name: Row(world, name) for name in tools}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for simulation in range(simulations):
            drawn = [world.draw(simulation, difference) for difference in (world.power_difference, 0.0)]
            for name, tool in tools.items():
                if simulation % SLOW.get(name, 1):
                    continue
                for sample, kept in zip(drawn, (rows[name].shown, rows[name].null), strict=True):
                    began = time.process_time()
                    said = _asked(tool, sample)
                    rows[name].seconds += time.process_time() - began
                    kept.extend([] if said is None else [said])
    return [row for row in rows.values() if row.shown]


def _asked(tool: Tool, sample: Drawn) -> Said | None:
    """What a tool says; one that ends in an error has neither limits nor a p-value for this sample."""
    try:
        return tool(sample)
    except Exception as error:  # noqa: BLE001  # whatever a peer raises
        print(f"{type(error).__name__}: {error}"[:100], file=sys.stderr)
        return Said()


# --------------------------------------------------------------------------------------------------------------- report


COUNTED = ("scipy", "statsmodels", "arch", "pingouin")
SUMMARY = """Worlds in which coverage is below 92 % (or size above 8 %) by more than twice the standard error of the
simulation, and the worst of each. Only worlds for which a tool has an answer count; a sample on which a tool ends in an
error is one that its interval misses."""


def report(rows: Sequence[Row], simulations: int, absent: Sequence[str]) -> str:
    used = ", ".join(f"{name} {version_of(name)}" for name in (*OPTIONAL, *COUNTED) if version_of(name))
    worlds = len({(row.world.name, row.world.n) for row in rows})
    about = (
        f"{worlds} worlds, {simulations:,} samples of each with a difference and as many without; tools that resample"
    )
    parts = [
        f"{about} for long were asked about every second or fourth. {used}.",
        "### Summary",
        SUMMARY,
        _summary(rows),
        "### Everything",
        _everything(rows),
    ]
    return "\n\n".join([*parts, *([f"Not installed, and left out: {', '.join(absent)}."] if absent else [])])


def _summary(rows: Sequence[Row]) -> str:
    heading = ["tool", "worlds", "covers too rarely", "least coverage, %", "finds too often", "largest size, %"]
    return table(
        [*heading, "CPU, ms"], [_sum(name, [row for row in rows if row.tool == name]) for name in _tools(rows)]
    )


def _sum(name: str, rows: Sequence[Row]) -> list[str]:
    covers = [(row.covers, row.error) for row in rows if row.covers is not None]
    sizes = [(row.size, row.error) for row in rows if row.size is not None]
    return [
        name,
        str(len(rows)),
        f"{sum(c + 2 * e < 1 - ALPHA - SHORT for c, e in covers)} of {len(covers)}" if covers else "–",
        f"{100 * min(c for c, _ in covers):.1f}" if covers else "–",
        f"{sum(s - 2 * e > ALPHA + WRONG for s, e in sizes)} of {len(sizes)}" if sizes else "–",
        f"{100 * max(s for s, _ in sizes):.1f}" if sizes else "–",
        f"{float(np.median([row.milliseconds for row in rows])):.1f}",
    ]


def _everything(rows: Sequence[Row]) -> str:
    heading = ["data", "n", "tool", "covers, %", "±", "below / above, %", "width", "size, %", "power, %"]
    return table(heading, [_line(row, _reference(rows, row)) for row in rows])


def _reference(rows: Iterable[Row], row: Row) -> float | None:
    """The width of `assay` on the same data."""
    return next(other.width for other in rows if other.world is row.world and other.tool == "assay")


def _line(row: Row, reference: float | None) -> list[str]:
    low, high = row.misses
    relative = row.width / reference if row.width is not None and reference else None
    return [
        row.world.name,
        str(row.world.n),
        row.tool,
        _percent(row.covers),
        f"{100 * row.error:.1f}",
        "–" if row.covers is None else f"{100 * low:.1f} / {100 * high:.1f}",
        "–" if relative is None else f"{relative:.2f}",
        _percent(row.size),
        _percent(row.power),
    ]


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _tools(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.tool for row in rows))


# --------------------------------------------------------------------------------------------------------------- charts


def chart(rows: Sequence[Row], what: str, title: str, nominal: float) -> dict[str, Any]:
    """A dot for each tool in each world, as a Vega-Lite specification."""
    shown = ["assay", *(name for name in PEERS if name != "lm-eval's standard errors")]
    values = [
        {
            "data": f"{row.world.name}, n = {row.world.n}",
            "tool": row.tool,
            "value": 100 * found,
            "group": row.world.group,
        }
        for row in rows
        if row.tool in shown and (found := getattr(row, what)) is not None
    ]
    order = [f"{world.name}, n = {world.n}" for world in WORLDS]
    tools = [name for name in shown if any(value["tool"] == name for value in values)]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": values},
        "width": 520,
        "height": {"step": 22},
        "layer": [
            {"mark": {"type": "rule", "strokeDash": [4, 3], "color": "#888"}, "encoding": {"x": {"datum": nominal}}},
            {
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 0.85},
                "encoding": {
                    "x": {"field": "value", "type": "quantitative", "title": title, "scale": {"zero": False}},
                    "y": {
                        "field": "data",
                        "type": "nominal",
                        "sort": order,
                        "title": None,
                        "axis": {"labelLimit": 330},
                    },
                    "color": {"field": "tool", "type": "nominal", "scale": {"domain": tools}, "title": None},
                    "shape": {"field": "tool", "type": "nominal", "scale": {"domain": tools}, "title": None},
                },
            },
        ],
        "config": {"background": "white", "font": "sans-serif"},
    }


def write_charts(rows: Sequence[Row], folder: Path) -> None:
    import vl_convert

    for what, title, nominal in (
        ("covers", "coverage of the 95% interval, %", 95.0),
        ("size", "differences found that are not there, % (nominal 5)", 5.0),
        ("power", "differences found that are there, %", 80.0),
    ):
        spec = json.dumps(chart(rows, what, title, nominal))
        (folder / f"record-{what}.svg").write_text(vl_convert.vegalite_to_svg(spec) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Coverage, size and power of Assay and of its peers on the same data.")
    parser.add_argument("--simulations", type=int, default=400, metavar="N", help="samples of each world (400)")
    parser.add_argument("--charts", type=Path, metavar="FOLDER", help="write three SVG charts there")
    options = parser.parse_args(arguments)
    absent = [name for name in OPTIONAL if version_of(name) is None]
    tools = {name: tool for name, tool in {**OURS, **PEERS}.items() if name not in absent}
    rows = []
    for world in WORLDS:
        rows += measured(world, tools, options.simulations)
        print(f"{world.name}, n = {world.n}", file=sys.stderr, flush=True)
    publish(report(rows, options.simulations, absent), options.out)
    if options.charts:
        write_charts(rows, options.charts)


if __name__ == "__main__":
    main()
