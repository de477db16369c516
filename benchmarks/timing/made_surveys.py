"""Surveys of any size for benchmarks: truth and predictions as tables, five options to each question."""

import csv
from pathlib import Path

import numpy as np


def survey(folder: Path, questions: int, *, segments: int, models: int) -> tuple[str, str]:
    """The files of a round: segments of 10 to 684 respondents, models that differ from it more and more."""
    rng = np.random.default_rng(2)
    n = np.geomspace(10, 684, segments).astype(np.int64)
    cells = [(f"q{q}", f"s{s}", int(n[s])) for q in range(questions) for s in range(segments)]
    true = rng.dirichlet(np.full(5, 2.0), size=len(cells))
    counts = rng.multinomial([size for *_, size in cells], true)
    folder.mkdir(parents=True, exist_ok=True)
    truth, predictions = folder / "survey.csv", folder / "predictions.csv"
    with truth.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["question", "segment", "n", *"abcde"])
        for (question, segment, size), drawn in zip(cells, counts, strict=True):
            rows.writerow([question, segment, size, *(100 * drawn / size).tolist()])
    with predictions.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["model", "question", "segment", *"abcde"])
        for m in range(models):
            guess = np.exp(np.log(true) + rng.normal(0, 0.1 + 0.02 * m, size=true.shape))
            guess *= 100 / guess.sum(axis=1, keepdims=True)
            for (question, segment, _), shares in zip(cells, guess.tolist(), strict=True):
                rows.writerow([f"m{m:02d}", question, segment, *shares])
    return str(truth), str(predictions)
