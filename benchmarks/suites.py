"""How long does a suite take: 57 subjects, 14,042 items, two models or twelve, from lm-eval's files and from memory.

    python benchmarks/suites.py
    python benchmarks/suites.py --out benchmarks/results/suites.md

Beside it, what people write themselves: a loop of scipy's exact binomial tests over the subjects, with Holm's rule and
an interval of each by scipy's bootstrap, and one pooled error bar, which is quicker and answers another question. Of
twelve models, the same for all 66 pairs, beside a leaderboard of the mean of the subjects.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np
from scipy import stats

from assay.analyses.rank import rank
from assay.analyses.suite.comparing import suite_of_panel
from assay.data import Panel
from assay.design import Design
from assay.stats.multiplicity import holm
from assay.stats.units import Floats, Texts
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table
from benchmarks.timing.clock import Contender, Times, interleaved
from benchmarks.timing.processes import ASSAY, measured

SUBJECTS, ITEMS, TURNS, RESAMPLES, MODELS = 57, 14_042, 5, 2_000, 12
_STAMP = "2026-01-01T00-00-00.000000"
OURS, LOOP, TESTS, POOLED = (
    "our rows and total",
    f"scipy: test and bootstrap ({RESAMPLES:,}) of each subject",
    "scipy: test of each subject alone",
    "one pooled error bar",
)
BOARD, PAIR_TESTS, PAIR_BARS = (
    "our leaderboard: totals, max-T, ranks",
    "scipy: test of each pair and subject",
    "pooled error bars of all pairs",
)


def main(arguments: Sequence[str] | None = None) -> None:
    options = report_parser("A suite of 57 subjects: our time, and that of a loop of scipy's calls.").parse_args(
        arguments
    )
    publish(_report(), options.out)


def _report() -> str:
    tasks, scores = _scores()
    panel = Panel.from_arrays(scores, systems=["A", "B"], labels={"task": tasks})
    contenders = [
        Contender(OURS, partial(suite_of_panel, panel, Design())),
        Contender(LOOP, partial(_loop, tasks, scores, bootstrap=True)),
        Contender(TESTS, partial(_loop, tasks, scores, bootstrap=False)),
        Contender(POOLED, partial(_pooled, scores)),
    ]
    found = interleaved(contenders, TURNS)
    rows = [[name, _milliseconds(found[name])] for name in (OURS, LOOP, TESTS, POOLED)]
    about = f"{SUBJECTS} subjects, {ITEMS:,} items, two models; milliseconds of CPU, median of {TURNS} turns."
    return "\n\n".join([about, table(["", "CPU, ms"], rows), _files(tasks, scores), *_boards(tasks)])


def _milliseconds(times: Times) -> str:
    return f"{1000 * times.median_cpu:,.1f}"


def _scores() -> tuple[Texts, Floats]:
    """Subjects of unequal sizes, as in MMLU; every seventh item differs."""
    rng = np.random.default_rng(57)
    sizes = np.maximum(rng.multinomial(ITEMS, rng.dirichlet(np.full(SUBJECTS, 2.0))), 1)
    tasks = np.repeat([f"mmlu_{i:02d}" for i in range(SUBJECTS)], sizes).astype(object)
    a = (rng.random(len(tasks)) < 0.6).astype(np.float64)
    return tasks, np.column_stack([a, np.where(rng.random(len(tasks)) < 1 / 7, 1 - a, a)])


def _loop(tasks: Texts, scores: Floats, *, bootstrap: bool) -> Floats:
    p = []
    for task in np.unique(tasks):
        difference = (scores[:, 1] - scores[:, 0])[tasks == task]
        b, c = int((difference > 0).sum()), int((difference < 0).sum())
        p.append(stats.binomtest(b, b + c).pvalue if b + c else 1.0)
        if bootstrap:
            rng = np.random.default_rng(0)
            stats.bootstrap((difference,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=rng)
    return holm(np.array(p))


def _pooled(scores: Floats) -> tuple[float, float]:
    difference = scores[:, 1] - scores[:, 0]
    return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))


def _files(tasks: Texts, scores: Floats) -> str:
    """The command line, from a cold start, on files as lm-eval writes them."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [_written(Path(folder), name, tasks, scores[:, i]) for i, name in enumerate(("base", "tuned"))]
        found = measured(str(ASSAY), "compare", *paths)
    size = "met" if found.cpu < 3 else "not met"
    return (
        f"`assay compare` of two folders of lm-eval, {SUBJECTS} files each and four groups, cold: "
        f"{found.cpu:.2f} s of CPU, "
        f"{found.wall:.2f} s, exit code {found.code} (below 3 s of CPU: {size})."
    )


