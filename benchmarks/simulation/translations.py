"""Two systems that copy the shipped Japanese text badly: sentences with true scores, to draw samples from."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from assay import models
from assay.stats.text import bleu_counts
from assay.stats.units import Floats

SEED = 20267
LOST, WORSE = 0.20, 0.23  # characters that the systems get wrong; each sentence has a share of its own around it


@dataclass(frozen=True)
class Translations:
    """The references and what two systems made of them."""

    references: list[str]
    a: list[str]
    b: list[str]


@cache
def translations() -> Translations:
    """Every line of the text, with characters dropped, doubled or replaced by the next one of the line."""
    lines = [line for line in models.path("ja.txt").read_text(encoding="utf-8").splitlines() if len(line) > 5]
    rng = np.random.default_rng(SEED)
    return Translations(lines, *([_spoilt(line, rng, share) for line in lines] for share in (LOST, WORSE)))


def _spoilt(line: str, rng: np.random.Generator, share: float) -> str:
    wrong = rng.random(len(line)) < rng.beta(2, 2 / share - 2)
    ways = rng.integers(0, 3, len(line))
    made = [_instead(line, at, way) if bad else line[at] for at, (bad, way) in enumerate(zip(wrong, ways, strict=True))]
    return "".join(made)


def _instead(line: str, at: int, way: int) -> str:
    return ("", line[at] * 2, line[(at + 1) % len(line)])[way]


@cache
def counts() -> tuple[Floats, Floats]:
    """(lines, 10) BLEU counts of both systems, by characters."""
    made = translations()
    return tuple(  # type: ignore[return-value]  # two of them
        np.array([bleu_counts(x, y) for x, y in zip(system, made.references, strict=True)], dtype=np.float64)
        for system in (made.a, made.b)
    )
