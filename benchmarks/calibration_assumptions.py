"""What intervals take for granted: how often it is false, what that costs in coverage, and how often it is said.

    python benchmarks/calibration_assumptions.py                       everything; about 3 minutes on one core
    python benchmarks/calibration_assumptions.py --simulations 100     a quick look
    python benchmarks/calibration_assumptions.py --runs 'wiki, 4 bits' RUN_A RUN_B --out FILE

``--runs LABEL A B`` adds two runs of `assay score` on the same text, and may be repeated: documents are drawn from it,
each with some windows in a row, as if it were all the text there is. The runs that the results were printed from are
those of two small story models, as they are and rounded to 4 bits, with ``--context 32`` (stories) and 64 (the others).
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

from assay import examples
from assay.analyses.assumptions import DOCUMENT
from assay.analyses.contrast import differences_of
from assay.data import pair
from assay.data.sources import Source, tables_of
from assay.stats.assumptions import alike_units, long_units
from assay.stats.bootstrap import interval
from assay.stats.units import Floats, Integers, Units, effective_number, grouped
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.few import Case, alike, exponential, long_documents, normal
from benchmarks.simulation.tables import table

LENGTH = """\
Documents of log-normal length, in per cent of {n} simulations: coverage of the default 95 % interval of the
token-weighted mean, and how often a note says that the mean rests on the longest (|t| > 3). *Kish*: as how many
documents of equal length they count; *ten*: what the ten longest have of all tokens; both are medians."""
CHAINS = """\
Windows of equal length whose differences are correlated with the one before in the same document, in per cent of {n}
simulations: coverage of the default interval without and with `--cluster document`, and how often a note says that
windows of a document are alike (z > 2 for neighbours, or for all pairs of a document)."""
TEXTS = """\
Real losses of a model and of an edit of it. Documents are drawn with replacement from a text, each with some windows in
a row from a place drawn at random; the truth is the mean of all that could be drawn. In per cent of {n} simulations:
coverage of the default interval with windows and with documents drawn, how often a note says that windows of a
document are alike, *neighbours* alone or all pairs of a document, and how often the truth is outside the interval and
the note does not say so. *lag 1* and *design effect*: means. The note has the interval by document in any case."""


def _grows(t: Floats) -> Floats:
    return t


def _averaged(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Differences are means over tokens: the longer a document, the smaller its noise."""
    tokens = rng.lognormal(0.0, 1.0, n)
    return rng.normal(0.0, 1.0, n) / np.sqrt(tokens), tokens


