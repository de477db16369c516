"""The record that `watch` returns: the interval so far, and whether to go on."""

from math import exp
from typing import Literal

import msgspec

from assay.analyses.fixed_set import set_fact
from assay.data.metrics import Kind
from assay.results import words
from assay.results.figures import Gauge, Mark
from assay.results.parts import Caution, Fact
from assay.results.record import Result, Status
from assay.stats.records import Estimate

StopAdvice = Literal["stop", "continue"]
WatchedVerdict = Literal["better", "worse", "equivalent", "complete", "open"]
_STATUS: dict[WatchedVerdict, Status] = {
    "better": "good",
    "worse": "bad",
    "equivalent": "good",
    "complete": "plain",
    "open": "unsure",
}


class Watch(Result, frozen=True, kw_only=True, tag="assay/watch/1"):
    """May a comparison stop?"""

    question = "A harness still runs: may I stop?"
    kind_name = "watch"

    systems: tuple[str, str]
    kind: Kind
    unit: str
    n: int
    n_clusters: int | None
    effective: float  # as how many units, or clusters, of equal weight they count
    differing: int
    lower_is_better: bool
    level: float
    population: int | None
    margin: float | None
    difference: Estimate  # B − A; its interval holds at all times at once
    advice: StopAdvice
    verdict: WatchedVerdict
    more: int | None  # units until an answer is expected; None where there is one, or none is to be expected
    sentence: str
    signature: str

    def with_sentence(self, text: str) -> "Watch":
        return msgspec.structs.replace(self, sentence=text)

    @property
    def subject(self) -> str:
        return f"{self.systems[0]} and {self.systems[1]}"

    @property
    def status(self) -> Status:
        return _STATUS[self.verdict]

    @property
    def compared(self) -> tuple[Fact, ...]:
        of = "" if self.population is None else f" of {self.population:,}"
        return Fact("A", self.systems[0]), Fact("B", self.systems[1]), Fact("so far", f"{self.n:,}{of} {self.unit}s")

    @property
    def facts(self) -> tuple[Fact, ...]:
        shown = words.with_interval(self.difference, sign=True, null=0.0)
        found = [
            Fact("advice", self.advice),
            Fact("difference B − A", self.difference, "watch", shown),
            Fact("so far", self.n, None, words.count(self.n, self.unit)),
            *([] if self.n_clusters is None else [Fact("clusters", self.n_clusters)]),
        ]
        if self.kind == "losses" and self.difference.value is not None:
            found.append(Fact("perplexity ratio", exp(self.difference.value), None))
        if self.more is not None:
            found.append(Fact("more, about", self.more, None, words.count(self.more, self.unit)))
        if self.population is not None:
            found.append(set_fact(self.population, self.unit))
        return tuple(found)

    @property
    def gauge(self) -> Gauge | None:
        limits = self.difference.interval
        if limits is None or self.difference.value is None:
            return None
        marks = [Mark(0.0, "no difference")]
        if self.margin is not None:
            marks += [Mark(-self.margin, "−margin"), Mark(self.margin, "margin")]
        return Gauge(
            "difference, B − A",
            self.difference.value,
            limits.low,
            limits.high,
            tuple(marks),
            "lower" if self.lower_is_better else "higher",
            words.estimate(self.difference.value, limits, sign=True, null=0.0),
        )

    @property
    def cautions(self) -> tuple[Caution, ...]:
        return (Caution("note", "valid at any time, for items that come in random order; not for the easy ones first"),)
