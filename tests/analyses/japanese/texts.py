"""Generations and counts of characters for tests of `japanese`."""

import csv
from dataclasses import replace
from typing import Any

import numpy as np

from assay import examples
from assay.data.generations import CharacterCounts
from assay.data.writing_systems import script_names
from assay.design import Design

FAST = Design(resamples=400)
ROWS = {
    "item": ["1", "2", "3"],
    "reference": ["猫がいる。", "カメラ", "abc"],
    "prediction": ["猫はいる。", "カラ", "abcd"],
}


def shipped(model: str) -> dict[str, Any]:
    with examples.path("generations.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == model]
    return {key: [row[key] for row in rows] for key in rows[0]}


def counts(name: str = "m", n: int = 12, seed: int = 0, **changed: Any) -> CharacterCounts:
    rng = np.random.default_rng(seed)
    size = np.random.default_rng(1).integers(1, 50, (n, 4)).astype(np.float64)
    made = CharacterCounts(
        name=name,
        units=tuple(map(str, range(n))),
        cluster_by="document",
        scripts=script_names("basic"),
        characters=size,
        right=np.floor(size * rng.random((n, 4))),
        bits=size * rng.random((n, 4)),
        left_out=3,
        mixed_bits=0.5,
        ranges="basic",
        normalize="none",
        context=16,
        stride=16,
        text="sha256:t",
        tokenizer="sha256:k",
    )
    return replace(made, **changed)
