"""The record that `calibrate` returns: how often intervals held the truth in simulated data, and false verdicts."""

from typing import Literal

import msgspec

from assay.analyses.calibrate.pictures import axis_of, gauge_of, rated
from assay.results import words
from assay.results.figures import Figure, Forest, Gauge, Line, Mark, SecondMark
from assay.results.parts import Caution, Column, Fact, ResultTable, Section, cautions_of
from assay.results.record import Result, Status
from assay.stats.records import Estimate

CalibratedVerb = Literal["compare", "summarize", "rank", "certify", "survey"]
#: How a world without a difference was made.
Null = Literal["shifted", "swapped", "recentred", "permuted"]
Bound = Literal["at least", "at most"]

WHAT_IT_SHOWS = (
    "simulated on data like these: what the sample does not show, such as a tail that it missed, the simulation does "
    "not know either"
)
_NULLS: dict[Null, str] = {
    "shifted": "pairs that differ are shifted until the difference is 0",
    "swapped": "the two systems are swapped at random, unit by unit or cluster by cluster",
    "recentred": "every model is shifted to the same mean",
    "permuted": "the answers to a unit (of a cluster) are dealt to the models at random",
}


class MethodCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """One method of intervals on the simulated data."""

    method: str  # as it is asked for
    used: tuple[str, ...]  # what that was, where it is decided by the data
    covered: Estimate  # the share of simulations whose interval held the truth; its interval is of the simulation
    below: float  # the share in which the truth lay below the interval
    above: float
    width: float  # the mean
    relative_width: float | None  # over that of the first method
    false_verdicts: Estimate | None  # a difference shown where there is none; None: the verb has no verdict
    too_few: float  # the share in which the units were too few to rely on
    p_better: float | None  # that it covers more than the first, by McNemar's exact test; Holm over the methods

    @property
    def name(self) -> str:
        return self.method if self.used == (self.method,) else f"{self.method} ({' or '.join(self.used)})"


class SimulatedRate(msgspec.Struct, frozen=True):
    """How often something happened that should, or should not."""

    key: str
    what: str
    found: Estimate
    bound: Bound | None = None
    nominal: float | None = None
    told: bool = True  # in the sentence; otherwise only where it is broken

    @property
    def broken(self) -> bool:
        """Whether it is beyond its nominal rate by more than the simulation's own error."""
        limits = self.found.interval
        if limits is None or self.nominal is None:
            return False
        return limits.high < self.nominal if self.bound == "at least" else limits.low > self.nominal


class SimulatedWorld(msgspec.Struct, frozen=True, kw_only=True):
    """Where data were simulated from, and what happened."""

    name: str  # "your data", or that of a built-in scenario
    about: str
    unit: str
    n: int
    n_clusters: int | None
    effective: float | None  # as how many units, or clusters, of equal weight they count
    equal: float | None  # the share of units on which the two systems do not differ
    truth: float | None
    null: Null | None
    methods: tuple[MethodCoverage, ...] = ()
    rates: tuple[SimulatedRate, ...] = ()


