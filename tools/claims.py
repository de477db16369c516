"""Write docs/claims.md: what README and docs claim, each with the command that shows it.

    python -m tools.claims            rewrite the table
    python -m tools.claims --check    only say whether it differs

`make docs-outputs` does it too. tests/docs/test_claims.py checks that each claim stands on its page word for word, that
its command exists, and that its figures are those of the stored results.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.made_pages import refresh_page
from tools.stored_results import TableRow, all_rows, cell, number, rows_of, tables_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "claims.md"
BETWEEN = re.compile(r"(?<=<!-- claims -->\n).*(?=<!-- end of claims -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a page, and what shows it."""

    text: str  # word for word
    page: str
    command: str  # a benchmark, a command that a page runs, or tests
    figures: Callable[[], tuple[str, ...]] | None = None  # of the stored results: each stands in the text


def _gate_at_limit() -> tuple[str, ...]:
    two, six = "exponential (skewness 2)", "log-normal (skewness 6)"
    places = ((two, "n = 30"), (six, "n = 30"), (six, "n = 100"), (six, "n = 400"), (six, "n = 1,000"))
    return tuple(
        f"{cell('calibration_few', {'differences': shape, 'interval': 'auto'}, column)}%" for shape, column in places
    )


def _of_twenty() -> tuple[str, ...]:
    found = number("calibration_few", {"differences and tokens": "log-normal, n = 20"}, "auto")
    return (f"{found:.0f}%",)


def _thirty_log_normal() -> tuple[str, ...]:
    return (cell("calibration_verdicts", {"differences": "log-normal(1)", "n": "30"}, "shown") + " of 100",)


def _made_apart() -> tuple[str, ...]:
    """Contradictions of BCa alone, of 1,000 samples: the last column of that name."""
    row = next(row for row in all_rows("calibration_verdicts") if row.get("differences") == "exponential, mean 0.35")
    return (f"{int(row['contradictions (2)']) / 10:.0f} of 100",)


def _exact_sizes() -> tuple[str, ...]:
    exact = [row for row in rows_of("calibration_verdicts", "items") if row["interval and test"] == EXACT]
    sizes = [100 * float(row["size, mean"]) for row in exact[:4]]
    return (f"{min(sizes):.1f} to {max(sizes):.1f} of 100",)


EXACT = "Tango, exact p, made to agree"


def _mid_p_power() -> tuple[str, ...]:
    """Exact, by summing over all outcomes: 100 items, 15 % better and 5 % worse."""
    from benchmarks.simulation.verdicts import Tables

    tables = Tables.of(100)
    chances = tables.chances(0.2, 0.1)
    powers = [float(chances[tables.limits(test)[2] <= 0.05].sum()) for test in ("mid-p", "exact")]
    return tuple(f"{100 * power:.0f}%" for power in powers)


def _leader_changes() -> tuple[str, ...]:
    return (f"{number('calibration_suites_boards', {'board': 'all equal'}, 'leader changes'):.0f}%",)


def _top_cells() -> tuple[str, ...]:
    chosen, later = (table for table in tables_of("calibration_rank") if "cells" in table[0])
    least = min(float(row["least"]) for row in chosen)
    counts = [sum(int(row["cells"]) for row in table) for table in (chosen, later)]
    return f"at least {int(least)}%", f"the {counts[0]} cells", f"the {counts[1]} cells"


def _span(name: str, first: str, column: str, chosen: Callable[[TableRow], bool]) -> tuple[int, int]:
    """The least and the largest in a column, rounded."""
    found = [float(row[column].partition(" ±")[0]) for row in rows_of(name, first) if column in row and chosen(row)]
    return round(min(found)), round(max(found))


def _long_documents() -> tuple[str, ...]:
    tied = ("difference ~ tokens",)
    low, high = _span("calibration_assumptions", "differences", "coverage", lambda row: row["differences"] in tied)
    free = _span("calibration_assumptions", "differences", "said", lambda row: row["differences"].startswith("no tie"))
    return f"{low} to {high} of 100", f"{free[0]} to {free[1]} of 100"


def _missing_answers() -> tuple[str, ...]:
    spans = [_span("calibration_few", "accuracy", column, lambda _: True) for column in ("t", "agresti-coull")]
    return f"covered {spans[0][0]} to {spans[0][1]} %", f"covers {spans[1][0]} to {spans[1][1]}"


def _noise_of_items() -> tuple[str, ...]:
    spans = [_span("calibration_few", "chances", column, lambda _: True) for column in ("agresti-coull", "t-hall")]
    return f"covers {spans[0][0]} to {spans[0][1]}%", f"covers {spans[1][0]} to {spans[1][1]}"


def _unequal_runs() -> tuple[str, ...]:
    sizes = tables_of("calibration_temperature")[0]
    return (f"up to {max(float(row['sign-flip (ours)'].partition(' ±')[0]) for row in sizes):.0f}%",)


