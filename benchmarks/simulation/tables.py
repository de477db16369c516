"""The simulations' results as Markdown, and whether the goals are met."""

from collections.abc import Callable, Sequence

from benchmarks.simulation.coverage import DEFAULT, METHODS, NOMINAL, Coverage
from benchmarks.simulation.scenarios import Scenario
from benchmarks.simulation.size import TESTS, Size

Coverages = dict[Scenario, dict[str, Coverage]]
Sizes = dict[Scenario, dict[str, Size]]

NEAR = 0.015  # of the nominal level: what counts as a right interval
SMALLEST, LARGEST = 0.04, 0.06  # what counts as the right size
MANY = 180  # units from which the goal for intervals holds
_ROUNDING = 1e-9  # 96.5 % is within 1.5 points of 95 %


def coverage_table(found: Coverages) -> str:
    """Coverage in per cent with its binomial standard error."""
    return _by_method(found, lambda c: f"{100 * c.inside:.1f} ± {100 * c.standard_error:.1f}")


def misses_table(found: Coverages) -> str:
    """Per cent of simulations in which the truth was below / above the interval; 2.5 / 2.5 is right."""
    return _by_method(found, lambda c: f"{100 * c.below:.1f} / {100 * c.above:.1f}")


def size_table(found: Sizes) -> str:
    """Per cent of rejections with the standard error; in brackets where 5 % is not to be expected."""
    rows = [
        [*_heading(scenario), *(_size(scenario, sizes, test) for test in TESTS)] for scenario, sizes in found.items()
    ]
    return table(["scenario", "n", *TESTS], rows)


def coverage_verdicts(found: Coverages) -> str:
    """Scenario by scenario: is the default right wherever any method is?"""
    rows = [_coverage_verdict(scenario, methods) for scenario, methods in found.items() if scenario.n >= MANY]
    return table(["scenario", "n", "default", "nearest to 95 %", "goal"], rows)


def size_verdicts(found: Sizes) -> str:
    """Scenario by scenario: which tests that should have a size of 5 % are outside 4–6 %?"""
    checked = {scenario: sizes for scenario, sizes in found.items() if scenario.null_holds}
    rows = [[*_heading(scenario), _size_verdict(scenario, sizes)] for scenario, sizes in checked.items()]
    return table(["scenario", "n", "goal"], rows)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns line up as plain text too."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in [header, *rows]
    ]
    return "\n".join([lines[0], "| " + " | ".join("-" * w for w in widths) + " |", *lines[1:]])


def _by_method(found: Coverages, cell: Callable[[Coverage], str]) -> str:
    rows = [[*_heading(scenario), *(cell(methods[m]) for m in METHODS)] for scenario, methods in found.items()]
    return table(["scenario", "n", *METHODS], rows)


def _heading(scenario: Scenario) -> tuple[str, str]:
    return scenario.label, str(scenario.n)


def _percent(size: Size) -> str:
    return f"{100 * size.rejected:.1f} ± {100 * size.standard_error:.1f}"


def _size(scenario: Scenario, sizes: dict[str, Size], test: str) -> str:
    if test not in sizes:
        return "–"
    return _percent(sizes[test]) if test in scenario.null_holds else f"({_percent(sizes[test])})"


def _coverage_verdict(scenario: Scenario, methods: dict[str, Coverage]) -> list[str]:
    default = methods[DEFAULT]
    name = min(methods, key=lambda m: _distance(methods[m]))
    best = methods[name]
    cells = [f"{100 * default.inside:.1f}", f"{name}: {100 * best.inside:.1f}"]
    return [*_heading(scenario), *cells, _coverage_remark(default, best)]


def _distance(found: Coverage) -> float:
    return abs(found.inside - NOMINAL)


def _coverage_remark(default: Coverage, best: Coverage) -> str:
    if _distance(default) <= NEAR + _ROUNDING:
        return "met"
    if _distance(best) > NEAR + _ROUNDING:
        return "no method is within 1.5 points"
    excess = _distance(default) - NEAR
    return f"not met by {100 * excess:.1f} points" + (", within noise" if excess < 2 * default.standard_error else "")


def _size_verdict(scenario: Scenario, sizes: dict[str, Size]) -> str:
    wrong = [f"{t} {_outside(sizes[t])}" for t in TESTS if t in scenario.null_holds and _outside(sizes[t])]
    return "not met: " + "; ".join(wrong) if wrong else "met"


def _outside(size: Size) -> str:
    """Nothing where the size is right; otherwise what it is, and whether two standard errors could explain it."""
    edge = min(max(size.rejected, SMALLEST), LARGEST)
    if edge == size.rejected:
        return ""
    noise = " (within noise)" if abs(size.rejected - edge) < 2 * size.standard_error else ""
    return f"{100 * size.rejected:.2f}{noise}"