class Calibration(Result, frozen=True, kw_only=True, tag="assay/calibration/1"):
    """Are the intervals and verdicts of a verb honest on data like these?"""

    question = "Are Assay's own intervals and verdicts honest on data like these?"
    kind_name = "calibration"

    verb: CalibratedVerb
    systems: tuple[str, ...]
    level: float
    simulations: int
    seed: int
    worlds: tuple[SimulatedWorld, ...]
    recommended: str | None  # a method to ask for instead; None: keep what was asked for
    command: str | None  # to type next, where results were named on the command line
    sentence: str
    notes: tuple[str, ...]
    signature: str

    def with_sentence(self, text: str) -> "Calibration":
        return msgspec.structs.replace(self, sentence=text)

    def with_command(self, text: str) -> "Calibration":
        return msgspec.structs.replace(self, command=text)

    @property
    def broken(self) -> bool:
        """Whether anything is worse than promised by more than the simulation's own error."""
        first = [world.methods[0] for world in self.worlds if world.methods]
        short = any(is_short(row, self.level) or claims_too_often(row, self.level) for row in first)
        return short or any(rate.broken for world in self.worlds for rate in world.rates)

    @property
    def subject(self) -> str:
        return f"{self.verb}: {self.worlds[0].about if len(self.worlds) == 1 else f'{len(self.worlds)} scenarios'}"

    @property
    def status(self) -> Status:
        return "bad" if self.broken else "good"

    @property
    def compared(self) -> tuple[Fact, ...]:
        return (Fact("simulated", self.simulations, None, f"{self.simulations:,} times {self.verb}"),)

    @property
    def gauge(self) -> Gauge | None:
        return gauge_of(self)

    @property
    def gauge_apart(self) -> bool:
        return False  # the chart that stands first has it

    @property
    def facts(self) -> tuple[Fact, ...]:
        one = self.worlds[0] if len(self.worlds) == 1 else None
        command = [] if self.command is None else [Fact("command", self.command)]
        simulated = [Fact("simulations", self.simulations, None, f"{self.simulations:,}"), Fact("verb", self.verb)]
        if one is None:
            return (*command, *simulated)
        return (*_coverage_facts(one, self.level), *command, *_world_facts(one), *simulated)

    @property
    def to_do(self) -> tuple[str, ...]:
        return () if self.command is None else (self.command,)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        return cautions_of((*self.notes, WHAT_IT_SHOWS))

    @property
    def sections(self) -> tuple[Section, ...]:
        if len(self.worlds) == 1:
            return (_section(self.worlds[0], self, "methods" if self.worlds[0].methods else "rates"),)
        return (self._overview(), *(_section(world, self, world.name) for world in self.worlds))

    @property
    def main_sections(self) -> tuple[Section, ...]:
        return self.sections[:1]

    def _overview(self) -> Section:
        """All scenarios: the first method, or the first rate, of each."""
        first = [world.methods[0].covered if world.methods else world.rates[0].found for world in self.worlds]
        columns = [Column("scenario", [world.name for world in self.worlds]), Column("units", _sizes(self.worlds))]
        columns += _columns_of_methods(self.worlds) if self.worlds[0].methods else _columns_of_rates(self.worlds)
        columns.append(Column("what it is", [world.about for world in self.worlds], key="about", may_shorten=True))
        table = ResultTable("scenarios", "scenarios", tuple(columns), explained="calibration")
        lines = tuple(_line(world.name, found) for world, found in zip(self.worlds, first, strict=True))
        return Section("scenarios", "Built-in scenarios", figures=(self._forest("scenarios", lines),), tables=(table,))

    def _forest(self, name: str, lines: tuple[Line, ...]) -> Forest:
        nominal = self.level if self.worlds[0].methods else self.worlds[0].rates[0].nominal
        marks = () if nominal is None else (Mark(nominal, words.percent(nominal)),)
        what = "coverage" if self.worlds[0].methods else self.worlds[0].rates[0].what
        about, axis = (_error_of(self),), axis_of(lines, nominal)
        return Forest(name, what[:1].upper() + what[1:], about, what, lines, marks, axis)


def is_short(row: MethodCoverage, level: float) -> bool:
    """Whether an interval covers less than it should by more than the simulation's own error."""
    limits = row.covered.interval
    return limits is not None and limits.high < level


def claims_too_often(row: MethodCoverage, level: float) -> bool:
    """Whether differences that are not there are claimed more often than they may, beyond the simulation's error."""
    limits = None if row.false_verdicts is None else row.false_verdicts.interval
    return limits is not None and limits.low > 1 - level


def _error_of(found: Calibration) -> str:
    return f"Bars: 95% CI of the simulation itself ({found.simulations:,} simulations). Line: what was promised."


def _line(label: str, found: Estimate, others: tuple[SecondMark, ...] = ()) -> Line:
    limits = found.interval
    low, high = (None, None) if limits is None else (limits.low, limits.high)
    return Line(label, found.value, low, high, others=others)


def _sizes(worlds: tuple[SimulatedWorld, ...]) -> list[int]:
    return [world.n if world.n_clusters is None else world.n_clusters for world in worlds]


def _columns_of_methods(worlds: tuple[SimulatedWorld, ...]) -> list[Column]:
    names = list(dict.fromkeys(row.method for world in worlds for row in world.methods))
    by_name = [{row.method: row for row in world.methods} for world in worlds]
    found = [
        Column(name, [rows[name].covered if name in rows else None for rows in by_name], rated, right=True)
        for name in names
    ]
    false = [world.methods[0].false_verdicts for world in worlds]
    return [*found, Column("false verdicts", false, rated, key="false_verdicts", right=True)]