TIED = (
    Case("no tie", 60, long_documents(1.0, lambda t: 0 * t, normal)),
    Case("no tie", 180, long_documents(1.0, lambda t: 0 * t, normal)),
    Case("no tie, exponential", 60, long_documents(1.0, lambda t: 0 * t, exponential)),
    Case("no tie, exponential", 180, long_documents(1.0, lambda t: 0 * t, exponential)),
    Case("no tie, noise falls with length", 180, _averaged),
    Case("no tie, lengths log-normal(0.5)", 100, long_documents(0.5, lambda t: 0 * t, normal)),
    Case("difference ~ log tokens", 60, long_documents(1.0, np.log, normal)),
    Case("difference ~ log tokens", 180, long_documents(1.0, np.log, normal)),
    Case("difference ~ tokens", 60, long_documents(1.0, _grows, normal)),
    Case("difference ~ tokens", 100, long_documents(1.0, _grows, normal)),
    Case("difference ~ tokens", 180, long_documents(1.0, _grows, normal)),
    Case("difference ~ tokens, lengths log-normal(0.5)", 180, long_documents(0.5, _grows, normal)),
    Case("difference ~ tokens, lengths log-normal(0.25)", 180, long_documents(0.25, _grows, normal)),
    Case("all documents as long", 100, alike(normal)),
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("Assumptions of intervals, by simulation.")
    parser.add_argument("--simulations", type=int, default=1_000, metavar="N", help="per line (1,000)")
    parser.add_argument("--runs", nargs=3, action="append", default=[], metavar=("LABEL", "A", "B"))
    options = parser.parse_args(arguments)
    publish(_report(options.simulations, options.runs), options.out)


def _report(n: int, runs: Sequence[Sequence[str]]) -> str:
    return "\n\n".join(
        [
            "## Long documents",
            LENGTH.format(n=f"{n:,}"),
            _lengths(n),
            "## Neighbouring windows",
            CHAINS.format(n=f"{n:,}"),
            _chains(n),
            "## Windows of real documents",
            TEXTS.format(n=f"{n:,}"),
            _texts(n, runs),
        ]
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


# ------------------------------------------------------------------------------------------------------ long documents


def _lengths(n: int) -> str:
    rows = [[one.name, str(one.n), *_length_row(one, n)] for one in TIED]
    return table(["differences", "documents", "Kish", "ten", "coverage", "said"], rows)


def _length_row(case: Case, n: int) -> list[str]:
    covered, said, kish, ten = 0, 0, [], []
    for simulation in range(n):
        units = case.units(simulation)
        limits, found = interval(units, method="auto").interval, long_units(units)
        covered += limits.low <= case.truth <= limits.high
        said += found is not None and found.decide
        kish.append(effective_number(units.denominators))
        ten.append(10 / case.n if found is None else found.share)
    print(f"{case.name}, {case.n}: done", file=sys.stderr, flush=True)
    return [f"{np.median(kish):.0f}", f"{100 * np.median(ten):.0f} %", _percent(covered / n), _percent(said / n)]


# ------------------------------------------------------------------------------------------------------ documents drawn


@dataclass
class Tally:
    """Of the samples of one design."""

    windows: int = 0  # intervals that hold the truth
    documents: int = 0
    neighbours: int = 0  # samples of which a note says it, by neighbours
    within: int = 0  # by all pairs
    alike: int = 0  # by either
    unsaid: int = 0  # the truth is outside, and the note does not say that windows are alike
    lag_one: float = 0.0
    effect: float = 0.0

    def add(self, units: Units, documents: Integers, order: Floats | None, truth: float) -> None:
        found = alike_units(units, documents, order)
        assert found is not None
        whole = Units(grouped(units.numerators, documents), grouped(units.denominators, documents))
        inside = [one.low <= truth <= one.high for one in (interval(u, method="auto").interval for u in (units, whole))]
        self.windows += inside[0]
        self.documents += inside[1]
        self.neighbours += (found.lag_one_z or 0.0) > 2
        self.within += (found.within_z or 0.0) > 2
        self.alike += found.alike
        self.unsaid += not inside[0] and not found.alike
        self.lag_one += found.lag_one or 0.0
        self.effect += found.design_effect or 0.0


def _chains(n: int) -> str:
    designs = [(g, m, rho) for g, m in ((60, 3), (40, 5), (20, 9), (12, 30)) for rho in (0.0, 0.1, 0.2, 0.4)]
    rows = []
    for groups, per, rho in designs:
        tally = Tally()
        for simulation in range(n):
            values, codes = chained(np.random.default_rng([groups, per, simulation]), groups, per, rho)
            tally.add(Units(values, np.ones(len(values))), codes, np.arange(float(len(values))), 0.0)
        shown = (tally.windows, tally.documents, tally.alike)
        rows.append([f"{groups} documents of {per} windows", f"{rho:g}", *(_percent(one / n) for one in shown)])
    print("neighbouring windows: done", file=sys.stderr, flush=True)
    return table(["windows", "correlation", "coverage", "by document", "said"], rows)


def chained(rng: np.random.Generator, documents: int, per: int, rho: float) -> tuple[Floats, Integers]:
    """Differences of windows of which neighbours in a document have the correlation ``rho``; and their documents."""
    noise = rng.normal(0.0, 1.0, (documents, per))
    for place in range(1, per):
        noise[:, place] = rho * noise[:, place - 1] + sqrt(1 - rho * rho) * noise[:, place]
    return noise.ravel(), np.repeat(np.arange(documents), per)


# ------------------------------------------------------------------------------------------------------ real documents


@dataclass(frozen=True)
class Text:
    """The differences of all windows of a text, document by document, in their order."""

    differences: Floats  # times tokens
    tokens: Floats
    starts: Integers  # where a document begins
    lengths: Integers  # in windows
    ordered: bool  # whether windows that follow each other are known

    @classmethod
    def of(cls, a: Source, b: Source) -> "Text":
        panel = pair(*tables_of(a, b, (None, None), None, None, None))
        units, codes = differences_of(panel).drawn, panel.labels[DOCUMENT].codes
        order = panel.numbers.get("start")
        at = np.lexsort((np.arange(panel.n) if order is None else order, codes))
        starts = np.flatnonzero(np.diff(codes[at], prepend=-1))
        lengths = np.diff(np.append(starts, panel.n))
        return cls(units.numerators[at], units.denominators[at], starts, lengths, order is not None)

    def truth(self, most: int) -> float:
        """The mean over everything that can be drawn: each document as likely, and each place in it."""
        top, below = (np.append(0.0, np.cumsum(part)) for part in (self.differences, self.tokens))
        sums = np.zeros(2)
        for start, length in zip(self.starts, self.lengths, strict=True):
            many = min(most, length)
            at = np.arange(start, start + length - many + 1)
            sums += [float((part[at + many] - part[at]).mean()) for part in (top, below)]
        return float(sums[0] / sums[1])

    def sample(self, rng: np.random.Generator, documents: int, most: int) -> tuple[Units, Integers, Floats | None]:
        drawn = rng.integers(0, len(self.starts), documents)
        many = np.minimum(most, self.lengths[drawn])
        first = self.starts[drawn] + rng.integers(0, self.lengths[drawn] - many + 1)
        at = np.concatenate([np.arange(start, start + count) for start, count in zip(first, many, strict=True)])
        codes = np.repeat(np.arange(documents), many)
        return Units(self.differences[at], self.tokens[at]), codes, at.astype(float) if self.ordered else None


def _texts(n: int, runs: Sequence[Sequence[str]]) -> str:
    shipped = [
        [f"example files, {edit}", *(str(examples.path(f"losses-{name}.csv")) for name in ("base", edit))]
        for edit in ("int3", "trigram")
    ]
    rows: list[list[str]] = []
    for label, a, b in [*shipped, *runs]:
        text = Text.of(a, b)
        for documents, most in ((60, 3), (20, 9), (12, 15), (60, 15), (40, 40)):
            if text.lengths.mean() > most / 3:
                rows.append([label, f"{documents} × {most}", *_text_row(text, documents, most, n)])
        print(f"{label}: done", file=sys.stderr, flush=True)
    head = ["text", "documents × windows", "coverage", "by document", "said", "by neighbours", "by all pairs"]
    return table([*head, "outside and unsaid", "lag 1", "design effect"], rows)


def _text_row(text: Text, documents: int, most: int, n: int) -> list[str]:
    tally, truth = Tally(), text.truth(most)
    for simulation in range(n):
        tally.add(*text.sample(np.random.default_rng([documents, most, simulation]), documents, most), truth)
    shown = (tally.windows, tally.documents, tally.alike, tally.neighbours, tally.within, tally.unsaid)
    cells = [_percent(one / n) for one in shown]
    if not text.ordered:
        cells[3] = "–"
    lag = f"{tally.lag_one / n:+.2f}" if text.ordered else "–"
    return [*cells, lag, f"{tally.effect / n:.2f}"]


if __name__ == "__main__":
    main()
