"""One rule over all verbs: p ≤ α exactly where the interval leaves out 0, at every level, and the words agree.

A verb joins by a line in `VERBS`: a function that makes data from a generator, runs the verb at a level with its
defaults, and gives a `Claim` for every p-value that stands beside an interval.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay import Design, Panel, compare
from assay.analyses.compare import compare_panel
from assay.analyses.compare.result import Comparison
from assay.analyses.context import context
from assay.analyses.japanese import japanese
from assay.analyses.rank import rank
from assay.analyses.survey import survey
from assay.analyses.survey.baseline_tests import Against
from assay.analyses.tune import tune
from assay.examples import RUNS, SURVEY
from assay.stats.records import Interval
from assay.stats.repeated_runs import seed_difference
from tests.analyses.evidence import losses, scores
from tests.data.runs.token_runs import story, write_run

LEVELS = (0.9, 0.95, 0.99, 0.999)
Rng = np.random.Generator
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Claim:
    """A p-value and the interval beside it; what the words say, where they say it."""

    p: float | None
    interval: Interval | None
    shown: bool | None = None  # whether a difference is said to be shown


def check(claim: Claim, level: float) -> None:
    if claim.interval is None or claim.interval.method == "degenerate":
        assert not claim.shown or (claim.p is not None and claim.p <= 1 - level)  # collapsed: the test decides
        return
    rejected = claim.p is not None and claim.p <= 1 - level
    left_out = not claim.interval.low <= 0 <= claim.interval.high
    assert left_out == rejected, claim
    assert claim.interval.level == level
    if claim.shown is not None:
        assert claim.shown == rejected, claim


# ---------------------------------------------------------------------------------------------------------------- verbs


def of_comparison(found: Comparison) -> Iterator[Claim]:
    shown = found.verdict != "no difference shown"
    assert shown == (not found.sentence.startswith("No difference shown"))
    assert (found.verdict == "undecided") == (found.reliance == "too few") == found.sentence.startswith("Undecided")
    yield Claim(found.p_value, found.difference.interval, None if found.verdict == "undecided" else shown)
    for estimate in (*found.effect_sizes.values(), *(size.difference for size in found.sizes.values())):
        if estimate.value is not None:
            yield Claim(found.p_value, estimate.interval)
    if found.ratio is not None and found.ratio.interval is not None:
        logs = replace(
            found.ratio.interval, low=np.log(found.ratio.interval.low), high=np.log(found.ratio.interval.high)
        )
        yield Claim(found.p_value, logs)


def differences(rng: Rng, n: int) -> Floats:
    """Of a kind drawn at random, around a shift that makes either answer likely."""
    shift = rng.choice([0.0, 0.0, 1.0, 2.0, 3.5]) / np.sqrt(n)
    kind = rng.integers(6)
    if kind == 0:
        return rng.normal(shift, 1, n)
    if kind == 1:
        return np.asarray(rng.exponential(1, n) - 1 + shift)
    if kind == 2:
        return rng.normal(2 * shift, 1, n) * (rng.random(n) < 0.15)  # zero-inflated
    if kind == 3:
        return np.asarray(np.round(2 * rng.normal(shift, 1, n)) / 2)
    if kind == 4:
        return np.asarray(rng.standard_t(2, n) + shift)
    return rng.lognormal(0, 1, n) * (rng.random(n) < 0.2)


def compare_losses(rng: Rng, level: float) -> Iterator[Claim]:
    n = int(rng.choice([6, 12, 30, 60]))
    a, tokens = rng.uniform(2, 4, n), rng.integers(20, 400, n) if rng.random() < 0.5 else np.full(n, 100)
    sizes = {"bytes": (tokens * rng.uniform(3, 5, n)).astype(int).tolist()}
    tables = [losses(x.tolist(), tokens.tolist(), **sizes) for x in (a, a + 0.1 * differences(rng, n))]
    yield from of_comparison(compare(*tables, design=Design(level=level)))


def compare_real_scores(rng: Rng, level: float) -> Iterator[Claim]:
    n = int(rng.choice([5, 12, 30, 60]))
    more = {"cluster": [f"c{i}" for i in rng.integers(0, max(3, n // 3), n)]} if rng.random() < 0.3 else {}
    a = rng.uniform(1, 2, n)
    tables = scores(a.tolist(), **more), scores((a + differences(rng, n)).tolist(), **more)
    resamples = None if rng.random() < 0.7 else 200
    yield from of_comparison(compare(*tables, design=Design(level=level, resamples=resamples)))


def zero_or_one(rng: Rng, n: int) -> tuple[Floats, Floats]:
    lost, won = rng.choice([0.02, 0.1, 0.3]), rng.choice([0.0, 0.02, 0.1])
    a = (rng.random(n) < rng.choice([0.5, 0.9])).astype(np.float64)
    change = np.where(a == 1, rng.random(n) < lost, rng.random(n) < won)
    return a, np.where(change, 1 - a, a)


def compare_zero_or_one(rng: Rng, level: float) -> Iterator[Claim]:
    n = int(rng.choice([1, 8, 30, 100, 400]))
    test: Any = rng.choice(["auto", "mcnemar", "mcnemar-midp"])
    a, b = zero_or_one(rng, n)
    yield from of_comparison(compare(scores(a.tolist()), scores(b.tolist()), design=Design(level=level, test=test)))


def compare_zero_or_one_in_clusters(rng: Rng, level: float) -> Iterator[Claim]:
    n = int(rng.choice([20, 60, 200]))
    weights = np.round(rng.lognormal(0, 0.7, n), 2) + 0.01 if rng.random() < 0.5 else np.ones(n)
    clusters = rng.integers(0, n // 6, n) if rng.random() < 0.7 else None
    panel = Panel.from_arrays(np.column_stack(zero_or_one(rng, n)) * weights[:, None], weights, clusters=clusters)
    yield from of_comparison(compare_panel(panel, Design(level=level)))


def certified(rng: Rng, level: float) -> Iterator[Claim]:
    """As certificates compare: bca by name and random resamples, made to agree."""
    n = int(rng.choice([12, 40, 180]))
    a = rng.uniform(2, 4, n)
    panel = Panel.from_arrays(np.column_stack([a, a + 0.1 * differences(rng, n)]), kind="losses")
    yield from of_comparison(compare_panel(panel, Design(method="bca", level=level, resamples=400), agree=True))


def context_by_position(rng: Rng, level: float) -> Iterator[Claim]:
    seed, shift = int(rng.integers(1000)), float(rng.choice([0.0, 0.02, 0.1]))
    with TemporaryDirectory() as folder:
        a = write_run(Path(folder) / "a", story(seed, 14), called="a")
        b = write_run(Path(folder) / "b", story(seed, 14, shift=shift), called="b")
        found = context(a, b, design=Design(level=level, resamples=1500))
    for gap in found.differences[0].gaps:
        yield Claim(gap.test.p_value, gap.adjusted.interval)
        if gap.test.p_value is not None and gap.test.p_value <= 1 - level:  # then the bin alone shows it too
            yield Claim(gap.test.p_value, gap.difference.interval)
    for model in found.models:
        yield from (Claim(p.test.p_value, p.gain.interval) for p in model.points if p.test and p.gain)


def japanese_generations(rng: Rng, level: float) -> Iterator[Claim]:
    n, text = int(rng.choice([8, 25])), "今日はよい天気ですね猫がいる本を読むカメラとテレビ"
    wanted = ["".join(rng.choice(list(text), int(rng.integers(4, 12)))) for _ in range(n)]

    def written(share: float) -> list[str]:
        return ["".join(c if rng.random() > share else "x" for c in one) or "x" for one in wanted]

    tables = [
        {"item": list(map(str, range(n))), "reference": wanted, "prediction": written(share), "model": [name] * n}
        for name, share in (("a", 0.2), ("b", float(rng.choice([0.2, 0.3, 0.5]))))
    ]
    found = japanese(*tables, bleu=["char"], design=Design(level=level, resamples=1200))
    headline = found.differences[0].sentence
    for gap in found.differences[0].gaps:
        shown = None if gap.quantity.key != "bleu/char" else not headline.startswith("No difference shown")
        yield Claim(gap.randomization.p_value, gap.difference.interval, shown)


def tuning_over_seeds(rng: Rng, level: float) -> Iterator[Claim]:
    k = int(rng.integers(2, 6))
    a = rng.normal(2, 0.1, k)
    found, test = seed_difference(a, a + rng.normal(0.1, 0.1, k), level, paired=bool(rng.integers(2)))
    yield Claim(test.p_value, found.interval)


def ranked(rng: Rng, level: float) -> Iterator[Claim]:
    """Adjusted p-values, and intervals that hold for all pairs."""
    n, k = int(rng.choice([12, 40])), 4
    right = rng.random() < 0.5
    shifts = rng.normal(0, 0.3, k)
    values = rng.normal(shifts, 1, (n, k)) + rng.normal(size=(n, 1))
    parts = [scores(((column > 0) if right else column).astype(float).tolist()) for column in values.T]
    board = rank(*parts, names=list("abcd"), design=Design(level=level))
    for pair in board.pairs:
        told = None if pair.reliance == "too few" else pair.verdict != "not told apart"
        yield Claim(pair.p_adjusted, pair.difference.interval, told)


VERBS: dict[str, tuple[Callable[[Rng, float], Iterator[Claim]], int]] = {
    "compare losses": (compare_losses, 60),
    "compare scores": (compare_real_scores, 60),
    "compare 0/1": (compare_zero_or_one, 80),
    "compare 0/1 in clusters": (compare_zero_or_one_in_clusters, 60),
    "certify": (certified, 30),
    "context": (context_by_position, 5),
    "japanese": (japanese_generations, 8),
    "tune, seeds": (tuning_over_seeds, 40),
    "rank": (ranked, 15),
}


@pytest.mark.hypothesis
@pytest.mark.parametrize("verb", VERBS)
def test_p_is_at_most_alpha_exactly_where_the_interval_leaves_out_0(verb: str) -> None:
    make, examples = VERBS[verb]
    if settings.get_current_profile_name() == "nightly":
        examples = max(examples, 100)

    @settings(max_examples=examples, deadline=None)
    @given(st.integers(0, 2**32), st.sampled_from(LEVELS))
    def agrees(seed: int, level: float) -> None:
        for claim in make(np.random.default_rng(seed), level):
            check(claim, level)

    agrees()


@pytest.mark.parametrize("level", LEVELS)
def test_training_runs_agree_with_themselves(level: float) -> None:
    """The shipped runs: windows and seeds, and a verdict that needs both."""
    report = tune(
        *(RUNS / f"{arm}-{seed}" for arm in ("full", "lora") for seed in range(3)), design=Design(level=level)
    )
    (contrast,) = report.contrasts
    assert contrast.windows is not None
    claims = [Claim(contrast.seeds_test.p_value, contrast.seeds.interval), *of_comparison(contrast.windows)]
    for claim in claims:
        check(claim, level)
    both = all(claim.p is not None and claim.p <= 1 - level for claim in claims[:2])
    assert (contrast.verdict in ("better", "worse")) == both


@pytest.mark.parametrize("level", LEVELS)
def test_surveys_agree_with_themselves(level: float) -> None:
    """The shipped survey: every model against every baseline, alone and all together."""
    report = survey(
        SURVEY / "survey.json",
        SURVEY / "predictions.csv",
        only=["baselines"],
        design=Design(level=level, resamples=1200),
    )
    found = list(parts_of(report.analyses["baselines"], Against))
    assert found
    for one in found:
        check(Claim(one.test.p_value, one.difference.interval), level)
        check(Claim(one.p_adjusted, one.together), level)


def parts_of(record: Any, kind: type[Against]) -> Iterator[Against]:
    """All records of a kind inside a record."""
    if isinstance(record, kind):
        yield record
    elif isinstance(record, msgspec.Struct):
        for name in record.__struct_fields__:
            yield from parts_of(getattr(record, name), kind)
    elif is_dataclass(record):
        for field in fields(record):
            yield from parts_of(getattr(record, field.name), kind)
    elif isinstance(record, tuple | list):
        for part in record:
            yield from parts_of(part, kind)
    elif isinstance(record, dict):
        yield from parts_of(list(record.values()), kind)


@pytest.mark.parametrize("n", [30, 100])
def test_the_same_p_at_every_level(n: int) -> None:
    """It is a property of the data: what is shown at 99% is shown at 90%."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        a = rng.uniform(1, 2, n)
        tables = scores(a.tolist()), scores((a + differences(rng, n)).tolist())
        found = [compare(*tables, design=Design(level=level)) for level in LEVELS]
        assert len({one.p_value for one in found}) == 1
        widths = [
            one.difference.interval.high - one.difference.interval.low for one in found if one.difference.interval
        ]
        assert widths == sorted(widths)


def test_exponential_samples_of_30_never_contradict_themselves() -> None:
    """BCa and sign flips apart disagree about 0 in some of these; together in none."""
    apart = 0
    for seed in range(100):
        values = np.random.default_rng(seed).exponential(1, 30) - 0.65
        tables = scores([0.0] * 30), scores(values.tolist())
        (claim, *_) = of_comparison(compare(*tables))
        check(claim, 0.95)
        alone = compare(*tables, design=Design(method="bca", test="sign-flip"))
        assert alone.difference.interval is not None
        assert alone.p_value is not None
        limits = alone.difference.interval
        apart += (not limits.low <= 0 <= limits.high) != (alone.p_value <= 0.05)
    assert apart > 0