def _columns_of_rates(worlds: tuple[SimulatedWorld, ...]) -> list[Column]:
    keys = {rate.key: rate.what for world in worlds for rate in world.rates}
    by_key = [{rate.key: rate.found for rate in world.rates} for world in worlds]
    return [
        Column(what, [rates.get(key) for rates in by_key], rated, key=key, right=True) for key, what in keys.items()
    ]


def _section(world: SimulatedWorld, found: Calibration, key: str) -> Section:
    figure: Figure
    if world.methods:
        lines = tuple(_line(row.name, row.covered) for row in world.methods)
        mark = Mark(found.level, words.percent(found.level))
        title = f"How often a {words.percent(found.level)} CI holds the truth"
        about, axis = (_error_of(found),), axis_of(lines, found.level)
        figure = Forest(f"{key}-coverage", title, about, "coverage", lines, (mark,), axis)
        return Section(key, _title(world), figures=(figure,), tables=(_methods_table(world, key),), page="calibrate.md")
    lines = tuple(
        _line(rate.what, rate.found, () if rate.nominal is None else (SecondMark(rate.nominal, shape="tick"),))
        for rate in world.rates
    )
    about, title = (_error_of(found).replace("Line", "Tick"),), f"How often {found.verb} is right and wrong"
    figure = Forest(f"{key}-rates", title, about, "share", lines, domain=(0.0, 1.0))
    return Section(key, _title(world), figures=(figure,), tables=(_rates_table(world, key),), page="calibrate.md")


def _title(world: SimulatedWorld) -> str:
    return f"Simulated on {world.about}"


def _methods_table(world: SimulatedWorld, key: str) -> ResultTable:
    rows = world.methods
    columns = [
        Column("method", [row.name for row in rows]),
        Column("covers", [row.covered for row in rows], rated, right=True),
        Column("truth below", [row.below for row in rows], _tenths, key="below", right=True),
        Column("above", [row.above for row in rows], _tenths, key="above", right=True),
        Column("width", [row.relative_width for row in rows], _times, key="relative_width", right=True),
    ]
    if rows[0].false_verdicts is not None:
        false = [row.false_verdicts for row in rows]
        columns.append(Column("false verdicts", false, rated, key="false_verdicts", right=True))
        few = [row.too_few for row in rows]
        columns.append(Column("too few", few, _tenths, key="too_few", right=True, hidden=not any(few)))
    columns.append(Column("p better", [row.p_better for row in rows], words.p_alone, key="p_better", right=True))
    return ResultTable(key, "methods", tuple(columns), explained="calibration")


def _tenths(value: float) -> str:
    return f"{100 * value:.1f}%"


def _times(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}×"


def _rates_table(world: SimulatedWorld, key: str) -> ResultTable:
    rates = world.rates
    promised = [None if rate.nominal is None else f"{rate.bound} {words.percent(rate.nominal)}" for rate in rates]
    columns = (
        Column("what", [rate.what for rate in rates]),
        Column("found", [rate.found for rate in rates], rated, right=True),
        Column("promised", [text or "–" for text in promised]),
        Column("nominal", [rate.nominal for rate in rates], hidden=True),
    )
    return ResultTable(key, "rates", columns, explained="calibration")


def _coverage_facts(world: SimulatedWorld, level: float) -> list[Fact]:
    if not world.methods:
        return []
    covered, false = world.methods[0].covered, world.methods[0].false_verdicts
    found = [Fact(f"{words.percent(level)} CI covers", covered, "calibration", rated(covered))]
    return found if false is None else [*found, Fact("false verdicts", false, "calibration", rated(false))]


def _world_facts(world: SimulatedWorld) -> list[Fact]:
    found = [Fact("drawn from", world.about)]
    if world.n_clusters is not None:
        found.append(Fact("clusters", world.n_clusters))
    if world.effective is not None:
        found.append(Fact("of equal weight", world.effective, None, f"{world.effective:.4g}"))
    if world.equal is not None:
        found.append(Fact("without a difference", world.equal, None, words.share(world.equal)))
    if world.truth is not None:
        found.append(Fact("true difference" if world.null else "true value", world.truth))
    if world.null is not None:
        found.append(Fact("no difference", _NULLS[world.null]))
    return found