def _boards(tasks: Texts) -> list[str]:
    """Twelve models: all pairs."""
    rng = np.random.default_rng(12)
    hard = rng.normal(size=(len(tasks), 1))
    scores = (hard + rng.normal(size=(len(tasks), MODELS)) < np.linspace(0.8, 0.2, MODELS)).astype(np.float64)
    names = [f"model-{i:02d}" for i in range(MODELS)]
    panel = Panel.from_arrays(scores, systems=names, labels={"task": tasks})
    pairs = list(combinations(range(MODELS), 2))
    contenders = [
        Contender(BOARD, partial(rank, panel)),
        Contender(PAIR_TESTS, lambda: [_loop(tasks, scores[:, list(pair)], bootstrap=False) for pair in pairs]),
        Contender(PAIR_BARS, lambda: [_pooled(scores[:, list(pair)]) for pair in pairs]),
    ]
    found = interleaved(contenders, 3)
    about = f"{MODELS} models, all {len(pairs)} pairs; seconds of CPU, median of 3 turns."
    rows = [[name, f"{found[name].median_cpu:,.2f}"] for name in (BOARD, PAIR_TESTS, PAIR_BARS)]
    return [about, table(["", "CPU, s"], rows), _board_files(tasks, scores, names)]


def _board_files(tasks: Texts, scores: Floats, names: Sequence[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        paths = [_written(Path(folder), name, tasks, scores[:, i]) for i, name in enumerate(names)]
        found = measured(str(ASSAY), "rank", *paths)
    size = "met" if found.cpu < 20 else "not met"
    return (
        f"`assay rank` of {MODELS} folders of lm-eval, {SUBJECTS} files each, cold: {found.cpu:.2f} s of CPU, "
        f"{found.wall:.2f} s, exit code {found.code} (below 20 s of CPU: {size})."
    )


def _written(folder: Path, model: str, tasks: Texts, scores: Floats) -> str:
    place = folder / model
    place.mkdir()
    for task in np.unique(tasks):
        lines = [_record(i, str(task), score) for i, score in enumerate(scores[tasks == task].tolist())]
        (place / f"samples_{task}_{_STAMP}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    results = {"results": {}, "configs": {}, "versions": {}, "model_name": model, "group_subtasks": _groups(tasks)}
    (place / f"results_{_STAMP}.json").write_text(json.dumps(results), "utf-8")
    return str(place)


def _groups(tasks: Texts) -> dict[str, list[str]]:
    """mmlu, with its subjects in four fields."""
    names = [str(task) for task in np.unique(tasks)]
    fields = {f"mmlu_field_{i}": names[i::4] for i in range(4)}
    return {"mmlu": list(fields), **fields}


def _record(i: int, task: str, score: float) -> str:
    """A line of the usual length: the question, four answers and their log-likelihoods."""
    doc = {
        "question": f"{task} {i} " + "what is it? " * 20,
        "choices": ["first", "second", "third", "fourth"],
        "answer": 1,
    }
    arguments = {f"gen_args_{j}": {"arg_0": doc["question"], "arg_1": f" {name}"} for j, name in enumerate("ABCD")}
    found = {
        "doc_id": i,
        "doc": doc,
        "target": "1",
        "arguments": arguments,
        "resps": [[["-4.2331", "False"]]] * 4,
        "filtered_resps": [["-4.2331", "False"]] * 4,
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": f"{task}-{i}",
        "acc": score,
    }
    return json.dumps(found)


if __name__ == "__main__":
    main()
