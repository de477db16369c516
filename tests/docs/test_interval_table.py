"""The table of docs/intervals.md, "your data → the interval you get → its coverage": numbers of the benchmarks."""

import re
from collections.abc import Callable

import pytest

from tools.stored_results import ROOT, TableRow, rows_of

Row = TableRow


def units(row: Row) -> int:
    return int(row["differences and tokens"].rpartition("n = ")[2].replace(",", ""))


def few(chosen: Callable[[Row], bool]) -> str:
    """The least and the largest coverage of ``auto`` in the cases that are chosen."""
    found = [float(row["auto"]) for row in rows_of("calibration_few", "differences and tokens") if chosen(row)]
    return f"{min(found):.1f} to {max(found):.1f} ({len(found)} cases)"


def warned(row: Row) -> bool:
    return float(row["warned"]) >= 50


def unequal(row: Row) -> bool:
    return bool(re.search("tokens|cluster", row["differences and tokens"]))


def zeros(row: Row) -> bool:
    return "zeros" in row["differences and tokens"]


def closed(row: Row) -> bool:
    return not warned(row) and not zeros(row) and units(row) >= 20 and row["auto"] == row["t-hall"]


def tango(items: str) -> str:
    row = next(row for row in rows_of("calibration_verdicts", "items") if row["items"] == items)
    return f"{100 * float(row['coverage, mean']):.1f} on average, {100 * float(row['least']):.1f} at least"


def enumerated(fewest: int, most: int) -> str:
    found = [row for row in rows_of("calibration_few", "pairs") if fewest <= int(row["pairs"]) <= most]
    means = [100 * float(row["coverage, mean"]) for row in found]
    least = min(100 * float(row["least"]) for row in found)
    return f"{min(means):.1f} to {max(means):.1f} on average, {least:.1f} at least"


def bounded(first: str, name: str) -> str:
    row = next(row for row in rows_of("calibration_summarize", first) if row[first] == name)
    mean, least, _ = (part.strip() for part in row["agresti-coull"].split(","))
    return f"{mean} on average, {least.removeprefix('least ')} at least"


def many() -> str:
    """Of 180 units and more, wherever windows that belong together are not taken for independent ones."""
    own = "default (auto)"
    chosen = [row for row in rows_of("calibration", "scenario") if int(row["n"]) >= 180 and "±" in row.get(own, "")]
    found = [float(row[own].partition(" ")[0]) for row in chosen if "ignored" not in row["scenario"]]
    return f"{min(found):.1f} to {max(found):.1f} ({len(found)} cases)"


#: Data → interval, and where its coverage is printed.
EXPECTED: dict[str, tuple[str, Callable[[], str]]] = {
    "difference of 0/1 scores, 6 to 11 pairs": ("tango", lambda: enumerated(6, 11)),
    "difference of 0/1 scores, 30 pairs": ("tango", lambda: tango("30")),
    "difference of 0/1 scores, 100 pairs": ("tango", lambda: tango("100")),
    "mean of right and wrong answers, 20 items": ("agresti-coull", lambda: bounded("items", "20")),
    "mean of right and wrong answers, 100 items": ("agresti-coull", lambda: bounded("items", "100")),
    "mean of partial credit, 30 items": ("agresti-coull", lambda: bounded("scores", "partial credit, n = 30")),
    "mean of scores from 0 to 1, 20 clusters": ("agresti-coull", lambda: bounded("scores", "20 clusters")),
    "other, 20 to 99 units of equal weight": (
        "t-hall",
        lambda: few(lambda row: closed(row) and not unequal(row) and units(row) < 100),
    ),
    "other, unequal weights or clusters, Kish's number 20 to 99": (
        "t-hall",
        lambda: few(lambda row: closed(row) and unequal(row)),
    ),
    "other, most units 0": ("t-hall", lambda: few(zeros)),
    "other, Kish's number below 20: no firm verdict": (
        "t-hall",
        lambda: few(lambda row: warned(row) and units(row) >= 20),
    ),
    "other, fewer than 20 of equal weight: if symmetric": ("t-hall", lambda: few(lambda row: units(row) < 20)),
    "other, Kish's number from 100 on": (
        "bca",
        lambda: few(lambda row: units(row) >= 100 and not zeros(row) and not unequal(row)),
    ),
    "other, 180 units and more, equal weights or not": ("bca or t-hall", many),
}


def table() -> dict[str, tuple[str, str]]:
    page = (ROOT / "docs" / "intervals.md").read_text("utf-8").partition("| your data |")[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()[2:]]
    return {data: (interval.replace("`", ""), coverage) for data, interval, coverage in cells}


def test_every_row_is_one_that_was_simulated() -> None:
    assert list(table()) == list(EXPECTED)


@pytest.mark.parametrize("data", EXPECTED)
def test_the_numbers_of_the_page_are_those_of_the_benchmark(data: str) -> None:
    interval, coverage = EXPECTED[data]
    assert table()[data] == (interval, coverage())