CLAIMS: tuple[Claim, ...] = (
    # what it does: the commands of pages that CI runs, and tests with an oracle from outside
    Claim(
        "with an interval, a test, and a verdict in one sentence that you can paste into a pull request",
        "../README.md",
        "assay compare losses-base.csv losses-int3.csv --cluster document",
    ),
    Claim(
        "In CI it becomes a gate, with a certificate that anyone can recompute.",
        "../README.md",
        "assay certify losses-base.csv losses-int3.csv --cluster document -o int3.json",
    ),
    Claim(
        "it looks several times, and stops when the answer is clear",
        "../README.md",
        "pytest tests/stats/sequential/test_boundaries.py",
    ),
    Claim("Valid however often one looks", "../README.md", "python benchmarks/calibration_sequential.py"),
    Claim(
        "Tiers, rank intervals, and the top score without its winner's curse",
        "../README.md",
        "python benchmarks/calibration_rank.py",
    ),
    Claim(
        "what is written is the same to the last byte.",
        "engines.md",
        "assay score models/base models/ja.txt --context 64 --windows 60x60 -o run-2 --workers 2",
    ),
    Claim(
        "p ≤ 0.05 exactly where the 95% interval leaves out 0, and the same at any other level.",
        "which-test.md",
        "python benchmarks/calibration_verdicts.py",
    ),
    # figures
    Claim(
        "with a skewness of 2, 3.5% instead of 2.5% pass at the limit with 30 windows, and from 100 on what should; "
        "with a skewness of 6, 5.7% with 30, 5.3% with 100, 3.1% with 400, and 2.8% from 1,000 on.",
        "calibration.md",
        "python benchmarks/calibration_few.py",
        _gate_at_limit,
    ),
    Claim("of twenty, 93% are covered.", "calibration.md", "python benchmarks/calibration_few.py", _of_twenty),
    Claim(
        "Where their mean is 0, a difference is shown in 7.6 of 100 samples instead of 5.",
        "calibration.md",
        "python benchmarks/calibration_verdicts.py",
        _thirty_log_normal,
    ),
    Claim(
        "at 5% it rejects in 0.5 to 3.4 of 100 cases where there is no difference",
        "tests.md",
        "python benchmarks/calibration_verdicts.py",
        _exact_sizes,
    ),
    Claim(
        "with 100 items, 20% of which differ and B ahead by 10 points, 62% of the time against 54%.",
        "tests.md",
        "python benchmarks/calibration_verdicts.py",
        _mid_p_power,
    ),
    Claim(
        "BCa and sign flips do in 9 of 100 samples of 30 exponential differences whose mean is 0.35",
        "tests.md",
        "python benchmarks/calibration_verdicts.py",
        _made_apart,
    ),
    Claim(
        "among equal models the leader changes in 77% of boards of twelve tasks when some task is left out",
        "suites.md",
        "python benchmarks/calibration_suites.py --part boards",
        _leader_changes,
    ),
    Claim(
        "The corrected interval of a top score holds in at least 95% of the boards in each of the 207 cells of the "
        "first table. Of the 98 cells that were drawn up afterwards two are below 93%",
        "rank.md",
        "python benchmarks/calibration_rank.py",
        _top_cells,
    ),
    Claim(
        "where the default interval holds the truth in 88 to 91 of 100, and in 0 to 2 of 100 where nothing is tied to "
        "length",
        "intervals.md",
        "python benchmarks/calibration_assumptions.py",
        _long_documents,
    ),
    Claim(
        "covered 66 to 95 % where this covers 95 to 99",
        "rank.md",
        "python benchmarks/calibration_few.py",
        _missing_answers,
    ),
    Claim(
        "it covers 95 to 98% where t-hall covers 95 to 100",
        "reliability.md",
        "python benchmarks/calibration_few.py",
        _noise_of_items,
    ),
    Claim(
        "With unequal numbers of runs and very unequal questions ours rejects up to 8% instead of 5%",
        "survey.md",
        "python benchmarks/calibration_temperature.py",
        _unequal_runs,
    ),
)


def written(claim: Claim) -> str:
    text = f"{'… ' if claim.text[0].islower() else ''}{claim.text}"
    name = claim.page.removeprefix("../")
    where = name if claim.page.startswith("../") else f"[{name.removesuffix('.md')}]({claim.page})"
    checked = "yes" if claim.figures else "–"
    return f"| {text} | {where} | `{claim.command}` | {checked} |"


def rewritten(text: str) -> str:
    head = "| claim | where | shown by | figures checked |\n| --- | --- | --- | --- |"
    body = "\n".join([head, *map(written, CLAIMS)])
    return BETWEEN.sub(lambda _: f"\n{body}\n\n", text)


def refresh(*, check: bool) -> int:
    """Rewrite the page, or only say that it differs; 1 if something is left to do."""
    return refresh_page(PAGE, rewritten, check=check)


if __name__ == "__main__":
    sys.exit(refresh(check="--check" in sys.argv[1:]))
