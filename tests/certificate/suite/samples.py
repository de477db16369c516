"""Suites to certify: tables whose scores are known by arithmetic, and certificates of several kinds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from assay.certificate import certify
from assay.data import Panel
from assay.design import Policy
from assay.limits import GroupLimits, Limits, TotalLimits

Columns = dict[str, list[Any]]
Outcome = tuple[int, int, int]  # of n items B alone is right on b, A alone on c

SIZES = {"arc": 60, "boolq": 80, "gsm8k": 50}


def suite(outcomes: dict[str, Outcome], right: float = 0.5) -> tuple[Columns, Columns]:
    """Tables of two systems; of the items on which they agree, this share is right."""
    before: Columns = {"item": [], "task": [], "score": []}
    after: Columns = {"item": [], "task": [], "score": []}
    for task, (b, c, n) in outcomes.items():
        alike = [float(i < right * (n - b - c)) for i in range(n - b - c)]
        for table, scores in ((before, [0.0] * b + [1.0] * c + alike), (after, [1.0] * b + [0.0] * c + alike)):
            table["item"] += [f"{task}-{i:04d}" for i in range(n)]
            table["task"] += [task] * n
            table["score"] += scores
    return before, after


def equal(sizes: dict[str, int], every: int = 20) -> tuple[Columns, Columns]:
    """Of every twenty items one is gained and one is lost: either direction gives the same numbers."""
    return suite({task: (n // every, n // every, n) for task, n in sizes.items()})


def with_costs(tables: tuple[Columns, Columns], times: float = 1.1) -> tuple[Columns, Columns]:
    """What answers cost: B's are so many times as dear, give or take."""
    n = len(tables[0]["item"])
    base = [1.0 + (37 * i % 23) / 10 for i in range(n)]
    noise = [1 + (29 * i % 13 - 6) / 100 for i in range(n)]
    dear = [round(cost * times * by, 6) for cost, by in zip(base, noise, strict=True)]
    seconds = [round(cost * by * by, 6) for cost, by in zip(base, noise, strict=True)]
    return (
        tables[0] | {"price": list(base), "seconds": list(base)},
        tables[1] | {"price": dear, "seconds": seconds},
    )


def losses(worse: dict[str, float], n: int = 40, seed: int = 1) -> tuple[Columns, Columns]:
    """Windows of several texts; B's loss is higher by so many nats."""
    shared, own = np.random.default_rng(0), np.random.default_rng(seed)
    before: Columns = {"window": [], "task": [], "tokens": [], "loss": []}
    after: Columns = {"window": [], "task": [], "tokens": [], "loss": []}
    for task, shift in worse.items():
        base = 3 + shared.random(n)
        moved = base + shift + 0.02 * own.standard_normal(n)
        for table, values in ((before, base), (after, moved)):
            table["window"] += [f"{task}-{i:03d}" for i in range(n)]
            table["task"] += [task] * n
            table["tokens"] += [100.0 + 30 * (i % 5) for i in range(n)]
            table["loss"] += values.tolist()
    return before, after


def _passing(path: Path) -> None:
    certify(*equal({"arc": 600, "boolq": 800, "gsm8k": 700}), path, policy=Policy(profile="ci"))


def _failing(path: Path) -> None:
    certify(*suite({"arc": (3, 3, 60), "boolq": (4, 4, 80), "gsm8k": (1, 20, 50)}), path)


def _undecided(path: Path) -> None:
    certify(*suite({"arc": (3, 4, 60), "boolq": (4, 4, 80), "gsm8k": (3, 2, 50)}), path)


def _limits(path: Path) -> None:
    policy = Policy(
        max_drop=0.06,
        min_windows=100,
        note="a pilot, #12",
        total=TotalLimits(weights="items", min_score=0.3, max_price_ratio=1.3),
        each=Limits(max_drop=0.2),
        tasks={
            "gsm*": Limits(max_drop=0.3),
            "b*": Limits(max_drop=0.25),
            "arc": Limits(min_score=0.1),
            "gsm8k": Limits(max_drop=0.1, min_score=0.2, max_seconds_ratio=1.5),
        },
        groups={"hard": GroupLimits(tasks=("gsm*", "arc"), max_drop=0.15)},
    )
    certify(*with_costs(equal(SIZES)), path, policy=policy, timestamp=True)


def _every(path: Path) -> None:
    policy = Policy(every=True, each=Limits(max_drop=0.2), level=0.9, note="small tasks")
    certify(*equal(SIZES), path, policy=policy)


def _perplexity(path: Path) -> None:
    certify(*losses({"code": 0.01, "prose": 0.02, "maths": 0.3}), path)


def _clusters(path: Path) -> None:
    tables = equal(SIZES)
    for table in tables:
        table["passage"] = [f"p{i // 5:03d}" for i in range(len(table["item"]))]
    certify(*tables, path, cluster="passage", policy=Policy(max_drop=0.1, note="few"))


def _given_weights(path: Path) -> None:
    weights = {"arc": 1.0, "boolq": 2.0, "gsm8k": 0.0}
    certify(*equal(SIZES), path, policy=Policy(total=TotalLimits(weights=weights), note="as agreed"))


def _graded(path: Path) -> None:
    tables = equal(SIZES)
    for table, by in zip(tables, (17, 19), strict=True):
        table["score"] = [round((by * i % 23) / 23, 6) for i in range(len(table["item"]))]
    certify(*tables, path, lower_is_better=True)


def _broken(path: Path) -> None:
    before, after = equal(SIZES)
    certify({name: values[2:] for name, values in before.items()}, after, path)


def _panel(path: Path) -> None:
    before, after = equal(SIZES)
    numbers = np.column_stack([before["score"], after["score"]])
    panel = Panel.from_arrays(numbers, ids=before["item"], systems=("old", "new"), labels={"field": before["task"]})
    certify(panel, None, path, by="field")


KINDS: dict[str, Callable[[Path], None]] = {
    "pass": _passing,
    "fail": _failing,
    "undecided": _undecided,
    "limits": _limits,
    "every": _every,
    "perplexity": _perplexity,
    "clusters": _clusters,
    "given weights": _given_weights,
    "graded": _graded,
    "broken rules": _broken,
    "panel": _panel,
}


def issue(kind: str, folder: Path) -> Path:
    """A certificate of a kind, with its evidence beside it."""
    path = folder / "cert.json"
    KINDS[kind](path)
    return path
