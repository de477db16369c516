"""The record that `compare` returns."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from assay.analyses.picture import Picture
from assay.analyses.result import Result, Row
from assay.data import Dropped, Kind
from assay.design import Design
from assay.errors import InputError
from assay.results import words
from assay.stats.records import Estimate, Fallback, Test
from assay.stats.rounding import TOLERANCE

SCHEMA = "assay/comparison/1"

Verdict = Literal["better", "worse", "no difference shown", "equivalent"]


@dataclass(frozen=True, slots=True)
class Shown:
    """A quantity of both systems and the difference B − A."""

    a: float | None  # None: nothing to measure
    b: float | None
    difference: Estimate

    @property
    def both(self) -> tuple[float, float]:
        """The two values of a comparison that has pairs."""
        assert self.a is not None
        assert self.b is not None
        return self.a, self.b

    def to_dict(self) -> dict[str, Any]:
        return {"a": self.a, "b": self.b, "difference": self.difference.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Shown":
        return cls(data["a"], data["b"], Estimate.from_dict(data["difference"]))


@dataclass(frozen=True, slots=True)
class Computed:
    """How the numbers came about: what ran, as opposed to what the design asked for."""

    scheme: str  # "windows" or "tokens"
    scheme_reason: str
    distribution: str  # "characteristic function", "lattice", "enumeration", "resampling", "closed form"
    resamples: int | None  # random replicates used; None: none, the distribution is exact
    test_p: float | None = None  # of the test alone; the result's p is the larger of the two
    interval_p: float | None = None  # the smallest α at which the interval alone leaves out 0
    design_effect: float | None = None  # of 0/1 scores with clusters or weights
    degrees_of_freedom: float | None = None  # likewise
    rounded: int = 0  # units whose difference is rounding and counts as 0
    rounding: float = TOLERANCE  # of the values that were subtracted


@dataclass(frozen=True, slots=True)
class Comparison(Result):
    """Everything that was found out about B against A."""

    kind: Kind
    unit: str  # "window", "item"
    systems: tuple[str, str]
    lower_is_better: bool
    verdict: Verdict
    sentence: str
    value: Shown  # mean loss or mean score
    ratio: Estimate | None  # losses: perplexity of B over A
    sizes: dict[str, Shown]  # bits_per_byte, bits_per_character, where the columns exist
    test: Test
    effect_sizes: dict[str, Estimate]
    n_pairs: int
    n_clusters: int | None
    cluster_by: str | None
    degenerate: bool
    dropped: Dropped
    fallbacks: tuple[Fallback, ...]
    notes: tuple[str, ...]
    design: Design
    computed: Computed
    signature: str
    measure: str = "score"  # what a score is, for people: "bits per byte"
    picture: Picture | None = None  # what charts show, where it was asked for

    @property
    def difference(self) -> Estimate:
        """B − A: nats per token, or points of score."""
        return self.value.difference

    @property
    def p_value(self) -> float | None:
        return self.test.p_value

    def evidence(self) -> list[Row]:
        return [*self._main_rows(), *self._evidence_rows(), *self._caution_rows(), ("signature", self.signature)]

    def _main_rows(self) -> list[Row]:
        name = "loss (nats per token)" if self.kind == "losses" else self.measure
        a, b = _both(self.value)
        rows = [(f"{name}, A", a), (f"{name}, B", b)]
        rows.append(("difference B − A", _with_interval(self.difference, sign=True)))
        if self.ratio is not None:
            rows.append(("perplexity B / A", _with_interval(self.ratio, null=1.0)))
        for label, shown in self.sizes.items():
            values = " → ".join(_both(shown))
            rows.append((label.replace("_", " "), f"{values}, " + _with_interval(shown.difference, sign=True)))
        return rows

    def _evidence_rows(self) -> list[Row]:
        rows = [(f"test ({self.test.name})", self._p_text())]
        for name, estimate in self.effect_sizes.items():
            rows.append((f"effect size {name}", _with_interval(estimate, sign=True)))
        pairs = words.count(self.n_pairs, self.unit)
        clusters = (
            "" if self.n_clusters is None else f" in {words.count(self.n_clusters, 'cluster')} ({self.cluster_by})"
        )
        rows.append(("pairs", pairs + clusters))
        rows.append(("interval", self._how()))
        if self.kind == "losses":
            rows.append(("scheme", f"{self.computed.scheme}: {self.computed.scheme_reason}"))
        return rows

    def _p_text(self) -> str:
        """The p-value of the verdict; where the interval raised it, the test's own beside it."""
        if self.test.p_value is None:
            return f"undefined: {self.test.reason}"
        alone, shown = self.computed.test_p, words.p_value(self.test.p_value)
        raised = alone is not None and words.p_value(alone) != shown
        return f"{shown}, the interval's; {words.p_value(alone)} by the test alone" if raised and alone else shown

    def _how(self) -> str:
        level, limits, computed = words.percent(self.design.level), self.difference.interval, self.computed
        sources = {
            "closed form": "closed form",
            "resampling": f"{computed.resamples or 0:,} random resamples, seed {self.design.seed}",
        }
        how = sources.get(computed.distribution, f"exact, all resamples ({computed.distribution})")
        return "undefined: no pairs" if limits is None else f"{level} {limits.method}, {how}"

    def _caution_rows(self) -> list[Row]:
        rows = []
        lost = self.dropped.only_a + self.dropped.only_b
        if lost:
            examples = ", ".join(self.dropped.examples)
            text = f"{lost} not paired ({self.dropped.only_a} only in A, {self.dropped.only_b} only in B): {examples}"
            rows.append(("dropped", text))
        rows += [("fallback", f"{f.wanted} → {f.used}: {f.why}") for f in self.fallbacks]
        rows += [("note", note) for note in self.notes]
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact and versioned: `from_dict` gives the same record back."""
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "unit": self.unit,
            "systems": {"a": self.systems[0], "b": self.systems[1]},
            "lower_is_better": self.lower_is_better,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "a": self.value.a,
            "b": self.value.b,
            "difference": self.difference.to_dict(),
            **({} if self.ratio is None else {"ratio": self.ratio.to_dict()}),
            **{name: shown.to_dict() for name, shown in self.sizes.items()},
            "p_value": self.p_value,
            "test": self.test.to_dict(),
            "effect_sizes": {name: estimate.to_dict() for name, estimate in self.effect_sizes.items()},
            "n_pairs": self.n_pairs,
            "n_clusters": self.n_clusters,
            "cluster_by": self.cluster_by,
            "degenerate": self.degenerate,
            "dropped": asdict(self.dropped) | {"examples": list(self.dropped.examples)},
            "fallbacks": [fallback.to_dict() for fallback in self.fallbacks],
            "notes": list(self.notes),
            "design": asdict(self.design),
            "computed": asdict(self.computed),
            **({} if self.kind == "losses" else {"measure": self.measure}),
            **({} if self.picture is None else {"picture": self.picture.to_dict()}),
            "signature": self.signature,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Comparison":
        """The record that `to_dict` wrote."""
        if data.get("schema") != SCHEMA:
            raise InputError(f"this is not a comparison: schema must be {SCHEMA!r}, but got {data.get('schema')!r}.")
        dropped = data["dropped"] | {"examples": tuple(data["dropped"]["examples"])}
        return cls(
            kind=data["kind"],
            unit=data["unit"],
            systems=(data["systems"]["a"], data["systems"]["b"]),
            lower_is_better=data["lower_is_better"],
            verdict=data["verdict"],
            sentence=data["sentence"],
            value=Shown.from_dict(data),
            ratio=Estimate.from_dict(data["ratio"]) if "ratio" in data else None,
            sizes={n: Shown.from_dict(data[n]) for n in ("bits_per_byte", "bits_per_character") if n in data},
            test=Test.from_dict(data["test"]),
            effect_sizes={name: Estimate.from_dict(value) for name, value in data["effect_sizes"].items()},
            n_pairs=data["n_pairs"],
            n_clusters=data["n_clusters"],
            cluster_by=data["cluster_by"],
            degenerate=data["degenerate"],
            dropped=Dropped(**dropped),
            fallbacks=tuple(Fallback.from_dict(f) for f in data["fallbacks"]),
            notes=tuple(data["notes"]),
            design=Design(**data["design"]),
            computed=Computed(**data["computed"]),
            signature=data["signature"],
            measure=data.get("measure", "score"),
            picture=Picture.from_dict(data["picture"]) if "picture" in data else None,
        )


def _both(shown: Shown) -> tuple[str, str]:
    return ("undefined", "undefined") if shown.a is None or shown.b is None else words.apart(shown.a, shown.b, 6)


def _with_interval(estimate: Estimate, *, sign: bool = False, null: float | None = None) -> str:
    if estimate.value is None or estimate.interval is None:
        return f"undefined: {estimate.reason}"
    return words.estimate(estimate.value, estimate.interval, sign=sign, null=null)
